"""Released records that break no rule of the schema (cantle.schema.rules): known zeros, and records drawn again.

All of this is post-processing with public dice, the same on every engine. A schema without rules uses no random number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.schema.code_sets import EVERYWHERE, SOMEWHERE
from cantle.schema.domain import Domain
from cantle.schema.rules import Rules
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints

ROUNDS = 30
"""Rounds of drawing again; records that still break a rule are then put into an allowed part of their region."""

PARTS = 64
"""Into how many parts the span of a place is cut to find one outside of an area."""

_FLOOR = 1e-9

Spans = tuple[Ints, Ints]


class Shape:
    """The distribution of a column's values on its grid: spans with masses, uniform inside each span."""

    def __init__(self, edges: Ints, mass: Floats) -> None:
        even = _FLOOR * max(float(mass.sum()), 1.0) * np.diff(edges) / (edges[-1] - edges[0])
        self._edges, self._below = edges.astype(float), np.concatenate([[0.0], np.cumsum(mass + even)])

    def between(self, lo: Ints, hi: Ints) -> Floats:
        """The masses of spans."""
        return np.interp(hi, self._edges, self._below) - np.interp(lo, self._edges, self._below)

    def draw(self, lo: Ints, hi: Ints, dice: Dice) -> Ints:
        """One value per span, by mass."""
        low, high = (np.interp(side, self._edges, self._below) for side in (lo, hi))
        place = np.interp(low + dice.random(len(lo)) * (high - low), self._below, self._edges)
        return np.clip(np.floor(place).astype(np.int64), lo, hi - 1)


class Regions:
    """Regions to be compared with rules: for each column that rules name, one span of places on its grid per region.

    The target, if rules name it, has no spans: a record's class stays.
    """

    def __init__(self, rules: Rules, spans: Mapping[str, Spans], target: str | None = None) -> None:
        self._rules, self._target = rules, target
        self._spans = {name: both for name, both in spans.items() if name in rules.columns}

    @staticmethod
    def of(domain: Domain, rules: Rules, lo: Ints, hi: Ints) -> Regions:
        """The regions of a tree or grid, one row per region and one column per attribute."""
        named = enumerate(domain.attributes)
        spans = {attribute.name: (attribute.places(lo[:, a]), attribute.places(hi[:, a])) for a, attribute in named}
        return Regions(rules, spans, None if domain.target is None else domain.target.name)

    def _box(self, region: int, label: int) -> dict[str | int, tuple[int, int]]:
        box: dict[str | int, tuple[int, int]] = {
            name: (int(lo[region]), int(hi[region])) for name, (lo, hi) in self._spans.items()
        }
        return box if self._target is None else {**box, self._target: (label, label + 1)}

    def forbidden(self, label: Ints, *, glance: bool = False) -> Bools:
        """Whether every point of a region with this class breaks a rule, for each region and its class in `label`.

        With `glance`, only regions that break one and the same rule everywhere are found, which needs no search.
        """
        spans: dict[str | int, Spans] = dict(self._spans.items())
        if self._target in self._rules.columns:
            spans[str(self._target)] = label, label + 1
        verdict = np.broadcast_to(self._rules.forbidden_spans(spans), label.shape)
        forbidden, known = verdict == EVERYWHERE, dict[tuple[tuple[str | int, tuple[int, int]], ...], bool]()
        if glance:
            return forbidden
        for region in np.flatnonzero(verdict == SOMEWHERE).tolist():
            box = tuple(self._box(region, int(label[region])).items())
            if box not in known:
                known[box] = self._rules.allowed_box(dict(box)) is None
            forbidden[region] = known[box]
        return forbidden

    def redraw(self, codes_of: Mapping[str, Codes], region: Ints, shapes: Mapping[str, Shape], dice: Dice) -> None:
        """Draws records that break a rule again, in place, each inside its region; no region may be forbidden.

        `codes_of` has the places on the grid of all columns, and `region` the region of every record. First, one column
        of a rule is drawn again, among the values that obey all rules together with the record's other values. If there
        is no such value, all columns of rules are drawn again. The class of a record stays.
        """
        drawn = [str(name) for name in self._rules.columns if name != self._target]
        left = self.change_one(codes_of, region, shapes, dice)
        for _ in range(ROUNDS):
            if not len(left):
                return
            for name in drawn:
                lo, hi = (side[region[left]] for side in self._spans[name])
                codes_of[name][left] = shapes[name].draw(lo, hi, dice)
            left = left[_breaking(self._rules, {str(name): codes_of[str(name)][left] for name in self._rules.columns})]
        if len(left):
            self._place(left, codes_of, region, drawn, dice)

    def change_one(self, codes_of: Mapping[str, Codes], region: Ints, shapes: Mapping[str, Shape], dice: Dice) -> Ints:
        """The first part of `redraw`: changes one column of a record; returns the records that still break a rule."""
        left = np.flatnonzero(_breaking(self._rules, codes_of))
        for name in reversed([str(name) for name in self._rules.columns if name != self._target]):
            if len(left):  # columns on the right of an arrow are tried first
                left = left[~self._change(name, left, codes_of, region, shapes[name], dice)]
        if self._rules.places:  # an area may cut the part of its span that a place was drawn from
            return np.flatnonzero(_breaking(self._rules, codes_of))
        return left

    def _change(
        self, name: str, records: Ints, codes_of: Mapping[str, Codes], region: Ints, shape: Shape, dice: Dice
    ) -> Bools:
        """Draws one column of these records again where some value in their region obeys all rules; returns where."""
        codes = {str(key): codes_of[str(key)][records].astype(np.int64) for key in self._rules.columns}
        lo, hi = (side[region[records]] for side in self._spans[name])
        cuts = np.array(self._rules.cuts(name))[:, None]  # all conditions are constant between two cuts
        more = [at for one in self._rules.sums for at in one.changes(name, lambda key: codes[str(key)])]
        if name in self._rules.places:
            more += [lo + (hi - lo) * part // PARTS for part in range(1, PARTS)]
        if more:  # those of sums differ from record to record
            rows = np.broadcast_arrays(*cuts, *(at.clip(0, cuts[-1]) for at in more), lo)[:-1]
            cuts = np.sort(np.stack(rows), axis=0)
        first, last = np.maximum(lo, cuts[:-1]), np.minimum(hi, cuts[1:])
        weight = np.zeros(first.shape)
        for part in range(len(first)):
            codes[name] = np.minimum(first[part], hi - 1)
            may = (last[part] > first[part]) & ~_breaking(self._rules, codes)
            weight[part, may] = shape.between(first[part, may], last[part, may])
        total = np.cumsum(weight, axis=0)
        changed = total[-1] > 0
        chosen = (total <= dice.random(len(records)) * total[-1]).sum(axis=0).clip(max=len(first) - 1)
        at = np.flatnonzero(changed)
        codes_of[name][records[at]] = shape.draw(first[chosen[at], at], last[chosen[at], at], dice)
        return changed

    def _place(
        self, records: Ints, codes_of: Mapping[str, Codes], region: Ints, drawn: Sequence[str], dice: Dice
    ) -> None:
        """Puts records into an allowed part of their regions."""
        label = np.zeros(len(records), dtype=np.int64) if self._target is None else codes_of[self._target][records]
        pairs, place = np.unique(np.stack([region[records], label], axis=1), axis=0, return_inverse=True)
        boxes = [self._rules.allowed_box(self._box(int(where), int(one))) for where, one in pairs]
        for name in drawn:
            spans = np.array([box[name] for box in boxes if box is not None])[place.reshape(-1)]
            lo, hi = spans[:, 0], spans[:, 1]
            codes_of[name][records] = lo + (dice.random(len(records)) * (hi - lo)).astype(np.int64)


def obey_in_steps(domain: Domain, rules: Rules, codes: Sequence[Codes], places: Sequence[Codes], dice: Dice) -> None:
    """Draws places that break a rule again, in place, inside the steps that the records' codes stand for."""
    named = {one.name: fine for one, fine in zip(domain.attributes, places, strict=True)}
    bad = np.flatnonzero(_breaking(rules, named))
    spans, shapes = {}, {}
    for one, part in zip(domain.attributes, codes, strict=True):
        first = part[bad].astype(np.int64)
        spans[one.name] = one.places(first), one.places(first + 1)
        shapes[one.name] = Shape(np.array([0, one.grid + 1]), np.ones(1))
    some = {name: fine[bad] for name, fine in named.items()}
    Regions(rules, spans).redraw(some, np.arange(len(bad)), shapes, dice)
    for name, fine in some.items():
        named[name][bad] = fine


def _breaking(rules: Rules, codes_of: Mapping[str, Codes]) -> Bools:
    return rules.breaking(lambda name: codes_of[str(name)])


# ---------------------------------------------------------------------------------------------- records without regions


def repair(rules: Rules, codes_of: Mapping[str, Codes], dice: Dice) -> None:
    """Changes records that break a rule, in place. Some columns of rules are copied from a record that obeys all rules
    and agrees in the other columns of rules. As few columns as possible change, those on the right of arrows first.
    """
    names = [str(name) for name in rules.columns]
    breaking = _breaking(rules, codes_of)
    bad, good = np.flatnonzero(breaking), np.flatnonzero(~breaking)
    if len(bad) and not len(good):
        _fill(rules, codes_of, dice)
        return
    one = [[name] for name in reversed(names[1:])]
    several = [names[first:] for first in range(len(names) - 2, -1, -1)]
    for changed in [*one, *several, names]:
        if not len(bad):
            return
        donor = _donors([codes_of[name] for name in names if name not in changed], bad, good, dice)
        has_donor = donor >= 0
        for name in changed:
            codes_of[name][bad[has_donor]] = codes_of[name][donor[has_donor]]
        bad = bad[~has_donor]


def _donors(others: Sequence[Codes], bad: Ints, good: Ints, dice: Dice) -> Ints:
    """For each bad record a random good one with the same values in the columns `others`, or -1."""
    group = np.zeros(len(bad) + len(good), dtype=np.int64)
    for codes in others:
        _, number = np.unique(np.concatenate([codes[bad], codes[good]]), return_inverse=True)
        _, group = np.unique(group * (int(number.max()) + 1) + number, return_inverse=True)
    wanted, there = group[: len(bad)], group[len(bad) :]
    order = np.argsort(there, kind="stable")
    first, last = (np.searchsorted(there[order], wanted, side=side) for side in ("left", "right"))
    place = first + (dice.random(len(bad)) * (last - first)).astype(np.int64)
    return np.where(last > first, good[order[np.minimum(place, len(good) - 1)]], -1)


def _fill(rules: Rules, codes_of: Mapping[str, Codes], dice: Dice) -> None:
    """Puts all records into a part of the domain in which no rule is broken."""
    box = rules.allowed_box({})
    assert box is not None
    for name in map(str, rules.columns):
        lo, hi = box[name]
        codes_of[name][:] = lo + (dice.random(len(codes_of[name])) * (hi - lo)).astype(np.int64)
