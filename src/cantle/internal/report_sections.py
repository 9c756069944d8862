"""The sections of an internal report: private facts beside released ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log10

from cantle.internal.comparison import ERRORS, WITHOUT, Comparison, Distribution, Matrices, error_table, number
from cantle.internal.questions import Asked
from cantle.release.answers.estimates import WITHOUT_CONFIDENCE
from cantle.release.kinds import kind_of
from cantle.release.report.charts import Bar, LogLog, Svg, line, lying, picture, share_text, tag, upright
from cantle.release.report.content import Figure, Section
from cantle.release.report.pairs import Floats, heat_map
from cantle.release.report.tables import plain


def internal_sections(comparison: Comparison) -> list[Section]:
    """The sections for a comparison."""
    sections = [_overview(comparison)]
    if comparison.distributions:
        legend = (("private", "private"), ("bar", "released"))
        cards = [_card(one) for one in comparison.distributions]
        sections.append(Section("raw", "Private beside released", (), cards, cards=True, legend=legend))
    if comparison.matrices is not None and len(comparison.matrices.names) > 1:
        sections.append(_pairs(comparison.matrices))
    if comparison.asked:
        sections.append(_questions(comparison.asked, kind_of(comparison.kind).part))
    return sections


def _overview(comparison: Comparison) -> Section:
    rows = [(fact.name, number(fact.private), number(fact.released)) for fact in comparison.facts]
    if comparison.trained is not None:
        one = comparison.trained
        rows.append((f"{one.in_words}, trained on …", f"{one.on_private:.3f}", f"{one.on_released:.3f}"))
        rows.append((f"the same, {one.same_guess}", f"{one.majority:.3f}", ""))
    figure = Figure("Main facts", header=("", "private", "released"), rows=rows, open=True)
    return Section("compared", "Compared with the data", comparison.missing, (figure,))


def _card(one: Distribution) -> Figure:
    """A card for one distribution; released counts are scaled to the private number of records, to compare shapes."""
    whole = max(1, int(one.private.sum()))
    scale = whole / max(1, int(one.released.sum()))
    bars = [
        Bar(label, released * scale, 0, 0, tick, label == "missing", private)
        for label, tick, private, released in zip(
            one.labels, one.ticks or [""] * len(one.labels), one.private.tolist(), one.released.tolist(), strict=True
        )
    ]
    label = f"{one.name}: private and released counts. All numbers are in the table below."
    chart = (lying if one.ticks is None else upright)(bars, whole, label)
    facts = [("distance", f"{one.distance:.3f}")]
    for fact in one.facts:
        if fact.private is not None and fact.released is not None:
            words = share_text if fact.name == "missing" else plain
            facts.append((fact.name, f"{words(fact.private)}, released {words(fact.released)}"))
        elif fact.private is not None:
            facts.append((fact.name, plain(fact.private)))
    groups = zip(one.labels, one.private.tolist(), one.released.tolist(), strict=True)
    rows = [(name, f"{a:,}", f"{b:,}") for name, a, b in groups]
    return Figure(one.name, chart, facts, header=("", "private", "released"), rows=rows)


def _pairs(both: Matrices) -> Section:
    """Three heat maps of pairs: private, released, and the difference."""
    names, scale, change = both.names, both.most, both.released - both.private

    def words(values: Floats) -> Callable[[int, int], str]:
        return lambda a, b: f"{names[a]} and {names[b]}: {values[a, b]:.3f}"

    shown = [("Private", both.private, scale, False), ("Released", both.released, scale, False)]
    shown.append(("Released minus private", change, 0.3 * scale, True))
    figures = [
        Figure(title, heat_map(names, values, f"{title}: heat map of {len(names)} names.", words=words(values),
                               scale=most, signed=signed, numbers=both.with_numbers and not signed))
        for title, values, most, signed in shown
    ]  # fmt: skip
    legend = (("heat", "large; of a difference: released is larger"), ("less", "released is smaller"))
    return Section("raw-pairs", "Pairs, private and released", (both.explained,), figures, legend=legend)


def _questions(asked: tuple[Asked, ...], part: str) -> Section:
    points = [
        (one.predicted, one.error, f"{one.text}: true {one.true:,}, released {one.released:,.0f}", one.inside)
        for one in asked
    ]
    label = f"True error against predicted error of {len(asked)} questions. All are in the table below."
    chart = error_chart(points, "half width of the interval, in records", "true error, in records", label)
    rows = [one.cells for one in error_table(asked, part)]
    worst = sorted(asked, key=lambda one: -one.error)[:20]
    listed = [
        (one.text, f"{one.true:,}", f"{one.released:,.0f}", f"{one.low:,.0f}", f"{one.high:,.0f}") for one in worst
    ]
    figures = (
        Figure("Predicted and true error", chart, header=ERRORS, rows=rows, open=True),
        Figure("Questions with the largest errors", header=("question", "true", "released", "from", "to"), rows=listed),
    )
    words = ["Each point is a question. Points above the line have a larger error than their interval says."]
    words += [WITHOUT] if any(one.covers in WITHOUT_CONFIDENCE for one in asked) else []
    legend = (("dot", "truth inside the interval"), ("dot out", "outside"))
    return Section("questions", "Are the error bars honest?", words, figures, legend=legend)


def error_chart(points: Sequence[tuple[float, float, str, bool]], across: str, up: str, label: str) -> Svg:
    """A chart of points (x, y, description, whether the point is as expected), with the line on which both are
    equal."""
    most = 10 ** max(1, ceil(log10(max([10.0, *(max(x, y) for x, y, _, _ in points)]))))
    axes = LogLog(most, most, 380.0, 380.0, 66.0, 42.0)
    parts = [*axes.axes(across, up), line(*axes.at(1, 1), *axes.at(most, most), "axis")]
    for x, y, words, good in points:
        cx, cy = axes.at(x, y)
        parts.append(tag("circle", tag("title", words), cx=cx, cy=cy, r=3, cls="dot" if good else "dot out"))
    return picture(axes.width, axes.height, label, *parts)
