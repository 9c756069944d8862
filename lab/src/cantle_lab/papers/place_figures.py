"""Points on maps: how far counts of rectangles are off, by method, alone and in a table with other columns.

The maps are counts on 256 x 256 grids of public check-ins and taxi rides (DPBench), from `DIR/places/*.npz`. The table
is made up around the first of them: a district, an amount, a kind, a number that follows the longitude, and a flag. `as
two columns` counts latitude and longitude as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cantle.trusted.geometry.boxes import Ints
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.metrics import variation_of_codes

FIGURE = "places"
GRID, RECTANGLES, RECORDS = 256, 2_000, 100_000
STEP = 0.25
"""Degrees between two cells: the grids have no coordinates."""

BOUNDS = [[0, 0], [(GRID - 1) * STEP, (GRID - 1) * STEP]]
MAPS = ("checkin", "BeijingTaxiE", "Stroke_2D")
COORDINATE = {"minimum": 0, "maximum": (GRID - 1) * STEP, "multipleOf": STEP, "required": True}
OTHERS: dict[str, dict[str, Any]] = {
    "district": {"type": "integer", "categories": [*range(5)]},
    "amount": {"type": "integer", "constraints": {"minimum": 0, "maximum": 499}},
    "kind": {"type": "integer", "categories": [*range(3)]},
    "level": {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
    "flag": {"type": "integer", "categories": [0, 1]},
}


def places(setting: Setting) -> Iterator[Row]:
    """Errors of counts in percent of the records, and core-seconds."""
    folder = None if setting.data_dir is None else setting.data_dir / "places"
    if folder is None or not (folder / f"{MAPS[0]}.npz").exists():
        setting.echo("places: skipped, because it needs --data DIR with DIR/places/checkin.npz (DPBench)")
        return
    for epsilon, repeat in setting.points((0.1, 1)):
        for name in setting.pick(MAPS, MAPS[:1]):
            cells = drawn(folder / f"{name}.npz", RECORDS, repeat)
            for series, options in (("mosaic", "mosaic"), ("rps", "rps"), ("as two columns", "mosaic")):
                frame, fields = coordinates(cells, series)
                release, spent = setting.timed(frame, {"fields": fields}, epsilon, {"method": options}, repeat)
                error = range_error(cells, cells_of(release.records), repeat)
                yield Row(FIGURE, f"{name}: range error, %", series, epsilon, repeat, error)
                yield Row(FIGURE, f"{name}: core-seconds", series, epsilon, repeat, spent)
        yield from _table(setting, drawn(folder / f"{MAPS[0]}.npz", RECORDS, repeat), epsilon, repeat)


def _table(setting: Setting, cells: Ints, epsilon: float, repeat: int) -> Iterator[Row]:
    """A place beside five columns, beside a target among them, and two places."""
    made = others_of(cells, repeat)
    fields = [
        {"name": name, **part, "constraints": {**part.get("constraints", {}), "required": True}}
        for name, part in OTHERS.items()
    ]
    aimed = [{**one, "role": "target"} if one["name"] == "flag" else one for one in fields]
    for series, mine in (("place", fields), ("as two columns", fields), ("place, target", aimed)):
        frame, place = coordinates(cells, series)
        schema, options = {"fields": [*place, *mine]}, {"method": "mosaic"}
        records = setting.release(frame.hstack(made), schema, epsilon, options, repeat).records
        now = cells_of(records)
        near = [variation_of_codes(_pair(cells, made, one), _pair(now, records, one)) for one in OTHERS]
        rest = [variation_of_codes(_two(made, *two), _two(records, *two)) for two in combinations(OTHERS, 2)]
        yield Row(FIGURE, "table: range error, %", series, epsilon, repeat, range_error(cells, now, repeat))
        yield Row(FIGURE, "table: place 8 x 8 by column", series, epsilon, repeat, sum(near) / len(near))
        yield Row(FIGURE, "table: pairs of the others", series, epsilon, repeat, sum(rest) / len(rest))
    yield from _trips(setting, cells, epsilon, repeat)


def _trips(setting: Setting, cells: Ints, epsilon: float, repeat: int) -> Iterator[Row]:
    """Two places of each record, from and to, of which the second is near the first in half of the records."""
    dice = np.random.default_rng(50 + repeat)
    near = np.clip(cells + dice.integers(-8, 9, cells.shape), 0, GRID - 1)
    to = np.where(dice.random(len(cells))[:, None] < 0.5, near, dice.permutation(cells))
    frame, fields = coordinates(cells, "place")
    more = pl.DataFrame({"to_lat": to[:, 0] * STEP, "to_lon": to[:, 1] * STEP})
    fields = [*fields, {**fields[0], "name": "to", "columns": more.columns}]
    released = setting.release(frame.hstack(more), {"fields": fields}, epsilon, {"method": "mosaic"}, repeat).records
    ends = cells_of(released), cells_of(released.select("to_lat", "to_lon"))
    yield Row(FIGURE, "trips: range error, %", "from", epsilon, repeat, range_error(cells, ends[0], repeat))
    yield Row(FIGURE, "trips: range error, %", "to", epsilon, repeat, range_error(to, ends[1], repeat))
    both = [(_blocks(one) * 64 + _blocks(two)) for one, two in ((cells, to), ends)]
    yield Row(FIGURE, "trips: from and to, 8 x 8 each", "pair", epsilon, repeat, variation_of_codes(*both))


def drawn(path: Path, records: int, repeat: int) -> Ints:
    """The cells of records drawn from a map, one row each."""
    counts = np.load(path)["counts"].astype(float)
    dice = np.random.default_rng(100 + repeat)
    places = dice.choice(counts.size, records, p=(counts / counts.sum()).ravel())
    return np.stack(np.divmod(places, counts.shape[1]), axis=1)


def coordinates(cells: Ints, series: str) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """The records with the coordinates of their cells, and the fields: a place, or two numbers."""
    frame = pl.DataFrame({"lat": cells[:, 0] * STEP, "lon": cells[:, 1] * STEP})
    if series == "as two columns":
        return frame, [{"name": name, "type": "number", "constraints": COORDINATE} for name in frame.columns]
    required = {"required": True}
    place = {"type": "geopoint", "columns": frame.columns, "bounds": BOUNDS, "step": STEP, "constraints": required}
    return frame, [{"name": "home", **place}]


def cells_of(records: pl.DataFrame) -> Ints:
    """The cells of released records, from their first two columns."""
    return np.rint(records.to_numpy()[:, :2].astype(float) / STEP).astype(np.int64)


def range_error(true: Ints, released: Ints, repeat: int) -> float:
    """The mean error of the counts of random rectangles, in percent of the records."""
    dice = np.random.default_rng(repeat)
    ends = np.sort(dice.integers(0, GRID, (2, RECTANGLES, 2)), axis=2)
    (top, left), (bottom, right) = ends[..., 0], ends[..., 1] + 1
    counts = []
    for cells in (true, released):
        below = np.zeros((GRID + 1, GRID + 1))
        np.add.at(below, (cells[:, 0] + 1, cells[:, 1] + 1), 1)
        below = below.cumsum(0).cumsum(1)
        counts.append(below[bottom, right] - below[top, right] - below[bottom, left] + below[top, left])
    return float(np.abs(counts[0] - counts[1]).mean() / len(true) * 100)


def others_of(cells: Ints, repeat: int) -> pl.DataFrame:
    """Five columns that depend on the place and on each other."""
    dice, n = np.random.default_rng(7 + repeat), len(cells)
    row, column = cells.T
    district = np.where(dice.random(n) < 0.6, (row // 16 * 7 + column // 16 * 3) % 5, dice.integers(0, 5, n))
    amount = (dice.gamma(2, 20, n) * (1 + district / 3)).astype(int).clip(0, 499)
    kind = np.where((amount > 60) & (dice.random(n) < 0.5), 2, dice.integers(0, 3, n))
    level = np.clip(40 + row / 10 + dice.normal(0, 8, n), 0, 99).astype(int)
    flag = (dice.random(n) < 0.1 + 0.15 * (district == 1)).astype(int)
    return pl.DataFrame(dict(zip(OTHERS, (district, amount, kind, level, flag), strict=True)))


def _grouped(frame: pl.DataFrame, name: str) -> Ints:
    """A column in at most 16 groups."""
    most = OTHERS[name].get("constraints", {}).get("maximum")
    values = frame[name].to_numpy().astype(np.int64)
    return values if most is None else values * 16 // (most + 1)


def _blocks(cells: Ints) -> Ints:
    return cells[:, 0] // 32 * 8 + cells[:, 1] // 32


def _pair(cells: Ints, frame: pl.DataFrame, name: str) -> Ints:
    return _blocks(cells) * 16 + _grouped(frame, name)


def _two(frame: pl.DataFrame, one: str, other: str) -> Ints:
    return _grouped(frame, one) * 16 + _grouped(frame, other)
