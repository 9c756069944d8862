"""Records packed into 64-bit words, and counts over them, for engines that hold records in parts.

A code takes the bits that the size of its attribute needs, within one word; the class is the last field. Words have
the shape (words, records) here. Parts are batches of an engine's records, or partitions of a cluster (Spark): every
part is counted by the same code, and counts of parts add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import assert_never

import numpy as np

from cantle.trusted.arrays import Codes, Words
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.keys import ChildSizes, Classes, GridBins, OneWayEach, OneWays, Sizes, TableKey

Cells = Callable[[Words, Ints, Ints], Ints]
"""A function from words, classes and region numbers to the cell in which each record is counted."""

Sparse = list[tuple[Codes, Codes]]
"""The positions of non-zero counts, and these counts, table by table: smaller than all counts."""

SLICE = 1 << 16
"""Smallest number of records counted together: their codes stay in a core's cache."""

FINE = 1 << 24
"""Most counts of a grid by code that are kept, for all attributes together: 128 MB."""


class Layout:
    """Which bits hold which attribute."""

    def __init__(self, sizes: tuple[int, ...], classes: int) -> None:
        self.sizes, self.classes = sizes, classes
        bits = [(size - 1).bit_length() for size in (*sizes, classes)]
        word, shift, last, used = [], [], 0, 0
        for width in bits:
            if used + width > 64:
                last, used = last + 1, 0
            word.append(last)
            shift.append(used if width else 0)
            used += width
        self.word, self.shift = np.array(word), np.array(shift, dtype=np.uint64)
        self.mask = np.array([(1 << width) - 1 for width in bits], dtype=np.uint64)
        self.words = last + 1
        self.fields = np.stack([self.word.astype(np.uint64), self.shift, self.mask], axis=1)
        """One line (word, lowest bit, mask) per attribute; the class is the last."""

    def pack(self, columns: Sequence[Codes], classes: Codes) -> Words:
        """The words of records given as columns."""
        words = np.zeros((self.words, len(classes)), dtype=np.uint64)
        for column, word, shift in zip((*columns, classes), self.word, self.shift, strict=True):
            words[word] |= column.astype(np.uint64) << shift
        return words

    def column(self, words: Words, attribute: int) -> Ints:
        """The codes of one attribute; -1 stands for the class."""
        code = words[self.word[attribute]] >> self.shift[attribute]
        code &= self.mask[attribute]
        return code.view(np.int64)

    def pick(self, words: Words, attribute: Ints) -> Ints:
        """For each record the code of the attribute given for it."""
        code = words[self.word[attribute], np.arange(words.shape[1])] >> self.shift[attribute]
        return (code & self.mask[attribute]).view(np.int64)

    def entry(self, words: Words, attribute: int, classes: int) -> Ints:
        """code * classes + class of each record; the code alone when the class is left out."""
        return _joint(self.column(words, attribute), self.column(words, -1), classes)

    def locate(self, words: Words, grid: Grid) -> Ints:
        """cell * classes + class of each record in a grid."""
        blank = np.broadcast_to(np.int64(0), words.shape[1])  # an attribute in one span adds nothing
        cut = [len(edge) > 2 for edge in grid.edges]
        columns = [self.column(words, a) if many else blank for a, many in enumerate(cut)]
        cell = grid.locate(columns) if columns else np.zeros(words.shape[1], dtype=np.int64)
        return cell * self.classes + self.column(words, -1)


def split_words(layout: Layout, words: Words, node: Codes, number: Ints, cuts: Cuts) -> tuple[Words, Ints]:
    """The records of the regions that are split, and the number of each one's child.

    `number` is for each region its position among the split ones, -1 for closed ones, whose records are dropped.
    """
    local = number[node]
    if (number < 0).any():
        stay = local >= 0
        words, local = words[:, stay], local[stay]
    code = layout.pick(words, cuts.attribute[local])
    return words, 2 * local + (code >= cuts.point[local])


class Tally:
    """Counts of a key in some regions, part after part; `first` is the position of the first one in the question."""

    def __init__(self, layout: Layout, key: TableKey, nodes: int, first: int = 0) -> None:
        self._layout, self._nodes = layout, nodes
        self._blocks = _blocks(layout, key, first)
        self._counts = [np.zeros(nodes * cells, dtype=np.int64) for cells, _ in self._blocks]

    def add(self, words: Words, local: Ints) -> None:
        """Counts records; `local` numbers their regions from 0; records with a negative number are not counted."""
        if len(local) and local.min() < 0:
            words, local = words[:, local >= 0], local[local >= 0]
        step = max(
            [SLICE, *(len(counts) for counts in self._counts)]
        )  # so that a pass over all counts does not cost more than counting
        for first in range(0, len(local), step):
            part, where = words[:, first : first + step], local[first : first + step]
            label = self._layout.column(part, -1)
            for (cells, cell), counts in zip(self._blocks, self._counts, strict=True):
                add_counts(counts, where * cells + cell(part, label, where))

    def sparse(self) -> Sparse:
        return _sparse(self._counts)

    def merge(self, part: Sparse) -> None:
        """Adds the counts of another part."""
        _merge(self._counts, part)

    def table(self) -> Ints:
        """All counts, shape (regions, cells)."""
        return np.concatenate([counts.reshape(self._nodes, -1) for counts in self._counts], axis=1)


def _blocks(layout: Layout, key: TableKey, first: int) -> list[tuple[int, Cells]]:
    """The tables of a key, one after the other: for each its number of cells, and a function for the cell of a
    record."""
    match key:
        case Sizes():
            return [(1, lambda _words, _label, local: np.zeros_like(local))]
        case Classes():
            return [(key.classes, lambda _words, label, _local: label)]
        case OneWays():
            return [(size * key.classes, _one_way(layout, a, key.classes)) for a, size in _pairs(key)]
        case OneWayEach():

            def own(words: Words, label: Ints, local: Ints) -> Ints:
                return _joint(layout.pick(words, key.attribute[first + local]), label, key.classes)

            return [(key.cells, own)]
        case ChildSizes():
            cuts = key.cuts

            def child(words: Words, _: Ints, local: Ints) -> Ints:
                code = layout.pick(words, cuts.attribute[first + local])
                return (code >= cuts.point[first + local]).astype(np.int64)

            return [(2, child)]
        case _:
            assert_never(key)


def _pairs(key: OneWays) -> list[tuple[int, int]]:
    return list(zip(key.attributes, key.sizes, strict=True))


def _one_way(layout: Layout, attribute: int, classes: int) -> Cells:
    return lambda words, label, _: _joint(layout.column(words, attribute), label, classes)


def _joint(code: Ints, label: Ints, classes: int) -> Ints:
    """The cell (code, class) of each record; the code alone when the class is left out. Writes to `code`."""
    if classes > 1:
        code *= classes
        code += label
    return code


class GridTally:
    """Counts of the cells of a grid by class and code, for all attributes at once, because a round needs all of them.

    An attribute of very many codes has no such table (`has`), and is counted by bin (`add_bins`).
    """

    def __init__(self, layout: Layout, grid: Grid) -> None:
        self._layout, self._grid = layout, grid
        cells = {a: grid.cells * layout.classes * size for a, size in enumerate(layout.sizes)}
        order = sorted(cells, key=lambda a: cells[a])
        sums = accumulate(cells[a] for a in order)  # Python integers, which cannot overflow
        self._held = {a: i for i, (a, together) in enumerate(zip(order, sums, strict=True)) if together <= FINE}
        self._counts = [np.zeros(cells[a], dtype=np.int64) for a in self._held]

    def add(self, words: Words) -> None:
        step = max([SLICE, *(len(counts) for counts in self._counts)])
        for first in range(0, words.shape[1], step):
            part = words[:, first : first + step]
            entry = self._layout.locate(part, self._grid)
            for a, i in self._held.items():
                add_counts(self._counts[i], entry * self._layout.sizes[a] + self._layout.column(part, a))

    def sparse(self) -> Sparse:
        return _sparse(self._counts)

    def merge(self, part: Sparse) -> None:
        """Adds the counts of another part."""
        _merge(self._counts, part)

    def has(self, attribute: int) -> bool:
        return attribute in self._held

    def dense(self, key: GridBins) -> Ints:
        """All counts by bin, shape (cells, classes, width)."""
        fine = self._counts[self._held[key.attribute]].reshape(self._grid.cells, key.classes, -1)
        bins = np.add.reduceat(fine, key.starts, axis=2)
        counts = np.zeros((*fine.shape[:2], key.width), dtype=np.int64)
        for i, number in enumerate(key.number.tolist()):  # bins of one number are in different cells
            counts[:, :, number] += bins[:, :, i]
        return counts


def add_bins(counts: Ints, layout: Layout, key: GridBins, grid: Grid, words: Words) -> None:
    """Counts records of a grid by bin of one attribute."""
    code = layout.column(words, key.attribute)
    number = key.number[np.searchsorted(key.starts, code, side="right") - 1]
    add_counts(counts, layout.locate(words, grid) * key.width + number)


def _sparse(tables: Sequence[Ints]) -> Sparse:
    places = [np.flatnonzero(counts) for counts in tables]
    return [(at.astype(np.uint32), counts[at]) for at, counts in zip(places, tables, strict=True)]


def _merge(tables: Sequence[Ints], part: Sparse) -> None:
    for (at, more), counts in zip(part, tables, strict=True):
        counts[at] += more


def add_sparse(one: Sparse, two: Sparse) -> Sparse:
    """The counts of two parts together."""
    sums = (merged([mine, other]) for mine, other in zip(one, two, strict=True))
    return [(at.astype(np.uint32), counts) for at, counts in sums]


def add_counts(counts: Ints, place: Codes) -> None:
    """Adds how often each place occurs; if there are few places, without a pass over all counts."""
    if len(counts) <= 4 * len(place):
        counts += np.bincount(place, minlength=len(counts))
    else:
        places, times = np.unique(place, return_counts=True)
        counts[places] += times


def occupied(places: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The places that occur, ascending, and how often."""
    return merged([np.unique(place, return_counts=True) for place in places])


def merged(parts: Sequence[tuple[Codes, Codes]]) -> tuple[Ints, Ints]:
    """The occupied places of several parts, merged."""
    nothing = np.zeros(0, dtype=np.int64)
    place = np.concatenate([nothing, *(part[0] for part in parts)])
    times = np.concatenate([nothing, *(part[1] for part in parts)])
    order = np.argsort(place, kind="stable")
    place, times = place[order], times[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))
    return place[first], np.add.reduceat(times, first) if len(first) else nothing


def numbers(asked: Ints, regions: int) -> Ints:
    """For each region its position in the list; -1 if it is not listed."""
    number = np.full(regions, -1, dtype=np.int64)
    number[asked] = np.arange(len(asked))
    return number
