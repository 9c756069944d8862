"""A real browser for tests of pages: Chromium, run by playwright, with a record of messages and requests of a page.

Needs playwright and Chromium (`apt-get install chromium`), and for some tests axe-core
(`npm install --prefix build/axe axe-core`). Without them these tests are skipped with a reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="no playwright or no Chromium: pip install playwright, apt-get install chromium",
)
needs_axe = pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm install --prefix build/axe axe-core")


@contextmanager
def launched() -> Iterator[Any]:
    """A browser, for as long as the block runs."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


class Tab:
    """An empty page in its own context; `said` lists its messages and dialogs, `asked` the addresses it requested."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self._context = browser.new_context(**context)
        self.page = self._context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def close(self) -> None:
        self._context.close()
