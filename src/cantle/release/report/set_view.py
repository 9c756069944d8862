"""Released sets as codes of items: sizes, numbers of sets with an item, and patterns of the most frequent items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.load import universe_of
from cantle.release.report.groupings import Ints
from cantle.release.sets import list_frame
from cantle.schema.items import Universe

MOST_ITEMS = 30
"""Most items in a pattern; a pattern is a number with one bit per item."""


@dataclass(frozen=True, eq=False, repr=False)
class SetView:
    """The released sets that are not empty: set i holds the items items[starts[i]:starts[i + 1]]."""

    starts: Ints
    items: Ints
    universe: Universe

    @staticmethod
    def of(release: Release) -> SetView:
        universe = universe_of(release.manifest)
        sets = list_frame(as_polars(release.records, release.manifest), release.manifest)["items"]
        lengths = sets.list.len().fill_null(0).to_numpy().astype(np.int64)
        flat = sets.filter(sets.list.len() > 0).explode()
        codes = universe.encode(flat).astype(np.int64)
        return SetView(np.append(0, np.cumsum(lengths[lengths > 0])), codes, universe)

    @property
    def records(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> Ints:
        """The number of sets of each size, from 0."""
        return np.bincount(np.diff(self.starts))

    @cached_property
    def supports(self) -> Ints:
        """The number of sets that hold each item."""
        return np.bincount(self.items, minlength=self.universe.size)

    def top(self, most: int = MOST_ITEMS) -> Ints:
        """The codes of the most frequent items, the most frequent first."""
        order = np.argsort(-self.supports, kind="stable")[:most]
        return order[self.supports[order] > 0]

    def label(self, code: int) -> str:
        return str(self.universe.label(int(code)))

    def patterns(self, top: Ints) -> tuple[Ints, Ints]:
        """The patterns of top items in sets (numbers with bit i for item top[i]), and how many sets have each."""
        if not self.records:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        bit = np.zeros(self.universe.size, dtype=np.int64)
        bit[top] = 1 << np.arange(len(top))
        masks = np.bitwise_or.reduceat(bit[self.items], self.starts[:-1])
        return np.unique(masks, return_counts=True)


def holding(patterns: tuple[Ints, Ints], wanted: int) -> int:
    """The number of sets that hold all items of the pattern `wanted`."""
    masks, counts = patterns
    return int(counts[(masks & wanted) == wanted].sum())


def pair_counts(patterns: tuple[Ints, Ints], size: int) -> Ints:
    """The number of sets with both items, for each pair of the first `size` items of the patterns."""
    masks, counts = patterns
    held = ((masks[:, None] >> np.arange(size)) & 1).astype(np.int64)
    return held.T @ (held * counts[:, None])
