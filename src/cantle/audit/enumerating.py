"""A noise source that enumerates all outcomes: the exact output distribution of a mechanism, for audits on tiny data.

A "law" is a probability distribution. The base of all laws is 2 instead of e, so that probabilities are rational; the
proofs do not depend on the base.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np

from cantle.trusted.noise.base import Bools, Ints, Lanes, Noise, Rate

Output = TypeVar("Output", bound=Hashable)
Closed = Callable[[Lanes], bool]


class Enumerating(Noise):
    """A noise source that follows one script of outcomes (`choices`).

    It multiplies up the exact `probability` of the outcomes, and keeps which ones it took (`taken`) out of how many
    (`options`). After the end of the script it takes the first outcome of every draw.

    Noisy values are cut to the public window (low, high), sparse values to at most high - low above their threshold.
    Calls that `closed` accepts are not enumerated: `laplace` returns low everywhere, `sparse` no cell, and (exact
    counts, rates in units) is appended to `recorded`. The loss of such a call is the sum of rate * |difference|.
    """

    def __init__(
        self, choices: Sequence[int] = (), window: tuple[int, int] = (0, 1), closed: Closed | None = None
    ) -> None:
        self.choices, self.window, self.closed = choices, window, closed
        self.probability = Fraction(1)
        self.taken: list[int] = []
        self.options: list[int] = []
        self.recorded: list[tuple[tuple[int, ...], tuple[Fraction, ...]]] = []

    def laplace(self, lanes: Lanes, counts: Ints, rate: Rate) -> Ints:
        low, high = self.window
        if self._record(lanes, counts.tolist(), [Fraction(*rate.exact(i)) for i in range(len(lanes))]):
            return np.full(len(lanes), low, dtype=np.int64)
        values = [low + self._level(low + 1, high, int(c), rate.exact(i)) for i, c in enumerate(counts)]
        return np.array(values, dtype=np.int64)

    def above(self, lanes: Lanes, counts: Ints, thresholds: Ints, rate: Rate) -> Bools:
        pairs = zip((np.broadcast_to(thresholds, len(lanes)) + 1).tolist(), counts.tolist(), strict=True)
        answers = [self._level(first, first, c, rate.exact(i)) for i, (first, c) in enumerate(pairs)]
        return np.array(answers, dtype=np.bool_)

    def select(
        self,
        lanes: Lanes,
        scores: Ints,
        starts: Ints,
        rate: Rate,
        inverse_weights: Ints | None = None,
        multiplicities: Ints | None = None,
    ) -> Ints:
        chosen = []
        for s in range(len(lanes)):
            inside = slice(int(starts[s]), int(starts[s + 1]))
            mine = [int(score) for score in scores[inside]]
            powers = tuple(_power(rate.exact(s), max(mine) - score) for score in mine)
            if inverse_weights is None:
                law = _permute_and_flip(powers)
            else:
                times = np.ones(len(mine), dtype=np.int64) if multiplicities is None else multiplicities[inside]
                weights = [p * int(m) / int(w) for p, w, m in zip(powers, inverse_weights[inside], times, strict=True)]
                law = [w / sum(weights) for w in weights]
            chosen.append(self._branch(law))
        return np.array(chosen, dtype=np.int64)

    def sparse(
        self,
        lanes: Lanes,
        starts: Ints,
        cells: Ints,
        counts: Ints,
        total: Ints,
        rate: Rate,
        at_least: Ints | int,
    ) -> tuple[Ints, Ints, Ints]:
        least = np.broadcast_to(at_least, len(lanes))
        dense: list[tuple[int, int, int]] = []
        for s in range(len(lanes)):
            inside = slice(int(starts[s]), int(starts[s + 1]))
            known = dict(zip(cells[inside].tolist(), counts[inside].tolist(), strict=True))
            # An occupied cell beyond the total is a flaw that the audit must catch: real samplers draw it too.
            dense += [(s, cell, known.get(cell, 0)) for cell in sorted({*range(int(total[s])), *known})]
        if self._record(lanes, [c for _, _, c in dense], [Fraction(*rate.exact(s)) for s, _, _ in dense]):
            dense = []
        out: list[tuple[int, int, int]] = []
        for s, cell, c in dense:
            first = int(least[s])
            level = self._level(first, first + self.window[1] - self.window[0], c, rate.exact(s))
            if level:
                out.append((s, cell, first + level - 1))
        table = np.array(out, dtype=np.int64).reshape(-1, 3)
        return np.searchsorted(table[:, 0], np.arange(len(lanes) + 1)), table[:, 1], table[:, 2]

    def coin(self, lanes: Lanes, sides: Ints | int) -> Ints:
        each = np.broadcast_to(sides, len(lanes))
        return np.array([self._branch([Fraction(1, int(n))] * int(n)) for n in each], dtype=np.int64)

    def _level(self, first: int, last: int, count: int, rate: tuple[int, int]) -> int:
        """How many of the thresholds first, ..., last the noisy count reaches."""
        return self._branch(_level_law(first - count, last - count, rate))

    def _branch(self, law: Sequence[Fraction]) -> int:
        step = len(self.taken)
        choice = self.choices[step] if step < len(self.choices) else 0
        self.probability *= law[choice]
        self.taken.append(choice)
        self.options.append(len(law))
        return choice

    def _record(self, lanes: Lanes, counts: list[int], rates: list[Fraction]) -> bool:
        if self.closed is None or not self.closed(lanes):
            return False
        self.recorded.append((tuple(counts), tuple(rates)))
        return True


def law(
    run: Callable[[Enumerating], Output], *, window: tuple[int, int] = (0, 1), closed: Closed | None = None
) -> dict[Output, Fraction]:
    """The exact probability of every output of `run`, which is replayed for every sequence of outcomes of its noise.

    >>> toss = law(lambda noise: int(noise.coin(Lanes(0, np.arange(1)), 2)[0]))
    >>> toss == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    True
    """
    probabilities: dict[Output, Fraction] = {}
    script: list[int] | None = []
    while script is not None:
        noise = Enumerating(script, window, closed)
        output = run(noise)
        probabilities[output] = probabilities.get(output, Fraction(0)) + noise.probability
        script = _next_script(noise)
    if sum(probabilities.values()) != 1:
        raise AssertionError("the probabilities do not add up to one: the run is not a function of its noise")
    return probabilities


def _next_script(noise: Enumerating) -> list[int] | None:
    for step in reversed(range(len(noise.taken))):
        if noise.taken[step] + 1 < noise.options[step]:
            return [*noise.taken[:step], noise.taken[step] + 1]
    return None


def _power(rate: tuple[int, int], times: int) -> Fraction:
    """2 ** -(rate * times), for a whole exponent >= 0."""
    units, rest = divmod(rate[0] * times, rate[1])
    if rest:
        raise ValueError("an exponent is not whole; audit with whole units of epsilon")
    return Fraction(1, 2**units)


@lru_cache(maxsize=4096)
def _level_law(first: int, last: int, rate: tuple[int, int]) -> list[Fraction]:
    """The law of the number of thresholds first, ..., last that discrete Laplace noise Z reaches."""
    a = _power(rate, 1)
    tails = [a**k / (1 + a) if k >= 1 else 1 - a ** (1 - k) / (1 + a) for k in range(first, last + 1)]  # P[Z >= k]
    return [more - less for more, less in zip([Fraction(1), *tails], [*tails, Fraction(0)], strict=True)]


@lru_cache(maxsize=4096)
def _permute_and_flip(powers: tuple[Fraction, ...]) -> list[Fraction]:
    """The law of permute-and-flip: candidate i gets a flag with probability powers[i], and one of the flagged
    candidates is chosen, so P[i] = powers[i] * E[1 / (1 + number of other flags)]."""
    result = []
    for i, mine in enumerate(powers):
        number = [Fraction(1)]  # law of the number of other flags
        for p in [*powers[:i], *powers[i + 1 :]]:
            pairs = zip([*number, Fraction(0)], [Fraction(0), *number], strict=True)
            number = [same * (1 - p) + one_less * p for same, one_less in pairs]
        result.append(mine * sum((p / (k + 1) for k, p in enumerate(number)), Fraction(0)))
    return result
