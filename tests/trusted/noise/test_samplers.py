"""Samplers, draw by draw: repeatability, agreement of the two stages, extreme inputs, and refusals."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cantle.trusted.noise import Lanes, Noise, Rate, Secure, Seeded, exact, samplers
from cantle.trusted.noise.base import Words
from cantle.trusted.noise.samplers import Sampler
from tests.effort import slow as left_out
from tests.statistical import fit
from tests.statistical.constants import SEEDED_P

HALF = Rate(1, 2)
N = 600


def candidates(seed: int = 0, segments: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, segments)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return rng.integers(-20, 20, starts[-1]), starts, rng.integers(1, 50, starts[-1])


def occupied(seed: int = 0, segments: int = 60, total: int = 50) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    cells = [np.flatnonzero(rng.random(total) < 0.1) for _ in range(segments)]
    starts = np.concatenate([[0], np.cumsum([len(c) for c in cells])])
    return starts, np.concatenate(cells), rng.integers(1, 9, starts[-1])


def draw_laplace(noise: Noise, index: Any) -> list[Any]:
    rate = Rate(np.arange(1, N + 1)[index], 200)
    return noise.laplace(Lanes(5, np.arange(N)[index]), np.arange(N)[index], rate).tolist()


def draw_above(noise: Noise, index: Any) -> list[Any]:
    lanes = Lanes(5, np.arange(N)[index], np.arange(N)[index] % 7)
    return noise.above(lanes, np.full(N, 3)[index], np.arange(N)[index] % 9, HALF).tolist()


def draw_coin(noise: Noise, index: Any) -> list[Any]:
    return noise.coin(Lanes(5, np.arange(N)[index]), 2**62 - np.arange(N)[index]).tolist()


def select_one(noise: Noise, s: int, weighted: bool) -> int:
    scores, starts, inverse = candidates()
    inside = slice(starts[s], starts[s + 1])
    picked = noise.select(
        Lanes(2, np.array([s]), np.array([9])),
        scores[inside],
        np.array([0, starts[s + 1] - starts[s]]),
        Rate(np.array([1 + s]), 30),
        inverse[inside] if weighted else None,
    )
    return int(picked[0])


@pytest.mark.parametrize("draw", [draw_laplace, draw_above, draw_coin])
def test_draws_depend_on_neither_chunks_nor_order(draw: Callable[..., list[Any]]) -> None:
    noise = Seeded(3)
    whole = draw(noise, slice(None))
    assert draw(noise, slice(0, 250)) + draw(noise, slice(250, None)) == whole
    order = np.random.default_rng(0).permutation(N)
    assert draw(noise, order) == [whole[i] for i in order]
    assert draw(Seeded(3), slice(None)) == whole
    assert draw(Seeded(4), slice(None)) != whole


@pytest.mark.parametrize("block", [1, 64, 1 << 14])
@pytest.mark.parametrize("weighted", [False, True])
def test_selections_depend_on_neither_chunks_nor_order(
    block: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, starts, inverse = candidates()
    lanes = Lanes(2, np.arange(60), np.full(60, 9))
    monkeypatch.setattr(samplers, "_BLOCK", block)
    monkeypatch.setattr(samplers, "_CANDIDATES", block)
    together = Seeded(3).select(lanes, scores, starts, Rate(np.arange(1, 61), 30), inverse if weighted else None)
    assert together.tolist() == [select_one(Seeded(3), s, weighted) for s in range(60)]


@pytest.mark.parametrize("at_least", [1, 6, 12])
def test_sparse_depends_on_neither_chunks_nor_order(at_least: int) -> None:
    starts, cells, counts = occupied()
    total, noise = np.full(60, 50), Seeded(3)
    out, cells_out, values = noise.sparse(Lanes(2, np.arange(60)), starts, cells, counts, total, HALF, at_least)
    assert len(cells_out) > 5
    for s in reversed(range(60)):
        inside = slice(starts[s], starts[s + 1])
        alone = noise.sparse(
            Lanes(2, np.array([s])),
            np.array([0, starts[s + 1] - starts[s]]),
            cells[inside],
            counts[inside],
            total[:1],
            HALF,
            at_least,
        )
        assert alone[1].tolist() == cells_out[out[s] : out[s + 1]].tolist()
        assert alone[2].tolist() == values[out[s] : out[s + 1]].tolist()


def test_sparse_output_is_sorted_distinct_and_at_least_the_threshold() -> None:
    starts, cells, counts = occupied()
    for at_least in (1, 8):
        out, cells_out, values = Seeded(1).sparse(
            Lanes(0, np.arange(60)), starts, cells, counts, np.full(60, 50), HALF, np.full(60, at_least)
        )
        assert values.min() >= at_least
        for s in range(60):
            mine = cells_out[out[s] : out[s + 1]]
            assert np.all(np.diff(mine) > 0)
            assert np.all((mine >= 0) & (mine < 50))


def test_different_calls_keys_and_cells_give_different_words() -> None:
    keys = np.arange(1000)
    seen = [
        Seeded(0).words(Lanes(call, keys, cells), round)
        for call in (0, 1, 2**70)
        for cells in (None, keys * 0, keys * 0 + 1)
        for round in (0, 1, 2**32)
    ]
    seen.append(Seeded(2**64).words(Lanes(0, keys), 0))
    seen.append(Seeded(-1).words(Lanes(0, keys), 0))
    assert len(np.unique(np.concatenate(seen))) == len(seen) * 1000


def never_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves every enclosure undecided, so that arbitrary precision finishes every draw."""
    monkeypatch.setattr(samplers, "_MARGIN", 1e30)
    monkeypatch.setattr(samplers, "_PIECE_MARGIN", 1e30)
    monkeypatch.setattr(samplers, "_SUM_SHIFT", 0)


RATES = [Rate(1, 10**9), Rate(1, 1000), Rate(1, 3), Rate(1, 1), Rate(22, 7), Rate(50, 1), Rate(10**6, 1)]
SPARSE = [(50, HALF, 1), (50, HALF, 8), (2**61, HALF, 84), (10**6, Rate(1, 9), 80)]
SOME = 25
"""The number of segments whose draws are compared; arbitrary precision is slow."""


def draw_by_draw(kind: str) -> list[Any]:
    """Draws at every rate, as lists."""
    keys, few = Lanes(1, np.arange(100)), Lanes(1, np.arange(SOME))
    scores, starts, inverse = candidates(segments=SOME)
    if kind == "laplace":
        return [Seeded(8).laplace(keys, np.zeros(100, dtype=np.int64), rate).tolist() for rate in RATES]
    if kind == "selection":
        return [Seeded(8).select(few, scores, starts, rate, w).tolist() for rate in RATES for w in (None, inverse)]
    if kind == "multiplicities":
        many = times()[: len(scores)]
        return [Seeded(8).select(few, scores, starts, rate, inverse, many).tolist() for rate in RATES]
    total, rate, at_least = SPARSE[int(kind)]
    drawn = Seeded(8).sparse(few, *occupied(segments=SOME), np.full(SOME, total), rate, at_least)
    assert len(drawn[1]) > 5
    return [part.tolist() for part in drawn]


KINDS = ["laplace", "selection", "multiplicities", *map(str, range(len(SPARSE)))]


@pytest.mark.parametrize("kind", left_out(KINDS, "1", "3"))
def test_slow_and_fast_draws_agree_draw_by_draw(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, exactly = draw_by_draw(kind), Counter[str]()
    for name in ("choice", "tail"):
        monkeypatch.setattr(exact, name, counting(name, exactly))
    never_sure(monkeypatch)
    assert draw_by_draw(kind) == fast
    if kind in ("laplace", "selection", "multiplicities"):
        weighed = fast[1::2] if kind == "selection" else fast  # selections without weights draw flags
        assert sum(exactly.values()) > 0.9 * sum(map(len, weighed))


def counting(name: str, calls: Counter[str]) -> Callable[..., Any]:
    """The function of `exact` with this name, which also counts its calls."""
    real = getattr(exact, name)

    def counted(*arguments: Any) -> Any:
        calls[name] += 1
        return real(*arguments)

    return counted


class Scripted(Sampler):
    """A source that gives every lane the same chosen word, one per round."""

    def __init__(self, *rounds: int) -> None:
        self.rounds, self.asked = rounds, 0

    def words(self, lanes: Lanes, round: int) -> Words:
        self.asked = max(self.asked, (round & 0xFFFF) + 1)
        return np.full(len(lanes), self.rounds[round & 0xFFFF], dtype=np.uint64)


def test_a_word_on_a_boundary_is_decided_by_the_next_words() -> None:
    """If the first word is floor(2**64/e), only later digits decide whether V < exp(-1)."""
    low, _ = exact.exp_bounds(1, 1, 192)
    digits = low >> 64
    first, second = digits >> 64, digits & (2**64 - 1)
    scores, starts, lane = np.array([0, 1]), np.array([0, 2]), Lanes(0, np.zeros(1, dtype=np.int64))
    picks = []
    for word in (second - 5, second + 5):
        # Either both candidates are flagged or only the second; the coin's word 0 takes the first that is flagged.
        source = Scripted(first, word)
        picks.append(int(source.select(lane, scores, starts, Rate(1, 1))[0]))
        assert source.asked == 2
    flags = [exact.flag(exact.Uniform(first, 64, iter([w]).__next__), 1, 1) for w in (second - 5, second + 5)]
    assert flags == [True, False]
    assert picks[1] == 1


@pytest.mark.parametrize(("sides", "most"), [(3, 2**64 - 2), (7, 2**64 - 3), (2**63 - 1, 2**64 - 3), (6, 2**64 - 5)])
def test_words_of_the_last_incomplete_run_are_rejected(sides: int, most: int) -> None:
    """There are 2**64 words; if their remainders were taken of all of them, the first sides would come up more often.

    `most` is the last word of a complete run.
    """
    assert (most + 1) % sides == 0 < 2**64 - 1 - most < sides
    lane = Lanes(0, np.arange(3))
    kept = Scripted(most, 0)
    assert kept.coin(lane, sides).tolist() == [sides - 1] * 3
    assert kept.asked == 1
    for rejected in (most + 1, 2**64 - 1):
        source = Scripted(rejected, 2**64 - 1, 1)
        assert source.coin(lane, sides).tolist() == [1] * 3
        assert source.asked == 3


def test_a_coin_with_a_power_of_two_of_sides_rejects_no_word() -> None:
    assert Scripted(2**64 - 1).coin(Lanes(0, np.arange(2)), 2**62).tolist() == [2**62 - 1] * 2


def test_a_laplace_draw_on_a_boundary_reads_more_words() -> None:
    low, _ = exact.tail_bounds(1, 1, 3, True, 127)
    first, second = low >> 64, low & (2**64 - 1)
    sizes = []
    for word in (second - 9, second + 9):
        source = Scripted(first << 1 | 1, word, 1)
        sizes.append(int(source.laplace(Lanes(0, np.arange(1)), np.zeros(1, dtype=np.int64), Rate(1, 1))[0]))
        assert source.asked >= 2
    assert sizes == [3, 2]


def test_the_smallest_word_gives_the_far_tail() -> None:
    source = Scripted(1, 2**63, 1, 1)
    value = source.laplace(Lanes(0, np.arange(1)), np.zeros(1, dtype=np.int64), Rate(1, 10))
    a = math.exp(-0.1)
    assert value[0] == math.floor(10 * (64 * math.log(2) + math.log(2 / (1 + a)))) == 444  # V is about 2**-64


@pytest.mark.parametrize("count", [0, 5, -(2**61), 2**61, 2**61 + 40, -(2**62) - 40], ids=str)
def test_values_are_cut_at_two_to_the_61_whatever_the_count(count: int) -> None:
    """If the noise were cut instead, the count plus the largest noise would reveal the count."""
    lanes, rate, noise = Lanes(0, np.arange(50)), Rate(1, 2**100), Seeded(0)
    assert set(noise.laplace(lanes, np.full(50, count), rate).tolist()) == {-(2**61), 2**61}
    cells, starts = np.arange(50), np.array([0, 50])
    segment = Lanes(0, np.zeros(1, np.int64))
    _, given, values = noise.sparse(segment, starts, cells, np.full(50, count), np.array([100]), rate, 1)
    assert given.min() < 50 <= given.max()  # occupied and empty cells
    assert set(values.tolist()) == {2**61}
    _, given, values = noise.sparse(segment, np.array([0, 0]), cells[:0], cells[:0], np.array([40]), rate, 2**61)
    assert set(values.tolist()) == {2**61}


def test_extreme_scores_do_not_overflow() -> None:
    scores = np.array([-(2**63), 2**63 - 1, -(2**63), 0])
    starts, lanes = np.array([0, 3, 4]), Lanes(0, np.arange(2))
    assert Seeded(0).select(lanes, scores, starts, Rate(10**6, 1)).tolist() == [1, 0]
    assert Seeded(0).select(lanes, scores, starts, Rate(1, 10**9), np.ones(4, dtype=np.int64)).tolist() == [
        1,
        0,
    ]


def test_weights_from_one_to_the_largest_integer() -> None:
    inverse = np.tile(np.array([2**63 - 1, 1, 2**63 - 1]), 200)
    starts, lanes = np.arange(0, 601, 3), Lanes(0, np.arange(200))
    assert set(Seeded(0).select(lanes, inverse * 0, starts, HALF, inverse).tolist()) == {1}
    heavy = np.full(600, 2**63 - 1)
    assert set(Seeded(0).select(lanes, inverse * 0, starts, HALF, heavy).tolist()) == {0, 1, 2}


def test_large_segments_keep_small_candidates() -> None:
    """One candidate holds half of the mass, a million others share the rest."""
    size = 10**6
    inverse = np.full(size, size)
    inverse[0] = 1
    picks = [
        int(Seeded(s).select(Lanes(0, np.arange(1)), inverse * 0, np.array([0, size]), HALF, inverse)[0])
        for s in range(6)
    ]
    assert 0 in picks
    assert max(picks) > 0


def test_segments_may_be_full_or_absent() -> None:
    noise, none = Seeded(0), np.zeros(0, dtype=np.int64)
    everything = noise.sparse(
        Lanes(0, np.arange(1)), np.array([0, 3]), np.arange(3), np.full(3, 99), np.array([3]), Rate(9, 1), 20
    )
    assert everything[1].tolist() == [0, 1, 2]
    empty = Lanes(0, none)
    assert len(noise.laplace(empty, none, HALF)) == len(noise.coin(empty, 3)) == 0
    assert len(noise.select(empty, none, np.zeros(1, dtype=np.int64), HALF)) == 0
    assert noise.sparse(empty, np.zeros(1, dtype=np.int64), none, none, none, HALF, 5)[0].tolist() == [0]


def test_noise_can_list_every_empty_cell_and_no_occupied_one_in_its_place() -> None:
    segments, total = 4000, 9
    starts, cells = np.arange(0, 4 * segments + 1, 4), np.tile(np.array([0, 3, 4, 8]), segments)
    counts = np.full(4 * segments, -(10**6))  # occupied cells never reach the threshold
    _, cells_out, values = Seeded(2).sparse(
        Lanes(0, np.arange(segments)), starts, cells, counts, np.full(segments, total), Rate(1, 1), 4
    )
    assert set(cells_out.tolist()) == {1, 2, 5, 6, 7}
    assert values.min() == 4


def test_impossible_questions_are_refused() -> None:
    lane = Lanes(0, np.arange(1))
    with pytest.raises(ValueError, match="rate"):
        Rate(0, 1)
    with pytest.raises(ValueError, match="rate"):
        Rate(np.array([1, 0]), 1)
    for num, den in [(0.5, 1), (np.array([0.5]), 1), (1, 2.0)]:
        with pytest.raises(ValueError, match="exact"):
            Rate(num, den)
    with pytest.raises(TypeError, match="same_kind"):
        Seeded(0).laplace(lane, np.zeros(1), HALF)
    with pytest.raises(ValueError, match="candidate"):
        Seeded(0).select(lane, np.zeros(0, dtype=np.int64), np.array([0, 0]), HALF)
    with pytest.raises(ValueError, match="side"):
        Seeded(0).coin(lane, 0)
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="at_least"):
        Seeded(0).sparse(lane, np.array([0, 0]), none, none, np.array([9]), HALF, 0)
    with pytest.raises(ValueError, match="lane"):
        Seeded(0).laplace(lane, np.zeros(2, dtype=np.int64), HALF)


@pytest.mark.real_entropy
def test_secure_words_are_never_reused() -> None:
    noise = Secure()
    assert noise.private
    assert not Seeded(0).private
    words = [noise.words(Lanes(0, np.zeros(n)), 0) for n in (1, 5, 70_000, 140_000, 0, 3)]
    assert [len(w) for w in words] == [1, 5, 70_000, 140_000, 0, 3]
    assert len(np.unique(np.concatenate(words))) == 210_009
    assert repr(noise) == "Secure()"
    assert str(987654321) not in repr(Seeded(987654321))


@pytest.mark.real_entropy
def test_a_machine_restored_from_a_snapshot_draws_other_words() -> None:
    """The state of the process is restored, but its next words come from the operating system."""
    noise, lanes = Secure(), Lanes(0, np.zeros(4))
    noise.words(lanes, 0)
    snapshot = dict(vars(noise))
    first = noise.words(lanes, 0)
    vars(noise).update(snapshot)
    assert not set(first.tolist()) & set(noise.words(lanes, 0).tolist())


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_secure_noise_cannot_be_copied(copier: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="never be used twice"):
        copier(Secure())


@pytest.mark.real_entropy
def test_threads_do_not_share_words() -> None:
    noise, out = Secure(), []

    def draw() -> None:
        for _ in range(500):
            out.append(noise.words(Lanes(0, np.zeros(7)), 0))

    workers = [threading.Thread(target=draw) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(np.unique(np.concatenate(out))) == 4 * 500 * 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.real_entropy
def test_a_forked_child_draws_other_words() -> None:
    noise, lanes = Secure(), Lanes(0, np.zeros(4))
    noise.words(lanes, 0)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, noise.words(lanes, 0).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(read, 32), dtype=np.uint64)
    assert not set(theirs.tolist()) & set(noise.words(lanes, 0).tolist())


class Given(Seeded):
    """A source whose first words are chosen; the later ones come from a seed."""

    def __init__(self, first: list[int]) -> None:
        super().__init__(0)
        self.first = np.array(first, dtype=np.uint64)

    def words(self, lanes: Lanes, round: int) -> Words:
        return self.first[lanes.keys] if round == 0 else super().words(lanes, round)


OFFSETS = [sign * (1 << e) for e in range(2, 40) for sign in (-1, 1)]


@pytest.mark.parametrize("rate", [Rate(1, 10**6), Rate(1, 7), Rate(1, 1), Rate(13, 3)])
@pytest.mark.parametrize("margin", [None, 0.0])
def test_words_around_every_boundary_are_decided_correctly(
    rate: Rate, margin: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First words lie 4, 8, 16, ... units of 2**-63 below P[|Z| >= k], where |Z| >= k, and above it, where |Z| < k.

    Without its margin the float stage decides some of them wrongly, so the margin is needed, and it is enough.
    """
    if margin is not None:
        monkeypatch.setattr(samplers, "_MARGIN", margin)
    num, den = rate.exact(0)
    words, expected = [], []
    for k in [1, 2, 3, 5, 8, 13, 21, 30]:
        k = k * den // num if den > 100 else k
        low, high = exact.tail_bounds(num, den, k, True, 63)
        for offset in OFFSETS:
            digits = (low if offset < 0 else high) + offset
            if 0 <= digits < 2**63:
                words.append(digits << 1 | 1)
                expected.append((k, offset < 0))
    noise, count = Given(words), len(words)
    sizes = noise.laplace(Lanes(0, np.arange(count)), np.zeros(count, dtype=np.int64), rate)
    wrong = [size for size, (k, reached) in zip(sizes.tolist(), expected, strict=True) if (size >= k) != reached]
    assert bool(wrong) == (margin is not None)


@pytest.mark.parametrize(
    ("rate", "shift"), [(Rate(1, 10**6), 41), (Rate(1, 7), 41), (Rate(2, 1), 41), (Rate(1, 7), 63), (Rate(1, 11), 63)]
)
def test_words_around_every_running_sum_are_decided_correctly(
    rate: Rate, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for the exponential mechanism; a shift of 63 ignores the rounding errors of the weights."""
    monkeypatch.setattr(samplers, "_SUM_SHIFT", shift)
    scores, inverse = np.array([0, 3, 7, 7, 2, 5, 6]), np.array([1, 3, 1, 11, 2, 10**6, 5])
    num, den = rate.exact(0)
    powers = [exact.exp_bounds(num * int(7 - s), den, 200)[0] // int(w) for s, w in zip(scores, inverse, strict=True)]
    words, expected = [], []
    for i in range(1, 7):
        boundary = (sum(powers[:i]) << 64) // sum(powers)
        for offset in OFFSETS:
            words.append(boundary + offset)
            expected.append((i, offset < 0))
    count = len(words)
    lanes, starts = Lanes(0, np.arange(count)), np.arange(0, 7 * count + 1, 7)
    picks = Given(words).select(lanes, np.tile(scores, count), starts, rate, np.tile(inverse, count))
    wrong = [i for pick, (i, below) in zip(picks.tolist(), expected, strict=True) if (pick < i) != below]
    assert bool(wrong) == (shift == 63)


# ---- multiplicities ------------------------------------------------------------------------------------------


def times(seed: int = 1) -> Any:
    """For each candidate the number of equal candidates it stands for: mostly few, sometimes very many."""
    rng = np.random.default_rng(seed)
    number = len(candidates()[0])
    return np.where(rng.random(number) < 0.1, 2 ** rng.integers(1, 54, number), rng.integers(1, 9, number))


def selected(rate: Rate, many: Any, noise: Noise | None = None) -> list[int]:
    scores, starts, inverse = candidates()
    return (noise or Seeded(8)).select(Lanes(1, np.arange(60)), scores, starts, rate, inverse, many).tolist()


def test_multiplicities_of_one_change_no_draw() -> None:
    for rate in RATES:
        assert selected(rate, np.ones(len(candidates()[0]), dtype=np.int64)) == selected(rate, None)


def test_multiplicities_draw_like_the_expanded_candidates() -> None:
    """Equal candidates lie next to each other in the running sums, so even single draws agree."""
    scores, many, inverse = np.array([3, 1, 4, 1]), np.array([2, 7, 1, 30]), np.array([1, 2, 3, 1])
    lanes = Lanes(0, np.arange(2000))
    short = Seeded(4).select(
        lanes, np.tile(scores, 2000), np.arange(0, 8001, 4), HALF, np.tile(inverse, 2000), np.tile(many, 2000)
    )
    each = np.repeat(scores, many)
    starts = np.arange(0, 2000 * len(each) + 1, len(each))
    long = Seeded(4).select(lanes, np.tile(each, 2000), starts, HALF, np.tile(np.repeat(inverse, many), 2000))
    assert np.repeat(np.arange(4), many)[long].tolist() == short.tolist()


def test_selections_with_multiplicities_have_their_law() -> None:
    draws, scores, many = 60_000, np.array([5, 0, 3, 5, 4]), np.array([1, 40, 9, 2, 1])
    lanes, starts = Lanes(2, np.arange(draws)), np.arange(0, 5 * draws + 1, 5)
    ones = np.ones(5 * draws, dtype=np.int64)
    picks = Seeded(20).select(lanes, np.tile(scores, draws), starts, HALF, ones, np.tile(many, draws))
    weights = many * np.exp((scores - 5) / 2)
    law = dict(enumerate((weights / weights.sum()).tolist()))
    assert fit.fit(picks, law) > SEEDED_P
    assert fit.fit(picks, dict(enumerate(np.full(5, 0.2).tolist()))) < SEEDED_P


@pytest.mark.parametrize("many", [0, -1, 2**53 + 1])
def test_impossible_multiplicities_are_refused(many: int) -> None:
    one, starts = np.array([1]), np.array([0, 1])
    with pytest.raises(ValueError, match="multiplicities"):
        Seeded(1).select(Lanes(0, one), one, starts, HALF, one, np.array([many]))
    with pytest.raises(ValueError, match="multiplicities"):
        Seeded(1).select(Lanes(0, one), one, starts, HALF, None, one)


def test_the_largest_multiplicity_is_weighed_against_one() -> None:
    """2^53 candidates at rate * score 60 below have e^-60 2^53 = 7.9e-11 of the mass; at 36.7 below, about half."""
    scores, many = np.array([60, 0]), np.array([1, 2**53])
    lanes, ones = Lanes(0, np.arange(2000)), np.ones(4000, dtype=np.int64)
    rare = Seeded(1).select(lanes, np.tile(scores, 2000), np.arange(0, 4001, 2), Rate(1, 1), ones, np.tile(many, 2000))
    even = Seeded(1).select(
        lanes, np.tile(scores, 2000), np.arange(0, 4001, 2), Rate(367, 600), ones, np.tile(many, 2000)
    )
    assert rare.sum() == 0
    assert 850 < even.sum() < 1150


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("rate", [(1, 1), (1, 3), (7, 10**9), (10**9, 3 * 10**7)], ids=str)
def test_a_number_next_to_a_boundary_has_the_right_size(rate: tuple[int, int], two_sided: bool) -> None:
    """It is so close to the boundary that the first guess, with 60 digits, may be off by one."""
    for k in range(1, 12):
        low, high = exact.tail_bounds(*rate, k, two_sided, 800)
        for digits, size in ((low - 1, k), (high, k - 1)):
            assert exact.tail(exact.Uniform(digits, 800, lambda: 0), *rate, two_sided) == size


def test_a_choice_on_a_boundary_reads_more_words() -> None:
    """Of two candidates of equal weight, numbers below 1/2 choose the first, the others the second."""
    for digits, word, chosen in ((2**63 - 1, 2**64 - 9, 0), (2**63, 9, 1)):
        more = iter([word])
        assert exact.choice(exact.Uniform(digits, 64, more.__next__), [0, 0], [(1, 1), (1, 1)], 1, 1) == chosen
        assert not list(more)


def test_a_binomial_draw_beyond_all_steps_is_undecided() -> None:
    """A draw that rounds to 1 lies above every running sum."""
    sizes, sure = samplers._invert_binomial(np.ones(1), np.array([1000]), np.array([0.016]), np.array([0.0161]))
    assert (sizes.tolist(), sure.tolist()) == ([samplers._PIECE_STEPS], [False])
