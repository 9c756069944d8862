"""Sets of codes as spans of one public line: each set has exactly one span, which holds the numbers of its codes."""

from __future__ import annotations

import numpy as np

from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.value_sets import MOST


def test_every_set_has_one_span_that_holds_its_codes() -> None:
    sets = np.arange(1, 1 << MOST)
    lo, hi = value_sets.spans_of(sets)
    assert value_sets.sets_of(lo, hi).tolist() == sets.tolist()
    for number, low, high in zip(sets.tolist(), lo.tolist(), hi.tolist(), strict=True):
        assert value_sets.CODE[low:high].tolist() == [code for code in range(MOST) if number >> code & 1]


def test_other_spans_of_the_line_stand_for_no_set() -> None:
    ends = np.arange(-1, len(value_sets.CODE) + 2)
    lo, hi = (each.ravel() for each in np.meshgrid(ends, ends, indexing="ij"))
    found = value_sets.sets_of(lo, hi)
    known = {tuple(span) for span in np.stack(value_sets.spans_of(np.arange(1, 1 << MOST)), axis=1).tolist()}
    assert {span for span, one in zip(zip(lo.tolist(), hi.tolist(), strict=True), found, strict=True) if one} == known


def test_numbers_of_codes_add_up_over_the_span_of_a_set() -> None:
    by_code = np.array([1.0, 2.0, 4.0, 8.0, 16.0])  # a column of five codes
    along = value_sets.along(by_code)
    for codes in ([0, 2, 4], [1, 3], [3, 4], [2]):
        lo, hi = value_sets.spans_of(np.array([sum(1 << code for code in codes)]))
        assert along[lo[0] : hi[0]].sum() == by_code[codes].sum()
