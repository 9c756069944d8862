"""`cantle query`: counts, tables and means from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.release.people import SCHEMA, people


@pytest.fixture
def asked(tmp_path: Path, cantle: Cantle) -> Cantle:  # noqa: F811
    """The command line in a folder with a private release `out` and a release without guarantee, `seeded`."""
    people(300).write_csv(tmp_path / "people.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    for name, more in (("out", ()), ("seeded", ("--insecure-seed", "3"))):
        done = cantle("publish", "people.csv", "--schema", "s.json", "--epsilon", "2", "-o", name, *more)
        assert done.code == 0, done.err
    return cantle


def test_a_count_as_text_and_as_json(asked: Cantle) -> None:
    done = asked("query", "out", "age >= 65 and town == 'Ash'")
    assert done.code == 0
    assert "no 95 % interval exists" in done.out  # the error of so small a release is not measured
    assert "and no more" in asked("query", "out", "age >= 65").err
    facts = json.loads(asked("query", "out", "age >= 65 and town == 'Ash'", "--confidence", "0.9", "--json").out)
    assert facts["low"] <= facts["value"] <= facts["high"]
    assert (facts["confidence"], facts["covers"], facts["private"]) == (None, "limits", True)


def test_tables_and_means_are_printed_and_written(asked: Cantle, tmp_path: Path) -> None:
    done = asked("query", "out", "member", "--by", "town", "--mean", "weight")
    assert done.code == 0
    assert [word in done.out for word in ("Dogwood", "null", "from", "limits", "95 %")] == [True] * 4 + [False]
    counts = asked("query", "out", "--by", "town")
    assert "95 % from" in counts.out
    facts = json.loads(asked("query", "out", "--by", "joined", "--by", "ill", "--json").out)
    rows = facts["rows"]
    unsure = {row["covers"] for row in rows} & {"limits", "noise only"}
    assert facts["confidence"] == (None if unsure else 0.95)
    assert {"joined", "ill", "value", "low", "high", "covers"} == set(rows[0])
    assert asked("query", "out", "--by", "town", "-o", "towns.csv").code == 0
    with (tmp_path / "towns.csv").open() as file:
        assert [row["town"] for row in csv.DictReader(file)] == ["Ash", "Birch", "Cedar", "Dogwood", ""]
    assert asked("query", "out", "--by", "town", "-o", "towns.csv").code == 1  # never overwritten


def test_answers_from_a_release_without_guarantee_are_marked(asked: Cantle, tmp_path: Path) -> None:
    done = asked("query", "seeded", "-o", "all.csv", "--json")
    assert "NOT" in done.err.upper()
    assert json.loads(done.out)["file"] == "NOT-PRIVATE.all.csv"
    assert (tmp_path / "NOT-PRIVATE.all.csv").exists()


def test_errors_in_questions_point_at_the_position(asked: Cantle) -> None:
    done = asked("query", "out", "age >= 65 and twon == 'Ash'")
    assert done.code == 2
    assert done.err.splitlines()[1:] == ["  age >= 65 and twon == 'Ash'", "                ^"]
    assert asked("query", "out", "--mean", "town").code == 2
    assert asked("query", "out", "-o", "all.parquet").code == 2
    assert asked("query", "nothing", "age > 3").code == 5
    assert "Example: cantle query" in asked("query", "--help").out


def test_labels_of_codes_are_shown_and_may_be_used_in_questions(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    (tmp_path / "t.csv").write_text("sex\n" + "1\n2\n2\n" * 100)
    codes = [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}]
    (tmp_path / "s.json").write_text(
        json.dumps({"fields": [{"name": "sex", "title": "Sex at birth", "type": "integer", "categories": codes}]})
    )
    assert cantle("publish", "t.csv", "--schema", "s.json", "--epsilon", "5", "-o", "out").code == 0
    assert "2 = female" in cantle("query", "out", "--by", "sex").out
    assert cantle("query", "out", "sex == 'male'").out == cantle("query", "out", "sex == 1").out
    rows = json.loads(cantle("query", "out", "--by", "sex", "--json").out)["rows"]
    assert [row["sex"] for row in rows] == [1, 2, None]
    shown = cantle("show", "out").out
    assert "sex: Sex at birth\n  1 = male" in shown
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    assert package["resources"][0]["schema"]["fields"][0]["categories"] == codes
    assert cantle("verify", "out").code == 0
