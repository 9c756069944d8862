"""Released sets beside the private data: sizes, items, pairs of items, and random questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from cantle.data.sets import read_baskets
from cantle.drawing.counts import public_dice
from cantle.internal.comparison import Comparison, Distribution, Fact, Matrices
from cantle.internal.questions import QUESTIONS, Asked, answer
from cantle.release import Release
from cantle.release.asking import Asker
from cantle.release.load import set_schema_of
from cantle.release.report.groupings import Ints
from cantle.release.report.set_section import has
from cantle.release.report.set_view import SetView, holding, pair_counts
from cantle.schema.code_sets import join

Patterns = tuple[Ints, Ints]
SHOWN = 20
"""Most items, and most sizes, that are shown one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class ItemsTogether(Matrices):
    """Shares of sets that hold both items of a pair."""

    explained: ClassVar[str] = "Share of sets that hold both items."
    with_numbers: ClassVar[bool] = False

    @property
    def most(self) -> float:
        shares = (self.off_diagonal(part).max() for part in (self.private, self.released))
        return max(1e-9, float(max(shares)))

    def lines(self) -> Iterator[str]:
        change = self.change()
        mean, most = f"{100 * change.mean():.2f} %", f"{100 * change.max():.2f} %"
        about = f"{len(change):,} pairs of items: the share of sets that hold both differs by"
        yield f"{about} {mean} on average, at most {most}"


def compare_sets(path: Path, release: Release, nodes: Path | None = None) -> Comparison:  # noqa: ARG001
    schema = set_schema_of(release.manifest)
    baskets = read_baskets(path, schema)
    raw = SetView(baskets.starts, baskets.items.astype(np.int64), schema.universe)
    released = SetView.of(release)
    facts = (
        Fact("sets", raw.records, released.records),
        Fact("items per set", _mean_size(raw), _mean_size(released)),
        Fact("items that occur", int((raw.supports > 0).sum()), int((released.supports > 0).sum())),
    )
    top = released.top()
    patterns = raw.patterns(top), released.patterns(top)
    distributions = (
        _sizes(raw.sizes, released.sizes),
        Distribution(
            "most frequent items",
            tuple(released.label(code) for code in top[:SHOWN]),
            raw.supports[top[:SHOWN]],
            released.supports[top[:SHOWN]],
        ),
    )
    asked = _ask(released, top, patterns, Asker(release))
    return Comparison("sets", facts, distributions, _matrices(released, top[:SHOWN], patterns, raw), tuple(asked))


def _mean_size(view: SetView) -> float:
    return len(view.items) / max(1, view.records)


def _sizes(private: Ints, released: Ints) -> Distribution:
    """Numbers of sets of size 1, 2, … up to a limit, and of all larger sets together."""
    most = min(SHOWN, max(len(private), len(released)) - 1)
    labels = (*map(str, range(1, most + 1)), f"{most + 1} or more")
    padded = [np.pad(one, (0, max(0, most + 2 - len(one)))) for one in (private, released)]
    counts = [np.append(one[1 : most + 1], one[most + 1 :].sum()) for one in padded]
    return Distribution("sizes of sets", labels, counts[0], counts[1], ticks=labels)


def _matrices(released: SetView, top: Ints, patterns: tuple[Patterns, Patterns], raw: SetView) -> Matrices:
    """The share of sets that hold each pair of items."""
    shares = [
        pair_counts(one, len(top)) / max(1, view.records) for one, view in zip(patterns, (raw, released), strict=True)
    ]
    names = tuple(released.label(code) for code in top)
    return ItemsTogether(names, shares[0], shares[1], np.abs(shares[0] - shares[1]))


def _ask(view: SetView, top: Ints, patterns: tuple[Patterns, Patterns], asker: Asker) -> list[Asked]:
    """How many sets hold each frequent item, and random pairs and triples that occur in released sets."""
    dice, answers, (masks, counts) = public_dice(0), [], patterns[1]
    wanted = [1 << place for place in range(len(top))]
    several = np.bitwise_count(masks) > 1
    if several.any():
        chances = counts[several] / counts[several].sum()
        for mask in dice.choice(masks[several], QUESTIONS // 2, p=chances).tolist():
            bits = [1 << place for place in range(len(top)) if mask >> place & 1]
            size = min(len(bits), int(dice.integers(2, 4)))
            wanted.append(sum(dice.choice(bits, size, replace=False).tolist()))
    for pattern in dict.fromkeys(wanted):
        names = [view.label(top[place]) for place in range(len(top)) if pattern >> place & 1]
        question = join(True, [has(top[place]) for place in range(len(top)) if pattern >> place & 1])
        answers.append(answer(" and ".join(names), len(names), holding(patterns[0], pattern), question, asker))
    return answers
