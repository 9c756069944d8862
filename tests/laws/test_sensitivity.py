"""Every declared L1 sensitivity holds and is attained, over all small data sets, through the real engine.

Tables and sets have up to two records, graphs up to four nodes (with `-m slow` five), as the shipped reader gives them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from cantle.audit.degrees import Drawing, GraphConfig
from cantle.data.graphs import read_graph
from cantle.errors import ParameterError
from cantle.schema.graph import GraphSchema
from cantle.trusted.claims.degree_queries import (
    GRAPH_KEYS,
    SCALE,
    AtLeast,
    AtMost,
    Bounds,
    DegreesAbove,
    KeptEdges,
    Lag,
    Nodes,
    Projection,
    SortedDegrees,
)
from cantle.trusted.claims.queries import TRUSTED_QUERIES, Cells, Histogram, ItemSets, Marginals, Size
from cantle.trusted.core.budget import NANO, UNITS, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import MergedOneWays, OneWays
from cantle.trusted.counting.graph import GraphEngine
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Cuts, Frontier
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import ItemTree, Kept
from cantle.trusted.noise import Seeded
from tests.effort import slow
from tests.laws.strategies import Table, all_records, all_tables

SIZES, CLASSES, MOST = (2, 3), 2, 2
CUT = Cuts(np.array([1]), np.array([1]))


# Queries and their sensitivity per record.
INSTANCES = {
    Size: [(Size(), 1)],
    Histogram: [(Histogram(CLASSES), 1)],
    Marginals: [
        (Marginals(OneWays((0,), (2,), 1)), 1),
        (Marginals(OneWays((1,), (3,), CLASSES)), 1),
        (Marginals(OneWays((0, 1), SIZES, 1)), 2),
        (Marginals(OneWays((0, 1), SIZES, CLASSES)), 2),
        (Marginals(OneWays((1, 0, 1), (3, 2, 3), 1)), 3),
        (Marginals(OneWays((0, 1), SIZES, 1), (0, 2)), 2),
        (Marginals(OneWays((0, 1), SIZES, 1), (0, 1, 2, 4)), 2),
        (Marginals(OneWays((1, 0, 1), (3, 2, 3), 1), (0, 2, 3, 5)), 3),
    ],
}
CASES = [(kind, i) for kind in INSTANCES for i in range(len(INSTANCES[kind]))]
DATA = list(all_tables(SIZES, CLASSES, MOST))


@cache
def engine_of(records: tuple[tuple[int, ...], ...], split: bool) -> WordEngine:
    """An engine with the records at the root, or split by CUT; queries do not change it."""
    engine = Table(SIZES, CLASSES, records).engine()
    if split:
        engine.split(np.array([0]), CUT)
    return engine


@cache
def tally(kind: type, number: int, records: tuple[tuple[int, ...], ...], split: bool) -> np.ndarray:
    """All cells of all regions, as the engine counts them: those of the root, or of both children of CUT."""
    engine = engine_of(records, split)
    regions = np.arange(2 if split else 1)
    key = INSTANCES[kind][number][0].key
    merged = isinstance(key, MergedOneWays)
    found = [counts for _, _, counts in engine.tally(regions, key.tables if merged else key)]
    return np.concatenate([(key.merged(counts) if merged else counts).reshape(-1) for counts in found])


def worst(kind: type, number: int, held: int, added: int, split: bool) -> int:
    """The largest L1 change of the whole tally, over all data sets of up to `held` records and all records added."""
    most, tables = 0, [table for table in DATA if len(table.records) <= held]
    for more in combinations_with_replacement(all_records(SIZES, CLASSES), added):
        for table in tables:
            before = tally(kind, number, table.records, split)
            after = tally(kind, number, tuple(sorted(table.records + more)), split)
            most = max(most, int(np.abs(after - before).sum()))
    return most


FEW, MANY = 4, 5
"""The largest numbers of nodes of a graph by default, and with `-m slow`."""


def graph_queries(nodes: int) -> list[Any]:
    """All queries of graphs, with all bounds that a degree can reach."""
    kinds = (KeptEdges, AtMost, AtLeast, DegreesAbove)
    return [*(kind(most) for kind in kinds for most in range(1, nodes)), Nodes(), SortedDegrees(nodes)]


GRAPH_QUERIES = graph_queries(MANY)


def test_every_trusted_query_is_tried() -> None:
    assert set(TRUSTED_QUERIES) == {*INSTANCES, ItemSets}, "a query was added: give it instances here"
    assert set(GRAPH_KEYS) == {type(query) for query in GRAPH_QUERIES}, "a query of graphs was added: list it here"


@pytest.mark.parametrize("split", [False, True], ids=["root", "two regions"])
@pytest.mark.parametrize(("held", "records"), [(MOST, 1), (1, 2), pytest.param(MOST, 2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kind", "number"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_sensitivity_holds_and_is_attained(kind: type, number: int, held: int, records: int, split: bool) -> None:
    """Also for two regions together: a record changes the cells of one of them only."""
    query, per_record = INSTANCES[kind][number]
    declared = query.sensitivity(Unit(records))
    assert declared == per_record * records
    assert worst(kind, number, held, records, split) == declared


@pytest.mark.parametrize(("kind", "number"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_the_number_of_cells_is_that_of_the_key(kind: type, number: int) -> None:
    cells = INSTANCES[kind][number][0].key.cells
    for table in DATA[:20]:
        assert len(tally(kind, number, table.records, False)) == cells


@pytest.mark.parametrize("kind", [*TRUSTED_QUERIES, *GRAPH_KEYS], ids=lambda kind: kind.__name__)
def test_every_trusted_query_states_its_claim(kind: type) -> None:
    assert re.search(r"^ *Claim \d+\. Sensitivity ", kind.__doc__ or "", re.MULTILINE)


@pytest.mark.parametrize("together", [False, True])
def test_the_cells_of_a_grid_change_by_one_in_all(together: bool) -> None:
    """Claim 23, through the engine: a record is in one cell of one class, whatever the grid."""
    nodes, root = Frontier.root(SIZES), np.zeros(1, dtype=np.int64)
    for grid in (Grid.top(SIZES), Grid.top(SIZES).refine(1, (1,)), Grid.top(SIZES).refine(0, (1,)).refine(1, (1, 2))):
        query = Cells(grid, CLASSES, together)
        assert [query.sensitivity(Unit(k)) for k in (1, 2)] == [1, 2]
        total = int(query.totals(nodes)[0])
        assert total == grid.cells * (1 if together else CLASSES)

        def cells(records: tuple[tuple[int, ...], ...], query: Cells = query, total: int = total) -> np.ndarray:
            table = Table(SIZES, CLASSES, records)
            engine = table.engine()
            starts, entries, counts = query.occupied(engine, root, nodes)
            assert starts.tolist() == [0, len(entries)]
            assert (np.diff(entries) > 0).all()
            dense = np.zeros(total, dtype=np.int64)
            dense[entries] = counts
            return dense

        for table in DATA:
            before = cells(table.records)
            assert before.sum() == len(table.records)
            for record in all_records(SIZES, CLASSES):
                assert np.abs(cells((*table.records, record)) - before).sum() == 1


# ---- sets -----------------------------------------------------------------------------------------------------------

ITEMS = 3
SETS = [record for n in range(1, ITEMS + 1) for record in combinations(range(ITEMS), n)]


def set_engine(records: tuple[tuple[int, ...], ...], fanout: int, most: int) -> SetEngine:
    starts = np.cumsum([0, *map(len, records)], dtype=np.int64)
    items = np.array([item for record in records for item in record], dtype=np.int32)
    return SetEngine(Ragged(starts, items), tree=ItemTree.of(ITEMS, fanout, even=True), most=most)


@pytest.mark.parametrize("records", [1, 2])
def test_counts_of_all_sets_change_by_one_per_record(records: int) -> None:
    """Claim 30."""
    query = ItemSets(ITEMS)
    assert query.sensitivity(Unit(records)) == records
    assert query.key.cells == len(SETS)
    for few in product(range(3), repeat=2):
        for more in combinations_with_replacement(SETS, records):
            before = tuple(SETS[i] for i in few)
            counts_before, counts_after = (
                next(iter(set_engine(records_, ITEMS, ITEMS).tally(np.zeros(1, np.int64), query.key)))[2]
                for records_ in (before, before + more)
            )
            assert np.abs(counts_after - counts_before).sum() == records


@pytest.mark.parametrize("most", [1, 2, 3])
def test_counts_of_sub_partitions_change_by_one_per_record(most: int) -> None:
    """Claim 29, over all partitions of a round together, whatever was kept before."""
    for keep in ((1,), (2,), (1, 2), (1, 2, 3)):
        if max(mask.bit_count() for mask in keep) > most:
            continue
        kept = Kept(np.zeros(len(keep), np.int64), np.array(keep))

        def counts(records: tuple[tuple[int, ...], ...], kept: Kept = kept) -> list[dict[tuple[int, int], int]]:
            engine, counts_by_depth = set_engine(records, 2, most), []
            for positions in (np.zeros(1, np.int64), np.arange(len(kept.rows))):
                starts, masks, numbers = engine.touched(positions)
                owner = np.repeat(positions, np.diff(starts))
                pairs = zip(owner.tolist(), masks.tolist(), strict=True)
                counts_by_depth.append(dict(zip(pairs, numbers.tolist(), strict=True)))
                if not len(counts_by_depth) - 1:
                    engine.split(positions, kept)
            return counts_by_depth

        worst = [0, 0]
        for before in ((), SETS[:1], SETS[3:5], SETS):
            for record in SETS:
                both = zip(counts(tuple(before)), counts((*before, record)), strict=True)
                for depth, (counts_before, counts_after) in enumerate(both):
                    moved = sum(
                        abs(counts_after.get(cell, 0) - counts_before.get(cell, 0))
                        for cell in {*counts_before, *counts_after}
                    )
                    worst[depth] = max(worst[depth], moved)
        assert worst == [1, 1]


# ---- graphs ---------------------------------------------------------------------------------------------------------

INPUTS = {
    "node": GraphConfig("", (), {}, 1),
    "node, not listed": GraphConfig("", (), {}, 1, listed=False),
    "node-isolate": GraphConfig("", (), {}, 1, relation="node-isolate", records=5),
    "edge": GraphConfig("", (), {}, 1, relation="edge", records=5),
}
PROVED: dict[str, dict[type, Any]] = {
    "node": {KeptEdges: lambda t: t, AtMost: lambda t: t + 1, AtLeast: lambda t: 2 * t, Nodes: lambda _: 1},
    "node, not listed": {KeptEdges: lambda t: t, AtLeast: lambda t: 2 * t},
    "node-isolate": {KeptEdges: lambda t: t, AtLeast: lambda t: 2 * t},
    "edge": {SortedDegrees: lambda _: 2, DegreesAbove: lambda _: 2},
}
"""Sensitivities that are written down here, not taken from the code under test."""


def of_size(source: str, nodes: int) -> GraphConfig:
    return replace(INPUTS[source], records=nodes)


@pytest.mark.parametrize("nodes", slow([FEW, MANY], MANY))
@pytest.mark.parametrize("source", PROVED)
def test_graph_sensitivities_hold_and_are_attained(source: str, nodes: int) -> None:
    """Claims 31 to 36, over all graphs of up to `nodes` nodes and all their neighbours."""
    config = of_size(source, nodes)
    asked = [query for query in graph_queries(nodes) if type(query) in PROVED[source]]

    @cache
    def answers(graph: Drawing) -> dict[Any, np.ndarray]:
        """The exact answers to all queries that have a proof for this unit."""
        engine = config.engine(graph)
        assert all(query.fits(engine.root(), engine.domain) for query in asked)
        return {query: next(iter(engine.tally(np.zeros(1, np.int64), query)))[2][0] for query in asked}

    worst: dict[Any, int] = {}
    for less, more in config.pairs():
        before, after = answers(less), answers(more)
        for query, counts in before.items():
            worst[query] = max(worst.get(query, 0), int(np.abs(after[query] - counts).sum()))
            assert len(counts) == query.key.cells
    assert set(worst) == set(asked)
    for query, most in worst.items():
        size = getattr(query, "theta", None) or getattr(query, "most", None)
        declared = query.sensitivity(Unit(kind=config.relation))
        assert most == declared == PROVED[source][type(query)](size), query


@pytest.mark.parametrize("unit", UNITS)
def test_queries_without_a_proof_for_the_unit_are_refused(unit: str) -> None:
    for query in GRAPH_QUERIES:
        proved = {INPUTS[source].relation for source, kinds in PROVED.items() if type(query) in kinds}
        if unit in proved:
            assert query.sensitivity(Unit(kind=unit)) >= 1, query
            continue
        with pytest.raises(ParameterError, match="has no proof for the unit"):
            query.sensitivity(Unit(kind=unit))


@pytest.mark.parametrize(
    ("theta", "nodes"), [(2, FEW), *(pytest.param(theta, MANY, marks=pytest.mark.slow) for theta in (1, 2, 3))]
)
@pytest.mark.parametrize("source", ["node", "node, not listed", "node-isolate"])
def test_projected_degrees_as_records_change_by_the_records_of_the_unit(source: str, theta: int, nodes: int) -> None:
    """Claim 39: records inserted into and deleted from the table, over all graphs of up to `nodes` nodes."""
    config = of_size(source, nodes)

    @cache
    def table(graph: Drawing) -> np.ndarray:
        ((_, _, counts),) = config.engine(graph).as_table(theta).tally(np.zeros(1, int), OneWays((0,), (theta + 1,), 1))
        return counts[0]

    worst = max(int(np.abs(table(more) - table(less)).sum()) for less, more in config.pairs())
    curator = Curator(config.engine(((), ())), Budget(NANO, Unit(kind=config.relation)), Seeded(0))
    curator.split(curator.root(), Projection(theta))
    bound = curator.unit.max_records
    assert bound == 2 * theta + (2 if config.relation == "node-isolate" else 1)
    # If zeros are not in the table, a degree that falls to 0 is one deletion; under theta = 1 that is all that happens.
    assert worst == (bound if source == "node" else 2 * theta + 1 if theta > 1 else 2)


LADDERS = [(1, 2, 4), (3,), (1, 2, 3, 4), (2, 3), (1, 4)]


@pytest.mark.parametrize(
    ("thetas", "nodes"),
    [((1, 2, 4), FEW), *(pytest.param(thetas, MANY, marks=pytest.mark.slow) for thetas in LADDERS)],
    ids=str,
)
def test_scores_of_bounds_change_by_at_most_their_range(thetas: tuple[int, ...], nodes: int) -> None:
    """Claim 37, for several penalties, over all graphs of up to `nodes` nodes and both units of nodes."""
    penalties = [(0,) * len(thetas), tuple(3 * theta for theta in thetas), tuple(theta**2 for theta in thetas),
                 tuple(2**60 - theta for theta in thetas), tuple(i << 57 for i in range(len(thetas)))]  # fmt: skip
    worst = 0
    for source in ("node", "node-isolate"):
        config = of_size(source, nodes)

        @cache
        def kept(graph: Drawing, config: GraphConfig = config) -> list[int]:
            engine = config.engine(graph)
            return [engine.kept(theta) for theta in thetas]

        pairs = {(tuple(kept(less)), tuple(kept(more))) for less, more in config.pairs()}
        for penalty in penalties:
            bounds = Bounds(thetas, penalty)
            for less, more in pairs:
                before, after = (np.array(bounds.scores(list(edges)), dtype=np.int64) for edges in (less, more))
                change = after - before
                assert np.abs(change).max() <= SCALE + 1
                assert np.ptp(change) <= Lag().range
                worst = max(worst, int(np.abs(change).max()))
    assert Lag().range == 2 * (SCALE + 1)
    # One bound leaves nothing to choose. Otherwise scores change by up to SCALE, which is attained with a bound of 1.
    assert worst == 0 if len(thetas) == 1 else worst <= SCALE
    assert worst == SCALE or 1 not in thetas


# ---- listed nodes ---------------------------------------------------------------------------------------------------

NODE_SCHEMA = GraphSchema.from_dict({"kind": "graph"})


def listed_answers(edges: tuple[tuple[int, int], ...], nodes: tuple[int, ...]) -> list[np.ndarray]:
    engine = GraphEngine(read_graph(list(edges), NODE_SCHEMA, list(nodes)))
    keys = (Nodes(), AtMost(1), AtMost(2), AtLeast(2), KeptEdges(2))
    return [next(iter(engine.tally(np.zeros(1, np.int64), key)))[2][0] for key in keys]


@pytest.mark.parametrize("size", slow([3, 4], 4))
def test_an_incomplete_list_of_nodes_keeps_the_sensitivities(size: int) -> None:
    """A node known only from its edges must not appear and disappear with other nodes.

    All lists and all graphs of few nodes are tried, each without the entry and the edges of every node.
    """
    labels = range(size)
    pairs = list(combinations(labels, 2))
    answers = cache(listed_answers)
    bounds = [1, 2, 3, 4, 2]
    for number, chosen in product(range(2 ** len(pairs)), range(2**size)):
        edges = tuple(pair for i, pair in enumerate(pairs) if number >> i & 1)
        nodes = tuple(label for label in labels if chosen >> label & 1)
        for gone in labels:
            less = tuple(edge for edge in edges if gone not in edge), tuple(node for node in nodes if node != gone)
            for bound, before, after in zip(bounds, answers(*less), answers(edges, nodes), strict=True):
                assert np.abs(after - before).sum() <= bound
