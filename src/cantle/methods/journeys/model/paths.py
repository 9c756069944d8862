"""Whole short sequences from their noisy numbers. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.drawing.counts import Dice, Floats, systematic
from cantle.drawing.smooth import shrink
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints


def split_paths(numbers: Ints, symbols: int, longest: int) -> list[Ints]:
    """The numbers by length, given those of all lengths, shorter ones first."""
    ends = np.cumsum([symbols**length for length in range(1, longest + 1)])
    return np.split(numbers, ends[:-1])


def fit_paths(noisy: Sequence[Ints], sizes: Floats, usual: Floats, scale: float) -> list[Floats]:
    """The numbers behind noisy ones, for each length; `sizes` says how many sequences have each length, `usual` how
    frequent symbols are in longer sequences."""
    made = []
    for length, table in enumerate(noisy, 1):
        value = table.astype(float)
        expected = usual / usual.sum() * sizes[length] if length == 1 else _from_margins(value, len(usual), length)
        made.append(shrink(value, expected, scale))
    return made


def _from_margins(noisy: Floats, symbols: int, length: int) -> Floats:
    """What is expected of paths if their last symbol depends on those between it and the first only."""
    positive = np.maximum(noisy, 0.0).reshape(symbols, -1, symbols)
    between = np.maximum(positive.sum(axis=(0, 2)), 1e-9 if length > 2 else 1.0)
    joint = positive.sum(axis=2)[:, :, None] * positive.sum(axis=0)[None]
    return np.asarray((joint / between[None, :, None]).ravel())


def draw_paths(tables: Sequence[Floats], sizes: Ints, symbols: int, dice: Dice) -> tuple[Ints, Codes]:
    """So many sequences of each length, as ragged rows."""
    lengths, parts = list[Ints](), list[Codes]()
    for length, (table, number) in enumerate(zip(tables, sizes.tolist(), strict=True), 1):
        cell = systematic(table + 1e-12, number, dice)
        codes = np.empty((number, length), dtype=np.int32)
        for place in range(length - 1, -1, -1):
            cell, codes[:, place] = np.divmod(cell, symbols)
        lengths.append(np.full(number, length, np.int64))
        parts.append(codes.reshape(-1))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))]), np.concatenate(parts)
