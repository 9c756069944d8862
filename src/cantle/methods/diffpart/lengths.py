"""Sizes of sets for diffpart: how many items records are cut to, and how records are lengthened again. Post-processing.

diffpart counts records that were cut to a few items. Without correction, long records would stay short and their items
too rare. A noisy histogram of sizes shows how many items are missing. So every synthetic record that has as many items
as a cut record gets a size from the histogram, and more items, drawn by their frequency among such records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.sums import dot
from cantle.methods.baskets.model.set_sizes import SizeModel
from cantle.schema.items import Codes
from cantle.trusted.core.answers import Noisy
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import gather

if TYPE_CHECKING:
    import polars as pl

ATTEMPTS = 8
"""Draws per missing item; after them a record may stay shorter than its size."""


FEWEST_KEPT, MOST_KEPT = 2, 4


@dataclass(frozen=True, eq=False)
class Cut:
    """The number of items that records were cut to (`most`), and the sizes estimated from the noisy histogram."""

    most: int
    sizes: SizeModel


def items_kept(sizes: SizeModel) -> int:
    """How many items records are cut to: the median size, but at least 2, so that pairs can be seen, and at most 4,
    because each further item divides the budget. Chosen on retail, webview-2, tags, kosarak and email-eu."""
    below = np.cumsum(sizes.count)
    median = int(sizes.size[np.searchsorted(below, below[-1] / 2)])
    return min(max(median, FEWEST_KEPT), MOST_KEPT)


def longer_size(cut: Cut) -> float:
    """The mean size of records of at least `most` items."""
    able = cut.sizes.size >= cut.most
    records = float(cut.sizes.count[able].sum())
    return dot(cut.sizes.count[able], cut.sizes.size[able]) / records if records > 0 else float(cut.most)


def lengthen(starts: Ints, items: Codes, universe: int, cut: Cut, dice: Dice) -> tuple[Ints, Codes]:
    """Lengthens the records of `most` items: their sizes are drawn from the sizes of at least `most`."""
    lengths = np.diff(starts)
    rows = np.flatnonzero(lengths == cut.most)
    wanted = _sizes(len(rows), cut, dice)
    rows, wanted = rows[wanted > cut.most], wanted[wanted > cut.most]
    if not len(rows):
        return starts, items
    codes = items.astype(np.int64)
    _, held = gather(starts, codes, rows)
    popular = np.cumsum(np.bincount(held, minlength=universe))
    keys = np.repeat(np.arange(len(rows)), cut.most) * universe + held
    missing = wanted - cut.most
    for _ in range(ATTEMPTS):
        again = np.repeat(np.arange(len(rows)), missing)
        drawn = np.searchsorted(popular, dice.random(len(again)) * popular[-1], side="right")
        keys = np.sort(np.concatenate([keys, again * universe + drawn]))
        keys = keys[np.diff(keys, prepend=-1) != 0]
        missing = wanted - np.bincount(keys // universe)
        if not missing.any():
            break
    owner, longer = np.divmod(keys, universe)
    kept = np.ones(len(lengths), np.bool_)
    kept[rows] = False
    others = np.flatnonzero(kept)
    short_starts, short = gather(starts, codes, others)
    ends = np.append(short_starts, short_starts[-1] + np.searchsorted(owner, np.arange(1, len(rows) + 1)))
    order = np.argsort(np.concatenate([others, rows]))
    longer_starts, lengthened = gather(ends, np.concatenate([short, longer]), order)
    return longer_starts, lengthened.astype(np.int32)


def _sizes(number: int, cut: Cut, dice: Dice) -> Ints:
    """Sizes of at least `most`, in proportion to their estimated numbers of records."""
    able = cut.sizes.size >= cut.most
    below = np.cumsum(cut.sizes.count[able])
    if not len(below) or below[-1] <= 0:
        return np.full(number, cut.most)
    return cut.sizes.size[able][np.searchsorted(below, dice.random(number) * below[-1], side="right")]


def sizes_frame(edges: Ints, noisy: Noisy, sizes: SizeModel) -> pl.DataFrame:
    """One row per bin of the histogram: its smallest size, the noisy number of records, its rate, and an estimate."""
    import polars as pl

    estimate = np.bincount(np.searchsorted(edges, sizes.size, side="right") - 1, sizes.count, len(edges))
    numbers = {"rate_num": int(noisy.rate_num[0]), "rate_den": noisy.rate_den}
    return pl.DataFrame(
        {
            "size": edges,
            "noisy": noisy.value[0],
            **{name: np.full(len(edges), value, dtype=np.int64) for name, value in numbers.items()},
            "estimate": np.round(estimate.astype(float), 3) + 0.0,  # further digits may vary with the machine
        }
    )
