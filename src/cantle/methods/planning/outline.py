"""The contents of a plan: parts of the budget, and the errors to expect. All of them are public values.

How many pairs of columns mosaic would measure together follows from the schema, epsilon and a declared number of
records. Which tables a run chooses depends on the data, so their choice is played with public dice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log, sqrt

from cantle.drawing.counts import Dice, public_dice
from cantle.methods.mosaic.model.table_sets import Survivors, candidates
from cantle.methods.mosaic.plan import Plan as Shares
from cantle.methods.words import EpsilonInWords
from cantle.schema.taxonomy import table

LARGE = {"coarse": 0.3, "fine": 0.15}
"""How often a run chooses a table of three or more columns, if columns have few cells or many, on average. Such a table
has few groups per column, so that it wins less often where columns have many cells. Chosen on Adult, bank, nltcs and
generated surveys."""

FINE = 10
"""The mean number of cells from which on columns are fine."""

FEW = 0.1
"""The share of all pairs below which nearly all pairs of columns come out unrelated."""

WHOLE = 0.95
"""The share of all pairs above which a plan says that all of them would be measured together."""


MEANT = 3
"""The smallest number of columns that is recommended."""


@dataclass(frozen=True)
class Relations:
    """The pairs of columns that would be measured together.

    Attributes
    ----------
    together, pairs : int
        Their expected number, and the number of all pairs.
    lead : str or None
        A column that would be measured together with every other one: the target.
    columns, half, whole : int
        The number of columns, and about how many columns could be kept so that half of their pairs, or all of them,
        would be measured together.
    """

    together: int
    pairs: int
    lead: str | None
    columns: int
    half: int
    whole: int

    @property
    def share(self) -> float:
        return self.together / max(1, self.pairs)

    def in_short(self) -> str:
        return f"about {self.together:,} of {self.pairs:,}"

    def sentences(self) -> str:
        """What happens to the connections between columns, and how few columns would keep them."""
        lead = f", each column with {self.lead} among them" if self.lead is not None else ""
        said = f"about {self.together:,} of {self.pairs:,} pairs of columns will be measured together{lead}"
        if self.share >= WHOLE:
            return said
        if self.share < FEW:
            said += "; nearly all pairs will come out unrelated, whatever they are"
        else:
            said += "; connections of other pairs come out weaker than they are, or are lost"
        if MEANT <= self.half < self.columns:
            fewer = self.columns - self.half
            left_out = f"leave out about {fewer} column{'s' if fewer > 1 else ''}"
            said += f"; {left_out}, and half of the remaining pairs are measured together"
        if self.whole >= MEANT:
            said += f"; with at most about {self.whole} columns all pairs would be measured together"
        return said


def relations(columns: int, lead: str | None, together: Callable[[int], int], fewest: int = 2) -> Relations | None:
    """The relations of a table; `together` gives the expected number of pairs if so many columns are kept."""
    if columns < fewest + 1:
        return None

    def share(kept: int) -> float:
        return together(kept) / (kept * (kept - 1) / 2)

    def most(wanted: float) -> int:
        """The largest number of columns with this share of pairs; the share falls as the number grows."""
        low, high = fewest, columns
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if share(middle) >= wanted else (low, middle - 1)
        return low

    pairs = columns * (columns - 1) // 2
    return Relations(together(columns), pairs, lead, columns, most(0.5), most(WHOLE))


def pairs_together(sizes: Sequence[int], lead: int | None, shares: Shares) -> int:
    """The expected number of pairs of columns in the first tables and the chosen ones.

    `sizes` has the number of cells of each column, and `lead` is the column that all first tables contain.
    """
    dice = public_dice(0)
    known = set() if lead is None else {frozenset((lead, one)) for one in range(len(sizes)) if one != lead}
    taken = set[tuple[int, ...]]()
    large = LARGE["fine" if sum(sizes) > FINE * len(sizes) else "coarse"]
    for number in range(shares.rounds):
        found = [members for members, _ in candidates(sizes, lead, shares.label > 0, shares.cap, taken, dice)]
        survivors = Survivors(found, len(sizes), joining=number == 0)
        while len(taken) < shares.count * (number + 1) // shares.rounds and len(left := survivors.left()):
            chosen = _played(found, left.tolist(), large, dice)
            survivors.choose(chosen)
            taken.add(found[chosen])
    return len(known.union(frozenset(pair) for members in taken for pair in combinations(members, 2)))


def _played(found: Sequence[tuple[int, ...]], left: Sequence[int], often: float, dice: Dice) -> int:
    """One of the candidates that are left: `often` a large set, otherwise a pair, at random."""
    large = [one for one in left if len(found[one]) > 2]
    small = [one for one in left if len(found[one]) == 2]
    chosen = (large if dice.random() < often else small) or large or small
    return int(dice.choice(chosen))


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
    "families": ("families", "share of families with one value"),
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
