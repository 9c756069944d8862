"""Figures of the DiffPart paper with a stand-in publisher: panels, settings, refusals, missing files, tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import ParameterError
from cantle.interfaces.publishing import publish as real_publish
from cantle_lab.bench import passes
from cantle_lab.papers import basket_figures, diffpart_figures, figures, report, sets
from cantle_lab.papers.setqueries import Nothing, answers_of
from tests.effort import slow

NAMES = [name for name in figures.FIGURES if name.startswith("diffpart-") and name != "diffpart-msnbc"]
SHORT = ("diffpart-fig3", "diffpart-fig6")


@dataclass
class Release:
    records: pl.DataFrame
    groups: pl.DataFrame

    def save(self, folder: Path) -> None:
        folder.mkdir()


@dataclass
class StandIn:
    """Publishes the records unchanged, refuses the paper's C2 for more than 20 items, and lists the calls."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, data: Any, schema: Any, /, *, epsilon: float, **options: Any) -> Release:
        size = schema["items"]["maximum"]
        self.calls.append({"epsilon": epsilon, "size": size, **options})
        assert schema == {"kind": "sets", "items": {"minimum": 1, "maximum": size}}
        if options["preset"] == "paper" and size > 20 and "c2" not in options:
            raise ParameterError("too many empty parts; use c2=5")
        if isinstance(data, Path):
            lines = data.read_text(encoding="ascii").splitlines()
            data = pl.DataFrame({"items": [[int(label) for label in line.split(" ")] for line in lines]})
        assert data.height > 0
        assert data["items"].list.min().min() >= 1
        assert data["items"].list.max().max() <= size
        return Release(data, data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with small files instead of MSNBC and retail."""
    made = tmp_path_factory.mktemp("sets")
    for name, items in (("msnbc", 8), ("retail", 30)):
        path = made / sets.FILES[name]
        path.parent.mkdir()
        sets.stand_in(sets.Town(records=1_500, items=items, stations=4, longest=6)).write(path)
    return made


def run(name: str, out: Path, **options: Any) -> tuple[list[Path], str, StandIn]:
    printed: list[str] = []
    publish = StandIn()
    paths = figures.reproduce([name], out=out, publish=publish, quick=True, echo=printed.append, **options)
    return paths, "\n".join(printed), publish


@pytest.fixture(scope="module")
def third(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], str, StandIn]:
    """One run of figure 3, which several tests use."""
    return run("diffpart-fig3", tmp_path_factory.mktemp("third") / "out", data_dir=folder)


def of(summary: pl.DataFrame, series: str) -> pl.DataFrame:
    return summary.filter(pl.col("series").str.starts_with(series))


@pytest.mark.parametrize("name", slow(NAMES, *(name for name in NAMES if name not in SHORT)))
def test_every_figure_writes_its_files(
    name: str, folder: Path, tmp_path: Path, third: tuple[list[Path], str, StandIn]
) -> None:
    paths, printed, publish = third if name == "diffpart-fig3" else run(name, tmp_path / "out", data_dir=folder)
    assert [path.name for path in paths] == [f"{name}{e}" for e in (".csv", "-summary.csv", ".txt", ".png")]
    assert paths[2].read_text(encoding="utf-8") == printed + "\n"
    assert paths[3].read_bytes().startswith(b"\x89PNG")
    ours = set() if name == "diffpart-fig5" else {"auto"}
    assert {call["method"] for call in publish.calls} == {"diffpart"} | ours
    assert all("insecure_seed" not in call for call in publish.calls)
    assert {call["preset"] for call in publish.calls} == (
        {"paper"} if name == "diffpart-fig5" else {"paper", "default"}
    )
    assert "short form: " in printed
    assert "paper: " not in printed
    assert f"{name} " in printed
    summary = pl.read_csv(paths[1])
    assert summary["panel"].str.contains("stand-in").any()
    exact = of(summary, "default")
    assert exact.height
    if name in ("diffpart-fig3", "diffpart-fig5", "diffpart-fig6", "diffpart-fig7"):
        assert set(exact["mean"]) == {0.0}  # the publisher releases the true records
        assert of(summary, "empty release")["mean"].min() > 0


def test_figure_3_has_baselines_and_names_refusals(third: tuple[list[Path], str, StandIn]) -> None:
    paths, printed, _ = third
    summary = pl.read_csv(paths[1])
    few = summary.filter(pl.col("panel").str.starts_with("MSNBC"))
    many = summary.filter(pl.col("panel").str.starts_with("stand-in"))
    assert set(few["series"]) == {
        "empty release", "exact supports, independent", "Basic, raw", "Basic, records",
        "paper", "literal", "paper, C1 = 2.75, C2 = 6.75", "default",
    }  # fmt: skip
    assert set(many["series"]) == {
        "empty release", "exact supports, independent",
        "paper", "paper, C2 = 5", "paper, C1 = 2.75, C2 = 6.75", "default",
    }  # fmt: skip
    assert few["mean"].is_nan().sum() == 0
    refused = many.filter(pl.col("mean").is_nan())
    assert set(refused["series"]) == {"paper"}
    assert "stand-in, paper, budget 1: refused; too many empty parts; use c2=5" in printed
    assert printed.count(" refused\n") == refused.height
    assert "MSNBC: error to 20 % by budget" in printed
    assert set(summary["panel"]) == {
        f"{data}: error to {percent} % by budget" for data in ("MSNBC", "stand-in") for percent in (20, 100)
    }


@pytest.mark.slow
def test_baskets_are_compared_on_all_sets_and_a_copy_of_the_data_scores_best(folder: Path, tmp_path: Path) -> None:
    paths, printed, publish = run("baskets-sets", tmp_path, data_dir=folder)
    assert {call["method"] for call in publish.calls} == {"diffpart", "baskets"}
    summary = pl.read_csv(paths[1])
    assert {panel.split(":")[0] for panel in summary["panel"]} == {"msnbc", "retail", "stand-in"}
    assert printed.count("skipped") == len(sets.FILES) - 2
    copied = dict(of(summary, "baskets").filter(pl.col("panel").str.starts_with("retail"))["panel", "mean"].iter_rows())
    for measure in (
        "supL1",
        "rec1",
        "rec2",
        "rec3",
        "err20",
        "se100",
        "se500",
        "lift",
        "conf",
        "conf median",
        "sizeTV",
    ):
        assert copied[f"retail: {measure} by budget"] == 0
    for measure in ("p20", "p100", "p500", "u100", "true mass"):
        assert copied[f"retail: {measure} by budget"] == 1
    empty = dict(of(summary, "empty")["panel", "mean"].iter_rows())
    assert empty["retail: supL1 by budget"] == 1
    assert empty["retail: u100 by budget"] == empty["retail: true mass by budget"] == 0
    assert set(of(summary, "Basic")["panel"].str.split(":").list.first()) == {"msnbc"}


def test_rules_by_hand() -> None:
    """Four records: {0, 1} twice, {0}, {1}; the lift of the pair is 2 * 4 / 9, its confidence 2/3 either way."""
    data = sets.gather(np.array([0, 0, 1, 1, 2, 3]), np.array([0, 1, 0, 1, 0, 1]), 2)
    assert basket_figures.frequent_pairs(data).tolist() == [[0, 1]]
    rules = basket_figures.Rules.of(answers_of(data), np.array([[0, 1]], np.int32))
    assert rules.lift.tolist() == pytest.approx([8 / 9])
    assert rules.confidence.tolist() == [pytest.approx([2 / 3, 2 / 3])]
    assert basket_figures.as_queries([(0,), (0, 1)]).tolist() == [[0, -1], [0, 1]]
    apart = sets.gather(np.arange(6), np.array([0, 0, 0, 1, 1, 1]), 2)
    errors = rules.errors(answers_of(apart))
    assert errors["conf median"] == pytest.approx(2 / 3)
    assert errors["lift"] == pytest.approx(abs(np.log((0.5 * 6 / 9) / (8 / 9))))


def test_errors_of_random_queries_are_expected_errors() -> None:
    """There is one record of 5 of 8 items; the empty release is wrong about exactly the queries that it satisfies."""
    data = sets.gather(np.zeros(5, np.int64), np.arange(5), 8)
    scores = basket_figures.Case.of(data, 200).scores(Nothing(8))
    assert scores["err20"] == 5 / 8  # queries for one item: every item is asked
    expected = np.mean([comb(5, length) / comb(8, length) for length in (1, 2, 3)])
    assert scores["err60"] == pytest.approx(expected, abs=0.02)


def test_missing_files_are_skipped_and_named(tmp_path: Path) -> None:
    paths, printed, publish = run("diffpart-fig8", tmp_path / "out")
    assert (
        "diffpart-fig8: MSNBC skipped; it needs --data DIR, the folder that contains msnbc/msnbc990928.seq" in printed
    )
    assert set(pl.read_csv(paths[1])["panel"]) == {"stand-in: top5 by budget"}
    assert {call["size"] for call in publish.calls} == {60}


@pytest.mark.slow
def test_missing_files_of_the_table_are_skipped(tmp_path: Path) -> None:
    _, printed, publish = run("diffpart-sets", tmp_path / "out", data_dir=tmp_path)
    assert printed.count("skipped") == len(diffpart_figures.PUBLISHED)
    assert {call["size"] for call in publish.calls} == {60}


@pytest.mark.slow
def test_the_table_has_a_line_for_each_method_and_a_column_for_each_measure(folder: Path, tmp_path: Path) -> None:
    paths, printed, _ = run("diffpart-sets", tmp_path, data_dir=folder)
    for data in ("MSNBC", "retail", "stand-in"):
        assert f"diffpart-sets {data}\n" in printed
    assert "diffpart-sets: kosarak-5-25 skipped" in printed
    header = next(line for line in printed.splitlines() if "err20" in line)
    assert header.split() == ["err20", "err60", "rec1", "rec2", "top20", "top100", "records", "true", "mass"]
    lines = [line for line in printed.splitlines() if line.startswith("default ")]
    assert len(lines) == 3
    assert {tuple(line.split()[1:]) for line in lines} == {("0.000",) * 4 + ("1.000",) * 4}
    empty = [line.split()[2:] for line in printed.splitlines() if line.startswith("empty release ")]
    assert {tuple(cells[-4:]) for cells in empty} == {("0.000",) * 4}
    assert pl.read_csv(paths[0]).filter(pl.col("series") == "default").height == 3 * 8


@pytest.mark.slow
def test_the_figure_on_msnbc(folder: Path, tmp_path: Path) -> None:
    paths, printed, publish = run("diffpart-msnbc", tmp_path, data_dir=folder)
    assert [path.name for path in paths][0] == "diffpart-msnbc.csv"
    assert {call["size"] for call in publish.calls} == {8}
    lines = {line.split("  ")[0] for line in printed.splitlines()}
    assert lines >= {"empty release", "Basic, raw", "Basic, records", "paper", "default"}
    with pytest.raises(ParameterError, match="the folder that contains msnbc/"):
        run("diffpart-msnbc", tmp_path)


@pytest.mark.slow
def test_the_smallest_constant_is_the_first_that_the_publisher_accepts(folder: Path, tmp_path: Path) -> None:
    _, printed, publish = run("diffpart-sets", tmp_path, data_dir=folder)
    data = sets.stand_in(sets.Town(records=500, items=1_000, stations=23))
    constant = diffpart_figures.smallest(data, 1)
    assert constant is not None
    setting = figures.Setting(publish=real_publish, seed=1)
    diffpart_figures.publish_sets(setting, data, 1, {**diffpart_figures.PAPER, "c2": constant}, 0)
    with pytest.raises(ParameterError, match=f"use c2={constant:g} "):
        diffpart_figures.publish_sets(setting, data, 1, {**diffpart_figures.PAPER, "c2": constant - 0.01}, 0)
    few = sets.stand_in(sets.Town(records=10, items=60, stations=12))
    constant = diffpart_figures.smallest(few, 1)
    assert f"diffpart-sets: stand-in: the smallest C2 that is not refused is {constant:g}" in printed
    assert (
        len([line for line in printed.splitlines() if line.startswith("paper, smallest C2 ")]) == 2
    )  # one per file, without MSNBC
    assert constant in [call.get("c2") for call in publish.calls if call["size"] == 60]


def test_fan_out_and_sizes_reach_the_publisher(folder: Path, tmp_path: Path) -> None:
    _, _, publish = run("diffpart-fig5", tmp_path, data_dir=folder)
    assert {call["fanout"] for call in publish.calls} == {4, 10}
    _, _, publish = run("diffpart-fig6", tmp_path)
    assert {call["size"] for call in publish.calls} == {30, 60}
    paths, _, _ = run("diffpart-fig7", tmp_path, data_dir=folder)
    records = pl.read_csv(paths[0]).group_by("panel").agg(pl.col("x").unique().sort())
    assert dict(records.iter_rows()) == {
        "MSNBC: error to 60 % by records": [750, 1_500],
        "stand-in: error to 60 % by records": [2_000, 4_000],
    }


@pytest.mark.slow
def test_run_times_are_reported_by_stage(folder: Path, tmp_path: Path) -> None:
    paths, _, publish = run("diffpart-fig4", tmp_path, data_dir=folder)
    rows = pl.read_csv(paths[0])
    panels = ("a: MSNBC, {} by records", "a: stand-in, {} by records", "b: stand-in, {} by items")
    assert set(rows["panel"]) == {panel.format(kind) for panel in panels for kind in ("core-seconds", "peak MB")}
    seconds = rows.filter(pl.col("panel").str.contains("core-seconds"))
    assert set(seconds["series"]) == {
        f"{series}, {stage}"
        for series in ("paper", "paper, C2 = 5", "default")
        for stage in ("reading", "partitioning", "drawing", "writing")
    }
    assert seconds["value"].min() >= 0  # type: ignore[operator]
    peaks = rows.filter(pl.col("panel").str.contains("peak MB"))
    assert 10 < peaks["value"].min() <= peaks["value"].max() < 100_000  # type: ignore[operator]
    assert (len(publish.calls), seconds.height) == (peaks.height, 4 * peaks.height)


def test_stages_add_up_to_the_whole_run(tmp_path: Path) -> None:
    """The clock advances by one whenever it is read; the run starts at 1."""
    ticks = count(1)
    data = sets.stand_in(sets.Town(records=500, items=40, stations=4))
    data.write(tmp_path / "data.dat")
    setting = figures.Setting(publish=real_publish, seed=1)
    path, options = tmp_path / "data.dat", diffpart_figures.DEFAULT
    release = partial(setting.release, path, data.schema(), 1, options, 0)
    cost = passes.stages(passes.whole_run(release, lambda: float(next(ticks))))
    assert cost.keys() == passes.STAGES.keys()
    assert min(cost.values()) > 0
    assert sum(cost.values()) == next(ticks) - 1 - 1


@pytest.mark.slow
def test_a_seed_is_passed_on(tmp_path: Path, folder: Path) -> None:
    first = run("diffpart-fig3", tmp_path, data_dir=folder, seed=5)
    assert {call["insecure_seed"] for call in first[2].calls} == {5 * 1_000_003}
    kept = pl.read_csv(first[0][0])
    again = pl.read_csv(run("diffpart-fig3", tmp_path, data_dir=folder, seed=5)[0][0])
    assert kept.equals(again)  # the noise of Basic is repeated too


def test_the_full_grid_equals_that_of_the_paper() -> None:
    assert diffpart_figures.BUDGETS == (0.5, 0.75, 1, 1.25)
    setting = figures.Setting(publish=StandIn(), repeats=3)
    data = sets.stand_in(sets.Town(records=300, items=30, stations=5))
    case = diffpart_figures.Case.of("x", data, diffpart_figures._errors(setting, data, (60,)))
    assert len(case.yard.truth["error to 60 %"]) == 10_000
    rows = list(diffpart_figures._compare(setting, "f", case, diffpart_figures.BUDGETS))
    finished = [row for row in rows if row.series == "default"]
    assert len(finished) == 4 * 3
    assert (
        len([row for row in rows if row.series == "paper"]) == 4
    )  # refusals appear once per budget, not once per repeat


def test_table_by_hand() -> None:
    rows = [
        ("f", "p: error by fan-out", "empty", None, 0.5, None, 1),
        ("f", "p: error by fan-out", "paper", 4.0, np.nan, None, 1),
        ("f", "p: error by fan-out", "paper", 1000.0, 0.25, 0.01, 2),
    ]
    names = ["figure", "panel", "series", "x", "mean", "error", "repeats"]
    text = report.table_by_name(pl.DataFrame(rows, schema=names, orient="row"))
    assert text.splitlines() == [
        "f p: error by fan-out",
        "fan-out        4          1,000",
        "empty      0.500          0.500",
        "paper    refused  0.250 +-0.010",
    ]


@pytest.mark.parametrize("name", slow(NAMES, *(name for name in NAMES if name not in SHORT)))
def test_a_publisher_that_always_refuses_leaves_the_baselines(name: str, tmp_path: Path) -> None:
    def refuse(data: Any, schema: Any, /, *, epsilon: float, **options: Any) -> Release:  # noqa: ARG001
        raise ParameterError("not today")

    printed: list[str] = []
    paths = figures.reproduce([name], out=tmp_path, publish=refuse, quick=True, echo=printed.append)
    rows = pl.read_csv(paths[0])
    ours = rows.filter(pl.col("series").str.contains("paper|default|baskets"))
    assert ours.height
    assert ours["value"].is_nan().all()
    assert not rows.filter(~pl.col("series").str.contains("paper|default|baskets"))["value"].is_nan().any()
    lines = len(set(ours.select("series", "x").iter_rows()))
    measures = len(passes.STAGES) + 1 if name == "diffpart-fig4" else 1
    assert sum("refused; not today" in line for line in printed) == lines / measures
