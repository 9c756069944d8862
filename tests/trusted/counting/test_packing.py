"""Records packed into 64-bit words: codes are unpacked unchanged, and counts are merged."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cantle.trusted.counting.packing import Layout, add_counts, merged
from tests.effort import examples

SIZES = st.one_of(st.integers(1, 300), st.sampled_from([2**16, 2**31, 2**53, 2**53 + 1]))


@examples(24)
@given(sizes=st.lists(SIZES, max_size=9), classes=st.integers(1, 1000), data=st.data())
def test_every_code_is_unpacked_unchanged(sizes: list[int], classes: int, data) -> None:
    layout = Layout(tuple(sizes), classes)
    n = data.draw(st.integers(0, 4))
    columns = [
        np.array([data.draw(st.sampled_from([0, size // 2, size - 1])) for _ in range(n)], dtype=np.uint64)
        for size in sizes
    ]
    label = np.array([data.draw(st.integers(0, classes - 1)) for _ in range(n)], dtype=np.uint16)
    words = layout.pack(columns, label)
    assert words.shape == (layout.words, n)
    for a, column in enumerate(columns):
        assert layout.column(words, a).tolist() == column.tolist()
        assert layout.pick(words, np.full(n, a)).tolist() == column.tolist()
        pairs = zip(column.tolist(), label.tolist(), strict=True)
        assert layout.entry(words, a, 3).tolist() == [3 * code + k for code, k in pairs]
    assert layout.column(words, -1).tolist() == label.tolist()


def test_small_codes_share_a_word() -> None:
    assert Layout((2,) * 63, 2).words == 1
    assert Layout((2,) * 64, 2).words == 2
    assert Layout((1,) * 500, 1).words == 1


def test_few_and_many_entries_are_added() -> None:
    counts = np.zeros(1000, dtype=np.int64)
    add_counts(counts, np.array([999, 3, 999]))
    add_counts(counts, np.zeros(600, dtype=np.int64))
    assert [(i, int(counts[i])) for i in np.flatnonzero(counts)] == [(0, 600), (3, 1), (999, 2)]


def test_occupied_entries_of_parts_are_merged() -> None:
    listed = [np.array([3, 1, 3]), np.array([], dtype=np.int64), np.array([1, 0, 3])]
    parts = [np.unique(part, return_counts=True) for part in listed]
    assert [array.tolist() for array in merged(parts)] == [[0, 1, 3], [1, 2, 3]]
    assert [array.tolist() for array in merged([])] == [[], []]
