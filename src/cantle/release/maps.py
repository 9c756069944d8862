"""The released places as rectangles of a map, as fine as the noise allows; and as GeoJSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import cos, radians

import numpy as np

from cantle.drawing.counts import variance
from cantle.drawing.group_frames import column_of
from cantle.errors import ParameterError
from cantle.release import Release
from cantle.release.answers.estimates import Noise
from cantle.release.schemas import attributes_of, code_reader
from cantle.release.storage import as_polars
from cantle.schema.domain import Attribute, Plane
from cantle.schema.places import EARTH
from cantle.trusted.core.arrays import Floats, Ints

MOST = 4_000
"""Most rectangles of a map."""

COARSEST = 10
"""How often a map is halved however few records there are."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rectangle:
    """A rectangle of the map: low and high latitude and longitude, its records, and the margin of their noise."""

    lat: tuple[float, float]
    lon: tuple[float, float]
    count: int
    margin: float

    @property
    def square_km(self) -> float:
        high, wide = (radians(ends[1] - ends[0]) * EARTH / 1000 for ends in (self.lat, self.lon))
        return high * wide * cos(radians(sum(self.lat) / 2))

    @property
    def is_sure(self) -> bool:
        """Whether the interval of its count does not reach 0."""
        return self.count > self.margin


def places_of(release: Release) -> list[Attribute]:
    """The places of a release of a table."""
    return [one for one in attributes_of(release.manifest).values() if isinstance(one.scale, Plane)]


def rectangles(release: Release, name: str | None = None) -> list[Rectangle]:
    """The rectangles of a place: the heaviest is halved again and again, while a half stands out of its noise."""
    found = [one for one in places_of(release) if name in (None, one.name)]
    if not found or (name is None and len(found) > 1):
        known = ", ".join(one.name for one in places_of(release))
        none = "this release has no place (a column of type geopoint), so there is nothing to map"
        raise ParameterError(f"name one place of this release after --place ({known})" if known else none)
    plane = found[0].scale
    assert isinstance(plane, Plane)
    frame = as_polars(release.records, release.manifest)
    codes = np.sort(code_reader(release.manifest, frame)(found[0].name).astype(np.int64))
    spans = _halved(codes[codes < plane.grid], plane.grid, list(_levels(release, found[0].name)))
    low, high, west, east = plane.boxes(spans[:, 0], spans[:, 1])
    return [
        Rectangle((plane.lat.edge(a), plane.lat.edge(b)), (plane.lon.edge(c), plane.lon.edge(d)), int(count), margin)
        for (a, b, c, d), (_, _, count), margin in zip(
            np.stack([low, high, west, east], 1).tolist(),
            spans.tolist(),
            _margins(spans, list(_levels(release, found[0].name))).tolist(),
            strict=True,
        )
    ]


def _levels(release: Release, name: str) -> Iterator[tuple[Ints, float]]:
    """The edges of all cells in which a place was counted by itself, and the variance of their noise."""
    for number, about in enumerate(release.manifest.structure.get("tables", ())):
        if about.get("columns") == [name]:
            rate = release.frames["tables"].filter(release.frames["tables"]["table"] == number).row(0, named=True)
            yield np.array(about["edges"][0], dtype=np.int64), float(variance(rate["rate_num"] / rate["rate_den"]))
    groups, lowest = release.groups, f"{column_of(name)}.lo"
    if len(attributes_of(release.manifest)) == 1 and lowest in groups.columns and not groups["noisy"].null_count():
        rate = (groups["rate_num"] / groups["rate_den"]).to_numpy().min()  # the leaves of a tree
        edges = [*groups[lowest].to_list(), attributes_of(release.manifest)[name].grid]
        yield np.unique(edges).astype(np.int64), float(variance(rate))


def _halved(codes: Ints, grid: int, levels: list[tuple[Ints, float]]) -> Ints:
    """First code, code after the last and number of records of each rectangle."""

    def span(first: int, end: int) -> tuple[int, int, int]:
        low, high = np.searchsorted(codes, (first, end)).tolist()
        return first, end, high - low

    finest = levels[-1][0] if levels else None
    heap, done = [(-len(codes), 0, *span(0, grid))], list[tuple[int, int, int]]()
    while heap and len(heap) + len(done) < MOST:
        _, depth, first, end, count = heappop(heap)
        halves = [span(first, (first + end) // 2), span((first + end) // 2, end)]
        able = end - first > 1 and (finest is None or np.searchsorted(finest, (first, end)) @ (-1, 1) > 1)
        sure = np.array([one[2] for one in halves]) > _margins(np.array(halves), levels)
        if not able or (depth >= COARSEST and not sure.any()):
            done.append((first, end, count))
            continue
        for one in halves:
            heappush(heap, (-one[2], depth + 1, *one))
    return np.array([*done, *(one[2:] for one in heap)], dtype=np.int64).reshape(-1, 3)


def _margins(spans: Ints, levels: list[tuple[Ints, float]]) -> Floats:
    """The margin of the noise in each span: that of the level whose cells in it have the least noise together. Without
    a count of places, it is the spread of the number of records that were drawn."""
    first, end, count = spans.T
    if not levels:
        return 2 * np.sqrt(count + 1.0)
    touched = [
        (np.searchsorted(edges, end) - np.searchsorted(edges, first, side="right") + 1) * each for edges, each in levels
    ]
    least = np.minimum.reduce(touched)
    return np.sqrt(least) * Noise.of(1.0).margin(CONFIDENCE)


def geojson(release: Release, name: str | None = None) -> str:
    """The rectangles as a FeatureCollection of polygons (WGS 84), each with its count, interval and density."""
    features = []
    for one in rectangles(release, name):
        (south, north), (west, east) = one.lat, one.lon
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        low, high = max(0.0, one.count - one.margin), one.count + one.margin
        facts = {"count": one.count, "low": round(low, 1), "high": round(high, 1)}
        facts["per_km2"] = float(f"{one.count / one.square_km:.4g}")
        shape = {"type": "Polygon", "coordinates": [[[round(x, 7) for x in point] for point in ring]]}
        features.append({"type": "Feature", "properties": facts, "geometry": shape})
    return json.dumps({"type": "FeatureCollection", "guarantee": release.manifest.guarantee, "features": features})
