"""Code books: existing public descriptions of the columns of a table, from which a schema is drafted.

A code book is public, like a schema. Known forms: a table (CSV) of name, type, min, max, values; Frictionless schemas
and data packages; SDV metadata; SmartNoise metadata; NIST data dictionaries (both JSON forms); DDI code books (XML).
What a code book does not say stays blank.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cantle.errors import ParameterError, SchemaError, raise_alone
from cantle.schema.code_books.columns import BookColumn
from cantle.schema.code_books.ddi import ddi_columns
from cantle.schema.code_books.dictionaries import frictionless, nist, sdv, smartnoise, table_columns
from cantle.schema.documents import check_values, parse_document

_MOST_BYTES = 64 << 20


def read_code_book(path: Path) -> list[BookColumn]:
    """The columns that a code book describes, in its order; raises ParameterError if it has none of the known forms."""
    text, ending = _read(path), path.suffix.lower()
    if ending == ".xml":
        columns = ddi_columns(text, path.name)
    elif ending in (".json", ".yaml", ".yml"):
        columns = _from_document(_document(text, path.name, ending == ".json"))
    else:
        columns = table_columns(text, path.name)
    if not columns:
        forms = "a CSV table with a column `name`, a Frictionless schema, SDV or SmartNoise metadata"
        raise ParameterError(
            f"no column is described in {path.name!r}; give {forms}, a NIST data dictionary or a DDI code book (.xml)"
        )
    names = [column.name for column in columns]
    if len(set(names)) < len(names):
        raise ParameterError(f"a column is described twice in {path.name!r}; keep one description")
    return columns


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise_alone(ParameterError(f"{path.name!r} is larger than {_MOST_BYTES >> 20} MiB; is it a code book?"))
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise_alone(ParameterError(f"there is no file {path.name!r}; check the path of the code book"))
    except (OSError, ValueError):
        raise_alone(ParameterError(f"{path.name!r} cannot be read as UTF-8 text; check it and its permissions"))


def _document(text: str, name: str, is_json: bool) -> object:
    try:
        document = parse_document(text, f"code book {name!r}", is_json)
        check_values(document, f"code book {name!r}")
    except SchemaError as error:
        raise_alone(ParameterError(str(error)))
    return document


def _from_document(document: object) -> list[BookColumn]:
    """The columns of the form that a JSON or YAML document has."""
    if not isinstance(document, Mapping):
        return []
    for form in (frictionless, sdv, nist, smartnoise):
        columns = form(document)
        if columns:
            return columns
    return []
