"""Public rules of `mosaic`: the share of epsilon of each step, and how many tables are measured and how large they are.

Everything here depends on the schema and on noisy answers only. In every rule, n0 is max(1, noisy number of records),
and epsilon is divided by the number of records per person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from cantle.drawing.column_cells import Column
from cantle.methods.mosaic.model.answers import FIRST, LIST_CHOICE, LIST_PAIRS, LIST_SIZES, LIST_TABLE
from cantle.methods.mosaic.model.bands import FEW_BANDS, MANY_BANDS
from cantle.schema.fields import MOST_CLASSES

NANO = 10**9
SIZE, HUB = Fraction(2, 100), Fraction(5, 100)
SPLIT, SPIKES, ONE_SPIKE = Fraction(2, 100), Fraction(2, 100), Fraction(1, 100)
"""The shares of the questions about the cells of wide columns: counts of the starting cells, frequent values, and one
frequent value."""

LABEL, SELECTION = Fraction(1, 10), Fraction(1, 10)
PLACES, FEW_PLACES, MOST_PLACES = Fraction(4, 10), Fraction(3, 10), Fraction(8, 10)
"""The share of all places together beside a few other columns, the same with few records, and the most that schemas
may give them."""

FEW_FOR_PLACES = 30_000
"""The records times epsilon below which places get the smaller share, because the other columns need more. Chosen on
check-ins, taxi rides and made-up towns, 20,000 and 100,000 points with five other columns, at epsilon 0.1 and 1."""

PLACE_CELLS = 64
"""How many cells a place counts as where budgets depend on the number of cells."""

HALFWAY = 42
"""The rho at which the first tables and the chosen tables get equal shares."""

SMALL, SMALL_HALFWAY, SMALL_TABLE = (4, 20), 15, 50
"""Between these values of rho, a table without a target has few records: half of the budget goes to chosen tables from
an earlier rho on, and each chosen table takes so many expected records per column (16 otherwise), because few tables
that are measured well keep connections that many measured badly lose. Chosen on samples of Adult and bank and on
generated tables, of 2,000 and 6,000 records; below, the noise is too large for either."""

LOW = 8
"""The rho below which tables are not chosen (with a two-valued target) and wide columns get 16 widths."""

CUBE_ROOTS = 50, 63, 79
"""The cube roots of 1, 2 and 4, times 50."""

RICH, RICH_COLUMNS = 25_600, 3
"""The records times epsilon per wide column from which on a table of few columns starts with finer cells."""

GATE, SPIKES_GATE = 25, 100
"""The records times the rate of the counts that split cells from which on these are asked, and frequent values instead
of one."""

HUB_COLUMNS, HUB_RHO = 40, 60
"""The columns of a table without a target, and the rho, from which on a hub column leads. With fewer records per cell
the tables of a hub are mostly noise: a survey keeps more without."""

ITEM, MOST_ITEMS = 4, Fraction(7, 10)
"""Another column gets as much of epsilon as so many items of groups, but items together at most this share. Chosen on
generated surveys."""

LISTS = Fraction(20, 100)
"""The share of all lists together. Tables of two other columns are then off by about a tenth more."""

LIST_SHARES = {
    LIST_SIZES: Fraction(6, 100),
    LIST_CHOICE: Fraction(2, 100),
    LIST_TABLE: Fraction(8, 100),
    LIST_PAIRS: Fraction(6, 100),
}
"""The parts of the share of lists that count their sizes, that choose columns and count items by them, and that count
pairs of items; the rest counts each item alone. Chosen on generated patients with 6 to 24 diagnoses."""

LIST_ITEMS = 1 - sum(LIST_SHARES.values())

SCORES, SCORE_GROUPS, FEWEST_SCORED = Fraction(7, 10), 5, 40
"""The part of the budget of tables that counts every score with every other, in so many groups each, and the records
times epsilon per pair from which on this is done. Scores are related most, and a choice among all tables would cost
more than it finds. Chosen on generated surveys."""

BANDS, BANDS_LOW = Fraction(2, 100), Fraction(5, 100)
"""The share of the counts of a numeric target that its bands follow from: usually, and if rho is low."""

FEWEST_LABELLED = 50
"""Twice the records times epsilon of the label step, per class, from which on a target of more than two classes is
drawn by it."""


def usable_target(columns: Sequence[Column], target: int | None) -> int | None:
    """The declared target, if it has 2 to 8 values or is numeric, and another column has more than one value;
    otherwise None."""
    if target is None or columns[target].codes < 2 or not (few(columns[target]) or columns[target].numeric):
        return None
    return target if any(one.codes > 1 for number, one in enumerate(columns) if number != target) else None


def few(column: Column) -> bool:
    """Whether a target is used value by value, as classes."""
    return column.codes <= MOST_CLASSES


def price(share: Fraction, epsilon: Fraction) -> Fraction:
    """A share of epsilon, rounded down to nano-units."""
    return Fraction(floor(share * epsilon * NANO), NANO)


@dataclass(frozen=True)
class Opening:
    """The decisions that are made from n0 before any table is measured."""

    n0: int
    rate: float  # epsilon per record of a person
    split_records: float  # all records times the rate of the counts that split cells
    gate: bool  # whether there are enough records to split the cells of wide columns
    spikes: bool  # whether there are enough to search for frequent values; otherwise for one
    wide: int  # number of wide columns
    accuracy: Fraction  # the share that was reserved to measure the release's own error
    low: bool  # whether rho is below LOW
    rich: bool  # whether a few wide columns start with finer cells
    banded: bool = False  # whether the target is numeric and is put into bands
    places: tuple[Fraction, ...] = ()  # the share of each place that is counted by itself
    items: Fraction = Fraction(0)  # the share of the items of groups
    lists: Fraction = Fraction(0)  # the share of the items of lists

    @property
    def later(self) -> Fraction:
        """The share of the columns that are counted after the others."""
        return self.items + self.lists

    @property
    def most_bands(self) -> int:
        return FEW_BANDS if self.low else MANY_BANDS

    @property
    def bands(self) -> Fraction:
        """The share of the counts of a numeric target alone."""
        return Fraction(0) if not self.banded else BANDS_LOW if self.low else BANDS

    @property
    def shape(self) -> Fraction:
        """The share of the questions about the cells of wide columns."""
        if not self.wide:
            return Fraction(0)
        return SPLIT * self.gate + (SPIKES if self.spikes else ONE_SPIKE)


def opening(
    noisy: int,
    rate: float,
    wide: int,
    cells: Sequence[int],
    accuracy: Fraction,
    banded: bool = False,
    columns: Sequence[Column] = (),
    items: int = 0,
    lists: bool = False,
) -> Opening:
    """The first decisions; `cells` has the number of cells of each column on the starting grid, without the target;
    `columns` are all of them, without the `items` of groups and without those of `lists`."""
    n0 = max(1, noisy)
    split = n0 * float(SPLIT) * rate / wide if wide else 0.0
    gate, spikes = split >= GATE, split >= SPIKES_GATE
    rich = spikes and len(cells) <= RICH_COLUMNS and n0 * rate / wide >= RICH
    of_items = min(MOST_ITEMS, Fraction(items, items + ITEM * max(1, len(columns)))) if items else Fraction(0)
    of_lists = LISTS if lists else Fraction(0)
    low = rho(n0, rate * float(1 - of_items - of_lists), cells) < LOW
    places = place_shares(columns, accuracy, n0 * rate)
    return Opening(n0, rate, split, gate, spikes, wide, accuracy, low, rich, banded, places, of_items, of_lists)


def place_shares(columns: Sequence[Column], accuracy: Fraction, records: float) -> tuple[Fraction, ...]:
    """The shares that places are counted with by themselves: what a column says; all that is left, if it is the only
    one; else together 40 % beside up to ten other columns (30 %, if there are few records times epsilon), and less
    beside more."""
    places = [column for column in columns if column.place]
    if len(columns) == len(places) == 1:
        return (1 - SIZE - accuracy,)
    most = FEW_PLACES if records < FEW_FOR_PLACES else PLACES
    together = most * min(Fraction(1), Fraction(10, max(1, len(columns) - len(places))))
    shares = [together / len(places) if one.share is None else one.share for one in places]
    return tuple(share * min(Fraction(1), MOST_PLACES / sum(shares)) for share in shares)


def rho(n0: int, rate: float, cells: Sequence[int]) -> float:
    """Records times epsilon per cell of the first tables; the larger, the better these can be measured."""
    total = sum(cells)
    return n0 * rate / (total * (total / len(cells)) ** 0.25) if total else 0.0


@dataclass(frozen=True)
class Plan:
    """Shares of epsilon, and the number, rounds and largest size of the chosen tables. `scores` is the share of all
    pairs of scores."""

    hub: Fraction
    label: Fraction
    first: Fraction
    selection: Fraction
    tables: Fraction
    count: int
    rounds: int
    cap: int
    scores: Fraction = Fraction(0)


def plan(
    start: Opening, cells: Sequence[int], columns: int, classes: int, hub_asked: bool, hub: bool, scores: int = 0
) -> Plan:
    """The shares of all questions that are asked once the cells are known.

    `cells` has the number of cells of each column other than the leading one, which has `classes` cells (0 if there is
    none). `hub` says that the leading column is a hub column, not the target; `hub_asked` that it was chosen with 5 %
    of epsilon. There are so many `scores` of groups.
    """
    hub_share = HUB if hub_asked else Fraction(0)
    budget = 1 - SIZE - start.accuracy - start.shape - start.bands - hub_share - sum(start.places) - start.later
    per_class = start.n0 * start.rate * float(LABEL) * 2 / max(2, classes)
    labelled = classes == 2 or (classes > 2 and per_class >= FEWEST_LABELLED)
    label = LABEL * budget if labelled and not hub else Fraction(0)
    rest = budget - label
    known = rho(start.n0, start.rate * float(1 - start.later), cells)
    small = not classes and SMALL[0] <= known < SMALL[1]
    share = _first_share(known, SMALL_HALFWAY if small else HALFWAY)
    tables = rest * (1 - share) * (1 - SELECTION)
    pairs = scores * (scores - 1) // 2
    related = bool(pairs) and start.n0 * start.rate * float(tables * SCORES) >= FEWEST_SCORED * pairs
    of_scores = tables * SCORES if related else Fraction(0)
    tables -= of_scores
    expected = start.n0 * float(tables) * start.rate / 4
    usable = sum(size >= 2 for size in cells)
    sets = 2 ** min(usable, 20) - usable - 1  # the number of sets of at least two columns
    fewest = SMALL_TABLE if small else 16
    count = min(sets, int(max(min(expected / fewest, columns), min(expected / 200, 2 * columns))))
    if hub or (start.low and classes) or usable < 2 or count < 1:
        return Plan(hub_share, label, rest, Fraction(0), Fraction(0), 0, 0, 0)
    rounds = 1 if count < 4 else 2 if count <= columns else 3
    cap = max(4, int(expected / count))
    return Plan(hub_share, label, rest * share, rest * (1 - share) * SELECTION, tables, count, rounds, cap, of_scores)


def hub_leads(start: Opening, cells: Sequence[int]) -> bool:
    """Whether a hub column leads a table without a target whose columns have these numbers of cells."""
    return len(cells) >= HUB_COLUMNS and rho(start.n0, start.rate, cells) >= HUB_RHO


def _first_share(rho: float, halfway: int) -> Fraction:
    return Fraction(floor(min(0.9, max(0.15, halfway / (halfway + rho))) * NANO), NANO)


@dataclass(frozen=True)
class FirstTables:
    """First tables that are measured together, at one rate."""

    columns: tuple[int, ...]  # positions in the list of columns
    paid: Fraction
    why: str  # their name in the receipt


def first_tables(cells: Sequence[int], whole: Fraction, alone: bool) -> list[FirstTables]:
    """The first tables, grouped by the rate of their noise.

    If further tables will be chosen, these measure columns of many cells well, and all first tables have one rate. If
    the first tables stay `alone`, the rate of a column with K cells is proportional to the cube root of K. The reason:
    the noise of a column, summed over all cells or over a range of them, is proportional to K or root K, divided by the
    rate. Rates proportional to root K would minimise the sum of the former and the maximum of the latter. But
    neighbouring cells of numbers are pooled, so their noise grows more slowly.

    Columns with K up to the same power of two (and above its half) share a rate, so that few passes over the records
    are needed. The last group gets what rounding leaves.
    """
    if not cells:
        return []
    if not alone:
        return [FirstTables(tuple(range(len(cells))), whole, FIRST)]
    levels = [max(0, size - 1).bit_length() for size in cells]
    weights = [CUBE_ROOTS[level % 3] << level // 3 for level in levels]
    groups = list[FirstTables]()
    for level in sorted(set(levels)):
        columns = tuple(number for number, one in enumerate(levels) if one == level)
        share = Fraction(sum(weights[number] for number in columns), sum(weights))
        paid = max(price(share, whole), Fraction(1, NANO))  # one nano-unit at least
        groups.append(FirstTables(columns, paid, f"{FIRST}, {_range_of(level)}"))
    rest = whole - sum(group.paid for group in groups)
    return [*groups[:-1], replace(groups[-1], paid=groups[-1].paid + rest)]


def _range_of(level: int) -> str:
    """The range of up to 2^level cells and more than half of that, in words.

    >>> [_range_of(level) for level in (0, 1, 2)]
    ['1 cell', '2 cells', '3 to 4 cells']
    """
    return ("1 cell", "2 cells")[level] if level < 2 else f"{2 ** (level - 1) + 1} to {2**level} cells"
