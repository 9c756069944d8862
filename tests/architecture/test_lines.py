"""The page about the architecture says how large the rooms are, within the tolerance that its rounding needs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from tests.architecture.test_docs import ROOT, text
from tests.architecture.test_imports import ROOMS

LINES = runpy.run_path(str(ROOT / "scripts" / "lines"))


def close(written: int, lines: int) -> bool:
    return abs(written - lines) <= lines / 20 + 60


def test_the_figures_of_the_page_are_close() -> None:
    """If this fails, run `scripts/lines --write`. Figures may be off by 5 % and 60, so that few changes need that."""
    table = text("docs/architecture.md").partition(LINES["BEGIN"])[2].partition(LINES["END"])[0]
    rows = re.findall(r"^\| `(.+?)` \| ([\d,]+) \|$", table, re.MULTILINE)
    written = {name: int(lines.replace(",", "")) for name, lines in rows}
    counted = {name: lines for name, lines, _ in LINES["rows"]()}
    assert written.keys() == counted.keys() == ROOMS.keys() - {"lab"} | {"cantle", "cantle-lab"}
    far = {name: (written[name], lines) for name, lines in counted.items() if not close(written[name], lines)}
    assert far == {}


def test_lines_of_code_are_those_with_more_than_comments_and_docstrings(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text('''"""A module.

Its text.
"""

# a comment
import os

LIMIT = 3  # a comment
"""What it is."""


def twice(
    x: int,
) -> str:
    """Its docstring."""
    return """two

lines""" + os.sep
''')
    assert LINES["code_lines"](file) == 8
