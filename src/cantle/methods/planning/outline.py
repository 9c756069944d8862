"""The contents of a plan: parts of the budget, and the errors to expect. All of them are public values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt

from cantle.methods.planning.relations import Relations
from cantle.methods.planning.words import EpsilonInWords
from cantle.schema.html import table

MEAN_ERROR = 0.8
"""The mean of |x| for a normal x, in standard deviations; for Laplace noise it is 0.71."""


@dataclass(frozen=True)
class Part:
    """One question: its share of epsilon, and the standard deviation of the noise in one of its counts, in records."""

    question: str
    share: float
    noise: float | None = None


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What a method would do: the budget, the noise in the count of one value, and remarks.

    Attributes
    ----------
    method : str
        Its name.
    budget : tuple of Part
        All questions with their shares, which add up to 1.
    value_noise : float
        Standard deviation of the noise in the number of records that have one value of a column (one item, one degree).
    one_way : float
        Expected error of that number in records, averaged over columns and their values.
    cells : float
        The mean number of counts per column; the error of a group of many values sums the noise of its counts.
    blur : float
        The factor by which errors of groups of many values are larger, because their ends cut wide cells.
    too_fine : tuple of str
        Columns with so many values that most of them cannot be distinguished from noise, with the reason.
    remarks : tuple of str
        Other facts that a user should know.
    relations : Relations, optional
        The pairs of columns that would be measured together; None if the method does not choose them.
    seconds, megabytes : float, optional
        Rough estimates of core-seconds and memory.
    """

    method: str
    budget: tuple[Part, ...]
    value_noise: float
    one_way: float
    cells: float
    blur: float = 1.0
    too_fine: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    relations: Relations | None = None
    seconds: float | None = None
    megabytes: float | None = None


_NOUNS = {
    "degrees": ("nodes", "share of nodes with at least k edges"),
    "baskets": ("sets", "share of sets with one item"),
    "journeys": ("sequences", "share of sequences that start with one symbol"),
    "diffpart": ("sets", "share of sets with one item"),
}
"""For methods that do not count records of a table: the name of what they count, and of the share that is planned."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a release would be like, before anything is spent: made from the schema and a number of records alone.

    Attributes
    ----------
    epsilon : float
        The budget planned for.
    records : int
        The number of records, as it was given: a public guess.
    unit : str
        Whom the release would protect.
    outline : Outline
        The method with its budget by question, columns that are too fine, time and memory.
    one_way : float
        Expected error of the share of records that have one value of a column, from 0 to 1.
    groups : dict
        Expected error, in records, of the counts of groups of 1 % and of 10 % of the records, by one column.
    smallest : float
        The smallest group, in records, that stands out from noise: its 95 % interval does not reach 0.

    Examples
    --------
    >>> import cantle
    >>> schema = {"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]}
    >>> one, two = (cantle.plan(schema, epsilon=epsilon, records=10_000) for epsilon in (1, 2))
    >>> two.one_way < one.one_way < 0.01
    True
    >>> str(one).splitlines()[0]
    'epsilon 1 for one record, 10,000 records, method mosaic; errors to expect, on average:'
    """

    epsilon: float
    records: int
    unit: str
    outline: Outline
    one_way: float
    groups: dict[str, float] = field(default_factory=dict)
    smallest: float = 0.0

    def __str__(self) -> str:
        head = f"epsilon {self.epsilon:g} for {self.unit}, {self.records:,} {self.noun}, method {self.outline.method}"
        errors = (f"  {name}: {error}" for name, error in self.errors())
        return "\n".join([f"{head}; errors to expect, on average:", *errors, *self.outline.too_fine, *self.remarks()])

    def remarks(self) -> list[str]:
        """What else a user should know: first of all, which connections between columns would survive."""
        known = self.outline.relations
        return [*([] if known is None else [known.sentences()]), *self.outline.remarks]

    def _repr_html_(self) -> str:
        head, *_ = str(self).splitlines()
        budget = [
            (part.question, f"{100 * part.share:.1f} %" + ("" if part.noise is None else f", noise {part.noise:,.1f}"))
            for part in self.outline.budget
        ]
        warned = [("note", text) for text in (*self.outline.too_fine, *self.outline.remarks)]
        return table(head, self.errors()) + table("budget", budget) + (table("notes", warned) if warned else "")

    def errors(self) -> list[tuple[str, str]]:
        """The expected errors for people, as (what is counted, average error)."""
        noun, one_value = _NOUNS.get(self.outline.method, ("records", "share of one value of a column"))
        return [
            (one_value, f"{100 * self.one_way:.2g} %"),
            *((f"a group of {share} of the {noun}", f"{error:,.0f} {noun}") for share, error in self.groups.items()),
            ("smallest group that stands out from noise", f"{self.smallest:,.0f} {noun}"),
            *([("pairs of columns measured together", known.in_short())] if (known := self.outline.relations) else []),
        ]

    @property
    def noun(self) -> str:
        """What is counted: records, sets or nodes."""
        return _NOUNS.get(self.outline.method, ("records", ""))[0]

    @staticmethod
    def of(epsilon: float, records: int, unit: str, outline: Outline) -> Plan:
        """The plan that follows from the outline of a method."""
        errors = {f"{share} %": group_error(outline, records, share / 100) for share in (1, 10)}
        return Plan(
            epsilon=epsilon,
            records=records,
            unit=unit,
            outline=outline,
            one_way=min(1.0, outline.one_way / max(1, records)),
            groups=errors,
            smallest=outline.value_noise * log(20) / sqrt(2),
        )

    @property
    def words(self) -> EpsilonInWords:
        """Epsilon in words."""
        return EpsilonInWords.of(self.epsilon)

    def to_dict(self) -> dict[str, object]:
        """All facts of the plan in a form that JSON can hold."""
        facts = vars(self) | vars(self.outline) | {"words": self.words.lines()}
        facts["budget"] = [dict(vars(part)) for part in self.outline.budget]
        facts["too_fine"], facts["remarks"] = list(self.outline.too_fine), self.remarks()
        facts["relations"] = None if self.outline.relations is None else dict(vars(self.outline.relations))
        facts["one_way"] = self.one_way
        return {name: value for name, value in facts.items() if name not in ("outline", "cells", "blur")}


def group_error(outline: Outline, records: int, share: float) -> float:
    """The expected error of a group that holds a share of the records.

    The group is taken to consist of the same share of the counts of a column, at least one. The error is at most the
    size of the group.
    """
    counts = max(1.0, share * outline.cells)
    blur = outline.blur if counts > 1 else 1.0
    return min(MEAN_ERROR * outline.value_noise * sqrt(counts) * blur, share * records)


def too_fine(name: str, values: int, records: int, noise: float) -> Sequence[str]:
    """A remark on a column whose values hold too few records, on average, to stand out from noise."""
    each = records / max(1, values)
    least = noise * log(20) / sqrt(2)
    if each >= least or values < 3:
        return []
    return [
        f"{name}: each of its {values:,} values has {each:,.0f} records on average, and noise hides groups of fewer "
        f"than {least:,.0f}"
    ]
