"""The site is made from the Markdown of the repository: its navigation has every page, and its links lead to pages."""

from __future__ import annotations

import math
import re
import runpy
from pathlib import Path

import pytest
import yaml

from tests.architecture.test_docs import ROOT, text

SITE = runpy.run_path(str(ROOT / "scripts/site_pages.py"))
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
NAV = list(SITE["pages_of"](CONFIG["nav"]))
NAMES = [page for _, _, page in NAV]


def test_the_navigation_has_every_page_once() -> None:
    docs = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert sorted(NAMES) == sorted(docs | set(SITE["PAGES"].values()))


@pytest.mark.parametrize("page", NAMES)
def test_links_of_the_site_lead_to_its_pages(page: str) -> None:
    text = SITE["linked"](SITE["text_of"](page), SITE["source_of"](page))
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert [link for link in links if link not in NAMES and not (ROOT / "docs" / link).is_file()] == []


def test_links_to_sources_become_text() -> None:
    text = SITE["linked"](
        "see [the tests](../tests/entropy.py), [a page](how-to.md#look) and [home](../README.md)", "docs/x.md"
    )
    assert text == "see the tests, [a page](how-to.md#look) and [home](index.md)"


def test_the_first_sentence_of_a_page_has_no_markdown() -> None:
    page = "# Title\n\n| a | table |\n|---|---|\n\n*A [word](page.md)* has `code`. More of it.\n"
    assert SITE["first_sentence"](page) == "A word has code."


def test_llms_txt_lists_the_navigation_with_a_sentence_for_each_page() -> None:
    text = SITE["llms"](CONFIG["site_name"], CONFIG["site_description"], CONFIG["nav"])
    lines = re.findall(r"^- \[(.+?)\]\((.+?)\): (.+)$", text, re.MULTILINE)
    assert [(title, page) for title, page, _ in lines] == [(title, page) for _, title, page in NAV]
    assert text.startswith("# cantle\n\n> Publish")
    assert [sentence for _, _, sentence in lines if len(sentence.split()) < 4 or not sentence.endswith(".")] == []
    assert set(re.findall(r"^## (.+)$", text, re.MULTILINE)) >= {"Start", "Privacy"}


def test_no_page_asks_for_fonts_or_scripts_of_other_hosts() -> None:
    """The built pages were checked in a browser; these settings keep them free of other hosts."""
    assert CONFIG["theme"]["font"] is False
    assert not {"extra_javascript", "repo_url"} & CONFIG.keys()
    assert all((ROOT / "docs" / name).is_file() for name in CONFIG["extra_css"])
    for page in NAMES:
        assert not re.search(r"!\[[^\]]*\]\(https?:|<(img|script|iframe|link)\b|```mermaid", SITE["text_of"](page)), (
            page
        )


@pytest.mark.parametrize(("page", "loads"), [
    ('<a href="https://example.org">a link</a> <script src="assets/a.js"></script>', 0),
    ('<script src="https://example.org/a.js"></script>', 1),
    ('<link rel="stylesheet" href="//example.org/a.css"><img alt="" src=http://example.org/a.png>', 2),
    ('<style>@import "https://example.org/a.css"; p { background: url(https://example.org/a.png) }</style>', 2),
])  # fmt: skip
def test_the_build_notices_what_a_page_would_load_from_another_host(page: str, loads: int, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert len(list(SITE["foreign_loads"](tmp_path))) == loads


def test_the_page_of_schema_keys_has_every_key_that_is_described() -> None:
    schema = SITE["schema_of_schemas"]()
    tables = SITE["tables_of_keys"](schema)
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", tables, re.MULTILINE)
    parts = [*schema["definitions"].values(), schema["definitions"]["field"]["properties"]["constraints"]]
    described = {key for part in parts for key, value in part["properties"].items() if "description" in value}
    assert {key for key, _, _ in rows} == described
    assert len(re.findall(r"^\| `", tables, re.MULTILINE)) == len(rows)  # no cell contains a |
    assert ("required", "true or false") in {(key, value) for key, value, _ in rows}
    assert SITE["KEYS"] in text("docs/schema-keys.md")
    assert SITE["REPORTS"] in text("docs/gallery.md")


def test_the_python_reference_has_every_public_name() -> None:
    import cantle

    documented = re.findall(r"^::: cantle\.(\w+)$", text("docs/api.md"), re.MULTILINE)
    assert sorted(documented) == sorted([*cantle.__all__, "errors", "framework"])


def test_the_odds_on_the_page_about_epsilon_follow_from_the_definition() -> None:
    rows = re.findall(
        r"^\| ([\d.]+) \| ([\d.]+) \| (\d+) % \| (\d+) % \|$", text("docs/choosing-epsilon.md"), re.MULTILINE
    )
    assert len(rows) == 6
    for epsilon, odds, half, tenth in rows:
        factor = math.exp(float(epsilon))
        digits = len(odds.partition(".")[2])
        assert (round(factor, digits), round(100 * factor / (factor + 1)), round(100 * factor / (factor + 9))) == (
            float(odds),
            int(half),
            int(tenth),
        )
