"""Record generation column by column (GENERATE): plain numpy, the specification of the compiled kernels.

Every column is drawn from a log-linear regression on the columns drawn before it, whose sufficient statistics are the
noisy tables. The same sums are taken in the same order here and in the kernels, so both draw the same records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cantle._arrays import Codes, Words
from cantle.postprocess.counts import Floats
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.mixing import scramble

CHUNK = 1 << 15
BELOW_ONE = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Places:
    """Rows that records look up in tables, given their cells: those of table t are the sums of what each cell of its
    columns adds, offsets[i][cell] for i from begins[t] to begins[t + 1] - 1, column columns[i]."""

    begins: Ints
    columns: Ints
    offsets: NDArray[np.uint32]

    @staticmethod
    def of(tables: Sequence[Sequence[tuple[int, Codes]]]) -> Places:
        """From tables, each a list of columns with what their cells add."""
        flat = [one for table in tables for one in table]
        offsets = np.zeros((len(flat), max(len(adds) for _, adds in flat)), dtype=np.uint32)
        for line, (_, adds) in zip(offsets, flat, strict=True):
            line[: len(adds)] = adds
        begins = np.cumsum([0, *map(len, tables)], dtype=np.int64)
        return Places(begins, np.array([column for column, _ in flat], dtype=np.int64), offsets)

    def rows(self, cells: Codes, table: int) -> NDArray[np.uint32]:
        """The row of each record in one table; `cells` has one row per column."""
        found = np.zeros(cells.shape[1], dtype=np.uint32)
        for i in range(self.begins[table], self.begins[table + 1]):
            found += self.offsets[i].take(cells[self.columns[i]], mode="clip")
        return found


class Regression(Protocol):
    """The steps over records that take the time: those below, or their compiled twins."""

    def rake(
        self,
        rows: Floats,
        index: Codes,
        groups: Codes,
        goals: Floats,
        starts: Ints,
        widths: Ints,
        factors: Floats,
        order: Ints,
    ) -> None:
        """Fits the rows to the goals of the tables."""

    def mass(self, rows: Floats, index: Codes, lines: int) -> Floats:
        """The sum of the records' rows in each row of a table."""

    def draw(self, cells: Codes, places: Places, factors: Floats, strata: int, words: Words) -> Codes:
        """A group for each record."""

    def draw_rows(self, given: Floats, row: Codes, words: Words) -> Codes:
        """A cell for each record from one of several distributions."""


def rake(
    rows: Floats, index: Codes, groups: Codes, goals: Floats, starts: Ints, widths: Ints, factors: Floats, order: Ints
) -> None:
    """Fits the rows (records x refined groups, each summing to 1) to the goals, one table after the other.

    Table t: record u is in row `index[t, u]`, refined group r in group `groups[t, r]` of `widths[t]`; its goal is
    goals[starts[t] : starts[t+1]] as (table rows, width). `factors[t]` (table rows x refined groups) takes the product
    of all corrections. `order` lists the tables to fit.
    """
    for table in order.tolist():
        goal = goals[starts[table] : starts[table + 1]].reshape(-1, widths[table])
        correction = _correction(rows, index[table], groups[table], goal)
        factors[table, : len(goal)] *= correction
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
    """The sum of the rows of all records that are in each row of a table."""
    refined = rows.shape[1]
    cells = (index.astype(np.int64)[:, None] * refined + np.arange(refined)).ravel()
    return np.bincount(cells, rows.ravel(), lines * refined).reshape(lines, refined).astype(np.float64)


def _row_sums(rows: Floats) -> Floats:
    """Sums from left to right; numpy's own would add in another order than a loop does. Empty rows give 1."""
    total = rows[:, 0].copy()
    for r in range(1, rows.shape[1]):
        total += rows[:, r]
    total[total <= 0] = 1.0
    return total


def draw(cells: Codes, places: Places, factors: Floats, strata: int, words: Words) -> Codes:
    """For each record a group, from the product of factors[t][its row in table t].

    The last table of `places` has no factors: its rows are the strata in which uniform numbers are spread evenly.
    """
    uniforms = spread(places.rows(cells, len(factors)), strata, words)
    drawn: Codes = np.empty(len(uniforms), dtype=np.min_scalar_type(factors.shape[2] - 1))
    for begin in range(0, len(uniforms), CHUNK):
        part = slice(begin, begin + CHUNK)
        weights = factors[0][places.rows(cells[:, part], 0)]
        for table in range(1, len(factors)):
            weights = weights * factors[table][places.rows(cells[:, part], table)]
        running = np.cumsum(weights, axis=1)
        bar = uniforms[part] * running[:, -1]
        drawn[part] = (running[:, :-1] <= bar[:, None]).sum(axis=1)
    return drawn


def draw_rows(given: Floats, row: Codes, words: Words) -> Codes:
    """For each record an entry of given[row], spread evenly among records of the same row; rows need not sum to 1."""
    uniforms = np.minimum(spread(row, len(given), words), BELOW_ONE)
    found = np.searchsorted(rising(given), row + uniforms, side="right") - row.astype(np.int64) * given.shape[1]
    return found.astype(np.uint8 if given.shape[1] <= 256 else np.uint16)


def rising(given: Floats) -> Floats:
    """The distribution functions of all rows in one ascending array: that of row i goes from i to i + 1."""
    running = np.cumsum(given, axis=1)
    running /= running[:, -1:]
    return (running + np.arange(len(given))[:, None]).ravel()


# ---- uniform numbers ------------------------------------------------------------------------------------------


def spread(keys: Codes, strata: int, words: Words) -> Floats:
    """Uniform numbers spread evenly among records of equal key: (place + jitter) / size.

    Places are the ranks of a key's records in order, permuted by a public hash: moving records through memory in a
    random order would take longer than everything else once they no longer fit the cache.
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
    """The place of each rank below its size under a permutation that the word names.

    A permutation of the numbers below the next power of two, repeated until it comes to a number below the size; and a
    shift around, so that every place is equally likely for every rank.
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
