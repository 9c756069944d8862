"""The public schema of sequences: click paths, trips, process logs; a record is a list of symbols whose order matters.

    kind: sequences
    items: pages.txt                     # the alphabet, as for sets (cantle.schema.sets)
    form: long                           # lines (one sequence per line) | long | list | xes; recognised as for sets
    id: case                             # long: the columns of the sequence (default `id`), of the symbol (default
    item: activity                       # `item`) and of the order, with the type of its values: integer, number,
    order: {column: time, type: datetime}   # date or datetime, which may have a `format`
    max_length: 1000                     # of a longer sequence the first so many symbols are used; at most 5,040
    unit: {person: patient, max_records: 3}   # long: protect all sequences of a person

A sequence keeps its repeats. Rows of a long table are ordered by the declared column, rows of the same time by the
order of the symbols in the alphabet, and never by their place in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from cantle.errors import DataError
from cantle.schema.canonical_json import JSON
from cantle.schema.code_sets import Key
from cantle.schema.declared_values import Folder, whole
from cantle.schema.documents import Problems, fail
from cantle.schema.field_parser import formats_of
from cantle.schema.fields import Field
from cantle.schema.items import SPACE, Universe
from cantle.schema.question_columns import Misfit, Vocabulary, WholeNumber, column_of
from cantle.schema.question_words import Token
from cantle.schema.sets import UNREAD, SetSchema, column_name
from cantle.schema.values import WHOLE, Mask, by_kind, floats, microseconds
from cantle.trusted.core.arrays import Ints

ORDER_TYPES = ("integer", "number", "date", "datetime")
LONGEST = 5040
"""The largest `max_length`: of a longer sequence, an event would be less than one part of a count."""
USUAL_LONGEST = 1000
_ORDER = "write `order: {column: time, type: datetime}`; types are integer, number, date and datetime"


@dataclass(frozen=True, kw_only=True)
class Order:
    """The column by which the events of a sequence are ordered, and the declared type of its values."""

    column: str
    type: str
    format: str | None = None

    def to_dict(self) -> dict[str, JSON]:
        return {key: value for key, value in vars(self).items() if value is not None}

    def places(self, series: pl.Series, marks: tuple[str, ...]) -> Ints:
        """For each value, by itself, a whole number that says where it comes; UNREAD if it cannot be read."""

        def read(part: pl.Series) -> Ints:
            values, missing = self._read(part, marks)
            return np.where(missing, UNREAD, values)

        return by_kind(series, read)

    def _read(self, series: pl.Series, marks: tuple[str, ...]) -> tuple[Ints, Mask]:
        formats = () if self.format is None else (self.format,)
        if self.type == "number":
            values = floats(series, marks)
            missing = np.isnan(values)
            bits = (np.where(missing, 0.0, values) + 0.0).view(np.int64)  # no -0.0
            return np.where(bits < 0, UNREAD - bits, bits), missing
        read = microseconds if self.type == "datetime" else WHOLE[self.type]
        return read(series, marks, formats)


@dataclass(frozen=True, kw_only=True)
class SequenceSchema(SetSchema):
    """What is public about sequences: the alphabet, the longest length, and how the file is written.

    >>> schema = SequenceSchema.from_dict({"kind": "sequences", "items": ["home", "news"], "form": "lines"})
    >>> schema.universe.size, schema.max_length
    (2, 1000)
    """

    order: Order | None = None
    max_length: int = USUAL_LONGEST
    kind: ClassVar[str] = "sequences"
    FORMS: ClassVar[tuple[str, ...]] = ("lines", "long", "list", "xes")
    OWN_KEYS: ClassVar[tuple[str, ...]] = ("order", "max_length")

    @classmethod
    def _fields(cls, document: Mapping[str, object], base_dir: Folder, problems: Problems) -> dict[str, Any]:
        fields = super()._fields(document, base_dir, problems)
        order = problems.value(None, _order, document.get("order"))
        longest = problems.value(USUAL_LONGEST, _longest, document.get("max_length", USUAL_LONGEST))
        with problems.during("order"):
            if document.get("order") is None and fields["form"] == "long":
                fail("schema", "a long table of sequences needs an `order`", _ORDER, "order")
            if order is not None and fields["form"] not in (None, "long", "xes"):
                fail("schema", f"`order` is not for form {fields['form']}", "leave it out, or use form long", "order")
            columns = [fields.get(key, key) for key in ("id", "item")] + [fields["person"]]
            if order is not None and order.column in columns:
                fail("schema", "`order` is another column of the sequence", "name the column of positions or times")
        with problems.during("items"):
            if fields["universe"] is not None and fields["universe"].size < 2:
                fail("items", "there is only one symbol", "publish a table of lengths instead, or declare all symbols")
        form = "long" if order is not None else None
        return {**fields, "form": fields["form"] or form, "order": order, "max_length": longest}

    def to_dict(self) -> dict[str, JSON]:
        document = super().to_dict()
        if self.order is not None:
            document["order"] = self.order.to_dict()
        if self.max_length != USUAL_LONGEST:
            document["max_length"] = self.max_length
        return document

    @property
    def ordered_by(self) -> Order | None:
        return self.order

    @property
    def longest(self) -> int:
        """How many symbols of a sequence are used."""
        return self.max_length

    def require_long(self, where: str) -> None:
        if self.order is None:
            raise DataError(f"{where} is a long table, and its rows have no order; {_ORDER}.")

    @property
    def unit_detail(self) -> str:
        return " (one sequence)" if self.person is None else super().unit_detail

    def vocabulary(self) -> Vocabulary:
        return SequenceVocabulary(self.universe, self.max_length)


def _order(declared: object) -> Order | None:
    if declared is None:
        return None
    if not isinstance(declared, Mapping) or not {"column", "type"} <= {*declared} <= {"column", "type", "format"}:
        fail("schema", "`order` does not say a column and the type of its values", _ORDER, "order")
    if declared["type"] not in ORDER_TYPES:
        fail("schema", "the type of `order` is not known", _ORDER, "order")
    kind, pattern = str(declared["type"]), declared.get("format")
    if pattern is not None and kind not in ("date", "datetime"):
        fail("schema", "`format` of `order` is for dates and datetimes", "leave it out", "order")
    formats = formats_of("order", kind, pattern)
    return Order(column=column_name("order", declared["column"]), type=kind, format=formats[0] if formats else None)


def _longest(declared: object) -> int:
    if declared == 1:
        fail("schema", "with `max_length: 1` these are single values", "publish a table instead", "max_length")
    return whole("schema", "max_length", declared, 2, LONGEST)


# ---- what questions may name ----------------------------------------------------------------------------------------

LATER = "..."
MOST_SYMBOLS = 64
"""Most symbols of a string in a question."""

Pattern = tuple[tuple[int, ...], ...]
"""Strings of codes, each of which comes after the end of the one before it."""


class SequenceVocabulary(Vocabulary):
    """All that a question about a release of sequences may name: length, first and last symbol, and strings of symbols.

    `contains 'a > b'` holds for a sequence in which b follows a directly, `contains 'a > ... > b'` for one in which it
    follows later (or directly). If no symbol of the alphabet has a blank in it, blanks do instead of signs: 'a ... b'.
    """

    def __init__(self, universe: Universe, longest: int) -> None:
        ends = [Field(name=name, categories=tuple(map(str, universe.items))) for name in ("first", "last")]
        super().__init__([WholeNumber("length"), *(column_of(one.attribute(), one) for one in ends)], universe)
        self._plain = not any(re.search(SPACE, str(one)) for one in universe.items)
        self._longest = longest

    def item(self, value: Token) -> Key:
        """The key of the question whether a sequence contains a string."""
        text = value.text
        if ">" not in text and (self._plain or LATER in text.split(" ")):
            text = " > ".join(text.split())
        symbols = [one.strip() for one in text.split(">")]
        if not all(symbols) or symbols[0] == LATER or symbols[-1] == LATER:
            raise Misfit("a string begins and ends with a symbol; write 'a > b', or 'a > ... > b' for a later b")
        if len(symbols) > min(MOST_SYMBOLS, 2 * self._longest):
            raise Misfit(f"a string in a question has at most {MOST_SYMBOLS} symbols")
        codes = [LATER if one == LATER else str(self._code(Token("text", one, value.at))) for one in symbols]
        return " ".join(codes)


def pattern_of(key: Key) -> Pattern:
    """The strings of codes in the key of such a question.

    >>> pattern_of("3 4 ... 0")
    ((3, 4), (0,))
    """
    return tuple(tuple(map(int, part.split())) for part in str(key).split(LATER) if part.split())
