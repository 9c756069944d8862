"""One contract for all engines in memory: the naive engine's counts, the same run for a seed, nothing after close."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.methods.base import grow
from cantle.methods.rps import RPS
from cantle.trusted.budget import Budget, Unit
from cantle.trusted.curator import Curator
from cantle.trusted.engines.rows import MemoryEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.keys import Sizes
from cantle.trusted.noise import Seeded
from tests.effort import examples
from tests.laws.strategies import Table, public_domain, tables
from tests.trusted.engines.naive import NaiveEngine
from tests.trusted.engines.walks import walk, whole


def small_chunks(*args: Any, **options: Any) -> MemoryEngine:
    return MemoryEngine(*args, chunk_cells=5, **options)


def compiled(*args: Any, **options: Any) -> Any:
    pytest.importorskip("numba")
    from cantle.trusted.engines.rows_compiled import CompiledEngine

    return CompiledEngine(*args, **options)


ENGINES = {
    "naive": NaiveEngine,
    "memory": MemoryEngine,
    "memory, small chunks": small_chunks,
    "compiled": compiled,
    "compiled, small chunks": lambda *args, **options: compiled(*args, chunk_cells=5, **options),
}


def opened(build: Any, table: Table, dtype: Any = np.uint8) -> Any:
    return build(table.codes.astype(dtype), table.labels.astype(dtype), sizes=table.sizes, class_count=table.classes)


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "naive"])
@examples(12)
@given(data=st.data())
def test_every_engine_counts_like_the_naive_one(name: str, data) -> None:
    table = data.draw(tables(max_records=15))
    walk(data.draw, table, opened(ENGINES[name], table, data.draw(st.sampled_from([np.uint8, np.int64]))))


@pytest.mark.parametrize("name", ENGINES)
def test_a_split_of_no_regions_leaves_no_region(name: str) -> None:
    engine = opened(ENGINES[name], Table((3,), 1, ((0, 0), (2, 0))))
    none = np.zeros(0, np.int64)
    engine.split(none, Cuts(none, none))
    assert whole(engine, none, Sizes()) == []


@pytest.mark.parametrize("name", ENGINES)
def test_regions_left_out_of_a_split_are_dropped(name: str) -> None:
    engine = opened(ENGINES[name], Table((4,), 1, tuple((i % 4, 0) for i in range(9))))
    engine.split(np.array([0]), Cuts(np.array([0]), np.array([2])))
    assert whole(engine, np.arange(2), Sizes()) == [[5], [4]]
    engine.split(np.array([1]), Cuts(np.array([0]), np.array([3])))
    assert whole(engine, np.arange(2), Sizes()) == [[2], [2]]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_its_public_sizes(name: str) -> None:
    engine = opened(ENGINES[name], Table((4, 2), 3, ()))
    assert (engine.sizes, engine.classes) == ((4, 2), 3)


@pytest.mark.parametrize("name", ENGINES)
def test_a_closed_engine_counts_nothing(name: str) -> None:
    engine = opened(ENGINES[name], Table((4,), 1, ((1, 0),)))
    engine.close()
    with pytest.raises((AttributeError, KeyError)):
        list(engine.tally(np.array([0]), Sizes()))


@pytest.mark.parametrize("setting", [{"preset": "paper", "depth": 4}, {"preset": "default", "depth": 3}], ids=str)
def test_the_same_seed_gives_the_same_run_on_every_engine(setting: dict[str, Any]) -> None:
    runs = []
    for build in ENGINES.values():
        plan = RPS(public_domain(target=3), **setting)
        generator = np.random.default_rng(8)
        codes = np.stack([generator.integers(0, size, 40) for size in plan.sizes], axis=1)
        engine = build(codes, generator.integers(0, 3, 40), sizes=plan.sizes, class_count=3)
        with Curator(engine, Budget(10**9, Unit()), Seeded(6)) as curator:
            grow(plan, curator)
            receipt = curator.seal()
        leaves = [(nodes.ids.tolist(), nodes.lo.tolist(), noisy.value.tolist()) for nodes, noisy, _ in plan.tree.leaves]
        runs.append((receipt, leaves))
    assert all(run == runs[0] for run in runs)
