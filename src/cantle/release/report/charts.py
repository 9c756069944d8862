"""Charts as SVG text: bars with error bars, vertical for numbers and horizontal for categories, stairs, and points.

Every name and category is escaped here; colours and fonts come from the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from cantle.release.answers.estimates import WITHOUT_CONFIDENCE

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
LABEL = 22
"""Letters of the longest label of a lying bar."""


@dataclass(frozen=True)
class Bar:
    """A group with its count, the ends of its interval, and, in an internal report, the private count beside it.

    `tick` is what an axis writes below the left edge of the bar, and `covers` what the interval covers.
    """

    label: str
    value: float
    low: float
    high: float
    tick: str = ""
    muted: bool = False
    private: float | None = None
    covers: str = ""

    @property
    def cls(self) -> str:
        return "bar muted" if self.muted else "bar"

    def words(self, whole: float) -> str:
        """The bar in a sentence."""
        said = f"{self.label}: {self.value:,.0f} ({share_text(self.value / whole if whole else 0)})"
        if self.high > self.low:
            kind = "from" if self.covers in WITHOUT_CONFIDENCE else "95 % interval"
            said += f", {kind} {self.low:,.0f} to {self.high:,.0f}"
        return said if self.private is None else f"{said}; private: {self.private:,.0f}"


def upright(bars: Sequence[Bar], whole: float, label: str, height: int = 150) -> Svg:
    """Vertical bars side by side over an axis of values."""
    left, right, top, bottom = 34.0, 6.0, 8.0, 22.0
    most = _most(bars)
    room, tall = WIDTH - left - right, height - top - bottom
    wide = room / max(1, len(bars))
    parts = [*_rows(most, whole, left, top, tall)]

    def column(x: float, width: float, value: float, cls: str) -> Svg:
        y = top + tall * (1 - min(1.0, value / most))
        return tag("rect", x=x, y=y, width=width, height=top + tall - y, cls=cls)

    for place, bar in enumerate(bars):
        x, gap = left + place * wide, 0.12 * wide
        inside = [tag("title", bar.words(whole))]
        if bar.private is not None:
            inside.append(column(x + gap / 2, wide - gap, bar.private, "private"))
        inset = gap if bar.private is None else 2 * gap
        inside.append(column(x + inset / 2, wide - inset, bar.value, bar.cls))
        low, high = (top + tall * (1 - min(1.0, value / most)) for value in (bar.low, bar.high))
        parts.append(tag("g", *inside, *_whisker(bar, x + wide / 2, low, high, min(3.0, 0.25 * wide)), cls="mark"))
    parts.append(line(left, top + tall, WIDTH - right, top + tall, "axis"))
    parts += _ticks(bars, left, wide, height - 7)
    return picture(WIDTH, height, label, *parts)


def lying(bars: Sequence[Bar], whole: float, label: str) -> Svg:
    """Horizontal bars, one row per category: its name, its bar, its share."""
    row, top = 17.0, 2.0
    names = min(152.0, max((len(shortened(bar.label, LABEL)) for bar in bars), default=0) * _LETTER + 8)
    left, right = names, 44.0
    most, room = _most(bars), WIDTH - names - right
    parts = []
    for place, bar in enumerate(bars):
        y = top + place * row
        end, low, high = (left + room * min(1.0, value / most) for value in (bar.value, bar.low, bar.high))
        inside = [tag("title", bar.words(whole)), text(shortened(bar.label, LABEL), left - 5, y + 11.5, anchor="end")]
        thick = row - 5
        if bar.private is not None:
            raw = room * min(1.0, bar.private / most)
            inside.append(tag("rect", x=left, y=y + 1, width=raw, height=row - 3, cls="private"))
            thick = row - 9
        wide, middle = max(0.5, end - left), y + (row - 1) / 2
        inside += [
            tag("rect", x=left, y=middle - thick / 2, width=wide, height=thick, cls=bar.cls),
            *_whisker(bar, middle, low, high, 3, lying=True),
            text(share_text(bar.value / whole if whole else 0), WIDTH - 2, y + 11.5, cls="value", anchor="end"),
        ]
        parts.append(tag("g", *inside, cls="mark"))
    parts.append(line(left, top - 2, left, top + row * len(bars), "axis"))
    return picture(WIDTH, top + row * len(bars) + 2, label, *parts)


def _whisker(bar: Bar, middle: float, low: float, high: float, cap: float, *, lying: bool = False) -> list[Svg]:
    """The interval of a bar, as a line between two caps; nothing if it has no width."""
    ends = [(middle, low, middle, high), *((middle - cap, end, middle + cap, end) for end in (low, high))]
    if bar.high <= bar.low:
        return []
    return [line(*((y1, x1, y2, x2) if lying else (x1, y1, x2, y2)), "whisker") for x1, y1, x2, y2 in ends]


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
            text(f"{100 * at:.3g} %", left - 4, y + 3.5, anchor="end", cls="tick"),
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


@dataclass(frozen=True)
class LogLog:
    """Two logarithmic axes from 1 on, with the ends of both, the size of the picture, and its left and lower margin."""

    most_x: float
    most_y: float
    width: float
    height: float
    left: float
    bottom: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point; values below 1 are at 1."""
        wide, tall = self.width - self.left - 14, self.height - self.bottom - 10
        across, up = log10(max(1.0, x)) / log10(self.most_x), log10(max(1.0, y)) / log10(self.most_y)
        return self.left + wide * across, 10 + tall * (1 - up)

    def axes(self, across: str, up: str) -> list[Svg]:
        """Lines at powers of ten, with their labels, and what the axes show."""
        (left, low), (right, top) = self.at(1, 1), self.at(self.most_x, self.most_y)
        parts, middle = list[Svg](), (top + low) / 2
        for power in range(floor(log10(self.most_x)) + 1):
            x, _ = self.at(10**power, 1)
            tick = text(count_text(10**power), x, low + 16, anchor="middle", cls="tick")
            parts += [line(x, top, x, low, "grid"), tick]
        for power in range(floor(log10(self.most_y)) + 1):
            _, y = self.at(1, 10**power)
            tick = text(count_text(10**power), left - 6, y + 4, anchor="end", cls="tick")
            parts += [line(left, y, right, y, "grid"), tick]
        turned = text(up, 14, middle, anchor="middle", transform=f"rotate(-90 14 {middle:.1f})")
        return [*parts, text(across, (left + right) / 2, self.height - 6, anchor="middle"), turned]
