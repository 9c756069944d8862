"""Table 1 and figures 4 and 5 of the RPS paper with a stand-in publisher: panels, series, files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import DataError, ParameterError
from cantle.interfaces.publishing import publish
from cantle_lab.papers import degree_figures, figures, graphs


@dataclass
class Release:
    records: pl.DataFrame
    groups: pl.DataFrame


@dataclass
class StandIn:
    """Publishes the true degrees, and lists the calls."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, data: Any, schema: Any, /, *, epsilon: float, **options: Any) -> Release:
        self.calls.append({"epsilon": epsilon, "listed": options.pop("nodes", None), **schema, **options})
        true = np.bincount(np.asarray(data).ravel())
        return Release(pl.DataFrame({"degree": true}), pl.DataFrame())


@pytest.fixture(scope="module")
def two_graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with small graphs instead of Caltech and Enron."""
    folder = tmp_path_factory.mktemp("graphs")
    rng = np.random.default_rng(1)
    for stem, nodes in (("graph-facebook100/Caltech36", 60), ("graph-email-enron/email-Enron", 90)):
        first, second = np.nonzero(np.triu(rng.random((nodes, nodes)) < 0.2, 1))
        path = folder / f"{stem}.txt"
        path.parent.mkdir()
        np.savetxt(path, np.column_stack([first, second]), fmt="%d")
    return folder


def run(name: str, out: Path, **options: Any) -> tuple[list[Path], str, StandIn]:
    printed: list[str] = []
    publish = StandIn()
    paths = figures.reproduce([name], out=out, publish=publish, echo=printed.append, **options)
    return paths, "\n".join(printed), publish


def test_the_figure_has_its_panels_series_and_files(two_graphs: Path, tmp_path: Path) -> None:
    name, metrics = "rps-degrees", ["KS", "EMD rms", "W1"]
    paths, printed, publish = run(name, tmp_path, data_dir=two_graphs, quick=True)
    assert [path.name for path in paths] == [f"{name}{e}" for e in (".csv", "-summary.csv", ".txt", ".png")]
    assert paths[3].read_bytes().startswith(b"\x89PNG")
    assert f"{name}: Georgetown is left out: no graph-facebook100/Georgetown15.txt" in printed
    kinds = ("a: maximum degree known", "b: maximum degree n - 1", "edge")
    panels = [f"{graph}, {kind}: {metric}" for graph in ("Caltech", "Enron") for kind in kinds for metric in metrics]
    rows = pl.read_csv(paths[0])
    assert sorted(rows["panel"].unique()) == sorted(panels)
    by_series = rows.filter(pl.col("panel") == panels[0])["series"].to_list()
    assert by_series == [
        "RPS as published (not node-private)", "Hay et al., node",
        "ours, node", "ours, node, edge list only", "ours, node-isolate", "ours, node, preset paper",
    ]  # fmt: skip
    ours = rows.filter(pl.col("series").str.starts_with("ours"))
    assert ours["value"].to_list() == [0.0] * ours.height  # the stand-in publishes the truth
    others = rows.filter(~pl.col("series").str.starts_with("ours"))
    assert others["value"].min() > 0  # type: ignore[operator]
    assert f"a: maximum degree known, {metrics[0]}: ours, node below Hay et al., node in 2 of 2 points" in printed
    assert "short form: " in printed
    assert "paper: " not in printed
    assert paths[2].read_text(encoding="utf-8") == printed + "\n"
    assert (
        f"b: maximum degree n - 1, {metrics[0]}: ours, node-isolate below Hay et al., node in 2 of 2 points" in printed
    )
    assert [call["unit"] for call in publish.calls] == ["node", "node", "node-isolate", "node", "edge"] * 2
    # the number of nodes is public for units node-isolate and edge, and private for node, as is the list
    assert [call.get("nodes") for call in publish.calls] == [
        nodes for size in (60, 90) for nodes in (None, None, size, None, size)
    ]
    lists = [call["listed"] for call in publish.calls]
    assert [one is not None for one in lists] == [True, False, False, True, False] * 2
    assert [lists[0].tolist(), lists[5].tolist()] == [[*range(60)], [*range(90)]]
    assert all(call["method"] == "degrees" and "insecure_seed" not in call for call in publish.calls)
    assert "rps-degrees: Enron, epsilon 1: the leaf counts of the published scheme claim a loss of 0.5;" in printed


@pytest.mark.slow
def test_a_seed_repeats_it_and_every_release_has_noise_of_its_own(two_graphs: Path, tmp_path: Path) -> None:
    runs = [run("rps-degrees", tmp_path / str(i), data_dir=two_graphs, repeats=2, seed=3) for i in (1, 2)]
    assert runs[0][0][0].read_bytes() == runs[1][0][0].read_bytes()
    rows = pl.read_csv(runs[0][0][0])
    assert rows["x"].unique().sort().to_list() == list(degree_figures.EPSILONS)
    assert rows["repeat"].unique().sort().to_list() == [0, 1]
    seeds = [call["insecure_seed"] for call in runs[0][2].calls]
    assert len(set(seeds)) == len(seeds) == 2 * 3 * 2 * 5  # graphs, epsilons, repeats, releases


def test_wins_are_counted_by_hand() -> None:
    points = [("RPS", 1.0, 0.5), ("RPS", 2.0, 0.3), ("Hay", 1.0, 0.6), ("Hay", 2.0, 0.3)]
    part = pl.DataFrame([("p", *one) for one in points], schema=["panel", "series", "x", "mean"], orient="row")
    assert degree_figures._won(part, "RPS", "Hay") == "1 of 2"
    assert degree_figures._won(part, "Hay", "RPS") == "0 of 2"


def test_table1_has_the_statistics_of_the_graphs(two_graphs: Path, tmp_path: Path) -> None:
    paths, printed, publish = run("rps-table1", tmp_path, data_dir=two_graphs)
    assert [path.name for path in paths] == ["rps-table1.csv", "rps-table1-summary.csv", "rps-table1.txt"]
    assert publish.calls == []
    graph = graphs.load(two_graphs, "Caltech")
    line = next(line for line in printed.splitlines() if line.startswith("Caltech"))
    assert line.split()[1:5] == ["60", "(769)", f"{len(graph.edges)}", "(16,656)"]
    assert line.split()[-2:] == [f"{graph.degrees.max()}", "(248)"]
    values = pl.read_csv(paths[0]).filter(pl.col("panel") == "Caltech")["value"].to_list()
    assert values == pytest.approx([*graphs.statistics(graph)])


def test_missing_data_is_refused(tmp_path: Path) -> None:
    for name in ("rps-table1", "rps-degrees"):
        with pytest.raises(ParameterError, match="--data DIR"):
            run(name, tmp_path)
        with pytest.raises(DataError, match="none of the data sets could be read"):
            run(name, tmp_path, data_dir=tmp_path)


def test_the_real_publisher_gets_the_nodes_without_edges(two_graphs: Path) -> None:
    """With the list, the number of nodes is measured and right; from edges alone, no node has degree 0."""
    graph = graphs.load(two_graphs, "Enron")
    lonely = graphs.Graph("lonely", graph.edges, graph.nodes + 200)
    setting = figures.Setting(publish=publish, seed=4)
    listed, bare = (degree_figures.publish_degrees(setting, lonely, "node", 50, 0, listed=one) for one in (True, False))
    assert abs(len(listed) - 290) <= 5
    # Ends of lost edges are spread evenly, also over nodes that never had an edge.
    assert 150 <= (listed == 0).sum() <= 205
    assert abs(len(bare) - 90) <= 5
    assert bare.min() > 0
    isolate = degree_figures.publish_degrees(setting, lonely, "node-isolate", 50, 0)
    assert len(isolate) == 290
