"""Random counting questions about a table, with their true and their released answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from cantle.drawing.counts import Dice, public_dice
from cantle.release.answers.asking import Asker
from cantle.release.answers.table_answers import TableAsker
from cantle.release.report.pairs import Floats
from cantle.release.report.tables import TableView
from cantle.schema.code_sets import CodeSet, OneColumn, Question, join
from cantle.schema.domain import Attribute, Plane, Steps
from cantle.schema.values import Codes

QUESTIONS = 200
PER_PAIR = 16
CONFIDENCE = 0.95
_TRIES = 40
_LEAST, _MOST = 0.02, 0.5  # shares of the released records


@dataclass(frozen=True)
class Asked:
    """A question, its true answer in records, and the release's own estimate with its 95 % interval.

    `covers` says what the interval covers (cantle.release.answers.estimates). `related` questions are about two columns
    that are among those most strongly connected in the private data.
    """

    text: str
    columns: int
    true: int
    released: float
    low: float
    high: float
    covers: str
    related: bool = False

    @property
    def error(self) -> float:
        return abs(self.true - self.released)

    @property
    def predicted(self) -> float:
        """The half width of the interval."""
        return (self.high - self.low) / 2

    @property
    def inside(self) -> bool:
        return self.low <= self.true <= self.high

    def to_dict(self) -> dict[str, object]:
        return vars(self) | {"error": self.error, "predicted": self.predicted, "inside": self.inside}


def ask(view: TableView, raw: Sequence[Codes], asker: TableAsker, seed: int = 0) -> list[Asked]:
    """Questions about one column, and as many about two or three; each holds for 2 to 50 % of the released records."""
    dice, answers = public_dice(seed), []
    for number in range(QUESTIONS):
        width = 1 if number < QUESTIONS // 2 else 2 + number % 2
        if width > len(view.attributes):
            continue
        for _ in range(_TRIES):
            spans = _draw(view, width, dice)
            if _LEAST <= _holding(view.codes, spans) / view.records <= _MOST:
                answers.append(_answered(view, raw, asker, spans))
                break
    return answers


def ask_related(
    view: TableView, raw: Sequence[Codes], asker: TableAsker, strength: Floats, seed: int = 0
) -> list[Asked]:
    """16 questions about each of the tenth of pairs of columns that are most strongly connected in the private data, of
    any share; `strength` is that of the connections."""
    dice, answers = public_dice(seed), []
    pairs = sorted(combinations(range(len(strength)), 2), key=lambda pair: -strength[pair])
    for pair in pairs[: -(-len(pairs) // 10)]:
        for _ in range(PER_PAIR):
            spans = {place: _span(view.attributes[place], raw[place], dice) for place in pair}
            answers.append(replace(_answered(view, raw, asker, spans), related=True))
    return answers


def answer(text: str, columns: int, true: int, question: Question, asker: Asker) -> Asked:
    """A question with its true answer and the estimate of the release."""
    estimate = asker.count(question, CONFIDENCE)
    return Asked(text, columns, true, estimate.value, estimate.low, estimate.high, estimate.covers)


Spans = dict[int, tuple[int, int]]
"""For some columns, by their position, the first code of a span and the code after its last."""


def _draw(view: TableView, width: int, dice: Dice) -> Spans:
    places = dice.choice(len(view.attributes), width, replace=False).tolist()
    return {place: _span(view.attributes[place], view.codes[place], dice) for place in places}


def _holding(codes: Sequence[Codes], spans: Spans) -> int:
    """The number of records whose codes are within all spans."""
    inside = [(codes[place] >= lo) & (codes[place] < hi) for place, (lo, hi) in spans.items()]
    return int(np.logical_and.reduce(inside).sum())


def _answered(view: TableView, raw: Sequence[Codes], asker: TableAsker, spans: Spans) -> Asked:
    words, parts = [], []
    for place, (lo, hi) in spans.items():
        attribute = view.attributes[place]
        words.append(f"{attribute.name} {attribute.describe(lo, hi)}")
        parts.append(OneColumn(attribute.name, CodeSet.span(lo, hi, attribute.size)))
    return answer(" and ".join(words), len(spans), _holding(raw, spans), join(True, parts), asker)


def _span(attribute: Attribute, codes: Codes, dice: Dice) -> tuple[int, int]:
    """An interval between two released values of a number or date, or one value of a category."""
    one, two = (int(codes[place]) for place in dice.integers(0, len(codes), 2))
    if isinstance(attribute.scale, Plane) and max(one, two) < attribute.bins:
        width = (one ^ two).bit_length()  # the smallest block around both
        return one >> width << width, (one >> width) + 1 << width
    if isinstance(attribute.scale, Steps) and max(one, two) < attribute.bins:
        return min(one, two), max(one, two) + 1
    return one, one + 1
