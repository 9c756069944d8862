"""Pictures of partitions: a map of two columns of numbers, the icicle of other trees, and the items of diffpart."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.release.report.regions import Area
from tests.framework.examples import EXAMPLES, TOWNS, classes, towns
from tests.release.people import SCHEMA, people

pytest.importorskip("jinja2", reason="jinja2 is not installed (extra report)")


def rectangles(page: str) -> list[dict[str, float]]:
    """The cells of the map of a page."""
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="cell heat"', page)
    return [dict(zip("xywh", map(float, one), strict=True)) for one in found]


def test_two_columns_of_numbers_are_a_map_whose_cells_fill_it() -> None:
    release = cantle.publish(towns(4000), TOWNS, epsilon=1, method=classes()["QuadTree"](), insecure_seed=1)
    page = release.report()
    assert 'class="chart map"' in page
    assert 'class="chart wide icicle"' not in page
    cells = rectangles(page)
    assert len(cells) == release.manifest.summary["leaves"]
    assert sum(one["w"] * one["h"] for one in cells) == pytest.approx(620**2, rel=0.01)
    top = max(cells, key=lambda one: one["y"] + one["h"])
    assert top["y"] + top["h"] == pytest.approx(628, abs=1)
    assert "lat [51" in page


def test_rps_of_two_columns_has_a_map_too_and_other_trees_an_icicle() -> None:
    assert 'class="chart map"' in cantle.publish(towns(2000), TOWNS, epsilon=1, method="rps").report()
    page = cantle.publish(people(), SCHEMA, epsilon=1, method="rps").report()
    assert 'class="chart map"' not in page
    assert 'class="chart wide icicle"' in page
    one = EXAMPLES[2]
    assert "icicle" in cantle.publish(one.data, one.schema, epsilon=1, method=classes()["Places"]()).report()


def test_of_many_regions_the_fullest_are_drawn_apart() -> None:
    """Node 0 has the children 1 and 2, node 1 the children 3 to 5, node 2 the children 6 and 7."""
    first, many = np.array([1, 3, 6, 0, 0, 0, 0, 0]), np.array([2, 3, 2, 0, 0, 0, 0, 0])
    count, nothing = np.array([10, 9, 1, 3, 3, 3, 1, 0]), np.zeros((8, 2), np.int64)
    area = Area(nothing, nothing, count, first, many)
    assert area.drawn(1) == [0]
    assert area.drawn(3) == [2, 3, 4, 5]
    assert area.drawn(100) == [3, 4, 5, 6, 7]


def sets(**more: Any) -> cantle.Release:
    dice = np.random.default_rng(1)
    items = [sorted(set(np.minimum(dice.exponential(8, size), 39).astype(int).tolist())) for size in [2, 3] * 1500]
    frame, schema = pl.DataFrame({"items": items}), {"kind": "sets", "items": {"minimum": 0, "maximum": 39}}
    return cantle.publish(frame, schema, epsilon=2, insecure_seed=1, **more)


def test_diffpart_shows_the_tree_of_items() -> None:
    release = sets(method="diffpart")
    page = release.report()
    assert "Tree of items" in page
    often = int(release.records["items"].list.len().sum()) if hasattr(release.records, "list") else None
    labels = re.findall(r'data-label="([^"]+)"', page)
    assert {"all items", "0 … 9", "30 … 39", "0"} <= set(labels)
    assert often is None or f"all items: {often:,}" in page
    assert "Tree of items" not in sets(method="baskets").report()
