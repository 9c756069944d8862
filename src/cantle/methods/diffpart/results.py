"""From noisy counts of sets to what is released: groups and records. Post-processing."""

from __future__ import annotations

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, Floats, dot
from cantle.drawing.records import Results, share_drawn, wanted_items
from cantle.drawing.set_frames import to_frame
from cantle.methods.diffpart.refill import Cut, ItemFrequencies, Ragged, lengthen, longer_size, refill
from cantle.methods.diffpart.tree import CountedParts, KeptPartitions, agree
from cantle.methods.diffpart.walsh import fill_in
from cantle.schema.items import Codes, Universe
from cantle.trusted.core.answers import Noisy
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree, bits_of, gather

REFILLED_ITEMS = 3
"""Assumed number of items of a filled-in record, for an estimate of the memory needed."""


def kept_sets(
    universe: Universe, tree: ItemTree, kept_partitions: KeptPartitions, fill: bool, cut: Cut | None, dice: Dice
) -> Results:
    """Everything a release of partitions holds. Without `fill`, these are only the leaves with their noisy counts
    (Algorithm 1). With `fill`, counts are consistent, pruned mass gets records, and records that were `cut` get more
    items."""
    leaves, item_sets = kept_partitions.leaves(), _sorted_items(*kept_partitions.item_sets())
    estimate, missing, parts = leaves.noisy.astype(float), np.zeros(0), kept_partitions.parts()
    if fill:
        estimate, missing = agree(parts, leaves, [nodes.ids for nodes in kept_partitions.rounds])
    wanted = wanted_items(_items(item_sets, estimate, cut if fill else None, float(missing.sum())))
    share, extra = share_drawn(wanted), list[Ragged]()
    count = _at_random(estimate * share, dice) if fill or wanted else leaves.noisy.copy()
    if fill:
        frequencies, counted = _frequencies(tree, item_sets, estimate), CountedParts.join([parts, leaves])
        extra = refill(frequencies, kept_partitions.rounds, counted, _at_random(missing * share, dice), dice)
    order = _canonical(*item_sets)
    columns = {"path": kept_partitions.paths(), "noisy": leaves.noisy, "rate_num": leaves.rate_num}
    columns |= {"rate_den": np.full(len(leaves), leaves.rate_den), "count": count}
    groups = _groups(universe, item_sets, order, columns, estimate)
    drawn = _drawn(item_sets, count, extra, dice)
    summary = {"records": len(drawn[0]) - 1, "leaves": len(leaves), "refilled": len(drawn[0]) - 1 - int(count.sum())}
    if cut is not None:
        summary["items_per_record"] = cut.most
        if fill:
            drawn = lengthen(*drawn, universe.size, cut, dice)
    return Results(to_frame(*drawn, universe), groups, {}, summary | wanted, sets=drawn)


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
    drawn = _drawn(item_sets, count, [], dice)
    summary = {"records": len(drawn[0]) - 1, "leaves": len(value), "refilled": 0, **wanted}
    return Results(to_frame(*drawn, universe), groups, {}, summary, sets=drawn)


def _frequencies(tree: ItemTree, item_sets: Ragged, estimate: Floats) -> ItemFrequencies:
    """The frequencies of items in the counted leaves; if these hold no record, all items are equally frequent."""
    if estimate.sum() > 0:
        return ItemFrequencies(tree, item_sets, estimate)
    return ItemFrequencies(tree, (np.arange(tree.size + 1), np.arange(tree.size)), np.ones(tree.size))


def _items(item_sets: Ragged, estimate: Floats, cut: Cut | None = None, refilled: float = 0.0) -> float:
    """About how many items all records will have: `estimate` of each set, lengthened if cut, and `refilled` others."""
    size, usual = np.diff(item_sets[0]).astype(float), float(REFILLED_ITEMS)
    if cut is not None:
        longer = longer_size(cut)
        size[size == cut.most], usual = longer, max(usual, longer)
    return dot(size, np.maximum(estimate, 0.0)) + usual * refilled


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


def _drawn(item_sets: Ragged, count: Ints, extra: list[Ragged], dice: Dice) -> tuple[Ints, Codes]:
    """The records, shuffled: each set as often as its count, and the records of the other tables."""
    tables = [item_sets, *extra]
    starts = np.concatenate([np.zeros(1, np.int64), *(np.diff(table[0]) for table in tables)])
    starts, items = np.cumsum(starts, out=starts), np.concatenate([table[1] for table in tables], dtype=np.int32)
    rows = np.concatenate([np.repeat(np.arange(len(count)), count), np.arange(len(count), len(starts) - 1)])
    return gather(starts, items, rows[dice.permutation(len(rows))])
