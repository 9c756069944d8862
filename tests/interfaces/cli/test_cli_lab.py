"""`cantle bench` on few records (with `-m slow`; its parts are in tests/lab/test_bench.py), `reproduce`, completion.

These commands are in the package cantle-lab; without it, cantle says how to install it.
"""

from __future__ import annotations

import json
from importlib.metadata import requires, version
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from cantle.interfaces.cli import audit as lab
from cantle.interfaces.cli.app import app
from cantle_lab.bench.page import BEGIN, END
from cantle_lab.bench.passes import PASSES
from tests.interfaces.cli.test_cli import cantle


@pytest.mark.slow
def test_every_method_is_measured(tmp_path: Path) -> None:
    done = cantle("bench", "--rows", "400", "--repeat", "1", "--engines", "memory,database", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert [case["method"] for case in document["cases"]] == ["rps", "diffgen", "diffpart", "degrees"]
    for case in document["cases"]:
        assert 0 < case["read"] < case["core"]
        assert abs(sum(case[name] for name in PASSES) - case["core"]) < 0.02 * case["core"]
        assert abs(case["ratio"] * case["read"] / case["core"] - 1) < 1e-9
        assert case["peak"] > 30
    assert "database" in document["skipped"][0]["what"]
    assert {Path(path).name for path in document["files"]} == {"bench.csv", "bench.txt", "bench.json"}
    assert len(pl.read_csv(tmp_path / "bench" / "bench.csv")) == 4


@pytest.mark.slow
def test_growth_is_measured_and_written_to_the_page(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"# Speed\n{BEGIN}\n{END}\nend\n")
    options = (
        "--methods",
        "degrees",
        "--rows",
        "320",
        "--repeat",
        "1",
        "--grow",
        "rows",
        "--page",
        "page.md",
        "-o",
        "out",
    )
    done = cantle("bench", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Exponents of growth" in done.stdout
    text = (tmp_path / "page.md").read_text()
    assert text.startswith("# Speed")
    assert text.endswith(f"{END}\nend\n")
    assert "| rows | degrees | 20 | 320 |" in text
    assert str(tmp_path) not in text
    assert pl.read_csv(tmp_path / "out" / "bench.csv")["records"].to_list() == [320, 20, 80, 320]


def test_unknown_arguments_are_usage_errors(tmp_path: Path) -> None:
    for options in (("--methods", "dpcube"), ("--engines", "abacus"), ("--rows", "many"), ("--grow", "epsilon")):
        done = cantle("bench", *options, cwd=tmp_path)
        assert done.returncode == 2, options
        assert options[0] in done.stderr
    assert cantle("bench", "--page", "nowhere.md", cwd=tmp_path).returncode == 1
    assert "Example: cantle bench" in cantle("bench", "--help", cwd=tmp_path).stdout
    assert not list(tmp_path.iterdir())


def test_missing_data_is_reported(tmp_path: Path) -> None:
    done = cantle("bench", "--data", ".", "--methods", "rps", "--rows", "400", "--repeat", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "adult" in done.stderr


def test_reproduce_without_names_lists_the_figures_with_a_line_each() -> None:
    from cantle_lab.papers.figures import FIGURES

    lines = run("reproduce").output.splitlines()
    assert [line.split()[0] for line in lines] == list(FIGURES)
    assert all(len(line.split()) > 4 for line in lines)
    assert json.loads(run("reproduce", "--json").output)["figures"].keys() == FIGURES.keys()


def test_shells_can_complete_commands() -> None:
    asked = {"_CANTLE_COMPLETE": "complete_bash", "COMP_WORDS": "cantle ver", "COMP_CWORD": "1"}
    assert "verify" in CliRunner().invoke(app, [], prog_name="cantle", env=asked).output.split()


def test_shells_can_complete_options_of_the_lab() -> None:
    asked = {"_CANTLE_COMPLETE": "complete_bash", "COMP_WORDS": "cantle bench --gr", "COMP_CWORD": "2"}
    assert "--grow" in CliRunner().invoke(app, [], prog_name="cantle", env=asked).output.split()


@pytest.mark.parametrize("arguments", [("bench", "--rows", "400"), ("reproduce", "tables", "--json"), ("bench", "-h")])
def test_without_the_lab_its_commands_say_how_to_install_it(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    done = cantle(*arguments, cwd=tmp_path)
    words = "is in the package cantle-lab, which is not installed; in a checkout: pip install ./lab"
    assert (done.returncode, done.stderr) == (1, f"error: cantle {arguments[0]} {words}\n")
    assert done.stdout == "" or json.loads(done.stdout)["error"] == "MissingExtra"


def test_the_list_of_commands_does_not_load_the_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    lines = cantle("--help", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines if "cantle-lab" in line] == list(lab.COMMANDS)


def test_both_packages_have_the_same_version() -> None:
    assert version("cantle") == version("cantle-lab")
    assert f"cantle=={version('cantle')}" in (requires("cantle-lab") or ())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))
