"""Pages that show private facts, in a red frame: the check of a file, and the internal edition of a report."""

from __future__ import annotations

import json
import shutil
from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from cantle.errors import CantleError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.guard import refusal
from cantle.interfaces.studio.look_page import DOCUMENT
from cantle.interfaces.studio.pages import Visit, go, page
from cantle.interfaces.studio.schema_file import stamp
from cantle.interfaces.studio.studio import Studio


def run_check(studio: Studio, _: Visit) -> None:
    """Runs `cantle check` on the private file, only when a person asks for it; the result stays in memory."""
    studio.require_data()
    text = studio.schema.text
    code, printed, said = studio.runner.run([*commands.check(studio.data, studio.settings.schema), "--json"])
    result = _parsed(printed)
    if result is None or "sections" not in result:
        raise CantleError(commands.complaint(said) if code else "the check gave no result")
    studio.checked, studio.checked_schema = result, stamp(text)


def refused(studio: Studio, _: Visit, error: str) -> Response:
    """The page for a check that could not be made."""
    return page(studio, "nothing", "columns", error=error)


def _parsed(printed: str) -> dict[str, object] | None:
    try:
        parsed = json.loads(printed)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def show_check(studio: Studio, _: Visit) -> Response:
    """Shows what the last check found."""
    if studio.checked is None:
        return go("/columns")
    same = [commands.check(studio.data_shown, studio.settings.schema)]
    old = stamp(studio.schema.text) != studio.checked_schema
    return page(studio, "check", "columns", commands=same, internal=True, found=studio.checked, old=old)


def forget_check(studio: Studio, _: Visit) -> Response:
    """Drops the result of the check."""
    studio.checked = None
    return go("/columns", "forgotten")


def make_report(studio: Studio, visit: Visit) -> Response:
    """Makes the internal edition of the report, in the private folder."""
    name = visit.place["name"]
    if name not in studio.releases():
        return refusal(404)
    target = studio.private.new("report.internal.html")
    studio.require_data()
    code, _, said = studio.runner.run(["report", name, "--against", studio.data, "-o", str(target)])
    if code or not target.exists():
        raise CantleError(commands.complaint(said))
    before = studio.internal_reports.pop(name, None)
    if before is not None:
        shutil.rmtree(before.parent, ignore_errors=True)
    studio.internal_reports[name] = target
    return go(f"/internal/report/{quote(name)}")


def show_report(studio: Studio, visit: Visit) -> Response:
    """The page around the internal edition."""
    name = visit.place["name"]
    if name not in studio.internal_reports:
        return go("/look")
    arguments = ["report", name, "--against", studio.data_shown, "-o", "report.internal.html"]
    return page(studio, "internal_report", "look", commands=[arguments], internal=True, name=name)


def report_document(studio: Studio, visit: Visit) -> Response:
    """The internal edition itself, for a frame in that page."""
    place = studio.internal_reports.get(visit.place["name"])
    return refusal(404) if place is None else HTMLResponse(place.read_text(encoding="utf-8"), headers=DOCUMENT)
