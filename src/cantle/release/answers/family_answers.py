"""Answers about a release of families: counts of parents and of children, and questions across the link.

    households: income == 1 and number_of_persons >= 5     counts parents; the name of the parents may be left out
    persons: age >= 80 and income == 1                     counts children; their parents' columns may be named too
    income == 1 with persons: age >= 80                    counts parents that have such a child

Intervals come from the measured error of shares of families, if it was measured. A count of children is off by more
than the families that have such a child: by as many children as such a family has on average.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cantle.drawing.counts import workload_dice
from cantle.errors import ParameterError, raise_alone
from cantle.methods.own_error.family_workload import family_workload
from cantle.release.answers.asking import Asker, check_confidence, no_numbers
from cantle.release.answers.estimates import MEASURED, NOISE_ONLY, Estimate, rescaled
from cantle.schema.code_sets import EVERYTHING, Key, Question, columns_of, holds
from cantle.schema.families import FamilySchema
from cantle.schema.questions import parse
from cantle.schema.scales import Steps
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FamilyDomain
from cantle.trusted.geometry.workloads import FamilyWorkload

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.structures.families import Opened

_PARTS = r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`"""

UNMEASURED = 2.0
"""By how many standard deviations of the noise of one cell a count may be off, if its error was not measured."""


@dataclass(frozen=True)
class FamilyQuestion:
    """A question about parents, perhaps only those that have a certain child, or about children."""

    of_children: bool
    own: Question
    with_child: Question | None = None


class FamilyAsker(Asker):
    """Answers questions about one release of families."""

    opened: Opened

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._schema = cast(FamilySchema, release.schema)
        self._above, self._below = self._schema.parent_vocabulary(), self._schema.vocabulary()
        self._accuracy = release.accuracy

    # ---- questions ----------------------------------------------------------------------------------------

    def parse(self, question: str) -> Any:
        """The question, about the table that it names; raises a ParameterError that points at an error."""
        if not isinstance(question, str):
            raise ParameterError(f'a question is a text such as "age >= 65", got {type(question).__name__}')
        parent, child = self._schema.names
        head, _, tail = _divided(question, rf"\bwith\s+{re.escape(child)}\s*:")
        named, text = _table(head, (parent, child))
        if tail is not None and named == child:
            raise ParameterError(
                f"`with {child}:` is for questions about {parent}; write `{parent}: … with {child}: …`"
            )
        if named == child:
            return FamilyQuestion(True, self._of_table(parse(text, self._below), of_children=True))
        own = self._of_table(self._parsed_parent(text), of_children=False)
        below = None if tail is None else self._of_table(parse(tail, self._below), of_children=True)
        return FamilyQuestion(False, own, below)

    def _parsed_parent(self, text: str) -> Question:
        try:
            return parse(text, self._above)
        except ParameterError as error:
            names = [
                one for one in self._schema.tables[1].vocabulary().columns if re.search(rf"\b{re.escape(one)}\b", text)
            ]
            if names and "there is no column" in str(error):
                first, second = self._schema.names
                fix = f"write `{second}: {text}`, or `with {second}: …` for {first} that have such a child"
                raise_alone(ParameterError(f"{names[0]} is a column of {second}; {fix}"))
            raise

    def _of_table(self, question: Question, *, of_children: bool) -> Question:
        """The question about the columns that were counted, if rules made columns of others."""
        return self._schema.tables[1].counted(question) if of_children else self._schema.tables[0].counted(question)

    def workload(self, seed: int) -> FamilyWorkload | None:
        """The questions that a seed draws for the released families."""
        domain = FamilyDomain(*self._schema.sizes, self._schema.max_children)
        asked = family_workload(domain, *self.opened.codes, workload_dice(seed))
        return None if asked is None else asked[0]

    # ---- codes --------------------------------------------------------------------------------------------

    @cached_property
    def _places(self) -> tuple[Mapping[Key, Codes], Mapping[Key, Codes]]:
        """The places of the released rows in all columns that questions name, of parents and of children."""
        schema, (parent, size, child) = self._schema, self.opened.places
        family = np.repeat(np.arange(len(size)), size)
        above: dict[Key, Codes] = dict(parent) | {schema.number_of_children: size}
        below: dict[Key, Codes] = {
            schema.joined_names.get(str(name), str(name)): part[family] for name, part in parent.items()
        }
        below |= dict(child) | {schema.number_of_children: size[family]}
        return above, below

    def _holds(self, question: Question, *, of_children: bool) -> Bools:
        places = self._places[of_children]
        rows = len(places[self._schema.number_of_children])
        return np.broadcast_to(holds(question, lambda key: places[key]), rows)

    def _inside(self, question: FamilyQuestion) -> Bools:
        """For each parent or child whether the question holds."""
        inside = self._holds(question.own, of_children=question.of_children)
        if question.with_child is None:
            return inside
        return inside & (self._children_of(question.with_child) > 0)

    def _children_of(self, question: Question) -> Ints:
        """For each parent the number of children for which a question holds."""
        size = self.opened.places[1]
        family = np.repeat(np.arange(len(size)), size)
        return np.bincount(family[self._holds(question, of_children=True)], minlength=len(size))

    # ---- answers ------------------------------------------------------------------------------------------

    def count(self, question: Any, confidence: float) -> Estimate:
        """How many parents or children a question holds for."""
        check_confidence(confidence)
        found = int(self._inside(question).sum())
        margin, covers = self._margin(question, confidence)
        value = found / self.share_drawn
        return Estimate(value, value - margin, value + margin, confidence, covers).at_least_zero()

    def mean(self, column: str, question: Any, confidence: float) -> Estimate:
        """The mean of a column of numbers over the parents or children that a question holds for."""
        check_confidence(confidence)
        of_children = question.of_children or (
            question == FamilyQuestion(False, EVERYTHING) and column in self._schema.tables[1].vocabulary().columns
        )
        asked = FamilyQuestion(True, EVERYTHING) if of_children and not question.of_children else question
        values = self._values(column, of_children=of_children)[self._inside(asked)]
        values = values[~np.isnan(values)]
        if not len(values):
            return Estimate(float("nan"), float("nan"), float("nan"), confidence, NOISE_ONLY)
        mean = float(values.mean())
        margin, covers = self._margin(asked, confidence)
        spread = float(np.abs(values - mean).mean()) + float(np.ptp(values)) * 0.05
        off = margin / max(1.0, len(values) / self.share_drawn) * spread
        return Estimate(mean, mean - off, mean + off, confidence, covers)

    def _values(self, column: str, *, of_children: bool) -> np.ndarray:
        """The values of a column of numbers; NaN where there is none."""
        places = self._places[of_children]
        if column == self._schema.number_of_children:
            return places[column].astype(float)
        of_table = {name: (table, name) for table, names in self._numbers(of_children) for name in names}
        joined = {value: key for key, value in self._schema.joined_names.items()} if of_children else {}
        table, name = of_table.get(column, of_table.get(joined.get(column, ""), (None, "")))
        if table is None:
            raise no_numbers(column, [self._schema.number_of_children, *of_table])
        attribute = next(
            one for one in table.as_declared().with_target_as_column().on_places.attributes if one.name == name
        )
        scale = cast(Steps, attribute.scale)
        at = places[column].astype(float)
        known = (scale.first + at * scale.step) / scale.scale
        return np.where(places[column] >= attribute.grid, np.nan, known)

    def _numbers(self, of_children: bool) -> list[tuple[Any, list[str]]]:
        tables = self._schema.tables[::-1] if of_children else self._schema.tables[:1]
        found = []
        for table in tables:
            columns = table.as_declared().with_target_as_column().attributes
            steps = [one for one in columns if isinstance(one.scale, Steps) and one.scale.type in ("integer", "number")]
            found.append((table, [one.name for one in steps]))
        return found

    def table(self, by: Sequence[str], question: Any, mean: str | None, confidence: float) -> Any:  # noqa: ARG002
        raise ParameterError("families are counted by one question at a time; ask once per group")

    # ---- intervals ----------------------------------------------------------------------------------------

    def _margin(self, question: FamilyQuestion, confidence: float) -> tuple[float, str]:
        """The half width of an interval, and what it covers."""
        from cantle.release.accuracy import WORST_DOUBT, noise_scale

        known = self._accuracy
        if known is None or not known.numbers():
            return UNMEASURED * rescaled(confidence) * self.opened.noise_of_a_cell() * self._each(question), NOISE_ONLY
        below = question.with_child if question.with_child is not None else question.own
        plain = not question.of_children and question.with_child is None
        error = known.one_column if plain else known.together
        error = error or known.one_column or known.apart
        assert error is not None
        level = (max(0, error.records) + WORST_DOUBT * noise_scale(error)) * rescaled(confidence)
        parts = len(columns_of(question.own)) + (0 if question.with_child is None else len(columns_of(below)))
        return level * max(1.0, parts / 2) * self._each(question), MEASURED

    def _each(self, question: FamilyQuestion) -> float:
        """How many of the counted rows a family has that has any: 1 for parents."""
        if not question.of_children:
            return 1.0
        number = self._children_of(question.own)
        return float(number[number > 0].mean()) if (number > 0).any() else 1.0


def _divided(text: str, mark: str) -> tuple[str, str, str | None]:
    """The text before the first such mark outside of quotes, the mark, and the text after it; None without a mark."""
    for found in re.finditer(f"{_PARTS}|({mark})", text):
        if found[1]:
            return text[: found.start()], found[1], text[found.end() :]
    return text, "", None


def _table(text: str, names: tuple[str, str]) -> tuple[str, str]:
    """The table that a question names at its beginning, by default the parents, and the rest of the question."""
    for name in names:
        found = re.match(rf"\s*{re.escape(name)}\s*(:|$)", text)
        if found:
            return name, text[found.end() :]
    return names[0], text
