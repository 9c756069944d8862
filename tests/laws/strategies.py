"""Test data for the laws: small tables, random cuts, and a domain for whole runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cantle.schema.domain import Attribute, Domain, Labels, Steps
from cantle.trusted.core.budget import Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import BoxRule, Cuts, Frontier, Slices, cut_counts
from cantle.trusted.noise import Noise, Seeded


def word_engine(codes: np.ndarray, classes: np.ndarray, **options: Any) -> WordEngine:
    """The engine of tables over rows of codes (records, attributes)."""
    return WordEngine([(list(codes.T), classes)], **options)


@dataclass(frozen=True)
class Table:
    """Records as plain tuples (codes..., class) over a public domain."""

    sizes: tuple[int, ...]
    classes: int
    records: tuple[tuple[int, ...], ...]

    @property
    def codes(self) -> np.ndarray:
        return self.codes_as(np.uint8 if max(self.sizes, default=0) <= 256 else np.uint16)

    def codes_as(self, kind: Any) -> np.ndarray:
        return np.array([r[:-1] for r in self.records], dtype=kind).reshape(len(self.records), len(self.sizes))

    @property
    def labels(self) -> np.ndarray:
        return np.array([r[-1] for r in self.records], dtype=np.uint8)

    def engine(self, **options: Any) -> WordEngine:
        return word_engine(self.codes, self.labels, sizes=self.sizes, class_count=self.classes, **options)

    def curator(self, epsilon_nano: int, *, unit: Unit | None = None, noise: Noise | None = None) -> Curator:
        return Curator(self.engine(), Budget(epsilon_nano, unit or Unit()), noise or Seeded(1))

    def inside(self, lo: np.ndarray, hi: np.ndarray) -> list[tuple[int, ...]]:
        """The records of a box, by the definition of a box."""
        return [record for record in self.records if in_box(lo, hi, record[:-1], self.sizes)]


def tables(
    *, max_attributes: int = 3, max_size: int = 5, max_classes: int = 3, max_records: int = 12
) -> st.SearchStrategy[Table]:
    """Small tables, including empty ones and those with a single class."""

    @st.composite
    def build(draw: st.DrawFn) -> Table:
        sizes = tuple(draw(st.lists(st.integers(1, max_size), min_size=1, max_size=max_attributes)))
        classes = draw(st.integers(1, max_classes))
        record = st.tuples(*(st.integers(0, size - 1) for size in sizes), st.integers(0, classes - 1))
        return Table(sizes, classes, tuple(draw(st.lists(record, max_size=max_records))))

    return build()


def in_box(lo: np.ndarray, hi: np.ndarray, point: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Whether a point is in a box, whose spans beyond the codes of a column stand for sets of them."""
    sides = zip(lo.tolist(), point, hi.tolist(), sizes, strict=True)
    return all(a <= v < b if b <= size else v in value_sets.CODE[a:b].tolist() for a, v, b, size in sides)


def cuts_of(draw: st.DrawFn, nodes: Frontier) -> Cuts:
    """A random cut strictly inside every region; every region must have a possible cut."""
    attribute, point = [], []
    for lo, hi, able in zip(nodes.lo, nodes.hi, cut_counts(nodes) > 0, strict=True):
        a = draw(st.sampled_from(np.flatnonzero(able).tolist()))
        attribute.append(a)
        point.append(draw(st.integers(int(lo[a]) + 1, int(hi[a]) - 1)))
    return Cuts(np.array(attribute, dtype=np.int64), np.array(point, dtype=np.int64))


def slices_of(draw: st.DrawFn, nodes: Frontier) -> Slices:
    """Random cuts of one attribute strictly inside every region; every region must have a possible cut."""
    attribute, points = [], []
    for lo, hi, able in zip(nodes.lo, nodes.hi, cut_counts(nodes) > 0, strict=True):
        a = draw(st.sampled_from(np.flatnonzero(able).tolist()))
        attribute.append(a)
        points.append(sorted(draw(st.sets(st.integers(int(lo[a]) + 1, int(hi[a]) - 1), min_size=1))))
    return slices(attribute, points)


def slices(attribute: list[int], points: list[list[int]]) -> Slices:
    """The rule that cuts each region at its list of points."""
    starts = np.cumsum([0, *map(len, points)], dtype=np.int64)
    flat = np.array([point for one in points for point in one], dtype=np.int64)
    return Slices(np.array(attribute, dtype=np.int64), starts, flat)


def set_cuts_of(draw: st.DrawFn, nodes: Frontier, sizes: tuple[int, ...]) -> Cuts:
    """Random divisions of the sets of small columns, and cuts at points of the others."""
    rows = []
    for lo, hi, able in zip(nodes.lo, nodes.hi, cut_counts(nodes) > 0, strict=True):
        a = draw(st.sampled_from(np.flatnonzero(able).tolist()))
        if sizes[a] <= value_sets.MOST and (hi[a] > sizes[a] or draw(st.booleans())):
            inside = value_sets.CODE[lo[a] : hi[a]].tolist()
            part = draw(st.sets(st.sampled_from(inside), min_size=1, max_size=len(inside) - 1))
            rows.append((a, draw(st.integers(-1, 6)), sum(1 << code for code in part)))
        else:
            rows.append((a, draw(st.integers(int(lo[a]) + 1, int(hi[a]) - 1)), 0))
    return Cuts(*np.array(rows, dtype=np.int64).reshape(len(rows), 3).T.copy())


def rule_of(draw: st.DrawFn, nodes: Frontier, sizes: tuple[int, ...] = ()) -> BoxRule:
    """A random rule for these regions; sets of values are divided only if the sizes of the columns are given."""
    if sizes and ((nodes.hi > sizes).any() or draw(st.booleans())):
        return set_cuts_of(draw, nodes, sizes)
    return draw(st.sampled_from([cuts_of, slices_of]))(draw, nodes)


def able(nodes: Frontier) -> np.ndarray:
    """Which regions can still be cut."""
    return cut_counts(nodes).sum(axis=1) > 0


def all_records(sizes: tuple[int, ...], classes: int) -> list[tuple[int, ...]]:
    """Every possible record of a domain."""
    return list(product(*(range(size) for size in sizes), range(classes)))


def all_tables(sizes: tuple[int, ...], classes: int, most: int) -> Iterator[Table]:
    """Every table (a multiset of records) of up to `most` records."""
    for n in range(most + 1):
        for records in combinations_with_replacement(all_records(sizes, classes), n):
            yield Table(sizes, classes, records)


def public_domain(*, target: int = 2) -> Domain:
    """A domain for whole runs: two numbers, a category, and a class unless `target` is 0."""
    attributes = (
        Attribute("age", Steps(type="integer", first=0, step=1, grid=16), nullable=False),
        Attribute("pay", Steps(type="integer", first=0, step=10, grid=9), nullable=True),
        Attribute("job", Labels(type="string", labels=("a", "b", "c")), nullable=False),
    )
    names = ("age", "pay", "job")
    if not target:
        return Domain(attributes, None, names)
    kind = Attribute("kind", Labels(type="string", labels=tuple(f"k{i}" for i in range(target))), nullable=False)
    return Domain(attributes, kind, (*names, "kind"))
