"""The degree scheme of the RPS paper is not node-private: the numbers of docs/privacy.md, instance I14."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cantle_lab.papers import rps_degrees
from cantle_lab.papers.graphs import Graph


@pytest.mark.parametrize(
    ("epsilon", "neighbours", "base", "loss"),
    [(12, 20, 60, 22.635), (2, 60, 300, 3.948), (1, 130, 700, 2.618)],
)
def test_i14_smooth_sensitivity_in_every_leaf_is_not_private(
    epsilon: float, neighbours: int, base: int, loss: float
) -> None:
    computed = rps_degrees.hub_loss(epsilon, neighbours, base)
    assert computed == pytest.approx(loss, abs=5.1e-4)
    assert computed - epsilon / 2 > epsilon  # even if the partition made up for half of epsilon


def test_one_leaf_alone_keeps_its_claim() -> None:
    """The flaw is in the sum: every single leaf of the same pair stays below epsilon / 2."""
    epsilon, neighbours, base = 12.0, 20, 60
    joined = base + 2 * np.arange(1, neighbours + 1)
    pendant = np.ones(int((joined - 1).sum()), dtype=np.int64)
    before, after = np.concatenate([[neighbours], joined, pendant]), np.concatenate([joined - 1, pendant])
    losses = [
        rps_degrees.leaves_loss(before, after, np.array([degree, degree + 1]), epsilon)
        for degree in range(base + 1, base + 2 * neighbours + 1)
    ]
    assert max(losses) < epsilon / 2
    assert sum(losses) == pytest.approx(rps_degrees.hub_loss(epsilon, neighbours, base))


def test_the_loss_of_two_cauchy_laws_is_their_largest_log_ratio() -> None:
    x = np.tan(np.linspace(-np.pi / 2, np.pi / 2, 400_001)[1:-1]) * 3
    for place, scale, other_place, other_scale in ((0, 1, 2, 1), (0, 1, 0, 4), (1, 2, -3, 0.5)):
        density = scale / (scale**2 + (x - place) ** 2)
        other_density = other_scale / (other_scale**2 + (x - other_place) ** 2)
        arguments = (np.array(float(v)) for v in (place, scale, other_place, other_scale))
        assert float(rps_degrees.cauchy_loss(*arguments)) == pytest.approx(
            float(np.abs(np.log(density / other_density)).max()), rel=1e-6
        )
    same = np.array([5.0])
    assert rps_degrees.cauchy_loss(same, same, same, same) == 0


def test_a_graph_loses_at_least_what_the_formula_says() -> None:
    """`removal_loss` on the graph of I14 itself, given by its edges, also counts the leaves of other degrees."""
    edges, fresh = [], 21
    for i in range(1, 21):
        edges += [(0, i)] + [(i, fresh + k) for k in range(60 + 2 * i - 1)]
        fresh += 60 + 2 * i - 1
    graph = Graph("made up", np.array(edges), fresh)
    assert graph.degrees[1:21].tolist() == list(range(62, 101, 2))
    after = np.delete(graph.degrees - np.isin(np.arange(fresh), np.arange(1, 21)), 0)
    formula = rps_degrees.hub_loss(12.0, 20, 60)
    assert rps_degrees.leaves_loss(graph.degrees, after, np.arange(61, 102), 12.0) == pytest.approx(formula)
    loss = rps_degrees.removal_loss(graph, 0, 12.0)
    assert loss > formula > 12.0
    assert rps_degrees.worst_removal(graph, 12.0, tried=21) >= loss


def test_no_publisher_uses_the_published_scheme() -> None:
    """Only figures, broken variants and tests may import it; publishing imports no lab
    (tests/architecture/test_imports.py)."""
    source = Path(rps_degrees.__file__).parents[2]
    users = [path for path in source.rglob("*.py") if "rps_degrees" in path.read_text(encoding="utf-8")]
    assert {path.name for path in users} == {"degree_figures.py", "instances.py"}
