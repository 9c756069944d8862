"""`cantle evaluate` compares a release with its data, and marks the result as private."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import cantle as library
from cantle.internal import WARNING
from cantle.internal.check_and_evaluate import evaluate
from cantle.internal.compare_tables import read_used
from cantle.internal.comparison import error_table
from cantle.internal.questions import QUESTIONS, Asked
from cantle.schema import Schema
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401
from tests.release.people import SCHEMA, people


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and a nearly exact release of it."""
    folder = tmp_path_factory.mktemp("table")
    people().write_csv(folder / "people.csv")
    library.publish(folder / "people.csv", SCHEMA, epsilon=1000, insecure_seed=1).save(folder / "release")
    return folder


def test_a_good_release_of_a_table_is_near_its_data(table: Path) -> None:
    release = library.Release.load(table / "release")
    comparison = evaluate(table / "people.csv", release)
    assert comparison.facts[0].private == len(people())
    assert {one.name for one in comparison.distributions} == {field["name"] for field in SCHEMA["fields"]} - {"id"}
    assert all(one.private.sum() == len(people()) for one in comparison.distributions)
    assert max(one.distance for one in comparison.distributions) < 0.15  # for 400 records in 16 groups
    assert len(comparison.asked) > QUESTIONS // 2
    truth = people()
    mean = next(f for one in comparison.distributions if one.name == "age" for f in one.facts if f.name == "mean")
    assert mean.private == pytest.approx(truth["age"].mean())


def test_a_wrong_release_is_far_from_the_data(table: Path, tmp_path: Path) -> None:
    """The distance shows that the ages of the release have another distribution than these data."""
    others = people().with_columns(age=pl.lit(20))
    others.write_csv(tmp_path / "others.csv")
    comparison = evaluate(tmp_path / "others.csv", library.Release.load(table / "release"))
    age = next(one for one in comparison.distributions if one.name == "age")
    assert age.distance > 0.5
    assert max(one.error for one in comparison.asked) > 0.2 * len(others)


def test_errors_are_compared_with_the_intervals_of_the_release() -> None:
    asked = [Asked("a", 1, 100, 100 + e, 90 + e, 110 + e, "measured") for e in range(20)]
    asked.append(Asked("b", 2, 100, 90, 80, 99, "noise"))
    one, more = error_table(asked, "column")
    assert (one.median_error, one.error_of_95_percent, one.median_predicted, one.inside) == (9, 18, 10, 11 / 20)
    assert (more.about, more.median_error, more.inside) == ("two or three columns", 10, 0)


def test_records_of_a_person_are_bounded(tmp_path: Path) -> None:
    field = {"name": "a", "type": "boolean"}
    schema = Schema.from_dict({"fields": [field], "unit": {"person": "who", "max_records": 2}})
    pl.DataFrame({"a": [True, False] * 3 + [True], "who": ["x"] * 6 + ["y"]}).write_csv(tmp_path / "data.csv")
    assert len(read_used(tmp_path / "data.csv", schema).codes[0]) == 3


def test_a_release_of_sets_is_compared(tmp_path: Path) -> None:
    lines = ["1 2", "1 2 3", "4", "2 3 99", "1"] * 200
    (tmp_path / "data.dat").write_text("\n".join(lines))
    schema = {"kind": "sets", "items": {"minimum": 1, "maximum": 6}}
    release = library.publish(tmp_path / "data.dat", schema, epsilon=1000, insecure_seed=1)
    comparison = evaluate(tmp_path / "data.dat", release)
    sizes, items = comparison.distributions
    assert (sizes.private[:3] == [400, 400, 200]).all()
    assert dict(zip(items.labels, items.private.tolist(), strict=True)) == {"1": 600, "2": 600, "3": 400, "4": 200}
    assert max(one.error for one in comparison.asked) < 20
    matrices = comparison.matrices
    assert matrices is not None
    pair = matrices.private[matrices.names.index("1"), matrices.names.index("2")]
    assert pair == pytest.approx(0.4)


def test_a_release_of_a_graph_is_compared(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"0 {i}\n" for i in range(1, 101)))
    schema = {"kind": "graph", "unit": "edge", "nodes": {"minimum": 0, "maximum": 199}}
    release = library.publish(tmp_path / "edges.txt", schema, epsilon=1000, insecure_seed=1)
    comparison = evaluate(tmp_path / "edges.txt", release)
    facts = {one.name: (one.private, one.released) for one in comparison.facts}
    assert facts["nodes"] == (200, 200)
    assert facts["edges"][0] == 100
    assert facts["highest degree"][0] == 100
    (degrees,) = comparison.distributions
    assert np.array_equal(degrees.private[:2], [99, 100])


def test_the_command_prints_a_comparison(cantle: Cantle, table: Path) -> None:  # noqa: F811
    done = cantle("evaluate", table / "people.csv", table / "release")
    assert (done.code, done.err) == (0, WARNING + "\n")
    assert "questions about" in done.out
    machine = json.loads(cantle("evaluate", table / "people.csv", table / "release", "--json").out)
    assert machine["internal"] == WARNING
    assert len(machine["pairs"]["names"]) == len(machine["distributions"])


def test_private_means_are_those_of_the_data_before_steps_and_with_the_bounds(tmp_path: Path) -> None:
    fields = [{"name": "pay", "type": "number", "step": 500, "constraints": {"minimum": 0, "maximum": 5_000}}]
    private = pl.DataFrame({"pay": [100.0, 499.5, 1_250.0, 9_000.0, None] * 200})
    private.write_csv(tmp_path / "data.csv")
    release = library.publish(private, {"fields": fields}, epsilon=1000)
    comparison = evaluate(tmp_path / "data.csv", release)
    facts = {one.name: one for one in comparison.distributions[0].facts}
    assert facts["mean"].private == pytest.approx((100 + 499.5 + 1_250 + 5_000) / 4)
    assert facts["mean before the bounds"].private == pytest.approx(private["pay"].mean())
    lines = "\n".join(comparison.lines())
    assert "private before the bounds" in lines
    assert "2,712" in lines
    fine = library.publish(private.filter(pl.col("pay") < 5_000), {"fields": fields}, epsilon=1000)
    private.filter(pl.col("pay") < 5_000).write_csv(tmp_path / "data.csv")
    assert "before the bounds" not in "\n".join(evaluate(tmp_path / "data.csv", fine).lines())
    places = [one for one in comparison.asked if one.columns == 1]
    assert np.mean([one.inside for one in places]) > 0.9
