"""DiffPart: settings, number of operations, prices and caps, and that a large budget gives the true data."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import product, starmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.drawing import records as released_records
from cantle.drawing.counts import public_dice
from cantle.errors import ParameterError
from cantle.interfaces.opening import open_data
from cantle.interfaces.publishing import run
from cantle.methods.diffpart.method import MOST_LISTED, SMALL, DiffPart, _affordable, _inner_nodes
from cantle.schema.sets import SetSchema
from cantle.trusted.core.budget import MOST, NANO, Unit
from cantle.trusted.core.draws import MOST_SPURIOUS
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions
from cantle.trusted.ledger import Ledger
from cantle.trusted.noise import Lanes, Rate, Seeded
from tests.effort import examples, one_in, slow


def schema(size: int) -> SetSchema:
    return SetSchema.from_dict({"kind": "sets", "items": {"minimum": 0, "maximum": size - 1}})


def ran(
    records: list[list[int]], size: int, *, epsilon_nano: int = NANO, seed: int = 3, unit: int = 1, **given: Any
) -> tuple[DiffPart, dict[str, Any]]:
    cells = {"cells": "tree"} if size > SMALL else {}
    plan = DiffPart(schema(size), **{**cells, **given})
    _, store = open_data(records, plan.schema, plan)
    return plan, run(plan, store, epsilon_nano=epsilon_nano, unit=Unit(unit), noise=Seeded(seed))


@cache
def baskets(size: int, number: int, *, seed: int = 1) -> list[list[int]]:
    """Sets of one to six items, in which the first items are more frequent."""
    dice = np.random.default_rng(seed)
    weight = 1 / np.arange(1, size + 1)
    return [
        dice.choice(size, min(size, n), replace=False, p=weight / weight.sum()).tolist()
        for n in dice.integers(1, 7, number)
    ]


def counted(records: Any) -> Counter[tuple[int, ...]]:
    return Counter(tuple(sorted(set(record))) for record in records)


# ---- settings -------------------------------------------------------------------------------------------------------


def test_small_universes_are_published_in_one_question_unless_a_tree_is_requested() -> None:
    assert DiffPart(schema(SMALL)).all_at_once
    assert not DiffPart(schema(SMALL), preset="paper").all_at_once
    assert not DiffPart(schema(5), cells="tree").all_at_once
    with pytest.raises(ParameterError, match=f"at most {SMALL} items"):
        DiffPart(schema(SMALL + 1))


def test_records_are_cut_only_if_a_number_of_items_is_given() -> None:
    assert DiffPart(schema(100), preset="paper").most == 100
    assert DiffPart(schema(3), cells="tree").most == 3
    assert DiffPart(schema(100), cells="tree", m=1).most == 1


@pytest.mark.parametrize("name", ["m", "fanout", "c2", "max_cells"])
def test_settings_without_effect_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name} would do nothing.*cells=tree"):
        DiffPart(schema(20), **{name: 3})
    DiffPart(schema(20), **{"cells": "tree", name: 3})


@pytest.mark.parametrize(
    "given",
    [{"fanout": 1}, {"fanout": 63}, {"m": 0}, {"eta": 0}, {"eta": 1}, {"leaf_share": 0}, {"leaf_share": 1}, {"c2": -1},
     {"max_cells": 0}, {"cells": "some"}, {"depth": 3}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="diffpart"):
        DiffPart(schema(30), **given)


def test_all_settings_are_in_the_echo() -> None:
    echo = DiffPart(schema(30), preset="paper").parameters()
    assert echo == {"preset": "paper", "fanout": 10, "c1": "3", "c2": "6/5", "eta": None, "m": None, "cells": "tree",
                    "leaf_share": "1/2", "max_cells": 10**6, "accuracy_share": "0"}  # fmt: skip


# ---- operations and prices ------------------------------------------------------------------------------------------


def test_inner_nodes_by_hand() -> None:
    """Five items, two per node: {0,1}, {2,3}, {4}; {{0,1},{2,3}}, {{4}}; the root. Nodes of one child do not count."""
    counts = _inner_nodes(ItemTree.of(5, 2, even=False))
    assert counts[1].tolist() == [[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert counts[2].tolist() == [[0, 2, 1, 0], [0, 0, 0, 0]]
    assert counts[3].tolist() == [[0, 2, 1, 1]]


def longest(parts: Partitions) -> int:
    """The largest number of operations that a record of a partition still needs, one per node with several children."""
    fan = int(parts.fan[0])
    here = int(fan > 1)
    if parts.ends[0]:
        return here
    masks = [mask for mask in range(1, 2**fan) if mask.bit_count() <= parts.room[0]]
    below = Kept(np.zeros(len(masks), np.int64), np.array(masks)).children(parts, 0)
    return here + max(longest(below.take([i])) for i in range(len(below)))


@examples(16)
@given(st.integers(1, 7), st.integers(2, 4), st.integers(1, 7), st.booleans())
def test_the_number_of_operations_equals_that_of_the_longest_chain(size: int, fanout: int, m: int, paper: bool) -> None:
    """Theorem 4.1: the number is exact if records are not cut, and never too small if they are."""
    plan = DiffPart(schema(size), preset="paper" if paper else "default", cells="tree", fanout=fanout, m=m)
    parts = Partitions.root(plan.tree, plan.most)
    for _ in range(4):
        inner = parts.take(~parts.ends)
        if not len(inner):
            break
        planned = plan._operations(inner)
        for i, operations in enumerate(planned.tolist()):
            need = longest(inner.take([i]))
            assert operations >= need
            if plan.most == size:
                assert operations == need
        pairs = [
            (i, (1 << min(int(fan), int(room))) - 1)
            for i, (fan, room) in enumerate(zip(inner.fan, inner.room, strict=True))
        ]
        parts = Kept(*(np.array([pair[k] for pair in pairs]) for k in (0, 1))).children(inner, 0)


GIVEN: list[dict[str, Any]] = [{}, {"m": 2, "fanout": 3}, {"preset": "paper", "fanout": 3}, {"leaf_share": "9/10"}]


@pytest.mark.parametrize(("given", "unit"), one_in(2, starmap(pytest.param, product(GIVEN, (3, 1)))))
def test_leaves_are_counted_with_the_rest_of_the_budget(given: dict[str, Any], unit: int) -> None:
    """Every path that ends in a leaf pays exactly epsilon; a pruned path does not spend the share of leaves."""
    nano = 6 * NANO + 7
    plan, receipt = ran(baskets(25, 3000), 25, epsilon_nano=nano, unit=unit, **given, accuracy_share=0)
    share = plan.settings.leaf_share
    leaf_budget = nano - int(nano * (1 - share))
    reached = 0
    for path in receipt["paths"]:
        questions = [charge["why"] for charge in path["charges"]]
        assert {charge["sensitivity"] for charge in path["charges"]} == {unit}
        if questions[-1:] == ["leaf partitions"]:
            reached += 1
            assert path["epsilon_nano"] == nano
            assert path["charges"][-1]["epsilon_nano"] >= leaf_budget
        else:
            assert path["epsilon_nano"] <= nano - leaf_budget
        assert set(questions[:-1]) <= {"sub-partitions"}
    assert reached
    leaves = plan.kept_partitions.leaves()
    assert set(leaves.rate_num.tolist()) <= {path["charges"][-1]["epsilon_nano"] for path in receipt["paths"]}
    assert leaves.rate_den == NANO * unit


def test_an_epsilon_too_small_for_the_taxonomy_is_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon is too small"):
        DiffPart(schema(60), cells="tree", fanout=2).refuse_budget(8, 1)


@examples(12)
@given(st.integers(2, 40), st.integers(2, 7), st.integers(1, 6), st.integers(2, 200))
def test_an_epsilon_that_is_not_refused_pays_for_every_operation(size: int, fanout: int, m: int, nano: int) -> None:
    plan = DiffPart(schema(size), cells="tree", fanout=fanout, m=m)
    try:
        plan.refuse_budget(nano, 1)
    except ParameterError:
        return
    ran([[0], [size - 1, 0]] * 50, size, epsilon_nano=nano, cells="tree", fanout=fanout, m=m)


@pytest.mark.parametrize("method", ["diffpart", "baskets", "auto"])
def test_an_epsilon_that_is_too_small_costs_nothing(tmp_path: Path, method: Any) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("sets", 10)
    with pytest.raises(ParameterError, match="epsilon is too small"):
        cantle.publish([[1]], schema(15), epsilon="0.000000001", method=method, ledger=ledger, dataset="sets")
    assert ledger.account("sets").spent_nano == 0


# ---- the cap --------------------------------------------------------------------------------------------------------


def test_a_flat_taxonomy_is_refused_for_its_threshold_of_leaves_and_the_hints_work(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("sets", 10)
    given = {"epsilon": 1, "method": "diffpart", "preset": "paper", "max_cells": 1000, "insecure_seed": 1}
    with pytest.raises(ParameterError, match="diffpart with c1=3 and fanout=30") as refusal:
        cantle.publish([[1]], schema(30), fanout=30, ledger=ledger, dataset="sets", **given)
    assert ledger.account("sets").spent_nano == 0
    c1 = re.search(r"use c1=([0-9.]+)", str(refusal.value))
    assert c1
    release = cantle.publish(baskets(30, 100), schema(30), fanout=30, c1=c1[1], **given)
    assert release.manifest.summary["leaves"] <= 2 * 1000


@pytest.mark.parametrize(("size", "given"), [(21, {"preset": "paper"}), (6, {})])
def test_counts_that_call_for_too_many_items_release_fewer_sets_and_say_so(
    monkeypatch: pytest.MonkeyPatch, size: int, given: dict[str, Any]
) -> None:
    def publish() -> cantle.Release:
        return cantle.publish(baskets(size, 2000), schema(size), epsilon=8, method="diffpart", insecure_seed=3, **given)

    whole = publish()
    monkeypatch.setattr(released_records, "MOST_ITEMS", 1000)
    some = publish()
    wanted = some.manifest.summary["items_wanted"]
    assert wanted > 3000
    assert len(some.records) == pytest.approx(len(whole.records) * 1000 / wanted, abs=50)
    some.verify()
    assert "stands for" in some.manifest.notes[0]
    assert "stands for" in some.statement
    assert some.count("contains 0").value == pytest.approx(whole.count("contains 0").value, rel=0.2)
    if some.accuracy is not None and some.accuracy.bought:  # the error is that of counts that were multiplied
        assert some.accuracy.one_column.records < 0.2 * len(whole.records)


def test_partitions_with_the_largest_noisy_counts_continue_after_untested_ones() -> None:
    value, tested = np.array([5, 9, 0, 9, 1]), np.array([True, True, False, True, True])
    assert _affordable(value, tested, np.ones(len(value)), 5).tolist() == [0, 1, 2, 3, 4]
    assert _affordable(value, tested, np.ones(len(value)), 3).tolist() == [1, 2, 3]
    assert _affordable(value, tested, np.ones(len(value)), 2).tolist() == [1, 2]
    assert _affordable(value, tested, np.ones(len(value)), 1).tolist() == [2]


def test_no_round_has_more_partitions_than_the_cap() -> None:
    free, _ = ran(baskets(60, 2000), 60, fanout=5, epsilon_nano=5 * NANO)
    capped, _ = ran(baskets(60, 2000), 60, fanout=5, epsilon_nano=5 * NANO, max_cells=4)
    assert max(map(len, free.kept_partitions.rounds)) > 4
    assert max(map(len, capped.kept_partitions.rounds)) == 4


def test_the_bound_on_listed_cells_equals_that_of_the_curator() -> None:
    assert MOST_LISTED <= MOST_SPURIOUS


def test_the_largest_partitions_continue_while_the_cost_of_empty_ones_fits() -> None:
    value, tested, cost = np.array([5, 9, 0, 7]), np.array([True, True, False, True]), np.array([1.0, 2.0, 3.0, 4.0])
    assert _affordable(value, tested, cost, 100).tolist() == [0, 1, 2, 3]
    assert _affordable(value, tested, cost, 9).tolist() == [1, 2, 3]
    assert _affordable(value, tested, cost, 5).tolist() == [1, 2]
    assert _affordable(value, tested, cost, 2).tolist() == []


@pytest.mark.parametrize("size", slow([40, 68, 100], 40, 100))
def test_settings_that_a_refusal_names_work_for_records_that_fill_the_cap(size: int) -> None:
    """The sets are dense and very many partitions pass, but no question lists many more cells than the cap."""
    most, records = 500, baskets(size, 3000)
    with pytest.raises(ParameterError, match="more than max_cells") as refusal:
        DiffPart(schema(size), preset="paper", max_cells=most).refuse_budget(20 * NANO, 1)
    ways = [way.split("=") for way in re.findall(r"(?:c2|fanout)=[0-9.]+", str(refusal.value).split("; use ")[1])]
    assert ways
    for name, value in ways:
        given = {"preset": "paper", "max_cells": most, name: value}
        plan, _ = ran(records, size, epsilon_nano=20 * NANO, **given)
        assert max(map(len, plan.kept_partitions.rounds)) <= most
        assert len(plan.kept_partitions.leaves()) <= len(records) + 2 * most * len(plan.kept_partitions.rounds)


# ---- releases -------------------------------------------------------------------------------------------------------

MUCH = MOST // 10
"""With this budget the noise is almost certainly 0."""


@pytest.mark.parametrize(
    "given",
    [
        {"cells": "tree", "m": "off"},
        {"cells": "tree", "m": "off", "fanout": 2},
        {"cells": "tree", "m": "off", "fanout": 62},
        {"preset": "paper", "fanout": 4},
        {"preset": "paper", "fanout": 2, "c1": 0, "c2": 0, "eta": "1/4"},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize("size", slow([1, 7, 10, 2, 13], 2, 13))
def test_with_a_large_budget_the_release_has_the_true_sets(size: int, given: dict[str, Any]) -> None:
    records = baskets(size, 80)
    plan, _ = ran(records, size, epsilon_nano=MUCH, **given)
    results = plan.results(public_dice(2))
    assert counted(results.records["items"].to_list()) == counted(records)
    groups = {tuple(row["items"]): row["count"] for row in results.groups.to_dicts() if row["count"]}
    assert groups == counted(records)
    assert results.summary["records"] == 80


@pytest.mark.parametrize("m", [1, 2, 3])
def test_with_a_large_budget_and_a_cut_every_released_record_is_part_of_a_true_one(m: int) -> None:
    records = baskets(40, 200)
    plan, _ = ran(records, 40, epsilon_nano=MUCH, m=m, fanout=6)
    released = counted(plan.results(public_dice(2)).records["items"].to_list())
    assert {len(items) for items in released} <= set(range(1, m + 1))
    short = {items: n for items, n in counted(records).items() if len(items) <= m}
    assert all(released[items] >= n for items, n in short.items())


def test_with_thresholds_an_empty_input_gives_few_records() -> None:
    """At most a few spurious sets are released."""
    for seed in range(5):
        plan, _ = ran([], 300, seed=seed)
        results = plan.results(public_dice(seed))
        assert results.records.height < 200
        assert results.groups.height < 20


# ---- many partitions in one question ---------------------------------------------------------------------------------


def test_a_question_about_many_partitions_draws_the_same_as_single_questions() -> None:
    """This holds for all sizes, prices and thresholds: totals from 1 to 2^62 - 1, dense and sparse."""
    dice = np.random.default_rng(8)
    total = np.array([1, 3, 7, 1023, 2**20 - 1, 2**40 - 1, 2**62 - 1, 2**62 - 1, 5, 63])
    rate_num = dice.integers(1, 50, len(total))
    patterns = np.log(total.astype(float) + 1) * 20 / rate_num
    least = np.maximum(1, np.ceil(patterns - dice.integers(0, 60, len(total)) / rate_num)).astype(np.int64)
    cells = [np.unique(dice.integers(0, min(n, 2**61), min(4, n))) for n in total.tolist()]
    starts = np.cumsum([0, *map(len, cells)])
    counts = dice.integers(1, 30, starts[-1])
    ids = np.arange(10, 10 + len(total))

    def ask(rows: slice) -> list[tuple[int, int, int]]:
        at = starts[rows.start : rows.stop + 1]
        shown = Seeded(4).sparse(
            Lanes(3, ids[rows]), at - at[0], np.concatenate(cells[rows]), counts[at[0] : at[-1]], total[rows],
            Rate(rate_num[rows], 20), least[rows],
        )  # fmt: skip
        owner = np.repeat(ids[rows], np.diff(shown[0]))
        return list(zip(owner.tolist(), shown[1].tolist(), shown[2].tolist(), strict=True))

    together = ask(slice(0, len(total)))
    assert together == [row for i in range(len(total)) for row in ask(slice(i, i + 1))]
    assert len(together) > 20
    for owner, cell, value in together:
        assert 0 <= cell < total[owner - 10]
        assert value >= least[owner - 10]
