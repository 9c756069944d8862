"""Pairs of columns that are measured at nested groups: what counts follow from them, and releases made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.counts import Floats
from cantle.drawing.smooth import project_runs
from cantle.methods.mosaic.model import nested
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.methods.mosaic.model.table_sets import finest

VALUES = 200
PAIR = Groupings(np.ones(64), np.ones(63)), Groupings(np.ones(64), np.ones(63))
STEPS = [(4, 4), (16, 16), (64, 64)]


def measured(exact: Floats, sd: float) -> list[NoisyTable]:
    """Noisy tables of a 64 x 64 table at all steps."""
    dice, whole = np.random.default_rng(1), NoisyTable((0, 1), (64, 64), exact, 0.0)
    tables = []
    for groups in STEPS:
        counts, _ = whole.onto((0, 1), groups, PAIR)
        tables.append(NoisyTable((0, 1), groups, counts + dice.normal(0, sd, counts.shape), max(sd**2, 1e-6)))
    return tables


def line() -> Floats:
    """1,000 records in each cell of the diagonal."""
    return np.diag(np.full(64, 1000.0))


def test_fine_counts_agree_with_the_total_and_both_columns() -> None:
    exact = line()
    made = nested.combined(measured(exact, 30.0), PAIR, exact.sum(), (exact.sum(axis=1), exact.sum(axis=0)))
    assert made.settled
    assert made.groups == (64, 64)
    assert made.counts.min() >= 0
    assert made.counts.sum() == pytest.approx(exact.sum())
    assert made.counts.sum(axis=0) == pytest.approx(exact.sum(axis=0), rel=1e-3)


def test_empty_cells_far_from_the_line_stay_empty() -> None:
    """The positive noise of 4,032 empty cells would add up to 76 % of the records."""
    exact = line()
    made = nested.combined(measured(exact, 30.0), PAIR, exact.sum(), (exact.sum(axis=1), exact.sum(axis=0)))
    assert np.abs(made.counts - exact).sum() / 2 < 0.02 * exact.sum()


def test_without_noise_the_table_is_the_exact_one() -> None:
    exact = np.random.default_rng(2).integers(0, 50, (64, 64)).astype(np.float64)
    made = nested.combined(measured(exact, 0.0), PAIR, exact.sum(), (exact.sum(axis=1), exact.sum(axis=0)))
    assert made.counts == pytest.approx(exact, abs=0.01)


def test_a_pair_of_noise_alone_stays_an_ordinary_table_of_few_groups() -> None:
    exact = np.full((64, 64), 10.0)
    made = nested.combined(measured(exact, 40.0), PAIR, exact.sum(), (exact.sum(axis=1), exact.sum(axis=0)))
    assert not made.settled
    assert made.groups == (16, 16)
    # 40 / root(2): the table of 16 x 16 and the sums of the finest one count, by their variances
    assert made.variance == pytest.approx(1 / (1 / 40**2 + 1 / (16 * 40**2)))


@pytest.mark.parametrize(("few", "wanted"), [((16, 16), [(16, 16), (64, 64)]), ((4, 4), [(16, 16), (64, 64)])])
def test_steps_between_begin_beyond_what_is_known(few: tuple[int, int], wanted: list[tuple[int, int]]) -> None:
    assert nested.steps_between(few, (64, 64), PAIR) == [step for step in wanted if step != few]
    assert nested.steps_below((64, 64), PAIR) == STEPS


def test_lines_stand_out_and_smooth_pairs_do_not() -> None:
    places = (np.arange(16) + 0.5) / 16
    smooth = 300 * (1 + 0.8 * np.outer(places - 0.5, places - 0.5))
    for counts, wanted in ((np.diag(np.full(16, 1000.0)), True), (smooth, False)):
        table = NoisyTable((0, 1), (16, 16), counts, 1.0)
        pair = Groupings(np.ones(16), np.ones(15)), Groupings(np.ones(16), np.ones(15))
        sides = counts.sum(axis=1), counts.sum(axis=0)
        assert nested.stands_out(table, pair, float(counts.sum()), sides) is wanted


def test_each_run_is_projected_by_itself() -> None:
    dice = np.random.default_rng(3)
    many = dice.integers(1, 20, 50)
    starts, values, totals = np.cumsum(many) - many, dice.normal(0, 5, many.sum()), dice.uniform(0, 10, 50)
    totals[7] = 0.0
    made = project_runs(values, starts, totals)
    for run, size, total in zip(np.split(made, starts[1:]), many, totals, strict=True):
        assert run.min() >= 0
        assert run.sum() == pytest.approx(total)
        assert len(run) == size
    run = slice(starts[3], starts[3] + many[3])
    moved = made[run] - values[run]
    assert np.ptp(moved[made[run] > 0]) < 1e-9  # all that stay above 0 are shifted by one number


def test_few_cells_or_a_small_cap_are_measured_as_before() -> None:
    assert finest((0, 1), [100, 100], 5_000) == (71, 70)
    assert finest((0, 1), [100, 32], 5_000) is None
    assert finest((0, 1), [100, 100], 1_023) is None
    assert finest((0, 1, 2), [100, 100, 100], 5_000) is None


# ---- releases -------------------------------------------------------------------------------------------------


def near_pairs(records: int) -> pl.DataFrame:
    """Two numbers that differ by about 3, and a ward."""
    dice = np.random.default_rng(4)
    x = dice.integers(0, VALUES, records)
    y = np.clip(x + np.rint(dice.normal(0, 3, records)), 0, VALUES - 1).astype(int)
    return pl.DataFrame({"x": x, "y": y, "ward": dice.integers(0, 3, records)})


def schema(columns: Sequence[str]) -> dict[str, object]:
    number = {"type": "integer", "constraints": {"minimum": 0, "maximum": VALUES - 1, "required": True}}
    ward = {"type": "integer", "categories": [0, 1, 2], "constraints": {"required": True}}
    return {"fields": [{"name": name, **(ward if name == "ward" else number)} for name in columns]}


@pytest.mark.parametrize("columns", [("x", "y"), ("x", "y", "ward")], ids=str)
def test_two_near_numbers_stay_near_in_the_release(columns: tuple[str, ...], tmp_path: Path) -> None:
    frame = near_pairs(60_000).select(columns)
    release = cantle.publish(frame, schema(columns), epsilon=10, method="mosaic", insecure_seed=1)
    assert any(charge.why.endswith(", fine") for charge in release.manifest.receipt.charges())
    spread = float((release.records["y"] - release.records["x"]).to_numpy().std())
    assert spread == pytest.approx(3.0, rel=0.35)  # in 16 x 16 groups it is at least 5
    release.save(tmp_path / "out")
    cantle.Release.load(tmp_path / "out").verify()
    again = cantle.Release.load(tmp_path / "out").sample(5_000, seed=2)
    assert float((again["y"] - again["x"]).to_numpy().std()) == pytest.approx(3.0, rel=0.5)
