"""Compiled kernels: whether they are worth loading.

They come with the extra `fast` (numba) and repay the half second of loading them from some size of data on. They give
the same results as the plain paths, which serve smaller data and those without the extra, and which they are tested
against. The choice is made once per run, where the data is opened; engine, noise and post-processing are handed it.
"""

from __future__ import annotations

from importlib.util import find_spec
from sys import byteorder

FROM = 200_000
"""Records from which on kernels are loaded."""


def worth_loading(records: int, least: int | None = None) -> bool:
    """Whether compiled kernels pay off for this many records, by default from FROM on. The choice changes the running
    time, which is not protected, never a result."""
    # Kernels take words apart into bytes, the lowest first.
    return records >= (FROM if least is None else least) and byteorder == "little" and find_spec("numba") is not None
