"""Top-down specialisation: gain and loss by hand, valid specialisations, groups of at least k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import ParameterError
from cantle_lab.papers import adult, classify, generalised
from cantle_lab.papers.tds import information_gain, tds

JOB: dict[str, Any] = {
    "name": "job",
    "type": "string",
    "categories": ["Engineer", "Lawyer", "Dancer", "Writer"],
    "hierarchy": {"Any_Job": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}]},
}
AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": 64}}
CLASS = {"name": "class", "type": "string", "categories": ["Y", "N"], "role": "target"}
SCHEMA: dict[str, Any] = {"fields": [JOB, AGE, CLASS]}

# Table 1a of the DiffGen paper
PAPER = pl.DataFrame(
    {
        "job": ["Engineer", "Lawyer", "Engineer", "Lawyer", "Dancer", "Writer", "Writer", "Dancer"],
        "age": [34, 50, 38, 33, 20, 37, 32, 25],
        "class": ["Y", "N", "N", "Y", "Y", "N", "Y", "N"],
    }
)


def test_information_gain_by_hand() -> None:
    # 4 Y 4 N have one bit; ages under 37 have 4 Y 1 N, the rest 0 Y 3 N
    left = -(4 / 5) * np.log2(4 / 5) - (1 / 5) * np.log2(1 / 5)
    assert information_gain([np.array([4, 1]), np.array([0, 3])]) == pytest.approx(1 - 5 / 8 * left)
    assert information_gain([np.array([2, 2]), np.array([2, 2])]) == 0
    assert information_gain([np.array([0, 0])]) == 0


def test_the_first_specialisation_of_the_papers_table() -> None:
    # job has no gain at all (2 Y 2 N in both groups); age is cut before 37, where the gain is largest
    result = tds(PAPER, SCHEMA, k=3)
    assert result.cut == {"job": ["Any_Job"], "age": ["[18, 37)", "[37, 65)"]}
    assert result.sizes.tolist() == [5, 3]


def test_invalid_specialisations_are_not_made() -> None:
    # the cut before 37 would leave a group of 3, and no other cut of age is tried instead
    assert tds(PAPER, SCHEMA, k=4).cut == {"job": ["Any_Job"], "age": ["[18, 65)"]}
    assert tds(PAPER, SCHEMA, k=8).sizes.tolist() == [8]


def test_gain_is_weighed_against_the_loss_of_anonymity() -> None:
    # a gains about .5 bits, with the smallest group 40 -> 2; b gains less, with the smallest group 40 -> 20
    rows = [("x", "u", "Y")] * 2 + [("z", "u", "N")] * 12 + [("z", "u", "Y")] * 6 + [("z", "v", "Y")] * 20
    table = pl.DataFrame(rows, schema=["a", "b", "class"], orient="row")
    fields = [{"name": n, "type": "string", "categories": c} for n, c in (("a", ["x", "z"]), ("b", ["u", "v"]))]
    result = tds(table, {"fields": [*fields, CLASS]}, k=3)
    assert result.cut["a"] != ["x", "z"]
    assert result.cut["b"] == ["u", "v"]
    gain_a = information_gain([np.array([2, 0]), np.array([26, 12])]) / (40 - 2 + 1)
    gain_b = information_gain([np.array([8, 12]), np.array([20, 0])]) / (40 - 20 + 1)
    assert gain_b > gain_a


def test_labels_and_counts_add_up() -> None:
    result = tds(PAPER, SCHEMA, k=3)
    cells = result.generalised()
    assert cells.columns == ["job", "age", "class", "count"]
    assert cells.sort("age", "class").rows() == [
        ("Any_Job", "[18, 37)", "N", 1),
        ("Any_Job", "[18, 37)", "Y", 4),
        ("Any_Job", "[37, 65)", "N", 3),
    ]
    other = pl.DataFrame({"job": ["Lawyer"] * 4, "age": [10, 36, 37, 99], "class": ["Y"] * 4})
    assert result.generalise(other)["age"].to_list() == ["[18, 37)", "[18, 37)", "[37, 65)", "[37, 65)"]


def random_table(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    job, age = rng.choice(JOB["categories"], rows), rng.integers(18, 65, rows)
    yes = (age > 40) ^ (job == "Writer") ^ (rng.random(rows) < 0.2)
    return pl.DataFrame({"job": job, "age": age, "class": np.where(yes, "Y", "N")})


@pytest.mark.parametrize("k", [1, 2, 5, 20, 300])
def test_every_group_keeps_k_records_and_no_specialisation_is_left(k: int) -> None:
    table = random_table(300, k)
    result = tds(table, SCHEMA, k=k)
    assert result.sizes.min() >= k
    labels = result.generalise(table)
    assert labels.group_by("job", "age").len()["len"].sort().to_list() == sorted(result.sizes.tolist())
    assert result.generalised()["count"].sum() == 300
    assert all(not axis.open for axis in result.axes)
    if k <= 5:
        assert "Artist" not in result.cut["job"]  # Dancer and Writer differ, so the taxonomy is followed down


TREE = {"Any_Job": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}}


def plain_tds(table: pl.DataFrame, k: int) -> set[frozenset[Any]]:
    """The algorithm as the paper states it, one record at a time; returns the cut as sets of raw values."""
    rows = table.rows()
    cut = [[frozenset(JOB["categories"])], [frozenset(r[1] for r in rows)]]

    def parts(a: int, value: frozenset[Any]) -> list[frozenset[Any]]:
        if a == 0:
            groups = [frozenset(g) for g in TREE["Any_Job"].values()]
            return {4: groups, 2: [frozenset([v]) for v in value], 1: []}[len(value)]
        ages = sorted(value)
        halves = [[frozenset(ages[:i]), frozenset(ages[i:])] for i in range(1, len(ages))]
        return max(halves, key=lambda h: round(gain(1, h), 9), default=[])

    def gain(a: int, groups: list[frozenset[Any]]) -> float:
        return information_gain([counts(a, g) for g in groups])

    def counts(a: int, group: frozenset[Any]) -> Any:
        return np.array([sum(r[a] in group and r[2] == c for r in rows) for c in "YN"], dtype=np.float64)

    def smallest(cuts: list[list[frozenset[Any]]]) -> int:
        keys = [tuple(next(i for i, v in enumerate(cuts[a]) if r[a] in v) for a in (0, 1)) for r in rows]
        return min(keys.count(key) for key in set(keys))

    while True:
        offers = []
        for a in (0, 1):
            for value in cut[a]:
                below = parts(a, value)
                if below and gain(a, below) > 1e-12:
                    after = [list(c) for c in cut]
                    after[a] = [v for v in cut[a] if v != value] + below
                    if smallest(after) >= k:
                        offers.append((gain(a, below) / (smallest(cut) - smallest(after) + 1), after))
        if not offers:
            return {*cut[0], *cut[1]}
        cut = max(offers, key=lambda o: o[0])[1]


@pytest.mark.parametrize("seed", range(8))
def test_the_cut_equals_that_of_the_plain_algorithm(seed: int) -> None:
    table = random_table(60, seed).with_columns(age=pl.col("age") // 6 + 18)
    result = tds(table, SCHEMA, k=2)
    labels = result.generalise(table).with_columns(raw_job=table["job"], raw_age=table["age"])
    cut = {frozenset(part["raw_age"]) for part in labels.partition_by("age")}
    cut |= {frozenset(part["raw_job"]) for part in labels.partition_by("job")}
    assert cut == plain_tds(table, k=2)


def test_k_is_checked() -> None:
    for k in (0, 9):
        with pytest.raises(ParameterError, match="k is"):
            tds(PAPER, SCHEMA, k=k)


def test_the_cut_of_the_real_adult_table(real_data: Path) -> None:
    table, schema = adult.load(real_data, "all"), adult.schema("all", real_data)
    learn, held = classify.halves(table.height, 0)
    result = tds(table[learn], schema, k=5)
    assert result.sizes.min() >= 5
    assert 0.81 < generalised.measure(result, table[held], schema)["accuracy"] < 0.86
