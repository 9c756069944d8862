"""Acceptance criteria of a schema, decided from the error that a release measured privately: met, missed or undecided.

They cost nothing beyond that measurement (parameter `accuracy_share`), whose price is known before anything is spent.
"""

from __future__ import annotations

from collections.abc import Iterator

from cantle.drawing.records import records_meant
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError
from cantle.release.accuracy import MORE_DOUBT, OF_PAIR, bound_of
from cantle.release.manifest import Manifest
from cantle.schema.criteria import Criterion, criteria_of


def verdicts(manifest: Manifest) -> list[str]:
    """Each criterion of the schema with its verdict, in words; none if the schema has none."""
    return [f"{one}: {verdict(one, manifest)}" for one in criteria_of(manifest.schema)]


def verdict(criterion: Criterion, manifest: Manifest) -> str:
    """Whether the measured error is within the limit, as the sentence about accuracy states it.

    A verdict of `met` or `missed` is wrong in at most one of 20 cases, by the noise of the measurement.
    """
    if not (measured := list(_errors(criterion, manifest.accuracy))):
        return "**undecided**, because the error was not measured"
    limit = criterion.within * max(1, records_meant(manifest.summary))
    scale = OF_PAIR if criterion.columns == 2 else 1.0
    if all(scale * bound_of(one, MORE_DOUBT) <= limit for one in measured):
        return "**met**"
    if any(scale * bound_of(one, -MORE_DOUBT) > limit for one in measured):
        return "**missed**"
    return "**undecided**, because the measurement has more noise than that"


def _errors(criterion: Criterion, accuracy: Accuracy | None) -> Iterator[QuestionError | PairError]:
    """The measured numbers that speak of these questions: of pairs, those measured together and the others."""
    if accuracy is None:
        return
    if criterion.columns == 1 and accuracy.one_column is not None:
        yield accuracy.one_column
    if criterion.columns == 2:
        yield from (one for one in (accuracy.together, accuracy.apart) if one is not None)
