"""Compiled loops of `baskets`, with the same bytes as the plain loops in pool.py, synthesis.py and given_pairs.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cantle.jit import compiled, inlined, inner
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints, Words

Int32s = NDArray[np.int32]

_REFUSALS = 16  # pool.REFUSALS


@inlined
def mix(key: np.uint64) -> np.uint64:
    """`mixing.scramble` of one word."""
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return word


@inlined
def _unit(word: np.uint64) -> float:
    """A number from 0 to below 1 from the upper 53 bits."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@inner
def _search(running: Floats, at: float, first: int, last: int) -> int:
    """The first position from `first` to `last` - 1 whose running sum exceeds `at`; otherwise the last position."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high) >> 1
        if running[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


@inner
def _guide(running: Floats, parts: int) -> Int32s:
    """For each of `parts` equal parts of the whole, the first position that may hold a point of the part."""
    guide, place = np.empty(parts + 2, np.int32), 0
    for part in range(parts + 2):
        while place < len(running) - 1 and running[place] <= running[-1] * (part - 1) / parts:
            place += 1
        guide[part] = place
    return guide


@compiled
def walk(
    state: Words,
    starts: Ints,
    items: Codes,
    length: Ints,
    rows: Ints,
    partner: Codes,
    mass: Floats,
    follow: Floats,
    running: Floats,
    head: Bools,
) -> None:
    """`pool.plain_walk`, record by record."""
    parts = 4 * len(running)
    guide = _guide(running, parts)
    whole = running[-1]
    for r in range(len(state)):
        begin, size, number = starts[r], starts[r + 1] - starts[r], length[r]
        word, refused = state[r], 0
        while number < size:
            which, coin, where = _unit(mix(word)), _unit(mix(word + np.uint64(1))), _unit(mix(word + np.uint64(2)))
            word += np.uint64(3)
            source = items[begin + np.int64(which * number)]
            first, last = rows[source], rows[source + 1]
            if coin < follow[source] and last > first:
                base = mass[first - 1] if first > 0 else 0.0
                drawn = np.int64(partner[_search(mass, base + where * (mass[last - 1] - base), first, last)])
            else:
                at = where * whole
                drawn = np.int64(guide[np.int64(where * parts)])
                while drawn < len(running) - 1 and running[drawn] <= at:
                    drawn += 1
            taken = head[drawn]
            for k in range(begin, begin + number):
                taken = taken or items[k] == drawn
            if taken:
                refused += 1
                if refused < _REFUSALS:
                    continue
                drawn = _next_free(drawn, items[begin : begin + number], head)
                if drawn < 0:
                    break
            refused = 0
            items[begin + number] = drawn
            number += 1
        length[r] = number
        _ascending(items[begin : begin + number])


@inner
def _next_free(item: np.int64, record: Codes, head: Bools) -> np.int64:
    """`pool._next_free`."""
    for step in range(len(head)):
        other = (item + step) % len(head)
        if not head[other]:
            there = False
            for held in record:
                there = there or held == other
            if not there:
                return np.int64(other)
    return np.int64(-1)


@inner
def _ascending(record: Codes) -> None:
    """Sorts a record in place; few items by insertion."""
    if len(record) > 64:
        record.sort()
        return
    for i in range(1, len(record)):
        item, j = record[i], i
        while j > 0 and record[j - 1] > item:
            record[j] = record[j - 1]
            j -= 1
        record[j] = item


@compiled
def sweep(
    weights: Floats,
    starts: Ints,
    rows: Int32s,
    target: Floats,
    part: Floats,
    smooth: float,
    low: float,
    high: float,
    cap: float,
) -> None:
    """`synthesis.plain_sweep`; `part` holds the part of each of `rows`, in their order, which saves memory accesses."""
    for f in range(len(target)):
        mine, parts = rows[starts[f] : starts[f + 1]], part[starts[f] : starts[f + 1]]
        if len(mine) == 0:
            continue
        shown = 0.0
        for k in range(len(mine)):
            shown += weights[np.uint32(mine[k])] * parts[k]
        factor = min(max((target[f] + smooth) / (shown + smooth), low), high)
        for k in range(len(mine)):
            row = np.uint32(mine[k])  # unsigned, so that numba does not handle negative positions
            weight = weights[row] * factor
            weights[row] = weight if weight < cap else cap


@compiled
def top_places(starts: Ints, items: Codes, place_of: Codes, places: Codes) -> Ints:
    """Writes the places of each record's top items, ascending, and returns where those of each record begin."""
    begins, at = np.empty(len(starts), np.int64), 0
    for r in range(len(starts) - 1):
        begins[r] = at
        for k in range(starts[r], starts[r + 1]):
            place = place_of[items[k]]
            if place >= 0:
                places[at] = place
                at += 1
    begins[-1] = at
    return begins


@compiled
def count_pairs(begins: Ints, places: Codes, number_of: Codes, found: Ints) -> None:
    """Adds to `found` how many records hold each numbered pair of places; `number_of` is the number of each cell, -1 if
    it has none."""
    for r in range(len(begins) - 1):
        for b in range(begins[r] + 1, begins[r + 1]):
            high = np.int64(places[b])
            base = high * (high - 1) // 2
            for a in range(begins[r], b):
                number = number_of[base + places[a]]
                if number >= 0:
                    found[number] += 1


@compiled
def list_pairs(begins: Ints, places: Codes, number_of: Codes, ends: Ints, rows: Int32s) -> None:
    """Writes the records of each numbered pair to `rows`; `ends` is given as the start of each pair's rows."""
    for r in range(len(begins) - 1):
        for b in range(begins[r] + 1, begins[r + 1]):
            high = np.int64(places[b])
            base = high * (high - 1) // 2
            for a in range(begins[r], b):
                number = number_of[base + places[a]]
                if number >= 0:
                    rows[ends[number]] = r
                    ends[number] += 1
