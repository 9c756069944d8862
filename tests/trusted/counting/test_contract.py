"""One contract for all forms of the word engine: the naive engine's counts, the same run for a seed, nothing after
close."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.methods.rps.method import RPS
from cantle.trusted.claims.queries import Size
from cantle.trusted.core.budget import Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting import words
from cantle.trusted.geometry import grid
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.noise import Seeded
from tests.effort import examples
from tests.laws.strategies import Table, public_domain, tables
from tests.trusted.counting.naive import NaiveEngine
from tests.trusted.counting.walks import grids, walk, whole
from tests.trusted.counting.word_engines import WORD_ENGINES, Build, batches_of

ENGINES: dict[str, Build] = {"naive": NaiveEngine, **WORD_ENGINES}


def opened(build: Any, table: Table, dtype: Any = np.uint8) -> Any:
    return build(table.codes.astype(dtype), table.labels.astype(dtype), sizes=table.sizes, class_count=table.classes)


@pytest.mark.parametrize("batch", [3, 1 << 16])
@pytest.mark.parametrize("name", WORD_ENGINES)
@examples(8)
@given(data=st.data())
def test_every_engine_counts_regions_like_the_naive_one(name: str, batch: int, data) -> None:
    table = data.draw(tables(max_records=15))
    with batches_of(batch):
        walk(data.draw, table, opened(WORD_ENGINES[name], table, data.draw(st.sampled_from([np.uint8, np.int64]))))


@pytest.mark.parametrize("dense", [1 << 20, 0], ids=["dense", "sorted"])
@pytest.mark.parametrize("looked_up", [1 << 22, 0], ids=["by table", "by search"])
@pytest.mark.parametrize("name", WORD_ENGINES)
@examples(4)
@given(data=st.data())
def test_every_engine_counts_grids_like_the_naive_one(name: str, looked_up: int, dense: int, data) -> None:
    table = data.draw(tables(max_records=15))
    with batches_of(data.draw(st.sampled_from([3, 1 << 16]))), pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "LOOKED_UP", looked_up)
        patch.setattr(words, "DENSE", dense)
        grids(data.draw, table, opened(WORD_ENGINES[name], table))


@pytest.mark.parametrize("name", ENGINES)
def test_a_split_of_no_regions_leaves_no_region(name: str) -> None:
    engine = opened(ENGINES[name], Table((3,), 1, ((0, 0), (2, 0))))
    none = np.zeros(0, np.int64)
    engine.split(none, Cuts(none, none))
    assert whole(engine, none, Size()) == []


@pytest.mark.parametrize("name", ENGINES)
def test_regions_left_out_of_a_split_are_dropped(name: str) -> None:
    engine = opened(ENGINES[name], Table((4,), 1, tuple((i % 4, 0) for i in range(9))))
    engine.split(np.array([0]), Cuts(np.array([0]), np.array([2])))
    assert whole(engine, np.arange(2), Size()) == [[5], [4]]
    engine.split(np.array([1]), Cuts(np.array([0]), np.array([3])))
    assert whole(engine, np.arange(2), Size()) == [[2], [2]]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_its_public_sizes(name: str) -> None:
    engine = opened(ENGINES[name], Table((4, 2), 3, ()))
    assert (engine.sizes, engine.classes) == ((4, 2), 3)


@pytest.mark.parametrize("name", ENGINES)
def test_a_closed_engine_counts_nothing(name: str) -> None:
    engine = opened(ENGINES[name], Table((4,), 1, ((1, 0),)))
    engine.close()
    with pytest.raises((AttributeError, KeyError)):
        list(engine.tally(np.array([0]), Size()))


@pytest.mark.parametrize("setting", [{"preset": "paper", "depth": 4}, {"preset": "default", "depth": 3}], ids=str)
def test_the_same_seed_gives_the_same_run_on_every_engine(setting: dict[str, Any]) -> None:
    runs = []
    for build in ENGINES.values():
        plan = RPS(public_domain(target=3), **setting)
        generator = np.random.default_rng(8)
        codes = np.stack([generator.integers(0, size, 40) for size in plan.sizes], axis=1)
        engine = build(codes, generator.integers(0, 3, 40), sizes=plan.sizes, class_count=3)
        with Curator(engine, Budget(10**9, Unit()), Seeded(6)) as curator:
            plan.run(curator)
            receipt = curator.seal()
        leaves = [(nodes.ids.tolist(), nodes.lo.tolist(), noisy.value.tolist()) for nodes, noisy, _ in plan.tree.leaves]
        runs.append((receipt, leaves))
    assert all(run == runs[0] for run in runs)
