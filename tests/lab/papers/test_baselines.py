"""Mondrian: groups of k, disjoint, covering, and none that could still be cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.lab.papers.baselines import mondrian
from cantle.lab.papers.coding import Coded, Coder
from tests.effort import examples

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=40)
)


def coded(rows: object) -> Coded:
    codes = np.array(rows, dtype=np.int64)
    return Coded(codes, np.arange(len(codes)) % 2)


@examples(60)
@given(tables, st.integers(1, 6))
def test_groups(rows: list[list[int]], k: int) -> None:
    table = coded(rows)
    k = min(k, len(table))
    made = mondrian(table, k=k)
    codes, group = table.codes, made.group
    assert np.bincount(group).min() >= k
    assert (made.low[group] <= codes).all()
    assert (codes <= made.high[group]).all()
    for g in range(len(made.low)):
        mine = codes[group == g]
        assert (mine.min(axis=0) == made.low[g]).all()
        assert (mine.max(axis=0) == made.high[g]).all()
        for column in mine.T:  # no allowable cut is left: no point leaves k records on both sides
            left = np.array([(column <= value).sum() for value in np.unique(column)])
            assert (np.minimum(left, len(column) - left) < k).all()
    for a in range(len(made.low)):
        for b in range(a):  # strict: the published boxes do not meet
            assert (np.maximum(made.low[a], made.low[b]) > np.minimum(made.high[a], made.high[b])).any()


def test_first_cut_is_the_median_of_the_widest() -> None:
    # attribute 1 spans its whole range in the table, both do; the first wins ties and is cut at its median
    made = mondrian(coded([[0, 0], [1, 9], [2, 0], [9, 9]]), k=2)
    assert made.group[0] == made.group[1] != made.group[2] == made.group[3]


def test_next_attribute_when_the_widest_cannot_be_cut() -> None:
    made = mondrian(coded([[0, 0], [9, 0], [9, 1], [9, 1]]), k=2)
    assert made.group.tolist() == [0, 0, 1, 1]


def test_records_stay_in_their_range_and_keep_their_class() -> None:
    fields = [{"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}} for n in "ab"]
    fields.append({"name": "c", "type": "string", "categories": ["x", "y"], "role": "target"})
    coder, table = Coder({"fields": fields}), coded([[0, 3], [2, 3], [7, 8], [9, 5]])
    made = mondrian(table, k=2)
    drawn = made.records(coder, np.random.default_rng(0))
    again = coder.encode(drawn)
    assert drawn["c"].to_list() == ["x", "y", "x", "y"]
    assert (made.low[made.group] <= again.codes).all()
    assert (again.codes <= made.high[made.group]).all()


@pytest.mark.parametrize("k", [0, 5])
def test_k_is_checked(k: int) -> None:
    with pytest.raises(ParameterError, match="k is"):
        mondrian(coded([[1], [2], [3], [4]]), k=k)
