"""Estimates with intervals, and the width that an interval needs for noise of a known law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import NormalDist

import polars as pl

from cantle.methods.own_error.accuracy import PairError, QuestionError
from cantle.release.accuracy import WORST_DOUBT, noise_scale
from cantle.schema.code_sets import CodeSet
from cantle.schema.taxonomy import table

MEASURED = "measured"
NOISE = "noise"
LIMITS = "limits"
NOISE_ONLY = "noise only"
WITHOUT_CONFIDENCE = (LIMITS, NOISE_ONLY)
"""Intervals that hold the true value in an unknown share of cases; no text may call them 95 % intervals."""


@dataclass(frozen=True)
class Estimate:
    """An answer to a question, read from a release alone.

    Attributes
    ----------
    value : float
        The best estimate; NaN for the mean of no records.
    low, high : float
        The ends of the interval.
    confidence : float or None
        The share of such intervals that contain the true value; None for "limits" and "noise only".
    covers : str
        "noise": the answer comes from noisy counts, and the interval covers their noise, which is their whole error.
        "measured": the answer comes from the released records, and the interval from their measured error.
        "limits": the release never related what the question relates. The interval is what the counts of single
        columns allow.
        "noise only": the answer comes from the released records, whose error was not measured. The interval covers the
        noise in the counts they were drawn from, but not the error that drawing records adds.
    note : str
        What else the interval allows for, or why it is wide, such as a bound inside a step; often empty.

    Examples
    --------
    >>> print(Estimate(1200.0, 1100.0, 1300.0, 0.95, "noise"))
    1,200 (95 % interval 1,100 to 1,300)
    """

    value: float
    low: float
    high: float
    confidence: float | None
    covers: str = MEASURED
    note: str = ""

    def __post_init__(self) -> None:
        if self.covers in WITHOUT_CONFIDENCE:
            object.__setattr__(self, "confidence", None)

    def __str__(self) -> str:
        value, low, high = (in_words(number, self.high - self.low) for number in (self.value, self.low, self.high))
        if self.confidence is not None:
            words = f"{value} ({100 * self.confidence:g} % interval {low} to {high})"
        elif self.covers == LIMITS:
            words = f"{value} (possible: {low} to {high}; no 95 % interval exists)"
        else:
            words = f"{value} ({low} to {high} by the noise of the counts alone)"
        return f"{words}; {self.note}" if self.note else words

    def _repr_html_(self) -> str:
        return table("cantle estimate", [("estimate", self), ("the interval covers", self.covers)])

    def to_dict(self) -> dict[str, float | str | None]:
        """The fields as a dictionary; numbers that are not finite become None, because JSON has no such numbers."""
        return {name: None if value != value else value for name, value in vars(self).items()}

    def at_least_zero(self) -> Estimate:
        """The estimate of a count, which is never below 0."""
        return replace(self, value=max(0.0, self.value), low=max(0.0, self.low), high=max(0.0, self.high))


def columns_of_estimates(made: Sequence[Estimate]) -> list[pl.Series]:
    """Estimates as columns of a frame: value, low, high, covers."""
    kinds = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "covers": pl.String}
    return [pl.Series(name, [getattr(one, name) for one in made], dtype=kind) for name, kind in kinds.items()]


def in_words(number: float, width: float) -> str:
    """A number as text, with as many digits as the width of its interval justifies."""
    if number != number:
        return "unknown"
    digits = 0 if not width or width >= 20 else 1 if width >= 2 else 2 if width >= 0.2 else 4
    return f"{number:,.{digits}f}"


HELD = CodeSet((1, 2), 2)
"""The codes of the question whether a record holds an item, or a string of symbols."""


@dataclass(frozen=True)
class Noise:
    """The law of a sum of independent Laplace noises, by its variance and fourth cumulant."""

    variance: float = 0.0
    fourth: float = 0.0

    @staticmethod
    def of(variance: float, coefficient: float = 1.0, times: float = 1.0) -> Noise:
        """`times` noises of this variance, each multiplied by a coefficient (Laplace: fourth cumulant 3 variance^2)."""
        own = coefficient**2 * variance
        return Noise(times * own, times * 3 * own**2)

    def __add__(self, other: Noise) -> Noise:
        return Noise(self.variance + other.variance, self.fourth + other.fourth)

    def scaled(self, factor: float) -> Noise:
        return Noise(factor**2 * self.variance, factor**4 * self.fourth)

    def margin(self, confidence: float) -> float:
        """The half width of an interval that contains the noise with this probability, to a good approximation.

        It is the normal quantile with Cornish and Fisher's correction for kurtosis, but at most the quantile of one
        Laplace noise, whose tails are heavier than those of any sum.
        """
        if not self.variance:
            return 0.0
        normal = NormalDist().inv_cdf((1 + confidence) / 2)
        corrected = normal + self.fourth / self.variance**2 * (normal**3 - 3 * normal) / 24
        laplace = log(1 / (1 - confidence)) / sqrt(2)
        return sqrt(self.variance) * max(normal, min(corrected, laplace))


def level(error: QuestionError | PairError, confidence: float, doubt: float = WORST_DOUBT) -> float:
    """By how many records a question is off at most, if `doubt` scales of its noise are added to a measured error."""
    return (max(0, error.records) + doubt * noise_scale(error)) * rescaled(confidence)


def rescaled(confidence: float) -> float:
    """The factor that turns the 95 % quantile of errors into that of another confidence: the larger of the factors for
    normal and for Laplace errors."""
    normal = NormalDist()
    bell = normal.inv_cdf((1 + confidence) / 2) / normal.inv_cdf(0.975)
    return max(bell, log(1 / (1 - confidence)) / log(20))
