"""Compiled twins of conditionals.py: the same sums in the same order, hence the same records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cantle.jit import compiled, inlined, inner
from cantle.methods.mosaic.model.conditionals import BELOW_ONE, Fitting, Places, rising
from cantle.trusted.core.arrays import Codes, Floats, Ints, Words

_BLOCK = 512


@compiled
def rake(fitting: Fitting, order: Ints) -> None:
    """See conditionals.rake."""
    rows, index, groups, goals, starts, widths, heads, factors = fitting
    records, refined = rows.shape
    mass = np.empty((np.diff(heads).max(), refined))
    for table in order:
        width, begin, head = widths[table], starts[table], heads[table]
        lines = heads[table + 1] - head
        mass[:lines] = 0.0
        for u in range(records):
            c = index[table, u]
            for r in range(refined):
                mass[c, r] += rows[u, r]
        grouped = np.empty(width)
        for c in range(lines):
            total = mass[c, 0]
            for r in range(1, refined):
                total += mass[c, r]
            if total <= 0:
                total = 1.0
            grouped[:] = 0.0
            for r in range(refined):
                grouped[groups[table, r]] += mass[c, r]
            for r in range(refined):
                g = groups[table, r]
                mass[c, r] = goals[begin + c * width + g] * total / grouped[g] if grouped[g] > 0 else 1.0
                factors[head + c, r] *= mass[c, r]
        for u in range(records):
            c = index[table, u]
            for r in range(refined):
                rows[u, r] *= mass[c, r]
            total = rows[u, 0]
            for r in range(1, refined):
                total += rows[u, r]
            scale = 1.0 / total if total > 0 else 1.0
            for r in range(refined):
                rows[u, r] *= scale


@compiled
def mass(rows: Floats, index: Codes, lines: int) -> Floats:
    """See conditionals.mass."""
    sums = np.zeros((lines, rows.shape[1]))
    for u in range(len(rows)):
        line, row = sums[index[u]], rows[u]
        for r in range(len(row)):
            line[r] += row[r]
    return sums


@inlined
def _mixed(key: np.uint64) -> np.uint64:
    """See mixing.scramble."""
    word = key * np.uint64(0x9E3779B97F4A7C15)
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inner
def _strata_of(keys: Codes, strata: int, word: np.uint64) -> Words:
    """For each key: the number of its records, the number of ranks given so far, and two words that permute the
    ranks."""
    known = np.zeros((strata, 4), dtype=np.uint64)
    for key in keys:
        known[key, 0] += np.uint64(1)
    for key in range(strata):
        mask, half, bits = np.uint64(0), np.uint64(0), 0
        while known[key, 0] > mask + np.uint64(1):
            mask, bits = mask * np.uint64(2) + np.uint64(1), bits + 1
        half = np.uint64((bits + 1) >> 1)
        known[key, 2] = (mask << np.uint64(8)) | half
        known[key, 3] = _mixed(np.uint64(key) + word)
    return known


@inlined
def _uniform(known: Words, key: np.uint32, jitter: np.uint64) -> np.float64:
    """See conditionals.spread: the number for the next record of a key."""
    size, x, word = known[key, 0], known[key, 1], known[key, 3]
    known[key, 1] = x + np.uint64(1)
    mask, half = known[key, 2] >> np.uint64(8), known[key, 2] & np.uint64(255)
    first, second = word | np.uint64(1), (word >> np.uint64(24)) | np.uint64(1)
    while True:
        x = (x * first + (word >> np.uint64(12))) & mask
        x ^= x >> half
        x = (x * second) & mask
        x ^= x >> half
        if x < size:
            break
    x += (word >> np.uint64(32)) * size >> np.uint64(32)
    if x >= size:
        x -= size
    return (np.float64(x) + np.float64(_mixed(jitter) >> np.uint64(11)) * 2.0**-53) / np.float64(size)


@inner
def _find_rows(cells: Codes, columns: Ints, offsets: NDArray[np.uint32], first: int, rows: NDArray[np.uint32]) -> None:
    """Writes to `rows` the row in one table of each record from `first` on; `offsets` is what the cells of `columns`
    add."""
    rows[:] = 0
    for i in range(len(columns)):
        adds, column = offsets[i], cells[columns[i]]
        for u in range(len(rows)):
            rows[u] += adds[column[first + u]]


@inner
def _spans_of(factors: Floats) -> Ints:
    """For each row the first group with a factor above 0, and the group after the last: fine counts are often 0
    elsewhere."""
    spans = np.zeros((len(factors), 2), dtype=np.int64)
    for row in range(len(factors)):
        for r in range(factors.shape[1]):
            if factors[row, r] != 0.0:
                spans[row, 0] = r if spans[row, 1] == 0 else spans[row, 0]
                spans[row, 1] = r + 1
    return spans


@compiled
def _draw(
    cells: Codes,
    begins: Ints,
    columns: Ints,
    offsets: NDArray[np.uint32],
    factors: Floats,
    strata: int,
    words: Words,
    drawn: Codes,
) -> None:
    """Writes to `drawn` the group of each record; see conditionals.draw."""
    tables, groups = len(begins) - 2, factors.shape[1]
    keys = np.empty(cells.shape[1], dtype=np.uint32)
    _find_rows(cells, columns[begins[tables] :], offsets[begins[tables] :], 0, keys)
    known = _strata_of(keys, strata, words[0])
    weights, spans = np.zeros(groups), _spans_of(factors)
    narrow = 2 * (spans[:, 1] - spans[:, 0]).min() < groups
    rows = np.empty((tables, _BLOCK), dtype=np.uint32)
    for first in range(0, len(keys), _BLOCK):
        many = min(_BLOCK, len(keys) - first)
        for table in range(tables):
            here = slice(begins[table], begins[table + 1])
            _find_rows(cells, columns[here], offsets[here], first, rows[table, :many])
        for u in range(many):
            low, high = 0, groups
            for table in range(tables if narrow else 0):
                low, high = max(low, spans[rows[table, u], 0]), min(high, spans[rows[table, u], 1])
            wide = max(0, high - low)
            line = factors[rows[0, u]][low:high]
            for r in range(wide):
                weights[r] = line[r]
            for table in range(1, tables):
                line = factors[rows[table, u]][low:high]
                for r in range(wide):
                    weights[r] *= line[r]
            for r in range(1, wide):
                weights[r] += weights[r - 1]
            total = weights[wide - 1] if wide else 0.0
            bar = _uniform(known, keys[first + u], np.uint64(first + u) + words[1]) * total
            at = low
            for r in range(wide - 1):  # counting all needs no branches, unlike stopping at the first
                at += weights[r] <= bar
            drawn[first + u] = at if bar < total else groups - 1


def draw(cells: Codes, places: Places, factors: Floats, strata: int, words: Words) -> Codes:
    """See conditionals.draw."""
    drawn: Codes = np.empty(cells.shape[1], dtype=np.min_scalar_type(factors.shape[1] - 1))
    _draw(cells, places.begins, places.columns, places.offsets, factors, strata, words, drawn)
    return drawn


@compiled
def _draw_rows(rising: Floats, width: int, guide: NDArray[np.uint32], row: Codes, words: Words, drawn: Codes) -> None:
    """Draws an entry for each record; the search for the uniform number u starts at the entry of `guide` for u."""
    strata = len(rising) // width
    known = _strata_of(row, strata, words[0])
    steps = len(guide) // strata
    for u in range(len(row)):
        key = row[u]
        uniform = min(_uniform(known, key, np.uint64(u) + words[1]), BELOW_ONE)
        bar = np.float64(key) + uniform
        at = np.int64(guide[key * steps + np.int64(uniform * steps)])
        while rising[at] <= bar:
            at += 1
        drawn[u] = at - np.int64(key) * width


def draw_rows(given: Floats, row: Codes, words: Words) -> Codes:
    """See conditionals.draw_rows."""
    strata, width = given.shape
    drawn: Codes = np.empty(len(row), dtype=np.uint8 if width <= 256 else np.uint16)
    ascending, steps = rising(given), 1 << int(2 * width - 1).bit_length()
    starts = np.arange(strata)[:, None] + np.arange(steps) / steps  # exact, because `steps` is a power of two
    guide = np.searchsorted(ascending, starts.ravel(), side="right").astype(np.uint32)
    _draw_rows(ascending, width, guide, row.astype(np.uint32), words, drawn)
    return drawn
