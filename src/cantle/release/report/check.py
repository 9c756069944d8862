"""The report in a release folder, compared with the page that the release makes.

The page is a function of the release, of the version of cantle, and of what a ledger said when it was made. The page
states the last two itself, so that it can be made again.
"""

from __future__ import annotations

import re
from html import unescape
from importlib.metadata import version
from pathlib import Path

from cantle.errors import install_command
from cantle.release import Release, mark_of
from cantle.release.report import page
from cantle.release.report.budget_section import Account

_AGAIN = "make it again with `cantle report`"


def report_findings(folder: Path, release: Release) -> tuple[list[str], list[str]]:
    """What is wrong with the report in a release folder, if there is one, and what could not be checked."""
    name = mark_of(release.manifest) + page.NAME
    if not (folder / name).exists():
        return [], []
    text = (folder / name).read_bytes().decode("utf-8", "replace")
    if _stated(text, "cantle-release") != release.manifest.sha256:
        return [f"{name} was made from another release; {_AGAIN}"], []
    if not page.installed():
        return [], [f"{name} was not checked, because that needs jinja2: {install_command('report')}"]
    if _stated(text, "generator") != f"cantle {version('cantle')}":
        return [], [f"{name} was not checked, because it says that another version of cantle made it; {_AGAIN}"]
    try:
        account = Account.parse(stated) if (stated := _stated(text, "cantle-account")) else None
    except (ValueError, TypeError, KeyError):
        account = None  # then the pages differ
    if text != page.render(release, account=account):
        return [f"{name} is not the page that this release makes; {_AGAIN}"], []
    ledger = f"what {name} says about later releases was not checked, because the ledger is not part of the release"
    return [], [] if account is None else [ledger]


def _stated(text: str, name: str) -> str:
    """What the page states about itself at its beginning; no text of a schema comes before."""
    found = re.search(rf'<meta name="{name}" content="([^"]*)">', text)
    return unescape(found[1]) if found else ""
