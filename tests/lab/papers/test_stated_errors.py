"""The figure that compares measured accuracy with the truth, on a small table."""

from __future__ import annotations

import numpy as np

import cantle
from cantle_lab.papers.stated_errors import beside_the_truth, true_numbers
from cantle_lab.papers.table_sets import TableSet
from tests.release.people import SCHEMA, people


def test_measured_numbers_equal_the_true_ones_plus_noise() -> None:
    """At epsilon 400 the noise of three numbers has a scale of 3/16 of a record."""
    table = TableSet("people", people(600), SCHEMA)
    for method in ("mosaic", "rps", "diffgen"):
        release = cantle.publish(table.frame, SCHEMA, epsilon=400, method=method)
        assert release.accuracy is not None
        measured = [one.records for one in release.accuracy.numbers()]
        assert np.abs(np.array(measured) - true_numbers(release, table)).max() <= 8
        rows = list(beside_the_truth(release, table, method, 400, 0))
        assert [row.value for row in rows[::2]] == measured
        assert len(rows) == 2 * len(measured)
        assert len(measured) >= 2  # one more if mosaic leaves out pairs of columns


def test_releases_without_measurement_are_left_out() -> None:
    table = TableSet("people", people(200), SCHEMA)
    release = cantle.publish(table.frame, SCHEMA, epsilon=1)
    assert list(beside_the_truth(release, table, "mosaic", 1, 0)) == []
