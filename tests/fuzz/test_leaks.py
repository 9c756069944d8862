"""No command reveals more about a record than its release: tests with canaries, and with records that are dropped.

The private values contain canaries; everything that a command prints, logs or writes, whether it succeeds or fails, is
searched for them. Records that cleaning drops must leave no trace: bytes, logs, output and exit code are the same as
without them.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import typer.main
import yaml
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.interfaces.cli.app import app, main
from tests.effort import examples
from tests.fuzz.case import CANARIES, NUMBER, WORD
from tests.fuzz.targets import GRAPH_SCHEMA, SETS_SCHEMA, TARGETS
from tests.interfaces.cli.inside import PARSER
from tests.release.people import SCHEMA, people

SEEDED = ("--insecure-seed", "5")


@dataclass(frozen=True)
class Outcome:
    """The result of a command: exit code, output, errors, and log lines of every level."""

    code: int
    out: str
    err: str
    log: str

    @property
    def everything(self) -> bytes:
        return (self.out + self.err + self.log).encode("utf-8", "surrogatepass")


def run(folder: Path, *arguments: object) -> Outcome:
    """Runs a command as the shell would, inside this process."""
    out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.getLogger()
    level, ours = logger.level, logging.getLogger("cantle").level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logging.getLogger("cantle").setLevel(logging.DEBUG)
    code: Any = 0
    try:
        called = patch.object(sys, "argv", ["cantle", *map(str, arguments)])
        parser = patch.object(typer.main, "get_command", PARSER)
        with chdir(folder), called, parser, redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logging.getLogger("cantle").setLevel(ours)
    return Outcome(code, out.getvalue(), err.getvalue(), log.getvalue())


# ---- canaries -------------------------------------------------------------------------------------------------------

WITHOUT_DATA = {"schema", "demo", "reproduce", "bench", "audit"}
"""Commands that take no private file."""

SHOWS_VALUES = {"check"}
"""Commands whose purpose is to show private values to their owner; they warn, and write only where asked to."""

ELSEWHERE = {"studio"}
"""A server, whose pages, addresses and files tests/interfaces/studio searches for private values."""


def write_files(folder: Path) -> set[str]:
    """Writes private files with canaries, and schemas; returns the names of the private files."""
    private = {
        "t.csv": TARGETS["csv"].seeds[0], "q.csv": TARGETS["csv"].seeds[2], "t.parquet": TARGETS["parquet"].seeds[0],
        "s.dat": TARGETS["fimi"].seeds[0], "long.csv": TARGETS["long table"].seeds[0],
        "s.parquet": TARGETS["sets parquet"].seeds[0], "g.txt": TARGETS["edges"].seeds[0],
        "g.mtx": TARGETS["matrix market"].seeds[0], "d.txt": TARGETS["degrees"].seeds[0],
        "n.txt": TARGETS["nodes"].seeds[0],
        "p.csv": b"lat,lon\n" + b"1.5,2.5\n" * 300 + WORD + b"," + NUMBER + b"\n",
        "l.csv": b"ill\n" + b"flu;gout\n" * 300 + WORD + b";flu\n" + b'"[""' + WORD + b'"", 1]"\n' + NUMBER + b"\n",
        "cut.parquet": TARGETS["parquet"].seeds[0][:-9], "empty.csv": b"", "none.csv": WORD + b"\n" + NUMBER + b"\n",
        "cut.gz": b"\x1f\x8b" + WORD,
    }  # fmt: skip
    table = SCHEMA | {"missingValues": ["", "NA"]}
    sets = {key: value for key, value in SETS_SCHEMA.items() if key != "form"}
    schemas = {
        "table.yaml": table, "sets.yaml": sets, "graph.yaml": GRAPH_SCHEMA,
        "person.yaml": table | {"unit": {"person": "id", "max_records": 2}},
        "long.yaml": sets | {"form": "long"}, "mtx.yaml": {"kind": "graph"},
        "degrees.yaml": {"kind": "graph", "unit": "edge", "form": "degrees"},
        "more.yaml": {"fields": [*SCHEMA["fields"], {"name": "other", "type": "boolean"}]},
        "places.yaml": {"fields": [
            {"name": "at", "type": "geopoint", "columns": ["lat", "lon"], "bounds": [[0, 0], [4, 4]], "step": 0.5},
        ]},
        "lists.yaml": {"fields": [{"name": "ill", "type": "list", "items": ["flu", "gout"]}]},
        "facts.yaml": {"title": "Towns", "curator": "An office", "version": "1"},
    }  # fmt: skip
    for name, content in private.items():
        (folder / name).write_bytes(content)
    for name, schema in schemas.items():
        (folder / name).write_text(yaml.safe_dump(schema))
    return set(private)


def publish(data: str, schema: str, out: str, *more: object) -> tuple[object, ...]:
    return ("publish", data, "--schema", f"{schema}.yaml", "--epsilon", "1", "-o", out, *more)


GOOD, BAD = (0,), (1, 2, 3, 4, 5)
CALLS: list[tuple[tuple[object, ...], tuple[int, ...]]] = [
    # tables and their releases
    (("init", "t.csv", "--header", "yes"), GOOD), (("init", "none.csv", "--header", "no"), GOOD),
    (("init", "t.csv"), BAD), (("init", "t.parquet", "--json"), GOOD), (("init", "empty.csv", "--header", "yes"), BAD),
    (("init", "cut.parquet"), BAD),
    (publish("t.csv", "table", "a", "--ledger", "l.db", "--dataset", "people"), BAD),  # no such ledger yet
    (("ledger", "create", "--ledger", "l.db"), GOOD),
    (publish("t.csv", "table", "a", "--method", "rps", "--ledger", "l.db", "--dataset", "people"), GOOD),
    (publish("t.parquet", "table", "b", "--method", "diffgen", "--json"), GOOD),
    (publish("q.csv", "table", "c", "--format", "parquet"), GOOD),
    (publish("t.csv", "person", "d"), GOOD), (publish("t.csv", "table", "e", *SEEDED), GOOD),
    (publish("t.csv", "table", "f", "--method", "rps", "--preset", "paper", "--set", "depth=4"), GOOD),
    (("show", "a"), GOOD), (("show", "a", "--json"), GOOD), (("verify", "a"), GOOD), (("verify", "a", "--json"), GOOD),
    (("sample", "a", "-n", 9), GOOD), (("sample", "a", "-n", 9, "-o", "more.csv"), GOOD),
    (("graph", "a", "-o", "x.txt"), BAD), (("apply", "b", "t.csv", "-o", "x.internal.csv"), GOOD),
    (("apply", "a", "t.csv", "-o", "y.internal.csv"), BAD), (("apply", "b", "none.csv", "-o", "z.internal.csv"), BAD),
    (("evaluate", "t.csv", "a"), GOOD), (("evaluate", "t.csv", "c", "--json"), GOOD),
    (("experiment", "t.csv", "--schema", "table.yaml", "-o", "x"), BAD),  # too few records to be split
    (("experiment", "none.csv", "--schema", "table.yaml", "-o", "x"), BAD),
    (("evaluate", "none.csv", "a"), BAD), (("report", "a"), GOOD), (("report", "c", "-o", "c.html"), GOOD),
    (("report", "a", "--against", "t.csv"), GOOD), (("report", "a", "--against", "t.csv", "-o", "x.html"), BAD),
    (("map", "a", "-o", "x.geojson"), BAD), (publish("p.csv", "places", "p"), GOOD),
    (publish("l.csv", "lists", "ill"), GOOD), (publish("p.csv", "lists", "x"), BAD),
    (("map", "p", "-o", "p.json"), GOOD), (("report", "p", "-o", "p.html"), GOOD),
    (publish("none.csv", "places", "x"), BAD),
    (("query", "c", "age >= 40 and town == 'Ash'"), GOOD), (("query", "c", "height > 2"), BAD),
    (("plan", "--schema", "table.yaml", "--epsilon", "1", "--records", "500"), GOOD),
    (("statement", "a", "-o", "a.statement.html"), GOOD), (("metadata", "a"), BAD),
    (publish("t.csv", "table", "o", "--statement", "facts.yaml"), GOOD),
    (("metadata", "o", "--format", "datacite"), GOOD), (("bundle", "o", "-o", "o.xlsx"), GOOD),
    (("bundle", "a", "-o", "a.doc"), BAD), (("sign", "--new-key", "office.key"), GOOD),
    (("sign", "o", "--key", "office.key"), GOOD), (("sign", "b", "--key", "t.csv"), BAD),
    (("verify", "o", "--key", "office.key.pub"), GOOD), (("verify", "o", "--key", "t.csv"), BAD),
    (("ledger", "show", "--ledger", "l.db"), GOOD),
    (("ledger", "history", "--ledger", "l.db", "--dataset", "people"), GOOD),
    (("ledger", "cap", "1.5", "--ledger", "l.db", "--dataset", "people", "--json"), GOOD),
    # sets and graphs
    (publish("s.dat", "sets", "g"), GOOD), (publish("long.csv", "long", "h", "--json"), GOOD),
    (publish("s.parquet", "sets", "i"), GOOD),
    (publish("s.dat", "sets", "j", "--preset", "paper", "--set", "fanout=2"), GOOD), (("show", "g"), GOOD),
    (("report", "g", "--against", "s.dat", "-o", "g.internal.html"), GOOD),
    (("evaluate", "s.dat", "g"), GOOD),
    (("verify", "g"), GOOD), (("sample", "g", "-n", 3), GOOD), (publish("g.txt", "graph", "k"), GOOD),
    (publish("g.mtx", "mtx", "l"), GOOD), (publish("d.txt", "degrees", "m"), GOOD),
    (publish("g.txt", "graph", "n", "--nodes", "n.txt"), GOOD), (("show", "k"), GOOD), (("verify", "k"), GOOD),
    (("graph", "k", "-o", "made.txt"), GOOD), (("init", "s.dat", "--kind", "sets"), GOOD),
    (("init", "g.txt", "--kind", "graph"), GOOD),
    # refusals: before the data is read, while it is read, and because of the budget
    (publish("t.csv", "table", "a"), BAD), (publish("t.csv", "more", "x1"), BAD),
    (publish("none.csv", "table", "x2"), BAD), (publish("empty.csv", "table", "x3"), BAD),
    (publish("cut.parquet", "table", "x4"), BAD), (publish("cut.gz", "mtx", "x5"), BAD),
    (publish("t.csv", "table", "x6", "--ledger", "l.db", "--dataset", "people"), BAD),
    (publish("s.dat", "table", "x7"), BAD), (publish("t.csv", "sets", "x8"), BAD),
    (publish("t.csv", "table", "x9", "--method", "rps", "--set", "depth=0.5"), BAD),
    (publish("t.csv", "table", "x10", "--engine", "oven"), BAD),
    (publish("none.csv", "mtx", "x11", "--format", "fimi"), BAD),
    (publish("d.txt", "sets", "x12", "--method", "rps"), BAD), (("verify", "nowhere"), BAD), (("show", "t.csv"), BAD),
    (("publish", "t.csv", "--schema", "table.yaml", "--epsilon", "0.000000001", "-o", "x13", "--set", "rounds=9"), BAD),
]  # fmt: skip


def test_no_command_prints_logs_or_writes_a_canary(tmp_path: Path) -> None:
    private = write_files(tmp_path)
    for arguments, codes in CALLS:
        outcome = run(tmp_path, *arguments)
        assert outcome.code in codes, (arguments, outcome)
        assert not any(canary in outcome.everything for canary in CANARIES), arguments
    (tmp_path / "a" / "data.csv").write_bytes(WORD)
    damaged = run(tmp_path, "verify", "a")
    assert damaged.code == 5
    assert WORD not in damaged.everything
    (tmp_path / "a" / "data.csv").unlink()
    written_files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in private]
    assert len(written_files) > 80
    for path in written_files:
        assert not any(canary in path.read_bytes() for canary in CANARIES), path


def test_every_command_is_in_the_lists_above() -> None:
    names = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    names |= {str(group.name) for group in app.registered_groups}
    used = {str(arguments[0]) for arguments, _ in CALLS}
    assert names <= used | WITHOUT_DATA | SHOWS_VALUES | ELSEWHERE, "add a call of the new command to CALLS"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of `write_files`, for commands that write none."""
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.mark.parametrize(("data", "schema"), [
    ("t.csv", "table"), ("s.dat", "sets"), ("long.csv", "long"), ("s.parquet", "sets"), ("g.txt", "graph"),
    ("g.mtx", "mtx"), ("d.txt", "degrees"), ("cut.parquet", "table"), ("none.csv", "table"),
])  # fmt: skip
def test_a_check_warns_first_and_writes_nothing(data: str, schema: str, files: Path) -> None:
    before = {path.name for path in files.iterdir()}
    outcome = run(files, "check", data, "--schema", f"{schema}.yaml")
    assert outcome.code in (0, 1, 4)
    assert outcome.err.startswith("INTERNAL: ")
    assert not any(canary in (outcome.err + outcome.log).encode() for canary in CANARIES)
    assert {path.name for path in files.iterdir()} == before


def test_the_search_finds_a_canary_that_is_printed(files: Path) -> None:
    """`init` prints the first line of a table if the user says that it is the header."""
    assert WORD in run(files, "init", "none.csv", "--header", "yes").everything


# ---- records that are dropped ---------------------------------------------------------------------------------------


@contextmanager
def written(data: bytes, name: str, schema: Any) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / name).write_bytes(data)
        (Path(place) / "schema.yaml").write_text(yaml.safe_dump(schema))
        yield Path(place)


def released(data: bytes, name: str, schema: Any, *more: object) -> tuple[Outcome, dict[str, bytes]]:
    """The outcome of a seeded publish, and the files that it writes."""
    with written(data, name, schema) as folder:
        outcome = run(folder, *publish(name, "schema", "out", *SEEDED, *more))
        return outcome, {path.name: path.read_bytes() for path in sorted(folder.glob("out/*"))}


@cache
def sound(data: bytes, name: str, schema: str, *more: object) -> tuple[Outcome, dict[str, bytes]]:
    """The outcome and files for valid records alone, with which every example is compared."""
    expected = released(data, name, json.loads(schema), *more)
    assert expected[0].code == 0
    return expected


def mixed(lines: list[bytes], more: list[tuple[int, bytes]]) -> list[bytes]:
    """The lines with others inserted between them."""
    result = list(lines)
    for place, line in more:
        result.insert(place % (len(result) + 1), line)
    return result


def places(junk: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[tuple[int, bytes]]]:
    return st.lists(st.tuples(st.integers(0, 10**6), junk), min_size=1, max_size=8)


PEOPLE = people(30).write_csv().encode().splitlines(keepends=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def _row(values: list[str]) -> bytes:
    """A record whose target is not valid, written by a CSV writer."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow([*values, "no such answer"])
    return file.getvalue().encode()


ROWS = st.lists(TEXTS, min_size=8, max_size=8).map(_row)


@pytest.mark.parametrize("method", ["rps", "diffgen"])
@given(places(ROWS))
@examples(5)
def test_dropped_records_of_a_table_leave_no_trace(method: str, junk: list[tuple[int, bytes]]) -> None:
    head, *lines = PEOPLE
    outcome = released(head + b"".join(mixed(lines, junk)), "t.csv", SCHEMA, "--method", method)
    assert outcome == sound(b"".join(PEOPLE), "t.csv", json.dumps(SCHEMA), "--method", method)


WORDS = st.binary(max_size=12).map(lambda word: bytes(byte for byte in word if byte not in b"\r\n0123456789"))


@given(places(WORDS.map(lambda word: word + b"\n")))
@examples(5)
def test_dropped_records_of_sets_leave_no_trace(junk: list[tuple[int, bytes]]) -> None:
    lines = [b"1 2 3\n", b"2\n", b"3 5\n", b"1 2\n"] * 5
    schema = {"kind": "sets", "items": {"minimum": 1, "maximum": 5}}
    outcome = released(b"".join(mixed(lines, junk)), "s.dat", schema)
    assert outcome == sound(b"".join(lines), "s.dat", json.dumps(schema))


@given(
    places(
        WORDS.map(lambda word: b"# " + word + b"\n") | st.sampled_from([b"7\n", b"9 3\n", b"3 x\n", b", 4\n", b"\n"])
    )
)
@examples(5)
def test_dropped_records_of_a_graph_leave_no_trace(junk: list[tuple[int, bytes]]) -> None:
    lines = [b"0 1\n", b"1 2\n", b"2 3\n", b"3 4\n", b"4 0\n"]
    schema = {"kind": "graph", "nodes": {"minimum": 0, "maximum": 8}}
    outcome = released(b"".join(mixed(lines, junk)), "g.txt", schema)
    assert outcome == sound(b"".join(lines), "g.txt", json.dumps(schema))


# ---- no data set is refused -----------------------------------------------------------------------------------------

BODIES = st.binary(max_size=200) | st.lists(TEXTS, max_size=30).map(lambda words: ",".join(words).encode())
ANY: dict[str, tuple[str, bytes, dict[str, Any], dict[str, Any]]] = {
    "table": ("t.csv", PEOPLE[0], SCHEMA, {"method": "rps", "depth": 2}),
    "table for classifiers": ("t.csv", PEOPLE[0], SCHEMA, {"method": "diffgen", "rounds": 1}),
    "table, by default": ("t.csv", PEOPLE[0], SCHEMA, {}),
    "persons": ("t.csv", PEOPLE[0], SCHEMA | {"unit": {"person": "id", "max_records": 2}}, {"method": "rps"}),
    "fimi": ("s.dat", b"", {"kind": "sets", "items": {"minimum": 1, "maximum": 17}}, {"cells": "tree"}),
    "fimi, texts": ("s.dat", b"", {"kind": "sets", "items": ["a", "é", "b"]}, {}),
    "long": ("s.csv", b"id,item\n", {"kind": "sets", "items": [1, 2, 3]}, {}),
    "edges": ("g.txt", b"", {"kind": "graph"}, {"theta": 2}),
    "edges, paper": (
        "g.txt",
        b"",
        {"kind": "graph", "unit": "node-isolate", "nodes": 9},
        {"preset": "paper", "theta": 2},
    ),
    "degrees": ("d.txt", b"", {"kind": "graph", "unit": "edge", "form": "degrees"}, {}),
}


@pytest.mark.parametrize("kind", ANY)
@given(BODIES)
@examples(4)
def test_any_records_give_a_release(kind: str, body: bytes) -> None:
    """If some records were refused, the exit code would depend on the data."""
    name, head, schema, options = ANY[kind]
    with written(head + body, name, schema) as folder:
        cantle.publish(folder / name, schema, epsilon=1, **options).save(folder / "out")
