"""The questions that `families` asks the curator, and the noisy answers, which are released.

Counts are parts of one family (cantle.trusted.geometry.views); the estimates divide them by PARTS.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from cantle.methods.mosaic.model.answers import CellsOf, NoisyAnswer
from cantle.methods.mosaic.model.noisy_tables import laplace_variance
from cantle.methods.mosaic.questions import SpikeSearch, group_edges, nano
from cantle.trusted.claims.queries import Size
from cantle.trusted.claims.table_candidates import Distance, ViewSets
from cantle.trusted.claims.views import ViewSpikes, ViewTables
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.views import CHILDREN, PARENTS, FamilyDomain

_OF = {PARENTS: "parents", CHILDREN: "children"}


class FamilyQuestions:
    """Asks a curator questions about all families."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator
        self._root: Frontier = curator.root()
        domain = curator.domain
        assert isinstance(domain, FamilyDomain)
        self._domain = domain
        self._within: dict[int, ColumnCells] = {}
        self.answers: list[NoisyAnswer] = []

    def left(self) -> Fraction:
        """The part of epsilon that is not spent yet."""
        return Fraction(int(self._curator.left(self._root)[0]), NANO)

    def size(self, price: Fraction) -> tuple[int, float]:
        """The noisy number of families, and its variance."""
        noisy = self._curator.measure(self._root, Size(), nano(price), why="number of families")
        self._keep("number of families", noisy, noisy.value[0], 0, {"columns": [], "edges": []})
        return int(noisy.value[0, 0]), float(laplace_variance(int(noisy.rate_num[0]) / noisy.rate_den))

    def spikes(self, view: int, searches: Sequence[SpikeSearch], price: Fraction) -> list[tuple[Ints, Ints]]:
        """For each search in a view the codes whose noisy parts reach the threshold of their class, with the parts."""
        query = ViewSpikes(tuple(one.search for one in searches), self._domain.sizes(view), view)
        least = np.array([least for one in searches for least in one.thresholds], dtype=np.int64)
        why = f"frequent values of {_OF[view]}"
        noisy = self._curator.measure(self._root, query, nano(price), why=why, at_least=least)
        found = []
        for search, (codes, at) in zip(searches, query.values(noisy.rows, noisy.cells), strict=True):
            about: CellsOf = {"column": search.column, "at_least": list(search.thresholds)}
            rate = int(noisy.rate_num[0]), noisy.rate_den
            self.answers.append(NoisyAnswer(why, codes, noisy.value[at], *rate, about, view))
            found.append((codes, noisy.value[at]))
        return found

    def set_cells(self, view: int, edges: Sequence[Ints]) -> None:
        """Sets the cells of the columns of a view, null included."""
        self._within[view] = ColumnCells(tuple(edge.copy() for edge in edges))

    def table(self, view: int, table: CrossTable, price: Fraction, why: str) -> NoisyAnswer:
        """The noisy parts in all cells of a table."""
        (answer,) = self._tables(view, [table], price, why)
        return answer

    def _tables(self, view: int, tables: Sequence[CrossTable], price: Fraction, why: str) -> list[NoisyAnswer]:
        """The noisy parts in all cells of these tables."""
        within = self._within[view]
        noisy = self._curator.measure(self._root, ViewTables(within, tuple(tables), view=view), nano(price), why=why)
        parts = np.split(noisy.value[0], np.cumsum([table.cells for table in tables])[:-1])
        return [
            self._keep(why, noisy, own, view, {"columns": list(one.columns), "edges": group_edges(within, one)})
            for one, own in zip(tables, parts, strict=True)
        ]

    def wide_cells(self, view: int, tables: Sequence[CrossTable], price: Fraction) -> list[NoisyAnswer]:
        """The noisy parts in all cells of wide columns, which say which cells to split."""
        return self._tables(view, tables, price, f"cells of wide columns of {_OF[view]}")

    def round(self, tables: Sequence[tuple[int, CrossTable]]) -> tuple[ViewTables, ...]:
        """The tables of a round, which are ordered by view."""
        return tuple(
            ViewTables(self._within[view], tuple(table for own, table in tables if own == view), view=view)
            for view in sorted({view for view, _ in tables})
        )

    def choose(
        self,
        keys: tuple[ViewTables, ...],
        models: Sequence[Ints],
        penalties: Ints,
        left: Ints,
        price: Fraction,
        why: str,
    ) -> int:
        """The number of the table whose parts are farthest from its model, chosen with noise."""
        asked = ViewSets(keys, tuple(models), penalties, left)
        return self._curator.choose(self._root, asked, Distance(), nano(price), why=why)

    def _keep(self, why: str, noisy: Noisy, values: Ints, view: int, about: CellsOf) -> NoisyAnswer:
        answer = NoisyAnswer(why, np.arange(len(values)), values, int(noisy.rate_num[0]), noisy.rate_den, about, view)
        self.answers.append(answer)
        return answer
