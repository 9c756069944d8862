"""The model of a table that noisy answers define, and records drawn from it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import combinations

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic.model import conditionals
from cantle.methods.mosaic.model.conditionals import Places, Regression
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.methods.mosaic.model.sub_tables import SubTable, sub_tables
from cantle.trusted.core.arrays import Codes, Words
from cantle.trusted.geometry.boxes import Ints

FITTED, LAST_FITTED = 5_000, 20_000
"""Number of records that a column's regression is fitted on in drafts, and most records for a release."""

WORK = 2_000_000
"""Most numbers that a regression reads per step, unless it is fitted on the fewest records anyway."""

SWEEPS, LAST_SWEEPS = 1, 4
LEAD = -1
"""The row with the classes of the leading variable, which comes after the rows of the columns."""

STRONGEST = 3
"""Number of strongest parents that define the strata of uniform numbers."""

COMPILED_FROM = 2_000
_MOST_STRATA = 1 << 16


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that records are drawn from. Probabilities sum to 1 over the cells of a column.

    `given[j][c]` is the distribution of column j in class c of the leading variable: a column (`lead`), learned
    classes (`mixture` holds their shares) or nothing (one class).
    """

    one_way: tuple[Floats, ...]
    given: tuple[Floats, ...]
    groupings: tuple[Groupings, ...]
    tables: tuple[NoisyTable, ...]
    total: float
    lead: int | None = None
    mixture: Floats | None = None
    first: int | None = None  # the column to draw first, after the learned classes
    fitted: int = FITTED  # most records that regressions are fitted on

    def to_release(self) -> Model:
        """The same model with regressions fitted on more records, because their errors do not average out in a
        release."""
        return replace(self, fitted=LAST_FITTED)


def kernels(records: int) -> Regression:
    """The compiled kernels if numba is installed and they pay off, else the plain functions; both draw the same
    records."""
    if records >= COMPILED_FROM and find_spec("numba") is not None:
        from cantle.methods.mosaic.model import _generate_kernels

        return _generate_kernels
    return conditionals


def generate(model: Model, records: int, dice: Dice, engine: Regression | None = None) -> list[Codes]:
    """Cells of the drawn records, one array per column."""
    engine = engine or kernels(records)
    columns = len(model.one_way)
    small = max(len(p) for p in model.one_way) <= 256
    cells = np.zeros((columns + 1, records), dtype=np.uint8 if small else np.uint16)
    drawn: list[int] = []
    if model.mixture is not None:
        cells[LEAD] = _draw_alone(model.mixture[None, :], cells[LEAD], dice, engine)
    elif model.lead is not None:
        cells[LEAD] = _draw_alone(model.one_way[model.lead][None, :], cells[LEAD], dice, engine)
        cells[model.lead] = cells[LEAD]
        drawn.append(model.lead)
    links = _link_strengths(model)
    while len(drawn) < columns:
        column = _next_column(model, drawn, links)
        cells[column] = _draw_column(model, column, drawn, cells, dice, engine)
        drawn.append(column)
    return list(cells[:columns])


def _next_column(model: Model, drawn: Collection[int], links: Floats) -> int:
    """The column most strongly linked to those drawn so far; at the beginning, the column with the strongest links.

    A column that explains two others must be drawn before them: if it came last, it could no longer connect them.
    """
    if model.first is not None and model.first not in drawn:
        return model.first
    placed = [column for column in drawn if column != model.lead]
    score = links[:, placed].sum(axis=1) + 1e-3 * links.sum(axis=1)
    score[list(drawn)] = -1
    return int(np.argmax(score))


def _link_strengths(model: Model) -> Floats:
    """For each pair of columns, how many records their measured tables are away from independence, beyond the noise."""
    links = np.zeros((len(model.one_way), len(model.one_way)))
    for table in model.tables:
        for pair in combinations(table.columns, 2):
            groups = [table.groups[table.columns.index(column)] for column in pair]
            counts, summed = table.onto(pair, groups, model.groupings)
            total = max(1.0, counts.sum())
            independent = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / total
            moved = np.abs(counts - independent).sum() - np.sqrt(summed * table.variance).sum()
            links[pair] = max(links[pair], moved / total)
    return np.maximum(links, links.T)


def _draw_alone(given: Floats, lead: Codes, dice: Dice, engine: Regression) -> Codes:
    """A cell for each record from given[lead], spread evenly among records of the same class."""
    return engine.draw_rows(given, lead, _words(dice))


def _words(dice: Dice) -> Words:
    return dice.integers(0, 1 << 63, 2, dtype=np.uint64)


def _draw_column(
    model: Model, column: int, drawn: Collection[int], cells: Codes, dice: Dice, engine: Regression
) -> Codes:
    """The cells of one column, given the cells of the columns drawn before: fits its regression, then draws."""
    given = model.given[column]
    tables = sub_tables(column, drawn, model.tables, model.groupings)
    if not tables:
        return _draw_alone(given, cells[LEAD], dice, engine)
    refined = max(table.groups for table in tables)
    grouping = model.groupings[column].map(refined)
    first = np.add.reduceat(given, model.groupings[column].starts(refined), axis=1)
    factors = _fit(model, column, tables, first, cells, engine)
    first = first * factors[-1, : len(first) if model.mixture is None else 1]
    row_parts, merged = _merged_factors(model, tables, first, factors)
    keys, strata = _strata(model, tables, len(first))
    groups = engine.draw(cells, Places.of([*row_parts, keys]), merged, strata, _words(dice))
    if refined == len(grouping):
        return groups
    return _draw_inside(given, grouping, refined, groups, cells[LEAD], dice, engine)


def _fit(
    model: Model,
    column: int,
    tables: list[SubTable],
    first: Floats,
    cells: Codes,
    engine: Regression,
) -> Floats:
    """Factors of every sub-table, fitted level by level on some of the records.

    The last factors are those of the anchor: the column's distribution given the leading column, or its one-way
    distribution if classes were learned. Fitting at every level ends with the anchor.
    """
    refined, anchor, by_lead = first.shape[1], len(tables), model.mixture is None
    cells = cells[:, : min(model.fitted, max(FITTED, WORK // (refined * (len(tables) + 1))))]
    lead = cells[LEAD]
    index, groups = _places(model, column, tables, refined, cells, lead if by_lead else np.zeros_like(lead))
    grouping = model.groupings[column].map(refined)
    goal = first if by_lead else np.bincount(grouping, model.one_way[column])[None, :]
    widths = np.array([*(table.groups for table in tables), refined], dtype=np.int64)
    lines = [len(table.counts) for table in tables] + [len(goal)]
    starts = np.concatenate([[0], np.cumsum(np.array(lines) * widths)]).astype(np.int64)
    goals = np.zeros(starts[-1])
    goals[starts[anchor] :] = goal.ravel()
    factors = np.ones((anchor + 1, max(lines), refined))
    rows = first[lead]
    levels = sorted({table.level for table in tables})
    for level in levels:
        for number, table in enumerate(tables):
            if table.level == level:
                starts_of_groups = model.groupings[column].coarse_starts(refined, table.groups)
                mass = engine.mass(rows, index[number], len(table.counts))
                _believe(table, mass, starts_of_groups, model.total)
                goals[starts[number] : starts[number + 1]] = table.goal.ravel()
        used = [number for number, table in enumerate(tables) if table.level <= level] + [anchor]
        sweeps = LAST_SWEEPS if level == levels[-1] else SWEEPS
        order = np.tile(np.array(used, dtype=np.int64), sweeps)
        engine.rake(rows, index, groups, goals, starts, widths, factors, order)
    return factors


def _places(
    model: Model, column: int, tables: list[SubTable], refined: int, cells: Codes, anchor_rows: Codes
) -> tuple[Codes, Codes]:
    """For each sub-table, and last for the anchor: the row of each record, and the group that holds each refined
    group."""
    index = np.empty((len(tables) + 1, len(anchor_rows)), dtype=np.uint16)
    groups = np.empty((len(tables) + 1, refined), dtype=np.uint16)
    places = Places.of([_parents(model, table) for table in tables])
    for number, table in enumerate(tables):
        index[number] = places.rows(cells, number)
        groups[number] = model.groupings[column].coarsen(refined, table.groups)
    index[-1], groups[-1] = anchor_rows, np.arange(refined)
    return index, groups


def _believe(table: SubTable, mass: Floats, starts: Ints, total: float) -> None:
    """Sets the table's goal, given the current `mass` of the records by row of the table and refined group."""
    grouped = np.add.reduceat(mass, starts, axis=1)
    members = grouped.sum(axis=1)
    everyone = grouped.sum(axis=0) / max(grouped.sum(), 1e-12)
    model = np.where(members[:, None] > 0, grouped / np.maximum(members, 1e-12)[:, None], everyone)
    table.believe(model, members, total)


def _parents(model: Model, table: SubTable) -> list[tuple[int, Codes]]:
    """The parent columns of a sub-table, with what each of their cells adds to the number of a record's row."""
    row_parts, stride = list[tuple[int, Codes]](), len(table.counts)
    for parent, groups in zip(table.parents, table.parent_groups, strict=True):
        stride //= groups
        row_parts.append((parent, model.groupings[parent].map(groups).astype(np.uint32) * np.uint32(stride)))
    return row_parts


def _merged_factors(
    model: Model, tables: list[SubTable], first: Floats, factors: Floats
) -> tuple[list[list[tuple[int, Codes]]], Floats]:
    """All factors, merged into fewer tables, with the description of their rows for `Places`: `first`, one table per
    parent with the product of all factors that depend on it alone, and one per joint table."""
    row_parts: list[list[tuple[int, Codes]]] = [[(LEAD, np.arange(len(first)))]]
    parts, single = [first], dict[int, int]()
    for table, factor in zip(tables, factors, strict=False):
        if len(table.parents) > 1:
            row_parts.append(_parents(model, table))
            parts.append(factor[: len(table.counts)])
            continue
        (parent,), (groups,) = table.parents, table.parent_groups
        expanded = factor[model.groupings[parent].map(groups)]
        if parent in single:
            parts[single[parent]] = parts[single[parent]] * expanded
            continue
        single[parent] = len(parts)
        row_parts.append([(parent, np.arange(len(expanded)))])
        parts.append(expanded)
    merged = np.ones((len(parts), max(len(part) for part in parts), first.shape[1]))
    for number, part in enumerate(parts):
        merged[number, : len(part)] = part
    return row_parts, merged


def _strata(model: Model, tables: list[SubTable], classes: int) -> tuple[list[tuple[int, Codes]], int]:
    """How the number of a record's stratum follows from its cells (for `Places`), and how many strata there are.
    Records share a stratum if they have the same class and the same groups of the strongest parents."""
    strongest: dict[int, tuple[float, int]] = {}
    for table in tables:
        if len(table.parents) == 1:
            before = strongest.get(table.parents[0], (-1.0, 1))
            strength = max(before[0], table.strength)
            strongest[table.parents[0]] = (strength, max(before[1], table.parent_groups[0]))
    row_parts: list[tuple[int, Codes]] = [(LEAD, np.arange(classes))]
    total = classes
    for parent in sorted(strongest, key=lambda parent: -strongest[parent][0])[:STRONGEST]:
        groups = strongest[parent][1]
        if parent != model.lead and total * groups <= _MOST_STRATA:
            row_parts.append((parent, model.groupings[parent].map(groups).astype(np.uint32) * np.uint32(total)))
            total *= groups
    return row_parts, total


def _draw_inside(
    given: Floats, grouping: Codes, refined: int, groups: Codes, lead: Codes, dice: Dice, engine: Regression
) -> Codes:
    """A cell inside each record's group, drawn from the column's distribution given the leading variable."""
    mask = grouping[None, :] == np.arange(refined)[:, None]
    inside = (given[:, None, :] * mask[None]).reshape(-1, given.shape[1])
    empty = inside.sum(axis=1) <= 0
    inside[empty] = np.tile(mask, (len(given), 1))[empty]
    keys = lead.astype(np.uint32) * np.uint32(refined) + groups
    return engine.draw_rows(inside, keys, _words(dice))
