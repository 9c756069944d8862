"""A request as the pages see it: the fields of its form, of bounded size, and how pages are answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from cantle.errors import CantleError
from cantle.studio.guard import refusal
from cantle.studio.pages import page as whole_page

if TYPE_CHECKING:
    from cantle.studio.studio import Studio

MOST_FORM = 32 * 2**20
"""Bytes of a form: 10,000 categories with their hierarchy take less than 2 MB."""
_MOST_FIELDS = 1000


@dataclass(frozen=True)
class Visit:
    """What a page needs to know of a request."""

    place: dict[str, str] = field(default_factory=dict)
    """The variable parts of the path."""
    form: dict[str, str] = field(default_factory=dict)
    done: str = ""
    """What the page before this one did, one word."""
    partial: bool = False
    """Whether only a part of a page is asked for (by htmx)."""

    def text(self, name: str) -> str:
        """A field of the form without blanks around it; empty if it was not sent."""
        return self.form.get(name, "").strip()


Page = Callable[["Studio", Visit], Response]


class TooLarge(Exception):
    """A request that has more bytes than the page takes."""


def endpoint(studio: Studio, page: Page) -> Callable[[Request], object]:
    """A page as the server calls it: pages run in a thread, so that a slow one does not stop the others."""

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
        return await run_in_threadpool(_answered, studio, page, visit)

    return answer


def _answered(studio: Studio, page: Page, visit: Visit) -> Response:
    try:
        return page(studio, visit)
    except CantleError as error:  # its words are public; a page that knows more to do catches it itself
        return whole_page(studio, "nothing", "", error=str(error))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, each once."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise ValueError
    body = await bounded_body(request, MOST_FORM)
    pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


async def bounded_body(request: Request, most: int) -> bytes:
    """The body of a request, unless it is longer than `most`."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


def go(path: str, done: str = "") -> RedirectResponse:
    """On to another page, by GET: reloading it sends nothing again."""
    return RedirectResponse(f"{path}?done={done}" if done else path, status_code=303)
