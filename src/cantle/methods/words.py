"""Plain words: for the questions that a method pays for, and for epsilon. They are the same in plans, receipts,
statements and reports.

Epsilon says how much a release can change odds, and how sure somebody can become. What well-known deployments chose is
not comparable value by value: they protect different units (a person, a person on one day, an event), some are
approximate (they have a delta), and some are spent again every day or month.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from cantle.methods.mosaic.model.answers import FIRST, LIST_ITEMS, LIST_PAIRS, LIST_SIZES, LIST_TABLE
from cantle.methods.mosaic.model.bands import ALONE
from cantle.methods.mosaic.model.items import ITEMS
from cantle.methods.own_error.accuracy import WHY as ACCURACY

EVERY_COLUMN = "every column"

_QUESTIONS = {
    "split": "choosing where to cut",
    "split point": "choosing where to cut",
    "specialise": "choosing where to cut",
    "leaf": "counts of regions",
    "cells": "counts of groups",
    "class totals": "number of records per class",
    "item sets": "counts of sets",
    "leaf partitions": "counts of sets",
    "sub-partitions": "choosing which sets to count",
    "stop test": "tests whether to stop",
    ACCURACY: "measuring how far the release is off",
    FIRST: EVERY_COLUMN,
    "one-way tables": "every column by itself",
    "cells of wide columns": "where to cut columns of many values into ranges",
    "frequent values": "values that many records share",
    "cells of wide columns of parents": "where to cut columns of many values into ranges",
    "cells of wide columns of children": "where to cut columns of many values into ranges",
    "frequent values of parents": "values that many families share",
    "frequent values of children": "values that many families share",
    "siblings tables": "each child together with the one before",
    "one frequent value": "the one value that most records share",
    "hub column": "choosing the column that others depend on most",
    "choice of tables": "choosing tables of several columns",
    "tables": "counts of tables of several columns",
    ITEMS: "items of groups, each by itself",
    LIST_SIZES: "how long lists are",
    LIST_ITEMS: "items of lists, each by itself",
    LIST_PAIRS: "items of lists, two by two",
    f"{LIST_TABLE}s": "items of lists by other columns",
    "places": "where places are",
    ALONE: "the target by itself",
    "leaves by class": "the target in groups of similar records",
    "set sizes": "sizes of sets",
    "item supports": "counts of items",
    "head patterns": "which of the most frequent items go together",
    "kept edges": "number of edges",
    "nodes with edges": "number of nodes",
    "degrees at least k": "nodes by degree",
    "degrees at most k": "nodes by degree",
}
"""Plain words for reasons in the receipt; reasons that are not listed are plain words already."""


def question_in_words(why: str) -> str:
    """A reason in the receipt in plain words; numbered questions of one kind are put together.

    >>> question_in_words("split"), question_in_words("choice of table 12"), question_in_words("sorted degrees")
    ('choosing where to cut', 'choosing tables of several columns', 'sorted degrees')
    >>> question_in_words("first tables, 5 to 8 cells")
    'every column'
    """
    kind = re.sub(r" \d+$", "s", re.sub(rf"^{FIRST}, .*", FIRST, why))
    return _QUESTIONS.get(kind, kind)


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
