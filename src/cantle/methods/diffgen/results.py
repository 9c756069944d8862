"""From the noisy cells of diffgen to what is released: projected counts, groups, records. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, Floats, Strata, project_rows, round_rows
from cantle.drawing.group_frames import column_of, span_columns
from cantle.drawing.obey_rules import Regions
from cantle.drawing.records import Drawn, Results, drawable
from cantle.methods.rps.one_ways import Pieces, estimated
from cantle.methods.rps.results import label_places
from cantle.schema.domain import Attribute, Domain
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.grid import Grid

if TYPE_CHECKING:
    from cantle.schema.canonical_json import JSON


COUNT = "cantle.count"
"""The column of generalised records that holds their number."""


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
        """The counts of all cells, and the rate of their noise.

        The noisy count of a cell that is not listed was 0 or less. If such a cell is empty, its expected noise is
        -a / (1 - a), where P[Z = k] is proportional to a^|k|. With that value, empty cells are 0 on average.
        """
        rate = self.rate_num / self.rate_den
        full = np.full(len(self.edges) - 1, 1 / -np.expm1(rate))
        full[self.cells] = self.noisy
        return full, rate


def cell_results(
    domain: Domain,
    grid: Grid,
    noisy: NoisyCells,
    tables: Sequence[ColumnTable],
    total: int | None,
    rounds: int,
    generator: Dice,
) -> Results:
    """Everything a release of cells holds; `total` is the declared or noisy number of records to project to."""
    estimate, count = projected(domain, grid, noisy, total)
    count, wanted = drawable(count, len(domain.columns), generator)
    records = draw_from_cells(domain, grid, noisy.cells, count, tables, generator)
    frames = {"marginals": tables_frame(domain, tables)} if tables else {}
    summary = {
        "records": len(records),
        "cells": grid.cells * _classes(domain),
        "listed": len(noisy.cells),
        "at_least": int(noisy.at_least[0]),
        "rounds": rounds,
    } | wanted
    named = zip(domain.attributes, grid.edges, strict=True)
    structure: dict[str, JSON] = {"cuts": {attribute.name: edge.tolist() for attribute, edge in named}}
    if tables:
        structure["tables"] = {domain.attributes[table.attribute].name: table.edges.tolist() for table in tables}
    return Results(records, cells_frame(domain, grid, noisy, estimate, count), frames, summary, structure)


def possible(domain: Domain, grid: Grid, cells: Ints) -> Bools:
    """Which entries (cell * classes + class) have a point that breaks no rule of the schema."""
    if domain.rules is None:
        return np.ones(len(cells), dtype=np.bool_)
    cell, label = np.divmod(cells, _classes(domain))
    return ~Regions.of(domain, domain.rules, *_spans(grid, cell)).forbidden(label)


def _spans(grid: Grid, cell: Ints) -> tuple[Ints, Ints]:
    """The first code of every attribute in each cell, and the code after the last; one row per cell."""
    place = grid.unravel(cell)
    lo, hi = np.empty((2, *place.shape), dtype=np.int64)  # a table of a target alone has no column here
    for a, edge in enumerate(grid.edges):
        lo[:, a], hi[:, a] = edge[place[:, a]], edge[place[:, a] + 1]
    return lo, hi


def _classes(domain: Domain) -> int:
    return domain.target.size if domain.target else 1


def projected(
    domain: Domain, grid: Grid, noisy: NoisyCells, total: int | None, stated: Floats | None = None
) -> tuple[Floats, Ints]:
    """Estimates and integers that sum to the total: the same number is subtracted from every cell, but not below 0.

    Without this, the positive noise of empty cells would add up to many records; the total is known more precisely than
    the cells. If `total` is None, the noisy counts stay as they are. Cells that rules forbid get nothing. If estimates
    are `stated`, the integers are those of the stated ones.
    """
    may = possible(domain, grid, noisy.cells)
    estimate, count, value = np.zeros(len(may)), np.zeros(len(may), dtype=np.int64), noisy.value[may]
    if total is None or not len(value):
        estimate[may], count[may] = value, value
        return estimate, count
    whole = np.array([max(0, total)])
    estimate[may] = project_rows(value.astype(float)[None, :], whole.astype(float))[0]
    count[may] = round_rows((estimate if stated is None else stated)[None, may], whole)[0]
    return estimate, count


def cells_frame(domain: Domain, grid: Grid, noisy: NoisyCells, estimate: Floats, count: Ints) -> pl.DataFrame:
    """The listed cells, one row per cell and class: spans, noisy count, its rate, estimate and released count."""
    cell, label = np.divmod(noisy.cells, _classes(domain))
    place = grid.unravel(cell)
    columns: dict[str, pl.Series | Codes | Floats] = {"leaf": cell, "path": np.zeros(len(cell), dtype=np.int64)}
    for a, attribute in enumerate(domain.attributes):
        edge = grid.edges[a]
        columns |= span_columns(attribute, edge[:-1], edge[1:], place[:, a])
    if domain.target:
        columns[column_of(domain.target.name)] = domain.target.decode(label, np.zeros(len(label)))
    columns["noisy"] = noisy.value
    columns["rate_num"] = np.full(len(cell), noisy.rate_num[0])
    columns["rate_den"] = np.full(len(cell), noisy.rate_den)
    columns["estimate"], columns["count"] = estimate, count
    return pl.DataFrame(columns)


def draw_from_cells(
    domain: Domain,
    grid: Grid,
    cells: Ints,
    count: Ints,
    tables: Sequence[ColumnTable],
    generator: Dice,
    *,
    released: int | None = None,
) -> Drawn:
    """Records on the original grid, shuffled. Each value lies in its cell's span; there it follows its column's
    table, or is uniform if the column has no table.

    `released` is the number of records of the release, if another number is drawn now.
    """
    total, some = int(count.sum()), np.flatnonzero(count)
    cell, label = np.divmod(cells[some], _classes(domain))
    lo, hi = _spans(grid, cell)
    order, strata = generator.permutation(total), Strata(count[some])
    records, known = float(max(1, total if released is None else released)), {one.attribute: one for one in tables}
    columns, within = {}, {}
    for a, attribute in enumerate(domain.attributes):
        pieces = Pieces.even(attribute, grid.edges[a])
        if a in known:
            counts, rate = known[a].counts()
            mass = estimated(attribute, known[a].edges, counts, rate, records)
            pieces = Pieces.split(attribute, known[a].edges, mass, grid.edges[a])
        within[attribute.name] = pieces.shape
        columns[attribute.name] = attribute, pieces.draw(strata, lo[:, a], hi[:, a], order, generator)
    if domain.target:
        columns[domain.target.name] = domain.target, label_places(domain.target, label, count[some], order, generator)
    if domain.rules is not None:
        places = {name: codes for name, (_, codes) in columns.items()}
        region = np.repeat(np.arange(len(some)), count[some])[order]
        Regions.of(domain, domain.rules, lo, hi).redraw(places, region, within, generator)
    return Drawn.of(domain.as_written(columns), total, compiled=generator.compiled)


def listed_cells(domain: Domain, groups: pl.DataFrame) -> Ints:
    """The entries (cell * classes + class) that a frame of cells lists."""
    label = np.zeros(len(groups), dtype=np.int64)
    if domain.target:
        label = domain.target.encode(groups[column_of(domain.target.name)]).astype(np.int64)
    return groups["leaf"].to_numpy() * _classes(domain) + label


def grid_of(domain: Domain, cuts: dict[str, list[int]]) -> Grid:
    """The grid that the cuts of a release define."""
    return Grid(tuple(np.array(cuts[a.name], dtype=np.int64) for a in domain.attributes))


def generalise(domain: Domain, grid: Grid, frame: pl.DataFrame, *, numbered: bool = False) -> pl.DataFrame:
    """Another table generalised to the grid: one row per record, one label per attribute, the target unchanged.

    This adds no noise: if the table is private, so is the result. A value that the schema drops has no label. With
    `numbered`, groups have numbers in the order of the column instead of labels, as classifiers need them.
    """
    columns: dict[str, pl.Series] = {}
    for attribute, edge in zip(domain.attributes, grid.edges, strict=True):
        code = attribute.encode(frame[attribute.name])
        groups = np.arange(len(edge) - 1.0).tolist() if numbered else _labels(attribute, edge)
        labels = pl.Series([*groups, None], dtype=pl.Float64 if numbered else pl.String)
        place = np.searchsorted(edge, code, side="right") - 1
        columns[attribute.name] = labels.gather(np.where(code < 0, len(labels) - 1, place))
    if domain.target and domain.target.name in frame.columns:
        code = domain.target.encode(frame[domain.target.name])
        label = domain.target.decode(np.maximum(code, 0), np.zeros(len(code)))
        columns[domain.target.name] = pl.select(pl.when(pl.Series(code >= 0)).then(label)).to_series()
    return pl.DataFrame({name: columns[name] for name in domain.columns if name in columns})


def _labels(attribute: Attribute, edge: Ints) -> list[str]:
    return [attribute.describe(int(lo), int(hi)) for lo, hi in zip(edge[:-1], edge[1:], strict=True)]


def generalised(domain: Domain, grid: Grid, groups: pl.DataFrame) -> pl.DataFrame:
    """The released records in generalised form: the labels of `generalise`, the target, and the number of records."""
    place = grid.unravel(groups["leaf"].to_numpy())
    columns: dict[str, pl.Series] = {}
    for a, (attribute, edge) in enumerate(zip(domain.attributes, grid.edges, strict=True)):
        columns[attribute.name] = pl.Series(_labels(attribute, edge), dtype=pl.String).gather(place[:, a])
    if domain.target:
        columns[domain.target.name] = groups[column_of(domain.target.name)]
    ordered = {name: columns[name] for name in domain.columns}
    return pl.DataFrame(ordered | {COUNT: groups["count"]}).filter(pl.col(COUNT) > 0)


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
