"""Compiled kernels: whether they are to be used.

They come with the extra `fast` (numba) and repay the half second of loading them from some size of data on. They give
the same results as the plain paths, which serve smaller data and those without the extra, and which they are tested
against.
"""

from __future__ import annotations

from importlib.util import find_spec
from sys import byteorder, modules

FROM = 200_000
"""Records from which on kernels are loaded."""


def worth_loading(records: int) -> bool:
    """Whether to use kernels for so many records; what decides is public or does not show (time is not protected)."""
    # Kernels take words apart into bytes, the lowest first.
    return records >= FROM and byteorder == "little" and find_spec("numba") is not None


def loaded() -> bool:
    """Whether kernels were loaded already, so that using more of them costs little."""
    return "cantle._jit" in modules
