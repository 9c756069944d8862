"""Records for pruned mass: their distribution, and that those that were counted are recognised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.drawing.counts import public_dice
from cantle.interfaces.publishing import run
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.diffpart.refill import ItemFrequencies, _known, _Level, refill
from cantle.methods.diffpart.tree import CountedParts, KeptPartitions, agree
from cantle.schema.items import Universe
from cantle.schema.sets import SetSchema
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle.trusted.noise import Seeded


def level(masses: list[list[float]], shown: list[float]) -> _Level:
    """A level of the tree whose nodes have children of these masses."""
    edge = np.cumsum([0, *map(len, masses)])
    return _Level(edge, np.array(sum(masses, [])), np.array(shown))


MASSES = st.lists(
    st.lists(st.one_of(st.sampled_from([1e-9, 1.0, 1e9]), st.floats(1e-9, 1e6)), min_size=1, max_size=12),
    min_size=1, max_size=5,
)  # fmt: skip


@given(MASSES, st.integers(0, 2**32))
def test_a_lookup_table_gives_the_child_that_a_search_finds(masses: list[list[float]], seed: int) -> None:
    one_level = level(masses, [1.0])
    node = np.random.default_rng(seed).integers(0, len(masses), 1 + 64 * len(masses))
    listed = one_level._children(node, public_dice(seed))
    few = np.array_split(node, 2)  # too few for a lookup table
    dice = public_dice(seed)
    assert np.concatenate([one_level._children(part, dice) for part in few]).tolist() == listed.tolist()
    assert ((listed >= one_level.first[node]) & (listed < one_level.first[node] + one_level.fan[node])).all()


def by_hand(masses: list[float], shown: list[float], most: int) -> dict[int, float]:
    """The probability of every set of children, for this many draws in which repeats count once."""
    chance: Counter[int] = Counter()
    for number, share in enumerate(shown, 1):
        draws = max(1, min(number, most, len(masses)))
        for chosen in product(range(len(masses)), repeat=draws):
            weight = np.prod([masses[child] / sum(masses) for child in chosen])
            chance[int(np.bitwise_or.reduce([1 << child for child in chosen]))] += share / sum(shown) * weight
    return chance


@pytest.mark.parametrize("most", [-1, 1, 2, 3, 9])
def test_sets_of_children_have_the_distribution_of_their_draws(most: int) -> None:
    masses, shown, number = [[7.0], [4.0, 1.0, 3.0], [1.0, 1.0]], [5.0, 3.0, 1.0, 1.0], 200_000
    drawn = level(masses, shown).draw(np.full(number, 1), np.full(number, most), public_dice(4))
    chance = by_hand(masses[1], shown, most)
    seen = Counter(drawn.tolist())
    assert seen.keys() <= chance.keys()
    for mask, expected in chance.items():
        assert abs(seen[mask] - number * expected) < 5 * np.sqrt(number * expected * (1 - expected)) + 1e-6, mask


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=30), st.integers(0, 2**32))
def test_numbers_of_draws_are_the_same_by_comparison_and_by_search(shown: list[float], seed: int) -> None:
    one_level, dice = level([[1.0] * 40], shown), np.random.default_rng(seed)
    random, most = dice.random(200), dice.integers(-1, 30, 200)
    single = [
        one_level._numbers(np.zeros(len(part), np.int64), most[part], random[part]) for part in np.arange(200)[:, None]
    ]
    assert np.concatenate(single).tolist() == one_level._numbers(np.zeros(200, np.int64), most, random).tolist()


def test_sets_that_were_counted_are_recognised() -> None:
    dice = np.random.default_rng(0)
    pairs = np.unique(np.stack([dice.integers(0, 100, 400), dice.integers(1, 64, 400)], axis=1), axis=0)
    ids, mask = dice.integers(0, 100, 3000), dice.integers(1, 64, 3000)
    known = set(map(tuple, pairs.tolist()))
    expected = [i for i in range(3000) if (int(ids[i]), int(mask[i])) in known]
    assert expected
    assert _known((pairs[:, 0], pairs[:, 1]), ids, mask).tolist() == expected


@cache
def grown_partitions(fanout: int) -> tuple[DiffPart, KeptPartitions]:
    dice = np.random.default_rng(fanout)
    records = [np.unique(dice.zipf(1.3, dice.integers(1, 7)) % 150) for _ in range(8_000)]
    plan = DiffPart(SetSchema(universe=Universe(range(150))), fanout=fanout)
    starts = np.cumsum([0, *map(len, records)])
    store = SetEngine(Ragged(starts, np.concatenate(records).astype(np.int32)), tree=plan.tree, most=plan.most)
    run(plan, store, epsilon_nano=NANO, unit=Unit(), noise=Seeded(1))
    return plan, plan.kept_partitions


@pytest.mark.parametrize("fanout", [4, 12])
def test_every_partition_gets_its_records_and_they_are_in_its_cut(fanout: int) -> None:
    plan, kept_partitions = grown_partitions(fanout)
    parts, leaves = kept_partitions.parts(), kept_partitions.leaves()
    estimate, missing = agree(parts, leaves, [nodes.ids for nodes in kept_partitions.rounds])
    frequencies = ItemFrequencies(plan.tree, kept_partitions.item_sets(), estimate)
    wanted = np.ceil(missing).astype(np.int64)
    kept = CountedParts.join([parts, leaves])
    tables = refill(frequencies, kept_partitions.rounds, kept, wanted, public_dice(3))
    records = [tuple(items[a:b].tolist()) for starts, items in tables for a, b in pairwise(starts)]
    cuts = list(expected_cuts(kept_partitions, wanted))
    assert len(records) == len(cuts) > 1000
    above = nodes_of(plan.tree)
    for record, (height, waiting, below) in zip(records, cuts, strict=True):
        assert list(record) == sorted(set(record))
        # Below the height, a record has the nodes of the cut and no others, and an item under each node that is left.
        touched = {(above[height][item], above[height - 1][item]) for item in record}
        assert {lower for higher, lower in touched if higher not in waiting} == below
        assert {higher for higher, lower in touched if lower not in below} == waiting


def nodes_of(tree: ItemTree) -> list[list[int]]:
    """The node above every item, for each height."""
    above = [np.arange(tree.size)]
    for edge in tree.edges:
        above.append(np.searchsorted(edge, above[-1], side="right") - 1)
    return [nodes.tolist() for nodes in above]


def expected_cuts(kept_partitions: KeptPartitions, wanted: Ints) -> Iterator[tuple[int, set[int], set[int]]]:
    """The cut of each record in the order of drawing: its height, nodes that are left at it, and nodes below it."""
    for nodes in kept_partitions.rounds:
        for height in range(1, int(nodes.height.max(initial=0)) + 1):
            for i in np.flatnonzero(nodes.height == height):
                waiting = nodes.level[nodes.level_starts[i] + nodes.taken[i] : nodes.level_starts[i + 1]]
                below = nodes.below[nodes.below_starts[i] : nodes.below_starts[i + 1]]
                yield from [(height, set(waiting.tolist()), set(below.tolist()))] * int(wanted[nodes.ids[i]])
