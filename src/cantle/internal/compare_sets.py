"""Released sets and sequences beside the private ones: sizes, items, pairs of items, what follows what, questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cantle.data.sets import read_baskets
from cantle.drawing.counts import public_dice
from cantle.internal.check_sets import SEQUENCE, SET, Nouns
from cantle.internal.comparison import Comparison, Distribution, Fact, Matrices, of_pairs
from cantle.internal.questions import QUESTIONS, Asked, answer
from cantle.release import Release
from cantle.release.answers.estimates import HELD
from cantle.release.answers.sequence_answers import SequenceAsker
from cantle.release.answers.set_answers import SetAsker
from cantle.release.report.sets import SetView, has, holding, pair_counts
from cantle.release.schemas import schema_as
from cantle.release.sequences import SequenceCodes
from cantle.schema.code_sets import OneColumn, join
from cantle.schema.items import Universe
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import SetSchema
from cantle.trusted.core.arrays import Codes, Ints

SHOWN = 20
"""Most items, and most sizes, that are shown one by one."""
MOST_ASKED = 100
Patterns = tuple[Ints, Ints]


def compare_sets(path: Path, release: Release) -> Comparison:
    schema = schema_as(release.manifest, SetSchema)
    baskets = read_baskets(path, schema)
    raw = SetView(baskets.starts, baskets.items.astype(np.int64), schema.universe)
    released = SetView.of(release)
    top = released.top()
    patterns = raw.patterns(top), released.patterns(top)
    sizes = np.diff(raw.starts), np.diff(released.starts)
    distributions = (
        _of_sizes("sizes of sets", *sizes),
        _of_items("most frequent items", (raw.items, released.items), top[:SHOWN], schema.universe),
    )
    asked = _asked_of_sets(released, top, patterns, SetAsker(release))
    together = _item_pairs(released, top[:SHOWN], patterns, raw)
    facts = _facts(SET, sizes, (raw.items, released.items))
    return Comparison("sets", facts, distributions, together, tuple(asked))


def compare_sequences(path: Path, release: Release) -> Comparison:
    schema, asker = schema_as(release.manifest, SequenceSchema), SequenceAsker(release)
    baskets, universe = read_baskets(path, schema), schema.universe
    both = SequenceCodes(baskets.starts, baskets.items), asker.sequences
    lengths = np.diff(both[0].starts), np.diff(both[1].starts)
    codes = both[0].codes, both[1].codes
    top = np.argsort(-np.bincount(codes[1], minlength=universe.size), kind="stable")[:SHOWN]
    ends = {"most frequent symbols": codes} | {
        f"{end} symbols": (both[0](end), both[1](end)) for end in ("first", "last")
    }
    distributions = [_of_items(name, of, top, universe) for name, of in ends.items()]
    facts = _facts(SEQUENCE, lengths, codes)
    asked = tuple(_asked_of_sequences(both[0], asker))
    return Comparison("sequences", facts, (_of_sizes("lengths", *lengths), *distributions), asked=asked)


def _facts(nouns: Nouns, sizes: tuple[Ints, Ints], codes: tuple[Codes, Codes]) -> tuple[Fact, ...]:
    means = [len(one) / max(1, len(size)) for one, size in zip(codes, sizes, strict=True)]
    return (
        Fact(f"{nouns.record}s", len(sizes[0]), len(sizes[1])),
        Fact(f"{nouns.item}s per {nouns.record}", means[0], means[1]),
        Fact(f"{nouns.item}s that occur", len(np.unique(codes[0])), len(np.unique(codes[1]))),
    )


def _of_sizes(name: str, private: Ints, released: Ints) -> Distribution:
    """Numbers of records of size 1, 2, … up to a limit, and of all larger ones together."""
    most = min(SHOWN, int(max(private.max(initial=1), released.max(initial=1))))
    labels = (*map(str, range(1, most + 1)), f"{most + 1} or more")
    counts = [np.bincount(np.minimum(one, most + 1), minlength=most + 2)[1:] for one in (private, released)]
    return Distribution(name, labels, counts[0], counts[1], ticks=labels)


def _of_items(name: str, both: Sequence[Codes], top: Ints, universe: Universe) -> Distribution:
    """How often each of the top items occurs."""
    private, released = (np.bincount(codes, minlength=universe.size)[top] for codes in both)
    return Distribution(name, tuple(str(universe.label(int(code))) for code in top), private, released)


def _item_pairs(released: SetView, top: Ints, patterns: tuple[Patterns, Patterns], raw: SetView) -> Matrices:
    """The share of sets that hold each pair of items."""
    shares = [
        pair_counts(one, len(top)) / max(1, view.records) for one, view in zip(patterns, (raw, released), strict=True)
    ]
    names = tuple(released.label(code) for code in top)
    distances = np.abs(shares[0] - shares[1])
    change, most = of_pairs(distances), max(float(of_pairs(one).max(initial=1e-9)) for one in shares)
    lines = []
    if len(change):
        about = f"{len(change):,} pairs of items: the share of sets that hold both differs by"
        lines = [f"{about} {100 * change.mean():.2f} % on average, at most {100 * change.max():.2f} %"]
    return Matrices(names, shares[0], shares[1], distances, tuple(lines), "Share of sets that hold both items.", most)


def _asked_of_sets(view: SetView, top: Ints, patterns: tuple[Patterns, Patterns], asker: SetAsker) -> Iterator[Asked]:
    """How many sets hold each frequent item, and random pairs and triples that occur in released sets."""
    dice, (masks, counts) = public_dice(0), patterns[1]
    wanted = [1 << place for place in range(len(top))]
    several = np.bitwise_count(masks) > 1
    if several.any():
        chances = counts[several] / counts[several].sum()
        for mask in dice.choice(masks[several], QUESTIONS // 2, p=chances).tolist():
            bits = [1 << place for place in range(len(top)) if mask >> place & 1]
            size = min(len(bits), int(dice.integers(2, 4)))
            wanted.append(sum(dice.choice(bits, size, replace=False).tolist()))
    for pattern in dict.fromkeys(wanted):
        held = [top[place] for place in range(len(top)) if pattern >> place & 1]
        text, question = " and ".join(map(view.label, held)), join(True, [has(code) for code in held])
        yield answer(text, len(held), holding(patterns[0], pattern), question, asker)


def _asked_of_sequences(private: SequenceCodes, asker: SequenceAsker) -> Iterator[Asked]:
    """How many sequences contain one symbol after another, directly and later."""
    workload, universe = asker.workload(0), asker.universe
    for place, pair in list(enumerate(workload.pairs.tolist()))[:: -(-workload.cells // MOST_ASKED)]:
        sign = (" ", " > ") if place < workload.near else (" ... ", " > ... > ")
        key, text = sign[0].join(map(str, pair)), sign[1].join(str(universe.label(code)) for code in pair)
        yield answer(text, 2, int(private(key).sum()), OneColumn(key, HELD), asker)
