"""One-way tables of rps: which cells to count, and estimates for each code from the noisy counts.

A column of numbers gets fewer cells if there are few records for the noise: merging cells before they are counted costs
nothing, unlike merging them afterwards. Categories are all counted, because neighbours in their list need not be alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.drawing.column_cells import column_of, ladder_edges
from cantle.drawing.counts import Floats, variance
from cantle.drawing.smooth import smooth
from cantle.schema.domain import Attribute, Domain, Steps
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
    edges = np.arange(attribute.bins + 1, dtype=np.int64)
    if isinstance(attribute.scale, Steps) and expected is not None:
        widths = int(np.clip(expected / PER_CELL, LEAST_WIDTHS, attribute.bins))
        if 2 * widths <= attribute.bins:
            origin = column_of(attribute.on_places).origin
            edges = ladder_edges(attribute.bins, widths, None if origin is None else -origin // attribute.width)
    return np.append(edges, attribute.size) if attribute.nullable else edges


def one_way_tables(edges: Sequence[Ints], value: Ints, rate_num: int, rate_den: int) -> OneWayTables:
    """The tables in one answer, in which they follow each other."""
    ends = np.cumsum([len(edge) - 1 for edge in edges])[:-1]
    return OneWayTables(tuple(edges), tuple(np.split(value.astype(float), ends)), rate_num / rate_den)


def estimated(domain: Domain, tables: OneWayTables, total: float) -> list[Floats]:
    """For each attribute the estimated number of records per code: not negative, with the given sum."""
    estimates = []
    for attribute, edges, noisy in zip(domain.attributes, tables.edges, tables.noisy, strict=True):
        if isinstance(attribute.scale, Steps):
            estimates.append(_smoothed(attribute, edges, noisy, float(variance(tables.rate)), total))
        else:
            estimates.append(expected_shares(noisy, 1 / tables.rate, total) * total)
    return estimates


def _smoothed(attribute: Attribute, edges: Ints, noisy: Floats, noise: float, total: float) -> Floats:
    """Estimates for a column of numbers: pieces of constant density over the values, divided among the codes."""
    room = np.append(attribute.rooms[1][:-1], [1.0] * attribute.nullable)  # values per code
    widths = np.add.reduceat(room, edges[:-1])
    cells = len(noisy) - attribute.nullable
    counts = smooth(noisy, np.full(len(noisy), noise), widths[:cells], max(total, _TINY))
    density = counts * (total / max(float(counts.sum()), _TINY)) / widths
    return np.repeat(density, np.diff(edges)) * room


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
