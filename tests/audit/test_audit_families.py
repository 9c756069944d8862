"""The exact audit of the questions about families: all rows of a key more or less, through the shipped code.

It covers the join of both files, counts in parts, choices and trees: Claims 67 to 69.
"""

from __future__ import annotations

import inspect

import pytest

from cantle.audit import families
from cantle.audit.exact import Breakage
from cantle.audit.families import FAMILY_CONFIGS, FamilyConfig
from cantle_lab.mutants.families import FAMILY_BREAKAGES
from tests.audit.family import check_family, check_small_tables
from tests.audit.test_audit_breakages import check_flaw


@pytest.mark.parametrize("config", FAMILY_CONFIGS, ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: FamilyConfig) -> None:
    check_small_tables(config, costly={families.CHOICE.name: 20}, records=1 if config.tight else 0)


@pytest.mark.slow
@pytest.mark.parametrize("config", FAMILY_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: FamilyConfig) -> None:
    check_family(config)


@pytest.mark.parametrize("breakage", FAMILY_BREAKAGES, ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)
    assert breakage.find(broken=False).loss <= breakage.config.units


def test_every_question_is_audited() -> None:
    asked = {name for name in vars(families.FamilyQuestions) if not name.startswith("_")} - {"left", "of"}
    source = inspect.getsource(families)
    assert {name for name in asked if f"questions.{name}(" not in source} == set()
