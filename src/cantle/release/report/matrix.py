"""A heat map of pairs: the lower half of a square, darker where the value is larger."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cantle.release.report.charts import Svg, line, picture, shortened, tag, text
from cantle.release.report.pairs import Floats

_LETTER = 5.8


def heat_map(
    names: Sequence[str],
    values: Floats,
    label: str,
    *,
    words: Callable[[int, int], str],
    firm: Callable[[int, int], bool] = lambda a, b: True,  # noqa: ARG005
    scale: float = 1.0,
    signed: bool = False,
    numbers: bool = True,
) -> Svg:
    """One cell per pair of names; `words` describes a pair, and pairs for which `firm` is false are hatched.

    `scale` is the value of the darkest colour. With `signed`, values below 0 have another colour. With `numbers`, cells
    show their values.
    """
    size = len(names)
    cell = max(15.0, min(40.0, 560.0 / max(1, size)))
    longest = max((len(shortened(name, 18)) for name in names), default=1) * _LETTER
    left, bottom = longest + 8, longest * 0.8 + 16
    parts = []
    for a in range(1, size):
        y = (a - 1) * cell
        parts.append(text(shortened(names[a], 18), left - 6, y + cell / 2 + 4, anchor="end"))
        for b in range(a):
            parts.append(
                _cell(
                    left + b * cell,
                    y,
                    cell,
                    float(values[a, b]) / (scale or 1.0),
                    words(a, b),
                    firm(a, b),
                    signed,
                    numbers,
                )
            )
    for b in range(size - 1):
        x, y = left + (b + 0.5) * cell + 4, (size - 1) * cell + 10
        turn = f"rotate(-50 {x:.1f} {y:.1f})"
        parts.append(text(shortened(names[b], 18), x, y, anchor="end", transform=turn))
    width = left + max(1, size - 1) * cell + 6
    return picture(width, (size - 1) * cell + bottom, label, *parts, cls="chart matrix", fixed=True)


def _cell(x: float, y: float, cell: float, value: float, words: str, firm: bool, signed: bool, numbers: bool) -> Svg:
    strength = min(1.0, abs(value))
    inside = [tag("title", words), tag("rect", x=x, y=y, width=cell - 1.5, height=cell - 1.5, cls="under", rx=2)]
    colour = "less" if signed and value < 0 else "heat"
    inside.append(
        tag("rect", x=x, y=y, width=cell - 1.5, height=cell - 1.5, cls=colour, rx=2, fill_opacity=round(strength, 3))
    )
    if not firm:
        inside += [line(x + 3, y + cell - 5, x + cell - 5, y + 3, "loose")]
    if numbers and cell >= 24:
        shown = f"{value:.2f}".replace("0.", ".") if abs(value) < 0.995 else "1"
        if strength >= 0.02:
            inside.append(text(shown, x + (cell - 1.5) / 2, y + cell / 2 + 3, anchor="middle",
                               cls="on" if strength > 0.55 else "in"))  # fmt: skip
    return tag("g", *inside, cls="mark")
