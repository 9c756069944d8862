"""The common part of schemas of tables and sets: how records are written, and to which persons they belong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cantle.schema.base import Schema
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import Dialect
from cantle.schema.documents import fail

MOST_RECORDS = 10**6


@dataclass(frozen=True, kw_only=True)
class RecordSchema(Schema):
    """What is public about data that are records, in a file or a frame."""

    missing_values: tuple[str, ...] = ("",)
    dialect: Dialect = field(default_factory=Dialect)
    inferred: bool = False
    person: str | None = None
    max_records: int = 1
    extra: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def protects(self) -> tuple[int, str]:
        return (1, "record") if self.person is None else (self.max_records, "person")

    @property
    def unit_detail(self) -> str:
        return "" if self.person is None else f", by column {self.person!r}"

    def _common_keys(self) -> dict[str, JSON]:
        """The keys of the canonical form about how records are written and about persons, without defaults."""
        keys: dict[str, JSON] = {}
        if self.missing_values != ("",):
            keys["missingValues"] = list(self.missing_values)
        if self.dialect != Dialect():
            keys["dialect"] = self.dialect.to_dict()
        if self.inferred:
            keys["guarantee"] = "none"
        if self.person is not None:
            keys["unit"] = {"person": self.person, "max_records": self.max_records}
        return keys


def parse_unit(unit: object) -> tuple[str | None, int]:
    """Whom the promise protects: the column of persons (None if the unit is a record), and the most records used per
    person."""
    if unit in (None, "record"):
        return None, 1
    fix = "write `unit: {person: COLUMN, max_records: 3}`, or leave it out to protect one record"
    if not isinstance(unit, Mapping) or set(unit) != {"person", "max_records"}:
        fail("unit", "it is neither `record` nor a person with a number of records", fix, "unit")
    person, most = unit["person"], unit["max_records"]
    if not isinstance(person, str) or not person or person == BLANK:
        fail("unit", "`person` is not the name of a column", fix, "unit")
    if type(most) is not int or not 1 <= most <= MOST_RECORDS:
        fail("unit", f"`max_records` is not a whole number from 1 to {MOST_RECORDS}", fix, "unit")
    return person, most
