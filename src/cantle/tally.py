"""What can be counted: keys that an engine answers with exact integers, one row of cells a region.

A key is a public value; `fits` says whether it is one for these regions and this domain, judged without records, so
that no failure can depend on them. The answer is secret and lives inside one curator call only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.regions import Cuts, Frontier, Ints, is_ints

Domain = tuple[tuple[int, ...], int]
"""Sizes of the attributes, and the number of classes."""


@dataclass(frozen=True)
class Sizes:
    """The number of records: one cell."""

    cells: int = 1

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return True


@dataclass(frozen=True)
class Classes:
    """The class histogram: one cell a class (one in all without a target)."""

    classes: int

    @property
    def cells(self) -> int:
        return self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return self.classes == domain[1]


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

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        sizes, classes = domain
        known = all(0 <= attribute < len(sizes) for attribute in self.attributes)
        named = known and self.sizes == tuple(sizes[attribute] for attribute in self.attributes)
        return named and len(self.sizes) > 0 and self.classes in (1, classes)


@dataclass(frozen=True, eq=False)
class OneWayEach:
    """For each region the table (code, class) of an attribute of its own, padded to `width` codes."""

    attribute: Ints
    width: int
    classes: int

    @property
    def cells(self) -> int:
        return self.width * self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        sizes, classes = domain
        if not is_ints(self.attribute, len(nodes)) or not sizes:
            return False
        known = (self.attribute >= 0).all() and (self.attribute < len(sizes)).all()
        return bool(known) and self.width >= max(sizes) and self.classes in (1, classes)


@dataclass(frozen=True, eq=False)
class ChildSizes:
    """The number of records in each child of a cut: two cells."""

    cuts: Cuts
    cells: int = 2

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return type(self.cuts) is Cuts and self.cuts.fits(nodes)


Key = Sizes | Classes | OneWays | OneWayEach | ChildSizes
