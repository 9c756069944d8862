"""Charts of distributions: bars with error bars, vertical for numbers and horizontal for categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cantle.release.report.svg import Svg, line, picture, share_text, shortened, tag, text

WIDTH = 340
_LETTER = 6.3  # width of a letter of a label, roughly


@dataclass(frozen=True)
class Bar:
    """A group with its count, the ends of its interval, and, in an internal report, the private count beside it.

    `tick` is what an axis writes below the left edge of the bar. `sure` says that it is a 95 % interval.
    """

    label: str
    value: float
    low: float
    high: float
    tick: str = ""
    muted: bool = False
    private: float | None = None
    sure: bool = True

    def words(self, whole: float) -> str:
        """The bar in a sentence."""
        said = f"{self.label}: {self.value:,.0f} ({share_text(self.value / whole if whole else 0)})"
        if self.high > self.low:
            said += f", {'95 % interval' if self.sure else 'from'} {self.low:,.0f} to {self.high:,.0f}"
        return said if self.private is None else f"{said}; private: {self.private:,.0f}"


def upright(bars: Sequence[Bar], whole: float, label: str, height: int = 150) -> Svg:
    """Vertical bars side by side over an axis of values."""
    left, right, top, bottom = 34.0, 6.0, 8.0, 22.0
    most = _most(bars)
    room, tall = WIDTH - left - right, height - top - bottom
    wide = room / max(1, len(bars))
    parts = [*_rows(most, whole, left, top, tall)]
    for place, bar in enumerate(bars):
        x = left + place * wide
        y, low, high = (top + tall * (1 - min(1.0, value / most)) for value in (bar.value, bar.low, bar.high))
        gap = 0.12 * wide
        inside = [tag("title", bar.words(whole))]
        if bar.private is not None:
            raw = top + tall * (1 - min(1.0, bar.private / most))
            inside.append(tag("rect", x=x + gap / 2, y=raw, width=wide - gap, height=top + tall - raw, cls="private"))
        inset = gap if bar.private is None else 2 * gap
        inside.append(
            tag(
                "rect",
                x=x + inset / 2,
                y=y,
                width=wide - inset,
                height=top + tall - y,
                cls="bar muted" if bar.muted else "bar",
            )
        )
        if bar.high > bar.low:
            middle, cap = x + wide / 2, min(3.0, 0.25 * wide)
            inside += [
                line(middle, low, middle, high, "whisker"),
                line(middle - cap, high, middle + cap, high, "whisker"),
                line(middle - cap, low, middle + cap, low, "whisker"),
            ]
        parts.append(tag("g", *inside, cls="mark"))
    parts.append(line(left, top + tall, WIDTH - right, top + tall, "axis"))
    parts += _ticks(bars, left, wide, height - 7)
    return picture(WIDTH, height, label, *parts)


def lying(bars: Sequence[Bar], whole: float, label: str) -> Svg:
    """Horizontal bars, one row per category: its name, its bar, its share."""
    row, top = 17.0, 2.0
    names = min(152.0, max((len(shortened(bar.label, 22)) for bar in bars), default=0) * _LETTER + 8)
    left, right = names, 44.0
    most, room = _most(bars), WIDTH - names - right
    parts = []
    for place, bar in enumerate(bars):
        y = top + place * row
        end, low, high = (left + room * min(1.0, value / most) for value in (bar.value, bar.low, bar.high))
        inside = [
            tag("title", bar.words(whole)),
            text(shortened(bar.label, 22), left - 5, y + 11.5, anchor="end"),
        ]
        thick = row - 5
        if bar.private is not None:
            raw = left + room * min(1.0, bar.private / most)
            inside.append(tag("rect", x=left, y=y + 1, width=raw - left, height=row - 3, cls="private"))
            thick = row - 9
        shown = tag(
            "rect",
            x=left,
            y=y + (row - 1 - thick) / 2,
            width=max(0.5, end - left),
            height=thick,
            cls="bar muted" if bar.muted else "bar",
        )
        inside.append(shown)
        middle = y + (row - 1) / 2
        if bar.high > bar.low:
            inside += [
                line(low, middle, high, middle, "whisker"),
                line(low, middle - 3, low, middle + 3, "whisker"),
                line(high, middle - 3, high, middle + 3, "whisker"),
            ]
        inside.append(
            text(share_text(bar.value / whole if whole else 0), WIDTH - 2, y + 11.5, cls="value", anchor="end")
        )
        parts.append(tag("g", *inside, cls="mark"))
    parts.append(line(left, top - 2, left, top + row * len(bars), "axis"))
    return picture(WIDTH, top + row * len(bars) + 2, label, *parts)


def _most(bars: Sequence[Bar]) -> float:
    """The count at the end of the scale."""
    return max([1.0, *(max(bar.value, bar.high, bar.private or 0) for bar in bars)])


def _rows(most: float, whole: float, left: float, top: float, tall: float) -> list[Svg]:
    """Lines at round shares, with their labels."""
    share = most / whole if whole else 1.0
    step = next((s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if share / s <= 4), 0.5)
    parts, at = [], step
    while at <= share + 1e-9:
        y = top + tall * (1 - at / share)
        parts += [
            line(left, y, WIDTH - 6, y, "grid"),
            text(share_text(at), left - 4, y + 3.5, anchor="end", cls="tick"),
        ]
        at += step
    return parts


def _ticks(bars: Sequence[Bar], left: float, wide: float, y: float) -> list[Svg]:
    """Labels of the axis, as many as there is room for."""
    named = [place for place, bar in enumerate(bars) if bar.tick]
    longest = max((len(bars[place].tick) for place in named), default=1)
    every = max(1, -(-int(longest * _LETTER + 10) // max(1, int(wide))))
    parts, free = [], left - 20
    for place in named:
        bar, middle = bars[place], bars[place].tick == bars[place].label
        x = left + (place + 0.5) * wide if middle else left + place * wide
        size = len(bar.tick) * _LETTER
        if (place % every == 0 or bar.muted) and x - size / 2 >= free and x + size / 2 <= WIDTH + 4:
            parts.append(text(bar.tick, min(x, WIDTH - size / 2), y, anchor="middle", cls="tick"))
            free = x + size / 2 + 6
    return parts


def stacked(parts: Sequence[tuple[str, float]], label: str) -> Svg:
    """Shares of a whole as one bar of several colours; the legend is a list beside it."""
    wide, tall, x = 700.0, 34.0, 0.0
    whole = sum(part for _, part in parts) or 1.0
    bars = []
    for number, (name, part) in enumerate(parts):
        size = wide * part / whole
        inside = [
            tag("title", f"{name}: {share_text(part / whole)}"),
            tag("rect", x=x, y=0, width=max(0.5, size - 1.5), height=tall, cls=f"c{number % 8}", rx=2),
        ]
        if size > 40:
            inside.append(text(share_text(part / whole), x + size / 2, tall / 2 + 4, anchor="middle", cls="on"))
        bars.append(tag("g", *inside, cls="mark"))
        x += size
    return picture(wide, tall, label, *bars, cls="chart stacked", preserveAspectRatio="none")


def steps(spent: Sequence[float], cap: float | None, label: str, mine: int | None = None) -> Svg:
    """What a data set has spent after each release, as a stair up to its cap."""
    left, right, top, bottom, height = 40.0, 12.0, 12.0, 26.0, 170.0
    wide, room, tall = 700.0, 700.0 - left - right, height - top - bottom
    most = max([*spent, cap or 0.0]) * 1.08 or 1.0
    place = [left + room * n / max(1, len(spent)) for n in range(len(spent) + 1)]

    def at(value: float) -> float:
        return top + tall * (1 - value / most)

    path = f"M{left:.1f},{at(0):.1f}"
    for n, value in enumerate(spent):
        path += f"V{at(value):.1f}H{place[n + 1]:.1f}"
    parts = [
        line(left, at(0), wide - right, at(0), "axis"),
        text("0", left - 5, at(0) + 4, anchor="end", cls="tick"),
        tag("path", d=f"{path}V{at(0):.1f}Z", cls="area"),
        tag("path", d=path, cls="curve"),
    ]
    for n, value in enumerate(spent):
        middle = (place[n] + place[n + 1]) / 2
        if len(spent) <= 30:
            parts.append(text(f"{value:.3g}", middle, at(value) - 5, anchor="middle", cls="value"))
        if len(spent) <= 30 or n % 10 == 9:
            name = "this one" if mine == n + 1 and len(spent) <= 8 else str(n + 1)
            parts.append(text(name, middle, height - 9, anchor="middle", cls="tick"))
    if cap is not None:
        parts += [
            line(left, at(cap), wide - right, at(cap), "cap"),
            text(f"cap {cap:.4g}", left + 4, at(cap) - 4, cls="value"),
        ]
    return picture(wide, height, label, *parts, cls="chart wide")
