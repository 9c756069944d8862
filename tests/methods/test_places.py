"""Places in mosaic: cells at three levels, the estimate from their counts, and whole releases with places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.drawing.column_cells import Column
from cantle.errors import ParameterError
from cantle.methods.mosaic.model.place_cells import BLOCKS, Level, estimated, first_edges, next_edges
from cantle.methods.own_error.table_workload import Column as Asked
from cantle.methods.own_error.table_workload import _groups, _Ordered, _sibling
from cantle.release.maps import MOST, geojson, rectangles
from cantle.trusted.geometry.cross_tables import MOST_CELLS
from cantle.trusted.geometry.grid import are_edges

HOME: dict[str, Any] = {"name": "home", "type": "geopoint", "bounds": [[40, -74], [41, -73]], "step": 0.001}
SEED = 7


def column(bits: int = 16, *, null: bool = True) -> Column:
    return Column("home", 1 << bits, null, place=True)


def level(edges: Any, dice: np.random.Generator, heavy: float = 50) -> Level:
    return Level(edges, np.rint(dice.gamma(0.2, heavy, len(edges) - 1) + dice.normal(0, 2, len(edges) - 1)), 4.0)


# ---- cells ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 52), st.floats(0, 1e9), st.booleans())
def test_the_first_level_has_aligned_blocks(bits: int, records: float, null: bool) -> None:
    edges = first_edges(column(bits, null=null), records)
    assert are_edges(edges, (1 << bits) + null)
    assert len(edges) - 1 - null <= 1 << 14
    assert len({*np.diff(edges[: len(edges) - null]).tolist()}) == 1


@given(st.integers(1, 26), st.floats(0.01, 1e6), st.integers(0, 2**32))
def test_the_next_level_halves_cells_and_keeps_the_cap(bits: int, rate: float, seed: int) -> None:
    """A table has at most 65,536 cells per column, however large the counts; otherwise it were refused after the
    first levels were paid for."""
    before = level(first_edges(column(2 * bits), 1e6), np.random.default_rng(seed), 1e9)
    edges = next_edges(column(2 * bits), before, rate, 2.5)
    assert are_edges(edges, (1 << 2 * bits) + 1)
    assert len(edges) - 1 <= MOST_CELLS - 1
    assert set(before.edges.tolist()) <= set(edges.tolist())
    size = np.diff(edges[:-1])
    assert (size & (size - 1) == 0).all()
    assert (edges[:-2] % size == 0).all()


@given(st.integers(0, 2**32), st.booleans())
def test_the_estimate_agrees_with_itself(seed: int, null: bool) -> None:
    dice, one = np.random.default_rng(seed), column(12, null=null)
    levels = [level(first_edges(one, 1e5), dice)]
    for rate in (0.1, 1.0):
        levels.append(level(next_edges(one, levels[-1], rate, 2.5), dice))
    empty = dice.random(len(levels[-1].counts)) < 0.2
    place = estimated(one, levels, empty)
    assert are_edges(place.blocks, one.codes)
    assert len(place.blocks) - 1 <= BLOCKS
    assert set(place.blocks.tolist()) <= set(place.edges.tolist())
    assert (place.masses >= 0).all()
    assert not place.masses[empty].any()
    assert place.masses.sum() == pytest.approx(1)
    block = dice.integers(0, len(place.blocks) - 1, 500).astype(np.uint8)
    codes = place.draw(block, dice)
    assert (np.searchsorted(place.blocks, codes, side="right") - 1 == block).all()
    drawn_in_empty = np.isin(np.searchsorted(place.edges, codes, side="right") - 1, np.flatnonzero(empty))
    assert not drawn_in_empty[place.block_masses[block] > 0].any()


def test_without_noise_the_estimate_is_the_counts() -> None:
    dice, one = np.random.default_rng(1), column(8, null=False)
    finest = dice.integers(0, 50, 256).astype(float)
    edges = [np.arange(0, 257, width) for width in (16, 4, 1)]
    levels = [Level(edge, np.add.reduceat(finest, edge[:-1]), 1.0) for edge in edges]
    assert estimated(one, levels, np.zeros(256, bool)).masses == pytest.approx(finest / finest.sum())


# ---- a release's own error --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_questions_about_places_are_blocks_of_a_map(seed: int, bits: int) -> None:
    codes = 1 << 2 * bits
    released = np.append((np.random.default_rng(seed).beta(0.3, 2, 500) * codes).astype(np.int64), codes)
    edges = _groups(Asked(codes + 1, False, codes, place=True), _Ordered(codes + 1, released))
    assert are_edges(edges, codes + 1)
    assert len(edges) - 1 == min(16, codes + 1)
    size, other = np.diff(edges[:-1]), _sibling(edges)
    assert (edges[:-2] % size == 0).all()
    for one, two in enumerate(other.tolist()):
        assert other[two] == one
        if one < two:
            assert edges[two] == edges[one + 1]
            assert edges[one] % (edges[two + 1] - edges[one]) == 0


# ---- releases ---------------------------------------------------------------------------------------------------


def points(n: int, seed: int = 1) -> pl.DataFrame:
    """Three towns, the kind of a record depends on the town; one record in fifty has no place."""
    dice = np.random.default_rng(seed)
    town = dice.integers(0, 3, n)
    lat = np.array([40.2, 40.5, 40.9])[town] + dice.normal(0, 0.02, n)
    lon = np.array([-73.3, -73.8, -73.1])[town] + dice.normal(0, 0.02, n)
    frame = pl.DataFrame({"lat": lat, "lon": lon, "age": dice.integers(0, 100, n), "kind": np.array(list("abc"))[town]})
    return frame.with_columns(pl.when(pl.Series(dice.random(n) > 0.02)).then(pl.col("lat")).alias("lat"))


TWO = {**HOME, "columns": ["lat", "lon"]}
AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
KIND = {"name": "kind", "type": "string", "categories": ["a", "b", "c"]}


def publish(frame: pl.DataFrame, fields: list[dict[str, Any]], **more: Any) -> cantle.Release:
    return cantle.publish(frame, {"fields": fields, **more.pop("schema", {})}, epsilon=1, insecure_seed=SEED, **more)


@pytest.mark.parametrize("fields", [[TWO], [TWO, AGE], [TWO, AGE, KIND], [TWO, AGE, {**KIND, "role": "target"}]])
def test_a_release_of_places(fields: list[dict[str, Any]], tmp_path: Path) -> None:
    """The charges add up to epsilon, records lie where the data does, and the saved release can be drawn again."""
    frame = points(20_000)
    release = publish(frame, fields)
    assert sum(charge.epsilon_nano for charge in release.manifest.receipt.charges()) == 10**9
    records = release.records
    assert records.columns == [name for one in fields for name in one.get("columns", [one["name"]])]
    near = ((records["lat"] - 40.5).abs() < 0.1) & ((records["lon"] + 73.8).abs() < 0.1)
    true = ((frame["lat"] - 40.5).abs() < 0.1) & ((frame["lon"] + 73.8).abs() < 0.1)
    assert near.sum() == pytest.approx(true.sum(), rel=0.05)
    assert records["lat"].null_count() == records["lon"].null_count() == pytest.approx(400, abs=100)
    if len(fields) > 2:
        in_town = records.filter(near)["kind"]
        assert (in_town == "b").mean() > 0.9
    release.save(tmp_path / "r")
    loaded = cantle.Release.load(tmp_path / "r")
    loaded.verify()
    assert len(loaded.sample(100)) == 100
    assert loaded.count("home within (40.4, -73.9, 40.6, -73.7)").value == pytest.approx(near.sum(), rel=0.05)


def test_charges_add_up_with_persons_and_two_places() -> None:
    """A place beside a target, persons and own accuracy: every share is subtracted once."""
    frame = points(20_000).with_columns(pl.Series("who", np.arange(20_000) // 2), y=pl.col("lat") + 0.01, x="lon")
    other = {**TWO, "name": "work", "columns": ["y", "x"], "share": 0.1}
    unit = {"unit": {"person": "who", "max_records": 2}}
    release = publish(frame, [TWO, other, AGE, {**KIND, "role": "target"}], schema=unit)
    charges = release.manifest.receipt.charges()
    assert sum(charge.epsilon_nano for charge in charges) == 10**9
    places = [charge.epsilon_nano for charge in charges if charge.why.startswith("place")]
    assert len(places) == 6
    assert sum(places[:3]) == pytest.approx(0.15 * 10**9, rel=1e-6)
    assert sum(places[3:]) == pytest.approx(0.1 * 10**9, rel=1e-6)


@pytest.mark.parametrize("layout", ["default", "array", "object"])
def test_texts_and_columns_are_counted_alike(layout: str) -> None:
    """One column of texts gives the records that two columns give, in its own form; so does a file on disk."""
    frame = points(2_000)
    scale = cantle.Schema.from_dict({"fields": [{**HOME, "format": layout}]}).domain().attributes[0]  # type: ignore[attr-defined]
    two = cantle.Schema.from_dict({"fields": [TWO]}).domain().attributes[0]  # type: ignore[attr-defined]
    text = scale.values(two.encode(two.given(frame)))
    one = publish(pl.DataFrame({"home": text, "age": frame["age"]}), [{**HOME, "format": layout}, AGE])
    both = publish(frame.drop("kind"), [TWO, AGE])
    written = scale.values(two.encode(two.given(both.records)))
    assert one.records["home"].to_list() == written.to_list()


def test_every_engine_gives_the_same_records(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    frame = points(3_000)
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    inside = publish(frame, [TWO, AGE, KIND]).records
    for name in ("a.csv", "a.parquet"):
        for engine in ("memory", "duckdb"):
            other = cantle.publish(
                tmp_path / name, {"fields": [TWO, AGE, KIND]}, epsilon=1, insecure_seed=SEED, engine=engine
            )
            assert other.records.equals(inside)


LAND = ["home within (40.1, -74, 40.6, -73) or home is null", "not home within 8 km of (40.5, -73.8)"]


@pytest.mark.parametrize("rules", [LAND[:1], LAND, [*LAND, "kind == 'a' -> home.lat < 40.3 or home is null"]])
@pytest.mark.parametrize("method", ["mosaic", "rps"])
def test_no_record_lies_outside_of_an_area_of_a_rule(rules: list[str], method: str) -> None:
    release = publish(points(3_000), [TWO, AGE, KIND], schema={"rules": rules}, method=method)
    assert len(release.records) > 2_000
    schema = release.schema
    broken = schema.as_declared().rules.breaking(schema.as_declared().coder(release.records))  # type: ignore[attr-defined]
    assert not broken.any()


def test_diffgen_refuses_places() -> None:
    with pytest.raises(cantle.errors.SchemaError, match="diffgen cuts numbers, a place is two: use mosaic or rps"):
        publish(points(100), [TWO], method="diffgen")


# ---- maps -------------------------------------------------------------------------------------------------------


def test_a_map_covers_all_records_once_and_is_no_finer_than_its_noise(tmp_path: Path) -> None:
    release = publish(points(20_000), [TWO, AGE])
    shown = rectangles(release)
    there = release.records["lat"].drop_nulls().len()
    assert sum(one.count for one in shown) == there
    assert sum(one.square_km for one in shown) == pytest.approx(111.3 * 111.3 * np.cos(np.radians(40.5)), rel=0.01)
    assert 200 < len(shown) <= MOST
    assert any(one.is_sure for one in shown)
    assert any(not one.is_sure for one in shown)
    features = json.loads(geojson(release, "home"))["features"]
    assert len(features) == len(shown)
    for one in features:
        (ring,) = one["geometry"]["coordinates"]
        assert ring[0] == ring[-1]
        assert one["properties"]["low"] <= one["properties"]["count"] <= one["properties"]["high"]
    release.save(tmp_path / "r")
    assert "<title>" in cantle.Release.load(tmp_path / "r").report()


def test_a_map_by_rps_is_no_finer_than_its_leaves() -> None:
    release = publish(points(20_000), [TWO], method="rps")
    shown = rectangles(release)
    assert 10 < len(shown) <= len(release.groups)
    assert sum(one.count for one in shown) == release.records["lat"].drop_nulls().len()


def test_a_release_without_a_place_has_no_map() -> None:
    with pytest.raises(ParameterError, match="this release has no place"):
        rectangles(publish(points(500), [AGE]))


@pytest.mark.parametrize("method", ["mosaic", "rps"])
def test_intervals_of_areas_hold_the_truth(method: str) -> None:
    """Boxes and circles that cut cells: their intervals allow for the records of a cell on either side."""
    frame, dice = points(20_000).drop_nulls(), np.random.default_rng(1)
    release, held = publish(frame, [TWO, AGE, KIND], method=method), list[bool]()
    for lat, lon in frame.select("lat", "lon").sample(40, seed=1).iter_rows():
        high, wide = dice.uniform(0.01, 0.3, 2)
        box = lat - high / 2, lon - wide / 2, lat + high / 2, lon + wide / 2
        low_lat, low_lon, high_lat, high_lon = (float(f"{one:.4f}") for one in box)
        inside = frame["lat"].is_between(low_lat, high_lat) & frame["lon"].is_between(low_lon, high_lon)
        answer = release.count(f"home within ({low_lat}, {low_lon}, {high_lat}, {high_lon})")
        held.append(answer.low <= inside.sum() <= answer.high)
    assert np.mean(held) >= 0.9
