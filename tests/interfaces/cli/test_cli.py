"""The command line end to end: exit codes, --json, and messages that name the thing, the rule and the fix."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from cantle.interfaces import demo_data
from tests.entropy import launcher
from tests.interfaces.cli.inside import run as cantle
from tests.release.people import SCHEMA, people


def process(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in a separate process."""
    command = [*launcher("-W", "error"), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "schema.yaml").write_text(yaml.safe_dump(SCHEMA))
    return tmp_path


def test_publish_show_verify_sample(folder: Path) -> None:
    arguments = ("--schema", "schema.yaml", "--epsilon", "1", "--method", "rps", "-o", "out")
    done = process("publish", "people.csv", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: The table is small for this epsilon")
    assert done.stderr.count("\n") == 2  # the size of the table, and that no ledger is charged
    assert "pure epsilon-differential privacy" in done.stdout
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {
        "data.csv", "groups.parquet", "tree.parquet", "marginals.parquet", "statement.md", "release.json",
        "registry.yaml",
        "datapackage.json",
    }  # fmt: skip
    assert cantle("verify", "out", cwd=folder).returncode == 0
    shown = cantle("show", "out", cwd=folder).stdout
    assert "\n   1 %  number of records\n" in shown
    assert "%  choosing where to cut (" in shown
    assert re.search(r"\nColumns\nage\n(  .* +\d+ %\n)*  .* █+ +\d+ %\n", shown)
    assert shown.index("\nBudget\n") < shown.index("\nColumns\n") < shown.index("\nRegions\nall: ")
    sample = cantle("sample", "out", "-n", "5", cwd=folder)
    assert len(sample.stdout.strip().splitlines()) == 6
    assert cantle("sample", "out", "-n", "7", "-o", "more.csv", cwd=folder).returncode == 0
    assert len(pl.read_csv(folder / "more.csv")) == 7
    assert cantle("sample", "out", "-n", "7", "-o", "more.csv", cwd=folder).returncode == 1
    (folder / "out" / "data.csv").write_text("age\n1\n")
    broken = cantle("verify", "out", "--json", cwd=folder)
    assert broken.returncode == 5
    assert json.loads(broken.stdout)["ok"] is False


def test_exit_codes_say_what_is_wrong(folder: Path) -> None:
    order = ("publish", "people.csv", "--schema", "schema.yaml", "--epsilon", "1")
    (folder / "bad.yaml").write_text("fields: 3\n")
    (folder / "other.csv").write_text("name\nAnn\n")
    (folder / "broken").mkdir()
    (folder / "broken" / "release.json").write_text("{}")
    codes = {
        2: [(*order, "--set", "deep=1"), (*order, "--no-such-option"), ("publish", "people.csv", "--epsilon", "1")],
        3: [("plan", "--schema", "bad.yaml", "--records", "9", "--epsilon", "1"), (*order, "--schema", "bad.yaml")],
        4: [("publish", "none.csv", *order[2:]), ("publish", "other.csv", *order[2:])],
        5: [("show", "broken"), ("verify", "broken")],
        1: [(*order, "--ledger", "none.db", "--dataset", "d")],
    }
    for code, calls in codes.items():
        assert [cantle(*call, cwd=folder).returncode for call in calls] == [code] * len(calls)


def test_the_files_of_a_folder_are_named(folder: Path) -> None:
    (folder / "parts").mkdir()
    for name in ("b.csv", "a.csv"):
        people().write_csv(folder / "parts" / name)
    (folder / "parts" / "notes.md").touch()
    order = ("--schema", "schema.yaml", "--epsilon", "1", "--method", "rps")
    for given in ("parts", "parts/*.csv"):
        said = cantle("publish", given, *order, "-o", f"out {len(given)}", cwd=folder).stderr
        assert f"note: '{given}' stands for 2 files: parts/a.csv, parts/b.csv\n" in said
    assert "stands for" not in cantle("publish", "people.csv", *order, "-o", "out", cwd=folder).stderr


def test_parquet_in_and_out_with_settings_and_json(folder: Path) -> None:
    people().write_parquet(folder / "people.parquet")
    arguments = [
        "--schema",
        "schema.yaml",
        "--epsilon",
        "0.5",
        "--method",
        "rps",
        "--set",
        "depth=3",
        "--set",
        "label=counts",
    ]
    done = cantle("publish", "people.parquet", *arguments, "--format", "parquet", "-o", "out", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["private"], facts["epsilon_nano"], facts["method"]) == (True, round(facts["epsilon"] * 1e9), "rps")
    assert facts["summary"]["records"] == len(pl.read_parquet(folder / "out" / "data.parquet"))
    manifest = json.loads(cantle("show", "out", "--json", cwd=folder).stdout)
    assert manifest["parameters"]["depth"] == 3
    assert manifest["parameters"]["label"] == "counts"
    assert pl.read_parquet(folder / "out" / "data.parquet").schema == people().drop("id").schema


def test_a_seeded_release_says_so(folder: Path) -> None:
    arguments = ("--schema", "schema.yaml", "--epsilon", "1", "--insecure-seed", "3", "-o", "out")
    done = cantle("publish", "people.csv", *arguments, cwd=folder)
    assert "NOT PRIVATE" in done.stdout
    assert all(path.name.startswith("NOT-PRIVATE.") for path in (folder / "out").iterdir())
    assert cantle("verify", "out", cwd=folder).returncode == 0
    drawn = cantle("sample", "out", "-n", "3", "-o", "more.csv", cwd=folder)
    assert drawn.stderr.startswith("NOT PRIVATE")
    assert "seed" not in drawn.stdout


def test_sample_writes_parquet_where_the_name_says_so(folder: Path) -> None:
    arguments = ("--schema", "schema.yaml", "--epsilon", "1", "--method", "rps", "-o", "out")
    assert cantle("publish", "people.csv", *arguments, cwd=folder).returncode == 0
    for name in ("more.parquet", "more.csv"):
        assert cantle("sample", "out", "-n", "3", "--seed", "1", "-o", name, cwd=folder).returncode == 0
    drawn = pl.read_parquet(folder / "more.parquet")
    assert drawn.write_csv(datetime_format="%Y-%m-%dT%H:%M:%S") == (folder / "more.csv").read_text()
    missing = cantle("sample", "out", "-n", "3", "-o", "none/more.parquet", cwd=folder)
    assert (missing.returncode, "cannot write none/more.parquet" in missing.stderr) == (1, True)
    assert cantle("sample", "out", "-n", "3", cwd=folder).stderr == ""  # a private release needs no warning


def test_errors_of_standard_output_are_reported_and_text_is_always_utf_8(folder: Path) -> None:
    """Text is UTF-8 whatever the locale. An output that cannot be written is reported, but not as a failed release."""
    main = launcher("-W", "error")
    publish = [*main, "publish", "people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--method", "rps", "-o"]
    full = Path("/dev/full")
    if full.exists():
        with full.open("w") as nowhere:
            done = subprocess.run([*publish, "out"], cwd=folder, stdout=nowhere, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert "error: cannot write to the standard output: No space left on device; " in done.stderr
        assert cantle("verify", "out", cwd=folder).returncode == 0
    else:
        subprocess.run([*publish, "out"], cwd=folder, check=True, capture_output=True)
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = subprocess.run([*main, "show", "out"], cwd=folder, env=ascii_only, capture_output=True)
    assert shown.returncode == 0, shown.stderr
    assert "├─" in shown.stdout.decode("utf-8")
    closed = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    assert subprocess.run([sys.executable, "-c", closed, *main[1:], "show", "out"], cwd=folder).returncode == 0


def test_init_then_publish(folder: Path) -> None:
    blank = cantle("init", "people.csv", "--header", "yes", "-o", "draft.yaml", cwd=folder)
    assert blank.returncode == 0, blank.stderr
    refused = cantle("publish", "people.csv", "--schema", "draft.yaml", "--epsilon", "1", cwd=folder)
    assert refused.returncode == 3
    assert not (folder / "release").exists()
    assert (
        cantle("init", "people.csv", "--header", "yes", "-o", "draft.yaml", cwd=folder).returncode == 1
    )  # never overwritten
    assert cantle("init", "people.csv", "--header", "yes", "--infer", "-o", "read.yaml", cwd=folder).returncode == 0
    done = cantle("publish", "people.csv", "--schema", "read.yaml", "--epsilon", "1", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "no guarantee" in done.stdout


def test_the_demo_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cantle("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "24,000 made-up people" in done.stdout
    assert cantle("verify", "cantle-demo", cwd=tmp_path).returncode == 0
    fewer = demo_data.population(people=1_000)
    monkeypatch.setattr(demo_data, "population", lambda: fewer)
    facts = json.loads(cantle("demo", "--json", cwd=tmp_path).stdout)
    assert facts["release"] == "cantle-demo-2"
    for row in facts["comparison"]:
        released = row["released"]
        assert released["low"] <= released["value"] <= released["high"]
    taught = ("--schema", facts["schema"], "--epsilon", "1", "-o", "again")
    assert (facts["data"], facts["schema"]) == ("cantle-demo-2.csv", "cantle-demo-2.yaml")
    assert cantle("check", facts["data"], "--schema", facts["schema"], cwd=tmp_path).returncode == 0
    assert cantle("publish", facts["data"], *taught, cwd=tmp_path).returncode == 0
    (tmp_path / "new.yaml").touch()
    assert "new.yaml exists already" in cantle("demo", "-o", "new", cwd=tmp_path).stderr
    assert not (tmp_path / "new").exists()


def test_help_loads_nothing_heavy_and_shows_examples(tmp_path: Path) -> None:
    heavy = "import sys, cantle.interfaces.cli; sys.exit(any(m in sys.modules for m in ('numpy', 'polars', 'yaml')))"
    assert subprocess.run([sys.executable, "-c", heavy], cwd=tmp_path).returncode == 0
    for command in ("demo", "init", "publish", "show", "verify", "sample", "reproduce"):
        assert f"Example: cantle {command}" in cantle(command, "--help", cwd=tmp_path).stdout
    assert cantle("--version", cwd=tmp_path).stdout.strip()
    listed = cantle("-h", cwd=tmp_path).stdout.partition("Commands:")[2]
    assert listed.index("init") < listed.index("publish") < listed.index("show"), (
        "commands are listed in the order of their use"
    )


BAD: list[tuple[list[Any], int, str]] = [
    (["people.csv", "--schema", "none.yaml", "--epsilon", "1"], 3, "none.yaml"),
    (["none.csv", "--schema", "schema.yaml", "--epsilon", "1"], 4, "none.csv"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "much"], 2, "epsilon must be a positive number"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "-1"], 2, "epsilon must be between"),
    (["people.csv", "--schema", "schema.yaml"], 2, "--epsilon"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--set", "depth"], 2, "key=value"),
    (
        ["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--method", "diffgen", "--set", "rounds=x"],
        2,
        "whole number",
    ),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--set", "deep=1"], 2, "known: "),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--set", "seed=1"], 2, "insecure_seed makes"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--method", "mosiac"], 2, "did you mean mosaic?"),
    (["people.csv", "--epsilon", "1"], 2, "cantle init DATA"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--set", "epsilon=2"], 2, "option of its own"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--set", "rounds=[1]"], 2, "YAML scalar"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--set", "preset=paper"], 2, "write --preset NAME"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--preset", "best"], 2, "no preset 'best'"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--method", "magic"], 2, "use one of"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--format", "xml"], 2, "csv or parquet"),
    (["people.csv", "--schema", "schema.yaml", "--epsilon", "1", "-o", "."], 1, "exists already"),
    (["junk.parquet", "--schema", "schema.yaml", "--epsilon", "1"], 4, "junk.parquet"),
    (["short.csv", "--schema", "schema.yaml", "--epsilon", "1"], 4, "weight"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), BAD, ids=lambda x: str(x)[:60])
def test_bad_calls_are_refused(folder: Path, arguments: list[Any], code: int, words: str) -> None:
    (folder / "junk.parquet").write_bytes(b"PAR1 not really")
    (folder / "short.csv").write_text("age,town\n3,Ash\n")
    before = sorted(path.name for path in folder.iterdir())
    done = cantle("publish", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def test_errors_are_printed_as_json(folder: Path) -> None:
    arguments = ("--schema", "schema.yaml", "--epsilon", "0", "--json")
    done = cantle("publish", "people.csv", *arguments, cwd=folder)
    assert json.loads(done.stdout)["error"] == "ParameterError"


def test_apply_generalises_another_file_outside_the_release(folder: Path) -> None:
    people(30, seed=3).write_csv(folder / "next.csv")
    arguments = ("--schema", "schema.yaml", "--epsilon", "5", "--method", "diffgen", "-o", "out")
    assert cantle("publish", "people.csv", *arguments, cwd=folder).returncode == 0
    assert "cells after" in cantle("show", "out", cwd=folder).stdout
    done = cantle("apply", "out", "next.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("NOT PRIVATE")
    assert len(pl.read_csv(folder / "next.internal.csv")) == 30
    assert sys.platform == "win32" or (folder / "next.internal.csv").stat().st_mode & 0o077 == 0
    assert cantle("apply", "out", "next.csv", cwd=folder).returncode == 1  # never overwritten
    assert cantle("apply", "out", "next.csv", "-o", "x.csv", cwd=folder).returncode == 2
    assert cantle("apply", "out", "next.csv", "-o", "out/x.internal.csv", cwd=folder).returncode == 1
    assert cantle("verify", "out", cwd=folder).returncode == 0
    assert (
        cantle("publish", "people.csv", "--schema", "schema.yaml", "--epsilon", "5", "-o", "a", cwd=folder).returncode
        == 0
    )
    refused = cantle("apply", "a", "next.csv", "-o", "y.internal.csv", cwd=folder)
    assert refused.returncode == 2
    assert "this one is by mosaic: publish with method diffgen" in refused.stderr
    assert "\nNoisy tables\n" in cantle("show", "a", cwd=folder).stdout


def test_ctrl_c_while_modules_are_loaded_prints_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import builtins

    from cantle.interfaces.cli import main

    load = builtins.__import__

    def interrupted(name: str, *rest: Any) -> Any:
        if name == "cantle.interfaces.cli.app":
            raise KeyboardInterrupt
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "error: interrupted\n")
