"""Code books that are tables: one row per column, or one row per value of a column."""

from __future__ import annotations

import csv
import re

from cantle.errors import ParameterError, raise_alone
from cantle.schema.code_books.columns import BookColumn, number_of, truth_of

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
