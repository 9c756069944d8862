"""Parts that are switched off: each is switched off alone, changes a release, and is back afterwards."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle_lab.papers import ablation
from cantle_lab.papers.harness import Setting

PUBLISH = import_module("cantle.interfaces.publishing").publish


def state() -> tuple[Any, ...]:
    """What the parts replace."""
    return tuple(owner.__dict__[name] for part in ablation.MOSAIC.values() for owner, name, _ in part)


@pytest.mark.parametrize("name", [*ablation.MOSAIC])
def test_a_part_is_switched_off_and_comes_back(name: str) -> None:
    before = state()
    with ablation.without(ablation.MOSAIC[name]):
        changed = sum(one is not other for one, other in zip(before, state(), strict=True))
        assert (changed > 0) == (name != ablation.WHOLE)
    assert state() == before


@pytest.mark.slow
def test_every_part_is_back_after_the_run(small_adult: Path) -> None:
    before = state()
    seen: list[tuple[Any, ...]] = []

    def publish(*given: Any, **options: Any) -> Any:
        seen.append(state())
        return PUBLISH(*given, **options)

    setting = Setting(publish=publish, data_dir=small_adult, quick=True, repeats=1, seed=1, echo=lambda _: None)
    rows = list(ablation.tables(setting))
    assert len(set(seen)) == len(ablation.MOSAIC) == len(seen)
    assert seen[0] == before == state()
    assert {row.series for row in rows} == set(ablation.MOSAIC)
    assert {row.panel for row in rows} == {f"Adult: {name}" for name in ablation.OF_TABLES}
    assert np.isfinite([row.value for row in rows]).all()
