"""The map of a place: rectangles coloured by density, without tiles from a server."""

from __future__ import annotations

from math import cos, log, radians

from cantle.release import Release
from cantle.release.maps import Rectangle, places_of, rectangles
from cantle.release.report.charts import Svg, line, picture, tag, text
from cantle.release.report.content import Figure, Section
from cantle.schema.places import EARTH

WIDTH, TALLEST = 900.0, 700.0
_LISTED = 25


def map_section(release: Release) -> Section | None:
    """One map per place; None if there is no place."""
    figures = [_figure(one.name, rectangles(release, one.name)) for one in places_of(release)]
    if not figures:
        return None
    words = (
        "Each rectangle has one density, drawn from the records; the darker, the more records per square kilometre "
        "(each shade doubles it). The map is cut further where a part stands out of its noise. North is up.",
    )
    legend = [("heat", "many records"), ("under", "few"), ("loose", "noise hides how many: the interval reaches 0")]
    return Section("maps", "Maps", words, figures, legend=legend)


def _figure(name: str, shown: list[Rectangle]) -> Figure:
    densest = sorted(shown, key=lambda one: -one.count / one.square_km)[:_LISTED]
    rows = [
        (
            f"({one.lat[0]:.6g}, {one.lon[0]:.6g}) to ({one.lat[1]:.6g}, {one.lon[1]:.6g})",
            f"{one.count:,}",
            f"{max(0.0, one.count - one.margin):,.0f}",
            f"{one.count + one.margin:,.0f}",
            f"{one.count / one.square_km:,.4g}",
        )
        for one in densest
    ]
    header = ("low and high latitude and longitude", "records", "from", "to", "per km²")
    note = f"{len(shown):,} rectangles; the table has the densest, with 95 % intervals of the noise in their counts."
    return Figure(name, _map(name, shown), note=note, header=header, rows=rows)


def _map(name: str, shown: list[Rectangle]) -> Svg:
    """The rectangles to scale; one degree of longitude is as wide as in the middle of the map."""
    south, north = min(one.lat[0] for one in shown), max(one.lat[1] for one in shown)
    west, east = min(one.lon[0] for one in shown), max(one.lon[1] for one in shown)
    narrow = max(0.05, cos(radians((south + north) / 2)))
    each = min(WIDTH / ((east - west) * narrow), TALLEST / (north - south))  # points per degree of latitude
    density = [one.count / one.square_km for one in shown]
    top = max(density) or 1.0
    steps = max(1.0, log(top / max(top / 4096, min((one for one in density if one > 0), default=top)), 2))
    parts, loose = list[Svg](), list[Svg]()
    for one, dense in zip(shown, density, strict=True):
        x, y = (one.lon[0] - west) * narrow * each, (north - one.lat[1]) * each
        wide, high = (one.lon[1] - one.lon[0]) * narrow * each, (one.lat[1] - one.lat[0]) * each
        shade = max(0.0, 1 + log(dense / top, 2) / steps) if dense > 0 else 0.0
        said = tag("title", f"{one.count:,} records ±{one.margin:,.0f}, {dense:,.4g} per km²")
        box = {"x": x, "y": y, "width": wide, "height": high}
        parts.append(tag("rect", said, cls="heat", fill_opacity=round(0.06 + 0.94 * shade, 3), **box))
        if not one.is_sure and min(wide, high) > 3:
            loose.append(line(x, y + high, x + wide, y, "loose"))
    width, height = (east - west) * narrow * each, (north - south) * each
    words = f"Map of {name}. The densest rectangles are in the table below."
    frame = tag("rect", x=0.0, y=0.0, width=width, height=height, cls="under")
    return picture(width, height + 34, words, frame, *parts, *loose, *_scale(each, height), cls="chart map", fixed=True)


def _scale(each: float, height: float) -> list[Svg]:
    """A bar of a round number of kilometres or metres."""
    point = radians(1) * EARTH / each  # metres per point
    metres = max(
        (first * 10**power for power in range(7) for first in (1, 2, 5) if first * 10**power / point <= 200), default=1
    )
    long, y = metres / point, height + 14
    said = f"{metres // 1000:,} km" if metres >= 1000 else f"{metres} m"
    return [line(0, y, long, y, "axis"), line(0, y - 4, 0, y + 4, "axis"), line(long, y - 4, long, y + 4, "axis"),
            text(said, long + 6, y + 4)]  # fmt: skip
