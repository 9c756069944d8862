"""Sequences in `cantle check` (undeclared symbols, unreadable orders, lengths) and in `cantle evaluate` (lengths,
symbols, what follows what), read as `publish` would read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from cantle.data.fimi import token_texts
from cantle.data.sets import as_long_table, is_log, read_baskets, set_column
from cantle.data.tables import as_ids, read_batches
from cantle.internal.comparison import Comparison, Distribution, Fact
from cantle.internal.findings import Checked, Examples, Finding, Section
from cantle.internal.questions import Asked, answer
from cantle.release import Release
from cantle.release.answers.sequence_answers import HELD, SequenceAsker
from cantle.release.schemas import schema_as
from cantle.release.sequences import SequenceCodes
from cantle.schema.code_sets import OneColumn
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import UNREAD
from cantle.schema.values import text_of
from cantle.trusted.core.arrays import Ints

SHOWN, MOST_ASKED = 20, 100
_TIES = "events of one sequence at the same time: sorted by their symbols"
_UNFORMATTED = ": they are not in ISO 8601, and `order` has no `format`"


def check_sequences(path: Path, schema: SequenceSchema) -> Checked:
    """What `publish` would do with each sequence."""
    read = read_baskets(path, schema)
    if read.form.form == "lines":
        schema.universe.check_fimi()
    lengths = np.diff(read.starts)
    undeclared, events, lost = Examples(), 0, dict[str, int]()
    if read.form.form == "long":
        records = _check_long(path, schema, undeclared, lost)
        events = lost.pop("events")
    elif not is_log(path, schema):
        records = 0
        for texts, codes, number in _parts(path, schema, read.form.form):
            undeclared.add(texts.filter(pl.Series(codes < 0)))
            events, records = events + len(codes), records + number
    else:
        records, events = len(lengths), int(lengths.sum())
    count, distinct, shown = undeclared.found()
    findings = [Finding("not a declared symbol", count, events, becomes="left out", distinct=distinct, examples=shown)]
    ties = lost.pop(_TIES, 0)
    findings += [Finding(name, number, events, becomes="left out") for name, number in lost.items() if number]
    findings += [Finding(_TIES, ties, events, problem=False)] if ties else []
    longest = int((lengths == schema.max_length).sum())
    of_records = [Finding("sequences not used, because no symbol is left", max(0, records - len(lengths)), records)]
    if longest:
        words = f"sequences of {schema.max_length:,} symbols or more, of which these are used (`max_length`)"
        of_records.append(Finding(words, longest, records, problem=False))
    facts: dict[str, int | float] = {"symbols declared": schema.universe.size}
    facts["symbols that occur"] = len(np.unique(read.items))
    if len(lengths):
        low, middle, high = np.percentile(lengths, [5, 50, 95], method="inverted_cdf")
        facts |= {"symbols per sequence, on average": float(lengths.mean()), "5 % of sequences have at most": int(low)}
        facts |= {"half of the sequences have at most": int(middle), "95 % of sequences have at most": int(high)}
        facts["symbols of the longest sequence"] = int(lengths.max())
    sections = Section("sequences", tuple(of_records)), Section("symbols", tuple(findings))
    return Checked("sequences", "sequences", records, len(lengths), sections, facts)


def _parts(path: Path, schema: SequenceSchema, form: str) -> list[tuple[pl.Series, Ints, int]]:
    """The texts and codes of symbols, and the number of records, of parts of a file of lines or lists."""
    if form == "lines":
        found = token_texts(path, schema.dialect.encoding, schema.universe)
        return [(texts, codes.astype(np.int64), len(np.unique(lines))) for lines, texts, codes in found]
    series = set_column(path, schema)
    assert series is not None  # this form always has a series
    flat = series.filter(series.list.len().fill_null(0) > 0).explode()
    return [(text_of(flat), schema.universe.encode(flat).astype(np.int64), len(series))]


def _check_long(path: Path, schema: SequenceSchema, undeclared: Examples, lost: dict[str, int]) -> int:
    """Counts rows that are left out, and ties; returns the number of sequences."""
    (table, of, what), order, ids, keys = as_long_table(schema), schema.order, list[pl.Series](), list[pl.DataFrame]()
    assert order is not None  # a long table of sequences always has one
    unread = f"rows whose {order.column!r} cannot be read as {order.type}"
    unread += _UNFORMATTED if order.type in ("date", "datetime") and order.format is None else ""
    lost |= {"events": 0, "rows without an id": 0, unread: 0}
    for raw in read_batches(path, table, ids=(of,)):
        codes, names = schema.universe.encode(raw.frame[what]), as_ids(raw.frame[of], schema.missing_values)
        places = order.places(raw.frame[order.column], schema.missing_values)
        undeclared.add(text_of(raw.frame[what]).filter(pl.Series(codes < 0)))
        for name, number in zip(lost, (len(codes), names.null_count(), int((places == UNREAD).sum())), strict=True):
            lost[name] += number
        ids.append(names)
        keys.append(pl.DataFrame({"id": names, "place": places, "code": codes}))
    rows = pl.concat(keys).filter(pl.col("place") != UNREAD, pl.col("code") >= 0).unique()
    ties = len(rows) - rows.select("id", "place").n_unique()
    lost[_TIES] = ties
    return int(pl.concat(ids).drop_nulls().n_unique())


def compare_sequences(path: Path, release: Release) -> Comparison:
    schema, asker = schema_as(release.manifest, SequenceSchema), SequenceAsker(release)
    raw, held = read_baskets(path, schema), asker.sequences
    one, two = np.diff(raw.starts), np.diff(held.starts)
    size = schema.universe.size
    counts = [np.bincount(codes, minlength=size) for codes in (raw.items, held.codes)]
    top = np.argsort(-counts[1], kind="stable")[:SHOWN]
    names = tuple(str(schema.universe.label(int(code))) for code in top)
    ends = [
        Distribution(name, names, np.bincount(one_, minlength=size)[top], np.bincount(other, minlength=size)[top])
        for name, one_, other in (
            ("first symbols", raw.items[raw.starts[:-1]], held.codes[held.starts[:-1]]),
            ("last symbols", raw.items[raw.starts[1:] - 1], held.codes[held.starts[1:] - 1]),
        )
    ]
    facts = (
        Fact("sequences", len(one), len(two)),
        Fact("symbols per sequence", float(one.sum()) / max(1, len(one)), float(two.sum()) / max(1, len(two))),
        Fact("symbols that occur", int((counts[0] > 0).sum()), int((counts[1] > 0).sum())),
    )
    symbols = Distribution("most frequent symbols", names, counts[0][top], counts[1][top])
    asked = _asked(SequenceCodes(raw.starts, raw.items), asker)
    return Comparison("sequences", facts, (_lengths(one, two), symbols, *ends), asked=tuple(asked))


def _lengths(private: Ints, released: Ints) -> Distribution:
    """Numbers of sequences of length 1, 2, … up to a limit, and of all longer ones together."""
    most = min(SHOWN, int(max(private.max(initial=1), released.max(initial=1))))
    labels = (*map(str, range(1, most + 1)), f"{most + 1} or more")
    counts = [np.bincount(np.minimum(one, most + 1), minlength=most + 2)[1:] for one in (private, released)]
    return Distribution("lengths", labels, counts[0], counts[1], ticks=labels)


def _asked(private: SequenceCodes, asker: SequenceAsker) -> list[Asked]:
    """How many sequences contain one symbol after another, directly and later."""
    workload, universe, answers = asker.workload(0), asker.universe, list[Asked]()
    for place, pair in list(enumerate(workload.pairs.tolist()))[:: -(-workload.cells // MOST_ASKED)]:
        sign = (" ", " > ") if place < workload.near else (" ... ", " > ... > ")
        key, text = sign[0].join(map(str, pair)), sign[1].join(str(universe.label(code)) for code in pair)
        answers.append(answer(text, 2, int(private(key).sum()), OneColumn(key, HELD), asker))
    return answers
