"""The comparison of a release with its private data, as text and as values. It holds private facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cantle.internal import Shown
from cantle.internal.questions import Asked
from cantle.release.answers.estimates import WITHOUT_CONFIDENCE
from cantle.release.kinds import kind_of
from cantle.release.report.groupings import Ints
from cantle.release.report.pairs import Floats, distance

Number = int | float | None

BEFORE = "mean before the bounds"
"""The name of the private mean before values were moved to the bounds, where it differs."""

WITHOUT = "Some are no 95 % intervals: they are limits, or cover the noise only, where no error was measured."
"""Said of answers whose intervals have no confidence."""


@dataclass(frozen=True)
class Fact:
    """A number that is known both of the data and of the release."""

    name: str
    private: Number
    released: Number


@dataclass(frozen=True, eq=False, repr=False)
class Distribution:
    """Counts of the same groups in the data and in the release."""

    name: str
    labels: tuple[str, ...]
    private: Ints
    released: Ints
    facts: tuple[Fact, ...] = ()
    ticks: tuple[str, ...] | None = None
    """What an axis writes below the groups, if they are numbers."""

    @property
    def distance(self) -> float:
        return distance(self.private, self.released)

    def to_dict(self) -> dict[str, object]:
        groups = zip(self.labels, self.private.tolist(), self.released.tolist(), strict=True)
        return {
            "name": self.name,
            "distance": self.distance,
            "facts": [vars(fact) for fact in self.facts],
            "groups": [{"label": label, "private": a, "released": b} for label, a, b in groups],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Matrices:
    """A number per pair of columns or items, in the data and in the release, and how far their tables differ."""

    names: tuple[str, ...]
    private: Floats
    released: Floats
    distances: Floats
    lines: tuple[str, ...]
    """How far data and release differ, as text."""
    explained: str
    """What the numbers are, for people who read a heat map of them."""
    most: float = 1.0
    """The number at which a heat map is darkest."""
    with_numbers: bool = False
    """Whether a heat map shows the numbers."""

    def to_dict(self) -> dict[str, object]:
        parts = {"private": self.private, "released": self.released, "distances": self.distances}
        return {"names": list(self.names)} | {name: part.round(4).tolist() for name, part in parts.items()}


def of_pairs(part: Floats) -> Floats:
    """The numbers of a matrix, each pair once."""
    return part[np.triu_indices(len(part), 1)]


@dataclass(frozen=True)
class Trained:
    """A model of the target: trained on the data or on the release, always tested on other private records.

    Classes are scored by the share of records that are classified correctly, and numbers by R2, the share of the
    variance that is explained; `majority` is the score of always the same guess.
    """

    target: str
    on_private: float
    on_released: float
    majority: float
    tested: int
    numeric: bool = False
    slopes: str = ""
    """How far the coefficients of a linear regression on all other columns are off; empty if there are none."""

    @property
    def in_words(self) -> str:
        """What is scored."""
        if self.numeric:
            return f"prediction of {self.target}: R2 (share of the variance explained) on {self.tested:,} other "\
                   "private records"  # fmt: skip
        return f"classifier for {self.target}: share of {self.tested:,} other private records it gets right"

    @property
    def same_guess(self) -> str:
        return "always the mean" if self.numeric else "always the most frequent class"


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """A release beside its data. `missing` says in words what could not be compared."""

    kind: str
    facts: tuple[Fact, ...]
    distributions: tuple[Distribution, ...]
    matrices: Matrices | None = None
    asked: tuple[Asked, ...] = ()
    trained: Trained | None = None
    missing: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "facts": [vars(fact) for fact in self.facts],
            "distributions": [one.to_dict() for one in self.distributions],
            "pairs": None if self.matrices is None else self.matrices.to_dict(),
            "questions": [one.to_dict() for one in self.asked],
            "errors": [vars(one) for one in error_table(self.asked, kind_of(self.kind).part)],
            "classifier": None if self.trained is None else vars(self.trained),
            "missing": list(self.missing),
        }

    def lines(self) -> Iterator[str]:
        """The comparison as text."""
        rows = [(fact.name, number(fact.private), number(fact.released)) for fact in self.facts]
        yield from (*_table(("", "private", "released"), rows), "")
        yield from _distance_lines(self.distributions)
        yield "Distance: the share of records that would have to change to make both alike (total variation)."
        if self.matrices is not None and len(self.matrices.names) > 1:
            yield from ("", *self.matrices.lines)
        if self.asked:
            yield from ("", *_error_lines(self.asked, kind_of(self.kind).part))
        if self.trained is not None:
            yield from ("", *_trained_lines(self.trained))
        yield from (line for line in self.missing)


@dataclass(frozen=True)
class ErrorRow:
    """Errors of all questions about the same number of columns, in records: the true ones, and those predicted."""

    about: str
    questions: int
    median_error: float
    error_of_95_percent: float
    median_predicted: float
    inside: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The numbers as texts, below `ERRORS`."""
        sizes = (self.median_error, self.error_of_95_percent, self.median_predicted)
        return self.about, f"{self.questions}", *(f"{one:,.0f}" for one in sizes), f"{100 * self.inside:.0f} %"


ERRORS = ("questions about", "asked", "median error", "95 % below", "interval, ±", "truth inside")
"""The columns of a table of errors."""


def error_table(asked: Sequence[Asked], part: str) -> list[ErrorRow]:
    """The errors of questions about one part (a column or an item), of those about two or three, and of those about the
    pairs that are most strongly connected in the private data."""
    rows, single = [], [one for one in asked if one.columns == 1]
    several, related = ([one for one in asked if one.columns > 1 and one.related == near] for near in (False, True))
    kinds = (f"one {part}", single), (f"two or three {part}s", several), (f"strongly connected {part}s", related)
    for about, some in kinds:
        if not some:
            continue
        errors = np.array([one.error for one in some])
        middle, most = np.percentile(errors, [50, 95], method="inverted_cdf").tolist()
        predicted = float(np.median([one.predicted for one in some]))
        inside = float(np.mean([one.inside for one in some]))
        rows.append(ErrorRow(about, len(some), middle, most, predicted, inside))
    return rows


def number(value: Number) -> str:
    """A number as text.

    >>> number(1234), number(0.5), number(None), number(3.14159)
    ('1,234', '0.5', '-', '3.142')
    """
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _distance_lines(distributions: Sequence[Distribution]) -> Iterator[str]:
    header, means = ["", "distance"], any(fact.name == "mean" for one in distributions for fact in one.facts)
    rows = [[one.name, f"{one.distance:.3f}", *(_means(one.facts) if means else ())] for one in distributions]
    columns = ["mean, private", "mean, released"]
    if before := any(fact.name == BEFORE for one in distributions for fact in one.facts):
        columns.append("private before the bounds")
    yield from _table([*header, *columns] if means else header, [row[: None if before else 4] for row in rows])


def _means(facts: Sequence[Fact]) -> tuple[str, str, str]:
    known = {fact.name: fact for fact in facts}
    if "mean" not in known:
        return "", "", ""
    before = number(known[BEFORE].private) if BEFORE in known else ""
    return number(known["mean"].private), number(known["mean"].released), before


def _error_lines(asked: Sequence[Asked], part: str) -> Iterator[str]:
    yield from _table(ERRORS, [one.cells for one in error_table(asked, part)])
    if any(one.covers in WITHOUT_CONFIDENCE for one in asked):
        yield WITHOUT


def _trained_lines(trained: Trained) -> Iterator[str]:
    yield f"{trained.in_words[0].upper()}{trained.in_words[1:]}:"
    yield f"  trained on the release {trained.on_released:.3f}, on private records {trained.on_private:.3f}, "\
          f"{trained.same_guess} {trained.majority:.3f}"  # fmt: skip
    if trained.slopes:
        yield f"  {trained.slopes}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table as lines of text; its first column is aligned to the left."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        cells = [
            f"{row[0]:{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        yield "  ".join(cells).rstrip()
