"""Item supports from noisy counts: a prior fitted to all of them, two strata, optional departments. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Floats, dot, each_dot, mix
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.trusted.geometry.boxes import Ints

CLEAR = 15.0
"""A noisy count of at least this many noise scales is used as it is."""

_GRID, _BINS, _ROUNDS = 71, 324, 200  # values of the prior, bins of noisy values, steps of expectation-maximisation
_DEEP = -12.0  # noise scales: lower values share the first bin
_RESCALE = (0.3, 3.0)
_LONG_SPREAD = 0.4  # relative spread among items of the share that long records have
_SHARE_SPREAD = 0.25  # the same spread, not relative, where items are below the noise
_ABOVE_NOISE = 4.0  # mean square of unclear counts, in variances of the noise, above which items exceed the noise
_TREND_FROM = 0.6  # share of long records in all that counts, from which on trends of items with size are used
_TREND_KEPT = 0.5  # part of a trend between short and long records that is taken to go on among long ones
_TRENDS = np.linspace(-4.0, 4.0, 161)  # exponents of size
_DEPARTMENT_SPREAD = 0.5  # relative error that a department's sum of posterior means may have
_DEPARTMENT_RESCALE = (0.1, 10.0)
_TINY = 1e-9
_ALIKE = 1e-3  # relative difference of two scales that are taken as equal; a smaller scale is taken as none


@dataclass(frozen=True, eq=False)
class ItemSupports:
    """What was measured per item, without noise as far as possible.

    `short` and `long` are in the scale of measurement: long records count with `most` of their items. If most of what
    counts is in long records, `long` allows for items whose long records are shorter or longer than usual. `support`
    estimates how many records hold each item; `enlarge` is how many long records stand for one that counts. `scale` is
    that of the noise (sensitivity over epsilon). `single` is how many records hold this item alone, if they were
    counted apart: then their noise is `most` times smaller, and `short` leaves them out.
    """

    short: Floats
    long: Floats
    support: Floats
    most: int
    scale: float
    enlarge: float = 1.0
    single: Floats | None = None


def fit_supports(
    noisy: Floats, scale: float, most: int, sizes: SizeModel, departments: Ints | None = None, *, singles: bool = False
) -> ItemSupports:
    """Supports behind noisy counts, one row per stratum (short and long records, or one row of both); with `singles`
    the first row is of records of one item, counted `most` times."""
    counted, single = sizes.counted(most), None
    if singles:
        single = shrunk(noisy[0] / most, scale / most, 0.0, sizes.of(1), departments)
        noisy, counted = noisy[1:], max(counted - sizes.of(1), 1.0)
    long_records, long_items = sizes.longer(most)
    share = min(long_records * most / counted, 1.0)
    short, long = _strata(noisy, scale, share, counted, departments)
    if len(noisy) > 1 and long_records * most >= _TREND_FROM * sizes.counted(most):
        long = long * _trend_factors(short, long, most, sizes.without(1) if singles else sizes)
    enlarge = long_items / (long_records * most) if long_records > 0 else 1.0
    support = short + long * enlarge + (0.0 if single is None else single)
    return ItemSupports(short, long, np.minimum(support, sizes.records), most, scale, enlarge, single)


def _strata(
    noisy: Floats, scale: float, share: float, counted: float, departments: Ints | None
) -> tuple[Floats, Floats]:
    """Counts in short and in long records, of which long ones hold `share` on average.

    Their sum is what both strata say together. An item below the noise is taken to have about the average share: then
    least squares tells more about the sum, and strata whose share is larger have larger weights. The more an item's
    count exceeds the noise, the more each stratum keeps its own.
    """
    if len(noisy) == 1:
        total = shrunk(noisy[0], scale, 0.0, counted, departments)
        return (1 - share) * total, share * total
    added, parts, spread = noisy.sum(axis=0), np.array([1 - share, share]), share
    contrast = _contrast(added, scale, parts)
    weights = 1 + (parts - parts[::-1]) * parts[::-1] * contrast
    total = shrunk(mix(weights, noisy), scale * weights[0], scale * weights[1], counted, departments)
    if contrast > 0:
        bias = (_SHARE_SPREAD * (weights[1] - weights[0]) * total) ** 2
        total = np.maximum(total + bias / (bias + 4 * scale**2) * (added - total), 0.0)
        spread = min(parts)
    apart = (_LONG_SPREAD * spread * total) ** 2
    long = share * total + apart / (apart + 2 * scale**2) * (noisy[1] - share * total)
    long = np.clip(long, 0.0, total)
    return total - long, long


def _trend_factors(short: Floats, long: Floats, most: int, sizes: SizeModel) -> Floats:
    """What turns counts in long records into those of items whose long records have the usual sizes.

    An item that is frequent in short records is usually in the shorter ones of the long records too, which count with a
    larger part. So the chance of an item is taken as proportional to a power of the size; short and long counts give
    the exponent. The sum of all counts stays the same.
    """
    is_long, part = sizes.size > most, np.minimum(1.0, most / sizes.size)
    if is_long.all():
        return np.ones(len(long))
    held = sizes.count * sizes.size * (sizes.size / most) ** _TRENDS[:, None]
    counted = held * part
    short_share = counted[:, ~is_long].sum(axis=1) / counted.sum(axis=1)
    per_count = held[:, is_long].sum(axis=1) / counted[:, is_long].sum(axis=1)
    exponent = np.interp(short / np.maximum(short + long, _TINY), short_share[::-1], _TRENDS[::-1])
    factor = np.interp(_TREND_KEPT * exponent, _TRENDS, per_count)
    return np.asarray(factor * (long.sum() / max(dot(long, factor), _TINY)))


def _contrast(added: Floats, scale: float, parts: Floats) -> float:
    """How much the weights of two strata differ: not at all if items usually exceed the noise, else so that the
    expected squared error is least, from noise and from shares that differ among items."""
    unclear = added[added < CLEAR * scale]
    noise = 2 * scale**2
    usual = max(0.0, float((unclear**2).mean()) - 2 * noise) if len(unclear) else np.inf
    if usual > _ABOVE_NOISE * noise:
        return 0.0
    return noise / (noise * dot(parts, parts) + _SHARE_SPREAD**2 * usual)


def shrunk(noisy: Floats, scale: float, other: float, counted: float, departments: Ints | None = None) -> Floats:
    """Posterior means of unclear counts, rescaled so that all counts add up to what the sizes say. The noise is the sum
    of two, of these scales; the second may be 0."""
    noise = max(scale, other), min(scale, other)
    value = np.maximum(noisy, 0.0)
    unclear = np.flatnonzero(noisy < CLEAR * noise[0])
    if not len(unclear):
        return value
    value[unclear] = _posterior_means(noisy[unclear], *noise)
    if departments is not None:
        variance = 2 * (noise[0] ** 2 + noise[1] ** 2)
        value[unclear] *= _department_factors(noisy[unclear], value[unclear], departments[unclear], variance)
    rest = counted - (value.sum() - value[unclear].sum())
    factor = np.clip(rest / max(float(value[unclear].sum()), 1e-9), *_RESCALE)
    value[unclear] *= factor
    return value


def _posterior_means(noisy: Floats, scale: float, other: float) -> Floats:
    """The mean of each count given its noisy value, under the prior that the noisy values themselves suggest."""
    low = max(float(noisy.min()), _DEEP * scale)
    edges = np.linspace(low, CLEAR * scale, _BINS + 1)
    centre = (edges[1:] + edges[:-1]) / 2
    place = np.clip(np.searchsorted(edges, noisy, side="right") - 1, 0, _BINS - 1)
    number = np.bincount(place, minlength=_BINS).astype(float)
    grid = np.concatenate([[0.0], np.geomspace(scale / 50, 1.6 * CLEAR * scale, _GRID - 1)])
    likelihood = _noise_density((centre[:, None] - grid) / scale, other / scale)
    prior = np.full(_GRID, 1 / _GRID)
    for _ in range(_ROUNDS):
        shown = each_dot(likelihood, prior)
        prior = prior * mix(number / np.maximum(shown, 1e-300), likelihood) / len(noisy)
    mean = (each_dot(likelihood, prior * grid)) / np.maximum(each_dot(likelihood, prior), 1e-300)
    return np.interp(noisy, centre, mean)


def _noise_density(z: Floats, other: float) -> Floats:
    """The shape of a sum of two Laplace variables of scales 1 and `other` (at most 1, 0 for none)."""
    size = np.abs(z)
    if other > 1 - _ALIKE:
        return np.asarray((1 + size) * np.exp(-size))
    return np.asarray(np.exp(-size) - other * np.exp(-size / max(other, _ALIKE)))


def _department_factors(noisy: Floats, value: Floats, department: Ints, variance: float) -> Floats:
    """Corrections per item from its department: a sum of noisy counts is known better than its parts."""
    number = int(department.max()) + 1
    shown = np.bincount(department, noisy, number)
    mean = np.bincount(department, value, number)
    noise = np.bincount(department, minlength=number) * variance
    spread = (_DEPARTMENT_SPREAD * mean) ** 2
    better = mean + spread / np.maximum(spread + noise, 1e-300) * (shown - mean)
    return np.asarray(np.clip(better / np.maximum(mean, 1e-9), *_DEPARTMENT_RESCALE)[department])
