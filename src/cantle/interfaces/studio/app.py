"""The web application: the address of each page, behind the guard."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from cantle.interfaces.studio import (
    budget_page,
    columns_page,
    data_page,
    internal_pages,
    ledger_page,
    look_page,
    protect_page,
    publish_page,
    table_page,
    text_page,
)
from cantle.interfaces.studio.guard import Guard, refusal
from cantle.interfaces.studio.keys import Keys
from cantle.interfaces.studio.studio import Studio
from cantle.interfaces.studio.uploads import upload_endpoint
from cantle.interfaces.studio.visits import Page, Visit, endpoint, go
from cantle.release.report.page import FOLDER as REPORT_FOLDER

_STATIC = Path(__file__).parent / "static"
FILES = {
    "studio.css": (_STATIC / "studio.css", "text/css"),
    "studio.js": (_STATIC / "studio.js", "text/javascript"),
    "htmx.min.js": (_STATIC / "htmx.min.js", "text/javascript"),
    "report.css": (REPORT_FOLDER / "report.css", "text/css"),
}
LOOKING: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/look", look_page.newest),
    ("GET", "/look/{name}", look_page.look),
    ("GET", "/look/{name}/report", look_page.report),
    ("GET", "/look/{name}/statement", look_page.statement),
    ("GET", "/look/{name}/zip", look_page.as_zip),
    ("POST", "/look/{name}/ask", look_page.ask),
    ("POST", "/look/{name}/sample", look_page.sample),
)
"""Pages that need only a release."""
WORKING: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/data", data_page.show),
    ("POST", "/data/browse", data_page.browse),
    ("POST", "/data/choose", data_page.choose),
    ("POST", "/data/draft", data_page.draft_schema),
    ("GET", "/columns", columns_page.show),
    ("GET", "/columns/text", text_page.show),
    ("POST", "/columns/text", text_page.save),
    ("POST", "/columns/text/check", text_page.check),
    ("POST", "/columns/code-book", table_page.fill_in),
    ("POST", "/columns/table", table_page.save),
    ("GET", "/columns/{number:int}", columns_page.edit),
    ("POST", "/columns/{number:int}", columns_page.save),
    ("POST", "/columns/{number:int}/check", columns_page.check),
    ("GET", "/protect", protect_page.show),
    ("POST", "/protect/unit", protect_page.save_unit),
    ("POST", "/protect/ledger", protect_page.save_ledger),
    ("POST", "/protect/cap", protect_page.set_cap),
    ("GET", "/budget", budget_page.show),
    ("POST", "/budget", budget_page.save),
    ("POST", "/budget/plan", budget_page.plan_part),
    ("GET", "/publish", publish_page.show),
    ("POST", "/publish", publish_page.start),
    ("GET", "/publish/progress", publish_page.progress),
    ("POST", "/publish/cancel", publish_page.cancel),
    ("GET", "/ledger", ledger_page.show),
    ("POST", "/internal/check", internal_pages.run_check),
    ("GET", "/internal/check", internal_pages.show_check),
    ("POST", "/internal/check/forget", internal_pages.forget_check),
    ("POST", "/internal/report/{name}", internal_pages.make_report),
    ("GET", "/internal/report/{name}", internal_pages.show_report),
    ("GET", "/internal/report/{name}/document", internal_pages.report_document),
)
"""Pages that need a project folder."""


def make_app(studio: Studio, keys: Keys, port: int) -> ASGIApp:
    """The application that a server runs."""
    pages = LOOKING if studio.reads_only else LOOKING + WORKING
    routes = [
        Route(path, endpoint(studio, page), methods=[method]) for method, path, page in (("GET", "/", _first), *pages)
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
