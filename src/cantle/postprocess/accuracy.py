"""The accuracy of a release: a few noisy numbers about how far its records are off. Released values only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cantle.postprocess.counts import variance
from cantle.schema.html import table
from cantle.trusted.budget import NANO
from cantle.trusted.geometry.workloads import SetWorkload, TableWorkload

Rate = tuple[int, int]
"""Numerator and denominator of the rate of a number's noise."""

WHY = "accuracy of the release"
"""What the receipt calls it."""

KINDS = ("one_column", "more_columns", "pairs")
"""The kinds of numbers, in the order of their questions."""


@dataclass(frozen=True, kw_only=True)
class QuestionError:
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
    records: int
    rate: Rate

    @property
    def sd(self) -> float:
        """The standard deviation of the noise in `records`."""
        return noise_sd(self.rate)


@dataclass(frozen=True, kw_only=True)
class PairDistance:
    """The mean distance between true and released tables of two columns.

    Attributes
    ----------
    pairs : int
        How many pairs of columns were compared, each column in at most 16 groups.
    records : int
        The mean over pairs of the sum of all differences between counts; a noisy number, which may be below 0.
    distance : float
        The same as a total variation distance from 0 to 1: records / (2 * released records).
    rate : tuple of int
        Numerator and denominator of the rate of the discrete Laplace noise in `records`.
    """

    pairs: int
    records: int
    distance: float
    rate: Rate

    @property
    def sd(self) -> float:
        """The standard deviation of the noise in `records`."""
        return noise_sd(self.rate)


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
    more_columns : QuestionError or None
        Questions about two or three columns (of sets: about pairs and triples of items).
    pairs : PairDistance or None
        Tables of two columns. None for sets.
    workload : str
        SHA-256 of the questions, which `verify` draws again; empty if nothing was measured.
    """

    bought: bool
    share: Fraction
    noisy_records: int
    one_column: QuestionError | None = None
    more_columns: QuestionError | None = None
    pairs: PairDistance | None = None
    workload: str = ""

    def _repr_html_(self) -> str:
        numbers = {
            name.replace("_", " "): f"{max(0, one.records):,} records, ± {one.sd:,.0f}"
            for name, one in vars(self).items()
            if one in self.numbers()
        }
        known = {"share of epsilon": self.share, "noisy records": f"{self.noisy_records:,}"}
        return table("cantle accuracy, measured privately", [*known.items(), *numbers.items()])

    def numbers(self) -> list[QuestionError | PairDistance]:
        """The measured numbers, in the order of their questions."""
        return [one for one in (self.one_column, self.more_columns, self.pairs) if one is not None]


def worth_measuring(share: Fraction, epsilon_nano: int, noisy_records: int, max_records: int) -> bool:
    """Whether the noise scale of the numbers is at most 2 % of the records: 3 k / (share * epsilon) <= n / 50.

    >>> worth_measuring(Fraction(1, 25), 10**9, 3750, 1), worth_measuring(Fraction(1, 25), 10**9, 3749, 1)
    (True, False)
    """
    return 150 * max_records * NANO <= share * epsilon_nano * max(1, noisy_records)


def kinds_of(workload: TableWorkload | SetWorkload) -> dict[str, int]:
    """The kinds of numbers that a workload asks for, with the number of questions or pairs of each."""
    if isinstance(workload, TableWorkload):
        numbers = [len(workload.one_column), len(workload.more_columns), len(workload.pairs)]
    else:
        numbers = [len(workload.items), len(workload.starts) - 1, 0]
    return {name: number for name, number in zip(KINDS, numbers, strict=True) if number}


def noise_sd(rate: Rate) -> float:
    """The standard deviation of discrete Laplace noise of this rate.

    >>> round(noise_sd((4, 300)), 1)
    106.1
    """
    return float(variance(rate[0] / rate[1])) ** 0.5


def total_variation(records: int, released: int) -> float:
    """A sum of differences between counts as a total variation distance: in [0, 1], rounded to six decimals.

    >>> total_variation(900, 10_000), total_variation(-3, 10_000)
    (0.045, 0.0)
    """
    return round(min(1.0, max(0.0, records / (2 * max(1, released)))), 6)
