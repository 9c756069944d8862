"""The order of numbers inside their groups: it continues the relation between groups and changes no count."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.drawing.counts import Floats
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.inside import Order, order_of, scores
from cantle.methods.mosaic.model.sub_tables import SubTable
from cantle.trusted.geometry.boxes import Ints

CELLS, GROUPS, RECORDS = 64, 4, 20_000


def pair(correlation: float, seed: int = 0) -> tuple[Ints, Ints]:
    """Two normal numbers, by the cell of each record; cells hold about equally many."""
    dice = np.random.default_rng(seed)
    parent = dice.normal(size=RECORDS)
    child = correlation * parent + np.sqrt(1 - correlation**2) * dice.normal(size=RECORDS)
    first, second = (np.argsort(np.argsort(one)) * CELLS // RECORDS for one in (parent, child))
    return first, second


def order(parent: Ints, child: Ints, numbers: tuple[int, ...] = (0, 1)) -> Order | None:
    one_way = [np.bincount(one, minlength=CELLS) / RECORDS for one in (parent, child)]
    groupings = [Groupings(p, np.ones(CELLS - 1)) for p in one_way]
    maps = [grouping.map(GROUPS) for grouping in groupings]
    counts: Floats = np.zeros((GROUPS, GROUPS))
    np.add.at(counts, (maps[0][parent], maps[1][child]), 1)
    table = SubTable((0,), (GROUPS,), GROUPS, 1, counts, np.ones_like(counts))
    table.goal = counts / counts.sum(axis=1, keepdims=True)
    return order_of([table], numbers, one_way, groupings, 1, GROUPS)


def shuffled(child: Ints, group: Ints, seed: int = 1) -> Ints:
    """The cells, forgotten inside their groups."""
    dice = np.random.default_rng(seed)
    placed = np.empty_like(child)
    placed[np.lexsort((dice.random(len(child)), group))] = child[np.argsort(group, kind="stable")]
    return placed


@pytest.mark.parametrize("correlation", [0.95, 0.7, -0.9])
def test_what_groups_forget_is_put_back(correlation: float) -> None:
    parent, child = pair(correlation)
    found = order(parent, child)
    assert found is not None
    group = child * GROUPS // CELLS
    drawn = shuffled(child, group)
    placed = found.sort(drawn, GROUPS, group.astype(np.uint16), group, parent, np.random.default_rng(2))
    assert np.array_equal(np.sort(placed + CELLS * group), np.sort(drawn + CELLS * group))  # the same cells per group
    real, before, after = (np.corrcoef(parent, one)[0, 1] for one in (child, drawn, placed))
    assert abs(after - real) < 0.4 * abs(before - real)
    top = group == GROUPS - 1
    inside, forgotten, kept = (np.corrcoef(parent[top], one[top])[0, 1] for one in (child, drawn, placed))
    assert abs(kept - inside) < 0.4 * abs(forgotten - inside)


def test_only_numbers_that_follow_numbers_are_put_into_an_order() -> None:
    parent, child = pair(0.9)
    assert order(parent, child, (1,)) is None
    assert order(parent, child, (0,)) is None
    assert order(*pair(0.05)) is None


def test_a_value_of_most_records_says_nothing_about_the_others() -> None:
    parent, child = pair(0.0, seed=3)
    rare = np.random.default_rng(4).random(RECORDS) < 0.2
    parent, child = np.where(rare, 1 + parent % (CELLS - 1), 0), np.where(rare, 1 + child % (CELLS - 1), 0)
    assert order(parent, child) is None


def test_scores_are_those_of_a_logistic_variable() -> None:
    assert scores(np.array([0.25, 0.5, 0.75])) == pytest.approx([-np.log(3), 0, np.log(3)])
