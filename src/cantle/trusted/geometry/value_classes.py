"""Classes of round values: numbers that people round to (multiples of 10, of 1,000, ...). Public.

Codes of a column are 0 .. values - 1 and stand for the whole numbers origin, origin + 1, ...
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.trusted.geometry.boxes import Ints

MOST = 1 << 60
"""Origins and periods are smaller, so that no intermediate sum exceeds 64 bits."""


@dataclass(frozen=True)
class ValueClasses:
    """The class of a code is the last period that divides `origin + code`.

    Each period divides the next and the first is 1, so every code has exactly one class.

    >>> ValueClasses(3, (1, 5, 10)).of(np.arange(8)).tolist()
    [0, 0, 1, 0, 0, 0, 0, 2]
    """

    origin: int
    periods: tuple[int, ...]

    def fits(self) -> bool:
        """Whether these are classes: plain whole numbers, each period a larger multiple of the one before."""
        if type(self.periods) is not tuple or not self.periods or self.periods[0] != 1:
            return False
        if not all(type(number) is int and abs(number) < MOST for number in (self.origin, *self.periods)):
            return False
        pairs = zip(self.periods, self.periods[1:], strict=False)
        return all(more > less and more % less == 0 for less, more in pairs)

    def of(self, codes: Ints) -> Ints:
        """The class number of each code."""
        classes = np.zeros(len(codes), dtype=np.int64)
        for number, period in enumerate(self.periods[1:], 1):
            classes[(codes + self.origin) % period == 0] = number
        return classes

    def multiples(self, first: int, last: int, number: int) -> int:
        """How many codes in [first, last) the period of a class divides."""
        period = self.periods[number]
        return (last - 1 + self.origin) // period - (first - 1 + self.origin) // period

    def sizes(self, first: int, last: int) -> Ints:
        """How many codes in [first, last) each class has."""
        dividing = [self.multiples(first, last, number) for number in range(len(self.periods))]
        return np.array(dividing, dtype=np.int64) - np.array([*dividing[1:], 0], dtype=np.int64)

    def rank(self, codes: Ints, number: int) -> Ints:
        """The place of codes of one class among all codes of that class, from 0."""
        passed, ratio = self._passed(number)
        multiple = (codes + self.origin) // self.periods[number]
        return multiple - (multiple // ratio if ratio else 0) - passed

    def code(self, rank: Ints, number: int) -> Ints:
        """The codes at these places of one class: the inverse of `rank`.

        Counted in its period, a class is the whole numbers that the next period does not divide: t of them lie in
        1 .. t + (t - 1) // (ratio - 1).
        """
        passed, ratio = self._passed(number)
        place = rank + passed
        multiple = place + (place - 1) // (ratio - 1) if ratio else place
        return multiple * self.periods[number] - self.origin

    def _passed(self, number: int) -> tuple[int, int]:
        """The place of the class's first code among the numbers 1, 2, ... of the class (below 1 where the origin is
        negative), and how many of its periods make the next one (0: there is none)."""
        first = -(-self.origin // self.periods[number])
        if number + 1 == len(self.periods):
            return first, 0
        ratio = self.periods[number + 1] // self.periods[number]
        return first - 1 - (first - 1) // ratio + 1, ratio
