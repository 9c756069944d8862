"""Public rules of `mosaic`: the share of epsilon of each step, how many tables are bought and how large they may be.

Everything here depends on the schema and on noisy answers only. "n0" means max(1, noisy number of records) in every
rule, and epsilon is divided by the number of records per person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from cantle.postprocess.mosaic.answers import FIRST

NANO = 10**9
SIZE, SHUT, HUB = Fraction(2, 100), Fraction(1, 100), Fraction(5, 100)
TREE, SPIKES, HEAPS = Fraction(2, 100), Fraction(2, 100), Fraction(1, 100)
LABEL, SELECTION = Fraction(1, 10), Fraction(1, 10)
HALFWAY = 42
"""The rho at which the first tables and the chosen tables get equal shares."""

LOW = 8
"""The rho below which tables are not chosen (with a two-valued target) and wide columns get 16 widths."""

CUBE_ROOTS = 50, 63, 79
"""Those of 1, 2 and 4, times 50."""

GATE = 100
HUB_COLUMNS = 40
MOST_CLASSES = 8
"""Most cells of a target."""


def price(share: Fraction, epsilon: Fraction) -> Fraction:
    """A share of epsilon, floored to nano-units."""
    return Fraction(floor(share * epsilon * NANO), NANO)


@dataclass(frozen=True)
class Opening:
    """What is decided from n0 before any table is bought."""

    n0: int
    rate: float  # epsilon per record of a person
    gate: bool
    wide: int
    round_values: bool  # whether a wide column has classes of round values, so that heaps are asked for
    accuracy: Fraction  # the share that was bought to measure the release's own error
    low: bool

    @property
    def shape(self) -> Fraction:
        """The share f of tree, spikes and heaps, or of the one heavy value."""
        if not self.wide:
            return Fraction(0)
        return TREE + SPIKES + self.heaps if self.gate else SHUT

    @property
    def heaps(self) -> Fraction:
        return HEAPS if self.wide and self.gate and self.round_values else Fraction(0)

    @property
    def theta(self) -> int:
        """The threshold of the tree's stop tests ."""
        per_column = float(TREE) * self.rate / max(1, self.wide)
        return max(ceil(16 / per_column), ceil(self.n0 / 128))


def opening(
    noisy: int, rate: float, wide: int, round_values: bool, cells: Sequence[int], accuracy: Fraction
) -> Opening:
    """The first decisions; `cells` are those of the starting grid, the target left out."""
    n0 = max(1, noisy)
    gate = bool(wide) and n0 * float(TREE) * rate / wide >= GATE
    return Opening(n0, rate, gate, wide, round_values, accuracy, rho(n0, rate, cells) < LOW)


def rho(n0: int, rate: float, cells: Sequence[int]) -> float:
    """Records times epsilon per cell of the first tables: how well they can be measured."""
    total = sum(cells)
    return n0 * rate / (total * (total / len(cells)) ** 0.25) if total else 0.0


@dataclass(frozen=True)
class Plan:
    """Shares of epsilon, and the number, rounds and largest size of the chosen tables."""

    hub: Fraction
    label: Fraction
    first: Fraction
    selection: Fraction
    tables: Fraction
    count: int
    rounds: int
    cap: int


def plan(start: Opening, cells: Sequence[int], columns: int, classes: int, hub_asked: bool, hub: bool) -> Plan:
    """The shares of all that is bought once the cells are known.

    `cells` are those of the columns other than the leading one, which has `classes` of them (0: there is none). `hub`:
    it is not the target but a hub column; `hub_asked`: choosing it cost 5 % of epsilon.
    """
    hub_share = HUB if hub_asked else Fraction(0)
    budget = 1 - SIZE - start.accuracy - start.shape - hub_share
    label = LABEL * budget if classes == 2 and not hub else Fraction(0)
    rest = budget - label
    share = _first_share(rho(start.n0, start.rate, cells))
    tables = rest * (1 - share) * (1 - SELECTION)
    expected = start.n0 * float(tables) * start.rate / 4
    usable = sum(size >= 2 for size in cells)
    sets = 2 ** min(usable, 20) - usable - 1  # of at least two columns
    count = min(sets, int(max(min(expected / 16, columns), min(expected / 200, 2 * columns))))
    if hub or (start.low and classes) or usable < 2 or count < 1:
        return Plan(hub_share, label, rest, Fraction(0), Fraction(0), 0, 0, 0)
    rounds = 1 if count < 4 else 2 if count <= columns else 3
    cap = max(4, int(expected / count))
    return Plan(hub_share, label, rest * share, rest * (1 - share) * SELECTION, tables, count, rounds, cap)


def _first_share(rho: float) -> Fraction:
    return Fraction(floor(min(0.9, max(0.15, HALFWAY / (HALFWAY + rho))) * NANO), NANO)


@dataclass(frozen=True)
class FirstTables:
    """First tables that are measured together, at one rate."""

    columns: tuple[int, ...]  # places in the list of columns
    paid: Fraction
    why: str  # what the receipt calls them


def first_tables(cells: Sequence[int], whole: Fraction, alone: bool) -> list[FirstTables]:
    """The first tables by rate. If they stay `alone`, a rate is in proportion to the cube root of the number of cells.

    The noise of a column with K cells, added up over them or over a range of them, grows as K or as root K over its
    rate; rates in proportion to root K would make the sum of the former, and the largest of the latter, smallest. But
    neighbouring cells of numbers are pooled, so that their noise grows more slowly. Columns with K up to a power of two
    (and above its half) share a rate, so that few passes over the records are needed. Where more tables are chosen,
    these know columns of many cells well, and all first tables have one rate. What rounding leaves goes to the last.
    """
    if not alone:
        return [FirstTables(tuple(range(len(cells))), whole, FIRST)]
    levels = [max(0, size - 1).bit_length() for size in cells]
    weights = [CUBE_ROOTS[level % 3] << level // 3 for level in levels]
    found = list[FirstTables]()
    for level in sorted(set(levels)):
        columns = tuple(number for number, one in enumerate(levels) if one == level)
        share = Fraction(sum(weights[number] for number in columns), sum(weights))
        paid = max(price(share, whole), Fraction(1, NANO))  # one nano-unit at least
        found.append(FirstTables(columns, paid, f"{FIRST}, {_range_of(level)}"))
    rest = whole - sum(group.paid for group in found)
    return [*found[:-1], replace(found[-1], paid=found[-1].paid + rest)]


def _range_of(level: int) -> str:
    """Up to 2^level cells, and more than half of that.

    >>> [_range_of(level) for level in (0, 1, 2)]
    ['1 cell', '2 cells', '3 to 4 cells']
    """
    return ("1 cell", "2 cells")[level] if level < 2 else f"{2 ** (level - 1) + 1} to {2**level} cells"
