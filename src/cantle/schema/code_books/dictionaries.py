"""Code books in JSON and YAML: Frictionless, SDV, NIST, SmartNoise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cantle.schema.code_books.columns import BookColumn, number_of, truth_of

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
