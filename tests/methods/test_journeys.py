"""Journeys: pairs are kept when longer strings are learnt; the model knows what it draws; long sequences count."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.counts import public_dice
from cantle.drawing.smooth import shrink
from cantle.methods.journeys.model.chain import Chain
from cantle.methods.journeys.model.lengths import LengthModel, fit_lengths, length_edges
from cantle.methods.journeys.model.questions import span_of
from cantle.methods.journeys.model.walk import Walk
from cantle.trusted.geometry.sequence_strings import string_cells

SCHEMA = {"kind": "sequences", "items": {"minimum": 0, "maximum": 4}, "max_length": 12}


def made_up(dice: Random) -> list[int]:
    """Short sequences go round, long ones repeat their symbols; both remember two symbols."""
    length = dice.choice([5, 6, 10, 11])
    stays = 0.1 if length < 8 else 0.8
    row = [dice.randrange(5)]
    while len(row) < length:
        turned = len(row) > 1 and row[-1] != row[-2]
        step = 0 if dice.random() < stays else 1 if turned else 3
        row.append((row[-1] + step) % 5)
    return row


def test_pairs_are_those_that_were_measured() -> None:
    dice = Random(7)
    rows = [made_up(dice) for _ in range(20_000)]
    release = cantle.publish(rows, SCHEMA, epsilon=20, insecure_seed=3)
    assert release.manifest.summary["order"] >= 3  # longer strings were learnt after pairs
    assert release.manifest.summary["full_up_to"] == 11
    one, two = (pairs(some) for some in (rows, pl.DataFrame(release.records)["items"].to_list()))
    assert sum(abs(one[pair] - two[pair]) for pair in one | two) / 2 < 0.006


def pairs(rows: list[list[int]]) -> dict[tuple[int, int], float]:
    held = Counter(pair for row in rows for pair in zip(row, row[1:]))  # noqa: B905
    return Counter({pair: number / held.total() for pair, number in held.items()})


def test_expected_strings_are_those_of_many_drawn_sequences() -> None:
    """Also those of contexts of two symbols, and of the start of a sequence."""
    chain, cells = Chain(np.array([0.3, 0.3, 0.4])), np.arange(9)
    after_one = np.array([0.7, 0.1, 0.2, 0.3, 0.5, 0.2, 0.75, 0.25, 0.0])
    chain.extend(1, cells, after_one, whole=True)
    after_two = np.array([3, 4, 5, 18, 19, 20])  # after 0 1, and after 1 at the start
    chain.extend(2, after_two, np.array([0.1, 0.8, 0.1, 0.05, 0.9, 0.05]), whole=True)
    number = np.array([0, 5_000, 0, 20_000, 0, 20_000], dtype=np.float64)
    walk = Walk(chain, 5)
    drawn, ended = walk.flow(number)
    starts, codes = walk.draw(np.repeat([1, 3, 5], [5_000, 20_000, 20_000]), public_dice(1))
    seen = np.bincount(string_cells(starts, codes, 2, 2), minlength=9)
    seen[6:8] += np.bincount(codes[starts[:-1]], minlength=2)
    last, listed = chain.context % 3, chain.symbol < 2
    expected = np.bincount((last[chain.owner] * 3 + chain.symbol)[listed], drawn[listed], 9)
    expected[2:8:3] += np.bincount(last, ended, 3)[:2]
    assert np.abs(expected - seen).max() < 0.005 * len(codes)
    assert ended.sum() == pytest.approx(45_000)
    assert expected.sum() == pytest.approx(len(codes) + 45_000)


@pytest.mark.parametrize(("epsilon", "span"), [(1.0, 40), (0.1, 30), (0.001, 5)])
def test_strings_count_in_full_up_to_a_length_that_enough_sequences_exceed(epsilon: float, span: int) -> None:
    """Of 9,000 sequences 30 % have 30 symbols, and 100 have 40."""
    number = np.zeros(101)
    number[[5, 30, 40]] = 6_200, 2_700, 100
    assert span_of(LengthModel(number), 10, epsilon) == span


def test_cells_that_are_empty_stay_nearly_so() -> None:
    """Of 100 noisy counts five are not noise alone; raw ones would add up to five times too much."""
    dice, scale = np.random.default_rng(3), 10.0
    true = np.append(np.full(5, 300.0), np.zeros(95))
    noisy = true + dice.laplace(0, scale, 100)
    made = shrink(noisy, np.full(100, 15.0), scale)
    assert np.abs(made[:5] - 300).max() < 60
    assert made[5:].sum() < 0.15 * np.maximum(noisy[5:], 0).sum()


def test_a_long_tail_of_lengths_is_neither_lost_nor_made_of_noise() -> None:
    """Lengths that fall as a power, of up to 1,000 symbols, of which most bins hold less than the noise."""
    dice, edges = np.random.default_rng(5), length_edges(1000)
    lengths = np.minimum(1 + dice.pareto(1.3, 20_000) * 3, 1000).astype(int)
    true = np.bincount(np.searchsorted(edges, lengths, side="right") - 1, minlength=len(edges))
    for scale, most in ((12.5, 1.2), (125.0, 2.0)):
        made = fit_lengths(true + np.rint(dice.laplace(0, scale, len(edges))).astype(int), edges, scale, 1000)
        assert 0.9 < made.records / 20_000 < 1.1
        assert 0.75 < made.symbols / lengths.sum() < most
