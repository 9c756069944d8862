"""The engine of families: counts for questions about the release's own error, families on disk, what is refused."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import EngineError, ParameterError
from cantle.trusted.bounding.families import Families, as_children, families_of
from cantle.trusted.bounding.persons import with_persons
from cantle.trusted.claims.own_error import OwnError
from cantle.trusted.claims.queries import Size
from cantle.trusted.claims.views import ViewTables
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import CodeTable
from cantle.trusted.counting import families as counting
from cantle.trusted.counting import stores
from cantle.trusted.counting.families import FamilyEngine
from cantle.trusted.counting.stores import FAILURE, InMemory, OnDisk, Store
from cantle.trusted.geometry.views import CHILDREN, LATER, PARENTS, VIEWS
from cantle.trusted.geometry.workloads import MOST_QUESTIONS, FamilyWorkload, fingerprint
from cantle.trusted.noise import Seeded
from tests.laws.test_views import AT, DOMAIN, FAMILY, ORDER, files, joined, listed, pairs_of_neighbours, table, within

Question = tuple[int, tuple[int, int], tuple[int, int], tuple[int, int]]
"""A view, two columns, and the first and the last code but one of each."""

QUESTIONS: list[Question] = [
    *((PARENTS, (0, 1), (p, s), (p + 1, s + 2)) for p in (0, 1) for s in (0, 1, 2)),
    *((LATER, (5, 8), (c, d), (c + 1, d + 1)) for c in (0, 2) for d in (0, 1)),
    *((CHILDREN, (0, 2), (p, c), (p + 1, c + 1)) for p, c in product((0, 1), (0, 1, 2))),
    (CHILDREN, (2, 3), (0, 1), (2, 2)),
]  # fmt: skip


def workload(questions: list[Question] = QUESTIONS) -> FamilyWorkload:
    views, *parts = zip(*questions, strict=True)
    return FamilyWorkload(np.array(views), *(np.array(part) for part in parts))


def rows_of(seed: int, keys: int = 6) -> tuple[list[Any], list[Any]]:
    return files(np.random.default_rng(seed), keys)


def frames(parents: list[Any], children: list[Any]) -> list[pl.DataFrame]:
    def keyed(rows: list[Any], width: int) -> pl.DataFrame:
        columns = [np.array([row[1][c] for row in rows], dtype=np.uint8) for c in range(width)]
        return with_persons(
            pl.Series([row[0] for row in rows], dtype=pl.String), columns, np.zeros(len(rows), np.uint8)
        )

    return [keyed(parents, 1), as_children(keyed(children, 2))]


def engine_of(families: Families, store: Store | None = None) -> FamilyEngine:
    return FamilyEngine([families], DOMAIN, store)


def records(view: int, parent: tuple[int, ...], children: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
    """The records of one family in a view that questions are about."""
    size = len(children)
    if view == PARENTS:
        yield (*parent, size)
    elif view == CHILDREN:
        yield from ((*parent, size, *child) for child in children)
    else:
        for at in range(1, size):
            stage = 2 if at > 1 else int(size > 2)
            yield (*parent, size - at, stage, *children[0], *children[at - 1], *children[at])


def naive(questions: list[Question], families: Families) -> list[int]:
    return [
        sum(
            any(low[0] <= one[c] < high[0] and low[1] <= one[d] < high[1] for one in records(view, *family))
            for family in listed(families)
        )
        for view, (c, d), low, high in questions
    ]


@pytest.mark.parametrize("store", [InMemory(), OnDisk()], ids=["memory", "disk"])
@pytest.mark.parametrize("many", [1, 3, 1 << 20])
def test_families_are_counted_once_per_question(store: Store, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the records of a family are at the border of two blocks."""
    monkeypatch.setattr(counting, "MANY", many)
    for seed in range(8):
        families = joined(*rows_of(seed))
        counts = engine_of(families, store).count_all(workload())
        assert counts.tolist() == naive(QUESTIONS, families)
    assert counts.any()


def test_no_family_and_families_without_children_are_counted() -> None:
    none, alone = joined([], [("a", (0, 0))]), joined([("a", (1,)), ("b", (1,))], [])
    for families in (none, alone):
        assert engine_of(families).count_all(workload()).tolist() == naive(QUESTIONS, families)
    assert naive(QUESTIONS, alone)[3] == 2


def test_one_family_moves_each_count_by_at_most_one() -> None:
    """Claims 55a and 57, however many children it has."""
    most = 0
    for fewer, more in pairs_of_neighbours(60):
        change = engine_of(more).count_all(workload()) - engine_of(fewer).count_all(workload())
        most = max(most, int(np.abs(change).max()))
    assert most == 1


def test_own_error_is_asked_per_pair_of_columns_and_view() -> None:
    families = joined(*rows_of(3, 40))
    released = np.arange(len(QUESTIONS), dtype=np.int64)
    asked = OwnError(workload(), released)
    assert asked.numbers == 3
    at = {view: [i for i, one in enumerate(QUESTIONS) if one[0] == view] for view in (PARENTS, CHILDREN, LATER)}
    exact = np.abs(np.array(naive(QUESTIONS, families)) - released).tolist()
    wanted = [max(exact[i] for i in mine) for mine in at.values()]  # the 95 % quantile of a few is the largest
    with Curator(engine_of(families), Budget(10**6 * NANO, FAMILY), Seeded(2)) as curator:
        curator.reserve(curator.root(), 10**6 * NANO, why="accuracy")
        noisy = curator.own_error(workload(), released)
    assert noisy.value.tolist() == [wanted]
    assert (noisy.rate_num.tolist(), noisy.rate_den) == ([10**6 * NANO], 3 * NANO)


def changed(**parts: Any) -> FamilyWorkload:
    one = workload()
    return FamilyWorkload(*(parts.get(name, getattr(one, name)) for name in ("views", "columns", "low", "high")))


def with_entry(name: str, value: int, at: tuple[int, ...] = (0, 0)) -> FamilyWorkload:
    array = getattr(workload(), name).copy()
    array[at] = value
    return changed(**{name: array})


BAD = {
    "views that are no array": lambda: changed(views=list(workload().views)),
    "columns of another shape": lambda: changed(columns=workload().columns[:, :1]),
    "codes that are no whole numbers": lambda: changed(low=workload().low.astype(float)),
    "a view that is not asked": lambda: changed(views=np.where(workload().views == CHILDREN, 1, workload().views)),
    "views in another order": lambda: workload(QUESTIONS[::-1]),
    "a column that is not there": lambda: with_entry("columns", 2),
    "a column below the first": lambda: with_entry("columns", -1),
    "a code below the first": lambda: with_entry("low", -1),
    "a code above the last": lambda: with_entry("high", 3),
    "no code": lambda: with_entry("high", 0),
}


@pytest.mark.parametrize("wrong", BAD)
def test_questions_that_do_not_fit_are_refused_and_free(wrong: str) -> None:
    assert workload().fits(DOMAIN)
    assert not BAD[wrong]().fits(DOMAIN)
    with Curator(engine_of(joined([], [])), Budget(NANO, FAMILY), Seeded(2)) as curator:
        curator.reserve(curator.root(), 5, why="accuracy")
        with pytest.raises(ParameterError):
            curator.own_error(BAD[wrong](), np.zeros(len(QUESTIONS), np.int64))
        curator.own_error(workload(), np.zeros(len(QUESTIONS), np.int64))  # what was reserved is still there


def test_too_many_questions_and_another_domain_are_refused() -> None:
    assert not workload().fits(((2, 3), 1))
    assert workload(QUESTIONS[:1] * MOST_QUESTIONS).fits(DOMAIN)
    assert not workload(QUESTIONS[:1] * (MOST_QUESTIONS + 1)).fits(DOMAIN)


def test_a_fingerprint_follows_from_all_parts() -> None:
    assert fingerprint(workload()) == fingerprint(workload().copy())
    others = [
        with_entry("columns", 1),
        with_entry("low", 1),
        with_entry("high", 2),
        changed(views=workload().views * 0),
    ]
    assert len({fingerprint(one) for one in (workload(), *others)}) == 5


# ---- what an engine of families is ------------------------------------------------------------------------------


def test_the_engine_counts_families_and_is_one_region() -> None:
    families = joined(*rows_of(1))
    engine = engine_of(families)
    assert [chunk[2].tolist() for chunk in engine.tally(AT, Size())] == [[[len(listed(families))]]]
    assert len(engine.root()) == 1
    assert engine.domain is DOMAIN
    for view in VIEWS:
        columns = tuple(range(len(DOMAIN.sizes(view))))
        key = ViewTables(within(view), (table(view, *columns),), view=view)
        ((_, _, counts),) = engine.tally(AT, key)
        assert engine.view(view).domain == (DOMAIN.sizes(view), 1)
        assert next(engine.view(view).tally(AT, key))[2].tolist() == counts.tolist()


def test_no_value_occurs_in_no_family() -> None:
    view = engine_of(joined([], [])).view(CHILDREN)
    assert [found.tolist() for found in view.occupied(CodeTable(2, 3, 1))] == [[], []]


def test_secrets_are_neither_shown_nor_copied() -> None:
    families = joined([("key", (1,))], [("key", (2, 1))])
    engine = engine_of(families)
    assert [repr(one) for one in (families, engine, engine.view(LATER))] == [
        "Families(private)", "FamilyEngine(private)", "ViewEngine(private)"
    ]  # fmt: skip
    for secret in (families, engine, engine.view(LATER)):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="private"):
                attempt(secret)


def test_nothing_is_left_when_the_engine_is_closed() -> None:
    engine = engine_of(joined(*rows_of(1)))
    assert len(engine.view(PARENTS))
    engine.close()
    assert not any(hasattr(engine.view(view), "_rows") for view in range(4))


# ---- families on disk -------------------------------------------------------------------------------------------


def test_families_on_disk_are_those_of_all_rows_together() -> None:
    parents, children = rows_of(4, 30)
    groups = list(OnDisk(7).together(frames(parents, children), "person"))
    assert len(groups) > 1
    by_group = (families_of(rows, DOMAIN, ORDER) for rows in groups)
    counts = FamilyEngine(by_group, DOMAIN, OnDisk()).count_all(workload())
    assert counts.tolist() == naive(QUESTIONS, joined(parents, children))


def test_the_file_of_parts_is_read_again_and_closed_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    made, opened = list[Any](), tempfile.TemporaryFile
    monkeypatch.setattr(stores.tempfile, "TemporaryFile", lambda: made.append(opened()) or made[-1])
    with OnDisk().again([("a", 1), ("b", 2)]) as again:
        assert [*again()] == [*again()] == [("a", 1), ("b", 2)]

    def failing() -> Iterator[str]:
        yield "a"
        raise EngineError("no more")

    with pytest.raises(EngineError, match="no more"), OnDisk().again(failing()):
        pass
    assert [file.closed for file in made] == [True, True]


def test_a_full_disk_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "/secret/folder")

    monkeypatch.setattr(stores.pickle, "dump", full)
    with pytest.raises(EngineError) as caught, OnDisk().again(["a"]):
        pass
    assert str(caught.value) == FAILURE
    assert caught.value.__context__ is None


@pytest.mark.parametrize("some", [slice(0, 1), slice(1, 2), slice(0, 0)], ids=["parents", "children", "nothing"])
def test_a_group_may_have_rows_of_one_file_only(some: slice) -> None:
    both = frames([("a", (1,)), ("b", (0,))], [("c", (2, 1))])
    found = families_of(both[some], DOMAIN, ORDER)
    assert listed(found) == ([((0,), ()), ((1,), ())] if some == slice(0, 1) else [])


def test_questions_about_families_are_for_families() -> None:
    with Curator(engine_of(joined([], [])), Budget(NANO, Unit()), Seeded(1)) as curator:
        root = curator.root()
        with pytest.raises(ParameterError, match="one family"):
            curator.measure(root, ViewTables(within(PARENTS), (table(PARENTS, 0, 1),), view=PARENTS), 5, why="m")
        assert curator.left(root).tolist() == [NANO]
