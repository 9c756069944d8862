"""docs/papers.md says what today's code measures: one seeded cell of each table is made again and compared."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import cantle
from cantle_lab.papers import degree_figures, diffgen_figures, diffpart_figures, graphs, metrics, rps_figures
from cantle_lab.papers.harness import Options, Row, Setting

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/papers.md").read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class OneCell(Setting):
    """Settings under which a figure measures one series at one point, where it lets the setting choose."""

    series: str
    x: float

    def pick(self, full: Sequence[Any], few: Sequence[Any]) -> Sequence[Any]:  # noqa: ARG002
        return [self.x] if self.x in full else full

    def sweep(self, figure: str, panels: Mapping[str, Mapping[str, Options]], *how: Any) -> Iterator[Row]:
        wanted = {panel: {name: one for name, one in series.items() if name == self.series}
                  for panel, series in panels.items()}  # fmt: skip
        yield from super().sweep(figure, wanted, *how)


def setting(series: str, x: float, repeats: int, data: Path | None = None) -> OneCell:
    return OneCell(
        publish=cantle.publish, data_dir=data, repeats=repeats, seed=1, echo=lambda _: None, series=series, x=x
    )


def written(heading: str, row: str, column: str) -> str:
    """The text of a cell in the first table below a heading that has this column."""
    section = PAGE.split(f"\n### {heading}")[1].split("\n### ")[0]
    for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines())
        if column in head:
            return next(cells[head.index(column)] for cells in rows if cells[0] == row)
    raise AssertionError(f"no table below {heading} has a column {column}")


def mean(rows: Iterator[Row], series: str, panel: str, x: float) -> float:
    values = [row.value for row in rows if (row.series, row.x) == (series, x) and panel in row.panel]
    return sum(values) / len(values)


def test_figure_1_of_rps_is_what_the_code_measures() -> None:
    measured = mean(rps_figures.fig1(setting("default preset", 1, 5)), "default preset", "a:", 1)
    assert f"{measured:.2f}" == written("Figure 1: one attribute", "**default preset**", "1")


def test_figure_2_of_rps_is_what_the_code_measures() -> None:
    measured = mean(rps_figures.fig2(setting("default preset", 1, 3)), "default preset", "c:", 1)
    # The clusters of scikit-learn follow the linear algebra of the processor: .952 on one, .961 on another.
    assert measured == pytest.approx(float(written("Figure 2: three clusters", "**default preset**", "1")), abs=0.015)


def test_the_literal_rows_of_figure_1_are_what_the_code_measures() -> None:
    series = "literal, epsilon for each question"
    measured = mean(rps_figures.fig1(setting(series, 0.01, 5)), series, "c:", 0.01)
    assert f"{measured:.2f}" == written("Figure 1: one attribute", series, "eps 0.01")


def test_the_midpoints_of_figure_2_are_what_the_code_measures() -> None:
    measured = mean(rps_figures.fig2(setting("midpoint, depth 10", 1, 3)), "midpoint, depth 10", "c:", 1)
    row = "(c) midpoint of a random attribute, depth 10"
    assert measured == pytest.approx(float(written("Figure 2: three clusters", row, "1")), abs=0.015)


@pytest.fixture
def data() -> Path:
    folder = os.environ.get("CANTLE_DATA")
    if not folder:
        pytest.skip("set CANTLE_DATA to the folder of the data sets")
    return Path(folder)


def test_the_degrees_are_what_the_code_measures(data: Path) -> None:
    caltech = next(graph for graph in graphs.present(data, "rps-degrees", lambda _: None) if graph.name == "Caltech")
    cell = setting("", 1, 3)
    released = [degree_figures.publish_degrees(cell, caltech, "node", 1, repeat) for repeat in range(3)]
    measured = sum(metrics.ks(caltech.degrees, one) for one in released) / 3
    row = written("Figures 4 and 5", "eps 1: **`node`, nodes listed**", "Caltech")
    assert f"{measured:.3f}".lstrip("0") == row.split(" / ")[0]


@pytest.mark.slow
def test_figure_3_of_diffgen_is_what_the_code_measures(data: Path) -> None:
    rows = diffgen_figures.fig3(setting("", 1, 5, data))
    measured = mean(rows, "default, accuracy", "c: default accuracy", 1)
    assert f"{100 * measured:.1f}" == written("Figure 3: Adult, 45,222", "**default, objective accuracy**", "1")


@pytest.mark.slow
def test_the_sets_of_msnbc_are_what_the_code_measures(data: Path) -> None:
    rows = diffpart_figures.msnbc(setting("", 1, 3, data))
    measured = mean(rows, "default", "top100", 1)
    assert f"{measured:.3f}".lstrip("0") == written("MSNBC: 989,818 records", "**default preset**", "top-100")
