"""Claims 67 to 69: files that differ in all rows of one key differ in one family, and a family has at most one whole
record, in parts, in every view. Brute force over small files, with the ranges attained."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import ParameterError
from cantle.trusted.bounding.families import Families, Order, as_children, families_of
from cantle.trusted.bounding.persons import with_persons
from cantle.trusted.claims.table_candidates import Distance, Heaviest, ViewSets
from cantle.trusted.claims.table_queries import ValueSearch
from cantle.trusted.claims.views import ViewSpikes, ViewTables
from cantle.trusted.core.admission import admit_candidates, admit_query, admit_threshold_query
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import CodeTable
from cantle.trusted.counting.families import FamilyEngine
from cantle.trusted.counting.stores import InMemory, OnDisk, Store
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.geometry.views import CHILDREN, FIRST, LATER, PARENTS, VIEWS, FamilyDomain

DOMAIN = FamilyDomain((2,), (3, 2), 3)
ORDER = Order(((0, 2, True),))  # the larger first, null (code 2) last
FAMILY = Unit(1, "family")
AT = np.zeros(1, dtype=np.int64)

Row = tuple[str, tuple[int, ...]]


def joined(parents: list[Row], children: list[Row], most: int = 3, order: Order = ORDER) -> Families:
    def keyed(rows: list[Row], width: int) -> pl.DataFrame:
        columns = [np.array([row[1][c] for row in rows], dtype=np.uint8) for c in range(width)]
        ids = pl.Series([row[0] for row in rows], dtype=pl.String)
        return with_persons(ids, columns, np.zeros(len(rows), dtype=np.uint8))

    domain = FamilyDomain((2,), (3, 2), most)
    return families_of([keyed(parents, 1), as_children(keyed(children, 2))], domain, order)


def listed(families: Families) -> list[tuple[Any, ...]]:
    """The families as tuples, in ascending order."""
    ends = np.cumsum(families.size)
    found = []
    for number, (end, size) in enumerate(zip(ends.tolist(), families.size.tolist(), strict=True)):
        children = [tuple(int(column[at]) for column in families.child) for at in range(end - size, end)]
        found.append((tuple(int(column[number]) for column in families.parent), tuple(children)))
    return sorted(found)


def by_hand(parents: list[Row], children: list[Row], most: int) -> list[tuple[Any, ...]]:
    """What families are, key by key, with a library function for the rule of Claim 40 only."""
    from cantle.trusted.bounding.persons import marks

    def first(rows: list[tuple[int, ...]], number: int) -> list[tuple[int, ...]]:
        columns = [np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True)]
        hashes = marks(columns, len(rows)).tolist()
        return [row for _, row in sorted(zip(hashes, rows, strict=True))][:number]

    found = []
    for key in {key for key, _ in parents}:
        own = [codes for other, codes in children if other == key]
        kept = first(own, most) if own else []
        kept.sort(key=lambda codes: -codes[0] if codes[0] != 2 else 9)
        found.append((first([codes for other, codes in parents if other == key], 1)[0], kept))
    return found


def files(dice: np.random.Generator, keys: int) -> tuple[list[Row], list[Row]]:
    """Files with keys that repeat, parents without children, and children without a parent."""
    parents: list[Row] = [(str(dice.integers(keys)), (int(dice.integers(2)),)) for _ in range(dice.integers(0, 6))]
    children: list[Row] = [
        (str(dice.integers(keys)), (int(dice.integers(3)), int(dice.integers(2)))) for _ in range(dice.integers(0, 12))
    ]
    return parents, children


def engine_of(families: Families, store: Store | None = None) -> FamilyEngine:
    return FamilyEngine([families], DOMAIN, store)


def within(view: int) -> ColumnCells:
    return ColumnCells(tuple(np.arange(size + 1) for size in DOMAIN.sizes(view)))


def table(view: int, *columns: int) -> CrossTable:
    return CrossTable(columns, tuple(np.arange(DOMAIN.sizes(view)[c], dtype=np.uint8) for c in columns))


def all_tables(view: int) -> tuple[CrossTable, ...]:
    columns = range(len(DOMAIN.sizes(view)))
    return tuple(table(view, *pair) for pair in product(columns, columns) if pair[0] < pair[1])


def counts(engine: FamilyEngine, key: ViewTables) -> np.ndarray:
    ((_, _, exact_counts),) = engine.tally(AT, key)
    return exact_counts[0]


def pairs_of_neighbours(number: int) -> list[tuple[Families, Families]]:
    """Pairs of files that differ in all rows of one key."""
    dice, pairs = np.random.default_rng(7), []
    for _ in range(number):
        parents, children = files(dice, 4)
        gone = str(dice.integers(4))
        fewer, left = ([row for row in rows if row[0] != gone] for rows in (parents, children))
        pairs.append((joined(fewer, left), joined(parents, children)))
    return pairs


# ---- Claim 67 ---------------------------------------------------------------------------------------------------


def test_families_are_what_the_claim_says() -> None:
    dice = np.random.default_rng(3)
    for _ in range(300):
        parents, children = files(dice, 4)
        most = int(dice.integers(1, 4))
        found = listed(joined(parents, children, most))
        want = sorted((parent, tuple(own)) for parent, own in by_hand(parents, children, most))
        # ties in the order are settled by the hash, which the comparison leaves open
        assert [(p, sorted(c)) for p, c in found] == [(p, sorted(c)) for p, c in want]
        assert [[one[0] for one in c] for _, c in found] == [[one[0] for one in c] for _, c in want]


def test_rows_of_one_key_change_one_family() -> None:
    for fewer, more in pairs_of_neighbours(400):
        left, right = listed(fewer), listed(more)
        assert len(right) - len(left) in (0, 1)
        for family in left:
            right.remove(family)  # all other families are there, unchanged
        assert len(right) <= 1


def test_the_order_of_rows_does_not_matter() -> None:
    dice = np.random.default_rng(5)
    for _ in range(100):
        parents, children = files(dice, 3)
        want = listed(joined(parents, children, 2))
        for rows in (parents, children):
            dice.shuffle(rows)
        assert listed(joined([(k, tuple(c)) for k, c in parents], [(k, tuple(c)) for k, c in children], 2)) == want


def test_a_new_parent_adopts_orphans_as_one_family() -> None:
    children: list[Row] = [("a", (0, 0)), ("a", (1, 1)), ("b", (1, 0))]
    assert listed(joined([], children)) == []
    assert len(listed(joined([("a", (1,))], children))) == 1


def test_null_comes_last_in_both_directions() -> None:
    children: list[Row] = [("a", (code, 0)) for code in (2, 0, 1)]
    for falls, want in ((True, [1, 0, 2]), (False, [0, 1, 2])):
        ((_, own),) = listed(joined([("a", (0,))], children, 3, Order(((0, 2, falls),))))
        assert [codes[0] for codes in own] == want


def test_the_size_is_that_of_the_cut_family() -> None:
    families = joined([("a", (0,))], [("a", (0, 0))] * 9, 3)
    assert families.size.tolist() == [3]


# ---- Claim 68 ---------------------------------------------------------------------------------------------------


def test_views_are_what_naive_counting_says() -> None:
    parents, children = files(np.random.default_rng(2), 3)
    parents += [("0", (1,)), ("1", (0,))]
    families = joined(parents, children + [("0", (1, 1))] * 2)
    want: dict[int, dict[tuple[int, ...], int]] = {view: {} for view in VIEWS}

    def add(view: int, record: tuple[int, ...], parts: int) -> None:
        want[view][record] = want[view].get(record, 0) + parts

    for parent, own in listed(families):
        size = len(own)
        add(PARENTS, (*parent, size), PARTS)
        for at, child in enumerate(own):
            add(CHILDREN, (*parent, size, *child), PARTS // size)
            if at == 0:
                add(FIRST, (*parent, size, *child), PARTS)
            else:
                stage = 2 if at > 1 else int(size > 2)
                add(LATER, (*parent, size - at, stage, *own[0], *own[at - 1], *child), PARTS // (size - 1))
    for store in (InMemory(), OnDisk()):
        engine = engine_of(families, store)
        for view in VIEWS:
            full = table(view, *range(len(DOMAIN.sizes(view))))
            exact = counts(engine, ViewTables(within(view), (full,), view=view)).reshape(full.shape)
            assert {tuple(map(int, at)): int(exact[tuple(at)]) for at in np.argwhere(exact)} == want[view]
            for column, size in enumerate(DOMAIN.sizes(view)):
                codes, parts = engine.view(view).occupied(CodeTable(column, size, 1))
                summed = exact.sum(axis=tuple(axis for axis in range(exact.ndim) if axis != column))
                assert dict(zip(codes.tolist(), parts.tolist(), strict=True)) == {
                    at: int(count) for at, count in enumerate(summed) if count
                }


@pytest.mark.parametrize("view", VIEWS)
def test_a_table_of_a_view_changes_by_at_most_one_record(view: int) -> None:
    tables, worst = all_tables(view), 0
    query = ViewTables(within(view), tables, view=view)
    for fewer, more in pairs_of_neighbours(150):
        change = np.abs(counts(engine_of(more), query.key) - counts(engine_of(fewer), query.key)).sum()
        worst = max(worst, int(change))
    assert worst == query.sensitivity(FAMILY) == len(tables) * PARTS


@pytest.mark.parametrize("most", [1, 2, 7, 11, 255])
def test_weights_of_a_family_add_up_to_at_most_one_record(most: int) -> None:
    domain = FamilyDomain((2,), (2,), most)
    sizes = np.arange(most + 1)
    for view, records in (
        (PARENTS, sizes * 0 + 1),
        (FIRST, np.minimum(sizes, 1)),
        (LATER, sizes - 1),
        (CHILDREN, sizes),
    ):
        together = domain.weights(view) * np.maximum(records, 0)
        assert (together <= PARTS).all()
        assert (domain.weights(view)[records > 0] > 0).all()


def test_frequent_values_and_trees_have_the_same_bound() -> None:
    sizes = DOMAIN.sizes(CHILDREN)
    search = ValueSearch(2, 3, ValueClasses(0, (1,)))
    spikes, worst = ViewSpikes((search,), sizes, CHILDREN), 0
    for fewer, more in pairs_of_neighbours(80):
        parts = []
        for families in (fewer, more):
            engine = engine_of(families)
            _, cells, found = spikes.occupied(engine, AT, engine.root())
            parts.append(np.bincount(cells, found, minlength=3))
        worst = max(worst, int(np.abs(parts[1] - parts[0]).sum()))
    assert worst == spikes.sensitivity(FAMILY) == PARTS


# ---- Claim 69 ---------------------------------------------------------------------------------------------------


def sets(seed: int) -> ViewSets:
    """All pairs of two views, with a random public model and penalties."""
    dice = np.random.default_rng(seed)
    keys = tuple(ViewTables(within(view), all_tables(view), view=view) for view in (FIRST, LATER))
    models = tuple(dice.integers(0, 3 * PARTS, one.cells) for key in keys for one in key.tables)
    return ViewSets(keys, models, dice.integers(-3, 9, len(models)), np.arange(len(models)))


def test_scores_of_views_have_the_range_of_parts() -> None:
    seen: list[int] = []
    for seed, (fewer, more) in enumerate(pairs_of_neighbours(60)):
        asked, scores = sets(seed), []
        for families in (fewer, more):
            engine = engine_of(families)
            domain: Any = engine.domain
            assert asked.fits(engine.root(), domain, Distance())
            (scored,) = asked.exact_scores(engine, AT, engine.root(), Distance())
            scores.append(scored.scores)
        seen += (scores[1] - scores[0]).tolist()
    assert (min(seen), max(seen)) == (-PARTS, PARTS)
    assert Distance().range * sets(0).margin == 2 * PARTS


def test_scores_are_exact_up_to_the_limit() -> None:
    """2^48 families in one cell, models that add up to almost 2^60, and the largest penalties (docs/privacy.md)."""
    parts, model = np.array([2**48 * PARTS, *[0] * 255]), np.full(256, 2**52 - 1)
    for counts_, penalty in ((parts, -(2**60)), (parts, 2**60), (parts * 0, 2**60), (parts * 0, -(2**60))):
        exact = sum(abs(a - b) for a, b in zip(counts_.tolist(), model.tolist(), strict=True)) - penalty
        assert abs(exact) < 2**62
        found = Distance().scores((counts_, np.array([0])), (model,), np.array([penalty]))
        assert found.tolist() == [exact]


def test_a_score_equals_its_definition() -> None:
    engine, asked = engine_of(pairs_of_neighbours(1)[0][1]), sets(4)
    (scored,) = asked.exact_scores(engine, AT, engine.root(), Distance())
    at = 0
    for key in asked.keys:
        exact, first = counts(engine, key), 0
        for one in key.tables:
            distance = int(np.abs(exact[first : first + one.cells] - asked.models[at]).sum())
            assert scored.scores[at] == distance - asked.penalties[at]
            at, first = at + 1, first + one.cells


# ---- admission --------------------------------------------------------------------------------------------------


def test_what_has_no_proof_for_families_is_refused() -> None:
    engine = engine_of(joined([("a", (0,))], []))
    root = engine.root()
    good = ViewTables(within(LATER), (table(LATER, 0),), view=LATER)
    admit_query(good, root, engine)
    for wrong in (
        ViewTables(within(LATER), (table(LATER, 0),), view=FIRST),
        ViewTables(within(LATER), (table(LATER, 0),), view=4),
        ViewTables(within(LATER), (table(LATER, 0),), view=True),
    ):
        with pytest.raises(ParameterError):
            admit_query(wrong, root, engine)
    with pytest.raises(ParameterError):
        good.sensitivity(Unit(3, "person"))
    with pytest.raises(ParameterError):
        admit_candidates(sets(1), Heaviest(), root, engine, FAMILY)
    admit_candidates(sets(1), Distance(), root, engine, FAMILY)
    search = ValueSearch(2, 3, ValueClasses(0, (1,)))
    admit_threshold_query(ViewSpikes((search,), DOMAIN.sizes(CHILDREN), CHILDREN), root, engine)
    with pytest.raises(ParameterError):
        admit_threshold_query(ViewSpikes((search,), DOMAIN.sizes(CHILDREN), PARENTS), root, engine)
