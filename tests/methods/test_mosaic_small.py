"""Tables of few records without a target: more of the budget relates columns, in fewer tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.methods.mosaic import plan as rules
from cantle_lab.papers.analyst_tables import taxis


def planned(records: int, classes: int = 0) -> tuple[float, rules.Plan]:
    cells = [40] * 4 + [8] * 7
    start = rules.opening(records, 1.0, 4, cells, Fraction(1, 25))
    return rules.rho(records, 1.0, cells), rules.plan(start, cells, 11, classes, hub_asked=False, hub=False)


def test_few_records_give_more_to_fewer_tables_and_very_few_or_many_do_not() -> None:
    (_, tiny), (rho, small), (_, large) = (planned(records) for records in (1_000, 4_000, 40_000))
    assert rules.SMALL[0] <= rho < rules.SMALL[1]
    assert small.first < planned(4_000, classes=2)[1].first
    assert float(tiny.first) == pytest.approx(0.9 * 0.93)  # as without the rule: nearly all
    assert float(large.first) == pytest.approx(42 / (42 + planned(40_000)[0]) * 0.9, rel=0.03)
    assert small.cap > tiny.cap


def test_fares_follow_distances() -> None:
    table = taxis()
    kept = []
    for seed in (1, 3):
        release = cantle.publish(table.frame, table.schema, epsilon=1, method="mosaic", insecure_seed=seed)
        drawn = pl.DataFrame(release.records)
        kept.append(np.corrcoef(drawn["distance"], drawn["fare"])[0, 1])
    assert np.mean(kept) > 0.65
