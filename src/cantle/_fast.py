"""The decision whether compiled kernels are worth loading.

Kernels come with the extra `fast` (numba). Loading them takes half a second, which is worthwhile for large data only.
They give the same results as the plain code, which serves smaller data and installations without the extra, and
against which they are tested. The choice is made once per run, where the data is opened, and passed on to engine, noise
and post-processing.
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
