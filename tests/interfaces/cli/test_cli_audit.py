"""`cantle audit`: tables, --json and exit codes; the audits themselves are tested in tests/audit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cantle import audit
from cantle.audit import Row, black_box
from cantle.interfaces.cli.app import app
from tests.interfaces.cli.test_cli import cantle

SOUND = [
    Row("exact", "all cuts, balance", 3, 2.983257, True),
    Row("instance", "I5: loss", 3, 3.0, True),
    Row("breakage", "exact number of records", 3, math.inf, True, "3.3: a charged N (I4); sound 2.000000"),
]
SAMPLED = [
    Row("broken sampled", "I15: the best of 5", 1.0, 3.2, True, "7: K tries; 449 of 2000 and 4"),
    Row("sampled", "rps", 1.0, 0.626, True, "218 of 300 on the larger data set, 75 on the other"),
]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The rows that the audits return, and the arguments with which they were called."""
    results: dict[str, Any] = {"exact": list(SOUND), "sampled": list(SAMPLED), "asked": []}

    def exact(_report: Any, *, quick: bool, **handed: Any) -> list[Row]:
        results["asked"].append(("exact", quick))
        results["handed"] = {name: len(things) for name, things in handed.items()}
        return list(results["exact"])

    def sampled(_trials: Any, _report: Any, *, runs: int) -> list[Row]:
        results["asked"].append(("sampled", runs))
        return list(results["sampled"])

    monkeypatch.setattr(audit, "run_audits", exact)
    monkeypatch.setattr(black_box, "run_statistical", sampled)
    return results


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["audit", *arguments], env={"COLUMNS": "200"})


def test_a_sound_installation(rows: dict[str, Any]) -> None:
    done = run()
    assert done.exit_code == 0, done.output
    assert rows["asked"] == [("exact", True)]
    for words in (
        "2.9833  holds",
        "3  as stated",
        "infinite  caught",
        "(3.3: a charged N (I4))",
        "1 exact audits",
        ": all",
    ):
        assert words in done.output
    assert "sound 2.0" not in done.output


def test_all_audits_and_those_of_the_black_box_run_on_request(rows: dict[str, Any]) -> None:
    done = run("--all", "--statistical")
    assert done.exit_code == 0
    assert rows["asked"] == [("exact", False), ("sampled", black_box.RUNS)]
    assert done.output.index("Black-box audits") < done.output.index("the black-box audit must measure more")
    assert "0.626" in done.output
    assert run("--statistical", "--runs", "70").exit_code == 0
    assert rows["asked"][-1] == ("sampled", 70)


def test_flaws_come_with_the_lab(rows: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "flaws" not in run().stderr
    assert rows["handed"]["instances"] > 5
    assert rows["handed"]["breakages"] > 40
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    done = run("--statistical")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: flaws that an audit must catch were not tried; they are in the package cantle")
    assert done.stderr.endswith("pip install ./lab\n")
    assert rows["handed"] == {}


@pytest.mark.parametrize("number", range(3))
def test_a_failed_row_gives_exit_code_one(rows: dict[str, Any], number: int) -> None:
    good = rows["exact"][number]
    rows["exact"][number] = Row(good.kind, good.name, good.claimed, 9.5, False, good.note)
    done = run()
    assert done.exit_code == 1
    assert ("DOES NOT HOLD", "DIFFERS", "NOT CAUGHT")[number] in done.output
    assert ": 0" in done.output
    assert json.loads(run("--json").output)["ok"] is False


@pytest.mark.usefixtures("rows")
def test_json_has_no_infinity() -> None:
    done = run("--statistical", "--json")
    assert done.exit_code == 0
    document = json.loads(done.output, parse_constant=lambda word: pytest.fail(word))
    assert document["ok"] is True
    assert document["breakage"][0]["measured"] == "infinite"
    assert document["sampled"][0] == {
        "name": "rps", "claimed": 1.0, "measured": 0.626, "ok": True, "note": SAMPLED[1].note,
    }  # fmt: skip
    assert set(document) == {"ok", "exact", "instance", "breakage", "sampled", "broken_sampled"}


def test_bad_calls(tmp_path: Path) -> None:
    assert cantle("audit", "--runs", "100", cwd=tmp_path).returncode == 2
    assert cantle("audit", "--statistical", "--runs", "3", cwd=tmp_path).returncode == 2
    text = cantle("audit", "--help", cwd=tmp_path).stdout
    assert "Example: cantle audit" in text


@pytest.mark.slow
def test_the_real_audit() -> None:
    done = run("--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["ok"] is True
    assert len(told["exact"]) > 90
    assert len(told["breakage"]) > 40
