"""Journeys: pairs of each class of length are kept when longer strings are learnt; the model knows what it draws."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.counts import public_dice
from cantle.methods.journeys.model.chain import Chain
from cantle.methods.journeys.model.walk import Walk

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


def test_pairs_of_each_length_are_those_that_were_measured() -> None:
    dice = Random(7)
    rows = [made_up(dice) for _ in range(20_000)]
    release = cantle.publish(rows, SCHEMA, epsilon=20, insecure_seed=3)
    assert release.manifest.summary["order"] >= 3  # longer strings were learnt after pairs
    drawn = pl.DataFrame(release.records)["items"].to_list()
    for length in (10, 11):
        one, two = (pairs(some, length) for some in (rows, drawn))
        assert sum(abs(one[pair] - two[pair]) for pair in one | two) / 2 < 0.012


def pairs(rows: list[list[int]], length: int) -> dict[tuple[int, int], float]:
    held = Counter(pair for row in rows if len(row) == length for pair in zip(row, row[1:]))  # noqa: B905
    return Counter({pair: number / held.total() for pair, number in held.items()})


def test_expected_strings_are_those_of_many_drawn_sequences() -> None:
    usual = np.array([[0.3, 0.3, 0.4], [0.5, 0.3, 0.2]])
    chain = Chain(usual)
    cells = np.arange(6)
    after_one = np.array([0.7, 0.1, 0.2, 0.3, 0.5, 0.2])
    chain.extend(1, np.zeros(6, np.int64), cells // 3, cells % 3, after_one, whole=True)
    chain.extend(2, np.zeros(3, np.int64), np.full(3, 1), np.arange(3), np.array([0.1, 0.8, 0.1]), whole=True)
    walk = Walk(chain, np.array([[3.0, 1.0], [1.0, 1.0]]), np.array([[2.0, 0.5], [1.0, 3.0]]), 5)
    number = np.zeros((2, 6))
    number[0, [3, 5]], number[1, 4] = 20_000, 10_000
    drawn, ended = walk.flow(number)
    lengths = np.repeat([3, 5, 4], [20_000, 20_000, 10_000])
    starts, codes = walk.draw(lengths, np.repeat([0, 0, 1], [20_000, 20_000, 10_000]), public_dice(1))
    last = np.bincount(chain.context[chain.length > 0] % 3, ended[chain.length > 0])
    first_class = codes[starts[1:] - 1][np.diff(starts) != 4]
    assert np.allclose(last / 40_000, np.bincount(first_class) / 40_000, atol=0.01)
    rows = [codes[a:b] for a, b in zip(starts[:-1], starts[1:]) if b - a != 4]  # noqa: B905
    pairs = Counter(pair for row in rows for pair in zip(row.tolist(), row[1:].tolist()))  # noqa: B905
    listed = (chain.length[chain.owner] > 0) & (chain.symbol < 2)
    expected = np.bincount((chain.context[chain.owner] % 3 * 3 + chain.symbol)[listed], drawn[listed], 9)
    for (one, two), seen in pairs.items():
        assert abs(expected[one * 3 + two] - seen) < 0.01 * 120_000
    assert ended.sum() == pytest.approx(50_000)
