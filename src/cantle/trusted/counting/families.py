"""The engine of families: four views as tables of packed words, whose records count in parts (geometry/views.py)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import ClassVar

import numpy as np

from cantle import kernel_choice
from cantle.trusted.bounding.families import Families
from cantle.trusted.claims.queries import Size
from cantle.trusted.claims.table_queries import CrossTables
from cantle.trusted.claims.views import ViewTables
from cantle.trusted.core.keys import CodeTable, Domain, GridCells
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.stores import InMemory, Store
from cantle.trusted.counting.words import MANY, Batch, CellKey, WordEngine, slices
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import count_tables
from cantle.trusted.geometry.views import PARENTS, VIEWS, FamilyDomain
from cantle.trusted.geometry.workloads import FamilyWorkload, count_families


class ViewEngine(WordEngine):
    """One view. The class of a record is the number of children of its family, which decides with how many parts the
    record counts; no question asks for it."""

    def __init__(self, batches: Iterable[Batch], domain: FamilyDomain, view: int, store: Store) -> None:
        super().__init__(batches, sizes=domain.sizes(view), class_count=domain.most + 1, store=store)
        self._weights, self._records = domain.weights(view), domain.records(view)

    @property
    def domain(self) -> Domain:
        return self.sizes, 1

    def _cell_counts(self, key: CellKey) -> Ints:
        """Parts by cell: the records of each weight are counted, and their counts multiplied."""
        counts, first = np.zeros(key.cells, dtype=np.int64), 0
        assert isinstance(key, CrossTables)
        for cells in self._cells_of(key):
            here = slice(first, first + cells.shape[1])
            first = here.stop
            weights = self._weights[self._layout.column(self._rows[here].T, -1)]
            for weight in np.unique(weights).tolist():
                mine = cells if (weights == weight).all() else np.ascontiguousarray(cells[:, weights == weight])
                counts += weight * count_tables(mine, key.tables, compiled=self.compiled)
        return counts

    def sizes_of_families(self) -> Ints:
        """The number of children of the family of each record."""
        return self._layout.column(self._rows.T, -1)

    def families(self, workload: FamilyWorkload, view: int, sizes: Ints) -> Ints:
        """The numbers of families for the questions about this view; `sizes` are the numbers of children of all
        families, in the order in which their records follow each other."""
        records = self._records[sizes]
        ends, counts = np.cumsum(records), np.zeros(len(workload.of(view)), dtype=np.int64)
        blocks = np.unique(np.searchsorted(ends, np.arange(0, len(self._rows) + MANY, MANY), side="right"))
        for some in (slice(*pair) for pair in itertools.pairwise([0, *blocks.tolist(), len(records)])):
            if some.start == some.stop:
                continue
            here = slice(int(ends[some.start] - records[some.start]), int(ends[some.stop - 1]))
            family = np.repeat(np.arange(some.stop - some.start), records[some])
            counts += count_families(workload, view, self._columns(here), family)
        return counts

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The codes of a column that occur, ascending, and the parts of each."""
        assert isinstance(key, CodeTable)
        entries, counts = super().occupied(CodeTable(key.attribute, key.size, self.classes))
        codes, sizes = np.divmod(entries, self.classes)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        if not len(starts):
            return codes, counts
        return codes[starts], np.add.reduceat(counts * self._weights[sizes], starts)


class WholeFamilies(Private):
    """What engines of families have in common: all families are one region, and none of them is ever split."""

    kind: ClassVar[str] = "families"
    keys: ClassVar[tuple[type, ...]] = (Size, ViewTables)
    _domain: FamilyDomain

    @property
    def domain(self) -> FamilyDomain:
        return self._domain

    def root(self) -> Frontier:
        return Frontier.root(self._domain.sizes(PARENTS))

    def keep_all(self) -> None:
        """Families are never split, so all of them are there until `close`."""


class FamilyEngine(WholeFamilies):
    """Families in four views."""

    def __init__(self, parts: Iterable[Families], domain: FamilyDomain, store: Store | None = None) -> None:
        """Each family is in one part."""
        self._domain, store = domain, store or InMemory()
        with store.again((part.parent, part.size, part.child) for part in parts) as again:
            self._views = [
                ViewEngine(_batches(itertools.starmap(Families, again()), view), domain, view, store) for view in VIEWS
            ]
        self.compiled = kernel_choice.worth_loading(len(self._views[PARENTS]))

    def view(self, view: int) -> ViewEngine:
        """The records of one view, as a table."""
        return self._views[view]

    def tally(self, positions: Ints, key: Size | ViewTables) -> Iterator[Chunk]:
        """The number of families, or the parts by cell of tables of one view."""
        if isinstance(key, Size):
            return self._views[PARENTS].tally(positions, key)
        return self._views[key.view].tally(positions, key)

    def count_all(self, workload: FamilyWorkload) -> Ints:
        """The numbers of families for the questions of a workload."""
        sizes = self._views[PARENTS].sizes_of_families()
        return np.concatenate([self._views[view].families(workload, view, sizes) for view in VIEWS])

    def close(self) -> None:
        for view in self._views:
            view.close()


def _batches(parts: Iterable[Families], view: int) -> Iterator[Batch]:
    for families in parts:
        columns, sizes = families.view(view)
        for here in slices(len(sizes), MANY):
            yield [column[here] for column in columns], sizes[here]
