"""The report of a release of sets: items, pairs of items, sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from cantle.release import Release
from cantle.release.answers.asking import Asker
from cantle.release.answers.estimates import HELD, Estimate
from cantle.release.answers.item_answers import SetAsker
from cantle.release.report.content import BASIS, CONFIDENCE, Figure, Section, by_size, card_of, weakest
from cantle.release.report.groupings import Ints
from cantle.release.report.pairs import heat_map
from cantle.release.schemas import universe_of
from cantle.release.sets import SetCodes
from cantle.release.storage import lists_of
from cantle.schema.code_sets import OneColumn, Question, join
from cantle.schema.items import Universe

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

    def pairs(self, most: int) -> list[tuple[int, int, int]]:
        """The pairs of frequent items that most sets hold: the codes of both, and how many sets hold both."""
        top = self.top()
        held = pair_counts(self.patterns(top), len(top))
        pairs = sorted(combinations(range(len(top)), 2), key=lambda pair: -held[pair])[:most]
        return [(int(top[a]), int(top[b]), int(held[a, b])) for a, b in pairs if held[a, b]]


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
    return [
        (f"{view.label(one)} + {view.label(two)}", asker.count(join(True, (has(one), has(two))), CONFIDENCE))
        for one, two, _ in view.pairs(PAIRS)
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


def sections(release: Release) -> list[Section]:
    view = SetView.of(release)
    if not view.records:
        return []
    return set_sections(view, SetAsker(release))
