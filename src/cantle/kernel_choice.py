"""The decision whether compiled kernels are worth loading.

Kernels come with the extra `fast` (numba). Loading them takes half a second, which is worthwhile for large data only.
They give the same results as the plain code, which is used for smaller data and without the extra; tests compare the
two. The choice is made once per run, when the data is opened, and passed on to engine and post-processing.
"""

from __future__ import annotations

from importlib.util import find_spec
from sys import byteorder

FROM = 200_000
"""The number of records from which on kernels are loaded."""


def worth_loading(records: int, least: int | None = None) -> bool:
    """Whether compiled kernels pay off for this many records, by default from FROM on.

    The choice never changes a result. It changes the running time, which is not protected.
    """
    # Kernels split words into bytes and expect the lowest byte first.
    return records >= (FROM if least is None else least) and byteorder == "little" and find_spec("numba") is not None
