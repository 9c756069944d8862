"""The questions that `families` asks the curator, and the noisy answers, which are released.

Counts are parts of one family (cantle.trusted.geometry.views); the estimates divide them by PARTS.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from cantle.methods.mosaic.model.answers import NoisyAnswer
from cantle.methods.mosaic.questions import Questions, nano
from cantle.trusted.claims.table_candidates import Distance, ViewSets
from cantle.trusted.claims.table_queries import ValueSearch
from cantle.trusted.claims.views import ViewSpikes, ViewTables
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.views import CHILDREN, PARENTS, VIEWS, FamilyDomain

_OF = {PARENTS: " of parents", CHILDREN: " of children"}


class ViewQuestions(Questions):
    """The questions of mosaic about one view, whose counts are parts."""

    def __init__(self, curator: Curator, view: int, answers: list[NoisyAnswer]) -> None:
        domain = curator.domain
        assert isinstance(domain, FamilyDomain)
        self._curator, self._root, self._sizes = curator, curator.root(), domain.sizes(view)
        self._items, self._within, self.answers = [], None, answers
        self.view, self.of_what = view, _OF.get(view, "")

    def _tables_query(self, tables: Sequence[CrossTable]) -> ViewTables:
        return ViewTables(self.within, tuple(tables), view=self.view)

    def _spikes_query(self, searches: Sequence[ValueSearch]) -> ViewSpikes:
        return ViewSpikes(tuple(searches), self._sizes, self.view)

    def heaviest(self, *_: object) -> None:
        """No frequent value: with few families none is asked for."""


class FamilyQuestions:
    """Asks a curator questions about all families, view by view."""

    def __init__(self, curator: Curator) -> None:
        self._curator, self.answers = curator, list[NoisyAnswer]()
        self._views = [ViewQuestions(curator, view, self.answers) for view in VIEWS]

    def of(self, view: int) -> ViewQuestions:
        return self._views[view]

    def left(self) -> Fraction:
        """The part of epsilon that is not spent yet."""
        return self.of(PARENTS).left()

    def size(self, price: Fraction) -> int:
        """The noisy number of families."""
        return self.of(PARENTS).size(price, "number of families")

    def table(self, view: int, table: CrossTable, price: Fraction, why: str) -> Ints:
        """The noisy parts in all cells of a table."""
        return self.of(view).cross_tables([table], price, why)[0]

    def round(self, tables: Sequence[tuple[int, CrossTable]]) -> tuple[ViewTables, ...]:
        """The tables of a round, which are ordered by view."""
        return tuple(
            ViewTables(self.of(view).within, tuple(table for own, table in tables if own == view), view=view)
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
        return self._curator.choose(self._curator.root(), asked, Distance(), nano(price), why=why)
