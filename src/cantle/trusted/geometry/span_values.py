"""Values of codes, given those of the spans that the codes lie in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

LOOKED_UP = 1 << 22
"""Most codes for which there is a table of all codes; beyond, the span of each code is searched."""


@dataclass(frozen=True, eq=False)
class SpanValues:
    """The value of each span; spans are given by edges that ascend from 0 to the number of codes."""

    edges: Ints
    values: Codes
    table: Codes | None
    """The value of each code, unless there are too many codes."""

    @staticmethod
    def of(edges: Ints, values: Codes, kind: npt.DTypeLike) -> SpanValues:
        """These values as numbers of a type that holds them all."""
        narrow = values.astype(kind)
        return SpanValues(edges, narrow, np.repeat(narrow, np.diff(edges)) if edges[-1] <= LOOKED_UP else None)

    def at(self, codes: Codes, out: Codes | None = None) -> Codes:
        """The values of these codes, all below the last edge."""
        if self.table is not None:
            return self.table.take(codes, out=out, mode="clip")  # "clip" only saves the check
        return self.values.take(np.searchsorted(self.edges, codes, side="right") - 1, out=out, mode="clip")
