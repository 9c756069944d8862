"""`literal`: preset paper to the letter, with the exponential mechanism at the rate that the papers print."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.audit.enumerating import Enumerating, law
from cantle.errors import CantleError, ParameterError
from cantle.methods.diffgen.method import DiffGen
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.rps.method import RPS
from cantle.schema.domain import Domain
from cantle.schema.table import TableSchema
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.scores import BALANCE
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions

SIZES = (3, 2)
RECORDS = np.array([[0, 0], [0, 1], [1, 1], [2, 0], [2, 1]])
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 999}},
        {"name": "y", "type": "string", "role": "target", "categories": ["no", "yes"]},
    ]
}


def curator(noise: Enumerating, units: int) -> Curator:
    batch = list(RECORDS.T), np.zeros(len(RECORDS), dtype=np.int64)
    engine = WordEngine([batch], sizes=SIZES, class_count=1, chunk_cells=100)
    return Curator(engine, Budget(units * NANO, Unit(1)), noise)


def law_of(candidates: AllCuts | CutsOf, units: int) -> dict[Hashable, Fraction]:
    """The law of one choice at this price, in base 2."""

    def run(noise: Enumerating) -> Hashable:
        with curator(noise, units) as asked:
            cuts = asked.choose(asked.root(), candidates, BALANCE, units * NANO, why="c")
        return int(cuts.attribute[0]), int(cuts.point[0])

    return law(run)


def score(attribute: int, point: int) -> int:
    left = int((RECORDS[:, attribute] < point).sum())
    return min(left, len(RECORDS) - left)


@pytest.mark.parametrize("units", [2, 4])
def test_the_union_of_all_cuts_is_drawn_at_the_printed_rate(units: int) -> None:
    """Section 3.2: weight exp(epsilon q), q = min(r1, r2) / 2, and every cut of the union counts once."""
    weights = {cut: Fraction(2 ** (units // 2 * score(*cut))) for cut in ((0, 1), (0, 2), (1, 1))}
    whole = sum(weights.values())
    expected = {cut: weight / whole for cut, weight in weights.items()}
    assert law_of(AllCuts(SIZES, 1, literal=True), units) == expected
    assert law_of(AllCuts(SIZES, 1), units) != expected


def test_a_drawn_attribute_is_cut_at_the_printed_rate() -> None:
    one = np.zeros(1, dtype=np.int64)
    assert law_of(CutsOf(one, 3, 1, literal=True), 2) == {(0, 1): Fraction(1, 2), (0, 2): Fraction(1, 2)}
    rare = law_of(CutsOf(one, 3, 1, literal=True), 2)
    assert set(rare) == set(law_of(CutsOf(one, 3, 1), 2))


@pytest.mark.parametrize("candidates", [AllCuts(SIZES, 1, 2), CutsOf(np.zeros(1, np.int64), 3, 1, 1)], ids=repr)  # type: ignore[arg-type]
def test_the_curator_refuses_anything_but_a_switch(candidates: AllCuts | CutsOf) -> None:
    with curator(Enumerating(), 1) as asked:
        root = asked.root()
        with pytest.raises(ParameterError, match="not candidates"):
            asked.choose(root, candidates, BALANCE, NANO, why="c")
        assert int(asked.left(root)[0]) == NANO


def domain(**changes: Any) -> Domain:
    return TableSchema.from_dict(SCHEMA | changes).domain()


def test_a_literal_rps_has_no_bins() -> None:
    method = RPS(domain(), preset="paper", literal=True)
    assert method.sizes == (1000 + 1,)
    assert RPS(domain(), preset="paper").sizes == (251,)
    assert method.parameters()["literal"] is True


def test_releases_name_the_switch_only_where_it_is_on() -> None:
    for method in (RPS, DiffGen):
        assert "literal" not in method(domain(), preset="paper").parameters()
        assert "literal" not in method(domain()).parameters()
        assert method(domain(), preset="paper", literal=True).parameters()["literal"] is True


def test_a_switch_that_would_do_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="literal would do nothing: score=infogain has the printed rate anyway"):
        DiffGen(domain(), preset="paper", literal=True, score="infogain")


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_literal_goes_with_preset_paper_only(method: str) -> None:
    with pytest.raises(ParameterError, match=f"{method} parameter literal makes preset paper literal; add preset=pap"):
        cantle.plan(SCHEMA, epsilon=1, records=100, method=method, literal=True)


def test_bins_and_columns_of_too_many_values_are_refused() -> None:
    with pytest.raises(ParameterError, match="bins goes against literal=true"):
        RPS(domain(), preset="paper", literal=True, bins=64)
    wide = {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 10**6}}
    with pytest.raises(CantleError, match=r"column 'x' has 1,000,002 values, more than 65,536; declare a wider step"):
        RPS(domain(fields=[wide, SCHEMA["fields"][1]]), preset="paper", literal=True)


@pytest.mark.parametrize(
    "given",
    [
        {"method": "rps", "literal": True, "depth": 4},
        {"method": "rps", "literal": True, "depth": 4, "attributes": "all"},
        {"method": "rps", "attributes": "random-midpoint", "depth": 4},
        {"method": "diffgen", "literal": True, "rounds": 3},
    ],
    ids=str,
)
def test_literal_releases_are_saved_and_verified(given: dict[str, Any], tmp_path: Any) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 1000, 300)
    data = pl.DataFrame({"x": x, "y": np.where(x > 500, "yes", "no")})
    release = cantle.publish(data, SCHEMA, epsilon=2, preset="paper", insecure_seed=3, **given)
    release.save(tmp_path / "r")
    again = cantle.Release.load(tmp_path / "r")
    again.verify()
    charges = [charge for path in again.manifest.receipt.paths for charge in path.charges]
    halves = given.get("attributes") == "random-midpoint"
    chosen = {charge.sensitivity for charge in charges if charge.verb == "choose"}
    assert chosen == (set() if halves else {"rps": {6}, "diffgen": {2}}[given["method"]])


# ---- DiffPart -------------------------------------------------------------------------------------------------------

ITEMS = {"kind": "sets", "items": {"minimum": 1, "maximum": 30}}


def sets(n: int = 3_000) -> list[list[int]]:
    dice = np.random.default_rng(8)
    return [sorted(set((dice.geometric(0.15, dice.integers(1, 6)) % 30 + 1).tolist())) for _ in range(n)]


def test_the_next_node_is_drawn_evenly_among_all_that_wait() -> None:
    """Of four nodes that a partition touches at a height, each is expanded first in a quarter of the runs."""
    first, second = np.zeros(4), np.zeros(4)
    for dice in range(400):
        root = Partitions.root(ItemTree.of(64, 4, even=True, dice=dice), 64)
        all_four = Kept(np.zeros(1, np.int64), np.array([15])).children(root, 0)
        assert all_four.place[0] == all_four.node[0]  # its level has the nodes 0 to 3
        first[all_four.node[0]] += 1
        some = Kept(np.zeros(2, np.int64), np.array([1, 3])).children(all_four, 0)
        assert all_four.node[0] not in some.node
        second[some.node[0]] += 1
    assert (np.abs(first - 100) < 35).all()
    assert (np.abs(second - 100) < 35).all()


def test_a_literal_diffpart_expands_other_nodes_and_verifies_on_every_engine(tmp_path: Any) -> None:
    given = {"method": "diffpart", "preset": "paper", "c2": 3, "fanout": 3, "epsilon": 4, "insecure_seed": 2}
    plain, literal = (cantle.publish(sets(), ITEMS, **given, **more) for more in ({}, {"literal": True}))
    assert not plain.groups.equals(literal.groups)
    assert literal.groups["items"].list.eval(pl.element().sort()).equals(literal.groups["items"])
    literal.save(tmp_path / "r")
    cantle.Release.load(tmp_path / "r").verify()
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    filed = cantle.publish(sets(), ITEMS, **given, literal=True, engine="duckdb")
    assert filed.groups.equals(literal.groups)


@pytest.mark.parametrize("given", [{"m": 3}, {"cells": "auto"}], ids=str)
def test_a_literal_diffpart_does_not_cut(given: dict[str, Any]) -> None:
    small = {"kind": "sets", "items": {"minimum": 1, "maximum": 12}}
    with pytest.raises(ParameterError, match="literal is the algorithm as printed: leave out|would do nothing"):
        cantle.plan(small, epsilon=1, records=1000, method="diffpart", preset="paper", literal=True, **given)


def test_theorem_4_2_holds_and_is_in_the_plan() -> None:
    """The error of the count of one set is within the bound in nearly all runs; the bound is computed by hand."""
    schema = {"kind": "sets", "items": {"minimum": 1, "maximum": 8}}
    data = [one for one in ([i % 8 + 1, (3 * i) % 8 + 1] for i in range(400)) if one]
    method = DiffPart(cantle.Schema.from_dict(schema), preset="paper", fanout=2)  # type: ignore[arg-type]
    error = method.useful_error(2.0)
    assert error is not None
    beta, gamma = 1 / 7, math.sqrt(2) * 1.2 * 3 * 7  # 7 inner nodes, half the budget, height 3
    assert error(1) == pytest.approx(gamma + math.log(20) / beta)
    assert error(10) == pytest.approx(10 * (gamma + math.log(200) / beta))
    remarks = cantle.plan(schema, epsilon=2, records=400, method="diffpart", preset="paper", fanout=2).remarks()
    assert any(f"at most {error(1):,.0f} records for 1 set" in text and "Theorem 4.2" in text for text in remarks)
    truth = sum(set(one) == {1} for one in data)
    off = []
    for seed in range(40):
        made = cantle.publish(
            data, schema, epsilon=2, method="diffpart", preset="paper", fanout=2, insecure_seed=seed + 1
        )
        off.append(abs(made.count("contains '1' and size == 1").value - truth))
    assert np.mean(np.array(off) <= error(1)) >= 0.95
    default = cantle.plan(schema, epsilon=2, records=400, method="diffpart", cells="tree").remarks()
    assert not any("Theorem" in text for text in default)
