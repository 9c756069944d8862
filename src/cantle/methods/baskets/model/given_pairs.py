"""Pairs that were given, and which records of a pool hold them. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cantle.drawing.counts import Floats
from cantle.methods.baskets.model.pair_plan import pair_cells, pair_places
from cantle.methods.baskets.model.pool import Codes, Pool
from cantle.trusted.geometry.boxes import Ints

_BLOCK = 1 << 20  # pairs listed at once by the plain form


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Noisy numbers of records that hold two of `items` (ascending codes), counted with at most `most` pairs per
    record.

    `cell` numbers a pair of places in `items` (`pair_plan.pair_cells`), ascending; `noise` is the scale of the noise,
    and `enlarge` how many pairs stand for one that was counted.
    """

    items: Ints
    cell: Ints
    noisy: Floats
    most: int
    noise: float
    enlarge: float

    @staticmethod
    def none() -> GivenPairs:
        """No pairs were asked."""
        nothing = np.zeros(0, np.int64)
        return GivenPairs(nothing, nothing, np.zeros(0), 1, 1.0, 1.0)

    def item_codes(self) -> tuple[Ints, Ints]:
        """The two items of each pair, the smaller first."""
        low, high = pair_places(self.cell)
        return self.items[low], self.items[high]


@dataclass(frozen=True, eq=False)
class PairRows:
    """For each given pair the records of a pool that hold it, and for each record how many top items it has."""

    starts: Ints
    rows: npt.NDArray[np.int32]
    top: Ints


def find_pairs(pool: Pool, pairs: GivenPairs, universe: int, *, compiled: bool = False) -> PairRows:
    """The records that hold each given pair."""
    if not len(pairs.cell):
        nothing = np.zeros(1, np.int64)
        return PairRows(nothing, np.zeros(0, np.int32), np.zeros(len(pool.starts) - 1, np.int64))
    place_of, number = np.full(universe, -1, np.int32), len(pairs.items)
    place_of[pairs.items] = np.arange(number)
    number_of = np.full(number * (number - 1) // 2, -1, np.int32)
    number_of[pairs.cell] = np.arange(len(pairs.cell))
    return (_compiled_pairs if compiled else plain_pairs)(pool, place_of, number_of, len(pairs.cell))


def plain_pairs(pool: Pool, place_of: Codes, number_of: Codes, given: int) -> PairRows:
    """Lists all pairs of top items of all records with equally many of them, and looks each up among those given.

    `place_of` has the place of each item among the top items, `number_of` the number of each cell among the `given`
    ones; -1 if it has none.
    """
    places = place_of[pool.items]
    mine = places >= 0
    owner = np.repeat(np.arange(len(pool.starts) - 1), np.diff(pool.starts))[mine]
    places = places[mine].astype(np.int64)
    top = np.bincount(owner, minlength=len(pool.starts) - 1)
    begins = np.cumsum(top) - top
    found, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in np.unique(top[top >= 2]).tolist():
        same = np.flatnonzero(top == number)
        low, high = np.triu_indices(number, 1)
        for block in np.array_split(same, len(same) * len(low) // _BLOCK + 1):
            table = places[begins[block][:, None] + np.arange(number)]
            which = number_of[pair_cells(table[:, low], table[:, high])]
            row, at = np.nonzero(which >= 0)
            found.append(which[row, at].astype(np.int64))
            rows.append(block[row])
    pair, row = np.concatenate(found), np.concatenate(rows)
    order = np.lexsort((row, pair))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(pair, minlength=given))])
    return PairRows(starts, row[order].astype(np.int32), top)


def _compiled_pairs(pool: Pool, place_of: Codes, number_of: Codes, given: int) -> PairRows:
    from cantle.methods.baskets.model import _kernels as kernels

    places = np.empty(len(pool.items), np.int32)
    begins = kernels.top_places(pool.starts, pool.items, place_of, places)
    found = np.zeros(given, np.int64)
    kernels.count_pairs(begins, places, number_of, found)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(found)])
    rows = np.empty(starts[-1], np.int32)
    kernels.list_pairs(begins, places, number_of, starts[:-1].copy(), rows)
    return PairRows(starts, rows, np.diff(begins))
