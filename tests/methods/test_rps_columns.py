"""One-way tables of RPS where there is much noise: many columns, a small budget, skewed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.postprocess.counts import halved_where_clear, shrunk_to_uniform, top_down


def test_300_binary_columns_are_no_worse_than_ignoring_the_data() -> None:
    dice = np.random.default_rng(0)
    truth = dice.random((2_000, 300)) < dice.uniform(0.2, 0.8, 300)
    names = [f"c{number}" for number in range(300)]
    fields: list[dict[str, Any]] = [
        {"name": name, "type": "boolean", "constraints": {"required": True}} for name in names
    ]
    frame = pl.DataFrame(dict(zip(names, truth.T, strict=True)))
    released = cantle.publish(frame, {"fields": fields}, epsilon=1, method="rps", insecure_seed=1).records
    error = np.abs(released.mean().to_numpy()[0] - truth.mean(axis=0)).mean()
    assert error <= np.abs(0.5 - truth.mean(axis=0)).mean()


def test_payments_of_23_columns_at_a_small_epsilon_are_sane() -> None:
    dice = np.random.default_rng(0)
    columns: dict[str, Any] = {f"kind{number}": dice.integers(0, 5, 30_000) for number in range(11)}
    columns |= {
        f"pay{number}": np.minimum(dice.exponential(5_000, 30_000), 999_999).astype(int) for number in range(12)
    }
    bounds = {name: 4 if name.startswith("kind") else 999_999 for name in columns}
    fields: list[dict[str, Any]] = [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": high, "required": True}}
        for name, high in bounds.items()
    ]
    frame = pl.DataFrame(columns)
    released = cantle.publish(frame, {"fields": fields}, epsilon=0.1, method="rps", insecure_seed=1).records
    ratios = [released[name].mean() / frame[name].mean() for name in columns if name.startswith("pay")]
    assert 0.5 < np.median(ratios) < 2


def test_without_noise_halving_gives_the_table_back() -> None:
    table = np.array([5.0, 0.0, 3.0, 7.0, 1.0])
    assert halved_where_clear(table, 16.0, 1e-12) == pytest.approx(table)
    assert shrunk_to_uniform([table], 16.0, 0.0)[0] == pytest.approx(table)


def test_empty_tails_stay_empty_under_noise() -> None:
    dice = np.random.default_rng(5)
    tail, clipped = [], []
    for _ in range(50):
        noisy = np.append(3_000.0, np.zeros(255)) + dice.laplace(0, 40, 256)
        tail.append(halved_where_clear(noisy, 3_000, 2 * 40**2)[128:].sum())
        clipped.append(top_down(noisy, 3_000)[128:].sum())
    assert np.mean(tail) < np.mean(clipped) / 2


def test_tables_of_pure_noise_become_uniform() -> None:
    noisy = list(500 + np.random.default_rng(6).laplace(0, 1_000, (300, 2)))
    assert np.abs(np.array(shrunk_to_uniform(noisy, 1_000, 2 * 1_000.0**2)) - 500).mean() < 300
