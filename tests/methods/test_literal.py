"""`literal`: preset paper to the letter, with the exponential mechanism at the rate that the papers print."""

from __future__ import annotations

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
from cantle.methods.rps.method import RPS
from cantle.schema.domain import Domain
from cantle.schema.table import TableSchema
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.scores import BALANCE
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.words import WordEngine

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
