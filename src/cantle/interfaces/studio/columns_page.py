"""Step 2, Columns: a list of all columns, and an editor for each, which checks the input while a person types.

The list also has the settings of the whole table: a code book that fills columns in, marks of missing values, and
public rules. The schema can be edited as text too: for sets and graphs, and for keys that have no box.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.responses import Response

from cantle.errors import CantleError, ParameterError, SchemaError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.column_form import ROLES, TYPES, Texts, entry_of, form_of, summary_of, tree_of
from cantle.interfaces.studio.guard import refusal
from cantle.interfaces.studio.pages import Visit, go, page, part
from cantle.interfaces.studio.project import SchemaFile, field_lines, stamp
from cantle.interfaces.studio.studio import Studio
from cantle.schema.code_books import read_code_book

_LONGEST_YAML = 6000  # letters; a longer text is cut in the page
_AS_TYPED = ("categories", "hierarchy", "groupChar")  # blanks in these boxes mean something


def show(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The list of columns."""
    schema = studio.schema
    if schema.exists and (schema.unreadable or not schema.kind.has_boxes or not schema.columns):
        return go("/columns/text", visit.done)
    rows = [(form_of(one), summary_of(one), schema.problem_of_column(one)) for one in schema.columns]
    left = sum(bool(problem) for _, _, problem in rows)
    return page(
        studio,
        "columns",
        "columns",
        visit,
        error,
        commands=[commands.check(studio.data_shown, studio.settings.schema)] if schema.exists else [],
        yaml=_shortened(schema.text),
        rows=rows,
        left=left,
        exists=schema.exists,
        problem="" if left else schema.problem(),
        has_data=bool(studio.data),
        checked=studio.checked is not None,
        missing=visit.form.get("missing", _listed(schema.document.get("missingValues"))),
        rules=visit.form.get("rules", _listed(schema.document.get("rules"))),
        pasted=visit.form.get("pasted", ""),
        book=visit.form.get("book", ""),
    )


def _listed(values: object) -> str:
    """The texts of a list, one per line, without the empty text (which always counts as missing)."""
    return "\n".join(str(one) for one in values if one != "") if isinstance(values, list) else ""


def edit(studio: Studio, visit: Visit) -> Response:
    """The editor of one column."""
    schema, number = studio.schema, int(visit.place["number"])
    if not number < len(schema.columns):
        return refusal(404)
    entry = schema.columns[number]
    return _editor(studio, schema, number, form_of(entry), entry, stamp(entry), visit)


def save(studio: Studio, visit: Visit) -> Response:
    """Writes one column, unless it was changed elsewhere since the form was shown."""
    schema, number = studio.schema, int(visit.place["number"])
    if not number < len(schema.columns):
        return refusal(404)
    before = schema.columns[number]
    try:
        entry = _made(visit.form, before, schema)
    except SchemaError as error:
        return _editor(studio, schema, number, _typed(visit), before, stamp(before), visit, str(error))
    if visit.text("seen") != stamp(before) and stamp(entry) != stamp(before):
        words = "this column was changed in another window since this form was shown; "
        words += "what you typed is below: save again to put it in place of the other"
        return _editor(studio, schema, number, _typed(visit), entry, stamp(before), visit, words)
    try:
        schema.save_column(number, entry)
    except CantleError as error:
        return _editor(studio, schema, number, _typed(visit), entry, stamp(before), visit, str(error))
    onwards = visit.text("then") == "next" and number + 1 < len(schema.columns)
    return go(f"/columns/{number + 1}" if onwards else "/columns", "saved")


def check(studio: Studio, visit: Visit) -> Response:
    """What is wrong with a column while a person types, and its YAML. Nothing is written."""
    schema, number = studio.schema, int(visit.place["number"])
    if not number < len(schema.columns):
        return refusal(404)
    try:
        entry = _made(visit.form, schema.columns[number], schema)
    except SchemaError as error:
        return part("column_status", problem=str(error), column_yaml="", tree=[], summary="")
    return part("column_status", **_status(schema, entry))


def _status(schema: SchemaFile, entry: Mapping[str, object]) -> dict[str, object]:
    return {
        "problem": schema.problem_of_column(entry),
        "column_yaml": _shortened("\n".join(field_lines(entry))),
        "tree": tree_of(entry.get("hierarchy")),
        "summary": summary_of(entry),
    }


def _made(form: Mapping[str, str], before: Mapping[str, object], schema: SchemaFile) -> dict[str, object]:
    kept = {**form, "name": "" if schema.has_names else form.get("name", "").strip()}
    return entry_of({key: value if key in _AS_TYPED else value.strip() for key, value in kept.items()}, before)


def _typed(visit: Visit) -> Texts:
    names = (*form_of({}), "ordered", "required")
    return {name: visit.form.get(name, "") for name in names}


def _editor(
    studio: Studio,
    schema: SchemaFile,
    number: int,
    form: Texts,
    entry: Mapping[str, object],
    seen: str,
    visit: Visit,
    error: str = "",
) -> Response:
    """The page of one column, with what was typed so far."""
    names = [form_of(one)["name"] for one in schema.columns]
    return page(
        studio,
        "column",
        "columns",
        visit,
        error,
        form={**form, "name": form["name"] or names[number]},
        number=number,
        count=len(names),
        before=names[number - 1] if number else "",
        after=names[number + 1] if number + 1 < len(names) else "",
        seen=seen,
        types=TYPES,
        roles=ROLES,
        has_names=schema.has_names,
        **_status(schema, entry),  # type: ignore[arg-type]  # none of them is a parameter
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_YAML else text[:_LONGEST_YAML] + "\n… (the file has all of it)"


def fill_in(studio: Studio, visit: Visit) -> None:
    """Fills in the incomplete columns from a code book; complete columns stay as they are."""
    schema, path, pasted = studio.schema, visit.text("book"), visit.form.get("pasted", "")
    if not path and not pasted.strip():
        raise ParameterError("name the file of a code book, or paste a table of name, type, min, max, values")
    place = studio.project.path_of(str(Path(path).expanduser())) if path else studio.private.new("code book.csv")
    if not path:
        place.write_text(pasted, encoding="utf-8", newline="\n")
    known = {one.name: one.entry() for one in read_code_book(place)}
    filled = [
        {**one, **known[str(one.get("name"))]} if one.get("name") in known and schema.problem_of_column(one) else one
        for one in schema.columns
    ]
    if filled == schema.columns:
        raise ParameterError("the code book names no column that is still to be filled in; compare the names")
    schema.save({**schema.document, "fields": filled})


def save_table(studio: Studio, visit: Visit) -> None:
    """Writes the marks of missing values and the rules, unless they are wrong."""
    schema = studio.schema
    marks, rules = (_lines_of(visit.form.get(key, "")) for key in ("missing", "rules"))
    document = {key: value for key, value in schema.document.items() if key not in ("missingValues", "rules")}
    document["missingValues"] = ["", *marks]
    if rules:
        document["rules"] = rules
    new = _new_problems(schema, document)
    if new:
        raise ParameterError(" ".join(new))
    schema.save(document)


def _lines_of(text: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))


def _new_problems(schema: SchemaFile, document: Mapping[str, object]) -> list[str]:
    """The problems that a change brings; those that were there before, such as blank columns, do not prevent saving."""
    before = set(schema.problem_of(schema.document).splitlines())
    return [line.strip() for line in schema.problem_of(document).splitlines() if line not in before]


def show_text(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The editor; after a refusal it still holds what was typed."""
    schema = studio.schema
    text = visit.form.get("text", schema.text)
    return page(
        studio,
        "text",
        "columns",
        visit,
        error,
        commands=[commands.check(studio.data_shown, studio.settings.schema)],
        text=text,
        seen=stamp(schema.text),
        name=studio.settings.schema,
        table=schema.kind.has_boxes and bool(schema.columns),
        problem=schema.problem_of_text(text),
        has_data=bool(studio.data),
    )


def save_text(studio: Studio, visit: Visit) -> None:
    """Writes the text, even if it has blanks, unless the file was changed elsewhere since it was shown."""
    schema, text = studio.schema, visit.form.get("text", "")
    if visit.text("seen") != stamp(schema.text):
        words = "the file was changed elsewhere since this form was shown; what you typed is below: save again to "
        raise ParameterError(words + "put it in place of the other")
    schema.save_text(text)


def check_text(studio: Studio, visit: Visit) -> Response:
    """What is wrong with the text while a person types."""
    problem = studio.schema.problem_of_text(visit.form.get("text", ""))
    return part("column_status", problem=problem, column_yaml="", tree=[], summary="")
