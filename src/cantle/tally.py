"""What can be counted: keys that an engine answers with exact integers, one row of cells a region.

A key is a public value. The answer is secret and lives inside one curator call only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.regions import Cuts, Ints


@dataclass(frozen=True)
class Sizes:
    """The number of records: one cell."""

    cells: int = 1


@dataclass(frozen=True)
class Classes:
    """The class histogram: one cell a class (one in all without a target)."""

    classes: int

    @property
    def cells(self) -> int:
        return self.classes


@dataclass(frozen=True)
class OneWays:
    """One table (code, class) for each listed attribute, side by side; `classes` = 1 leaves the class out."""

    attributes: tuple[int, ...]
    sizes: tuple[int, ...]
    classes: int

    @property
    def width(self) -> int:
        return sum(self.sizes)

    @property
    def offsets(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @property
    def cells(self) -> int:
        return self.width * self.classes


@dataclass(frozen=True, eq=False)
class OneWayEach:
    """For each region the table (code, class) of an attribute of its own, padded to `width` codes."""

    attribute: Ints
    width: int
    classes: int

    @property
    def cells(self) -> int:
        return self.width * self.classes


@dataclass(frozen=True, eq=False)
class ChildSizes:
    """The number of records in each child of a cut: two cells."""

    cuts: Cuts
    cells: int = 2


Key = Sizes | Classes | OneWays | OneWayEach | ChildSizes
