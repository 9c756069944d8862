"""Well-known deployments with the epsilon that they published, for comparison.

The values are not comparable one by one: they protect different units (a person, a person on one day, an event), some
are approximate (they have a delta), and some are spent again every day or month.
"""

from __future__ import annotations

from dataclasses import dataclass


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
