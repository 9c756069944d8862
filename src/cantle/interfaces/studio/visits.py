"""Requests as the pages get them: the fields of a form, whose size is bounded; and the functions that call pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from cantle.errors import CantleError
from cantle.interfaces.studio.guard import refusal
from cantle.interfaces.studio.pages import page as whole_page

if TYPE_CHECKING:
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


Page = Callable[["Studio", Visit], Response]


class TooLarge(Exception):
    """The request has more bytes than allowed."""


def endpoint(studio: Studio, page: Page) -> Callable[[Request], object]:
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
        return await run_in_threadpool(_answered, studio, page, visit)

    return answer


def _answered(studio: Studio, page: Page, visit: Visit) -> Response:
    try:
        return page(studio, visit)
    except CantleError as error:  # its message is public; a page that can do more with the error catches it itself
        return whole_page(studio, "nothing", "", error=str(error))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of a field that was sent twice, the last value."""
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
    """Redirects to another page, which the browser loads by GET, so that reloading it sends no form again."""
    return RedirectResponse(f"{path}?done={done}" if done else path, status_code=303)
