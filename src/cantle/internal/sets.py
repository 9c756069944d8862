"""Sets of items in `cantle check` (undeclared items, empty sets, sizes) and in `cantle evaluate` (sizes, items, pairs
of items and random questions), read as `publish` would read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from cantle.data.fimi import token_texts
from cantle.data.sets import as_long_table, read_baskets, set_column
from cantle.data.tables import as_ids, read_batches
from cantle.drawing.counts import public_dice
from cantle.internal.comparison import Comparison, Distribution, Fact, Matrices
from cantle.internal.findings import Checked, Examples, Finding, Section
from cantle.internal.questions import QUESTIONS, Asked, answer
from cantle.release import Release
from cantle.release.answers.set_answers import SetAsker
from cantle.release.report.groupings import Ints
from cantle.release.report.sets import SetView, has, holding, pair_counts
from cantle.release.schemas import schema_as
from cantle.schema.code_sets import join
from cantle.schema.sets import SetSchema
from cantle.schema.values import text_of
from cantle.trusted.core.arrays import Codes


@dataclass(frozen=True, repr=False)
class _Part:
    """Occurrences of items in a part of the file: their texts and codes (-1: not declared), the number of records that
    begin there, and the ids of the rows if the file has ids."""

    texts: pl.Series
    codes: Codes
    records: int = 0
    ids: pl.Series | None = None


def check_sets(path: Path, schema: SetSchema) -> Checked:
    """What `publish` would do with each set."""
    baskets = read_baskets(path, schema)
    if baskets.form.form == "fimi":
        schema.universe.check_fimi()
    sizes = np.diff(baskets.starts)
    undeclared, occurrences, records, ids = Examples(), 0, 0, []
    for part in _parts(path, schema, baskets.form.form):
        undeclared.add(part.texts.filter(pl.Series(part.codes < 0)))
        occurrences, records = occurrences + len(part.codes), records + part.records
        if part.ids is not None:
            ids.append(part.ids)
    anonymous = 0
    if ids:
        every = pl.concat(ids)
        anonymous, records = int(every.is_null().sum()), every.drop_nulls().n_unique()
    count, distinct, shown = undeclared.found()
    used = len(sizes)
    lost = "sets not used, because no declared item is left"
    if schema.person is not None:
        lost += f" or at most {schema.max_records} per person are used"
    items = [Finding("not a declared item", count, occurrences, becomes="left out", distinct=distinct, examples=shown)]
    repeats = occurrences - count - anonymous - int(sizes.sum())
    if schema.person is None and not anonymous:
        items.append(Finding("an item that its set already has", max(0, repeats), occurrences, problem=False))
    sets = [Finding(lost, max(0, records - used), records)]
    if anonymous:
        sets.append(Finding("rows without an id", anonymous, occurrences, becomes="left out"))
    facts: dict[str, int | float] = {"items declared": schema.universe.size}
    facts["items that occur"] = len(np.unique(baskets.items))
    if used:
        low, middle, high = np.percentile(sizes, [5, 50, 95], method="inverted_cdf")
        facts |= {"items per set, on average": float(sizes.mean()), "5 % of sets have at most": int(low)}
        facts |= {"half of the sets have at most": int(middle), "95 % of sets have at most": int(high)}
        facts["items of the largest set"] = int(sizes.max())
    return Checked("sets", "sets", records, used, (Section("sets", tuple(sets)), Section("items", tuple(items))), facts)


def _parts(path: Path, schema: SetSchema, form: str) -> Iterator[_Part]:
    if form == "fimi":
        for lines, texts, codes in token_texts(path, schema.dialect.encoding, schema.universe):
            yield _Part(texts, codes, len(np.unique(lines)))
    elif form == "list":
        series = set_column(path, schema)
        assert series is not None  # this form always has a series
        flat = series.filter(series.list.len().fill_null(0) > 0).explode()
        yield _Part(text_of(flat), schema.universe.encode(flat), len(series))
    else:
        table, of, what = as_long_table(schema)
        for raw in read_batches(path, table, ids=(of,)):
            column = raw.frame[what]
            ids = as_ids(raw.frame[of], schema.missing_values)
            yield _Part(text_of(column), schema.universe.encode(column), ids=ids)


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


def compare_sets(path: Path, release: Release) -> Comparison:
    schema = schema_as(release.manifest, SetSchema)
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
        _of_sizes(raw.sizes, released.sizes),
        Distribution(
            "most frequent items",
            tuple(released.label(code) for code in top[:SHOWN]),
            raw.supports[top[:SHOWN]],
            released.supports[top[:SHOWN]],
        ),
    )
    asked = _asked(released, top, patterns, SetAsker(release))
    return Comparison("sets", facts, distributions, _item_pairs(released, top[:SHOWN], patterns, raw), tuple(asked))


def _mean_size(view: SetView) -> float:
    return len(view.items) / max(1, view.records)


def _of_sizes(private: Ints, released: Ints) -> Distribution:
    """Numbers of sets of size 1, 2, … up to a limit, and of all larger sets together."""
    most = min(SHOWN, max(len(private), len(released)) - 1)
    labels = (*map(str, range(1, most + 1)), f"{most + 1} or more")
    padded = [np.pad(one, (0, max(0, most + 2 - len(one)))) for one in (private, released)]
    counts = [np.append(one[1 : most + 1], one[most + 1 :].sum()) for one in padded]
    return Distribution("sizes of sets", labels, counts[0], counts[1], ticks=labels)


def _item_pairs(released: SetView, top: Ints, patterns: tuple[Patterns, Patterns], raw: SetView) -> Matrices:
    """The share of sets that hold each pair of items."""
    shares = [
        pair_counts(one, len(top)) / max(1, view.records) for one, view in zip(patterns, (raw, released), strict=True)
    ]
    names = tuple(released.label(code) for code in top)
    return ItemsTogether(names, shares[0], shares[1], np.abs(shares[0] - shares[1]))


def _asked(view: SetView, top: Ints, patterns: tuple[Patterns, Patterns], asker: SetAsker) -> list[Asked]:
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
