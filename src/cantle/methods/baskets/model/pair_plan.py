"""Public rules of `baskets`: how many items and pairs of a record count, which items, what is released.

Every rule uses noisy answers, the size of the universe and epsilon per record (epsilon / k for persons of at most k
records). None uses a record. The constants were chosen on seven public data sets together: tags-math-sx, kosarak-5-25,
email-eu-sets, retail, bms-webview-1, bms-webview-2, t10i4d100k. Post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.drawing.counts import Floats, dot, mix
from cantle.methods.baskets.model.pool import MOST_HEAD
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS

SIZES_SHARE = Fraction(4, 100)
HEAD_SHARE = Fraction(5, 100)
ITEMS_SHARE = (0.25, 0.5)
BLURRED_ITEMS_SHARE = 0.55
"""The largest share for items if noise hides most of them: pairs of items that are barely known help little."""

POOR = 15_000.0
"""Records times epsilon below which pairs are not measured."""

RICH = 50_000.0
"""Records times epsilon from which on noise is less of a problem than what the cut leaves out."""

_BLURRED = 0.3  # expected error of all supports, relative to their sum, from which on noise hides most items
_MOST_COUNTED = 16  # items of a record that count, at most
_COVER_MIN = (0.2, 0.35, 0.5)  # share of all occurrences that must be counted: if poor, in between, if rich
_CUT_LOSS = (0.02, 0.02, 0.08)  # error per occurrence that is not counted, likewise
_LONG_MIN = 0.02  # share of the counted occurrences from which on long records are a stratum of their own
_SINGLES_MIN = 0.01  # share of the records from which on those of one item are a stratum of their own
_HEAD_FROM = 0.1  # an item in more than this share of the records is a head item
_KEPT_ITEMS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3000)
_REACH = 0.75  # share of the support of the least frequent paired item that the threshold must not exceed
_FEWEST_PAIRS = 3
_MOST_PAIRS = (15.0, 45.0)  # most pairs of a record that count; in between, one per 100,000 / 15 records times epsilon
_USUAL = (0.7, 0.95)  # quantile of the sizes whose pairs all count, for few and for many records times epsilon
_FEW = 60_000.0  # records times epsilon up to which the lower quantile holds; it rises by a sixteenth per doubling
_LONGEST = 256  # larger sizes count as this size when pairs are planned


@dataclass(frozen=True)
class ItemPlan:
    """How item supports are measured: with `most` items per record and this share of epsilon; long records apart if
    `strata`, records of one item apart if `singles`."""

    most: int
    share: Fraction
    strata: bool
    singles: bool
    pairs: bool


@dataclass(frozen=True, eq=False)
class PairPlan:
    """Which pairs are measured: those of `items` (ascending), with `most` pairs per record; a cell is released if its
    noisy value is at least `at_least` parts.

    `always` lists cells that are released whatever their noisy value, as numbers of pairs (`pair_cells`); `scale` is
    the number of pairs of top items per pair that counts.
    """

    items: Ints
    most: int
    scale: float
    at_least: int
    always: Ints

    @property
    def pairs(self) -> int:
        """How many pairs of items there are."""
        return len(self.items) * (len(self.items) - 1) // 2


def plan_items(sizes: SizeModel, universe: int, epsilon: float, accuracy: Fraction, pairs: bool) -> ItemPlan:
    """How many items of a record count (m) and which share of epsilon they get."""
    rest = 1 - SIZES_SHARE - accuracy
    strength = sizes.records * epsilon
    pairs = pairs and universe >= 2 and strength >= POOR
    zipf = sizes.occurrences / np.arange(1, universe + 1) / (1 / np.arange(1, universe + 1)).sum()
    level = int(strength >= POOR) + int(strength >= RICH)
    best, best_loss, blur = 1, np.inf, 0.0
    for most in range(1, min(_MOST_COUNTED, universe) + 1):
        cover = sizes.counted(most) / sizes.occurrences
        if cover < _COVER_MIN[level] and most < universe and most < _MOST_COUNTED:
            continue
        strata = 1.4 if _long_share(sizes, most) >= _LONG_MIN else 1.0  # two noisy counts per item instead of one
        noise = strata * most / (_items_share(most, strength, rest, pairs) * epsilon * cover)
        hidden = float(np.minimum(zipf, noise).sum())
        loss = hidden + _CUT_LOSS[level] * (1 - cover) * sizes.occurrences
        if loss < best_loss:
            best, best_loss, blur = most, loss, hidden / sizes.occurrences
    strata_pay = _long_share(sizes, best) >= _LONG_MIN
    singles_pay = best > 1 and sizes.of(1) >= _SINGLES_MIN * sizes.records
    share = _items_share(best, strength, rest, pairs, BLURRED_ITEMS_SHARE if blur > _BLURRED else ITEMS_SHARE[1])
    return ItemPlan(best, share, strata_pay, singles_pay, pairs)


def _long_share(sizes: SizeModel, most: int) -> float:
    """The share of all counted occurrences that are in records of more than `most` items."""
    return sizes.longer(most)[0] * most / sizes.counted(most)


def _items_share(most: int, strength: float, rest: Fraction, pairs: bool, largest: float = ITEMS_SHARE[1]) -> Fraction:
    if not pairs:
        return rest
    share = float(np.clip(8000 * most / strength, ITEMS_SHARE[0], largest))
    return min(rest - HEAD_SHARE, Fraction(round(1000 * share), 1000))


def plan_head(support: Floats, records: float) -> Ints:
    """The items in more than a tenth of the records, ascending; none if there are fewer than two such items."""
    order = np.argsort(-support, kind="stable")[:MOST_HEAD]
    head = np.sort(order[support[order] > _HEAD_FROM * records])
    return head if len(head) >= 2 else head[:0]


def head_threshold(cells: int, scale: float) -> float:
    """The noisy count from which on a head pattern is kept; about one empty pattern reaches it."""
    return float(np.log(cells)) * scale + 1


def plan_pairs(support: Floats, sizes: SizeModel, epsilon: float, pairs_epsilon: float) -> PairPlan:
    """The top items, the cap on pairs per record, the threshold, and the cells that are always released.

    `epsilon` is that of the whole run, `pairs_epsilon` the part for pairs. With more pairs per record there is more
    noise; with fewer, long records are under-represented. Fewer pairs pay off if there is much noise.
    """
    strength = sizes.records * epsilon
    usual = float(np.clip(_USUAL[0] + np.log2(strength / _FEW) / 16, *_USUAL))
    highest = int(np.clip(_MOST_PAIRS[0] * strength / 100_000, *_MOST_PAIRS))
    order = np.argsort(-support, kind="stable")
    falling = np.maximum(support[order], 1e-9)
    share = np.cumsum(falling) / falling.sum()
    chosen = None
    for kept in sorted({min(kept, len(support)) for kept in _KEPT_ITEMS}):
        most, scale = _cap(sizes, float(share[kept - 1]), usual, highest)
        threshold = most / pairs_epsilon * max(1.0, float(np.log1p(kept * (kept - 1) / 80)))
        if chosen is None or _REACH * falling[kept - 1] >= threshold * scale:
            chosen = kept, most, scale, threshold
    assert chosen is not None
    kept, most, scale, threshold = chosen
    items = np.sort(order[:kept])
    always = _expected(support[items], sizes, threshold * scale)
    at_least = max(1, int(threshold * PARTS) + 1)
    return PairPlan(items, most, scale, at_least, always)


def _cap(sizes: SizeModel, share: float, usual: float, highest: int) -> tuple[int, float]:
    """How many pairs of a record count, and how many pairs there are per pair that counts, if this share of all
    occurrences are top items. `usual` is the quantile of the records whose pairs all count, unless these are more than
    `highest`."""
    top = _thinned(sizes, share)
    number = np.arange(len(top))
    some = np.cumsum(top * (number >= 2))
    whole = int(np.searchsorted(some, usual * some[-1])) if some[-1] > 0 else 2
    most = int(np.clip(whole * (whole - 1) // 2, _FEWEST_PAIRS, highest))
    return most, _enlarged(top, most)


def _enlarged(top: Floats, most: int) -> float:
    """How many pairs there are per pair that counts, given the numbers of records with 0, 1, 2, ... top items."""
    number = np.arange(len(top))
    pairs = number * (number - 1) / 2
    counted = dot(top, np.minimum(pairs, most))
    return dot(top, pairs) / counted if counted > 0 else 1.0


def _thinned(sizes: SizeModel, share: float) -> Floats:
    """How many records have 0, 1, 2, ... top items, if each item is a top item with this probability."""
    size = np.minimum(sizes.size, _LONGEST)
    count: Floats = np.bincount(size, sizes.count).astype(float)
    if share >= 1:
        return count
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, len(count))))])
    n, k = np.arange(len(count))[:, None], np.arange(len(count))
    possible = k <= n
    ways = log_factorial[n] - log_factorial[k] - log_factorial[np.where(possible, n - k, 0)]
    chance = np.exp(ways + k * np.log(share) + np.where(possible, n - k, 0) * np.log1p(-share)) * possible
    return mix(count, chance)


def _expected(support: Floats, sizes: SizeModel, least: float) -> Ints:
    """The cells of pairs whose count would exceed `least` if items of these supports were independent."""
    spread = sizes.ordered_pairs_per_item / sizes.occurrences
    order = np.argsort(-support, kind="stable")
    falling = support[order]
    bar = least / np.maximum(falling * spread, 1e-300)
    number = np.searchsorted(-falling, -bar, side="left")
    first = np.repeat(np.arange(len(order)), number)
    second = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    once = first < second
    return np.unique(pair_cells(order[first[once]], order[second[once]]))


def pair_cells(first: Ints, second: Ints) -> Ints:
    """The number of each pair of places a < b in a list: b (b - 1) / 2 + a.

    >>> pair_cells(np.array([0, 0, 2]), np.array([1, 2, 1])).tolist()
    [0, 1, 2]
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.asarray(high * (high - 1) // 2 + low)


def pair_places(cells: Ints) -> tuple[Ints, Ints]:
    """The places a < b of each pair, from its number."""
    high = ((1 + np.sqrt(8 * cells.astype(float) + 1)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > cells
    high += high * (high + 1) // 2 <= cells
    return cells - high * (high - 1) // 2, high
