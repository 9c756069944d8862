"""The model of long sequences: lengths, ends, and a chain that grows by an order with each table. Post-processing.

After each table, the chain is corrected by what it lets expect itself, until that is what was measured. Sequences that
are simulated with public dice show which longer strings it lets expect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.drawing.smooth import shrink
from cantle.methods.journeys.model.chain import Chain
from cantle.methods.journeys.model.lengths import LengthModel
from cantle.methods.journeys.model.tables import Ends, clear_contexts, fit_pairs, fit_strings, looked_up
from cantle.methods.journeys.model.walk import Walk
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.sequence_strings import merged, string_parts

POOL = 80_000
"""Most sequences that are simulated."""

_RATIOS = (1e-3, 1e4)  # bounds on how much more often a string occurs than the order below lets expect
_CORRECTION = (0.3, 3.0)
_ROUNDS, _STEP = 24, 0.75  # corrections of the whole model, and how far each goes, divided among the tables
_ENDS, _ENDS_STEP = (0.25, 4.0), 0.5
_DOUBT = 1.5  # standard deviations of noise at which half of a difference is believed
_SMALL = 0.05  # noise scales that are added to both sides of a ratio
_USED = 0.2  # noise scales above which a listed string has a chance of its own
_FOLLOWED = 128  # longer sequences are followed as if they had so many symbols


@dataclass(frozen=True, eq=False)
class Table:
    """Noisy strings of one order: their cells (ascending), noisy numbers, and the scale of the noise; whether all cells
    are listed; and what was expected of them."""

    order: int
    cells: Ints
    noisy: Floats
    scale: float
    whole: bool
    expected: Floats

    def again(self, other: Table) -> Table:
        """The same strings measured twice: what both measured is averaged; other strings are those of `other`."""
        weight = self.scale**-2 / (self.scale**-2 + other.scale**-2)
        at = np.minimum(np.searchsorted(self.cells, other.cells), len(self.cells) - 1)
        both = self.cells[at] == other.cells
        noisy = np.where(both, weight * self.noisy[at] + (1 - weight) * other.noisy, other.noisy)
        scale = (self.scale**-2 + other.scale**-2) ** -0.5
        return Table(self.order, other.cells, noisy, scale, self.whole, other.expected)


@dataclass(eq=False)
class Journeys:
    """What is known of sequences longer than `short` symbols; `classes` are the first lengths of classes of length,
    from the second class on."""

    symbols: int
    lengths: LengthModel
    short: int
    classes: tuple[int, ...]
    ends: Ends
    dice: Dice
    chain: Chain = field(init=False)
    factors: Floats = field(init=False)
    sizes: Floats = field(init=False)
    fitted: dict[int, tuple[Ints, Floats, float]] = field(default_factory=dict)
    """For each order the strings that were measured: their cells, ascending, how many there are without noise, and the
    scale of the noise. Pairs are those of each class of length."""

    def __post_init__(self) -> None:
        every = np.arange(len(self.lengths.number))
        number = np.where(every > self.short, self.lengths.number, 0.0)
        cls = self.class_of(every)
        self.sizes = np.maximum(np.bincount(cls, number), 1e-9)
        ended = np.bincount(cls, number / np.maximum(every, 1)) / self.sizes  # one string of each ends it
        any_ = self.ends.any / self.ends.any.sum(axis=1, keepdims=True)
        usual = np.concatenate([any_ * (1 - ended)[:, None], ended[:, None]], axis=1)
        self.chain = Chain(usual / usual.sum(axis=1, keepdims=True))
        self.factors = np.ones_like(self.ends.last)

    @property
    def base(self) -> int:
        return self.symbols + 1

    def class_of(self, lengths: Ints) -> Ints:
        return np.searchsorted(self.classes, lengths, side="right")

    @cached_property
    def _pool(self) -> Ints:
        """The lengths of simulated sequences, at even parts of all."""
        sums = np.cumsum(np.where(np.arange(len(self.lengths.number)) > self.short, self.lengths.number, 0.0))
        if sums[-1] < 1:
            return np.array([self.short + 1])
        number = min(round(float(sums[-1])), POOL)
        return np.searchsorted(sums, (np.arange(number) + 0.5) * (sums[-1] / number), side="right")

    @property
    def records(self) -> float:
        return max(1.0, self.lengths.longer(self.short))

    @property
    def each(self) -> float:
        """How many sequences a simulated one stands for."""
        return self.records / len(self._pool)

    def _walk(self, longest: int) -> Walk:
        return Walk(self.chain, self.ends.first, self.factors, longest)

    def draw(self, lengths: Ints, dice: Dice) -> tuple[Ints, Codes]:
        return self._walk(int(lengths.max(initial=1))).draw(lengths, self.class_of(lengths), dice)

    def expected(self, order: int) -> tuple[Ints, Floats]:
        """The strings that simulated sequences have, and how many are expected of each."""
        starts, codes = self.draw(self._pool, self.dice)
        cells, parts = merged(*string_parts(starts, codes, self.symbols, order, self.classes if order == 2 else ()))
        return cells, np.asarray(parts * (self.each / PARTS), dtype=np.float64)

    def spread(self) -> float:
        """The mean length of simulated sequences."""
        return float(self._pool.mean())

    # ---- fitting ------------------------------------------------------------------------------------------

    def learn(self, table: Table) -> None:
        """The chain with contexts of one symbol less than the strings of a table; longer ones are forgotten."""
        self.chain.cut(table.order - 1)
        if table.order == 2 and table.whole:
            self._learn_pairs(table)
            return
        made = self._without_noise(table)
        self.fitted[table.order] = table.cells, made, table.scale
        small = _SMALL * table.scale
        self._extend(table, made, np.clip((made + small) / (table.expected + small), *_RATIOS))

    def _learn_pairs(self, table: Table) -> None:
        base, classes = self.base, len(self.classes) + 1
        noisy = table.noisy.reshape(classes, base, base)[:, : self.symbols]
        made = fit_pairs(noisy, table.scale, self.ends.last, self.sizes)
        every = np.concatenate([made, np.zeros((classes, 1, base))], axis=1)
        self.fitted[2] = table.cells, every.ravel(), table.scale
        following = made + 1e-6 * table.scale * self.chain.usual[:, None, :]
        cell = np.arange(made.size)
        chance = (following / following.sum(axis=2, keepdims=True)).ravel()
        cls, context = cell // (self.symbols * base), cell // base % self.symbols
        self.chain.extend(1, cls, context, cell % base, chance, whole=True)

    def _without_noise(self, table: Table) -> Floats:
        """The strings behind noisy ones."""
        if table.whole:
            _, shorter, _ = self.fitted[table.order - 1]
            shorter = shorter.reshape(-1, self.base ** (table.order - 1)).sum(axis=0)  # pairs of all classes
            return fit_strings(table.noisy, table.expected, table.scale, self.base, shorter)
        if table.order > 2:
            return shrink(table.noisy, table.expected, table.scale)
        made, repeats = np.zeros(len(table.cells)), table.cells // self.base % self.base == table.cells % self.base
        for mine in (np.flatnonzero(repeats), np.flatnonzero(~repeats)):
            if len(mine):
                made[mine] = shrink(table.noisy[mine], table.expected[mine], table.scale)
        return made

    def _extend(self, table: Table, made: Floats, ratio: Floats) -> None:
        """Adds rows for all classes: chances of the shorter context times the ratio of each string."""
        length, number = table.order - 1, self.base ** (table.order - 1)
        used = np.maximum(made, table.expected) > _USED * table.scale
        if table.whole:
            clear = np.zeros(number, np.bool_)
            clear[clear_contexts(made, table.scale, self.base)] = True
            used = clear[table.cells // self.base]
        cells, ratio = table.cells[used], ratio[used]
        classes = len(self.classes) + 1
        cls, context = cells // (number * self.base), cells // self.base % number
        if table.order > 2:  # strings were counted in all classes together
            cls = np.repeat(np.arange(classes), len(cells))
            cells, ratio, context = np.tile(cells, classes), np.tile(ratio, classes), np.tile(context, classes)
        symbol = cells % self.base
        lower = self.chain.find(cls, context, length - 1)
        chance = self.chain.chances(lower, symbol) * ratio
        if table.whole:
            rows = cls * number + context
            _, row = np.unique(rows, return_inverse=True)
            chance = chance / np.maximum(np.bincount(row, chance), 1e-300)[row]
        self.chain.extend(length, cls, context, symbol, chance, whole=table.whole)

    def correct(self, scale: float) -> None:
        """Moves the model until the strings and the last symbols that it lets expect are those that were measured.
        Longer strings are counted in all classes of length together, so learning them shifts what each class had right.

        `scale` is that of the noise of last symbols. This is iterative scaling with the model's own exact expectations
        (Walk.flow). All tables are corrected at once, so a step is divided among them; else they would overshoot.
        """
        lengths = np.flatnonzero(self.lengths.number > 0)
        lengths = lengths[lengths > self.short]
        if not self.fitted or not len(lengths):
            return
        number, cls, followed = self.lengths.number[lengths], self.class_of(lengths), np.minimum(lengths, _FOLLOWED)
        whole = np.zeros((len(self.sizes), int(followed.max()) + 1))
        parts = np.zeros_like(whole)
        np.add.at(whole, (cls, followed), number)
        np.add.at(parts, (cls, followed), number / followed)
        tables = [self._listed(order) for order in self.fitted]
        step, before = _STEP / len(tables), np.inf
        for _ in range(_ROUNDS):
            walk = self._walk(whole.shape[1] - 1)
            self._correct_ends(walk.flow(whole)[1], scale)
            drawn, power, misfit = walk.flow(parts)[0], np.zeros(len(self.chain.symbol)), 0.0
            for mine, place, wanted, noise in tables:
                got = np.bincount(place, drawn[mine], len(wanted))
                off, small = (wanted - got) ** 2, _SMALL * noise
                ratio = np.log(np.clip((wanted + small) / (got + small), *_CORRECTION))
                power[mine] += (ratio * off / (off + 2 * (_DOUBT * noise) ** 2))[place]
                misfit += float(np.abs(wanted - got).sum())
            step, before = step / (2 if misfit > before else 1), misfit
            self.chain.tilt(np.exp(step * power))

    def _listed(self, order: int) -> tuple[Ints, Ints, Floats, float]:
        """For the symbols that the chain lists after contexts of at least `order` - 1 symbols: where they are listed,
        which measured string each belongs to, and how many of each of these strings there are, with their noise."""
        chain, (cells, made, scale) = self.chain, self.fitted[order]
        number = self.base ** (order - 1)
        mine = np.flatnonzero((chain.length[chain.owner] >= order - 1) & (chain.symbol < self.symbols))
        row = chain.owner[mine]
        cell = (chain.context[row] % number) * self.base + chain.symbol[mine]
        if order == 2:
            cell += chain.cls[row] * self.base**2
        known = np.isin(cell, cells)
        strings, place = np.unique(cell[known], return_inverse=True)
        return mine[known], place, looked_up(cells, made, strings), scale

    def _correct_ends(self, ended: Floats, scale: float) -> None:
        """Corrects the chances to end by the numbers of sequences that are expected to end in each row of the chain."""
        chain, known = self.chain, np.flatnonzero(self.chain.length > 0)
        last = chain.cls[known] * self.base + chain.context[known] % self.base
        got = np.bincount(last, ended[known], len(self.sizes) * self.base).reshape(-1, self.base)[:, : self.symbols]
        change = (self.ends.last + scale) / (got + scale)
        self.factors = np.clip(self.factors * np.clip(change, *_ENDS) ** _ENDS_STEP, 0.01, 100.0)
