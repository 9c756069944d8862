"""The whole page: sections in the template, under a content-security policy that allows nothing but this file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from cantle.errors import MissingExtra, install_command
from cantle.release import Release
from cantle.release.asking import Asker
from cantle.release.data_file import as_polars
from cantle.release.load import table_schema_of
from cantle.release.regions import regions_in_overview
from cantle.release.report.ask import ask_degrees, ask_sets, ask_table
from cantle.release.report.budget_section import Account, budget_section
from cantle.release.report.columns import column_section
from cantle.release.report.content import Section
from cantle.release.report.degree_section import degree_section
from cantle.release.report.glossary import GLOSSARY
from cantle.release.report.pair_section import pair_section
from cantle.release.report.region_section import region_section
from cantle.release.report.set_section import set_sections
from cantle.release.report.set_view import SetView
from cantle.release.report.statement_blocks import blocks_of
from cantle.release.report.table_view import TableView
from cantle.release.report.verdict import verdict

FOLDER = Path(__file__).parent / "templates"
NAME = "report.html"


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
    if not installed():
        raise MissingExtra(f"a report needs jinja2; install it with: {install_command('report')}")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    sections, ask = _content(release)
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja").render(
        title=_title(release),
        policy=_policy(style, script),
        style=_Raw(style),
        script=_Raw(script),
        release=release,
        manifest=release.manifest,
        method=f"{release.manifest.method}: {regions_in_overview(release.manifest)}",
        verdict=verdict(release),
        internal=internal,
        warning=warning,
        sections=sections,
        ask=ask,
        ask_json=_Raw(_embedded(ask)),
        budget=budget_section(release.manifest, account),
        statement=blocks_of(release.statement)[1:],
        glossary=GLOSSARY,
        files=sorted(release.manifest.files.items()),
    )


def _content(release: Release) -> tuple[list[Section], dict[str, Any] | None]:
    """The sections for the kind of data, and the data of the question box."""
    kind, sections = release.manifest.kind, []
    ask: dict[str, Any] | None = None
    if kind == "table":
        view = TableView.of(release)
        if view is not None and view.records:
            asker, target = Asker(release), table_schema_of(release.manifest).domain().target
            sections.append(column_section(view, asker, None if target is None else target.name))
            if len(view.attributes) > 1:
                sections.append(pair_section(release, view))
            ask = ask_table(view, asker)
    elif kind == "sets":
        sets = SetView.of(release)
        if sets.records:
            sections += set_sections(sets, Asker(release))
            ask = ask_sets(sets, Asker(release))
    else:
        degrees = as_polars(release.records, release.manifest)["degree"].to_numpy().astype(np.int64)
        sections.append(degree_section(degrees, Asker(release), release))
        ask = ask_degrees(degrees, release)
    regions = region_section(release) if release.manifest.summary["records"] else None
    return [*sections, *([regions] if regions is not None else [])], ask


def _title(release: Release) -> str:
    m = release.manifest
    stated = m.schema.get("title") or (m.ledger.dataset if m.ledger is not None else "")
    kind = {"table": "a table", "sets": "sets of items", "graph": "the degrees of a graph"}[m.kind]
    return f"Release report: {stated}" if isinstance(stated, str) and stated else f"Release report of {kind}"


class _Raw(str):
    """Our own style, script and JSON, which are not escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def _embedded(value: object) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    """Only this style and this script run, and nothing is loaded from anywhere or sent."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = f"style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
