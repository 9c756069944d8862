"""NOT PRIVATE, on purpose: known ways to get DiffPart wrong, to show that the audit catches them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from cantle.audit import enumerating
from cantle.audit import sets as configs
from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Breakage, Finding, Table, replaced
from cantle.audit.sets import SetConfig
from cantle.methods.diffpart import method as diffpart
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.diffpart.tree import KeptPartitions
from cantle.schema.sets import SetSchema
from cantle.trusted.claims.queries import ChildSets, Query
from cantle.trusted.core.arrays import Floats
from cantle.trusted.core.budget import NANO, Price
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting import sets
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.item_partitions import Kept, Partitions, gather
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants.diffgen import Measured, Sparse
from cantle_lab.mutants.patches import INFINITE, Call, inside, instead, leak, variant

BASE = Fraction(11, 10)
"""The base of `FineBreakage`, whose flaw costs less than a factor of 2: there a unit is ln 1.1."""


@contextmanager
def base(new: Fraction) -> Iterator[None]:
    """Inside the block, the laws of all enumerated draws use this base instead of 2."""

    def power(rate: tuple[int, int], times: int) -> Fraction:
        units, rest = divmod(rate[0] * times, rate[1])
        if rest:
            raise ValueError("an exponent is not whole; audit with whole units of epsilon")
        return 1 / new**units

    enumerating._level_law.cache_clear()
    try:
        with replaced(enumerating, "_power", power):
            yield
    finally:
        enumerating._level_law.cache_clear()


@dataclass(frozen=True, eq=False)
class FineBreakage(Breakage):
    """A flaw that shows only at a small epsilon: a unit is ln 1.1, and all draws are enumerated."""

    enumerate_leaves: bool = True

    def find(self, *, broken: bool) -> Finding:
        with base(BASE):
            finding = super().find(broken=broken)
        return replace(finding, loss=finding.loss / math.log2(BASE))


# ---- empty cells ----------------------------------------------------------------------------------------------------


@variant
def _one_draw_more(
    original: Call,
    self: Enumerating,
    lanes: Lanes,
    starts: Ints,
    cells: Ints,
    counts: Ints,
    total: Ints,
    rate: Rate,
    least: Ints,
) -> Sparse:
    """Procedure 1 as printed: 2^l - |S| draws for empty sub-partitions, one more than there are.

    If the additional draw reaches the threshold, an empty sub-partition that is not listed yet gets its value.
    """
    at, listed, values = original(self, lanes, starts, cells, counts, total, rate, least)
    assert len(lanes) == 1
    free = sorted({*range(int(total[0]))} - {*cells.tolist()} - {*listed.tolist()})
    first, room = int(least[0]), self.window[1] - self.window[0]
    level = self._level(first, first + room, 0, rate.exact(0))
    if level and free:
        place = self._branch([Fraction(1, len(free))] * len(free))
        listed, values = np.append(listed, free[place]), np.append(values, first + level - 1)
    order = np.argsort(listed)
    return np.array([0, len(listed)]), listed[order], values[order]


@variant
def _occupied_first(
    original: Call, self: Enumerating, lanes: Lanes, starts: Ints, cells: Ints, *rest: Ints | Rate
) -> Sparse:
    """The answer lists sets that occur before sets that do not."""
    at, listed, values = original(self, lanes, starts, cells, *rest)
    for first, last, here, to in zip(at[:-1], at[1:], starts[:-1], starts[1:], strict=True):
        order = first + np.argsort(~np.isin(listed[first:last], cells[here:to]), kind="stable")
        listed[first:last], values[first:last] = listed[order], values[order]
    return at, listed, values


@variant
def _thresholds_of_occupied(
    original: Call, self: Curator, nodes: Partitions, query: Query | ChildSets, epsilon: Price, **about: str | Ints
) -> Measured:
    """Counts are listed only from the number of occupied sets of children on."""
    if isinstance(query, ChildSets):
        positions = np.searchsorted(inside(self, "frontier").ids, nodes.ids)
        exact_starts, _, _ = inside(self, "engine").touched(positions)
        about["at_least"] = np.maximum(1, np.diff(exact_starts))
    return original(self, nodes, query, epsilon, **about)


# ---- prices ---------------------------------------------------------------------------------------------------------


@variant
def _leaves_tested(original: Call, self: DiffPart, nodes: Partitions, curator: Curator) -> None:
    """Leaves are tested with all that is left of the tests' half of the budget, as Algorithm 1 does, and then counted
    with the budget of Example 4.2, as if the test had cost nothing."""
    if len(nodes):  # one tested leaf is enough to show the flaw
        first = nodes.take([0])
        positions = np.searchsorted(inside(curator, "frontier").ids, first.ids)
        _, exact_masks, exact_counts = inside(curator, "engine").touched(positions)
        exact_first = exact_counts[exact_masks == 1].sum(keepdims=True)
        price, noise = curator.left(first) - inside(curator, "budget").total // 2, inside(curator, "draws").noise
        leak(noise, noise.above(Lanes(99, first.ids), exact_first, np.ones(1, np.int64), Rate(price, NANO)).tolist())
    original(self, nodes, curator)


@variant
def _free_tests(
    original: Call, self: Curator, nodes: Partitions, query: Query | ChildSets, epsilon: Price, **about: str | Ints
) -> Measured:
    """Tests are made, but never taken from the balance."""
    budget = inside(self, "budget")
    before = budget._balance.copy()
    noisy = original(self, nodes, query, epsilon, **about)
    if about["why"] == "sub-partitions":
        budget._balance = before
    return noisy


# ---- records --------------------------------------------------------------------------------------------------------


@contextmanager
def _kept_twice() -> Iterator[None]:
    """Every sub-partition that is kept is listed twice, and its records are in both copies."""

    def kept_twice(original: Callable[..., Partitions]) -> Callable[..., Partitions]:
        def split(self: Curator, nodes: Partitions, kept: Kept) -> Partitions:
            return original(self, nodes, Kept(np.repeat(kept.rows, 2), np.repeat(kept.mask, 2)))

        return split

    def held_twice(original: Callable[..., None]) -> Callable[..., None]:
        def split(self: SetEngine, positions: Ints, kept: Kept) -> None:
            parts = kept.children(self._divided()[2].take(positions), 0)
            original(self, positions, Kept(kept.rows[::2], kept.mask[::2]))
            starts, records, _ = self._divided()
            self._regions = *gather(starts, records, np.arange(len(parts)) // 2), parts

        return split

    def noted_twice(original: Callable[..., None]) -> Callable[..., None]:
        def add_round(self: KeptPartitions, nodes: Partitions, *arrays: Ints) -> None:
            times = len(nodes) // max(1, len(arrays[0]))
            original(self, nodes, *(np.repeat(array, times) for array in arrays[:-1]), arrays[-1])

        return add_round

    with ExitStack() as stack:
        stack.enter_context(instead(Curator, "split", kept_twice)())
        stack.enter_context(instead(SetEngine, "split", held_twice)())
        stack.enter_context(instead(KeptPartitions, "add_round", noted_twice)())
        stack.enter_context(replaced(Kept, "fits", lambda _self, _nodes: True))
        yield


def _not_cut(_original: object) -> Callable[..., Ragged]:
    """Records keep all their items, although the sets of children are numbered for cut records."""
    return lambda records, *_public: records


@variant
def _cut_by_popularity(_original: Call, records: Ragged, most: int, *_public: int) -> Ragged:
    """Records keep their rarest items, so that what one record keeps depends on other records."""
    starts, items = records.starts, records.codes
    often = np.bincount(items, minlength=64)
    sets_ = [items[first:last].tolist() for first, last in zip(starts[:-1], starts[1:], strict=True)]
    rows = [sorted(row, key=lambda item: (often[item], item))[:most] for row in sets_]
    kept = [item for row in rows for item in sorted(row)]
    return Ragged(np.cumsum([0, *map(len, rows)]), np.array(kept, dtype=items.dtype))


@variant
def _seen_items(original: Call, self: SetConfig, table: Table) -> SetSchema:
    """The universe consists of the items that occur in the data."""
    seen = sorted({item for record in table for item in record})
    if not seen:
        return original(self, table)
    return SetSchema.from_dict({"kind": "sets", "items": seen})


@variant
def _largest_by_records(
    original: Call, self: DiffPart, nodes: Partitions, curator: Curator, leaf_budget: int
) -> Partitions:
    """If there are too many sub-partitions, those with the most records are kept, instead of those with the largest
    noisy counts."""
    positions = np.searchsorted(inside(curator, "frontier").ids, nodes.ids)
    exact = inside(curator, "engine").touched(positions) if len(nodes) else (None, np.zeros(0), np.zeros(0))
    number = dict(zip(exact[1].tolist(), exact[2].tolist(), strict=True))

    affordable, called = diffpart._affordable, list[bool]()

    def largest(value: Ints, tested: Bools, cost: Floats, most: float) -> Ints:
        if called:  # the second rule, about the cost of empty sub-partitions, stays
            return affordable(value, tested, cost, most)
        called.append(True)
        held = [-number.get(mask, 0) for mask in range(1, len(value) + 1)]
        return np.sort(np.argsort(held, kind="stable")[: int(most)])

    with replaced(diffpart, "_affordable", largest):
        return original(self, nodes, curator, leaf_budget)


# ---- the table ------------------------------------------------------------------------------------------------------

SURPLUS, TESTED, ORDER, SEEN = (
    "DiffPart: 2^l - |S| draws", "DiffPart: leaves tested and counted", "DiffPart: occupied sets listed first",
    "DiffPart: universe from the data",
)  # fmt: skip
_FINE = SetConfig("DiffPart: two items, counts from 15 on", (2,), {**configs.PAIR.settings, "c1": 10}, 1)

DIFFPART_BREAKAGES: tuple[Breakage, ...] = (
    FineBreakage(SURPLUS, "5.4: 2^l - 1 - |S| empty cells (I10)", _FINE, (), (0,),
                 3.5, instead(Enumerating, "sparse", _one_draw_more)),
    Breakage(TESTED, "5.2: no test, one count (I11)", configs.EXAMPLE, (), (0,),
             8, instead(DiffPart, "_count_leaves", _leaves_tested)),
    Breakage(ORDER, "5.6: the order of numbers (I12)", configs.PAIR, (), (1,),
             INFINITE, instead(Enumerating, "sparse", _occupied_first), enumerate_leaves=True),
    Breakage(SEEN, "1.2: a public universe (I12)", configs.LISTED, (), (1,),
             INFINITE, instead(SetConfig, "schema_for", _seen_items)),
    Breakage("DiffPart: thresholds from the number of occupied sets", "2.7: from the number of all sets",
             configs.LISTED, ((0,),), (1,), INFINITE, instead(Curator, "measure", _thresholds_of_occupied)),
    Breakage("DiffPart: tests not charged", "Claim 11: every question is paid", configs.TWICE, (), (0, 2),
             7, instead(Curator, "measure", _free_tests)),
    Breakage("DiffPart: sub-partitions kept twice", "Claim 27: listed once", configs.LISTED, (), (0,),
             5, _kept_twice),
    Breakage("DiffPart: sets numbered for cut records, records not cut", "Claim 28", configs.CUT_TO_ONE, (), (0, 1),
             INFINITE, instead(sets, "_cut", _not_cut)),
    Breakage("DiffPart: records cut by what others have", "Claim 28: a function of the record", configs.CUT_TO_ONE,
             ((0, 1), (0, 1)), (0,), 4, instead(sets, "_cut", _cut_by_popularity)),
    Breakage("DiffPart: the largest by their records go on", "5.3: a rule on noisy counts", configs.CAPPED,
             (), (2,), INFINITE, instead(DiffPart, "_expand", _largest_by_records)),
)  # fmt: skip
