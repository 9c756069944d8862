"""Test data of people with awkward values: out of range, undeclared, not finite, between grid points or missing."""

from __future__ import annotations

import datetime as dt

import polars as pl

from tests.release.people import people

NAN, INF = float("nan"), float("inf")


def awkward(n: int = 600) -> pl.DataFrame:
    """The people of tests/release/people.py, and 24 more with awkward values."""
    strange = pl.DataFrame(
        {
            "id": ["x"] * 12,
            "age": [-5, 0, 99, 100, 10**15, -(10**15), None, 50, 51, 52, 53, 54],
            "weight": [NAN, INF, -INF, 29.9, 30.0, 30.3, 30.5, 150.0, 1e300, 5e-324, -0.0, None],
            "town": ["Elm", "", "ash", "Ash ", None, "Ash", "Birch", "Cedar", "Dogwood", "é", "'", '"'],
            "grade": ["low", "LOW", "mid", "high", None, "", "x", "low", "mid", "high", "low", "mid"],
            "member": [True, False, None] * 4,
            "joined": [dt.date(y, 3, 1) for y in (1, 1900, 1969, 1970, 2019, 2020, 2020, 2021, 9999, 2020, 2020, 2020)],
            "seen": [
                *(dt.datetime(y, 1, 31, 22, 59, 59, 999_999) for y in (1000, 1969, 1970, 2019, 2020, 2021, 9000)),
                dt.datetime(2020, 1, 1),
                dt.datetime(2020, 1, 1, 0, 59, 59, 1),
                dt.datetime(2020, 1, 31, 23),
                dt.datetime(2020, 1, 15, 12, 30),
                None,
            ],
            "ill": ["no", "yes", "maybe", None, "", "yes", "no", "no", "yes", "no", "yes", "no"],
        },
        schema=people(1).schema,
    )
    return pl.concat([people(n), strange, strange])
