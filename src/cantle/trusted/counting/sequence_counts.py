"""Counts of sequences: lengths, whole paths, ends, strings.

Records are ragged rows of symbols, no row empty, in the order of their events and with repeats. Each count maps every
record by itself, by public functions of its content, so data sets that differ in one record differ by that record's
counts only: 1 in lengths and paths, at most PARTS in ends and strings.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.claims.sequence_queries import EndSymbols, Lengths, ShortPaths, Strings
from cantle.trusted.core.arrays import Codes
from cantle.trusted.counting.basket_counts import count_sizes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.sequence_strings import path_cells, string_parts


def within(starts: Ints, codes: Codes, low: int, high: int) -> tuple[Ints, Codes]:
    """The sequences of `low` to `high` symbols.

    >>> [one.tolist() for one in within(np.array([0, 1, 3, 6]), np.array([9, 1, 2, 3, 4, 5]), 2, 2)]
    [[0, 2], [1, 2]]
    """
    length = np.diff(starts)
    mine = (length >= low) & (length <= high)
    if mine.all():
        return starts, codes
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(length[mine])]), codes[np.repeat(mine, length)]


def count_sequences(key: Lengths | ShortPaths | EndSymbols | Strings, starts: Ints, codes: Codes) -> Ints:
    """The counts of a question over ragged rows."""
    if isinstance(key, Lengths):
        return count_sizes(starts, np.array(key.edges))
    counts = np.zeros(key.cells, dtype=np.int64)
    if isinstance(key, ShortPaths):
        np.add.at(counts, path_cells(starts, codes, key.symbols), 1)
    elif isinstance(key, EndSymbols):
        _add_ends(key, starts, codes, counts)
    else:
        np.add.at(counts, *string_parts(starts, codes, key.symbols, key.order, key.classes))
    return counts


def _add_ends(key: EndSymbols, starts: Ints, codes: Codes, counts: Ints) -> None:
    first, last, every = counts.reshape(3, -1)  # views
    length = np.diff(starts)
    at = np.searchsorted(key.classes, length, side="right") * key.symbols
    np.add.at(first, at + codes[starts[:-1]], key.weights[0])
    np.add.at(last, at + codes[starts[1:] - 1], key.weights[1])
    if key.weights[2]:
        np.add.at(every, np.repeat(at, length) + codes, np.repeat(key.weights[2] // length, length))
