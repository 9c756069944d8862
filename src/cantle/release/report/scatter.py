"""Points on two logarithmic axes of the same scale, with the line on which both are equal."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10

from cantle.release.report.svg import Svg, count_text, line, picture, tag, text

_SIZE, _LEFT, _BOTTOM = 380.0, 66.0, 42.0


def error_chart(points: Sequence[tuple[float, float, str, bool]], across: str, up: str, label: str) -> Svg:
    """A chart of points (x, y, description, whether the point is as expected); values below 1 are drawn at 1."""
    power = max(1, ceil(log10(max([10.0, *(max(x, y) for x, y, _, _ in points)]))))
    room = _SIZE - _LEFT - 12

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + room * log10(max(1.0, x)) / power, 12 + room * (1 - log10(max(1.0, y)) / power)

    parts = []
    for one in range(power + 1):
        x, y = at(10**one, 10**one)
        parts += [
            line(x, 12, x, 12 + room, "grid"),
            line(_LEFT, y, _LEFT + room, y, "grid"),
            text(count_text(10**one), x, 12 + room + 15, anchor="middle", cls="tick"),
            text(count_text(10**one), _LEFT - 6, y + 4, anchor="end", cls="tick"),
        ]
    parts.append(line(*at(1, 1), *at(10**power, 10**power), "axis"))
    for x, y, words, good in points:
        cx, cy = at(x, y)
        parts.append(tag("circle", tag("title", words), cx=cx, cy=cy, r=3, cls="dot" if good else "dot out"))
    middle = 12 + room / 2
    parts += [
        text(across, _LEFT + room / 2, _SIZE - 4, anchor="middle"),
        text(up, 16, middle, anchor="middle", transform=f"rotate(-90 16 {middle:.1f})"),
    ]
    return picture(_SIZE, _SIZE, label, *parts)
