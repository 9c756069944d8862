"""The server of the studio: the address of each page, behind the guard.

It listens on 127.0.0.1 only, keeps no log of requests, and opens the browser.
"""

from __future__ import annotations

import html
import logging
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from cantle.errors import ParameterError, raise_alone
from cantle.interfaces.studio import budget_pages, columns_page, data_page, look_page
from cantle.interfaces.studio.guard import Guard, Keys, refusal
from cantle.interfaces.studio.pages import Form, Page, Visit, endpoint, go, upload_endpoint
from cantle.interfaces.studio.studio import PrivateFolder, Studio
from cantle.release.report.page import FOLDER as REPORT_FOLDER

_STATIC = Path(__file__).parent / "static"
FILES = {
    "studio.css": (_STATIC / "studio.css", "text/css"),
    "studio.js": (_STATIC / "studio.js", "text/javascript"),
    "htmx.min.js": (_STATIC / "htmx.min.js", "text/javascript"),
    "report.css": (REPORT_FOLDER / "report.css", "text/css"),
}
Pages = dict[str, Page]
LOOKING: Pages = {
    "/look": look_page.newest,
    "/look/{name}": look_page.look,
    "/look/{name}/report": look_page.report,
    "/look/{name}/statement": look_page.statement,
    "/look/{name}/zip": look_page.as_zip,
}
"""Pages that need only a release."""
ASKING: Pages = {"/look/{name}/ask": look_page.ask, "/look/{name}/sample": look_page.sample}
"""Forms that need only a release."""
WORKING: Pages = {
    "/data": data_page.show,
    "/columns": columns_page.show,
    "/columns/text": columns_page.show_text,
    "/columns/{number:int}": columns_page.edit,
    "/protect": budget_pages.show_protect,
    "/budget": budget_pages.show_budget,
    "/publish": budget_pages.show_publish,
    "/publish/progress": budget_pages.progress,
    "/ledger": budget_pages.show_ledger,
    "/internal/check": look_page.show_check,
    "/internal/report/{name}": look_page.show_report,
    "/internal/report/{name}/document": look_page.report_document,
}
"""Pages that need a project folder."""
FORMS: Pages = {
    "/data/browse": data_page.browse,
    "/data/choose": Form(data_page.choose, data_page.show, "/data", "chosen"),
    "/data/draft": Form(data_page.draft_schema, data_page.show, "/columns", "schema"),
    "/columns/text": Form(columns_page.save_text, columns_page.show_text, "/columns/text", "saved"),
    "/columns/text/check": columns_page.check_text,
    "/columns/code-book": Form(columns_page.fill_in, columns_page.show, "/columns", "filled"),
    "/columns/table": Form(columns_page.save_table, columns_page.show, "/columns", "saved"),
    "/columns/{number:int}": columns_page.save,
    "/columns/{number:int}/check": columns_page.check,
    "/protect/unit": Form(budget_pages.save_unit, budget_pages.show_protect, "/protect", "saved"),
    "/protect/ledger": Form(budget_pages.save_ledger, budget_pages.show_protect, "/protect", "saved"),
    "/protect/cap": Form(budget_pages.set_cap, budget_pages.show_protect, "/protect", "cap"),
    "/budget": Form(budget_pages.save_budget, budget_pages.show_budget, "/budget", "saved"),
    "/budget/plan": budget_pages.plan_part,
    "/publish": Form(budget_pages.start, budget_pages.show_publish, "/publish"),
    "/publish/cancel": budget_pages.cancel,
    "/internal/check": Form(look_page.run_check, look_page.refused, "/internal/check"),
    "/internal/check/forget": look_page.forget_check,
    "/internal/report/{name}": Form(look_page.make_report, look_page.look, "/look"),
}
"""Forms that need a project folder."""


def make_app(studio: Studio, keys: Keys, port: int) -> ASGIApp:
    """The application that a server runs."""
    pages = {"GET": {"/": _first, **LOOKING}, "POST": ASKING}
    if not studio.reads_only:
        pages = {"GET": pages["GET"] | WORKING, "POST": ASKING | FORMS}
    routes = [
        Route(path, endpoint(studio, make), methods=[method])
        for method, made in pages.items()
        for path, make in made.items()
    ]
    routes.append(Route("/static/{name}", _static, methods=["GET"]))
    if not studio.reads_only:
        routes.append(Route("/data/upload", upload_endpoint(studio), methods=["POST"]))
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _refuse, Exception: _refuse})
    return Guard(inner, keys, port)


def _first(studio: Studio, _: Visit) -> Response:
    """Sends a person to the step that the files of the project have reached."""
    if studio.reads_only:
        return go("/look")
    if not studio.schema.exists:
        return go("/data")
    return go("/columns" if studio.schema.problem() else "/publish" if studio.settings.epsilon else "/protect")


async def _static(request: Request) -> Response:
    file = FILES.get(request.path_params["name"])
    return refusal(404) if file is None else FileResponse(file[0], media_type=file[1])


def _refuse(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return refusal(status if status in (400, 404, 405, 413) else 500)


ADDRESS = "127.0.0.1"


def serve(folder: Path, port: int, *, browser: bool, say: Callable[[str], None]) -> None:
    """Runs a studio until it is ended.

    `say` is called with the address to open, and at the end with a sentence about a job that was stopped.
    """
    with _listening(port) as listener:
        port = listener.getsockname()[1]
        keys, studio = Keys(port), Studio(folder, PrivateFolder())
        address = f"http://{ADDRESS}:{port}/?token={keys.token}"
        try:
            say(address)
            if browser:
                _open(address, studio.private)
            server = uvicorn.Server(_config(make_app(studio, keys, port)))
            server.run(sockets=[listener])
        finally:
            for words in studio.close():
                say(words)


def _listening(port: int) -> socket.socket:
    """A socket that listens on 127.0.0.1; port 0 means any free port.

    It listens before the address is shown, so that a browser that is quicker than the server waits for it.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError:
        listener.close()
        raise_alone(ParameterError(f"port {port} is in use or not allowed; leave --port out to take any that is free"))
    return listener


def _config(app: object) -> uvicorn.Config:
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL + 1)  # tracebacks may quote a record
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        timeout_graceful_shutdown=2,
    )


def _open(address: str, private: PrivateFolder) -> None:
    """Opens the address in the browser through a private file: other users can see the arguments of a process."""
    way = private.new("open.html")
    target = html.escape(address, quote=True)
    way.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><a href="{target}">cantle studio</a>',
        encoding="utf-8",
        newline="\n",
    )
    with suppress(webbrowser.Error):
        webbrowser.open(way.as_uri())
