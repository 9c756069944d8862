"""The known flaws have the losses that were worked out by hand."""

from __future__ import annotations

import pytest

from cantle_lab.mutants.instances import INSTANCES
from tests.effort import slow


@pytest.mark.parametrize("name", slow(list(INSTANCES), "I11", "I17"))
def test_losses_are_those_worked_out_by_hand(name: str) -> None:
    for number in INSTANCES[name]():
        assert number.ok, number


def test_every_instance_is_listed() -> None:
    first = ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12"]
    assert list(INSTANCES) == [*first, "I13", "I13'", "I14", "I16", "I17", "I18"]
