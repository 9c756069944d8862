"""The questions of journeys: which are asked, at which price, and what is fitted between them.

Every decision follows by a public rule from earlier noisy answers and public dice. So a curator answers the questions
of a run, and a release answers them again when it is verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import log

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.errors import ParameterError
from cantle.methods.asking import ALL, Asker
from cantle.methods.journeys.model.journey import Journeys, Table
from cantle.methods.journeys.model.lengths import LengthModel, fit_lengths, length_edges
from cantle.methods.journeys.model.paths import fit_paths, split_paths
from cantle.methods.journeys.model.tables import fit_ends, looked_up
from cantle.trusted.claims import sequence_queries as queries
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.item_partitions import PARTS

MOST_PATH, MOST_ORDER = 4, 4
"""Longest sequences that are counted whole, and most symbols of a string."""

LENGTHS_SHARE = Fraction(2, 25)
TEST_SHARE = Fraction(1, 50)
ENDS_SHARE, ENDS_OF_MANY = Fraction(1, 5), Fraction(2, 5)
"""Shares of epsilon, and of what is left for long sequences: few or many symbols."""
PAIRS_SHARE, HALF = Fraction(3, 5), Fraction(1, 2)
"""Shares of what is left for strings, if longer ones may follow: pairs, and strings of three."""

ENDS = ("starts", "ends", "symbols")
"""What the groups call first, last and any symbols."""

ENDS_PARTS, ENDS_PARTS_OF_MANY = (PARTS // 2, PARTS // 2, 0), (PARTS // 4, PARTS // 4, PARTS // 2)
"""The parts of a sequence in the tables of first, last and any symbols."""

DENSE = 1_500_000
"""Most strings that are all listed."""

LEAST_STRENGTH = 200
"""Records times epsilon below which no order of symbols is measured."""

SMALL_LOG = 2_000
"""Records times epsilon below which the order of symbols is known roughly at best."""

LONGER_LOG = 5_000
"""Records times epsilon below which pairs get all that is left: longer strings would cost more than they tell."""

MOST_CLASSES = 5
_FULL_CLASS = 10.0  # sequences times epsilon for each pair of a class of length
_WORTH = 0.6  # how much of the noise it costs an order must explain to be measured
_COVERED = 0.25  # the share of strings that must be expected to stand out
_NEXT_COVERED = 0.8  # the same of still longer strings, if half of the budget is to be kept for them
_CLEAR = 4.0
_SAMPLING = 0.4  # the mean error of a simulated number, in standard deviations, halved
_SPURIOUS = 40  # strings that pass the threshold by noise alone
LEAST = 10_000
"""The smallest epsilon, in nano-units."""

PAID = {
    "lengths": "lengths of sequences",
    "paths": "short sequences",
    "ends": "first and last symbols",
    "pairs": "pairs of symbols",
    "test": "whether longer strings pay",
    "strings": "strings of symbols",
}
"""What the receipt calls each question."""


@dataclass(eq=False)
class Answers:
    """The noisy answers with the plans they follow, and what is fitted to them."""

    edges: Ints
    noisy_lengths: Noisy
    lengths: LengthModel
    short: int = 0
    noisy_paths: Noisy | None = None
    paths: list[Floats] = field(default_factory=list)
    classes: tuple[int, ...] = ()
    weights: tuple[int, int, int] = ENDS_PARTS
    noisy_ends: Noisy | None = None
    model: Journeys | None = None
    measured: list[tuple[str, int, Noisy | NoisyCells, Ints]] = field(default_factory=list)
    """For each question about strings its name, order, answer and cells."""
    tests: list[tuple[int, Noisy]] = field(default_factory=list)
    """For each test its order and answer."""

    @property
    def order(self) -> int:
        """The longest strings that were counted; 1 if no order of symbols was."""
        return max((order for _, order, _, _ in self.measured), default=1)


def _portion(total: int, fraction: Fraction) -> int:
    """A share of a whole number of nano-units, rounded down."""
    return total * fraction.numerator // fraction.denominator


def scale_of(noisy: Noisy | NoisyCells) -> float:
    """The scale of the noise: sensitivity over epsilon."""
    return noisy.rate_den / int(noisy.rate_num[0])


def require_shareable(epsilon_nano: int) -> None:
    """Refuses an epsilon that is too small to be divided among the questions."""
    if epsilon_nano < LEAST:
        raise ParameterError(f"epsilon is too small for journeys, which shares it; raise it to {LEAST / NANO:g}")


def ask_all(asker: Asker, symbols: int, longest: int, dice: Mapping[str, Dice]) -> Answers:
    """Asks all questions."""
    whole = asker.left()
    require_shareable(whole)
    edges = length_edges(longest)
    query = queries.Lengths(tuple(edges.tolist()))
    noisy = asker.ask(query, _portion(whole, LENGTHS_SHARE), why=PAID["lengths"], rows=("lengths",))
    known = Answers(edges, noisy, fit_lengths(noisy.value[0], edges, scale_of(noisy), longest))
    asker.accuracy(whole, int(noisy.value.sum()))
    left = asker.left() / NANO / asker.max_records
    orders = known.lengths.records * whole / NANO / asker.max_records >= LEAST_STRENGTH
    known.short = _longest_path(known.lengths, symbols, left) if orders else 1
    short, long = ALL, ALL
    if known.short < longest:
        short, long = "short", "long"
        asker.divide(Cuts(np.zeros(1, np.int64), np.array([known.short])), (short, long))
    usual = np.ones(symbols)
    if known.short < longest:
        _Long(asker, long, symbols, known, dice["pools"], whole).ask(orders)
        assert known.model is not None
        usual = known.model.ends.any.sum(axis=0)
    paths = queries.ShortPaths(symbols, known.short)
    known.noisy_paths = asker.ask(paths, asker.left(short), why=PAID["paths"], rows=("paths",), part=short)
    tables = split_paths(known.noisy_paths.value[0], symbols, known.short)
    known.paths = fit_paths(tables, known.lengths.number, usual, scale_of(known.noisy_paths))
    return known


def _longest_path(lengths: LengthModel, symbols: int, epsilon: float) -> int:
    """The longest sequences to be counted as whole paths: as long as there is a sequence per path and unit of noise."""
    longest, most = 1, len(lengths.number) - 1
    while longest < min(MOST_PATH, most):
        paths = symbols ** (longest + 1)
        if paths > DENSE or paths > lengths.number[longest + 1] * epsilon:
            break
        longest += 1
    return longest


def length_classes(lengths: LengthModel, short: int, symbols: int, epsilon: float) -> tuple[int, ...]:
    """The first lengths of classes of about equally many sequences, from the second class on."""
    full = _FULL_CLASS * symbols * (symbols + 1)
    wanted = int(np.clip(lengths.longer(short) * epsilon / full, 1, MOST_CLASSES))
    number = np.where(np.arange(len(lengths.number)) > short, lengths.number, 0.0)
    middle = (np.cumsum(number) - number / 2) / max(float(number.sum()), 1e-9)
    cls = np.clip(np.floor(middle * wanted), 0, wanted - 1)
    cls[: short + 2] = 0
    return tuple((np.flatnonzero(np.diff(np.maximum.accumulate(cls))) + 1).tolist())


@dataclass(eq=False)
class _Long:
    """The questions about long sequences."""

    asker: Asker
    part: str
    symbols: int
    known: Answers
    dice: Dice
    whole: int

    def ask(self, orders: bool) -> None:
        known, base = self.known, self.symbols + 1
        epsilon = self.whole / NANO / self.asker.max_records
        known.classes = length_classes(known.lengths, known.short, self.symbols, epsilon) if orders else ()
        many = (len(known.classes) + 1) * base**2 > DENSE
        known.weights = ENDS_PARTS_OF_MANY if many or not orders else ENDS_PARTS
        price = _portion(self._left, ENDS_OF_MANY if many else ENDS_SHARE) if orders else self._left
        query = queries.EndSymbols(self.symbols, known.classes, known.weights)
        rows = tuple(name if weight else None for name, weight in zip(ENDS, known.weights, strict=True))
        known.noisy_ends = self.asker.ask(query, price, why=PAID["ends"], rows=rows, part=self.part)
        scale = scale_of(known.noisy_ends) / PARTS
        noisy = known.noisy_ends.value.reshape(3, len(known.classes) + 1, self.symbols) / PARTS
        every = np.arange(len(known.lengths.number))
        number = np.where(every > known.short, known.lengths.number, 0.0)
        sizes = np.bincount(np.searchsorted(known.classes, every, side="right"), number).astype(np.float64)
        ends = fit_ends(noisy, np.array(known.weights) / PARTS, scale, sizes)
        known.model = Journeys(self.symbols, known.lengths, known.short, known.classes, ends, self.dice)
        noise_of_ends = scale * PARTS / max(1, known.weights[1])
        if orders:
            self._ask_orders(known.model, many, noise_of_ends)
        known.model.correct(noise_of_ends)

    @property
    def _left(self) -> int:
        return self.asker.left(self.part)

    def _ask_orders(self, model: Journeys, many: bool, noise_of_ends: float) -> None:
        """Pairs, and longer strings as long as a test says that they explain more than they cost."""
        strength = self.known.lengths.records * self.whole / NANO / self.asker.max_records
        longer = not many and strength >= LONGER_LOG
        table = self._measure(model, 2, _portion(self._left, PAIRS_SHARE) if longer else self._left)
        model.learn(table)
        for order in range(3, MOST_ORDER + 1):
            if not self._left:
                return
            model.correct(noise_of_ends)  # the test asks what pairs cannot explain, not what the fit has missed
            cells, expected = model.expected(order)
            share = HALF if self._goes_on(model, order) else Fraction(1)
            if not self._pays(model, order, share, cells, expected):
                before = table.cells, table.expected
                model.learn(table.again(self._measure(model, order - 1, self._left, expected=before, again=True)))
                return
            table = self._measure(model, order, _portion(self._left, share), expected=(cells, expected))
            model.learn(table)

    def _goes_on(self, model: Journeys, order: int) -> bool:
        """Whether something is kept for strings of one symbol more: most of them must be expected to stand out."""
        if order == MOST_ORDER:
            return False
        return self._covered(model.expected(order + 1)[1], HALF) >= _NEXT_COVERED * model.records

    def _scale(self, share: Fraction) -> float:
        """The noise of strings, in sequences, if this share of what is left pays for them."""
        return self.asker.max_records * NANO / _portion(self._left, share)

    def _covered(self, expected: Floats, share: Fraction) -> float:
        """How many strings are expected to stand out at this price."""
        return float(expected[expected > _CLEAR * self._scale(share)].sum())

    def _pays(self, model: Journeys, order: int, share: Fraction, cells: Ints, expected: Floats) -> bool:
        """Whether strings of an order are worth their price: whether the model of the order below is further off than
        a table of them would be."""
        test = _portion(self.whole, TEST_SHARE)
        if 2 * test >= self._left or self._covered(expected, Fraction(1)) < _COVERED * model.records:
            return False
        query = queries.StringDistance(self.symbols, order, cells, np.rint(expected * PARTS).astype(np.int64))
        noisy = self.asker.ask(query, test, why=PAID["test"], rows=(f"test of {order}",), part=self.part)
        self.known.tests.append((order, noisy))
        sampled = _SAMPLING * float(np.sqrt(expected * (1 + model.each) / max(1.0, model.spread())).sum())
        gain = float(noisy.value[0, 0]) / 2 / PARTS - sampled
        return gain >= _WORTH * 0.5 * float(np.minimum(expected, self._scale(share)).sum())

    def _measure(
        self,
        model: Journeys,
        order: int,
        price: int,
        *,
        expected: tuple[Ints, Floats] | None = None,
        again: bool = False,
    ) -> Table:
        """The noisy strings of an order; `expected` are cells in which some are expected, and how many."""
        classes = self.known.classes if order == 2 else ()
        base = self.symbols + 1
        name, why = f"strings of {order}" + (", again" if again else ""), PAID["pairs" if order == 2 else "strings"]
        number = (len(classes) + 1) * base**order
        whole = number <= DENSE
        noisy: Noisy | NoisyCells
        if whole:
            cells, query = np.arange(number), queries.Strings(self.symbols, order, classes)
            noisy = self.asker.ask(query, price, why=why, rows=(name,), part=self.part)
        else:
            expected = expected or model.expected(order)
            at_least = self.asker.max_records * NANO / price * max(1.0, log(number / _SPURIOUS))
            always = expected[0] if again else expected[0][expected[1] > at_least]
            if order == 2:  # repeats
                repeats = np.arange(len(classes) + 1)[:, None] * base**2 + np.arange(self.symbols) * (base + 1)
                always = np.union1d(always, repeats.ravel())
            listed, least = queries.ListedStrings(self.symbols, order, classes, always), round(at_least * PARTS)
            noisy = self.asker.above(listed, price, max(1, least), why=why, rows=(name,), part=self.part)
            cells = noisy.cells
        self.known.measured.append((name, order, noisy, cells))
        some = np.zeros(len(cells)) if expected is None else looked_up(*expected, cells)
        return Table(order, cells, noisy.value.reshape(-1) / PARTS, scale_of(noisy) / PARTS, whole, some)
