"""Array types by name, for every room: what an array holds, whatever its shape."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]
Bytes: TypeAlias = NDArray[np.uint8]

Codes: TypeAlias = NDArray[np.integer]
"""Whole numbers of any width: codes are held as narrowly as their domain allows."""

Index: TypeAlias = slice | Codes | Bools | list[int]
"""What picks elements of an array: a span, ascending positions, or a mask."""
