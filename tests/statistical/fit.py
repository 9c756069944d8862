"""Goodness of fit: p-values of draws under an exact law, or of two sets of draws under one law."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from tests.statistical import constants


def cells_of(law: dict[int, float], draws: int) -> list[list[int]]:
    """Cells of adjacent outcomes, merged until enough draws are expected in each cell."""
    cells: list[list[int]] = [[]]
    held = 0.0
    for outcome in sorted(law):
        cells[-1].append(outcome)
        held += law[outcome] * draws
        if held >= constants.MIN_EXPECTED:
            cells.append([])
            held = 0.0
    last = cells.pop()
    cells[-1] += last
    return cells


def fit(draws: Any, law: dict[int, float]) -> float:
    """The chi-square p-value; outcomes outside the law's support count in the nearest cell."""
    values = np.clip(np.asarray(draws), min(law), max(law))
    cells = cells_of(law, len(values))
    if len(cells) == 1:
        return 1.0
    edges = [cell[0] for cell in cells[1:]]
    seen = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(cells))
    expected = np.array([sum(law[outcome] for outcome in cell) for cell in cells])
    return float(scipy.stats.chisquare(seen, expected / expected.sum() * len(values)).pvalue)


def same(first: Any, second: Any) -> float:
    """The two-sample chi-square p-value, on cells of the pooled draws."""
    first, second = np.asarray(first), np.asarray(second)
    outcomes, numbers = np.unique(np.concatenate([first, second]), return_counts=True)
    pooled = dict(zip(outcomes.tolist(), (numbers / numbers.sum()).tolist(), strict=True))
    edges = [cell[0] for cell in cells_of(pooled, min(len(first), len(second)))[1:]]
    table = [np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1) for x in (first, second)]
    return float(scipy.stats.chi2_contingency(np.array(table)).pvalue) if edges else 1.0


def laplace_law(rate: float, centre: int = 0) -> dict[int, float]:
    a = np.exp(-rate)
    reach = int(25 / rate) + 2
    return {centre + k: float(np.tanh(rate / 2) * a ** abs(k)) for k in range(-reach, reach + 1)}


def geometric_law(rate: float, start: int) -> dict[int, float]:
    return {start + k: float(-np.expm1(-rate) * np.exp(-rate * k)) for k in range(int(30 / rate) + 2)}


def exponential_law(scores: list[int], rate: float, inverse: list[int]) -> dict[int, float]:
    weights = np.exp(rate * (np.array(scores) - max(scores))) / np.array(inverse)
    return dict(enumerate((weights / weights.sum()).tolist()))


def flip_law(scores: list[int], rate: float) -> dict[int, float]:
    """P[i] = f_i E[1 / (1 + other flags)], by the law of the number of other flags."""
    chance = np.exp(rate * (np.array(scores) - max(scores)))
    law = {}
    for i in range(len(scores)):
        number = np.ones(1)
        for f in np.delete(chance, i):
            number = np.convolve(number, [1 - f, f])
        law[i] = float(chance[i] * np.sum(number / np.arange(1, len(number) + 1)))
    return law
