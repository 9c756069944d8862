"""The figures of the DiffGen paper with a stand-in publisher: settings, panels, run times, the enlarged table."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import DataError, ParameterError
from cantle_lab.papers import adult, classify, diffgen_figures, figures
from cantle_lab.papers.coding import Coder
from cantle_lab.papers.tds import Specialised, tds
from tests.effort import slow

SCORES = tuple(classify.SCORES)


def write_trees(folder: Path) -> None:
    """Writes taxonomies in the format of the authors' file, which divide the categories into two halves."""
    sections = []
    for name, values in adult.CATEGORIES.items():
        middle = (len(values) + 1) // 2
        halves = [values[:middle], values[middle:]]
        groups = [" ".join(f"{{{value}}}" for value in half) for half in halves]
        tree = " ".join(f"{{Half{i} {group}}}" for i, group in enumerate(groups))
        spelt = {"class": "classes", "marital-status": "martial-status"}.get(name, name)
        sections.append(f"{spelt}:discrete\t| a comment\n{{Any {tree}}}\n")
    (folder / "adult_hierarchies").mkdir()
    (folder / "adult_hierarchies" / "fung_adultHierarchy.txt").write_text("\n".join(sections), encoding="ascii")


@pytest.fixture(scope="module")
def adult_with_trees(small_adult: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data-with-trees")
    shutil.copytree(small_adult / "adult", folder / "adult")
    write_trees(folder)
    return folder


@dataclass
class Release:
    """A k-anonymous table with the interface of a release."""

    specialised: Specialised

    def generalised(self) -> pl.DataFrame:
        return self.specialised.generalised()

    def generalise(self, frame: pl.DataFrame, /) -> pl.DataFrame:
        return self.specialised.generalise(frame)

    def save(self, folder: Path) -> None:
        folder.mkdir()
        self.generalised().write_csv(folder / "data.csv")

    @property
    def records(self) -> pl.DataFrame:
        return self.generalised()

    @property
    def groups(self) -> pl.DataFrame:
        return self.generalised()


@dataclass
class StandIn:
    """Publishes by TDS with k = 20, and lists the calls."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, data: Any, schema: Any, /, *, epsilon: float, **options: Any) -> Release:
        self.calls.append({"epsilon": epsilon, **options})
        frame = pl.read_csv(data) if isinstance(data, Path) else data
        assert [f["name"] for f in schema["fields"]] == frame.columns
        assert sum("hierarchy" in f for f in schema["fields"]) == 8
        return Release(tds(frame, schema, k=20))


def run(name: str, out: Path, **options: Any) -> tuple[list[Path], str, StandIn]:
    printed: list[str] = []
    publish = StandIn()
    paths = figures.reproduce([name], out=out, publish=publish, quick=True, echo=printed.append, **options)
    return paths, "\n".join(printed), publish


def test_fig3(adult_with_trees: Path, tmp_path: Path) -> None:
    paths, printed, publish = run("diffgen-fig3", tmp_path, data_dir=adult_with_trees)
    assert printed.startswith("diffgen-fig")
    summary = pl.read_csv(paths[1])
    panels = [
        f"{panel} {score}" for panel in ("a: Max", "b: InfoGain", "c: default", "d: Max, literal") for score in SCORES
    ]
    assert summary["panel"].unique(maintain_order=True).to_list() == panels
    assert set(summary["series"]) == {"raw", "majority", "h = 10", "default, accuracy", "default, auto"}
    assert summary["raw"].null_count() == 0
    assert publish.calls == [
        {"epsilon": 1, "accuracy_share": 0, "method": "diffgen", "preset": "paper", "rounds": 10, "score": "max"},
        {"epsilon": 1, "accuracy_share": 0, "method": "diffgen", "preset": "paper", "rounds": 10, "score": "infogain"},
        {"epsilon": 1, "accuracy_share": 0, "method": "diffgen", "preset": "default", "objective": "accuracy"},
        {"epsilon": 1, "accuracy_share": 0, "method": "diffgen", "preset": "default", "objective": "auto"},
        {
            "epsilon": 1,
            "accuracy_share": 0,
            "method": "diffgen",
            "preset": "paper",
            "rounds": 10,
            "score": "max",
            "literal": True,
        },
    ]
    assert "short form: " in printed
    assert paths[3].read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_fig4(adult_with_trees: Path, tmp_path: Path) -> None:
    paths, printed, publish = run("diffgen-fig4", tmp_path, data_dir=adult_with_trees, seed=3)
    summary = pl.read_csv(paths[1])
    assert summary["panel"].unique(maintain_order=True).to_list() == list(SCORES)
    series = {"raw", "majority", "TDS k=5", "paper, h = 15", "default, accuracy", "default, auto"}
    series |= {"DiffP-C4.5, one choice", "DiffP-C4.5, split first"}
    assert set(summary["series"]) == series
    assert len(publish.calls) == 3 * 3  # series x folds
    assert {call["rounds"] for call in publish.calls if call["preset"] == "paper"} == {15}
    assert len({call["insecure_seed"] for call in publish.calls}) == 3  # one per fold, the same for all series
    accuracy = summary.filter(pl.col("panel") == "accuracy")
    values = dict(zip(accuracy["series"], accuracy["mean"], strict=True))
    assert values["paper, h = 15"] == values["default, auto"]  # the stand-in ignores its options
    assert "short form: " in printed


@pytest.mark.slow
def test_a_seed_repeats_the_comparison(adult_with_trees: Path, tmp_path: Path) -> None:
    runs = [run("diffgen-fig4", tmp_path / str(i), data_dir=adult_with_trees, seed=3)[0] for i in (1, 2)]
    assert runs[0][0].read_bytes() == runs[1][0].read_bytes()


@pytest.mark.parametrize("name", ["diffgen-fig5", "diffgen-fig5-large"])
def test_fig5(name: str, adult_with_trees: Path, tmp_path: Path) -> None:
    paths, printed, publish = run(name, tmp_path, data_dir=adult_with_trees)
    rows = pl.read_csv(paths[0])
    assert rows["series"].unique(maintain_order=True).to_list() == ["reading", "anonymisation", "writing", "total"]
    for panel in rows.partition_by("panel"):
        read, anonymise, write, total = panel["value"]
        assert total == pytest.approx(read + anonymise + write)
    assert [call["preset"] for call in publish.calls] == ["paper", "default"]
    size = 2_000 if name == "diffgen-fig5" else 4_000
    assert rows["x"].to_list() == [size] * 8
    assert f"{name} a: paper, h = 15: seconds by records\nrecords        {size:,}\nreading  " in printed
    assert "eps" not in printed.replace("epsilon", "")
    assert [path.name for path in paths] == [f"{name}{e}" for e in (".csv", "-summary.csv", ".txt", ".png")]
    assert paths[2].read_text(encoding="utf-8") == printed + "\n"
    assert paths[3].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "name",
    slow(
        [name for name in figures.FIGURES if name.startswith("diffgen")], "diffgen-fig3", "diffgen-fig4", "diffgen-fig5"
    ),
)
def test_figures_work_with_the_real_publisher(name: str, adult_with_trees: Path, tmp_path: Path) -> None:
    paths = figures.reproduce([name], out=tmp_path, data_dir=adult_with_trees, quick=True, seed=1, echo=lambda _: None)
    values = pl.read_csv(paths[0])["value"]
    assert values.is_finite().all()
    assert values.min() >= 0  # type: ignore[operator]


def test_the_full_grid_equals_that_of_the_paper() -> None:
    assert diffgen_figures.ROUNDS == (4, 7, 10, 13, 16)
    setting = figures.Setting(publish=StandIn(), repeats=10)
    assert setting.pick(range(200_000, 1_000_001, 200_000), ()) == range(200_000, 1_000_001, 200_000)


def test_enlarging_varies_copies_within_the_domain(adult_with_trees: Path, tmp_path: Path) -> None:
    table, schema = adult.load(adult_with_trees, "all"), adult.schema("all", adult_with_trees)
    size = 3 * table.height - 7
    diffgen_figures.blow_up(table, schema, size, tmp_path / "big.csv", np.random.default_rng(1))
    big = pl.read_csv(tmp_path / "big.csv")
    assert big.height == size
    assert big.head(table.height).equals(table)  # the records themselves come first
    coder = Coder(schema)
    raw, copy = coder.encode(table), coder.encode(big.slice(table.height, table.height))
    np.testing.assert_array_equal(raw.labels, copy.labels)
    changed = (raw.codes != copy.codes).mean(axis=0)
    wide = [grid.size > 1_000 for grid in coder.attributes]
    assert changed[wide] == pytest.approx(0.3, abs=0.06)  # a drawn value is hardly ever the old one
    assert changed.max() < 0.36


def test_trees_are_read_and_missing_files_refused(adult_with_trees: Path, tmp_path: Path) -> None:
    schema = adult.schema("all", adult_with_trees)
    field = next(f for f in schema["fields"] if f["name"] == "education")
    assert "categoriesOrdered" not in field
    assert sorted(field["categories"]) == sorted(adult.CATEGORIES["education"])
    assert list(field["hierarchy"]) == ["Any"]
    with pytest.raises(DataError, match="adult_hierarchies/fung_adultHierarchy.txt"):
        adult.trees(tmp_path)
    with pytest.raises(ParameterError, match="--data DIR"):
        run("diffgen-fig3", tmp_path)


def test_the_real_trees_have_the_documented_shapes(real_data: Path) -> None:
    trees = adult.trees(real_data)
    assert {name: len(tree.leaves) for name, tree in trees.items()} == {
        name: len(values) for name, values in adult.CATEGORIES.items() if name != "class"
    }
    education = trees["education"]
    assert [education.name(*span) for span in education.children(*education.root)] == [
        "Without-Post-Secondary",
        "Post-secondary",
    ]
