"""Distributions of single columns inside the coarse cells of diffgen: smoothed noisy one-way tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.drawing.column_cells import WIDTHS, column_of, starting_edges, with_null
from cantle.drawing.counts import Dice, Floats, Strata, draw_uniform
from cantle.drawing.obey_rules import Shape
from cantle.drawing.smooth import project, smooth
from cantle.methods.mosaic.model.noisy_tables import laplace_variance
from cantle.schema.domain import Attribute, Domain
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.grid import Grid

LEAST_WIDTHS = 4
MOST_CATEGORIES = 1 << 10
"""A column of more categories has no table: its counts would be noise."""

PER_CELL = 10
"""Records that an average cell of a table should hold, in noise scales."""

_FLOOR = 1e-9


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """The noisy table of one attribute. Its cells are given by their edges, which are codes; only cells with a noisy
    count of at least 1 are listed, in ascending order."""

    attribute: int
    edges: Ints
    cells: Ints
    noisy: Ints
    rate_num: int
    rate_den: int

    def counts(self) -> tuple[Floats, float]:
        """The counts of all cells, and the variance of their noise.

        The noisy count of a cell that is not listed was 0 or less. If such a cell is empty, its expected noise is
        -a / (1 - a), where P[Z = k] is proportional to a^|k|. With that value, empty cells are 0 on average.
        """
        rate = self.rate_num / self.rate_den
        full = np.full(len(self.edges) - 1, 1 / -np.expm1(rate))
        full[self.cells] = self.noisy
        return full, laplace_variance(rate)


def table_edges(attribute: Attribute, records: float, rate: float) -> Ints | None:
    """Edges of the cells of an attribute's table, null in a cell of its own; None if it gets no table.

    A column of numbers gets fewer cells if there are few records for noise of this rate.
    """
    column = column_of(attribute)
    if not column.numeric and attribute.size > MOST_CATEGORIES:
        return None
    widths = int(np.clip(records * rate / PER_CELL, LEAST_WIDTHS, WIDTHS))
    return with_null(column, starting_edges(column, widths))


class ColumnShapes:
    """Distributions of values inside the spans of a grid: cells and their masses, for each attribute with a table."""

    def __init__(self, domain: Domain, grid: Grid, tables: Sequence[ColumnTable], total: int) -> None:
        self._shapes: dict[int, tuple[Ints, Floats]] = {}
        for table in tables:
            counts, variance = table.counts()
            smoothed = _smoothed(domain.attributes[table.attribute], table.edges, counts, variance, total)
            self._shapes[table.attribute] = _spread(table.edges, smoothed, grid.edges[table.attribute])

    def draw(
        self, number: int, attribute: Attribute, lo: Ints, hi: Ints, count: Ints, order: Ints, dice: Dice
    ) -> Codes:
        """Codes for the records of regions [lo, hi) with these counts, in this order; uniform if there is no table."""
        if number not in self._shapes:
            row = np.repeat(np.arange(len(lo), dtype=np.int32), count)[order]
            return draw_uniform(lo, hi, row, attribute.size, dice)
        edges, mass = self._shapes[number]
        some = np.flatnonzero(count)
        first, last = np.searchsorted(edges, lo[some]), np.searchsorted(edges, hi[some])
        cell = Strata(count[some]).draw(mass, first, last, dice)[order].astype(np.int32)
        return draw_uniform(edges[:-1], edges[1:], cell, attribute.size, dice)

    def shape(self, number: int, attribute: Attribute) -> Shape:
        """The distribution of a column's values on its whole grid."""
        edges, mass = self._shapes.get(number, (np.array([0, attribute.size]), np.ones(1)))
        return Shape(attribute.places(edges), mass)


def _smoothed(attribute: Attribute, edges: Ints, counts: Floats, variance: float, total: int) -> Floats:
    """Non-negative counts of the cells that sum to the number of records."""
    column, whole = column_of(attribute), float(max(1, total))
    if not column.numeric:
        return project(counts, whole)
    widths = np.diff(edges)[: len(counts) - column.null].astype(np.float64)
    return smooth(counts, np.full(len(counts), variance), widths, whole)


def _spread(edges: Ints, mass: Floats, cuts: Ints) -> tuple[Ints, Floats]:
    """Splits the cells at the grid's cuts as well, dividing a cell's mass by width; every cell keeps some mass."""
    fine = np.union1d(edges, cuts).astype(np.int64)
    width = np.diff(fine)
    cell = np.searchsorted(edges, fine[:-1], side="right") - 1
    shared = mass[cell] * width / np.diff(edges)[cell]
    return fine, shared + _FLOOR * mass.sum() * width / width.sum()


def tables_frame(domain: Domain, tables: Sequence[ColumnTable]) -> pl.DataFrame:
    """The noisy tables in long form: attribute, cell, its values in words, noisy count, rate."""
    parts = []
    for table in tables:
        attribute, cell = domain.attributes[table.attribute], table.cells
        spans = zip(table.edges[cell].tolist(), table.edges[cell + 1].tolist(), strict=True)
        columns: dict[str, pl.Series | Codes] = {
            "attribute": pl.Series([attribute.name] * len(cell), dtype=pl.String),
            "cell": cell,
            "label": pl.Series([attribute.describe(*span) for span in spans], dtype=pl.String),
            "noisy": table.noisy,
            "rate_num": np.full(len(cell), table.rate_num),
            "rate_den": np.full(len(cell), table.rate_den),
        }
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


def tables_from(
    domain: Domain, edges: dict[str, list[int]], frame: pl.DataFrame, rate: tuple[int, int]
) -> list[ColumnTable]:
    """The tables behind such a frame, and the edges of their cells; of some tables no cell is listed. All tables were
    asked with noise of this rate."""
    tables = []
    for number, attribute in enumerate(domain.attributes):
        if attribute.name in edges:
            part = frame.filter(pl.col("attribute") == attribute.name)
            listed = part["cell"].to_numpy(), part["noisy"].to_numpy()
            tables.append(ColumnTable(number, np.array(edges[attribute.name], dtype=np.int64), *listed, *rate))
    return tables
