"""Exact scores of the candidates of regions: counted, then scored; or both at once where the engine can. Trusted."""

from __future__ import annotations

from collections.abc import Iterator

from cantle.candidates import AllCuts, Candidates, CutsOf
from cantle.engines.base import Chunk, Fused, TableEngine
from cantle.quality import Mix, Quality
from cantle.regions import Frontier, Ints


def cut_scores(
    engine: TableEngine, positions: Ints, nodes: Frontier, candidates: Candidates, quality: Quality
) -> Iterator[Chunk]:
    """Chunks (first, last, exact scores of all candidates of nodes[first:last], region by region)."""
    if isinstance(engine, Fused) and isinstance(quality, Mix) and isinstance(candidates, AllCuts | CutsOf):
        only = candidates.attribute if isinstance(candidates, CutsOf) else None
        weights = quality.even, quality.apart
        yield from engine.cut_scores(positions, nodes.lo, nodes.hi, only, candidates.classes, weights)
        return
    for first, last, exact_counts in engine.tally(positions, candidates.key):
        yield first, last, quality.scores(candidates.sides(nodes, first, exact_counts))
