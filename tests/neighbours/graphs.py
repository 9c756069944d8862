"""Graphs: D' also has one more node with its edges, or one more edge, or lines that are no edge."""

from __future__ import annotations

import gzip
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from cantle.data.engine_choice import EngineChoice
from cantle.data.graphs import open_engine, read_graph, refuse_early
from cantle.trusted.claims.degree_queries import AtLeast, DegreesAbove
from cantle.trusted.counting.graph import GraphEngine
from tests.neighbours.frames import arrow_table, polars_frame, write_parquet
from tests.neighbours.identifiers import INFERRED, NOBODY, TYPED, Spellings
from tests.neighbours.law import Codes, Form, Pair, Unbuildable, files, inserted
from tests.neighbours.reading import schema_of

THETA = 2
DECLARED: list[Any] = [20, 20, {"minimum": 0, "maximum": 9}, [0, 1, 2, "ann", "a", "é", "7"]]
"""Declarations of the nodes: their number, their range, or a list of all."""
Rows = list[tuple[Any, Any]]


def read(document: dict[str, Any], data: Any) -> Codes:
    """The edges and nodes of a graph by the public hashes of their identifiers, and the counts of the engine."""
    schema = schema_of(document)
    edges, nodes = data if isinstance(data, Nodes) else (data, None)
    graph: Any = read_graph(edges, schema, nodes)
    engine = GraphEngine(graph, nodes=schema.node_count)
    counts = AtLeast(THETA) if schema.unit == "node" else DegreesAbove(9)
    ((_, _, counted),) = engine.tally(np.zeros(1, np.int64), counts)
    codes: Codes = Counter({("nodes of at least", k): int(n) for k, n in enumerate(counted[0], 1)})
    keys = graph.keys.tolist()
    codes.update(("edge", *sorted((keys[a], keys[b]))) for a, b in graph.ends.tolist())
    codes.update(("node", key) for key in keys)
    return codes


def read_filed(document: dict[str, Any], data: Any) -> Codes:
    """The counts of a graph in DuckDB."""
    schema, choice = schema_of(document), EngineChoice("duckdb")
    refuse_early(data, schema, choice, None)
    _, engine = open_engine(data, schema, None, choice, None)
    ((_, _, counted),) = engine.tally(np.zeros(1, np.int64), DegreesAbove(9))  # type: ignore[attr-defined]
    return Counter({("nodes of at least", k): int(n) for k, n in enumerate(counted[0], 1)})


class Nodes(tuple[Any, Any]):
    """Edges with a private list of all nodes."""


def _split(codes: Codes) -> tuple[set[Any], set[Any], Counter[Any]]:
    edges = {key for key in codes if key[0] == "edge"}  # type: ignore[index]
    nodes = {key[1] for key in codes if key[0] == "node"}  # type: ignore[index]
    return edges, nodes, Counter({key: n for key, n in codes.items() if key[0] == "nodes of at least"})  # type: ignore[index]


def one_node(one: Codes, two: Codes) -> bool:
    """No edge disappears, all new edges share a node, only their ends are new nodes, and the engine's counts change by
    no more than Claim 33 says."""
    (old, there, before), (new, here, after) = _split(one), _split(two)
    added = [set(edge[1:]) for edge in new - old]
    shared = set.intersection(*added) if added else set()
    fresh = here - there - set().union(*added)
    moved = sum(abs(after[key] - before[key]) for key in before | after)
    return (
        old <= new and there <= here and bool(shared or not added) and len(fresh) <= (not added) and moved <= 2 * THETA
    )


def one_edge(one: Codes, two: Codes) -> bool:
    """No edge disappears, at most one is new, and the engine's counts change by no more than Claim 36 says."""
    (old, _, before), (new, _, after) = _split(one), _split(two)
    return old <= new and len(new - old) <= 1 and sum(abs(after[key] - before[key]) for key in before | after) <= 2


# ---- rows -----------------------------------------------------------------------------------------------------

WRITTEN: Spellings = [[b"0"], [b"1", b"01"], [b"2"], [b"7", b"007"], [b"ann"], [b"bob"], [b"9007199254740993"],
                      [b"9007199254740992"], [b"-1"], [b"\xff"]]  # fmt: skip


def rows(dice: Random, known: Spellings, nobody: list[Any]) -> tuple[dict[str, Any], Rows, Rows]:
    """A schema, the rows of D and those of D'."""
    newcomer, *people = dice.sample(known, min(len(known), dice.randint(2, 6)))

    def end(spellings: list[Any]) -> Any:
        return dice.choice(spellings)

    edges = [(end(dice.choice(people)), end(dice.choice(people))) for _ in range(dice.choice([0, 1, 2, 6]))]
    if nobody and dice.random() < 0.2:
        edges = inserted(dice, edges, [(end(nobody), end(dice.choice(people)))])
    if dice.random() < 0.5:
        one = (end(dice.choice([newcomer, *people])), end(dice.choice([newcomer, *people, *([nobody] * bool(nobody))])))
        return {"kind": "graph", "unit": "edge", "nodes": dice.choice(DECLARED)}, edges, inserted(dice, edges, [one])
    more = []
    for _ in range(dice.randint(1, 4)):
        ends = [end(newcomer), end(dice.choice([*people, newcomer, *([nobody] * bool(nobody))]))]
        dice.shuffle(ends)
        more.append((ends[0], ends[1]))
    return {"kind": "graph"}, edges, inserted(dice, edges, more)


def _pair(schema: dict[str, Any], one: Any, two: Any, shown: Any) -> Pair:
    return Pair(schema, one, two, one_edge if schema.get("unit") == "edge" else one_node, f"{schema} {shown}")


# ---- files ----------------------------------------------------------------------------------------------------

JUNK = [b"", b"#", b"# a b", b"% 1 2", b"x", b'"', b'"a', b",", b"1,", b",,", b"source target", b"\x00", b"1\t"]


def text(dice: Random, folder: Path) -> Pair:
    """Edge lists, with lines that are no edge."""
    schema, one, two = rows(dice, WRITTEN, [b""])
    between, end = dice.choice([b" ", b"\t", b",", b";", b", "]), dice.choice([b"\n", b"\r\n", b"\r"])
    head = dice.choice([[], [], [b"# nodes"], [between.join([b"source", b"target"])]])
    lines = [_line(dice, between, row) for row in one]
    junk = dice.choices(JUNK, k=dice.randint(0, 2))
    lines = inserted(dice, lines, junk)
    left = list(two)
    for row in one:
        left.remove(row)
    more = inserted(dice, lines, [_line(dice, between, row) for row in left])
    texts = [end.join([*head, *part, b""]) for part in (lines, more)]
    packed = dice.random() < 0.2
    inputs = files(folder, "g.txt.gz" if packed else "g.txt", *(gzip.compress(t) if packed else t for t in texts))
    return _pair(schema, *inputs, texts)


def _line(dice: Random, between: bytes, row: tuple[bytes, bytes]) -> bytes:
    ends = [b'"' + end + b'"' if dice.random() < 0.1 else end for end in row]
    return between.join([*ends, *([b"3.5"] if dice.random() < 0.2 else [])])


def matrix(dice: Random, folder: Path) -> Pair:
    """Matrix Market files: nodes are rows, and a new node is the last row."""
    size = dice.randint(1, 6)
    entries = [(dice.randint(1, size), dice.randint(1, size)) for _ in range(dice.randint(0, 6))]
    if dice.random() < 0.5:
        schema, rows_of = {"kind": "graph", "unit": "edge", "nodes": 20}, (size, size)
        more = [dice.choice([(dice.randint(1, size), dice.randint(1, size)), ("x", 1), (10**12, 1), (1,)])]
    else:
        schema, rows_of = {"kind": "graph"}, (size, size + 1)
        more = [(size + 1, dice.randint(1, size + 1)) for _ in range(dice.randint(0, 3))]
    end = dice.choice(["\n", "\r\n"])
    texts = []
    for part, many in ((entries, rows_of[0]), (inserted(dice, entries, more), rows_of[1])):
        lines = ["%%MatrixMarket matrix coordinate pattern symmetric", "% made", f"{many} {many} {len(part)}"]
        texts.append(end.join([*lines, *(" ".join(map(str, row)) for row in part), ""]).encode())
    return _pair(schema, *files(folder, "g.mtx", *texts), texts)


# ---- objects --------------------------------------------------------------------------------------------------


def pairs(dice: Random, _folder: Path) -> Pair:
    """Lists of pairs, and values that are no pair."""
    schema, one, two = rows(dice, INFERRED, [*NOBODY, "", b""])
    if schema.get("unit") == "edge" and dice.random() < 0.2:
        two = inserted(dice, one, [dice.choice([(1,), None, 5, "ab", [], {}])])
    return _pair(schema, one, two, (one, two))


def network(dice: Random, _folder: Path) -> Pair:
    """Graphs of networkx, in which all nodes are listed."""
    kind = dice.choice([nx.Graph, nx.DiGraph, nx.MultiGraph])
    known = [spelt[:1] for spelt in INFERRED]
    schema, one, two = rows(dice, known, [])
    networks = []
    all_nodes = {end for row in two for end in row}
    if schema == {"kind": "graph"}:
        left = list(two)
        for row in one:
            left.remove(row)
        shared = set.intersection(*(set(row) for row in left)) if left else set()
        newcomer = next(iter(shared - {end for row in one for end in row}), None)
        if newcomer is None:
            raise Unbuildable
        all_nodes.discard(newcomer)
    for edges, more in ((one, []), (two, [])):
        graph = kind()
        graph.add_nodes_from(inserted(dice, sorted(all_nodes, key=repr), more))
        graph.add_edges_from(edges)
        networks.append(graph)
    return _pair(schema, *networks, (sorted(map(repr, all_nodes)), one, two))


def node_list(dice: Random, folder: Path) -> Pair:
    """Edges and a private list of nodes, which has one more node in D'."""
    schema, one, two = rows(dice, TYPED["texts"][3:] + TYPED["integers"], [])
    if schema != {"kind": "graph"}:
        raise Unbuildable
    left = list(two)
    for row in one:
        left.remove(row)
    known_nodes = sorted({end for row in one for end in row}, key=repr)
    shared = set.intersection(*(set(row) for row in left)) - set(known_nodes)
    if not shared:
        raise Unbuildable
    newcomer = shared.pop()
    listed = sorted({end for row in left for end in row} - {newcomer}, key=repr)
    first = dice.sample(known_nodes, dice.randint(0, len(known_nodes))) + listed
    second = inserted(dice, first, [newcomer])
    if dice.random() < 0.5:
        texts = ["".join(f"{one}\n" for one in part).encode() for part in (first, second)]
        listed_in = files(folder, "nodes.txt", *texts)
        return _pair(schema, Nodes((one, listed_in[0])), Nodes((two, listed_in[1])), (one, two, first, second))
    return _pair(schema, Nodes((one, first)), Nodes((two, second)), (one, two, first, second))


def array(dice: Random, _folder: Path) -> Pair:
    """Arrays of numpy with a declared type."""
    pool, kind = dice.choice([("integers", np.int64), ("texts", object), ("texts", "U20"), ("integers", object)])
    schema, one, two = rows(dice, TYPED[pool], [None] if kind is object else [])
    arrays = [np.array(part, dtype=kind).reshape(-1, 2) for part in (one, two)]
    return _pair(schema, *arrays, (kind, one, two))


# ---- frames ---------------------------------------------------------------------------------------------------


def _columns(edges: Rows) -> dict[str, list[Any]]:
    return {"a": [row[0] for row in edges], "b": [row[1] for row in edges]}


def inferred(*, concat: bool) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, _folder: Path) -> Pair:
        schema, *both = rows(dice, INFERRED, [*NOBODY, ""])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one, two = (pd.DataFrame(_columns(part)) for part in both)
                if concat:
                    at = dice.randint(0, len(both[1]))
                    halves = [pd.DataFrame(_columns(part)) for part in (both[1][:at], both[1][at:]) if part]
                    two = pd.concat(halves, ignore_index=True)
        except Exception as error:
            raise Unbuildable from error
        return _pair(schema, one, two, f"{both} {list(map(str, one.dtypes))} {list(map(str, two.dtypes))}")

    return pair


KINDS: list[tuple[str, Any, Any, Any]] = [
    ("integers", pl.Int64, pa.int64(), "Int64"), ("texts", pl.String, pa.string(), "string"),
    ("floats", pl.Float64, pa.float64(), "Float64"), ("texts", pl.Categorical, pa.large_string(), "str"),
    ("booleans", pl.Boolean, pa.bool_(), "boolean"),
]  # fmt: skip


def typed(library: str) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, folder: Path) -> Pair:
        pool, of_polars, of_arrow, of_pandas = dice.choice(KINDS)
        schema, *both = rows(dice, TYPED[pool], [None])
        inputs: list[Any]
        if library == "pandas":
            inputs = [pd.DataFrame(_columns(part), dtype=of_pandas) for part in both]
        elif library == "pyarrow":
            inputs = [arrow_table(_columns(part), dict.fromkeys("ab", of_arrow)) for part in both]
        else:
            inputs = [polars_frame(_columns(part), dict.fromkeys("ab", of_polars)) for part in both]
        if library == "Parquet":
            paths = files(folder, "g.parquet", b"", b"")
            for frame, path in zip(inputs, paths, strict=True):
                write_parquet(frame, path)
            inputs = list(paths)
        return _pair(schema, *inputs, f"{of_polars} {both}")

    return pair


def of_edges(pair: Callable[[Random, Path], Pair]) -> Callable[[Random, Path], Pair]:
    """Only those pairs whose unit is an edge."""

    def edge_pair(dice: Random, folder: Path) -> Pair:
        built = pair(dice, folder)
        return built if built.schema.get("unit") == "edge" else edge_pair(dice, folder)

    return edge_pair


FRAMES = "graph, frames"
FORMS = [
    Form("graph, edge list", "memory", text, read),
    Form("graph, Matrix Market", "memory", matrix, read),
    Form("graph, networkx", "memory", network, read),
    Form("graph, list of pairs", "memory", pairs, read),
    Form("graph, with a list of nodes", "memory", node_list, read),
    Form("graph, numpy array", "memory", array, read),
    Form("graph, pandas from lists", "memory", inferred(concat=False), read, 250, FRAMES),
    Form("graph, pandas pd.concat", "memory", inferred(concat=True), read, 250, FRAMES),
    *(
        Form(f"graph, {kind} declared", "memory", typed(kind), read, 75, FRAMES)
        for kind in ("pandas", "polars", "pyarrow", "Parquet")
    ),
]
IN_DUCKDB = [
    Form("graph, edge list", "duckdb", of_edges(text), read_filed, 20),
    Form("graph, Parquet declared", "duckdb", of_edges(typed("Parquet")), read_filed, 15, FRAMES),
]
