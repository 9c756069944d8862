"""The exact audit of a release's own error: whole runs over tiny data, all neighbours, through the shipped code.

It covers Claims 55a to 58: all answers of a run, with the one about its own error, lose what the receipt says.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from cantle.audit.exact import Audit, Breakage, Config
from cantle.audit.own_error import ONE_NUMBER, OWN_ERROR_CONFIGS, TWO_NUMBERS
from cantle_lab.mutants.own_error import OWN_ERROR_BREAKAGES
from tests.audit.family import check_family, check_small_tables
from tests.audit.test_audit_breakages import check_flaw
from tests.effort import later

LONG = {"own error: three values", "own error: a workload chosen from the data"}
"""Configurations and flaws that run with `-m slow` only."""
COSTLY = {
    "own error: sets": 1,
    "own error: a class beside the columns": 1,
    "own error: two numbers": 2,
    "own error: a person of two records": 2,
}
"""The number of pairs of small tables that are compared."""


@pytest.mark.parametrize("config", later(OWN_ERROR_CONFIGS, LONG), ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: Config) -> None:
    narrow = replace(config, window=(0, 1)) if config.name in COSTLY else config
    check_small_tables(narrow, costly=COSTLY)


@pytest.mark.slow
@pytest.mark.parametrize("config", OWN_ERROR_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: Config) -> None:
    check_family(config)


@pytest.mark.parametrize("breakage", later(OWN_ERROR_BREAKAGES, LONG), ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)


@pytest.mark.parametrize(("config", "numbers"), [(ONE_NUMBER, 1), (TWO_NUMBERS, 2)], ids=["one", "two"])
def test_own_error_is_asked_in_the_audit(config: Config, numbers: int) -> None:
    """Otherwise the audit would be about questions that are never asked."""
    table = ((0,) * len(config.sizes) + (0,),)
    assert max(len(outcome.drawn) for outcome in Audit(config).law(table).values()) == numbers
