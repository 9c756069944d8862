"""A hostile method may ask anything, in any order, with forged arguments: no path pays more than epsilon.

This file plays the game of tests/laws/hostile.py over records in memory, and has a test for every hole that was found.
tests/trusted/counting plays the same game over all engines.
"""

from __future__ import annotations

import copy
import gc
import pickle
import types
import weakref
from contextlib import suppress
from dataclasses import fields
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import BudgetExceeded, CantleError, ParameterError, Sealed
from cantle.trusted.bounding.graph_pairs import Degrees, Graph
from cantle.trusted.bounding.node_ids import number_keys
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.degree_queries import (
    AtLeast,
    AtMost,
    Bounds,
    DegreesAbove,
    KeptEdges,
    Lag,
    Nodes,
    Projection,
    SortedDegrees,
)
from cantle.trusted.claims.queries import Cells, ChildSets, Histogram, ItemSets, Marginals, Size
from cantle.trusted.claims.scores import (
    BALANCE,
    CLASS_AWARE,
    Gini,
    HalfGini,
    InfoGain,
    JointMajority,
    Max,
    Mix,
    WeightedMajority,
)
from cantle.trusted.claims.specialisations import JointSplits, OneValue, SplitPoints, Value
from cantle.trusted.claims.terms import TermScore
from cantle.trusted.core.budget import MOST, NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import OneWays
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.counting.graph import GraphEngine
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry.boxes import Cuts, Frontier, Slices
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions, popcount
from cantle.trusted.noise import Lanes, Noise, Rate, Seeded
from tests.effort import examples
from tests.laws.hostile import (
    CLASSES,
    DATA,
    EPSILON,
    FIXED,
    MOVES,
    NUMBER,
    SIZES,
    STOP,
    TOP,
    Game,
    MyCuts,
    MyQuality,
    MySize,
    Witness,
    forged,
    joint,
    points,
)
from tests.laws.strategies import Table, word_engine


@examples(40)
@given(st.data())
def test_no_hostile_method_makes_a_path_lose_more_than_epsilon(data) -> None:
    game = Game(data.draw, DATA.engine(), Unit(data.draw(st.integers(1, 2))))
    game.play(MOVES)


# ---- what a curator must never reveal ------------------------------------------------------------------------


def fresh(noise: Noise | None = None, epsilon: int = NANO, table: Table = DATA) -> Curator:
    return table.curator(epsilon, noise=noise)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_curator_and_its_engine_cannot_be_pickled(protocol: int) -> None:
    for secret in (fresh(), DATA.engine()):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(secret, protocol)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_curator_and_its_engine_cannot_be_copied(duplicate) -> None:
    for secret in (fresh(), DATA.engine()):
        with pytest.raises(TypeError):
            duplicate(secret)
    with pytest.raises(TypeError):
        vars(fresh())


CANARY = 197
"""A code, a class and a number of records that occur nowhere else."""


def canary_table() -> Table:
    return Table((200, 3), 2, tuple((CANARY, i % 3, i % 2) for i in range(CANARY)))


def test_the_repr_of_a_curator_holds_no_count() -> None:
    engine = canary_table().engine()
    curator = Curator(engine, Budget(NANO, Unit()), Seeded(3))
    root = curator.root()
    shown = [repr(curator), str(curator), f"{curator}", repr(engine), str(engine)]
    children = curator.split(root, Cuts(np.array([0]), np.array([100])))
    curator.measure(children, Size(), 5, why="m")
    shown += [repr(curator), str(curator), repr(engine)]
    curator.seal()
    shown += [repr(curator), str(curator)]
    for text in shown:
        assert str(CANARY) not in text


def failing_questions(curator: Curator) -> list[Any]:
    """Questions that are refused, each for a different reason."""
    root = curator.root()
    cut = Cuts(np.array([0]), np.array([200]))
    ask = [
        lambda: curator.measure(root, Size(), 2 * NANO, why="m"),
        lambda: curator.measure(root, Size(), 0.5, why="m"),
        lambda: curator.measure(root, MySize(), 5, why="m"),
        lambda: curator.choose(root, AllCuts((200, 3), 2), BALANCE, 2 * NANO, why="c"),
        lambda: curator.choose(root, AllCuts((200, 3), 2), MyQuality(), 5, why="c"),
        lambda: curator.choose(root, MyCuts((200, 3), 2), BALANCE, 5, why="c"),
        lambda: curator.split(root, cut),
        lambda: curator.coin(forged(root, ids=np.array([4])), np.array([2])),
        lambda: curator.test(forged(root, ids=np.array([0, 0])), STOP, why="t"),
    ]
    return ask  # noqa: RET504


def test_refusals_hold_no_value_and_no_count() -> None:
    for i in range(len(failing_questions(fresh(table=canary_table())))):
        curator = fresh(table=canary_table())
        with pytest.raises(CantleError) as caught:
            failing_questions(curator)[i]()
        assert str(CANARY) not in str(caught.value) + repr(caught.value) + repr(caught.value.__context__)
        assert curator.left(curator.root()).tolist() == [NANO]  # refusals cost nothing


def test_refusals_are_the_same_whatever_the_data() -> None:
    """An error message is an output too: an empty table gets exactly the same ones."""
    for i in range(len(failing_questions(fresh(table=canary_table())))):
        refusals = []
        for table in (canary_table(), Table((200, 3), 2, ())):
            with pytest.raises(CantleError) as caught:
                failing_questions(fresh(table=table))[i]()
            refusals.append((type(caught.value), str(caught.value)))
        assert refusals[0] == refusals[1]


def reachable(start: Any) -> list[np.ndarray]:
    """Every array that can be reached from an object by following references, except through code."""
    skip = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
    seen, found, todo = {id(gc.garbage)}, [], [start]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, skip):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            found.append(thing)
        if isinstance(thing, types.FrameType):
            todo += [value for name, value in thing.f_locals.items() if name not in ("table", "engine_kept")]
        else:
            todo += gc.get_referents(thing)
    return found


def holds_canary(start: Any) -> bool:
    return any(array.dtype.kind in "iu" and (array == CANARY).any() for array in reachable(start))


def questions(curator: Curator, *, fail: bool) -> None:
    """A whole run; with `fail` it ends with a question that the budget cannot pay for."""
    children = curator.split(curator.root(), Cuts(np.array([0]), np.array([50])))
    cuts = curator.choose(children, AllCuts((200, 3), 2), CLASS_AWARE, 10, why="c")
    nodes = curator.split(children, cuts)
    curator.measure(nodes, Marginals(OneWays((0, 1), (200, 3), 1)), 10, why="m")
    if fail:
        curator.measure(nodes, Size(), 2 * NANO, why="too much")


def test_the_search_finds_private_arrays_before_the_seal() -> None:
    curator = fresh(table=canary_table())
    questions(curator, fail=False)
    assert holds_canary(curator)


def test_nothing_private_survives_the_seal() -> None:
    engine = canary_table().engine()
    with Curator(engine, Budget(NANO, Unit()), Seeded(3)) as curator:
        questions(curator, fail=False)
        receipt = curator.seal()
        assert not holds_canary(curator)
        assert not holds_canary(engine)
        assert not holds_canary(receipt)
        with pytest.raises(Sealed):
            curator.measure(Frontier.root((200, 3)), Size(), 1, why="late")


def test_nothing_private_survives_an_exception() -> None:
    """Nothing is left in the curator, nor in the frames that the exception keeps alive."""
    engine = canary_table().engine()
    with pytest.raises(BudgetExceeded) as caught:  # noqa: SIM117
        with Curator(engine, Budget(NANO, Unit()), Seeded(3)) as curator:
            questions(curator, fail=True)
    assert not holds_canary(curator)
    assert not holds_canary(engine)
    assert not holds_canary(caught.value)
    with pytest.raises(Sealed):
        curator.measure(Frontier.root((200, 3)), Size(), 1, why="late")


@pytest.mark.parametrize("fail", [False, True])
def test_the_records_are_freed_when_the_curator_is_left(fail: bool) -> None:
    codes, classes = canary_table().codes, canary_table().labels
    alive = [weakref.ref(codes), weakref.ref(classes)]
    engine = word_engine(codes, classes, sizes=(200, 3), class_count=2)
    del codes, classes
    try:
        with Curator(engine, Budget(NANO, Unit()), Seeded(3)) as curator:
            curator.measure(curator.root(), Size(), 2 * NANO if fail else 5, why="m")
    except BudgetExceeded:
        pass
    if any(ref() is not None for ref in alive):
        gc.collect()
    assert [ref() for ref in alive] == [None, None]


def test_a_sealed_curator_answers_nothing() -> None:
    curator = fresh()
    root = curator.root()
    curator.seal()
    late = [
        lambda: curator.measure(root, Size(), 1, why="m"),
        lambda: curator.choose(root, AllCuts(SIZES, 1), BALANCE, 1, why="c"),
        lambda: curator.test(root, STOP, why="t"),
        lambda: curator.coin(root, np.array([2])),
        lambda: curator.split(root, Cuts(np.array([0]), np.array([1]))),
        curator.seal,
    ]
    for ask in late:
        with pytest.raises(Sealed):
            ask()


# ---- holes ---------------------------------------------------------------------------------------------------
# Each of these was found by thinking like a hostile method, and has been closed.


def no_loss(x: int, rate: float) -> float:
    """ln of P[x - 1 + Z <= 0] / P[x + Z <= 0], Z discrete Laplace: the loss of one record by a "no" at x."""
    a = exp(-rate)

    def at_most(k: int) -> float:
        return 1 - a ** (k + 1) / (1 + a) if k >= 0 else a**-k / (1 + a)

    return log(at_most(1 - x) / at_most(-x))


def test_a_refused_test_is_not_counted_as_paid() -> None:
    curator = fresh(epsilon=1)
    answers = 0
    for _ in range(10):
        try:
            curator.test(curator.root(), PrivTree(0, 1, NANO), why="t")
            answers += 1
        except BudgetExceeded:
            pass
    assert answers == 0


def test_tests_after_a_no_cannot_lose_more_than_they_pay() -> None:
    witness = Witness(answer=False)
    table = Table((2,), 1, ((0, 0),) * 12)
    curator = fresh(noise=witness, epsilon=10 * NANO, table=table)
    stop = PrivTree(0, 1, NANO)
    for _ in range(8):
        try:
            curator.test(curator.root(), stop, why="t")
        except CantleError:
            break
    paid = 10 * NANO - int(curator.left(curator.root())[0])
    loss = sum(no_loss(x, float(rate)) for x, rate in witness.tests)
    assert loss * NANO <= paid * (1 + 1e-9)


def test_only_trusted_stop_tests_are_admitted() -> None:
    class Mine:
        theta, epsilon_nano = 0, NANO

        def cost(self, tests: np.ndarray, records: int) -> np.ndarray:  # noqa: ARG002
            return np.zeros_like(tests)

        def biased(self, exact: np.ndarray, tests: np.ndarray) -> np.ndarray:  # noqa: ARG002
            seen.append(exact.copy())
            return exact

    class Cheap(PrivTree):
        def cost(self, tests: np.ndarray, records: int) -> np.ndarray:  # noqa: ARG002
            return np.zeros_like(tests)

    seen: list[np.ndarray] = []
    for stop in (Mine(), Cheap(0, 1, NANO)):
        curator = fresh()
        with pytest.raises(ParameterError):
            curator.test(curator.root(), stop, why="t")
    assert not seen


def test_only_trusted_rules_see_records() -> None:
    """Neither a subclass of a rule, nor a rule with a method of its own, nor one of other regions."""

    class Mine(Cuts):
        def child(self, node: np.ndarray, codes: np.ndarray) -> np.ndarray:
            return look(node, codes)

    class Several(Slices):
        def child(self, node: np.ndarray, codes: np.ndarray) -> np.ndarray:
            return look(node, codes)

    def look(node: np.ndarray, codes: np.ndarray) -> np.ndarray:
        seen.append(codes.copy())
        return node

    seen: list[np.ndarray] = []
    column, starts, point = np.array([0]), np.array([0, 1]), np.array([2])
    changed = Slices(column, starts, point)
    object.__setattr__(changed, "child", look)
    for rule in (Mine(column, point), Several(column, starts, point), changed, Slices(column, starts, point + 99)):
        curator = fresh()
        with pytest.raises(ParameterError):
            curator.split(curator.root(), rule)
    assert not seen


def test_a_score_that_was_changed_after_its_checks_is_refused() -> None:
    def look(children: list[np.ndarray]) -> np.ndarray:
        seen.append(children)
        return children[0].sum(axis=-1)

    seen: list[object] = []
    replaced, large, weighty = TermScore((("left", (), 0),)), TermScore((("left", (), 0),)), Mix(1, 0)
    object.__setattr__(replaced, "scores", look)
    object.__setattr__(large, "steps", (("left", (), 0), ("times", (0,), 2**30)))
    object.__setattr__(weighty, "even", 2**40)
    for score in (replaced, large, weighty):
        curator = fresh()
        with pytest.raises(ParameterError):
            curator.choose(curator.root(), AllCuts(SIZES, 1), score, NANO, why="c")
        assert curator.left(curator.root())[0] == NANO
    assert not seen


def test_writing_into_a_frontier_moves_no_charge() -> None:
    curator = fresh(epsilon=MOST)  # so much that the noise is 0, and the answer shows which region was asked
    children = curator.split(curator.root(), Cuts(np.array([0]), np.array([1])))
    first, second = children.take([0]), children.take([1])
    assert curator.measure(first, Size(), MOST, why="m").value.tolist() == [[1]]
    try:
        children.ids[:] = [2, 3]  # node 2 now has the place of node 1
    except ValueError:
        return  # the array is read-only, which is enough
    assert curator.measure(second, Size(), MOST, why="m").value.tolist() == [[4]]  # node 1 has nothing left


@pytest.mark.parametrize("table", [DATA, Table(SIZES, CLASSES, ((0, 0, 0),))], ids=["both classes", "one class"])
def test_a_histogram_of_too_few_classes_is_refused(table: Table) -> None:
    curator = fresh(table=table)
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), Histogram(1), 5, why="m")


@pytest.mark.parametrize(
    "tables",
    [
        OneWays((0,), (4, 3), 1),  # the second table would stay uninitialised
        OneWays((0,), (3,), 1),  # code 3 would be counted in the next region
        OneWays((0, 1), (3, 4), 1),
        OneWays((5,), (4,), 1),
        OneWays((), (), 1),
    ],
    ids=repr,
)
def test_tables_of_another_domain_are_refused(tables: OneWays) -> None:
    curator = fresh(table=Table(SIZES, CLASSES, ()))
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), Marginals(tables), 5, why="m")


class Whole(int):
    """A subclass of int, which could change while it is used."""


@pytest.mark.parametrize(
    "starts",
    [
        (),
        (0, 2),  # codes of two tables in one group
        (1, 4),
        (0, 4, 4),
        (0, 4, 2),
        (0, 4, 7),
        (0, 4, 2**70),
        [0, 4],
        (0, Whole(4)),
        (0.0, 4.0),
        np.array([0, 4]),
    ],
    ids=repr,
)
def test_groups_that_do_not_fit_the_tables_are_refused(starts: Any) -> None:
    curator = fresh(table=Table(SIZES, CLASSES, ()))
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), Marginals(OneWays((0, 1), SIZES, 1), starts), 5, why="m")
    assert int(curator.left(curator.root())[0]) == NANO  # nothing was charged


@pytest.mark.parametrize(
    "candidates",
    [
        AllCuts((3, 3), 1),
        AllCuts((4,), 1),
        CutsOf(np.array([0]), 4, 1),  # one attribute for two regions
        CutsOf(np.array([0, 0]), 2, 1),  # too narrow for the codes
        CutsOf(np.array([0, 7]), 4, 1),
        CutsOf(np.array([0.0, 0.0]), 4, 1),
        AllCuts(SIZES, 1, sets=[True, True]),  # type: ignore[arg-type]
        AllCuts(SIZES, 1, sets=(1, 1)),  # type: ignore[arg-type]
        AllCuts(SIZES, 1, sets=(True,)),
        CutsOf(np.array([0, 0]), 4, 1, sets=(True, False, False)),
    ],
    ids=repr,
)
def test_candidates_for_another_frontier_are_refused(candidates: Any) -> None:
    curator = fresh(table=Table(SIZES, CLASSES, ()))
    children = curator.split(curator.root(), Cuts(np.array([0]), np.array([2])))
    with pytest.raises(ParameterError):
        curator.choose(children, candidates, BALANCE, 5, why="c")


def test_sets_are_of_small_columns_of_tables() -> None:
    """In a column of many values the span of a set would be read as a span of codes."""
    wide = fresh(table=Table((20, 3), 1, ()))
    part, nothing = np.array([1]), np.array([0])
    narrow = wide.split(wide.root(), Cuts(np.array([0]), np.array([4]))).take(slice(0, 1))
    with pytest.raises(ParameterError, match="with few values"):
        wide.split(narrow, Cuts(nothing, nothing, part))
    with pytest.raises(ParameterError, match="not candidates"):
        wide.choose(narrow, AllCuts((20, 3), 1, sets=(True, False)), BALANCE, 5, why="c")
    sets = wide.split(narrow, Cuts(part, nothing, np.array([0b101])))
    for divided in ((), (False, False)):
        with pytest.raises(ParameterError, match="not candidates"):
            wide.choose(sets.take(slice(0, 1)), AllCuts((20, 3), 1, sets=divided), BALANCE, 5, why="c")
    wide.choose(sets.take(slice(0, 1)), AllCuts((20, 3), 1, sets=(False, True)), BALANCE, 5, why="c")


@pytest.mark.parametrize(
    "cuts",
    [
        Cuts(np.array([0, 0]), np.array([0, 0]), np.array([1])),
        Cuts(np.array([0]), np.array([1, 1])),
        Cuts(np.array([7, 7]), np.array([1, 1])),
        Cuts(np.array([0, 0]), np.array([1])),
        Cuts(np.array([0, 0]), np.array([1.5, 1.5])),
    ],
    ids=repr,
)
@pytest.mark.parametrize("records", [DATA.records, ()], ids=["records", "none"])
def test_cuts_of_another_shape_are_refused(cuts: Cuts, records: Any) -> None:
    curator = fresh(table=Table(SIZES, CLASSES, records))
    children = curator.split(curator.root(), Cuts(np.array([1]), np.array([1])))
    with pytest.raises(ParameterError):
        curator.split(children, cuts)


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, r: c.measure(forged(r, ids=np.array([0.0])), Size(), 5, why="m"),
        lambda c, r: c.measure(forged(r, ids=np.array([[0]])), Size(), 5, why="m"),
        lambda c, _: c.measure(None, Size(), 5, why="m"),
        lambda c, r: c.measure(r, Size(), [5, 5], why="m"),
        lambda c, r: c.measure(r, Size(), 5, why=["unhashable"]),
        lambda c, r: c.measure(r, Histogram(0), 5, why="m"),
        lambda c, r: c.coin(r, np.array([0])),
        lambda c, r: c.coin(r, np.array([2, 2])),
        lambda c, r: c.choose(r, AllCuts(SIZES, 1), Mix(0, 0), 5, why="c"),
        lambda c, r: c.choose(r, AllCuts(SIZES, 1), Mix(2**70, 0), 5, why="c"),
        lambda c, r: c.test(r, PrivTree(2**70, 1, 5), why="t"),
        lambda c, r: c.test(r, PrivTree(0, 1, 2**62), why="t"),
        lambda c, r: c.test(r, PrivTree(0, 1.5, 5), why="t"),
        lambda c, r: c.left(forged(r, ids=np.array([7]))),
        lambda c, r: c.path(forged(r, ids=np.array([-1]))),
        lambda c, r: c.measure(forged(r, ids=np.array([0], dtype=np.uint64)), Size(), 5, why="m"),
        lambda c, r: c.measure(forged(r, ids=np.array([False])), Size(), 5, why="m"),
        lambda c, _: c.coin(None, np.array([2])),
        lambda c, _: c.left(None),
        lambda c, r: c.measure(r, Size(), [[5], [5, 5]], why="m"),
        lambda c, r: c.measure(r, Histogram(2.0), 5, why="m"),
        lambda c, r: c.measure(r, Marginals(None), 5, why="m"),
        lambda c, r: c.measure(r, Marginals(OneWays((0,), (4,), 1.0)), 5, why="m"),
        lambda c, r: c.measure(r, Marginals(OneWays((0.0,), (4,), 1)), 5, why="m"),
        lambda c, r: c.choose(r, AllCuts((4.0, 3.0), 1), BALANCE, 5, why="c"),
        lambda c, r: c.choose(r, CutsOf(np.array([0]), 4.0, 1), BALANCE, 5, why="c"),
    ],
)
def test_refusals_are_errors_of_cantle_and_free(ask: Any) -> None:
    curator = fresh()
    root = curator.root()
    with pytest.raises(CantleError):
        ask(curator, root)
    assert curator.left(root).tolist() == [NANO]


def test_making_a_frontier_writable_moves_no_charge() -> None:
    curator = fresh(epsilon=MOST)
    children = curator.split(curator.root(), Cuts(np.array([0]), np.array([1])))
    second = Frontier(children.ids[1:].copy(), children.parent[1:], 1, children.lo[1:], children.hi[1:])
    try:
        children.ids.setflags(write=True)
        children.ids[:] = [2, 3]
    except ValueError:
        return
    assert curator.measure(second, Size(), MOST, why="m").value.tolist() == [[4]]


def test_subclasses_of_tables_are_refused() -> None:
    class Mine(OneWays):
        def fits(self, nodes: Any, domain: Any) -> bool:  # noqa: ARG002
            return True

    curator = fresh()
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), Marginals(Mine((0,), (4, 3), 1)), 5, why="m")


def test_a_price_cannot_ask_questions_of_its_own() -> None:
    class Price:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:  # noqa: ARG002
            kids.append(curator.split(curator.root(), Cuts(np.array([0]), np.array([1]))))
            return np.array(NANO)

    kids: list[Frontier] = []
    curator = fresh()
    root = curator.root()
    try:
        curator.measure(root, Size(), Price(), why="m")
    except CantleError:
        return
    assert (curator.left(kids[0]) == 0).all()


# ---- grids and specialisations --------------------------------------------------------------------------------


def column_curator(records: Any = DATA.records, noise: Noise | None = None, epsilon: int = NANO) -> Curator:
    table = Table(SIZES, CLASSES, tuple(records))
    engine = table.engine()
    return Curator(engine, Budget(epsilon, Unit()), noise or Seeded(1))


class MyJoint(JointSplits):
    """Candidates that always claim to fit, and must not see exact counts."""

    def fits(self, nodes: Any, domain: Any, quality: Any) -> bool:  # noqa: ARG002
        return True

    def score(self, engine: Any, quality: Any) -> Any:  # noqa: ARG002
        raise AssertionError("unproved candidates saw exact counts")


class MyValue(Value):
    def fits(self, sizes: Any) -> bool:  # noqa: ARG002
        return True


class MyGrid(Grid):
    def fits(self, sizes: Any) -> bool:  # noqa: ARG002
        return True


class MyMajority(JointMajority):
    def value(self, part: np.ndarray) -> np.ndarray:  # noqa: ARG002
        raise AssertionError("an unproved score saw exact counts")


class MyCells(Cells):
    def sensitivity(self, unit: Unit) -> int:  # noqa: ARG002
        return 10**9


MAJORITY = JointMajority()
BAD_SPECIALISATIONS: list[tuple[Any, Any]] = [
    # another domain
    (joint(grid=Grid.top((4, 4))), MAJORITY),
    (joint(grid=Grid.top((4,))), MAJORITY),
    (joint(classes=3), MAJORITY),
    (joint(classes=1), MAJORITY),
    (joint(values=(Value(0, (0, 5), None),)), MAJORITY),
    (joint(values=(Value(2, (0, 2), None),)), MAJORITY),
    (joint(values=(Value(0, (0, 1), None),)), MAJORITY),
    (points(size=3), Max()),
    (points(classes=3), Max()),
    (points(Value(0, (0, 5), None)), Max()),
    (OneValue((FIXED,), (4, 4), 2), Max()),
    (OneValue((FIXED,), SIZES, 3), Max()),
    (OneValue((Value(1, (0, 3), ((0, 1), (2, 3))),), SIZES, 2), Max()),
    # not a span of the grid
    (joint(values=(Value(0, (0, 2), None),)), MAJORITY),
    (joint(grid=TOP.refine(0, (2,))), MAJORITY),
    # overlapping spans, spans of two attributes, fixed children where points are asked for
    (points(NUMBER, NUMBER), Max()),
    (points(Value(0, (0, 3), None), Value(0, (2, 4), None)), Max()),
    (points(Value(0, (2, 4), None), Value(0, (0, 3), None)), Max()),
    (points(NUMBER, Value(1, (0, 3), None)), Max()),
    (points(Value(0, (0, 4), ((0, 2), (2, 4)))), Max()),
    (OneValue((NUMBER,), SIZES, 2), Max()),
    # scores without a proof for these candidates
    (joint(), InfoGain()),
    (joint(), Gini()),
    (joint(), Max()),
    (joint(), BALANCE),
    (joint(), WeightedMajority((1,))),
    (joint(), WeightedMajority((1, 2, 3))),
    (points(), MAJORITY),
    (points(), HalfGini()),
    (points(), BALANCE),
    (OneValue((FIXED,), SIZES, 2), HalfGini()),
    # invalid numbers
    (joint(handicaps=(-1,)), MAJORITY),
    (joint(handicaps=(1 << 60,)), MAJORITY),
    (joint(handicaps=(0.5,)), MAJORITY),
    (joint(handicaps=(True,)), MAJORITY),
    (joint(handicaps=()), MAJORITY),
    (joint(handicaps=(0, 0)), MAJORITY),
    (joint(points=0), MAJORITY),
    (joint(points=-1), MAJORITY),
    (joint(points=2.5), MAJORITY),
    (joint(points=True), MAJORITY),
    # nothing to choose from
    (joint(values=(), handicaps=()), MAJORITY),
    (SplitPoints((), 4, 2), Max()),
    (SplitPoints(None, 4, 2), Max()),
    (OneValue((), SIZES, 2), Max()),
    # subclasses of trusted types, and other types
    (MyJoint(TOP, (NUMBER,), (0,), 9, 2), MAJORITY),
    (joint(values=(MyValue(0, (0, 9), None),)), MAJORITY),
    (points(MyValue(0, (0, 9), None)), Max()),
    (joint(grid=MyGrid(TOP.edges)), MAJORITY),
    (joint(), MyMajority()),
    (joint(), None),
    (None, MAJORITY),
    (NUMBER, MAJORITY),
]


@pytest.mark.parametrize(("candidates", "quality"), BAD_SPECIALISATIONS)
def test_specialisations_without_a_proof_are_refused_and_free(candidates: Any, quality: Any) -> None:
    for records in (DATA.records, ()):
        curator = column_curator(records)
        with pytest.raises(CantleError):
            curator.choose(curator.root(), candidates, quality, 5, why="s")
        assert curator.left(curator.root()).tolist() == [NANO]


@pytest.mark.parametrize(("candidates", "quality"), [(joint(), MAJORITY), (points(), Max()), (points(), InfoGain()),
                                                     (OneValue((FIXED,), SIZES, 2), Gini())])  # fmt: skip
def test_sound_specialisations_are_charged_before_records_are_counted(candidates: Any, quality: Any) -> None:
    curator = column_curator(epsilon=10)
    [pick] = curator.choose(curator.root(), candidates, quality, 7, why="s")
    assert pick.value == 0
    assert curator.left(curator.root()).tolist() == [3]
    witness = Witness()
    poor = column_curator(noise=witness, epsilon=10)
    with pytest.raises(BudgetExceeded):
        poor.choose(poor.root(), candidates, quality, 11, why="s")
    assert not witness.loss
    curator.seal()
    with pytest.raises(Sealed):
        curator.choose(poor.root(), candidates, quality, 1, why="s")


@pytest.mark.parametrize(
    ("query", "at_least"),
    [
        (Cells(Grid.top((4, 4)), 2), 1),
        (Cells(Grid.top((4,)), 2), 1),
        (Cells(TOP, 3), 1),
        (Cells(TOP, 1), 1),
        (Cells(None, 2), 1),
        (Cells(TOP, 2, 1), 1),  # type: ignore[arg-type]
        (Cells(MyGrid(TOP.edges), 2), 1),
        (MyCells(TOP, 2), 1),
        (Size(), 1),
        (None, 1),
        *((Cells(TOP, 2), least) for least in (0, -1, 1.0, True, None, np.int64(1), 2**61 + 1)),
    ],
)
def test_cells_without_a_proof_are_refused_and_free(query: Any, at_least: Any) -> None:
    for records in (DATA.records, ()):
        curator = column_curator(records)
        with pytest.raises(CantleError):
            curator.measure(curator.root(), query, 5, at_least=at_least, why="m")
        assert curator.left(curator.root()).tolist() == [NANO]


def test_cells_cannot_be_measured_without_a_threshold() -> None:
    curator = column_curator()
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), Cells(TOP, 2), 5, why="m")


def test_the_rate_of_a_selection_follows_from_its_range() -> None:
    """The rate that the noise source gets is price / (range * records of a unit)."""
    witness = Witness()
    witness.change = Fraction(1)
    table = Table(SIZES, CLASSES, DATA.records)
    engine = table.engine()
    curator = Curator(engine, Budget(NANO, Unit(2)), witness)
    curator.choose(curator.root(), joint(), WeightedMajority((7, 3)), 5, why="s")
    curator.choose(curator.root(), points(), InfoGain(), 5, why="s")
    curator.choose(curator.root(), points(Value(0, (0, 2), None), Value(0, (2, 4), None)), Max(), 5, why="s")
    rates = [Fraction(5, NANO * rho * 2) for rho in (7, 2050, 1)]
    assert witness.loss[0] == rates


def test_a_grid_that_was_changed_is_counted_again() -> None:
    """A frozen dataclass can still be changed from outside. Old cells would lie beyond the new grid, so whether the
    question fails would reveal whether there is a record."""
    seen = []
    for records in (((3, 2, 1),), ()):
        curator = column_curator(records)
        grid = TOP.refine(0, (1, 2, 3))
        curator.measure(curator.root(), Cells(grid, 2), 1, at_least=1, why="m")
        object.__setattr__(grid, "edges", TOP.edges)
        try:
            curator.measure(curator.root(), Cells(grid, 2), 1, at_least=1, why="m")
            seen.append("answered")
        except (CantleError, ValueError, IndexError) as error:
            seen.append(type(error).__name__)
    assert seen[0] == seen[1]


class Changing(tuple):
    """Numbers that change after they were checked: `first` for the first `looks` times, then `real`."""

    def __new__(cls, first: tuple[int, ...], real: tuple[int, ...], looks: int) -> Changing:
        made = super().__new__(cls, real)
        made.first, made.looks = first, looks
        return made

    def __iter__(self) -> Any:
        self.looks -= 1
        return iter(self.first) if self.looks >= 0 else super().__iter__()


def test_weights_cannot_change_after_the_check() -> None:
    """Weights that are 1 while they are checked must not be 1000 when scores are computed."""

    class Seen(Seeded):
        def select(self, lanes: Lanes, scores: Any, *rest: Any) -> np.ndarray:
            gaps.append(int(np.ptp(scores)))
            return super().select(lanes, scores, *rest)

    gaps: list[int] = []
    curator = column_curator(noise=Seen(1))
    with suppress(CantleError):
        weights = WeightedMajority(Changing((1, 1), (1000, 1000), looks=2))
        curator.choose(curator.root(), joint(), weights, 5, why="s")
    assert max(gaps, default=0) <= len(DATA.records)


def test_spans_cannot_change_after_the_check() -> None:
    """A span that ends at 2 when it is checked but at 4 when it is scored would let two selections use one record."""

    class Span(tuple):
        def __getitem__(self, at: Any) -> Any:
            return 2 if at == 1 else super().__getitem__(at)

    curator = column_curator()
    spans = (Value(0, (2, 4), None), Value(0, Span((0, 4)), None))
    with pytest.raises(CantleError):
        curator.choose(curator.root(), SplitPoints(spans, 4, 2), Max(), 5, why="s")


def test_binned_grids_that_are_too_wide_do_not_fit() -> None:
    """The bins of fixed children count too: 98,305 cells, 2 classes and 2^15 children need more than 32 bits."""
    sizes = (2**17, 2**16)
    grid = Grid((np.concatenate([[0], np.arange(2**15, 2**17 + 1)]), np.array([0, 2**16])))
    wide = Value(0, (0, 2**15), tuple((i, i + 1) for i in range(2**15)))
    asked = JointSplits(grid, (wide,), (0,), 1, 2)
    assert grid.cells * 2 * 2**15 > 2**31
    assert not asked.fits(Frontier.root(sizes), (sizes, 2), JointMajority())


def test_more_entries_than_64_bits_can_number_do_not_fit() -> None:
    """2^60 cells can be numbered, but not 1000 classes of each."""
    grid = Grid(tuple(np.array([0, 1, 2]) for _ in range(60)))
    assert grid.fits((2,) * 60)
    assert not Cells(grid, 1000).key.fits(((2,) * 60, 1000))


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, r: c.choose(r, points(classes=2.0), Max(), 5, why="s"),
        lambda c, r: c.choose(r, joint(classes=2.0), MAJORITY, 5, why="s"),
        lambda c, r: c.choose(r, joint(values=(Value(1, (0, 3), ((0, 1.5), (1.5, 3))),)), MAJORITY, 5, why="s"),
        lambda c, r: c.choose(r, joint(values=(Value("0", (0, 4), None),)), MAJORITY, 5, why="s"),
        lambda c, r: c.choose(r, joint(values=(Value(0, None, None),)), MAJORITY, 5, why="s"),
        lambda c, r: c.choose(r, joint(values=None), MAJORITY, 5, why="s"),
        lambda c, r: c.choose(r, joint(handicaps=None), MAJORITY, 5, why="s"),
        lambda c, r: c.measure(r, Cells(TOP, 2.0), 5, at_least=1, why="m"),
    ],
)
def test_refusals_of_specialisations_are_errors_of_cantle_and_free(ask: Any) -> None:
    curator = column_curator()
    root = curator.root()
    with pytest.raises(CantleError):
        ask(curator, root)
    assert curator.left(root).tolist() == [NANO]


# ---- sets -----------------------------------------------------------------------------------------------------

RECORDS = ((0,), (1,), (0, 2), (0, 1, 3), (4,), (0, 1, 2, 3, 4))
TREE = ItemTree.of(5, 2, even=True)
"""Five items under nodes of one or two children, on three levels."""


def set_curator(
    records: Any = RECORDS, *, tree: ItemTree = TREE, most: int = 4, noise: Noise | None = None, epsilon: int = NANO,
    unit: Unit | None = None,
) -> Curator:  # fmt: skip
    starts = np.cumsum([0, *map(len, records)], dtype=np.int64)
    items = np.array([item for record in records for item in record], dtype=np.int32)
    return Curator(
        SetEngine(Ragged(starts, items), tree=tree, most=most), Budget(epsilon, unit or Unit()), noise or Seeded(1)
    )


def ones(nodes: Partitions) -> np.ndarray:
    return np.ones(len(nodes), np.int64)


def with_ids(nodes: Partitions, ids: np.ndarray) -> Partitions:
    return Partitions(nodes.tree, nodes.most, ids, *(getattr(nodes, f.name) for f in fields(Partitions)[3:]))


class SetWitness(Seeded):
    """A seeded noise source that notes the loss of questions about sets: the rate times the records of the unit."""

    def __init__(self, records: int) -> None:
        super().__init__(7)
        self.records, self.loss = records, {}

    def sparse(self, lanes: Lanes, starts: Any, cells: Any, counts: Any, total: Any, rate: Rate, least: Any) -> Any:
        assert (np.diff(starts) <= total).all()
        for s in range(len(lanes)):
            mine = cells[starts[s] : starts[s + 1]].tolist()
            assert mine == sorted(set(mine))  # the samplers rely on it
            assert all(0 <= cell < total[s] for cell in mine)
        for i, key in enumerate(lanes.keys.tolist()):
            self.loss.setdefault(key, []).append(Fraction(*rate.exact(i)) * self.records)
        return super().sparse(lanes, starts, cells, counts, total, rate, least)


class MyKept(Kept):
    """A list of sub-partitions that always claims to fit."""

    def fits(self, nodes: Partitions) -> bool:  # noqa: ARG002
        return True


class MyParts(Partitions):
    """Partitions that claim to have one sub-partition each."""

    @property
    def patterns(self) -> np.ndarray:
        return ones(self)


def any_kept(draw: st.DrawFn, nodes: Partitions) -> tuple[Any, bool]:
    """Sub-partitions to keep, and whether that is allowed."""
    pairs = sorted(draw(st.sets(st.tuples(st.integers(0, max(0, len(nodes) - 1)), st.integers(1, 4)), max_size=4)))
    rows, masks = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1))
    good = all(
        row < len(nodes) and mask >> int(nodes.fan[row]) == 0 and mask.bit_count() <= nodes.room[row]
        and not nodes.ends[row]
        for row, mask in pairs
    )  # fmt: skip
    match draw(st.integers(0, 7)):
        case 0 if pairs:
            return Kept(np.repeat(rows, 2), np.repeat(masks, 2)), False
        case 1:
            return MyKept(rows, masks), False
        case 2 if pairs:
            return Kept(rows + len(nodes), masks), False
        case 3:
            return Cuts(rows, masks), False
        case 4 if pairs:
            return Kept(rows, masks << 5), False
    return Kept(rows, masks), good


@examples(30)
@given(st.data())
def test_no_hostile_method_over_sets_makes_a_path_lose_more_than_epsilon(data) -> None:
    draw = data.draw
    unit = Unit(draw(st.integers(1, 2)))
    witness = SetWitness(unit.max_records)
    curator = set_curator(noise=witness, epsilon=EPSILON, unit=unit)
    here, spent, path = curator.root(), {0: 0}, {0: Fraction(0)}
    old: list[Partitions] = [here]
    for _ in range(draw(st.integers(1, 12))):
        some = here.take(np.array([draw(st.booleans()) for _ in range(len(here))], dtype=bool))
        nodes, allowed = some, True
        match draw(st.integers(0, 7)):
            case 0:
                nodes, allowed = with_ids(some, some.ids + 1000), not len(some)
            case 1:
                nodes = draw(st.sampled_from(old))
                allowed = set(nodes.ids.tolist()) <= set(here.ids.tolist())
            case 2 if len(some):
                nodes, allowed = with_ids(some, np.repeat(some.ids, 2)), False
            case 3:
                # The right numbers with forged trees, cuts and heights, which the curator does not rely on.
                nodes = with_ids(Partitions.root(ItemTree.of(9, 3, even=True), 9), some.ids.copy())
        if draw(st.booleans()):
            price = draw(st.sampled_from([1, 90_000, 400_000, np.uint16(500), 0, 2.5, EPSILON + 1]))
            least: Any = np.full(len(nodes.ids), draw(st.sampled_from([1, 3, 1000, 0, 2**62])))
            right = price in (1, 90_000, 400_000, 500) and (least >= 1).all() and (least <= 2**61).all()
            can = allowed and right and all(spent[i] + int(price) <= EPSILON for i in nodes.ids.tolist())
            try:
                noisy = curator.measure(nodes, ChildSets(), price, at_least=least, why="m")
            except CantleError:
                assert not can or not len(nodes.ids)
                continue
            assert can or not len(nodes.ids)
            for i in nodes.ids.tolist():
                spent[i] += int(price)
                path[i] += witness.loss[i][-1]
            assert (noisy.value >= least[noisy.rows]).all()
        else:
            own = here.take(np.isin(here.ids, nodes.ids)) if allowed else here
            kept, good = any_kept(draw, own)
            try:
                children = curator.split(nodes, kept)
            except CantleError:
                assert not (allowed and good)
                continue
            assert allowed
            assert good
            parents = children.parent.tolist()
            assert parents == own.ids[kept.rows].tolist()
            for child, parent in zip(children.ids.tolist(), parents, strict=True):
                spent[child], path[child] = spent[parent], path[parent]
            here = children
            old.append(children)
        left = curator.left(with_ids(here, np.array(sorted(spent), dtype=np.int64)))
        assert left.tolist() == [EPSILON - spent[i] for i in sorted(spent)]
        assert all(lost * NANO <= EPSILON for lost in path.values())
    receipt = curator.seal()
    assert all(path["epsilon_nano"] <= EPSILON for path in receipt["paths"])


FLAT = ItemTree.of(3, 3, even=True)
SET_REFUSALS: list[Any] = [
    # another kind of question
    lambda c, r: c.measure(r, Histogram(1), 5, why="m"),
    lambda c, r: c.measure(r, Marginals(OneWays((0,), (4,), 1)), 5, why="m"),
    lambda c, r: c.measure(r, Cells(TOP, 1), 5, why="m"),
    lambda c, r: c.measure(r, AtMost(2), 5, why="m"),
    lambda c, r: c.measure(r, Nodes(), 5, why="m"),
    lambda c, r: c.choose(r, AllCuts(SIZES, 1), BALANCE, 5, why="c"),
    lambda c, r: c.choose(r, joint(), MAJORITY, 5, why="s"),
    lambda c, r: c.measure(r, Cells(TOP, 1), 5, at_least=1, why="m"),
    lambda c, r: c.test(r, STOP, why="t"),
    lambda c, r: c.choose(r, Bounds((1, 2), (0, 0)), Lag(), 5, why="b"),
    lambda c, r: c.split(r, Projection(2)),
    lambda c, r: c.split(r, Cuts(np.array([0]), np.array([1]))),
    # regions of another kind
    lambda c, _: c.measure(Frontier.root((4,)), ChildSets(), 5, at_least=np.ones(1, np.int64), why="m"),
    lambda c, _: c.measure(Frontier.root(()), Size(), 5, why="m"),
    lambda c, r: c.measure(MyParts(*(getattr(r, f.name) for f in fields(r))), ChildSets(), 5, at_least=ones(r), why=""),
    lambda c, _: c.measure(None, ChildSets(), 5, at_least=np.ones(1, np.int64), why="m"),
    lambda c, r: c.measure(with_ids(r, np.array([7])), ChildSets(), 5, at_least=ones(r), why="m"),
    lambda c, r: c.measure(with_ids(r, np.array([0], np.uint64)), ChildSets(), 5, at_least=ones(r), why="m"),
    # invalid thresholds
    *(
        lambda c, r, least=least: c.measure(r, ChildSets(), 5, at_least=least, why="m")
        for least in (0, None, [1], 1.0, np.ones(1), np.ones(1, np.int32), np.ones(1, np.uint64), np.ones(1, np.bool_),
                      np.ones(2, np.int64), np.ones((1, 1), np.int64), np.zeros(1, np.int64), -np.ones(1, np.int64),
                      np.full(1, 2**61 + 1), np.ones(1, np.int64).view(np.recarray), np.zeros(0, np.int64))
    ),
    # invalid prices and purposes
    lambda c, r: c.measure(r, ChildSets(), 0, at_least=ones(r), why="m"),
    lambda c, r: c.measure(r, ChildSets(), 5.0, at_least=ones(r), why="m"),
    lambda c, r: c.measure(r, ChildSets(), NANO + 1, at_least=ones(r), why="m"),
    lambda c, r: c.measure(r, ChildSets(), 5, at_least=ones(r), why=b"m"),
    # all sets, if records are cut, the universe has another size, or there is a tree
    *(lambda c, r, n=n: c.measure(r, ItemSets(n), 5, why="m") for n in (2, 3, 4, 5, 23, 0, -1, 2.0, "5", None, True)),
    # lists of sub-partitions
    lambda c, r: c.split(r, None),
    lambda c, r: c.split(r, MyKept(np.zeros(2, np.int64), np.ones(2, np.int64))),
    lambda c, r: c.split(r, Kept(np.zeros(2, np.int64), np.ones(2, np.int64))),
    lambda c, r: c.split(r, Kept(np.array([0, 7, 0]), np.array([1, 1, 2]))),
    lambda c, r: c.split(r, Kept(np.zeros(1, np.int64), np.array([4]))),
    lambda c, r: c.split(r, Kept(np.zeros(1, np.int64), np.array([2**62]))),
    lambda c, r: c.split(r, Kept(np.zeros(1), np.ones(1))),
    lambda c, r: c.split(r, Kept([0], [1])),
]  # fmt: skip


@pytest.mark.parametrize("ask", SET_REFUSALS)
def test_refusals_about_sets_are_errors_of_cantle_and_free(ask: Any) -> None:
    for records in (RECORDS, ()):
        curator = set_curator(records)
        root = curator.root()
        with pytest.raises(CantleError):
            ask(curator, root)
        assert curator.left(root).tolist() == [NANO]


def test_all_sets_may_be_asked_only_of_uncut_records() -> None:
    good = set_curator(((0,), (0, 2)), tree=FLAT, most=3)
    assert good.measure(good.root(), ItemSets(3), 5, why="m").value.shape == (1, 7)
    cut = set_curator(((0,), (0, 2)), tree=FLAT, most=2)
    with pytest.raises(ParameterError):
        cut.measure(cut.root(), ItemSets(3), 5, why="m")


def test_thresholds_that_let_millions_of_empty_sets_pass_are_refused() -> None:
    """A question about 2^62 - 1 sets must not start to list them; public values decide, before it is charged."""
    for records in (((0,), (5, 61)), ()):
        curator = set_curator(records, tree=ItemTree.of(62, 62, even=True), most=62)
        root = curator.root()
        with pytest.raises(ParameterError, match="let too many empty cells pass"):
            curator.measure(root, ChildSets(), NANO, at_least=ones(root), why="m")
        assert curator.left(root).tolist() == [NANO]
        assert len(curator.measure(root, ChildSets(), NANO, at_least=np.full(1, 60), why="m").value) < 100


def test_the_rate_of_the_noise_follows_from_the_price_of_each_partition() -> None:
    """The rate is price / (records of a unit), for all sub-partitions of a partition together."""
    witness = SetWitness(2)
    curator = set_curator(noise=witness, unit=Unit(2))
    parts = curator.split(curator.root(), Kept(np.zeros(2, np.int64), np.array([1, 2])))
    noisy = curator.measure(parts, ChildSets(), np.array([5, 8]), at_least=np.array([1, 2]), why="m")
    assert witness.loss == {1: [Fraction(5, NANO)], 2: [Fraction(8, NANO)]}
    assert (noisy.rate_num.tolist(), noisy.rate_den) == ([5, 8], 2 * NANO)
    assert [c["sensitivity"] for p in curator.seal()["paths"] for c in p["charges"]] == [2, 2]


def test_the_noise_source_gets_sets_in_the_order_of_their_numbers() -> None:
    """For records of at most two items, {0, 1} comes after {2}, although its mask is smaller."""
    witness = SetWitness(1)
    curator = set_curator(((0, 1), (2,), (1, 2), (0,)), tree=FLAT, most=2, noise=witness)
    noisy = curator.measure(curator.root(), ChildSets(), NANO // 2, at_least=np.array([1]), why="m")
    assert len(witness.loss) == 1
    assert popcount(noisy.cells).max(initial=0) <= 2
    assert len(set(noisy.cells.tolist())) == len(noisy.cells)


def make_writable(array: np.ndarray) -> bool:
    """Makes an array writable; returns whether that was possible."""
    try:
        array.setflags(write=True)
    except ValueError:
        return False
    return True


def test_making_geometry_writable_changes_nothing() -> None:
    """A method holds copies of trees, cuts and numbers, so writing into them changes no total and no charge."""
    tree = ItemTree.of(5, 2, even=True)
    curator, honest = set_curator(tree=tree), set_curator()
    root = curator.root()
    for array in (*tree.edges, *curator.domain.edges, *root.tree.edges, *root._arrays()):
        if make_writable(array):
            array[:] = 0
    object.__setattr__(root.tree, "edges", ())
    kept = Kept(np.zeros(2, np.int64), np.array([1, 2]))
    children = curator.split(honest.root(), kept)
    for array in (*children.tree.edges, *children._arrays()):
        if make_writable(array):
            array[:] = 1
    kept.rows[:], kept.mask[:] = 9, 9
    twins = honest.split(honest.root(), Kept(np.zeros(2, np.int64), np.array([1, 2])))
    answer, expected = (c.measure(twins, ChildSets(), 10**8, at_least=ones(twins), why="m") for c in (curator, honest))
    assert (answer.cells.tolist(), answer.value.tolist()) == (expected.cells.tolist(), expected.value.tolist())


def test_sub_partitions_may_be_asked_only_while_they_are_open() -> None:
    curator = set_curator()
    root = curator.root()
    first = curator.split(root, Kept(np.zeros(3, np.int64), np.array([1, 2, 3])))
    with pytest.raises(ParameterError, match="ask its children"):
        curator.measure(root, ChildSets(), 5, at_least=ones(root), why="m")
    second = curator.split(first.take([2]), Kept(np.zeros(0, np.int64), np.zeros(0, np.int64)))
    assert len(second) == 0
    for gone in (root, first, first.take([0])):
        with pytest.raises(ParameterError, match="ask its children"):
            curator.measure(gone, ChildSets(), 5, at_least=ones(gone), why="m")
    with pytest.raises(ParameterError, match="the root was already split"):
        curator.root()


def test_a_sealed_curator_over_sets_answers_nothing() -> None:
    curator = set_curator()
    root = curator.root()
    curator.seal()
    for ask in (
        lambda: curator.measure(root, ChildSets(), 1, at_least=ones(root), why="m"),
        lambda: curator.measure(root, Size(), 1, why="m"),
        lambda: curator.split(root, Kept(np.zeros(1, np.int64), np.ones(1, np.int64))),
        lambda: curator.coin(root, 2),
        lambda: curator.domain,
    ):
        with pytest.raises(Sealed):
            ask()


# ---- graphs ---------------------------------------------------------------------------------------------------

SQUARE = ((0, 1), (0, 3), (1, 2), (2, 3))


def graph_curator(
    edges: Any = SQUARE, *, unit: str = "node", listed: bool = True, nodes: int = 4, epsilon: int = NANO,
    noise: Noise | None = None,
) -> Curator:  # fmt: skip
    public = None if unit == "node" else nodes
    ends = np.array(sorted(edges), dtype=np.int32).reshape(-1, 2)
    graph = Graph(nodes, ends, number_keys(np.arange(nodes)), listed)
    return Curator(GraphEngine(graph, nodes=public), Budget(epsilon, Unit(kind=unit)), noise or Seeded(1))


class MyAtMost(AtMost):
    def sensitivity(self, unit: Unit) -> int:  # noqa: ARG002
        return 1


class MyBounds(Bounds):
    @property
    def range(self) -> int:
        return 1

    def scores(self, kept: list[int]) -> list[int]:  # noqa: ARG002
        raise AssertionError("unproved scores saw exact counts")


GRAPH_REFUSALS: list[Any] = [
    # another kind of question, or of region
    *(lambda c, r, q=q: c.measure(r, q, 5, why="m") for q in (Size(), Histogram(1), ItemSets(2), Cells(TOP, 1),
                                                             Marginals(OneWays((), (), 1)), None, AtMost, "AtMost")),
    lambda c, r: c.choose(r, AllCuts((), 1), BALANCE, 5, why="c"),
    lambda c, r: c.choose(r, joint(), MAJORITY, 5, why="s"),
    lambda c, r: c.measure(r, Cells(TOP, 1), 5, at_least=1, why="m"),
    lambda c, r: c.test(r, STOP, why="t"),
    lambda c, r: c.measure(r, ChildSets(), 5, at_least=np.ones(1, np.int64), why="m"),
    lambda c, r: c.split(r, Cuts(np.array([0]), np.array([1]))),
    lambda c, r: c.split(r.take([]), Cuts(np.zeros(0, np.int64), np.zeros(0, np.int64))),
    lambda c, r: c.split(r, Kept(np.zeros(1, np.int64), np.ones(1, np.int64))),
    lambda c, _: c.measure(Partitions.root(TREE, 4), Nodes(), 5, why="m"),
    lambda c, r: c.measure(forged(r, ids=np.array([1])), Nodes(), 5, why="m"),
    lambda c, r: c.choose(r.take([]), Bounds((1, 2), (0, 0)), Lag(), 5, why="b"),
    lambda c, r: c.split(r.take([]), Projection(2)),
    # subclasses of trusted types, and invalid numbers
    lambda c, r: c.measure(r, MyAtMost(2), 5, why="m"),
    *(lambda c, r, q=q: c.measure(r, q, 5, why="m") for q in (
        AtMost(0), AtMost(-1), AtMost(2.0), AtMost(True), AtMost(np.int64(2)), AtMost("2"), AtMost(None),
        AtMost(2**26 + 1), AtLeast(0), KeptEdges(2.5), KeptEdges(0))),
    lambda c, r: c.choose(r, MyBounds((1, 2), (0, 0)), Lag(), 5, why="b"),
    *(lambda c, r, b=b: c.choose(r, Bounds(*b), Lag(), 5, why="b") for b in (
        ((), ()), ((1, 2), (0,)), ((2, 1), (0, 0)), ((1, 1), (0, 0)), ((0, 1), (0, 0)), ((1, 2**27), (0, 0)),
        ((1, 2.0), (0, 0)), ((1, True), (0, 0)), ((1, 2), (0, -1)), ((1, 2), (0, 0.5)), ((1, 2), (0, 2**60 + 1)),
        ([1, 2], [0, 0]), ((1, 2), None), (None, None), ((1, np.int64(2)), (0, 0)),
        (Changing((1, 2), (1, 9), looks=9), (0, 0)))),
    lambda c, r: c.choose(r, None, Lag(), 5, why="b"),
    *(lambda c, r, t=t: c.split(r, Projection(t))
      for t in (0, -1, 2.0, True, np.int64(2), "2", None, 2**26 + 1, 500_000)),
    # units and inputs without a proof
    lambda c, r: c.measure(r, SortedDegrees(4), 5, why="m"),
    lambda c, r: c.measure(r, DegreesAbove(2), 5, why="m"),
    # invalid prices and purposes
    lambda c, r: c.choose(r, Bounds((1, 2), (0, 0)), Lag(), 0, why="b"),
    lambda c, r: c.choose(r, Bounds((1, 2), (0, 0)), Lag(), NANO + 1, why="b"),
    lambda c, r: c.choose(r, Bounds((1, 2), (0, 0)), Lag(), 5, why=None),
    lambda c, r: c.measure(r, Nodes(), 1.5, why="m"),
]  # fmt: skip


@pytest.mark.parametrize("ask", GRAPH_REFUSALS)
def test_refusals_about_graphs_are_errors_of_cantle_and_free(ask: Any) -> None:
    for edges, nodes in ((SQUARE, 4), ((), 0)):
        curator = graph_curator(edges, nodes=nodes)
        root = curator.root()
        with pytest.raises(CantleError):
            ask(curator, root)
        assert curator.left(root).tolist() == [NANO]


@pytest.mark.parametrize(
    ("unit", "listed", "query"),
    [
        ("node", False, AtMost(2)),
        ("node", False, Nodes()),
        ("node-isolate", True, AtMost(2)),
        ("node-isolate", True, Nodes()),
        ("node-isolate", True, SortedDegrees(4)),
        ("node-isolate", True, DegreesAbove(2)),
        ("edge", True, AtMost(2)),
        ("edge", True, AtLeast(2)),
        ("edge", True, KeptEdges(2)),
        ("edge", True, Nodes()),
        ("edge", True, SortedDegrees(3)),
        ("edge", True, SortedDegrees(4.0)),
        ("edge", True, DegreesAbove(0)),
        ("record", True, AtMost(2)),
        ("record", True, Nodes()),
        ("record", True, SortedDegrees(4)),
    ],
)
def test_questions_without_a_proof_for_the_unit_are_refused_and_free(unit: str, listed: bool, query: Any) -> None:
    for edges in (SQUARE, ()):
        curator = graph_curator(edges, unit=unit, listed=listed)
        with pytest.raises(ParameterError):
            curator.measure(curator.root(), query, 5, why="m")
        assert curator.left(curator.root()).tolist() == [NANO]


@pytest.mark.parametrize("unit", ["edge", "record"])
def test_only_units_of_nodes_allow_a_projection(unit: str) -> None:
    curator = graph_curator(unit=unit)
    for ask in (
        lambda: curator.split(curator.root(), Projection(2)),
        lambda: curator.choose(curator.root(), Bounds((1, 2), (0, 0)), Lag(), 5, why="b"),
    ):
        with pytest.raises(ParameterError, match="no proof for th"):
            ask()


def test_a_list_of_degrees_cannot_be_projected() -> None:
    for values in ([0, 1, 1], []):
        degrees = Degrees(np.array(values, dtype=np.int64))
        curator = Curator(GraphEngine(degrees), Budget(NANO, Unit(kind="node")), Seeded(1))
        for ask in (
            lambda c: c.split(c.root(), Projection(2)),
            lambda c: c.measure(c.root(), KeptEdges(2), 5, why="m"),
            lambda c: c.measure(c.root(), AtLeast(2), 5, why="m"),
            lambda c: c.choose(c.root(), Bounds((1, 2), (0, 0)), Lag(), 5, why="b"),
        ):
            with pytest.raises(ParameterError):
                ask(curator)


@pytest.mark.parametrize("penalty", [2**53, 2**54 - 1, 2**54, 2**54 + 1, 2**54 + 2, 2**55, 2**60])
def test_whether_scores_fit_64_bits_does_not_depend_on_the_edges(penalty: int) -> None:
    """1024 times a penalty of 2^54 over a bound of 2 is 2^63; one kept edge more or less must not show."""
    outcomes = []
    for edges in ((), ((0, 1),), ((0, 1), (0, 2)), ((0, 1), (0, 2), (0, 3)), SQUARE):
        curator = graph_curator(edges)
        try:
            outcomes.append(curator.choose(curator.root(), Bounds((1, 2), (0, penalty)), Lag(), NANO, why="b"))
        except Exception as error:  # noqa: BLE001
            outcomes.append(type(error).__name__)
    assert set(outcomes) == {1}


def test_the_rate_of_the_noise_follows_from_what_a_node_can_change() -> None:
    """The rates that the noise source gets, and the sensitivities in the receipt, follow from it."""
    witness = Witness()
    witness.change = Fraction(1)
    curator = graph_curator(noise=witness)
    root = curator.root()
    for query in (KeptEdges(3), AtMost(3), AtLeast(3), Nodes()):
        curator.measure(root, query, 5, why="m")
    curator.choose(root, Bounds((1, 2), (0, 0)), Lag(), 5, why="b")
    projected = curator.split(root, Projection(3))
    curator.measure(projected, Size(), 5, why="m")
    curator.choose(projected, AllCuts((4,), 1), BALANCE, 5, why="c")
    changes = [3, 4, 6, 1, 2050, 7, 7]
    assert witness.loss[0] == [Fraction(5, NANO * change) for change in changes]
    [path] = curator.seal()["paths"]
    assert [charge["sensitivity"] for charge in path["charges"]] == changes


def test_after_projection_the_graph_is_gone_and_the_unit_is_larger() -> None:
    for unit, records in (("node", 5), ("node-isolate", 6)):
        curator = graph_curator(unit=unit)
        root = curator.root()
        assert curator.unit.max_records == 1
        curator.measure(root, KeptEdges(2), 10, why="m")
        projected = curator.split(root, Projection(2))
        assert curator.unit.max_records == records
        assert curator.left(projected).tolist() == [NANO - 10]  # charges for the graph still count
        for ask in (
            lambda c=curator, r=root: c.measure(r, KeptEdges(2), 5, why="m"),
            lambda c=curator, r=root: c.measure(r, AtLeast(2), 5, why="m"),
            lambda c=curator, r=root: c.choose(r, Bounds((1, 2), (0, 0)), Lag(), 5, why="b"),
            lambda c=curator, r=root: c.split(r, Projection(2)),
            lambda c=curator, r=root: c.split(r, Projection(1)),
        ):
            with pytest.raises(ParameterError):
                ask()
        assert curator.seal()["unit"]["kind"] == unit


def test_a_sealed_curator_over_a_graph_answers_nothing() -> None:
    curator = graph_curator()
    root = curator.root()
    curator.seal()
    for ask in (
        lambda: curator.measure(root, Nodes(), 1, why="m"),
        lambda: curator.choose(root, Bounds((1, 2), (0, 0)), Lag(), 1, why="b"),
        lambda: curator.split(root, Projection(2)),
        lambda: curator.domain,
    ):
        with pytest.raises(Sealed):
            ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, r: c.measure(r, ChildSets(), 5, at_least=np.ones(1, np.int64), why="m"),
        lambda c, _: c.measure(Partitions.root(TREE, 4), ChildSets(), 5, at_least=np.ones(1, np.int64), why="m"),
        lambda c, r: c.measure(r, ItemSets(2), 5, why="m"),
        *(lambda c, r, q=q: c.measure(r, q, 5, why="m") for q in (Nodes(), AtMost(2), AtLeast(2), KeptEdges(2),
                                                                 SortedDegrees(4), DegreesAbove(2))),
        lambda c, r: c.choose(r, Bounds((1, 2), (0, 0)), Lag(), 5, why="b"),
        lambda c, r: c.split(r, Projection(2)),
        lambda c, r: c.split(r, Kept(np.zeros(1, np.int64), np.ones(1, np.int64))),
        lambda c, _: c.left(None),
        lambda c, _: c.coin(Partitions.root(TREE, 4), 2),
    ],
)  # fmt: skip
def test_tables_answer_no_questions_about_sets_and_graphs(ask: Any) -> None:
    curator = fresh()
    root = curator.root()
    with pytest.raises(CantleError):
        ask(curator, root)
    assert curator.left(root).tolist() == [NANO]


def test_nothing_private_of_sets_and_graphs_is_shown_or_survives() -> None:
    """As for tables, no repr shows a count, no array is left after the seal, and nothing can be pickled."""
    many = tuple((CANARY,) for _ in range(CANARY))
    star = tuple((0, leaf) for leaf in range(1, CANARY + 1))
    curators = [
        set_curator(many, tree=ItemTree.of(200, 10, even=True), most=4),
        graph_curator(star, nodes=CANARY + 1),
        graph_curator(star, nodes=CANARY + 1, unit="edge"),
    ]
    for curator in curators:
        run = curator._Curator__run
        engine = run.engine
        assert str(CANARY) not in repr(curator) + repr(run) + repr(engine) + str(engine)
        for secret in (curator, run, engine):
            with pytest.raises(TypeError):
                pickle.dumps(secret)
            with pytest.raises(TypeError):
                copy.deepcopy(secret)
        curator.seal()
        held = [
            value for value in vars(engine).values() if isinstance(value, np.ndarray | list | dict | Graph) and value
        ]
        assert not held
