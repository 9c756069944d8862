"""Sequences drawn from a chain with their lengths given. Post-processing.

A walk looks ahead: `ahead[r]` is the chance, up to a factor per class, that a sequence ends after exactly r more
symbols. Symbols are drawn with their chances times that of the context which they lead to, so that lengths are exact
and the last symbols come out right. All sequences in one context with as many symbols to go draw together, from even
parts of its mass, so that frequencies match the chances as closely as that many sequences can.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Dice, Floats, systematic
from cantle.methods.journeys.model.chain import Chain
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

FARTHEST = 40
"""Most symbols that a walk looks ahead; of more, the chance hardly depends on the symbol."""

_LEAST = 1e-9
_MIXED = 20  # bits of random order


class Walk:
    """A chain with its look-ahead for sequences of up to `longest` symbols; `ends` are factors (class, symbol) of the
    chances to end there, `first` is the frequency (class, symbol) of first symbols."""

    def __init__(self, chain: Chain, first: Floats, ends: Floats, longest: int) -> None:
        self._chain, self._first, self._symbols = chain, first, chain.base - 1
        self._far = min(longest, FARTHEST)
        self._stays = chain.symbol < self._symbols
        self._owner = owner = chain.owner
        following = chain.context[owner] * chain.base + chain.symbol
        self._next = np.zeros(len(owner), np.int64)
        for length in np.unique(chain.length[owner]).tolist():
            mine = (chain.length[owner] == length) & self._stays
            self._next[mine] = chain.find(chain.cls[owner[mine]], following[mine], length + 1)
        classes, symbols = len(chain.usual), np.arange(self._symbols)
        self._alone = chain.find(np.repeat(np.arange(classes), self._symbols), np.tile(symbols, classes), 1)
        self._order = max(1, chain.order)
        self._contexts = chain.base**self._order
        self._before = (self._contexts - 1) // (chain.base - 1) * self._symbols  # the context of starts alone
        self._ahead, self._usual = self._look_ahead(ends)
        self._usual_sum = np.cumsum(self._usual, axis=2)

    def _look_ahead(self, ends: Floats) -> tuple[Floats, Floats]:
        """For r to go: the chance to end after exactly r more symbols by row, and by class and symbol what rows without
        a list go on with: its chance times that of the context it leads to."""
        chain, symbols, classes = self._chain, self._symbols, len(self._chain.usual)
        end = chain.chances(np.arange(len(chain.cls)), np.full(len(chain.cls), symbols))
        last = chain.context % chain.base
        end = np.where((chain.length > 0) & (last < symbols), end * ends[chain.cls, np.minimum(last, symbols - 1)], end)
        ahead = np.zeros((self._far + 1, len(chain.cls)))
        usual = np.zeros((self._far + 1, classes, symbols))
        for r in range(self._far + 1):
            if r:
                listed = np.where(self._stays, chain.chance * ahead[r - 1][self._next], 0.0)
                end = (
                    np.bincount(self._owner, listed, len(chain.cls)) + chain.rest * usual[r - 1].sum(axis=1)[chain.cls]
                )
            most = np.zeros(classes)
            np.maximum.at(most, chain.cls, end)
            ahead[r] = np.maximum(end / np.maximum(most, 1e-300)[chain.cls], _LEAST)
            usual[r] = chain.usual[:, :symbols] * ahead[r][self._alone].reshape(classes, symbols)
        return ahead, usual

    def flow(self, number: Floats) -> tuple[Floats, Floats]:
        """How often each listed symbol is expected to be drawn in so many sequences (class, length), and how many end
        in each row. Sequences of all lengths that have equally many symbols to go are followed together."""
        chain, rows = self._chain, len(self._chain.cls)
        classes, symbols = len(chain.usual), np.arange(self._symbols)
        context = (self._before * chain.base + np.tile(symbols, classes)) % self._contexts
        first = chain.find(np.repeat(np.arange(classes), self._symbols), context, self._order)
        chance = self._first / self._first.sum(axis=1, keepdims=True)
        usual = chain.rest[self._owner] * chain.usual[chain.cls[self._owner], chain.symbol]
        following = np.append(self._next, self._alone)
        drawn, here = np.zeros(len(chain.symbol)), np.zeros(rows)
        for to_go in range(number.shape[1] - 2, -1, -1):
            here = here + np.bincount(first, (number[:, to_go + 1, None] * chance).ravel(), rows)
            if not to_go or not here.any():
                continue
            r = min(to_go - 1, self._far)
            ahead = np.where(self._stays, self._ahead[r][self._next], 0.0)
            listed, others = chain.chance * ahead, self._usual[r]
            total = np.bincount(self._owner, listed, rows) + chain.rest * others.sum(axis=1)[chain.cls]
            each = here / np.maximum(total, 1e-300)
            drawn += each[self._owner] * (listed + usual * ahead)
            to_others = np.bincount(chain.cls, each * chain.rest, classes)[:, None] * others
            moved = np.append(each[self._owner] * listed, to_others)
            here = np.asarray(np.bincount(following, moved, rows), np.float64)
        return drawn, here

    def draw(self, lengths: Ints, classes: Ints, dice: Dice) -> tuple[Ints, Codes]:
        """One sequence per length, as ragged rows; the longest first, those of one length in random order."""
        order = np.argsort(-lengths, kind="stable")
        length, cls = lengths[order], classes[order]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
        codes: Codes = np.zeros(starts[-1], np.int32)
        if not len(length):
            return starts, codes
        now = np.zeros(len(length), np.int64)
        for one in np.unique(cls).tolist():
            mine = np.flatnonzero(cls == one)
            now[dice.permutation(mine)] = systematic(self._first[one], len(mine), dice)
        context = np.full(len(length), self._before, np.int64)
        for place in range(int(length[0])):
            active = int(np.searchsorted(-length, -place, side="left"))
            if place:
                rows = self._chain.find(cls[:active], context[:active], self._order)
                now = self._step(rows, np.minimum(length[:active] - 1 - place, self._far), dice)
            codes[starts[:active] + place] = now[:active]
            context[:active] = (context[:active] * self._chain.base + now[:active]) % self._contexts
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
        cls = chain.cls[row]
        usual = chain.rest[row] * self._usual_sum[r, cls, -1]
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
            (mass[others] - listed[group[others]]) / np.maximum(usual[group[others]], 1e-300),
            r[group[others]] * len(chain.usual) + cls[group[others]],
        )
        made = np.empty(len(rows), np.int64)
        made[order] = drawn
        return made

    def _from_usual(self, part: Floats, table: Ints) -> Ints:
        """The symbols at these parts of the mass of tables of `usual`."""
        tables, which = np.unique(table, return_inverse=True)
        flat = self._usual_sum.reshape(-1, self._symbols)[tables]
        flat = flat / flat[:, -1:] + np.arange(len(tables))[:, None]
        at = np.searchsorted(flat.reshape(-1), np.minimum(part, 1 - 1e-12) + which, side="right")
        return np.clip(at - which * self._symbols, 0, self._symbols - 1)
