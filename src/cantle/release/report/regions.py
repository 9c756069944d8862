"""Regions as pictures: a tree as an icicle chart, and maps of places.

In an icicle each region is a bar as wide as its count, with its parts below it. Maps are darker with more records per
area, and have no tiles from a server.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import cos, log, radians

from cantle.release import Release
from cantle.release.maps import Rectangle, places_of, rectangles
from cantle.release.report.charts import Svg, Value, line, picture, shortened, tag, text
from cantle.release.report.content import Figure, Section
from cantle.schema.places import EARTH

WIDTH, ROW = 1000.0, 26.0
_LETTER = 6.2
_THINNEST = 0.0015  # the smallest share of the whole that is drawn
MOST_NODES = 900
_LISTED = 40


@dataclass
class Node:
    """A region: a label for the part that its last cut left, its count, and the regions that it was cut into."""

    label: str
    count: int
    children: list[Node] = field(default_factory=list)

    def walk(self, depth: int = 0, first: int = 0) -> Iterator[tuple[int, int, Node]]:
        """(depth, number of records to the left, node) for all nodes, level by level, each level from the left."""
        level = [(first, self)]
        while level:
            yield from ((depth, left, node) for left, node in level)
            below = []
            for left, node in level:
                for child in node.children:
                    below.append((left, child))
                    left += child.count
            level, depth = below, depth + 1


def tree_section(root: Node, words: str) -> Section:
    """The section of a tree: the icicle, and a list of its largest regions."""
    label = "Regions as bars, each as wide as its count. The largest are in the table below."
    rows = [(node.label, f"{depth}", f"{node.count:,}") for depth, _, node in root.walk() if depth]
    rows.sort(key=lambda row: -int(row[2].replace(",", "")))
    figure = Figure("Tree of regions", icicle(root, label), header=("region", "level", "records"), rows=rows[:_LISTED])
    hint = "Choose a region to enlarge it, and the top bar to go back; with the keyboard: arrow keys and Enter."
    return Section("regions", "Regions", (words, hint), (figure,))


def icicle(root: Node, label: str) -> Svg:
    """The levels of the tree below each other; regions that are too thin to see are left out."""
    whole, deepest = max(1, root.count), 0
    parts: list[Svg] = []
    for depth, left, node in root.walk():
        if node.count / whole < _THINNEST or len(parts) >= 2 * MOST_NODES:
            continue
        deepest = max(deepest, depth)
        parts += _bar(depth, left / whole, node.count / whole, node, whole)
    return picture(WIDTH, (deepest + 1) * ROW + 2, label, *parts, cls="chart wide icicle")


def _bar(depth: int, left: float, share: float, node: Node, whole: int) -> tuple[Svg, Svg]:
    """A bar and its label, as two elements: the bar is a button, whose accessible name is its whole title."""
    letters, x, y = int((WIDTH * share - 8) / _LETTER), WIDTH * left, depth * ROW
    said = f"{node.label}: {node.count:,} ({100 * node.count / whole:.1f} %)"
    rect = tag("rect", x=x, y=y, width=max(0.5, WIDTH * share - 1), height=ROW - 1.5, rx=2, cls=f"d{depth % 3}")
    place: dict[str, Value] = {"data_d": depth, "data_x": round(left, 5), "data_w": round(share, 5)}
    bar = tag("g", tag("title", said), rect, cls="region", **place, data_label=node.label)
    shown = shortened(node.label, letters) if letters >= 4 else ""
    return bar, tag("text", shown, x=x + 5, y=y + 16, cls="in", aria_hidden="true")


PLACE_WIDTH, TALLEST = 900.0, 700.0
_DENSEST = 25


def place_section(release: Release) -> Section | None:
    """One map per place; None if there is no place."""
    figures = [_place_figure(one.name, rectangles(release, one.name)) for one in places_of(release)]
    if not figures:
        return None
    words = (
        "Each rectangle has one density, drawn from the records; the darker, the more records per square kilometre "
        "(each shade doubles it). The map is cut further where a part stands out of its noise. North is up.",
    )
    legend = [("heat", "many records"), ("under", "few"), ("loose", "noise hides how many: the interval reaches 0")]
    return Section("maps", "Maps", words, figures, legend=legend)


def _place_figure(name: str, shown: list[Rectangle]) -> Figure:
    densest = sorted(shown, key=lambda one: -one.count / one.square_km)[:_DENSEST]
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
    return Figure(name, _place_map(name, shown), note=note, header=header, rows=rows)


def _place_map(name: str, shown: list[Rectangle]) -> Svg:
    """The rectangles to scale; one degree of longitude is as wide as in the middle of the map."""
    south, north = min(one.lat[0] for one in shown), max(one.lat[1] for one in shown)
    west, east = min(one.lon[0] for one in shown), max(one.lon[1] for one in shown)
    narrow = max(0.05, cos(radians((south + north) / 2)))
    each = min(PLACE_WIDTH / ((east - west) * narrow), TALLEST / (north - south))  # points per degree of latitude
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
    parts = [frame, *parts, *loose, *_bar_of_length(each, height)]
    return picture(width, height + 34, words, *parts, cls="chart map", fixed=True)


def _bar_of_length(each: float, height: float) -> list[Svg]:
    """A bar of a round number of kilometres or metres."""
    point = radians(1) * EARTH / each  # metres per point
    metres = max(
        (first * 10**power for power in range(7) for first in (1, 2, 5) if first * 10**power / point <= 200), default=1
    )
    long, y = metres / point, height + 14
    said = f"{metres // 1000:,} km" if metres >= 1000 else f"{metres} m"
    return [line(0, y, long, y, "axis"), line(0, y - 4, 0, y + 4, "axis"), line(long, y - 4, long, y + 4, "axis"),
            text(said, long + 6, y + 4)]  # fmt: skip
