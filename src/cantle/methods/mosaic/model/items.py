"""Items of groups, drawn from noisy counts of each item alone and from the drawn scores of their group.

A score is counted like any column, so it is related to other columns and to other scores. Its items are counted one by
one, which costs little. What relates them is their sum: answers follow one hidden cause, all items of a group equally
strongly, and so strongly that their sum varies as much as the drawn scores do (a one-factor model; McDonald, Test
Theory, 1999). Each record then gets the answers whose sum has the rank of its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.drawing.smooth import project_rows
from cantle.schema.domain import Domain
from cantle.schema.groups import worth
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

ITEMS = "items of groups"
"""What receipts call the counts of all items."""

STRONGEST = 0.98
"""The largest correlation of an item with its hidden cause."""

_NORMAL = NormalDist()
_GRID = np.linspace(-6, 6, 1201)
_BELOW = np.array([_NORMAL.cdf(one) for one in _GRID.tolist()])
_CAUSES = np.array([_NORMAL.inv_cdf((place + 0.5) / 41) for place in range(41)])
"""Values of the hidden cause that are equally likely."""

_HALVINGS = 30
_NEVER = -1e300
"""So low that a cell gets no mass."""


@dataclass(frozen=True, eq=False)
class Items:
    """A group by positions: its score among the columns that are related, its items, and what each of their codes adds
    to the score."""

    score: int
    items: tuple[int, ...]
    worth: tuple[Codes, ...]
    values: int
    width: int

    @property
    def nullable(self) -> list[bool]:
        return [len(one) > self.values for one in self.worth]


def items_of(domain: Domain) -> list[Items]:
    """The groups whose scores a domain has, after which its items stand."""
    place = {one.name: number for number, one in enumerate(domain.attributes)}
    groups = []
    for group in domain.scores:
        columns = [domain.attributes[place[name]] for name in group.items]
        width = group.width({one.name: one for one in columns})
        added = tuple(worth(one, turned) for one, turned in zip(columns, group.turned, strict=True))
        at = tuple(place[name] for name in group.items)
        groups.append(Items(place[group.name], at, added, columns[0].grid, width))
    return groups


def with_items(
    codes: Sequence[Codes], groups: Sequence[Items], noisy: Sequence[Ints], variance: float, total: float, dice: Dice
) -> list[Codes]:
    """The drawn columns with the items of all groups after them, and with scores that are the sums of these.

    `noisy` has the counts of each item, which have this variance, `total` is the estimated number of records.
    """
    every, counts = list(codes), iter(noisy)
    for group in groups:
        shares = item_shares(group, [next(counts) for _ in group.items], variance, total)
        drawn = _drawn(group, shares, every[group.score], dice)
        every[group.score] = (_sums(group, drawn) // group.width).astype(every[group.score].dtype)
        every += drawn
    return every


def _sums(group: Items, drawn: Sequence[Codes]) -> Ints:
    total = np.zeros(len(drawn[0]), dtype=np.int64)
    for added, codes in zip(group.worth, drawn, strict=True):
        total += added[codes]
    return total


def item_shares(group: Items, noisy: Sequence[Ints], variance: float, total: float) -> Floats:
    """For each item the shares of its values, least worth first, and the share of null at the end.

    Counts are moved towards their mean over the group's items, the more, the less these differ beyond the noise.
    """
    values, counts = group.values, np.full((len(noisy), group.values + 1), _NEVER)
    for row, answer, added in zip(counts, noisy, group.worth, strict=True):
        turned = len(added) > 1 and added[0] > added[values - 1]
        row[:values] = answer[:values][::-1] if turned else answer[:values]
        row[values:][: len(answer) - values] = answer[values:]
    counts[:, :values] = _towards_mean(counts[:, :values], variance)
    null = np.flatnonzero(group.nullable)
    if len(null):
        counts[null, values:] = _towards_mean(counts[null, values:], variance)
    return project_rows(counts, np.full(len(counts), total)) / total


def _towards_mean(counts: Floats, variance: float) -> Floats:
    mean = counts.mean(axis=0)
    apart = counts - mean
    differ = max(0.0, float((apart**2).sum()) / max(1.0, (len(counts) - 1.0) * counts.shape[1]) - variance)
    return mean + apart * (differ / (differ + variance))


def strength(shares: Floats, null: Floats, spread: float) -> float:
    """The correlation of each item with the hidden cause with which the variance of their sum is `spread`.

    `shares` are those of the values of items, given that there is one, `null` how often there is none.
    """
    bounds = np.cumsum(shares, axis=1)[:, :-1]
    cuts = np.array([_NORMAL.inv_cdf(min(max(one, 1e-7), 1 - 1e-7)) for one in bounds.ravel().tolist()])
    cuts, middle = cuts.reshape(bounds.shape)[:, :, None], bounds.shape[1] // 2
    above = 2 * np.arange(bounds.shape[1])[None, :, None] + 1
    low, high = 0.0, STRONGEST
    for _ in range(_HALVINGS):
        between = (low + high) / 2
        exceeded = 1 - np.interp((cuts - between * _CAUSES) / np.sqrt(1 - between**2), _GRID, _BELOW)
        there = (1 - null)[:, None]
        mean = there * exceeded.sum(axis=1) + (1 - there) * middle
        square = there * (above * exceeded).sum(axis=1) + (1 - there) * middle**2
        of_sum = mean.sum(axis=0).var() + (square - mean**2).mean(axis=1).sum()
        low, high = (between, high) if of_sum < spread else (low, between)
    return low


def _drawn(group: Items, shares: Floats, scores: Codes, dice: Dice) -> list[Codes]:
    """The codes of the items of records with these scores."""
    records, null = len(scores), shares[:, -1]
    given = shares[:, :-1] / np.maximum(shares[:, :-1].sum(axis=1, keepdims=True), 1e-9)
    if not records:
        return [scores[:0].astype(np.uint8) for _ in group.items]
    spread = group.width**2 * (float(scores.astype(np.float64).var()) + (1 / 12 if group.width > 1 else 0.0))
    part = strength(given, null, spread)
    cause = part * dice.standard_normal(records)
    drawn, rest = list[Codes](), (1 - part**2) ** 0.5
    for at, added in enumerate(group.worth):
        answers = _cut(cause + rest * dice.standard_normal(records), given[at])
        if added[0] > added[group.values - 1]:
            answers = (group.values - 1 - answers).astype(np.uint8)
        if len(added) > group.values:
            answers[dice.random(records) < null[at]] = group.values
        drawn.append(answers)
    from_rank = np.argsort(_sums(group, drawn) + dice.random(records))
    to_rank = np.argsort(scores + dice.random(records))
    for answers in drawn:
        answers[to_rank] = answers[from_rank]
    return drawn


def _cut(values: Floats, shares: Floats) -> Codes:
    """The values as codes that have these shares."""
    ends = np.rint(np.cumsum(shares)[:-1] * len(values)).astype(np.int64)
    inside = np.unique(ends[(ends > 0) & (ends < len(values))])
    ordered = np.partition(values, inside) if len(inside) else values
    cuts = [ordered[end] if end < len(values) else np.inf for end in ends.tolist()]
    cuts = [-np.inf if end <= 0 else cut for end, cut in zip(ends.tolist(), cuts, strict=True)]
    return np.searchsorted(np.array(cuts), values, side="right").astype(np.uint8)
