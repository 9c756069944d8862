"""The subset of records that scores use in large data: a public rule on a record's codes and copy number.

Let j = 1, 2, ... number the records that have the same codes x. A record takes part iff H(seed, x, j) < share * PRIME.
H is public; it uses whole numbers below 2^62 only, so that a database computes it as well as this process:
u = (b + sum_i a_i x_i + a j) mod PRIME with multipliers from the seed, and H = u^5 mod PRIME, a permutation of
0 .. PRIME - 1. What makes the rule sound is Claim 46 (table_candidates.py), whatever H is; what makes it useful is that
two different records or copies take part nearly independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from cantle._arrays import Codes
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.mixing import scramble

PRIME = 2**31 - 1


@dataclass(frozen=True)
class Subset:
    """A share of the records, above 0 and below 1, by a public seed."""

    seed: int
    share: Fraction

    def fits(self) -> bool:
        whole = type(self.seed) is int and 0 <= self.seed < 2**63
        return whole and type(self.share) is Fraction and 0 < self.share < 1

    @property
    def below(self) -> int:
        """Records with a hash below this take part."""
        return self.share.numerator * PRIME // self.share.denominator

    def multipliers(self, columns: int) -> list[int]:
        """The multipliers of the columns and of the copy number, and the number that is added."""
        words = scramble(
            np.uint64(self.seed) + np.arange(1, columns + 3, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
        )
        return [1 + int(word) % (PRIME - 1) for word in words]

    def takes_part(self, columns: Sequence[Codes], copy: Codes) -> Bools:
        """Which records take part, given their codes by column and their copy numbers."""
        *multipliers, last, added = self.multipliers(len(columns))
        prime = np.uint64(PRIME)
        hashed = (copy.astype(np.uint64) % prime * np.uint64(last) + np.uint64(added)) % prime
        for column, multiplier in zip(columns, multipliers, strict=True):
            hashed += column.astype(np.uint64) % prime * np.uint64(multiplier)
            hashed %= prime
        square = hashed * hashed % prime
        hashed *= square * square % prime
        hashed %= prime
        return np.asarray(hashed < np.uint64(self.below), dtype=np.bool_)


def copy_numbers(words: npt.NDArray[np.uint64]) -> Ints:
    """The number of each record, from 1, among the records with the same words; `words` has shape (words, records).

    Equal records are alike, so it does not matter which of them is called first.
    """
    records = words.shape[1]
    order = np.lexsort(words)
    ordered = words[:, order]
    new = np.ones(records, dtype=np.bool_)
    new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    place = np.arange(records)
    copy = np.empty(records, dtype=np.int64)
    copy[order] = place - np.maximum.accumulate(np.where(new, place, 0)) + 1
    return copy
