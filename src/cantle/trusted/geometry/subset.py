"""The subset of records that scores use in large data: a public rule on a record's codes and copy number.

Let j = 1, 2, ... number the records that have the same codes x. A record takes part iff H(seed, x, j) < share * PRIME.
H is public; it uses whole numbers below 2^62 only, so that a database computes it as well as this process:
u = (b + sum_i a_i x_i + a j) mod PRIME with multipliers from the seed, and H = u^5 mod PRIME, a permutation of
0 .. PRIME - 1. The rule is sound for any H (Claim 46, table_candidates.py); it is useful because two different records
or copies take part nearly independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.trusted.core.arrays import Codes, Words
from cantle.trusted.core.mixing import scramble
from cantle.trusted.geometry.boxes import Bools, Ints

PRIME = 2**31 - 1

_BLOCK = 1 << 16  # records whose numbers stay in the cache


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
        tables = [_products(column, multiplier) for column, multiplier in zip(columns, multipliers, strict=True)]
        taking = np.empty(len(copy), dtype=np.bool_)
        prime = np.uint64(PRIME)
        for first in range(0, len(copy), _BLOCK):
            here = slice(first, first + _BLOCK)
            hashed = copy[here].astype(np.uint64) % prime * np.uint64(last) % prime + np.uint64(added)
            for column, multiplier, table in zip(columns, multipliers, tables, strict=True):
                # Sums of fewer than 2^32 numbers below 2^31 fit a word.
                hashed += _product(column[here], multiplier) if table is None else table.take(column[here])
            hashed %= prime
            square = hashed * hashed % prime
            hashed *= square * square % prime
            hashed %= prime
            taking[here] = hashed < np.uint64(self.below)
        return taking


def _product(codes: Codes, multiplier: int) -> Words:
    """codes * multiplier mod PRIME."""
    return codes.astype(np.uint64) % np.uint64(PRIME) * np.uint64(multiplier) % np.uint64(PRIME)


def _products(column: Codes, multiplier: int) -> Words | None:
    """The products of all codes that the column's type can hold, if these are fewer than the records."""
    kinds = 1 << 8 * column.dtype.itemsize
    return _product(np.arange(kinds), multiplier) if column.dtype.kind == "u" and kinds < len(column) else None


def copy_numbers(words: Words) -> Ints:
    """The number of each record, from 1, among the records with the same words; `words` has shape (words, records).

    Equal records are alike, so it does not matter which of them is the first.
    """
    records = words.shape[1]
    mixed = words[0].copy()
    for word in words[1:]:
        mixed = scramble(mixed) ^ word
    order = np.argsort(mixed)  # equal records become neighbours, and sorting one word is several times faster
    new = _is_new(words, order)
    if (new[1:] & ~_is_new(mixed[None, :], order)[1:]).any():  # different records have the same mixed word
        order = np.lexsort(words)
        new = _is_new(words, order)
    place = np.arange(records)
    copy = np.empty(records, dtype=np.int64)
    copy[order] = place - np.maximum.accumulate(np.where(new, place, 0)) + 1
    return copy


def _is_new(words: Words, order: Ints) -> Bools:
    """Whether each record has other words than the one before it in this order."""
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = False
    for word in words:
        ordered = word[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    return new
