"""The stop tests of a run: how many each open region's path has had, and whether one of them said no.

The bound on the loss of a path (Claim 12, stop_test.py) holds if all its tests are of one kind, are numbered from 0
without gaps, and end with the first "no". The curator keeps track of that here.
"""

from __future__ import annotations

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.core.stop_test import MOST_TESTS, PrivTree
from cantle.trusted.geometry.boxes import Bools, Ints


class TestedPaths:
    """The tests of the open regions, by position; starts with the root alone, untested."""

    def __init__(self) -> None:
        self._stop: PrivTree | None = None
        self._tests: Ints = np.zeros(1, dtype=np.int64)
        self._ended: Bools = np.zeros(1, dtype=np.bool_)

    def next_tests(self, positions: Ints, stop: PrivTree) -> Ints:
        """The number of the next test of each region; refuses tests that Claim 12 does not cover."""
        if self._stop not in (None, stop):
            raise ParameterError("all stop tests of a run share one threshold, decay and price")
        if self._ended[positions].any() or (self._tests[positions] >= MOST_TESTS).any():
            raise ParameterError("a region whose path was told to stop or tested too often cannot be tested again")
        return self._tests[positions]

    def begin(self, positions: Ints, stop: PrivTree) -> None:
        """Records that these regions are tested now; the tests are paid for, even if they fail."""
        self._stop = stop
        self._tests[positions] += 1

    def end(self, positions: Ints, goes_on: Bools) -> None:
        """Records the answers."""
        self._ended[positions] = ~goes_on

    def split(self, positions: Ints, times: Ints) -> None:
        """Moves on to the children, `times` of each listed region; they continue the path of their parent."""
        self._tests = np.repeat(self._tests[positions], times)
        self._ended = np.repeat(self._ended[positions], times)
