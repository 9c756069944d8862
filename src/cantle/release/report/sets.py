"""The report of a release of sets: items, pairs of items, sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from cantle.release import Release
from cantle.release.answers.asking import Asker
from cantle.release.answers.estimates import HELD, Estimate
from cantle.release.answers.set_answers import SetAsker
from cantle.release.data_file import lists_of
from cantle.release.report.cards import BASIS, CONFIDENCE, by_size, card_of, weakest
from cantle.release.report.content import Figure, Section
from cantle.release.report.groupings import Ints
from cantle.release.report.pairs import heat_map
from cantle.release.report.regions import Node, icicle, tree_section
from cantle.release.schemas import universe_of
from cantle.release.sets import SetCodes
from cantle.schema.code_sets import OneColumn, Question, join
from cantle.schema.items import Universe

_GROUPS_LISTED = 40
MOST_ITEMS = 30
"""Most items in a pattern; a pattern is a number with one bit per item."""


@dataclass(frozen=True, eq=False, repr=False)
class SetView:
    """The released sets that are not empty: set i holds the items items[starts[i]:starts[i + 1]]."""

    starts: Ints
    items: Ints
    universe: Universe

    @staticmethod
    def of(release: Release) -> SetView:
        universe = universe_of(release.manifest)
        codes = SetCodes(lists_of(release), universe)
        return SetView(np.unique(codes.starts), codes.items, universe)

    @property
    def records(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> Ints:
        """The number of sets of each size, from 0."""
        return np.bincount(np.diff(self.starts))

    @cached_property
    def supports(self) -> Ints:
        """The number of sets that hold each item."""
        return np.bincount(self.items, minlength=self.universe.size)

    def top(self, most: int = MOST_ITEMS) -> Ints:
        """The codes of the most frequent items, the most frequent first."""
        order = np.argsort(-self.supports, kind="stable")[:most]
        return order[self.supports[order] > 0]

    def label(self, code: int) -> str:
        return str(self.universe.label(int(code)))

    def patterns(self, top: Ints) -> tuple[Ints, Ints]:
        """The patterns of top items in sets (numbers with bit i for item top[i]), and how many sets have each."""
        if not self.records:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        bit = np.zeros(self.universe.size, dtype=np.int64)
        bit[top] = 1 << np.arange(len(top))
        masks = np.bitwise_or.reduceat(bit[self.items], self.starts[:-1])
        return np.unique(masks, return_counts=True)


def holding(patterns: tuple[Ints, Ints], wanted: int) -> int:
    """The number of sets that hold all items of the pattern `wanted`."""
    masks, counts = patterns
    return int(counts[(masks & wanted) == wanted].sum())


def pair_counts(patterns: tuple[Ints, Ints], size: int) -> Ints:
    """The number of sets with both items, for each pair of the first `size` items of the patterns."""
    masks, counts = patterns
    held = ((masks[:, None] >> np.arange(size)) & 1).astype(np.int64)
    return held.T @ (held * counts[:, None])


ITEMS, PAIRS, MATRIX = 25, 20, 20


def set_sections(view: SetView, asker: Asker) -> list[Section]:
    top = view.top(ITEMS)
    items = [(view.label(code), asker.count(has(code), CONFIDENCE)) for code in top]
    cards = [
        card_of("Items", items, view.records, "sets that hold it"),
        card_of("Pairs of items", _pairs(view, asker), view.records, "sets that hold both"),
        card_of("Sizes of sets", by_size(asker, "size", len(view.sizes) - 1), view.records, "sets", numeric=True),
    ]
    covers = weakest(estimate.covers for _, estimate in items)
    words = f"{view.records:,} sets over {view.universe.size:,} declared items. Error bars {BASIS[covers]}"
    sections = [Section("items", "Items, pairs and sizes", (words,), cards, cards=True)]
    if len(top) > 2:
        sections.append(_matrix(view))
    return sections


def has(code: int) -> Question:
    """The question how many sets hold an item."""
    return OneColumn(int(code), HELD)


def _pairs(view: SetView, asker: Asker) -> list[tuple[str, Estimate]]:
    top = view.top()
    held = pair_counts(view.patterns(top), len(top))
    pairs = sorted(combinations(range(len(top)), 2), key=lambda pair: -held[pair])[:PAIRS]
    return [
        (
            f"{view.label(top[a])} + {view.label(top[b])}",
            asker.count(join(True, (has(top[a]), has(top[b]))), CONFIDENCE),
        )
        for a, b in pairs
        if held[a, b]
    ]


def _matrix(view: SetView) -> Section:
    """How much more often pairs occur than if items were independent."""
    top = view.top(MATRIX)
    held, names = pair_counts(view.patterns(top), len(top)), [view.label(code) for code in top]
    alone = np.diag(held)
    expected = np.outer(alone, alone) / max(1, view.records)
    lift = held / np.maximum(expected, 1e-9)
    strength = np.clip(np.log2(np.maximum(lift, 1e-3)), -3, 3)

    def words(a: int, b: int) -> str:
        return f"{names[a]} and {names[b]}: {held[a, b]:,} sets, {lift[a, b]:.2f} times as many as if unrelated"

    pairs = sorted(combinations(range(len(top)), 2), key=lambda pair: -abs(strength[pair]))[:PAIRS]
    rows = [(f"{names[a]} and {names[b]}", f"{held[a, b]:,}", f"{lift[a, b]:.2f}") for a, b in pairs]
    label = f"Heat map of the {len(top)} most frequent items. The strongest pairs are in the table below."
    figure = Figure(
        "Which items go together",
        heat_map(names, strength, label, words=words, scale=3.0, signed=True, numbers=False),
        header=("pair", "sets", "times as many as if unrelated"),
        rows=rows,
    )
    legend = (("heat", "more often than if unrelated"), ("less", "less often"))
    text = "The colour is darkest for pairs that are 8 times as frequent as if unrelated, or an eighth as frequent."
    return Section("pairs", "Pairs of items", (text,), (figure,), legend=legend)


# ---- what records were drawn from -------------------------------------------------------------------------------


def section_of_sets(release: Release, groups: Sequence[Ints] = ()) -> Section:
    """Released sets as a tree; and the tree of items along which they were cut, if they were: for each level from the
    items up, where its groups begin among those below."""
    words = (
        "Sets by their most frequent item, then by their second most frequent one, and so on, as far as the 30 most "
        "frequent items go. What a bar has beyond its parts are sets of just the items above."
    )
    view = SetView.of(release)
    section = tree_section(set_tree(view), words, "set")
    if not groups:
        return section
    return replace(section, figures=(*section.figures, _tree_of_items(view, groups)))


def _tree_of_items(view: SetView, groups: Sequence[Ints]) -> Figure:
    """The groups of items along which records were cut, each as wide as its items occur in released sets."""
    below = [Node(view.label(code), int(often)) for code, often in enumerate(view.supports)]
    ends = np.arange(len(below) + 1)  # the first item of every group, and the end of the last
    for edges in groups:
        ends = ends[edges]
        parts = [below[first:last] for first, last in pairwise(edges.tolist())]
        named = [f"{view.label(first)} … {view.label(last - 1)}" for first, last in pairwise(ends.tolist())]
        below = [
            Node(name, sum(one.count for one in some), [one for one in some if one.count]) if len(some) > 1 else some[0]
            for name, some in zip(named, parts, strict=True)
        ]
    root = Node("all items", below[0].count, below[0].children)
    label = "Groups of items as bars, each as wide as its items occur in the released sets."
    rows = [(node.label, f"{depth}", f"{node.count:,}") for depth, _, node in root.walk() if depth]
    rows.sort(key=lambda row: -int(row[2].replace(",", "")))
    note = "Groups follow the public list of items. Records were cut along them, so small groups are the least sure."
    header = ("group of items", "level", "times")
    return Figure("Tree of items", icicle(root, label), note=note, header=header, rows=rows[:_GROUPS_LISTED])


def set_tree(view: SetView) -> Node:
    """Sets by their most frequent item, then by their second, and so on."""
    top = view.top()
    masks, counts = view.patterns(top)
    root = Node("all sets", int(counts.sum()))
    _branch(root, masks, counts, [view.label(code) for code in top])
    return root


def _branch(node: Node, masks: Ints, counts: Ints, labels: list[str]) -> None:
    """The children of a node: the sets whose lowest bit, that is most frequent item, is the same."""
    lowest = masks & -masks
    for place, label in enumerate(labels):
        mine = lowest == 1 << place
        if (total := int(counts[mine].sum())) > 0:
            child = Node(label, total)
            node.children.append(child)
            if len(masks) > 1 and mine.sum() > 1:
                _branch(child, masks[mine] & ~(1 << place), counts[mine], labels)


def sections(release: Release) -> list[Section]:
    view = SetView.of(release)
    if not view.records:
        return []
    return set_sections(view, SetAsker(release))
