"""Noisy tables of ends, pairs and longer strings, without noise as far as possible. Post-processing.

All numbers are in sequences: each sequence spreads one unit over its strings. Every table is moved towards what the
tables before it let expect, by the prior that its own noisy numbers suggest (cantle.drawing.smooth).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import shrink
from cantle.trusted.geometry.boxes import Ints

_TINY = 1e-9
_KEPT = 3.0  # a sum is used if it exceeds its noise this often
_MOST_STEP = 10.0  # the largest factor of one step of fitting to margins
_FITTED = 5  # rounds of fitting to margins


def looked_up(cells: Ints, values: Floats, wanted: Ints) -> Floats:
    """The value of each wanted cell; 0 for those that are not among the cells, which ascend."""
    at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.where(cells[at] == wanted, values[at], 0.0) if len(cells) else np.zeros(len(wanted))


@dataclass(frozen=True, eq=False)
class Ends:
    """First, last and any symbols by class of length, (class, symbol)."""

    first: Floats
    last: Floats
    any: Floats


def fit_ends(noisy: Floats, weights: Floats, scale: float, sizes: Floats) -> Ends:
    """The ends behind noisy numbers, shape (3, classes, symbols); `weights` are the parts of a sequence that each table
    counts, and `sizes` the numbers of sequences of the classes."""
    any_ = np.outer(sizes, np.full(noisy.shape[2], 1 / noisy.shape[2]))
    if weights[2]:
        any_ = _fit(noisy[2], weights[2], scale, any_)
    first, last = (_fit(noisy[i], weights[i], scale, any_) for i in (0, 1))
    return Ends(first, last, any_ if weights[2] else (first + last) / 2)


def _fit(noisy: Floats, weight: float, scale: float, expected: Floats) -> Floats:
    made = shrink(noisy.ravel(), (expected * weight).ravel(), scale)
    return np.asarray(made.reshape(noisy.shape) / weight + _TINY)


def fit_pairs(noisy: Floats, scale: float, last: Floats, sizes: Floats) -> Floats:
    """All pairs by class, (class, symbol, next), from noisy ones: what follows a symbol is expected to be alike in all
    classes, and there to be independent of it but for repeats; the last symbols are those that were measured."""
    classes, symbols, _ = noisy.shape
    diagonal = np.arange(symbols)
    alone = _independent(noisy, scale, sizes)
    repeats = noisy[:, diagonal, diagonal].sum() / max(_TINY, alone[:, diagonal, diagonal].sum())
    alone[:, diagonal, diagonal] *= max(0.02, repeats)
    if classes > 1:
        alone = _like_all_classes(noisy, scale, alone.sum(axis=0))
    made = shrink(noisy.ravel(), alone.ravel(), scale).reshape(noisy.shape)
    made *= (sizes / np.maximum(made.sum(axis=(1, 2)), _TINY))[:, None, None]  # each sequence counts as one
    ended = made[:, :, symbols].sum(axis=1, keepdims=True)
    made[:, :, symbols] = last / last.sum(axis=1, keepdims=True) * ended
    return made


def _independent(noisy: Floats, scale: float, sizes: Floats) -> Floats:
    """What is expected if a symbol does not depend on the one before, from the sums of rows and columns."""
    sums = list[Floats]()
    for axis in (2, 1):
        value, noise = noisy.sum(axis=axis), scale * noisy.shape[axis] ** 0.5
        even = np.outer(sizes, np.full(value.shape[1], 1 / value.shape[1]))
        made = shrink(value.ravel(), even.ravel(), noise).reshape(value.shape) + _TINY
        sums.append(made / made.sum(axis=1, keepdims=True))
    return np.asarray(sums[0][:, :, None] * sums[1][:, None, :] * sizes[:, None, None])


def _like_all_classes(noisy: Floats, scale: float, alone: Floats) -> Floats:
    """What is expected of each class if what follows a symbol is the same in all, but for how often nothing does."""
    symbols = noisy.shape[1]
    all_ = shrink(noisy.sum(axis=0).ravel(), alone.ravel(), scale * len(noisy) ** 0.5).reshape(alone.shape)
    following = all_ / np.maximum(all_.sum(axis=1, keepdims=True), _TINY)
    positive = np.maximum(noisy, 0.0)
    ended = positive[:, :, symbols].sum(axis=1) / np.maximum(positive.sum(axis=(1, 2)), _TINY)
    usual = all_[:, symbols].sum() / max(all_.sum(), _TINY)
    expected = np.repeat(following[None], len(noisy), axis=0)
    expected[:, :, symbols] *= (ended / max(usual, _TINY))[:, None]
    expected /= np.maximum(expected.sum(axis=2, keepdims=True), _TINY)
    return np.asarray(expected * np.maximum(noisy.sum(axis=2, keepdims=True), 0.1 * scale))


def fit_strings(noisy: Floats, expected: Floats, scale: float, base: int, shorter: Floats) -> Floats:
    """All strings of an order from noisy ones, (first symbol, …, next); they add up to those of the order below,
    both over the first symbol and over the next one."""
    made = np.zeros(len(noisy))
    able = possible(len(noisy), base)
    made[able] = shrink(noisy[able], expected[able], scale)
    by_first, by_next = made.reshape(base, -1), made.reshape(-1, base)  # views of one table
    for _ in range(_FITTED):
        factor = _step(shorter, by_next.sum(axis=1))
        by_next *= np.where(shorter > 0, factor, 1.0)[:, None]  # what follows a first symbol is in no shorter string
        by_first *= _step(shorter, by_first.sum(axis=0))[None]
    return made


def _step(wanted: Floats, shown: Floats) -> Floats:
    return np.where(shown > 0, np.clip(wanted / np.maximum(shown, 1e-12), 1 / _MOST_STEP, _MOST_STEP), 1.0)


def possible(cells: int, base: int) -> Ints:
    """The strings that can occur: the start comes before all symbols, and a symbol before what is next."""
    context = np.arange(cells) // base
    able, before = context % base < base - 1, context
    while before.max(initial=0) >= base:
        before, after = before // base, before % base
        able &= (after < base - 1) | (before % base == base - 1)
    return np.flatnonzero(able)


def clear_contexts(strings: Floats, scale: float, base: int) -> Ints:
    """The contexts, without the next symbol, that stand out from the noise."""
    return np.flatnonzero(strings.reshape(-1, base).sum(axis=1) > _KEPT * scale)
