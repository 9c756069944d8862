"""Sets on the command line: publish, show, verify, sample, init; errors come before the charge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.interfaces.cli.test_cli import process as outside
from tests.release.kinds import NUMBERS, WORDS, as_source, baskets

SPACED = {"kind": "sets", "items": ["whole milk", "bread"]}
PUBLISH = ("publish", "sets.dat", "--schema", "numbers.yaml", "--epsilon", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, schema in {"numbers": NUMBERS, "words": WORDS, "spaced": SPACED, "graph": {"kind": "graph"}}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(schema))
    as_source(baskets(NUMBERS), "fimi", tmp_path)
    as_source(baskets(WORDS), "long.csv", tmp_path)
    as_source(baskets(WORDS), "list.parquet", tmp_path)
    (tmp_path / "spaced.csv").write_text("id,item\n1,whole milk\n1,bread\n2,bread\n")
    return tmp_path


def test_fimi_lines_are_read_and_written(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    done = cantle(*PUBLISH, "--method", "diffpart", "--set", "cells=tree", "--epsilon", "20", "-o", "out")
    assert done.code == 0, done.err
    assert "no ledger is charged" in done.err
    assert "synthetic sets" in done.out
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {
        "data.dat", "groups.parquet", "statement.md", "release.json", "registry.yaml",
        "datapackage.json"
    }  # fmt: skip
    assert cantle("verify", "out").out == "out: verified\n"
    shown = cantle("show", "out").out
    assert "%  counts of sets" in shown
    assert "\nMost frequent items\n" in shown
    assert "\nSets\n{" in shown
    lines = cantle("sample", "out", "-n", "5", "--seed", "1").out.splitlines()
    assert len(lines) == 5
    assert all(1 <= int(item) <= 30 for line in lines for item in line.split())
    assert json.loads(cantle("sample", "out", "-n", "5", "--json").out)["records"] == 5
    assert cantle("sample", "out", "-n", "7", "-o", "more.dat").out == "wrote more.dat: 7 records\n"
    assert len((folder / "more.dat").read_text().splitlines()) == 7
    (folder / "out" / "data.dat").write_text("1 2\n")
    broken = cantle("verify", "out", "--json")
    assert broken.code == 5
    assert json.loads(broken.out)["problems"] == ["data.dat does not have the listed hash"]


@pytest.mark.parametrize(
    ("source", "form", "stored"),
    [
        ("long.csv", None, "data.csv"),
        ("long.csv", "parquet", "data.parquet"),
        ("list.parquet", None, "data.parquet"),
        ("list.parquet", "csv", "data.csv"),
        ("list.parquet", "fimi", "data.dat"),
    ],
)
def test_other_forms(folder: Path, cantle: Cantle, source: str, form: str | None, stored: str) -> None:  # noqa: F811
    asked = [] if form is None else ["--format", form]
    done = cantle("publish", source, "--schema", "words.yaml", "--epsilon", "2", "-o", "out", *asked, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["private"] is True
    assert (folder / "out" / stored).exists()
    assert cantle("verify", "out").code == 0
    sample = cantle("sample", "out", "-n", "3", "-o", "more.csv", "--json")
    assert json.loads(sample.out)["records"] == 3
    if source == "long.csv":
        assert pl.read_csv(folder / "more.csv")["id"].n_unique() == 3


def test_parameters_and_seeds_of_sets(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    chosen = ("--set", "fanout=5", "--set", "m=2", "--set", "cells=tree", "--insecure-seed", "3")
    done = cantle(*PUBLISH, *chosen, "-o", "out")
    assert "NOT PRIVATE" in done.out
    assert all(path.name.startswith("NOT-PRIVATE.") for path in (folder / "out").iterdir())
    manifest = json.loads(cantle("show", "out", "--json").out)
    assert [manifest["parameters"][name] for name in ("fanout", "m", "cells")] == [5, 2, "tree"]
    assert cantle(*PUBLISH, *chosen, "-o", "again").code == 0
    for path in (folder / "out").iterdir():
        assert path.read_bytes() == (folder / "again" / path.name).read_bytes(), path.name
    assert cantle("verify", "again").code == 0


BAD: list[tuple[list[Any], int, str]] = [
    (
        ["sets.dat", "--schema", "numbers.yaml", "--method", "rps"],
        2,
        "not for sets data; use diffpart or baskets, or auto",
    ),
    (["sets.dat", "--schema", "numbers.yaml", "--format", "xml"], 2, "csv or parquet or fimi for sets"),
    (["sets.dat", "--schema", "numbers.yaml", "--set", "theta=3"], 2, "known: accuracy_share, c1, c2"),
    (["sets.dat", "--schema", "numbers.yaml", "--nodes", "sets.dat"], 2, "nodes is for graphs"),
    (["sets.dat", "--schema", "numbers.yaml", "--method", "diffpart"], 2, "at most 20 items"),
    (["sets.dat", "--schema", "graph.yaml", "--format", "fimi"], 2, "csv or parquet for a graph"),
    (["spaced.csv", "--schema", "spaced.yaml", "--format", "fimi"], 2, "'whole milk' holds a space"),
    (["sets.dat", "--schema", "spaced.yaml"], 2, "'whole milk' holds a space"),
    (["none.dat", "--schema", "numbers.yaml"], 4, "there is no file 'none.dat'"),
    (["sets.dat", "--schema", "none.yaml"], 3, "none.yaml"),
    (["sets.dat", "--schema", "numbers.yaml", "--engine", "database"], 2, "for tables"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), BAD, ids=lambda x: str(x)[:60])
def test_bad_calls_cost_nothing(folder: Path, cantle: Cantle, arguments: list[Any], code: int, words: str) -> None:  # noqa: F811
    assert cantle("ledger", "cap", "1", "--ledger", "ledger.db", "--dataset", "d").code == 0
    before = sorted(path.name for path in folder.iterdir())
    done = cantle("publish", *arguments, "--epsilon", "1", "--ledger", "ledger.db", "--dataset", "d")
    assert done.code == code, done.err
    assert words in done.err
    assert sorted(path.name for path in folder.iterdir()) == before
    shown = json.loads(cantle("ledger", "show", "--ledger", "ledger.db", "--json").out)
    assert shown["datasets"][0]["spent"] == "0"


@pytest.mark.usefixtures("folder")
def test_a_ledger_counts_sets_as_well(cantle: Cantle) -> None:  # noqa: F811
    assert cantle("ledger", "create", "--ledger", "ledger.db").code == 0
    done = cantle(*PUBLISH, "--ledger", "ledger.db", "--dataset", "baskets", "-o", "out")
    assert "baskets, release 1: epsilon 2 spent" in done.out
    assert cantle("verify", "out").code == 0


def test_commands_for_tables_refuse_sets(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    assert cantle(*PUBLISH, "-o", "out").code == 0
    before = sorted(path.name for path in folder.iterdir())
    assert "diffgen" in cantle("apply", "out", "sets.dat").err
    assert "degrees" in cantle("graph", "out", "-o", "graph.txt").err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_items_with_spaces_are_printed_as_a_table(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    pl.DataFrame({"items": [["whole milk", "bread"]] * 30}).write_parquet(folder / "spaced.parquet")
    assert (
        cantle("publish", "spaced.parquet", "--schema", "spaced.yaml", "--epsilon", "50", "--yes", "-o", "out").code
        == 0
    )
    assert cantle("sample", "out", "-n", "2").out == "id,item\n1,whole milk\n1,bread\n2,whole milk\n2,bread\n"


def test_init_drafts_a_schema_for_sets(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    done = cantle("init", "sets.dat", "-o", "draft.yaml")
    assert done.code == 0, done.err
    assert yaml.safe_load((folder / "draft.yaml").read_text()) == {"kind": "sets", "items": "???"}
    blank = cantle("publish", "sets.dat", "--schema", "draft.yaml", "--epsilon", "1")
    assert blank.code == 3
    assert "still blank (???)" in blank.err
    filled = (folder / "draft.yaml").read_text().replace("???", "{minimum: 1, maximum: 30}", 2)
    (folder / "filled.yaml").write_text(filled)
    assert cantle("publish", "sets.dat", "--schema", "filled.yaml", "--epsilon", "1", "-o", "out").code == 0
    assert "\n# A schema says what is public about sets" in cantle("init", "long.csv", "--kind", "sets").out
    assert "fields:" in cantle("init", "long.csv", "--header", "yes").out
    assert "\nkind: sets\n" in cantle("init", "list.parquet").out
    assert (
        "--kind must be table, sets, sequences, graph or families" in cantle("init", "sets.dat", "--kind", "bags").err
    )
    assert "--infer is for tables" in cantle("init", "sets.dat", "--infer").err
    assert "there is no file 'none.dat'" in cantle("init", "none.dat").err
    (folder / "sets.txt").write_text("17 secret\n")
    refused = cantle("init", "sets.txt")
    assert "say which: --kind table, sets, sequences or graph" in refused.err
    assert "secret" not in refused.out + refused.err


def test_help_mentions_sets(cantle: Cantle) -> None:  # noqa: F811
    for command, words in {"publish": "sets of items", "init": "--kind sets", "sample": "FIMI"}.items():
        assert words in " ".join(cantle(command, "--help").out.split())


def test_sets_are_published_in_a_separate_process(folder: Path) -> None:
    done = outside(*PUBLISH, "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1  # no ledger is charged
