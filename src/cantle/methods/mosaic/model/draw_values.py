"""Values inside cells: uniform, with some moved to round values, which are more frequent in many data."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import HeapTable
from cantle.trusted.geometry.value_classes import ValueClasses

MOST_HEAP_GROUPS = 8
BLOCK = 1 << 16
"""Records whose values are drawn together."""


@dataclass(frozen=True, eq=False)
class Heaps:
    """For each group of cells and each class of round values, the probability that a value moves to one of that
    class."""

    table: HeapTable
    moves: Floats  # (groups, classes)


def heap_groups(masses: Floats, single: Bools, scale: float, total: float) -> Ints:
    """For each cell its group; groups have nearly equal mass, and cells of one value have group -1."""
    wanted = int(min(MOST_HEAP_GROUPS, max(1, total // (100 * scale))))
    mass = np.where(single, 0.0, masses)
    middle = np.cumsum(mass) - mass / 2
    group = np.minimum((middle / max(mass.sum(), 1e-9) * wanted).astype(np.int64), wanted - 1)
    used = group[~single]
    if not len(used):
        return np.full(len(masses), -1, dtype=np.int64)
    renumber = np.searchsorted(np.unique(used), group)
    return np.where(single, -1, renumber).astype(np.int64)


def heaps(table: HeapTable, noisy: Ints, masses: Floats, scale: float) -> Heaps:
    """The excess of round values over uniform draws, as far as it stands out of the noise."""
    groups, classes = table.shape
    counts = noisy.reshape(groups, classes).astype(np.float64)
    uniform = np.zeros((groups, classes))
    for cell, group in enumerate(table.group.tolist()):
        if group >= 0:
            first, last = int(table.edges[cell]), int(table.edges[cell + 1])
            uniform[group] += masses[cell] * table.classes.sizes(first, last) / (last - first)
    mass = np.bincount(table.group[table.group >= 0], masses[table.group >= 0], minlength=groups)
    safe = np.maximum(mass, 1e-9)[:, None]
    excess = np.where(mass[:, None] > 0, (counts - uniform) / safe, 0.0)
    excess[excess * safe <= scale * (log(groups * classes) + 1)] = 0.0
    excess[:, 0] = 0.0
    excess /= np.maximum(excess.sum(axis=1, keepdims=True), 1.0)
    return Heaps(table, excess)


def draw_values(cells: Codes, edges: Ints, heaps: Heaps | None, dice: Dice) -> Codes:
    """A code inside each record's cell."""
    if len(edges) == edges[-1] + 1:  # every cell is one value
        return cells
    codes: Codes = np.empty(len(cells), dtype=np.min_scalar_type(edges[-1]))
    for first in range(0, len(cells), BLOCK):
        codes[first : first + BLOCK] = _draw_block(cells[first : first + BLOCK], edges, heaps, dice)
    return codes


def _draw_block(cells: Codes, edges: Ints, heaps: Heaps | None, dice: Dice) -> Ints:
    first, width = edges[:-1][cells], np.diff(edges)[cells]
    codes = first + np.minimum((dice.random(len(cells)) * width).astype(np.int64), width - 1)
    if heaps is None or not heaps.moves.any():
        return codes
    group = heaps.table.group[cells]
    running = np.cumsum(heaps.moves, axis=1)
    where = np.flatnonzero(group >= 0)
    chance = dice.random(len(where))
    number = (running[group[where]] <= chance[:, None]).sum(axis=1)
    moved = number < running.shape[1]
    where, number = where[moved], number[moved]
    codes[where] = _multiples(heaps.table.classes, number, first[where], width[where], codes[where], dice)
    return codes


def _multiples(classes: ValueClasses, number: Ints, first: Ints, width: Ints, codes: Ints, dice: Dice) -> Ints:
    """A uniform multiple of the class's period inside the cell; the old code where there is none."""
    period = np.array(classes.periods, dtype=np.int64)[number]
    lowest = -(-(first + classes.origin) // period)
    many = (first + width - 1 + classes.origin) // period - lowest + 1
    pick = lowest + np.minimum((dice.random(len(codes)) * many).astype(np.int64), np.maximum(many - 1, 0))
    return np.where(many > 0, pick * period - classes.origin, codes)
