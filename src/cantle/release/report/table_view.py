"""The released records of a table as codes, and their columns in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.load import table_schema_of
from cantle.release.report.groupings import Grouping, Ints, group
from cantle.release.structures import traits_of
from cantle.schema.domain import Attribute
from cantle.schema.fields import Field
from cantle.schema.relations import Relations
from cantle.schema.values import Codes

SHOWN = 16
"""Most groups of a column, besides null."""


@dataclass(frozen=True, eq=False)
class TableView:
    """Attributes and codes of all released columns, in the order of the schema; each code is a place."""

    attributes: Sequence[Attribute]
    codes: Sequence[Codes]
    fields: Mapping[str, Field] = field(default_factory=dict)
    relations: Relations | None = None
    """What rules make of declared columns."""

    @staticmethod
    def of(release: Release) -> TableView | None:
        """The view of a release; None if its values are sets of values which have no codes."""
        if traits_of(release.manifest).of_ranges:
            return None
        schema = table_schema_of(release.manifest)
        domain = schema.domain().with_target_as_column().on_places
        codes, _ = domain.encode_columns(as_polars(release.records, release.manifest))
        return TableView(domain.attributes, codes, {one.name: one for one in schema.fields}, domain.relations)

    @property
    def notes(self) -> Sequence[str]:
        """What rules make of declared columns, in sentences."""
        return [] if self.relations is None else self.relations.sentences()

    @property
    def records(self) -> int:
        return len(self.codes[0]) if self.codes else 0

    @cached_property
    def shown(self) -> list[Grouping]:
        return self.groups(SHOWN)

    def groups(self, most: int) -> list[Grouping]:
        """Each column in at most `most` groups and null."""
        made = [group(one, codes, most) for one, codes in zip(self.attributes, self.codes, strict=True)]
        return [self._with_captions(grouping) for grouping in made]

    def _with_captions(self, grouping: Grouping) -> Grouping:
        """Groups of single categories by the labels that the schema gives them."""
        captions = self.fields[grouping.name].captions() if grouping.name in self.fields else {}
        return replace(grouping, labels=tuple(captions.get(label, label) for label in grouping.labels))

    def is_nominal(self, column: str) -> bool:
        """Whether a column holds codes with labels and without an order, so that a mean of them says nothing."""
        one = self.fields.get(column)
        return one is not None and bool(one.value_labels) and not one.ordered

    def title(self, column: str) -> str:
        """What a column is called in full, if the schema says so; of a difference its unit."""
        if self.relations is not None and column in self.relations.units:
            return self.relations.unit(column)
        return self.fields[column].title if column in self.fields else ""

    def grouped(self, groupings: Sequence[Grouping]) -> list[Ints]:
        """The group of each record, by column."""
        return [grouping.of(codes) for grouping, codes in zip(groupings, self.codes, strict=True)]
