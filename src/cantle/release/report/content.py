"""The parts of a page: sections of figures, each with a table for people who cannot see the figure.

And the figure that most sections have: the card of a distribution, with error bars and what they cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cantle.release.answers.estimates import LIMITS, MEASURED, NOISE, NOISE_ONLY, Estimate
from cantle.release.report.charts import Bar, Svg, lying, share_text, upright
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.question_columns import MOST_COUNTED

if TYPE_CHECKING:
    from cantle.release.answers.asking import Asker


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


# ---- cards ------------------------------------------------------------------------------------------------------

CONFIDENCE = 0.95
SIZES = 20
"""Most sizes of records that are shown one by one."""

BASIS = {
    MEASURED: "show 95 % intervals, from the error that this release measured privately (error as measured).",
    NOISE: "show 95 % intervals of counts that were measured themselves; the noise that was added is their whole error "
    "(noise of the count).",
    NOISE_ONLY: "show the noise in the counts behind the release and no other error, so that the truth may well lie "
    "outside (noise alone).",
    LIMITS: "show what the counts of single columns allow; how often they hold the truth is not known (limits).",
}
"""What error bars show, as the end of a sentence, with the short name in brackets."""


def weakest(covers: Iterable[str]) -> str:
    """What the weakest of several intervals covers, that is the one that covers the fewest kinds of error."""
    kinds = set(covers)
    return next((kind for kind in (NOISE_ONLY, LIMITS, MEASURED, NOISE) if kind in kinds), "")


def numbers(label: str, one: Estimate | Bar) -> tuple[str, str, str, str]:
    """A count as the row of a table: its label, the count, the ends of its interval."""
    return label, f"{one.value:,.0f}", f"{one.low:,.0f}", f"{one.high:,.0f}"


def bar_of(label: str, one: Estimate, tick: str = "", *, muted: bool = False) -> Bar:
    """A count as a bar."""
    return Bar(label, one.value, one.low, one.high, tick, muted, covers=one.covers)


def card(
    title: str, bars: Sequence[Bar], whole: float, unit: str, *,
    numeric: bool, drawn: Sequence[Bar] | None = None, first: str = "",
) -> Figure:  # fmt: skip
    """The card of a distribution: its chart, what the error bars show, and its numbers as a table."""
    top = sorted(bars, key=lambda bar: -bar.value)[:3]
    shares = "; ".join(f"{bar.label}, {share_text(bar.value / max(1, whole))}" for bar in top)
    spoken = f"{title}. Most frequent: {shares}. All numbers are in the table below."
    covers = weakest(bar.covers for bar in bars if bar.high > bar.low)
    return Figure(
        title,
        (upright if numeric else lying)(bars if drawn is None else drawn, whole, spoken),
        note=f"Error bars: {BASIS[covers].rpartition('(')[2].rstrip(').')}." if covers else "",
        header=(first, unit, "from", "to"),
        rows=[numbers(bar.label, bar) for bar in bars],
    )


def card_of(
    title: str, counts: Sequence[tuple[str, Estimate]], whole: int, unit: str, *, numeric: bool = False
) -> Figure:
    """The same for counts that have no null, in the order in which they are shown."""
    return card(
        title, [bar_of(label, one, label if numeric else "") for label, one in counts], whole, unit, numeric=numeric
    )


def by_size(asker: Asker, key: str, largest: int) -> list[tuple[str, Estimate]]:
    """How many records have each size or length, larger ones together."""
    most = min(SIZES, largest)
    spans = [(str(size), size, size + 1) for size in range(1, most + 1)]
    if largest > most:
        spans.append((f"{most + 1}+", most + 1, MOST_COUNTED))
    return [
        (label, asker.count(OneColumn(key, CodeSet.span(first, end, MOST_COUNTED)), CONFIDENCE))
        for label, first, end in spans
    ]
