"""How wide the interval of a counting question about sets of items is, from the three measured levels of error.

One level is about single items; one about pairs and triples all of whose pairs the release counted; one about other
groups. The last two are the largest errors of all groups that were looked at, because nobody can tell from a release
which pair it missed. A question that is more than a group of items is off by at most the errors of what it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cantle.postprocess.accuracy import Accuracy, PairError, QuestionError
from cantle.postprocess.set_workload import Counted
from cantle.release.accuracy import DOUBT, MOST_DOUBT, noise_scale
from cantle.release.estimates import LIMITS, MEASURED, NOISE_ONLY, Estimate, rescaled
from cantle.release.widths import BY_NOISE
from cantle.schema.code_sets import CodeSet, Key, OneColumn, Question, columns_of, is_box
from cantle.schema.items import Universe

HELD = CodeSet((1, 2), 2)
"""The codes of the question whether a set holds an item."""

USUAL = 0.95
"""The confidence of the limits of single items, which together have none."""


@dataclass(frozen=True, eq=False)
class SetWidths:
    """The error of questions about one release of sets.

    `count` gives the released answer to a question, and `noise` the margin of the noise behind it.
    """

    accuracy: Accuracy | None
    records: float
    universe: Universe
    counted: Counted
    count: Callable[[Question], float]
    noise: Callable[[Question, float], float]

    def estimate(self, question: Question, confidence: float) -> Estimate:
        """The answer to a question: its released count, and an interval within what single items allow."""
        value, margin, several = self.count(question), self.margin(question, confidence), len(columns_of(question)) > 1
        if margin is None and (not several or self.counted.pairs is None):
            margin = (BY_NOISE if self.counted.pairs is not None else 1.0) * self.noise(question, confidence)
            return Estimate(value, value - margin, value + margin, confidence, NOISE_ONLY).at_least_zero()
        low, high = self.limits(question, USUAL if margin is None else confidence)
        known = Estimate(value, min(low, value), max(high, value), confidence, MEASURED, self._note(question))
        if margin is None:
            return replace(known, covers=LIMITS, note="how far such counts are off was not measured")
        return replace(known, low=max(known.low, value - margin), high=min(known.high, value + margin)).at_least_zero()

    def margin(self, question: Question, confidence: float) -> float | None:
        """The half width of the interval of a question; None if its class was not measured.

        The error is larger than its lower bound here in one case of ten, and than its upper bound in one of 400.
        Between them, the noise in the counts behind the question decides.
        """
        least, most = (self._level(question, confidence, doubt) for doubt in (DOUBT, MOST_DOUBT))
        if least is None or most is None:
            return None
        return min(most, max(least, self.noise(question, confidence)))

    def limits(self, question: Question, confidence: float) -> tuple[float, float]:
        """The smallest and the largest count that the counts of single items and sizes allow."""
        if isinstance(question, OneColumn):
            count, margin = self.count(question), self.margin(question, confidence)
            margin = BY_NOISE * self.noise(question, confidence) if margin is None else margin
            return max(0.0, count - margin), min(self.records, count + margin)
        if not question.parts:
            return (self.records, self.records) if question.every else (0.0, 0.0)
        low, high = zip(*(self.limits(part, confidence) for part in question.parts), strict=True)
        if question.every:
            return max(0.0, sum(low) - (len(low) - 1) * self.records), min(high)
        return max(low), min(self.records, sum(high))

    def _level(self, question: Question, confidence: float, doubt: float) -> float | None:
        """By how many records a question is off at most, if `doubt` scales of their noise are added to the numbers."""
        accuracy, columns = self.accuracy, columns_of(question)
        if accuracy is None or accuracy.one_column is None or "size" in columns:  # sizes were not compared
            return None

        def level(error: QuestionError | PairError) -> float:
            return (max(0, error.records) + doubt * noise_scale(error)) * rescaled(confidence)

        if len(columns) < 2:
            return level(accuracy.one_column)
        together, apart = accuracy.together or accuracy.apart, accuracy.apart or accuracy.together
        if together is None or apart is None:
            return None
        if _is_group(question):
            return level(together if self._together(columns) else apart)
        return max(level(together), level(apart)) + len(columns) * level(accuracy.one_column)

    def _together(self, columns: Sequence[Key]) -> bool:
        return bool(self.counted.together([tuple(int(key) for key in columns)])[0])

    def _note(self, question: Question) -> str:
        """What the interval allows for, if items were not counted together."""
        columns = columns_of(question)
        if len(columns) < 2 or not _is_group(question) or self._together(columns):
            return ""
        pairs = [(one, other) for i, one in enumerate(columns) for other in columns[i + 1 :]]
        one, other = next(pair for pair in pairs if not self._together(pair))
        names = f"{self.universe.label(int(one))} and {self.universe.label(int(other))}"
        return f"{names} were not counted together, so the interval allows for as large an error as this release made"


def _is_group(question: Question) -> bool:
    """Whether a question asks for sets that hold all of some items."""
    parts = [question] if isinstance(question, OneColumn) else question.parts
    held = (isinstance(part, OneColumn) and part.key != "size" and part.codes == HELD for part in parts)
    return is_box(question) and all(held)
