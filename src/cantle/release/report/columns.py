"""One card per column of a table: its distribution with error bars, and a few facts."""

from __future__ import annotations

from collections.abc import Iterable

from cantle.release.answers.estimates import LIMITS, MEASURED, NOISE, NOISE_ONLY
from cantle.release.answers.table_answers import TableAsker
from cantle.release.report.charts import Bar, lying, upright
from cantle.release.report.content import Figure, Section
from cantle.release.report.groupings import Grouping
from cantle.release.report.svg import share_text
from cantle.release.report.table_view import TableView
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.domain import Attribute, Labels

CONFIDENCE = 0.95
MOST_CARDS = 120

BASIS = {
    MEASURED: "show 95 % intervals, from the error that this release measured privately (error as measured).",
    NOISE: "show 95 % intervals of counts that were measured themselves; the noise that was added is their whole error "
    "(noise of the count).",
    NOISE_ONLY: "show the noise in the counts behind the release and no other error, so that the truth may well lie "
    "outside (noise alone).",
    LIMITS: "show what the counts of single columns allow; how often they hold the truth is not known (limits).",
}
"""What error bars show, as the end of a sentence, with the short name in brackets."""
SHORT = {
    MEASURED: "error as measured",
    NOISE: "noise of the count",
    NOISE_ONLY: "noise alone",
    LIMITS: "limits",
}


def column_section(view: TableView, asker: TableAsker, target: str | None) -> Section:
    """The columns of a table, in the order of the schema."""
    figures, bases = [], set()
    for attribute, grouping in list(zip(view.attributes, view.shown, strict=True))[:MOST_CARDS]:
        bars, covers = bars_of(attribute, grouping, asker)
        bases.add(covers)
        facts = _facts(attribute, bars, view, asker)
        chart = (upright if grouping.numeric else lying)(
            in_order(bars, grouping), view.records, _spoken(attribute, bars)
        )
        rows = [(bar.label, f"{bar.value:,.0f}", f"{bar.low:,.0f}", f"{bar.high:,.0f}") for bar in bars]
        figures.append(
            Figure(
                attribute.name,
                chart,
                facts,
                f"Error bars: {SHORT[covers]}.",
                ("value", "records", "from", "to"),
                rows,
                badge="target" if attribute.name == target else "",
            )
        )
    more = len(view.attributes) - len(figures)
    words = [f"Error bars {basis}" for kind, basis in BASIS.items() if kind in bases]
    words += view.notes
    if more:
        words.append(f"The first {MOST_CARDS} columns are shown; {more} more are in the data.")
    return Section("columns", "Columns", words, figures, cards=True)


def bars_of(attribute: Attribute, grouping: Grouping, asker: TableAsker) -> tuple[list[Bar], str]:
    """One bar per group, null last, and what the intervals cover (the weakest of them)."""
    bars, covers = [], set()
    for place, label in enumerate(grouping.labels):
        edges = tuple(grouping.codes_of(place, attribute.size).tolist())
        estimate = asker.count(OneColumn(attribute.name, CodeSet(edges, attribute.size)), CONFIDENCE)
        missing = grouping.nullable and place == grouping.size - 1
        tick = grouping.ticks[place] if grouping.ticks else ""
        sure = estimate.confidence is not None
        bars.append(Bar(label, estimate.value, estimate.low, estimate.high, tick, missing, sure=sure))
        covers.add(estimate.covers)
    return bars, weakest(covers)


def weakest(covers: Iterable[str]) -> str:
    """What the weakest of several intervals covers, that is the one that covers the fewest kinds of error."""
    kinds = set(covers)
    return next(kind for kind in (NOISE_ONLY, LIMITS, MEASURED, NOISE) if kind in kinds)


def in_order(bars: list[Bar], grouping: Grouping) -> list[Bar]:
    """Sorts unordered categories from the largest to the smallest; "others" and missing values stay last."""
    if grouping.numeric or grouping.table is None:
        return bars
    fixed = 1 + grouping.nullable
    return [*sorted(bars[:-fixed], key=lambda bar: -bar.value), *bars[-fixed:]]


def _facts(attribute: Attribute, bars: list[Bar], view: TableView, asker: TableAsker) -> list[tuple[str, str]]:
    title = view.title(attribute.name)
    facts = [*([("title", title)] if title else []), ("declared", declared(attribute))]
    if attribute.scale.type in ("integer", "number") and not view.is_nominal(attribute.name):
        mean = asker.mean(attribute.name, asker.parse(""), CONFIDENCE)
        if mean.value == mean.value:
            facts.append(("mean", f"{plain(mean.value)} ({plain(mean.low)} to {plain(mean.high)})"))
    if attribute.nullable and view.records:
        null = bars[-1]
        ends = f"{share_text(null.low / view.records)} to {share_text(min(1.0, null.high / view.records))}"
        facts.append(("missing", f"{share_text(null.value / view.records)} ({ends})"))
    return facts


def declared(attribute: Attribute) -> str:
    scale = attribute.scale
    if isinstance(scale, Labels):
        return "yes or no" if scale.type == "boolean" else f"{scale.grid:,} categories"
    return f"{scale.type}, {scale.text(0)} to {scale.text(scale.grid - 1)}"


def plain(value: float) -> str:
    """A number to four digits, without powers of ten.

    >>> plain(188204.3), plain(38.3791), plain(0.01234)
    ('188,204', '38.38', '0.01234')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _spoken(attribute: Attribute, bars: list[Bar]) -> str:
    """The chart in a sentence, for people who cannot see it."""
    top = sorted(bars, key=lambda bar: -bar.value)[:3]
    whole = sum(bar.value for bar in bars)
    shares = "; ".join(f"{bar.label}, {share_text(bar.value / whole if whole else 0)}" for bar in top)
    return f"Distribution of {attribute.name}. Most frequent: {shares}. All numbers are in the table below."
