"""From fitted sizes, supports, head patterns and pairs to records: calibrate a walk, rake its pool, draw.

Raking gives the records of a pool weights that agree with what was measured. A feature is a set of records of the pool
with a target. For one feature after the other, the weights of its records are multiplied so that the sum of weight
times part comes near the target; the part is that with which a record of this size counts (item_partitions.py), so that
sums and targets have the same scale. `smooth` keeps features below the noise from changing much.

Post-processing: nothing here sees a record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.drawing.records import require_drawable, share_drawn, wanted_items
from cantle.methods.baskets.model.given_pairs import GivenPairs, PairRows, find_pairs
from cantle.methods.baskets.model.item_supports import ItemSupports
from cantle.methods.baskets.model.pool import Codes, HeadModel, Pool, WalkModel, make_pool
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS, gather, item_parts, pair_parts


def draw_records(pool: Pool, weights: Floats, number: int, dice: Dice) -> tuple[Ints, Codes]:
    """This many records from the pool, each about as often as its weight says, as ragged rows in random order."""
    running = np.cumsum(weights)
    if number <= 0 or not len(running) or running[-1] <= 0:
        return np.zeros(1, np.int64), np.zeros(0, np.int32)
    at = (np.arange(number) + dice.random()) / number * running[-1]
    rows = np.minimum(np.searchsorted(running, at, side="right"), int(np.flatnonzero(weights)[-1]))
    return gather(pool.starts, pool.items, rows[dice.permutation(number)])


POOL = (300_000, 600_000)
"""Fewest and most records of a pool."""
KERNELS_FROM = 50_000
"""Records from which on kernels pay off: the work is done on a pool of several times as many."""
_POOL_ITEMS = 30_000_000  # items of a pool of long records, at most
_PER_RECORD = 4  # records of a pool per record of the data, at most
_TRIAL, _TRIALS = 150_000, 2  # records and number of the trial pools that calibrate the walk
_MOST_FOLLOWED = 0.95
_HEAVIEST = 40.0  # times the average weight
_ITEM_SMOOTH = 0.2  # noise scales
_EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class Measured:
    """All that was measured, ready to be fitted."""

    sizes: SizeModel
    items: ItemSupports
    head: HeadModel
    pairs: GivenPairs


def synthesise(measured: Measured, dice: Dice, number_drawn: int | None = None) -> tuple[Ints, Codes]:
    """Synthetic records as ragged rows: as many as are asked for, by default as the noisy sizes say."""
    records, mean = measured.sizes.total, measured.sizes.occurrences / measured.sizes.records
    drawn = round(records * share_drawn(too_many_items(measured.sizes))) if number_drawn is None else number_drawn
    if records < 1 or drawn < 1:
        return np.zeros(1, np.int64), np.zeros(0, np.int32)
    if number_drawn is not None:
        require_drawable(mean * number_drawn)
    number = int(min(np.clip(records, *POOL), _PER_RECORD * records, _POOL_ITEMS / mean)) or 1
    model = first_model(measured)
    if len(measured.pairs.cell):
        for _ in range(_TRIALS):
            model = _calibrated(model, measured, min(number, _TRIAL), dice)
    pool = make_pool(measured.head, measured.sizes, model, measured.items.support, number, dice)
    weights = pool_weights(pool, measured, compiled=dice.compiled)
    return draw_records(pool, weights, drawn, dice)


def too_many_items(sizes: SizeModel) -> dict[str, int]:
    """What the summary says if the sizes call for more items than a release may hold."""
    return wanted_items(sizes.occurrences) if sizes.total >= 1 else {}


def first_model(measured: Measured) -> WalkModel:
    """A walk that would meet the pairs if records did not interfere."""
    support, pairs, sizes = measured.items.support, measured.pairs, measured.sizes
    universe = len(support)
    head = np.zeros(universe, np.bool_)
    head[measured.head.items] = True
    one, two = pairs.item_codes()
    together = np.minimum(np.maximum(pairs.noisy, 0.0) * pairs.enlarge, np.minimum(support[one], support[two]))
    source, partner, weight = np.concatenate([one, two]), np.concatenate([two, one]), np.tile(together, 2)
    usable = np.flatnonzero((weight > 0) & ~head[partner])
    usable = usable[np.lexsort((partner[usable], source[usable]))]
    source, partner, weight = source[usable], partner[usable], weight[usable]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(source, minlength=universe))])
    longer, single = support, measured.items.single
    occurrences, ordered = sizes.occurrences, sizes.occurrences * sizes.ordered_pairs_per_item
    if single is not None:
        longer, occurrences = longer - single, occurrences - sizes.of(1)
    longer = np.maximum(longer, 0.0)
    others = max(ordered, 0.0) / max(occurrences, 1.0) * (1 - support[head].sum() / max(support.sum(), _EXACT))
    follow = np.bincount(source, weight, universe) / np.maximum(longer * others, _EXACT)
    follow = np.minimum(follow, _MOST_FOLLOWED)
    first = np.where(head, 0.0, np.maximum(longer, _EXACT))
    single = first if single is None or not single[~head].any() else np.where(head, 0.0, single)
    return WalkModel(first, single, starts, partner, weight, follow, first * (1 - follow), head)


def _calibrated(model: WalkModel, measured: Measured, number: int, dice: Dice) -> WalkModel:
    """The model corrected by what a trial pool shows."""
    support, universe = measured.items.support, len(measured.items.support)
    pool = make_pool(measured.head, measured.sizes, model, support, number, dice)
    unit = measured.sizes.records / (len(pool.starts) - 1)
    ratio = support / np.maximum(np.bincount(pool.items, minlength=universe) * unit, _EXACT)
    change = np.where(model.head, 1.0, np.clip(ratio, 0.3, 3.0) ** 0.7)
    shown = (
        _partner_counts(model, measured.pairs, find_pairs(pool, measured.pairs, universe, compiled=dice.compiled))
        * unit
    )
    source = np.repeat(np.arange(universe), np.diff(model.starts))
    target = np.minimum(first_model(measured).weight, np.inf)
    weight = model.weight * np.clip(target / np.maximum(shown, _EXACT), 0.3, 3.0) ** 0.7
    wanted, seen = np.bincount(source, target, universe), np.bincount(source, shown, universe)
    push = np.clip(wanted / np.maximum(seen, _EXACT), 0.5, 2.0) ** 0.5
    return replace(
        model,
        first=model.first * change,
        background=model.background * change,
        weight=weight,
        follow=np.minimum(model.follow * np.where(wanted > 0, push, 1.0), _MOST_FOLLOWED),
    )


def _partner_counts(model: WalkModel, pairs: GivenPairs, rows: PairRows) -> Floats:
    """How many records of a pool hold each (item, partner) of the model."""
    one, two = pairs.item_codes()
    universe = len(model.first)
    key = np.concatenate([one * universe + two, two * universe + one])
    count = np.tile(np.diff(rows.starts), 2).astype(float)
    order = np.argsort(key, kind="stable")
    wanted = np.repeat(np.arange(universe), np.diff(model.starts)) * universe + model.partner
    return count[order][np.searchsorted(key[order], wanted)]


def pool_weights(pool: Pool, measured: Measured, *, compiled: bool = False) -> Floats:
    """Weights of a pool raked to all that was measured."""
    number = len(pool.starts) - 1
    average = measured.sizes.records / number
    pairs, others = features_of(pool, measured, compiled=compiled)
    return rake(np.full(number, average), pairs, others, _HEAVIEST * average, compiled=compiled)


def features_of(pool: Pool, measured: Measured, *, compiled: bool = False) -> tuple[list[Features], list[Features]]:
    """Given pairs; and item supports by stratum, head patterns, sizes."""
    rows = np.arange(len(pool.starts) - 1, dtype=np.int32)
    sizes = measured.sizes
    nearest = np.minimum(np.searchsorted(sizes.size, np.diff(pool.starts)), len(sizes.size) - 1)
    head_target = np.append(np.maximum(measured.head.count, 0.0), max(measured.head.rest, 0.0))
    certain = np.ones(len(rows))
    exact = [
        Features(*postings(cell, rows, len(target)), target, certain, _EXACT, (0.2, 5.0))
        for cell, target in ((pool.cell, head_target), (nearest, sizes.count))
    ]
    return [_pair_features(pool, measured, compiled)], [*_item_features(pool, measured.items, rows), *exact]


def _pair_features(pool: Pool, measured: Measured, compiled: bool) -> Features:
    pairs = measured.pairs
    found = find_pairs(pool, pairs, len(measured.items.support), compiled=compiled)
    part = pair_parts(found.top, pairs.most) / PARTS
    return Features(found.starts, found.rows, np.maximum(pairs.noisy, 0.0), part, pairs.noise, (0.25, 4.0))


def _item_features(pool: Pool, items: ItemSupports, rows: Codes) -> list[Features]:
    """Items in short and long records, and in records of one item if these were counted apart."""
    size, universe = np.diff(pool.starts), len(items.support)
    stratum = np.repeat((size > items.most) * universe, size)
    feature, holders = pool.items + stratum, np.repeat(rows, size)
    part = item_parts(size, items.most) / PARTS
    target, smooth = np.concatenate([items.short, items.long]), _ITEM_SMOOTH * items.scale
    made, apart = [], np.zeros(len(feature), np.bool_)
    if items.single is not None:
        apart = np.repeat(size == 1, size)
        alone = postings(feature[apart], holders[apart], universe)
        made.append(Features(*alone, items.single, part, smooth / items.most, (0.25, 4.0)))
    others = postings(feature[~apart], holders[~apart], 2 * universe)
    return [Features(*others, target, part, smooth, (0.25, 4.0)), *made]


# ---- raking ----------------------------------------------------------------------------------------------------------

SWEEPS, LAST = 15, 3
"""Number of sweeps over all features, and then of sweeps without pairs."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of one family: records of feature f are rows[starts[f]:starts[f + 1]]."""

    starts: Ints
    rows: Codes
    target: Floats
    part: Floats
    smooth: float
    step: tuple[float, float]

    @cached_property
    def row_parts(self) -> Floats:
        """The part of each row, in the order of `rows`."""
        return self.part[self.rows]

    @cached_property
    def occupied(self) -> list[tuple[Codes, Floats, float]]:
        """Records, their parts, and target plus smoothing of each feature that has records."""
        ends = self.starts.tolist()
        spans = [(f, slice(ends[f], ends[f + 1])) for f in np.flatnonzero(np.diff(self.starts)).tolist()]
        wanted = (self.target + self.smooth).tolist()
        return [(self.rows[span], self.row_parts[span], wanted[f]) for f, span in spans]


def postings(feature: Ints | Codes, rows: Codes, number: int) -> tuple[Ints, Codes]:
    """Occurrences (feature, row) as a ragged table by feature; rows stay in order."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(feature, minlength=number))])
    return starts, rows[np.argsort(feature, kind="stable")]


def rake(
    weights: Floats, pairs: list[Features], others: list[Features], cap: float, *, compiled: bool = False
) -> Floats:
    """The weights after all sweeps; none exceeds `cap`."""
    weights = weights.copy()
    for sweep in range(SWEEPS + LAST):
        for features in [*pairs, *others] if sweep < SWEEPS else others:
            _sweep(weights, features, cap, compiled=compiled)
    return weights


def _sweep(weights: Floats, features: Features, cap: float, *, compiled: bool) -> None:
    if compiled:
        from cantle.methods.baskets.model import _kernels

        f = features
        _kernels.sweep(weights, f.starts, f.rows, f.target, f.row_parts, f.smooth, *f.step, cap)
    else:
        plain_sweep(weights, features, cap)


def plain_sweep(weights: Floats, features: Features, cap: float) -> None:
    """One pass over the features, in place. Sums are taken in order (cumsum), as in the compiled form."""
    low, high = features.step
    for rows, parts, wanted in features.occupied:
        mine = weights[rows]
        factor = wanted / ((mine * parts).cumsum()[-1] + features.smooth)
        weights[rows] = np.minimum(mine * min(max(factor, low), high), cap)
