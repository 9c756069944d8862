"""Reading graphs: every form gives the same graph, records are cleaned one by one, and no text shows private data."""

from __future__ import annotations

import copy
import gzip
import hashlib
import pickle
import uuid
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.data.graphs import Degrees, Graph, identifier_of, read_graph
from cantle.errors import DataError, ParameterError
from cantle.schema import identifier_lines
from cantle.schema.graph import GraphSchema
from cantle.trusted.bounding import graph_pairs
from cantle.trusted.bounding.node_ids import number_keys, pair_keys, text_keys


def schema(**keys: Any) -> GraphSchema:
    return GraphSchema.from_dict({"kind": "graph", **keys})


def read(data: Any, private: Any = None, /, **keys: Any) -> Graph:
    graph = read_graph(data, schema(**keys), private)
    assert isinstance(graph, Graph)
    return graph


def file(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def plain(graph: Graph) -> tuple[Any, ...]:
    return graph.nodes, graph.ends.tolist(), graph.keys.tolist()


def of(identifiers: Iterable[int | bytes], edges: list[list[int]]) -> tuple[Any, ...]:
    """The expected content of a graph on these identifiers, in their public order."""
    names = list(identifiers)
    numbers = number_keys(np.array([name for name in names if isinstance(name, int)], dtype=np.int64)).tolist()
    return len(names), edges, numbers + text_keys([name for name in names if isinstance(name, bytes)]).tolist()


PATH = of([5, 7, 10], [[0, 1], [1, 2]])  # 5 - 7 - 10


# ------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize(
    "text",
    [
        "5 7\n7 10\n",
        "# FromNodeId ToNodeId\n10\t7\n7\t5",
        "7 5\n5 7\n5 7 0.5\n10 7\n7 10\n",
        "5,7\n7,10\n",
        "source,target,weight\n5,7,1\n7,10,2\n",
        "FromNodeId\tToNodeId\n5\t7\n7\t10\n",
        '"5";"7"\n"7";"10"\n',
        "% konect\n005 07\n7 10\n",
        "5 5\n5 7\n10 7\n",
    ],
)
def test_one_graph_in_many_forms_of_text(tmp_path: Path, text: str) -> None:
    assert plain(read(file(tmp_path, text))) == PATH
    assert plain(read(file(tmp_path, gzip.compress(text.encode()), "g.txt.gz"), form="edges")) == PATH


def frames() -> list[Any]:
    columns = {"a": [5, 10, 7], "b": [7, 7, 5]}
    return [
        pl.DataFrame(columns),
        pl.DataFrame(columns).lazy(),
        pd.DataFrame(columns),
        pd.DataFrame({**columns, "w": 0.5}),
        pa.table(columns),
        pl.DataFrame({"a": ["5", "10", "7"], "b": ["7", " 7", "005"]}),
        pd.DataFrame({"a": [5.0, 10.0, np.nan, 7.0], "b": [7, 7, 7, 5]}),
        pl.DataFrame({"a": [5, 10, None, 7], "b": [7, 7, 7, 5]}),
        pd.DataFrame({"a": pd.array([5, 10, None, 7], dtype="Int64"), "b": [7, 7, 7, 5]}),
        pd.DataFrame({"a": [5, "10", None, 7.0], "b": ["7", 7, 7, b"5"]}, dtype=object),
        np.array([[5, 7], [10, 7]]),
        np.array([[5, 7], [10, 7]], dtype=np.uint8),
        np.array([[5, 7, 1], [10, 7, 1]], dtype=np.int8),
        np.array([["5", "7"], ["10", "7"]]),
        np.array([[5, "7"], [10, 7], [None, 7]], dtype=object),
        [(5, 7), (10, "7"), (7,), None, 3, (5, None), ("", 5), np.array(7), np.array([7])],
        pl.DataFrame(columns, schema={"a": pl.Int128, "b": pl.Int64}),
        pl.DataFrame({"a": [5, 10, None, 7], "b": [7, 7, 7, 5]}, schema={"a": pl.Int128, "b": pl.Int128}),
        [],
    ]


@pytest.mark.parametrize("data", frames()[:-1], ids=range(len(frames()) - 1))
def test_frames_arrays_and_lists(data: Any) -> None:
    graph = read(data)
    assert plain(graph) == PATH
    assert not graph.listed


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"a": [5, 10], "b": [7, 7], "c": ["x", "y"]}).write_parquet(tmp_path / "g.parquet")
    assert plain(read(tmp_path / "g.parquet")) == PATH
    with pytest.raises(DataError, match="not a readable Parquet file"):
        read(file(tmp_path, b"canary", "h.parquet"))


def test_a_matrix_market_file_declares_all_its_nodes(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n% c\n4 4 3\n2 1\n1 2\n4 4\n"
    for name, keys in (("g.mtx", {}), ("g.mtx.gz", {}), ("g.txt", {"form": "matrix-market"})):
        packed = gzip.compress(text.encode()) if name.endswith("gz") else text
        graph = read(file(tmp_path, packed, name), **keys)
        assert plain(graph) == of([1, 2, 3, 4], [[0, 1]])
        assert graph.listed
    with pytest.raises(DataError, match="`form: matrix-market` is for files"):
        read([(1, 2)], form="matrix-market")


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_with_isolated_nodes(kind: type) -> None:
    network = kind([(7, 5), (7, 10), (10, 7), (10, 10)])
    network.add_node(3)
    graph = read(network)
    assert plain(graph) == of([3, 5, 7, 10], [[1, 2], [2, 3]])
    assert graph.listed


def test_networkx_nodes_of_all_types() -> None:
    class Odd:
        pass

    one = uuid.UUID(int=1)
    network = nx.Graph([("b", "a"), ((1, 2), "a"), (one, "2.5"), (Odd(), "a"), (True, 2), (2.5, "b")])
    names = [1, 2, b"(1, 2)", str(one).encode(), b"2.5", b"a", b"b"]
    assert sorted(names[2:]) == [b"(1, 2)", str(one).encode(), b"2.5", b"a", b"b"]
    graph = read(network)
    assert graph.keys.tolist() == of([1, 2, *sorted(names[2:])], [])[2]
    assert len(graph.ends) == 4


# ------------------------------------------------------------------------------------------------- identifiers


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (7, 7),
        ("7", 7),
        (b"007", 7),
        ("-0", 0),
        ("-12", -12),
        (7.0, 7),
        (np.int8(7), 7),
        (np.float64(7), 7),
        (True, 1),
        (np.True_, 1),
        (str(2**63 - 1), 2**63 - 1),
        (2**63 - 1, 2**63 - 1),
        (str(2**63), b"9223372036854775808"),
        (2**63, b"9223372036854775808"),
        (np.uint64(2**63), b"9223372036854775808"),
        (float(2**63), None),
        (float(2**53), None),
        (float(2**53 - 1), 2**53 - 1),
        (np.float32(7), 7),
        (Decimal("7.0"), 7),
        (Decimal("7.50"), None),
        ("+7", b"+7"),
        ("7.5", b"7.5"),
        (7.5, None),
        (" é ", "é".encode()),
        ("\ud800", b"\xed\xa0\x80"),
        (("x", 1), b"('x', 1)"),
        ("", None),
        ("  ", None),
        (None, None),
        (float("nan"), None),
        (complex("nan"), None),
        (-1 + 0j, -1),
        (1j, b"1j"),
        (pd.NA, None),
        (pd.NaT, None),
        (object(), None),
        pytest.param(10**5000, None, id="a number too long to be written"),
    ],
)
def test_identifiers(value: Any, want: int | bytes | None) -> None:
    assert identifier_of(value) == want


def test_keys_differ_and_each_depends_on_its_identifier_only() -> None:
    values = np.array([0, 1, -1, 2**63 - 1, -(2**63), 2**32], dtype=np.int64)
    assert len(set(number_keys(values).tolist())) == len(values)
    assert text_keys([b"ann", b"bob"]).tolist() == [*text_keys([b"ann"]).tolist(), *text_keys([b"bob"]).tolist()]
    assert text_keys([b"7"]).tolist() != number_keys(np.array([7])).tolist()


def mixed(word: int) -> int:
    """SplitMix64, computed with integers of Python."""
    word = word * 0x9E3779B97F4A7C15 % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def test_the_public_hashes_stay_as_they_are() -> None:
    """They decide which edges a projection keeps, so another hash would give another release."""
    numbers = [int.from_bytes(b"node num", "big") ^ value % 2**64 for value in (0, 7, -1)]
    keys = number_keys(np.array([0, 7, -1]))
    assert keys.tolist() == [mixed(number) for number in numbers]
    digest = hashlib.blake2b("é".encode(), digest_size=8, key=b"cantle node identifier").digest()
    assert text_keys(["é".encode()]).tolist() == [int.from_bytes(digest, "little")]
    low, high = sorted(keys.tolist()[:2])
    pair = mixed((mixed(low ^ int.from_bytes(b"edge pai", "big")) + high) % 2**64)
    assert pair_keys(keys[:1], keys[1:2]).tolist() == pair_keys(keys[1:2], keys[:1]).tolist() == [pair]


# --------------------------------------------------------------------------------------------------- cleaning


def test_half_edges_and_missing_ends_are_dropped(tmp_path: Path) -> None:
    text = "5\n5,\n,5\n5,,9\n\n# 1 2\n5 7\n7 10\n"
    assert plain(read(file(tmp_path, text))) == PATH


def test_texts_are_identifiers_in_their_public_order(tmp_path: Path) -> None:
    graph = read(file(tmp_path, "bob ann\nbob 7\nZoe 10\n7 10\n"))
    assert plain(graph) == of([7, 10, b"Zoe", b"ann", b"bob"], [[0, 1], [0, 4], [1, 2], [3, 4]])


def test_a_range_drops_what_is_outside_and_every_text(tmp_path: Path) -> None:
    text = "from,to\n5 7\n7 10\n7 11\n4 5\n7 ann\nbob ann\n-6 7\n99999999999999999999 7\n"
    assert plain(read(file(tmp_path, text), nodes={"minimum": 5, "maximum": 10})) == PATH
    graph = read(file(tmp_path, "-6 7\n7 8\n"), nodes={"minimum": -6, "maximum": 7})
    assert plain(graph) == of([-6, 7], [[0, 1]])


def test_a_list_drops_what_is_not_listed(tmp_path: Path) -> None:
    text = "a b\n5 7\n7 10\n7 a\nann 5\nbob ann\n11 5\n"
    assert plain(read(file(tmp_path, text), nodes=[5, 7, 10, 12])) == PATH
    graph = read(file(tmp_path, text), nodes=["ann", "5", "bob"])
    assert plain(graph) == of([5, b"ann", b"bob"], [[0, 1], [1, 2]])


def test_a_pair_of_column_titles_is_no_edge_in_files(tmp_path: Path) -> None:
    text = "Source,Target\nsource,ann\nTO,from\n"
    assert len(read(file(tmp_path, text)).ends) == 2
    assert len(read([("source", "target")]).ends) == 1


def test_a_private_list_of_all_nodes(tmp_path: Path) -> None:
    edges = file(tmp_path, "5 7\n7 10\n")
    nodes = file(tmp_path, "# people\n5\n3 x\n\nzoe\n7\n10\n", "n.txt")
    want = of([3, 5, 7, 10, b"zoe"], [[1, 2], [2, 3]])
    for listed in (
        nodes,
        [5, "3", "zoe", None, 7, 10],
        np.array([3, 5, "zoe", 7, 10], dtype=object),
        {3, 5, "zoe", 7, 10},
    ):
        graph = read(edges, listed)
        assert plain(graph) == want
        assert graph.listed
    assert plain(read(edges, [5, 7, 10, 3, "zoe"], nodes={"minimum": 4, "maximum": 99})) == PATH
    assert not read(edges).listed


def test_with_a_list_of_nodes_only_edges_between_listed_nodes_count(tmp_path: Path) -> None:
    """Otherwise removing 7 would also remove 5 and 10, which are known from their edges alone."""
    edges = file(tmp_path, "5 7\n7 10\n10 11\n")
    assert plain(read(edges, np.array([3]))) == of([3], [])
    assert plain(read(edges, [3, 7, 10])) == of([3, 7, 10], [[1, 2]])
    assert plain(read(file(tmp_path, "5 7\n7 7\n", "loop.txt"), [5])) == of(
        [5, 7], [[0, 1]]
    )  # a loop shows that its node exists


@pytest.mark.parametrize("unit", ["node-isolate", "edge"])
def test_a_public_number_of_nodes_is_used_instead_of_the_data(tmp_path: Path, unit: str) -> None:
    path = file(tmp_path, "5 7\n7 10\n")
    for nodes, want in ((2, 2), (3, 3), (99, 99), ({"minimum": 1, "maximum": 20}, 20), ([5, 7, 10, 11], 4)):
        graph = read(path, unit=unit, nodes=nodes)
        assert graph.nodes == want
        assert plain(graph)[1:] == PATH[1:]
    with pytest.raises(ParameterError, match="declare them in the schema"):
        read(path, [1], unit=unit, nodes=3)


@pytest.mark.parametrize("text", ["", "# nothing\n", "5\n"])
def test_the_empty_graph(tmp_path: Path, text: str) -> None:
    assert plain(read(file(tmp_path, text))) == (0, [], [])
    assert plain(read([])) == (0, [], [])
    assert plain(read(nx.Graph())) == (0, [], [])
    assert plain(read(np.empty((0, 2), dtype=np.int64))) == (0, [], [])
    assert plain(read(np.array([]).reshape(-1, 2))) == (0, [], [])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nodes_declared_as_floats_are_refused(tmp_path: Path, dtype: Any) -> None:
    """Arrays and frames are refused by their declared type, which does not depend on the records."""
    ends = np.array([[5, 7], [10, 7]], dtype=dtype)
    frame = pl.DataFrame(ends, schema=["a", "b"])
    frame.write_parquet(tmp_path / "g.parquet")
    nullable = pd.DataFrame({name: pd.array([5, None], dtype="Float64") for name in "ab"})
    for source in (ends, frame, frame.head(0), frame.to_arrow(), tmp_path / "g.parquet", nullable):
        with pytest.raises(DataError, match="floats.*integers or text"):
            read(source)
    with pytest.raises(DataError, match="declared as floats"):
        read([(1, 2)], ends[:, 0])


NAMES = st.sampled_from([0, 1, 2, 70_000, 2**40, -(2**63), 2**63 - 1, "ann", "b", "é", "+1", "9" * 25])
PAIRS = st.lists(st.tuples(NAMES, NAMES), max_size=20)


@given(PAIRS, st.randoms(use_true_random=False), st.sampled_from([3, 1 << 23]))
def test_order_direction_repetition_and_pieces_of_a_file_do_not_matter(tmp_path_factory, pairs, random, size) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("g")
    graph = read(pairs)
    again = [random.choice([pair, pair[::-1]]) for pair in pairs * 2]
    random.shuffle(again)
    text = "".join(f"{a}\t{b}\n" for a, b in again)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identifier_lines, "_PIECE", size)
        patch.setattr(graph_pairs, "_BLOCK", 3)
        assert plain(read(file(folder, text))) == plain(graph)
    ids = {i for i in map(identifier_of, (name for pair in pairs for name in pair)) if i is not None}
    assert graph.nodes == len(graph.keys) == len(ids)
    assert graph.ends.dtype == np.int32
    assert all(a < b for a, b in graph.ends.tolist())
    assert len(graph.ends) == len({frozenset(map(identifier_of, pair)) for pair in pairs if len(set(pair)) == 2})


@given(PAIRS, NAMES)
def test_removing_a_node_leaves_the_others_unchanged(pairs: list[tuple[Any, Any]], name: Any) -> None:
    """Keys and order of the nodes that stay do not depend on the node that is removed."""
    names = [end for pair in pairs for end in pair]
    more = read(pairs, names)
    fewer = read([pair for pair in pairs if name not in pair], [end for end in names if end != name])
    gone = identifier_of(name)
    key = (text_keys([gone]) if isinstance(gone, bytes) else number_keys(np.array([gone]))).tolist()[0]
    assert fewer.keys.tolist() == [k for k in more.keys.tolist() if k != key]
    by_key = [[more.keys[a], more.keys[b]] for a, b in more.ends.tolist()]
    assert [[fewer.keys[a], fewer.keys[b]] for a, b in fewer.ends.tolist()] == [
        pair for pair in by_key if key not in pair
    ]


# ---------------------------------------------------------------------------------------------------- degrees


def degrees(data: Any) -> list[int]:
    graph = read_graph(data, schema(unit="edge", form="degrees"))
    assert isinstance(graph, Degrees)
    assert graph.values.dtype == np.int64
    assert graph.nodes == len(graph.values)
    return graph.values.tolist()


def test_degree_lists_are_sorted_and_clamped(tmp_path: Path) -> None:
    text = "# degrees\n3\n0\n 2.0 x\n\n-4\n99999999999999999999\nmany\nnan\n2.9\n"
    want = [0, 0, 0, 0, 2, 2, 3, 7]
    assert degrees(file(tmp_path, text)) == want
    values = [3, 0, 2.0, -4, 10**20, "many", None, 2.9]
    assert degrees(values) == want
    assert degrees(np.array([3, 0, 2, -4, np.inf, 0, np.nan, 2.9])) == want
    assert degrees(pl.DataFrame({"d": [3, 0, 2, -4, 99, 0, None, 2]})) == want
    assert degrees(pd.Series([3, 0, 2, -4, 99, 0, 0, 2])) == want
    assert degrees([]) == []
    assert degrees([5]) == [0]


def test_a_degree_list_has_one_column() -> None:
    with pytest.raises(DataError, match="one column"):
        degrees(pl.DataFrame({"a": [1], "b": [1]}))


# ------------------------------------------------------------------------------------------ no private texts


def test_graphs_print_nothing_and_cannot_be_pickled_or_copied() -> None:
    private = [read([("canary", "canary2")]), read_graph([4, 2], schema(unit="edge", form="degrees"))]
    for graph in private:
        assert repr(graph) in ("Graph(private)", "Degrees(private)")
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="private"):
                leave(graph)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (np.array([1, 2]), "two columns"),
        (np.array([[1], [2]]), "two columns"),
        (pl.DataFrame({"canary": [1]}), "two columns"),
        (17, "cannot be read as a graph"),
        ({"canary": 1}, "cannot be read as a graph"),
        ("canary-folder/none.txt", "no file 'none.txt'"),
    ],
)
def test_errors_are_about_the_input_as_a_whole(data: Any, said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        read(data)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("packing", [".zip", ".lz4", ".7Z"])
def test_packed_files_that_cannot_be_read_are_refused_before_the_charge(tmp_path: Path, packing: str) -> None:
    """Otherwise their bytes would be read as edges, and a release of them would be charged."""
    ledger, packed = cantle.Ledger(tmp_path / "ledger.db"), file(tmp_path, "1 2\n", f"edges.txt{packing}")
    ledger.create()
    schema = {"kind": "graph", "unit": "node"}
    for data, nodes in ((packed, None), ([(1, 2)], packed)):
        with pytest.raises(DataError, match="is compressed; unpack it first"):
            cantle.publish(data, schema, epsilon=1, nodes=nodes, ledger=ledger, dataset="graph")
    assert not ledger.accounts()


def test_nodes_are_a_file_or_a_list() -> None:
    with pytest.raises(ParameterError, match="`nodes` is neither"):
        read([(1, 2)], 17)
