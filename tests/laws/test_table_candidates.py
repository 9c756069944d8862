"""Claims 45 to 48: the ranges of `mosaic`'s scores hold and are attained, over all small data sets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.claims.scores import SCALE
from cantle.trusted.claims.table_candidates import (
    TABLE_QUALITIES,
    Dependence,
    Distance,
    Heaviest,
    HeavyValues,
    Hubs,
    TableSets,
)
from cantle.trusted.claims.table_queries import CrossTables, ValueSearch
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry import subset
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.subset import Subset, copy_numbers
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.noise import Seeded
from tests.laws.tables_of_cells import POINTS, SIZES, TABLES, WITHIN, Records, all_records, engine_of, map_of

AT = np.zeros(1, dtype=np.int64)
LEFT = np.arange(len(TABLES))


def scores(candidates: Any, quality: Any, records: Records, sizes: tuple[int, ...] = SIZES) -> Any:
    engine = engine_of(records, sizes)
    assert candidates.fits(engine.root(), engine.domain, quality)
    (scored,) = candidates.exact_scores(engine, AT, engine.root(), quality)
    return scored


def sets(seed: int, share: Fraction = Fraction(1), left: Any = LEFT, **other: Any) -> TableSets:
    """A round with a random public model and penalties."""
    dice = np.random.default_rng(seed)
    models = tuple(dice.integers(0, 3, table.cells) for table in TABLES)
    key = CrossTables(WITHIN, TABLES, None if share == 1 else Subset(seed, share))
    candidates = TableSets((key,), models, dice.integers(-3, 9, len(TABLES)), left)
    return replace(candidates, **other)


def changes(candidates: Any, quality: Any, data: list[Records]) -> list[np.ndarray]:
    differences = []
    for records in data:
        before = scores(candidates, quality, records).scores
        differences += [
            scores(candidates, quality, tuple(sorted((*records, record)))).scores - before for record in POINTS[::2]
        ]
    return differences


@pytest.mark.parametrize("seed", range(4))
def test_the_distance_has_range_2(seed: int) -> None:
    differences = changes(sets(seed), Distance(), list(all_records(1)))
    assert {abs(int(change)) for difference in differences for change in difference} == {1}
    assert max(int(np.ptp(difference)) for difference in differences) == Distance().range == 2


def test_the_distance_equals_its_definition() -> None:
    records, now = tuple(POINTS[::2]), sets(5)
    engine = engine_of(records)
    ((_, _, counts),) = engine.tally(AT, now.keys[0])
    at = 0
    for number, table in enumerate(TABLES):
        part = counts[0, at : at + table.cells].tolist()
        by_hand = sum(abs(x - m) for x, m in zip(part, now.models[number].tolist(), strict=True))
        assert scores(now, Distance(), records).scores[number] == by_hand - now.penalties[number]
        at += table.cells


@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
def test_a_subset_keeps_the_range_whatever_the_seed(share: Fraction) -> None:
    """Claim 46: the subset gains one record or none."""
    seen = set()
    for seed in range(2):
        for difference in changes(sets(seed, share), Distance(), list(all_records(1, POINTS[::3]))):
            assert np.ptp(difference) <= 2
            assert (
                len({abs(int(change)) for change in difference}) == 1
            )  # either all tables gain the record or none does
            seen.add(abs(int(difference[0])))
    assert seen == {0, 1}


def test_the_position_of_a_record_does_not_matter() -> None:
    """A subset chosen by position would fail here: a record added in front would shift all others."""
    dice, asked = np.random.default_rng(1), sets(3, Fraction(1, 2))
    records = [POINTS[i] for i in dice.integers(0, len(POINTS), 60)]
    want = scores(asked, Distance(), tuple(records)).scores.tolist()
    for _ in range(5):
        dice.shuffle(records)
        assert scores(asked, Distance(), tuple(map(tuple, records))).scores.tolist() == want


def test_equal_records_take_part_independently() -> None:
    """If few records are distinct, a share of the copies takes part, and not all or none of them."""
    columns = [np.zeros(10_000, dtype=np.uint8)] * 3
    copy = copy_numbers(np.zeros((2, 10_000), dtype=np.uint64))
    assert sorted(copy.tolist()) == list(range(1, 10_001))
    part = Subset(7, Fraction(1, 4)).takes_part(columns, copy).mean()
    assert 0.22 < part < 0.28


def test_copies_are_numbered_among_equal_records() -> None:
    words = np.array([[5, 1, 5, 5, 1], [0, 2, 0, 1, 2]], dtype=np.uint64)
    assert sorted(zip(*words.tolist(), copy_numbers(words).tolist(), strict=True)) == [
        (1, 2, 1), (1, 2, 2), (5, 0, 1), (5, 0, 2), (5, 1, 1),
    ]  # fmt: skip


def test_unlike_records_of_equal_hash_are_numbered_separately(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting by a hash of the words alone would treat unlike records as copies of each other."""
    monkeypatch.setattr(subset, "scramble", lambda words: words)
    words = np.array([[5, 4, 5, 4], [4, 5, 4, 5]], dtype=np.uint64)
    assert sorted(zip(*words.tolist(), copy_numbers(words).tolist(), strict=True)) == [
        (4, 5, 1), (4, 5, 2), (5, 4, 1), (5, 4, 2),
    ]  # fmt: skip


def test_the_hash_of_a_record_is_the_same_among_many() -> None:
    """Products are looked up if there are many records; each hash still depends on codes and copy number alone."""
    dice, half = np.random.default_rng(3), Subset(11, Fraction(1, 2))
    columns = [dice.integers(0, 200, 300).astype(np.uint8), dice.integers(0, 2**20, 300).astype(np.uint32)]
    copy = dice.integers(1, 5, 300)
    a, b, c, added = half.multipliers(2)
    for x, y, j, part in zip(*columns, copy, half.takes_part(columns, copy), strict=True):
        u = (added + a * int(x) + b * int(y) + c * int(j)) % subset.PRIME
        assert part == (pow(u, 5, subset.PRIME) < half.below)


SEARCHES = (ValueSearch(1, 3, ValueClasses(1, (1, 2)), (1,)), ValueSearch(0, 3, ValueClasses(0, (1,))))
HEAVY = HeavyValues(SEARCHES, SIZES, 2)


def spelled(scored: Any) -> dict[tuple[int, int], tuple[int, int]]:
    """The (score, inverse weight) of every candidate (column, code), with those of a shared row listed one by one."""
    listed = {(-1, -1): (int(scored.scores[0]), int(scored.inverse_weights[0]))}
    for row in range(1, len(scored.scores)):
        search = SEARCHES[scored.search[row]]
        for within in range(int(scored.many[row])):
            chosen = type("Chosen", (), {"scored": scored, "row": np.array([row]), "within": np.array([within])})
            answer = HEAVY.answer(None, [chosen])  # type: ignore[arg-type, list-item]
            assert answer is not None
            assert answer not in listed
            listed[answer] = int(scored.scores[row]), int(scored.inverse_weights[row])
            assert answer[0] == search.column
    return listed


def test_heavy_values_include_all_values_that_may_be_chosen() -> None:
    for records in all_records(2):
        listed = spelled(scores(HEAVY, Heaviest(), records))
        assert set(listed) == {(-1, -1), (1, 0), (1, 2), (0, 0), (0, 1), (0, 2)}  # not code 1 of column 1, nor null
        for (column, code), (score, inverse) in listed.items():
            if column >= 0:
                assert score == sum(record[column] == code for record in records)
                # Column 1 has the values 1, 2, 3: two odd ones, and an even one, which is code 1.
                assert inverse == {1: 2 * 2 * 2, 0: 2 * 1 * 3}[column]
        assert listed[-1, -1] == (2, 1)


def test_heavy_values_have_range_1() -> None:
    worst = 0
    for records in all_records(1):
        before = spelled(scores(HEAVY, Heaviest(), records))
        for record in POINTS:
            after = spelled(scores(HEAVY, Heaviest(), tuple(sorted((*records, record)))))
            change = [after[name][0] - before[name][0] for name in before]
            assert min(change) >= 0
            worst = max(worst, max(change) - min(change))
    assert worst == Heaviest().range == 1


def dependence(tables: list[np.ndarray]) -> int:
    """The score, computed with exact fractions."""
    n, total = int(tables[0].sum()), Fraction(0)
    for x in tables if n else []:
        for a, b in product(*map(range, x.shape)):
            total += abs(int(x[a, b]) - Fraction(int(x[a].sum()) * int(x[:, b].sum()), n)) / 2
    return int(SCALE * total / len(tables))


def test_the_dependence_equals_its_definition() -> None:
    dice = np.random.default_rng(2)
    for size in (1, 3, 40, 2**33, 2**52 // 6):
        tables = [dice.integers(0, size + 1, (2, 3)) for _ in range(2)]
        tables[1][0, 0] += tables[0].sum() - tables[1].sum()  # both tables have the same number of records
        if (tables[1] >= 0).all():
            assert Dependence().score(tables) == dependence(tables)
    assert Dependence().score([np.zeros((2, 2), dtype=np.int64)]) == 0


def test_the_dependence_of_a_column_changes_by_half_its_range_at_most() -> None:
    """Over all 2 x 3 tables with counts of up to 3, and a record added to any cell."""
    score = cache(lambda counts: Dependence().score([np.array(counts).reshape(2, 3)]))
    low = high = 0
    for counts in product(range(4), repeat=6):
        for cell in range(6):
            change = score((*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])) - score(counts)
            low, high = min(low, change), max(high, change)
    assert 1.2 * SCALE < high <= 2 * SCALE
    assert -2 * SCALE <= low < 0


def test_one_record_comes_close_to_the_range_of_the_dependence() -> None:
    """The same record can raise the score of one column by nearly 2 and lower that of another."""
    n = 2000
    up = np.array([[n, 0], [0, 0]])
    after_up = np.array([[n, 0], [0, 1]])
    down = np.array([[n - 1, 0], [0, 1]])
    after_down = np.array([[n - 1, 1], [0, 1]])
    quality = Dependence()
    rise, fall = quality.score([after_up]) - quality.score([up]), quality.score([after_down]) - quality.score([down])
    assert rise - fall <= quality.range == 4096
    assert rise > 1.99 * SCALE
    assert fall < 0


def test_hubs_are_scored_with_every_other_column() -> None:
    records, hubs = tuple(POINTS[::2] + POINTS[:5]), Hubs(WITHIN, (1, 2))
    scored = scores(hubs, Dependence(), records)
    cells = WITHIN.locate([np.array(column) for column in zip(*records, strict=True)])
    for hub, score in zip(hubs.columns, scored.scores.tolist(), strict=True):
        tables = []
        for other in (column for column in range(3) if column != hub):
            x = np.zeros((WITHIN.shape[other], WITHIN.shape[hub]), dtype=np.int64)
            np.add.at(x, (cells[other], cells[hub]), 1)
            tables.append(x)
        assert score == dependence(tables)


# ---- through the curator ------------------------------------------------------------------------------------------


def curator(records: Records = tuple(POINTS)) -> Curator:
    return Curator(engine_of(records), Budget(1000 * NANO, Unit()), Seeded(3))


def test_choices_are_the_best_ones_at_a_high_rate() -> None:
    now = sets(0)
    best = np.argsort(scores(now, Distance(), tuple(POINTS)).scores)
    with curator() as ask:
        root = ask.root()
        assert ask.choose(root, now, Distance(), 100 * NANO, why="table") == best[-1]
        left = np.delete(LEFT, best[-1])
        assert ask.choose(root, replace(now, left=left), Distance(), 100 * NANO, why="table") in left
        heavy = HeavyValues(SEARCHES, SIZES, 0)
        assert ask.choose(root, heavy, Heaviest(), 100 * NANO, why="value") is not None
        assert ask.choose(root, HeavyValues(SEARCHES, SIZES, 99), Heaviest(), 100 * NANO, why="value") is None
        assert ask.choose(root, Hubs(WITHIN, (0, 1)), Dependence(), 100 * NANO, why="hub") in (0, 1)


def test_the_tables_of_a_round_are_counted_once() -> None:
    now, engine = sets(0), engine_of(tuple(POINTS))
    asked: list[Any] = []
    tally = engine.tally
    engine.tally = lambda at, key: (asked.append(key), tally(at, key))[1]  # type: ignore[method-assign, assignment]
    for candidates in (now, replace(now, left=LEFT[1:]), replace(now, models=sets(1).models)):
        list(candidates.exact_scores(engine, AT, engine.root(), Distance()))
    assert len(asked) == 1
    list(sets(0).exact_scores(engine, AT, engine.root(), Distance()))
    assert len(asked) == 2  # an equal round is counted again


MODELS = sets(0).models
BROKEN: dict[str, TableSets] = {
    "models of other lengths": sets(0, models=MODELS[::-1]),
    "a negative model": sets(0, models=tuple(-1 - model for model in MODELS)),
    "a model in floats": sets(0, models=tuple(model / 2 for model in MODELS)),
    "penalties that overflow": sets(0, penalties=np.full(len(TABLES), 2**62)),
    "a share above 1": sets(0, Fraction(3, 2)),
    "a share that is a float": sets(0, 0.5),  # type: ignore[arg-type]
    "nothing left": sets(0, left=LEFT[:0]),
    "a list that falls": sets(0, left=LEFT[::-1]),
    "a table twice": sets(0, left=LEFT[[0, 0]]),
    "a table that is not there": sets(0, left=LEFT + 1),
    "a negative number": sets(0, left=LEFT - 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_sets_without_a_proof_are_refused(name: str) -> None:
    with curator() as ask:
        root = ask.root()
        with pytest.raises(ParameterError):
            ask.choose(root, BROKEN[name], Distance(), NANO, why="bad")
        assert ask.left(root)[0] == 1000 * NANO


def test_a_map_changed_between_two_choices_is_refused() -> None:
    """The counts of a round are kept, and must not be compared with a model of another shape."""
    single = CrossTable((1,), (map_of(0, 0, 0),))
    key = CrossTables(WITHIN, (single,))
    candidates = TableSets((key,), (np.array([3]),), np.zeros(1, np.int64), np.zeros(1, np.int64))
    with curator() as ask:
        root = ask.root()
        ask.choose(root, candidates, Distance(), NANO, why="table")
        single.maps[0][:] = map_of(0, 1, 2)
        vars(single).update(shape=(3,), cells=3)
        with pytest.raises(ParameterError):
            ask.choose(root, replace(candidates, models=(np.array([3, 0, 0]),)), Distance(), NANO, why="table")


def test_candidates_accept_their_own_score_only() -> None:
    candidates = {Distance: sets(0), Heaviest: HEAVY, Dependence: Hubs(WITHIN, (0, 1))}
    assert set(candidates) == set(TABLE_QUALITIES)
    for kind, other in product(candidates, candidates):
        if kind is not other:
            with curator() as ask, pytest.raises(ParameterError):
                ask.choose(ask.root(), candidates[kind], other(), NANO, why="bad")
