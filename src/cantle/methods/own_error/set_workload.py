"""Questions about released sets, for measuring a release's own error: items, and pairs and triples of items.

All of them follow from released values. They are the questions with the most to lose: the most frequent items in bands
by rank, every pair of the most frequent of them, and triples of these whose pairs or items are frequent. A pair or
triple is *together* if the release counted every pair in it, and *apart* otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from cantle.schema.items import Universe
from cantle.schema.sets import ITEMS
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.workloads import SetWorkload

BANDS = (16, 64, 256, 1024)
"""The ranks of items by frequency at which bands end: errors differ with frequency, and the worst band counts."""

PAIRED = 64
"""How many of the most frequent items form pairs and triples."""

TRIPLES = 400
"""How many triples have the most frequent pairs, and as many have the most frequent items."""

FURTHER = 500
"""How many of the counted pairs of other items are asked about."""

_BLOCK = 1 << 14  # records looked at together


@dataclass(frozen=True, eq=False)
class CountedPairs:
    """The pairs of items that a release counted, each as smaller code * universe + larger code, ascending; None if it
    counted all sets."""

    universe: int
    pairs: Ints | None

    @staticmethod
    def of(universe: Universe, groups: pl.DataFrame, summary: dict[str, int]) -> CountedPairs:
        """What the released groups of `baskets` or `diffpart` counted."""
        size = universe.size
        if "question" not in groups.columns:  # diffpart: pairs of items were counted only if all sets were
            everything = summary["leaves"] == 2**size - 1
            return CountedPairs(size, None if everything else np.zeros(0, np.int64))
        rows = groups.filter(groups["question"] == "pairs")
        codes = universe.encode(rows[ITEMS].explode(empty_as_null=False)).astype(np.int64).reshape(-1, 2)
        return CountedPairs(size, np.unique(codes.min(axis=1) * size + codes.max(axis=1)))

    def together(self, groups: Sequence[tuple[int, ...]]) -> Bools:
        """For each group of items whether all of its pairs were counted."""
        if self.pairs is None:
            return np.ones(len(groups), dtype=np.bool_)
        asked = [[one * self.universe + other for one, other in combinations(sorted(group), 2)] for group in groups]
        sizes = np.array([len(keys) for keys in asked], dtype=np.int64)
        known = np.isin(np.array([key for keys in asked for key in keys], dtype=np.int64), self.pairs)
        missing = np.bincount(np.repeat(np.arange(len(groups)), sizes)[~known], minlength=len(groups))
        return np.asarray(missing == 0)


def set_workload(released: tuple[Ints, Codes], counted: CountedPairs) -> SetWorkload:
    """The workload for these released records."""
    supports = np.bincount(released[1], minlength=counted.universe)
    by_count = np.argsort(-supports, kind="stable")
    frequent = by_count[: np.count_nonzero(supports)].astype(np.int64)
    groups = _groups(np.sort(frequent[:PAIRED]), supports, released)
    groups = list(dict.fromkeys([*groups, *_further(counted, supports)]))
    together = counted.together(groups)
    ordered = [groups[i] for i in np.argsort(~together, kind="stable").tolist()]
    items = frequent[: BANDS[-1]]
    bands = np.array(sorted({0, *(min(end, len(items)) for end in BANDS)}), dtype=np.int64)
    starts = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
    flat = np.array([item for group in ordered for item in group], dtype=np.int64)
    return SetWorkload(items, bands, starts, flat, int(together.sum()))


def _groups(items: Ints, supports: Ints, released: tuple[Ints, Codes]) -> list[tuple[int, ...]]:
    """All pairs of these items, and triples that many records may hold: no more than hold the rarest pair by what was
    released, or the rarest item if the release missed what brings the items together."""
    both, support = _held_together(items, released), supports[items]
    pairs = np.array(list(combinations(range(len(items)), 2)), dtype=np.int64).reshape(-1, 2)
    triples = np.array(list(combinations(range(len(items)), 3)), dtype=np.int64).reshape(-1, 3)
    one, two, three = triples.T
    of_pairs = np.minimum(np.minimum(both[one, two], both[one, three]), both[two, three])
    of_items = support[triples].min(axis=1, initial=np.iinfo(np.int64).max)
    chosen = [np.argsort(-most, kind="stable")[:TRIPLES] for most in (of_pairs, of_items)]
    chosen_triples = triples[np.unique(np.concatenate(chosen))]
    return [tuple(group) for some in (pairs, chosen_triples) for group in items[some].tolist()]


def _further(counted: CountedPairs, supports: Ints) -> list[tuple[int, ...]]:
    """The most frequent of the counted pairs, by their rarer item."""
    if counted.pairs is None:
        return []
    pairs = np.stack(np.divmod(counted.pairs, counted.universe), axis=1)
    order = np.argsort(-supports[pairs].min(axis=1, initial=np.iinfo(np.int64).max), kind="stable")
    return [tuple(pair) for pair in pairs[order[:FURTHER]].tolist()]


def _held_together(among: Ints, released: tuple[Ints, Codes]) -> Ints:
    """A table of how many records hold each two of these items."""
    starts, items = released
    row_of = np.full(int(max(items.max(initial=0), among.max(initial=0))) + 1, len(among), np.int64)
    row_of[among] = np.arange(len(among))
    both = np.zeros((len(among), len(among)), np.int64)
    for first in range(0, len(starts) - 1, _BLOCK):
        block = starts[first : first + _BLOCK + 1]
        record = np.repeat(np.arange(len(block) - 1), np.diff(block))
        holds = np.zeros((len(among) + 1, len(block) - 1), np.float32)  # the last row stands for all other items
        holds[row_of[items[block[0] : block[-1]]], record] = 1
        both += (holds[:-1] @ holds[:-1].T).astype(np.int64)  # exact, because all numbers are whole and below 2^24
    return both
