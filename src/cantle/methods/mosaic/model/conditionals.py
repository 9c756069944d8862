"""Record generation column by column, in plain numpy: the specification of the compiled kernels.

Every column is drawn from a log-linear regression on the columns drawn before it; its sufficient statistics are the
noisy tables. The kernels add up the same numbers in the same order, so both draw the same records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cantle.drawing.counts import Floats
from cantle.trusted.core.arrays import Codes, Words
from cantle.trusted.core.mixing import scramble
from cantle.trusted.geometry.boxes import Ints

CHUNK = 1 << 15
BELOW_ONE = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Places:
    """How to find a record's row in a table from its cells. The row in table t is the sum of offsets[i][cell of column
    columns[i]] for i from begins[t] to begins[t + 1] - 1."""

    begins: Ints
    columns: Ints
    offsets: NDArray[np.uint32]

    @staticmethod
    def of(tables: Sequence[Sequence[tuple[int, Codes]]]) -> Places:
        """For tables, each given as a list of columns with what their cells add to the row."""
        flat = [one for table in tables for one in table]
        offsets = np.zeros((len(flat), max(len(adds) for _, adds in flat)), dtype=np.uint32)
        for line, (_, adds) in zip(offsets, flat, strict=True):
            line[: len(adds)] = adds
        begins = np.cumsum([0, *map(len, tables)], dtype=np.int64)
        return Places(begins, np.array([column for column, _ in flat], dtype=np.int64), offsets)

    def rows(self, cells: Codes, table: int) -> NDArray[np.uint32]:
        """The row of each record in one table; `cells` has one row per column."""
        places = np.zeros(cells.shape[1], dtype=np.uint32)
        for i in range(self.begins[table], self.begins[table + 1]):
            places += self.offsets[i].take(cells[self.columns[i]], mode="clip")
        return places


class Fitting(NamedTuple):
    """Records and tables that a column's regression is fitted to.

    `rows` are the records by refined groups of the column, each summing to 1. In table t, record u is in row
    `line[t, u]`, and refined group r is in group `groups[t, r]` of `widths[t]`. The goal of the table is
    goals[starts[t] : starts[t+1]], as (table rows, width). All corrections are multiplied into
    `factors[heads[t] : heads[t+1]]` (table rows x refined groups).
    """

    rows: Floats
    line: Codes
    groups: Codes
    goals: Floats
    starts: Ints
    widths: Ints
    heads: Ints
    factors: Floats


class Regression(Protocol):
    """The loops over records, which take most of the time: the functions below, or their compiled twins."""

    def rake(self, fitting: Fitting, order: Ints) -> None:
        """Fits the rows to the goals of the tables, one after the other, in place."""

    def mass(self, rows: Floats, index: Codes, lines: int) -> Floats:
        """The sum of `rows` over the records in each row of a table."""

    def draw(self, cells: Codes, places: Places, factors: Floats, strata: int, words: Words) -> Codes:
        """A group for each record."""

    def draw_rows(self, given: Floats, row: Codes, words: Words) -> Codes:
        """A cell for each record, from the distribution that `row` names."""


def rake(fitting: Fitting, order: Ints) -> None:
    """Fits the rows to the goals of the tables in this order, in place."""
    rows, index, groups, goals, starts, widths, heads, factors = fitting
    for table in order.tolist():
        goal = goals[starts[table] : starts[table + 1]].reshape(-1, widths[table])
        correction = _correction(rows, index[table], groups[table], goal)
        factors[heads[table] : heads[table + 1]] *= correction
        rows *= correction[index[table]]
        rows *= (1.0 / _row_sums(rows))[:, None]


def _correction(rows: Floats, index: Codes, groups: Codes, goal: Floats) -> Floats:
    sums = mass(rows, index, len(goal))
    total = _row_sums(sums)
    grouped = np.zeros(goal.shape)
    for r in range(rows.shape[1]):
        grouped[:, groups[r]] += sums[:, r]
    known = grouped > 0
    ratio = np.where(known, goal * total[:, None] / np.where(known, grouped, 1.0), 1.0)
    return ratio[:, groups]


def mass(rows: Floats, index: Codes, lines: int) -> Floats:
    """The sum of `rows` over the records in each row of a table."""
    refined = rows.shape[1]
    cells = (index.astype(np.int64)[:, None] * refined + np.arange(refined)).ravel()
    return np.bincount(cells, rows.ravel(), lines * refined).reshape(lines, refined).astype(np.float64)


def _row_sums(rows: Floats) -> Floats:
    """Sums from left to right, as a loop adds; numpy's own sum uses another order. A sum of 0 becomes 1."""
    total = rows[:, 0].copy()
    for r in range(1, rows.shape[1]):
        total += rows[:, r]
    total[total <= 0] = 1.0
    return total


def draw(cells: Codes, places: Places, factors: Floats, strata: int, words: Words) -> Codes:
    """Draws a group for each record; probabilities are proportional to the product of factors[its row] in all tables,
    whose rows lie below each other.

    The last table of `places` has no factors: its rows are the strata in which uniform numbers are spread evenly.
    """
    tables = len(places.begins) - 2
    uniforms = spread(places.rows(cells, tables), strata, words)
    drawn: Codes = np.empty(len(uniforms), dtype=np.min_scalar_type(factors.shape[1] - 1))
    for begin in range(0, len(uniforms), CHUNK):
        part = slice(begin, begin + CHUNK)
        weights = factors[places.rows(cells[:, part], 0)]
        for table in range(1, tables):
            weights = weights * factors[places.rows(cells[:, part], table)]
        running = np.cumsum(weights, axis=1)
        bar = uniforms[part] * running[:, -1]
        drawn[part] = (running[:, :-1] <= bar[:, None]).sum(axis=1)
    return drawn


def second(cells: Codes, places: Places, factors: Floats) -> Floats:
    """The probability of the second of two groups for each record; factors are those of `draw`, or a single table."""
    weights = np.ones((cells.shape[1], 2))
    for table in range(max(1, len(places.begins) - 2)):
        weights *= factors[places.rows(cells, table)]
    total = weights.sum(axis=1)
    return np.asarray(weights[:, 1] / np.where(total > 0, total, 1.0))


def draw_rows(given: Floats, row: Codes, words: Words) -> Codes:
    """Draws an entry of given[row] for each record, spread evenly among records of the same row; rows need not sum to
    1."""
    uniforms = np.minimum(spread(row, len(given), words), BELOW_ONE)
    entries = np.searchsorted(rising(given), row + uniforms, side="right") - row.astype(np.int64) * given.shape[1]
    return entries.astype(np.uint8 if given.shape[1] <= 256 else np.uint16)


def rising(given: Floats) -> Floats:
    """The cumulative distributions of all rows in one ascending array: that of row i rises from i to i + 1."""
    running = np.cumsum(given, axis=1)
    running /= running[:, -1:]
    return (running + np.arange(len(given))[:, None]).ravel()


# ---- uniform numbers ------------------------------------------------------------------------------------------


def spread(keys: Codes, strata: int, words: Words) -> Floats:
    """Uniform numbers spread evenly among records of equal key: (place + jitter) / size.

    Places are the ranks of a key's records, permuted by a public hash. Shuffling the records themselves would take
    longer than everything else once they no longer fit in the cache.
    """
    sizes = np.bincount(keys, minlength=strata)
    order = np.argsort(keys.astype(np.uint16) if strata <= 1 << 16 else keys, kind="stable")
    ranks = np.empty(len(keys), dtype=np.uint64)
    ranks[order] = np.arange(len(keys)) - (np.cumsum(sizes) - sizes)[keys[order]]
    size = sizes[keys]
    places = permuted(ranks, size.astype(np.uint64), scramble(keys + words[0]))
    jitter = (scramble(np.arange(len(keys), dtype=np.uint64) + words[1]) >> np.uint64(11)) * 2.0**-53
    return (places + jitter) / size


def permuted(ranks: Words, sizes: Words, words: Words) -> Words:
    """The place of each rank under a permutation of the numbers below its size; the word selects the permutation.

    It is a permutation of the numbers below the next power of two, repeated until the result is below the size; then a
    cyclic shift, so that every place is equally likely for every rank.
    """
    one = np.uint64(1)
    bits = np.ceil(np.log2(sizes.astype(np.float64))).astype(np.uint64)
    mask, half = (one << bits) - one, (bits + one) >> one
    places, waiting = ranks.copy(), np.arange(len(ranks))
    while len(waiting):
        x, word, m, h = places[waiting], words[waiting], mask[waiting], half[waiting]
        x = (x * (word | one) + (word >> np.uint64(12))) & m
        x ^= x >> h
        x = (x * ((word >> np.uint64(24)) | one)) & m
        x ^= x >> h
        places[waiting] = x
        waiting = waiting[x >= sizes[waiting]]
    places += (words >> np.uint64(32)) * sizes >> np.uint64(32)
    return places - np.where(places >= sizes, sizes, np.uint64(0))
