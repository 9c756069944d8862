"""Mondrian: disjoint groups of at least k that cover all records, none of which could be cut further."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle_lab.papers.baselines import mondrian
from cantle_lab.papers.coding import Coded, Coder
from tests.effort import examples

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=40)
)


def coded(rows: object) -> Coded:
    codes = np.array(rows, dtype=np.int64)
    return Coded(codes, np.arange(len(codes)) % 2)


@examples(60)
@given(tables, st.integers(1, 6))
def test_groups_are_disjoint_have_k_records_and_cannot_be_cut(rows: list[list[int]], k: int) -> None:
    table = coded(rows)
    k = min(k, len(table))
    groups = mondrian(table, k=k)
    codes, group = table.codes, groups.group
    assert np.bincount(group).min() >= k
    assert (groups.low[group] <= codes).all()
    assert (codes <= groups.high[group]).all()
    for g in range(len(groups.low)):
        mine = codes[group == g]
        assert (mine.min(axis=0) == groups.low[g]).all()
        assert (mine.max(axis=0) == groups.high[g]).all()
        for column in mine.T:  # no cut would leave k records on both sides
            left = np.array([(column <= value).sum() for value in np.unique(column)])
            assert (np.minimum(left, len(column) - left) < k).all()
    for a in range(len(groups.low)):
        for b in range(a):  # strict: the published boxes do not overlap
            assert (np.maximum(groups.low[a], groups.low[b]) > np.minimum(groups.high[a], groups.high[b])).any()


def test_the_first_cut_is_at_the_median_of_the_widest_attribute() -> None:
    # both attributes span their whole range; the first one wins the tie and is cut at its median
    groups = mondrian(coded([[0, 0], [1, 9], [2, 0], [9, 9]]), k=2)
    assert groups.group[0] == groups.group[1] != groups.group[2] == groups.group[3]


def test_the_next_attribute_is_cut_if_the_widest_cannot_be() -> None:
    groups = mondrian(coded([[0, 0], [9, 0], [9, 1], [9, 1]]), k=2)
    assert groups.group.tolist() == [0, 0, 1, 1]


def test_records_stay_in_their_range_and_keep_their_class() -> None:
    fields = [{"name": n, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}} for n in "ab"]
    fields.append({"name": "c", "type": "string", "categories": ["x", "y"], "role": "target"})
    coder, table = Coder({"fields": fields}), coded([[0, 3], [2, 3], [7, 8], [9, 5]])
    groups = mondrian(table, k=2)
    drawn = groups.records(coder, np.random.default_rng(0))
    again = coder.encode(drawn)
    assert drawn["c"].to_list() == ["x", "y", "x", "y"]
    assert (groups.low[groups.group] <= again.codes).all()
    assert (again.codes <= groups.high[groups.group]).all()


@pytest.mark.parametrize("k", [0, 5])
def test_k_is_checked(k: int) -> None:
    with pytest.raises(ParameterError, match="k is"):
        mondrian(coded([[1], [2], [3], [4]]), k=k)
