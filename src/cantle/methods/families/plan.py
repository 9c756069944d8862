"""The shares of epsilon in a run of families, and the sizes of its tables; all of it follows from public numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, isqrt

from cantle.methods.mosaic.plan import NANO, SELECTION, SIZE, SPIKES, SPLIT, Opening, price, rho

HALFWAY = 21
"""The rho at which first tables would get half of the budget; see `cantle.methods.mosaic.plan`."""

LEAST_FIRST, MOST_FIRST = 0.15, 0.6
FEW, MOST_FIRST_OF_FEW = 4_000, 0.9
"""With fewer families times epsilon than this, chosen tables are mostly noise, and first tables may take more. Chosen
on households and made-up patients and students, at epsilon 0.1 (2,000 to 2,800) and 0.3 (6,000 to 8,400)."""

TABLES_FROM, MORE_FROM = 48, 200
"""Expected records per table: below the first as many tables as columns at most, above the second twice as many."""

SIBLING_GROUPS = 16
"""Most groups of a column in the table of a child and the one before."""

SIBLING_WEIGHT = Fraction(3, 2)
"""How much more a table of siblings weighs than a first table of as many cells: they alone tell who is with whom."""

ORDERS_PART = 3
"""In long chains, one of so many chosen tables makes room for the order's table of siblings: an error in a gap moves
all later children."""


@dataclass(frozen=True)
class Plan:
    """The share of each first table and of each table of siblings, of the choices and of the chosen tables; their
    number, rounds and largest size."""

    first: tuple[Fraction, ...]
    siblings: tuple[Fraction, ...]
    selection: Fraction
    tables: Fraction
    count: int
    rounds: int
    cap: int

    def in_long_chains(self, order: int) -> Plan:
        """The plan for long chains, in which some chosen tables make room for the order's table of siblings."""
        moved = self.count // ORDERS_PART
        kept = Fraction(self.count - moved, max(1, self.count))
        siblings = list(self.siblings)
        siblings[order] += (self.tables + self.selection) * (1 - kept)
        return replace(
            self,
            siblings=tuple(siblings),
            selection=self.selection * kept,
            tables=self.tables * kept,
            count=self.count - moved,
        )


def shape_share(start: Opening) -> Fraction:
    """The share of the questions about cells of wide columns, which are asked if there are enough families."""
    return SPLIT * start.gate + SPIKES * start.spikes


def plan(start: Opening, first: Sequence[int], child: Sequence[int]) -> Plan:
    """The plan for first tables of these numbers of cells, and children's columns of these numbers of cells."""
    siblings = [min(cells, SIBLING_GROUPS) ** 2 for cells in child]
    budget = 1 - SIZE - shape_share(start) - start.accuracy
    strength = rho(start.n0, start.rate, [*first, *siblings])
    most = MOST_FIRST_OF_FEW if start.n0 * start.rate < FEW else MOST_FIRST
    share = Fraction(floor(min(most, max(LEAST_FIRST, HALFWAY / (HALFWAY + strength))) * NANO), NANO)
    tables = budget * (1 - share) * (1 - SELECTION)
    expected = start.n0 * float(tables) * start.rate / 4
    columns = len(first) + len(child)
    count = int(max(min(expected / TABLES_FROM, columns), min(expected / MORE_FROM, 2 * columns)))
    if not count:
        share, tables = Fraction(1), Fraction(0)
    weights = [Fraction(isqrt(cells * 10**6)) for cells in first]
    weights += [SIBLING_WEIGHT * isqrt(cells * 10**6) for cells in siblings]
    shares = [budget * share * weight / sum(weights) for weight in weights]
    return Plan(
        tuple(shares[: len(first)]),
        tuple(shares[len(first) :]),
        budget * (1 - share) * SELECTION,
        tables,
        count,
        0 if not count else 1 if count < 4 else 2 if count <= columns else 3,
        max(4, int(expected / max(1, count))),
    )


def paid(share: Fraction, epsilon: Fraction) -> Fraction:
    """A share of epsilon in whole nano-units, one at least."""
    return max(price(share, epsilon), Fraction(1, NANO))
