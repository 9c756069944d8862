"""The parts of a page: sections of figures, each with a table for people who cannot see the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cantle.release import Release
from cantle.release.kinds import texts_of
from cantle.release.report.charts import Svg
from cantle.release.words import points

Box = dict[str, Any]
"""The data of the question box, as JSON has it: records in coarse groups, few enough for one page. `unmeasured`
are words for counts without an error bar."""

UNMEASURED = "the error of such counts was not measured"


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
class Section:
    """A part of the page under a heading. `cards` says whether its figures stand side by side."""

    id: str
    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    cards: bool = False
    legend: Sequence[tuple[str, str]] = field(default=())
    """(class of the sample, words)."""


@dataclass(frozen=True)
class Tile:
    """A number in large type, what it is, and a sentence about it."""

    name: str
    value: str
    words: str


def accuracy_tile(release: Release, middle: float | None) -> Tile:
    """How far shares are right: the sentence that all outputs share, and one of its figures, from 0 to 1."""
    words = texts_of(release.manifest).accuracy[0]
    return Tile("accuracy", "not measured" if middle is None else f"±{points(middle)} points", words)
