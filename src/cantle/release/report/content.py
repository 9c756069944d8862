"""The parts of a page: sections of figures, each with a table for people who cannot see the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cantle.release.report.charts import Svg


@dataclass(frozen=True)
class Figure:
    """A picture with its title, some facts, and its numbers as a table."""

    title: str
    svg: Svg | None = None
    facts: Sequence[tuple[str, str]] = ()
    note: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    badge: str = ""
    words: int = 1
    """Columns of the table that hold words, from the left."""
    open: bool = False
    """Whether the table is shown without being asked for."""


@dataclass(frozen=True)
class Tile:
    """A number in large type at the top of the page, what it is, and a sentence about it."""

    name: str
    value: str
    words: str


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading. `cards` says whether its figures stand side by side."""

    id: str
    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    cards: bool = False
    legend: Sequence[tuple[str, str]] = ()
    """(class of the sample, words)."""
    tiles: Sequence[Tile] = ()
    """What the top of the page says of this part."""
