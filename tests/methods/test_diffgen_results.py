"""From noisy cells to released counts and records: sums, signs, spans and labels."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.drawing.counts import public_dice
from cantle.methods.diffgen.results import (
    COUNT,
    cell_results,
    draw_from_cells,
    generalise,
    generalised,
    grid_of,
    listed_cells,
)
from cantle.schema.domain import Attribute, Domain, Labels, Steps
from cantle.schema.taxonomy import Taxonomy
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.geometry.grid import Grid
from tests.effort import examples

TREE = Taxonomy.from_nested([{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}])
JOB = Attribute("job", Labels(type="string", labels=TREE.leaves), nullable=True, taxonomy=TREE)
AGE = Attribute("age", Steps(type="integer", first=18, step=1, grid=47), nullable=False)
KIND = Attribute("class", Labels(type="string", labels=("Y", "N")), nullable=False)
DOMAIN = Domain((JOB, AGE), KIND, ("class", "job", "age"))
GRID = Grid.top((5, 47)).refine(0, (2, 4)).refine(1, (22,))
"""Three groups of jobs (null is separate) and two of ages, so six cells, with two classes."""


def noisy(values: dict[int, int]) -> NoisyCells:
    cells = np.array(sorted(values), dtype=np.int64)
    counts = np.array([values[c] for c in cells.tolist()], dtype=np.int64)
    return NoisyCells(np.zeros_like(cells), cells, counts, np.array([10**9]), 10**9, np.array([1]))


NOISY = st.dictionaries(st.integers(0, 11), st.integers(1, 40), max_size=12).map(noisy)


@examples(24)
@given(NOISY, st.one_of(st.none(), st.integers(-20, 300)))
def test_counts_are_whole_non_negative_and_sum_to_the_total(found: NoisyCells, total: int | None) -> None:
    results = cell_results(DOMAIN, GRID, found, [], total, 2, public_dice(1))
    count = results.groups["count"]
    assert (count >= 0).all()
    if total is None:
        assert count.to_list() == found.value.tolist()
    elif len(found.cells):
        assert count.sum() == max(0, total)
        assert results.groups["estimate"].sum() == pytest.approx(max(0, total))
    assert len(results.records) == count.sum() == results.summary["records"]
    assert (results.summary["cells"], results.summary["listed"]) == (12, len(found.cells))
    assert listed_cells(DOMAIN, results.groups).tolist() == found.cells.tolist()


def test_projection_subtracts_the_same_from_every_cell() -> None:
    results = cell_results(DOMAIN, GRID, noisy({0: 1, 3: 9, 5: 4, 11: 30}), [], 20, 2, public_dice(1))
    assert results.groups["count"].to_list() == [0, 0, 0, 20]


def recount(frame: pl.DataFrame) -> dict[int, int]:
    """The number of these records in each cell, from their codes."""
    codes, classes = DOMAIN.encode(frame)
    cell = GRID.locate([codes[:, 0], codes[:, 1]])
    return dict(Counter((cell * 2 + classes).tolist()))


@examples(16)
@given(NOISY)
def test_drawn_records_have_the_counts_of_their_cells(found: NoisyCells) -> None:
    records = draw_from_cells(DOMAIN, GRID, found.cells, found.value, [], public_dice(3)).frame()
    assert records.columns == ["class", "job", "age"]
    assert recount(records) == dict(zip(found.cells.tolist(), found.value.tolist(), strict=True))


def test_drawn_records_are_spread_over_their_span_and_shuffled() -> None:
    records = draw_from_cells(DOMAIN, GRID, np.array([0, 3]), np.array([3000, 3000]), [], public_dice(3)).frame()
    young = records.filter(pl.col("class") == "Y")["age"].value_counts()
    assert sorted(young["age"]) == list(range(18, 40))
    assert young["count"].min() > 80
    assert records["class"].head(100).n_unique() == 2


@examples(16)
@given(NOISY)
def test_generalised_groups_agree_with_generalised_records(found: NoisyCells) -> None:
    """The labels of a release and of a generalised table agree, cell by cell."""
    results = cell_results(DOMAIN, GRID, found, [], None, 2, public_dice(5))
    released = generalised(DOMAIN, GRID, results.groups)
    assert released.columns == ["class", "job", "age", COUNT]
    counts = Counter({row[:3]: row[3] for row in released.iter_rows()})
    assert Counter(generalise(DOMAIN, GRID, results.records).iter_rows()) == counts


def test_labels_follow_the_taxonomy_and_the_grid() -> None:
    frame = pl.DataFrame(
        {"job": ["Lawyer", "Dancer", None, "Pilot"], "age": [39, 40, 64, 18], "class": ["Y", "N", "Y", "?"]}
    )
    out = generalise(DOMAIN, GRID, frame)
    assert out["job"].to_list()[:3] == ["Professional", "Artist", "null"]
    assert out["age"].to_list() == ["[18, 40)", "[40, 65)", "[40, 65)", "[18, 40)"]
    assert out["class"].to_list()[:3] == ["Y", "N", "Y"]


def test_the_grid_follows_from_the_cuts_of_a_release() -> None:
    results = cell_results(DOMAIN, GRID, noisy({0: 1}), [], None, 2, public_dice(5))
    same = grid_of(DOMAIN, results.structure["cuts"])
    assert [edge.tolist() for edge in same.edges] == [edge.tolist() for edge in GRID.edges]


def test_without_listed_cells_there_are_no_records() -> None:
    results = cell_results(DOMAIN, GRID, noisy({}), [], 50, 0, public_dice(5))
    assert (len(results.records), len(results.groups)) == (0, 0)
    assert len(generalised(DOMAIN, GRID, results.groups)) == 0
