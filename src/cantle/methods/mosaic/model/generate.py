"""The model of a table that noisy answers define, and records drawn from it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cantle import kernel_choice
from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic.model import conditionals
from cantle.methods.mosaic.model.conditionals import Places, Regression
from cantle.methods.mosaic.model.fit import FITTED, LAST_FITTED, LEAD, WORK, fit, parents_of
from cantle.methods.mosaic.model.groupings import MOST_GROUPS, Groupings
from cantle.methods.mosaic.model.inside import Order, order_of
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.methods.mosaic.model.sub_tables import LEVELS, SubTable, sub_tables
from cantle.trusted.core.arrays import Codes, Words

STRONGEST = 3
"""Number of strongest parents that define the strata of uniform numbers."""

_WIDEST, _HALVINGS = 60.0, 50
"""The widest factor on odds, as a power of two, and how often its interval is halved."""

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
    late: int = 0  # so many of the last columns are drawn after all others
    fitted: int = FITTED  # most records that regressions are fitted on
    work: int = WORK  # most numbers that a regression reads per step
    numbers: frozenset[int] = frozenset()  # the columns of numbers
    joint: tuple[int, ...] = LEVELS[-1:]  # groups of tables of three or more columns, level after level

    def to_release(self) -> Model:
        """The same model with regressions fitted on more records, because their errors do not average out in a
        release."""
        return replace(self, fitted=LAST_FITTED)


def kernels(records: int) -> Regression:
    """The compiled kernels if numba is installed and they pay off, else the plain functions; both draw the same
    records."""
    if kernel_choice.worth_loading(records, COMPILED_FROM):
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
    links = link_strengths(model)
    while len(drawn) < columns:
        column = next_column(model, drawn, links)
        fitted = fit_column(model, column, drawn, cells, engine)
        if column < columns - model.late:
            cells[column] = fitted.draw(cells, dice, engine)
        else:
            cells[column] = fitted.draw_held(cells, float(model.one_way[column][1]), dice)
        drawn.append(column)
    return list(cells[:columns])


def next_column(model: Model, drawn: Collection[int], links: Floats) -> int:
    """The column most strongly linked to those drawn so far; at the beginning, the column with the strongest links.

    A column that explains two others must be drawn before them: if it came last, it could no longer connect them.
    """
    if model.first is not None and model.first not in drawn:
        return model.first
    placed = [column for column in drawn if column != model.lead]
    score = links[:, placed].sum(axis=1) + 1e-3 * links.sum(axis=1)
    if len(drawn) < len(score) - model.late:
        score[len(score) - model.late :] = -1
    score[list(drawn)] = -1
    return int(np.argmax(score))


def link_strengths(model: Model) -> Floats:
    """For each pair of columns, how many records their measured tables are away from independence, beyond the noise.

    Fine tables are compared in few groups, like all others; else pairs that were measured finely would come first.
    """
    links = np.zeros((len(model.one_way), len(model.one_way)))
    for table in model.tables:
        for pair in combinations(table.columns, 2):
            measured = [table.groups[table.columns.index(column)] for column in pair]
            groups = [model.groupings[c].at_most(min(MOST_GROUPS, g)) for c, g in zip(pair, measured, strict=True)]
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


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """The distribution of one column given the columns drawn before it, fitted and ready to draw records from.

    The first factors are those of `rows` (for `Places`), whose last entry describes the strata of uniform numbers;
    without rows a record's cell follows from the leading variable alone. Groups are drawn, then cells inside them.
    """

    given: Floats
    grouping: Codes
    refined: int
    rows: Places | None = None
    factors: Floats | None = None
    strata: int = 0
    order: Order | None = None

    def draw(self, cells: Codes, dice: Dice, engine: Regression) -> Codes:
        """The cells of the column for these records (one row per column)."""
        if self.rows is None or self.factors is None:
            return _draw_alone(self.given, cells[LEAD], dice, engine)
        if self.strata:
            groups = engine.draw(cells, self.rows, self.factors, self.strata, _words(dice))
        else:
            groups = engine.draw_rows(self.factors, self.rows.rows(cells, 0), _words(dice))
        if self.refined == len(self.grouping):
            return groups
        keys = cells[LEAD].astype(np.uint16) * np.uint16(self.refined) + groups
        drawn = _draw_inside(self.given, self.grouping, self.refined, keys.astype(np.uint32), dice, engine)
        if self.order is None:
            return drawn
        return self.order.sort(drawn, len(self.given) * self.refined, keys, groups, cells[self.order.parent], dice)

    def draw_held(self, cells: Codes, share: float, dice: Dice) -> Codes:
        """Which of these records hold an item, as this share of them does.

        Records of one stratum follow each other, and every stretch of them holds as many as expected: that keeps
        supports as they were estimated, while independent draws would add an error of their own.
        """
        if self.rows is None or self.factors is None:
            held, strata = self.given[cells[LEAD], 1], cells[LEAD]
        else:
            held, strata = conditionals.second(cells, self.rows, self.factors), cells[LEAD]
            if self.strata:
                strata = self.rows.rows(cells, len(self.rows.begins) - 2)
        order = np.lexsort((dice.random(len(held)), strata))
        running = np.floor(np.cumsum(to_share(held, share)[order]) + dice.random())
        drawn = np.zeros(len(held), dtype=cells.dtype)
        drawn[order] = np.diff(running, prepend=0.0) > 0
        return drawn


def to_share(held: Floats, share: float) -> Floats:
    """Probabilities with all odds multiplied so that their mean is a share, as nearly as zeros and ones allow.

    >>> to_share(np.array([0.5, 0.5, 0.0]), 0.2).round(6).tolist()
    [0.3, 0.3, 0.0]
    """
    low, high = -_WIDEST, _WIDEST
    for _ in range(_HALVINGS):
        factor = 2.0 ** ((low + high) / 2)
        made = held * factor / (1 - held + held * factor)
        low, high = ((low + high) / 2, high) if made.mean() < share else (low, (low + high) / 2)
    return made


def fit_column(model: Model, column: int, drawn: Collection[int], cells: Codes, engine: Regression) -> FittedColumn:
    """The fitted distribution of one column, given the cells of the columns drawn before."""
    given = model.given[column]
    tables = sub_tables(column, drawn, model.tables, model.groupings, model.joint)
    if not tables:
        return FittedColumn(given, np.zeros(0, dtype=np.uint8), 0)
    refined = max(table.groups for table in tables)
    grouping = model.groupings[column].map(refined)
    first = np.add.reduceat(given, model.groupings[column].starts(refined), axis=1)
    if len(tables) == 1 and tables[0].settled and len(first) == 1:
        places = Places.of([parents_of(model.groupings, tables[0])])
        return FittedColumn(given, grouping, refined, places, tables[0].alone(first))
    factors = fit(model, column, tables, first, cells, engine)
    row_parts, merged = _merged_factors(model, tables, first * factors[-1], factors)
    keys, strata = _strata(model, tables, len(first))
    order = order_of(tables, model.numbers, model.one_way, model.groupings, column, refined)
    return FittedColumn(given, grouping, refined, Places.of([*row_parts, keys]), merged, strata, order)


def _merged_factors(
    model: Model, tables: list[SubTable], first: Floats, factors: list[Floats]
) -> tuple[list[list[tuple[int, Codes]]], Floats]:
    """All factors, merged into fewer tables that lie below each other, with the description of their rows for `Places`:
    `first`, one table per parent with the product of all factors that depend on it alone, and one per joint table."""
    row_parts: list[list[tuple[int, Codes]]] = [[(LEAD, np.arange(len(first)))]]
    parts, single = [first], dict[int, int]()
    for table, factor in zip(tables, factors, strict=False):
        if len(table.parents) > 1:
            row_parts.append(parents_of(model.groupings, table))
            parts.append(factor)
            continue
        (parent,), (groups,) = table.parents, table.parent_groups
        expanded = factor[model.groupings[parent].map(groups)]
        if parent in single:
            parts[single[parent]] = parts[single[parent]] * expanded
            continue
        single[parent] = len(parts)
        row_parts.append([(parent, np.arange(len(expanded)))])
        parts.append(expanded)
    for part, head in zip(row_parts, np.cumsum([0, *map(len, parts[:-1])]), strict=True):
        column, adds = part[0]
        part[0] = column, adds.astype(np.uint32) + np.uint32(head)
    return row_parts, np.concatenate(parts)


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


def _draw_inside(given: Floats, grouping: Codes, refined: int, keys: Codes, dice: Dice, engine: Regression) -> Codes:
    """A cell inside each record's group, drawn from the column's distribution given the leading variable; `keys` number
    the groups, one class after the other."""
    mask = grouping[None, :] == np.arange(refined)[:, None]
    inside = (given[:, None, :] * mask[None]).reshape(-1, given.shape[1])
    empty = inside.sum(axis=1) <= 0
    inside[empty] = np.tile(mask, (len(given), 1))[empty]
    return engine.draw_rows(inside, keys, _words(dice))
