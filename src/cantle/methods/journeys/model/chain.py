"""A chain of symbols: for each known context the chances of what comes next. Post-processing.

A row belongs to a class of length and a context of up to three symbols. It lists some next symbols with a chance, and
gives the rest of its mass to the symbols as they come in its class (`usual`). The longest known context of a sequence
says which row is used; without any it is the row of the class. Code `symbols` stands for the start in a context, and
for the end as what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cantle.drawing.counts import Floats
from cantle.methods.journeys.model.tables import looked_up
from cantle.trusted.geometry.boxes import Ints

_LEAST = 1e-6  # the mass that a row gives to all symbols at least, so that it can always go on
_INDEXED = 1 << 22  # contexts up to this number are found through a table


@dataclass(frozen=True, eq=False)
class Known:
    """The rows of contexts of `length` symbols: their keys (class, context), ascending, and their numbers."""

    length: int
    keys: Ints
    rows: Ints


@dataclass(eq=False)
class Chain:
    """Rows of all lengths of context. `usual` is (class, next symbol), its rows add up to 1."""

    usual: Floats
    known: list[Known] = field(default_factory=list)
    cls: Ints = field(init=False)
    rest: Floats = field(init=False)
    context: Ints = field(init=False)
    length: Ints = field(init=False)
    """For each row its class, the mass given to `usual`, its context and the number of symbols of that."""
    starts: Ints = field(init=False)
    symbol: Ints = field(init=False)
    chance: Floats = field(init=False)
    """Row i lists symbol[starts[i]:starts[i + 1]], ascending, with these chances besides what `usual` gives them."""

    def __post_init__(self) -> None:
        classes = len(self.usual)
        self.cls, self.rest = np.arange(classes), np.ones(classes)
        self.context, self.length = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
        self.starts = np.zeros(classes + 1, np.int64)
        self.symbol, self.chance = np.zeros(0, np.int64), np.zeros(0)

    @property
    def base(self) -> int:
        """The number of codes: symbols, and one for start or end."""
        return self.usual.shape[1]

    @property
    def owner(self) -> Ints:
        """The row of each listed symbol."""
        return np.repeat(np.arange(len(self.cls)), np.diff(self.starts))

    @property
    def order(self) -> int:
        """The length of the longest known context."""
        return max((one.length for one in self.known), default=0)

    def find(self, cls: Ints, context: Ints, most: int) -> Ints:
        """The row of each context (numbers in base `base`, of `most` symbols), the longest one that is known."""
        row, open_ = cls.astype(np.int64), np.ones(len(cls), np.bool_)
        for one in reversed(self.known):
            if one.length > most or not len(one.keys):
                continue
            number = self.base**one.length
            key = cls * number + context % number
            if len(self.usual) * number <= _INDEXED:
                found = self._table(one)[key]
                hit = open_ & (found >= 0)
            else:
                at = np.minimum(np.searchsorted(one.keys, key), len(one.keys) - 1)
                hit, found = open_ & (one.keys[at] == key), one.rows[at]
            row = np.where(hit, found, row)
            open_ &= ~hit
        return row

    def _table(self, known: Known) -> Ints:
        kept = vars(known)
        if "_table" not in kept:
            kept["_table"] = np.full(len(self.usual) * self.base**known.length, -1, np.int64)
            kept["_table"][known.keys] = known.rows
        table: Ints = kept["_table"]
        return table

    def chances(self, row: Ints, symbol: Ints) -> Floats:
        """The chance of each symbol after the context of each row."""
        listed = looked_up(self.owner * self.base + self.symbol, self.chance, row * self.base + symbol)
        return np.asarray(listed + self.rest[row] * self.usual[self.cls[row], symbol])

    def spread(self, rows: Ints) -> tuple[Ints, Ints]:
        """The places of the listed symbols of these rows, and where those of each begin."""
        size = self.starts[rows + 1] - self.starts[rows]
        begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
        return np.arange(begins[-1]) + np.repeat(self.starts[rows] - begins[:-1], size), begins

    def cut(self, length: int) -> None:
        """Forgets the rows of contexts of at least this length."""
        self.known = [one for one in self.known if one.length < length]
        rows = int((self.length < length).sum())  # rows are in the order of their lengths
        self.cls, self.rest, self.context = self.cls[:rows], self.rest[:rows], self.context[:rows]
        self.length, self.starts = self.length[:rows], self.starts[: rows + 1]
        self.symbol, self.chance = self.symbol[: self.starts[-1]], self.chance[: self.starts[-1]]

    def extend(self, length: int, cls: Ints, context: Ints, symbol: Ints, chance: Floats, *, whole: bool) -> None:
        """Adds rows of contexts of this length: for each cell the wanted chance, cells ascending by class, context and
        symbol. If rows are not `whole`, other symbols keep their chances of the shorter context, up to a factor."""
        number = self.base**length
        key = cls * number + context
        keys, first = np.unique(key, return_index=True)
        row = np.searchsorted(keys, key)
        lower = self.find(cls[first], context[first], length - 1)
        rest = np.zeros(len(keys))
        if not whole:
            before = self.chances(lower[row], symbol)
            left = np.maximum(1 - np.bincount(row, before, len(keys)), 0.0)
            scale = 1 / np.maximum(np.bincount(row, chance, len(keys)) + left, 1e-12)
            rest = self.rest[lower] * scale
            row, symbol, chance = self._inherit(lower, row, symbol, chance * scale[row], scale)
            chance = np.maximum(chance - rest[row] * self.usual[self.cls[lower][row], symbol], 0.0)
        rest = np.maximum(rest, _LEAST)
        total = np.bincount(row, chance, len(keys)) + rest
        self.known.append(Known(length, keys, len(self.cls) + np.arange(len(keys))))
        self.cls, self.rest = np.append(self.cls, keys // number), np.append(self.rest, rest / total)
        self.context = np.append(self.context, keys % number)
        self.length = np.append(self.length, np.full(len(keys), length))
        ends = self.starts[-1] + np.cumsum(np.bincount(row, minlength=len(keys)))
        self.starts = np.append(self.starts, ends)
        self.symbol, self.chance = np.append(self.symbol, symbol), np.append(self.chance, chance / total[row])

    def tilt(self, factors: Floats) -> None:
        """Multiplies the chance of each listed symbol by a factor."""
        owner, chance = self.owner, self.chance * factors
        total = np.bincount(owner, chance, len(self.cls)) + self.rest
        self.chance, self.rest = chance / total[owner], self.rest / total

    def _inherit(
        self, lower: Ints, row: Ints, symbol: Ints, chance: Floats, scale: Floats
    ) -> tuple[Ints, Ints, Floats]:
        """Cells together with those that the rows of shorter contexts list, which lose to cells of the same symbol."""
        places, begins = self.spread(lower)
        owner = np.repeat(np.arange(len(lower)), np.diff(begins))
        usual = self.rest[lower][owner] * self.usual[self.cls[lower][owner], self.symbol[places]]
        rows, symbols = np.append(row, owner), np.append(symbol, self.symbol[places])
        chances = np.append(chance, (self.chance[places] + usual) * scale[owner])
        cell, first = np.unique(rows * self.base + symbols, return_index=True)
        return cell // self.base, cell % self.base, chances[first]
