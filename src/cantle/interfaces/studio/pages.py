"""Requests as the pages get them, and what goes back: pages made from templates, which escape everything that comes
from a file. Forms are bounded in size; uploads are streamed into the private folder, and never held in memory as a
whole."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from cantle.errors import CantleError
from cantle.interfaces.studio.commands import shown
from cantle.interfaces.studio.guard import refusal
from cantle.interfaces.studio.studio import Studio

MOST_FORM = 32 * 2**20
"""Most bytes of a form: 10,000 categories with their hierarchy take less than 2 MB."""
_MOST_FIELDS = 1000


@dataclass(frozen=True)
class Visit:
    """The parts of a request that a page needs."""

    place: dict[str, str] = field(default_factory=dict)
    """The variable parts of the path."""
    form: dict[str, str] = field(default_factory=dict)
    done: str = ""
    """One word for what the page before this one did."""
    partial: bool = False
    """Whether htmx requests only a part of a page."""

    def text(self, name: str) -> str:
        """A field of the form without blanks around it; empty if it was not sent."""
        return self.form.get(name, "").strip()


Page = Callable[[Studio, Visit], Response]


@dataclass(frozen=True)
class Form:
    """What happens when a form is sent.

    `save` does what was asked, or raises an error, with which `again` shows the form once more. Then the browser goes
    to the page `to`, which says what was done; or to the page that `save` returns.
    """

    save: Callable[[Studio, Visit], Response | None]
    again: Callable[[Studio, Visit, str], Response]
    to: str
    done: str = ""

    def __call__(self, studio: Studio, visit: Visit) -> Response:
        try:
            return self.save(studio, visit) or go(self.to, self.done)
        except CantleError as error:
            return self.again(studio, visit, str(error))


class TooLarge(Exception):
    """The request has more bytes than allowed."""


def endpoint(studio: Studio, make: Page) -> Callable[[Request], object]:
    """The function that the server calls for a page; a slow page delays no other, because each runs in a thread."""

    async def answer(request: Request) -> Response:
        try:
            form = await _form(request) if request.method == "POST" else {}
        except TooLarge:
            return refusal(413)
        except (ClientDisconnect, ValueError):
            return refusal(400)
        visit = Visit(
            {name: str(value) for name, value in request.path_params.items()},
            form,
            request.query_params.get("done", ""),
            request.headers.get("hx-request") == "true",
        )
        return await run_in_threadpool(_answered, studio, make, visit)

    return answer


def _answered(studio: Studio, make: Page, visit: Visit) -> Response:
    try:
        return make(studio, visit)
    except CantleError as error:  # its message is public; a page that can do more with the error catches it itself
        return page(studio, "nothing", "", error=str(error))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of a field that was sent twice, the last value."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise ValueError
    body = b"".join([part async for part in _bounded(request, MOST_FORM)])
    pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


async def _bounded(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body of a request part by part, until it is longer than `most`."""
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge
        yield part


def go(path: str, done: str = "") -> RedirectResponse:
    """Redirects to another page, which the browser loads by GET, so that reloading it sends no form again."""
    return RedirectResponse(f"{path}?done={done}" if done else path, status_code=303)


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
    visit: Visit | None = None,
    error: str = "",
    *,
    commands: Sequence[Sequence[str]] = (),
    yaml: str = "",
    **values: object,
) -> HTMLResponse:
    """A whole page, with what the page before it did and what is wrong. `commands` and `yaml` show how to do the same
    without the studio."""
    text = (
        environment()
        .get_template(f"{template}.html.jinja")
        .render(
            steps=(("look", "Look"),) if studio.reads_only else STEPS,
            step=step,
            project=studio.folder.name,
            done="" if visit is None else DONE.get(visit.done, ""),
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


_UNSAFE = re.compile(r"[^\w.() -]+")


def upload_endpoint(studio: Studio) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Receives a file as the body of a request. Its name comes in a header, because browsers keep addresses."""

    async def upload(request: Request) -> Response:
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > studio.most_upload:
            return refusal(413)
        place = studio.private.new(safe_name(unquote(request.headers.get("x-file-name", ""))))
        try:
            await _receive(request, place, studio.most_upload)
        except (TooLarge, ClientDisconnect, OSError) as error:
            await run_in_threadpool(shutil.rmtree, place.parent, True)
            return refusal(413 if isinstance(error, TooLarge) else 500)
        await run_in_threadpool(studio.take, place)
        return PlainTextResponse("/data?done=chosen")

    return upload


async def _receive(request: Request, place: Path, most: int) -> None:
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        async for part in _bounded(request, most):
            await run_in_threadpool(file.write, part)


def safe_name(name: str) -> str:
    """The last part of a name, without characters that mean something to a shell, a path or a page.

    >>> safe_name("../../etc/<img onerror=x>.csv"), safe_name(""), safe_name("a b.csv")
    ('_img onerror_x_.csv', 'data', 'a b.csv')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    safe = _UNSAFE.sub("_", last).strip(" .")
    return (Path(safe).stem[:80] + Path(safe).suffix[:20]) or "data"
