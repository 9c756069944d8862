"""Evaluation of degree sequences: reading graphs, distances, Hay et al., and the published RPS scheme."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from cantle.errors import DataError, ParameterError
from cantle.interfaces.publishing import publish
from cantle_lab.papers import baselines, graphs, rps_degrees
from cantle_lab.papers.metrics import emd, ks, w1

RING = "# Directed both ways, with a loop\n0 1\n1 0\n1\t2\n2 3\n3 0\n3 3\n"


def power_law(nodes: int, seed: int = 1) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).zipf(1.8, nodes), 1, nodes - 1)


# ---- graphs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "opener"), [(".txt", open), (".txt.xz", lzma.open), (".txt.gz", gzip.open)])
def test_edge_lists_are_read_and_made_simple(ending: str, opener: object, tmp_path: Path) -> None:
    folder = tmp_path / "graph-email-enron"
    folder.mkdir()
    with opener(folder / f"email-Enron{ending}", "wt") as file:  # type: ignore[operator]
        file.write(RING)
    graph = graphs.load(tmp_path, "Enron")
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert graph.degrees.tolist() == [2, 2, 2, 2]
    assert sorted(graph.neighbours(0).tolist()) == [1, 3]
    assert graphs.statistics(graph)[:2] == (4, 4)


@pytest.mark.parametrize("text", ["a b\n", "1 2 3\n", "-1 2\n", "1\n", ""])
def test_files_that_are_no_edge_list_are_refused_without_quoting_them(text: str, tmp_path: Path) -> None:
    (tmp_path / "graph-email-enron").mkdir()
    (tmp_path / "graph-email-enron" / "email-Enron.txt").write_text(text)
    with pytest.raises(DataError, match="email-Enron.txt is not an edge list"):
        graphs.load(tmp_path, "Enron")


def test_missing_graphs_are_named_and_left_out(tmp_path: Path) -> None:
    printed: list[str] = []
    with pytest.raises(DataError, match="none of the data sets could be read"):
        graphs.present(tmp_path, "rps-degrees", printed.append)
    assert len(printed) == 4
    assert printed[1].startswith("rps-degrees: Georgetown is left out: no graph-facebook100/Georgetown15.txt")
    with pytest.raises(ParameterError, match="--data DIR"):
        graphs.present(None, "rps-degrees", printed.append)


def test_the_power_law_coefficient_is_found() -> None:
    drawn = np.random.default_rng(3).zipf(1.9, 200_000)
    assert graphs.power_law(drawn) == pytest.approx(1.9, abs=0.01)
    assert graphs.power_law(np.ones(9, dtype=np.int64)) == np.inf


@pytest.mark.parametrize("name", list(graphs.SOURCES))
def test_the_real_graphs_have_the_statistics_of_the_paper(name: str, real_data: Path) -> None:
    measured, published = graphs.statistics(graphs.load(real_data, name)), graphs.SOURCES[name].published
    assert measured._replace(alpha=0) == published._replace(alpha=0)


# ---- distances ------------------------------------------------------------------------------------------------------


def test_ks_by_hand() -> None:
    assert ks([1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert ks([0, 0], [5, 5, 5]) == 1
    assert ks([1, 2, 3, 4], [2, 2, 3, 9]) == 0.25
    assert ks([1, 2], [1, 2, 2]) == pytest.approx(1 / 6)  # samples of different sizes: 1/2 and 1/3 at 1
    assert ks([1, 2], []) == 1
    with pytest.raises(ParameterError, match="the raw sample is empty"):
        ks([], [1])


def test_ks_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, y = rng.integers(0, 30, 40), rng.integers(2, 25, 57)
        assert ks(x, y) == pytest.approx(stats.ks_2samp(x, y, method="asymp").statistic)


def test_moved_by_hand() -> None:
    assert (emd([0, 0], [0, 2]), w1([0, 0], [0, 2])) == (pytest.approx(2**0.5), 1.0)
    # 1 at both halves, compared with 0, 3, 3 at thirds: |1-0| for 1/3, |1-3| for 2/3
    assert emd([1, 1], [0, 3, 3]) == pytest.approx(3**0.5)
    assert w1([1, 1], [0, 3, 3]) == pytest.approx(5 / 3)
    assert emd([1], []) == w1([1], []) == np.inf


# ---- Hay et al. -----------------------------------------------------------------------------------------------------


def test_isotonic_regression_is_the_least_squares_fit() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        y = rng.normal(size=8)
        # the min-max formula of isotonic regression
        means = [[y[i : j + 1].mean() if j >= i else np.inf for j in range(8)] for i in range(8)]
        fit = [max(min(means[i][j] for j in range(k, 8)) for i in range(k + 1)) for k in range(8)]
        np.testing.assert_allclose(baselines.isotonic(y), fit)
    assert baselines.isotonic(np.empty(0)).tolist() == []


@pytest.mark.parametrize(
    "publish", [lambda d, e, r: baselines.hay_edge(d, e, r), lambda d, e, r: baselines.hay_node(d, e, 60, r)]
)
def test_a_release_of_hay_is_ascending_in_range_and_near_for_a_large_epsilon(publish: object) -> None:
    degrees = np.minimum(power_law(300), 60)
    rng = np.random.default_rng(5)
    released = publish(degrees, 0.1, rng)  # type: ignore[operator]
    assert len(released) == 300
    assert (np.diff(released) >= 0).all()
    assert released.min() >= 0
    assert released.max() <= 299
    np.testing.assert_array_equal(publish(degrees, 1e6, rng), np.sort(degrees))  # type: ignore[operator]


def test_the_noise_of_hay_is_scaled_by_the_change_of_one_unit() -> None:
    """Far from both ends, with gaps so wide that the regression changes nothing, the noise is visible."""
    degrees = np.arange(1, 2_001) * 10_000
    rng = np.random.default_rng(6)
    for maximum, epsilon in ((30_000_000, 1e5), (30_000_000, 4e5)):
        noise = baselines.hay_node(degrees, epsilon, maximum, rng) - degrees
        assert np.abs(noise).mean() == pytest.approx(2 * maximum / epsilon, rel=0.1)  # E|Laplace(b)| = b
    noise = baselines.hay_edge(np.arange(2_000), 0.5, rng) - np.arange(2_000)
    assert 0 < np.abs(noise).mean() < 4


def test_hay_without_degrees_and_without_epsilon() -> None:
    rng = np.random.default_rng(1)
    assert baselines.hay_edge(np.empty(0, dtype=np.int64), 1, rng).tolist() == []
    with pytest.raises(ParameterError, match="epsilon"):
        baselines.hay_edge(np.array([1]), -1, rng)


# ---- RPS as published -----------------------------------------------------------------------------------------------


def brute_smooth(degrees: np.ndarray, low: int, high: int, beta: float) -> float:
    """The definition, computed degree by degree over a wide enough range."""
    best = 0.0
    for j in range(4_000):
        near = sum(low - 1 - j <= d <= low + j or high - 1 - j <= d <= high + j for d in degrees.tolist())
        best = max(best, float(np.exp(-beta * j)) * (near + j + 1))
    return best


@pytest.mark.parametrize("beta", [0.002, 0.05, 0.5, 3.0])
def test_the_smooth_sensitivity_agrees_with_the_definition(beta: float) -> None:
    degrees = np.array([0, 1, 1, 1, 4, 4, 9, 10, 30])
    edges = np.array([0, 1, 3, 4, 10, 20, 31])
    computed = rps_degrees.smooth_sensitivity(np.bincount(degrees), edges, beta)
    expected = [brute_smooth(degrees, a, b, beta) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    np.testing.assert_allclose(computed, expected)


def test_the_smooth_sensitivity_bounds_the_change_of_a_count_and_is_smooth() -> None:
    """For a single count the scheme is right: removing a node changes it by S at most, and S by a factor of e^beta."""
    rng, beta = np.random.default_rng(7), 0.3
    edges = np.array([0, 1, 2, 3, 5, 8, 12])
    for _ in range(30):
        joined = np.triu(rng.random((11, 11)) < 0.4, 1)
        joined |= joined.T
        before, after = joined.sum(axis=0), joined[1:, 1:].sum(axis=0)
        counts = [np.bincount(d, minlength=12) for d in (before, after)]
        smooth = [rps_degrees.smooth_sensitivity(c, edges, beta) for c in counts]
        sizes = [rps_degrees.leaf_law(c, edges, 1.0)[0] for c in counts]
        assert (np.abs(sizes[0] - sizes[1]) <= np.minimum(*smooth)).all()
        assert (np.abs(np.log(smooth[0] / smooth[1])) <= beta + 1e-12).all()


def test_regions_form_a_partition_of_at_most_the_given_depth() -> None:
    rng = np.random.default_rng(8)
    counts = np.bincount(power_law(200), minlength=200)
    for depth in (1, 3, 15):
        edges = rps_degrees.partition(counts, 0.5, depth, rng)
        assert (edges[0], edges[-1]) == (0, 200)
        assert (np.diff(edges) > 0).all()
        assert len(edges) - 1 <= 2**depth
    assert len(rps_degrees.partition(counts, 0.5, 1, rng)) == 3
    assert rps_degrees.partition(np.array([5]), 0.5, 15, rng).tolist() == [0, 1]


def test_the_partition_draws_by_equation_4() -> None:
    """For one cut of four degrees and an epsilon at which weights differ, frequencies follow exp(eps min/(2n+1))."""
    counts, epsilon, rng = np.array([10, 20, 5, 15]), 6.0, np.random.default_rng(9)
    drawn = np.bincount([rps_degrees.partition(counts, epsilon, 1, rng)[1] for _ in range(5_000)], minlength=4)[1:]
    weight = np.exp(epsilon * np.array([10, 20, 15]) / 101)
    expected = 5_000 * weight / weight.sum()
    assert ((drawn - expected) ** 2 / expected).sum() < 18.4  # chi-square, 2 degrees of freedom, p = 1e-4


def test_the_published_release_has_n_ascending_degrees() -> None:
    rng = np.random.default_rng(10)
    degrees = power_law(500)
    for maximum in (int(degrees.max()), 499):
        for epsilon in (0.01, 1.0, 1e9):
            released = rps_degrees.release(degrees, epsilon, maximum, rng)
            assert len(released) == 500
            assert (np.diff(released) >= 0).all()
            assert 0 <= released.min() <= released.max() <= maximum
    assert (
        ks(degrees, rps_degrees.release(degrees, 1e9, int(degrees.max()), rng)) < 0.02
    )  # leaves with 2 degrees remain
    with pytest.raises(ParameterError, match="no degree above the maximum"):
        rps_degrees.release(degrees, 1.0, 3, rng)


@pytest.mark.parametrize(
    ("name", "rps", "node", "edge"),
    [
        ("Caltech", (0.20, 0.55), (0.33, 0.65), (0.02, 0.05)),
        ("Georgetown", (0.12, 0.45), (0.25, 0.55), (0.005, 0.012)),
    ],
)
def test_distances_on_the_real_graphs(
    name: str, rps: tuple[float, float], node: tuple[float, float], edge: tuple[float, float], real_data: Path
) -> None:
    """At epsilon 1 with a known maximum degree: means of ten runs, in wide ranges around those of longer runs."""
    degrees, rng = graphs.load(real_data, name).degrees, np.random.default_rng(11)
    maximum = int(degrees.max())
    runs = {
        rps: lambda: rps_degrees.release(degrees, 1.0, maximum, rng),
        node: lambda: baselines.hay_node(degrees, 1.0, maximum, rng),
        edge: lambda: baselines.hay_edge(degrees, 1.0, rng),
    }
    for (low, high), run in runs.items():
        assert low < np.mean([ks(degrees, run()) for _ in range(10)]) < high


def released(graph: graphs.Graph, unit: str, epsilon: float) -> list[tuple[float, float]]:
    """KS and W1 of five seeded releases."""
    public = {} if unit == "node" else {"nodes": graph.nodes}
    listed = {"nodes": np.arange(graph.nodes)} if unit == "node" else {}
    schema, distances = {"kind": "graph", "unit": unit} | public, []
    for seed in range(5):
        release = publish(graph.edges, schema, epsilon=epsilon, insecure_seed=seed, **listed)
        degrees = release.records["degree"].to_numpy()
        distances.append((ks(graph.degrees, degrees), w1(graph.degrees, degrees)))
    return distances


@pytest.mark.parametrize(
    ("name", "unit", "epsilon", "most_ks", "most_w1"),
    [
        ("Enron", "node", 1, 0.10, 1.6),
        ("Georgetown", "node", 1, 0.07, np.inf),
        ("UNC", "node", 1, 0.05, np.inf),
        ("Enron", "edge", 0.1, 0.01, 0.25),
        ("Georgetown", "edge", 0.1, 0.02, np.inf),
    ],
)
def test_releases_of_the_real_graphs_are_as_near_as_documented(
    name: str, unit: str, epsilon: float, most_ks: float, most_w1: float, real_data: Path
) -> None:
    """Means of five runs are within the documented limits."""
    far, moved = np.mean(released(graphs.load(real_data, name), unit, epsilon), axis=0)
    assert far <= most_ks
    assert moved <= most_w1


@pytest.mark.parametrize("name", ["Georgetown", "UNC", "Enron"])
@pytest.mark.parametrize("epsilon", [0.5, 1])
def test_releases_are_nearer_than_those_of_hay(name: str, epsilon: float, real_data: Path) -> None:
    """This is by KS distance, although the method of Hay et al. gets the largest degree."""
    graph, rng = graphs.load(real_data, name), np.random.default_rng(5)
    maximum = int(graph.degrees.max())
    theirs = [ks(graph.degrees, baselines.hay_node(graph.degrees, epsilon, maximum, rng)) for _ in range(5)]
    assert np.mean(released(graph, "node", epsilon), axis=0)[0] < np.mean(theirs) / 2
