"""Positive matrices of the form: a diagonal plus, for each row u of `vectors`, a factor times u u^T.

Their inverses are the same on every machine, unlike those of numpy's linear algebra (see `sums`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.sums import dot, each_dot, mix


@dataclass(frozen=True, eq=False)
class LowRank:
    diagonal: Floats
    vectors: Floats  # one row for each term
    factors: Floats

    def plus(self, diagonal: Floats) -> LowRank:
        return LowRank(self.diagonal + diagonal, self.vectors, self.factors)

    def apply(self, vector: Floats) -> Floats:
        """The matrix times a vector."""
        if not len(self.factors):
            return self.diagonal * vector
        inner = self.factors * each_dot(self.vectors, vector)
        return self.diagonal * vector + mix(inner, self.vectors)

    def inverse(self) -> LowRank:
        """The inverse, which has the same form: by the formula of Sherman and Morrison, one term after the other."""
        inverse, vectors, factors = 1 / self.diagonal, np.zeros_like(self.vectors), np.zeros_like(self.factors)
        for done, (vector, factor) in enumerate(zip(self.vectors, self.factors, strict=True)):
            vectors[done] = LowRank(inverse, vectors[:done], factors[:done]).apply(vector)
            factors[done] = -factor / (1 + factor * dot(vector, vectors[done]))
        return LowRank(inverse, vectors, factors)
