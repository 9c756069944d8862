"""Questions of the method `baskets`, asked through the curator: refusals are free; listed cells are always given."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from cantle.audit.enumerating import Enumerating, law
from cantle.errors import ParameterError
from cantle.trusted.claims.set_queries import HeadPatterns, ItemSupports, PairSupports, SetApart, SetSizes
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry.item_partitions import PARTS, ItemTree, Kept
from cantle.trusted.noise import Lanes, Rate, Seeded

ROWS = ((0, 1), (0, 1, 2), (2,), (1, 2, 3, 4))


def engine_of(rows: Any = ROWS, items: int = 5, most: int | None = None) -> SetEngine:
    starts, codes = np.cumsum([0, *map(len, rows)]), np.array([item for row in rows for item in row], dtype=np.int32)
    return SetEngine(Ragged(starts, codes), tree=ItemTree.of(items, 3, even=True), most=most or items)


def curator_of(engine: SetEngine, noise: Any = None, units: int = 1, unit: Unit | None = None) -> Curator:
    return Curator(engine, Budget(units * NANO, unit or Unit()), noise or Seeded(1))


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


class Tuple(tuple):
    """A subclass of tuple, which the curator must refuse like any other type."""


NOT_FITTING: list[Any] = [
    SetSizes(()), SetSizes((2, 3)), SetSizes((1, 1)), SetSizes((1, 3, 2)), SetSizes([1, 2]), SetSizes(Tuple((1, 2))),
    SetSizes((1, 2.0)), SetSizes((1, 2**31)), SetSizes((True, 2)),
    ItemSupports(4, 1, False), ItemSupports(6, 1, False), ItemSupports(5, 0, False), ItemSupports(5, 65, False),
    ItemSupports(5, 1.0, False), ItemSupports(5, 1, 1), ItemSupports(5.0, 1, True), ItemSupports(5, True, True),
    HeadPatterns(()), HeadPatterns((5,)), HeadPatterns((-1, 2)), HeadPatterns((2, 1)), HeadPatterns((1, 1)),
    HeadPatterns(ints(0, 1)), HeadPatterns("01"),
]  # fmt: skip
NO_PAIRS: list[Any] = [
    PairSupports((0,), 1), PairSupports((), 1), PairSupports((0, 5), 1), PairSupports((1, 0), 1),
    PairSupports((0, 1), 0), PairSupports((0, 1), 65), PairSupports((0, 1), 1.0), PairSupports([0, 1], 1),
    *(PairSupports((0, 1, 2), 1, cells) for cells in (ints(3), ints(-1), ints(1, 1), ints(1, 0), np.zeros(1), [0])),
]  # fmt: skip


@pytest.mark.parametrize("query", NOT_FITTING + NO_PAIRS, ids=lambda query: repr(query)[:50])
def test_questions_that_do_not_fit_are_refused_and_cost_nothing(query: Any) -> None:
    curator = curator_of(engine_of())
    options = {"at_least": 1} if isinstance(query, PairSupports) else {}
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), query, 5, why="m", **options)
    assert curator.left(curator.root()).tolist() == [NANO]


GOOD = [SetSizes((1, 2)), ItemSupports(5, 2, True), HeadPatterns((0, 4)), PairSupports((0, 1, 2), 2, ints(1))]


@pytest.mark.parametrize("query", GOOD, ids=lambda query: type(query).__name__)
def test_only_the_root_may_be_asked_and_only_with_uncut_records(query: Any) -> None:
    options = {"at_least": 10**6} if isinstance(query, PairSupports) else {}
    curator = curator_of(engine_of())
    curator.measure(curator.root(), query, NANO // 4, why="m", **options)
    regions = curator.split(curator.root(), Kept(ints(0, 0), ints(1, 3)))
    for nodes in (regions, regions.take(ints(0))):
        with pytest.raises(ParameterError):
            curator.measure(nodes, query, 5, why="m", **options)
    cutting = curator_of(engine_of(most=4))
    with pytest.raises(ParameterError):
        cutting.measure(cutting.root(), query, 5, why="m", **options)


@pytest.mark.parametrize("at_least", [0, -1, 1.0, None, ints(1, 1)])
def test_a_threshold_must_be_a_whole_number_of_at_least_one(at_least: Any) -> None:
    curator = curator_of(engine_of())
    with pytest.raises(ParameterError):
        curator.measure(curator.root(), PairSupports((0, 1, 2), 2, ints(1)), 5, at_least=at_least, why="m")


def test_answers_are_close_when_epsilon_is_large() -> None:
    units = 2000
    curator = curator_of(engine_of(), units=4 * units)
    root, price = curator.root(), units * NANO
    assert curator.measure(root, SetSizes((1, 2, 3)), price, why="m").value.tolist() == [[1, 1, 2]]
    items = curator.measure(root, ItemSupports(5, 2, True), price, why="m").value[0] / PARTS
    assert np.round(items, 2).tolist() == [1, 1, 1, 0, 0, 0.67, 1.17, 1.17, 0.5, 0.5]
    assert curator.measure(root, HeadPatterns((0, 2)), price, why="m").value.tolist() == [[0, 1, 2, 1]]
    # Pairs (0,1), (0,2), (1,2); the last record has (1,2) as its only listed pair.
    pairs = curator.measure(root, PairSupports((0, 1, 2), 1, ints(1)), price, at_least=PARTS, why="m")
    assert pairs.cells.tolist() == [0, 1, 2]
    assert np.round(pairs.value / PARTS, 2).tolist() == [1.33, 0.33, 1.33]
    assert (pairs.rate_num.tolist(), pairs.rate_den) == ([price], PARTS * NANO)


def test_the_sensitivity_of_persons_is_charged() -> None:
    curator = curator_of(engine_of(), unit=Unit(3, "person"))
    noisy = curator.measure(curator.root(), PairSupports((0, 1, 2), 2), NANO, at_least=10**6, why="m")
    assert noisy.rate_den == 2 * 3 * PARTS * NANO
    (path,) = curator.seal()["paths"]
    assert [charge["sensitivity"] for charge in path["charges"]] == [2 * 3 * PARTS]


# ---- cells that are always given: Claim 54 --------------------------------------------------------------------------

LISTED = [ints(), ints(0), ints(1), ints(0, 2), ints(0, 1, 2)]
AT_LEAST = 2 * PARTS


def answers(rows: Any, always: np.ndarray) -> dict[Any, Fraction]:
    """The exact law of the whole answer; the price makes the rate of the noise 1."""

    def run(noise: Enumerating) -> Any:
        curator = curator_of(engine_of(rows, 3), noise, PARTS)
        query = PairSupports((0, 1, 2), 1, always)
        noisy = curator.measure(curator.root(), query, PARTS * NANO, at_least=AT_LEAST, why="m")
        return tuple(zip(noisy.cells.tolist(), noisy.value.tolist(), strict=True))

    return law(run, window=(PARTS - 1, PARTS))


def cell_by_cell(counts: list[int], always: np.ndarray) -> dict[Any, Fraction]:
    """The same law by its definition: each cell is noised once, by itself, and withheld if small and not listed."""
    rate, laws, lane = Rate(NANO, NANO), [], Lanes(0, np.arange(1))
    for cell, count in enumerate(counts):
        if cell in always:
            outcomes = law(
                lambda noise, c=count: (int(noise.laplace(lane, ints(c), rate)[0]),), window=(PARTS - 1, PARTS)
            )
        else:
            sparse = lane, ints(0, 1), ints(0), ints(count), ints(1), rate, AT_LEAST
            outcomes = law(lambda noise, s=sparse: tuple(noise.sparse(*s)[2].tolist()), window=(PARTS - 1, PARTS))
        laws.append([(tuple((cell, value) for value in values), p) for values, p in outcomes.items()])
    joint: dict[Any, Fraction] = {}
    for combination in product(*laws):
        answer = tuple(pair for pairs, _ in combination for pair in pairs)
        joint[answer] = joint.get(answer, Fraction(0)) + combination[0][1] * combination[1][1] * combination[2][1]
    return joint


@pytest.mark.parametrize("always", LISTED, ids=lambda always: str(always.tolist()))
def test_every_cell_is_drawn_once_by_its_own_law(always: np.ndarray) -> None:
    rows = ((0, 1), (0, 1), (1, 2))
    assert answers(rows, always) == cell_by_cell([2 * PARTS, 0, PARTS], always)


@pytest.mark.parametrize("always", LISTED, ids=lambda always: str(always.tolist()))
def test_one_record_changes_the_odds_by_at_most_the_price(always: np.ndarray) -> None:
    before, after = answers(((0, 1),), always), answers(((0, 1), (0, 1)), always)
    assert before.keys() == after.keys()
    assert max(max(before[out] / after[out], after[out] / before[out]) for out in before) <= 2**PARTS


def test_cells_drawn_twice_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If listed cells also stayed in the sparse part, the loss would exceed the price."""
    monkeypatch.setattr(SetApart, "divide", lambda self, cells, counts: (cells, counts, counts[: len(self.always)]))
    monkeypatch.setattr(
        SetApart, "join", lambda _self, *parts: tuple(map(np.concatenate, ((parts[0], ints(9)), parts[1:])))
    )
    before, after = answers(((0, 1),), ints(0)), answers(((0, 1), (0, 1)), ints(0))
    assert max(max(before[out] / after[out], after[out] / before[out]) for out in before) > 2**PARTS


def test_listed_cells_are_taken_out_and_put_back_in_order() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        cells = np.sort(rng.choice(40, rng.integers(0, 30), replace=False))
        apart = SetApart(np.sort(rng.choice(40, rng.integers(0, 30), replace=False)))
        counts = rng.integers(1, 9, len(cells))
        rest, rest_counts, listed = apart.divide(cells, counts)
        assert (np.diff(rest) > 0).all()
        assert rest.max(initial=-1) < 40 - len(apart.always)
        back, values = apart.join(rest, rest_counts, listed)
        assert back.tolist() == np.union1d(cells, apart.always).tolist()
        known = dict(zip(cells.tolist(), counts.tolist(), strict=True))
        assert values.tolist() == [known.get(cell, 0) for cell in back.tolist()]
