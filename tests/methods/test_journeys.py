"""Journeys: what sequences of each class of length do is kept when longer strings, which classes share, are learnt."""

from __future__ import annotations

from collections import Counter
from random import Random

import polars as pl

import cantle

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
    assert release.manifest.summary["order"] == 4
    drawn = pl.DataFrame(release.records)["items"].to_list()
    for length in (10, 11):
        one, two = (pairs(some, length) for some in (rows, drawn))
        assert sum(abs(one[pair] - two[pair]) for pair in one | two) / 2 < 0.012


def pairs(rows: list[list[int]], length: int) -> dict[tuple[int, int], float]:
    held = Counter(pair for row in rows if len(row) == length for pair in zip(row, row[1:]))  # noqa: B905
    return Counter({pair: number / held.total() for pair, number in held.items()})
