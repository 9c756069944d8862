"""Classes that try to get more than noisy answers, or that are wrong: refused before the charge, or within epsilon."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle import framework as fw
from cantle.errors import CHARGE_NOTE, BudgetExceeded, CantleError, ParameterError, Sealed
from cantle.framework.run import PartitioningRun
from cantle.schema.table import TableSchema
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Cuts, Slices
from tests.effort import examples
from tests.framework.examples import TOWNS, classes, towns

QuadTree = classes()["QuadTree"]
DATA = towns(500)


class Halves(fw.Partitioning):
    """A sound class, from which the others derive."""

    depth: int = fw.setting(2, at_most=9)

    def stop(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return regions.depth == self.depth

    def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return regions.halve()


class NoStop(fw.Partitioning):
    partition = Halves.partition


class NeverEnds(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return False


class WrongShape(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return np.zeros(3, bool)


class NotBools(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return np.zeros(len(regions), int)


class Greedy(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:
        ask.sizes(regions, "1/2")
        return regions.depth == 5


class SpendsAll(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:
        return ask.choose(regions, epsilon=ask.left(regions)[0])


class Uncounted(Halves):
    def summarize(self, leaves: Any, ask: Any) -> None:
        pass


class TwiceCounted(Halves):
    def summarize(self, leaves: Any, ask: Any) -> None:
        for half in (leaves.take(slice(0, 1)), leaves.take(slice(1, None))):
            if len(half):
                ask.counts(half)


class Forged(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        count, lo = len(regions), regions.nodes.lo[:, 0]
        return fw.Cut(regions, Slices(np.zeros(count, np.int64), 2 * np.arange(count + 1), np.repeat(lo + 5, 2)))


class Overlapping(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        class Both(Cuts):
            def children(self, nodes: Any, first_id: int) -> Any:  # noqa: ARG002
                return nodes

        rule = regions.halve().rule
        return fw.Cut(regions, Both(rule.attribute, rule.point))


class OtherRegions(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return regions.take(slice(0, 1)).halve()


class NoCut(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return regions.halve().rule


class SplitsByItself(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:
        ask.curator.split(regions.nodes, regions.halve().rule)
        return regions.halve()


class FunctionScore(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:
        class Counts:
            range, apart = 1, 0

            def scores(self, children: Any) -> Any:  # noqa: ARG002
                raise AssertionError("a function saw exact counts")

        return ask.choose(regions, "1/8", score=Counts())


class Constant(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:
        return ask.choose(regions, "1/8", score=fw.left + fw.right)


class Raises(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        raise RuntimeError("I give up")


class OtherTests(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:
        return ~ask.worth_splitting(regions, "1/8", above=regions.depth)


class AsksForTestsTwice(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:
        ask.worth_splitting(regions, "1/8", above=10**6)
        return ~ask.worth_splitting(regions, "1/8", above=10**6)


class AsksTwice(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:
        ask.sizes(regions, "1/100")
        return ask.sizes(regions, "1/100") < 0


class NoPrice(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:
        return ask.sizes(regions) < 0


class NoColumn(Halves):
    def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
        return regions.halve("height")


WRONG: list[tuple[type, str, str]] = [
    (NoStop, "NoStop", "does not say how to stop"),
    (NeverEnds, "NeverEnds.stop", "does not come to an end"),
    (WrongShape, "WrongShape.stop", "one per region"),
    (NotBools, "NotBools.stop", "one per region"),
    (Greedy, "Greedy.stop", "left at depth 1"),
    (SpendsAll, "SpendsAll.partition", "at least one: 0"),
    (Uncounted, "Uncounted.summarize", "count all of its leaves"),
    (TwiceCounted, "TwiceCounted.summarize", "count all of its leaves"),
    (Forged, "Forged.partition", "one cut for each"),
    (Overlapping, "Overlapping.partition", "one cut for each"),
    (OtherRegions, "OtherRegions.partition", "one cut for each"),
    (NoCut, "NoCut.partition", "one cut for each"),
    (SplitsByItself, "SplitsByItself.partition", "cannot be asked again"),
    (FunctionScore, "FunctionScore.partition", "no proof"),
    (Constant, "Constant.partition", "range is 0"),
    (Raises, "Raises.stop", "failed with RuntimeError: I give up"),
    (OtherTests, "OtherTests.stop", "share one threshold"),
    (AsksForTestsTwice, "AsksForTestsTwice.stop", "cannot be tested again"),
    (AsksTwice, "AsksTwice.stop", "asked once"),
    (NoPrice, "NoPrice.stop", "paid with a share"),
    (NoColumn, "NoColumn.partition", "no column 'height'"),
]


@pytest.mark.parametrize(("wrong", "names", "says"), WRONG, ids=lambda one: getattr(one, "__name__", None))
def test_errors_come_before_the_charge_and_name_the_class_and_the_verb(
    wrong: type, names: str, says: str, tmp_path: Path
) -> None:
    ledger = cantle.Ledger(tmp_path / "ledger.db")
    ledger.cap("towns", 2)
    with pytest.raises(CantleError, match=says) as caught:
        cantle.publish(DATA, TOWNS, epsilon=1, method=wrong, ledger=ledger, dataset="towns")
    assert str(caught.value).startswith(names)
    assert not any(CHARGE_NOTE in note for note in getattr(caught.value, "__notes__", []))
    assert ledger.account("towns").spent_nano == 0
    if wrong is not AsksForTestsTwice:  # whether its first test says no is a matter of noise
        with pytest.raises(CantleError):
            cantle.plan(TOWNS, epsilon=1, records=100, method=wrong)


SETS = {"kind": "sets", "items": ["a", "b"]}
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: QuadTree(dept=3), "no parameter 'dept'; did you mean depth"),
    (lambda: QuadTree(depth=0), "quadtree parameter depth must be a whole number from 1 to 40, got 0"),
    (lambda: QuadTree(tests=2), "quadtree parameter tests must be a share"),
    (lambda: cantle.publish(DATA, TOWNS, epsilon=1, method=QuadTree(), depth=3), "QuadTree.depth=….*not to publish"),
    (lambda: cantle.publish(DATA, TOWNS, epsilon=1, method=QuadTree(), preset="paper"), "QuadTree has no presets"),
    (lambda: cantle.publish(DATA, TOWNS, epsilon=1, method=int), "int is no partitioning"),
    (lambda: cantle.publish(DATA, TOWNS, epsilon=1, method="nowhere:Quad"), "No module named 'nowhere'"),
    (lambda: cantle.publish(DATA, TOWNS, epsilon=1, method="quad"), "'quad' is not known"),
    (lambda: cantle.plan(SETS, epsilon=1, records=9, method=QuadTree()), "partitions tables"),
    (lambda: cantle.plan(TOWNS, epsilon=1, records=9, method=type("Rps", (Halves,), {})), "name of a method of cantle"),
    (lambda: type("Named", (Halves,), {"name": "<b>"})(), "small letters"),
    (lambda: cantle.audit(int), "derive it"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "says"), REFUSED)
def test_what_is_no_sound_partitioning_is_refused(act: Callable[[], object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        act()


def test_an_error_in_the_run_leaves_the_charge_and_no_reference_to_the_error() -> None:
    class Later(Halves):
        """It raises only where there are more records than in a rehearsal."""

        def stop(self, regions: Any, ask: Any) -> Any:
            if ask.sizes(regions, "1/10").max() > 5000:
                raise RuntimeError("more than expected")
            return True

    with pytest.raises(ParameterError, match=r"Later.stop failed with RuntimeError: more than expected") as caught:
        cantle.publish(towns(20_000), TOWNS, epsilon=1, method=Later)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_class_that_keeps_the_curator_gets_nothing_afterwards() -> None:
    kept: list[Any] = []

    class Keeps(Halves):
        def begin(self, root: Any, ask: Any) -> None:
            kept.append((root, ask, ask.curator))

    cantle.publish(DATA, TOWNS, epsilon=1, method=Keeps)
    assert len(kept) == 2  # the rehearsal and the run
    for root, ask, curator in kept:
        for act in (
            lambda a=ask, r=root: a.sizes(r, "1/100"),
            lambda a=ask, r=root: a.counts(r),
            lambda a=ask, r=root: a.split(r.halve()),
            lambda c=curator, r=root: c.measure(r.nodes, 1, 1, why="m"),
        ):
            with pytest.raises(Sealed):
                act()


CANARY = 70_007


def test_a_class_that_prints_what_it_sees_prints_no_exact_number() -> None:
    """All records are in one point, so every exact count is 0 or that of all; the noise of this seed is never 0."""

    class Prints(Halves):
        def begin(self, root: Any, ask: Any) -> None:
            print(root, vars(root), ask, vars(ask), ask.curator, ask.left(root), ask.sizes(root, "1/20"))

        def stop(self, regions: Any, ask: Any) -> Any:
            print(regions, vars(regions), ask.sizes(regions, "1/20") if regions.depth else "", ask.run.tree)
            return super().stop(regions, ask)

        def partition(self, regions: Any, ask: Any) -> Any:
            cut = ask.choose(regions, "1/20")
            print(cut, cut.rule, ask.run.tree)
            return cut

        def summarize(self, leaves: Any, ask: Any) -> None:
            ask.counts(leaves)
            print(ask.run.tree, ask.curator, ask.run)

    data, said = pl.DataFrame({"lat": [51.5] * CANARY, "lon": [5.0] * CANARY}), StringIO()
    with redirect_stdout(said):
        cantle.publish(data, TOWNS, epsilon="0.01", method=Prints, insecure_seed=2)
    assert len(said.getvalue()) > 2000
    assert str(CANARY) not in said.getvalue().replace(",", "").replace("_", "")


class Everything(Halves):
    """It asks all that it can pay for, and lets every answer decide what comes next."""

    def begin(self, root: Any, ask: Any) -> None:
        self.many = int(ask.sizes(root, "1/4")[0])

    def stop(self, regions: Any, ask: Any) -> Any:
        with suppress(BudgetExceeded):
            ask.counts(regions)  # all that is left, too early
        return True


class Adapts(Halves):
    def stop(self, regions: Any, ask: Any) -> Any:
        if regions.depth:
            return True
        return ask.sizes(regions, "1/4") < 1

    def partition(self, regions: Any, ask: Any) -> Any:
        return ask.choose(regions, "1/4", score=-abs(fw.left - fw.right))


def test_a_class_that_lets_answers_decide_loses_at_most_epsilon() -> None:
    row = cantle.audit(Adapts, sizes=(4,), records=2)
    assert row.ok
    assert row.measured > 0.9 * row.claimed
    dice = random.Random(1)
    with pytest.raises(ParameterError, match="does not do the same"):
        cantle.audit(type("Random", (Halves,), {"stop": lambda *_: dice.random() < 0.5}))


def test_whatever_a_class_asks_no_path_pays_more_than_epsilon() -> None:
    run = PartitioningRun.of(TableSchema.from_dict(TOWNS), QuadTree())
    from cantle.framework.rehearsal import rehearse

    for plan in (QuadTree(), Adapts(), Halves(depth=9)):
        run = PartitioningRun.of(TableSchema.from_dict(TOWNS), plan)
        _, receipt = rehearse(run, NANO, 3)
        spent = [sum(charge["epsilon_nano"] for charge in path["charges"]) for path in receipt["paths"]]
        assert max(spent) <= NANO
    with pytest.raises(CantleError, match=r"Everything\.summarize"):
        cantle.plan(TOWNS, epsilon=1, records=10, method=Everything)


class Program(Halves):
    """A class that hypothesis makes up: for each level what it asks, what decides, and how it cuts."""

    steps: tuple[tuple[str, str], ...] = ()

    def begin(self, root: Any, ask: Any) -> None:
        self.seen = int(ask.sizes(root, "1/4")[0]) if len(self.steps) > 1 else 0

    def stop(self, regions: Any, ask: Any) -> Any:
        if regions.depth >= len(self.steps):
            return True
        match self.steps[regions.depth][0]:
            case "test":
                return ~ask.worth_splitting(regions, "1/4", into=3)
            case "sizes" if regions.depth:
                noisy = ask.sizes(regions, "1/8")
                return noisy < noisy.max() + self.seen  # what one region does depends on the others
            case "coin":
                return ask.coin(regions, np.full(len(regions), 2)) == 1
            case _:
                return False

    def partition(self, regions: Any, ask: Any) -> Any:
        match self.steps[regions.depth][1]:
            case "balance" | "auto" as score:
                return ask.choose(regions, "1/8", score=score)
            case "term":
                return ask.choose(regions, "1/8", score=fw.minimum(2 * fw.left, fw.right + 1))
            case "slices" if (regions.upper("a0") - regions.lower("a0") == 3).all():
                return regions.slices("a0", [1, 2])
            case "join" if len(regions) > 1:
                return fw.join(regions.take(slice(1, None)).halve("widest"), regions.take(slice(0, 1)).halve())
            case _:
                return regions.halve("widest")


STEPS = st.tuples(
    st.sampled_from(["test", "sizes", "coin", "go"]), st.sampled_from(["balance", "term", "slices", "join", "halve"])
)


@examples(6)
@given(st.lists(STEPS, min_size=1, max_size=2))
def test_no_class_that_chance_makes_loses_more_than_epsilon(steps: list[tuple[str, str]]) -> None:
    """The exact audit of made-up classes: all tables of up to one record, all neighbours, all outcomes."""
    row = cantle.audit(type("Made", (Program,), {"steps": tuple(steps)}), sizes=(3, 2), records=1, units=16)
    assert row.ok, row
