"""The report of a release: one file, made from released values, in which hostile names do no harm."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle as library
from cantle.audit.trials import FAMILIES
from cantle.errors import VerifyError
from cantle.release.report.page import glossary, render
from cantle.release.verify import Findings, findings, verify_folder
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401
from tests.release.people import SCHEMA, people

EVIL = '</script><script>alert("x")</script>'
MOST_BYTES = 1_000_000


class Page(HTMLParser):
    """The tags of a page, and the texts of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


@cache
def made(method: str, **more: Any) -> library.Release:
    return library.publish(people(), SCHEMA, epsilon=2, method=method, insecure_seed=3, **more)  # type: ignore[arg-type]


@cache
def sets() -> library.Release:
    data = [[1, 2], [1, 2, 3], [4], [2, 3], [1]] * 300
    return library.publish(data, {"kind": "sets", "items": list(range(1, 7))}, epsilon=2, insecure_seed=3)


@cache
def baskets() -> library.Release:
    dice = np.random.default_rng(1)
    data = [sorted(set((dice.zipf(1.5, dice.integers(1, 6)) % 40).tolist())) for _ in range(3000)]
    return library.publish(data, {"kind": "sets", "items": list(range(40))}, epsilon=2, insecure_seed=3)


@cache
def graph() -> library.Release:
    dice = np.random.default_rng(1)
    edges = pl.DataFrame({"a": dice.integers(0, 100, 800) ** 2 // 100, "b": dice.integers(0, 100, 800)})
    schema = {"kind": "graph", "unit": "edge", "nodes": {"minimum": 0, "maximum": 99}}
    return library.publish(edges, schema, epsilon=2, insecure_seed=3)


@cache
def journeys() -> library.Release:
    data = [["a", "b"], ["a", "b", "c"], ["d"], ["b", "c", "b", "a"], ["a"]] * 300
    schema = {"kind": "sequences", "items": ["a", "b", "c", "d"]}
    return library.publish(data, schema, epsilon=2, insecure_seed=3)


@cache
def families() -> library.Release:
    dice = np.random.default_rng(1)
    parents = {"who": np.arange(800), "a": dice.integers(0, 2, 800)}
    children = {"who": dice.integers(0, 800, 1_500), "b": dice.integers(0, 2, 1_500)}
    data = {"up": pl.DataFrame(parents), "down": pl.DataFrame(children)}
    return library.publish(data, FAMILIES, epsilon=2, insecure_seed=3)


RELEASES = {
    "mosaic": lambda: made("mosaic"),
    "rps": lambda: made("rps"),
    "rps, paper": lambda: made("rps", preset="paper"),
    "diffgen": lambda: made("diffgen"),
    "diffpart": sets,
    "baskets": baskets,
    "degrees": graph,
    "journeys": journeys,
    "families": families,
}


@pytest.mark.parametrize("name", RELEASES)
def test_every_method_has_a_report(name: str) -> None:
    release = RELEASES[name]()
    text = render(release)
    page = Page(text)
    assert len(text.encode()) < MOST_BYTES
    assert text == render(release)
    pictures = [one for one in page.all("svg") if one.get("role") == "img"]
    assert pictures
    assert all(one.get("aria-label") for one in pictures)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [str(one["href"]).removeprefix("#") for one in page.all("a")]
    assert set(targets) <= set(ids)


def test_a_page_loads_nothing_and_allows_only_its_own_script() -> None:
    text = render(made("diffgen"))
    page = Page(text)
    assert not re.search(r"https?://|//cdn|@import|url\(", text)
    assert not [attributes for _, attributes in page.tags if {"src", "style", "onclick", "onload"} & attributes.keys()]
    policy = next(one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "connect-src" not in policy


@cache
def hostile() -> library.Release:
    fields = [
        {"name": EVIL, "type": "string", "categories": [EVIL, "b&amp;", "'\"><img src=x>"]},
        {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
        {"name": "code", "title": f"Title {EVIL}", "type": "integer", "categories": [{"value": 7, "label": EVIL}, 8]},
    ]
    data = pl.DataFrame({EVIL: [EVIL, "b&amp;"] * 200, "n": list(range(10)) * 40, "code": [7, 8] * 200})
    return library.publish(data, {"title": EVIL, "fields": fields}, epsilon=2, insecure_seed=3)


def test_hostile_names_and_categories_stay_text() -> None:
    text = render(hostile())
    page = Page(text)
    assert "<script>alert" not in text
    assert len(page.scripts) == 1
    assert not page.all("img")
    assert "Title &lt;/script&gt;" in text
    assert "&lt;/script&gt;&lt;script&gt;alert" in text  # in the text of the page


def test_hostile_items_stay_text() -> None:
    data = [[EVIL, "b"], [EVIL], ["b"]] * 200
    text = render(library.publish(data, {"kind": "sets", "items": [EVIL, "b", "c"]}, epsilon=2, insecure_seed=3))
    assert "<script>alert" not in text
    assert len(Page(text).scripts) == 1


def test_the_glossary_equals_that_of_the_documents() -> None:
    page = (Path(__file__).parents[3] / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([\w ]+) \| (\w.*) \|$", page, re.MULTILINE)[1:]
    assert glossary() == words


def test_the_page_says_which_release_it_shows(tmp_path: Path) -> None:
    release = library.publish(people(), SCHEMA, epsilon=2, method="diffgen")
    release.save(tmp_path / "one")
    library.publish(people(), SCHEMA, epsilon=2, method="diffgen").save(tmp_path / "two")
    page = tmp_path / "one" / "report.html"
    page.write_text(render(library.Release.load(tmp_path / "one")))
    assert verify_folder(tmp_path / "one") == []
    page.write_text(render(library.Release.load(tmp_path / "two")))
    (problem,) = verify_folder(tmp_path / "one")
    assert "report.html was made from another release" in problem
    page.rename(tmp_path / "one" / "report.internal.html")
    assert verify_folder(tmp_path / "one") == ["report.internal.html is not listed"]


def edited(page: Path, old: str, new: str) -> None:
    """Changes a text of the page: in its body if it is there, because hashes in the head may hold the same digits."""
    head, begin, body = page.read_text(encoding="utf-8").partition("<body")
    assert old in head + body
    changed = head + begin + body.replace(old, new, 1) if old in body else head.replace(old, new, 1) + begin + body
    page.write_text(changed, encoding="utf-8", newline="\n")


@pytest.mark.parametrize("name", RELEASES)
def test_verify_notices_a_changed_digit(name: str, tmp_path: Path) -> None:
    folder = RELEASES[name]().save(tmp_path / "out")
    page, loaded = folder / "NOT-PRIVATE.report.html", library.Release.load(folder)
    page.write_text(render(loaded), encoding="utf-8", newline="\n")
    assert findings(folder) == Findings([], [])
    loaded.verify()
    number = f"{loaded.summary['records']:,}"
    edited(page, number, number[:-1] + str((int(number[-1]) + 1) % 10))
    (problem,) = verify_folder(folder)
    assert "is not the page that this release makes" in problem
    with pytest.raises(VerifyError, match="is not the page"):
        loaded.verify()


def test_what_cannot_be_checked_is_said(cantle: Cantle, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    made("diffgen").save("out")
    cantle("report", "out")
    page = Path("out/NOT-PRIVATE.report.html")
    with monkeypatch.context() as patch:
        patch.setattr("cantle.release.report.page.installed", lambda: False)
        done = cantle("verify", "out")
        assert done.code == 0
        assert "NOT CHECKED: NOT-PRIVATE.report.html was not checked, because that needs jinja2" in done.out
        assert "out: verified, except for that" in done.out
    edited(page, f'content="cantle {library.__version__}"', 'content="cantle 9.9"')
    done = cantle("verify", "out", "--json")
    assert json.loads(done.out)["ok"]
    assert "another version of cantle" in json.loads(done.out)["unchecked"][0]


def test_verify_says_if_another_version_worded_the_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made("diffgen").save(tmp_path / "out")
    for module in ("verify", "structures.checks"):
        monkeypatch.setattr(f"cantle.release.{module}.version", lambda _: "9.9")
    assert findings(folder).problems == []
    assert "their words were not checked" in findings(folder).unchecked[0]


def test_the_command_writes_a_report(cantle: Cantle) -> None:  # noqa: F811
    made("diffgen").save("seeded")
    done = cantle("report", "seeded", "--json")
    assert json.loads(done.out)["file"] == "seeded/NOT-PRIVATE.report.html"
    assert "none" in Path("seeded/NOT-PRIVATE.report.html").read_text()
    assert cantle("verify", "seeded").code == 0
    assert cantle("report", "seeded").code == 0  # a report may be written again
    assert cantle("report", "seeded", "-o", "seeded/other.html").code == 1
    assert cantle("report", "seeded", "-o", "page.html").code == 0
    assert Path("NOT-PRIVATE.page.html").exists()
    assert cantle("report", "seeded", "-o", "page.html").code == 1
    assert cantle("report", "seeded", "--dataset", "x").code == 2


def test_a_report_may_show_the_present_state_of_the_ledger(cantle: Cantle) -> None:  # noqa: F811
    cantle("ledger", "cap", "3", "--ledger", "ledger.db", "--dataset", "people")
    for number in range(2):
        release = library.publish(people(), SCHEMA, epsilon=1, method="diffgen", ledger="ledger.db", dataset="people")
        release.save(f"out{number}")
    first = Path(cantle("report", "out0", "--json").out and "out0/report.html").read_text()
    assert "Epsilon 1 spent by 1 releases; the cap is 3" in first
    cantle("report", "out0", "--ledger", "ledger.db", "--dataset", "people")
    page = Path("out0/report.html")
    assert "Epsilon 2 spent by 2 releases; the cap is 3" in page.read_text()
    checked = cantle("verify", "out0")
    assert (checked.code, "later releases was not checked" in checked.out) == (0, True)
    edited(page, "Epsilon 2 spent by 2 releases", "Epsilon 1 spent by 2 releases")
    assert "is not the page that this release makes" in cantle("verify", "out0").out
    edited(page, 'name="cantle-account" content="[', 'name="cantle-account" content="')
    assert "is not the page that this release makes" in cantle("verify", "out0").out


def test_the_internal_report_is_marked(cantle: Cantle) -> None:  # noqa: F811
    from cantle.internal import WARNING

    people().write_csv("people.csv")
    made("mosaic").save("out")
    done = cantle("report", "out", "--against", "people.csv")
    assert done.err == WARNING + "\n"
    text = Path("report.internal.html").read_text()
    assert text.count(WARNING) == 1
    assert "<title>INTERNAL: " in text
    assert 'class="internal"' in text
    assert "Are the error bars honest?" in text
    assert cantle("report", "out", "--against", "people.csv", "-o", "page.html").code == 2
    assert cantle("report", "out", "--against", "people.csv", "-o", "out/x.internal.html").code == 1
    assert WARNING not in render(library.Release.load("out"))


def test_without_jinja2_the_command_names_the_extra(cantle: Cantle, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    made("diffgen").save("out")
    monkeypatch.setattr("cantle.release.report.page.installed", lambda: False)
    done = cantle("report", "out")
    assert done.code == 1
    assert "pip install '.[report]'" in done.err


def test_a_measured_error_below_zero_is_not_called_zero() -> None:
    """The measured error is noisy, and sentences about groups must not rely on a lucky draw."""
    from cantle.methods.own_error.accuracy import QuestionError
    from cantle.release.accuracy import bound_of

    assert bound_of(QuestionError(q=500, records=-40, rate=(4, 300))) == round(np.log(5) * 75)
    assert bound_of(QuestionError(q=500, records=400, rate=(4, 300))) == 400 + round(np.log(5) * 75)


@pytest.mark.parametrize(("epsilon", "good"), [("0.2", "rough ideas"), ("1000", "how many nodes")])
def test_a_small_graph_is_not_called_good_for_numbers_that_noise_hides(epsilon: str, good: str) -> None:
    from cantle.release.graphs import uses
    from cantle.release.report.page import KINDS, tiles

    ring = [(k, (k + 1) % 60) for k in range(60)]
    for _ in range(5):
        release = library.publish(ring, {"kind": "graph", "unit": "node"}, epsilon=epsilon)
        nodes = release.manifest.summary["records"]
        assert uses(release).good[0].startswith(good if nodes else "nothing")
        assert (tiles(release, KINDS["graph"](release))[-1].name == "accuracy") == (nodes > 0)


def test_in_python_a_report_is_a_page_that_notebooks_frame() -> None:
    release = made("rps")
    page = release.report()
    assert page == render(release)
    assert repr(page).startswith("Page(")
    framed = page._repr_html_()  # type: ignore[attr-defined]
    assert framed.startswith("<iframe srcdoc=")
    assert framed.count("<") == 2, "the page inside is escaped"
