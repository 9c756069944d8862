"""`cantle plan`, `publish --dry-run`, and large epsilons that must be confirmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.release.people import SCHEMA, people


@pytest.fixture
def asked(tmp_path: Path, cantle: Cantle) -> Cantle:  # noqa: F811
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    return cantle


def test_plans_for_several_epsilons_are_shown_side_by_side(asked: Cantle) -> None:
    done = asked("plan", "--schema", "s.json", "--epsilon", "0.5", "1", "2", "--records", "50000")
    assert done.code == 0, done.err
    for words in (
        "epsilon 0.5",
        "epsilon 2",
        "smallest group",
        "sure after the release",
        "What others chose",
        "No data",
    ):
        assert words in done.out
    facts = json.loads(asked("plan", "--schema", "s.json", "--epsilon", "1", "--records", "50000", "--json").out)
    assert facts["plans"][0]["method"] == "mosaic"
    assert facts["deployments"]


@pytest.mark.parametrize(
    ("schema", "noun"), [({"kind": "graph"}, "nodes"), ({"kind": "sets", "items": [1, 2]}, "sets")]
)
def test_errors_have_the_unit_of_the_data(tmp_path: Path, cantle: Cantle, schema: object, noun: str) -> None:  # noqa: F811
    (tmp_path / "s.json").write_text(json.dumps(schema))
    shown = cantle("plan", "--schema", "s.json", "--epsilon", "1", "--records", "5000").out
    assert f"a group of 10 % of the {noun}" in shown
    assert "records" not in shown.split("Budget")[0]


def test_a_data_package_is_the_schema_itself(asked: Cantle) -> None:
    """As for check and publish."""
    told = [
        asked("plan", *named, "--records", "5000", "--epsilon", "1", "2")
        for named in (["--schema", "s.json"], ["s.json"])
    ]
    assert told[0].out == told[1].out
    assert [done.code for done in told] == [0, 0]


def test_epsilon_is_found_for_a_wanted_accuracy(asked: Cantle) -> None:
    done = asked("plan", "--schema", "s.json", "--records", "50000", "--want", "one-way 0.5%", "--json")
    (plan,) = json.loads(done.out)["plans"]
    assert plan["one_way"] <= 0.005
    assert 0 < plan["epsilon"] < 5


WRONG = [
    (["--epsilon", "1"], "--records"),
    (["--records", "50"], "--want"),
    (["--records", "50", "--epsilon", "1", "--want", "one-way 1%"], "either"),
    (["--records", "50", "--want", "two-way 1%"], "for example"),
    (["--records", "50", "--epsilon", "1", "much"], "epsilon"),
    (["--records", "50", "--epsilon", "1", "--method", "degrees"], "degrees"),
    (["--records", "50", "--epsilon", "1", "--set", "nothing=1"], "nothing"),
    (["--records", "50", "--epsilon", "1", "--preset", "best"], "no preset 'best'"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_wrong_calls_name_the_fix(asked: Cantle, arguments: list[str], words: str) -> None:
    done = asked("plan", "--schema", "s.json", *arguments)
    assert done.code == 2
    assert words in done.err


def test_a_dry_run_prints_the_plan_and_opens_nothing(asked: Cantle, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("this is no table of people")
    publish = ("publish", "people.csv", "--schema", "s.json", "--epsilon", "1", "--dry-run", "-o", "out")
    done = asked(*publish, "--records", "5000", "--json")
    assert done.code == 0, done.err
    same = asked("plan", "--schema", "s.json", "--epsilon", "1", "--records", "5000", "--json")
    assert json.loads(done.out) == json.loads(same.out)
    assert not (tmp_path / "out").exists()
    assert "--records" in asked(*publish).err
    assert asked(*publish[:5], "1", "--records", "5", "-o", "out").code == 2


def test_very_large_epsilons_must_be_confirmed(asked: Cantle, tmp_path: Path) -> None:
    people(80).write_csv(tmp_path / "people.csv")
    publish = ("publish", "people.csv", "--schema", "s.json", "--method", "rps", "-o")
    done = asked(*publish, "a", "--epsilon", "21")
    assert done.code == 2
    assert "--yes" in done.err
    assert not (tmp_path / "a").exists()
    assert asked(*publish, "b", "--epsilon", "21", "--yes").code == 0
    assert asked(*publish, "c", "--epsilon", "21", "--insecure-seed", "1").code == 0
    warned, quiet = asked(*publish, "d", "--epsilon", "6"), asked(*publish, "e", "--epsilon", "5")
    assert (warned.code, quiet.code) == (0, 0)
    assert "protects little" in warned.err
    assert "protects little" not in quiet.err
