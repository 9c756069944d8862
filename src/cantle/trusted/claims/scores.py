"""Scores of splits, in integers, each with its range and a proof.

A split is scored from its table of counts: one array per child, shape (..., classes). Adding a record to the
data adds 1 to exactly one cell of every candidate's table: the record has one class and falls into one child.

The `range` of a score is rho = sup over neighbours of (max_i d(i) - min_i d(i)), where d(i) is the change of
candidate i's score. Selection with weight exp(epsilon * score / rho), or permute-and-flip at that rate, is
epsilon-DP (docs/privacy.md, Claim 1). If no record ever lowers a score (monotone), rho is at most the largest
change. Every range here is also checked by brute force over all small tables in tests/laws.

Scores are 64-bit integers, and a sum that overflows would have no range. The claims hold for up to MOST_RECORDS =
2^52 records (4.5 * 10^15, at least 36 petabytes as words): no score is then larger than 3/2 * 2^10 * 2^52 < 2^63,
handicaps of up to 2^60 included, and every count is exact as a float. Sums of counts themselves fit up to 2^63.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.core.arrays import Codes, Floats
from cantle.trusted.geometry.boxes import Ints

MOST_RECORDS = 1 << 52
"""The proofs of all scores hold up to this many records."""

MOST_WEIGHT = 1 << 10
"""Larger weights could take a score of MOST_RECORDS past 64 bits."""

SCALE = 1 << 10
"""Real scores become integers by floor(SCALE * q)."""


class Score(Protocol):
    """A score of candidates in whole numbers, with a proved range."""

    @property
    def range(self) -> int:
        """rho, for one record."""


class Quality(Score, Protocol):
    """A score of cuts and specialisations, from the counts of their parts."""

    def scores(self, children: Sequence[Ints]) -> Ints:
        """One integer per candidate; children are arrays (..., classes)."""


def _apart(left: Ints, right: Ints) -> Ints:
    """max over classes c != c' of left_c + right_c'; 0 when there is one class."""
    if left.shape[-1] == 1:
        return np.zeros(left.shape[:-1], dtype=np.int64)
    if left.shape[-1] == 2:
        return np.maximum(left[..., 0] + right[..., 1], left[..., 1] + right[..., 0])
    top_left, top_right = left.argmax(axis=-1), right.argmax(axis=-1)
    two_left, two_right = np.partition(left, -2, axis=-1)[..., -2:], np.partition(right, -2, axis=-1)[..., -2:]
    together = two_left[..., 1] + two_right[..., 1]
    otherwise = np.maximum(two_left[..., 0] + two_right[..., 1], two_left[..., 1] + two_right[..., 0])
    return np.where(top_left != top_right, together, otherwise)


@dataclass(frozen=True)
class Mix:
    """even * min(r1, r2) + apart * g, where g is the largest number of records separated by class.

    Claim 2. Range even + apart. min(r1, r2) gains 1 if the record joins the strictly smaller side, otherwise 0;
    g = max over c != c' of x_c + y_c' is a maximum of counting functions, each gaining 0 or 1. So the
    score gains between 0 and even + apart: monotone. As min(r1, r2) <= n/2, g <= n and weights are at most 2^10, 64
    bits hold the score of n <= 2^52 records: 2^9 n + 2^10 n < 2^63.   RPS 3.2 eq. (2), 4.2 eq. (3)
    """

    even: int
    apart: int

    def __post_init__(self) -> None:
        natural = all(type(w) is int and 0 <= w <= MOST_WEIGHT for w in (self.even, self.apart))
        if not natural or self.even + self.apart == 0:
            raise ParameterError(f"the weights of a score are whole numbers from 0 to {MOST_WEIGHT}, not both 0")

    @property
    def range(self) -> int:
        return self.even + self.apart

    def scores(self, children: Sequence[Ints]) -> Ints:
        left, right = children
        score = self.even * np.minimum(left.sum(axis=-1), right.sum(axis=-1))
        return score + self.apart * _apart(left, right) if self.apart else score


BALANCE = Mix(even=1, apart=0)
"""RPS eq. (2) doubled: q = min(r1, r2) / 2.  Deviation: the paper's exp(eps q) uses only eps/2; ours uses all."""

CLASS_AWARE = Mix(even=2, apart=1)
"""RPS eq. (3) doubled, any number of classes: 2 min + g, range 3.  Deviation: the paper states no sensitivity."""


class Additive(ABC):
    """A score that sums a value over all parts; the value of an empty part is 0."""

    @abstractmethod
    def value(self, part: Ints) -> Ints:
        """The value of parts given by their class counts (..., classes)."""

    def scores(self, children: Sequence[Ints]) -> Ints:
        total = np.zeros(children[0].shape[:-1], dtype=np.int64)
        for child in children:
            total = total + self.value(child)
        return total


@dataclass(frozen=True)
class Max(Additive):
    """Sum over children of the largest class count (DiffGen's Max).

    Claim 3. Range 1: one class count of one child gains 1, so one maximum gains 0 or 1, the others stay. Monotone.
    The score is at most the number of records, so 64 bits hold it.
    """

    @property
    def range(self) -> int:
        return 1

    def value(self, part: Ints) -> Ints:
        return part.max(axis=-1)


@dataclass(frozen=True)
class JointMajority(Max):
    """Max over all cells of the whole partition after the split: `children` are all current groups' parts.

    Claim 4. Range 1, by Claim 3 with the groups as children: the total has range 1. The gain over the current
    total gives the same selection (a shift common to all candidates), but is not itself monotone.
    """


@dataclass(frozen=True)
class WeightedMajority(Additive):
    """Joint-cell majority with a public whole weight for each class.

    Claim 18. Range max(weights): one class count of one part gains 1, so that part's max_c w_c n_c gains between 0
    and the record's weight, the others stay. Monotone. Weights of at most 2^10 keep it below 2^62 up to 2^52 records.
    """

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        plain = type(self.weights) is tuple and len(self.weights) > 0
        if not plain or not all(type(w) is int and 1 <= w <= MOST_WEIGHT for w in self.weights):
            raise ParameterError(f"class weights are whole numbers from 1 to {MOST_WEIGHT}")

    @property
    def range(self) -> int:
        return max(self.weights)

    def value(self, part: Ints) -> Ints:
        return (part * np.array(self.weights, dtype=np.int64)).max(axis=-1)


_PLAIN = 1 << 31  # records of a part whose square is below 2^62
_DIGIT = 11  # binary digits of a factor at a time


def _impurity(part: Ints) -> tuple[Ints, Ints, Ints]:
    """(whole, rest, n) with n^2 - S = whole * n + rest and 0 <= rest < n, S = sum_c n_c^2; n is 1 where it is 0.

    Exact up to MOST_RECORDS, though n^2 has 104 binary digits: n^2 - S = sum_c n_c (n - n_c), and each product is
    divided by n by long division. Every rest is below n, so the rests of up to 2^10 classes add up to less than 2^62.
    """
    n = part.sum(axis=-1)
    divisor = np.maximum(n, 1)
    if n.max(initial=0) < _PLAIN:  # both ways are exact here, this one is faster
        whole, rest = np.divmod(n * n - (part * part).sum(axis=-1), divisor)
        return whole, rest, divisor
    wholes, rests = _divided_product(part, n[..., None] - part, divisor[..., None])
    more, rest = np.divmod(rests.sum(axis=-1), divisor)
    return wholes.sum(axis=-1) + more, rest, divisor


def _divided_product(a: Ints, b: Ints, n: Ints) -> tuple[Ints, Ints]:
    """divmod(a * b, n) for 0 <= a, b <= n <= 2^52, by the digits of b: no intermediate number reaches 2^64.

    A rest r < n takes in the next digit d < 2^11 as 2^11 r + a d <= 2^11 (n - 1) + n (2^11 - 1) < 2^64, and the
    quotient so far is at most a b / n <= 2^52.
    """
    first, second, divisor = (np.asarray(x, dtype=np.uint64) for x in (a, b, n))
    quotient, rest = np.zeros_like(first), np.zeros_like(first)
    for shift in range(4 * _DIGIT, -1, -_DIGIT):  # five digits: 55 binary ones
        digit = (second >> np.uint64(shift)) & np.uint64((1 << _DIGIT) - 1)
        more, rest = np.divmod((rest << np.uint64(_DIGIT)) + first * digit, divisor)
        quotient = (quotient << np.uint64(_DIGIT)) + more
    return quotient.astype(np.int64), rest.astype(np.int64)


@dataclass(frozen=True)
class HalfGini(Additive):
    """Joint-cell half Gini: minus the sum over parts of floor(SCALE (n - S/n) / 2), S = sum_c n_c^2; integers only.

    Claim 19. Range SCALE. Adding to class c (k records) of a part changes (n - S/n)/2 by
    [1 + S/(n(n+1)) - (2k+1)/(n+1)]/2, which k^2 <= S <= n^2 puts in [0, 1); the other parts stay. So one floor rises
    by between 0 and SCALE, and every candidate's score falls by between 0 and SCALE. Monotone. Every floor is exact
    (`_impurity`), and all parts together are at most SCALE/2 times the number of records: below 2^61 for 2^52 records.
    """

    @property
    def range(self) -> int:
        return SCALE

    def value(self, part: Ints) -> Ints:
        whole, rest, n = _impurity(part)
        return -(whole * (SCALE // 2) + rest * (SCALE // 2) // n)


def _entropy_term(counts: Codes) -> Floats:
    """n log2 n, with 0 at 0."""
    x = counts.astype(np.float64)
    return x * np.log2(np.maximum(x, 1.0))


@dataclass(frozen=True)
class InfoGain:
    """floor(SCALE * information gain in bits): entropy of the class minus its mean entropy in the children.

    Claim 5. Range 2 (SCALE + 1). The gain changes within [-1, 1] for any number of classes: up by at most
    h(1/(n+1)) <= 1, down by at most (H(C) + phi(n_c)) / (n+1) <= 1 with phi(t) = (t+1)log2(t+1) - t log2 t
    (docs/privacy.md). Not monotone. Rounding: floors of numbers that are each within 1/2 of true values at
    most SCALE apart differ by less than SCALE + 2, so by at most SCALE + 1. The float error is below 1/2 up to 2^52
    records: counts are exact floats; the terms t log2 t add up to at most 4 n log2 n <= 208 n in size, each is within
    8 roundings and each of m additions adds one, so SCALE gain / n is off by less than 208 (m + 9) 2^-53 SCALE, which
    is below 1/2 for up to m = 2^30 classes times children.
    """

    @property
    def range(self) -> int:
        return 2 * (SCALE + 1)

    def scores(self, children: Sequence[Ints]) -> Ints:
        classes = np.sum(children, axis=0)
        n = np.maximum(classes.sum(axis=-1), 1)
        # n*I = sum_cells f - sum_children f - sum_classes f + f(n),  f(t) = t log2 t
        gain = _entropy_term(classes.sum(axis=-1)) - _entropy_term(classes).sum(axis=-1)
        for child in children:
            gain = gain + _entropy_term(child).sum(axis=-1) - _entropy_term(child.sum(axis=-1))
        return np.floor(SCALE * gain / n).astype(np.int64)


@dataclass(frozen=True)
class Gini(Additive):
    """The n-weighted Gini purity: sum over children of floor(SCALE S / n), S = sum_c n_c^2; integers only.

    Claim 6. Range 2 (SCALE + 1), of which 2 SCALE is needed. Adding to class c (k records) of a child with n records
    changes S/n by (2k+1)/(n+1) - S/(n(n+1)), and k^2 <= S <= n^2 puts this in (-1, 1]; the other children stay. So one
    floor changes by at most SCALE either way. Every floor is exact (`_impurity`, as S/n = n - (n^2 - S)/n), and all
    together are at most SCALE times the number of records: 2^62 for 2^52 records.
    """

    @property
    def range(self) -> int:
        return 2 * (SCALE + 1)

    def value(self, part: Ints) -> Ints:
        whole, rest, n = _impurity(part)
        return SCALE * (part.sum(axis=-1) - whole) + -SCALE * rest // n


CUT_QUALITIES = (Mix, Max, JointMajority, WeightedMajority, HalfGini, InfoGain, Gini)
"""Scores of cuts and specialisations, from the counts of their parts."""
