"""The label model: a softmax with one effect per class and cell of each table with the target.

It is fitted by least squares (label_fit.py), one class after the other against all others together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic.model.label_fit import Block, Problem, Sums
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints

STEPS, STEPS_AGAIN = 4, 3
"""Rounds over all classes for a new fit and after an earlier fit."""

MOST_CHANGE = 2.0
"""The largest change of a logit in one step. After longer ones, fits diverged where classes are nearly certain."""

CALIBRATIONS = 5
_LEAST_SHARE = 1e-4


@dataclass(frozen=True, eq=False)
class ClassFit:
    """Effects of all cells and an intercept for each class."""

    intercepts: Floats
    effects: Floats  # (classes, cells)
    starts: Ints

    def logits(self, rows: Codes, sums: Sums) -> Floats:
        """The logit of each class for each record, given its cells as `stack` numbers them."""
        parts = zip(self.intercepts.tolist(), self.effects, strict=True)
        return np.stack([intercept + sums.gather(effects, rows) for intercept, effects in parts])

    def probability(self, rows: Codes, sums: Sums) -> Floats:
        """The probability of each class for each record, of shape (classes, records)."""
        return softmax(self.logits(rows, sums))


def softmax(logits: Floats) -> Floats:
    """Probabilities, along the first axis.

    >>> softmax(np.array([[0.0], [0.0]])).tolist()
    [[0.5], [0.5]]
    """
    weight = np.exp(np.clip(logits - logits.max(axis=0), -30, 0))
    return np.asarray(weight / weight.sum(axis=0))


def fit(blocks: Sequence[Block], sums: Sums, before: ClassFit | None = None) -> ClassFit:
    """The effects that minimise misfit plus prior; `before` is an earlier fit of the first blocks, to start from."""
    problem = Problem(blocks, sums)
    counts, everyone = problem.counts, problem.counts.sum(axis=1)
    classes = counts.shape[1]
    effects = np.zeros((classes, problem.cells))
    if before is None:
        share = np.maximum(counts.sum(axis=0), 1.0)
        share = np.clip(share / share.sum(), _LEAST_SHARE, 1)
        intercepts = np.log(share / share.sum())
    else:
        intercepts = before.intercepts.copy()
        effects[:, : before.effects.shape[1]] = before.effects
    logits = ClassFit(intercepts, effects, problem.starts).logits(problem.rows, sums)
    for _ in range(STEPS if before is None else STEPS_AGAIN):
        for c in range(classes):
            at = float(intercepts[c]), effects[c]
            p = softmax(logits)[c]
            shift, move = problem.move(p, counts[:, c], everyone - counts[:, c], at, classes)
            change = shift + sums.gather(move, problem.rows)
            length = min(1.0, MOST_CHANGE / max(float(np.abs(change).max()), 1e-9))
            intercepts[c] += length * shift
            effects[c] += length * move
            logits[c] += length * change
    return ClassFit(intercepts, effects, problem.starts)


def redraw(probability: Floats, shares: Floats, dice: Dice) -> Codes:
    """Labels with these probabilities, class by class, whose shares are the known ones. Each class is drawn among the
    records that have none yet."""
    probability = _calibrated(probability, shares)
    classes, records = probability.shape
    labels: Codes = np.full(records, classes - 1, dtype=np.uint8)
    left, rest = np.arange(records), np.ones(records)
    for c in range(classes - 1):
        chance = np.clip(probability[c, left] / np.maximum(rest[left], 1e-12), 0, 1)
        taken = _sampled(chance, dice)
        labels[left[taken]] = c
        rest = rest - probability[c]
        left = left[~taken]
    return labels


def _calibrated(probability: Floats, shares: Floats) -> Floats:
    """Probabilities whose means are the known shares of the classes."""
    for _ in range(CALIBRATIONS):
        probability = probability * (shares / np.maximum(probability.mean(axis=1), 1e-9))[:, None]
        probability = probability / np.maximum(probability.sum(axis=0), 1e-12)
    return probability


def _sampled(chance: Floats, dice: Dice) -> Bools:
    """Which records are drawn with these probabilities, by systematic sampling along the sorted probabilities."""
    # 16 bits are precise enough, and numpy sorts them much faster.
    order = np.argsort((chance * 65535).astype(np.uint16), kind="stable")
    running = np.floor(np.cumsum(chance[order]) + dice.random())
    drawn = np.zeros(len(order), dtype=np.bool_)
    drawn[order] = np.diff(running, prepend=0.0) > 0.5
    return drawn
