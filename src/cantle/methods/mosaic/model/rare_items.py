"""Rare items of lists, drawn last: they fill lists up to the sizes that were counted.

Counts of rare items by columns, or by other items, would be noise, so that only how often each occurs is known. Lists
with more of the related items are the longer ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.drawing.counts import Dice
from cantle.methods.mosaic.model.lists import ListAnswers, Listed, ListSizes
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints

_ROUNDS = 8
"""How often items that a record cannot hold change places with others."""


def with_rare_items(
    codes: Sequence[Codes], listed: Listed, answers: ListAnswers, total: float, dice: Dice
) -> list[Codes]:
    """The drawn columns, of which the related items are the last, with all items in order after the others."""
    others = len(codes) - len(answers.related)
    columns, items = list(codes[:others]), len(listed.items)
    if len(answers.related) == items:
        return list(codes)
    held = np.zeros((items, len(codes[0])), dtype=np.uint8)
    held[answers.related] = codes[others:]
    room = _rooms(columns, listed, held)
    rare = np.setdiff1d(np.arange(items), answers.related)
    expected = answers.supports(total)[rare] * (held.shape[1] / total)
    number = np.diff(np.floor(np.cumsum(expected) + dice.random()), prepend=0.0).astype(np.int64)
    item, of_list = np.repeat(rare, number), np.repeat(np.arange(len(room)), [size for size, _ in listed.lists])
    record = _records(held.sum(axis=0, dtype=np.int64), room.sum(axis=0) > 0, answers.sizes, len(item), dice)
    wrong = _impossible(item, record, of_list, room)
    for _ in range(_ROUNDS):
        places = np.flatnonzero(wrong)
        places = np.union1d(places, dice.integers(0, len(item), 2 * len(places)))
        record[places] = record[dice.permutation(places)]
        wrong = _impossible(item, record, of_list, room)
    held[item[~wrong], record[~wrong]] = 1
    return [*columns, *held]


def _rooms(columns: Sequence[Codes], listed: Listed, held: Codes) -> Ints:
    """How many more items each list of each record can hold."""
    rooms, first = list[Ints](), 0
    for size, most in listed.lists:
        room, missing = most - held[first : first + size].sum(axis=0, dtype=np.int64), listed.missing[first]
        rooms.append(room if missing is None else np.where(columns[missing] == 1, 0, room))
        first += size
    return np.stack(rooms)


def _records(number: Ints, may: Bools, sizes: ListSizes, items: int, dice: Dice) -> Ints:
    """A record for each of so many items: those that lack most of the size that they have, if records with more items
    so far are the longer ones."""
    order = np.lexsort((dice.random(len(number)), number, may))
    share = np.cumsum(sizes.records) / sizes.records.sum()
    size = np.zeros(len(number), dtype=np.int64)
    size[order] = np.searchsorted(share, (np.arange(len(number)) + 0.5) / len(number))
    lacking = np.repeat(np.arange(len(number)), np.maximum(size - number, 0) * may)
    if not len(lacking):
        lacking = np.flatnonzero(may) if may.any() else np.arange(len(number))
    return np.resize(dice.permutation(lacking), items)


def _impossible(item: Ints, record: Ints, of_list: Ints, room: Ints) -> Bools:
    """Which items their record holds already, or has no room for."""
    order = np.lexsort((item, of_list[item], record))
    here, now = record[order], item[order]
    twice = (np.diff(here, prepend=-1) == 0) & (np.diff(now, prepend=-1) == 0)
    key = here * len(room) + of_list[now]
    beyond = np.arange(len(key)) - np.searchsorted(key, key) >= room[of_list[now], here]
    wrong = np.zeros(len(item), dtype=np.bool_)
    wrong[order] = twice | beyond
    return wrong
