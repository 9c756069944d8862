"""Items of lists: estimates from counts in parts, from which items are drawn after all other columns.

A record adds at most so many counts to those of all items together (Claim 72), so a list costs as much as a few tables
however many items it may hold. What a list holds is estimated from the counts of each item alone, and of the most
frequent items by the groups of a few other columns and by each other. Rarer items, of which such counts would be noise,
fill lists up to the sizes that were counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Floats, each_dot, mix
from cantle.drawing.smooth import project
from cantle.methods.baskets.model import sizes as sizes_of_sets
from cantle.methods.baskets.model.item_supports import shrunk
from cantle.methods.baskets.model.sizes import in_sizes, last_bin
from cantle.methods.mosaic.model.fitted import Fitted
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, laplace_variance
from cantle.schema.code_sets import Question, columns_of
from cantle.schema.domain import Domain
from cantle.schema.rules import Rules
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.item_partitions import MOST_COUNTED, PARTS

_LOST = 0.1
"""What the parts of long lists that do not count make wrong, as a part of them."""

_SURE, _LAST, _RARE = 3.0, 3, 1e-3
"""How many standard deviations of noise the records of longer lists must exceed; the sizes of which these are a
continuation; and the part of the next size below which a size is left out."""

_POWERS = 40
"""Steps in which the strongest direction of a matrix is found."""

_MOST_GROUPS = 8
"""Most groups of a column that items are counted by, unless it leads."""

MOST_RELATED = 60
"""Most items of which each is related to columns and to other items."""

_PER_COLUMN = 400.0
"""The number of items that count, times the rate of their noise, for each column that items are counted by."""


@dataclass(frozen=True)
class Listed:
    """The items of all lists by positions; for each of them the column that says whether its list is missing, if there
    is one; how many items each list has, and how many of them a record has at most; and the items that declared rules
    name, by their places among all."""

    domain: Domain
    items: tuple[int, ...]
    missing: tuple[int | None, ...]
    lists: tuple[tuple[int, int], ...]
    ruled: frozenset[int]

    @property
    def longest(self) -> int:
        """How many items a record has at most."""
        return sum(most for _, most in self.lists)

    def at(self, places: Sequence[int]) -> list[int]:
        """The positions of items, given their places among all."""
        return [self.items[place] for place in places]

    def rules(self, names: Collection[str]) -> Rules | None:
        """The rules about these columns, with those that lists have by themselves about these items."""
        rules, relations = self.domain.rules_on_codes, self.domain.relations
        if rules is None or relations is None:
            return None
        texts, broken = zip(
            *_declared_rules(self.domain),
            *(pair for one in relations.lists for pair in one.broken({*names})),
            strict=True,
        )
        return replace(rules, texts=texts, broken=broken).among(names)

    def related(self, items: PartTable) -> list[int]:
        """The places of the items that are related to columns and to other items: those that rules name, and the most
        frequent ones."""
        by_count = np.argsort(-items.counts[:, 0], kind="stable").tolist()
        others = [place for place in by_count if place not in self.ruled]
        return sorted([*self.ruled, *others[: max(0, MOST_RELATED - len(self.ruled))]])


def listed_of(domain: Domain) -> Listed | None:
    """The items that stand after the other columns of a domain; None if there are none."""
    if domain.relations is None or not domain.listed:
        return None
    relations, place = domain.relations, {one.name: number for number, one in enumerate(domain.attributes)}
    missing = [None if one.missing is None else place[one.missing] for one in relations.lists for _ in one.items]
    lists = tuple((len(one.items), one.scale.most) for one in relations.lists)
    named = {str(key) for _, question in _declared_rules(domain) for key in columns_of(question)}
    ruled = frozenset(number for number, name in enumerate(domain.listed) if name in named)
    return Listed(domain, tuple(place[name] for name in domain.listed), tuple(missing), lists, ruled)


def _declared_rules(domain: Domain) -> list[tuple[str, Question]]:
    """All rules but those that lists have by themselves."""
    if domain.rules_on_codes is None or domain.relations is None:
        return []
    own = [question for one in domain.relations.lists for _, question in one.broken(domain.listed)]
    rules = domain.rules_on_codes
    return [pair for pair in zip(rules.texts, rules.broken, strict=True) if pair[1] not in own]


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
    """The noisy answers about lists: how many records have each number of items, counts of items, and for the places
    of related items how many of them records have, counts by columns, and counts of pairs."""

    sizes: ListSizes
    items: PartTable
    related: Sequence[int]
    by_column: list[PartTable]
    pairs: PartTable | None = None

    @cached_property
    def related_sizes(self) -> ListSizes:
        """How many of the related items lists hold."""
        counts = np.maximum(self.items.counts[:, 0], 0.0)
        return self.sizes.of_some(min(1.0, float(counts[self.related].sum() / max(1.0, counts.sum()))))

    def supports(self, total: float) -> Floats:
        """How many of so many records hold each item."""
        counted = self.items.times(self.sizes.stretch(self.items.most))
        counts, scale = counted.counts[:, 0], (counted.variance / 2) ** 0.5
        return np.asarray(np.minimum(shrunk(counts, scale, 0.0, max(1.0, float(counts.sum()))), total))


def _tail(last: float, records: float, sizes: int) -> Floats:
    """So many records of sizes beyond the last that stood out of the noise: fewer by the same factor from each to the
    next."""
    fewer = (records / (records + max(last, 1.0))) ** np.arange(sizes)
    fewer = fewer[: 1 + int(np.argmax(fewer < _RARE))] if sizes and fewer[-1] < _RARE else fewer
    return np.asarray(records * fewer / max(1.0, float(fewer.sum())))


def size_edges(longest: int) -> list[int]:
    """Where the spans begin in which sizes of lists are counted: those of baskets, and the empty list."""
    return [0, *sizes_of_sets.size_edges(longest).tolist()]


@dataclass(frozen=True, eq=False)
class ListSizes:
    """Estimated numbers of records with 0, 1, 2, … items."""

    records: Floats
    variance: float

    @staticmethod
    def of(noisy: Ints, rate: float, total: float, longest: int) -> ListSizes:
        """The sizes behind noisy counts of this rate, of `size_edges`."""
        variance, edges = laplace_variance(rate), np.array(size_edges(longest))
        bins = 2 + last_bin(noisy[1:], variance**0.5)
        ends = np.append(edges[1:], longest + 1)[1:bins]
        records = project(noisy[:bins].astype(np.float64), min(total, max(1.0, float(noisy[:bins].sum()))))
        counts = np.append(records[0], in_sizes(records[1:], edges[1:bins], ends))
        more = total - float(counts.sum())
        if more > _SURE * (bins * variance) ** 0.5:
            counts = np.append(counts, _tail(float(counts[-_LAST:].mean()), more, longest + 1 - len(counts)))
        return ListSizes(project(counts, total), variance)

    def of_some(self, share: float) -> ListSizes:
        """The sizes of lists of some items only, which are this share of all that lists hold, whatever else is in a
        list."""
        law, records = np.ones(1), np.zeros(len(self.records))
        for held, number in enumerate(self.records.tolist()):
            records[: held + 1] += number * law
            law = np.append(law, 0.0) * (1 - share) + np.append(0.0, law) * share
        return replace(self, records=records)

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
        rank = np.arange(1, items + 1)
        usual = self.number() / (rank * (1 / rank).sum())  # Zipf's law; what an item has is the most it can be off by

        def off(most: int) -> float:
            return float(np.minimum(usual, self.stretch(most) * most / rate).mean()) + self._lost(most) / items

        return min(some, key=off)

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
    """Parts by related item and group of a column, of `most` items of a record, if items did not depend on it."""
    support = answers.supports(fitted.total)[answers.related] / answers.related_sizes.stretch(most)
    share = np.bincount(by.maps[0], fitted.one_way[by.columns[0]])
    return np.rint(np.outer(support, share) * PARTS).astype(np.int64)


def noise_in(model: Ints) -> float:
    """How much noise there is in a table of items by groups, once it is `low_rank`, for noise of 1 in each count."""
    return float((sum(model.shape) * model.size) ** 0.5)


def with_lists(fitted: Fitted, columns: Sequence[Column], listed: Listed, answers: ListAnswers) -> Fitted:
    """The estimates with the related items of lists as further columns, and with the tables that relate them."""
    first, some = len(fitted.columns), [columns[place] for place in answers.related]
    items, sizes = range(first, first + len(some)), answers.related_sizes
    variance = answers.items.times(answers.sizes.stretch(answers.items.most)).variance
    held = answers.supports(fitted.total)[answers.related]
    rules = listed.rules([one.name for one in (*fitted.columns, *some)])
    made = fitted.with_items(some, [np.array([fitted.total - one, one]) for one in held], variance, rules)
    for table in answers.by_column:
        _add_by_column(made, items, table.times(sizes.stretch(table.most)))
    if answers.pairs is not None:
        _add_pairs(made, items, answers.pairs.times(sizes.stretch(answers.pairs.most, pairs=True)))
    for item, place in zip(items, answers.related, strict=True):
        missing = listed.missing[place]
        if missing is not None:
            _add_missing(made, item, missing)
    return made


def _add_by_column(fitted: Fitted, items: Sequence[int], table: PartTable) -> None:
    assert table.column is not None
    groups = table.counts.shape[1]
    starts = fitted.groupings[table.column].starts(groups)
    share = np.add.reduceat(fitted.one_way[table.column], starts)
    support = np.array([fitted.one_way[item][1] for item in items]) * fitted.total
    apart = table.counts - support[:, None] * share
    apart -= apart.sum(axis=1, keepdims=True) * share
    made, rank = low_rank(apart, table.variance)
    if not rank:
        return
    variance = table.variance * rank * (len(support) + groups) / apart.size
    for item, one, more in zip(items, support, made, strict=True):
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


def _add_pairs(fitted: Fitted, items: Sequence[int], pairs: PartTable) -> None:
    support = [fitted.one_way[item][1] * fitted.total for item in items]
    places = [(first, second) for second in range(len(support)) for first in range(second)]
    for (first, second), (held,) in zip(places, pairs.counts.tolist(), strict=True):
        one, other = support[first] - held, support[second] - held
        counts = np.array([[fitted.total - one - other - held, other], [one, held]])
        fitted.add(NoisyTable((items[first], items[second]), (2, 2), counts, pairs.variance))


def _add_missing(fitted: Fitted, item: int, missing: int) -> None:
    """A list that is missing does not hold the item."""
    there, gone = fitted.one_way[missing] * fitted.total
    held = min(fitted.one_way[item][1] * fitted.total, there)
    counts = np.array([[there - held, held], [gone, 0.0]])
    fitted.add(NoisyTable((missing, item), (2, 2), counts, 1.0, settled=True))
