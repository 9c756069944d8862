"""The whole page: sections in the template, under a content-security policy that allows nothing but this file.

The page is a function of the release, of the version of cantle, and of what a ledger said when it was made. The page
states the last two itself, so that `verify` can make it again and compare. The statement is a part of it, and a page of
its own to print and sign.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from html import escape, unescape
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cantle.errors import MissingExtra, install_command
from cantle.release import Release
from cantle.release.kinds import kind_of, texts_of
from cantle.release.manifest import Manifest, mark_of
from cantle.release.report import families, graphs, sequences, sets, tables
from cantle.release.report.budget_section import Spending, budget_section
from cantle.release.report.content import Section, Tile
from cantle.release.statement import HASH_LINE, chance, odds, one_given, protected
from cantle.release.structures import opened, traits_of
from cantle.release.words import points, totals
from cantle.trusted.core.budget import NANO, words_of

Span = tuple[str, str]
"""(kind, text): kind is empty, `strong` or `code`."""


Block = tuple[str, Any]
"""A part of the statement, as (kind, content): the spans of a heading, paragraph or quote, the items of a list, or the
rows of a table with its header first."""


def blocks_of(markdown: str) -> list[Block]:
    """The blocks of the text that `cantle.release.statement` makes.

    >>> [kind for kind, _ in blocks_of("# A\\n\\ntext **b**\\n\\n* x\\n* y\\n\\n| a |\\n|---|\\n| 1 |\\n")]
    ['heading', 'paragraph', 'list', 'table']
    """
    blocks = list[Block]()
    for part in re.split(r"\n\s*\n", markdown.strip()):
        lines = part.split("\n")
        if lines[0].startswith("#"):
            blocks.append(("heading", spans_of(lines[0].lstrip("# "))))
            lines = lines[1:]
        if not lines:
            continue
        if lines[0].startswith("|"):
            rows = ([spans_of(cell.strip()) for cell in line.strip().strip("|").split(" | ")] for line in lines)
            blocks.append(("table", [next(rows), *list(rows)[1:]]))
        elif lines[0].startswith("* "):
            joined = re.split(r"\n\* ", "\n" + "\n".join(lines))[1:]
            blocks.append(("list", [spans_of(" ".join(item.split())) for item in joined]))
        else:
            kind = "quote" if lines[0].startswith("> ") else "paragraph"
            blocks.append((kind, spans_of(" ".join(" ".join(lines).removeprefix("> ").split()))))
    return blocks


def spans_of(text: str) -> list[Span]:
    """The text with its parts in bold or code marked.

    >>> spans_of("a **b** `c`")
    [('', 'a '), ('strong', 'b'), ('', ' '), ('code', 'c')]
    """
    spans = []
    for part in re.split(r"(\*\*.+?\*\*|`[^`]+`)", text):
        if part.startswith("**") and len(part) > 4:
            spans.append(("strong", part[2:-2]))
        elif part.startswith("`") and len(part) > 2:
            spans.append(("code", part[1:-1]))
        elif part:
            spans.append(("", part))
    return spans


KINDS: dict[str, Callable[[Release], list[Section]]] = {
    "table": tables.sections,
    "sets": sets.sections,
    "sequences": sequences.sections,
    "graph": graphs.sections,
    "families": families.sections,
}
"""The sections about the released records, by kind of data."""


def tiles(release: Release, sections: Sequence[Section] = ()) -> list[Tile]:
    """The numbers at the top of the page, with those of its sections."""
    m = release.manifest
    kind, texts = kind_of(m.kind), texts_of(m)
    heard = "The promise holds whatever else somebody knows, and however much they compute."
    size = f"{kind.size} {totals(m, kind.counted)}".rstrip()
    made = [_promise(m), Tile("protects", protected(m), heard), Tile(kind.counted, f"{m.summary['records']:,}", size)]
    if texts.accuracy:
        known = "not measured" if texts.level is None else f"±{points(texts.level)} points"
        made.append(Tile("accuracy", known, texts.accuracy[0]))
    made += [tile for section in sections for tile in section.tiles]
    if line := m.ledger:
        left = "no cap is set" if line.cap_nano is None else f"{words_of(line.cap_nano - line.spent_nano)} left"
        words = f"by this data set up to this release, number {line.sequence} in its ledger; {left}."
        made.append(Tile("spent", words_of(line.spent_nano), words))
    return made


def _promise(m: Manifest) -> Tile:
    if not m.private:
        return Tile("privacy", "none", f"{m.guarantee}. Do not publish it as private data.")
    epsilon = m.receipt.epsilon_nano / NANO
    words = (
        f"Somebody who is 50 % sure that the data contains {one_given(m)} can be at most {chance(epsilon)} sure after "
        f"seeing the release. The odds change {odds(epsilon)}."
    )
    return Tile("epsilon", m.epsilon, words)


FOLDER = Path(__file__).parent / "templates"
REPORT = "report.html"
"""A page that anyone can make from the release. Its hash is not recorded: it must be the page that the release makes.
"""


class Page(str):
    """The text of a page that a notebook shows in a frame of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Page({len(self):,} characters of HTML)"

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 45em; border: 0"
        return f'<iframe srcdoc="{escape(self)}" sandbox="allow-scripts" style="{style}"></iframe>'


def installed() -> bool:
    """Whether reports can be made."""
    return find_spec("jinja2") is not None


def render(
    release: Release,
    *,
    account: Spending | None = None,
    internal: Sequence[Section] = (),
    warning: str = "",
) -> str:
    """The report of a release as one HTML file.

    `account` is what the ledger says about the data set now, if that is to be shown. `internal` are sections with
    private facts, and `warning` is the text that marks an edition with such sections.
    """
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    regions = opened(release).report() if release.manifest.summary["records"] else None
    sections = [*KINDS[release.manifest.kind](release), *([] if regions is None else [regions])]
    return filled_in(
        "report.html.jinja",
        generator=f"cantle {version('cantle')}",
        account=account,
        title=_title(release),
        policy=page_policy(style, script),
        style=style,
        script=script,
        release=release,
        manifest=release.manifest,
        method=f"Method {release.manifest.method} counted {traits_of(release.manifest).in_words}",
        tiles=tiles(release, sections),
        uses=kind_of(release.manifest.kind).uses(release),
        internal=internal,
        warning=warning,
        sections=sections,
        budget=budget_section(release.manifest, account),
        statement=blocks_of(release.statement)[1:],
        glossary=glossary(),
        files=sorted(release.manifest.files.items()),
    )


def filled_in(template: str, **values: object) -> str:
    """A template with these values, which are escaped."""
    if not installed():
        raise MissingExtra(f"a page needs jinja2; install it with: {install_command('report')}")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(values)


def _title(release: Release) -> str:
    m = release.manifest
    stated = m.schema.get("title") or (m.ledger.dataset if m.ledger is not None else "")
    named = isinstance(stated, str) and stated
    return f"Release report: {stated}" if named else f"Release report of {kind_of(m.kind).title}"


def page_policy(style: str, script: str = "") -> str:
    """Only this style and this script run, and nothing is loaded from anywhere or sent."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = f"style-src 'sha256-{hashes[0]}'" + (f"; script-src 'sha256-{hashes[1]}'" if script else "")
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


_AGAIN = "make it again with `cantle report`"


def report_problems(folder: Path, release: Release, unchecked: list[str]) -> list[str]:
    """What is wrong with the report in a release folder, if there is one; `unchecked` receives what could not be
    checked."""
    name = mark_of(release.manifest) + REPORT
    if not (folder / name).exists():
        return []
    text = (folder / name).read_bytes().decode("utf-8", "replace")
    if _stated(text, "cantle-release") != release.manifest.sha256:
        return [f"{name} was made from another release; {_AGAIN}"]
    if not installed():
        unchecked.append(f"{name} was not checked, because that needs jinja2: {install_command('report')}")
        return []
    if _stated(text, "generator") != f"cantle {version('cantle')}":
        unchecked.append(f"{name} was not checked, because it says that another version of cantle made it; {_AGAIN}")
        return []
    try:
        account = Spending.parse(stated) if (stated := _stated(text, "cantle-account")) else None
    except (ValueError, TypeError, KeyError):
        account = None  # then the pages differ
    if text != render(release, account=account):
        return [f"{name} is not the page that this release makes; {_AGAIN}"]
    if account is not None:
        what = f"what {name} says about later releases"
        unchecked.append(f"{what} was not checked, because the ledger is not part of the release")
    return []


def _stated(text: str, name: str) -> str:
    """What the page states about itself at its beginning; no text of a schema comes before."""
    found = re.search(rf'<meta name="{name}" content="([^"]*)">', text)
    return unescape(found[1]) if found else ""


def printable_statement(release: Release) -> str:
    """One HTML file that loads nothing: the statement, with the hash of the release beside the line to sign."""
    style = (FOLDER / "statement.css").read_text(encoding="utf-8")
    signed = release.statement.replace(HASH_LINE, f"{HASH_LINE.rstrip('_')} `{release.manifest.sha256}`")
    title, *chapters = _chapters(blocks_of(signed))
    return filled_in(
        "statement.html.jinja",
        policy=page_policy(style),
        style=style,
        about=release.manifest.facts.title,
        title=title,
        chapters=chapters,
    )


def _chapters(blocks: list[Block]) -> list[list[Block]]:
    """The blocks from each heading to the next one."""
    chapters: list[list[Block]] = []
    for block in blocks:
        if block[0] == "heading":
            chapters.append([])
        chapters[-1].append(block)
    return chapters


def glossary() -> list[tuple[str, str]]:
    """The words of the report. A test compares them with docs/glossary.md, which is not installed with the package."""
    lines = (FOLDER / "glossary.md").read_text(encoding="utf-8").splitlines()
    return [(word, meaning) for word, _, meaning in (line.strip("| ").partition(" | ") for line in lines)]
