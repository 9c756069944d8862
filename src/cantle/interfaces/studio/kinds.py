"""What the pages of the studio say about each kind of data, by its name in schemas."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StudioKind:
    """The words and pages for one kind of data."""

    line: tuple[str, str, str] = ("", "", "")
    """What one line of a file holds; the second of the three texts is emphasised."""
    question: str = ""
    """An example of a question about a release."""
    unit: str = ""
    """What the unit is, if it is declared in the schema only; empty if the page has boxes for it."""
    has_boxes: bool = False
    """Whether a schema has boxes for its columns; otherwise it is edited as text."""


KINDS = {
    "table": StudioKind(
        ("A record of a ", "table", " with columns"),
        question="age >= 65 and region == 'North'",
        has_boxes=True,
    ),
    "sets": StudioKind(
        ("A ", "set of items", " (a basket, visited pages), or one item of a set (order, product)"),
        question="contains 'bread'",
    ),
    "graph": StudioKind(
        ("An ", "edge", " of a graph: who is connected to whom"),
        question="degree >= 10",
        unit="For a graph, the unit (a node with its edges, or one edge) is in the schema.",
    ),
}

UNKNOWN = StudioKind()
"""For a schema file with a kind that does not exist, until somebody corrects it."""
