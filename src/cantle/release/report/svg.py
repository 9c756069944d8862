"""Pictures as SVG text. Every name and category is escaped here; colours and fonts come from the page's style sheet."""

from __future__ import annotations

from html import escape

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
