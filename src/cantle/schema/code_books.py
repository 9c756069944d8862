"""Code books: existing public descriptions of the columns of a table, from which a schema is drafted.

A code book is public, like a schema. Known forms: a table (CSV) of name, type, min, max, values; Frictionless schemas
and data packages; SDV metadata; SmartNoise metadata; NIST data dictionaries (both JSON forms); DDI code books (XML).
What a code book does not say stays blank.

Declarations of document types are refused in XML: with entities, which stand in them, a short text can expand to more
than fits in memory, or name files of this machine.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from xml.etree import ElementTree

from cantle.errors import ParameterError, SchemaError, raise_alone
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK, plain
from cantle.schema.documents import check_values, parse_document, read_text
from cantle.schema.fields import GRIDS, LIST, PLACE, TYPE_WORDS

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
        kind, listed = self._kind(), bool(self.categories)
        free = not listed and not self.hierarchy
        bounded = free and kind in GRIDS
        step = self.step if free and kind in (*GRIDS, PLACE) else None
        if free and step is None and (kind == PLACE or (kind in ("number", "datetime") and self.multiple_of is None)):
            step = (self._decimals() if bounded else None) or BLANK
        constraints: dict[str, JSON] = {
            "minimum": _or_blank(self.minimum) if bounded else None,
            "maximum": _or_blank(self.maximum) if bounded else None,
            "multipleOf": self.multiple_of if bounded else None,
            "required": self.required or None,
        }
        keys: dict[str, JSON] = {
            "name": self.name,
            "type": kind or BLANK,
            "title": self.title if self.title != self.name else None,
            "role": self.role,
            "format": self.format if kind in ("date", "datetime") else None,
            "categories": self._categories(kind) if listed else BLANK if free and kind == "string" else None,
            "categoriesOrdered": listed and self.ordered,
            "hierarchy": None if listed else self.hierarchy,
            "bounds": BLANK if free and kind == PLACE else None,
            "items": self.items or BLANK if free and kind == LIST else None,
            "delimiter": self.delimiter if free and kind == LIST else None,
            "step": step,
            "missingValues": ["", *self.missing] if self.missing else None,
            "constraints": {key: one for key, one in constraints.items() if one is not None},
        }
        return {key: one for key, one in keys.items() if one}

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
        bounds = [bound for bound in (self.minimum, self.maximum) if bound is not None]
        try:
            parts = [Decimal(str(bound)).as_tuple().exponent for bound in bounds]
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


_HEADS = {
    "name": "name variable column field var varname variable_name column_name field_name",
    "type": "type datatype data_type dtype kind vartype",
    "min": "min minimum lowest lower low",
    "max": "max maximum highest upper high",
    "values": "values categories codes levels allowed enum value code allowed_values",
    "value_label": "value_label value_labels label_of_value code_label category_label meaning",
    "title": "label title variable_label column_label description question",
    "required": "required mandatory not_null",
    "nullable": "nullable optional null",
    "step": "step precision resolution",
    "multiple_of": "multiple_of multipleof",
    "role": "role",
    "missing": "missing missing_values missingvalues na",
    "format": "format date_format",
    "hierarchy": "hierarchy groups",
}
_HEAD = {word: key for key, words in _HEADS.items() for word in words.split()}
_RANGE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:\.\.+|to|–|-)\s*(-?\d+(?:\.\d+)?)\s*")


def table_columns(text: str, name: str) -> list[BookColumn]:
    """The columns that a table describes; rows of the same name add values."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    mark = max(",;\t|", key=lines[0].count)
    try:
        rows = [row for row in csv.reader(lines, delimiter=mark) if any(cell.strip() for cell in row)]
    except csv.Error:
        raise_alone(ParameterError(f"the code book {name!r} is not a CSV table; check its quotes"))
    keys = [_HEAD.get(re.sub(r"[\s\-]+", "_", head.strip().lower())) for head in rows[0]] if rows else []
    if "name" not in keys:
        return []
    if {"value", "code"} & {head.strip().lower() for head in rows[0]} and "value_label" not in keys:
        # in a table with one row per value, a column `label` holds the labels of values
        keys = ["value_label" if key == "title" else key for key in keys]
    columns: dict[str, BookColumn] = {}
    last = ""
    for row in rows[1:]:
        cells = {key: cell.strip() for key, cell in zip(keys, row, strict=False) if key and cell.strip()}
        last = cells.get("name", last)  # in books with one row per value, often only the first row has the name
        if last:
            _add(columns.setdefault(last, BookColumn(name=last)), cells)
    return list(columns.values())


def _add(column: BookColumn, cells: dict[str, str]) -> None:
    """Adds the cells of one row of the code book to its column."""
    column.type, column.title = column.type or cells.get("type"), column.title or cells.get("title")
    column.ordered = column.ordered or (column.type or "").lower() == "ordinal"
    for key, given in (("minimum", "min"), ("maximum", "max"), ("step", "step"), ("multiple_of", "multiple_of")):
        if given in cells:
            setattr(column, key, number_of(cells[given]))
    column.format, column.hierarchy = cells.get("format", column.format), cells.get("hierarchy", column.hierarchy)
    role = cells.get("role", "").lower()
    column.role = role if role in ("target", "weight", "identifier") else column.role
    column.role = "identifier" if (column.type or "").lower() in ("id", "identifier") else column.role
    column.required |= truth_of(cells.get("required", "")) is True or truth_of(cells.get("nullable", "")) is False
    column.missing = (*column.missing, *(code for code, _ in _split(cells.get("missing", ""))))
    values = cells.get("values", "")
    span = _RANGE.fullmatch(values)
    if span and column.minimum is None and column.maximum is None:
        column.minimum, column.maximum = (number_of(one) for one in span.groups())
    elif values:
        found = _split(values)
        column.categories = [*(column.categories or []), *(code for code, _ in found)]
        column.labels |= {code: label for code, label in found if label}
        if len(found) == 1 and "value_label" in cells:
            column.labels[found[0][0]] = cells["value_label"]


def _split(values: str) -> list[tuple[str, str]]:
    """The values in a cell, separated by |, ; or commas, with their labels: for `1 = male`, 1 and male."""
    mark = next((mark for mark in "|;," if mark in values), "|")
    found = []
    for one in filter(None, (part.strip() for part in values.split(mark))):
        code, _, label = (part.strip() for part in one.partition("="))
        is_code = code and not code.endswith(("<", ">", "!"))  # in `<=50K` the sign is part of the value
        found.append((code, label) if is_code else (one, ""))
    return found


Document = Mapping[str, object]
_NIST_WORDS = {"description", "details", "link", "links", "values", "min", "max", "dtype", "has_null", "null_value"}


def _mappings(document: object) -> Iterator[tuple[str, Document]]:
    if isinstance(document, Mapping):
        for key, value in document.items():
            if isinstance(value, Mapping):
                yield str(key), value


def frictionless(document: Document) -> list[BookColumn]:
    """A Frictionless table schema, or the first resource of a data package that has one."""
    resources = document.get("resources")
    for one in resources if isinstance(resources, list) else []:
        inner = one.get("schema") if isinstance(one, Mapping) else None
        if isinstance(inner, Mapping):
            return frictionless(inner)
    fields = document.get("fields")
    if not isinstance(fields, list):
        return []
    key = document.get("primaryKey")
    keys = {str(one) for one in key} if isinstance(key, list) else {key}
    named = [one for one in fields if isinstance(one, Mapping) and isinstance(one.get("name"), str)]
    return [_frictionless_column(one, one.get("name") in keys and len(keys) == 1) for one in named]


def _frictionless_column(field: Document, is_key: bool) -> BookColumn:
    given = field.get("constraints")
    constraints: Document = given if isinstance(given, Mapping) else {}
    listed = field.get("categories", constraints.get("enum"))
    pattern = field.get("format")
    kind = {"year": "integer", "yearmonth": "string", "any": None}.get(str(field.get("type")), field.get("type"))
    role = field.get("role")
    return BookColumn(
        name=str(field["name"]),
        type=None if kind is None else str(kind),
        minimum=number_of(constraints.get("minimum")),
        maximum=number_of(constraints.get("maximum")),
        step=number_of(field.get("step")),
        multiple_of=number_of(constraints.get("multipleOf")),
        title=_words(field.get("title")),
        categories=_listed(listed),
        labels=_labels(listed),
        ordered=field.get("categoriesOrdered") is True,
        required=constraints.get("required") is True,
        role=role if isinstance(role, str) else "identifier" if is_key else None,
        format=pattern if isinstance(pattern, str) and "%" in pattern else None,
        hierarchy=field["hierarchy"] if isinstance(field.get("hierarchy"), str) else None,  # type: ignore[arg-type]
    )


def _listed(values: object) -> list[str] | None:
    if not isinstance(values, list) or not values:
        return None
    return [_text(one.get("value") if isinstance(one, Mapping) else one) for one in values]


def _labels(values: object) -> dict[str, str]:
    """The labels in a list such as [{value: 1, label: male}, 2]."""
    given = [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []
    return {_text(one.get("value")): label for one in given if (label := _words(one.get("label")))}


def _words(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def sdv(document: Document) -> list[BookColumn]:
    """SDV metadata of one table, or of the first of several; it has types, but no bounds and no categories."""
    tables = [table for _, table in _mappings(document.get("tables"))]
    inner = tables[0] if tables else document
    key = inner.get("primary_key")
    columns = [(name, one) for name, one in _mappings(inner.get("columns")) if "sdtype" in one]
    return [_sdv_column(name, one, name == key) for name, one in columns]


def _sdv_column(name: str, column: Document, is_key: bool) -> BookColumn:
    kind, pattern = str(column["sdtype"]), column.get("datetime_format")
    plain = {"numerical", "categorical", "boolean", "datetime", "unknown"}
    if kind == "numerical" and str(column.get("computer_representation", "")).lower().startswith(("int", "uint")):
        kind = "integer"
    if kind == "datetime" and isinstance(pattern, str) and not set("HIMST") & set(re.findall("%(.)", pattern)):
        kind = "date"
    order = column.get("order")
    return BookColumn(
        name=name,
        type=None if kind == "unknown" else kind,
        categories=_listed(order),
        ordered=isinstance(order, list),
        role="identifier" if is_key or kind not in {*plain, "integer", "date"} else None,
        format=pattern if isinstance(pattern, str) else None,
    )


def nist(document: Document) -> list[BookColumn]:
    """A NIST data dictionary (description, values) or the `schema` of its parameter files (dtype, values, min, max)."""
    inner = document.get("schema")
    columns = list(_mappings(inner if isinstance(inner, Mapping) else document))
    if not columns or not all({"description", "dtype"} & one.keys() for _, one in columns):
        return []
    return [_nist_column(name, one) for name, one in columns]


def _nist_column(name: str, given: Document) -> BookColumn:
    """One column. In `values`, the keys min and max are bounds, N means missing, and other whole numbers widen the
    bounds."""
    inside = given.get("values")
    values: Document = (
        inside if isinstance(inside, Mapping) else {k: v for k, v in given.items() if k not in _NIST_WORDS}
    )
    listed = (
        [_text(one) for one in inside]
        if isinstance(inside, list)
        else [one for one in values if one not in ("min", "max")]
    )
    empty = [_text(given["null_value"])] if given.get("null_value") is not None else ["N"]
    missing = tuple(one for one in empty if one in listed or given.get("has_null") is True)
    codes = [one for one in listed if one not in missing]
    low, high = (number_of(values.get(key, given.get(key))) for key in ("min", "max"))
    kind = given.get("dtype")
    column = BookColumn(
        name=name, type=str(kind) if kind else None, missing=missing, title=_words(given.get("description"))
    )
    column.labels = {code: label for code in codes if (label := _words(values.get(code)))}
    column.required = given.get("has_null") is False
    if isinstance(low, int | float) and isinstance(high, int | float):
        more = [number for number in map(number_of, codes) if isinstance(number, int | float)]
        column.minimum, column.maximum = min([low, *more]), max([high, *more])
    else:
        column.categories = codes or None
    return column


def smartnoise(document: Document) -> list[BookColumn]:
    """The first table in SmartNoise metadata, at any depth; `lower` and `upper` are its bounds."""
    described = [(name, one) for name, one in _mappings(document) if isinstance(one.get("type"), str)]
    if described:
        return [_smartnoise_column(name, one) for name, one in described]
    for _, inner in _mappings(document):
        columns = smartnoise(inner)
        if columns:
            return columns
    return []


def _smartnoise_column(name: str, given: Document) -> BookColumn:
    return BookColumn(
        name=name,
        type=str(given["type"]),
        minimum=number_of(given.get("lower")),
        maximum=number_of(given.get("upper")),
        required=truth_of(given.get("nullable", "")) is False,
        role="identifier" if given.get("private_id") is True else None,
        missing=(_text(given["missing_value"]),) if given.get("missing_value") is not None else (),
    )


def ddi_columns(text: str, name: str) -> list[BookColumn]:
    """The variables of a DDI code book."""
    if "<!DOCTYPE" in text:
        raise ParameterError(
            f"the code book {name!r} declares a document type or an entity; remove what stands between <! and > "
            "at its top"
        )
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as broken:
        line = broken.position[0]
        raise_alone(ParameterError(f"the code book {name!r} is not valid XML (line {line}); correct that line"))
    columns = (_variable(one) for one in root.iter() if _tag(one) == "var")
    return [one for one in columns if one.name]


def _tag(element: ElementTree.Element) -> str:
    """The name of an element without its name space."""
    return re.sub(r".*[}:]", "", str(element.tag))


def _variable(variable: ElementTree.Element) -> BookColumn:
    kind, decimals = "continuous" if variable.get("intrvl") == "contin" else None, variable.get("dcml", "")
    column = BookColumn(name=variable.get("name", ""), type=kind, title=_inside(variable, "labl") or None)
    if decimals.isdecimal() and 0 < int(decimals) <= 6:
        column.multiple_of = float(f"1e-{decimals}")
    codes = []
    for part in variable.iter():
        if _tag(part) == "varFormat":
            _set_type(column, part)
        elif _tag(part) == "range":
            column.minimum = number_of(part.get("min", part.get("minExclusive")))
            column.maximum = number_of(part.get("max", part.get("maxExclusive")))
        elif _tag(part) == "catgry" and (code := _inside(part, "catValu")):
            if part.get("missing", "N").upper() == "Y":
                column.missing = (*column.missing, code)
            else:
                codes.append(code)
            column.labels[code] = _inside(part, "labl")
    column.labels = {code: label for code, label in column.labels.items() if label}
    bounded = column.minimum is not None and column.maximum is not None
    column.categories = None if bounded and len(codes) < 2 else codes or None
    return column


def _inside(element: ElementTree.Element, tag: str) -> str:
    """The words of the first part of an element that has this name."""
    found = next((one for one in element if _tag(one) == tag), None)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _set_type(column: BookColumn, form: ElementTree.Element) -> None:
    if form.get("type") == "character":
        column.type = "string"
    elif form.get("category") in ("date", "time"):
        column.type = "date" if form.get("category") == "date" else "datetime"
    elif column.type is None or (column.type == "continuous" and column.multiple_of is None):
        column.type = "numeric"


def read_code_book(path: Path) -> list[BookColumn]:
    """The columns that a code book describes, in its order; raises ParameterError if it has none of the known forms."""
    try:
        columns = _columns_in(read_text(path, path.name, "code book"), path)
    except SchemaError as error:
        raise_alone(ParameterError(str(error)))
    if not columns:
        forms = "a CSV table with a column `name`, a Frictionless schema, SDV or SmartNoise metadata"
        raise ParameterError(
            f"no column is described in {path.name!r}; give {forms}, a NIST data dictionary or a DDI code book (.xml)"
        )
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise ParameterError(f"a column is described twice in {path.name!r}; keep one description")
    return columns


def _columns_in(text: str, path: Path) -> list[BookColumn]:
    """The columns in a text of the form that the ending of the file says."""
    ending, where = path.suffix.lower(), f"code book {path.name!r}"
    if ending == ".xml":
        return ddi_columns(text, path.name)
    if ending not in (".json", ".yaml", ".yml"):
        return table_columns(text, path.name)
    document = parse_document(text, where, ending == ".json")
    check_values(document, where)
    if not isinstance(document, Mapping):
        return []
    return next((columns for form in (frictionless, sdv, nist, smartnoise) if (columns := form(document))), [])
