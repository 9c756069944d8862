"""A studio inside the process of the tests; pages are requested as a browser would, without a socket."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import httpx
import polars as pl

from cantle.interfaces.studio.guard import Keys
from cantle.interfaces.studio.server import make_app
from cantle.interfaces.studio.studio import PrivateFolder, Studio
from tests.entropy import launcher

PORT = 40123
HOME = f"http://127.0.0.1:{PORT}"
SCHEMA = """\
# A comment that people wrote.
fields:
  - {name: id, role: identifier}
  - {name: age, type: integer, constraints: {minimum: 0, maximum: 99}}
  - {name: town, type: string, categories: [Graz, Linz, Oslo]}
"""


SLOW = """
import time
import cantle.interfaces.publishing as front
open_data = front.open_data
front.open_data = lambda *order: (time.sleep(60), open_data(*order))[1]
from cantle.interfaces.cli import main
main()
"""
"""A command line in which a release pauses for a minute when its data is opened, after the charge."""


class Site:
    """A stand-in for a browser, which sends the cookie unless asked not to."""

    def __init__(self, folder: Path, *, most_upload: int = 10**6) -> None:
        self.keys = Keys(PORT)
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder.parent / "private").mkdir(exist_ok=True)
        private = PrivateFolder(folder.parent / "private")
        self.studio = Studio(folder, private, launch=launcher(), most_upload=most_upload)
        self.app = make_app(self.studio, self.keys, PORT)

    def ask(
        self,
        method: str,
        path: str,
        form: dict[str, str] | None = None,
        *,
        headers: dict[str, str | None] | None = None,
        body: bytes | None = None,
        cookie: bool = True,
    ) -> httpx.Response:
        """Sends one request; headers that are None are left out."""
        sent = {"Host": HOME.removeprefix("http://"), "Sec-Fetch-Site": "same-origin"}
        if cookie:
            sent["Cookie"] = f"{self.keys.cookie_name}={self.keys.cookie}"
        if method == "POST":
            sent |= {"Origin": HOME, "Content-Type": "application/x-www-form-urlencoded"}
        for name, value in (headers or {}).items():
            sent.pop(name, None)
            if value is not None:
                sent[name] = value

        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)  # type: ignore[arg-type]
            async with httpx.AsyncClient(transport=transport, base_url=HOME) as client:
                return await client.request(method, path, data=form, content=body, headers=sent)

        return asyncio.run(answer())

    def get(self, path: str) -> httpx.Response:
        """Requests a page, and follows all redirects."""
        return self._onwards(self.ask("GET", path))

    def post(self, path: str, /, **form: str) -> httpx.Response:
        """Sends a form, and follows all redirects."""
        return self._onwards(self.ask("POST", path, form))

    def _onwards(self, answer: httpx.Response) -> httpx.Response:
        return answer if answer.status_code != 303 else self.get(answer.headers["location"])

    def wait(self) -> None:
        """Waits until the release is finished."""
        job = self.studio.desk.job
        assert job is not None
        for _ in range(6000):
            if not job.running:
                return
            time.sleep(0.02)
        raise AssertionError("the job does not end")

    def word(self) -> str:
        """The token with which the form of a release can be sent once."""
        return self.get("/publish").text.split('name="word" value="')[1].split('"')[0]


def people(folder: Path, rows: int = 300) -> None:
    """Writes a small private file and its schema."""
    folder.mkdir(exist_ok=True)
    towns = ["Graz", "Linz", "Oslo", "Secretville"]
    frame = pl.DataFrame(
        {"id": range(rows), "age": [n % 90 for n in range(rows)], "town": [towns[n % 4] for n in range(rows)]}
    )
    frame.write_csv(folder / "people.csv")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
