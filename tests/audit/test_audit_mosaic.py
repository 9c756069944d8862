"""The exact audit of mosaic's questions: all small tables over tiny domains, all neighbours, through the shipped code.

It covers counts, choices and trees: Claims 41 to 49.
"""

from __future__ import annotations

import inspect

import pytest

from cantle.audit import mosaic
from cantle.audit.exact import Audit, Breakage
from cantle.audit.mosaic import MOSAIC_CONFIGS, MosaicConfig
from cantle_lab.mutants.mosaic import MOSAIC_BREAKAGES
from tests.audit.family import check_family, check_small_tables
from tests.audit.test_audit_breakages import check_flaw

COSTLY = {mosaic.CHOICE.name: 1, mosaic.SUBSET.name: 2, "mosaic: trees over two columns": 3}
"""The number of pairs of small tables that are compared."""


@pytest.mark.parametrize("config", MOSAIC_CONFIGS, ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: MosaicConfig) -> None:
    check_small_tables(config, costly=COSTLY)


@pytest.mark.slow
@pytest.mark.parametrize("config", MOSAIC_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: MosaicConfig) -> None:
    check_family(config)


@pytest.mark.parametrize("breakage", MOSAIC_BREAKAGES, ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)


@pytest.mark.slow
def test_a_search_over_all_pairs_finds_pruned_candidates() -> None:
    flaw = next(breakage for breakage in MOSAIC_BREAKAGES if "pruned" in breakage.name)
    with flaw.patch():
        assert Audit(mosaic.CHOICE).worst(mosaic.CHOICE.pairs(1)).loss > mosaic.CHOICE.units


def test_every_question_is_audited() -> None:
    verbs = {name for name, what in vars(mosaic.Questions).items() if inspect.isfunction(what)}
    asked = {name for name in verbs if not name.startswith("_")} - {"left", "set_cells", "next_table"}
    source = inspect.getsource(mosaic)
    assert {name for name in asked if f"questions.{name}(" not in source} == set()
