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
from cantle.methods.asking import Asker
from cantle.methods.journeys.model.chain import looked_up
from cantle.methods.journeys.model.journey import Journeys, Table, uses
from cantle.methods.journeys.model.lengths import LengthModel, fit_lengths, length_edges
from cantle.trusted.claims import sequence_queries as queries
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.sequence_strings import Shares

MOST_ORDER = 4
"""Most symbols of a string."""

LENGTHS_SHARE = Fraction(2, 25)
"""The share of epsilon that pays for lengths."""
SYMBOLS_SHARE = Fraction(2, 5)
"""The share of what is left that pays for symbols, if there are too many pairs to list."""
PAIRS_SHARE, HALF = Fraction(2, 3), Fraction(1, 2)
"""Shares of what is left for strings, if longer ones may follow: pairs, and strings of three."""

ENDS = 12
"""The first and the last symbol are each one of so many parts of a sequence, in questions about pairs."""

DENSE = 1_500_000
"""Most strings that are all listed."""

LEAST_STRENGTH = 200
"""Records times epsilon below which no order of symbols is measured."""

SMALL_LOG = 2_000
"""Records times epsilon below which the order of symbols is known roughly at best."""

LONGER_LOG = 5_000
"""Records times epsilon below which pairs get all that is left: longer strings would cost more than they tell."""

_FULL = 5.0  # longer sequences times epsilon for each pair, so many that their strings must count in full
_LONGEST = 0.33  # more sequences than this share must not be longer than all that count in full
_COVERED = 0.25  # the share of strings that must be expected to stand out
_NEXT_COVERED = 0.8  # the same of still longer strings, if half of the budget is to be kept for them
_CLEAR = 4.0
_SPURIOUS = 40  # strings that pass the threshold by noise alone
LEAST = 10_000
"""The smallest epsilon, in nano-units."""

PAID = {
    "lengths": "lengths of sequences",
    "symbols": "symbols",
    "pairs": "pairs of symbols",
    "strings": "strings of symbols",
}
"""What the receipt calls each question."""


@dataclass(eq=False)
class Answers:
    """The noisy answers with the plans they follow, and what is fitted to them."""

    edges: Ints
    noisy_lengths: Noisy
    lengths: LengthModel
    model: Journeys
    measured: list[tuple[str, int, Shares, Noisy | NoisyCells, Ints]] = field(default_factory=list)
    """For each question about strings its name, order, shares, answer and cells."""

    @property
    def order(self) -> int:
        """The longest strings that were counted; 1 if no order of symbols was."""
        return max((order for _, order, *_ in self.measured), default=1)


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
    lengths = fit_lengths(noisy.value[0], edges, scale_of(noisy), longest)
    asker.accuracy(whole, int(noisy.value.sum()))
    epsilon = whole / NANO / asker.max_records
    span = span_of(lengths, (symbols + 1) ** 2, epsilon)
    known = Answers(edges, noisy, lengths, Journeys(symbols, lengths, span, dice["pools"]))
    _Strings(asker, known).ask(lengths.records * epsilon)
    return known


def span_of(lengths: LengthModel, pairs: int, epsilon: float) -> int:
    """The length up to which all strings of a sequence count alike.

    Those of longer sequences count less, so that one of `span` symbols says the most; the noise is as large as if all
    had so many. As long as enough sequences are longer, what their strings say is worth it.
    """
    longer = lengths.records - np.cumsum(lengths.number)
    least = min(_FULL * pairs / epsilon, _LONGEST * lengths.records)
    return max(2, int(np.flatnonzero(longer <= least).min(initial=len(longer) - 1)))


@dataclass(eq=False)
class _Strings:
    """The questions about strings."""

    asker: Asker
    known: Answers

    def ask(self, strength: float) -> None:
        """Symbols if they are many or the log is tiny; pairs; and longer strings as long as they stand out."""
        model = self.known.model
        many, orders = model.base**2 > DENSE, strength >= LEAST_STRENGTH
        if many or not orders:
            price = _portion(self.asker.left(), SYMBOLS_SHARE) if orders else self.asker.left()
            model.learn(self._measure(model, 1, price))
        if not orders:
            return
        longer = not many and strength >= LONGER_LOG
        table = self._measure(model, 2, _portion(self.asker.left(), PAIRS_SHARE) if longer else self.asker.left())
        model.learn(table)
        model.correct()
        for order in range(3, MOST_ORDER + 1):
            if not self.asker.left():
                return
            expected = model.expected(order, self._shares(order))
            share = HALF if self._goes_on(model, order) else Fraction(1)
            if self._covered(expected[1], Fraction(1)) < _COVERED * expected[1].sum():
                before = table.cells, table.expected
                again = self._measure(model, order - 1, self.asker.left(), expected=before, again=True)
                model.learn(table.again(again))
            else:
                table = self._measure(model, order, _portion(self.asker.left(), share), expected=expected)
                model.learn(table)
            model.correct()

    def _shares(self, order: int) -> Shares:
        """What the strings of a sequence count: all alike; the first and the last pair of long ones more."""
        span = self.known.model.span
        if order == 2:
            ends = PARTS // ENDS
            return Shares(span, ends, ends, PARTS - 2 * ends)
        each = PARTS // span
        return Shares(span, each, 0, PARTS - each) if order == 1 else Shares(span, 0, each, PARTS - each)

    def _goes_on(self, model: Journeys, order: int) -> bool:
        """Whether something is kept for strings of one symbol more: most of them must be expected to stand out."""
        if order == MOST_ORDER:
            return False
        expected = model.expected(order + 1, self._shares(order + 1))[1]
        return self._covered(expected, HALF) >= _NEXT_COVERED * expected.sum()

    def _covered(self, expected: Floats, share: Fraction) -> float:
        """How many strings are expected to stand out if this share of what is left pays for them."""
        noise = self.asker.max_records * NANO * self.known.model.span / _portion(self.asker.left(), share)
        return float(expected[expected > _CLEAR * noise].sum())

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
        base, shares, number = model.base, self._shares(order), model.base**order
        name = f"strings of {order}" + (", again" if again else "")
        why = PAID["symbols" if order == 1 else "pairs" if order == 2 else "strings"]
        whole = number <= DENSE
        noisy: Noisy | NoisyCells
        if whole:
            cells, query = np.arange(number), queries.Strings(model.symbols, order, shares)
            noisy = self.asker.ask(query, price, why=why, rows=(name,))
        else:
            expected = expected or model.expected(order, shares)
            least = self.asker.max_records * PARTS * NANO / price * max(1.0, log(number / _SPURIOUS))
            clear = again | (expected[1] * uses(shares, order, model.symbols, expected[0]) > least)
            always = expected[0][clear]
            if order == 2:  # repeats, ends and starts
                every = np.arange(model.symbols)
                always = np.unique(
                    np.append(always, [every * (base + 1), every * base + base - 1, base**2 - base + every])
                )
            listed = queries.ListedStrings(model.symbols, order, shares, always)
            noisy = self.asker.above(listed, price, max(1, round(least)), why=why, rows=(name,))
            cells = noisy.cells
        self.known.measured.append((name, order, shares, noisy, cells))
        some = np.zeros(len(cells)) if expected is None else looked_up(*expected, cells)
        each = uses(shares, order, model.symbols, cells)
        return Table(order, cells, noisy.value.reshape(-1) / each, scale_of(noisy) / each, whole, some)
