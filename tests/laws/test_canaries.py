"""Canary values planted in the data appear in no message, log line, repr, traceback or file (privacy rule 1.2).

In tables: identifiers, undeclared categories, values that cannot be read. In sets: ids and undeclared items. In graphs:
the identifiers of all nodes.
"""

from __future__ import annotations

import io
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pytest
import yaml

import cantle
from cantle.data import engines_for_tables, graphs, sets
from cantle.errors import CantleError, DataError
from cantle.release.show import overview, sections
from tests.effort import slow
from tests.interfaces.cli.inside import Cantle
from tests.interfaces.cli.inside import cantle as command  # noqa: F401 - a fixture
from tests.release.kinds import DEGREES, EDGE, GRAPH, ISOLATE, NUMBERS, WORDS, baskets, edges
from tests.release.people import SCHEMA, people

WORD, NUMBER = "CanaryQx7", 7_031_931_570_319  # so long that no hash or seed contains one by chance
CANARIES = (WORD.encode(), str(NUMBER).encode())


def planted(n: int = 60) -> pl.DataFrame:
    """People whose id, undeclared town, unreadable age and out-of-range weight are canaries."""
    table = people(n).cast({"age": pl.String, "weight": pl.String, "joined": pl.String, "seen": pl.String})
    canary = pl.int_range(pl.len()) % 7 == 0
    return table.with_columns(
        pl.when(canary).then(pl.lit(WORD)).otherwise(pl.col(name)).alias(name)
        for name in ("id", "age", "town", "grade", "joined", "seen", "ill")
    ).with_columns(weight=pl.when(canary).then(pl.lit(str(NUMBER))).otherwise("weight"))


def sources(folder: Path) -> dict[str, Any]:
    table = planted()
    table.write_csv(folder / "a.csv")
    table.write_parquet(folder / "a.parquet")
    text = (folder / "a.csv").read_bytes().splitlines()
    ragged = [
        *text[:3],
        text[3] + b"," + WORD.encode() * 3,
        WORD.encode(),
        b'"' + WORD.encode(),
        b"\xff\xfe" + WORD.encode(),
    ]
    (folder / "ragged.csv").write_bytes(b"\n".join(ragged) + b"\n")
    return {
        "csv": folder / "a.csv",
        "parquet": folder / "a.parquet",
        "ragged": folder / "ragged.csv",
        "polars": table,
        "pandas": table.to_pandas(),
        "pyarrow": table.to_arrow(),
    }


def bad_calls() -> list[dict[str, Any]]:
    return [
        {},
        {"insecure_seed": 1},
        {"method": "rps"},
        {"method": "rps", "preset": "paper", "depth": 6},
        {"method": "rps", "depth": 900, "epsilon": "0.000001"},
        {"method": "rps", "stop": "privtree:1", "stop_share": 0.000001},
        {"method": "rps", "values": "set"},
        {"method": "diffgen", "preset": "paper", "rounds": 900, "epsilon": "0.000001"},
    ]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return sources(tmp_path_factory.mktemp("tables"))


KINDS = ["csv", "parquet", "ragged", "polars", "pandas", "pyarrow"]
ALL = [(kind, call) for kind in KINDS for call in bad_calls()]
SOME = [(kind, call) for kind, call in ALL if kind == "csv" or call == {}]
"""By default: all kinds of input with one call, and all calls with one kind. The two do not depend on each other."""


@pytest.mark.parametrize(
    ("kind", "call"), [*SOME, *(pytest.param(*one, marks=pytest.mark.slow) for one in ALL if one not in SOME)], ids=str
)
def test_no_output_of_a_table_holds_a_canary(
    call: dict[str, Any], kind: str, tables: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording(capsys) as output:
        publish(tables[kind], SCHEMA, call, tmp_path / "out", output)


@contextmanager
def recording(capsys: pytest.CaptureFixture[str]) -> Iterator[io.StringIO]:
    """Records all log lines and all printed text, to which the block may add; none of it may hold a canary."""
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    logging.getLogger().addHandler(handler)
    logging.getLogger("cantle").setLevel(logging.DEBUG)
    try:
        yield output
    finally:
        logging.getLogger().removeHandler(handler)
    out = capsys.readouterr()
    text = (output.getvalue() + out.out + out.err).encode()
    assert not any(canary in text for canary in CANARIES)


def publish(source: Any, schema: Any, call: dict[str, Any], folder: Path, output: io.StringIO) -> None:
    """Publishes, and writes all that a release or an error shows into `output`; no file may hold a canary."""
    try:
        release = cantle.publish(source, schema, **({"epsilon": 1} | call))
        output.write(repr(release) + str(release) + str(release.manifest) + str(release.groups))
        output.write(
            "".join(map(str, [*overview(release), *sections(release)])) + release.statement + release._repr_html_()
        )
        for path in release.save(folder).iterdir():
            assert not any(canary in path.read_bytes() for canary in CANARIES), path.name
    except CantleError as error:
        output.write("".join(traceback.format_exception(error)) + repr(error))


def test_a_wrong_header_is_reported_without_a_record(tmp_path: Path) -> None:
    planted().drop("weight").write_csv(tmp_path / "short.csv")
    with pytest.raises(CantleError) as caught:
        cantle.publish(tmp_path / "short.csv", SCHEMA, epsilon=1)
    shown = "".join(traceback.format_exception(caught.value)).encode()
    assert b"weight" in shown
    assert not any(canary in shown for canary in CANARIES)


# -------------------------------------------------------------------------------------------- sets and graphs


class Quoting:
    """An item or identifier that is shown as a canary, and whose errors quote one."""

    def __repr__(self) -> str:
        return WORD

    def __hash__(self) -> int:
        raise ValueError(WORD)

    def __len__(self) -> int:
        raise ValueError(WORD)


def set_sources(folder: Path) -> dict[str, Any]:
    """Sets with canaries as ids and undeclared items, and unreadable files that hold a canary."""
    sets = [[*record, WORD, str(NUMBER)] for record in baskets(NUMBERS, 60)]
    texts = [[str(item) for item in record] for record in sets]
    (folder / "sets.dat").write_bytes(
        "".join(" ".join(record) + "\n" for record in texts).encode() + b"\xff" + CANARIES[0]
    )
    rows = [(f"{WORD}{number}", item) for number, record in enumerate(texts) for item in record]
    long = pl.DataFrame(rows, schema=["id", "item"], orient="row")
    long.write_csv(folder / "sets.csv")
    lists = pl.DataFrame({"items": texts})
    lists.write_parquet(folder / "sets.parquet", compression="uncompressed")
    whole = (folder / "sets.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "other.csv").write_text(f"basket,product\n{WORD},{NUMBER}\n")
    return {
        "fimi": folder / "sets.dat",
        "long": folder / "sets.csv",
        "list": folder / "sets.parquet",
        "cut": folder / "cut.parquet",
        "other": folder / "other.csv",
        "polars": lists,
        "pandas": pd.DataFrame({"items": [*sets, WORD, NUMBER, None, {WORD: NUMBER}, Quoting()]}),
        "pandas long": long.to_pandas(),
        "pyarrow": long.to_arrow(),
        "python": [*sets, WORD, {WORD}, (NUMBER,), [Quoting(), [WORD]], Quoting()],
        "no sets": Quoting(),
    }


def graph_sources(folder: Path) -> dict[str, Any]:
    """Graphs whose nodes have canaries as identifiers, and unreadable files that hold a canary."""
    pairs = [(f"{WORD}{a}", NUMBER + 10**14 * b) for a, b in edges(60)]
    frame = pl.DataFrame([(a, str(b)) for a, b in pairs], schema=["a", "b"], orient="row")
    frame.write_csv(folder / "edges.csv")
    lines = "".join(f"{a} {b}\n" for a, b in pairs)
    (folder / "edges.txt").write_bytes(lines.encode() + CANARIES[0] + b'\n"' + CANARIES[0] + b" \xff\n")
    (folder / "edges.mtx").write_bytes(b"%%MatrixMarket matrix coordinate\n" + CANARIES[1] + b" x\n")
    (folder / "edges.txt.gz").write_bytes(b"\x1f\x8b" + CANARIES[0])
    frame.write_parquet(folder / "edges.parquet", compression="uncompressed")
    whole = (folder / "edges.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    return {
        "text": folder / "edges.txt",
        "csv": folder / "edges.csv",
        "parquet": folder / "edges.parquet",
        "matrix": folder / "edges.mtx",
        "packed": folder / "edges.txt.gz",
        "cut": folder / "cut.parquet",
        "networkx": nx.Graph([*pairs, (WORD, (WORD, NUMBER))]),
        "pandas": frame.to_pandas(),
        "pairs": [*pairs, (WORD,), WORD, (Quoting(), NUMBER), ([WORD], None)],
        "no graph": Quoting(),
    }


@pytest.fixture(scope="module")
def sets_with_canaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return set_sources(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="module")
def graphs_with_canaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return graph_sources(tmp_path_factory.mktemp("graphs"))


@pytest.mark.parametrize("kind", [
    "fimi", "long", "list", "cut", "other", "polars", "pandas", "pandas long", "pyarrow", "python", "no sets",
])  # fmt: skip
@pytest.mark.parametrize("part", slow(["forms", "methods"], "methods"))
def test_no_output_of_sets_holds_a_canary(
    kind: str, part: str, sets_with_canaries: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every kind of input is read in all forms; runs that may fail after reading are tried with one kind by default."""
    source = sets_with_canaries[kind]
    forms = [
        (NUMBERS, {}),
        (NUMBERS | {"form": "long"}, {}),
        (NUMBERS | {"form": "list", "column": "items"}, {}),
        (NUMBERS | {"form": "fimi"}, {}),
    ]
    runs = [
        (NUMBERS, {"insecure_seed": 1, "cells": "tree", "epsilon": 1000}),
        (WORDS, {"preset": "paper", "fanout": 3}),
        (NUMBERS, {"epsilon": "0.000000001"}),
        (NUMBERS, {"method": "rps"}),
    ]
    calls = runs if part == "methods" else [*forms, *runs] if kind == "python" else forms
    for number, (schema, call) in enumerate(calls):
        with recording(capsys) as output:
            publish(source, schema, call, tmp_path / str(number), output)


@pytest.mark.parametrize("kind", [
    "text", "csv", "parquet", "matrix", "packed", "cut", "networkx", "pandas", "pairs", "no graph",
])  # fmt: skip
def test_no_output_of_a_graph_holds_a_canary(
    kind: str, graphs_with_canaries: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = graphs_with_canaries[kind]
    nodes = [f"{WORD}alone", NUMBER, Quoting(), None]
    calls = [
        (GRAPH, {}),
        (GRAPH, {"nodes": nodes, "insecure_seed": 1}),
        (GRAPH, {"preset": "paper", "epsilon": 1000}),
        (GRAPH | {"nodes": {"minimum": 0, "maximum": 9}}, {"preset": "paper"}),
        (ISOLATE, {"theta": 4}),
        (EDGE, {}),
        (EDGE, {"nodes": nodes}),
        (DEGREES, {}),
        (GRAPH | {"form": "matrix-market"}, {}),
        (GRAPH, {"method": "diffpart"}),
    ]
    for number, (schema, call) in enumerate(calls):
        with recording(capsys) as output:
            publish(source, schema, call, tmp_path / str(number), output)


def files_with_canaries(folder: Path) -> list[str]:
    """The files in a folder that hold a canary."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in paths if any(canary in path.read_bytes() for canary in CANARIES)]


SCHEMAS = {"numbers": NUMBERS, "graph": GRAPH, "edge": EDGE, "degrees": DEGREES, "table": SCHEMA}


@pytest.mark.parametrize(
    ("kind", "schemas"),
    [
        ("sets", ("numbers",)),
        ("graph", ("graph", "table")),
        *(pytest.param(kind, tuple(SCHEMAS), marks=pytest.mark.slow) for kind in ("sets", "graph")),
    ],
)
def test_no_output_of_a_command_holds_a_canary(
    kind: str,
    schemas: tuple[str, ...],
    tmp_path: Path,
    command: Cantle,  # noqa: F811
) -> None:
    sources = set_sources(tmp_path) if kind == "sets" else graph_sources(tmp_path)
    inputs = {path.name for path in sources.values() if isinstance(path, Path)}
    for name, schema in SCHEMAS.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(schema))
    assert set(files_with_canaries(tmp_path)) == inputs
    shown, releases = "", 0
    for data in sorted(inputs):
        for name in schemas:
            out = f"{data}-{name}"
            done = command("publish", data, "--schema", f"{name}.yaml", "--epsilon", "1", "-o", out, "--json")
            shown += done.out + done.err
            if done.code:
                continue
            releases += 1
            for call in (("show", out), ("verify", out), ("sample", out, "-n", "9", "--json"),
                         ("graph", out, "-o", f"{out}.txt"), ("apply", out, data)):  # fmt: skip
                done = command(*call)
                shown += done.out + done.err
        for call in (("init", data, "--kind", "sets"), ("init", data, "--kind", "graph"), ("verify", data),
                     ("show", data), ("publish", data, "--schema", data, "--epsilon", "1", "-o", "x")):  # fmt: skip
            done = command(*call)
            shown += done.out + done.err
    assert releases >= len(schemas)
    assert not any(canary in shown.encode() for canary in CANARIES)
    assert set(files_with_canaries(tmp_path)) == inputs


@pytest.mark.parametrize(
    ("source", "schema"),
    [(people(5), SCHEMA), ([[1, 2]], NUMBERS), ([[1, 2]], GRAPH)],
    ids=["table", "sets", "graph"],
)
def test_a_reader_that_quotes_a_value_is_caught(
    source: Any,
    schema: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def quote(*_: object) -> None:
        raise DataError(f"the value {WORD} cannot be read")

    monkeypatch.setattr(engines_for_tables, "read_batches", quote)
    monkeypatch.setattr(sets, "_read", quote)
    monkeypatch.setattr(graphs, "read_graph", quote)
    with pytest.raises(AssertionError), recording(capsys) as output:
        publish(source, schema, {}, tmp_path / "out", output)
