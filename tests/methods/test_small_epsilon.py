"""Tiny budgets: each method publishes, or refuses before the ledger is charged. Epsilon is public, and so is whether it
is large enough; a release that cannot be made must cost nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.drawing import records
from cantle.errors import CantleError, ParameterError
from cantle.methods.base import LEAST_NANO
from cantle.methods.catalogue import METHODS
from cantle.methods.degrees import results as from_degrees
from cantle.methods.diffgen.method import DiffGen
from cantle.methods.rps.method import RPS
from cantle.release.verify import verify_folder
from cantle.schema import as_schema
from cantle.trusted.core.budget import NANO
from cantle.trusted.ledger import Ledger
from cantle_lab.papers.made_families import CLINIC, clinic

PEOPLE = pl.DataFrame(
    {"age": [i % 8 for i in range(60)], "sex": ["F", "M"] * 30, "paid": [["no", "yes"][i % 3 // 2] for i in range(60)]}
)
FIELDS = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 7}},
    {"name": "sex", "type": "string", "categories": ["F", "M"]},
    {"name": "paid", "type": "string", "categories": ["no", "yes"], "role": "target"},
]
TABLE = {"fields": FIELDS}
SETS = [[i % 12, 12 + i % 18] for i in range(40)]
EDGES = [(i, (i + 1) % 20) for i in range(20)]
GRAPH = {"kind": "graph", "unit": "node"}


def items(number: int) -> dict[str, Any]:
    return {"kind": "sets", "items": {"minimum": 0, "maximum": number - 1}}


CASES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "mosaic": (PEOPLE, TABLE, {"method": "mosaic"}),
    "rps": (PEOPLE, TABLE, {"method": "rps"}),
    "rps without a target": (PEOPLE.drop("paid"), {"fields": FIELDS[:2]}, {"method": "rps", "depth": 3}),
    "rps of one column": (PEOPLE.select("age"), {"fields": FIELDS[:1]}, {"method": "rps"}),
    "rps as published": (PEOPLE, TABLE, {"method": "rps", "preset": "paper"}),
    "diffgen": (PEOPLE, TABLE, {"method": "diffgen"}),
    "diffgen as published": (PEOPLE, TABLE, {"method": "diffgen", "preset": "paper"}),
    "diffpart of few items": (SETS, items(6), {"method": "diffpart"}),
    "diffpart": (SETS, items(30), {"method": "diffpart", "cells": "tree"}),
    "diffpart as published": (SETS, items(30), {"method": "diffpart", "preset": "paper"}),
    "baskets": (SETS, items(30), {"method": "baskets"}),
    "sets of few items": (SETS, items(6), {}),
    "sets": (SETS, items(18), {}),
    "journeys": (SETS, items(30) | {"kind": "sequences", "max_length": 30}, {"method": "journeys"}),
    "families": (clinic(60, 3), CLINIC, {"method": "families"}),
    "degrees": (EDGES, GRAPH, {}),
    "degrees under a bound": (EDGES, GRAPH, {"theta": 4}),
    "degrees in ranges": (EDGES, GRAPH, {"theta": 4, "mode": "rps"}),
    "degrees as published": (EDGES, GRAPH, {"preset": "paper"}),
    "degrees for edges": (EDGES, {"kind": "graph", "unit": "edge", "nodes": 20}, {}),
}


@pytest.fixture(autouse=True)
def few_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits the number of drawn records to keep tests quick; the noise of a tiny epsilon asks for very many."""
    monkeypatch.setattr(records, "MOST_ITEMS", 1000)
    for module in (from_degrees, records):
        monkeypatch.setattr(module, "MOST_DRAWN", 1000)


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.000000002", "0.00000001", "0.000001"])
@pytest.mark.parametrize("name", CASES)
def test_a_tiny_epsilon_is_refused_before_the_charge_or_publishes(tmp_path: Path, name: str, epsilon: str) -> None:
    data, schema, given = CASES[name]
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("d", 1)
    try:
        release = cantle.publish(data, schema, epsilon=epsilon, ledger=ledger, dataset="d", **given)
    except CantleError:
        assert ledger.account("d").spent_nano == 0
    else:
        assert release.epsilon == float(epsilon)


def test_all_methods_are_tried() -> None:
    assert {given.get("method", "degrees") for _, _, given in CASES.values()} == set(METHODS)


def test_noise_for_many_records_per_person_counts_too() -> None:
    plan = RPS.for_schema(as_schema(TABLE), preset="default")
    plan.refuse_budget(7 * LEAST_NANO, 7)
    with pytest.raises(ParameterError, match=r"at least 0\.00007 for 7 records per person"):
        plan.refuse_budget(7 * LEAST_NANO - 1, 7)


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        (RPS, {"count_share": "0.000000000001"}, "count_share: epsilon is too small"),
        (RPS, {"oneway_share": "0.000000000001"}, "oneway_share: epsilon is too small"),
        (RPS, {"leaf_share": "0.000000000001"}, "nothing is left for the leaves"),
        (RPS, {"depth": 40, "levels": "geometric:10"}, "epsilon is too small for depth 40"),
        (DiffGen, {"count_share": "1/2", "oneway_share": "1/2"}, "nothing is left for the counts"),
        (DiffGen, {"preset": "paper", "structure_share": "0.000000001"}, "too small for 10 rounds"),
    ],
    ids=str,
)
def test_shares_that_round_to_nothing_are_refused_before_the_charge(
    method: Any, given: dict[str, Any], words: str
) -> None:
    plan = method.for_schema(as_schema(TABLE), **({"preset": "default"} | given))
    with pytest.raises(ParameterError, match=words):
        plan.refuse_budget(NANO, 1)


def test_an_automatic_depth_gives_way_to_prices_below_one_nano_unit() -> None:
    """The depth follows from a noisy count, when it is too late to refuse."""
    release = cantle.publish(
        pl.concat([PEOPLE] * 50), TABLE, epsilon=1, method="rps", insecure_seed=1, levels="geometric:100000"
    )
    assert 0 < release.manifest.summary["depth"] < 3
    release.verify()


@pytest.mark.parametrize(
    "given",
    [
        {"method": "rps", "preset": "paper", "stop": "narrow:2"},
        {"method": "rps", "summary": "depth", "records": 5_000},
        {"method": "rps", "values": "set"},
        {"method": "diffgen", "preset": "paper"},
        {"method": "diffgen", "records": 5_000},
    ],
    ids=str,
)
def test_a_table_has_no_more_records_than_fit_and_the_release_says_so(tmp_path: Path, given: dict[str, Any]) -> None:
    """Noise in many leaves once called for 54 million records of 6,000."""
    people = pl.concat([PEOPLE] * 50)
    release = cantle.publish(people, TABLE, epsilon="0.01", insecure_seed=3, **given)
    summary = release.manifest.summary
    assert 990 <= summary["records"] <= 1000 < summary["records_wanted"]
    said = summary["records_wanted"] / summary["records"]
    assert any(f"each released record stands for {said:.3g} records" in note for note in release.notes)
    assert f"Each released record stands for {said:.3g} records" in release.statement
    assert verify_folder(release.save(tmp_path / "out")) == []
    if "preset" in given:  # otherwise noisy one-way tables answer by themselves
        assert release.count().value == pytest.approx(summary["records_wanted"])


def test_a_measured_error_is_that_of_all_records_that_the_released_ones_stand_for() -> None:
    """Without noise to speak of, 1,000 released records stand for 6,000 exactly enough."""
    people = pl.concat([PEOPLE] * 100)
    release = cantle.publish(people, TABLE, epsilon=1000, method="rps", insecure_seed=3)
    assert release.manifest.summary["records_wanted"] == 6000
    assert release.accuracy is not None
    assert release.accuracy.one_column is not None
    assert release.accuracy.one_column.records < 300


def test_wide_tables_have_fewer_records() -> None:
    assert records.most_records(1) == records.MOST_DRAWN
    assert records.most_records(records.MOST_VALUES) == 1
