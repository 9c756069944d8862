"""Tables of answers: one row per combination of the groups of some columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.release.answers.estimates import WITHOUT_CONFIDENCE, Estimate, columns_of_estimates, in_words
from cantle.release.words import value_in_words
from cantle.schema import Schema
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.domain import Attribute, Lists
from cantle.schema.scales import Labels
from cantle.trusted.core.arrays import Codes, Ints

MOST_VALUES = 64
"""A column of numbers with at most this many values has one row per value in a table."""

RANGES = 16
MOST_ROWS = 100_000

Answer = Callable[[Sequence[OneColumn], int], Estimate]
"""The answer about the records in one group of each column, given how many were drawn there."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one column in a table: their labels, the codes at which they start, and the number of codes."""

    column: str
    labels: pl.Series
    edges: Ints
    size: int

    def group(self, at: int) -> OneColumn:
        """The question whether a record is in one of the groups."""
        end = int(self.edges[at + 1]) if at + 1 < len(self.edges) else self.size
        return OneColumn(self.column, CodeSet.span(int(self.edges[at]), end, self.size))


def groups_of(attribute: Attribute, cells: Ints | None, width: int | None) -> Groups:
    """The groups of a column: its values; of many numbers, the released cells or ranges of equal width.

    `cells` are the edges of the cells in which the column was counted by itself, and `width` that of its bins, if there
    are any.
    """
    if isinstance(attribute.scale, Lists):
        item = attribute.scale.names(attribute.name)[0]
        raise ParameterError(f"{attribute.name} holds lists; name an item after --by, such as {item!r}")
    if isinstance(attribute.scale, Labels) or (attribute.grid <= MOST_VALUES and attribute.cell == 1):
        every = np.arange(attribute.size)
        return Groups(attribute.name, attribute.values(every), every, attribute.size)
    edges = cells if cells is not None else _ranges(attribute, width)
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    words = [None if first >= attribute.grid else attribute.describe(first, end) for first, end in spans]
    return Groups(attribute.name, pl.Series(words, dtype=pl.String), edges[:-1], attribute.size)


def _ranges(attribute: Attribute, width: int | None) -> Ints:
    if width is not None:  # some bins each
        step = -(-attribute.grid // (width * RANGES)) * width
        within = np.append(np.arange(0, attribute.grid, step), attribute.grid)
    else:
        within = np.unique(np.arange(RANGES + 1) * attribute.grid // RANGES)
    return np.append(within, attribute.size) if attribute.nullable else within


def grouped(groups: Sequence[Groups], codes: Sequence[Codes], answer: Answer) -> pl.DataFrame:
    """One row per combination of groups, given the codes of the counted records in each column: the groups, value, low,
    high, covers."""
    shape = [len(one.labels) for one in groups]
    if np.prod(shape, dtype=float) > MOST_ROWS:
        raise ParameterError(f"this table has more than {MOST_ROWS:,} rows; name fewer columns after --by")
    place = np.zeros(len(codes[0]), dtype=np.int64)
    for one, own, size in zip(groups, codes, shape, strict=True):
        place = place * size + np.searchsorted(one.edges, own, side="right") - 1
    counts = np.bincount(place, minlength=int(np.prod(shape)))
    rows = np.array(np.unravel_index(np.arange(len(counts)), shape)).T
    made = [
        answer([one.group(at) for one, at in zip(groups, row, strict=True)], released)
        for row, released in zip(rows.tolist(), counts.tolist(), strict=True)
    ]
    labels = [one.labels.gather(rows[:, j]).alias(one.column) for j, one in enumerate(groups)]
    return pl.DataFrame([*labels, *columns_of_estimates(made)])


def rows_in_words(schema: Schema, rows: pl.DataFrame, by: Sequence[str]) -> tuple[bool, list[tuple[str, ...]]]:
    """Whether all rows of a table of answers have a confidence, and their texts: groups, value, low, high, and what an
    interval covers, unless all have one."""
    captions, sure = schema.captions(), not set(rows["covers"]) & set(WITHOUT_CONFIDENCE)
    lines = list[tuple[str, ...]]()
    for row in rows.iter_rows(named=True):
        words = (value_in_words(row[name], captions.get(name, {})) for name in by)
        numbers = (in_words(row[name], row["high"] - row["low"]) for name in ("value", "low", "high"))
        lines.append((*words, *numbers, *([] if sure else [row["covers"]])))
    return sure, lines
