"""Records packed into 64-bit words, and counts of places.

A code takes the bits that the size of its attribute needs, within one word; the class is the last field. Words have
the shape (words, records) here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.trusted.core.arrays import Codes, Words
from cantle.trusted.geometry.boxes import Ints


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
        return joint(self.column(words, attribute), self.column(words, -1), classes)


def joint(code: Ints, label: Ints, classes: int) -> Ints:
    """The cell (code, class) of each record; the code alone when the class is left out. Writes to `code`."""
    if classes > 1:
        code *= classes
        code += label
    return code


def add_counts(counts: Ints, place: Codes) -> None:
    """Adds how often each place occurs; if there are few places, without a pass over all counts."""
    if len(counts) <= 4 * len(place):
        counts += np.bincount(place, minlength=len(counts))
    else:
        places, times = np.unique(place, return_counts=True)
        counts[places] += times


def merged(parts: Sequence[tuple[Codes, Codes]]) -> tuple[Ints, Ints]:
    """The occupied places of several parts, merged."""
    nothing = np.zeros(0, dtype=np.int64)
    place = np.concatenate([nothing, *(part[0] for part in parts)])
    times = np.concatenate([nothing, *(part[1] for part in parts)])
    order = np.argsort(place, kind="stable")
    place, times = place[order], times[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))
    return place[first], np.add.reduceat(times, first) if len(first) else nothing
