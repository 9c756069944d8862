"""Regions, cuts, terms and prices: what the verbs make of what an author gives them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

import cantle
from cantle import framework as fw
from cantle.errors import ParameterError
from cantle.framework.regions import Regions
from cantle.methods import catalogue
from cantle.schema.table import TableSchema
from cantle.trusted.claims.terms import TermScore
from cantle.trusted.geometry.boxes import Cuts, Frontier, Slices
from tests.framework.examples import AGE, LAND, TOWNS, classes, number, towns, tree_of
from tests.release.people import SCHEMA, people

DAY = {
    "name": "day",
    "type": "date",
    "constraints": {"required": True, "minimum": "2024-01-01", "maximum": "2024-12-31"},
}
SEX = {"name": "sex", "type": "string", "categories": ["F", "M", "X"]}
DOMAIN = TableSchema.from_dict({"fields": [AGE, DAY, SEX, tree_of("place", LAND), number("x", 0, 1, 0.1)]}).domain()


def root() -> Regions:
    return Regions(Frontier.root(tuple(one.size for one in DOMAIN.attributes)), DOMAIN)


def below(cut: fw.Cut) -> Regions:
    return Regions(cut.rule.children(cut.regions.nodes, 1), DOMAIN)


# ---- regions and cuts ---------------------------------------------------------------------------------------------


def test_ends_of_regions_are_values() -> None:
    whole = root()
    assert (whole.lower("age")[0], whole.upper("age")[0]) == (0, 100)
    assert whole.upper("day")[0] == datetime.date(2025, 1, 1)
    assert (whole.lower("sex")[0], whole.upper("sex")[0]) == ("F", "X")
    half = below(whole.cut("age", 40))
    assert half.upper("age").tolist() == [40, 100]
    assert half.width[:, 0].tolist() == [0.4, 0.6]
    assert half.columns == ("age", "day", "sex", "place", "x")
    assert "2 at depth 1" in repr(half)


def test_cuts_are_at_values() -> None:
    whole = root()
    assert below(whole.cut("day", datetime.date(2024, 7, 1))).lower("day")[1] == datetime.date(2024, 7, 1)
    assert below(whole.cut("sex", "M")).lower("sex").tolist() == ["F", "M"]
    known, missing = below(whole.cut("sex", None)).take([0]), below(whole.cut("sex", None)).take([1])
    assert known.can_cut("sex").all()
    assert not missing.can_cut("sex").any()
    each = below(below(whole.cut("age", 40)).cut("age", [10, 80]))
    assert each.lower("age").tolist() == [0, 10, 40, 80]
    assert below(whole.cut("x", 0.25)).lower("x")[1] == pytest.approx(0.3)


def test_slices_are_cut_where_they_lie_inside() -> None:
    parts = below(below(root().slices("age", [20, 50])).slices("age", [10, 30, 60, 70]))
    assert parts.lower("age").tolist() == [0, 10, 20, 30, 50, 60, 70]


def test_children_follow_the_taxonomy() -> None:
    first = below(root().children("place"))
    assert first.lower("place").tolist() == ["a", "d", "j"]
    assert first.can_descend("place").all()
    leaf = below(below(first.take([2]).children("place")).take([0]).halve("age"))
    assert not leaf.can_descend("place").any()


def test_columns_are_halved_in_turn_where_they_can_be_cut() -> None:
    regions = root()
    for _ in range(10):
        regions = below(regions.halve()).take([0])
    assert (regions.nodes.hi - regions.nodes.lo)[0].tolist() == [25, 91, 1, 2, 2]
    for _ in range(4):  # the column of three labels has none left, and is passed over
        regions = below(regions.halve()).take([0])
    assert not regions.can_cut("sex").any()
    first = below(root().halve("in turn"))
    assert first.width[:, 0].tolist() == [0.5, 0.5]
    assert below(root().halve("widest")).width[:, 0].tolist() == [0.5, 0.5]
    assert below(first.halve(np.array([1, 2]))).width[0, 1] < 0.51
    assert below(root().halve(2)).width[0, 2] == 0.5


def test_regions_of_one_level_can_be_cut_in_different_ways() -> None:
    level = below(root().cut("age", 40))
    cut = fw.join(level.take([1]).slices("age", [60, 80]), level.take([0]).halve("x"))
    assert isinstance(cut.rule, Slices)
    assert len(below(cut)) == 5
    assert cut.regions.nodes.ids.tolist() == [1, 2]
    assert below(cut).lower("age").tolist() == [0, 0, 40, 60, 80]
    both = fw.join(level.take([1]).halve("x"), level.take([0]).halve("age"))
    assert isinstance(both.rule, Cuts)
    assert both.rule.attribute.tolist() == [0, 4]


REFUSED: list[tuple[Callable[[Regions], object], str]] = [
    (lambda r: r.cut("age", 0), "strictly inside"),
    (lambda r: r.cut("age", "old"), "cannot be cut at 'old'"),
    (lambda r: r.cut("sex", "Y"), "no category 'Y'"),
    (lambda r: r.cut("height", 3), "no column 'height'"),
    (lambda r: r.cut("age", [1, 2]), "one value for all regions or 1"),
    (lambda r: r.slices("age", [0, 100]), "strictly inside"),
    (lambda r: r.children("age"), "no taxonomy"),
    (lambda r: below(r.halve("place")).children("place"), "no children"),
    (lambda r: r.halve([0, 1]), "2 regions, and there are 1"),
    (lambda r: r.halve(0.5), "a column is a name"),
    (lambda r: r.halve(9), "numbers 0 to 4"),
    (lambda r: fw.join(r), "join takes cuts"),  # type: ignore[arg-type]
    (lambda r: fw.join(r.halve(), r.halve("x")), "cut twice"),
]


@pytest.mark.parametrize(("act", "says"), REFUSED)
def test_wrong_cuts_are_refused_in_words(act: Callable[[Regions], object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        act(root())


# ---- terms --------------------------------------------------------------------------------------------------------


def test_ranges_of_terms_follow_from_their_form() -> None:
    known = {
        -abs(fw.left - fw.right): 2, fw.minimum(fw.left, fw.right): 1, fw.maximum(fw.left, 3 * fw.right): 3,
        2 * fw.left - 1: 2, 5 - fw.left: 1, 4 + fw.right: 1, fw.minimum(fw.left, 10): 1,
    }  # fmt: skip
    assert {term.range for term in known} == set(known.values())
    for term, most in known.items():
        assert term.range == most
        assert type(term.score) is TermScore
    children = np.array([[3], [8]]), np.array([[5], [1]])
    assert (-abs(fw.left - fw.right)).score.scores(children).tolist() == [-2, -7]
    assert (7 - fw.left).score.scores(children).tolist() == [4, -1]
    assert fw.maximum(fw.left, 2 * fw.right).score.scores(children).tolist() == [10, 8]


def test_equal_parts_are_one_step() -> None:
    doubled = fw.left
    for _ in range(9):
        doubled = doubled + doubled
    assert len(doubled.steps) == 10
    assert doubled.range == 512


@pytest.mark.parametrize("wrong", [
    lambda: fw.left * 1.5, lambda: fw.left + 0.5, lambda: fw.minimum(fw.left, abs), lambda: (fw.left + fw.right).range,
    lambda: (fw.left * 513).range, lambda: fw.left * True,
])  # fmt: skip
def test_terms_without_a_proof_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(ParameterError):
        wrong()


def test_terms_cannot_be_too_long() -> None:
    with pytest.raises(ParameterError, match="at most 256 parts"):
        _chain(400)


def _chain(length: int) -> fw.Term:
    term = fw.left
    for most in range(length):
        term = fw.minimum(term, most)
    return term


# ---- rps by public verbs, entry points -----------------------------------------------------------------------------


class MyRps(fw.Partitioning):
    """rps with its defaults, by public verbs alone."""

    bins: int = fw.setting(256, at_least=2, at_most=65536)

    def begin(self, root: Regions, ask: fw.Ask) -> None:
        records = int(ask.sizes(root, "1/100")[0])
        ask.one_ways(root, "3/10", records=records)
        nano, rest = 10**9, ask.left(root)[0]
        leaf = int(rest * nano) // 2
        self.depth = min(24, int(np.log2(max(1.0, records * leaf / (nano * 10 * ask.unit)))))
        self.price = (int(rest * nano) - leaf) // max(1, self.depth)

    def stop(self, regions: Regions, ask: fw.Ask) -> Any:  # noqa: ARG002
        return regions.depth >= self.depth

    def partition(self, regions: Regions, ask: fw.Ask) -> fw.Cut:
        from fractions import Fraction

        return ask.choose(regions, epsilon=Fraction(self.price, 10**9))


@pytest.mark.parametrize(("seed", "epsilon"), [(11, 1), (12, 5)])
def test_rps_as_a_class_of_a_user_gives_identical_releases(seed: int, epsilon: int) -> None:
    ours = cantle.publish(people(), SCHEMA, epsilon=epsilon, method="rps", insecure_seed=seed)
    theirs = cantle.publish(people(), SCHEMA, epsilon=epsilon, method=MyRps(), insecure_seed=seed)
    assert ours.records.equals(theirs.records)
    assert ours.groups.equals(theirs.groups)
    assert ours.frames["marginals"].equals(theirs.frames["marginals"])
    assert ours.manifest.receipt == theirs.manifest.receipt
    assert ours.manifest.accuracy == theirs.manifest.accuracy
    assert theirs.manifest.structure["values"] == "fitted"
    theirs.verify()


def test_packages_name_their_classes_as_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("quad", "somewhere:QuadTree", catalogue.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", lambda _self: classes()["QuadTree"])
    monkeypatch.setattr(catalogue, "entry_points", lambda **wanted: [point] if wanted["name"] == "quad" else [])
    release = cantle.publish(towns(300), TOWNS, epsilon=1, method="quad", depth=3)
    assert release.manifest.method == "quadtree"
    assert release.manifest.parameters == {
        "above": 5,
        "accuracy_share": "1/25",
        "bins": 4096,
        "depth": 3,
        "tests": "1/2",
    }


def test_values_inside_leaves_follow_one_way_tables() -> None:
    class Fitted(fw.Partitioning):
        def begin(self, root: Regions, ask: fw.Ask) -> None:
            ask.one_ways(root, "1/2", records=int(ask.sizes(root, 0.05)[0]))

        def stop(self, regions: Regions, ask: fw.Ask) -> bool:  # noqa: ARG002
            return True

        def partition(self, regions: Regions, ask: fw.Ask) -> fw.Cut:  # noqa: ARG002
            return regions.halve()

    data = towns(5000)
    release = cantle.publish(data, TOWNS, epsilon=1, method=Fitted)
    release.verify()
    near = (data["lat"].is_between(51.15, 51.25)).mean()
    assert (release.records["lat"].is_between(51.15, 51.25)).mean() == pytest.approx(near, abs=0.05)
