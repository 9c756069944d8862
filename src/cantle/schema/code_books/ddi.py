"""Code books in DDI XML (version 2, `codeBook`): the variables of `dataDscr`.

The text is parsed by expat. Declarations of document types and entities are refused, because a short text with entities
can expand to more than fits in memory, or name files of this machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from cantle.errors import ParameterError, raise_alone
from cantle.schema.code_books.columns import BookColumn, number_of


@dataclass
class _Variable:
    """A variable while its element is being read."""

    column: BookColumn
    codes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    category: dict[str, str] | None = None
    """Code and label of the category whose element is open."""


class _Reader:
    """Collects variables while expat reads the elements in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.done: list[BookColumn] = []
        self._now: _Variable | None = None
        self._category_missing = False
        self._text: list[str] | None = None

    def start(self, tag: str, given: dict[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if local == "var":
            kind = "continuous" if given.get("intrvl") == "contin" else None
            self._now = _Variable(BookColumn(name=given.get("name", ""), type=kind))
            decimals = given.get("dcml", "")
            if decimals.isdecimal() and 0 < int(decimals) <= 6:
                self._now.column.multiple_of = float(f"1e-{decimals}")
        elif self._now is not None and local == "varFormat":
            self._format(self._now.column, given)
        elif self._now is not None and local == "range":
            self._now.column.minimum = number_of(given.get("min", given.get("minExclusive")))
            self._now.column.maximum = number_of(given.get("max", given.get("maxExclusive")))
        elif self._now is not None and local == "catgry":
            self._category_missing, self._now.category = given.get("missing", "N").upper() == "Y", {}
        elif self._now is not None and local in ("catValu", "labl"):
            self._text = []

    @staticmethod
    def _format(column: BookColumn, given: dict[str, str]) -> None:
        if given.get("type") == "character":
            column.type = "string"
        elif given.get("category") in ("date", "time"):
            column.type = "date" if given["category"] == "date" else "datetime"
        elif column.type is None or (column.type == "continuous" and column.multiple_of is None):
            column.type = "numeric"

    def end(self, tag: str) -> None:
        local = tag.rpartition(":")[2]
        if local in ("catValu", "labl") and self._now is not None and self._text is not None:
            self._say(self._now, local, " ".join("".join(self._text).split()))
            self._text = None
        elif local == "catgry" and self._now is not None and self._now.category is not None:
            code, label = (self._now.category.get(key, "") for key in ("catValu", "labl"))
            if code and label:
                self._now.column.labels[code] = label
            self._now.category = None
        elif local == "var" and self._now is not None:
            column = self._now.column
            bounded = column.minimum is not None and column.maximum is not None
            column.categories = None if bounded and len(self._now.codes) < 2 else self._now.codes or None
            column.missing = tuple(one for one in self._now.missing if one)
            if column.name:
                self.done.append(column)
            self._now = None

    def _say(self, variable: _Variable, local: str, words: str) -> None:
        """Keeps a code, or the label of a category or of the whole variable."""
        if variable.category is not None:
            variable.category.setdefault(local, words)
        elif local == "labl":
            variable.column.title = variable.column.title or words
        if local == "catValu":
            (variable.missing if self._category_missing else variable.codes).append(words)

    def characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def refuse(self, *_: object) -> NoReturn:
        raise ParameterError(
            f"the code book {self.name!r} declares a document type or an entity; remove what stands between <! and > "
            "at its top"
        )


def ddi_columns(text: str, name: str) -> list[BookColumn]:
    """The variables of a DDI code book."""
    reader, parser = _Reader(name), expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = reader.refuse
    parser.ExternalEntityRefHandler = reader.refuse
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as broken:
        raise_alone(
            ParameterError(f"the code book {name!r} is not valid XML (line {broken.lineno}); correct that line")
        )
    return reader.done
