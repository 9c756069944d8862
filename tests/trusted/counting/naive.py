"""The specification of engines of tables: a dictionary from region to its records, which are counted one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np

from cantle.trusted.claims.list_queries import PartsOfLists, SizesOfLists
from cantle.trusted.claims.queries import Histogram, Size
from cantle.trusted.claims.table_queries import LabelCounts
from cantle.trusted.core.keys import CodeTable, GridBins, GridCells, OneWayEach, OneWays
from cantle.trusted.counting.words import CellKey, TableKey, Tables
from cantle.trusted.geometry.boxes import BoxRule, Cuts, Slices
from cantle.trusted.geometry.cross_tables import CrossTable, LabelTree
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.subset import PRIME, Subset
from cantle.trusted.geometry.workloads import TableWorkload

Codes = tuple[int, ...]
Record = tuple[Codes, int]
"""Codes and class."""


class NaiveEngine(Tables):
    """The verbs of engines/base.py over plain tuples, with one region per chunk."""

    def __init__(self, codes: np.ndarray, classes: np.ndarray, *, sizes: tuple[int, ...], class_count: int) -> None:
        self.sizes, self.classes = sizes, class_count
        rows = zip(codes.tolist(), classes.tolist(), strict=True)
        self.regions: dict[int, list[Record]] = {0: [(tuple(code), label) for code, label in rows]}
        self.everyone = self.regions[0]

    def _tally(self, positions: np.ndarray, key: TableKey) -> Iterator[tuple[int, int, np.ndarray]]:
        for i, position in enumerate(positions.tolist()):
            counts = np.zeros((1, key.cells), dtype=np.int64)
            for code, label in self.regions[position]:
                for cell in self.cells(key, i, code, label):
                    counts[0, cell] += 1
            yield i, i + 1, counts

    def cells(self, key: TableKey, i: int, code: Codes, label: int) -> list[int]:
        """The cells in which a record is counted."""
        if isinstance(key, Size):
            return [0]
        if isinstance(key, Histogram):
            return [label]
        second = label if key.classes > 1 else 0
        if isinstance(key, OneWayEach):
            return [code[key.attribute[i]] * key.classes + second]
        assert isinstance(key, OneWays)
        starts = [sum(key.sizes[:k]) for k in range(len(key.sizes))]
        return [(s + code[a]) * key.classes + second for s, a in zip(starts, key.attributes, strict=True)]

    def split(self, positions: np.ndarray, rule: BoxRule) -> None:
        new: list[list[Record]] = []
        for i, position in enumerate(positions.tolist()):
            column = rule.attribute[i]
            if isinstance(rule, Cuts) and rule.left is not None and rule.left[i]:
                for side in (True, False):
                    inside = [(int(rule.left[i]) >> one[0][column] & 1 == 1) == side for one in self.regions[position]]
                    new.append([one for one, here in zip(self.regions[position], inside, strict=True) if here])
                continue
            points = points_of(rule, i)
            for low, high in pairwise([-1, *points, math.inf]):
                new.append([record for record in self.regions[position] if low <= record[0][column] < high])
        self.regions = dict(enumerate(new))

    def close(self) -> None:
        self.regions = {}

    # ---- the whole table --------------------------------------------------------------------------------------

    def records(self) -> list[Record]:
        return [record for region in self.regions.values() for record in region]

    def occupied(self, key: GridCells | CodeTable) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(key, GridCells):
            found = Counter(grid_cell(key.grid, code) * key.classes + label for code, label in self.records())
        else:
            found = Counter(code[key.attribute] * key.classes + label for code, label in self.records())
        entries = sorted(found)
        return np.array(entries, dtype=np.int64), np.array([found[entry] for entry in entries], dtype=np.int64)

    def place(self, grid: Grid) -> None:
        self.grid = grid

    def dense(self, key: GridBins) -> np.ndarray:
        counts = np.zeros((self.grid.cells, key.classes, key.width), dtype=np.int64)
        for code, label in self.records():
            place = max(i for i, start in enumerate(key.starts.tolist()) if start <= code[key.attribute])
            counts[grid_cell(self.grid, code), label, key.number[place]] += 1
        return counts

    def _cell_counts(self, key: CellKey) -> np.ndarray:
        counts, seen = np.zeros(key.cells, dtype=np.int64), Counter[Codes]()
        for code, _ in self.records():
            seen[code] += 1
            cells = [span_of(edges, one) for edges, one in zip(key.within.edges, code, strict=True)]
            if isinstance(key, LabelCounts):
                counts[leaf_of(key.tree, cells) * key.classes + cells[key.target]] += 1
            elif isinstance(key, SizesOfLists | PartsOfLists):
                for cell, parts in parts_of(key, cells):
                    counts[cell] += parts
            elif key.subset is None or hashed(key.subset, code, seen[code]) < key.subset.below:
                for first, table in zip(firsts(key.tables), key.tables, strict=True):
                    counts[first + entry_of(table, cells)] += 1
        return counts

    # ---- all records, wherever splits have put them -----------------------------------------------------------

    def keep_all(self) -> None:
        """Does nothing: all records are always kept."""

    def count_all(self, workload: TableWorkload) -> np.ndarray:
        counts = []
        columns = [(*code, label)[: len(workload.within.edges)] for code, label in self.everyone]
        records = [[span_of(workload.within.edges[j], one) for j, one in enumerate(codes)] for codes in columns]
        for table in workload.tables:
            found = Counter(entry_of(table, cells) for cells in records)
            counts += [found[cell] for cell in range(table.cells)]
        return np.array(counts, dtype=np.int64)


def parts_of(key: SizesOfLists | PartsOfLists, cells: list[int]) -> Iterator[tuple[int, int]]:
    """The cells in which a record counts for a list, and with how many parts."""
    held = [place for place, item in enumerate(key.items) if cells[item]]
    if isinstance(key, SizesOfLists):
        yield max(cell for cell, least in enumerate(key.edges) if least <= len(held)), 1
        return
    rows = [b * (b - 1) // 2 + a for a, b in combinations(held, 2)] if key.pairs else held
    for row in rows:
        yield row * key.by.cells + entry_of(key.by, cells), min(PARTS, PARTS * key.most // len(rows))


def points_of(rule: BoxRule, i: int) -> list[int]:
    """Where a rule cuts a region."""
    several = isinstance(rule, Slices)
    points = rule.points[rule.starts[i] : rule.starts[i + 1]] if several else rule.point[i : i + 1]
    return points.tolist()


def span_of(edges: np.ndarray, code: int) -> int:
    """The span that a code lies in."""
    return sum(edge <= code for edge in edges.tolist()[1:])


def grid_cell(grid: Grid, code: Codes) -> int:
    cell = 0
    for edges, one in zip(grid.edges, code, strict=True):
        cell = cell * (len(edges) - 1) + span_of(edges, one)
    return cell


def firsts(tables: tuple[CrossTable, ...]) -> list[int]:
    """Where the counts of each table begin."""
    return [sum(table.cells for table in tables[:i]) for i in range(len(tables))]


def entry_of(table: CrossTable, cells: list[int]) -> int:
    entry = 0
    for column, map_, groups in zip(table.columns, table.maps, table.shape, strict=True):
        entry = entry * groups + int(map_[cells[column]])
    return entry


def leaf_of(tree: LabelTree, cells: list[int]) -> int:
    node = 0
    while tree.column[node] >= 0:
        goes_left = tree.goes_left[node][cells[tree.column[node]]]
        node = int((tree.left if goes_left else tree.right)[node])
    return int(tree.leaf[node])


def hashed(subset: Subset, codes: Codes, copy: int) -> int:
    """The hash H of geometry/subset.py, computed with Python integers."""
    *multipliers, last, added = subset.multipliers(len(codes))
    linear = (added + last * copy + sum(a * code for a, code in zip(multipliers, codes, strict=True))) % PRIME
    return pow(linear, 5, PRIME)
