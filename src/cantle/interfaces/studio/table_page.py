"""Settings of a whole table: a code book that fills columns in, marks of missing values, and public rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.responses import Response

from cantle.errors import CantleError, ParameterError
from cantle.interfaces.studio import columns_page
from cantle.interfaces.studio.schema_file import SchemaFile
from cantle.interfaces.studio.studio import Studio
from cantle.interfaces.studio.visits import Visit, go
from cantle.schema.code_books import read_code_book


def fill_in(studio: Studio, visit: Visit) -> Response:
    """Fills in the incomplete columns from a code book; complete columns stay as they are."""
    schema, path, pasted = studio.schema, visit.text("book"), visit.form.get("pasted", "")
    try:
        if not path and not pasted.strip():
            raise ParameterError("name the file of a code book, or paste a table of name, type, min, max, values")
        place = studio.project.path_of(str(Path(path).expanduser())) if path else studio.private.new("code book.csv")
        if not path:
            place.write_text(pasted, encoding="utf-8", newline="\n")
        known = {one.name: one.entry() for one in read_code_book(place)}
        filled = [
            {**one, **known[str(one.get("name"))]}
            if one.get("name") in known and schema.problem_of_column(one)
            else one
            for one in schema.columns
        ]
        changed = sum(one != two for one, two in zip(filled, schema.columns, strict=True))
        if not changed:
            raise ParameterError("the code book names no column that is still to be filled in; compare the names")
        schema.save({**schema.document, "fields": filled})
    except CantleError as error:
        return columns_page.show(studio, visit, str(error))
    return go("/columns", "filled")


def save(studio: Studio, visit: Visit) -> Response:
    """Writes the marks of missing values and the rules, unless they are wrong."""
    schema = studio.schema
    marks, rules = (_lines(visit.form.get(key, "")) for key in ("missing", "rules"))
    document = {key: value for key, value in schema.document.items() if key not in ("missingValues", "rules")}
    document["missingValues"] = ["", *marks]
    if rules:
        document["rules"] = rules
    try:
        new = _new_problems(schema, document)
        if new:
            raise ParameterError(" ".join(new))
        schema.save(document)
    except CantleError as error:
        return columns_page.show(studio, visit, str(error))
    return go("/columns", "saved")


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))


def _new_problems(schema: SchemaFile, document: Mapping[str, object]) -> list[str]:
    """The problems that a change brings; those that were there before, such as blank columns, do not prevent saving."""
    before = set(schema.problem_of(schema.document).splitlines())
    return [line.strip() for line in schema.problem_of(document).splitlines() if line not in before]
