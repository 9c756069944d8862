"""The tree of regions as an icicle chart: each region is a bar as wide as its count, with its parts below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cantle.release.report.charts import Svg, Value, picture, shortened, tag
from cantle.release.report.content import Figure, Section
from cantle.release.report.groupings import Ints

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

    def divide(self, places: list[Ints], count: Ints, labels: list[list[str]]) -> None:
        """Adds the cells of a grid below this node: those of the first column, and below each those of the others.

        Cells have these counts, and for each column the number of their interval, which has a label.
        """
        for value, label in enumerate(labels[0] if places else ()):
            mine = places[0] == value
            if (total := int(count[mine].sum())) > 0:
                child = Node(label, total)
                self.children.append(child)
                child.divide([one[mine] for one in places[1:]], count[mine], labels[1:])


def tree_section(root: Node, words: str, noun: str = "region") -> Section:
    """The section of a tree: the icicle, and a list of its largest regions."""
    label = f"{noun.capitalize()}s as bars, each as wide as its count. The largest are in the table below."
    rows = [(node.label, f"{depth}", f"{node.count:,}") for depth, _, node in root.walk() if depth]
    rows.sort(key=lambda row: -int(row[2].replace(",", "")))
    header = (noun, "level", "sets" if noun == "set" else "records")
    figure = Figure(f"Tree of {noun}s", icicle(root, label), header=header, rows=rows[:_LISTED])
    hint = f"Choose a {noun} to enlarge it, and the top bar to go back; with the keyboard: arrow keys and Enter."
    return Section("regions", f"{noun.capitalize()}s", (words, hint), (figure,))


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
