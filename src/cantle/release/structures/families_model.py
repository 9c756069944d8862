"""The noisy tables of a release of families, and the model that follows from them by public rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.errors import VerifyError
from cantle.methods.families.layout import DRAWN_VIEWS, Layout
from cantle.methods.families.model.answers import variance_of
from cantle.methods.families.model.draw import Drawn, drawn_families, number_drawn
from cantle.methods.families.model.view_fit import Answered, FamilyFit
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, laplace_variance
from cantle.release.document_fields import Document
from cantle.release.load import family_schema_of
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    from cantle.release import Release

FIRST_TABLES, SIBLINGS, CHOSEN = "first table ", "siblings table ", "table "
"""How the purposes of the tables begin that the model is made of, in the order in which it takes them."""


class ReleasedFamilies:
    """The noisy tables of a release, and the estimates that follow from them."""

    def __init__(self, release: Release) -> None:
        self.manifest = release.manifest
        self.schema = family_schema_of(self.manifest)
        self.layout = Layout.of(self.schema)
        self._frame = release.frames["tables"].partition_by("table", as_dict=True, maintain_order=True)
        self._stated: list[Document] = self.manifest.structure["tables"]
        cells = self.manifest.structure["cells"]
        parent, child = (
            [np.array(cells[name][one.name], dtype=np.int64) for one in domain.attributes]
            for name, domain in zip(self.schema.names, self.schema.domains, strict=True)
        )
        self.edges = parent, child
        self.fit = self._fitted()

    @property
    def number(self) -> int:
        """How many families the run drew."""
        return number_drawn(self.fit)

    def drawn(self, seed: int) -> Drawn:
        """The families that the run drew with this seed."""
        return self.draw(self.number, public_streams(seed, STREAMS)["records"])

    def draw(self, number: int, dice: Dice) -> Drawn:
        return drawn_families(self.fit, number, dice)

    def _fitted(self) -> FamilyFit:
        (size,) = (number for number, about in enumerate(self._stated) if about["why"] == "number of families")
        noisy, (num, den) = self._numbers(size)
        first: dict[tuple[int, int], Answered] = {}
        for number, about in enumerate(self._stated):
            if about["why"].startswith(FIRST_TABLES):
                (column,) = self._columns(about)
                first[about["view"], column] = self._counts(number)
        rules = self.schema.domains[0].rules_on_codes, self.schema.domains[1].rules_on_codes
        fit = FamilyFit(self.layout, self.edges, rules, (int(noisy[0]), float(laplace_variance(num / den))), first)
        for beginning in (SIBLINGS, CHOSEN):
            mine = [(number, one) for number, one in enumerate(self._stated) if one["why"].startswith(beginning)]
            for number, about in mine:
                fit[about["view"]].add(self._table(fit, number, about))
            if mine or beginning == SIBLINGS:
                fit.use_tables()
        return fit

    def _columns(self, about: Document) -> tuple[int, ...]:
        """The columns of a table, by their numbers in its view."""
        if about["view"] not in DRAWN_VIEWS:
            raise VerifyError(f"{about['why']} is about a view that families are not drawn from")
        names = [column.name for column in self.layout.columns(about["view"])]
        return tuple(names.index(name) for name in about["columns"])

    def _table(self, fit: FamilyFit, number: int, about: Document) -> NoisyTable:
        """A table that the run measured; its groups must be those that follow from the first tables."""
        columns, own = self._columns(about), fit[about["view"]]
        groups = tuple(len(edges) - 1 for edges in about["edges"])
        for column, count, edges in zip(columns, groups, about["edges"], strict=True):
            grouping = own.groupings[column]
            if count not in grouping.sizes or own.edges[column][grouping.edges(count)].tolist() != edges:
                raise VerifyError(f"{about['why']} has other groups of {own.columns[column].name} than can be")
        counts, variance = self._counts(number)
        return NoisyTable(columns, groups, counts.reshape(groups), variance)

    def _numbers(self, number: int) -> tuple[Ints, tuple[int, int]]:
        frame = self._frame[(number,)]
        return frame["noisy"].to_numpy(), (int(frame["rate_num"][0]), int(frame["rate_den"][0]))

    def _counts(self, number: int) -> Answered:
        noisy, rate = self._numbers(number)
        return noisy / item_partitions.PARTS, variance_of(*rate)

    def view_sizes(self) -> Mapping[int, dict[str, int]]:
        """The number of codes of each column, by view."""
        found = {}
        for view in range(4):
            edges = self.layout.edges(view, *self.edges)
            columns = self.layout.columns(view)
            found[view] = {one.name: int(edge[-1]) for one, edge in zip(columns, edges, strict=True)}
        return found
