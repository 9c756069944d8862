"""Small HTML tables, with which notebooks show schemas, plans, estimates and releases."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

LONGEST = 160
"""Most characters of a text in a table; a schema may list thousands of categories."""


def table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of names and texts, with everything escaped.

    >>> table("people", [("age", "17 <= age")])
    '<table><caption>people</caption><tr><th>age</th><td>17 &lt;= age</td></tr></table>'
    """
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(_short(str(text)))}</td></tr>" for name, text in rows)
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
