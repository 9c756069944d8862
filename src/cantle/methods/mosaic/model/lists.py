"""Items of lists: estimates from counts in parts, from which items are drawn after all other columns.

A record adds at most so many counts to those of all items together (Claim 72), so a list costs as much as a few tables
however many items it may hold. What a list holds is estimated from the counts of each item alone, of each item by the
groups of a few other columns, and of each two items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Floats, each_dot, mix
from cantle.drawing.smooth import project
from cantle.methods.mosaic.model.fitted import Fitted
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.schema.domain import Domain
from cantle.schema.rules import Rules
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.item_partitions import MOST_COUNTED, PARTS

_LOST = 0.06
"""What the parts of long lists that do not count make wrong, as a part of them."""

_POWERS = 40
"""Steps in which the strongest direction of a matrix is found."""

_MOST_GROUPS = 8
"""Most groups of a column that items are counted by, unless it leads."""

_PER_COLUMN = 400.0
"""The number of items that count, times the rate of their noise, for each column that items are counted by."""


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
        missing += [None if one.missing is None else place[one.missing]] * len(one.items)
        longest += one.scale.most
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


@dataclass(eq=False)
class ListAnswers:
    """The noisy answers about lists: how many records have each number of items, counts of items, of items by columns,
    and of pairs."""

    sizes: ListSizes
    items: PartTable
    by_column: list[PartTable]
    pairs: PartTable | None


@dataclass(frozen=True, eq=False)
class ListSizes:
    """Estimated numbers of records with 0, 1, 2, … items."""

    records: Floats
    variance: float

    @staticmethod
    def of(noisy: Ints, variance: float, total: float, longest: int) -> ListSizes:
        """The sizes up to the first two in a row, beyond the most frequent one, whose counts may be noise alone."""
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


def related_columns(fitted: Fitted, listed: Listed) -> list[int]:
    """The columns that items may be counted by, the leading one first."""
    usable = [number for number, size in enumerate(fitted.sizes) if size > 1 and number not in listed.missing]
    return sorted(usable, key=lambda number: number != fitted.lead)


def number_of_columns(sizes: ListSizes, most: int, rate: float, usable: int) -> int:
    """How many columns items are counted by, as the noise at this rate allows."""
    return min(usable, max(1, int(sizes.counted(most) * rate / _PER_COLUMN)))


def groups_of(fitted: Fitted, column: int) -> int:
    """The number of groups of a column that items are counted by; the leading one has all of its cells."""
    return fitted.sizes[column] if column == fitted.lead else fitted.groupings[column].at_most(_MOST_GROUPS)


def expected_parts(fitted: Fitted, answers: ListAnswers, most: int, by: CrossTable) -> Ints:
    """Parts by item and group of a column, of `most` items of a record, if items did not depend on the column."""
    support = answers.items.counts[:, 0] * answers.sizes.stretch(answers.items.most) / answers.sizes.stretch(most)
    share = np.bincount(by.maps[0], fitted.one_way[by.columns[0]])
    return np.rint(np.outer(np.maximum(support, 0.0), share) * PARTS).astype(np.int64)


def noise_in(model: Ints) -> float:
    """How much noise there is in a table of items by groups, once it is `low_rank`, for noise of 1 in each count."""
    return float((sum(model.shape) * model.size) ** 0.5)


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
    share = np.add.reduceat(fitted.one_way[table.column], starts)
    support = np.array([fitted.one_way[item][1] for item in listed.items]) * fitted.total
    apart = table.counts - support[:, None] * share
    apart -= apart.sum(axis=1, keepdims=True) * share
    made, rank = low_rank(apart, table.variance)
    if not rank:
        return
    variance = table.variance * rank * (len(support) + groups) / apart.size
    for item, one, more in zip(listed.items, support, made, strict=True):
        held = one * share + more
        both = np.column_stack([fitted.total * share - held, held])
        fitted.add(NoisyTable((table.column, item), (groups, 2), both, min(variance, table.variance)))


def low_rank(noisy: Floats, variance: float) -> tuple[Floats, int]:
    """A matrix without what noise of this variance adds, and its rank: singular values that stand out are shrunk as is
    best for a few of them (Gavish and Donoho, 2017).

    Items follow a column in few ways, such as more of them with age, so all items together tell more than each alone.
    """
    narrow, wide = sorted(noisy.shape)
    ratio, unit = narrow / wide, (wide * variance) ** 0.5
    rest, made = noisy.copy(), np.zeros_like(noisy)
    for rank in range(narrow):
        left, right = _strongest(rest)
        value = float((left**2).sum() ** 0.5) / unit
        if value <= 1 + ratio**0.5:
            return made, rank
        kept = max(0.0, (value**2 - ratio - 1) ** 2 - 4 * ratio) ** 0.5 / value
        made += kept / value * np.outer(left, right)
        rest -= np.outer(left, right)
    return made, narrow


def _strongest(matrix: Floats) -> tuple[Floats, Floats]:
    """The vectors whose outer product is nearest to a matrix; the second one has length 1."""
    right = matrix[int(np.argmax((matrix**2).sum(axis=1)))].copy()
    for _ in range(_POWERS):
        right = mix(each_dot(matrix, right), matrix)
        right /= max(float((right**2).sum()) ** 0.5, 1e-300)
    return each_dot(matrix, right), right


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
