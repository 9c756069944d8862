"""The exact audit of journeys: small collections of sequences, all neighbours, through the shipped code.

Claims 62 and 65: lengths and pairs together lose what the receipt says and no more.
"""

from __future__ import annotations

import pytest

from cantle.audit.exact import Breakage
from cantle.audit.sets import IN_PARTS, JOURNEY_CONFIGS, JourneyConfig
from cantle_lab.mutants.journeys import JOURNEY_BREAKAGES
from tests.audit.family import check_family, check_small_tables, sound
from tests.audit.test_audit_breakages import check_flaw


@pytest.mark.parametrize("config", JOURNEY_CONFIGS, ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: JourneyConfig) -> None:
    check_small_tables(config, records=0)


@pytest.mark.slow
@pytest.mark.parametrize("config", JOURNEY_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: JourneyConfig) -> None:
    check_family(config)


@pytest.mark.parametrize("breakage", JOURNEY_BREAKAGES, ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)


def test_sequences_count_in_full_up_to_several_lengths_in_the_audit() -> None:
    """Otherwise the audit would be about questions that are never asked."""
    lines = [line for (shown, _) in sound(IN_PARTS).law(((0, 1, 1),)) for line in shown]
    assert any("pairs of symbols" in line for line in lines)
    assert {line for line in lines if line.startswith("in full")} >= {f"in full up to {n}, order 2" for n in (2, 3)}
