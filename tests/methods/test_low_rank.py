"""Matrices of low rank beside a diagonal, compared with numpy; and fits on one thread and on two."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from cantle.methods.mosaic.model.label_fit import LowRank

FIT = """
import numpy as np
from cantle.methods.mosaic.model import label_classes, label_fit
dice = np.random.default_rng(5)
blocks = []
for cells in (126, 126, 300):
    rows = dice.integers(0, cells, 9000).astype(np.uint32)
    counts = dice.normal(40, 20, (cells, 2))
    grouping = np.arange(cells) // 32
    blocks.append(label_fit.Block(rows, counts, 30.0, ((grouping, 1.0),), 0.125))
for _ in range(20):
    print(label_classes.fit(blocks, label_fit).effects.tobytes().hex()[:2000])
"""


def dense(matrix: LowRank) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.diag(matrix.diagonal) + matrix.vectors.T @ np.diag(matrix.factors) @ matrix.vectors


@pytest.mark.parametrize("terms", [0, 1, 14, 80])
def test_products_and_inverses_are_those_of_the_written_out_matrix(terms: int) -> None:
    dice, cells = np.random.default_rng(terms), 50
    matrix = LowRank(np.full(cells, 0.3), dice.integers(0, 2, (terms, cells)).astype(float), np.full(terms, 0.5))
    vector = dice.normal(size=cells)
    assert matrix.apply(vector) == pytest.approx(dense(matrix) @ vector)
    assert dense(matrix.inverse()) == pytest.approx(np.linalg.inv(dense(matrix)), abs=1e-9)
    more = matrix.inverse().plus(dice.random(cells) * 100)
    assert dense(more.inverse()) == pytest.approx(np.linalg.inv(dense(more)), abs=1e-9)


def test_a_fit_has_the_same_bytes_on_one_thread_and_on_two() -> None:
    def fitted(threads: str) -> str:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        run = [sys.executable, "-c", FIT]
        environment = os.environ | dict.fromkeys(names, threads)
        return subprocess.run(run, capture_output=True, text=True, check=True, env=environment).stdout

    assert fitted("1") == fitted("2")
