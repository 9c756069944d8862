"""Learned classes: a mixture of a few classes of records, fitted to all noisy tables together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.drawing.counts import Dice, Floats, mix
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.geometry.cross_tables import Map

CLASSES, STEPS = 6, 30
MOST_MEAN_CELLS = 6
"""Classes are learned only up to this mean number of cells per column; on tables with wide columns they made results
worse."""

_TINY = 1e-12


def learn_classes(
    tables: Sequence[NoisyTable],
    one_way: Sequence[Floats],
    groupings: Sequence[Groupings],
    total: float,
    dice: Dice,
) -> tuple[Floats, list[Floats]]:
    """Shares of the classes, and the distribution of each column in them.

    They are fitted by expectation-maximisation on the composite likelihood of the tables. After every step, the classes
    are scaled so that together they have the one-way distributions. There are only 30 steps, because more would fit the
    noise.
    """
    shares = np.full(CLASSES, 1 / CLASSES)
    within = []
    for p in one_way:
        tilted = p * np.exp(dice.normal(0, 0.5, (CLASSES, len(p))))
        within.append(_mixing_to(tilted, shares, p))
    observed = [t.projected(total) / total for t in tables]
    maps = [[groupings[c].map(g) for c, g in zip(t.columns, t.groups, strict=True)] for t in tables]
    for _ in range(STEPS):
        seen = [np.zeros_like(w) for w in within]
        mixture = np.zeros(CLASSES)
        for table, mass, grouping in zip(tables, observed, maps, strict=True):
            _expect(table, mass, grouping, shares, within, seen, mixture)
        if not mixture.any():  # the tables have mass only where a one-way distribution has none
            break
        shares = mixture / max(mixture.sum(), _TINY)
        within = [_mixing_to(s + _TINY, shares, p) for s, p in zip(seen, one_way, strict=True)]
    return shares, within


def _expect(
    table: NoisyTable,
    mass: Floats,
    grouping: Sequence[Map],
    shares: Floats,
    within: Sequence[Floats],
    seen: list[Floats],
    mixture: Floats,
) -> None:
    """Adds the expected records of each class in this table to the counts of its columns (`seen`) and to `mixture`."""
    grouped = [_group(within[c], map_) for c, map_ in zip(table.columns, grouping, strict=True)]
    joint = shares[:, None]
    for part in grouped:
        joint = (joint[:, :, None] * part[:, None, :]).reshape(CLASSES, -1)
    joint *= mass / np.maximum(joint.sum(axis=0), _TINY)
    mixture += joint.sum(axis=1)
    shaped = joint.reshape((CLASSES, *table.groups))
    for axis, (column, map_) in enumerate(zip(table.columns, grouping, strict=True), 1):
        others = tuple(a for a in range(1, shaped.ndim) if a != axis)
        ratio = shaped.sum(axis=others) / np.maximum(grouped[axis - 1], _TINY)
        seen[column] += within[column] * ratio[:, map_]


def predict(table: NoisyTable, shares: Floats, within: Sequence[Floats], groupings: Sequence[Groupings]) -> Floats:
    """The share of records in each cell of a table, as the classes predict it."""
    joint = shares[:, None]
    for column, groups in zip(table.columns, table.groups, strict=True):
        part = _group(within[column], groupings[column].map(groups))
        joint = (joint[:, :, None] * part[:, None, :]).reshape(len(shares), -1)
    return joint.sum(axis=0)


def _group(within: Floats, map_: Map) -> Floats:
    return np.add.reduceat(within, np.searchsorted(map_, np.arange(int(map_[-1]) + 1)), axis=1)


def _mixing_to(within: Floats, shares: Floats, one_way: Floats) -> Floats:
    """The classes' distributions of a column, scaled so that their mixture is its one-way distribution."""
    for _ in range(3):
        within = within / np.maximum(within.sum(axis=1, keepdims=True), _TINY)
        mixed = mix(shares, within)
        within = within * np.where(mixed > 0, one_way / np.maximum(mixed, _TINY), 0.0)
    return within / np.maximum(within.sum(axis=1, keepdims=True), _TINY)
