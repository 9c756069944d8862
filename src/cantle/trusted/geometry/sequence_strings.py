"""Strings of sequences as numbered cells: of private sequences in the engine, of simulated and
released ones in post-processing. Each sequence is mapped by itself.

Sequences are ragged rows of symbols, no row empty, in the order of their events and with repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.workloads import SequenceWorkload

_BLOCK = 1 << 13  # sequences compared with questions together


@dataclass(frozen=True)
class SequenceDomain:
    """What is public about sequences: the number of symbols."""

    symbols: int


@dataclass(frozen=True)
class Shares:
    """How many parts of a sequence its strings have: the one that begins it, the one that ends it, and what its others
    have together. Each of those has an equal part of it, but no more than in a sequence of `span` symbols."""

    span: int
    begins: int
    ends: int
    others: int

    @property
    def other(self) -> int:
        """The parts of one other string in sequences of up to `span` symbols."""
        return self.others // max(1, self.span - 1)


def string_cells(starts: Ints, codes: Codes, symbols: int, order: int) -> Ints:
    """The cell of the string that follows each symbol: it ends with the next symbol or the end.

    >>> string_cells(np.array([0, 2]), np.array([0, 1]), 2, 2).tolist()  # 0 then 1, 1 then the end (2)
    [1, 5]
    """
    place = np.arange(len(codes)) - np.repeat(starts[:-1], np.diff(starts))
    cell = np.zeros(len(codes), dtype=np.int64)
    for back in range(order - 2, -1, -1):
        before = np.full(len(codes), symbols, dtype=np.int64)
        before[back:] = codes[: len(codes) - back]
        cell = cell * (symbols + 1) + np.where(place >= back, before, symbols)
    following = np.append(codes[1:], symbols)
    following[starts[1:] - 1] = symbols
    return cell * (symbols + 1) + following


def string_parts(starts: Ints, codes: Codes, symbols: int, order: int, shares: Shares) -> tuple[Ints, Ints]:
    """The cell of each string, and its parts: one that begins each sequence, and one that follows each symbol."""
    length = np.diff(starts)
    parts = np.repeat(shares.others // np.maximum(np.maximum(length, shares.span) - 1, 1), length)
    parts[starts[1:] - 1] = shares.ends
    base = symbols + 1
    before = symbols * sum(base**back for back in range(1, order))  # starts alone
    cells = np.append(before + codes[starts[:-1]].astype(np.int64), string_cells(starts, codes, symbols, order))
    return cells, np.append(np.full(len(length), shares.begins), parts)


def merged(cells: Ints, parts: Ints) -> tuple[Ints, Ints]:
    """The distinct cells, ascending, and the sums of their parts."""
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    return (cells[first], np.add.reduceat(parts[order], first)) if len(first) else (cells, parts)


def count_contained(workload: SequenceWorkload, starts: Ints, codes: Codes) -> Ints:
    """How many sequences contain each pair directly, then how many contain each pair in this order at any distance."""
    counts, pairs = np.zeros(workload.cells, dtype=np.int64), workload.pairs
    near = workload.near
    for first in range(0, len(starts) - 1, _BLOCK):
        block = starts[first : first + _BLOCK + 1]
        some, owner = codes[block[0] : block[-1]], np.repeat(np.arange(len(block) - 1), np.diff(block))
        counts[:near] += _directly(pairs[:near], some, owner, len(block) - 1)
        counts[near:] += _later(pairs[near:], some, owner, len(block) - 1)
    return counts


def _directly(pairs: Ints, codes: Codes, owner: Ints, records: int) -> Ints:
    base = int(max(codes.max(initial=0), pairs.max(initial=0))) + 1
    wanted = pairs[:, 0] * base + pairs[:, 1]
    order = np.argsort(wanted)
    cell = codes[:-1].astype(np.int64) * base + codes[1:]
    at = np.searchsorted(wanted[order], cell).clip(max=max(0, len(wanted) - 1))
    found = (owner[1:] == owner[:-1]) & (wanted[order][at] == cell) if len(wanted) else np.zeros(len(cell), np.bool_)
    held = np.zeros((len(wanted), records), dtype=np.bool_)
    held[order[at[found]], owner[1:][found]] = True
    return np.asarray(held.sum(axis=1, dtype=np.int64))


def _later(pairs: Ints, codes: Codes, owner: Ints, records: int) -> Ints:
    """A symbol comes after another at some distance if its last place is after the first place of the other."""
    used = np.unique(pairs)
    row_of = np.full(int(max(codes.max(initial=0), pairs.max(initial=0))) + 1, len(used), dtype=np.int64)
    row_of[used] = np.arange(len(used))
    place = np.arange(len(codes), dtype=np.int64)
    first = np.full((len(used) + 1, records), len(codes), dtype=np.int64)
    last = np.full((len(used) + 1, records), -1, dtype=np.int64)
    row = row_of[codes]
    np.minimum.at(first, (row, owner), place)
    np.maximum.at(last, (row, owner), place)
    later = [int(np.count_nonzero(first[row_of[one]] < last[row_of[two]])) for one, two in pairs.tolist()]
    return np.array(later, dtype=np.int64)
