"""How wide the interval of a counting question about a table is, from the three measured levels of error.

A level is stated for a large group. A question gets the part of it that its public scale says (question_scale.py), by
the level of its class: one column, columns that were all measured together, or columns that were not. The measured
level is noisy and may be too small; if the noise in the counts behind the question is larger, the interval covers that
noise, as far as the measurement leaves room for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from cantle.postprocess.accuracy import Accuracy, PairError, QuestionError
from cantle.postprocess.measured_pairs import Pair
from cantle.postprocess.question_scale import LARGE, largest_spread, reference, scale_of
from cantle.release.accuracy import DOUBT, MOST_DOUBT, noise_scale
from cantle.release.estimates import rescaled
from cantle.schema.code_sets import CodeSet, Key, OneColumn, Question, columns_of, hull, is_box, negated
from cantle.schema.domain import Attribute, Steps
from cantle.trusted.arrays import Codes, Floats

BY_NOISE = 1.17
"""How much wider than its noise the interval of an unmeasured column is, for the error of drawing values in cells."""


@dataclass(eq=False)
class Widths:
    """The error of questions about one release of a table.

    `share` gives the released share of a question, and `noise` the margin of the noise behind it.
    """

    accuracy: Accuracy | None
    records: float
    attributes: dict[str, Attribute]
    codes: Callable[[Key], Codes]
    share: Callable[[Question], float]
    noise: Callable[[Question, float], float]
    together: Callable[[], set[Pair]]

    def __post_init__(self) -> None:
        self._spreads = dict[Key, float]()

    @cached_property
    def _together(self) -> set[Pair]:
        return self.together()

    def are_together(self, columns: Sequence[Key]) -> bool:
        """Whether every pair of these columns was measured together."""
        return all(frozenset(map(str, pair)) in self._together for pair in combinations(columns, 2))

    def errors(self, columns: Sequence[Key]) -> Sequence[QuestionError | PairError]:
        """The measured numbers of the class of questions about these columns, the largest of which counts."""
        if self.accuracy is None:
            return []
        if len(columns) > 1:
            return self.accuracy.of_pairs(together=self.are_together(columns))
        return [] if self.accuracy.one_column is None else [self.accuracy.one_column]

    def level(self, columns: Sequence[Key], confidence: float, doubt: float = DOUBT) -> float | None:
        """By how many records a question about these columns of scale LARGE is off at most; None if not measured.

        `doubt` scales of its noise are added to the measured number.
        """
        numbers = [max(0, one.records) + doubt * noise_scale(one) for one in self.errors(columns)]
        return max(numbers) * rescaled(confidence) if numbers else None

    def margin(self, question: Question, confidence: float) -> float | None:
        """The half width of the interval of a counting question; None if its class was not measured.

        The error is larger than its lower bound here in one case of ten, and than its upper bound in one of 400.
        """
        columns = columns_of(question)
        least, most = (self.level(columns, confidence, doubt) for doubt in (DOUBT, MOST_DOUBT))
        if least is None or most is None:
            return None
        part = self._scale(question) / self._stated(columns)
        return min(most * part, max(least * part, self.noise(question, confidence)))

    def _stated(self, columns: Sequence[Key]) -> float:
        """The scale for which the level of these columns is stated."""
        pairs = combinations(columns, 2)
        return min((reference(self._spread(one), self._spread(other)) for one, other in pairs), default=LARGE)

    def _spread(self, column: Key) -> float:
        if column not in self._spreads:
            times = np.unique(self.codes(column), return_counts=True)[1]
            ordered = isinstance(self.attributes[str(column)].scale, Steps)
            self._spreads[column] = largest_spread(times, ordered=ordered)
        return self._spreads[column]

    def _scale(self, question: Question) -> float:
        """The scale of a question. One that is no box, and not the opposite of a box, has at most the scales of its
        parts together, because it is off by at most as much as they are."""
        whole = np.array(self.share(question))
        parts = [question] if isinstance(question, OneColumn) else list(question.parts)
        if is_box(question) or is_box(negated(question)):
            return float(scale_of(whole, [np.array(self.share(one)) for one in parts]))
        own = float(scale_of(whole, [whole] * len(columns_of(question))))
        return min(1.0, max(own, sum(self._scale(part) for part in parts)))

    def note(self, columns: Sequence[Key]) -> str:
        """What the interval of a question about these columns allows for."""
        apart = [pair for pair in combinations(columns, 2) if not self.are_together(pair)]
        if not apart or self.accuracy is None or self.accuracy.together is None:
            return ""
        one, other = apart[0]
        return (
            f"{one} and {other} were not measured together, so the interval allows for a connection as strong as any "
            "that this release missed"
        )

    # ---- limits -------------------------------------------------------------------------------------------

    def alone(self, question: OneColumn, confidence: float) -> float:
        """How far the count of a condition on one column is off at most."""
        measured = self.level([question.key], confidence)
        return BY_NOISE * self.noise(question, confidence) if measured is None else measured

    def limits(self, question: Question, confidence: float) -> tuple[float, float]:
        """The smallest and the largest count that the counts of single columns allow."""
        if isinstance(question, OneColumn):
            count, margin = self.share(question) * self.records, self.alone(question, confidence)
            return max(0.0, count - margin), min(self.records, count + margin)
        if not question.parts:
            return (self.records, self.records) if question.every else (0.0, 0.0)
        low, high = zip(*(self.limits(part, confidence) for part in question.parts), strict=True)
        if question.every:
            return max(0.0, sum(low) - (len(low) - 1) * self.records), min(high)
        return max(low), min(self.records, sum(high))

    # ---- means --------------------------------------------------------------------------------------------

    def share_errors(self, column: str, question: Question, below: Floats, confidence: float) -> Floats | None:
        """How far the share of a group that is below each threshold of a column of numbers is off; None if that was not
        measured. The question selects the group; `below` are the shares of all values below the thresholds.

        Either the connection of the column with the group is wrong, or the column itself; the larger error counts.
        """
        others = [key for key in columns_of(question) if key != column]
        alone, related = self.level([column], confidence), self.level([column, *others], confidence)
        if alone is None or related is None:
            return None
        group = max(self.share(question), 1 / max(1.0, self.records))
        spread = below * (1 - below)
        own = alone / self.records * np.minimum(1, np.sqrt(spread) / LARGE)
        attribute = self.attributes[column]
        if hull(question).get(column) != CodeSet.span(0, attribute.grid, attribute.size):
            own = 2 * own / group  # both counts of the share are about this column
        tied = 2 * related / (LARGE * self.records) * np.sqrt((1 - group) / group * spread) if others else 0 * own
        return np.minimum(np.minimum(1, 2 * np.minimum(below, 1 - below) / group), np.maximum(tied, own))


@dataclass(frozen=True)
class Cells:
    """The cells of a column of numbers that were counted as one value each. A condition inside one of them was never
    counted; other conditions are as they are (see `bins.inside_and_around`)."""

    edges: tuple[int, ...]

    def whole(self, codes: CodeSet) -> CodeSet:
        """The condition, or none of the codes if it is inside a cell."""
        return codes if self._around(codes) is None else CodeSet((), codes.size)

    def touched(self, codes: CodeSet) -> CodeSet:
        """The condition, or the whole cell if it is inside one."""
        return self._around(codes) or codes

    def _around(self, codes: CodeSet) -> CodeSet | None:
        if len(codes.edges) != 2:
            return None
        first, end = codes.edges
        place = int(np.searchsorted(self.edges, first, side="right")) - 1
        if place + 1 >= len(self.edges) or end > self.edges[place + 1]:
            return None
        cell = CodeSet.span(self.edges[place], self.edges[place + 1], codes.size)
        return cell if len(cell) > end - first else None
