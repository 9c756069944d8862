"""The coverage of the intervals of `cantle query` about linked tables, by kind of question, data set and epsilon.

Questions are of the forms that people ask: about parents, about children, and across the link. Bounds of numbers are
values of random raw records, or narrow: one value, or a few. Not private: answers are compared with the raw records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from cantle.data.families import read_families
from cantle.release import Release
from cantle.release.answers.estimates import Estimate
from cantle.release.answers.family_answers import FamilyAsker
from cantle.release.answers.table_answers import numbers_of
from cantle.schema import as_schema
from cantle.schema.domain import Attribute, Labels
from cantle.schema.families import FamilySchema
from cantle.trusted.core.arrays import Codes, Ints
from cantle_lab.papers import family_figures
from cantle_lab.papers.family_figures import FamilySet
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.interval_coverage import rows_of
from cantle_lab.papers.interval_questions import Checked
from cantle_lab.papers.made_families import CLINIC, WIDE_CLINIC, clinic, wide_clinic

FIGURE = "intervals-families"
EACH = 25
"""Questions of each kind about one release."""

NARROW = 50
"""A narrow condition on a column of numbers holds for at most a 50th of its values, or for one."""

CONFIDENCE = 0.95


def intervals_of_families(setting: Setting) -> Iterator[Row]:
    """How often 95 % intervals about linked tables hold the truth, by kind of question; how wide they are, and how many
    times wider than needed."""
    for data in _present(setting):
        schema = cast(FamilySchema, as_schema(data.document))
        read = read_families(dict(data.tables), schema)
        raw = [*read.parent], read.size, [*read.child]
        for epsilon in setting.pick((0.3, 1, 3), (1,)):
            checked = list[list[Checked]]()
            for repeat in range(setting.repeats):
                options = {"method": "families", "accuracy_share": "1/25"}
                release = setting.release(dict(data.tables), data.document, epsilon, options, repeat)
                dice = np.random.default_rng(1 + repeat)
                checked.append(list(_checked(release, Truth(release, *raw), dice)))
            yield from rows_of(FIGURE, data.name, epsilon, checked)


def _present(setting: Setting) -> Iterator[FamilySet]:
    if setting.data_dir is not None and (setting.data_dir / "households").is_dir():
        yield family_figures.households(setting)
    patients = 5_000 if setting.quick else 20_000
    yield FamilySet("clinic", clinic(patients, 5), CLINIC)
    yield FamilySet("wide clinic", wide_clinic(patients, 5), WIDE_CLINIC)


class Truth(FamilyAsker):
    """Answers questions from the raw families, which it holds instead of the released ones."""

    def __init__(self, release: Release, parent: Sequence[Codes], size: Ints, child: Sequence[Codes]) -> None:
        super().__init__(release)
        self.schema = cast(FamilySchema, release.schema)
        self.raw = tuple(
            {one.name: (one, codes) for one, codes in zip(domain.attributes, part, strict=True)}
            for domain, part in zip(self.schema.domains, (parent, child), strict=True)
        )
        above, below = ({name: codes for name, (_, codes) in own.items()} for own in self.raw)
        self.opened = cast(Any, _Raw((above, size, below)))
        self.share_drawn, self.sizes = 1.0, (len(size), len(child[0]))


class _Raw:
    def __init__(self, places: tuple[dict[str, Codes], Ints, dict[str, Codes]]) -> None:
        self.places = places

    def noise_of_a_cell(self) -> float:
        return 0.0


def _checked(release: Release, truth: Truth, dice: np.random.Generator) -> Iterator[Checked]:
    """The answers to questions of every kind; those that claim no coverage are classes of their own."""
    asker, ask = FamilyAsker(release), Questions(truth, dice)
    for kind, text in ask.counts():
        known, exact = (one.count(one.parse(text), CONFIDENCE) for one in (asker, truth))
        yield _one(kind, known, exact.value, truth.sizes[text.startswith(f"{truth.schema.names[1]}:")])
    for kind, column, text in ask.means():
        known, exact = (one.mean(column, one.parse(text), CONFIDENCE) for one in (asker, truth))
        if exact.value == exact.value and known.value == known.value:
            yield _one(kind, known, exact.value, 1.0)


def _one(kind: str, known: Estimate, exact: float, unit: float) -> Checked:
    return Checked((kind if known.confidence else f"{kind}: {known.covers}",), known, exact, unit)


class Questions:
    """Random questions about linked tables, as texts."""

    def __init__(self, truth: Truth, dice: np.random.Generator) -> None:
        self._above, self._below = truth.raw
        self._child, self._number = truth.schema.names[1], truth.schema.number_of_children
        self._most, self._dice = truth.schema.max_children, dice

    def counts(self) -> Iterator[tuple[str, str]]:
        """The kind of each question about a number of parents or children, and its text."""
        child = self._child
        for _ in range(EACH):
            yield "parents, one column", self._some(self._above)
            yield "parents, two columns", self._some(self._above, 2)
            yield "parents and size", f"{self._some(self._above)} and {self._size()}"
            yield "children, one column", f"{child}: {self._some(self._below)}"
            yield "children, two columns", f"{child}: {self._some(self._below, 2)}"
            yield "children and parent", f"{child}: {self._some(self._below)} and {self._some(self._above)}"
            yield "children and size", f"{child}: {self._some(self._below)} and {self._size()}"
            yield "with a child", f"with {child}: {self._some(self._below)}"
            yield "with a child of two columns", f"with {child}: {self._some(self._below, 2)}"
            yield "parents with a child", f"{self._some(self._above)} with {child}: {self._some(self._below)}"
            for where, columns, before in (("parents", self._above, ""), ("children", self._below, f"{child}: "),
                                           ("with a child", self._below, f"with {child}: ")):  # fmt: skip
                if narrow := [name for name, (one, _) in columns.items() if _numeric(one)]:
                    yield f"narrow, {where}", before + self._narrow(columns, str(self._dice.choice(narrow)))

    def means(self) -> Iterator[tuple[str, str, str]]:
        """The kind of each question about a mean, the column, and the text that names the group."""
        above, below = ([name for name, (one, _) in own.items() if _numeric(one)] for own in (self._above, self._below))
        for _ in range(EACH):
            yield "mean number of children", self._number, self._some(self._above)
            for name in below:
                yield "mean of children", name, f"{self._child}: {self._some(self._above)}"
            for name in above:
                yield "mean of parents", name, self._size()

    def _some(self, columns: Columns, number: int = 1) -> str:
        names = self._dice.permutation(sorted(columns))[:number]
        return " and ".join(self._condition(columns, str(name)) for name in names)

    def _size(self) -> str:
        form = self._dice.choice([">=", "==", "<"])
        return f"{self._number} {form} {self._dice.integers(1, min(5, self._most) + 1)}"

    def _condition(self, columns: Columns, name: str) -> str:
        """A category of a random raw record; or numbers up to, from, or between those of raw records."""
        attribute, codes = columns[name]
        one, other = sorted(codes[self._dice.integers(0, len(codes), 2)].tolist())
        if other >= attribute.grid:
            return f"{name} is null"
        if isinstance(attribute.scale, Labels):
            return f"{name} == {attribute.scale.labels[one]}"
        form = self._dice.integers(0, 3)
        low, high = _value(attribute, one), _value(attribute, other)
        return (f"{name} >= {low}", f"{name} <= {low}", f"{name} >= {low} and {name} <= {high}")[form]

    def _narrow(self, columns: Columns, name: str) -> str:
        """One value, or a few next to each other."""
        attribute, codes = columns[name]
        known = codes[codes < attribute.grid]
        one = int(known[self._dice.integers(0, len(known))])
        other = min(attribute.grid - 1, one + int(self._dice.integers(0, max(1, attribute.grid // NARROW))))
        return f"{name} >= {_value(attribute, one)} and {name} <= {_value(attribute, other)}"


Columns = Mapping[str, tuple[Attribute, Codes]]


def _numeric(attribute: Attribute) -> bool:
    return not isinstance(attribute.scale, Labels)


def _value(attribute: Attribute, code: int) -> str:
    return f"{float(numbers_of(attribute, np.array([code]))[0]):g}"
