"""Helpers that leave cases out of the default run: slow cases, and most examples of a law.

`-m slow` runs the slow cases, and `CANTLE_TEST_EFFORT=10` ten times as many examples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from typing import Any

import pytest
from hypothesis import settings

PARAMETERS = type(pytest.param())
EFFORT = int(os.environ.get("CANTLE_TEST_EFFORT", "1"))


def examples(few: int) -> settings:
    """The settings of a law that is tried on this many examples by default."""
    return settings(max_examples=few * EFFORT)


def slow(names: Sequence[str | int], *left_out: str | int) -> list[Any]:
    """The names to run a test on; those in `left_out` run with `-m slow` only."""
    assert set(left_out) <= set(names)
    return [pytest.param(name, marks=pytest.mark.slow) if name in left_out else name for name in names]


def one_in(share: int, cases: Iterable[Any]) -> list[Any]:
    """All cases of a family; every `share`-th, starting with the first, runs by default, the others with `-m slow`."""
    return [case if place % share == 0 else _slow(case) for place, case in enumerate(cases)]


def later(cases: Iterable[Any], names: Set[str]) -> list[Any]:
    """All cases; those that have one of these names run with `-m slow` only."""
    listed = list(cases)
    assert names & {case.name for case in listed}
    return [_slow(case) if case.name in names else case for case in listed]


def _slow(case: Any) -> Any:
    """The case with the mark `slow`; if it is a `pytest.param` already, it keeps its name and other marks."""
    if isinstance(case, PARAMETERS):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.slow])
    return pytest.param(case, marks=pytest.mark.slow)
