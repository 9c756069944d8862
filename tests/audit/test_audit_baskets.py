"""The exact audit of baskets: small data sets over tiny universes, all neighbours, through the shipped code.

Claims 50 to 54: sizes, supports, head patterns and pairs together lose what the receipt says and no more.
"""

from __future__ import annotations

import pytest

from cantle.audit.exact import Breakage
from cantle.audit.sets import ALWAYS, BASKET_CONFIGS, RICH, BasketConfig
from cantle_lab.mutants.baskets import BASKET_BREAKAGES
from tests.audit.family import check_family, check_small_tables, sound
from tests.audit.test_audit_breakages import check_flaw
from tests.effort import later

COSTLY = {RICH.name: 3, ALWAYS.name: 1}
"""The number of pairs of small tables that are compared."""


@pytest.mark.parametrize(
    "config", later(BASKET_CONFIGS, {"Baskets: sizes and three items"}), ids=lambda config: config.name
)
def test_no_pair_loses_more_than_claimed(config: BasketConfig) -> None:
    check_small_tables(config, costly=COSTLY, records=config.records)


@pytest.mark.slow
@pytest.mark.parametrize("config", BASKET_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: BasketConfig) -> None:
    check_family(config)


@pytest.mark.parametrize("breakage", BASKET_BREAKAGES, ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)


def test_head_and_pairs_are_asked_in_the_audit() -> None:
    """Otherwise the audit would be about questions that are never asked."""
    rich = sound(RICH)
    receipts = [line for (lines, _), _ in rich.law(((0, 1),)).items() for line in lines if line.startswith("receipt")]
    assert all("pairs of items" in line for line in receipts)
    assert any("head patterns" in line for line in receipts)


def test_a_record_occupies_cells_that_are_always_given_in_the_audit() -> None:
    """Otherwise a second draw of such cells would lose nothing, and the audit would not notice it."""
    plans = [line for (lines, _) in sound(ALWAYS).law(((0, 1, 2),)) for line in lines if line.startswith("pairs ")]
    given = [line for line in plans if line.endswith("[0, 1, 2]")]
    assert len(given) > len(plans) / 2
