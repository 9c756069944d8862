"""One contract for every engine: the same counts as the naive one, the same seeded run, nothing after close."""

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
from cantle.trusted.geometry.boxes import Cuts, Frontier
from cantle.trusted.keys import ChildSizes, Classes, Key, OneWayEach, OneWays, Sizes
from cantle.trusted.noise import Seeded
from tests.effort import examples
from tests.laws.strategies import Table, able, cuts_of, public_domain, tables
from tests.trusted.engines.naive import NaiveEngine


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


def whole(engine: Any, positions: np.ndarray, key: Key) -> np.ndarray:
    """All chunks put together; they must come in order and leave nothing out."""
    parts, at = [np.zeros((0, key.cells), np.int64)], 0
    for first, last, counts in engine.tally(positions, key):
        assert first == at < last
        assert counts.shape == (last - first, key.cells)
        assert counts.dtype == np.int64
        parts.append(counts)
        at = last
    assert at == len(positions)
    return np.concatenate(parts)


def keys(draw: st.DrawFn, table: Table, nodes: Frontier) -> list[Key]:
    """Every kind of question about these regions."""
    n, attributes = len(nodes), len(table.sizes)
    picked = tuple(draw(st.lists(st.integers(0, attributes - 1), min_size=1, max_size=4)))
    each = np.array([draw(st.integers(0, attributes - 1)) for _ in range(n)], dtype=np.int64)
    point = np.array([draw(st.integers(0, 6)) for _ in range(n)], dtype=np.int64)
    classes = draw(st.sampled_from(sorted({1, table.classes})))
    return [
        Sizes(),
        Classes(table.classes),
        OneWays(picked, tuple(table.sizes[a] for a in picked), classes),
        OneWayEach(each, max(table.sizes), classes),
        ChildSizes(Cuts(each, point)),
    ]


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "naive"])
@examples(12)
@given(data=st.data())
def test_every_engine_counts_like_the_naive_one(name: str, data) -> None:
    table = data.draw(tables(max_records=15))
    engines = [
        opened(NaiveEngine, table),
        opened(ENGINES[name], table, data.draw(st.sampled_from([np.uint8, np.int64]))),
    ]
    nodes, first = Frontier.root(table.sizes), 1
    for _ in range(4):
        mask = [data.draw(st.booleans()) for _ in range(len(nodes))]
        asked = np.flatnonzero(mask)  # gaps, runs, nobody: all must do
        for key in keys(data.draw, table, nodes.take(asked)):
            naive, other = (whole(engine, asked, key) for engine in engines)
            assert naive.tolist() == other.tolist()
        positions = np.flatnonzero(able(nodes) & np.array([data.draw(st.booleans()) for _ in range(len(nodes))], bool))
        if not len(positions):
            return
        nodes = nodes.take(positions)
        cuts = cuts_of(data.draw, nodes)
        for engine in engines:
            engine.split(positions, cuts)
        nodes, first = cuts.children(nodes, first), first + 2 * len(nodes)


@pytest.mark.parametrize("name", ENGINES)
def test_a_split_into_nothing_leaves_no_region(name: str) -> None:
    engine = opened(ENGINES[name], Table((3,), 1, ((0, 0), (2, 0))))
    nobody = np.zeros(0, np.int64)
    engine.split(nobody, Cuts(nobody, nobody))
    assert whole(engine, nobody, Sizes()).tolist() == []


@pytest.mark.parametrize("name", ENGINES)
def test_regions_left_out_of_a_split_are_dropped(name: str) -> None:
    engine = opened(ENGINES[name], Table((4,), 1, tuple((i % 4, 0) for i in range(9))))
    engine.split(np.array([0]), Cuts(np.array([0]), np.array([2])))
    assert whole(engine, np.arange(2), Sizes()).tolist() == [[5], [4]]
    engine.split(np.array([1]), Cuts(np.array([0]), np.array([3])))
    assert whole(engine, np.arange(2), Sizes()).tolist() == [[2], [2]]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_says_its_public_sizes(name: str) -> None:
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
    assert runs[0] == runs[1] == runs[2]
