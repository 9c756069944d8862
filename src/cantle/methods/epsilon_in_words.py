"""Epsilon in words: how much it can change odds, how sure somebody can become, and what well-known deployments chose.

Their values are not comparable one by one: they protect different units (a person, a person on one day, an event), some
are approximate (they have a delta), and some are spent again every day or month.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

CAREFUL, RECKLESS = 5, 20
"""Above the first epsilon a release comes with a warning; above the second the command line asks for `--yes`."""


@dataclass(frozen=True)
class EpsilonInWords:
    """How sure somebody who sees a release can be, at most, that one protected unit is in the data.

    Neighbours differ in whether the unit is in the data. For two inputs that contain the unit with different values,
    take 2 epsilon.
    """

    odds: float
    """The factor by which the odds that the unit is in the data can change."""
    from_half: float
    """The probability that 1/2 can become."""
    from_tenth: float
    """The probability that 1/10 can become."""

    @staticmethod
    def of(epsilon: float) -> EpsilonInWords:
        """The figures for this epsilon.

        >>> words = EpsilonInWords.of(1.0)
        >>> round(words.odds, 2), round(words.from_half, 2), round(words.from_tenth, 2)
        (2.72, 0.73, 0.23)
        """
        return EpsilonInWords(math.exp(min(epsilon, 700.0)), _after(0.5, epsilon), _after(0.1, epsilon))

    def lines(self) -> list[str]:
        """Sentences for people."""
        odds = (
            f"{self.odds:,.2f}" if self.odds < 100 else f"{self.odds:,.0f}" if self.odds < 1e9 else f"{self.odds:.1e}"
        )
        half, tenth = _percent(self.from_half), _percent(self.from_tenth)
        return [
            f"the odds that a given person is in the data change by a factor of at most {odds}",
            f"somebody who is 50 % sure that a person is in the data can be at most {half} sure after the release",
            f"somebody who is 10 % sure of it can be at most {tenth} sure after the release",
            "if it is known that the person is in the data, and the guess is about their record, take twice epsilon",
        ]


def _after(chance: float, epsilon: float) -> float:
    """The probability that `chance` becomes if its odds are multiplied by e^epsilon."""
    return 1 / (1 + (1 - chance) / chance * math.exp(-min(epsilon, 700.0)))


def _percent(chance: float) -> str:
    """A chance in percent, which is never rounded up to certainty.

    >>> _percent(0.731), _percent(0.9996)
    ('73 %', 'nearly 100 %')
    """
    return f"{100 * chance:.0f} %" if chance < 0.995 else "nearly 100 %"


def caution(epsilon: float) -> str | None:
    """A warning for an epsilon that protects little; None for others."""
    if epsilon <= CAREFUL:
        return None
    after = 100 * _after(0.5, epsilon)
    shown = f"{after:.1f} %" if after < 99.95 else "nearly 100 %"
    return (
        f"epsilon {epsilon:g} protects little: somebody who is 50 % sure that a person is in the data may be {shown} "
        "sure afterwards; cantle plan shows what smaller values cost in accuracy"
    )


@dataclass(frozen=True)
class Deployment:
    """A published use of differential privacy: its smallest and largest epsilon, whom it protects, and the source."""

    name: str
    low: float
    high: float
    unit: str
    source: str


_LIST = "D. Desfontaines, A list of real-world uses of differential privacy"

DEPLOYMENTS = (
    Deployment("Google, searches for symptoms", 1.68, 1.68, "a user's searches of one day", "arXiv:2009.01265"),
    Deployment("Google, searches for vaccination", 2.19, 2.19, "a user's searches of one day", "arXiv:2107.01179"),
    Deployment("Apple, words, emojis, health types", 2, 16, "a user's reports of one day", _LIST),
    Deployment("Israel, registry of live births", 9.98, 9.98, "a mother and newborn", "arXiv:2405.00267"),
    Deployment("Microsoft and IOM, trafficking", 12, 12, "a victim", "OpenDP, registry of DP deployments"),
    Deployment("US Census 2020, redistricting", 17.14, 19.61, "a person", "US Census Bureau, 9 June 2021"),
    Deployment("LinkedIn, audience engagement", 34.9, 34.9, "a member, every month", "arXiv:2002.05839"),
)


def like(epsilon: float) -> str:
    """A sentence that compares an epsilon with these deployments."""
    below = sum(one.high < epsilon for one in DEPLOYMENTS)
    above = sum(one.low > epsilon for one in DEPLOYMENTS)
    return f"of the {len(DEPLOYMENTS)} published deployments listed below, {below} chose less and {above} chose more"
