"""Counts as small bars of text, for `cantle show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cantle.release.words import percent

WIDTH = 24
"""Characters of the longest bar."""


def bars(labels: Sequence[str], counts: Sequence[int], whole: int | None = None) -> Iterator[str]:
    """One line per label: a bar, and its share of the whole in percent.

    >>> print(*bars(["no", "yes"], [30, 10]), sep="\\n")
    no   ████████████████████████ 75 %
    yes  ████████                 25 %
    """
    most, whole, wide = max(counts, default=0), whole or sum(counts), min(40, max(map(len, labels), default=0))
    for label, count in zip(labels, counts, strict=True):
        bar = "█" * round(WIDTH * count / most) if most else ""
        shown = label if len(label) <= wide else f"{label[: wide - 1]}…"
        yield f"{shown:{wide}}  {bar:{WIDTH}} {percent(count, whole)}"
