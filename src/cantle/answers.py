"""What the curator gives away: noisy numbers with their rates, and noisy choices. Public."""

from __future__ import annotations

from dataclasses import dataclass

from cantle.regions import Ints


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy counts (regions, cells), and the rate num/den of each region's discrete Laplace noise."""

    value: Ints
    rate_num: Ints
    rate_den: int


@dataclass(frozen=True)
class Pick:
    """A chosen specialisation: the number of the value, and the point for values split at one (else 0)."""

    value: int
    point: int


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """Noisy counts of grid cells by class (cell * classes + class, ascending), from `at_least` on; rate num/den."""

    cells: Ints
    value: Ints
    rate_num: int
    rate_den: int
    at_least: int


@dataclass(frozen=True, eq=False)
class NoisyPatterns:
    """Noisy counts of sets of children: for each, the row of its partition, the set as a mask, and the value; in order
    of rows and of the sets' numbers. `rate_num` has one entry a partition."""

    rows: Ints
    mask: Ints
    value: Ints
    rate_num: Ints
    rate_den: int
