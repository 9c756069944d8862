"""Releases of degree sequences: every form of input, settings that must always work, changes that `verify` finds."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from itertools import product, starmap
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
import yaml

import cantle
from cantle.drawing import records
from cantle.errors import DataError, ParameterError, SchemaError, VerifyError
from cantle.methods.degrees import results as from_degrees
from cantle.release.show import overview
from cantle.release.spending import budget_lines
from cantle.release.statement import statement
from cantle.release.verify import verify_folder
from cantle.trusted.ledger import Ledger
from tests.effort import one_in, slow
from tests.release.changes import with_manifest, with_parts
from tests.release.kinds import DEGREES, EDGE, GRAPH, ISOLATE, edge_file, edges, tree_lines
from tests.release.test_tamper import rehash

SCHEMAS = {"node": GRAPH, "isolate": ISOLATE, "edge": EDGE}
FILES = ("friends.txt", "friends.csv", "friends.mtx", "friends.parquet")
OBJECTS = ("networkx", "polars", "pandas", "pyarrow", "numpy", "pairs")


def source(form: str, folder: Path, pairs: list[tuple[int, int]] | None = None) -> Any:
    """The graph as a file or as an object."""
    pairs = edges() if pairs is None else pairs
    frame = pl.DataFrame(pairs, schema=["source", "target"], orient="row")
    if form == "friends.txt":
        return edge_file(folder, pairs=pairs)
    path = folder / form
    if form == "friends.csv":
        frame.write_csv(path)
    elif form == "friends.parquet":
        frame.write_parquet(path)
    elif form == "friends.mtx":
        lines = "".join(f"{one + 1} {two + 1}\n" for one, two in pairs)
        path.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n300 300 {len(pairs)}\n{lines}")
    else:
        frames = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow(), "numpy": frame.to_numpy()}
        return {**frames, "pairs": pairs, "networkx": nx.Graph(pairs)}[form]
    return path


def check_round_trip(release: cantle.Release, folder: Path, *ways: str | None) -> None:
    """Checks that a release is the same after saving and loading, verifies, and can be shown and sampled."""
    assert release.records.schema == {"degree": pl.Int64()}
    for way in ways or (None, "parquet"):
        saved = release.save(folder / str(way), data=way)
        assert verify_folder(saved) == []
        again = cantle.Release.load(saved)
        assert again.records.equals(release.records)
        assert again.groups.equals(release.groups)
        assert len(again.sample(17, seed=1)) == (17 if len(release.records) else 0)
        assert list(budget_lines(again.manifest))
        counts = [int(line.split("%")[1].split()[0].replace(",", "")) for line in tree_lines(again)]
        assert sum(counts) == len(again.records)
        assert dict(overview(again))["records"] == f"{len(again.records):,} degrees, one per node"


# -------------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize(("form", "unit"), one_in(4, starmap(pytest.param, product(FILES + OBJECTS, SCHEMAS))))
def test_every_form_gives_a_release_that_can_be_saved_and_loaded(form: str, unit: str, tmp_path: Path) -> None:
    schema = SCHEMAS[unit]
    release = cantle.publish(source(form, tmp_path), schema, epsilon=2)
    release.verify()
    assert release.private
    degrees = release.records["degree"]
    assert degrees.is_sorted()
    assert degrees.is_between(0, max(0, len(degrees) - 1)).all()
    if unit != "node":
        assert len(degrees) == 300
    assert {path.epsilon_nano for path in release.manifest.receipt.paths} == {2 * 10**9}
    assert release.groups["path"].unique().to_list() == [release.manifest.receipt.paths[0].path]
    check_round_trip(release, tmp_path)


@pytest.mark.parametrize("unit", SCHEMAS)
def test_form_order_and_direction_do_not_change_the_release(unit: str, tmp_path: Path) -> None:
    dice, pairs = np.random.default_rng(3), sorted({(min(pair), max(pair)) for pair in edges()})
    listed = {"nodes": list(range(300))} if unit == "node" else {}
    first = cantle.publish(pairs, SCHEMAS[unit], epsilon=2, insecure_seed=5, **listed)
    shuffled = [pairs[i][:: dice.choice([1, -1])] for i in dice.permutation(len(pairs))]
    for form in FILES + OBJECTS:
        if form == "friends.mtx" and unit != "edge":
            continue  # there nodes are called 1 to 300, and the projection depends on names
        given = source(form, tmp_path, shuffled + shuffled[:50])  # repeated edges count once
        other = cantle.publish(given, SCHEMAS[unit], epsilon=2, insecure_seed=5, **listed)
        assert other.groups.equals(first.groups), form
        assert other.records.equals(first.records), form


def test_the_same_seed_gives_the_same_bytes_and_every_file_says_not_private(tmp_path: Path) -> None:
    folders = []
    for name, pairs in (("a", edges()), ("b", edges()[::-1])):
        (tmp_path / name).mkdir()
        file = edge_file(tmp_path / name, pairs=pairs)
        folders.append(cantle.publish(file, GRAPH, epsilon=1, insecure_seed=5).save(tmp_path / name / "out"))
    names = sorted(path.name for path in folders[0].iterdir())
    assert all(name.startswith("NOT-PRIVATE.") for name in names)
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
    assert verify_folder(folders[0]) == []


def test_a_release_can_be_pickled_because_it_has_released_values_only() -> None:
    release = cantle.publish(edges(), GRAPH, epsilon=1)
    assert pickle.loads(pickle.dumps(release)).records.equals(release.records)


@pytest.mark.parametrize("unit", SCHEMAS)
def test_a_large_budget_gives_nearly_the_truth(unit: str) -> None:
    true = np.sort([degree for _, degree in nx.Graph(edges()).degree()])
    settings = {} if unit == "edge" else {"theta": 128}
    release = cantle.publish(nx.Graph(edges()), SCHEMAS[unit], epsilon=10**5, **settings)
    degrees = release.records["degree"].to_numpy()
    assert len(degrees) == 300
    assert np.abs(degrees - true).mean() < (0.01 if unit == "edge" else 0.5)  # smoothing keeps numbers and means
    assert abs(int(degrees.sum()) - int(true.sum())) <= 6


def test_a_list_of_degrees_is_published(tmp_path: Path) -> None:
    (tmp_path / "degrees.txt").write_text("3\n1\n1\n1\nnine\n-4\n1e300\n")
    release = cantle.publish(tmp_path / "degrees.txt", DEGREES, epsilon=1000)
    assert release.records["degree"].to_list() == [
        0,
        0,
        1,
        1,
        1,
        3,
        6,
    ]  # a value that is no number is 0, and there are 6 other nodes at most
    check_round_trip(release, tmp_path)
    given = pl.Series("degree", [3, 1, 1, 1]), np.array([3, 1, 1, 1]), [3, 1, 1, 1], ["3", "1", "1", "1"]
    for one in given:
        assert cantle.publish(one, DEGREES, epsilon=1000).records["degree"].to_list() == [1, 1, 1, 3]


# -------------------------------------------------------------------------------------------------- must work

SETTINGS: list[dict[str, Any]] = [
    {},
    {"theta": 1},
    {"theta": 8},
    {"theta": 5000},
    {"preset": "paper"},
    {"preset": "paper", "theta": 8},
    {"theta_share": "1/2"},
    {"edges_share": 0, "nodes_share": 0},
    {"epsilon": 1000},
    {"epsilon": 1000, "preset": "paper"},
    {"epsilon": "0.000001", "theta": 1, "insecure_seed": 0},
]


@pytest.mark.parametrize("settings", one_in(2, SETTINGS), ids=str)
@pytest.mark.parametrize("kind", ["node", "listed", "isolate", "bounded"])
def test_every_setting_gives_a_release_that_adds_up(kind: str, settings: dict[str, Any], tmp_path: Path) -> None:
    schema = {"isolate": ISOLATE, "bounded": GRAPH | {"max_degree": 9}}.get(kind, GRAPH)
    listed = {"nodes": list(range(320))} if kind == "listed" else {}
    release = cantle.publish(edges(), schema, **({"epsilon": 1} | settings), **listed)
    release.verify()
    check_round_trip(release, tmp_path, None)
    paths = release.manifest.receipt.paths
    assert max(path.epsilon_nano for path in paths) == release.manifest.receipt.epsilon_nano
    if "max_degree" in schema and "preset" not in settings:
        assert release.records["degree"].max() in (None, *range(10))


@pytest.mark.parametrize("epsilon", ["0.000001", 1, 1000])
@pytest.mark.parametrize("schema", [EDGE, EDGE | {"max_degree": 5}, DEGREES], ids=str)
def test_every_unit_edge_gives_a_release_that_adds_up(schema: dict[str, Any], epsilon: Any, tmp_path: Path) -> None:
    data: Any = edges() if "nodes" in schema else [degree for _, degree in nx.Graph(edges()).degree()]
    release = cantle.publish(data, schema, epsilon=epsilon)
    release.verify()
    assert len(release.records) == 300
    assert release.records["degree"].max() <= schema.get("max_degree", 299)  # type: ignore[operator]
    check_round_trip(release, tmp_path)


GRAPHS = {
    "empty": b"",
    "comments": b"# nobody\n% no one\n",
    "loops": b"1 1\n2 2\n3 3\n",
    "one end": b"1\n2 \n,3\n;\n",
    "text": b"a b\nb c\nx\xff \xfe\n1e5 nan\n\x00\n",
    "one edge": b"1 2\n",
}


@pytest.mark.parametrize("content", GRAPHS)
@pytest.mark.parametrize("unit", slow(["node", "node-isolate", "edge", "degrees"], "node-isolate"))
def test_files_without_a_valid_edge_give_a_release(unit: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "friends.txt").write_bytes(GRAPHS[content])
    schema = {"node": GRAPH, "degrees": DEGREES}.get(unit, {"kind": "graph", "unit": unit, "nodes": 3})
    for epsilon, way in ((1, "parquet"), (1000, None)):
        release = cantle.publish(tmp_path / "friends.txt", schema, epsilon=epsilon)
        release.verify()
        check_round_trip(release, tmp_path / str(epsilon), way)
    if unit == "edge":
        expected = {"one edge": [0, 1, 1], "text": [1, 1, 2]}.get(content, [0, 0, 0])
        assert release.records["degree"].to_list() == expected
    if unit == "node" and content not in ("one edge", "text"):
        assert len(release.records) == 0


def test_a_graph_of_one_node_is_published(tmp_path: Path) -> None:
    one = nx.Graph()
    one.add_node("alone")
    for number, schema in enumerate((GRAPH, ISOLATE | {"nodes": 1}, EDGE | {"nodes": 1})):
        release = cantle.publish(one, schema, epsilon=1000)
        assert release.records["degree"].to_list() == [0]
        check_round_trip(release, tmp_path / str(number))


@pytest.mark.parametrize("leaves", slow([10_000, 100_000], 100_000))
def test_a_star_of_many_leaves_is_published(leaves: int, tmp_path: Path) -> None:
    """The chosen bound is small, because no useful bound would keep all edges of such a node."""
    star = np.stack([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)], axis=1)
    release = cantle.publish(star, EDGE | {"nodes": leaves + 1}, epsilon=1)
    assert abs(int(release.records["degree"].max()) - leaves) < 100  # type: ignore[arg-type]
    check_round_trip(release, tmp_path, None)
    release = cantle.publish(star, GRAPH, epsilon=1, nodes=np.arange(leaves + 1))
    release.verify()
    assert abs(len(release.records) - leaves - 1) < leaves / 5


def test_noise_that_asks_for_too_many_nodes_releases_fewer_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(from_degrees, "MOST_DRAWN", 500)
    release = cantle.publish(edges(), GRAPH, epsilon="0.01", insecure_seed=2, theta=50, nodes_share=0)
    assert len(release.records) == 500
    assert release.manifest.summary["nodes_wanted"] > 500
    assert "500 degrees stand for them" in release.manifest.notes[0]
    check_round_trip(release, tmp_path)


@pytest.mark.parametrize("given", [{"theta": 20_000, "preset": "paper"}, {"theta": 50, "preset": "paper"}], ids=str)
def test_noise_that_asks_for_too_many_nodes_in_ranges_of_degrees_releases_fewer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, Any]
) -> None:
    monkeypatch.setattr(records, "MOST_DRAWN", 500)
    release = cantle.publish(edges(), GRAPH, epsilon="0.01", insecure_seed=2, **given)
    assert 400 < len(release.records) <= 500
    assert release.manifest.summary["nodes_wanted"] > 500
    assert f"{len(release.records)} degrees stand for them" in release.manifest.notes[0]
    check_round_trip(release, tmp_path)


@pytest.mark.parametrize("given", [{"theta_share": 0}, {"theta": 2**20, "preset": "paper"}], ids=str)
def test_an_impossible_bound_is_refused_before_the_charge(tmp_path: Path, given: dict[str, Any]) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("graph", 10)
    with pytest.raises(ParameterError, match="theta"):
        cantle.publish(edges(), GRAPH, epsilon=1, ledger=ledger, dataset="graph", **given)
    assert ledger.account("graph").spent_nano == 0


@pytest.mark.parametrize(
    ("schema", "settings", "words"),
    [
        (GRAPH, {"method": "rps"}, "not for graph data; use degrees, or auto"),
        (GRAPH, {"method": "diffpart"}, "not for graph data"),
        (GRAPH, {"theta": 0}, "whole number from 1"),
        (GRAPH, {"theta": 2**40}, "whole number from 1"),
        (GRAPH, {"tetha": 3}, "did you mean theta"),
        (GRAPH, {"theta_share": 0}, "theta is needed"),
        (GRAPH, {"theta_share": "1/2", "edges_share": "1/2"}, "leave nothing"),
        (GRAPH, {"theta": 2**20, "preset": "paper"}, "preset paper needs a bound below"),
        (GRAPH, {"engine": "spark"}, "for tables"),
        (GRAPH, {"engine": "duckdb"}, "for `unit: node` needs it in memory; use engine memory"),
        (ISOLATE, {"engine": "duckdb"}, "for `unit: node-isolate` needs it in memory"),
        (EDGE, {"theta": 4}, "under unit: edge nothing is projected"),
        (EDGE, {"preset": "paper"}, "under unit: edge nothing is projected"),
        (EDGE, {"nodes": [1]}, "under `unit: edge` the nodes are public"),
        (ISOLATE, {"nodes": [1]}, "under `unit: node-isolate` the nodes are public"),
    ],
    ids=str,
)
def test_bad_parameters_name_thing_rule_and_fix(schema: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        cantle.publish(edges(), schema, **({"epsilon": 1} | settings))


def test_bad_schemas_and_files_are_refused_with_fixed_messages(tmp_path: Path) -> None:
    def refused(error: type[Exception], words: str, data: Any, schema: dict[str, Any]) -> None:
        with pytest.raises(error, match=words):
            cantle.publish(data, schema, epsilon=1)

    refused(SchemaError, "the number of nodes is public and must be declared", [], {"kind": "graph", "unit": "edge"})
    refused(SchemaError, "is private and cannot be declared", [], GRAPH | {"nodes": 300})
    refused(SchemaError, "cannot be published under `unit: node`", [], GRAPH | {"form": "degrees"})
    refused(SchemaError, "unit 'friend' is not known", [], GRAPH | {"unit": "friend"})
    refused(DataError, "there is no file 'none.txt'", tmp_path / "none.txt", GRAPH)
    refused(DataError, "is a folder", tmp_path, GRAPH)
    (tmp_path / "friends.mtx").write_text("1 2\n")
    refused(DataError, "Matrix Market", tmp_path / "friends.mtx", GRAPH)
    (tmp_path / "friends.parquet").write_bytes(b"PAR1 not really")
    refused(DataError, "not a readable Parquet file", tmp_path / "friends.parquet", GRAPH)
    (tmp_path / "friends.txt.gz").write_bytes(b"1 2\n")
    refused(DataError, "cannot be unpacked", tmp_path / "friends.txt.gz", GRAPH)
    refused(DataError, "cannot be read as a graph", 7, GRAPH)


def test_a_node_list_that_cannot_be_used_costs_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("friends", 1)
    paid: dict[str, Any] = {"epsilon": 1, "ledger": ledger, "dataset": "friends"}
    with pytest.raises(ParameterError, match="declare them in the schema"):
        cantle.publish(edges(), EDGE, nodes=["a"], **paid)
    with pytest.raises(DataError, match="there is no file 'nodes.txt'"):
        cantle.publish(edges(), GRAPH, nodes=tmp_path / "nodes.txt", **paid)
    assert ledger.account("friends").spent_nano == 0


# -------------------------------------------------------------------------------------------------- tampering

KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "listed": (GRAPH, {"nodes": list(range(320))}),
    "unlisted": (GRAPH, {}),
    "isolate": (ISOLATE, {}),
    "edge": (EDGE, {}),
    "rps": (GRAPH, {"preset": "paper", "theta": 16}),
}


@pytest.fixture(scope="module", params=KINDS)
def release(request: pytest.FixtureRequest) -> cantle.Release:
    schema, settings = KINDS[request.param]
    return cantle.publish(edges(), schema, epsilon=10, **settings)


def one_more(frame: pl.DataFrame, column: str, row: int, by: int = 1) -> pl.DataFrame:
    here = pl.int_range(pl.len()) == row
    return frame.with_columns(pl.when(here).then(pl.col(column) + by).otherwise(pl.col(column)).alias(column))


GROUPS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "noisy": lambda g: g.with_columns(pl.col("noisy") + 1000) if "k" in g.columns else one_more(g, "count", 0),
    "rate": lambda g: one_more(g, "rate_num", 0),
    "rates swapped": lambda g: g.with_columns(rate_num=pl.col("rate_num").reverse() + 1),
    "sensitivity": lambda g: g.with_columns(rate_den=pl.col("rate_den") * 2),
    "path": lambda g: g.with_columns(path=pl.col("path") + 1000),
    "row dropped": lambda g: g.slice(1),
    "last row dropped": lambda g: g.slice(0, len(g) - 1),
    "row twice": lambda g: pl.concat([g, g.slice(0, 1)]),
    "rows": lambda g: g.reverse(),
    "all rows dropped": lambda g: g.head(0),
    "estimate": lambda g: g.with_columns(estimate=pl.col("estimate") + 3) if "k" in g.columns else g.slice(1),
    "gap": lambda g: g.with_columns(noisy=pl.when(pl.int_range(pl.len()) > 0).then("noisy")),
    "column": lambda g: g.drop("noisy"),
    "type": lambda g: g.with_columns(pl.col("noisy").cast(pl.String)),
}


@pytest.mark.parametrize("change", GROUPS)
def test_changed_groups_are_noticed(release: cantle.Release, change: str) -> None:
    release.verify()
    with pytest.raises(VerifyError):
        with_parts(release, groups=GROUPS[change](release.groups)).verify()


def test_changed_degrees_are_noticed(release: cantle.Release) -> None:
    records, last = release.records, len(release.records) - 1
    for other in (
        records.slice(1),
        records.reverse(),
        one_more(records, "degree", last, 50),
        one_more(records, "degree", 0, -100),
        pl.concat([records, records.slice(last)]),
        records.with_columns(degree=pl.lit(1, pl.Int64)),
        records.head(0),
    ):
        with pytest.raises(VerifyError):
            with_parts(release, records=other).verify()


def test_a_changed_receipt_summary_or_tree_is_noticed(release: cantle.Release) -> None:
    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda m: m["receipt"]["paths"][0]["charges"][-1].update(epsilon_nano=5),
        lambda m: m["receipt"]["paths"][0]["charges"][-1].update(sensitivity=1),
        lambda m: m["receipt"]["paths"][0].update(path=10**6),
        lambda m: m["summary"].update(records=m["summary"]["records"] + 1),
        lambda m: m["summary"].update(theta=m["summary"]["theta"] + 1),
        lambda m: m.update(private=False),
        lambda m: m["schema"].update(max_degree=3),
        lambda m: m["schema"].update(nodes="nodes.txt"),
    ]
    for change in changes:
        with pytest.raises(VerifyError):
            with_manifest(release, change).verify()
    if release.frames:
        tree = release.frames["tree"]
        for frame in (tree.slice(1), one_more(tree, "point", 0), one_more(tree, "depth", len(tree) - 1)):
            with pytest.raises(VerifyError):
                with_parts(release, frames={"tree": frame}).verify()


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files_are_noticed_even_with_new_hashes(kind: str, tmp_path: Path) -> None:
    schema, settings = KINDS[kind]
    release = cantle.publish(edges(), schema, epsilon=10, **settings)
    assert rehash(release.save(tmp_path / "same")) == []
    for name in [path.name for path in (tmp_path / "same").iterdir()]:
        folder = release.save(tmp_path / f"bytes of {name}")
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])
        assert verify_folder(folder), name
        assert name == "release.json" or rehash(folder), name
        (folder / name).unlink()
        assert verify_folder(folder), name
    folder = release.save(tmp_path / "degree")
    text = (folder / "data.csv").read_text().rstrip("\n")
    for content in (text[:-1] + "99\n", text + "\n" + text.split("\n")[-1] + "\n", "degree\nmany\n", "grade\n1\n"):
        (folder / "data.csv").write_text(content)
        assert rehash(folder)


# -------------------------------------------------------------------------------------------------- in words


def test_texts_of_a_release_are_about_degrees(tmp_path: Path) -> None:
    for number, (schema, words) in enumerate([(GRAPH, "one node"), (ISOLATE, "one node"), (EDGE, "one edge")]):
        folder = cantle.publish(edges(), schema, epsilon=1).save(tmp_path / str(number))
        text = (folder / "statement.md").read_text()
        assert words in text
        assert "degrees" in text
        assert "synthetic records" not in text
        assert "record of a person" not in text
        assert "Degrees are fitted to the noisy counts; nothing is drawn at random" in text
        entry = yaml.safe_load((folder / "registry.yaml").read_text())["deployment"]
        assert entry["basic"]["data_product_type"] == "Summary statistics"
        assert "degree sequence" in entry["basic"]["description"]
        assert words in entry["privacy_loss"]["privacy_unit"]
        assert entry["accounting"]["post_processing"].startswith("Degrees are fitted to the noisy counts; nothing is")
        (resource,) = json.loads((folder / "datapackage.json").read_bytes())["resources"]
        assert [field["name"] for field in resource["schema"]["fields"]] == ["degree"]


def test_texts_say_what_follows_from_ranges_of_degrees(tmp_path: Path) -> None:
    release = cantle.publish(edges(), GRAPH, epsilon=9, preset="paper", theta=6)
    statement = (release.save(tmp_path / "out") / "statement.md").read_text()
    assert "Nodes have the lowest degree of their range; nothing is drawn" in statement


def test_intervals_allow_for_nodes_that_lost_edges_to_the_bound() -> None:
    """The leaves of 20 stars: with a bound of 8 most of them lose their only edge, and the noise says nothing of it."""
    stars = [(hub, 100 * (hub + 1) + leaf) for hub in range(20) for leaf in range(60)]
    nodes = sorted({node for edge in stars for node in edge})
    release = cantle.publish(stars, GRAPH, epsilon=50, theta=8, nodes=nodes, insecure_seed=1)
    counted = release.count("degree >= 1")
    assert counted.value < 300  # of 1,220; the noise has a deviation of one node
    assert counted.high > 600


def test_a_mean_with_a_bound_of_one_edge_has_an_interval() -> None:
    release = cantle.publish(edges(), GRAPH, epsilon=9, theta=1)
    assert release.mean("degree").high > release.mean("degree").value


def test_show_describes_degrees() -> None:
    release = cantle.publish([3, 1, 1, 1], DEGREES, epsilon=1000)
    lines = [re.split(r"\s{2,}|█+\s*", line) for line in tree_lines(release)]
    assert [(line[0], line[-1]) for line in lines] == [("0", "0 nodes"), ("1", "3 nodes"), ("2 to 3", "1 node")]
    assert dict(overview(release))["counted"] == "nodes of every degree"
    facts = dict(overview(cantle.publish(edges(), GRAPH, epsilon=1, theta=4)))
    assert facts["epsilon"] == "1 for one node with all its edges"
    assert re.fullmatch(r"nodes of degrees up to 4(; \d+ larger degrees are a guess)?", facts["counted"])


def test_the_number_of_nodes_that_are_not_listed_is_measured_separately() -> None:
    """With a bound of 64 the deviation is about 1,000 nodes at this epsilon, and half of that with few edges."""
    ring = [(i, (i + j) % 4000) for i in range(4000) for j in (1, 2)]
    errors: dict[str, list[int]] = {"0": [], "3/100": []}
    for share, found in errors.items():
        for seed in range(5):
            release = cantle.publish(ring, GRAPH, epsilon="0.2", theta=64, nodes_share=share, insecure_seed=seed)
            release.verify()
            found.append(abs(len(release.records) - 4000))
    assert sum(errors["3/100"]) < 0.75 * sum(errors["0"])
    summary = release.manifest.summary
    assert max(errors["3/100"]) < 2 * summary["nodes_error"]
    assert f"is at most {summary['nodes_error']:,}." in statement(release.manifest)
    assert any("--nodes" in note for note in release.manifest.notes)
    listed = cantle.publish(ring, GRAPH, epsilon="0.2", theta=64, nodes=range(4000))
    assert listed.manifest.summary["nodes_error"] < summary["nodes_error"] / 2
    assert not any("--nodes" in note for note in listed.manifest.notes)


def test_a_tail_that_is_a_guess_is_called_a_guess() -> None:
    star = [(0, i) for i in range(1, 500)] + [(i, i + 1) for i in range(1, 499)]
    release = cantle.publish(star, GRAPH, epsilon=100, theta=32, nodes=range(500))
    guessed = release.manifest.summary["guessed"]
    assert guessed == sum(degree > 32 for degree in release.records["degree"]) > 0
    assert re.search(rf"\*\*({guessed} degrees|The degree) above 32 (are|is) a guess\*\*", statement(release.manifest))
    plain = cantle.publish([(0, 1), (1, 2)] * 50, GRAPH, epsilon=1000, theta=4)
    assert "guess" not in statement(plain.manifest)


def falling_graph(nodes: int, edges_per_node: int = 5) -> tuple[pl.DataFrame, float]:
    """A graph whose degrees fall as a power, and its mean degree: the bound on degrees removes many edges."""
    rng = np.random.default_rng(4)
    weight = np.arange(1, nodes + 1) ** -0.6
    pairs = np.sort(rng.choice(nodes, (edges_per_node * nodes, 2), p=weight / weight.sum()), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return pl.DataFrame(pairs, schema=["source", "target"]), 2 * len(pairs) / nodes


def test_the_interval_of_the_mean_degree_allows_for_edges_that_the_bound_removed() -> None:
    """Noise alone held in 13 of these 18 releases."""
    graph, mean = falling_graph(4000)
    held = []
    for seed, epsilon in product(range(3), (0.3, 1, 3)):
        listed = cantle.publish(graph, GRAPH, epsilon=epsilon, nodes=range(4000), insecure_seed=seed)
        public = cantle.publish(graph, ISOLATE | {"nodes": 4000}, epsilon=epsilon, insecure_seed=seed)
        answers = [release.mean("degree") for release in (listed, public)]
        held += [answer.low <= mean <= answer.high for answer in answers]
    assert sum(held) >= 17
    assert answers[0].confidence is None
    assert "allows for edges that the bound on degrees removed" in str(answers[0])


@pytest.mark.parametrize("epsilon", [0.3, 3])
def test_the_published_partition_releases_one_degree_per_node(epsilon: float, tmp_path: Path) -> None:
    """It counts ranges with much noise; cut at 0, the counts added up to many times the number of nodes."""
    graph, _ = falling_graph(1000)
    public = cantle.publish(graph, ISOLATE | {"nodes": 1000}, epsilon=epsilon, preset="paper")
    assert len(public.records) == 1000
    assert public.manifest.summary["nodes_error"] == 0
    listed = cantle.publish(graph, GRAPH, epsilon=epsilon, nodes=range(1000), preset="paper", insecure_seed=1)
    error = listed.manifest.summary["nodes_error"]
    assert 0 < abs(len(listed.records) - 1000) <= 2 * error
    for release in (public, listed):
        release.save(tmp_path / str(error))
        release.verify()
        assert verify_folder(tmp_path / str(error)) == []
        error = "public"
