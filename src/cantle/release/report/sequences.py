"""The report of a release of sequences: a flow diagram, lengths, frequent sequences and strings, starts and ends.

And how much of it was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot

import numpy as np

from cantle.release import Release
from cantle.release.answers.estimates import HELD, NOISE_ONLY, Estimate
from cantle.release.answers.sequence_answers import SequenceAsker
from cantle.release.report.charts import LABEL, Svg, count_text, picture, shortened, tag, text
from cantle.release.report.content import BASIS, CONFIDENCE, Figure, Section, by_size, card_of, numbers, weakest
from cantle.release.report.groupings import Ints
from cantle.release.sequences import knows_order, most_frequent
from cantle.schema.code_sets import CodeSet, OneColumn


def sections(release: Release) -> list[Section]:
    if not release.manifest.summary["records"]:
        return []
    return _shown(SequenceAsker(release), release)


SYMBOLS, SHOWN = 12, 20
_LONGEST = 4  # symbols of the strings that are listed


def _shown(asker: SequenceAsker, release: Release) -> list[Section]:
    held, whole = asker.sequences, asker.records
    top = np.argsort(-np.bincount(held.codes, minlength=asker.universe.size), kind="stable")[:SYMBOLS]
    top = top[np.isin(top, held.codes)]
    lengths, starts, ends = (
        by_size(asker, "length", int(np.diff(held.starts).max())),
        _ends(asker, "first", top),
        _ends(asker, "last", top),
    )
    cards = [
        card_of("Lengths", lengths, whole, "sequences", numeric=True),
        card_of("First symbols", starts, whole, "sequences"),
        card_of("Last symbols", ends, whole, "sequences"),
    ]
    words = f"{whole:,} sequences over {asker.universe.size:,} declared symbols. Error bars of lengths and ends "
    words += f"{BASIS[weakest(one.covers for _, one in [*lengths, *starts, *ends])]}"
    return [_flow(asker, top), Section("sequences", "Lengths, starts and ends", (words,), cards, cards=True),
            frequent_section(asker), _measured(release)]  # fmt: skip


def frequent_section(asker: SequenceAsker) -> Section:
    """The most frequent strings and whole sequences: as open tables if a chart would cut off names that start alike."""
    counted = ("Strings of symbols", _strings(asker), "sequences that contain it"), (
        "Whole sequences", _paths(asker), "sequences")  # fmt: skip
    cards = [card_of(title, counts, asker.records, unit) for title, counts, unit in counted]
    cards[1] = replace(cards[1], header=cards[1].header[:2], rows=[row[:2] for row in cards[1].rows])
    cut = any(len(row[0]) > LABEL for one in cards for row in one.rows)
    if cut:
        cards = [replace(one, svg=None, note="", open=True) for one in cards]
    words = "Numbers of whole sequences are those of the released ones, whose error is not known."
    if any(one.covers == NOISE_ONLY for _, one in counted[0][1]):
        words += " Intervals of strings whose error was not measured cover the noise of the counts alone."
    return Section("strings", "Frequent strings and sequences", (words,), cards, cards=not cut)


def _name(asker: SequenceAsker, codes: Sequence[int]) -> str:
    return " > ".join(str(asker.universe.label(int(code))) for code in codes)


def _contains(asker: SequenceAsker, codes: Sequence[int]) -> Estimate:
    return asker.count(OneColumn(" ".join(map(str, codes)), HELD), CONFIDENCE)


def _flow(asker: SequenceAsker, top: Ints) -> Section:
    """What follows what among the most frequent symbols, as far as it stands out."""
    held, names = asker.sequences, [_name(asker, [code]) for code in top]
    lengths = np.diff(held.starts)
    place = (np.arange(len(held.codes)) - np.repeat(held.starts[:-1], lengths)) / np.repeat(lengths, lengths)
    size = asker.universe.size
    middle = np.bincount(held.codes, place, size) / np.maximum(1, np.bincount(held.codes, minlength=size))
    edges = list[Edge]()
    for a, one in enumerate(top.tolist()):
        for b, two in enumerate(top.tolist()):
            edges.append(Edge(a, b, _contains(asker, (one, two))))
        for key, start in (("first", -1), ("last", len(top))):
            ends = asker.count(OneColumn(key, CodeSet.span(one, one + 1, size + 1)), CONFIDENCE)
            edges.append(Edge(-1, a, ends) if start < 0 else Edge(a, len(top), ends))
    clear = sorted((edge for edge in edges if edge.count.low > 0), key=lambda edge: -edge.count.value)
    called = ["start", *names, "end"]
    rows = [numbers(f"{called[e.first + 1]} → {called[e.last + 1]}", e.count) for e in clear[:SHOWN]]
    label = "Flow diagram: arrows from symbols to those that follow them directly. The thickest are in the table below."
    svg = flow_diagram(names, middle[top].tolist(), clear, label)
    text = (
        f"The {len(top)} most frequent symbols, those that come early on the left. An arrow is as thick as the number "
        "of sequences that go along it; it is drawn only if its interval does not reach zero."
    )
    header = ("from → to", "sequences", "from", "to")
    return Section("flow", "What follows what", (text,), (Figure("Flow of symbols", svg, header=header, rows=rows),))


def _ends(asker: SequenceAsker, key: str, top: Ints) -> list[tuple[str, Estimate]]:
    size = asker.universe.size + 1
    counts = [(_name(asker, [c]), asker.count(OneColumn(key, CodeSet.span(c, c + 1, size)), CONFIDENCE)) for c in top]
    return sorted(counts, key=lambda one: -one[1].value)


def _strings(asker: SequenceAsker) -> list[tuple[str, Estimate]]:
    """The most frequent strings of at least two symbols."""
    held, size = asker.sequences, asker.universe.size
    found = list[tuple[int, tuple[int, ...]]]()
    for order in range(2, _LONGEST + 1):
        if (size + 1) ** order > 2**61:
            break
        cells, number = np.unique(held.strings(size, order), return_counts=True)
        codes = cells[:, None] // (size + 1) ** np.arange(order)[::-1] % (size + 1)
        inside = (codes < size).all(axis=1)  # neither start nor end
        codes, number = codes[inside], number[inside]
        best = np.argsort(-number, kind="stable")[:SHOWN]
        found += zip(number[best].tolist(), map(tuple, codes[best].tolist()), strict=True)
    found.sort(key=lambda one: (-one[0], one[1]))
    shown = [(_name(asker, codes), _contains(asker, codes)) for _, codes in found[:SHOWN]]
    return sorted(shown, key=lambda one: -one[1].value)


def _paths(asker: SequenceAsker) -> list[tuple[str, Estimate]]:
    """The most frequent whole sequences; their counts are those of the released ones."""
    return [
        (f"{one[0]}, only" if len(one) == 1 else " > ".join(one), Estimate(n, n, n, None, NOISE_ONLY))
        for one, n in most_frequent(asker.opened.records, SHOWN)
    ]


def _measured(release: Release) -> Section:
    """How much was measured with noise, and how much follows from it."""
    import polars as pl

    s, groups = release.manifest.summary, release.groups
    scale = np.sqrt(2) * groups["rate_den"] / groups["rate_num"] / groups["parts"]
    shown = groups.select("question").with_columns(sd=scale).group_by("question", maintain_order=True)
    counts = shown.agg(number=pl.len(), sd=pl.col("sd").first())
    rows = [(name, f"{number:,}", f"{sd:,.2g}") for name, number, sd in counts.rows()]
    words = [f"Sequences were counted by their strings of up to {s['order']} symbols; what depends on more symbols is "
             f"not in the release. Strings of sequences of over {s['full_up_to']} symbols count less."]  # fmt: skip
    if s["order"] > 1 and not knows_order(release.manifest):
        words.append("No order of symbols was measured well: the sequences are few for this epsilon. "
                     "Which symbol follows which is known roughly at best.")  # fmt: skip
    if s["order"] == 1:
        words = ["No order of symbols was measured: the sequences are too few for this epsilon."]
    header = ("what was counted", "numbers", "standard deviation of the noise, in sequences")
    return Section(
        "measured", "What was measured directly", words, (Figure("Noisy numbers", header=header, rows=rows, open=True),)
    )


# ---- the flow diagram -------------------------------------------------------------------------------------------

WIDTH, HEIGHT, MOST = 1000.0, 440.0, 40
_ROWS = 3
_BOX, _TALL = 116.0, 30.0


@dataclass(frozen=True)
class Edge:
    """An arrow between the places of two symbols; -1 is the start, and the place after the last symbol the end."""

    first: int
    last: int
    count: Estimate


def flow_diagram(names: Sequence[str], middle: Sequence[float], edges: Sequence[Edge], label: str) -> Svg:
    """Symbols in the order of their mean relative place, a few below each other; the thickest arrows only."""
    places = _layout(middle)
    most = max((edge.count.value for edge in edges), default=1.0)
    called = {-1: "start", len(names): "end", **dict(enumerate(names))}
    parts = [
        _arrow(places[edge.first], places[edge.last], edge, most, f"{called[edge.first]} to {called[edge.last]}")
        for edge in reversed(edges[:MOST])
    ]
    for number, (x, y) in places.items():
        ends = number in (-1, len(names))
        box = tag("rect", x=x - _BOX / 2, y=y - _TALL / 2, width=_BOX, height=_TALL, rx=15 if ends else 4, cls="d0")
        name = shortened(called[number], 17)
        said = tag("title", called[number])
        parts.append(tag("g", said, box, text(name, x, y + 4, anchor="middle", cls="in"), cls="mark"))
    return picture(WIDTH, HEIGHT, label, *parts, cls="chart wide flow")


def _layout(middle: Sequence[float]) -> dict[int, tuple[float, float]]:
    order = sorted(range(len(middle)), key=lambda place: (middle[place], place))
    columns = [order[first : first + _ROWS] for first in range(0, len(order), _ROWS)]
    step = (WIDTH - _BOX - 20) / (len(columns) + 1)
    places = {-1: (_BOX / 2 + 10, HEIGHT / 2), len(middle): (WIDTH - _BOX / 2 - 10, HEIGHT / 2)}
    for number, column in enumerate(columns, 1):
        for row, place in enumerate(column):
            shift = 34.0 if number % 2 else -34.0
            places[place] = _BOX / 2 + 10 + number * step, HEIGHT * (row + 1) / (len(column) + 1) + shift
    return places


def _arrow(one: tuple[float, float], two: tuple[float, float], edge: Edge, most: float, words: str) -> Svg:
    thick = max(0.8, 9.0 * edge.count.value / most)
    said = tag("title", f"{words}: {edge.count.value:,.0f} sequences, {edge.count.low:,.0f} to {edge.count.high:,.0f}")
    if edge.first == edge.last:
        x, y = one[0], one[1] - _TALL / 2
        path = f"M{x - 16:.1f},{y:.1f}C{x - 30:.1f},{y - 34:.1f} {x + 30:.1f},{y - 34:.1f} {x + 16:.1f},{y:.1f}"
        return tag("g", said, tag("path", d=path, cls="flow", stroke_width=thick),
                   text(count_text(edge.count.value), x, y - 27, anchor="middle", cls="tick"), cls="mark")  # fmt: skip
    long = max(1.0, hypot(two[0] - one[0], two[1] - one[1]))
    bend = 0.16 * (1 if one[0] <= two[0] else 1.6)
    cx = (one[0] + two[0]) / 2 + (one[1] - two[1]) * bend
    cy = (one[1] + two[1]) / 2 + (two[0] - one[0]) * bend
    # the arrow ends where it meets the box of the symbol
    dx, dy = two[0] - cx, two[1] - cy
    part = min(1.0, min((_BOX / 2 + 3) / max(1e-6, abs(dx)), (_TALL / 2 + 3) / max(1e-6, abs(dy))))
    x, y = two[0] - dx * part, two[1] - dy * part
    size = 5 + thick / 2
    ux, uy = dx / max(1.0, hypot(dx, dy)), dy / max(1.0, hypot(dx, dy))
    path = f"M{one[0]:.1f},{one[1]:.1f}Q{cx:.1f},{cy:.1f} {x - ux * size:.1f},{y - uy * size:.1f}"
    head = (f"M{x:.1f},{y:.1f}L{x - ux * size - uy * size * 0.6:.1f},{y - uy * size + ux * size * 0.6:.1f}"
            f"L{x - ux * size + uy * size * 0.6:.1f},{y - uy * size - ux * size * 0.6:.1f}Z")  # fmt: skip
    shown = [tag("path", d=path, cls="flow", stroke_width=thick), tag("path", d=head, cls="flowhead")]
    if long > 150:
        middle = (one[0] + 2 * cx + two[0]) / 4, (one[1] + 2 * cy + two[1]) / 4
        shown.append(text(count_text(edge.count.value), middle[0], middle[1] - 3, anchor="middle", cls="tick"))
    return tag("g", said, *shown, cls="mark")
