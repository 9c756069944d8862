"""A chain of symbols: for each known context the chances of what comes next. Post-processing.

A row belongs to a context of up to three symbols. It lists some next symbols with a chance, and gives the rest of its
mass to the symbols as they usually come (`usual`). The longest known context of a sequence says which row is used;
without any it is row 0. Code `symbols` stands for the start in a context, and for the end as what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cantle.drawing.counts import Floats
from cantle.trusted.geometry.boxes import Ints

_LEAST = 1e-6  # the mass that a row gives to all symbols at least, so that it can always go on
_INDEXED = 1 << 22  # contexts up to this number are found through a table


def looked_up(cells: Ints, values: Floats, wanted: Ints) -> Floats:
    """The value of each wanted cell; 0 for those that are not among the cells, which ascend."""
    at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.where(cells[at] == wanted, values[at], 0.0) if len(cells) else np.zeros(len(wanted))


@dataclass(frozen=True, eq=False)
class Known:
    """The rows of contexts of `length` symbols: the contexts, ascending, and the first of their rows."""

    length: int
    contexts: Ints
    first: int


@dataclass(eq=False)
class Chain:
    """Rows of all lengths of context, shorter ones first. `usual` has a chance per next symbol; they add up to 1."""

    usual: Floats
    known: list[Known] = field(default_factory=list)
    rest: Floats = field(default_factory=lambda: np.ones(1))
    context: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    length: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    """For each row the mass given to `usual`, its context and the number of symbols of that."""
    starts: Ints = field(default_factory=lambda: np.zeros(2, np.int64))
    symbol: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    chance: Floats = field(default_factory=lambda: np.zeros(0))
    """Row i lists symbol[starts[i]:starts[i + 1]], ascending, with these chances besides what `usual` gives them."""

    @property
    def base(self) -> int:
        """The number of codes: symbols, and one for start or end."""
        return len(self.usual)

    @property
    def owner(self) -> Ints:
        """The row of each listed symbol."""
        return np.repeat(np.arange(len(self.rest)), np.diff(self.starts))

    @property
    def order(self) -> int:
        """The length of the longest known context."""
        return max((one.length for one in self.known), default=0)

    def find(self, context: Ints, most: int) -> Ints:
        """The row of each context (numbers in base `base`, of `most` symbols), the longest one that is known."""
        row, open_ = np.zeros(len(context), np.int64), np.ones(len(context), np.bool_)
        for one in reversed(self.known):
            if one.length > most or not len(one.contexts):
                continue
            number = self.base**one.length
            wanted = context % number
            if number <= _INDEXED:
                found = self._table(one)[wanted]
                hit = open_ & (found >= 0)
            else:
                at = np.minimum(np.searchsorted(one.contexts, wanted), len(one.contexts) - 1)
                hit, found = open_ & (one.contexts[at] == wanted), one.first + at
            row = np.where(hit, found, row)
            open_ &= ~hit
        return row

    def _table(self, known: Known) -> Ints:
        kept = vars(known)
        if "_table" not in kept:
            kept["_table"] = np.full(self.base**known.length, -1, np.int64)
            kept["_table"][known.contexts] = known.first + np.arange(len(known.contexts))
        table: Ints = kept["_table"]
        return table

    def chances(self, row: Ints, symbol: Ints) -> Floats:
        """The chance of each symbol after the context of each row."""
        listed = looked_up(self.owner * self.base + self.symbol, self.chance, row * self.base + symbol)
        return np.asarray(listed + self.rest[row] * self.usual[symbol])

    def spread(self, rows: Ints) -> tuple[Ints, Ints]:
        """The places of the listed symbols of these rows, and where those of each begin."""
        size = self.starts[rows + 1] - self.starts[rows]
        begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
        return np.arange(begins[-1]) + np.repeat(self.starts[rows] - begins[:-1], size), begins

    def cut(self, length: int) -> None:
        """Forgets the rows of contexts of at least this length."""
        self.known = [one for one in self.known if one.length < length]
        rows = int((self.length < length).sum())  # rows are in the order of their lengths
        self.rest, self.context, self.length = self.rest[:rows], self.context[:rows], self.length[:rows]
        self.starts = self.starts[: rows + 1]
        self.symbol, self.chance = self.symbol[: self.starts[-1]], self.chance[: self.starts[-1]]

    def extend(self, length: int, cells: Ints, chance: Floats, *, whole: bool) -> None:
        """Adds rows of contexts of this length: for each cell (context, next symbol), ascending, the wanted chance. If
        rows are not `whole`, other symbols keep their chances of the shorter context, up to a factor."""
        context, symbol = np.divmod(cells, self.base)
        contexts, row = np.unique(context, return_inverse=True)
        rest = np.zeros(len(contexts))
        if not whole:
            lower = self.find(contexts, length - 1)
            before = self.chances(lower[row], symbol)
            left = np.maximum(1 - np.bincount(row, before, len(contexts)), 0.0)
            scale = 1 / np.maximum(np.bincount(row, chance, len(contexts)) + left, 1e-12)
            rest = self.rest[lower] * scale
            row, symbol, chance = self._inherit(lower, row, symbol, chance * scale[row], scale)
            chance = np.maximum(chance - rest[row] * self.usual[symbol], 0.0)
        rest = np.maximum(rest, _LEAST)
        total = np.bincount(row, chance, len(contexts)) + rest
        self.known.append(Known(length, contexts, len(self.rest)))
        self.rest = np.append(self.rest, rest / total)
        self.context = np.append(self.context, contexts)
        self.length = np.append(self.length, np.full(len(contexts), length))
        ends = self.starts[-1] + np.cumsum(np.bincount(row, minlength=len(contexts)))
        self.starts = np.append(self.starts, ends)
        self.symbol, self.chance = np.append(self.symbol, symbol), np.append(self.chance, chance / total[row])

    def tilt(self, factors: Floats) -> None:
        """Multiplies the chance of each listed symbol by a factor."""
        owner, chance = self.owner, self.chance * factors
        total = np.bincount(owner, chance, len(self.rest)) + self.rest
        self.chance, self.rest = chance / total[owner], self.rest / total

    def _inherit(
        self, lower: Ints, row: Ints, symbol: Ints, chance: Floats, scale: Floats
    ) -> tuple[Ints, Ints, Floats]:
        """Cells together with those that the rows of shorter contexts list, which lose to cells of the same symbol."""
        places, begins = self.spread(lower)
        owner = np.repeat(np.arange(len(lower)), np.diff(begins))
        rows, symbols = np.append(row, owner), np.append(symbol, self.symbol[places])
        usual = self.rest[lower][owner] * self.usual[self.symbol[places]]
        chances = np.append(chance, (self.chance[places] + usual) * scale[owner])
        cell, first = np.unique(rows * self.base + symbols, return_index=True)
        return cell // self.base, cell % self.base, chances[first]
