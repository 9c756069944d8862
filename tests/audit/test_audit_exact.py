"""The exact audit of RPS: all tables of up to one record over tiny domains, all neighbours, through the shipped code.

With `-m slow` it is all tables of up to three records. It covers the claims about single questions and about the sum
along a path together: Claims 1 and 11 to 14.
"""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from cantle.audit import audit_exactly, rps
from cantle.audit.enumerating import law
from cantle.audit.exact import TOLERANCE, Audit, Config, Data, Drawn, Mechanism
from cantle.audit.rps import CONFIGS
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants import BREAKAGES
from tests.audit.family import check_family, check_search, check_small_tables
from tests.effort import later

LONG = {
    "preset paper, depth 2, 2 classes",
    "one-way tables of two attributes",
    "PrivTree, all cuts, depth 3",
    "random attribute, balance, depth 2",
    "all cuts, balance, depth 2, two attributes",
    "PrivTree, midpoint, three tests on a path",
    "preset default, columns of numbers",
}
"""Configurations that run with `-m slow` only."""
USED_UP_LATER = frozenset({"PrivTree, threshold 0, first level skipped"})
COSTLY = {
    "all cuts, balance, depth 2": 3,
    "all cuts, balance, levels geometric": 3,
    "all cuts, class-aware, 3 classes": 3,
    "stop by noisy count, depth 2": 3,
    "stop by noisy count, wider window": 2,
    "stop by noisy count, skip and narrow": 3,
    "narrow regions are leaves": 3,
    "PrivTree, threshold 0, first level skipped": 3,
    "one-way table": 2,
    "a person of two records, PrivTree": 3,
    "preset default": 2,
}
"""The number of pairs of small tables that are compared."""


def agrees(config: Mechanism[Data], table: Data) -> bool:
    """Whether a full enumeration gives every output the probability that the audit assumes: that of its lines without
    the leaves, times the product of the probabilities of the leaf cells."""
    closed, full = Audit(config).law(table), Audit(config, enumerate_leaves=True).law(table)
    bodies = {body: outcome for (body, _), outcome in closed.items()}
    return len({body for body, _ in full}) == len(bodies) and all(
        outcome.probability == bodies[body].probability * _cells(bodies[body].drawn, cells, config.window)
        for (body, cells), outcome in full.items()
    )


def _cells(drawn: Drawn, cells: tuple[int, ...], window: tuple[int, int]) -> Fraction:
    """The probability that the leaf cells come out as these values."""
    pairs = zip(drawn, cells, strict=True)
    return math.prod((_cell_law(count, rate, window)[value] for (count, rate), value in pairs), start=Fraction(1))


def _cell_law(count: int, rate: Fraction, window: tuple[int, int]) -> dict[int, Fraction]:
    exact = Rate(rate.numerator, rate.denominator)
    lanes, counts = Lanes(0, np.arange(1)), np.array([count], dtype=np.int64)
    return law(lambda noise: int(noise.laplace(lanes, counts, exact)[0]), window=window)


@pytest.mark.parametrize("config", later(CONFIGS, LONG), ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: Config) -> None:
    check_small_tables(config, USED_UP_LATER, COSTLY)


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: Config) -> None:
    check_family(config)


def test_the_family_has_all_small_tables_and_added_records() -> None:
    pairs = list(rps.CHOICE.pairs())
    assert pairs[0] == ((), ((0, 0),))
    assert len(pairs) == 20 * 3  # multisets of at most 3 of 3 values, each with one of 3 records added
    assert {len(before) for before, _ in pairs} == {0, 1, 2, 3}
    people = next(config for config in CONFIGS if config.unit == 2)
    assert {len(after) - len(before) for before, after in people.pairs()} == {1, 2}


@pytest.mark.parametrize("table", [(), ((0, 0),), ((0, 0), (2, 0)), ((1, 0), (1, 0), (2, 0))])
def test_full_enumeration_agrees_with_recorded_leaves(table: tuple[tuple[int, ...], ...]) -> None:
    assert agrees(rps.CHOICE, table)


def test_full_enumeration_agrees_with_early_leaves_that_take_the_rest() -> None:
    assert agrees(rps.COUNTED, ((0, 0), (3, 0)))


def test_cutting_leaf_counts_to_a_window_loses_no_more() -> None:
    recorded, full = Audit(rps.CHOICE), Audit(rps.CHOICE, enumerate_leaves=True)
    for pair in rps.CHOICE.pairs(1):
        assert full.compare(*pair).loss <= recorded.compare(*pair).loss + TOLERANCE


def test_the_size_of_chunks_does_not_change_the_law() -> None:
    table = ((0, 0), (2, 0), (3, 0))
    assert Audit(rps.COUNTED, chunk_cells=1).law(table) == Audit(rps.COUNTED).law(table)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("class-aware score with the range of balance", rps.CLASSES),
        ("stop test not charged", rps.COUNTED_MIDDLE),
        ("cuts from observed values", rps.CHOICE),
    ],
)
def test_a_search_over_all_pairs_finds_the_flaws(name: str, config: Config) -> None:
    flaw = next(breakage for breakage in BREAKAGES if breakage.name == name)
    check_search(flaw, config, config.pairs(2))


def test_a_claim_that_no_outcome_reaches_is_reported() -> None:
    settings = {**rps.SIZED.settings, "attributes": "midpoint"}
    wasteful = Config("only the number of records is asked", (2,), settings, 3, tight=True)
    row = audit_exactly(wasteful)
    assert row.measured == pytest.approx(1)
    assert not row.ok


@pytest.mark.slow
def test_publishing_cannot_reach_the_audit() -> None:
    """This is checked in a process; tests/architecture/test_imports.py checks it in the sources."""
    code = "import sys, cantle.interfaces.publishing; "
    code += "sys.exit(any(name.startswith('cantle.audit') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
