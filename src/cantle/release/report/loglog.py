"""A degree distribution on two logarithmic axes, with the band in which noise may move it."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from cantle.release.report.svg import Svg, count_text, line, picture, tag, text

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 700.0, 360.0, 72.0, 40.0


def degree_chart(
    degrees: Sequence[int], nodes: Sequence[float], low: Sequence[float], high: Sequence[float], label: str,
    private: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Svg:  # fmt: skip
    """The number of nodes of degree at least k for each degree k from 1, with its error band.

    `private`, in an internal report, holds degrees and numbers of nodes of the private graph.
    """
    most_x, most_y = max([10, *degrees]), max([10.0, *nodes, *high])
    wide, tall = _WIDTH - _LEFT - 14, _HEIGHT - _BOTTOM - 10

    def at(k: float, n: float) -> tuple[float, float]:
        x = _LEFT + wide * log10(max(1.0, k)) / log10(most_x)
        return x, 10 + tall * (1 - log10(max(1.0, n)) / log10(most_y))

    parts = []
    for power in range(floor(log10(most_x)) + 1):
        x, _ = at(10**power, 1)
        parts += [
            line(x, 10, x, 10 + tall, "grid"),
            text(count_text(10**power), x, 10 + tall + 16, anchor="middle", cls="tick"),
        ]
    for power in range(floor(log10(most_y)) + 1):
        _, y = at(1, 10**power)
        parts += [
            line(_LEFT, y, _WIDTH - 14, y, "grid"),
            text(count_text(10**power), _LEFT - 6, y + 4, anchor="end", cls="tick"),
        ]
    upper = [at(k, n) for k, n in zip(degrees, high, strict=True)]
    lower = [at(k, n) for k, n in zip(degrees, low, strict=True)]
    parts.append(tag("path", d=_path([*upper, *reversed(lower)]) + "Z", cls="band"))
    if private is not None:
        parts.append(tag("path", d=_path([at(k, n) for k, n in zip(*private, strict=True)]), cls="raw"))
    parts.append(tag("path", d=_path([at(k, n) for k, n in zip(degrees, nodes, strict=True)]), cls="curve"))
    parts += [line(_LEFT, 10 + tall, _WIDTH - 14, 10 + tall, "axis"), line(_LEFT, 10, _LEFT, 10 + tall, "axis"),
              text("degree k", _LEFT + wide / 2, _HEIGHT - 6, anchor="middle"),
              text("nodes of degree k or more", 14, 10 + tall / 2, anchor="middle",
                   transform=f"rotate(-90 14 {10 + tall / 2:.1f})")]  # fmt: skip
    return picture(_WIDTH, _HEIGHT, label, *parts, cls="chart wide")


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) if points else ""
