"""Sets of codes as spans, so that regions of a small column can be any set of its values. Public.

Codes below MOST are the first positions of a line. Behind them, each set of these codes that are not neighbours has
room for its codes, one after the other. So the span [lo, hi) of positions stands for a set of hi - lo codes: a span of
codes for itself, and every other span for one set only. A set is a whole number whose bit c says whether it has code c.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.core.arrays import Floats, Ints

MOST = 8
"""Most codes of a column whose regions can be sets: 127 ways to divide them in two."""

_SETS = 1 << MOST


def _line() -> tuple[Ints, Ints]:
    """The code at each position of the line, and the first position of each set."""
    codes, start = [*range(MOST)], np.zeros(_SETS, dtype=np.int64)
    for number in range(1, _SETS):
        inside = [code for code in range(MOST) if number >> code & 1]
        neighbours = inside[-1] - inside[0] < len(inside)
        start[number] = inside[0] if neighbours else len(codes)
        codes += [] if neighbours else inside
    return np.array(codes, dtype=np.int64), start


CODE, _START = _line()
_MANY = ((np.arange(_SETS)[:, None] >> np.arange(MOST)) & 1).sum(axis=1)

_SET_AT = np.zeros(len(CODE) + 1, dtype=np.int64)
_far = np.flatnonzero(_START >= MOST)
_SET_AT[_START[_far]] = _far

_halves = [[part for part in range(1, one) if part & ~one == 0 and part & (one & -one)] for one in range(_SETS)]
HALVES = np.array([part for parts in _halves for part in parts], dtype=np.int64)
"""For each set the ways to divide it in two: the parts that have its lowest code."""
FIRST = np.cumsum([0, *map(len, _halves)], dtype=np.int64)[:-1]
"""Where those of each set begin."""


def sets_of(lo: Ints, hi: Ints) -> Ints:
    """The sets that spans stand for; 0 where a span stands for none."""
    inside, far = np.clip([lo, hi], 0, MOST), _SET_AT[np.clip(lo, 0, len(CODE))]
    near = (1 << inside[1]) - (1 << inside[0])
    found = np.where(lo < MOST, near, far)
    return np.where((lo >= 0) & (_MANY[found] == hi - lo), found, 0)


def spans_of(sets: Ints) -> tuple[Ints, Ints]:
    """The spans that stand for sets."""
    return _START[sets], _START[sets] + _MANY[sets]


def along(by_code: Floats) -> Floats:
    """Numbers of codes as numbers of positions."""
    return np.append(by_code, np.zeros(MOST - len(by_code)))[CODE]
