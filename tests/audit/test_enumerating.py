"""Enumerated laws compared with laws that are derived in another way, all in exact fractions."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from cantle.audit.enumerating import Enumerating, law
from cantle.trusted.noise import Lanes, Rate

UNIT = Rate(10**9, 10**9)
ONE = Lanes(0, np.arange(1))


def laplace_law(k: int, units: int = 1) -> Fraction:
    a = Fraction(1, 2**units)
    return (1 - a) / (1 + a) * a ** abs(k)


def test_laplace_has_the_clamped_law() -> None:
    def run(noise: Enumerating) -> Hashable:
        return int(noise.laplace(ONE, np.array([1]), Rate(2, 1))[0])

    enumerated = law(run, window=(-1, 4))
    assert set(enumerated) == set(range(-1, 5))
    for value in range(4):
        assert enumerated[value] == laplace_law(value - 1, units=2)
    a = Fraction(1, 4)
    assert enumerated[4] == a**3 / (1 + a)
    assert enumerated[-1] == a**2 / (1 + a)


def test_lanes_are_independent() -> None:
    def run(noise: Enumerating) -> Hashable:
        return tuple(noise.laplace(Lanes(0, np.arange(2)), np.array([0, 1]), Rate(np.array([1, 2]), 1)).tolist())

    enumerated = law(run)
    assert enumerated[0, 0] == Fraction(2, 3) * Fraction(1, 5)  # P[Z <= 0] at 1/2, P[Z <= -1] at 1/4
    assert sum(enumerated.values()) == 1


@pytest.mark.parametrize(("scores", "second"), [((2, 0, 2, 2), Fraction(1, 16)), ((3, 0, 3, 3), Fraction(1, 32))])
def test_permute_and_flip_has_the_loss_of_instance_i3(scores: tuple[int, ...], second: Fraction) -> None:
    """Instance I3 of docs/privacy.md: the loss of the second candidate is exactly one unit."""

    def run(noise: Enumerating) -> Hashable:
        return int(noise.select(ONE, np.array(scores), np.array([0, 4]), UNIT)[0])

    enumerated = law(run)
    assert enumerated[1] == second
    assert enumerated[0] == enumerated[2] == enumerated[3]


def test_permute_and_flip_has_the_law_of_its_procedure() -> None:
    scores = [3, 1, 2, 3, 0]
    chances = [Fraction(1, 2 ** (3 - s)) for s in scores]
    expected = dict.fromkeys(range(5), Fraction(0))
    for flags in product([False, True], repeat=5):
        weight = Fraction(1)
        for flag, chance in zip(flags, chances, strict=True):
            weight *= chance if flag else 1 - chance
        for i in np.flatnonzero(flags).tolist():
            expected[i] += weight / sum(flags)
    enumerated = law(lambda noise: int(noise.select(ONE, np.array(scores), np.array([0, 5]), UNIT)[0]))
    assert enumerated == expected


def test_the_exponential_mechanism_has_its_law_with_weights_and_a_fractional_rate() -> None:
    """A rate of 1/3 is allowed if all differences of scores are multiples of three."""

    def run(noise: Enumerating) -> Hashable:
        starts, inverse = np.array([0, 2, 3]), np.array([1, 3, 7])
        return tuple(noise.select(Lanes(0, np.arange(2)), np.array([0, 3, 9]), starts, Rate(1, 3), inverse).tolist())

    assert law(run) == {(0, 0): Fraction(3, 5), (1, 0): Fraction(2, 5)}


def test_above_has_its_law() -> None:
    enumerated = law(lambda noise: bool(noise.above(ONE, np.array([2]), np.array([3]), UNIT)[0]))
    assert enumerated == {True: Fraction(1, 6), False: Fraction(5, 6)}  # P[Z >= 2] = a**2 / (1 + a)


def test_coins_are_fair_and_independent() -> None:
    enumerated = law(lambda noise: tuple(noise.coin(Lanes(0, np.arange(2)), np.array([2, 3])).tolist()))
    assert len(enumerated) == 6
    assert set(enumerated.values()) == {Fraction(1, 6)}


@pytest.mark.parametrize("at_least", [1, 2])
def test_sparse_has_the_law_of_noising_all_cells(at_least: int) -> None:
    """Noising all cells with `laplace`, withholding small ones and clamping the rest gives the same law."""
    dense = {0: [0, 2, 0], 1: [1, 0]}

    def sparse(noise: Enumerating) -> Hashable:
        starts, cells, values = noise.sparse(
            Lanes(0, np.arange(2)), np.array([0, 1, 2]), np.array([1, 0]), np.array([2, 1]),
            np.array([3, 2]), UNIT, at_least,
        )  # fmt: skip
        owner = np.repeat(np.arange(2), np.diff(starts))
        return tuple(zip(owner.tolist(), cells.tolist(), values.tolist(), strict=True))

    def every_cell(noise: Enumerating) -> Hashable:
        out = []
        for s, counts in dense.items():
            noisy = noise.laplace(Lanes(s, np.arange(len(counts))), np.array(counts), UNIT)
            out += [(s, cell, int(v)) for cell, v in enumerate(noisy) if v >= at_least]
        return tuple(out)

    assert law(sparse, window=(0, 2)) == law(every_cell, window=(at_least - 1, at_least + 2))


def sparse_by_steps(total: int, counts: dict[int, int], at_least: int, top: int) -> dict[Hashable, Fraction]:
    """The law of the steps of the sampler: binomial number, uniform set of cells, geometric excess."""
    from itertools import combinations
    from math import comb

    a = Fraction(1, 2)
    p = a**at_least / (1 + a)
    empty = [cell for cell in range(total) if cell not in counts]

    def levels(count: int | None) -> dict[int | None, Fraction]:
        """The law of the clamped value (None if withheld); count None is an empty cell that reaches the threshold."""
        law_of: dict[int | None, Fraction] = {}
        for z in range(0 if count is None else -40, 41):
            value = z + (at_least if count is None else count)
            chance = (1 - a) * a**z if count is None else laplace_law(z)
            key = None if value < at_least else min(value, top)
            law_of[key] = law_of.get(key, Fraction(0)) + chance
        return law_of

    law_of_cells: dict[Hashable, Fraction] = {}
    for number in range(len(empty) + 1):
        chance = comb(len(empty), number) * p**number * (1 - p) ** (len(empty) - number)
        for chosen in combinations(empty, number):
            cells = [*counts, *chosen]
            laws = [levels(counts.get(cell)) for cell in cells]
            for values in product(*laws):
                weight = chance / comb(len(empty), number)
                for value, cell_law in zip(values, laws, strict=True):
                    weight *= cell_law[value]
                kept = sorted((c, v) for c, v in zip(cells, values, strict=True) if v is not None)
                law_of_cells[tuple(kept)] = law_of_cells.get(tuple(kept), Fraction(0)) + weight
    return law_of_cells


def test_the_steps_of_the_sampler_have_the_enumerated_law() -> None:
    """Only the tails beyond 40 may differ, which are cut to keep the sum finite."""

    def run(noise: Enumerating) -> Hashable:
        _, cells, values = noise.sparse(ONE, np.array([0, 1]), np.array([1]), np.array([2]), np.array([4]), UNIT, 2)
        return tuple(zip(cells.tolist(), values.tolist(), strict=True))

    enumerated, steps = law(run, window=(0, 1)), sparse_by_steps(4, {1: 2}, at_least=2, top=3)
    assert enumerated.keys() == steps.keys()
    assert all(abs(enumerated[key] - steps[key]) < Fraction(1, 2**30) for key in enumerated)


def test_closed_calls_are_recorded_not_enumerated() -> None:
    def run(noise: Enumerating) -> Hashable:
        first = bool(noise.above(ONE, np.array([1]), np.array([0]), UNIT)[0])
        leaf = noise.laplace(Lanes(7, np.arange(2)), np.array([4, 5]), Rate(np.array([2, 3]), 1))
        noise.sparse(Lanes(8, np.arange(1)), np.array([0, 1]), np.array([2]), np.array([6]), np.array([4]), UNIT, 1)
        return first, tuple(leaf.tolist()), tuple(noise.recorded)

    enumerated = law(run, window=(-1, 1), closed=lambda lanes: lanes.call >= 7)
    records = (((4, 5), (Fraction(2), Fraction(3))), ((0, 0, 6, 0), (Fraction(1),) * 4))
    assert enumerated == {(True, (-1, -1), records): Fraction(2, 3), (False, (-1, -1), records): Fraction(1, 3)}


def test_fractional_units_are_refused() -> None:
    with pytest.raises(ValueError, match="whole units"):
        law(lambda noise: int(noise.laplace(ONE, np.array([0]), Rate(1, 2))[0]))
    with pytest.raises(ValueError, match="whole units"):
        law(lambda noise: int(noise.select(ONE, np.array([0, 1]), np.array([0, 2]), Rate(1, 2))[0]))


def test_hidden_randomness_is_refused() -> None:
    """If a run depends on more than its noise, the probabilities do not add up to 1."""
    lengths = iter([3, 2, 2, 2, 2, 2, 2])

    def run(noise: Enumerating) -> Hashable:
        return int(noise.coin(ONE, next(lengths))[0])

    with pytest.raises(AssertionError, match="add up"):
        law(run)


def test_multiplicities_stand_for_equal_candidates() -> None:
    """The law is that of the expanded candidates, in one segment and in several."""
    scores, inverse, many = [2, 0, 2, 1], [1, 3, 1, 2], [3, 1, 2, 5]

    def short(noise: Enumerating) -> Hashable:
        return int(noise.select(ONE, np.array(scores), np.array([0, 4]), UNIT, np.array(inverse), np.array(many))[0])

    def long(noise: Enumerating) -> Hashable:
        each, owner = np.repeat(scores, many), np.repeat(np.arange(4), many)
        starts, weights = np.array([0, len(each)]), np.repeat(inverse, many)
        return int(owner[noise.select(ONE, each, starts, UNIT, weights)[0]])

    def twice(noise: Enumerating) -> Hashable:
        starts, lanes = np.array([0, 4, 8]), Lanes(0, np.arange(2))
        both = np.array(scores * 2), starts, UNIT, np.array(inverse * 2), np.array(many + many[::-1])
        return tuple(noise.select(lanes, *both).tolist())

    enumerated = law(short)
    assert enumerated == law(long)
    weights = [Fraction(2**s * m, w) for s, w, m in zip(scores, inverse, many, strict=True)]
    assert [enumerated[i] for i in range(4)] == [w / sum(weights) for w in weights]
    assert sum(p for pair, p in law(twice).items() if pair[0] == 1) == enumerated[1]
