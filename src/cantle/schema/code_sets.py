"""Sets of codes, and questions made of them: conditions on one column each, or on sums of columns, joined by `and` and
`or`.

A question is about codes alone, so the same few lines evaluate it for released records, for the cells of a noisy table,
and (in the lab) for private records.

A condition on a sum of columns, such as `end - start` between 0 and 29, is about places, each times a whole factor. It
holds for no record that lacks a value in one of its columns. For a box of codes it holds nowhere, somewhere or
everywhere; interval arithmetic finds out which, exactly for single points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import gcd

import numpy as np
from numpy.typing import NDArray

from cantle.schema.places import Area
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints

Key = str | int
"""A column by its name; for sets, an item by its code, as a column of the codes 0 (absent) and 1 (present)."""

NOWHERE, SOMEWHERE, EVERYWHERE = 0, 1, 2
Verdicts = NDArray[np.int8]

MOST = 2**62
"""Sums must stay below this, so that 64 bits hold them."""


@dataclass(frozen=True)
class Term:
    """One column of a sum: its factor, and what its codes mean.

    `values` codes have a value, and come before null; each stands for `width` of the `grid` places. With `edges`, codes
    are cells of such codes instead. With `around`, a place stands for all places between the two of these that are
    around it.
    """

    key: Key
    factor: int
    grid: int
    size: int
    width: int = 1
    edges: Ints | None = field(default=None, compare=False)
    around: tuple[int, ...] = ()

    @property
    def values(self) -> int:
        """How many codes have a value."""
        return self.size if self.edges is not None else min(self.size, -(-self.grid // self.width))

    def places(self, lo: Codes, hi: Codes) -> tuple[Ints, Ints]:
        """The first place in spans of codes, and the place after the last; null is the place after all others."""
        low, high = np.asarray(lo).astype(np.int64), np.asarray(hi).astype(np.int64)
        if self.edges is not None:
            low, high = self.edges[low], self.edges[high]
        if self.around:
            known = np.array(self.around)
            low, high = known[np.searchsorted(known, low, side="right") - 1], known[np.searchsorted(known, high)]
        if self.width == 1:
            return low, high
        whole = -(-self.grid // self.width)
        first = np.where(low >= whole, self.grid, low * self.width)
        return first, np.where(high > whole, self.grid + 1, np.minimum(high * self.width, self.grid))

    def reach(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The smallest and the largest part of the sum that spans of places can have."""
        ends = self.factor * lo, self.factor * (hi - 1)
        return ends if self.factor > 0 else ends[::-1]


@dataclass(frozen=True)
class Linear:
    """The condition that a sum of columns is between two bounds, both included; None is no bound.

    For cells of several places it holds if it does for all their points, or, if `touched`, for at least one as far as
    one can see. `left` says how many terms stood on the left of the sign.
    """

    terms: tuple[Term, ...]
    low: int | None
    high: int | None
    touched: bool = False
    left: int = field(default=0, compare=False)

    @property
    def keys(self) -> list[Key]:
        return [term.key for term in self.terms]

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest sum that can occur."""
        return ends_of((term.factor, term.grid) for term in self.terms)

    def verdict(self, spans: Callable[[Key], tuple[Ints, Ints]]) -> Verdicts:
        """Whether the condition holds nowhere, somewhere or everywhere in boxes, given by spans of codes.

        For single codes of several places it is one or the other, see above.
        """
        least: Ints = np.zeros((), dtype=np.int64)
        most, whole, some, single = least, np.array(True), np.array(True), np.array(True)
        for term in self.terms:
            lo, hi = spans(term.key)
            single = single & (hi - lo == 1)
            first, end = term.places(lo, hi)
            inside = np.minimum(end, term.grid)
            whole, some = whole & (end <= term.grid), some & (inside > first)
            low, high = term.reach(first, inside)
            least, most = least + low, most + high
        within, beside = np.array(True), np.array(False)
        if self.low is not None:
            within, beside = within & (least >= self.low), beside | (most < self.low)
        if self.high is not None:
            within, beside = within & (most <= self.high), beside | (least > self.high)
        verdict = (SOMEWHERE + (whole & within).astype(np.int8) - (~some | beside).astype(np.int8)).astype(np.int8)
        return np.where(single & (verdict == SOMEWHERE), EVERYWHERE if self.touched else NOWHERE, verdict)

    def holds(self, codes: Callable[[Key], Codes]) -> Bools:
        """For each record, or each combination of cells, whether the condition holds."""
        return self.verdict(lambda key: _single(codes(key))) == EVERYWHERE

    def opposite(self) -> tuple[Linear, ...]:
        """The conditions of which one holds where this one does not although all columns have a value."""
        below = [] if self.low is None else [replace(self, low=None, high=self.low - 1)]
        above = [] if self.high is None else [replace(self, low=self.high + 1, high=None)]
        return (*below, *above)

    def bounds_of(self, key: Key) -> tuple[int, int]:
        """The first place of a column at which the condition can hold, and the place after the last."""
        mine = next(term for term in self.terms if term.key == key)
        least, most = self.range
        low, high = sorted((0, mine.factor * (mine.grid - 1)))
        first, last = least if self.low is None else self.low, most if self.high is None else self.high
        first, last = first - (most - high), last - (least - low)  # what is left for the column at most
        if mine.factor < 0:
            first, last = -last, -first
        step = abs(mine.factor)
        return max(0, -(-first // step)), min(mine.grid, last // step + 1)

    def changes(self, key: Key, codes: Callable[[Key], Codes]) -> list[Ints]:
        """Codes of a column, for each record, between which the condition does not change, given the other columns."""
        mine = next((term for term in self.terms if term.key == key), None)
        if mine is None:
            return []
        others = [term.reach(*term.places(*_single(codes(term.key)))) for term in self.terms if term is not mine]
        found = []
        for rest in (sum(low for low, _ in others), sum(high for _, high in others)):
            for bound in (self.low, self.high):
                if bound is not None:
                    place = (np.asarray(bound - rest) // mine.factor) // mine.width
                    found += [place, place + 1, place + 2]
        return found


def ends_of(terms: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The smallest and the largest sum of places of grids, each times a factor."""
    ends = [sorted((0, factor * (grid - 1))) for factor, grid in terms]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _single(codes: Codes) -> tuple[Ints, Ints]:
    """Single codes as spans."""
    first = np.asarray(codes).astype(np.int64)
    return first, first + 1


def reduced(terms: tuple[Term, ...], low: int | None, high: int | None, left: int = 0) -> Linear:
    """The condition with the smallest factors."""
    common = gcd(*(term.factor for term in terms))
    return Linear(
        tuple(replace(term, factor=term.factor // common) for term in terms),
        None if low is None else -(-low // common),
        None if high is None else high // common,
        left=left,
    )


FEW_SPANS = 6
"""Up to this many spans, comparing codes with all of them takes less time than a search."""


@dataclass(frozen=True)
class CodeSet:
    """Some of the codes 0 .. size - 1, as ascending spans: first[0], end[0], first[1], end[1], …

    >>> CodeSet.span(2, 5, 10).complement().edges
    (0, 2, 5, 10)
    """

    edges: tuple[int, ...]
    size: int

    @staticmethod
    def span(first: int, end: int, size: int) -> CodeSet:
        """The codes from `first` to below `end`, cut at 0 and size."""
        first, end = max(0, first), min(size, end)
        return CodeSet((first, end) if first < end else (), size)

    @staticmethod
    def of(codes: Iterable[int], size: int) -> CodeSet:
        """The listed codes."""
        edges: list[int] = []
        for code in sorted(set(codes)):
            if edges and edges[-1] == code:
                edges[-1] = code + 1
            else:
                edges += [code, code + 1]
        return CodeSet(tuple(edges), size)

    def complement(self) -> CodeSet:
        """All other codes."""
        ends = [0, *self.edges, self.size]
        pairs = zip(ends[::2], ends[1::2], strict=True)
        return CodeSet(tuple(edge for first, end in pairs if first < end for edge in (first, end)), self.size)

    def union(self, other: CodeSet) -> CodeSet:
        merged: list[int] = []
        for first, end in sorted([*self.spans(), *other.spans()]):
            if merged and first <= merged[-1]:
                merged[-1] = max(merged[-1], end)
            else:
                merged += [first, end]
        return CodeSet(tuple(merged), self.size)

    def intersection(self, other: CodeSet) -> CodeSet:
        return self.complement().union(other.complement()).complement()

    def spans(self) -> Iterator[tuple[int, int]]:
        return zip(self.edges[::2], self.edges[1::2], strict=True)

    def __len__(self) -> int:
        return sum(end - first for first, end in self.spans())

    def holds(self, codes: Codes) -> Bools:
        """For each code whether it is in the set."""
        if len(self.edges) <= 2 * FEW_SPANS:
            inside: Bools = np.zeros(np.shape(codes), dtype=np.bool_)
            for first, end in self.spans():
                inside = inside | ((codes >= first) & (codes < end))
            return inside
        return np.searchsorted(self._edges, codes, side="right") % 2 == 1

    def below(self, codes: Codes) -> Ints:
        """For each code how many codes of the set are smaller."""
        place = np.searchsorted(self._edges, codes, side="left")
        before, starts = self._wholes
        return before[place] + place % 2 * (codes - starts[place])

    def share(self, first: Codes, end: Codes) -> Floats:
        """The share of each span of codes that is in the set."""
        return (self.below(end) - self.below(first)) / np.maximum(1, np.asarray(end) - np.asarray(first))

    @cached_property
    def _edges(self) -> Ints:
        return np.array(self.edges, dtype=np.int64)

    @cached_property
    def _wholes(self) -> tuple[Ints, Ints]:
        """For 0 and each edge, the number of codes in the spans that end there or before, and the edge."""
        edges = np.array([0, *self.edges], dtype=np.int64)
        return np.cumsum(np.diff(edges, prepend=0) * (np.arange(len(edges)) % 2 == 0)), edges


AnySet = CodeSet | Area
"""Some of the codes of a column."""


@dataclass(frozen=True)
class OneColumn:
    """The question whether the code of one column is in a set."""

    key: Key
    codes: AnySet

    @property
    def keys(self) -> list[Key]:
        return [self.key]


@dataclass(frozen=True)
class Joined:
    """The question whether all parts hold (`every`) or at least one does. With no parts, it always or never holds."""

    every: bool
    parts: tuple[Question, ...]


Question = OneColumn | Linear | Joined
Box = dict[Key, AnySet]
"""For some columns the codes that a record may have."""

EVERYTHING, NOTHING = Joined(True, ()), Joined(False, ())


def join(every: bool, parts: Iterable[Question]) -> Question:
    """The parts joined; conditions on the same column become one, but for areas of a map."""
    columns: dict[Key, CodeSet] = {}
    others: list[Question] = []
    for part in parts:
        inner = part.parts if isinstance(part, Joined) and part.every == every else (part,)
        for one in inner:
            if isinstance(one, OneColumn) and isinstance(one.codes, CodeSet):
                before = columns.get(one.key)
                merge = CodeSet.intersection if every else CodeSet.union
                columns[one.key] = one.codes if before is None else merge(before, one.codes)
            else:
                others.append(one)
    joined = (*(OneColumn(key, codes) for key, codes in columns.items()), *others)
    return joined[0] if len(joined) == 1 else Joined(every, joined)


def is_box(question: Question) -> bool:
    """Whether a question is one set of codes per column, joined by `and`; its hull is then the question itself."""
    parts = question.parts if isinstance(question, Joined) and question.every else (question,)
    return all(isinstance(part, OneColumn) and isinstance(part.codes, CodeSet) for part in parts)


def conditions(question: Question) -> Iterator[OneColumn | Linear]:
    """The single conditions that a question joins."""
    if isinstance(question, Joined):
        for part in question.parts:
            yield from conditions(part)
    else:
        yield question


def areas_in(question: Question) -> list[tuple[Key, Area]]:
    """All areas of maps in a question, with the column of each."""
    every = [one for one in conditions(question) if isinstance(one, OneColumn)]
    return [(one.key, one.codes) for one in every if isinstance(one.codes, Area)]


def sums_in(question: Question) -> list[Linear]:
    """All conditions on sums of columns in a question."""
    return [one for one in conditions(question) if isinstance(one, Linear)]


def changed(question: Question, change: Callable[[OneColumn | Linear], Question]) -> Question:
    """The question with every condition replaced, and conditions on the same column joined."""
    if isinstance(question, Joined):
        return join(question.every, [changed(part, change) for part in question.parts])
    return change(question)


def recoded(
    question: Question, codes: Callable[[Key, AnySet], AnySet], terms: Callable[[Term], Term] = lambda term: term
) -> Question:
    """The question with every set of codes and every term of a sum replaced; questions know no `not`."""
    if isinstance(question, Joined):
        return Joined(question.every, tuple(recoded(part, codes, terms) for part in question.parts))
    if isinstance(question, Linear):
        return replace(question, terms=tuple(map(terms, question.terms)))
    return OneColumn(question.key, codes(question.key, question.codes))


def negated(question: Question) -> Question:
    """The question that holds where this one does not."""
    if isinstance(question, OneColumn):
        return OneColumn(question.key, question.codes.complement())
    if isinstance(question, Linear):
        gaps = [CodeSet.span(term.values, term.size, term.size) for term in question.terms]
        missing = [OneColumn(term.key, codes) for term, codes in zip(question.terms, gaps, strict=True) if len(codes)]
        return join(False, [*question.opposite(), *missing])
    return Joined(not question.every, tuple(negated(part) for part in question.parts))


def columns_of(question: Question) -> list[Key]:
    """The columns that a question is about, each once."""
    return list(dict.fromkeys(key for one in conditions(question) for key in one.keys))


def holds(question: Question, codes: Callable[[Key], Codes]) -> Bools:
    """For each record whether the question holds, given the codes of its columns (arrays that broadcast)."""
    if isinstance(question, OneColumn):
        return question.codes.holds(codes(question.key))
    if isinstance(question, Linear):
        return question.holds(codes)
    result: Bools = np.array(question.every)
    for part in question.parts:
        result = result & holds(part, codes) if question.every else result | holds(part, codes)
    return result


def edges_of(question: Question, key: Key) -> set[int]:
    """All edges of the sets of codes of one column, without the ends of the column. Of a sum it is only where null
    begins."""
    found = set[int]()
    for one in conditions(question):
        if isinstance(one, Linear):
            found |= {term.values for term in one.terms if term.key == key and term.values < term.size}
        elif one.key == key:
            found |= set(one.codes.edges) - {0, one.codes.size}
    return found


def hull(question: Question) -> Box:
    """For some columns the codes outside of which the question cannot hold; exact if the question joins columns only by
    `and`."""
    if isinstance(question, OneColumn):
        return {question.key: question.codes}
    if isinstance(question, Linear):
        return {term.key: CodeSet.span(*question.bounds_of(term.key), term.size) for term in question.terms}
    inner = [hull(part) for part in question.parts]
    sets = {key: [part[key] for part in inner if key in part] for one in inner for key in one}
    some = {key: each for key, each in sets.items() if question.every or len(each) == len(inner)}
    return {key: reduce(_both if question.every else _either, each) for key, each in some.items()}


def _both(one: AnySet, other: AnySet) -> AnySet:
    """The codes in both sets; an area holds what it has in common with another set."""
    if isinstance(one, Area) or isinstance(other, Area):
        return one if isinstance(one, Area) else other
    return one.intersection(other)


def _either(one: AnySet, other: AnySet) -> AnySet:
    """The codes in one of the sets; all codes beside an area."""
    if isinstance(one, Area) or isinstance(other, Area):
        return CodeSet.span(0, one.size, one.size)
    return one.union(other)
