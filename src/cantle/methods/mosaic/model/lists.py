"""Items of lists: estimates from counts in parts, from which items are drawn after all other columns.

A record adds at most so many counts to those of all items together (Claim 72), so a list costs as much as a few tables
however many items it may hold. What a list holds is estimated from the counts of each item alone, of each item by the
groups of other columns, and of each two items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Floats
from cantle.drawing.smooth import project
from cantle.methods.mosaic.model.fitted import Fitted
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.schema.domain import Domain
from cantle.schema.lists import Lists
from cantle.schema.rules import Rules
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import MOST_COUNTED, PARTS

_LOST = 0.12
"""What the parts of long lists that do not count make wrong, as a part of them."""

_MOST_GROUPS = 16
_CELL = 2.0
"""How many times its noise the expected count of an item in a group is, where groups are made small."""

_COLUMN_CELL = 3.0
"""How many times the noise of a count of an item by a column its support is at least, if more columns are counted."""


@dataclass(frozen=True)
class Listed:
    """The items of all lists by positions; for each of them the column that says whether its list is missing, if there
    is one; and how many items a record has at most."""

    items: tuple[int, ...]
    missing: tuple[int | None, ...]
    longest: int


def listed_of(domain: Domain) -> Listed | None:
    """The items that stand after the other columns of a domain; None if there are none."""
    if domain.relations is None or not domain.listed:
        return None
    place, missing, longest = {one.name: number for number, one in enumerate(domain.attributes)}, list[int | None](), 0
    for one in domain.relations.lists:
        scale = domain.relations.columns[one.name].scale
        assert isinstance(scale, Lists)
        missing += [None if one.missing is None else place[one.missing]] * len(one.items)
        longest += scale.most
    return Listed(tuple(place[name] for name in domain.listed), tuple(missing), longest)


@dataclass(frozen=True, eq=False)
class PartTable:
    """Noisy counts by item (or by two items) and by group of a column, of records that count with at most `most` items
    (or pairs); a single group if there is no column."""

    counts: Floats
    variance: float
    most: int
    column: int | None = None

    @staticmethod
    def of(noisy: Ints, rows: int, variance: float, most: int, column: int | None = None) -> PartTable:
        """The counts of answers in parts, which have this variance."""
        return PartTable(noisy.reshape(rows, -1) / PARTS, variance / PARTS**2, most, column)

    def times(self, factor: float) -> PartTable:
        return PartTable(self.counts * factor, self.variance * factor**2, self.most, self.column)


@dataclass(frozen=True, eq=False)
class ListAnswers:
    """The noisy answers about lists: how many records have each number of items, counts of items, of items by columns,
    and of pairs."""

    sizes: ListSizes
    items: PartTable
    by_column: Sequence[PartTable]
    pairs: PartTable | None


@dataclass(frozen=True, eq=False)
class ListSizes:
    """Estimated numbers of records with 0, 1, 2, … items."""

    records: Floats
    variance: float

    @staticmethod
    def of(noisy: Ints, variance: float, total: float, longest: int) -> ListSizes:
        """Beyond the most frequent size, sizes end where two of them in a row are within their noise."""
        counts = noisy[: longest + 1].astype(np.float64)
        low = np.append(counts, [0.0, 0.0]) < variance**0.5
        low[: 1 + int(np.argmax(counts[1:]))] = False
        last = int(np.argmax(low[:-1] & low[1:]))
        return ListSizes(project(counts[: max(2, last)], total), variance)

    def _numbers(self, pairs: bool) -> Floats:
        size = np.arange(len(self.records), dtype=np.float64)
        return size * (size - 1) / 2 if pairs else size

    def number(self, pairs: bool = False) -> float:
        """The number of all items or pairs."""
        return max(1.0, float((self._numbers(pairs) * self.records).sum()))

    def counted(self, most: int, pairs: bool = False) -> float:
        """How many of these count."""
        return max(1.0, float((np.minimum(self._numbers(pairs), most) * self.records).sum()))

    def stretch(self, most: int, pairs: bool = False) -> float:
        """How many items (or pairs) there are per one that counts."""
        return self.number(pairs) / self.counted(most, pairs)

    def most(self, items: int, rate: float) -> int:
        """How many items of a record count for supports at this rate: with more there is more noise, with fewer, more
        of long lists is lost, or restored from noisy sizes."""
        some = range(1, max(1, min(MOST_COUNTED, items, len(self.records) - 1)) + 1)
        return min(some, key=lambda most: self.stretch(most) * most / rate + self._lost(most) / items)

    def _lost(self, most: int) -> float:
        """How far the number of items is off if so many of a record count."""
        left_out = np.maximum(self._numbers(pairs=False) - most, 0.0)
        noise = float((left_out**2).sum() * self.variance) ** 0.5
        return noise + _LOST * float((left_out * self.records).sum())

    def usual(self, pairs: bool = False) -> int:
        """How many items (or pairs) the mean list has, of those that are not empty."""
        mean = self.number() / max(1.0, float(self.records[1:].sum()))
        return max(1, min(MOST_COUNTED, round(mean * (mean - 1) / 2 if pairs else mean)))


def related_columns(fitted: Fitted, listed: Listed, count: float, rate: float) -> list[int]:
    """The columns that items are counted by: the leading one, then those most strongly linked to others, as many as
    the noise allows. `count` is the mean count of an item, `rate` that of its noise if there is one column."""
    links = fitted.links().sum(axis=1)
    usable = [number for number, size in enumerate(fitted.sizes) if size > 1 and number not in listed.missing]
    usable.sort(key=lambda number: (number != fitted.lead, -links[number], number))
    return usable[: max(1, int(count * rate / _COLUMN_CELL))]


def groups_of(fitted: Fitted, column: int, count: float, rate: float) -> int:
    """The number of groups of a column: the leading one has all of its cells, others fewer if there is more noise."""
    if column == fitted.lead:
        return fitted.sizes[column]
    most = int(np.clip(count * rate / _CELL, 2, _MOST_GROUPS))
    return fitted.groupings[column].at_most(most)


def with_lists(
    fitted: Fitted, columns: Sequence[Column], listed: Listed, answers: ListAnswers, rules: Rules | None
) -> Fitted:
    """The estimates with the items of lists as further columns, and with the tables that relate them."""
    sizes = answers.sizes
    supports = answers.items.times(sizes.stretch(answers.items.most))
    held = np.clip(supports.counts[:, 0], 0.0, fitted.total)
    made = fitted.with_items(columns, [np.array([fitted.total - one, one]) for one in held], supports.variance, rules)
    for table in answers.by_column:
        _add_by_column(made, listed, table.times(sizes.stretch(table.most)))
    if answers.pairs is not None:
        _add_pairs(made, listed, answers.pairs.times(sizes.stretch(answers.pairs.most, pairs=True)))
    for item, missing in zip(listed.items, listed.missing, strict=True):
        if missing is not None:
            _add_missing(made, item, missing)
    return made


def _add_by_column(fitted: Fitted, listed: Listed, table: PartTable) -> None:
    assert table.column is not None
    groups = table.counts.shape[1]
    starts = fitted.groupings[table.column].starts(groups)
    every = np.add.reduceat(fitted.one_way[table.column], starts) * fitted.total
    for item, held in zip(listed.items, table.counts, strict=True):
        both = np.column_stack([every - held, held])
        fitted.add(NoisyTable((table.column, item), (groups, 2), both, table.variance))


def _add_pairs(fitted: Fitted, listed: Listed, pairs: PartTable) -> None:
    support = [fitted.one_way[item][1] * fitted.total for item in listed.items]
    places = [(first, second) for second in range(len(support)) for first in range(second)]
    for (first, second), (held,) in zip(places, pairs.counts.tolist(), strict=True):
        one, other = support[first] - held, support[second] - held
        counts = np.array([[fitted.total - one - other - held, other], [one, held]])
        fitted.add(NoisyTable((listed.items[first], listed.items[second]), (2, 2), counts, pairs.variance))


def _add_missing(fitted: Fitted, item: int, missing: int) -> None:
    """A list that is missing does not hold the item."""
    there, gone = fitted.one_way[missing] * fitted.total
    held = min(fitted.one_way[item][1] * fitted.total, there)
    counts = np.array([[there - held, held], [gone, 0.0]])
    fitted.add(NoisyTable((missing, item), (2, 2), counts, 1.0, settled=True))
