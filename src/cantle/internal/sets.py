"""Sets of items and sequences of symbols in `cantle check` (what the schema loses) and in `cantle evaluate` (sizes,
items, pairs of items, what follows what and questions, private beside released), read as `publish` would read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from cantle.data.fimi import token_texts
from cantle.data.long_tables import as_long_table, columns_of
from cantle.data.sets import Baskets, read_baskets, set_column
from cantle.data.tables import as_ids, read_batches
from cantle.drawing.counts import public_dice
from cantle.internal.comparison import Comparison, Distribution, Fact, Matrices, of_pairs
from cantle.internal.findings import Checked, Examples, Finding, Section
from cantle.internal.questions import QUESTIONS, Asked, answer
from cantle.release import Release
from cantle.release.answers.estimates import HELD
from cantle.release.answers.item_answers import SequenceAsker, SetAsker
from cantle.release.report.sets import SetView, has, holding, pair_counts
from cantle.release.schemas import schema_as
from cantle.release.sequences import SequenceCodes
from cantle.schema.code_sets import OneColumn, join
from cantle.schema.items import Universe
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import UNREAD, SetSchema
from cantle.schema.values import text_of
from cantle.trusted.core.arrays import Codes, Ints

_TIES = "events of one sequence at the same time: sorted by their symbols"
_UNFORMATTED = ": they are not in ISO 8601, and `order` has no `format`"


@dataclass(frozen=True)
class Nouns:
    """What a record is called, what it holds, and which record has the most."""

    record: str
    item: str
    largest: str


SET, SEQUENCE = Nouns("set", "item", "largest"), Nouns("sequence", "symbol", "longest")


def check_sets(path: Path, schema: SetSchema) -> Checked:
    """What `publish` would do with each set."""
    baskets = read_baskets(path, schema)
    found = _count(path, schema, baskets)
    lost = "sets not used, because no declared item is left"
    if schema.person is not None:
        lost += f" or at most {schema.max_records} per person are used"
    sets = [Finding(lost, max(0, found.records - len(baskets.starts) + 1), found.records)]
    items = [found.undeclared_of(SET)]
    if found.anonymous:
        sets.append(Finding("rows without an id", found.anonymous, found.occurrences, becomes="left out"))
    elif schema.person is None:
        repeats = max(0, found.occurrences - items[0].count - len(baskets.items))
        items.append(Finding("an item that its set already has", repeats, found.occurrences, problem=False))
    return _checked(SET, schema, baskets, found, sets, items)


def check_sequences(path: Path, schema: SequenceSchema) -> Checked:
    """What `publish` would do with each sequence."""
    baskets, events = read_baskets(path, schema), _Events(schema)
    found = _count(path, schema, baskets, events.add)
    symbols = [found.undeclared_of(SEQUENCE)]
    lost = {"rows without an id": found.anonymous, events.unread: events.without_place}
    symbols += [Finding(name, number, found.occurrences, becomes="left out") for name, number in lost.items() if number]
    if ties := events.ties():
        symbols.append(Finding(_TIES, ties, found.occurrences, problem=False))
    left = max(0, found.records - len(baskets.starts) + 1)
    sequences = [Finding("sequences not used, because no symbol is left", left, found.records)]
    if longest := int((np.diff(baskets.starts) == schema.max_length).sum()):
        words = f"sequences of {schema.max_length:,} symbols or more, of which these are used (`max_length`)"
        sequences.append(Finding(words, longest, found.records, problem=False))
    return _checked(SEQUENCE, schema, baskets, found, sequences, symbols)


def _checked(
    nouns: Nouns, schema: SetSchema, baskets: Baskets, found: _Found, records: list[Finding], items: list[Finding]
) -> Checked:
    """The result, with facts about sizes or lengths."""
    sizes, record, item = np.diff(baskets.starts), nouns.record, nouns.item
    facts: dict[str, int | float] = {f"{item}s declared": schema.universe.size}
    facts[f"{item}s that occur"] = len(np.unique(baskets.items))
    if len(sizes):
        low, middle, high = np.percentile(sizes, [5, 50, 95], method="inverted_cdf")
        facts |= {f"{item}s per {record}, on average": float(sizes.mean()), f"5 % of {record}s have at most": int(low)}
        facts |= {f"half of the {record}s have at most": int(middle), f"95 % of {record}s have at most": int(high)}
        facts[f"{item}s of the {nouns.largest} {record}"] = int(sizes.max())
    sections = Section(f"{record}s", tuple(records)), Section(f"{item}s", tuple(items))
    return Checked(f"{record}s", f"{record}s", found.records, len(sizes), sections, facts)


@dataclass(repr=False)
class _Found:
    """What occurs in a file before anything is left out."""

    records: int = 0
    occurrences: int = 0
    anonymous: int = 0
    """Rows without an id."""
    undeclared: Examples = field(default_factory=Examples)

    def add(self, texts: pl.Series, codes: Codes) -> None:
        """Some occurrences of items: their texts and codes (-1: not declared)."""
        self.occurrences += len(codes)
        self.undeclared.add(texts.filter(pl.Series(codes < 0)))

    def undeclared_of(self, nouns: Nouns) -> Finding:
        count, distinct, shown = self.undeclared.found()
        what = f"not a declared {nouns.item}"
        return Finding(what, count, self.occurrences, becomes="left out", distinct=distinct, examples=shown)


Look = Callable[[pl.DataFrame, pl.Series, Codes], None]
"""Looks at some rows of a long table, given with their ids and codes."""


def _count(path: Path, schema: SetSchema, baskets: Baskets, look: Look = lambda *_: None) -> _Found:
    found, form, universe = _Found(), baskets.form.form, schema.universe
    if form == schema.lines:
        universe.check_fimi()
        for lines, texts, codes in token_texts(path, schema.dialect.encoding, universe):
            found.add(texts, codes)
            found.records += len(np.unique(lines))
    elif form == "list":
        series = set_column(path, schema)
        assert series is not None  # this form always has a series
        flat = series.filter(series.list.len().fill_null(0) > 0).explode()
        found.add(text_of(flat), universe.encode(flat))
        found.records = len(series)
    elif form == "long":
        (of, what, *_), ids = columns_of(schema).values(), list[pl.Series]()
        for raw in read_batches(path, as_long_table(schema), ids=(of,)):
            codes = universe.encode(raw.frame[what])
            ids.append(as_ids(raw.frame[of], schema.missing_values))
            found.add(text_of(raw.frame[what]), codes)
            look(raw.frame, ids[-1], codes)
        every = pl.concat(ids)
        found.anonymous, found.records = every.null_count(), every.drop_nulls().n_unique()
    else:  # of a log, only declared symbols are read
        found.records, found.occurrences = len(baskets.starts) - 1, len(baskets.items)
    return found


class _Events:
    """The places of rows in a long table of sequences."""

    def __init__(self, schema: SequenceSchema) -> None:
        self._order, self._missing, self.without_place = schema.order, schema.missing_values, 0
        self._rows: list[pl.DataFrame] = []

    def __repr__(self) -> str:
        return "Events(private)"

    @property
    def unread(self) -> str:
        """What is wrong with rows without a place."""
        if self._order is None:
            return ""
        unformatted = self._order.type in ("date", "datetime") and self._order.format is None
        words = f"rows whose {self._order.column!r} cannot be read as {self._order.type}"
        return words + (_UNFORMATTED if unformatted else "")

    def add(self, frame: pl.DataFrame, ids: pl.Series, codes: Codes) -> None:
        assert self._order is not None  # a long table of sequences always has one
        places = self._order.places(frame[self._order.column], self._missing)
        self.without_place += int((places == UNREAD).sum())
        self._rows.append(pl.DataFrame({"id": ids, "place": places, "code": codes}))

    def ties(self) -> int:
        """How many rows of one sequence have the place of another one, with another symbol."""
        if not self._rows:
            return 0
        rows = pl.concat(self._rows).filter(pl.col("place") != UNREAD, pl.col("code") >= 0).unique()
        return len(rows) - rows.select("id", "place").n_unique()


# ---- a release beside its data --------------------------------------------------------------------------------------

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
