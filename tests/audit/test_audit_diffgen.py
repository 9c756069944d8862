"""The exact audit of DiffGen: all small tables over tiny domains, all neighbours, through the shipped code.

It covers specialisations and listed cells: Claims 20 to 25.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import prod

import numpy as np
import pytest

from cantle.audit import diffgen
from cantle.audit.diffgen import DIFFGEN_CONFIGS, DiffGenConfig
from cantle.audit.enumerating import Enumerating, law
from cantle.audit.exact import TOLERANCE, Audit
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants.diffgen import DIFFGEN_BREAKAGES
from tests.audit.family import check_family, check_search, check_small_tables
from tests.effort import later, one_in

LONG = {"DiffGen paper: two numbers", "DiffGen: accuracy, the first round tempered"}
"""Configurations that run with `-m slow` only."""
USED_UP_LATER = frozenset(
    {
        "DiffGen: majority, a number of 4",
        "DiffGen: majority, two rounds",
        "DiffGen: majority, few points",
        "DiffGen: majority, a category and a number",
        "DiffGen: weighted by noisy class totals",
        "DiffGen: tempered by noisy class totals",
        "DiffGen: accuracy, the first round tempered",
        "DiffGen: threshold of counts",
        "DiffGen: a person of two records",
    }
)


COSTLY = dict.fromkeys(
    (
        "DiffGen: majority, two rounds",
        "DiffGen: majority, two numbers",
        "DiffGen: majority, few points",
        "DiffGen: majority, a category and a number",
        "DiffGen: half Gini, rounds of 10 and 14",
        "DiffGen: weighted by noisy class totals",
        "DiffGen: tempered by noisy class totals",
        "DiffGen: rounds and cells from the charged number of records",
        "DiffGen: preset default",
        "DiffGen: preset default, a category and a number",
        "DiffGen: threshold of counts",
        "DiffGen paper: points of both children",
        "DiffGen paper: a category and a number",
        "DiffGen paper: a number of 11",
        "DiffGen paper: purity",
    ),
    3,
)
"""The number of pairs of small tables that are compared."""


@pytest.mark.parametrize("config", later(DIFFGEN_CONFIGS, LONG), ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: DiffGenConfig) -> None:
    check_small_tables(config, USED_UP_LATER, COSTLY)


@pytest.mark.slow
@pytest.mark.parametrize("config", DIFFGEN_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: DiffGenConfig) -> None:
    check_family(config)


def cell_law(count: int, rate: Fraction, at_least: int) -> dict[int, Fraction]:
    """The law of what one cell shows: its value, or 0 if it is withheld."""

    def run(noise: Enumerating) -> int:
        cell = Lanes(0, np.arange(1)), np.array([0, 1]), np.arange(1), np.array([count]), np.array([1])
        values = noise.sparse(*cell, Rate(rate.numerator, rate.denominator), at_least)[2]
        return int(values.sum())

    return law(run)


@pytest.mark.parametrize("table", one_in(3, [((1, 0), (3, 1)), ((0, 0),), ()]), ids=len)
@pytest.mark.parametrize("config", [diffgen.TOP, diffgen.JOINT, diffgen.POINT], ids=lambda config: config.name)
def test_full_enumeration_agrees_with_recorded_cells(config: DiffGenConfig, table: tuple) -> None:
    at_least = 1
    table = tuple((min(code, config.sizes[0] - 1), label) for code, label in table)
    recorded, full = Audit(config).law(table), Audit(config, enumerate_leaves=True).law(table)
    bodies = {body: outcome for (body, _), outcome in recorded.items()}
    assert {body for body, _ in full} == set(bodies)
    for (body, cells), outcome in full.items():
        assert f"at least {at_least}," in " ".join(body)
        listed = dict(zip(cells[::2], cells[1::2], strict=True))
        laws = [cell_law(count, rate, at_least) for count, rate in bodies[body].drawn]
        chance = prod((law_of_cell[listed.get(cell, 0)] for cell, law_of_cell in enumerate(laws)), start=Fraction(1))
        assert outcome.probability == bodies[body].probability * chance


@pytest.mark.parametrize("pairs", [1, pytest.param(None, marks=pytest.mark.slow)], ids=["one pair", "all"])
def test_showing_the_cells_loses_no_more_than_recording_them(pairs: int | None) -> None:
    recorded, full = Audit(diffgen.JOINT), Audit(diffgen.JOINT, enumerate_leaves=True)
    for pair in islice(diffgen.JOINT.pairs(0), pairs):
        assert full.compare(*pair).loss <= recorded.compare(*pair).loss + TOLERANCE


def test_all_cells_are_recorded_including_empty_ones() -> None:
    for (body, _), outcome in Audit(diffgen.SPANS).law(()).items():
        cells = next(int(line.rsplit(" ", 1)[1]) for line in body if line.startswith("rounds"))
        assert len(outcome.drawn) == 2 * cells


def test_the_configuration_of_thresholds_uses_a_threshold_of_two() -> None:
    """For six empty entries at rate 1, 6 e^-t / (1 + 1/e) (t + 1) is 3.2 at t = 1 and 1.8 at t = 2; 2 are allowed."""
    for body, _ in Audit(diffgen.THRESHOLD).law(()):
        assert any(line.startswith("at least 2,") for line in body)


def test_the_audit_covers_every_preset_score_and_number_of_classes() -> None:
    presets = {(config.preset, config.settings.get("score")) for config in DIFFGEN_CONFIGS}
    assert {preset for preset, _ in presets} == {"default", "paper"}
    scores = {score for _, score in presets}
    assert scores >= {"auto", "majority", "gini", "weighted", "tempered", "infogain", "purity", None}
    assert {config.classes for config in DIFFGEN_CONFIGS} == {1, 2, 3}


@pytest.mark.parametrize(
    ("name", "config"),
    [("DiffGen: end runs missing", diffgen.POINT), ("DiffGen: points from observed codes", diffgen.JOINT)],
)
def test_a_search_over_all_pairs_finds_the_flaws(name: str, config: DiffGenConfig) -> None:
    flaw = next(breakage for breakage in DIFFGEN_BREAKAGES if breakage.name == name)
    check_search(flaw, config, config.pairs(2))
