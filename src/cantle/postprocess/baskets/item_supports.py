"""Item supports from noisy counts: a prior fitted to all of them, two strata, optional departments. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.postprocess.baskets.set_sizes import SizeModel
from cantle.postprocess.counts import Floats
from cantle.trusted.geometry.boxes import Ints

CLEAR = 15.0
"""A noisy count of at least this many noise scales is used as it is."""

_GRID, _BINS, _ROUNDS = 71, 324, 200  # values of the prior, bins of noisy values, steps of expectation-maximisation
_DEEP = -12.0  # noise scales: lower values share the first bin
_RESCALE = (0.3, 3.0)
_LONG_SPREAD = 0.4  # relative spread among items of the share that long records have
_DEPARTMENT_SPREAD = 0.5  # relative error that a department's sum of posterior means may have
_DEPARTMENT_RESCALE = (0.1, 10.0)


@dataclass(frozen=True, eq=False)
class ItemSupports:
    """What was measured per item, without noise as far as possible.

    `short` and `long` are in the scale of measurement: long records count with `most` of their items. `support`
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
        single = _shrink(noisy[0] / most, scale / most, 1, sizes.of(1), departments)
        noisy, counted = noisy[1:], max(counted - sizes.of(1), 1.0)
    strata = len(noisy)
    total = _shrink(noisy.sum(axis=0).astype(float), scale, strata, counted, departments)
    long_records, long_items = sizes.longer(most)
    share = long_records * most / counted
    long = share * total
    if strata == 2 and share > 0:
        spread = (_LONG_SPREAD * long) ** 2
        long = long + spread / (spread + 2 * scale**2) * (noisy[1] - long)
        long = np.clip(long, 0.0, total)
    enlarge = long_items / (long_records * most) if long_records > 0 else 1.0
    support = total - long + long * enlarge + (0.0 if single is None else single)
    return ItemSupports(total - long, long, np.minimum(support, sizes.records), most, scale, enlarge, single)


def _shrink(noisy: Floats, scale: float, strata: int, counted: float, departments: Ints | None) -> Floats:
    """Posterior means of unclear counts, rescaled so that all counts add up to what the sizes say."""
    value = np.maximum(noisy, 0.0)
    unclear = np.flatnonzero(noisy < CLEAR * scale)
    if not len(unclear):
        return value
    value[unclear] = _posterior_means(noisy[unclear], scale, strata)
    if departments is not None:
        value[unclear] *= _department_factors(noisy[unclear], value[unclear], departments[unclear], scale, strata)
    rest = counted - (value.sum() - value[unclear].sum())
    factor = np.clip(rest / max(float(value[unclear].sum()), 1e-9), *_RESCALE)
    value[unclear] *= factor
    return value


def _posterior_means(noisy: Floats, scale: float, strata: int) -> Floats:
    """The mean of each count given its noisy value, under the prior that the noisy values themselves suggest."""
    low = max(float(noisy.min()), _DEEP * scale)
    edges = np.linspace(low, CLEAR * scale, _BINS + 1)
    centre = (edges[1:] + edges[:-1]) / 2
    place = np.clip(np.searchsorted(edges, noisy, side="right") - 1, 0, _BINS - 1)
    number = np.bincount(place, minlength=_BINS).astype(float)
    grid = np.concatenate([[0.0], np.geomspace(scale / 50, 1.6 * CLEAR * scale, _GRID - 1)])
    likelihood = _noise_density((centre[:, None] - grid) / scale, strata)
    prior = np.full(_GRID, 1 / _GRID)
    for _ in range(_ROUNDS):
        shown = likelihood @ prior
        prior = prior * (likelihood.T @ (number / np.maximum(shown, 1e-300))) / len(noisy)
    mean = (likelihood @ (prior * grid)) / np.maximum(likelihood @ prior, 1e-300)
    return np.interp(noisy, centre, mean)


def _noise_density(z: Floats, strata: int) -> Floats:
    """The shape of the noise, in scales: Laplace, or the sum of two of them."""
    size = np.abs(z)
    return np.asarray((1 + size if strata == 2 else 1.0) * np.exp(-size))


def _department_factors(noisy: Floats, value: Floats, department: Ints, scale: float, strata: int) -> Floats:
    """Corrections per item from its department: a sum of noisy counts is known better than its parts."""
    number = int(department.max()) + 1
    shown = np.bincount(department, noisy, number)
    mean = np.bincount(department, value, number)
    noise = np.bincount(department, minlength=number) * strata * 2 * scale**2
    spread = (_DEPARTMENT_SPREAD * mean) ** 2
    better = mean + spread / np.maximum(spread + noise, 1e-300) * (shown - mean)
    return np.asarray(np.clip(better / np.maximum(mean, 1e-9), *_DEPARTMENT_RESCALE)[department])
