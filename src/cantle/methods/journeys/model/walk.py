"""Sequences drawn from a chain with their lengths given. Post-processing.

A walk looks ahead: `ahead[r]` is the chance, up to a factor, that a sequence ends after exactly r more
symbols. Symbols are drawn with their chances times that of the context which they lead to, so that lengths are exact
and the last symbols come out right. All sequences in one context with as many symbols to go draw together, from even
parts of its mass, so that frequencies match the chances as closely as that many sequences can.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.methods.journeys.model.chain import Chain
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

FARTHEST = 40
"""Most symbols that a walk looks ahead; of more, the chance hardly depends on the symbol."""

_LEAST = 1e-9
_MIXED = 20  # bits of random order


class Walk:
    """A chain with its look-ahead for sequences of up to `longest` symbols."""

    def __init__(self, chain: Chain, longest: int) -> None:
        self._chain, self._symbols = chain, chain.base - 1
        self._far = min(longest, FARTHEST)
        self._stays = chain.symbol < self._symbols
        self._owner = owner = chain.owner
        self._order = max(1, chain.order)
        length, context = chain.length.copy(), chain.context.copy()
        begun = (length > 0) & (context // chain.base ** (np.maximum(1, length) - 1) == self._symbols)
        for place in range(self._order):  # before the start come further starts
            more = begun & (length <= place)
            context[more] += self._symbols * chain.base**place
        length[begun] = self._order
        following = context[owner] * chain.base + chain.symbol
        self._next = np.zeros(len(owner), np.int64)
        for one in np.unique(length[owner]).tolist():
            mine = (length[owner] == one) & self._stays
            self._next[mine] = chain.find(following[mine], one + 1)
        self._alone = chain.find(np.arange(self._symbols), 1)
        self._contexts = chain.base**self._order
        self._before = self._contexts - 1  # the context of starts alone
        self._ahead, self._usual = self._look_ahead()
        self._usual_sum = np.cumsum(self._usual, axis=1)

    def _look_ahead(self) -> tuple[Floats, Floats]:
        """For r to go: the chance to end after exactly r more symbols by row, and by symbol what rows without a list go
        on with: its chance times that of the context it leads to."""
        chain, symbols, rows = self._chain, self._symbols, len(self._chain.rest)
        end = chain.chances(np.arange(rows), np.full(rows, symbols))
        ahead, usual = np.zeros((self._far + 1, rows)), np.zeros((self._far + 1, symbols))
        for r in range(self._far + 1):
            if r:
                listed = np.where(self._stays, chain.chance * ahead[r - 1][self._next], 0.0)
                end = np.bincount(self._owner, listed, rows) + chain.rest * usual[r - 1].sum()
            ahead[r] = np.maximum(end / max(float(end.max()), 1e-300), _LEAST)
            usual[r] = chain.usual[:symbols] * ahead[r][self._alone]
        return ahead, usual

    def flow(self, number: Floats) -> tuple[Floats, Floats]:
        """How often each listed symbol is expected to be drawn in so many sequences of each length, and how many end in
        each row. Sequences of all lengths that have equally many symbols to go are followed together."""
        chain, rows = self._chain, len(self._chain.rest)
        start = int(chain.find(np.array([self._before]), self._order)[0])
        usual = chain.rest[self._owner] * chain.usual[chain.symbol]
        following = np.append(self._next, self._alone)
        drawn, here = np.zeros(len(chain.symbol)), np.zeros(rows)
        for to_go in range(len(number) - 1, 0, -1):
            here[start] += number[to_go]
            if not here.any():
                continue
            r = min(to_go - 1, self._far)
            ahead = np.where(self._stays, self._ahead[r][self._next], 0.0)
            listed, others = chain.chance * ahead, self._usual[r]
            each = here / np.maximum(np.bincount(self._owner, listed, rows) + chain.rest * others.sum(), 1e-300)
            drawn += each[self._owner] * (listed + usual * ahead)
            moved = np.append(each[self._owner] * listed, (each * chain.rest).sum() * others)
            here = np.asarray(np.bincount(following, moved, rows), np.float64)
        return drawn, here

    def draw(self, lengths: Ints, dice: Dice) -> tuple[Ints, Codes]:
        """One sequence per length, as ragged rows; the longest first, those of one length in random order."""
        order = np.argsort(-lengths, kind="stable")
        length = lengths[order]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
        codes: Codes = np.zeros(starts[-1], np.int32)
        context = np.full(len(length), self._before, np.int64)
        for place in range(int(length.max(initial=0))):
            active = int(np.searchsorted(-length, -place, side="left"))
            rows = self._chain.find(context[:active], self._order)
            now = self._step(rows, np.minimum(length[:active] - 1 - place, self._far), dice)
            codes[starts[:active] + place] = now
            context[:active] = (context[:active] * self._chain.base + now) % self._contexts
        return starts, codes

    def _step(self, rows: Ints, to_go: Ints, dice: Dice) -> Ints:
        """The next symbol of each sequence, given its row and how many symbols follow that one."""
        chain, wide = self._chain, self._far + 1
        group_of = rows * wide + to_go
        order = np.argsort((group_of << _MIXED) | dice.integers(0, 1 << _MIXED, len(rows)), kind="stable")
        groups, first, size = np.unique(group_of[order], return_index=True, return_counts=True)
        row, r = groups // wide, groups % wide
        places, begins = chain.spread(row)
        weight = np.where(
            self._stays[places],
            chain.chance[places] * self._ahead[np.repeat(r, np.diff(begins)), self._next[places]],
            0.0,
        )
        sums = np.concatenate([np.zeros(1), np.cumsum(weight)])
        listed = sums[begins[1:]] - sums[begins[:-1]]
        usual = chain.rest[row] * self._usual_sum[r, -1]
        group = np.repeat(np.arange(len(groups)), size)
        part = (np.arange(len(rows)) - first[group] + dice.random(len(groups))[group]) / size[group]
        mass = part * (listed + usual)[group]
        at = np.searchsorted(sums, sums[begins[:-1]][group] + mass, side="right") - 1
        at = np.clip(at, begins[:-1][group], np.maximum(begins[1:][group] - 1, begins[:-1][group]))
        drawn = np.zeros(len(rows), np.int64)
        inside = mass < listed[group]
        drawn[inside] = chain.symbol[places[at[inside]]]
        others = np.flatnonzero(~inside)
        drawn[others] = self._from_usual(
            (mass[others] - listed[group[others]]) / np.maximum(usual[group[others]], 1e-300), r[group[others]]
        )
        made = np.empty(len(rows), np.int64)
        made[order] = drawn
        return made

    def _from_usual(self, part: Floats, table: Ints) -> Ints:
        """The symbols at these parts of the mass of tables of `usual`."""
        tables, which = np.unique(table, return_inverse=True)
        flat = self._usual_sum[tables]
        flat = flat / flat[:, -1:] + np.arange(len(tables))[:, None]
        at = np.searchsorted(flat.reshape(-1), np.minimum(part, 1 - 1e-12) + which, side="right")
        return np.clip(at - which * self._symbols, 0, self._symbols - 1)
