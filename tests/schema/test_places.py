"""Places: codes of points, areas of the map, their declaration, and questions about them."""

# ruff: noqa: ARG005

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data.draft_schema import draft
from cantle.errors import ParameterError, SchemaError
from cantle.schema import Schema
from cantle.schema.code_sets import holds
from cantle.schema.places import EARTH, Plane
from cantle.schema.questions import parse

PLACE: dict[str, Any] = {"name": "home", "type": "geopoint", "bounds": [[40, -74], [41, -73]], "step": 0.01}
AXES = st.tuples(st.integers(1, 700), st.integers(1, 700))


def plane(steps: tuple[int, int], layout: str = "default", columns: tuple[str, ...] = ()) -> Plane:
    return Plane.of([(Fraction(0), Fraction(one, 10)) for one in steps], Fraction(1, 10), (), layout, columns)


def schema(**more: Any) -> Schema:
    return Schema.from_dict({"fields": [{**PLACE, **more}]})


# ---- codes ------------------------------------------------------------------------------------------------------


@given(AXES, st.sampled_from(["default", "array", "object"]), st.integers(0, 2**32))
def test_values_and_codes_are_one_to_one(steps: tuple[int, int], layout: str, seed: int) -> None:
    one, two = plane(steps, layout), plane(steps, columns=("a", "b"))
    codes = np.append(np.random.default_rng(seed).integers(0, one.grid, 20), one.grid)
    known = np.where(codes == one.grid, -1, codes)
    assert one.locate(one.values(codes)).tolist() == known.tolist()
    assert two.locate(pl.DataFrame(two.written("home", codes)).to_struct()).tolist() == known.tolist()


@given(AXES, st.integers(0, 2**32))
def test_whole_steps_come_back_as_they_were(steps: tuple[int, int], seed: int) -> None:
    dice = np.random.default_rng(seed)
    given = pl.DataFrame({name: dice.integers(0, one + 1, 20) / 10 for name, one in zip("ab", steps, strict=True)})
    scale = plane(steps, columns=("a", "b"))
    assert pl.DataFrame(scale.written("home", scale.locate(given.to_struct()))).equals(given)


def test_coordinates_may_have_a_decimal_comma() -> None:
    scale = schema(columns=["y", "x"], decimalChar=",").domain().attributes[0]  # type: ignore[attr-defined]
    german = pl.DataFrame({"y": ["40,5", "40.5", "x"], "x": ["-73,25", "-73,25", "-73,25"]})
    plain = pl.DataFrame({"y": [40.5, None, None], "x": [-73.25] * 3})
    codes = [scale.encode(scale.given(frame)) for frame in (german, plain)]
    assert codes[0].tolist() == codes[1].tolist()
    with pytest.raises(SchemaError, match="`decimalChar` is for places in two `columns`"):
        schema(decimalChar=",")


@given(AXES)
def test_every_aligned_span_is_a_rectangle(steps: tuple[int, int]) -> None:
    scale = plane(steps)
    row, column = scale.bins(np.arange(scale.grid))
    for level in range(0, scale.bits + 1, 3):
        first = np.arange(0, scale.grid, 1 << level)
        low, high, west, east = scale.boxes(first, first + (1 << level))
        rows, columns = (one.reshape(-1, 1 << level) for one in (row, column))
        assert (rows.min(1) == low).all()
        assert (rows.max(1) == high - 1).all()
        assert (columns.min(1) == west).all()
        assert (columns.max(1) == east - 1).all()
        assert ((high - low) * (east - west) == 1 << level).all()


def test_a_point_outside_is_moved_to_the_edge_and_one_without_a_coordinate_is_missing() -> None:
    scale = schema(columns=["y", "x"]).domain().attributes[0]  # type: ignore[attr-defined]
    frame = pl.DataFrame({"y": [99.0, 40.5, None, 40.5, 40.2], "x": [0.0, None, -73.5, -73.5, -73.97]})
    fine = scale.encode(scale.given(frame))
    assert [one.to_list() for one in scale.written(fine)] == [
        [41.0, None, None, 40.5, 40.2],
        [-73.0, None, None, -73.5, -73.97],
    ]


@pytest.mark.parametrize(
    ("layout", "read", "not_read"),
    [
        ("default", ["-73.5, 40.5", " -73.5,40.5 ", '"-73.5","40.5"'], ["-73.5", "[-73.5, 40.5]", "", "-73.5; 40.5"]),
        ("array", ["[-73.5, 40.5]", "[-73.5,40.5]"], ["-73.5, 40.5", "[-73.5]", "[-73.5, 40.5, 3]"]),
        ("object", ['{"lon": -73.5, "lat": 40.5}', '{"lat": 40.5,"lon":"-73.5"}'], ['{"lon": -73.5}', "-73.5, 40.5"]),
    ],
)
def test_texts_of_each_format(layout: str, read: list[str], not_read: list[str]) -> None:
    scale = schema(format=layout).domain().attributes[0].scale  # type: ignore[attr-defined]
    codes = scale.locate(pl.Series([*read, *not_read]))
    assert set(codes[: len(read)].tolist()) == {int(codes[0])} - {-1}
    assert (codes[len(read) :] == -1).all()


# ---- areas ------------------------------------------------------------------------------------------------------


@given(AXES, st.tuples(*[st.integers(-5, 75)] * 4))
def test_a_box_holds_what_a_comparison_of_coordinates_holds(steps: tuple[int, int], ends: Any) -> None:
    scale = plane(steps)
    (low, high), (west, east) = sorted(ends[:2]), sorted(ends[2:])
    area = scale.corners((Fraction(low), Fraction(west)), (Fraction(high), Fraction(east)))
    codes = np.arange(scale.grid)
    lat, lon = (one.to_numpy() for one in scale.coordinates(codes))
    inside = (lat >= low) & (lat <= high) & (lon >= west) & (lon <= east)
    assert (area.holds(codes) == inside).all()
    assert (area.complement().holds(codes) != inside).all()
    for level in range(0, scale.bits + 1, 4):
        first = np.arange(0, scale.grid, 1 << level)
        assert np.allclose(area.share(first, first + (1 << level)), inside.reshape(-1, 1 << level).mean(1))


@given(AXES, st.floats(0, 70), st.floats(0, 70), st.floats(1000, 9e6))
def test_a_circle_holds_what_the_distance_says(steps: tuple[int, int], lat: float, lon: float, metres: float) -> None:
    scale = plane(steps)
    area, codes = scale.circle((lat, lon), metres), np.arange(scale.grid)
    y, x = (np.radians(one.to_numpy()) for one in scale.coordinates(codes))
    half = np.sin((y - np.radians(lat)) / 2) ** 2
    half += np.cos(y) * np.cos(np.radians(lat)) * np.sin((x - np.radians(lon)) / 2) ** 2
    away = 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    clear = abs(away - metres) > 1e-3  # on the line itself, roundings decide
    assert (area.holds(codes) == (away <= metres))[clear].all()
    for level in range(0, scale.bits + 1, 4):
        first, inside = np.arange(0, scale.grid, 1 << level), area.holds(codes).reshape(-1, 1 << level)
        share = area.share(first, first + (1 << level))
        assert ((share == 1) <= inside.all(1)).all()
        assert ((share == 0) <= ~inside.any(1)).all()


def test_a_circle_of_too_many_rows_is_refused() -> None:
    with pytest.raises(ParameterError, match="too large"):
        parse("home within 9000 km of (0, 0)", schema(bounds=[[-60, 0], [60, 1]], step=0.00001).vocabulary())


QUESTIONS: dict[str, Any] = {
    "home within (40.2, -73.9, 40.5, -73.1)": lambda y, x: (y >= 40.2) & (y <= 40.5) & (x >= -73.9) & (x <= -73.1),
    "home not within (40.2, -73.9, 40.5, -73.1)": lambda y, x: (
        ~((y >= 40.2) & (y <= 40.5) & (x >= -73.9) & (x <= -73.1))
    ),
    "home.lat > 40.7": lambda y, x: y > 40.7,
    "40.7 >= home.lat": lambda y, x: y <= 40.7,
    "home.lon between -73.5 and -73.25": lambda y, x: (x >= -73.5) & (x <= -73.25),
    "home.lon not between -73.5 and -73.25": lambda y, x: (x < -73.5) | (x > -73.25),
    "home.lat < 40.1 or home.lon != -73.5": lambda y, x: (y < 40.1) | (x != -73.5),
    "home within 20 km of (40.5, -73.5) and home.lat >= 40.6": lambda y, x: (y >= 40.6) & (y <= 40.67) & (x > -99),
    "home within 20km of (40.5, -73.5) and home.lat >= 40.6": lambda y, x: (y >= 40.6) & (y <= 40.67) & (x > -99),
    "home is not null": lambda y, x: y > 0,
    "home.lat is null": lambda y, x: y < 0,
    "not home within 9000 m of (50, 3)": None,
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions_about_places(text: str) -> None:
    one = schema().domain().attributes[0]  # type: ignore[attr-defined]
    codes = np.random.default_rng(3).integers(0, one.grid, 2_000)
    found = np.broadcast_to(holds(parse(text, schema().vocabulary()), lambda _: codes), 2_000)
    null = holds(parse(text, schema().vocabulary()), lambda _: np.array([one.grid]))
    lat, lon = (one.to_numpy() for one in one.scale.coordinates(codes))
    expected = QUESTIONS[text]
    if "km" in text:
        assert found.any()
        assert (found <= expected(lat, lon)).all()
    else:
        assert (found == (True if expected is None else expected(lat, lon))).all()
    assert bool(np.ravel(null)[0]) == (text in ("home.lat is null", "not home within 9000 m of (50, 3)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("home > 3", "home is a place; write `home within"),
        ("home within (1, 2)", "expected 4 numbers"),
        ("home within 3 of (1, 2)", "expected m or km"),
        ("home within 3 km (1, 2)", "expected 'of'"),
        ("home within 3 km of 1, 2", "expected a point"),
        ("home within -3 km of (1, 2)", "a circle has a positive radius"),
        ("home within (2, 2, 1, 3)", "the low corner comes first"),
        ("home within (a, 2, 1, 3)", "'a' is no number"),
        ("home.lat - home.lon > 3", "home.lat holds no numbers or dates"),
        ("home.lat", "expected a comparison"),
        ("home", "expected a comparison"),
    ],
)
def test_questions_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match="(?s)" + message.replace("(", r"\(")):
        parse(text, schema().vocabulary())


# ---- schemas ----------------------------------------------------------------------------------------------------


def test_a_place_in_canonical_form() -> None:
    document = {"fields": [{**PLACE, "columns": ["y", "x"], "share": 0.25, "constraints": {"required": True}}]}
    assert Schema.from_dict(document).to_dict()["fields"] == document["fields"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"bounds": None}, "it has no `bounds`; write `bounds: "),
        ({"bounds": [[40, -74]]}, "`bounds` are not two corners"),
        ({"bounds": [[-74, 40], [-73, 41]], "step": 0}, "step 0 is not positive"),
        ({"bounds": [[41, -74], [40, -73]]}, "the bounds of latitude go from 41 to 40"),
        ({"bounds": [[40, -74], [91, -73]]}, "within -90 to 90, latitude first"),
        ({"step": 1e-8}, "more than 2\\*\\*26 steps on an axis; use a larger step: 0.0001 degrees are 11 metres"),
        ({"format": "wkt"}, "format 'wkt' is not known"),
        ({"columns": ["a", "a"]}, "`columns` are two"),
        ({"columns": ["a", "b"], "format": "array"}, "`columns` are two"),
        ({"share": 0.99}, "share 0.99 is not a share"),
        ({"role": "target"}, "a place cannot be the target"),
        ({"constraints": {"minimum": 3}}, "`minimum` is not for type geopoint"),
        ({"categories": ["a"]}, "`categories` is not for type geopoint"),
    ],
)
def test_wrong_declarations_of_places(more: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        schema(**more)


def test_two_fields_of_one_column_are_refused() -> None:
    number = {"name": "y", "type": "number", "step": 1, "constraints": {"minimum": 0, "maximum": 1}}
    with pytest.raises(SchemaError, match="column 'y': two fields are read from it"):
        Schema.from_dict({"fields": [{**PLACE, "columns": ["y", "x"]}, number]})


def test_drafts_propose_places_by_the_names_of_columns() -> None:
    text = draft(pl.DataFrame({name: [1.0] for name in ("pickup_lat", "fare", "pickup_lng", "Longitude", "latitude")}))
    assert '{name: "pickup", type: geopoint, columns: ["pickup_lat", "pickup_lng"], bounds: "???", step: "???"}' in text
    assert '{name: "place", type: geopoint, columns: ["latitude", "Longitude"], bounds: "???", step: "???"}' in text
    assert '"fare", type: number' in text
    alone = draft(pl.DataFrame({"lat": [1.0], "lon": ["a"], "late": [2.0]}))
    assert 'columns: ["lat' not in alone
