"""The model of a table that noisy answers define, and records drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import combinations

import numpy as np

from cantle._arrays import Codes
from cantle.postprocess.counts import Dice, Floats
from cantle.postprocess.mosaic import conditionals
from cantle.postprocess.mosaic.conditionals import Regression
from cantle.postprocess.mosaic.groupings import Groupings
from cantle.postprocess.mosaic.noisy_tables import NoisyTable
from cantle.postprocess.mosaic.sub_tables import SubTable, sub_tables
from cantle.trusted.geometry.boxes import Ints

FITTED, LAST_FITTED = 5_000, 20_000
"""Records that a column's regression is fitted on: in drafts, and at most where the records are to be released."""

WORK = 2_000_000
"""Numbers that a regression may look at in each step, as far as it has more than the fewest records."""

SWEEPS, LAST_SWEEPS = 1, 4
STRONGEST = 3
"""Parents whose records share their uniforms' strata."""

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
    first: int | None = None  # the column to draw first after learned classes
    fitted: int = FITTED  # records that regressions are fitted on, at most

    def to_release(self) -> Model:
        """The same, its regressions fitted to more records: their errors do not average out in the release."""
        return replace(self, fitted=LAST_FITTED)


def kernels(records: int) -> Regression:
    """The compiled kernels if numba is installed and they pay off, else the plain functions; both draw the same."""
    if records >= COMPILED_FROM and find_spec("numba") is not None:
        from cantle.postprocess.mosaic import _generate_kernels

        return _generate_kernels
    return conditionals


def generate(model: Model, records: int, dice: Dice, engine: Regression | None = None) -> list[Codes]:
    """Cells of the drawn records, one array per column."""
    engine = engine or kernels(records)
    columns = len(model.one_way)
    drawn: dict[int, Codes] = {}
    lead: Codes = np.zeros(records, dtype=np.uint16)
    if model.mixture is not None:
        lead = _draw_alone(model.mixture[None, :], lead, dice, engine)
    elif model.lead is not None:
        lead = _draw_alone(model.one_way[model.lead][None, :], lead, dice, engine)
        drawn[model.lead] = lead
    lead = lead.astype(np.uint16)
    links = _link_strengths(model)
    while len(drawn) < columns:
        column = _next_column(model, drawn, links)
        drawn[column] = _draw_column(model, column, drawn, lead, dice, engine)
    return [drawn[column] for column in range(columns)]


def _next_column(model: Model, drawn: dict[int, Codes], links: Floats) -> int:
    """The column most strongly linked to those drawn; at the beginning the one with the strongest links at all.

    A column that explains two others must come before them: drawn last, it could not make them agree any more.
    """
    if model.first is not None and model.first not in drawn:
        return model.first
    placed = [column for column in drawn if column != model.lead]
    score = links[:, placed].sum(axis=1) + 1e-3 * links.sum(axis=1)
    score[list(drawn)] = -1
    return int(np.argmax(score))


def _link_strengths(model: Model) -> Floats:
    """For each pair of columns how many records their measured tables move away from independence, noise deducted."""
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
    return draw_rows(given, lead, _uniforms(lead, len(given), dice, engine))


def _uniforms(keys: Codes, strata: int, dice: Dice, engine: Regression) -> Floats:
    shuffle = dice.permutation(np.arange(len(keys), dtype=np.uint32))
    return engine.stratified(keys, strata, shuffle, dice.random(len(keys)))


def draw_rows(given: Floats, row: Codes, uniforms: Floats) -> Codes:
    """For each record an entry of given[row], by a uniform number; the rows need not sum to 1."""
    running = np.cumsum(given, axis=1)
    running /= running[:, -1:]
    rising = (running + np.arange(len(given))[:, None]).ravel()
    found = (
        np.searchsorted(rising, row + np.minimum(uniforms, 1 - 1e-9), side="right")
        - row.astype(np.int64) * given.shape[1]
    )
    return found.astype(np.uint8 if given.shape[1] <= 256 else np.uint16)


def _draw_column(
    model: Model, column: int, drawn: dict[int, Codes], lead: Codes, dice: Dice, engine: Regression
) -> Codes:
    given = model.given[column]
    tables = sub_tables(column, drawn, model.tables, model.groupings)
    if not tables:
        return _draw_alone(given, lead, dice, engine)
    refined = max(table.groups for table in tables)
    grouping = model.groupings[column].map(refined)
    first = np.add.reduceat(given, model.groupings[column].starts(refined), axis=1)
    factors = _fit(model, column, tables, first, drawn, lead, engine)
    first = first * factors[-1, : len(first) if model.mixture is None else 1]
    index, merged = _merge_factors(model, tables, factors, drawn, refined)
    uniforms = _uniforms(*_strata(model, tables, drawn, lead, len(first)), dice, engine)
    groups = engine.draw(first, lead, merged, index, uniforms)
    if refined == len(grouping):
        return groups
    return _draw_inside(given, grouping, refined, groups, lead, dice, engine)


def _fit(
    model: Model,
    column: int,
    tables: list[SubTable],
    first: Floats,
    drawn: dict[int, Codes],
    lead: Codes,
    engine: Regression,
) -> Floats:
    """Factors of every sub-table, fitted level by level on some of the records.

    The last factors are those of the anchor: the column's distribution given the leading column, or its one-way
    distribution if classes were learned. Every level ends with it.
    """
    refined, anchor, by_lead = first.shape[1], len(tables), model.mixture is None
    lead = lead[: min(model.fitted, max(FITTED, WORK // (refined * (len(tables) + 1))))]
    index, groups = _places(model, column, tables, refined, drawn, lead if by_lead else np.zeros_like(lead))
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
                _believe(table, rows, index[number], starts_of_groups, model.total)
                goals[starts[number] : starts[number + 1]] = table.goal.ravel()
        used = [number for number, table in enumerate(tables) if table.level <= level] + [anchor]
        sweeps = LAST_SWEEPS if level == levels[-1] else SWEEPS
        order = np.tile(np.array(used, dtype=np.int64), sweeps)
        engine.rake(rows, index, groups, goals, starts, widths, factors, order)
    return factors


def _places(
    model: Model, column: int, tables: list[SubTable], refined: int, drawn: dict[int, Codes], anchor_rows: Codes
) -> tuple[Codes, Codes]:
    """For each sub-table, and last the anchor: the row of each record, and the group of each refined group."""
    index = np.empty((len(tables) + 1, len(anchor_rows)), dtype=np.uint16)
    groups = np.empty((len(tables) + 1, refined), dtype=np.uint16)
    for number, table in enumerate(tables):
        index[number] = _rows_of(model, table, drawn, len(anchor_rows))
        groups[number] = model.groupings[column].coarsen(refined, table.groups)
    index[-1], groups[-1] = anchor_rows, np.arange(refined)
    return index, groups


def _believe(table: SubTable, rows: Floats, index: Codes, starts: Ints, total: float) -> None:
    """Sets the table's goal from what the rows say so far."""
    lines, refined = len(table.counts), rows.shape[1]
    cells = (index.astype(np.int64)[:, None] * refined + np.arange(refined)).ravel()
    mass = np.bincount(cells, rows.ravel(), minlength=lines * refined).reshape(lines, refined)
    grouped = np.add.reduceat(mass, starts, axis=1)
    members = grouped.sum(axis=1)
    everyone = grouped.sum(axis=0) / max(grouped.sum(), 1e-12)
    model = np.where(members[:, None] > 0, grouped / np.maximum(members, 1e-12)[:, None], everyone)
    table.believe(model, members, total)


def _rows_of(model: Model, table: SubTable, drawn: dict[int, Codes], records: int | None = None) -> Codes:
    """The row of a sub-table that each record is in."""
    index: Codes = np.zeros(1, dtype=np.uint16)
    for parent, groups in zip(table.parents, table.parent_groups, strict=True):
        map_ = model.groupings[parent].map(groups).astype(np.uint16)
        index = index * groups + map_.take(drawn[parent][:records], mode="clip")
    return index


def _merge_factors(
    model: Model, tables: list[SubTable], factors: Floats, drawn: dict[int, Codes], refined: int
) -> tuple[Codes, Floats]:
    """The product of all factors of one parent, by its cells; those of joint tables by their rows."""
    single: dict[int, Floats] = {}
    joint = []
    for table, factor in zip(tables, factors, strict=False):
        if len(table.parents) == 1:
            (parent,), (groups,) = table.parents, table.parent_groups
            expanded = factor[model.groupings[parent].map(groups)]
            single[parent] = single[parent] * expanded if parent in single else expanded
        else:
            joint.append((table, factor))
    index = [drawn[parent] for parent in single] + [_rows_of(model, table, drawn) for table, _ in joint]
    parts = list(single.values()) + [factor[: len(table.counts)] for table, factor in joint]
    merged = np.ones((len(parts), max(len(part) for part in parts), refined))
    for number, part in enumerate(parts):
        merged[number, : len(part)] = part
    stacked = np.empty((len(index), len(next(iter(drawn.values())))), dtype=np.uint16)
    for number, row in enumerate(index):
        stacked[number] = row
    return stacked, merged


def _strata(
    model: Model, tables: list[SubTable], drawn: dict[int, Codes], lead: Codes, classes: int
) -> tuple[Codes, int]:
    """Keys of records that share the groups of their strongest parents, and the number of keys."""
    strongest: dict[int, tuple[float, int]] = {}
    for table in tables:
        if len(table.parents) == 1:
            before = strongest.get(table.parents[0], (-1.0, 1))
            strength = max(before[0], table.strength)
            strongest[table.parents[0]] = (strength, max(before[1], table.parent_groups[0]))
    chosen = sorted(strongest, key=lambda parent: -strongest[parent][0])[:STRONGEST]
    keys: Codes = lead.astype(np.uint32)
    total = classes
    for parent in chosen:
        groups = strongest[parent][1]
        if parent == model.lead or total * groups > _MOST_STRATA:
            continue
        keys = keys * np.uint32(groups) + model.groupings[parent].map(groups)[drawn[parent]]
        total *= groups
    return keys, total


def _draw_inside(
    given: Floats, grouping: Codes, refined: int, groups: Codes, lead: Codes, dice: Dice, engine: Regression
) -> Codes:
    """A cell inside each record's group, by the column's distribution given the leading variable."""
    mask = grouping[None, :] == np.arange(refined)[:, None]
    inside = (given[:, None, :] * mask[None]).reshape(-1, given.shape[1])
    empty = inside.sum(axis=1) <= 0
    inside[empty] = np.tile(mask, (len(given), 1))[empty]
    keys = lead.astype(np.uint16) * np.uint16(refined) + groups
    return draw_rows(inside, keys, _uniforms(keys, len(inside), dice, engine))
