"""Uploads: files are streamed into the private folder, and never held in memory as a whole."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from cantle.interfaces.studio.guard import refusal
from cantle.interfaces.studio.studio import Studio
from cantle.interfaces.studio.visits import TooLarge

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
    size = 0
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise TooLarge
            await run_in_threadpool(file.write, part)


def safe_name(name: str) -> str:
    """The last part of a name, without characters that mean something to a shell, a path or a page.

    >>> safe_name("../../etc/<img onerror=x>.csv"), safe_name(""), safe_name("a b.csv")
    ('_img onerror_x_.csv', 'data', 'a b.csv')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    safe = _UNSAFE.sub("_", last).strip(" .")
    return (Path(safe).stem[:80] + Path(safe).suffix[:20]) or "data"
