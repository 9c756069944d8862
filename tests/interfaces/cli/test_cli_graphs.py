"""Graphs on the command line: publish, show, verify, sample, graph, init; errors come before the charge."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.interfaces.cli.test_cli import process as outside
from tests.release.kinds import DEGREES, EDGE, GRAPH, ISOLATE, NUMBERS, edge_file, edges

PUBLISH = ("publish", "friends.txt", "--schema", "node.yaml", "--epsilon", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    schemas = {"node": GRAPH, "isolate": ISOLATE, "edge": EDGE, "degrees": DEGREES, "sets": NUMBERS}
    for name, schema in schemas.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(schema))
    edge_file(tmp_path)
    (tmp_path / "nodes.txt").write_text("".join(f"{node}\n" for node in range(320)))
    return tmp_path


@pytest.mark.parametrize("unit", ["node", "isolate", "edge"])
def test_publish_show_verify_sample_graph(folder: Path, cantle: Cantle, unit: str) -> None:  # noqa: F811
    done = cantle("publish", "friends.txt", "--schema", f"{unit}.yaml", "--epsilon", "2", "-o", "out")
    assert done.code == 0, done.err
    assert ("--nodes" in done.err) == (unit == "node")  # a recommendation
    assert "degrees, one per node" in done.out
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {
        "data.csv", "groups.parquet", "statement.md", "release.json", "registry.yaml", "datapackage.json"
    }  # fmt: skip
    assert cantle("verify", "out").out == "out: verified\n"
    shown = cantle("show", "out").out
    assert "%  nodes by degree\n" in shown
    assert "\nNodes by degree\n0 " in shown
    degrees = pl.read_csv(folder / "out" / "data.csv")["degree"]
    sample = cantle("sample", "out", "-n", "5").out.splitlines()
    assert sample[0] == "degree"
    assert {int(one) for one in sample[1:]} <= set(degrees.to_list())
    drawn = cantle("graph", "out", "-o", "new.txt", "--seed", "1", "--json")
    assert drawn.code == 0, drawn.err
    ends = np.loadtxt(folder / "new.txt", dtype=np.int64, comments="#")
    facts = json.loads(drawn.out)
    assert (facts["nodes"], facts["edges"]) == (len(degrees), len(ends))
    regenerated = np.bincount(ends.reshape(-1), minlength=len(degrees))
    assert np.abs(np.sort(regenerated) - degrees.to_numpy()).sum() <= 1 + degrees.sum() // 10
    assert cantle("graph", "out", "-o", "new.txt").code == 1  # never overwritten
    (folder / "out" / "data.csv").write_text("degree\n1\n")
    broken = cantle("verify", "out", "--json")
    assert broken.code == 5
    assert json.loads(broken.out)["problems"] == ["data.csv does not have the listed hash"]


def test_a_private_list_of_nodes(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    done = cantle(*PUBLISH, "--nodes", "nodes.txt", "--epsilon", "1000", "--yes", "-o", "out", "--format", "parquet")
    assert done.code == 0, done.err
    assert "number of nodes" in cantle("show", "out").out
    assert abs(len(pl.read_parquet(folder / "out" / "data.parquet")) - 320) <= 1
    assert cantle("verify", "out").code == 0


def test_packed_files_parameters_and_seeds(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    with gzip.open(folder / "friends.txt.gz", "wt") as file:
        file.write("".join(f"{one} {two}\n" for one, two in edges()[::-1]))
    chosen = ("--schema", "node.yaml", "--epsilon", "2", "--set", "theta=8", "--insecure-seed", "3")
    assert "NOT PRIVATE" in cantle("publish", "friends.txt.gz", *chosen, "-o", "out").out
    assert cantle("publish", "friends.txt", *chosen, "-o", "again").code == 0
    for path in (folder / "out").iterdir():
        assert path.name.startswith("NOT-PRIVATE.")
        assert path.read_bytes() == (folder / "again" / path.name).read_bytes(), path.name
    assert json.loads(cantle("show", "out", "--json").out)["parameters"]["theta"] == 8
    assert cantle(*PUBLISH, "--preset", "paper", "-o", "ranges").code == 0
    assert (folder / "ranges" / "tree.parquet").exists()
    assert cantle("verify", "ranges").code == 0


def test_a_list_of_degrees_is_published(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    (folder / "degrees.txt").write_text("3\n1\n1\n1\n")
    done = cantle("publish", "degrees.txt", "--schema", "degrees.yaml", "--epsilon", "1000", "--yes", "-o", "out")
    assert done.code == 0, done.err
    assert cantle("graph", "out", "-o", "star.txt").out.startswith("wrote star.txt: 4 nodes, 3 edges")


def test_a_release_may_have_no_nodes(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    (folder / "empty.txt").write_text("")
    assert cantle("publish", "empty.txt", "--schema", "node.yaml", "--epsilon", "1000", "--yes", "-o", "out").code == 0
    assert cantle("show", "out").code == 0
    assert cantle("sample", "out", "-n", "3").out == "degree\n"
    assert cantle("graph", "out", "-o", "new.txt").out.startswith("wrote new.txt: 0 nodes, 0 edges")


@pytest.mark.parametrize("arguments", [("node",), ("node", "--nodes", "nodes.txt"), ("isolate",), ("edge",)])
def test_bad_records_leave_no_trace(folder: Path, cantle: Cantle, arguments: tuple[str, ...]) -> None:  # noqa: F811
    """An edge with one end, a text among numbers and undecodable bytes are dropped or used, and never mentioned."""
    lines = b'\n# canary\ncanary\n3\tcanary\n,canary\n4,,canary\n1e400 nan\n\xff\xfe canary\n"canary 5\n7 7 canary\n'
    with (folder / "friends.txt").open("ab") as file:
        file.write(lines)
    with (folder / "nodes.txt").open("ab") as file:
        file.write(b"canary\n\xff\n")
    schema, *more = arguments
    done = cantle("publish", "friends.txt", "--schema", f"{schema}.yaml", "--epsilon", "1", *more, "-o", "out")
    assert (done.code, "canary" in done.err) == (0, False)
    assert "canary" not in done.out
    assert all(b"canary" not in path.read_bytes() for path in (folder / "out").iterdir())
    assert cantle("verify", "out").code == 0


BAD: list[tuple[list[Any], int, str]] = [
    (["friends.txt", "--schema", "node.yaml", "--method", "diffpart"], 2, "not for graph data; use degrees, or auto"),
    (["friends.txt", "--schema", "node.yaml", "--format", "fimi"], 2, "csv or parquet for a graph"),
    (["friends.txt", "--schema", "node.yaml", "--set", "fanout=3"], 2, "known: edges_share"),
    (["friends.txt", "--schema", "edge.yaml", "--nodes", "nodes.txt"], 2, "under `unit: edge` the nodes are public"),
    (["friends.txt", "--schema", "node.yaml", "--nodes", "none.txt"], 4, "there is no file 'none.txt'"),
    (["friends.txt", "--schema", "edge.yaml", "--set", "theta=3"], 2, "nothing is projected"),
    (["friends.txt", "--schema", "node.yaml", "--set", "nodes=3"], 2, "option of its own"),
    (["none.txt", "--schema", "node.yaml"], 4, "there is no file 'none.txt'"),
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


def test_units_do_not_add_up_in_a_ledger(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    assert cantle("ledger", "create", "--ledger", "ledger.db").code == 0
    paid = ("--epsilon", "1", "--ledger", "ledger.db", "--dataset", "friends")
    assert cantle("publish", "friends.txt", "--schema", "node.yaml", *paid, "-o", "a").code == 0
    other = cantle("publish", "friends.txt", "--schema", "edge.yaml", *paid, "-o", "b")
    assert other.code == 1
    assert "one node with all its edges" in other.err
    assert not (folder / "b").exists()


def test_commands_for_tables_refuse_graphs(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    assert cantle(*PUBLISH, "-o", "out").code == 0
    before = sorted(path.name for path in folder.iterdir())
    assert "only a diffgen release" in cantle("apply", "out", "friends.txt").err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_init_drafts_a_schema_for_graphs(folder: Path, cantle: Cantle) -> None:  # noqa: F811
    done = cantle("init", "friends.txt", "--kind", "graph", "-o", "draft.yaml")
    assert done.code == 0, done.err
    assert yaml.safe_load((folder / "draft.yaml").read_text()) == {"kind": "graph", "unit": "node"}
    assert cantle("publish", "friends.txt", "--schema", "draft.yaml", "--epsilon", "1", "-o", "out").code == 0
    for name in ("friends.mtx", "friends.txt.gz", "friends.edges"):
        (folder / name).write_text("")
        assert "\nkind: graph\n" in cantle("init", name).out
    refused = cantle("init", "friends.txt")  # its first line would be read as the names of columns
    assert refused.code == 2
    assert "--kind table, sets, sequences or graph" in refused.err


def test_help_mentions_graphs(cantle: Cantle) -> None:  # noqa: F811
    assert "degrees of a graph" in " ".join(cantle("publish", "--help").out.split())
    assert "Example: cantle graph" in cantle("graph", "--help").out


@pytest.mark.slow  # by default, tests/interfaces/cli/test_cli_sets.py starts one
def test_graphs_are_published_in_a_separate_process(folder: Path) -> None:
    done = outside(*PUBLISH, "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: The number of nodes")
