"""NOT PRIVATE, on purpose: helpers with which deliberate flaws reach inside the shipped code."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from cantle.audit.exact import Patch, replaced
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import Counted
from cantle.trusted.core.open_run import OpenRun
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.noise import Noise

INFINITE = float("inf")
Call = Callable[..., Any]
Original = TypeVar("Original")
Result = TypeVar("Result")


def run_of(curator: Curator) -> OpenRun:
    """The private state of a curator."""
    run: OpenRun = curator._Curator__run  # type: ignore[attr-defined]
    return run


def inside(curator: Curator, name: str) -> Any:  # engine, draws, budget, unit or frontier, of whatever kind
    return getattr(run_of(curator), name)


def exact_of(curator: Curator, nodes: Frontier, key: Counted) -> Ints:
    """The exact counts of open regions, read without the curator."""
    positions = np.searchsorted(inside(curator, "frontier").ids, nodes.ids)
    return np.concatenate([part for _, _, part in inside(curator, "engine").tally(positions, key)])


def instead(owner: type | ModuleType, name: str, make: Callable[[Original], object]) -> Patch:
    """A patch that replaces `owner.name` by `make(original)`."""
    return lambda: replaced(owner, name, make(owner.__dict__[name]))


def leak(noise: Noise, values: list[int]) -> None:
    """Adds values to the output of the run, although no answer of the curator contains them."""
    noise.leaked = [*getattr(noise, "leaked", ()), *values]  # type: ignore[attr-defined]


def variant(broken: Callable[..., Result]) -> Callable[[Call], Callable[..., Result]]:
    """Makes what `instead` takes of a function whose first argument is the original one."""

    def make(original: Call) -> Callable[..., Result]:
        def method(*given: Any, **about: Any) -> Result:
            return broken(original, *given, **about)

        return method

    return make
