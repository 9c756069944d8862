"""The table of charges in the statement: equal questions share a row, and rounded figures still add up."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

from cantle.release.manifest import PathCharges, Receipt
from cantle.release.spending import receipt_table, rounded
from cantle.trusted.core.budget import NANO, Charge, Unit


def path(number: int, *charges: tuple[str, int]) -> PathCharges:
    listed = tuple(Charge(why, "measure", nano, 1, 0) for why, nano in charges)
    return PathCharges(path=number, epsilon_nano=sum(nano for _, nano in charges), charges=listed)


def rows(*paths: PathCharges) -> list[tuple[str, str]]:
    table = receipt_table(Receipt(unit=Unit(), epsilon_nano=10**9, paths=paths))
    return re.findall(r"^\| (.+) \| (.+) \|$", table, re.MULTILINE)[1:]


def test_forty_tables_take_one_row_with_their_sum() -> None:
    tables = [
        charge for k in range(1, 41) for charge in ((f"choice of table {k}", 1_111_111), (f"table {k}", 9_000_000))
    ]
    tables[-1] = ("table 40", 9_000_001)  # the last question gets what rounding leaves
    assert rows(path(0, ("number of records", 20_000_000), *tables)) == [
        ("number of records", "0.02"),
        ("choosing tables of several columns (40 times 0.00111)", "0.044"),
        ("counts of tables of several columns (40 times about 0.009)", "0.36"),
        ("**all questions together**", "**0.424**"),
    ]


def test_rows_add_up_to_the_last_row_if_all_paths_have_the_same_charges() -> None:
    *questions, (_, total) = rows(path(0, ("split", 3), ("split", 5), ("leaf", 7), ("a question without a name", 11)))
    assert sum(Fraction(epsilon) for _, epsilon in questions) == Fraction(total.strip("*")) == Fraction(26, 10**9)


def test_a_row_has_the_largest_sum_on_any_path() -> None:
    assert rows(path(0, ("split", 6), ("split", 6), ("leaf", 1)), path(1, ("split", 7), ("leaf", 2))) == [
        ("choosing where to cut (2 times 0.000000006)", "0.000000012"),
        ("counts of regions", "0.000000002"),
        ("**all questions together**", "**0.000000013**"),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_rounded_figures_add_up_to_the_rounded_total(seed: int) -> None:
    dice = np.random.default_rng(seed)
    parts = [int(10 ** dice.uniform(0, 9)) for _ in range(dice.integers(1, 40))]
    shown, total = rounded(parts, sum(parts))
    assert sum(map(Fraction, shown)) == Fraction(total)
    step = Fraction(10 ** max(0, len(str(min(parts))) - 2), NANO)
    assert abs(Fraction(total) - Fraction(sum(parts), NANO)) <= step / 2
    assert all(abs(Fraction(one) - Fraction(part, NANO)) <= step for one, part in zip(shown, parts, strict=True))
