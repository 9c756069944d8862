"""What the default run leaves out: slow cases, and most examples of a law (`CANTLE_TEST_EFFORT=10` runs more)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

EFFORT = int(os.environ.get("CANTLE_TEST_EFFORT", "1"))


def examples(few: int) -> settings:
    """Settings of a law that is tried on so many examples by default."""
    return settings(max_examples=few * EFFORT)


def slow(names: Sequence[str | int], *left_out: str | int) -> list[Any]:
    """Names to run a test on; those left out by default run with `-m slow`."""
    assert set(left_out) <= set(names)
    return [pytest.param(name, marks=pytest.mark.slow) if name in left_out else name for name in names]
