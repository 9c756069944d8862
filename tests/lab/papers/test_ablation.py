"""Parts that are switched off: each is switched off alone, changes a release, and is back afterwards."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle_lab.papers import ablation, sets
from cantle_lab.papers.harness import Setting

PUBLISH = import_module("cantle.interfaces.publishing").publish


def state() -> tuple[Any, ...]:
    """What the parts replace."""
    parts = [part for every in (ablation.MOSAIC, ablation.BASKETS) for part in every.values()]
    return tuple(owner.__dict__[name] for part in parts for owner, name, _ in part)


@pytest.mark.parametrize("name", [*ablation.MOSAIC, *ablation.BASKETS])
def test_a_part_is_switched_off_and_comes_back(name: str) -> None:
    before = state()
    with ablation.without((ablation.MOSAIC | ablation.BASKETS)[name]):
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


@pytest.mark.slow
def test_parts_of_baskets_change_a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(3)
    items = [np.flatnonzero(dice.random(30) < 0.4 / np.arange(1, 31) ** 0.6) for _ in range(20_000)]
    items = [row if len(row) else np.array([0]) for row in items]
    data = sets.from_frame(pl.DataFrame({"items": [(row + 1).tolist() for row in items]}), 30)
    monkeypatch.setattr(sets, "load", lambda _name, _folder: data)
    monkeypatch.setattr(ablation, "SETS", ("made",))
    setting = Setting(publish=PUBLISH, quick=True, repeats=1, seed=1)
    rows = list(ablation.of_sets(setting))
    assert {row.series for row in rows} == set(ablation.BASKETS)
    assert np.isfinite([row.value for row in rows]).all()
