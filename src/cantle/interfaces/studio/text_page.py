"""The schema as text: for sets and graphs, for keys that have no box, and for people who prefer text."""

from __future__ import annotations

from starlette.responses import Response

from cantle.errors import CantleError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.pages import page, part
from cantle.interfaces.studio.schema_file import stamp
from cantle.interfaces.studio.studio import Studio
from cantle.interfaces.studio.visits import Visit, go


def show(studio: Studio, visit: Visit, error: str = "") -> Response:
    """The editor; after a refusal it still holds what was typed."""
    schema = studio.schema
    text = visit.form.get("text", schema.text)
    return page(
        studio,
        "text",
        "columns",
        done=visit.done,
        error=error,
        commands=[commands.check(studio.data_shown, studio.settings.schema)],
        text=text,
        seen=stamp(schema.text),
        name=studio.settings.schema,
        table=schema.kind.has_boxes and bool(schema.columns),
        problem=schema.problem_of_text(text),
        has_data=bool(studio.data),
    )


def save(studio: Studio, visit: Visit) -> Response:
    """Writes the text, even if it has blanks, unless the file was changed elsewhere since it was shown."""
    schema, text = studio.schema, visit.form.get("text", "")
    if visit.text("seen") != stamp(schema.text):
        words = "the file was changed elsewhere since this form was shown; what you typed is below: save again to "
        return show(studio, visit, words + "put it in place of the other")
    try:
        schema.save_text(text)
    except CantleError as error:
        return show(studio, visit, str(error))
    return go("/columns/text", "saved")


def check(studio: Studio, visit: Visit) -> Response:
    """What is wrong with the text while a person types."""
    problem = studio.schema.problem_of_text(visit.form.get("text", ""))
    return part("column_status", problem=problem, column_yaml="", tree=[], summary="")
