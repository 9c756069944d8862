"""Acceptance criteria in the schema of a table: how accurate a release must be to be of use. Public input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cantle.errors import SchemaError

QUESTIONS = {"one column": 1, "two columns": 2}
"""The questions that a criterion may name, and how many columns they have."""


@dataclass(frozen=True)
class Criterion:
    """A share of 10 % of the records must be right within so many of them, in 95 of 100 questions about its columns."""

    columns: int
    within: float

    def __str__(self) -> str:
        named = next(words for words, columns in QUESTIONS.items() if columns == self.columns)
        return f"A share of 10 % must be right to ±{100 * self.within:g} percentage points in {named}"


def criteria_of(document: Mapping[str, object]) -> list[Criterion]:
    """The criteria of a schema; raises a SchemaError that says what is wrong with them.

    >>> [str(one) for one in criteria_of({"criteria": [{"questions": "two columns", "within": 0.01}]})]
    ['A share of 10 % must be right to ±1 percentage points in two columns']
    """
    listed = document.get("criteria") or []
    if not isinstance(listed, list | tuple):
        raise SchemaError("criteria: this is not a list; write criteria: [{questions: two columns, within: 0.01}]")
    return [_criterion(entry, place) for place, entry in enumerate(listed, 1)]


def _criterion(entry: object, place: int) -> Criterion:
    known = isinstance(entry, Mapping) and entry.keys() == {"questions", "within"}
    if not isinstance(entry, Mapping) or not known or entry["questions"] not in list(QUESTIONS):
        raise SchemaError(
            f"criterion {place}: it has questions ({' or '.join(QUESTIONS)}) and within, and no other keys"
        )
    within = entry["within"]
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 < within < 1:
        raise SchemaError(f"criterion {place}: within is not a share between 0 and 1, such as 0.01 for 1 %")
    return Criterion(QUESTIONS[entry["questions"]], float(within))
