"""A second core: work that lets go of the interpreter is done by another thread while the caller makes the next.

It pays for writing: hashing and writing out beside putting the next records into words. Reading lines, scoring the
next regions, moving rows and drawing records were tried the same way and gained too little on two cores: what one
core makes ready the other must fetch. `benchmarks/cores.py` measures it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

LARGE = 1 << 18
"""Records from which on a thread repays being started."""

Item = TypeVar("Item")


def pays(records: int) -> bool:
    """Whether a second thread is worth its while for so many records."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1 and records >= LARGE


def alongside(work: Callable[[Item], None], items: Iterable[Item]) -> None:
    """work(item) of each item, in order, in a second thread.

    When an item is made, the work on all but the one before it is done: two rooms that are used in turn suffice.
    """
    before: Future[None] | None = None
    with ThreadPoolExecutor(1) as pool:
        for item in items:
            coming = pool.submit(work, item)
            if before is not None:
                before.result()
            before = coming
        if before is not None:
            before.result()
