"""Reports in a real browser: they load nothing, print nothing, answer questions, and are accessible.

See chromium.py for what must be installed; with axe-core, the tests also run its checks of accessibility.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cantle as library
from cantle.internal import WARNING
from cantle.internal.check_and_evaluate import evaluate
from cantle.internal.report_sections import internal_sections
from cantle.release.report.page import render
from tests.browser.chromium import AXE, Tab, needs_axe, needs_chromium
from tests.effort import one_in, slow
from tests.release.people import people
from tests.release.report.test_report import RELEASES, hostile, made

pytestmark = needs_chromium


class Pages(dict[str, Path]):
    """Files of reports, each made when first used: one per method, one with hostile names, and an internal one."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = self._folder / f"{name.replace(', ', '-')}.html"
        self[name].write_text(self._text(name), encoding="utf-8")
        return self[name]

    def _text(self, name: str) -> str:
        if name != "internal":
            return render(hostile() if name == "hostile" else RELEASES[name]())
        people().write_csv(self._folder / "people.csv")
        release = made("mosaic")
        sections = internal_sections(evaluate(self._folder / "people.csv", release))
        return render(release, internal=sections, warning=WARNING)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


NAMES = slow([*RELEASES, "hostile", "internal"], "rps, paper", "diffgen", "diffpart")


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    tab.close()


def opened(tab: Tab, path: Path) -> Any:
    """The page of a report, on a screen of the usual size."""
    tab.said.clear()
    tab.asked.clear()
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    tab.page.goto(path.as_uri())
    return tab.page


_BASICS = """() => {
  const found = [];
  const name = (node) => node.getAttribute('aria-label') || node.getAttribute('aria-labelledby')
    || (node.labels && node.labels.length ? 'label' : '') || node.textContent.trim();
  for (const node of document.querySelectorAll('svg[role=img], [role=region], select, input, button, a, summary'))
    if (!name(node)) found.push('no name: ' + node.outerHTML.slice(0, 80));
  let last = 1;
  for (const head of document.querySelectorAll('h1, h2, h3, h4')) {
    const level = Number(head.tagName[1]);
    if (level > last + 1) found.push('heading skips a level: ' + head.textContent);
    last = level;
  }
  for (const node of document.querySelectorAll('[tabindex]'))
    if (Number(node.getAttribute('tabindex')) > 0) found.push('tabindex above 0');
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  for (const node of document.querySelectorAll('p, li, dt, dd, th, td, h1, h2, h3, summary, label, a')) {
    let ground = node;
    while (ground && getComputedStyle(ground).backgroundColor.endsWith(', 0)')) ground = ground.parentElement;
    if (!ground || !node.textContent.trim()) continue;
    const [one, two] = [light(getComputedStyle(node).color), light(getComputedStyle(ground).backgroundColor)];
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < 4.5) found.push('contrast ' + contrast.toFixed(1) + ': ' + node.textContent.slice(0, 40));
  }
  return found;
}"""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_prints_and_loads_nothing_and_can_be_read_everywhere(tab: Tab, pages: Pages, name: str) -> None:
    """A page prints and loads nothing, has enough contrast in light and dark mode, and fits a narrow screen."""
    page = opened(tab, pages[name])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(_BASICS) == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert tab.said == []
    assert tab.asked == [pages[name].as_uri()]


def test_a_region_is_enlarged_with_the_mouse_and_with_the_keyboard(tab: Tab, pages: Pages) -> None:
    page = opened(tab, pages["rps"])
    regions = page.locator(".region")
    second = regions.nth(1)
    before = float(second.locator("rect").get_attribute("width"))
    second.click()
    assert float(second.locator("rect").get_attribute("width")) > max(before, 990)
    page.keyboard.press("Escape")
    assert float(second.locator("rect").get_attribute("width")) == pytest.approx(before, abs=1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert float(second.locator("rect").get_attribute("width")) > 990


def test_the_check_of_contrast_finds_pale_text(tab: Tab, tmp_path: Path) -> None:
    """Otherwise the test of pages could not fail."""
    (tmp_path / "pale.html").write_text(
        '<body bgcolor="white"><h1>x</h1><h3>y</h3><p style="color:#ccc">pale</p><button></button>'
    )
    page = opened(tab, tmp_path / "pale.html")
    problems = page.evaluate(_BASICS)
    assert [line.split(":")[0].split(" ")[0] for line in problems] == ["no", "heading", "contrast"]


@needs_axe
@pytest.mark.parametrize("name", one_in(2, ["mosaic", "rps", "baskets", "degrees", "internal"]))
def test_axe_finds_nothing(browser: Any, pages: Pages, name: str) -> None:
    tab = Tab(browser, bypass_csp=True)
    page = opened(tab, pages[name])
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run(document).then((result) => result.violations.map((one) => one.id))")
    assert violations == []
    tab.close()


def test_a_page_prints_on_a_few_sheets(tab: Tab, pages: Pages) -> None:
    page = opened(tab, pages["mosaic"])
    printed = page.pdf(format="A4", print_background=True)
    assert 3 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 9


def test_every_method_has_a_page() -> None:
    """Otherwise the tests above would leave a method out."""
    from cantle.methods.catalogue import METHODS

    assert set(METHODS) <= {name.split(",")[0] for name in RELEASES} | {"auto"}
    assert isinstance(made("diffgen"), library.Release)
