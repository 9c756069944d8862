"""The studio under attack in a real browser: hostile names, files that are too large, forms of other sites, and a
release that is cancelled. See chromium.py for what must be installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cantle.trusted.ledger import Ledger
from tests.browser.chromium import Tab, needs_chromium
from tests.interfaces.studio.running import Running
from tests.interfaces.studio.site import SLOW

HOSTILE = "<img src=x onerror=alert(1)>"
MOST = 1000
PROGRAM = f"""
import sys
import cantle.interfaces.studio.server as server
studio = server.Studio
server.Studio = lambda *places: studio(*places, launch=[sys.executable, "-c", {SLOW!r}], most_upload={MOST})
from cantle.interfaces.cli import main
main()
"""
"""Starts the studio with a small limit for uploads; a release pauses for a minute when its data is opened."""
PAGES = ("data", "columns", "columns/0", "columns/text", "publish")
"""Pages that show names; tests/interfaces/studio/test_pages.py checks the text of all pages."""

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("hostile") / "project"
    folder.mkdir()
    (folder / f"{HOSTILE}.csv").write_text(f'"{HOSTILE}",b\nx,y\n')
    studio = Running(folder, PROGRAM)
    yield studio
    studio.end()


@pytest.fixture(scope="module")
def tab(browser: Any, running: Running) -> Iterator[Any]:
    """A tab with the studio's cookie; it fails if a script inside a name ran, or the page requested another host."""
    tab = Tab(browser)
    tab.page.goto(running.address)
    tab.page.wait_for_url("**/data")
    yield tab.page
    assert [message for message in tab.said if not message.startswith("Failed to load resource")] == []
    assert [url for url in tab.asked if not url.startswith(running.home)] == []
    tab.close()


@pytest.fixture(scope="module")
def filled(tab: Any, running: Running) -> Any:
    """The tab, after a schema with hostile names was filled in and a cap was set."""
    tab.goto(running.home + "data")
    tab.get_by_role("button", name=f"{HOSTILE}.csv").click()
    tab.get_by_label("Yes, column names").check()
    tab.get_by_role("button", name="Read the header").click()
    for number, categories in enumerate((f"{HOSTILE}\nother", "y")):
        tab.goto(running.home + f"columns/{number}")
        tab.select_option("#type", "string")
        tab.fill("#categories", categories)
        tab.locator("#status .done").wait_for()
        tab.get_by_role("button", name="Save").first.click()
        tab.wait_for_url("**done=saved*")
    tab.goto(running.home + "protect")
    tab.fill("#dataset", "people")
    tab.get_by_role("button", name="Save the names").click()
    tab.fill("#cap", "3")
    tab.get_by_role("button", name="Set the cap").click()
    return tab


def test_a_file_that_is_too_large_is_refused(tab: Any, running: Running, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * (MOST + 1))
    tab.goto(running.home + "data")
    tab.get_by_text("Upload a copy").click()
    tab.set_input_files("#file", large)
    tab.locator("#upload button").click()
    tab.get_by_text("too large").wait_for()


def test_scripts_in_names_do_not_run(filled: Any, running: Running) -> None:
    for page in PAGES:
        filled.goto(running.home + page)
        assert filled.locator("img").count() == 0, page


def test_a_form_of_another_site_is_refused(filled: Any, running: Running) -> None:
    """The browser sends the cookie with a form of any page, so the studio must refuse such a form itself."""
    other = filled.context.new_page()
    other.set_content(f'<form method=post action="{running.home}protect/cap"><input name=cap value=99><button>go')
    with other.expect_navigation() as answer:
        other.get_by_role("button", name="go").click()
    assert answer.value.status == 403
    assert Ledger(running.folder / "ledger.db").account("people").cap_nano == 3 * 10**9
    other.close()


@pytest.mark.slow  # by default, tests/interfaces/studio/test_pages.py cancels one without a browser
def test_a_cancelled_release_says_what_was_charged(filled: Any, running: Running) -> None:
    tab = filled
    tab.goto(running.home + "budget")
    tab.fill("#records", "300")
    tab.fill("#epsilon", "1")
    tab.get_by_role("button", name="Use this epsilon").click()
    tab.wait_for_url("**done=*")
    tab.goto(running.home + "publish")
    tab.get_by_role("button", name="Publish and spend").click()
    tab.get_by_text("reading").wait_for(timeout=60_000)
    tab.get_by_role("button", name="Cancel").click()
    tab.get_by_text("The charge stands").wait_for()
    assert list(running.folder.glob("release*")) == []
    tab.reload()  # a reload does not start the release again
    assert len(Ledger(running.folder / "ledger.db").account("people").entries) == 1
