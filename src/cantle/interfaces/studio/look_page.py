"""Step 6, Look: the report of a release, a form for questions, more records, and the release as an archive.

Two more pages show private facts, in a red frame: the check of a file, and the internal edition of a report.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeAlias
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response

from cantle.errors import CantleError, ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.commands import shown as in_a_shell
from cantle.interfaces.studio.guard import refusal
from cantle.interfaces.studio.pages import Visit, go, page, part, safe_name
from cantle.interfaces.studio.project import KINDS, stamp
from cantle.interfaces.studio.studio import Opened, Studio
from cantle.release.answers.groups import rows_in_words
from cantle.release.manifest import mark_of
from cantle.release.show import overview
from cantle.release.storage import as_text

More = ParamSpec("More")
PageOf: TypeAlias = Callable[Concatenate[Studio, Visit, More], Response]

MOST_RECORDS = 1_000_000
_MOST_ROWS = 2000
# The report has its own content-security policy, with the hashes of its style and script. The headers here also give it
# an origin of its own, so that nothing in it can send requests to the studio.
DOCUMENT = {
    "Content-Security-Policy": "sandbox allow-scripts; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Opener-Policy": "unsafe-none",
}


def newest(studio: Studio, visit: Visit) -> Response:
    """Goes to the page of the newest release."""
    names = list(studio.releases())
    return go(f"/look/{quote(names[-1])}", visit.done) if names else page(studio, "nothing", "look")


def _of_release(answer: Callable[Concatenate[Studio, Visit, Opened, More], Response]) -> PageOf[More]:
    """A page about the release that the address names; a refusal if there is none."""

    def page_of(studio: Studio, visit: Visit, /, *more: More.args, **given: More.kwargs) -> Response:
        folder = studio.releases().get(visit.place["name"])
        if folder is None:
            return refusal(404)
        try:
            release = studio.open(folder)
        except CantleError as error:
            return page(studio, "nothing", "look", error=str(error))
        return answer(studio, visit, release, *more, **given)

    return page_of


@_of_release
def look(
    studio: Studio, visit: Visit, one: Opened, error: str = "", answer: dict[str, object] | None = None
) -> Response:
    """The page of one release."""
    name, path = visit.place["name"], _path(studio, visit)
    asked = _query(path, visit) if answer else ["query", path, "QUESTION"]
    return page(
        studio,
        "look",
        "look",
        visit,
        error,
        commands=[["verify", path], ["report", path], asked, ["sample", path, "-n", "1000", "-o", "more.csv"]],
        name=name,
        names=list(studio.releases()),
        facts=overview(one.release),
        notes=one.release.notes,
        private=one.release.private,
        guarantee=one.release.manifest.guarantee,
        example=KINDS[one.release.manifest.kind].question,
        problems=one.problems,
        columns=one.columns,
        numbers=one.numbers,
        answer=answer,
        can_compare=bool(not studio.reads_only and studio.data),
        compared=name in studio.internal_reports,
        most=MOST_RECORDS,
        **{key: visit.form.get(key, "") for key in ("question", "by", "mean")},
    )


@_of_release
def report(_: Studio, __: Visit, one: Opened) -> Response:
    """The report, for a frame in the page."""
    return HTMLResponse(one.report, headers=DOCUMENT)


@_of_release
def statement(_: Studio, __: Visit, one: Opened) -> Response:
    """The statement of privacy, as text. It is made anew, like the report."""
    return PlainTextResponse(one.release.statement)


def _path(studio: Studio, visit: Visit) -> str:
    """The folder of the release as a command names it."""
    return str(studio.folder) if studio.reads_only else visit.place["name"]


def _query(path: str, visit: Visit) -> list[str]:
    by, mean = visit.text("by"), visit.text("mean")
    return ["query", path, visit.text("question"), *(["--by", by] if by else []), *(["--mean", mean] if mean else [])]


@_of_release
def ask(studio: Studio, visit: Visit, one: Opened) -> Response:
    """Answers a question from the release: a count or a mean, or one per value of a column, with error bars."""
    try:
        answer = _answer(one, visit)
    except CantleError as error:
        answer = {"problem": str(error)}
    if visit.partial:
        return part("answer", answer=answer, command=in_a_shell(_query(_path(studio, visit), visit)))
    return look(studio, visit, answer=answer)


def _answer(one: Opened, visit: Visit) -> dict[str, object]:
    question, by, mean = visit.text("question"), visit.text("by"), visit.text("mean") or None
    if not by:
        release = one.release
        value = release.mean(mean, question) if mean else release.count(question)
        return {"value": str(value), "covers": value.covers}
    rows = one.release.mean(mean, question, by=by) if mean else one.release.count(question, by=by)
    sure, lines = rows_in_words(one.release.schema, rows.head(_MOST_ROWS), [by])
    return {"by": by, "rows": lines, "sure": sure, "more": max(0, len(rows) - _MOST_ROWS)}


@_of_release
def sample(studio: Studio, visit: Visit, one: Opened) -> Response:
    """More records, drawn from the released counts, as a file to save."""
    try:
        number = visit.text("n").replace(",", "")
        if not number.isascii() or not number.isdigit() or not 0 < int(number[:9]) <= MOST_RECORDS:
            raise ParameterError(f"say how many records, from 1 to {MOST_RECORDS:,}; more: cantle sample")
        text = as_text(one.release.sample(int(number)), one.release.manifest)
    except CantleError as error:
        return look(studio, visit, str(error))
    name = safe_name(f"{mark_of(one.release.manifest)}more.csv")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@_of_release
def as_zip(studio: Studio, _: Visit, one: Opened) -> Response:
    """The release as an archive."""
    place = studio.private.new("release.zip")
    one.write_zip(place)
    away = BackgroundTask(shutil.rmtree, place.parent, ignore_errors=True)
    name = safe_name(f"{one.folder.name}.zip")
    return FileResponse(place, filename=name, media_type="application/zip", background=away)


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
