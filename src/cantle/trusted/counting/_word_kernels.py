"""Compiled loops of the word engine over the records of regions; a miscount costs privacy.

A field says where a code lies in a record: the number of its word, its lowest bit, and a mask of its width.
"""

from __future__ import annotations

import numpy as np

from cantle.jit import compiled
from cantle.trusted.core.arrays import Codes, Ints, Words

_U = np.uint64


@compiled
def count(
    rows: Words, start: Ints, end: Ints, fields: Words, label: Words, offset: Ints, classes: int, counts: Ints
) -> None:
    """Adds to counts[i, (offset[j] + code of field j) * classes + class] for each record of region i.

    fields[i] has one line (word, lowest bit, mask) per code to count, or fields[0] has them for all regions.
    """
    step, number = _U(classes), fields.shape[1]
    for i in range(len(start)):
        field, mine = fields[i % len(fields)], counts[i]
        for r in range(start[i], end[i]):
            at = (rows[r, label[0]] >> label[1]) & label[2] if classes > 1 else _U(0)
            for j in range(number):
                code = (rows[r, field[j, 0]] >> field[j, 1]) & field[j, 2]
                mine[(_U(offset[j]) + code) * step + at] += 1


@compiled
def part(rows: Words, start: Ints, end: Ints, fields: Words, point: Ints, free: Ints, out: Words) -> None:
    """Copies the records of region i below its cut to out[free[2i]:] upwards, the others below free[2i + 1] downwards;
    `free` moves along."""
    for i in range(len(start)):
        word, shift, mask, cut = fields[i, 0], fields[i, 1], fields[i, 2], _U(point[i])
        left, right = free[2 * i], free[2 * i + 1]
        for r in range(start[i], end[i]):
            if (rows[r, word] >> shift) & mask < cut:
                at = left
                left += 1
            else:
                right -= 1
                at = right
            for w in range(rows.shape[1]):
                out[at, w] = rows[r, w]
        free[2 * i], free[2 * i + 1] = left, right


@compiled
def count_bins(codes: Codes, entry: Codes, bins: Codes, width: int, counts: Ints) -> None:
    """Adds to counts[entry * width + bin of the code] for each record."""
    for r in range(len(entry)):
        counts[_U(entry[r]) * _U(width) + _U(bins[codes[r]])] += 1
