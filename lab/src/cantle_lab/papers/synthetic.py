"""The generated data of RPS section 4.1, from a seed; parameters that the paper does not print are ours."""

from __future__ import annotations

import numpy as np
import polars as pl

from cantle_lab.documents import TableDocument, number
from cantle_lab.papers.coding import Floats, Ints

LOW, HIGH = 0, 100
SEED = 2012

# Section 4.1: three Gaussians "with different means and different covariance matrices"; it prints none.
MEANS = ((30, 30, 35, 40, 50), (60, 55, 65, 45, 30), (50, 75, 30, 70, 70))
DEVIATIONS = ((12, 12, 12, 12, 12), (10, 14, 8, 16, 12), (16, 9, 13, 10, 14))
CORRELATIONS = (0.3, -0.2, 0.5)


def normal(rows: int = 10_000, seed: int = SEED) -> tuple[pl.DataFrame, TableDocument]:
    """The table of figure 1, with one column `x` from N(50, 25 squared), and its schema.

    The paper does not give the domain. Its figure 1(b) allows only one choice, which is to clip the data to [0, 100]
    first: the EMD of unclipped data from any release on that domain would be at least about 2.7.
    """
    x = np.random.default_rng(seed).normal(50, 25, rows)
    return pl.DataFrame({"x": _on_grid(x)}), schema(["x"])


def clusters(rows: int = 10_000, seed: int = SEED) -> tuple[pl.DataFrame, TableDocument, Ints]:
    """The table of figure 2 with five columns, its schema, and the process that made each record (0, 1 or 2)."""
    rng = np.random.default_rng(seed)
    process = rng.integers(0, len(MEANS), rows)
    points = np.empty((rows, len(MEANS[0])))
    for i, (mean, deviation, correlation) in enumerate(zip(MEANS, DEVIATIONS, CORRELATIONS, strict=True)):
        mine = process == i
        points[mine] = rng.multivariate_normal(mean, _covariance(deviation, correlation), int(mine.sum()))
    names = [f"x{i + 1}" for i in range(points.shape[1])]
    return pl.DataFrame(_on_grid(points), schema=names, orient="row"), schema(names), process.astype(np.int64)


def schema(names: list[str]) -> TableDocument:
    """Integer fields on the public range 0 to 100 (RPS section 3.2: range [0, 100], granularity 1)."""
    return {"fields": [number(name, LOW, HIGH) for name in names]}


def _covariance(deviation: tuple[int, ...], correlation: float) -> Floats:
    scale = np.asarray(deviation, dtype=np.float64)
    return np.outer(scale, scale) * np.where(np.eye(len(scale)) > 0, 1.0, correlation)


def _on_grid(values: Floats) -> Ints:
    return np.clip(np.rint(values), LOW, HIGH).astype(np.int64)
