"""Questions about a table that are asked to find out how often intervals hold the truth: random and related ones.

Nothing here is private, because answers are compared with the raw records, and questions come from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cantle.release.answers.estimates import Estimate
from cantle.release.answers.table_answers import TableAsker, numbers_of
from cantle.release.report.pairs import associations
from cantle.schema.code_sets import EVERYTHING, CodeSet, Key, OneColumn, Question, columns_of, holds, join, negated
from cantle.schema.domain import Attribute
from cantle.schema.scales import Steps
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Bools, Codes, Ints
from cantle_lab.papers.table_sets import TableSet

CONFIDENCE = 0.95
Pairs = Sequence[tuple[str, str]]
GROUPS = 12
FEWEST_RELATED = 6
SIZES = ((0.005, "below .5 %"), (0.02, ".5 to 2 %"), (0.1, "2 to 10 %"), (1.0, "above 10 %"))
"""Groups of two and more columns by their released share."""


class Truth:
    """The private records at places inside steps, without those that the schema drops; for means as they were given,
    after the bounds."""

    def __init__(self, table: TableSet) -> None:
        domain = TableSchema.from_dict(table.schema).domain().with_target_as_column().on_places
        self.attributes: dict[str, Attribute] = {attribute.name: attribute for attribute in domain.attributes}
        codes = {name: one.encode(table.frame[name]) for name, one in self.attributes.items()}
        kept = np.logical_and.reduce([part >= 0 for part in codes.values()])
        self._codes = {name: part[kept] for name, part in codes.items()}
        self._frame = table.frame.filter(kept)
        self.records = int(kept.sum())

    def codes(self, column: Key) -> Codes:
        return self._codes[str(column)]

    def inside(self, question: Question) -> Bools:
        return np.broadcast_to(holds(question, self.codes), self.records)

    def mean(self, attribute: Attribute, question: Question) -> float:
        assert isinstance(attribute.scale, Steps)
        values = attribute.scale.bounded(self._frame[attribute.name])
        inside = self.inside(question) & ~np.isnan(values)
        return float(values[inside].mean()) if inside.any() else float("nan")

    def related(self) -> list[tuple[str, str]]:
        """The tenth of all pairs of columns that are most strongly connected, at least six, the strongest first."""
        names = list(self.attributes)
        groups = [_grouped(self._codes[name]) for name in names]
        strength = associations(groups, [int(one.max()) + 1 for one in groups])
        pairs = sorted(combinations(range(len(names)), 2), key=lambda pair: -strength[pair])
        return [(names[a], names[b]) for a, b in pairs[: max(FEWEST_RELATED, len(pairs) // 10)]]


def _grouped(codes: Codes) -> Ints:
    """The codes in at most GROUPS groups of about equally many records."""
    values, place = np.unique(codes, return_inverse=True)
    if len(values) <= GROUPS:
        return place.reshape(-1)
    edges = np.unique(np.quantile(place, np.arange(1, GROUPS) / GROUPS))
    return np.searchsorted(edges, place.reshape(-1), side="right")


@dataclass(frozen=True)
class Checked:
    """One question: the classes that it belongs to, its answer, the truth, and the number of records or the standard
    deviation that widths are compared with."""

    classes: tuple[str, ...]
    estimate: Estimate
    exact: float
    unit: float

    @property
    def held(self) -> bool:
        """Whether the interval holds the truth; numbers that differ by rounding alone count as equal."""
        slack = 1e-9 * max(1.0, abs(self.exact))
        return self.estimate.low - slack <= self.exact <= self.estimate.high + slack

    @property
    def half_width(self) -> float:
        return (self.estimate.high - self.estimate.low) / 2 / self.unit

    @property
    def used(self) -> float:
        """The error as a part of the interval on its side of the value: above 1 if the truth is outside."""
        error = abs(self.exact - self.estimate.value)
        end = self.estimate.high if self.exact > self.estimate.value else self.estimate.low
        return error / max(1e-9, abs(end - self.estimate.value)) if error > 1e-9 else 0.0


@dataclass(frozen=True)
class Numbers:
    """How many questions are asked: random counts about one, two and three columns each, of other forms, about each
    related pair, random means, and means of each related column of numbers."""

    random: int = 100
    forms: int = 80
    related: int = 16
    means: int = 40
    related_means: int = 6


def check(asker: TableAsker, truth: Truth, numbers: Numbers, dice: np.random.Generator) -> Iterator[Checked]:
    """Asks all questions of a release, none twice, and compares the answers with the truth."""
    related = truth.related()
    for name, question in dict.fromkeys(_questions(truth, related, numbers, dice)):
        yield _counted(asker, truth, question, name)
    for mine, question, name in dict.fromkeys(_means(truth, related, numbers, dice)):
        yield from _mean(asker, truth, truth.attributes[mine], question, name)


def _questions(
    truth: Truth, related: Pairs, numbers: Numbers, dice: np.random.Generator
) -> Iterator[tuple[str, Question]]:
    """Counting questions with the name of their class."""
    names = list(truth.attributes)
    for columns in (1, 2, 3):
        for _ in range(numbers.random if columns <= len(names) else 0):
            chosen = dice.choice(names, columns, replace=False).tolist()
            yield f"{columns} column{'s' * (columns > 1)}", _all(truth, chosen, dice)
    for pair in related:
        yield from (("related pair", _all(truth, pair, dice)) for _ in range(numbers.related))
    for _ in range(numbers.forms if len(names) > 2 else 0):
        near = related[int(dice.integers(len(related)))]
        mine = near if dice.random() < 0.5 else dice.choice(names, 2, replace=False).tolist()
        yield "or, not, lists", _other_form(truth, mine, dice)


def _means(
    truth: Truth, related: Pairs, numbers: Numbers, dice: np.random.Generator
) -> Iterator[tuple[str, Question, str]]:
    """Means: a column of numbers, the group, and the name of the class."""
    able = [one for one in truth.attributes.values() if one.scale.type in ("integer", "number")]
    for _ in range(numbers.means if len(truth.attributes) > 1 and able else 0):
        mine = able[int(dice.integers(len(able)))]
        other = str(dice.choice([name for name in truth.attributes if name != mine.name]))
        yield mine.name, condition(truth, other, dice), "mean, random"
    for mine, other in ((truth.attributes[a], b) for one in related for a, b in (one, one[::-1])):
        for _ in range(numbers.related_means if mine in able else 0):
            yield mine.name, condition(truth, other, dice), "mean, related"
    yield from ((mine.name, EVERYTHING, "mean, all records") for mine in able)


def _counted(asker: TableAsker, truth: Truth, question: Question, name: str) -> Checked:
    estimate, exact = asker.count(question, CONFIDENCE), int(truth.inside(question).sum())
    columns, classes = columns_of(question), [name]
    if len(columns) > 1:
        classes = [f"{name}, {'together' if asker.widths.are_together(columns) else 'apart'}"]
        classes.append("related pair" if name == "related pair" else "random, 2 and 3 columns")
        share = estimate.value / max(1, asker.records)
        classes.append(next(words for most, words in SIZES if share <= most + 1e-12 or most == 1.0))
    return Checked((*classes, f"covers: {estimate.covers}"), estimate, exact, truth.records)


def _mean(asker: TableAsker, truth: Truth, mine: Attribute, question: Question, name: str) -> Iterator[Checked]:
    """Checks the mean of a column in a group; none of groups of fewer than 30 records."""
    if truth.inside(question).sum() < 30:
        return
    estimate, exact = asker.mean(mine.name, question, CONFIDENCE), truth.mean(mine, question)
    codes = truth.codes(mine.name)
    unit = float(numbers_of(mine, codes[codes < mine.grid]).std()) or 1.0
    if estimate.value == estimate.value and exact == exact:
        columns = [mine.name, *columns_of(question)]
        apart = "together" if asker.widths.are_together(columns) else "apart"
        classes = (name, f"{name}, {apart}") if len(columns) > 1 else (name,)
        yield Checked((*classes, f"means cover: {estimate.covers}"), estimate, exact, unit)


# ---- questions ------------------------------------------------------------------------------------------------


def _all(truth: Truth, names: Sequence[str], dice: np.random.Generator) -> Question:
    return join(True, (condition(truth, name, dice) for name in names))


def condition(truth: Truth, name: str, dice: np.random.Generator) -> OneColumn:
    """A condition on one column from the values of records: one category; of a number one bound, or two; or null."""
    attribute, codes = truth.attributes[name], truth.codes(name)
    size, (one, two) = attribute.size, np.sort(dice.choice(codes, 2)).tolist()
    if not isinstance(attribute.scale, Steps) or two >= attribute.grid:
        return OneColumn(name, CodeSet.of([two], size))
    form = dice.random()
    first, end = (one, two + 1) if form < 0.5 else (two, attribute.grid) if form < 0.75 else (0, two + 1)
    return OneColumn(name, CodeSet.span(first, end, size))


def _other_form(truth: Truth, pair: Sequence[str], dice: np.random.Generator) -> Question:
    """A question with `or`, with `not`, or with lists of categories."""
    first, second = (_listed(truth, name, dice) for name in pair)
    way = int(dice.integers(4))
    if way == 0:
        return join(False, (first, second))
    if way == 1:
        return join(True, (first, negated(second)))
    if way == 2:  # one of two groups
        again = _all(truth, pair, dice)
        return join(False, (join(True, (first, second)), again))
    return join(True, (first, second))


def _listed(truth: Truth, name: str, dice: np.random.Generator) -> OneColumn:
    """A condition, of categories with up to four of them."""
    attribute = truth.attributes[name]
    if isinstance(attribute.scale, Steps):
        return condition(truth, name, dice)
    few = dice.choice(truth.codes(name), int(dice.integers(1, 5)))
    return OneColumn(name, CodeSet.of(few.tolist(), attribute.size))
