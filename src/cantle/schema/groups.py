"""Groups of items: columns that ask about one thing, and the score of a record, which is the sum of its answers.

Items are ordered columns of the same number of values, such as answers from 1 to 5. The score, in steps if there are
many sums, follows from one record by a public rule, whatever the others are, so it may be counted like any column. It
is not released.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import repeated
from cantle.schema.documents import Problems, fail

if TYPE_CHECKING:
    from cantle.schema.domain import Attribute
    from cantle.schema.fields import Field
    from cantle.trusted.core.arrays import Codes

FEWEST, MOST_VALUES = 3, 20
"""The fewest items of a group, and the most values of an item."""

MOST_SCORES = 32
"""The most scores of a group; with more sums than that, neighbouring sums have one score."""

_EXAMPLE = "write `groups: {worry: [w1, w2, -w3]}`, with a minus before items that are worded the other way round"


@dataclass(frozen=True)
class Group:
    """The name of a group, its items, and which of them are turned: their highest answer counts least."""

    name: str
    items: tuple[str, ...]
    turned: tuple[bool, ...]

    def written(self) -> list[JSON]:
        """The items as the schema has them."""
        return [f"{'-' * turned}{name}" for name, turned in zip(self.items, self.turned, strict=True)]

    def attribute(self, columns: Mapping[str, Attribute]) -> Attribute:
        """The score as a column of whole numbers."""
        from cantle.schema.domain import Attribute
        from cantle.schema.scales import Steps

        grid = -(-self._sums(columns) // self.width(columns))
        return Attribute(self.name, Steps(type="integer", first=0, step=1, grid=grid), nullable=False)

    def width(self, columns: Mapping[str, Attribute]) -> int:
        """How many sums a score stands for."""
        return -(-self._sums(columns) // MOST_SCORES)

    def _sums(self, columns: Mapping[str, Attribute]) -> int:
        """How many sums there are."""
        return len(self.items) * (columns[self.items[0]].grid - 1) + 1

    def score(self, codes: Mapping[str, Codes], columns: Mapping[str, Attribute]) -> Codes:
        """The scores of records, from the codes of their items; a missing answer counts as one in the middle."""
        each = zip(self.items, self.turned, strict=True)
        total: Codes = sum(worth(columns[name], turned)[codes[name]] for name, turned in each)  # type: ignore[assignment]
        return total // self.width(columns)


def worth(column: Attribute, turned: bool) -> Codes:
    """What each code of an item adds to the score."""
    import numpy as np

    values = np.arange(column.grid + column.nullable)
    values[: column.grid] = values[: column.grid][::-1] if turned else values[: column.grid]
    values[column.grid :] = (column.grid - 1) // 2
    return values


def groups_of(declared: object) -> tuple[Group, ...]:
    """The groups under `groups:` of a schema."""
    if declared is None:
        return ()
    if not isinstance(declared, Mapping) or not all(isinstance(name, str) and name for name in declared):
        fail("groups", "they are not names with lists of columns", _EXAMPLE, "groups")
    problems, groups = Problems(), list[Group]()
    for name, items in declared.items():
        with problems.during("groups", name):
            groups.append(_group(name, items))
    problems.refuse()
    return tuple(groups)


def _group(name: str, items: object) -> Group:
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) and one.strip("-") for one in items):
        fail(f"group {name!r}", "it is not a list of columns", _EXAMPLE)
    if len(items) < FEWEST:
        fail(f"group {name!r}", f"it has fewer than {FEWEST} columns", "leave it out, or add columns")
    return Group(name, tuple(one.removeprefix("-") for one in items), tuple(one.startswith("-") for one in items))


def check_groups(
    groups: Sequence[Group], fields: Sequence[Field], columns: Mapping[str, Attribute], in_rules: Collection[str]
) -> None:
    """Refuses groups of columns that have no sum, and columns that are in two groups or part of a rule."""
    problems = Problems()
    for twice in repeated([name for group in groups for name in group.items]):
        with problems.during():
            fail("groups", f"{twice} is in them twice", "leave it in one group")
    used = {one.name for one in fields if one.role or one.source is not None} | {*in_rules}
    for group in groups:
        for name in group.items:
            with problems.during("groups", group.name):
                _check_item(f"group {group.name!r}", name, name in used, columns.get(name))
        with problems.during("groups", group.name):
            if any(group.name == one.name for one in fields):
                fail(f"group {group.name!r}", "a column is called so too", "rename the group")
            if len({columns[name].grid for name in group.items if name in columns}) > 1:
                fail(f"group {group.name!r}", "its columns have different numbers of values", "split it")
    problems.refuse()


def _check_item(where: str, name: str, used: bool, column: Attribute | None) -> None:
    if column is None:
        fail(where, f"{name} is no column that is published", "correct it")
    if used:
        fail(where, f"{name} has a role, or a rule names it", "leave it out of the group")
    if column.cell > 1 or not 2 <= column.grid <= MOST_VALUES:
        fail(where, f"{name} does not have 2 to {MOST_VALUES} values that are counted one by one", "leave it out")
    if not column.scale.ordered and column.grid > 2:
        fail(where, f"the categories of {name} have no order", "write `categoriesOrdered: true`, lowest first")
