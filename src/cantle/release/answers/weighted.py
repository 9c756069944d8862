"""Weighted answers, for releases whose schema gives a column `role: weight`: each record counts for its weight.

A weighted count is a count times the mean weight of its records. Both have intervals, each of which may fail in half of
the cases in which the product may. Weights are released values like any other: asking for them uses no budget.
"""

from __future__ import annotations

from dataclasses import replace

from cantle.errors import ParameterError
from cantle.release import Release
from cantle.release.answers.estimates import LIMITS, NOISE_ONLY, Estimate
from cantle.release.answers.table_answers import TableAsker, numbers_of
from cantle.schema.code_sets import CodeSet, OneColumn, Question, join
from cantle.schema.domain import Attribute


class WeightedAsker(TableAsker):
    """Answers questions about a release of a table in sums of weights instead of numbers of records."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        name = release.schema.weight
        if name is None:
            raise ParameterError("this release has no column of weights; the schema declares one with role: weight")
        if name not in self.attributes:
            raise ParameterError(f"the weights {name!r} follow from other columns by rules, so nothing can be weighted")
        self.weight = self.attributes[name]

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        both = (1 + confidence) / 2
        number, mean = super().estimate(question, drawn, both), self._mean_weight(question, both)
        value = number.value * mean.value if drawn else 0.0
        covers = next((kind for kind in (LIMITS, NOISE_ONLY) if kind in (number.covers, mean.covers)), mean.covers)
        made = replace(number, value=value, low=number.low * mean.low, high=number.high * mean.high, covers=covers)
        return replace(made, confidence=confidence, note=number.note or mean.note).at_least_zero()

    def _mean_weight(self, question: Question, confidence: float) -> Estimate:
        return self.mean_among(self.weight, self._related(question), confidence)

    def mean_of(self, attribute: Attribute, asked: Question, confidence: float) -> Estimate:
        weights = numbers_of(self.weight, self.codes(self.weight.name))
        return self.mean_among(attribute, self._related(asked), confidence, weights)

    def _related(self, question: Question) -> Question:
        """The question as one about weights too: its interval allows for connections with them that were lost."""
        return join(True, (question, OneColumn(self.weight.name, CodeSet.span(0, self.weight.grid, self.weight.size))))
