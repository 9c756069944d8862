"""The accuracy of a release: a few noisy numbers about how far its records are off. Released values only.

Two columns are *together* if some noisy table has them both. All other pairs are *apart*: the release connects them
only through other columns, so it may have lost a connection between them.

The scale of a question says how large its error may be beside the errors of other questions. If the connection of two
columns is wrong by a strength phi, each cell of the table of two conditions is off by n phi sqrt(p (1 - p) q (1 - q)),
where p and q are the shares of the conditions: small cells as much as large ones. A count of three columns is off about
in proportion to sqrt(c (1 - c)), where c is its own share, and a count of one column falls more slowly with c. A
measured error is stated for questions of scale LARGE, and other questions get their part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.drawing.counts import variance
from cantle.errors import ParameterError
from cantle.methods.mosaic.model.answers import LIST_PAIRS
from cantle.schema.domain import Attribute
from cantle.schema.taxonomy import table
from cantle.trusted.core.arrays import Floats, Ints
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.workloads import (
    APART,
    ASKED,
    ONE_COLUMN,
    TOGETHER,
    FamilyWorkload,
    SequenceWorkload,
    SetWorkload,
    TableWorkload,
)

if TYPE_CHECKING:
    from cantle.schema.canonical_json import JSON

Rate = tuple[int, int]
"""Numerator and denominator of the rate of a number's noise."""

WHY = "accuracy of the release"
"""What the receipt calls it."""

KINDS = ("one_column", "together", "apart")
"""The kinds of numbers, in the order of their questions."""


@dataclass(frozen=True, kw_only=True)
class _NoisyRecords:
    """A noisy number of records."""

    records: int
    rate: Rate

    def __post_init__(self) -> None:
        if min(self.rate) < 0 or self.rate[1] < 1:
            raise ParameterError("the rate of the noise is not two whole numbers from 0 and 1 on")

    @property
    def sd(self) -> float:
        """The standard deviation of the noise in `records`."""
        return noise_sd(self.rate)


@dataclass(frozen=True, kw_only=True)
class QuestionError(_NoisyRecords):
    """The error of random counting questions about the released records.

    Attributes
    ----------
    q : int
        How many questions were drawn.
    records : int
        95 % of the questions are off by at most this many records; a noisy number, which may be below 0.
    rate : tuple of int
        Numerator and denominator of the rate of the discrete Laplace noise in `records`.
    """

    q: int


@dataclass(frozen=True, kw_only=True)
class PairError(_NoisyRecords):
    """The error of counting questions about pairs of columns of one class, for a large group; of sets, about pairs and
    triples of items.

    Questions about smaller groups of a table are off by less.

    Attributes
    ----------
    pairs : int
        How many pairs were asked about, of those in the class.
    records : int
        Questions are off by at most this many records; a noisy number, which may be below 0. It stands for 95 % of the
        questions about a pair: about 95 % of the pairs that were measured together, and about every one of the others.
        Of sets it stands for every pair and triple that was asked about.
    rate : tuple of int
        Numerator and denominator of the rate of the discrete Laplace noise in `records`.
    """

    pairs: int


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """The error of a release, measured privately on its own records with a share of epsilon.

    Attributes
    ----------
    bought : bool
        Whether it was measured. If there are too few records for it, the share goes to the method.
    share : Fraction
        The share of epsilon (parameter `accuracy_share`).
    noisy_records : int
        The noisy or declared number of records that decided it.
    one_column : QuestionError or None
        Questions about one column (of sets: about one item). None where none could be drawn.
    together, apart : PairError or None
        Of families: those that have a certain child, and those that have two children in a row of certain kinds;
        `one_column` is about families by their own columns. Of other data:
        Pairs of columns that the release measured together, and other pairs. With few records there is only one number,
        `apart`, which then is about all pairs. Of sets: pairs and triples of items all of whose pairs were counted, and
        others. Of sequences: pairs of symbols that follow each other directly, and at any distance. None where there
        are none.
    all_pairs, pairs_together : int
        How many pairs of columns there are, and how many of them were measured together; 0 for sets.
    workload : str
        SHA-256 of the questions, which `verify` draws again; empty if nothing was measured.
    earlier : dict or None
        The accuracy as cantle 0.1 wrote it, of a release of that version: no other number is known then.
    in_words : str
        The accuracy of a release in one sentence, which is also what printing it shows.
    """

    bought: bool
    share: Fraction
    noisy_records: int
    one_column: QuestionError | None = None
    together: PairError | None = None
    apart: PairError | None = None
    all_pairs: int = 0
    pairs_together: int = 0
    workload: str = ""
    earlier: Mapping[str, JSON] | None = None
    in_words: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.in_words or repr(self)

    def _repr_html_(self) -> str:
        numbers = {
            name.replace("_", " "): f"{max(0, one.records):,} records, ± {one.sd:,.0f}"
            for name, one in vars(self).items()
            if one in self.numbers()
        }
        known = {"share of epsilon": self.share, "noisy records": f"{self.noisy_records:,}"}
        return table("cantle accuracy, measured privately", [*known.items(), *numbers.items()])

    def numbers(self) -> list[QuestionError | PairError]:
        """The measured numbers, in the order of their questions: K of them."""
        known = (self.one_column, self.together, self.apart)
        return [one for one in known if one is not None]

    def of_pairs(self, *, together: bool) -> list[PairError]:
        """The numbers of which the largest counts for pairs measured together, or for other pairs.

        A class that was not measured by itself borrows the number of the other one.
        """
        asked = [self.together or self.apart] if together else [self.together, self.apart]
        return [one for one in asked if one is not None]


def affordable(share: Fraction, epsilon_nano: int, noisy_records: int, max_records: int, *, of_tables: bool) -> int:
    """How many numbers can be measured: 3, 1 or 0.

    Three if the scale of their noise is at most a 33rd of the records, 3 k / (share * epsilon) <= n / 33; else, of
    tables only, one if k / (share * epsilon) <= n / 50.

    >>> [affordable(Fraction(1, 25), 10**9, n, 1, of_tables=True) for n in (2475, 2474, 1250, 1249)]
    [3, 1, 1, 0]
    >>> [affordable(Fraction(1, 25), 10**9, n, 1, of_tables=False) for n in (2475, 2474)]
    [3, 0]
    """
    paid, k = share * epsilon_nano * max(1, noisy_records), max_records * NANO
    return 3 if 99 * k <= paid else 1 if of_tables and 50 * k <= paid else 0


def kinds_of(workload: TableWorkload | SetWorkload | SequenceWorkload | FamilyWorkload) -> dict[str, int]:
    """The kinds of numbers that a workload asks for, in their order, with the number of questions or pairs of each."""
    if isinstance(workload, FamilyWorkload):
        numbers = {name: len(workload.of(view)) for name, view in zip(KINDS, ASKED, strict=True)}
    elif isinstance(workload, SetWorkload):
        numbers = {"one_column": len(workload.items), "together": workload.together}
        numbers["apart"] = len(workload.starts) - 1 - workload.together
    elif isinstance(workload, SequenceWorkload):
        numbers = {"together": workload.near, "apart": workload.cells - workload.near}
    else:
        alone = np.flatnonzero(workload.classes == ONE_COLUMN)
        numbers = {"one_column": int(np.diff(workload.rectangles.starts)[alone].sum())}
        for name, number in (("together", TOGETHER), ("apart", APART)):
            numbers[name] = int((workload.classes == number).sum())
    return {name: number for name, number in numbers.items() if number}


def noise_sd(rate: Rate) -> float:
    """The standard deviation of discrete Laplace noise of this rate.

    >>> round(noise_sd((4, 300)), 1)
    106.1
    """
    return float(variance(rate[0] / rate[1])) ** 0.5


Pair = frozenset[str]


def all_pairs(columns: Iterable[Attribute]) -> set[Pair]:
    """All pairs of columns with two or more codes."""
    return set(_of(column.name for column in columns if column.size > 1))


def measured_pairs(structure: Mapping[str, Any]) -> set[Pair]:
    """The pairs of columns in the noisy tables of a release, given its structure in release.json.

    Regions of rps and diffgen are over all columns at once and too coarse for most pairs. None of their pairs counts as
    together: on generated and real data, the error of one pair said little about that of the next.
    """
    tables = structure.get("tables", ())
    return set(_in_tables(about for about in tables if isinstance(about, Mapping)))


def _of(columns: Iterable[str]) -> Iterator[Pair]:
    return (frozenset(pair) for pair in combinations(sorted(set(columns)), 2))


def _in_tables(tables: Iterable[Mapping[str, Any]]) -> Iterator[Pair]:
    """A table relates all its columns; counts of items each item to a column, or each two of them; a tree over cells
    its column to each column that it cuts."""
    for about in tables:
        yield from _of(about.get("columns", ()))
        yield from map(frozenset, product(about.get("of", ()), about.get("by", ())))
        if about.get("why") == LIST_PAIRS:
            yield from _of(about["of"])
        for node in about.get("tree", ()):
            if "column" in node:
                yield from _of((about["column"], node["column"]))


LARGE = 0.3
"""The scale of a question about a tenth of the records, sqrt(.1 * .9)."""

OF_SINGLES = 0.7
"""The part of sqrt(c (1 - c)) that a question about two columns has at least, for the errors of single columns."""

OF_PAIRS = 0.5
"""The part of the scale of its two rarest conditions that a question about three columns has at least."""

SMALLEST_SHARE, SMALLEST_REFERENCE = 0.005, 0.02


def spread(shares: Floats) -> Floats:
    """p (1 - p) of shares, which are cut at half a percent from both ends."""
    p = np.clip(shares, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    return np.asarray(p * (1 - p))


def scale_of(whole: Floats, parts: Sequence[Floats]) -> Floats:
    """The scale of questions with the share `whole`, whose conditions on single columns have the shares `parts`.

    >>> tenth = np.array(0.1)
    >>> [round(float(scale_of(tenth**n, [tenth] * n)), 3) for n in (1, 2)]
    [0.3, 0.18]
    """
    own = np.sqrt(spread(whole))
    if len(parts) < 2:  # small groups lie in parts of few cells, where errors fall more slowly
        return np.minimum(LARGE, np.sqrt(LARGE * own))
    rarest = np.sort([spread(part) for part in parts], axis=0)[:2]
    tied = 2 * np.sqrt(rarest[0] * rarest[1])
    return np.maximum(own, OF_PAIRS * tied) if len(parts) > 2 else np.maximum(OF_SINGLES * own, tied)


def largest_spread(times: Ints, *, ordered: bool) -> float:
    """The largest p (1 - p) of a condition on one column, given how often each of its values occurs, in their order:
    one value of a category, or all values below a bound."""
    every = np.cumsum(times)[:-1] if ordered else times
    total = max(1, int(times.sum()))
    return float(spread(every / total).max(initial=SMALLEST_SHARE * (1 - SMALLEST_SHARE)))


def reference(one: float, other: float) -> float:
    """The scale for which the error of a pair of columns is stated, from the largest spread of each: LARGE, or less if
    no question about them has that scale."""
    return max(SMALLEST_REFERENCE, min(LARGE, 2 * (one * other) ** 0.5))
