"""Pages made from templates, which escape everything that comes from a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from cantle.interfaces.studio.commands import shown

if TYPE_CHECKING:
    from cantle.interfaces.studio.studio import Studio

TEMPLATES = Path(__file__).parent / "templates"
STEPS = (
    ("data", "Data"),
    ("columns", "Columns"),
    ("protect", "Whom to protect"),
    ("budget", "Budget"),
    ("publish", "Publish"),
    ("look", "Look"),
    ("ledger", "Ledger"),
)
DONE = {
    "saved": "Saved.",
    "schema": "The draft of a schema was written. Fill in what is blank.",
    "filled": "Columns were filled in from the code book. Read them through.",
    "kept": "The schema that was there already is used.",
    "chosen": "The file was chosen. Nothing of it has been read.",
    "cap": "The cap was set.",
    "used": "This form was used already, or a release is being made; nothing was started again.",
    "forgotten": "The result of the check was forgotten.",
}


@cache
def environment() -> Environment:
    """The templates of the studio."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["thousands"] = lambda number: f"{number:,}"
    return templates


def page(
    studio: Studio,
    template: str,
    step: str,
    *,
    done: str = "",
    error: str = "",
    commands: Sequence[Sequence[str]] = (),
    yaml: str = "",
    **values: object,
) -> HTMLResponse:
    """A whole page. `commands` and `yaml` show how to do the same without the studio."""
    text = (
        environment()
        .get_template(f"{template}.html.jinja")
        .render(
            steps=(("look", "Look"),) if studio.reads_only else STEPS,
            step=step,
            project=studio.folder.name,
            done=DONE.get(done, ""),
            error=error,
            same_commands=[shown(one) for one in commands],
            same_yaml=yaml,
            internal=values.pop("internal", False),
            **values,
        )
    )
    return HTMLResponse(text, status_code=422 if error else 200)


def part(template: str, **values: object) -> HTMLResponse:
    """A piece of a page, for htmx."""
    return HTMLResponse(environment().get_template(f"{template}.html.jinja").render(**values))
