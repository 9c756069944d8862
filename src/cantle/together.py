"""Work on several cores: kernels let go of the interpreter, so that threads get on side by side.

Results come in the order in which they were asked for: nothing depends on how many cores there are. It pays where work
is long and shares little: reading lines, and writing while the next records are put into words. Moving rows, scoring
the next regions while these are chosen from, and drawing records were tried and did not gain by it on two cores.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

MOST = 4
"""Threads at a time."""

LARGE = 1 << 18
"""Records from which on threads repay being started."""

Item = TypeVar("Item")
Made = TypeVar("Made")


def threads(records: int) -> int:
    """How many threads are worth their while for so many records; none if there is but one core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, cores) if cores > 1 and records >= LARGE else 0


def in_order(work: Callable[[Item], Made], items: Iterable[Item], number: int) -> Iterator[Made]:
    """work(item) of each item, by so many threads; by the caller's own if there are none.

    Items are made in the caller's thread. When one is made, all but the last `number` before it are done, and their
    results were taken: with one thread, two rooms that are used in turn suffice.

    >>> list(in_order(abs, [3, -1, -2], 2))
    [3, 1, 2]
    """
    if not number:
        yield from map(work, items)
        return
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(number) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > number:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
