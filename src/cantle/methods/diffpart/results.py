"""From noisy counts of sets to what is released: groups and records. Post-processing."""

from __future__ import annotations

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, Floats, dot
from cantle.drawing.records import Results, share_drawn, wanted_items
from cantle.drawing.set_frames import to_frame
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.methods.diffpart.tree import KeptPartitions
from cantle.methods.diffpart.walsh import fill_in
from cantle.schema.items import Codes, Universe
from cantle.trusted.core.answers import Noisy
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import bits_of, gather

Ragged = tuple[Ints, Ints]


def kept_sets(universe: Universe, kept_partitions: KeptPartitions, dice: Dice) -> Results:
    """Everything a release of partitions holds: the leaves with their noisy counts (Algorithm 1)."""
    leaves, item_sets = kept_partitions.leaves(), _sorted_items(*kept_partitions.item_sets())
    estimate = leaves.noisy.astype(float)
    wanted = wanted_items(_items(item_sets, estimate))
    count = _at_random(estimate * share_drawn(wanted), dice) if wanted else leaves.noisy.copy()
    columns = {"path": kept_partitions.paths(), "noisy": leaves.noisy, "rate_num": leaves.rate_num}
    columns |= {"rate_den": np.full(len(leaves), leaves.rate_den), "count": count}
    groups = _groups(universe, item_sets, _canonical(*item_sets), columns, estimate)
    drawn = _drawn(item_sets, count, dice)
    summary = {"records": len(drawn[0]) - 1, "leaves": len(leaves), **wanted}
    return Results(to_frame(*drawn, universe), groups, {}, summary, sets=drawn)


def all_sets(universe: Universe, noisy: Noisy, path: int, dice: Dice) -> Results:
    """Everything a release of all sets of a small universe holds."""
    value = noisy.value[0]
    cells = np.concatenate([np.zeros(1), value.astype(float)])
    estimate = fill_in(cells, int(noisy.rate_num[0]) / noisy.rate_den)[1:]
    item_sets = bits_of(np.arange(1, len(cells)), np.zeros(len(value), np.int64))
    wanted = wanted_items(_items(item_sets, estimate))
    count = _at_random(estimate * share_drawn(wanted), dice)
    columns = {"path": np.full(len(value), path), "noisy": value, "count": count}
    columns |= {"rate_num": np.full(len(value), noisy.rate_num[0]), "rate_den": np.full(len(value), noisy.rate_den)}
    groups = _groups(universe, item_sets, np.arange(len(value)), columns, estimate)
    drawn = _drawn(item_sets, count, dice)
    summary = {"records": len(drawn[0]) - 1, "leaves": len(value), **wanted}
    return Results(to_frame(*drawn, universe), groups, {}, summary, sets=drawn)


def sizes_frame(edges: Ints, noisy: Noisy, sizes: SizeModel) -> pl.DataFrame:
    """One row per bin of the histogram: its smallest size, the noisy number of records, its rate, and an estimate."""
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


def _items(item_sets: Ragged, estimate: Floats) -> float:
    """About how many items all records will have."""
    return dot(np.diff(item_sets[0]).astype(float), np.maximum(estimate, 0.0))


def _at_random(x: Floats, dice: Dice) -> Ints:
    """Rounds at random without bias: a number is rounded up with the probability of its fraction."""
    return np.floor(np.maximum(x, 0.0) + dice.random(len(x))).astype(np.int64)


def _sorted_items(starts: Ints, items: Ints) -> Ragged:
    """The same sets with ascending items."""
    width = int(items.max(initial=0)).bit_length()
    packed = (np.repeat(np.arange(len(starts) - 1), np.diff(starts)) << width) | items
    packed.sort()
    return starts, packed & ((1 << width) - 1)


def _canonical(starts: Ints, items: Ints) -> Ints:
    """The order of sets by size, then by items; it does not depend on the order in which they were found."""
    sizes = np.diff(starts)
    orders = []
    for size in np.unique(sizes).tolist():  # one table for all sets would be as wide as the longest set
        rows = np.flatnonzero(sizes == size)
        listed = items[starts[rows, None] + np.arange(size)]
        orders.append(rows[np.lexsort((rows, *listed.T[::-1]))])
    return np.concatenate([np.zeros(0, np.int64), *orders])


def _groups(
    universe: Universe, item_sets: Ragged, order: Ints, columns: dict[str, Ints], estimate: Floats
) -> pl.DataFrame:
    """One row per set: items, noisy count, its rate, estimate and released count."""
    groups = to_frame(*gather(*item_sets, order), universe)
    series = {name: pl.Series(name, column[order]) for name, column in columns.items()}
    return groups.with_columns(*series.values(), pl.Series("estimate", estimate[order]))


def _drawn(item_sets: Ragged, count: Ints, dice: Dice) -> tuple[Ints, Codes]:
    """The records, shuffled: each set as often as its count."""
    rows = np.repeat(np.arange(len(count)), count)
    return gather(item_sets[0], item_sets[1].astype(np.int32), rows[dice.permutation(len(rows))])
