"""NOT PRIVATE, on purpose: known ways to get the views of families wrong, to show that the audit catches them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.audit import families as configs
from cantle.audit.exact import Breakage, Table
from cantle.trusted.bounding import families as joining
from cantle.trusted.bounding.families import Order
from cantle.trusted.claims.table_candidates import Distance
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.views import FamilyDomain
from cantle_lab.mutants.patches import Call, instead, variant


@variant
def _whole(original: Call, self: FamilyDomain, view: int) -> Ints:
    """Every record counts as a whole one, however many its family has."""
    return np.where(original(self, view) > 0, item_partitions.PARTS, 0)


@variant
def _kept_by_row(original: Call, person: Ints, columns: Sequence[Codes], most: int) -> Bools:
    """Every other row of the file is left out before children are cut."""
    return original(person, columns, most) & (np.arange(len(person)) % 2 == 0)


@variant
def _sorted_by_row(original: Call, self: Order, child: Sequence[Codes]) -> list[Codes]:  # noqa: ARG001
    """Children are sorted by the number of their row modulo three, not by their values."""
    return [np.arange(len(child[0])) % 3]


@variant
def _all_parents(original: Call, person: Ints, columns: Sequence[Codes], most: int) -> Bools:
    """Every parent row is a family of its own."""
    return np.ones(len(person), dtype=np.bool_) if most == 1 else original(person, columns, most)


def _half(original: object) -> property:  # noqa: ARG001
    return property(lambda _self: 1)


def _number(wanted: tuple[int, tuple[int, ...]]) -> tuple[int, int]:
    """The record of a key with these rows."""
    return configs.KEYS.index(wanted), 0


def _keys(*wanted: tuple[int, tuple[int, ...]]) -> Table:
    return tuple(sorted(map(_number, wanted)))


_FIRST_ROW, _THREE = _number((1, (0,))), (1, (0, 1, 1))

FAMILY_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("families: a whole record per child", "Claim 68: parts", configs.LATER_TABLE, (), _number((1, (1, 1, 1))),
             4.0, instead(FamilyDomain, "weights", _whole)),
    Breakage("families: rows left out by number", "Claim 67: no row number", configs.FIRST_TABLE, _keys((1, (1,))),
             _FIRST_ROW, 4.0, instead(joining, "within_bound", _kept_by_row)),
    Breakage("families: children sorted by row number", "Claim 67: their own codes", configs.FIRST_TABLE,
             _keys((1, (0, 1)), _THREE, (1, (0, 0, 1))), _FIRST_ROW, 6.0, instead(Order, "ranks", _sorted_by_row)),
    Breakage("families: a family per parent row", "Claim 67: one parent row stays", configs.PARENT_TABLE, (),
             _number((2, (1,))), 4.0, instead(joining, "within_bound", _all_parents)),
    Breakage("families: a choice at half the range", "Claim 69", configs.CHOICE, _keys((1, (0,))),
             _number((1, (0, 1, 1))), 11.0, instead(Distance, "range", _half)),
)  # fmt: skip
