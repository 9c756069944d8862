"""Random counting questions about a table, with their true and their released answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.postprocess.accuracy import Accuracy
from cantle.postprocess.counts import Dice, public_dice
from cantle.report.table_view import TableView
from cantle.schema.domain import Attribute, Steps
from cantle.schema.values import Codes, Mask

QUESTIONS = 200
_TRIES = 40
_LEAST, _MOST = 0.02, 0.5  # shares of the released records


@dataclass(frozen=True)
class Asked:
    """A question, its answers in records, and the error that the release says 95 % of such questions stay below."""

    text: str
    columns: int
    true: int
    released: int
    predicted: int | None

    @property
    def error(self) -> int:
        return abs(self.true - self.released)

    def to_dict(self) -> dict[str, object]:
        return vars(self) | {"error": self.error}


def ask(view: TableView, raw: Sequence[Codes], accuracy: Accuracy | None, seed: int = 0) -> list[Asked]:
    """Questions about one column, and as many about two or three; each about 2 % to 50 % of the released records."""
    dice, made = public_dice(seed), []
    for number in range(QUESTIONS):
        width = 1 if number < QUESTIONS // 2 else 2 + number % 2
        if width > len(view.attributes):
            continue
        predicted = predicted_error(accuracy, width)
        for _ in range(_TRIES):
            found = _draw(view, raw, width, dice)
            if found is not None:
                made.append(Asked(*found, predicted))
                break
    return made


def _draw(view: TableView, raw: Sequence[Codes], width: int, dice: Dice) -> tuple[str, int, int, int] | None:
    """A question about so many columns, or None if it is about too few or too many records."""
    places = dice.choice(len(view.attributes), width, replace=False).tolist()
    ours, theirs, words = np.ones(view.records, dtype=bool), np.ones(len(raw[0]), dtype=bool), []
    for place in places:
        lo, hi = _span(view.attributes[place], view.codes[place], dice)
        ours &= _within(view.codes[place], lo, hi)
        theirs &= _within(raw[place], lo, hi)
        words.append(f"{view.attributes[place].name} {view.attributes[place].describe(lo, hi)}")
    if not _LEAST <= ours.mean() <= _MOST:
        return None
    return " and ".join(words), width, int(theirs.sum()), int(ours.sum())


def _span(attribute: Attribute, codes: Codes, dice: Dice) -> tuple[int, int]:
    """An interval between two released values of a number or date, or one value of a category."""
    one, two = (int(codes[place]) for place in dice.integers(0, len(codes), 2))
    if isinstance(attribute.scale, Steps) and max(one, two) < attribute.bins:
        return min(one, two), max(one, two) + 1
    return one, one + 1


def _within(codes: Codes, lo: int, hi: int) -> Mask:
    return (codes >= lo) & (codes < hi)


def predicted_error(accuracy: Accuracy | None, width: int) -> int | None:
    """The error that the release says 95 % of questions about so many columns or items stay below."""
    if accuracy is None or not accuracy.bought:
        return None
    measured = accuracy.one_column if width == 1 else accuracy.more_columns
    return None if measured is None else max(0, measured.records)
