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
        alike = usual if length == 1 else np.ones(len(table))
        made.append(shrink(table.astype(float), alike / alike.sum() * sizes[length], scale))
    return made


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
