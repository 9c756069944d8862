"""Pairs that were given, and which records of a pool hold them. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cantle.drawing.counts import Floats
from cantle.methods.baskets.model.pair_plan import PairPlan, pair_cells, pair_places
from cantle.methods.baskets.model.pool import Codes, Pool
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS

_BELOW = 0.5  # most that is taken as likely for a pair that is not given, relative to the least that is
_ROUNDS = 20  # of the ratio of two counts, some of which are not given
_BLOCK = 1 << 20  # pairs listed at once by the plain form


@dataclass(frozen=True, eq=False)
class Doubles:
    """Noisy numbers of records that hold two items and no other: `items` (pairs, 2), the smaller code first."""

    items: Ints
    noisy: Floats
    noise: float


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Noisy numbers of records that hold two of `items` (ascending codes), counted with at most `most` pairs per
    record.

    `cell` numbers a pair of places in `items` (`pair_plan.pair_cells`), ascending; `noise` is the scale of the noise,
    `enlarge` how many pairs stand for one that was counted, and `least` the value from which on pairs are given. If
    records of two items were counted apart, they are not counted here, but in `doubles`.
    """

    items: Ints
    cell: Ints
    noisy: Floats
    most: int
    noise: float
    enlarge: float
    least: float = 0.0
    doubles: Doubles | None = None

    @property
    def fewest(self) -> int:
        """The fewest items of a record that is counted here."""
        return 2 if self.doubles is None else 3

    @staticmethod
    def none() -> GivenPairs:
        """No pairs were asked."""
        nothing = np.zeros(0, np.int64)
        return GivenPairs(nothing, nothing, np.zeros(0), 1, 1.0, 1.0)

    @staticmethod
    def of(plan: PairPlan, cell: Ints, noisy: Floats, noise: float) -> GivenPairs:
        """The answer to a plan."""
        least = plan.at_least / PARTS
        if not plan.doubles:
            return GivenPairs(plan.items, cell, noisy, plan.most, noise, plan.scale, least)
        two = int(np.searchsorted(cell, plan.pairs))
        items = np.stack([plan.items[place] for place in pair_places(cell[:two])], axis=1)
        doubles = Doubles(items, noisy[:two] / plan.most, noise / plan.most)
        cell, noisy = cell[two:] - plan.pairs, noisy[two:]
        return GivenPairs(plan.items, cell, noisy, plan.most, noise, plan.scale, least, doubles)

    def item_codes(self) -> tuple[Ints, Ints]:
        """The two items of each pair, the smaller first."""
        low, high = pair_places(self.cell)
        return self.items[low], self.items[high]


def with_likely(pairs: GivenPairs) -> GivenPairs:
    """The given pairs, and those given for records of two items only: these are likely in longer records too.

    Their values follow from the average ratio of the two counts, but are at most half of what would have been given.
    """
    if pairs.doubles is None or not len(pairs.cell) or not len(pairs.doubles.items):
        return pairs
    places = np.searchsorted(pairs.items, pairs.doubles.items)
    cell, doubled = pair_cells(places[:, 0], places[:, 1]), np.maximum(pairs.doubles.noisy, 0.0)
    near = np.minimum(np.searchsorted(pairs.cell, cell), len(pairs.cell) - 1)
    given = pairs.cell[near] == cell
    known, most = float(np.maximum(pairs.noisy[near[given]], 0.0).sum()), pairs.least * _BELOW
    ratio = 0.0
    for _ in range(_ROUNDS):
        likely = np.minimum(ratio * doubled[~given], most)
        ratio = (known + float(likely.sum())) / max(float(doubled.sum()), 1.0)
    cell, noisy = np.append(pairs.cell, cell[~given]), np.append(pairs.noisy, likely)
    order = np.argsort(cell, kind="stable")
    return replace(pairs, cell=cell[order], noisy=noisy[order])


@dataclass(frozen=True, eq=False)
class PairRows:
    """For each given pair the records of a pool that hold it, and for each record how many top items it has."""

    starts: Ints
    rows: npt.NDArray[np.int32]
    top: Ints


def find_pairs(pool: Pool, pairs: GivenPairs, universe: int, *, compiled: bool = False) -> PairRows:
    """The records that hold each given pair."""
    place_of = np.full(universe, -1, np.int32)
    place_of[pairs.items] = np.arange(len(pairs.items))
    if not len(pairs.cell):
        nothing = np.zeros(1, np.int64)
        return PairRows(nothing, np.zeros(0, np.int32), np.zeros(len(pool.starts) - 1, np.int64))
    return _compiled_pairs(pool, pairs, place_of) if compiled else plain_pairs(pool, pairs, place_of)


def find_doubles(pool: Pool, doubles: Doubles, universe: int) -> tuple[Codes, Codes]:
    """(pair, record) for the records of a pool that hold one of these pairs and no other item."""
    rows = np.flatnonzero(np.diff(pool.starts) == 2)
    first = pool.items[pool.starts[rows]].astype(np.int64)
    keys, mine = (
        doubles.items[:, 0] * universe + doubles.items[:, 1],
        first * universe + pool.items[pool.starts[rows] + 1],
    )
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], mine)
    known = np.append(keys[order], -1)[place] == mine
    return order[place[known]].astype(np.int32), rows[known].astype(np.int32)


def plain_pairs(pool: Pool, pairs: GivenPairs, place_of: Codes) -> PairRows:
    """Lists all pairs of top items of all records with equally many of them, and looks each up among those given."""
    places = place_of[pool.items]
    mine = places >= 0
    owner = np.repeat(np.arange(len(pool.starts) - 1), np.diff(pool.starts))[mine]
    places = places[mine].astype(np.int64)
    top = np.bincount(owner, minlength=len(pool.starts) - 1)
    begins = np.cumsum(top) - top
    found, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    able = np.diff(pool.starts) >= pairs.fewest
    for number in np.unique(top[top >= 2]).tolist():
        same = np.flatnonzero((top == number) & able)
        low, high = np.triu_indices(number, 1)
        for block in np.array_split(same, len(same) * len(low) // _BLOCK + 1):
            table = places[begins[block][:, None] + np.arange(number)]
            cell = pair_cells(table[:, low], table[:, high])
            near = np.minimum(np.searchsorted(pairs.cell, cell), len(pairs.cell) - 1)
            row, which = np.nonzero(pairs.cell[near] == cell)
            found.append(near[row, which])
            rows.append(block[row])
    pair, row = np.concatenate(found), np.concatenate(rows)
    order = np.lexsort((row, pair))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(pair, minlength=len(pairs.cell)))])
    return PairRows(starts, row[order].astype(np.int32), top)


def _compiled_pairs(pool: Pool, pairs: GivenPairs, place_of: Codes) -> PairRows:
    from cantle.methods.baskets.model import _kernels as kernels

    number = len(pairs.items)
    number_of = np.full(number * (number - 1) // 2, -1, np.int32)
    number_of[pairs.cell] = np.arange(len(pairs.cell))
    places = np.empty(len(pool.items), np.int32)
    begins = kernels.top_places(pool.starts, pool.items, place_of, places)
    found = np.zeros(len(pairs.cell), np.int64)
    kernels.count_pairs(pool.starts, begins, places, number_of, pairs.fewest, found)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(found)])
    rows = np.empty(starts[-1], np.int32)
    kernels.list_pairs(pool.starts, begins, places, number_of, pairs.fewest, starts[:-1].copy(), rows)
    return PairRows(starts, rows, np.diff(begins))
