"""Names of array types for the whole package; they say what an array holds, not its shape."""

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
"""Whole numbers of any width: codes use the narrowest type that their domain allows."""

Index: TypeAlias = slice | Codes | Bools | list[int]
"""A selection of elements of an array: a slice, ascending positions, or a mask."""
