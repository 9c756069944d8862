"""Edge lists counted on disk: the bytes of engine memory in every form, refusals before reading, no file left."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.data.engine_choice import EngineChoice
from cantle.data.graphs import open_engine, read_graph
from cantle.errors import DataError, ParameterError
from cantle.schema.graph import GraphSchema
from cantle.trusted.counting.graph import GraphEngine
from tests.neighbours.graphs import WRITTEN

pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")

from cantle.trusted.counting import graph  # noqa: E402

EDGE: dict[str, Any] = {"kind": "graph", "unit": "edge", "nodes": 200}
DUCKDB = EngineChoice("duckdb")


def edges() -> list[tuple[int, int]]:
    """Edges in both directions, some repeated, some loops, and some of nodes beyond the declared ones."""
    dice = np.random.default_rng(3)
    pairs = np.minimum(dice.zipf(1.5, (2_000, 2)), 230)
    return [(int(source), int(target)) for source, target in np.concatenate([pairs, pairs[:300, ::-1]])]


def written(folder: Path, form: str) -> Path | list[Path]:
    """Writes the edges into one file, or into two."""
    path, frame = folder / form, pl.DataFrame(edges(), schema=["source", "target"], orient="row")
    if form == "halves.csv":
        parts = [folder / "one.csv", folder / "two.csv"]
        frame[:900].write_csv(parts[0])
        frame[900:].write_csv(parts[1])
        return parts
    if form == "edges.csv":
        frame.write_csv(path)
    elif form == "lines.txt":
        path.write_text("# made\n" + "".join(f"{one}\t0{two}\n" for one, two in edges()))
    else:
        named = frame.select(pl.all().cast(pl.String) + "é") if form == "texts.parquet" else frame
        named.write_parquet(path, row_group_size=100)
    return path


def saved(release: cantle.Release, folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in release.save(folder).iterdir()}


@pytest.mark.parametrize("nodes", [200, {"minimum": 1, "maximum": 40}], ids=str)
@pytest.mark.parametrize("form", ["edges.csv", "lines.txt", "numbers.parquet", "texts.parquet", "halves.csv"])
def test_duckdb_gives_the_bytes_of_engine_memory(tmp_path: Path, form: str, nodes: Any) -> None:
    data, schema = written(tmp_path, form), EDGE | {"nodes": nodes}
    whole = written(tmp_path, "edges.csv") if isinstance(data, list) else data
    options: dict[str, Any] = {"epsilon": 1, "insecure_seed": 4}
    expected = saved(cantle.publish(whole, schema, **options), tmp_path / "memory")
    assert saved(cantle.publish(data, schema, engine="duckdb", **options), tmp_path / "duckdb") == expected


def degrees(path: Path, schema: GraphSchema) -> tuple[list[int], list[int]]:
    """The degrees as counted in memory, and as counted on disk."""
    _, engine = open_engine(path, schema, None, DUCKDB, None)
    assert isinstance(engine, GraphEngine)
    memory = GraphEngine(read_graph(path, schema), nodes=schema.node_count)
    return memory.true_degrees().tolist(), engine.true_degrees().tolist()


@pytest.mark.parametrize("nodes", [4, 30, {"minimum": -1, "maximum": 7}, [1, 7, "ann", "bob", "\u00e9"]], ids=str)
def test_awkward_identifiers_are_counted_as_in_memory(tmp_path: Path, nodes: Any) -> None:
    """Several spellings of a number, texts, numbers at and beyond the ends of 64 bits, undecodable and empty ones."""
    wide = [b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"\\x31", b"\xc3\xa9", b"source"]
    known, dice = [*(spelling for node in WRITTEN for spelling in node), *wide, b'""', b"#"], Random(7)
    lines = [b"%s,%s" % (dice.choice(known), dice.choice(known)) for _ in range(400)]
    path, schema = tmp_path / "g.csv", GraphSchema.from_dict(EDGE | {"nodes": nodes})
    path.write_bytes(b"\n".join([b"Source,TARGET", *lines]))
    memory, duck = degrees(path, schema)
    assert duck == memory
    assert max(memory) > 2


def test_an_empty_list_has_nodes_without_edges(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes(b"source,target\n")
    assert degrees(path, GraphSchema.from_dict(EDGE)) == ([0] * 200, [0] * 200)


@pytest.mark.parametrize(
    ("schema", "data", "message"),
    [
        ({"kind": "graph"}, "g.csv", "for `unit: node` needs it in memory"),
        (EDGE | {"unit": "node-isolate"}, "g.csv", "for `unit: node-isolate` needs it in memory"),
        ({"kind": "graph", "unit": "edge", "form": "degrees"}, "g.csv", "edge lists, not `form: degrees`"),
        (EDGE | {"form": "matrix-market"}, "g.csv", "edge lists, not `form: matrix-market`"),
        (EDGE, "g.mtx", "'g.mtx' is in Matrix Market form"),
        (EDGE, [(1, 2)], "from files of edges"),
    ],
    ids=str,
)
def test_what_only_engine_memory_can_count_is_refused_before_reading(schema: Any, data: Any, message: str) -> None:
    """The files do not exist, so a refusal after opening one would have another message."""
    with pytest.raises((ParameterError, DataError), match=message):
        cantle.publish(data, schema, epsilon=1, engine="duckdb")


def test_identifiers_declared_as_floats_are_refused_and_no_file_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    path = tmp_path / "g.parquet"
    pl.DataFrame({"a": [1.0], "b": [2.0]}).write_parquet(path)
    with pytest.raises(DataError, match="declared as floats"):
        cantle.publish(path, EDGE, epsilon=1, engine="duckdb")
    monkeypatch.setattr(graph, "_ends", lambda _: 1 // 0)
    pl.DataFrame({"a": [1], "b": [2]}).write_parquet(path)
    with pytest.raises(ZeroDivisionError):
        cantle.publish(path, EDGE, epsilon=1, engine="duckdb")
    assert os.listdir(private) == []
