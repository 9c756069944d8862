"""One-way tables: which cells to count, estimates from the noisy counts, and values drawn by them.

A column of numbers gets fewer cells if there are few records for the noise: merging cells before they are counted costs
nothing, unlike merging them afterwards. Categories are all counted, because neighbours in their list need not be alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cantle.drawing.column_cells import column_of, ladder_edges
from cantle.drawing.counts import Dice, Floats, Strata, draw_uniform, fit_values, variance
from cantle.drawing.obey_rules import Shape
from cantle.drawing.smooth import smooth
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import Ints

PER_CELL = 10
"""Records that an average cell of a column of numbers should hold, in noise scales."""

LEAST_WIDTHS = 4

PRIOR = 2.0
"""Total weight of the prior on the shares of categories; for two categories, 2 makes it uniform."""

_POINTS, _REACH = 128, 12.0  # of the integral over a share: its points, and its reach in noise scales
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class OneWayTables:
    """The noisy one-way tables: for each attribute the edges of its cells, as codes, and their counts."""

    edges: tuple[Ints, ...]
    noisy: tuple[Floats, ...]
    rate: float


def cell_edges(attribute: Attribute, expected: float | None) -> Ints:
    """Edges of the cells to count, as codes; null has a cell of its own.

    `expected` is the number of records in noise scales; without it every code is a cell.
    """
    widths = attribute.bins
    if isinstance(attribute.scale, Steps) and expected is not None:
        widths = int(np.clip(expected / PER_CELL, LEAST_WIDTHS, attribute.bins))
    if 2 * widths <= attribute.bins:
        origin = column_of(attribute.on_places).origin
        edges = ladder_edges(attribute.bins, widths, None if origin is None else -origin // attribute.width)
    else:
        edges = np.arange(attribute.bins + 1, dtype=np.int64)
    return np.append(edges, attribute.size) if attribute.nullable else edges


def one_way_tables(edges: Sequence[Ints], value: Ints, rate_num: int, rate_den: int) -> OneWayTables:
    """The tables in one answer, in which they follow each other."""
    ends = np.cumsum([len(edge) - 1 for edge in edges])[:-1]
    return OneWayTables(tuple(edges), tuple(np.split(value.astype(float), ends)), rate_num / rate_den)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The distribution of a column's values: pieces of codes, by their edges, and their masses.

    Inside a piece all values are equally likely. So a column may have a million codes, and what is fitted and drawn has
    as many numbers as there are pieces.
    """

    attribute: Attribute
    edges: Ints
    mass: Floats

    @staticmethod
    def even(attribute: Attribute, cuts: Ints) -> Pieces:
        """All values equally likely; null as likely as a step."""
        edges = np.array([0, *([attribute.bins] if attribute.nullable else []), attribute.size])
        counts = np.append(attribute.grid, [attribute.cell] * attribute.nullable).astype(np.float64)
        return Pieces.split(attribute, edges, counts, cuts)

    @staticmethod
    def split(attribute: Attribute, edges: Ints, counts: Floats, cuts: Ints) -> Pieces:
        """Cells with these counts, divided at the cuts too; a category has one piece per code."""
        if not isinstance(attribute.scale, Steps):
            cuts = np.arange(attribute.size + 1)
        fine = np.union1d(edges, cuts).astype(np.int64)
        cell = np.searchsorted(edges, fine[:-1], side="right") - 1
        share = np.diff(attribute.places(fine)) / np.diff(attribute.places(edges))[cell]
        return Pieces(attribute, fine, counts[cell] * share)

    def fitted(self, lo: Ints, hi: Ints, weight: Floats) -> Pieces:
        """The masses with which regions of these spans and weights together have the masses of these pieces."""
        if (hi > self.attribute.size).any():  # sets of categories, whose pieces are single codes
            return replace(self, mass=fit_values(self.mass, lo, hi, weight))
        return replace(self, mass=fit_values(self.mass, *self._spans(lo, hi), weight))

    def _spans(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        return np.searchsorted(self.edges, lo), np.searchsorted(self.edges, hi)

    def draw(self, strata: Strata, lo: Ints, hi: Ints, order: Ints, dice: Dice) -> Codes:
        """Places on the grid for the records of regions with these spans, in this order."""
        places = self.attribute.places(self.edges)
        piece: Codes
        if (hi > self.attribute.size).any():
            piece = value_sets.CODE[strata.draw(value_sets.along(self.mass), lo, hi, dice)]
        elif ((spans := self._spans(lo, hi))[1] - spans[0] == 1).all():
            piece = np.repeat(spans[0], strata.counts)
        else:
            piece = strata.draw(self.mass, *spans, dice)
        return draw_uniform(places[:-1], places[1:], piece[order], self.attribute.grid + 1, dice)

    @property
    def shape(self) -> Shape:
        """The distribution of places on the grid."""
        return Shape(self.attribute.places(self.edges), self.mass)


def estimated(attribute: Attribute, edges: Ints, noisy: Floats, rate: float, total: float) -> Floats:
    """The estimated number of records in each cell of a one-way table: not negative, with the given sum."""
    if not isinstance(attribute.scale, Steps):
        return expected_shares(noisy, 1 / rate, total) * total
    widths = np.diff(attribute.places(edges))[: len(noisy) - attribute.nullable].astype(np.float64)
    counts = smooth(noisy, np.full(len(noisy), float(variance(rate))), widths, max(total, _TINY))
    return np.asarray(counts * (total / max(float(counts.sum()), _TINY)))


def expected_shares(noisy: Floats, scale: float, total: float) -> Floats:
    """The mean share of each cell, given its noisy count: shares have a symmetric Dirichlet prior of weight PRIOR.

    The mean is computed for each cell by itself; the shares are then corrected to add up to 1, the least certain ones
    most. With much noise the shares are nearly equal, so a table is hardly worse than none; with little noise they are
    the noisy shares.

    >>> expected_shares(np.array([90.0, 10.0]), 1e-3, 100.0).round(3).tolist()
    [0.9, 0.1]
    >>> expected_shares(np.array([90.0, 10.0]), 1e6, 100.0).round(3).tolist()
    [0.5, 0.5]
    """
    cells = len(noisy)
    if cells < 2 or total <= 0:
        return np.full(cells, 1 / cells)
    middle, reach = np.clip(noisy / total, 0.0, 1.0)[:, None], _REACH * scale / total
    low, high = np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
    share = np.clip(low + (high - low) * ((np.arange(_POINTS) + 0.5) / _POINTS), 1e-12, 1 - 1e-12)
    weight = PRIOR / cells
    prior = (weight - 1) * np.log(share) + (weight * (cells - 1) - 1) * np.log(1 - share)
    belief = prior - np.abs(noisy[:, None] - total * share) / scale
    belief = np.exp(belief - belief.max(axis=1, keepdims=True))
    belief /= belief.sum(axis=1, keepdims=True)
    mean = (belief * share).sum(axis=1)
    spread = (belief * (share - mean[:, None]) ** 2).sum(axis=1)
    for _ in range(3):
        mean = np.maximum(mean + (1 - mean.sum()) * spread / max(float(spread.sum()), 1e-300), 0.0)
    return np.asarray(mean / mean.sum())


def marginals_frame(domain: Domain, edges: Sequence[Ints], value: Ints, rate_num: int, rate_den: int) -> pl.DataFrame:
    """The noisy one-way tables in long form: attribute, first code of the cell, label, noisy count, rate."""
    names = [a.name for a, edge in zip(domain.attributes, edges, strict=True) for _ in edge[1:]]
    codes = np.concatenate([edge[:-1] for edge in edges])
    labels = [
        a.describe(lo, hi)
        for a, edge in zip(domain.attributes, edges, strict=True)
        for lo, hi in zip(edge[:-1].tolist(), edge[1:].tolist(), strict=True)
    ]
    return pl.DataFrame({"attribute": names, "code": codes, "label": labels, "noisy": value}).with_columns(
        rate_num=pl.lit(rate_num, pl.Int64), rate_den=pl.lit(rate_den, pl.Int64)
    )


def tables_from(domain: Domain, marginals: pl.DataFrame | None) -> OneWayTables | None:
    """The one-way tables behind such a frame."""
    if marginals is None:
        return None
    rate = int(marginals["rate_num"][0]), int(marginals["rate_den"][0])
    edges = []
    for attribute in domain.attributes:
        codes = marginals.filter(pl.col("attribute") == attribute.name)["code"].to_numpy()
        edges.append(np.append(codes, attribute.size).astype(np.int64))
    return one_way_tables(edges, marginals["noisy"].to_numpy(), *rate)
