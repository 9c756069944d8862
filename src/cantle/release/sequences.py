"""Releases of sequences: how they are stored, returned and described, how accurate they are, and for what.

They share the forms of sets, with an order. Accuracy and uses follow from public numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cantle.data.xes import read_xes
from cantle.drawing.records import as_frame, csv_of
from cantle.drawing.set_frames import to_frame, to_long, write_fimi, write_xes
from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import WORST_DOUBT, bound_of, noise_scale
from cantle.release.manifest import Manifest
from cantle.release.released_kind import DRAWN, ReleasedKind, Texts
from cantle.release.sets import form_of, item_type, list_frame, read_fimi_frame
from cantle.release.structures import traits_of
from cantle.release.words import (
    SWITCHED_OFF,
    TOO_FEW,
    Right,
    Uses,
    declared_names,
    drawn_records,
    groups,
    line,
    points,
    write_plain,
)
from cantle.schema.items import SPACE, Universe
from cantle.schema.sequence_questions import pattern_of
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import SetForm
from cantle.trusted.core.arrays import Codes, Ints

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.release import Release
    from cantle.release.answers.sequence_answers import SequenceAsker
    from cantle.schema.canonical_json import JSON
    from cantle.schema.code_sets import Key

BEYOND = "What depends on longer strings than were counted, such as returns after a long gap, comes out too weak."


def sentence(accuracy: Accuracy | None, released: int) -> str:
    """The accuracy in one sentence, as `publish`, `show`, the statement, the report and Python print it."""
    if accuracy is None or not accuracy.bought:
        return SWITCHED_OFF if accuracy is None else TOO_FEW
    parts = rights(accuracy, released)
    return line("The share of sequences", parts) if parts else TOO_FEW


def rights(accuracy: Accuracy | None, released: int) -> list[Right]:
    """The measured errors of shares of sequences."""
    kinds = ("together", "for one symbol directly after another"), ("apart", "for one at any time after another")
    known = [] if accuracy is None or not accuracy.bought else [(getattr(accuracy, key), about) for key, about in kinds]
    parts = list[Right]()
    for error, about in known:
        if error is not None:
            level = bound_of(error, WORST_DOUBT) / max(1, released)
            parts.append(Right(level, about, WORST_DOUBT * noise_scale(error) > level * released / 2))
    return parts


def middle(accuracy: Accuracy | None, released: int) -> float | None:
    """The one figure of that sentence that stands for all, from 0 to 1."""
    return max((right.error for right in rights(accuracy, released)), default=None)


def uses(manifest: Manifest) -> Uses:
    """What the sequences are good for and what they are not good for."""
    released, order = manifest.summary["records"], manifest.summary["order"]
    bad = ["looking up or matching single sequences: they are made up"]
    if not released:
        return Uses(("nothing: no sequence was released",), tuple(bad))
    good = ["how long sequences are", "with which symbols they start and end"]
    if order > 1 and not knows_order(manifest):
        bad.append("which symbol follows which, beyond the most frequent: no order of symbols was measured well")
    elif order > 1:
        whole = manifest.summary["whole_up_to"]
        short = f", and whole sequences of up to {whole}" if whole > 1 else ""
        good.append(f"strings of up to {order} symbols{short}")
        level = middle(manifest.accuracy, released)
        if level is not None:
            good[-1] += f"; what follows what is right to ±{points(level)} percentage points"
            sizes = groups(level, released, "sequences", "with one symbol after another")
            good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    return Uses(tuple(good), (*bad, *_lost(order)))


def knows_order(manifest: Manifest) -> bool:
    """Whether there were sequences enough for this epsilon to measure which symbol follows which."""
    return not traits_of(manifest).besides


def _lost(order: int) -> Iterator[str]:
    if order == 1:
        yield "which symbol follows which: no order of symbols was measured"
    else:
        yield f"what depends on more than {order} symbols in a row, such as returns after a long gap"
    yield "when things happened: times are not released"


def _column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    import polars as pl

    form, item = manifest.form, item_type(manifest)
    if form["form"] == "long":
        return {form["id"]: pl.Int64(), form["order"]: pl.Int64(), form["item"]: item}
    return {form["column"]: pl.List(item)}


def _long(frame: pl.DataFrame, form: dict[str, str]) -> pl.DataFrame:
    """A long table: sequences are numbered from 1, and so are the symbols of each."""
    import polars as pl

    long = to_long(frame).with_columns(place=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("id"))
    order = form.get("order") or "position"
    return long.select(pl.col("id").alias(form["id"]), pl.col("place").alias(order), pl.col("item").alias(form["item"]))


def _write(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
    """Writes lines, a long table (csv), a column of lists (parquet), or an event log (xes)."""
    form, lists = manifest.form, list_frame(frame, manifest)
    if data == "fimi":
        write_fimi(lists, path)
    elif data == "xes":
        write_xes(lists, path)
    elif data == "csv":
        write_plain(_long(lists, form), path, data, manifest)
    else:
        write_plain(lists.rename({"items": form["column"]}), path, data, manifest)


def _read(path: Path, stored: str, manifest: Manifest, schema: SequenceSchema) -> pl.DataFrame:
    import polars as pl

    form, item = manifest.form, item_type(manifest)
    if stored == "fimi":
        frame = read_fimi_frame(path, schema.universe, schema.max_length)
    elif stored == "xes":
        plain = SequenceSchema(universe=schema.universe, max_length=schema.max_length, form="xes")
        parts = list(read_xes(path, plain))
        records = np.concatenate([np.zeros(0, np.int64), *(records for records, _ in parts)])
        codes = np.concatenate([np.zeros(0, np.int32), *(codes for _, codes in parts)])
        frame = to_frame(np.append(0, np.cumsum(np.bincount(records))), codes, schema.universe)
    elif stored == "parquet":
        frame = pl.read_parquet(path).rename({form["column"]: "items"})
    else:
        order = form.get("order") or "position"
        long = pl.read_csv(path, schema={form["id"]: pl.Int64(), order: pl.Int64(), form["item"]: item})
        frame = list_frame(long.sort(form["id"], order, maintain_order=True), manifest, long=True)
    made: pl.DataFrame = _given_back(frame, form_of(manifest).to_dict(), schema)  # type: ignore[assignment]
    return made


def _as_text(frame: pl.DataFrame, manifest: Manifest) -> str:
    """Lines of symbols, if the sequences were not a long table and their symbols allow it; otherwise CSV."""
    import polars as pl

    if manifest.form["form"] == "long":
        return csv_of(frame)
    lists = list_frame(frame, manifest)
    symbols = lists["items"].list.eval(pl.element().cast(pl.String))
    if symbols.explode().str.contains(SPACE).any():
        return _long(lists, manifest.form).write_csv()
    return "".join(f"{line}\n" for line in symbols.list.join(" "))


def _given_back(drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: object) -> Drawn | NativeFrame:  # noqa: ARG001
    from cantle.drawing.records import give_back

    frame, shape = as_frame(drawn), SetForm(**form)
    if shape.form == "long":
        return give_back(_long(frame, form), shape.frame)
    return give_back(frame.rename({"items": shape.column}), shape.frame)


def most_frequent(sequences: pl.Series, shown: int) -> list[tuple[list[str], int]]:
    """The most frequent whole sequences of any length and their numbers, the most frequent first, then by name."""
    import polars as pl

    symbols = sequences.cast(pl.List(pl.String)).alias("symbols")
    held = symbols.value_counts().with_columns(named=pl.col("symbols").list.join(" > "))
    most = held.sort("count", "named", descending=[True, False]).head(shown)
    return most.select("symbols", "count").rows()


class SequenceCodes:
    """Sequences as columns of codes: length, first and last symbol, and 0 or 1 for each string in a question."""

    def __init__(self, starts: Ints, codes: Codes) -> None:
        self.starts, self.codes = starts, codes.astype(np.int64)
        self._owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    @staticmethod
    def of(sequences: pl.Series, universe: Universe) -> SequenceCodes:
        """Those of a column of lists."""
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sequences.list.len().to_numpy().astype(np.int64))])
        return SequenceCodes(starts, universe.encode(sequences.explode(empty_as_null=False)))

    def __call__(self, key: Key) -> Codes:
        if key == "length":
            return np.diff(self.starts)
        if key == "first":
            return self.codes[self.starts[:-1]]
        if key == "last":
            return self.codes[self.starts[1:] - 1]
        ends = self.starts[:-1] - 1  # of what was found, in each sequence
        for part in pattern_of(key):
            ends = self._after(np.array(part), ends)
        return (ends < len(self.codes)).astype(np.int64)

    def _after(self, part: Ints, ends: Ints) -> Ints:
        """Where this string ends first in each sequence, after where the one before it ended; past all if nowhere."""
        count, size = len(self.codes), len(part)
        found = np.full(len(ends), count)
        if size > count:
            return found
        begins = np.arange(count - size + 1)
        here = self._owner[begins] == self._owner[begins + size - 1]
        for place, symbol in enumerate(part.tolist()):
            here &= self.codes[begins + place] == symbol
        at = begins[here]
        at = at[at > ends[self._owner[at]]]
        np.minimum.at(found, self._owner[at], at + size - 1)
        return found


def _asker(release: Release) -> SequenceAsker:
    from cantle.release.answers.sequence_answers import SequenceAsker  # which imports the kinds of data

    return SequenceAsker(release)


def _texts(manifest: Manifest) -> Texts:
    form, traits = manifest.form, traits_of(manifest)
    long: list[JSON] = [{"name": form.get("id", ""), "type": "integer"}]
    long += [{"name": form.get("order") or "position", "type": "integer"}, {"name": form.get("item", "")}]
    lists: list[JSON] = [{"name": form.get("column", ""), "type": "array"}]
    said = (sentence(manifest.accuracy, manifest.summary["records"]), BEYOND)
    universe = declared_names(manifest, "items")
    return Texts(
        drawn_records(manifest, "sequence", traits.released) + traits.besides,
        DRAWN,
        f"Collections of any number of sequences (also zero) of symbols of a public alphabet ({universe}).",
        {"dat": {}, "xes": {}, "csv": {"schema": {"fields": long}}, "parquet": {"schema": {"fields": lists}}},
        said,
    )


KIND = ReleasedKind(
    noun="sequences",
    record="sequence",
    records="synthetic sequences",
    counted="sequences",
    part="symbol",
    how="{n} synthetic sequences of symbols, drawn from noisy counts",
    formats=("csv", "parquet", "fimi", "xes"),
    usual_format={"lines": "fimi", "long": "csv", "list": "parquet", "xes": "xes"},
    column_types=_column_types,
    write=_write,
    read=_read,
    as_text=_as_text,
    given_back=_given_back,
    asker=_asker,
    uses=lambda release: uses(release.manifest),
    texts=_texts,
)
