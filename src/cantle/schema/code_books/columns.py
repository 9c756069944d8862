"""Columns as a code book, a file or its values describe them, and the entries of a schema that they become."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK, plain
from cantle.schema.field_keys import LIST, PLACE, TYPE_WORDS

_VAGUE = {"numerical", "numeric"}
"""Words for numbers that may all be whole."""
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")


@dataclass(kw_only=True)
class BookColumn:
    """What is known of one column. `type` is a word for its type, of cantle or of another tool; fields that nothing is
    known about are empty."""

    name: str
    type: str | None = None
    minimum: JSON = None
    maximum: JSON = None
    step: JSON = None
    multiple_of: JSON = None
    title: str | None = None
    categories: list[str] | None = None
    labels: dict[str, str] = field(default_factory=dict)
    ordered: bool = False
    required: bool = False
    role: str | None = None
    missing: tuple[str, ...] = ()
    format: str | None = None
    hierarchy: str | None = None
    items: list[JSON] | None = None
    delimiter: str | None = None

    def entry(self) -> dict[str, JSON]:
        """The field of a schema, with blanks for what its type needs and nobody said."""
        if self.role == "identifier":
            return {"name": self.name, "role": "identifier"}
        kind = self._kind()
        field: dict[str, JSON] = {"name": self.name, "type": kind or BLANK}
        if self.title and self.title != self.name:
            field["title"] = self.title
        constraints: dict[str, JSON] = {}
        if self.role:
            field["role"] = self.role
        if kind in ("date", "datetime") and self.format:
            field["format"] = self.format
        if self.categories:
            field["categories"] = self._categories(kind)
            if self.ordered:
                field["categoriesOrdered"] = True
        elif self.hierarchy:
            field["hierarchy"] = self.hierarchy
        elif kind == PLACE:
            field |= {"bounds": BLANK, "step": BLANK if self.step is None else self.step}
        elif kind == LIST:
            field |= {"items": self.items or BLANK} | ({"delimiter": self.delimiter} if self.delimiter else {})
        elif kind == "string":
            field["categories"] = BLANK
        elif kind in ("integer", "number", "date", "datetime"):
            constraints = {"minimum": _or_blank(self.minimum), "maximum": _or_blank(self.maximum)}
            if self.multiple_of is not None:
                constraints["multipleOf"] = self.multiple_of
            if self.step is not None:
                field["step"] = self.step
            elif kind in ("number", "datetime") and self.multiple_of is None:
                field["step"] = self._decimals() or BLANK
        if self.missing:
            field["missingValues"] = ["", *self.missing]
        if self.required:
            constraints["required"] = True
        return {**field, "constraints": constraints} if constraints else field

    def _kind(self) -> str | None:
        """The type in a schema; a column with a list of values becomes a category, whatever the values look like."""
        word = re.sub(r"[\s(].*", "", (self.type or "").strip().lower())
        kind = TYPE_WORDS.get(word)
        if kind == "boolean" and (not self.categories or {one.lower() for one in self.categories} <= {"true", "false"}):
            self.categories = None
            return kind
        if self.categories:
            whole = all(_WHOLE.fullmatch(one) for one in self.categories)
            return "integer" if whole and kind != "string" else "string"
        if self.hierarchy:
            return "string"
        bounds = [bound for bound in (self.minimum, self.maximum) if bound is not None]
        fine = self.step is not None or self.multiple_of is not None
        whole = bool(bounds) and not fine and all(_WHOLE.fullmatch(str(bound)) for bound in bounds)
        if (kind is None or word in _VAGUE or word in ("object", "character")) and whole:
            return "integer"
        return "number" if kind is None and bounds and self._decimals() is not None else kind

    def _categories(self, kind: str | None) -> list[JSON]:
        assert self.categories is not None
        every = dict.fromkeys(self.categories)
        codes: dict[str, JSON] = {one: int(one) if kind == "integer" else one for one in every}
        labels = {one: self.labels.get(one, "").strip() for one in every}
        return [
            {"value": codes[one], "label": labels[one]} if labels[one] not in ("", one) else codes[one] for one in every
        ]

    def _decimals(self) -> JSON:
        """The step, from the number of decimals in the bounds; None if these are whole."""
        try:
            parts = [
                Decimal(str(bound)).as_tuple().exponent for bound in (self.minimum, self.maximum) if bound is not None
            ]
        except InvalidOperation:
            return None
        least = min((int(one) for one in parts if isinstance(one, int)), default=0)
        return float(Decimal(1).scaleb(least)) if -6 <= least < 0 else None


def _or_blank(value: JSON) -> JSON:
    return BLANK if value is None else plain(value)


def number_of(value: object) -> JSON:
    """A bound in a code book: a number if it is one, otherwise the text; None if there is none."""
    if value is None or isinstance(value, bool) or not str(value).strip():
        return None
    if isinstance(value, int | float):
        return value
    text = str(value).strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) else text


def truth_of(value: object) -> bool | None:
    """The truth value of yes, no, true, 0, ... in a code book; None for anything else."""
    word = str(value).strip().lower()
    return {"yes": True, "true": True, "1": True, "y": True, "x": True}.get(
        word, False if word in ("no", "false", "0", "n") else None
    )
