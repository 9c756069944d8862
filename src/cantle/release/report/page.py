"""The whole page: sections in the template, under a content-security policy that allows nothing but this file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cantle.errors import MissingExtra, install_command
from cantle.release import Release
from cantle.release.report.ask import Box
from cantle.release.report.budget_section import Account, budget_section
from cantle.release.report.content import Section
from cantle.release.report.glossary import GLOSSARY
from cantle.release.report.kinds import KINDS
from cantle.release.report.statement_blocks import blocks_of
from cantle.release.report.verdict import verdict
from cantle.release.structures import opened, traits_of

FOLDER = Path(__file__).parent / "templates"
NAME = "report.html"


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
    account: Account | None = None,
    internal: Sequence[Section] = (),
    warning: str = "",
) -> str:
    """The report of a release as one HTML file.

    `account` is what the ledger says about the data set now, if that is to be shown. `internal` are sections with
    private facts, and `warning` is the text that marks an edition with such sections.
    """
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    sections, ask = _content(release)
    return filled_in(
        "report.html.jinja",
        generator=f"cantle {version('cantle')}",
        account=account,
        title=_title(release),
        policy=page_policy(style, script),
        style=Raw(style),
        script=Raw(script),
        release=release,
        manifest=release.manifest,
        method=f"Method {release.manifest.method} counted {traits_of(release.manifest).in_short}",
        verdict=verdict(release),
        internal=internal,
        warning=warning,
        sections=sections,
        ask=ask,
        ask_json=Raw(_embedded(ask)),
        budget=budget_section(release.manifest, account),
        statement=blocks_of(release.statement)[1:],
        glossary=GLOSSARY,
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


def _content(release: Release) -> tuple[list[Section], Box | None]:
    """The sections for the kind of data, and the data of the question box."""
    sections, ask = KINDS[release.manifest.kind].sections(release)
    regions = opened(release).report() if release.manifest.summary["records"] else None
    return [*sections, *([regions] if regions is not None else [])], ask


def _title(release: Release) -> str:
    m = release.manifest
    stated = m.schema.get("title") or (m.ledger.dataset if m.ledger is not None else "")
    named = isinstance(stated, str) and stated
    return f"Release report: {stated}" if named else f"Release report of {KINDS[m.kind].TITLE}"


class Raw(str):
    """Our own style, script and JSON, which are not escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _embedded(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_policy(style: str, script: str = "") -> str:
    """Only this style and this script run, and nothing is loaded from anywhere or sent."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = f"style-src 'sha256-{hashes[0]}'" + (f"; script-src 'sha256-{hashes[1]}'" if script else "")
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
