"""The code around figures, with a stand-in publisher: rows, tables, files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from cantle.errors import ParameterError
from cantle_lab.papers import figures, made_tables, report, rps_figures
from cantle_lab.papers.harness import Figure, Row
from tests.effort import slow
from tests.entropy import shared


@dataclass
class Release:
    records: pl.DataFrame
    groups: pl.DataFrame


@dataclass
class StandIn:
    """Publishes the table unchanged, with two regions cut at 50 on the first column, and lists the calls."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, data: pl.DataFrame, schema: Any, /, *, epsilon: float, **options: Any) -> Release:
        self.calls.append({"epsilon": epsilon, **options})
        assert [f["name"] for f in schema["fields"]] == data.columns
        first = data.columns[0]
        edges = {f"{c}.{end}": [value] * 3 for c in data.columns for end, value in (("lo", 0), ("hi", 101))}
        edges |= {f"{first}.lo": [0, 0, 50], f"{first}.hi": [50, 50, 101]}
        return Release(data, pl.DataFrame({"leaf": [0, 0, 1], "y": ["a", "b", "a"], **edges}))


def run(names: list[str], out: Path, **options: Any) -> tuple[list[Path], str, StandIn]:
    printed: list[str] = []
    publish = StandIn()
    paths = figures.reproduce(names, out=out, publish=publish, quick=True, echo=printed.append, **options)
    return paths, "\n".join(printed), publish


Points = list[str]
Made = Callable[[str], tuple[list[Path], str, StandIn, Points]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Runs a figure once for all tests that use it; also returns the points that were reported as progress."""

    @shared
    def by_name(name: str) -> tuple[list[Path], str, StandIn, Points]:
        points: Points = []
        return *run([name], tmp_path_factory.mktemp(name) / "out", progress=points.append), points

    return by_name


@pytest.mark.parametrize("name", ["rps-fig1", "rps-fig2"])
def test_figures_on_generated_data_have_their_files_and_tables(name: str, made: Made) -> None:
    paths, printed, publish, _ = made(name)
    assert [path.name for path in paths] == [f"{name}{e}" for e in (".csv", "-summary.csv", ".txt", ".png")]
    rows = pl.read_csv(paths[0])
    assert rows.columns == list(report.TIDY)
    assert rows.filter(pl.col("series") != "Privelet").height == len(publish.calls)
    assert paths[3].read_bytes().startswith(b"\x89PNG")
    assert "default preset" in printed
    assert "short form: " in printed
    assert "paper: " not in printed
    assert paths[2].read_text(encoding="utf-8") == printed + "\n"
    assert all("insecure_seed" not in call for call in publish.calls)
    assert all(call["method"] == "rps" for call in publish.calls)


def test_an_exact_release_has_no_distance(made: Made) -> None:
    paths = made("rps-fig1")[0]
    rows = pl.read_csv(paths[0])
    exact = rows.filter(pl.col("series") != "Privelet")
    assert exact["value"].to_list() == [0.0] * exact.height
    assert rows.filter(pl.col("series") == "Privelet").height == 2  # Privelet adds its own noise; one value per epsilon


def test_purity_is_computed_from_the_released_regions(made: Made) -> None:
    paths = made("rps-fig2")[0]
    table, _, process = made_tables.clusters(1_000)
    left = (table["x1"] < 50).to_numpy()
    majority = sum(np.bincount(process[side]).max() for side in (left, ~left)) / 1_000
    assert pl.read_csv(paths[0])["value"].to_list() == pytest.approx([majority] * pl.read_csv(paths[0]).height)


@pytest.mark.slow
def test_the_figure_on_adult_shows_the_check_and_the_raw_scores(small_adult: Path, tmp_path: Path) -> None:
    paths, printed, publish = run(["rps-fig3"], tmp_path, data_dir=small_adult)
    assert printed.startswith("rps-fig3: ")
    summary = pl.read_csv(paths[1])
    assert set(summary["series"]) == {
        "raw", "majority", "Mondrian k=5",
        "paper, stop 5", "paper, stop 0", "literal, stop 5", "fixed midpoints", "default preset",
    }  # fmt: skip
    assert summary["raw"].null_count() == 0
    exact = summary.filter(pl.col("series") == "paper, stop 5")
    assert exact["mean"].to_list() == pytest.approx(exact["raw"].to_list())  # the stand-in publishes the truth
    assert len(publish.calls) == 4 * 5  # series x folds
    for panel in ("a: NB accuracy", "b: C4.5* accuracy", "NB AUC", "C4.5* balanced accuracy", "TVD1"):
        assert f"rps-fig3 {panel}" in printed


@pytest.mark.slow
def test_a_seed_is_passed_on_and_differs_by_fold(small_adult: Path, tmp_path: Path) -> None:
    _, _, publish = run(["rps-fig3"], tmp_path, data_dir=small_adult, seed=7)
    seeds = [call["insecure_seed"] for call in publish.calls]
    assert len(set(seeds)) == 5
    assert seeds[:5] == seeds[5:10]


def test_progress_names_the_points(made: Made) -> None:
    points = made("rps-fig1")[3]
    assert points[0] == "rps-fig1 depth 5, epsilon 0.1"


def test_unknown_figures_and_missing_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="unknown figure rps-fig9"):
        run(["rps-fig9"], tmp_path)
    with pytest.raises(ParameterError, match="--data DIR"):
        run(["rps-fig3"], tmp_path)


def test_the_full_grid_equals_that_of_the_paper() -> None:
    setting = figures.Setting(publish=StandIn(), repeats=5)
    assert setting.pick((5, 10), (5,)) == (5, 10)
    assert len(list(setting.points(rps_figures.EPSILONS))) == len(rps_figures.EPSILONS) * 5


def test_summary_by_hand() -> None:
    values = [
        ("raw", None, 0, 0.8),
        ("raw", None, 1, 0.9),
        ("s", 1.0, 0, 0.5),
        ("s", 1.0, 1, 0.7),
        ("t", 2.0, 0, 0.4),
    ]
    rows = pl.DataFrame([("f", "p", *v) for v in values], schema=report.TIDY, orient="row")
    summary = report.summarise(rows)
    assert summary["mean"].to_list() == pytest.approx([0.85, 0.6, 0.4])
    assert summary["error"].to_list()[:2] == pytest.approx([0.05, 0.1])
    assert summary["error"][2] is None
    assert summary["raw"].to_list() == pytest.approx([0.85] * 3)
    text = report.table(summary).splitlines()
    assert text[0] == "f p"
    assert text[2].split() == ["raw", "0.850", "+-0.050", "0.850", "+-0.050", "0.850"]
    assert text[4].split() == ["t", "0.400", "0.850"]


def test_generated_data_are_repeatable_and_on_the_grid() -> None:
    table, schema = made_tables.normal()
    assert table.equals(made_tables.normal()[0])
    assert table.height == 10_000
    assert (table["x"].min(), table["x"].max()) == (0, 100)
    assert schema["fields"][0]["constraints"]["maximum"] == 100
    points, _, process = made_tables.clusters()
    assert points.shape == (10_000, 5)
    assert np.bincount(process).min() > 3_000


@pytest.mark.parametrize("name", slow(["rps-fig1", "rps-fig2", "rps-fig3"], "rps-fig2", "rps-fig3"))
def test_figures_work_with_the_real_publisher(name: str, small_adult: Path, tmp_path: Path) -> None:
    printed: list[str] = []
    paths = figures.reproduce([name], out=tmp_path, data_dir=small_adult, quick=True, seed=1, echo=printed.append)
    values = pl.read_csv(paths[0])["value"]
    assert values.is_finite().all()
    assert values.min() >= 0  # type: ignore[operator]


@pytest.mark.slow
def test_a_seed_repeats_the_run(tmp_path: Path) -> None:
    runs = [
        figures.reproduce(["rps-fig1"], out=tmp_path / str(i), quick=True, seed=1, echo=lambda _: None) for i in (1, 2)
    ]
    assert runs[0][0].read_bytes() == runs[1][0].read_bytes()


def test_only_the_full_form_of_a_figure_repeats_the_claims_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(setting: Any) -> Any:  # noqa: ARG001
        yield Row("rps-fig1", "a", "default", 1.0, 0, 0.5)

    monkeypatch.setitem(figures.FIGURES, "rps-fig1", Figure(rows))  # type: ignore[arg-type]
    for quick in (False, True):
        printed: list[str] = []
        figures.reproduce(["rps-fig1"], out=tmp_path / str(quick), quick=quick, publish=StandIn(), echo=printed.append)
        said = "\n".join(printed)
        assert ("paper: depth 5 is too shallow" in said) != quick
        assert ("short form: " in said) == quick
    assert set(yaml.safe_load((Path(figures.__file__).parent / "claims.yaml").read_text("utf-8"))) <= set(
        figures.FIGURES
    )
