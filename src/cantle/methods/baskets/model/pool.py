"""A pool of candidate records: they have head patterns and sizes, and a random walk over pairs fills them.

A record starts with its head items, or with one item. Until it has its size, a random item of the record proposes a new
item: with probability `follow` one of its partners, otherwise any item. Repeats and head items are refused.

Every random number has an address (seed, record, number of the try). So the compiled walk, which goes record by record,
and the plain walk here, which goes try by try, give the same bytes. The plain one is the specification.
Post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cantle.drawing.counts import Dice, Floats, systematic
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.trusted.core.arrays import Words
from cantle.trusted.core.mixing import scramble
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.item_partitions import popcount

Codes = npt.NDArray[np.int32]

MOST_HEAD = 10
"""Most head items in a pattern."""

REFUSALS = 16
"""Tries for one item; after them, the next item that the record lacks is taken."""

_BLOCK = 1 << 15  # records filled at once by the plain walk


@dataclass(frozen=True, eq=False)
class HeadModel:
    """Kept patterns of head items with their counts, and how many records have any other pattern."""

    items: Ints
    mask: Ints
    count: Floats
    rest: float

    @staticmethod
    def none(records: float) -> HeadModel:
        """No head: every record has the empty pattern."""
        return HeadModel(np.zeros(0, np.int64), np.zeros(1, np.int64), np.array([records]), 0.0)


@dataclass(frozen=True, eq=False)
class WalkModel:
    """The probabilities of a walk: weights of first items, of partners (ragged by item, all released pairs), and of any
    item. `single` has the weights of items in records of one item."""

    first: Floats
    single: Floats
    starts: Ints
    partner: Ints
    weight: Floats
    follow: Floats
    background: Floats
    head: Bools


@dataclass(frozen=True, eq=False)
class Pool:
    """Records as ragged rows of ascending items, with the cell of their head pattern (the last cell is the rest)."""

    starts: Ints
    items: Codes
    cell: Ints


def make_pool(head: HeadModel, sizes: SizeModel, model: WalkModel, support: Floats, number: int, dice: Dice) -> Pool:
    """A pool of this many records, ordered by pattern, size and first item, so that a systematic draw preserves the
    distributions of all three."""
    cell, mask = _patterns(head, support / sizes.records, number, dice, bool((model.first > 0).any()))
    held = popcount(mask)
    size = _sizes(held, sizes, float(support[head.items].sum() / max(support.sum(), 1e-300)), model, dice)
    order = _order(cell, size)
    cell, mask, held, size = cell[order], mask[order], held[order], size[order]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
    items = np.full(starts[-1], -1, np.int32)
    for place, item in enumerate(head.items.tolist()):
        rows = np.flatnonzero(mask >> place & 1)
        items[starts[rows] + popcount(mask[rows] & ((1 << place) - 1))] = item
    alone = np.flatnonzero(held == 0)
    for rows, weight in ((alone[size[alone] == 1], model.single), (alone[size[alone] > 1], model.first)):
        drawn = systematic(weight, len(rows), dice)[dice.permutation(len(rows))]
        changes = (np.diff(cell[rows], prepend=-1) != 0) | (np.diff(size[rows], prepend=-1) != 0)
        base = np.cumsum(changes) * len(weight)  # ascending, because rows are sorted by cell and size
        items[starts[rows]] = np.sort(base + drawn) - base
    filled = np.maximum(held, 1)
    seed = int(dice.integers(1 << 62))
    length = _fill(starts, items, filled, model, seed, compiled=dice.compiled)
    if (length != size).any():  # some records found fewer items than their size
        keep = np.arange(len(items)) - np.repeat(starts[:-1], size) < np.repeat(length, size)
        starts, items = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)]), items[keep]
    return Pool(starts, items, cell)


def _patterns(head: HeadModel, chance: Floats, number: int, dice: Dice, others: bool) -> tuple[Ints, Ints]:
    """The cell of each record, and its head items as a mask; records in the last cell hold head items independently."""
    weight = np.maximum(np.append(head.count, head.rest), 0.0)
    if not others:  # all items are head items, so the empty pattern would be an empty record
        weight[np.append(head.mask, 1) == 0] = 0.0
    if not weight.any():
        weight[-1 if len(head.items) else 0] = 1.0
    cell = systematic(weight, number, dice)
    mask = np.append(head.mask, 0)[cell]
    rest = np.flatnonzero(cell == len(head.mask))
    for place, item in enumerate(head.items.tolist()):
        mask[rest] |= (dice.random(len(rest)) < chance[item]).astype(np.int64) << place
    if not others:
        mask[mask == 0] = 1
    return cell, mask


def _order(cell: Ints, size: Ints) -> Ints:
    """The stable order of records by cell, then by size."""
    there = np.bincount(size) > 0
    key = cell * np.count_nonzero(there) + (np.cumsum(there) - 1)[size]
    # Numbers of 16 bits are sorted in linear time.
    return np.argsort(key.astype(np.uint16) if key.max(initial=0) < 1 << 16 else key, kind="stable")


def _sizes(held: Ints, sizes: SizeModel, head_share: float, model: WalkModel, dice: Dice) -> Ints:
    """A size for each record, given its number c of head items: P[t] ~ h_t C(t, c) (1 - share)^(t - c)."""
    size, free = np.empty(len(held), np.int64), int((~model.head).sum())
    for number in np.unique(held).tolist():
        rows = np.flatnonzero(held == number)
        extra = sizes.size - number
        ways = np.ones(len(extra))
        for step in range(number):
            ways = ways * np.maximum(sizes.size - step, 0)
        weight = sizes.count * ways * (1 - min(head_share, 1 - 1e-9)) ** np.maximum(extra, 0) * (extra >= 0)
        drawn = sizes.size[systematic(weight, len(rows), dice)] if weight.sum() > 0 else np.full(len(rows), number)
        # Patterns are sorted and sizes are drawn in ascending order; without the shuffle, sizes would depend on
        # patterns.
        size[rows] = np.clip(drawn, max(number, 1), number + free)[dice.permutation(len(rows))]
    return size


def _fill(starts: Ints, items: Codes, filled: Ints, model: WalkModel, seed: int, *, compiled: bool) -> Ints:
    """Fills all records in place, with ascending items; returns how many items each has."""
    state = scramble(np.arange(len(filled), dtype=np.uint64) + np.uint64(seed))
    mass = np.cumsum(model.weight)
    background = np.cumsum(model.background * ~model.head)
    if len(background) and background[-1] <= 0:
        background = np.cumsum((~model.head).astype(float))
    if compiled:
        from cantle.methods.baskets.model import _kernels

        length = filled.copy()
        _kernels.walk(
            state, starts, items, length, model.starts, model.partner, mass, model.follow, background, model.head
        )
        return length
    return plain_walk(state, starts, items, filled, model, mass, background)


def plain_walk(
    state: Words,
    starts: Ints,
    items: Codes,
    filled: Ints,
    model: WalkModel,
    mass: Floats,
    background: Floats,
) -> Ints:
    """The walk, for all records of one size at once."""
    size, length = np.diff(starts), filled.copy()
    for wanted in np.unique(size).tolist():
        same = np.flatnonzero(size == wanted)
        for begin in range(0, len(same), _BLOCK):
            rows = same[begin : begin + _BLOCK]
            place = starts[rows][:, None] + np.arange(wanted)
            table = items[place]
            length[rows] = _walk_block(table, filled[rows], state[rows], model, mass, background)
            table[np.arange(wanted) >= length[rows][:, None]] = np.iinfo(np.int32).max
            items[place] = np.sort(table, axis=1)
    return length


def _walk_block(table: Codes, filled: Ints, state: Words, model: WalkModel, mass: Floats, background: Floats) -> Ints:
    """Fills a table of records of one size in place, one try per record and round; returns how many items each has."""
    length, refused, tried = filled.copy(), np.zeros(len(filled), np.int64), np.zeros(len(filled), np.uint64)
    open_ = np.flatnonzero(length < table.shape[1])
    while len(open_):
        words = [state[open_] + tried[open_] * np.uint64(3) + np.uint64(k) for k in range(3)]
        which, coin, where = ((scramble(word) >> np.uint64(11)).astype(float) * 2.0**-53 for word in words)
        tried[open_] += np.uint64(1)
        source = table[open_, (which * length[open_]).astype(np.int64)]
        drawn = _proposals(source, coin, where, model, mass, background)
        taken = model.head[drawn] | (table[open_] == drawn[:, None]).any(axis=1)
        late = np.flatnonzero(taken & (refused[open_] + 1 >= REFUSALS))
        drawn[late] = _next_free(drawn[late], table[open_[late]], model.head)
        taken[late] = False
        refused[open_] = np.where(taken, refused[open_] + 1, 0)
        good = np.flatnonzero(~taken & (drawn >= 0))
        table[open_[good], length[open_[good]]] = drawn[good]
        length[open_[good]] += 1
        open_ = open_[(length[open_] < table.shape[1]) & (drawn >= 0)]
    return length


def _proposals(source: Codes, coin: Floats, where: Floats, model: WalkModel, mass: Floats, background: Floats) -> Ints:
    """The item that each source proposes."""
    first, last = model.starts[source], model.starts[source + 1]
    follows = (coin < model.follow[source]) & (last > first)
    base = np.where(first > 0, mass[np.maximum(first, 1) - 1] if len(mass) else 0.0, 0.0)
    drawn = np.searchsorted(background, where * background[-1], side="right")
    drawn = np.minimum(drawn, len(background) - 1)
    rows = np.flatnonzero(follows)
    at = base[rows] + where[rows] * (mass[last[rows] - 1] - base[rows])
    drawn[rows] = model.partner[np.clip(np.searchsorted(mass, at, side="right"), first[rows], last[rows] - 1)]
    return drawn


def _next_free(items: Ints, records: Codes, head: Bools) -> Ints:
    """For each record the first item from a given one on, cyclically, that it lacks and that is no head item; -1 if
    there is none."""
    free, left = items.copy(), np.arange(len(items))
    for _ in range(len(head)):
        left = left[head[free[left]] | (records[left] == free[left][:, None]).any(axis=1)]
        if not len(left):
            break
        free[left] = (free[left] + 1) % len(head)
    free[left] = -1
    return free
