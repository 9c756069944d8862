"""Exact samplers in two stages: the five operations of base.py over random words.

Claim 16. Given ideal words every operation has exactly the law stated in base.py.

Every draw is a fixed function of a uniform number V of [0, 1) whose first 64 binary digits are one word. The
first stage looks at that word with float enclosures, many draws at a time; if the enclosure cannot decide,
`exact` finishes the draw with more words. The proofs of the margins are beside the comparisons.
The time and memory used are not protected. tests/statistical compares draws with their laws, tests/trusted/noise the
two stages with each other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import count

import numpy as np

from cantle.trusted.noise import exact
from cantle.trusted.noise.base import (
    MOST_VALUE,
    Bools,
    Floats,
    Ints,
    Lanes,
    Noise,
    Rate,
    Words,
    passed,
    spell_out,
    starts_of,
    within,
)
from cantle.trusted.noise.exact import SPREAD, exp_minus, minus_log_complement

# Uses of a lane's words: each use has its own rounds, so no word decides two things.
_MAIN, _PICK, _PIECE, _PLACE, _EXCESS = (use << 32 for use in range(5))

_BLOCK = 1 << 14  # draws at a time: their temporaries stay in the cache
_CANDIDATES = 1 << 16  # of selections at a time
_MARGIN = 4 * SPREAD
_DENSE = 1 / 64  # share of empty cells released from which on listing them all is cheaper
_SUM_SHIFT = 41  # of the total of weights in fixed point: its share in 2E, see _exponential
_PIECE_MEAN = 16.0
_PIECE_STEPS = 128
_PIECE_MARGIN = 2.0**-32


class Sampler(Noise):
    """The samplers; a subclass supplies the words."""

    @abstractmethod
    def words(self, lanes: Lanes, round: int) -> Words:
        """One uniform 64-bit word per lane, independent over lanes and rounds."""

    def laplace(self, lanes: Lanes, counts: Ints, rate: Rate) -> Ints:
        # A copy, and never from floats. Counts beyond the limit are cut before the noise: with the largest noise, which
        # is cut too, they would be shown. Cutting brings no two counts further apart, so it raises no sensitivity.
        noisy = np.clip(counts.astype(np.int64, casting="same_kind"), -MOST_VALUE, MOST_VALUE)
        _same_length(lanes, noisy)
        for part in _blocks(len(noisy)):
            sizes, words = self._tails(lanes.take(part), rate.take(part), _MAIN, two_sided=True)
            noisy[part] += np.where(words & np.uint64(1), sizes, -sizes)
        # Sizes were cut at 2**62, and a count within +-2**61 with such a size is cut again here: as if by this alone.
        return np.clip(noisy, -MOST_VALUE, MOST_VALUE, out=noisy)

    def above(self, lanes: Lanes, counts: Ints, thresholds: Ints, rate: Rate) -> Bools:
        return np.asarray(self.laplace(lanes, counts, rate) > thresholds)

    def select(
        self,
        lanes: Lanes,
        scores: Ints,
        starts: Ints,
        rate: Rate,
        inverse_weights: Ints | None = None,
        multiplicities: Ints | None = None,
    ) -> Ints:
        _same_length(lanes, starts[1:])
        if np.any(np.diff(starts) < 1) or (inverse_weights is not None and inverse_weights.min(initial=1) < 1):
            raise ValueError("a selection needs a candidate in every segment, and inverse weights >= 1")
        if multiplicities is not None and (
            inverse_weights is None or np.any(multiplicities < 1) or np.any(multiplicities > 2**53)
        ):
            raise ValueError("multiplicities go with inverse weights and lie between 1 and 2**53")
        scores = scores.astype(np.int64, casting="same_kind", copy=False)
        chosen = np.empty(len(lanes), dtype=np.int64)
        for part, inside in _segment_blocks(starts):
            heads, sizes = starts[part] - inside.start, np.diff(starts[part.start : part.stop + 1])
            best = np.repeat(np.maximum.reduceat(scores[inside], heads), sizes)
            # Unsigned, so that no difference of 64-bit scores overflows: none needs to be clipped.
            gaps = best.view(np.uint64) - scores[inside].view(np.uint64)
            near, rates = lanes.take(part), rate.take(part)
            if inverse_weights is None:
                chosen[part] = self._permute_and_flip(near, gaps, heads, sizes, rates)
            else:
                many = None if multiplicities is None else multiplicities[inside]
                chosen[part] = self._exponential(near, gaps, heads, sizes, rates, inverse_weights[inside], many)
        return chosen

    def coin(self, lanes: Lanes, sides: Ints | int) -> Ints:
        return self._coin(lanes, np.broadcast_to(np.asarray(sides, dtype=np.int64), len(lanes)), _MAIN)

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
        """As `Noise.sparse`, with work proportional to the occupied and released cells.

        Claim 17. The law is that of adding noise to all cells. Because cells are independent, listed ones are drawn
        as usual; of the others K ~ Binomial(total - listed, p) reach the threshold, p = P[Z >= at_least]; by
        symmetry any K of them are equally likely, and their excess over the threshold is geometric.
        """
        _same_length(lanes, starts[1:])
        segments = len(lanes)
        least = np.broadcast_to(np.asarray(at_least, dtype=np.int64), segments)
        if np.any(least < 1) or np.any(least > MOST_VALUE) or np.any(np.diff(starts) > total):
            raise ValueError("sparse noise needs at_least from 1 to 2**61 and at most `total` cells in a segment")
        p, odds = _chances(rate, least)
        sizes, cells, counts = spell_out(p > _DENSE, starts, cells, counts, total)
        owner = np.repeat(np.arange(segments), sizes)
        values = self.laplace(lanes.inner(owner, cells), counts, rate.repeat(sizes))
        keep = values >= least[owner]

        empty = total - sizes
        numbers = self._binomials(lanes, empty, p, odds, rate, least)
        new_owner = np.repeat(np.arange(segments), numbers)
        slots, rates = lanes.inner(new_owner, within(numbers)), rate.repeat(numbers)
        ranks = self._distinct(slots, new_owner, empty[new_owner])
        near = numbers[owner] > 0
        new_cells = ranks + passed(owner[near], (cells - within(sizes))[near], new_owner, ranks)
        new_values = least[new_owner]
        for part in _blocks(len(slots)):
            new_values[part] += self._tails(slots.take(part), rates.take(part), _EXCESS, two_sided=False)[0]

        owners = np.concatenate([owner[keep], new_owner])
        where = np.concatenate([cells[keep], new_cells])
        order = np.lexsort((where, owners))  # by cell, never occupied ones first
        what = np.concatenate([values[keep], np.minimum(new_values, MOST_VALUE)])
        return starts_of(np.bincount(owners, minlength=segments)), where[order], what[order]

    def _uniform(self, lanes: Lanes, i: int, use: int, digits: int, bits: int = 64) -> exact.Uniform:
        """The uniform number of lane i, whose first digits were seen in round 0 of this use."""
        lane, rounds = lanes.take(slice(i, i + 1)), count(use + 1)
        return exact.Uniform(digits, bits, lambda: int(self.words(lane, next(rounds))[0]))

    def _tails(self, lanes: Lanes, rate: Rate, use: int, two_sided: bool) -> tuple[Ints, Words]:
        """Sizes with P[size >= k] = a**k / h for k >= 1, a = exp(-rate), and words whose last bit is unused.

        h is (1 + a) / 2 for the size of two-sided noise, 1 for one-sided noise. The size is the k with
        a**(k+1) <= h V < a**k, or 0 if h V >= a; a logarithm guesses it, the enclosure of exp proves it.
        """
        words = self.words(lanes, use)
        sizes, sure = _sizes_of(words, rate.floats(), two_sided)
        for i in np.flatnonzero(~sure).tolist():
            uniform = self._uniform(lanes, i, use, int(words[i]) >> 1, 63)
            sizes[i] = exact.tail(uniform, *rate.exact(i), two_sided)
        return sizes, words

    def _permute_and_flip(self, lanes: Lanes, gaps: Words, heads: Ints, sizes: Ints, rate: Rate) -> Ints:
        """Flag each candidate with probability exp(-rate * gap), return a uniform one of the flagged."""
        inner = lanes.inner(np.repeat(np.arange(len(sizes)), sizes), within(sizes))
        rates = rate.repeat(sizes)
        words = self.words(inner, _MAIN)
        draw, power = _fraction(words), exp_minus(gaps * rates.floats())
        flags = (draw < power) | (gaps == 0)
        # V is within 2**-53 * draw + 2**-63 of draw, the probability within SPREAD * power + 2**-184.
        doubtful = (np.abs(draw - power) <= _MARGIN * power + 2.0**-60) & (gaps > 0)
        for i in np.flatnonzero(doubtful).tolist():
            num, den = rates.exact(i)
            uniform = self._uniform(inner, i, _MAIN, int(words[i]))
            flags[i] = exact.flag(uniform, num * int(gaps[i]), den)
        numbers = np.add.reduceat(flags, heads, dtype=np.int64)
        picks = self._coin(lanes, numbers, _PICK)
        return np.asarray(np.flatnonzero(flags)[starts_of(numbers)[:-1] + picks] - heads)

    def _exponential(
        self, lanes: Lanes, gaps: Words, heads: Ints, sizes: Ints, rate: Rate, inverse: Ints, many: Ints | None
    ) -> Ints:
        """Inversion of V over running sums of weights in fixed point, exact as integers modulo 2**64.

        A segment's weights are scaled by a power of two to a sum S in [2**59, 2**62) and rounded down, so
        each is within 1 + 2**-42.9 * weight of the true one (SPREAD, three roundings; what exp_minus cuts off
        is below 2**-184 * 2**(53 + 126) < 1), and all n sums within E = 2n + S * 2**-42 + 1 of the true ones.
        V times the true total lies in [target - E, target + E + 2) for target = floor(word * S / 2**64): if
        the target is 2E + 2 away from both neighbouring sums, it decides.
        """
        weights = _powers(gaps, sizes, rate) / inverse
        if many is not None:
            weights *= many
        exponents = np.frexp(np.add.reduceat(weights, heads))[1]
        weights *= np.repeat(np.ldexp(1.0, 61 - exponents), sizes)
        fixed = weights.astype(np.int64).view(np.uint64)
        sums = np.cumsum(fixed)
        sums -= np.repeat(sums[heads] - fixed[heads], sizes)
        ends = heads + sizes - 1
        words = self.words(lanes, _MAIN)
        target = _multiply_high(words, sums[ends])
        chosen = np.add.reduceat(sums <= np.repeat(target, sizes), heads, dtype=np.int64)
        at = heads + chosen
        away = (4 * sizes + 6).view(np.uint64) + (sums[ends] >> np.uint64(_SUM_SHIFT))
        sure = (chosen == 0) | (target - (sums[at] - fixed[at]) >= away)
        sure &= (at == ends) | (sums[at] - target >= away)
        for s in np.flatnonzero(~sure).tolist():
            inside = slice(heads[s], heads[s] + sizes[s])
            uniform = self._uniform(lanes, s, _MAIN, int(words[s]))
            times = [1] * int(sizes[s]) if many is None else many[inside].tolist()
            weights_of = list(zip(times, inverse[inside].tolist(), strict=True))
            chosen[s] = exact.choice(uniform, gaps[inside].tolist(), weights_of, *rate.exact(s))
        return chosen

    def _coin(self, lanes: Lanes, sides: Ints, use: int) -> Ints:
        """Words modulo sides, after rejecting the words of the last, incomplete run of `sides` values."""
        if np.any(sides < 1):
            raise ValueError("a coin needs at least one side")
        modulus, last = sides.astype(np.uint64), np.uint64(2**64 - 1)
        largest = last - (last % modulus + np.uint64(1)) % modulus
        words = self.words(lanes, use)
        rounds = count(use + 1)
        while len(again := np.flatnonzero(words > largest)):
            words[again] = self.words(lanes.take(again), next(rounds))
        return (words % modulus).astype(np.int64)

    def _distinct(self, lanes: Lanes, owner: Ints, sides: Ints) -> Ints:
        """Uniform ranks below sides, distinct within each owner: repeated ones are drawn again.

        This treats all ranks alike, so every set of that size is equally likely.
        """
        ranks, fresh = self._coin(lanes, sides, _PLACE), np.ones(len(lanes), dtype=np.bool_)
        attempts = count(1)
        while len(again := _repeated(owner, ranks, fresh)):
            ranks[again] = self._coin(lanes.take(again), sides[again], _PLACE + (next(attempts) << 16))
            fresh[:] = False
            fresh[again] = True
        return ranks

    def _binomials(self, lanes: Lanes, trials: Ints, p: Floats, odds: Floats, rate: Rate, least: Ints) -> Ints:
        """Binomial(trials, p), p = P[Z >= least], as sums of independent pieces of mean at most 17."""
        pieces = 1 + (trials * p / _PIECE_MEAN).astype(np.int64)
        owner, number = np.repeat(np.arange(len(lanes)), pieces), within(pieces)
        shares = trials[owner] // pieces[owner] + (number < (trials % pieces)[owner])
        slopes, odds = minus_log_complement(p)[owner], odds[owner]
        inner, rates = lanes.inner(owner, number), rate.repeat(pieces)
        successes = np.zeros(len(shares) + 1, dtype=np.int64)
        for part in _blocks(len(shares)):
            words = self.words(inner.take(part), _PIECE)
            sizes, sure = _invert_binomial(_fraction(words), shares[part], slopes[part], odds[part])
            for i in np.flatnonzero(~sure).tolist():
                at = part.start + i
                uniform = self._uniform(inner, at, _PIECE, int(words[i]))
                sizes[i] = exact.binomial(uniform, int(shares[at]), *rates.exact(at), int(least[owner[at]]))
            successes[part] = sizes
        return np.add.reduceat(successes, starts_of(pieces))[:-1]


def _repeated(owner: Ints, ranks: Ints, fresh: Bools) -> Ints:
    """The places of ranks that an owner has more than once, all but one of each; fresh ones rather than old ones."""
    order = np.lexsort((fresh, ranks, owner))
    after, before = order[1:], order[:-1]
    return after[(owner[after] == owner[before]) & (ranks[after] == ranks[before])]


def _chances(rate: Rate, least: Ints) -> tuple[Floats, Floats]:
    """p = P[Z >= least] = t / (1 + a), t = a**least, and p / (1 - p), each within a relative 2**-41.2."""
    speed = rate.floats()
    a, t = exp_minus(speed), exp_minus(speed * least)
    return t / (1.0 + a), t / (1.0 + a - t)


def _invert_binomial(draw: Floats, trials: Ints, slope: Floats, odds: Floats) -> tuple[Ints, Bools]:
    """The smallest k with draw < P[K <= k], and whether V, within 2**-52 of draw, is sure to give it too.

    slope = -ln(1 - p) and odds = p / (1 - p) are within a relative 2**-41; as p <= 1/64 and the mean is at
    most 17, trials * slope <= 18 (p may be larger if there are no trials). So the first term is within a
    relative 18 * 2**-41 + SPREAD, each of 128 steps adds 2**-41 + 2**-50: all sums are within 2**-33.
    """
    term = exp_minus(trials * slope)
    total, sizes = term.copy(), np.zeros(len(draw), dtype=np.int64)
    near = np.abs(draw - total) <= _PIECE_MARGIN
    for k in range(_PIECE_STEPS):
        more = draw >= total
        if not more.any():
            break
        sizes += more
        term = term * odds * np.maximum(trials - k, 0) / (k + 1.0)
        total += term
        near |= np.abs(draw - total) <= _PIECE_MARGIN
    return sizes, ~near & (draw < total)


def _sizes_of(words: Words, speed: Floats, two_sided: bool) -> tuple[Ints, Bools]:
    """The size that each word gives, and whether it is sure to."""
    a = exp_minus(speed)
    h = 0.5 + 0.5 * a if two_sided else np.ones(())
    level = (words >> np.uint64(1)).view(np.int64) * (h * 2.0**-63)
    guess = np.log(np.maximum(level, 2.0**-64))
    guess /= -speed
    sizes = np.clip(np.floor(guess, out=guess), 0.0, 2.0**62, out=guess).astype(np.int64)
    reached = exp_minus(speed * guess)
    # h V lies in [level, level + 2**-63] up to 4 roundings and the SPREAD of h; a**k has one SPREAD,
    # a**(k+1) two and a rounding: less than _MARGIN in all. The constants cover 2**-184 of exp_minus.
    sure = level + 2.0**-62 <= reached * (1.0 - _MARGIN)
    sure &= level >= reached * a * (1.0 + _MARGIN) + 2.0**-100
    return sizes, sure


def _fraction(words: Words) -> Floats:
    """The first 63 digits as a float: V is within 2**-53 * draw + 2**-63 of this draw."""
    return np.asarray((words >> np.uint64(1)).view(np.int64) * 2.0**-63)


def _multiply_high(a: Words, b: Words) -> Words:
    """floor(a * b / 2**64), by halves of 32 digits; no intermediate sum reaches 2**64."""
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return np.asarray((a >> half) * (b >> half) + (middle >> half) + (other >> half))


def _blocks(size: int) -> Iterator[slice]:
    for start in range(0, size, _BLOCK):
        yield slice(start, min(size, start + _BLOCK))


def _segment_blocks(starts: Ints) -> Iterator[tuple[slice, slice]]:
    """Runs of whole segments with at most _CANDIDATES, or one larger segment."""
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + _CANDIDATES, side="right")) - 1)
        yield slice(first, last), slice(int(starts[first]), int(starts[last]))
        first = last


def _powers(gaps: Words, sizes: Ints, rate: Rate) -> Floats:
    """exp(-rate * gap) of each candidate; if there are few distinct gaps at one rate, computed once for each."""
    speed, most = rate.floats(), int(gaps.max())
    if most < len(gaps) and (speed == speed.flat[0]).all():
        return exp_minus(np.arange(most + 1, dtype=np.uint64) * speed.flat[0])[gaps.view(np.int64)]
    return exp_minus(gaps * rate.repeat(sizes).floats())


def _same_length(lanes: Lanes, values: Ints) -> None:
    if len(lanes) != len(values):
        raise ValueError("one lane per element or segment is needed")
