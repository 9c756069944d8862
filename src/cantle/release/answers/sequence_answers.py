"""Answers about a release of sequences, with intervals.

Lengths, first and last symbols are answered from their noisy numbers, whose noise is known. Strings are counted in the
released sequences: of two symbols, one after the other, the largest error was measured for pairs that follow each other
directly, and for pairs at any distance. For other strings and for questions about several things only the noise in the
counts behind them is known.
"""

from __future__ import annotations

from functools import cached_property

from cantle.methods.own_error.accuracy import PairError
from cantle.methods.own_error.sequence_workload import sequence_workload
from cantle.release.answers.asking import Asker
from cantle.release.answers.estimates import MEASURED, NOISE, Estimate, level
from cantle.release.sequences import SequenceCodes
from cantle.release.structures.checks import OfItems
from cantle.schema.code_sets import Key, OneColumn, Question
from cantle.schema.items import Universe
from cantle.schema.sequences import pattern_of
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.workloads import SequenceWorkload


class SequenceAsker(Asker):
    """Answers questions about one release of sequences."""

    opened: OfItems

    @property
    def universe(self) -> Universe:
        return self.opened.universe

    @cached_property
    def sequences(self) -> SequenceCodes:
        return SequenceCodes.of(self.opened.records, self.universe)

    def read(self, key: Key) -> Codes:
        return self.sequences(key)

    def workload(self, seed: int) -> SequenceWorkload:  # noqa: ARG002
        """The questions about these records; they are not drawn at random."""
        return sequence_workload((self.sequences.starts, self.sequences.codes))

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        """The answer to a question that holds for so many of the released sequences."""
        direct = self.opened.direct(question)
        if direct is not None:
            margin = direct.noise.margin(confidence)
            made = Estimate(direct.value, direct.value - margin, direct.value + margin, confidence, NOISE)
            return made.at_least_zero()
        error = self._error(question)
        if error is None:
            return super().estimate(question, drawn, confidence)
        return self.around(question, drawn, level(error, confidence), confidence, MEASURED)

    def _error(self, question: Question) -> PairError | None:
        """The measured error of a question about one symbol after another, or not after it."""
        accuracy = self._release.accuracy
        if accuracy is None or not isinstance(question, OneColumn) or question.key in ("length", "first", "last"):
            return None
        shape = tuple(map(len, pattern_of(question.key)))
        return accuracy.together if shape == (2,) else accuracy.apart if shape == (1, 1) else None
