"""A flow diagram: symbols from left to right, with arrows to those that follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from cantle.release.answers.estimates import Estimate
from cantle.release.report.charts import Svg, count_text, picture, shortened, tag, text

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
