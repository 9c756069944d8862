"""NOT PRIVATE, on purpose: how deliberate flaws reach inside the shipped code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cantle.audit.exact import Patch, replaced
from cantle.trusted.curator import Curator
from cantle.trusted.geometry.boxes import Frontier, Ints

INFINITE = float("inf")


def inside(curator: Curator, name: str) -> Any:
    return getattr(curator, f"_Curator__{name}")


def exact_of(curator: Curator, nodes: Frontier, key: Any) -> Ints:
    """Exact counts of open regions, past the curator."""
    positions = np.searchsorted(inside(curator, "frontier").ids, nodes.ids)
    return np.concatenate([part for _, _, part in inside(curator, "engine").tally(positions, key)])


def instead(owner: Any, name: str, make: Callable[[Any], Any]) -> Patch:
    """A patch that puts make(original) in place of owner.name."""
    return lambda: replaced(owner, name, make(owner.__dict__[name]))


def leak(noise: Any, values: list[int]) -> None:
    """Values that the run shows although no question gave them away."""
    noise.leaked = [*getattr(noise, "leaked", ()), *values]
