"""Answers about a release of families: counts of parents and of children, and questions across the link.

    households: income == 1 and number_of_persons >= 5     counts parents; the name of the parents may be left out
    persons: age >= 80 and income == 1                     counts children; their parents' columns may be named too
    income == 1 with persons: age >= 80                    counts parents that have such a child

Intervals come from the measured error of shares of families, if it was measured. A count of children is off by more
than the families that have such a child, because some of these have several. The interval of a mean
allows for the worst case, as that of a table does: every share of values below a threshold is off, the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import polars as pl

from cantle.drawing.counts import workload_dice
from cantle.errors import ParameterError, raise_alone
from cantle.methods.own_error.family_workload import family_workload
from cantle.release.answers.asking import (
    Asker,
    Bins,
    CountedCodes,
    check_confidence,
    inside_and_around,
    no_numbers,
    steps_cut,
)
from cantle.release.answers.estimates import MEASURED, NOISE_ONLY, Estimate, level, rescaled
from cantle.release.answers.groups import Groups, grouped, groups_of
from cantle.release.answers.table_answers import inside_bins, numbers_of
from cantle.release.answers.widths import Cells, joined
from cantle.release.schemas import columns_of_table
from cantle.schema.code_sets import EVERYTHING, Key, OneColumn, Question, columns_of, holds, join
from cantle.schema.domain import Attribute, Steps
from cantle.schema.families import FamilySchema
from cantle.schema.question_columns import Misfit, Vocabulary
from cantle.schema.question_words import tokens_of
from cantle.schema.questions import parse
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FamilyDomain
from cantle.trusted.geometry.workloads import FamilyWorkload

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.structures.families import Opened

T = TypeVar("T")

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
        except ParameterError:
            hint = self._hint(text)
            if hint is None:
                raise
            raise_alone(ParameterError(hint))

    def _hint(self, text: str) -> str | None:
        """How to ask what a question about parents asks about a column of children; None if it names no such column."""
        parent, child = self._schema.names
        with suppress(ParameterError):
            named = (one for one in tokens_of(text) if one.kind in ("word", "text") and self._only_below(one.text))
            first = next(named, None)
            if first is None:
                return None
            tail, pieces = text[first.at :].strip(), re.split(r"\band\b", text[: first.at])
            heads = [" and ".join(one.strip() for one in pieces[:last]) for last in range(len(pieces), -1, -1)]
            head = next((one for one in heads if _fits(one, self._above)), "")
            tail = tail if _fits(tail, self._below) else "…"
            joined = " and ".join(one for one in (head, tail) if one)
            across = f"{head + ' ' if head else ''}with {child}: {tail}"
            fixes = f"`{across}` counts {parent} that have such a child, and `{child}: {joined}` counts {child}"
            return f"{first.text} is a column of {child}; {fixes}"
        return None

    def _only_below(self, name: str) -> bool:
        """Whether only questions about children may name a column."""
        return name in self._below.columns and name not in self._above.columns

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
        below = {name: part[family] for name, part in self._joined(parent).items()}
        below |= dict(child) | {schema.number_of_children: size[family]}
        return above, below

    def _holds(self, question: Question, *, of_children: bool) -> Bools:
        places = self._places[of_children]
        rows = len(places[self._schema.number_of_children])
        return np.broadcast_to(holds(question, lambda key: places[key]), rows)

    def inside(self, question: Any) -> Bools:
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

    def estimate(self, question: Any, drawn: int, confidence: float) -> Estimate:
        """The answer to a question that holds for so many of the parents or children drawn."""
        margin, covers = self._margin(question, confidence)
        known = self.around(question, drawn, margin, confidence, covers)
        inside, around = self._around(question, self._cells)
        if not self.drawn(inside):  # it names a part of a cell
            known = replace(known, low=-margin, high=max(known.high, self.drawn(around) / self.share_drawn + margin))
        return known.at_least_zero()

    def _known(self, of: Callable[[str, Attribute], T]) -> tuple[dict[Key, T], dict[Key, T]]:
        """What is known of counted columns, by their names in questions about parents and about children."""
        above, below = (
            {cast(Key, one.name): of(name, one) for one in domain.attributes}
            for name, domain in zip(self._schema.names, self._schema.domains, strict=True)
        )
        return above, self._joined(above) | below

    def _joined(self, above: Mapping[Key, T]) -> dict[Key, T]:
        """What is known of the parents' columns, by their names in questions about children."""
        return {self._schema.joined_names.get(str(name), str(name)): one for name, one in above.items()}

    @cached_property
    def _edges(self) -> tuple[dict[Key, Ints], dict[Key, Ints]]:
        """The edges of the cells in which columns were counted."""
        stated = self._release.manifest.structure["cells"]
        return self._known(lambda table, one: one.places(np.array(stated[table][one.name], dtype=np.int64)))

    @cached_property
    def _cells(self) -> tuple[dict[Key, Cells], dict[Key, Cells]]:
        above, below = ({name: Cells(tuple(edges.tolist())) for name, edges in own.items()} for own in self._edges)
        return above, below

    @cached_property
    def _bins(self) -> tuple[dict[Key, Bins], dict[Key, Bins]]:
        """The steps of columns that were not counted value by value."""
        every = self._known(lambda _, one: Bins(one.width, one.grid, wide=False))
        above, below = ({name: one for name, one in own.items() if one.width > 1} for own in every)
        return above, below

    def ends(self, question: Any) -> tuple[Any, Any]:
        return self._around(question, self._bins)

    def _around(
        self, question: FamilyQuestion, known: tuple[Mapping[Key, CountedCodes], Mapping[Key, CountedCodes]]
    ) -> tuple[Any, Any]:
        """The questions inside and around the sets of codes that were counted."""
        inside, around = inside_and_around(question.own, known[question.of_children])
        if question.with_child is None:
            return replace(question, own=inside), replace(question, own=around)
        below = inside_and_around(question.with_child, known[True])
        return FamilyQuestion(False, inside, below[0]), FamilyQuestion(False, around, below[1])

    def cut_steps(self, question: Any) -> str:
        own = steps_cut(question.own, self._below if question.of_children else self._above)
        return joined(own, "" if question.with_child is None else steps_cut(question.with_child, self._below))

    def mean(self, column: str, question: Any, confidence: float) -> Estimate:
        """The mean of a column of numbers over the parents or children that a question holds for."""
        check_confidence(confidence)
        asked = self._about(question, [column])
        attribute = self._numbers(column, of_children=asked.of_children)
        places = self._places[asked.of_children][column]
        places = places[self.inside(asked) & (places < attribute.grid)]
        values, ends = (numbers_of(attribute, codes) for codes in (places, np.array([0, attribute.grid - 1])))
        if not len(values):
            return Estimate(float("nan"), float("nan"), float("nan"), confidence, NOISE_ONLY)
        margin, covers = self._margin(asked, confidence, beside=1)
        held, times = np.unique(values, return_counts=True)
        below = np.cumsum(times)[:-1] / len(values)
        margin = margin * self.share_drawn + max(map(abs, self.cut_bins(asked)))
        smaller = np.minimum(below, 1 - below)
        errors = np.minimum(2 * smaller, (1 + smaller) * margin / len(values))  # the size of the group is off as well
        mean, off = float(values.mean()), float((np.diff(held) * errors).sum())
        off += inside_bins(attribute, self._bins[asked.of_children].get(column))
        note = self.cut_steps(asked)
        return Estimate(mean, max(mean - off, ends.min()), min(mean + off, ends.max()), confidence, covers, note)

    def _about(self, question: FamilyQuestion, columns: Sequence[str]) -> FamilyQuestion:
        """The question; about all children instead of all parents, if it says nothing and only children have a column.
        Raises a ParameterError if only children have a column, and the question is about some parents."""
        below = [one for one in columns if self._only_below(one)]
        if question.of_children or not below:
            return question
        if question == FamilyQuestion(False, EVERYTHING):
            return FamilyQuestion(True, EVERYTHING)
        child = self._schema.names[1]
        raise ParameterError(f"{below[0]} is a column of {child}; begin the question with `{child}:`")

    @cached_property
    def _columns(self) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """The columns that questions about parents and about children name."""
        schema = self._schema
        every = Steps(type="integer", first=0, step=1, grid=schema.max_children + 1)
        number = Attribute(schema.number_of_children, every, nullable=False)
        above, below = (columns_of_table(one) for one in schema.tables)
        named = {schema.joined_names.get(name, name): replace(one, name=name) for name, one in above.items()}
        return {number.name: number, **above}, {number.name: number, **named, **below}

    def _numbers(self, name: str, *, of_children: bool) -> Attribute:
        """A column of numbers."""
        every = self._columns[of_children]
        able = {key: one for key, one in every.items() if one.scale.type in ("integer", "number")}
        if name not in able:
            raise no_numbers(name, [*able])
        return able[name]

    def table(self, by: Sequence[str], question: Any, mean: str | None, confidence: float) -> pl.DataFrame:
        check_confidence(confidence)
        about = self._about(question, [*by, *([mean] if mean else [])])
        groups = [self._groups(name, of_children=about.of_children) for name in by]
        inside, places = self.inside(about), self._places[about.of_children]

        def answer(parts: Sequence[OneColumn], released: int) -> Estimate:
            mine = [self._of_table(one, of_children=about.of_children) for one in parts]
            asked = replace(about, own=join(True, (about.own, *mine)))
            return self.estimate(asked, released, confidence) if mean is None else self.mean(mean, asked, confidence)

        return grouped(groups, [places[one.column][inside] for one in groups], answer)

    def _groups(self, name: str, *, of_children: bool) -> Groups:
        """The groups of a column; of many numbers, the cells in which they were counted by themselves."""
        try:
            (self._below if of_children else self._above).column(name)
        except Misfit as why:
            raise_alone(ParameterError(str(why)))
        attribute = self._columns[of_children].get(name)
        if attribute is None:
            raise ParameterError(f"there are no groups of {name!r}; name other columns after --by")
        return replace(groups_of(attribute, self._edges[of_children].get(name), None), column=name)

    # ---- intervals ----------------------------------------------------------------------------------------

    def _margin(self, question: FamilyQuestion, confidence: float, beside: int = 0) -> tuple[float, str]:
        """The half width of the interval of a count, and what it covers; `beside` columns are asked about too."""
        known = self._accuracy
        if known is None or not known.numbers():
            return UNMEASURED * rescaled(confidence) * self.opened.noise_of_a_cell() * self._each(question), NOISE_ONLY
        below = question.with_child if question.with_child is not None else question.own
        parts = len(columns_of(question.own)) + (0 if question.with_child is None else len(columns_of(below))) + beside
        plain = not question.of_children and question.with_child is None
        error = known.one_column if plain else known.together
        error = error or known.one_column or known.apart
        assert error is not None
        return level(error, confidence) * max(1.0, parts / 2) * self._each(question), MEASURED

    def _each(self, question: FamilyQuestion) -> float:
        """By how many times more rows than families a count is off: 1 for parents.

        A number of children is that of families with one, plus that of families with two, and so on; errors of these
        are about in proportion to the roots of their shares.
        """
        if not question.of_children:
            return 1.0
        number = np.bincount(self._children_of(question.own))
        having = np.cumsum(number[::-1])[::-1][1:]
        return float(np.sqrt(having / having[0]).sum()) if len(having) else 1.0


def _divided(text: str, mark: str) -> tuple[str, str, str | None]:
    """The text before the first such mark outside of quotes, the mark, and the text after it; None without a mark."""
    for found in re.finditer(f"{_PARTS}|({mark})", text):
        if found[1]:
            return text[: found.start()], found[1], text[found.end() :]
    return text, "", None


def _fits(text: str, vocabulary: Vocabulary) -> bool:
    try:
        parse(text, vocabulary)
    except ParameterError:
        return False
    return True


def _table(text: str, names: tuple[str, str]) -> tuple[str, str]:
    """The table that a question names at its beginning, by default the parents, and the rest of the question."""
    for name in names:
        found = re.match(rf"\s*{re.escape(name)}\s*(:|$)", text)
        if found:
            return name, text[found.end() :]
    return names[0], text
