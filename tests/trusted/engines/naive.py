"""A reference engine that is easy to check: a dictionary from region to its records, which are counted one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cantle.trusted.engines.base import Tables
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.keys import ChildSizes, Classes, Key, OneWayEach, OneWays, Sizes


class NaiveEngine(Tables):
    """The four verbs of engines/base.py over plain tuples, with one region per chunk."""

    def __init__(self, codes: np.ndarray, classes: np.ndarray, *, sizes: tuple[int, ...], class_count: int) -> None:
        self.sizes, self.classes = sizes, class_count
        rows = zip(codes.tolist(), classes.tolist(), strict=True)
        self.regions = {0: [(tuple(code), label) for code, label in rows]}

    def tally(self, positions: np.ndarray, key: Key) -> Iterator[tuple[int, int, np.ndarray]]:
        for i, position in enumerate(positions.tolist()):
            counts = np.zeros((1, key.cells), dtype=np.int64)
            for code, label in self.regions[position]:
                for cell in self.cells(key, i, code, label):
                    counts[0, cell] += 1
            yield i, i + 1, counts

    def cells(self, key: Key, i: int, code: tuple[int, ...], label: int) -> list[int]:
        """The cells in which a record is counted."""
        if isinstance(key, Sizes):
            return [0]
        if isinstance(key, Classes):
            return [label]
        if isinstance(key, ChildSizes):
            return [int(code[key.cuts.attribute[i]] >= key.cuts.point[i])]
        second = label if key.classes > 1 else 0
        if isinstance(key, OneWayEach):
            return [code[key.attribute[i]] * key.classes + second]
        assert isinstance(key, OneWays)
        starts = [sum(key.sizes[:k]) for k in range(len(key.sizes))]
        return [(s + code[a]) * key.classes + second for s, a in zip(starts, key.attributes, strict=True)]

    def split(self, positions: np.ndarray, cuts: Cuts) -> None:
        new = {}
        for i, position in enumerate(positions.tolist()):
            for child in (0, 1):
                side = [r for r in self.regions[position] if (r[0][cuts.attribute[i]] >= cuts.point[i]) == child]
                new[2 * i + child] = side
        self.regions = new

    def close(self) -> None:
        self.regions = {}
