"""Walsh coefficients compared with their definition, and the non-negative tables that are computed with them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.methods.diffpart.walsh import fill_in, spread, transform
from tests.effort import examples


def by_definition(cells: np.ndarray, order: int) -> list[list[float]]:
    """For each set of at most `order` bits, the sum over all cells, signed by the parity of these bits in a cell."""
    bits = len(cells).bit_length() - 1
    coefficients = []
    for size in range(order + 1):
        signs = [np.array([(-1) ** sum(i >> bit & 1 for bit in chosen) for i in range(len(cells))])
                 for chosen in combinations(range(bits), size)]  # fmt: skip
        coefficients.append(sorted(float((sign * cells).sum()) for sign in signs))
    return coefficients


TABLES = st.integers(0, 6).flatmap(lambda bits: st.lists(st.integers(-50, 50), min_size=2**bits, max_size=2**bits))


@given(TABLES, st.integers(0, 3))
def test_coefficients_agree_with_the_definition(table: list[int], order: int) -> None:
    cells = np.array(table, dtype=float)
    coefficients = [sorted(level.tolist()) for level in transform(cells, order)]
    assert coefficients == by_definition(cells, order)


@given(TABLES, st.integers(0, 3))
def test_spreading_gives_a_table_of_these_coefficients_and_no_others(table: list[int], order: int) -> None:
    cells = np.array(table, dtype=float)
    bits = len(table).bit_length() - 1
    coefficients = transform(cells, order)
    spread_table = spread(coefficients, bits)
    for want, here in zip(coefficients, transform(spread_table, order), strict=True):
        assert np.allclose(want, here, atol=1e-9)
    for level in by_definition(spread_table, bits)[order + 1 :]:
        assert np.allclose(level, 0, atol=1e-9)
    # so this is a projection: a second time changes nothing, nor does it change a table of low order
    assert np.allclose(spread(transform(spread_table, order), bits), spread_table, atol=1e-9)


def test_the_first_coefficient_is_the_total_and_one_item_tables_follow() -> None:
    cells = np.array([0.0, 5, 3, 2])  # counts of {}, {0}, {1}, {0, 1}
    total, ones = transform(cells, 1)
    assert total.tolist() == [10]
    assert sorted(ones.tolist()) == [10 - 2 * 7, 10 - 2 * 5]  # 7 records with item 0, 5 with item 1


@pytest.mark.parametrize("bits", range(1, 9))
@pytest.mark.parametrize("rate", [0.01, 1.0, 50.0])
def test_tables_are_filled_in_without_negative_cells(bits: int, rate: float) -> None:
    dice = np.random.default_rng(bits)
    noisy = np.concatenate([[0.0], np.rint(dice.laplace(3, 1 / rate, 2**bits - 1))])
    cells = fill_in(noisy, rate)
    assert cells.shape == noisy.shape
    assert np.isfinite(cells).all()
    assert (cells >= 0).all()
    assert cells[0] == 0


@examples(12)
@given(TABLES.filter(lambda table: len(table) > 1))
def test_without_noise_a_table_is_unchanged(table: list[int]) -> None:
    exact = np.abs(np.array(table, dtype=float))
    exact[0] = 0
    assert np.allclose(fill_in(exact, 1e9), exact, atol=1e-6)


def test_pairs_are_nearer_after_filling_in_than_after_clipping() -> None:
    """This is its purpose: many small cells with a lot of noise."""
    dice = np.random.default_rng(4)
    bits = 10
    exact = np.concatenate([[0.0], dice.poisson(2.0, 2**bits - 1)])
    off = {"filled": [], "clipped": []}
    number = np.arange(2**bits)
    for _ in range(5):
        noisy = exact + np.concatenate([[0.0], np.rint(dice.laplace(0, 10, 2**bits - 1))])
        for name, cells in (("filled", fill_in(noisy, 0.1)), ("clipped", np.maximum(noisy, 0))):
            for a, b in combinations(range(bits), 2):
                held = (number >> a & number >> b & 1) == 1
                off[name].append(abs(cells[held].sum() - exact[held].sum()))
    assert np.mean(off["filled"]) < np.mean(off["clipped"]) / 3
