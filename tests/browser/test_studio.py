"""The studio in a real browser: from a file to an archive that verifies, by keyboard, on narrow screens, accessibly.

See chromium.py for what must be installed.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cantle.release.verify import verify_folder
from cantle.trusted.ledger import Ledger
from tests.browser.chromium import AXE, Tab, needs_axe, needs_chromium
from tests.interfaces.studio.running import Running
from tests.interfaces.studio.site import people

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("studio") / "project"
    people(folder)
    (folder / "schema.yaml").unlink()
    studio = Running(folder)
    yield studio
    studio.end()


@pytest.fixture(scope="module")
def tab(browser: Any, running: Running) -> Iterator[Any]:
    """A tab with the studio's cookie; it fails if the console prints anything, or the page loads from elsewhere."""
    tab = Tab(browser, accept_downloads=True, bypass_csp=False)
    tab.page.goto(running.address)
    tab.page.wait_for_url("**/data")
    yield tab.page
    assert [message for message in tab.said if "422" not in message] == []
    assert [url for url in tab.asked if not url.startswith((running.home, "data:"))] == []
    assert [url for url in tab.asked if "Secretville" in url or "people" in url] == []
    tab.close()


def fill(tab: Any, name: str, **boxes: str) -> None:
    """Fills in the editor of a column, waits until it is checked, and saves it."""
    tab.get_by_role("heading", name=f"Column {name}").wait_for()
    for box, value in boxes.items():
        if box in ("type", "role"):
            tab.select_option(f"#{box}", value)
        else:
            tab.fill(f"#{box}", value)
    tab.locator("#status .done").wait_for()
    tab.get_by_role("button", name=re.compile("^Save")).first.click()


@pytest.fixture(scope="module")
def archive(tab: Any) -> Path:
    """A release that was made and downloaded in the browser; its schema, account and release stay in the studio."""
    tab.get_by_role("button", name="people.csv").click()
    tab.get_by_label("Yes, column names").check()
    tab.get_by_role("button", name="Read the header").click()
    tab.get_by_role("link", name="id", exact=True).click()
    fill(tab, "id", role="identifier")
    fill(tab, "age", type="integer", minimum="0", maximum="99")
    fill(tab, "town", type="string", categories="Graz\nLinz\nOslo")
    tab.get_by_text("The schema is complete.").wait_for()
    tab.get_by_role("link", name="Continue: whom to protect").click()
    tab.fill("#dataset", "villages")
    tab.get_by_role("button", name="Save the names").click()
    tab.fill("#cap", "3")
    tab.get_by_role("button", name="Set the cap").click()
    tab.get_by_role("link", name="Continue: budget").click()
    tab.fill("#records", "300")
    tab.locator("#plan").get_by_text("2.72").wait_for()
    tab.locator("#slider").focus()
    tab.keyboard.press("End")  # moves the slider by keyboard, and the plan follows
    tab.locator("#plan").get_by_text("epsilon 20 protects little").wait_for()
    tab.fill("#epsilon", "1")
    tab.locator("#plan").get_by_text("2.72").wait_for()
    tab.get_by_role("button", name="Use this epsilon").click()
    tab.get_by_role("link", name="Continue: publish").click()
    tab.get_by_role("button", name="Publish and spend epsilon 1").click()
    tab.get_by_role("link", name="Look at the release").click(timeout=60_000)
    tab.get_by_text("Verified").wait_for()
    tab.frame_locator("iframe").get_by_role("heading").first.wait_for()  # the report in its frame
    tab.fill("#question", "age >= 50")
    tab.get_by_role("button", name="Ask", exact=True).click()
    tab.locator("#answer").get_by_text("95 % interval").wait_for()
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download as zip").click()
    return Path(download.value.path())


def test_from_a_file_to_an_archive_that_verifies(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path)
    assert verify_folder(tmp_path / "release") == []


@pytest.mark.usefixtures("archive")
def test_reload_back_and_a_second_tab_lose_nothing(tab: Any, running: Running) -> None:
    tab.goto(running.home + "publish")
    tab.reload()
    tab.get_by_text("The release is in release/.").wait_for()
    charged = len(Ledger(running.folder / "ledger.db").account("villages").entries)
    other = tab.context.new_page()
    other.goto(running.home + "columns/1")
    other.fill("#maximum", "120")
    tab.bring_to_front()  # a tab in the background draws once per second
    tab.goto(running.home + "columns/2")
    tab.fill("#categories", "Graz\nLinz\nOslo\nRome")
    tab.locator("#status").get_by_text("4 categories").wait_for()
    tab.get_by_role("button", name="Save").first.click()
    tab.wait_for_url("**/columns?done=saved")
    other.bring_to_front()
    other.get_by_role("button", name="Save and go to the next").click()
    other.wait_for_url("**/columns/2?done=saved")
    text = (running.folder / "schema.yaml").read_text()
    assert "maximum: 120" in text
    assert "Rome" in text
    tab.bring_to_front()
    tab.go_back()
    tab.go_back()
    tab.get_by_text("The release is in release/.").wait_for()
    assert len(Ledger(running.folder / "ledger.db").account("villages").entries) == charged
    other.close()


def test_another_browser_is_not_let_in(browser: Any, running: Running) -> None:
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(running.address).status == 403
    assert page.goto(running.home + "look").status == 403
    context.close()


PAGES = (
    "data",
    "columns",
    "columns/2",
    "columns/text",
    "protect",
    "budget",
    "publish",
    "look",
    "ledger",
    "internal/check",
)


@needs_axe
@pytest.mark.usefixtures("archive")
def test_every_page_is_accessible(tab: Any, running: Running) -> None:
    """Pages fit 320 pixels, and axe finds nothing in light and dark mode. (The report has its own test.)"""
    tab.goto(running.home + "columns")
    tab.get_by_role("button", name="Read the private file").click()
    tab.get_by_text("Secretville").wait_for(timeout=60_000)
    script = AXE.read_text(encoding="utf-8")
    for name in PAGES:
        tab.goto(running.home + name, wait_until="domcontentloaded")
        tab.evaluate(script)
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            violations = tab.evaluate(
                "axe.run(document, {iframes: false}).then((result) => result.violations.map((one) => one.id))"
            )
            assert violations == [], (name, scheme)
        tab.emulate_media(color_scheme="light")
        tab.set_viewport_size({"width": 320, "height": 700})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320, name
        tab.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.usefixtures("archive")
def test_every_control_can_be_reached_by_keyboard(tab: Any, running: Running) -> None:
    """The tab key reaches every control, and each shows that it has the focus."""
    tab.goto(running.home + "columns/2")
    controls = tab.locator(
        "a:visible, button:visible, input:visible, select:visible, textarea:visible, summary:visible"
    )
    reached = set()
    for _ in range(controls.count() + 5):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
        outline = "document.activeElement != document.body && getComputedStyle(document.activeElement).outlineStyle"
        assert tab.evaluate(outline) != "none"
    assert {control.evaluate("(node) => node.outerHTML.slice(0, 200)") for control in controls.all()} <= reached
    tab.locator("#categories").focus()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.name") == "ordered", "the tab key must leave a text box"
