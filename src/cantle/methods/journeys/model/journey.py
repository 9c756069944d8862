"""The model of sequences: their lengths, and a chain that grows by an order with each table. Post-processing.

After each table, the chain is corrected by what it lets expect itself, until that is what was measured. Sequences that
are simulated with public dice show which longer strings it lets expect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.drawing.smooth import shrink
from cantle.methods.journeys.model.chain import Chain, looked_up
from cantle.methods.journeys.model.lengths import LengthModel
from cantle.methods.journeys.model.tables import fit_pairs, possible
from cantle.methods.journeys.model.walk import Walk
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.sequence_strings import Shares, merged, string_parts

POOL = 80_000
"""Most sequences that are simulated."""

_RATIOS = (1e-3, 1e4)  # bounds on how much more often a string occurs than the order below lets expect
_CORRECTION = (0.3, 3.0)
_ROUNDS, _STEP = 40, 0.75  # corrections of the whole model, and how far each goes, divided among the tables
_DOUBT = 1.5  # standard deviations of noise at which half of a difference is believed
_SMALL = 0.05  # noise scales that are added to both sides of a ratio
_USED = 0.2  # noise scales above which a listed string has a chance of its own
_KEPT = 3.0  # a context is used if it exceeds its noise this often
_TINY = 1e-9
_FOLLOWED = 128  # longer sequences are followed as if they had so many symbols


@dataclass(frozen=True, eq=False)
class Table:
    """Noisy strings of one order: their cells (ascending), how often each occurs, and the scale of its noise; whether
    all cells are listed; and what was expected of them."""

    order: int
    cells: Ints
    noisy: Floats
    scale: Floats
    whole: bool
    expected: Floats

    def again(self, other: Table) -> Table:
        """The same strings measured twice: what both measured is averaged; other strings are those of `other`."""
        at = np.minimum(np.searchsorted(self.cells, other.cells), len(self.cells) - 1)
        both = self.cells[at] == other.cells
        weight = np.where(both, self.scale[at] ** -2 / (self.scale[at] ** -2 + other.scale**-2), 0.0)
        noisy = weight * self.noisy[at] + (1 - weight) * other.noisy
        scale = other.scale * np.sqrt(1 - weight)
        return Table(self.order, other.cells, noisy, scale, self.whole, other.expected)


def uses(shares: Shares, order: int, symbols: int, cells: Ints) -> Ints:
    """The parts of one occurrence of each string."""
    base = symbols + 1
    made = np.full(len(cells), shares.other)
    made[cells % base == symbols] = shares.ends
    made[(cells // base == base ** (order - 1) - 1) & (cells % base < symbols)] = shares.begins
    return np.maximum(1, made)


@dataclass(eq=False)
class Journeys:
    """What is known of sequences."""

    symbols: int
    lengths: LengthModel
    span: int
    dice: Dice
    chain: Chain = field(init=False)
    fitted: dict[int, tuple[Ints, Floats, Floats]] = field(default_factory=dict)
    """For each order the strings that were measured: their cells, ascending, how many there are without noise, and the
    scales of the noise."""

    def __post_init__(self) -> None:
        usual = np.full(self.base, 1.0)
        usual[-1] = self.records / max(1.0, self.lengths.symbols) * self.symbols
        self.chain = Chain(usual / usual.sum())

    @property
    def base(self) -> int:
        return self.symbols + 1

    @cached_property
    def _pool(self) -> Ints:
        """The lengths of simulated sequences, at even parts of all."""
        sums = np.cumsum(self.lengths.number)
        if sums[-1] < 1:
            return np.array([1])
        number = min(round(float(sums[-1])), POOL)
        return np.searchsorted(sums, (np.arange(number) + 0.5) * (sums[-1] / number), side="right")

    @property
    def records(self) -> float:
        return max(1.0, self.lengths.records)

    def draw(self, lengths: Ints, dice: Dice) -> tuple[Ints, Codes]:
        return Walk(self.chain, int(lengths.max(initial=1))).draw(lengths, dice)

    def weight(self, lengths: Ints) -> Floats:
        """How much strings of sequences of these lengths count, beside those of shorter ones."""
        return np.minimum(1.0, max(1, self.span - 1) / np.maximum(1, lengths - 1))

    def expected(self, order: int, shares: Shares) -> tuple[Ints, Floats]:
        """The strings that simulated sequences have, and how many are expected of each."""
        starts, codes = self.draw(self._pool, self.dice)
        cells, parts = merged(*string_parts(starts, codes, self.symbols, order, shares))
        each = self.records / len(self._pool)
        return cells, np.asarray(parts * (each / uses(shares, order, self.symbols, cells)))

    # ---- fitting ------------------------------------------------------------------------------------------

    def learn(self, table: Table) -> None:
        """The chain with contexts of one symbol less than the strings of a table; longer ones are forgotten."""
        made = self._without_noise(table)
        if table.order == 1:
            self.chain.usual = made / made.sum()
            return
        self.chain.cut(table.order - 1)
        self.fitted[table.order] = table.cells, made, table.scale
        if table.order > 2 or not table.whole:
            self._extend(table, made)
            return
        pairs = made.reshape(self.base, self.base)
        usual = pairs.sum(axis=0) + 1e-9
        self.chain.usual = usual / usual.sum()
        following = pairs + 1e-6 * table.scale[0] * self.chain.usual
        following[-1, -1] = 0.0  # no sequence is empty
        self.chain.extend(1, table.cells, (following / following.sum(axis=1, keepdims=True)).ravel(), whole=True)

    def _without_noise(self, table: Table) -> Floats:
        """How often strings occur, behind noisy numbers."""
        noisy, scale, made = table.noisy, table.scale, np.zeros(len(table.cells))
        first, last = table.cells // self.base, table.cells % self.base
        if table.order == 1:
            made = np.maximum(shrink(noisy, np.full(self.base, self.lengths.symbols / self.symbols), scale[0]), _TINY)
            made[-1] = self.records
        elif table.order > 2:
            able = possible(table.cells, table.order, self.base)
            made[able] = shrink(noisy[able], table.expected[able], scale[0])
        else:
            begins, ends = (first == self.symbols) & (last < self.symbols), (last == self.symbols) & (first < last)
            for mine in (begins, ends):
                even = np.full(self.symbols, self.records / self.symbols)
                made[mine] = shrink(noisy[mine], even, scale[mine][0])
                made[mine] *= self.records / max(_TINY, float(made[mine].sum()))
            inner = (first < self.symbols) & (last < self.symbols)
            if table.whole:
                made[inner] = fit_pairs(noisy[inner].reshape(self.symbols, -1), scale[0]).ravel()
                number = np.arange(len(self.lengths.number))
                pairs = float((self.lengths.number * self.weight(number) * np.maximum(0, number - 1)).sum())
                made[inner] *= pairs / max(_TINY, float(made[inner].sum()))
            else:
                for mine in (inner & (first == last), inner & (first != last)):
                    made[mine] = shrink(noisy[mine], table.expected[mine], scale[inner][0])
        return made

    def _extend(self, table: Table, made: Floats) -> None:
        """Adds rows: chances of the shorter context times the ratio of each string to what was expected."""
        small = _SMALL * table.scale
        ratio = np.clip((made + small) / (table.expected + small), *_RATIOS)
        used = np.maximum(made, table.expected) > _USED * table.scale
        context = table.cells // self.base
        if table.whole:
            sums = np.bincount(context, made)
            used = (sums > _KEPT * table.scale[0])[context]
        if table.order > 2:
            used &= context < self.base ** (table.order - 1) - 1
        cells, ratio = table.cells[used], ratio[used]
        context, symbol = np.divmod(cells, self.base)
        chance = self.chain.chances(self.chain.find(context, table.order - 2), symbol) * ratio
        if table.whole:
            _, row = np.unique(context, return_inverse=True)
            chance = chance / np.maximum(np.bincount(row, chance), 1e-300)[row]
        self.chain.extend(table.order - 1, cells, chance, whole=table.whole)

    def correct(self) -> None:
        """Moves the model until the strings that it lets expect are those that were measured: learning longer ones
        shifts what was right of shorter ones.

        This is iterative scaling with the model's own exact expectations (Walk.flow). All tables are corrected at once,
        so a step is divided among them; else they would overshoot.
        """
        lengths = np.flatnonzero(self.lengths.number > 0)
        if not self.fitted or not len(lengths):
            return
        number, followed = self.lengths.number[lengths], np.minimum(lengths, _FOLLOWED)
        whole = np.bincount(followed, number).astype(np.float64)
        inner = self.weight(lengths) * np.maximum(lengths - 1, 1) / np.maximum(followed - 1, 1)
        parts = np.bincount(followed, number * inner).astype(np.float64)
        tables = [self._listed(order) for order in self.fitted]
        step, before = _STEP / len(tables), np.inf
        owner = self.chain.owner
        start = self.chain.context[owner] == self.base ** self.chain.length[owner] - 1
        end = self.chain.symbol == self.symbols
        for _ in range(_ROUNDS):
            walk = Walk(self.chain, len(whole) - 1)
            (every, ended), drawn = walk.flow(whole), walk.flow(parts)[0]
            drawn = np.where(end, ended[owner], np.where(start, every, drawn))
            power, misfit = np.zeros(len(drawn)), 0.0
            for mine, place, wanted, noise in tables:
                got = np.bincount(place, drawn[mine], len(wanted))
                off, small = (wanted - got) ** 2, _SMALL * noise
                ratio = np.log(np.clip((wanted + small) / (got + small), *_CORRECTION))
                power[mine] += (ratio * off / (off + 2 * (_DOUBT * noise) ** 2))[place]
                misfit += float(np.abs(wanted - got).sum())
            step, before = step / (2 if misfit > before else 1), misfit
            self.chain.tilt(np.exp(step * power))

    def _listed(self, order: int) -> tuple[Ints, Ints, Floats, Floats]:
        """For what the chain lists after contexts of at least `order` - 1 symbols: where it is listed, which measured
        string each belongs to, and how many of each of these strings there are, with their noise."""
        chain, (cells, made, scale) = self.chain, self.fitted[order]
        mine = np.flatnonzero(chain.length[chain.owner] >= order - 1)
        cell = (chain.context[chain.owner[mine]] % self.base ** (order - 1)) * self.base + chain.symbol[mine]
        known = np.isin(cell, cells)
        strings, place = np.unique(cell[known], return_inverse=True)
        return mine[known], place, looked_up(cells, made, strings), looked_up(cells, scale, strings)
