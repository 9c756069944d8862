"""The curator's answers: noisy numbers with their rates, and noisy choices. All of them are public."""

from __future__ import annotations

from dataclasses import dataclass

from cantle.trusted.geometry.boxes import Ints


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy counts (regions, cells), and the rate num/den of each region's discrete Laplace noise."""

    value: Ints
    rate_num: Ints
    rate_den: int


@dataclass(frozen=True)
class Pick:
    """A chosen specialisation: the number of the value, and the point if the value is split at a point (else 0)."""

    value: int
    point: int


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """Noisy counts of the cells that reached a public threshold, ordered by segment and cell.

    A segment is a region, or one of several parts of the root's cells, as the query says. `rows` are the positions of
    the segments in the question. `rate_num` has one entry per segment: the noise of a count has rate rate_num[row] /
    rate_den. `at_least` is the threshold of each segment.
    """

    rows: Ints
    cells: Ints
    value: Ints
    rate_num: Ints
    rate_den: int
    at_least: Ints
