"""Charts as SVG text: bars with error bars, vertical for numbers and horizontal for categories, stairs, and points.

Every name and category is escaped here; colours and fonts come from the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10

Value = str | int | float | None


class Svg(str):
    """Text that is safe to put into a page: made by `tag` alone."""

    __slots__ = ()

    def __html__(self) -> str:
        """The text itself: templates do not escape an object that has this method."""
        return str(self)


def tag(name: str, *children: str, **attributes: Value) -> Svg:
    """An element; plain texts among its children are escaped. `cls` means class; underscores in names become hyphens.

    >>> tag("text", "a < b", x=1.26, cls="label", text_anchor="end")
    '<text x="1.3" class="label" text-anchor="end">a &lt; b</text>'
    """
    names = {"cls": "class", "view_box": "viewBox"}
    given = [
        f' {names.get(key, key.replace("_", "-"))}="{_text(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = "".join(child if isinstance(child, Svg) else escape(child, quote=False) for child in children)
    return Svg(f"<{name}{''.join(given)}>{inside}</{name}>" if inside else f"<{name}{''.join(given)}/>")


def _text(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0") if abs(value) >= 1 else f"{value:.3g}"
    return escape(str(value), quote=True)


def picture(
    width: float, height: float, label: str, *children: str, cls: str = "chart", fixed: bool = False, **more: Value
) -> Svg:
    """A picture with a text for people who cannot see it. With `fixed` its size does not depend on the page's width."""
    box = f"0 0 {_text(float(width))} {_text(float(height))}"
    size: dict[str, Value] = {"width": round(width), "height": round(height)} if fixed else {}
    return tag("svg", *children, view_box=box, role="img", aria_label=label, cls=cls, **size, **more)


def text(words: str, x: float, y: float, *, cls: str = "label", anchor: str | None = None, **more: Value) -> Svg:
    return tag("text", words, x=x, y=y, cls=cls, text_anchor=anchor, **more)


def line(x1: float, y1: float, x2: float, y2: float, cls: str) -> Svg:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, cls=cls)


def shortened(words: str, most: int) -> str:
    """The text, cut to at most `most` letters.

    >>> shortened("United-States", 8)
    'United-…'
    """
    return words if len(words) <= most else words[: most - 1] + "…"


def count_text(value: float) -> str:
    """A number of records in few letters.

    >>> count_text(950), count_text(45222), count_text(1_234_567)
    ('950', '45.2k', '1.23M')
    """
    for size, letter in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e6 if letter == 'M' else 1e3):.3g}{letter}"
    return f"{value:,.0f}"


def share_text(share: float) -> str:
    """A share in percent.

    >>> share_text(0.123), share_text(0.0041), share_text(0), share_text(0.00002)
    ('12 %', '0.4 %', '0 %', '<0.1 %')
    """
    if 0 < share < 0.001:
        return "<0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{100 * share:.0f} %"


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
