"""Every record is in exactly one child region, children partition their parents, and candidates count both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.trusted.claims.cut_candidates import CUT_CANDIDATES, AllCuts, CutsOf
from cantle.trusted.claims.queries import Histogram, Size
from cantle.trusted.claims.scores import BALANCE
from cantle.trusted.core.keys import OneWays
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import BoxRule, Cuts, Frontier, Slices, cut_counts
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions, unrank
from tests.effort import examples
from tests.laws.strategies import Table, able, all_tables, in_box, rule_of, slices, tables


@st.composite
def levels(draw: st.DrawFn) -> tuple[Table, list[tuple[Frontier, BoxRule, Frontier]]]:
    """A table and a random walk down the tree: (regions, their rule, children) level by level."""
    table = draw(tables(max_records=10))
    nodes, walk, first = Frontier.root(table.sizes), [], 1
    for _ in range(draw(st.integers(1, 4))):
        nodes = nodes.take(able(nodes))
        nodes = nodes.take(
            np.array(draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes))), dtype=bool)
        )
        if not len(nodes):
            break
        rule = rule_of(draw, nodes, table.sizes)
        children = rule.children(nodes, first)
        walk.append((nodes, rule, children))
        nodes, first = children, first + len(children)
    return table, walk


def misplaced(nodes: Frontier, rule: BoxRule, children: Frontier, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The points of the domain of which a region's child does not hold exactly those that the rule sends there."""
    found = []
    for i in range(len(nodes)):
        for point in product(*(range(size) for size in sizes)):
            inside = [
                k
                for k in range(len(children))
                if children.parent[k] == nodes.ids[i] and in_box(children.lo[k], children.hi[k], point, sizes)
            ]
            sent = rule.child(np.array([i]), np.array([point[rule.attribute[i]]])).tolist()
            if inside != (sent if in_box(nodes.lo[i], nodes.hi[i], point, sizes) else []):
                found.append(point)
    return found


@given(levels())
def test_a_record_of_a_region_is_in_exactly_one_child_which_the_rule_names(case) -> None:
    """This is tried on every point of the domain, not only on those in the data."""
    table, walk = case
    for nodes, rule, children in walk:
        assert misplaced(nodes, rule, children, table.sizes) == []


@given(levels())
def test_children_are_not_empty_and_lie_in_the_order_of_their_parents(case) -> None:
    _, walk = case
    for nodes, rule, children in walk:
        assert rule.fits(nodes)
        assert (children.hi > children.lo).all()
        assert children.parent.tolist() == np.repeat(nodes.ids, rule.times(nodes)).tolist()
        assert children.depth == nodes.depth + 1
        assert len(children) == rule.number


def all_slices(size: int) -> Iterator[list[int]]:
    """Every list of points strictly inside a column."""
    return (list(points) for n in range(1, size) for points in combinations(range(1, size), n))


SMALL = (4, 2)


def routed_wrongly(records: int) -> list[tuple[Table, list[int]]]:
    """The tables of up to this many records of a small domain, and slices of its first column, of which the engine puts
    some record in a child whose box does not hold it, or in none (Claim 59)."""
    root, wrong = Frontier.root(SMALL), []
    for table, points in product(all_tables(SMALL, 1, records), all_slices(SMALL[0])):
        engine, rule = table.engine(), slices([0], [points])
        engine.split(np.array([0]), rule)
        children = rule.children(root, 1)
        key = OneWays((0, 1), SMALL, 1)
        found = [row.tolist() for _, _, counts in engine.tally(np.arange(len(children)), key) for row in counts]
        inside = [
            [record[:2] for record in table.inside(lo, hi)] for lo, hi in zip(children.lo, children.hi, strict=True)
        ]
        if found != [
            [sum(one[a] == code for one in mine) for a in (0, 1) for code in range(SMALL[a])] for mine in inside
        ]:
            wrong.append((table, points))
    return wrong


def test_slices_put_every_record_of_every_small_table_in_its_box() -> None:
    assert routed_wrongly(3) == []


@pytest.mark.parametrize(("name", "broken"), [
    ("off by one", lambda self, node, codes: Slices.child(self, node, np.asarray(codes) - 1)),
    ("in the wrong order", lambda self, node, codes: self.number - 1 - Slices.child(self, node, codes)),
    ("the last child twice", lambda self, node, codes: np.minimum(Slices.child(self, node, codes), 1)),
])  # fmt: skip
def test_wrong_routing_is_noticed(name: str, broken, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    sound = Slices.child
    monkeypatch.setattr(Slices, "child", lambda *asked: _with(sound, broken, *asked))
    assert routed_wrongly(1)


def _with(sound, broken, *asked):
    """The broken form, which calls the sound one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Slices, "child", sound)
        return broken(*asked)


@pytest.mark.parametrize(("starts", "points"), [
    ([0, 1], [0]), ([0, 1], [4]), ([0, 2], [2, 2]), ([0, 2], [3, 1]), ([0, 0], []), ([0, 2], [1]), ([1, 2], [1, 2]),
    ([0, 1, 2], [1, 2]), ([0, -1], [1]),
])  # fmt: skip
def test_slices_outside_a_region_or_out_of_order_do_not_fit(starts: list[int], points: list[int]) -> None:
    column, root = np.zeros(1, np.int64), Frontier.root(SMALL)
    assert not Slices(column, np.array(starts, dtype=np.int64), np.array(points, dtype=np.int64)).fits(root)
    assert not Slices(column, np.array([0, 1]), np.array([1.0])).fits(root)
    assert not Slices(column + 2, np.array([0, 1]), np.array([1])).fits(root)
    assert Slices(column, np.array([0, 3]), np.array([1, 2, 3])).fits(root)


def divided_wrongly(records: int) -> list[tuple[Table, int]]:
    """The tables of up to this many records of a column of four values, and parts of these, of which the engine puts
    some record in a child whose set does not have its code, or in none (Claim 70)."""
    root, wrong = Frontier.root((4,)), []
    for table, left in product(all_tables((4,), 1, records), range(1, 15)):
        engine, rule = table.engine(), Cuts(np.array([0]), np.array([0]), np.array([left]))
        engine.split(np.array([0]), rule)
        children = rule.children(root, 1)
        ((_, _, counts),) = engine.tally(np.arange(2), OneWays((0,), (4,), 1))
        for lo, hi, found in zip(children.lo, children.hi, counts.tolist(), strict=True):
            inside = [code for code, _ in table.inside(lo, hi)]
            if found != np.bincount(inside, minlength=4).tolist():
                wrong.append((table, left))
    return wrong


def test_divisions_put_every_record_of_every_small_table_in_its_set() -> None:
    assert divided_wrongly(3) == []


def test_wrong_divisions_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Cuts.child
    monkeypatch.setattr(Cuts, "child", lambda self, node, codes: sound(self, node, np.asarray(codes) ^ 1))
    assert divided_wrongly(1)


def test_every_set_has_a_span_of_its_own() -> None:
    every = np.arange(1, 1 << value_sets.MOST)
    lo, hi = value_sets.spans_of(every)
    assert value_sets.sets_of(lo, hi).tolist() == every.tolist()
    for number, a, b in zip(every.tolist(), lo.tolist(), hi.tolist(), strict=True):
        assert value_sets.CODE[a:b].tolist() == [code for code in range(8) if number >> code & 1]
    spans = np.array([(a, b) for a in range(-2, len(value_sets.CODE) + 3) for b in range(a, a + 10)])
    found = value_sets.sets_of(spans[:, 0], spans[:, 1])
    known = set(zip(lo.tolist(), hi.tolist(), strict=True))
    assert {tuple(span) for span in spans[found > 0].tolist()} == known


@pytest.mark.parametrize(("column", "left"), [(0, -1), (0, 0b1111), (0, 0b10000), (1, 0b11), (2, 1), (0, 256)])
def test_sets_outside_a_region_do_not_fit(column: int, left: int) -> None:
    root = Frontier.root(SMALL)
    assert not Cuts(np.array([column]), np.array([0]), np.array([left])).fits(root)
    assert not Cuts(np.array([0]), np.array([0]), np.array([1.0])).fits(root)
    assert Cuts(
        np.array(
            [
                0,
            ]
        ),
        np.array([0]),
        np.array([0b1010]),
    ).fits(root)
    below = Cuts(np.array([0]), np.array([0]), np.array([0b1010])).children(root, 1)
    assert not Cuts(np.array([0, 0]), np.array([0, 0]), np.array([0b0010, 0b0010])).fits(below)
    assert Cuts(np.array([0, 1]), np.array([0, 1]), np.array([0b0010, 0])).fits(below)


@given(levels())
def test_the_engine_keeps_each_record_in_its_box(case) -> None:
    """At every level, the engine's regions are those of the public geometry."""
    table, walk = case
    engine, nodes = table.engine(), Frontier.root(table.sizes)
    for asked, rule, children in walk:
        engine.split(np.flatnonzero(np.isin(nodes.ids, asked.ids)), rule)
        nodes = children
        for first, last, counts in engine.tally(np.arange(len(nodes)), Histogram(table.classes)):
            for i in range(first, last):
                inside = [r[-1] for r in table.inside(nodes.lo[i], nodes.hi[i])]
                assert counts[i - first].tolist() == np.bincount(inside, minlength=table.classes).tolist()


def candidates_for(draw: st.DrawFn, table: Table, nodes: Frontier, kind: type):
    """Candidates of one kind for these regions, with or without the class."""
    classes = draw(st.sampled_from(sorted({1, table.classes})))
    literal = draw(st.booleans())
    sets = draw(st.sampled_from(sets_for(nodes, table.sizes)))
    if kind is AllCuts:
        return AllCuts(table.sizes, classes, literal, sets)
    attribute = [draw(st.sampled_from(np.flatnonzero(row > 0).tolist())) for row in cut_counts(nodes)]
    return CutsOf(
        np.array(attribute, dtype=np.int64), max(table.sizes) + draw(st.integers(0, 2)), classes, literal, sets
    )


def sets_for(nodes: Frontier, sizes: tuple[int, ...]) -> list[tuple[bool, ...]]:
    """Which columns may have candidates that divide their sets: those of which a region already is a set must have."""
    must = (nodes.hi > sizes).any(axis=0).tolist()
    several = [tuple(must), tuple(True for _ in sizes), tuple(one or a % 2 == 0 for a, one in enumerate(must))]
    return several if any(must) else [(), *several]


def divisions(lo: int, hi: int) -> set[int]:
    """All ways to divide a set of codes in two, each as the part with the lowest code."""
    first, *others = value_sets.CODE[lo:hi].tolist()
    parts = (some for n in range(len(others)) for some in combinations(others, n))
    return {1 << first | sum(1 << code for code in part) for part in parts}


@given(levels(), st.data())
def test_sides_are_the_counts_left_and_right_of_each_cut(case, data) -> None:
    """Counts of the engine, in chunks, are compared with counting the records of the box one by one."""
    table, walk = case
    engine, nodes = table.engine(chunk_cells=data.draw(st.integers(1, 60))), Frontier.root(table.sizes)
    for asked, cuts, children in walk:
        engine.split(np.flatnonzero(np.isin(nodes.ids, asked.ids)), cuts)
        nodes = children
    positions = np.flatnonzero(able(nodes))
    nodes = nodes.take(positions)
    for kind in CUT_CANDIDATES:
        candidates = candidates_for(data.draw, table, nodes, kind)
        number = candidates.counts(nodes)
        for first, last, counts in engine.tally(positions, candidates.key):
            left, right = candidates.sides(nodes, first, counts)
            assert len(left) == len(right) == number[first:last].sum()
            row = 0
            for i in range(first, last):
                for choice in range(number[i]):
                    chosen = np.zeros(len(nodes), np.int64)
                    chosen[i] = choice
                    cut = candidates.cuts(nodes, chosen)
                    sides = [np.zeros(candidates.classes, int), np.zeros(candidates.classes, int)]
                    for record in table.inside(nodes.lo[i], nodes.hi[i]):
                        side = int(cut.child(np.array([i]), np.array([record[cut.attribute[i]]]))[0]) - 2 * i
                        sides[side][record[-1] if candidates.classes > 1 else 0] += 1
                    assert [left[row].tolist(), right[row].tolist()] == [side.tolist() for side in sides]
                    row += 1


@given(levels(), st.data())
def test_choices_are_the_distinct_cuts_strictly_inside_the_region(case, data) -> None:
    table, walk = case
    for nodes, _, _ in walk:
        for kind in CUT_CANDIDATES:
            candidates = candidates_for(data.draw, table, nodes, kind)
            number = candidates.counts(nodes)
            seen: list[set[tuple[int, int, int]]] = [set() for _ in range(len(nodes))]
            for choice in range(number.max()):
                cuts = candidates.cuts(nodes, np.minimum(choice, number - 1))
                assert cuts.fits(nodes)
                left = [0] * len(nodes) if cuts.left is None else cuts.left.tolist()
                for i, cut in enumerate(zip(cuts.attribute.tolist(), cuts.point.tolist(), left, strict=True)):
                    if choice < number[i]:
                        assert cut not in seen[i]
                        seen[i].add(cut)
            for i, cuts_seen in enumerate(seen):
                columns = range(len(table.sizes)) if kind is AllCuts else [candidates.attribute[i]]
                divided = {a for a in columns if candidates.sets and candidates.sets[a]}
                expected = {
                    (a, point, 0)
                    for a in columns
                    for point in range(nodes.lo[i, a] + 1, nodes.hi[i, a])
                    if a not in divided
                }
                assert cuts_seen == expected | {
                    (a, 0, left) for a in divided for left in divisions(nodes.lo[i, a], nodes.hi[i, a])
                }


@given(levels(), st.data())
def test_weights_give_every_attribute_the_same_mass(case, data) -> None:
    table, walk = case
    for nodes, _, _ in walk:
        sets = data.draw(st.sampled_from(sets_for(nodes, table.sizes)))
        candidates = AllCuts(table.sizes, 1, sets=sets)
        weights, number = candidates.inverse_weights(nodes), candidates.counts(nodes)
        assert len(weights) == number.sum()
        for i, mine in enumerate(np.split(weights, np.cumsum(number)[:-1])):
            points = cut_counts(nodes)[i].tolist()
            each = [2**n - 1 if sets and sets[a] else n for a, n in enumerate(points)]
            assert mine.tolist() == [n for n in each for _ in range(n)]


@given(levels(), st.data())
def test_literal_candidates_all_have_the_weight_1(case, data) -> None:
    """However many regions the engine counts at a time."""
    table, walk = case
    engine, nodes = table.engine(chunk_cells=data.draw(st.integers(1, 60))), Frontier.root(table.sizes)
    for asked, cuts, children in walk:
        engine.split(np.flatnonzero(np.isin(nodes.ids, asked.ids)), cuts)
        nodes = children
    positions = np.flatnonzero(able(nodes))
    nodes = nodes.take(positions)
    for kind in CUT_CANDIDATES:
        candidates = replace(candidates_for(data.draw, table, nodes, kind), literal=True)
        seen = 0
        for scored in candidates.exact_scores(engine, positions, nodes, BALANCE):
            assert scored.inverse_weights.tolist() == [1] * len(scored.scores)
            assert np.diff(scored.starts).tolist() == candidates.counts(nodes)[scored.first : scored.last].tolist()
            seen += scored.last - scored.first
        assert seen == len(nodes)


@given(levels())
def test_a_cut_on_the_edge_or_off_the_domain_is_not_inside(case) -> None:
    table, walk = case
    for nodes, cuts, _ in walk:
        if not isinstance(cuts, Cuts) or cuts.left is not None:
            continue
        rows = np.arange(len(nodes))
        for point in (nodes.lo[rows, cuts.attribute], nodes.hi[rows, cuts.attribute]):
            assert not Cuts(cuts.attribute, point).fits(nodes)
        for attribute in (-1, len(table.sizes)):
            assert not Cuts(np.full(len(nodes), attribute), cuts.point).fits(nodes)


@given(tables(max_records=8), st.data())
def test_tallies_of_one_region_add_up_to_its_size(table: Table, data) -> None:
    engine, root = table.engine(), np.array([0])
    ((_, _, size),) = engine.tally(root, Size())
    attributes = tuple(data.draw(st.permutations(range(len(table.sizes)))))
    key = OneWays(attributes, tuple(table.sizes[a] for a in attributes), table.classes)
    ((_, _, counts),) = engine.tally(root, key)
    for offset, end in zip(key.offsets[:-1], key.offsets[1:], strict=True):
        assert counts[0, offset * key.classes : end * key.classes].sum() == size[0, 0] == len(table.records)


# ---- sets: partitions by hierarchy cuts -----------------------------------------------------------------------------


def sets_of(size: int, most: int) -> list[frozenset[int]]:
    """Every possible record of at most `most` items."""
    return [frozenset(record) for n in range(1, most + 1) for record in combinations(range(size), n)]


def leaves_under(tree: ItemTree, height: int, node: int) -> range:
    """The items under a node."""
    first, last = node, node + 1
    for edge in reversed(tree.edges[:height]):
        first, last = int(edge[first]), int(edge[last])
    return range(first, last)


def cut_of(parts: Partitions, i: int) -> list[range]:
    """The hierarchy cut of a partition, with every node given as the items under it."""
    height, taken = int(parts.height[i]), int(parts.taken[i])
    level = parts.level[parts.level_starts[i] : parts.level_starts[i + 1]].tolist()[taken:]
    below = parts.below[parts.below_starts[i] : parts.below_starts[i + 1]].tolist()
    return [leaves_under(parts.tree, height, node) for node in level] + [
        leaves_under(parts.tree, height - 1, node) for node in below
    ]


def in_cut(record: frozenset[int], cut: list[range]) -> bool:
    """Whether every node of the cut has an item of the record, and every item a node (Section 4.1 of the paper)."""
    return all(any(item in node for item in record) for node in cut) and all(
        any(item in node for node in cut) for item in record
    )


def all_kept(parts: Partitions, rows: list[int]) -> Kept:
    """Every sub-partition of the listed partitions."""
    pairs = [
        (row, int(mask))
        for row in rows
        for mask in sorted(unrank(np.arange(parts.patterns[row]), *(np.full(parts.patterns[row], a[row])
                                                                   for a in (parts.fan, parts.room))).tolist())
    ]  # fmt: skip
    return Kept(*(np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1)))


@st.composite
def item_trees(draw: st.DrawFn) -> tuple[ItemTree, int]:
    size = draw(st.integers(1, 6))
    tree = ItemTree.of(
        size, draw(st.integers(2, 6)), even=draw(st.booleans()), dice=draw(st.none() | st.integers(0, 99))
    )
    return tree, draw(st.integers(1, size))


@examples(24)
@given(item_trees())
def test_a_set_is_in_exactly_one_sub_partition_of_its_partition(case: tuple[ItemTree, int]) -> None:
    """This is tried on every set of the universe, with all expansions of all partitions, level by level."""
    tree, most = case
    records, parts = sets_of(tree.size, most), Partitions.root(tree, most)
    while len(parts):
        inner = np.flatnonzero(~parts.ends).tolist()
        kept = all_kept(parts, inner)
        assert kept.fits(parts)
        children = kept.children(parts, 100)
        cuts = [cut_of(children, k) for k in range(len(children))]
        for row in inner:
            mine = [record for record in records if in_cut(record, cut_of(parts, row))]
            below = [cut for cut, parent in zip(cuts, kept.rows.tolist(), strict=True) if parent == row]
            for record in mine:
                assert sum(in_cut(record, cut) for cut in below) == 1
            # M of docs/privacy.md, Sets, is exact: every numbered set of children occurs for some record.
            assert len(below) == parts.patterns[row]
            assert all(any(in_cut(record, cut) for record in mine) for cut in below)
        assert children.size.tolist() == [len(cut) for cut in cuts]
        parts = children


@examples(24)
@given(item_trees())
def test_leaves_are_the_sets_of_the_universe_each_once(case: tuple[ItemTree, int]) -> None:
    tree, most = case
    parts, sets = Partitions.root(tree, most), []
    while len(parts):
        ends = np.flatnonzero(parts.ends).tolist()
        leaves = all_kept(parts, ends)
        starts, items = parts.cut_items(leaves.rows, leaves.mask)
        sets += [tuple(items[a:b].tolist()) for a, b in zip(starts[:-1], starts[1:], strict=True)]
        assert all(sorted(set(leaf)) == list(leaf) for leaf in sets)
        parts = all_kept(parts, np.flatnonzero(~parts.ends).tolist()).children(parts, 0)
    assert sorted(sets) == sorted(tuple(sorted(record)) for record in sets_of(tree.size, most))


@examples(24)
@given(item_trees(), st.data())
def test_the_engine_keeps_each_set_in_its_cut(case: tuple[ItemTree, int], data) -> None:
    """The engine's counts are those of the public geometry, whatever is kept."""
    tree, most = case
    records = data.draw(st.lists(st.sampled_from(sets_of(tree.size, most)), max_size=10))
    starts = np.cumsum([0, *map(len, records)], dtype=np.int64)
    items = np.array([item for record in records for item in sorted(record)], dtype=np.int32)
    engine, parts = SetEngine(Ragged(starts, items), tree=tree, most=most), Partitions.root(tree, most)
    while len(parts):
        ((_, _, sizes),) = engine.tally(np.arange(len(parts)), Size())
        cuts = [cut_of(parts, i) for i in range(len(parts))]
        assert sizes[:, 0].tolist() == [sum(in_cut(record, cut) for record in records) for cut in cuts]
        every = all_kept(parts, np.flatnonzero(~parts.ends).tolist())
        some = np.array([data.draw(st.booleans()) for _ in every.rows], dtype=bool)
        kept = Kept(every.rows[some], every.mask[some])
        engine.split(np.arange(len(parts)), kept)
        parts = kept.children(parts, 0)
