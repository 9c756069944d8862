"""One-way tables of RPS with a lot of noise: many columns, few records, a small budget, skewed numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.counts import fit_values
from cantle.errors import VerifyError
from cantle.methods.rps.one_ways import cell_edges, estimated, expected_shares, one_way_tables, tables_from
from cantle.release.schemas import domain_of
from cantle.schema.domain import Attribute, Labels, Steps
from tests.effort import slow


def whole(name: str, high: int) -> dict[str, Any]:
    return {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": high, "required": True}}


@pytest.mark.parametrize("records", slow([200, 1_000, 2_000], 1_000, 2_000))
def test_300_binary_columns_are_no_worse_than_a_guess_without_data(records: int) -> None:
    dice = np.random.default_rng(0)
    truth = dice.random((records, 300)) < dice.uniform(0.2, 0.8, 300)
    names = [f"c{number}" for number in range(300)]
    fields: list[dict[str, Any]] = [
        {"name": name, "type": "boolean", "constraints": {"required": True}} for name in names
    ]
    frame = pl.DataFrame(dict(zip(names, truth.T, strict=True)))
    released = cantle.publish(frame, {"fields": fields}, epsilon=1, method="rps", insecure_seed=1).records
    error = np.abs(released.mean().to_numpy()[0] - truth.mean(axis=0)).mean()
    assert error <= 1.01 * np.abs(0.5 - truth.mean(axis=0)).mean()  # an odd number of records cannot be halved


def test_payments_in_23_columns_at_a_small_epsilon_are_plausible() -> None:
    dice = np.random.default_rng(0)
    columns: dict[str, Any] = {f"kind{number}": dice.integers(0, 5, 30_000) for number in range(11)}
    columns |= {
        f"pay{number}": np.minimum(dice.exponential(5_000, 30_000), 999_999).astype(int) for number in range(12)
    }
    fields = [whole(name, 4 if name.startswith("kind") else 999_999) for name in columns]
    frame = pl.DataFrame(columns)
    ratios = []
    for seed in (1, 2):
        released = cantle.publish(frame, {"fields": fields}, epsilon=0.1, method="rps", insecure_seed=seed).records
        ratios += [released[name].mean() / frame[name].mean() for name in columns if name.startswith("pay")]
    assert 0.9 < np.median(ratios) < 1.2
    assert np.mean(np.array(ratios) > 2) < 0.15


def test_fewer_records_or_a_smaller_budget_give_fewer_cells() -> None:
    """The number of cells depends on the data only through the noisy number of records."""
    frame = pl.DataFrame({"x": np.arange(20_000) % 1_000, "kind": np.arange(20_000) % 5})
    fields = [whole("x", 999), whole("kind", 4)]
    cells = []
    for records, epsilon in ((20_000, 1), (20_000, 0.1), (500, 0.1)):
        release = cantle.publish(frame[:records], {"fields": fields}, epsilon=epsilon, method="rps", insecure_seed=1)
        release.verify()
        names = release.frames["marginals"]["attribute"]
        cells.append(int((names == "x").sum()))
        assert (names == "kind").sum() == 5
    assert cells[0] > 2 * cells[1] > 2 * cells[2] >= 8


def test_tables_are_read_back_from_a_release() -> None:
    frame = pl.DataFrame({"x": [*range(99), None] * 20, "y": ["a", "b"] * 1_000})
    fields = [
        {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 98}},
        {"name": "y", "type": "string", "categories": ["a", "b"]},
    ]
    release = cantle.publish(frame, {"fields": fields}, epsilon="0.1", method="rps", insecure_seed=1)
    tables = tables_from(domain_of(release.manifest), release.frames["marginals"])
    assert tables is not None
    assert [edges[-1] for edges in tables.edges] == [100, 3]
    assert tables.edges[0].tolist()[-2:] == [99, 100]  # null has a separate cell
    assert [len(counts) for counts in tables.noisy] == [len(edges) - 1 for edges in tables.edges]
    assert len(release.sample(30, seed=1)) == 30
    moved = release.frames["marginals"].with_columns(code=pl.col("code") + 1)
    finer = release.frames["marginals"].with_columns(rate_num=pl.col("rate_num") * 2)
    for other, problem in ((moved, "do not cover"), (finer, "not what the receipt paid for")):
        with pytest.raises(VerifyError, match=problem):
            replace(release, frames=release.frames | {"marginals": other}).verify()


STEPS = Attribute("x", Steps(type="integer", first=0, step=1, grid=256), nullable=False)
WORDS = Attribute("w", Labels(type="string", labels=tuple("abcdef")), nullable=False)


def test_every_code_is_a_cell_where_the_number_of_records_is_unknown_or_large() -> None:
    for expected in (None, 1e9):
        assert len(cell_edges(STEPS, expected)) == 257
    assert len(cell_edges(WORDS, 0.0)) == 7  # categories are never merged
    negative = Attribute("x", Steps(type="integer", first=-1000, step=1, grid=2560), nullable=True, width=10)
    assert {0, 100, 101, 256, 257} <= set(cell_edges(negative, 1.0).tolist())  # cells around zero, and the cell of null


def test_without_noise_estimates_equal_the_counts() -> None:
    counts = np.concatenate([np.arange(256) + 1, [5, 0, 3, 7, 1, 4]])
    edges = [cell_edges(STEPS, None), cell_edges(WORDS, None)]
    tables, total = one_way_tables(edges, counts, 50, 1), float(counts[:256].sum())
    both = zip((STEPS, WORDS), tables.edges, tables.noisy, strict=True)
    numbers, words = (estimated(attribute, edge, noisy, tables.rate, total) for attribute, edge, noisy in both)
    assert numbers == pytest.approx(counts[:256], rel=0.02, abs=2)
    assert expected_shares(counts[256:].astype(float), 1e-3, 20.0) * 20 == pytest.approx(counts[256:], abs=0.05)
    assert words.sum() == pytest.approx(counts[:256].sum())


def test_tails_stay_empty_under_noise() -> None:
    dice = np.random.default_rng(5)
    edges, tail = cell_edges(STEPS, 40.0), []
    truth = np.add.reduceat(np.append(3_000.0, np.zeros(255)), edges[:-1])
    for _ in range(100):
        noisy = np.rint(truth + dice.laplace(0, 75, len(truth)))
        counts = estimated(STEPS, edges, noisy, 1 / 75, 3_000.0)
        assert counts.sum() == pytest.approx(3_000)
        tail.append(counts[edges[:-1] >= 128].sum() > 0)
    assert np.mean(tail) < 0.05


def test_a_clear_second_peak_is_kept() -> None:
    counts = np.zeros(256)
    counts[:20], counts[200:220] = 100, 40
    edges = cell_edges(STEPS, 100.0)
    estimate = estimated(STEPS, edges, np.add.reduceat(counts, edges[:-1]), 1 / 25, 2_800.0)
    assert estimate[edges[:-1] >= 180].sum() == pytest.approx(800, rel=0.2)


def test_shares_from_noise_are_nearly_equal_and_shares_from_counts_follow_them() -> None:
    dice = np.random.default_rng(6)
    for cells in (2, 5, 40):
        noise = dice.laplace(0, 1e5, (50, cells))
        assert max(np.abs(expected_shares(row, 1e5, 1_000.0) - 1 / cells).max() for row in noise) < 0.05
    for total in (0.0, -5.0):
        assert expected_shares(np.array([3.0, 1.0]), 1.0, total).tolist() == [0.5, 0.5]
    assert expected_shares(np.array([7.0]), 1.0, 7.0).tolist() == [1.0]
    far = expected_shares(np.array([-1e9, 1e9, 0.0]), 1.0, 100.0)
    assert far == pytest.approx([0, 1, 0], abs=0.05)


def test_values_between_very_wide_bounds_are_not_spread_over_them() -> None:
    """Bounds of a billion for values of some thousands, as people declare them who know little."""
    dice = np.random.default_rng(3)
    frame = pl.DataFrame({name: np.minimum(1e9, np.exp(dice.normal(8, 1.5, 20_000))).astype(int) for name in "abc"})
    bounds = {"type": "integer", "constraints": {"minimum": 0, "maximum": 10**9}}
    for names in ("a", "ab", "abc"):
        schema = {"fields": [{"name": name, **bounds} for name in names]}
        release = cantle.publish(frame.select(*names), schema, epsilon=1, method="rps", insecure_seed=1)
        release.verify()
        for name in names:
            below = (pl.DataFrame(release.records)[name] < 10_000).mean()
            assert below == pytest.approx((frame[name] < 10_000).mean(), abs=0.1)


def test_a_region_that_contradicts_a_table_does_not_take_all_of_its_mass() -> None:
    table = np.array([6_000.0, 3_000.0, 500.0, 500.0])
    fitted = fit_values(table, np.array([0, 2]), np.array([2, 4]), np.array([9_999.0, 1.0]))
    assert fitted[0] / fitted[1] == pytest.approx(2.0)
    assert fitted.min() > 1
