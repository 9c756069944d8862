"""Releases of sets of items: how they are stored, returned and described."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cantle.data.fimi import read_tokens
from cantle.drawing.counts import Dice
from cantle.drawing.records import csv_of, give_back, give_back_lists
from cantle.drawing.results import Results
from cantle.drawing.set_frames import give_back_sets, to_frame, to_long, write_fimi
from cantle.errors import DataError, VerifyError, raise_alone
from cantle.release import set_verdict
from cantle.release.bars import bars
from cantle.release.manifest import Manifest
from cantle.release.words import NOT_MEASURED, declared_names, drawn_records, write_plain
from cantle.schema.items import SPACE, Universe
from cantle.schema.sets import SetForm, SetSchema

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.methods.own_error.measured_pairs import Pair
    from cantle.release import Release
    from cantle.release.verdict_words import Uses
    from cantle.schema.canonical_json import JSON
    from cantle.schema.code_sets import Key
    from cantle.schema.domain import Attribute
    from cantle.trusted.core.arrays import Codes, Ints
    from cantle.trusted.geometry.workloads import SetWorkload

_MOST = 8  # most items that are shown in bars
UNSAID: dict[str, JSON] = {}
FORMATS: tuple[str, ...] = ("csv", "parquet", "fimi")
NOUN, RECORD, RECORDS = "sets", "set", "synthetic sets"
PRODUCT, BARE = "Synthetic data", "Synthetic data"
COUNTED, PART = "sets", "item"
ONE_NUMBER = False
COLUMNS, NOISE_NOTE = "Most frequent items", NOT_MEASURED
MADE = "{n} synthetic sets of items, drawn from noisy counts"
_OF_FORM = {"fimi": "fimi", "long": "csv", "list": "parquet"}


def default_format(manifest: Manifest) -> str:
    return _OF_FORM[manifest.form["form"]]


def require_format(schema: SetSchema, asked: str) -> None:
    if asked == "fimi":
        schema.universe.check_fimi()


def column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    import polars as pl

    form, item = manifest.form, _item_type(manifest)
    if form["form"] == "long":
        return {form["id"]: pl.Int64(), form["item"]: item}
    return {form["column"]: pl.List(item)}


def write(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
    """Writes FIMI lines, a long table (csv) or a column of lists (parquet)."""
    form = manifest.form
    if data == "csv" and form["form"] == "long":  # it is a long table already; a second one may not fit in memory
        write_plain(frame, path, data, manifest)
        return
    frame = list_frame(frame, manifest)
    if data == "fimi":
        write_fimi(frame, path)
    elif data == "csv":
        write_plain(to_long(frame).rename({"id": form["id"], "item": form["item"]}), path, data, manifest)
    else:
        write_plain(frame.rename({"items": form["column"]}), path, data, manifest)


def read(path: Path, stored: str, manifest: Manifest, schema: SetSchema) -> pl.DataFrame:
    import polars as pl

    form = manifest.form
    if stored == "fimi":
        frame = read_fimi_frame(path, schema.universe)
    elif stored == "parquet":
        frame = pl.read_parquet(path).rename({form["column"]: "items"})
    else:
        item = pl.Int64() if schema.universe.integers else pl.String()
        long = pl.read_csv(path, schema={form["id"]: pl.Int64(), form["item"]: item}).rename(
            {form["id"]: "id", form["item"]: "item"}
        )
        frame = _lists(long)
    return give_back_sets(frame, form_of(manifest))


def read_fimi_frame(path: Path, universe: Universe) -> pl.DataFrame:
    """The frame of sets in a file of `write_fimi`; raises VerifyError if the file cannot be one."""
    lines, codes, before = [], [], 0
    try:
        for line, code in read_tokens(path, "utf-8", universe):
            lines.append(line + before)
            codes.append(code)
            before += int(line[-1]) + 1
    except DataError:
        raise_alone(VerifyError(f"{path.name!r} is missing or cannot be read"))
    if any((part < 0).any() for part in codes):
        raise VerifyError(f"{path.name!r} does not hold FIMI lines of declared items only")
    starts = np.zeros(before + 1, dtype=np.int64)
    if before:
        starts[1:] = np.cumsum(np.bincount(np.concatenate(lines), minlength=before))
    return to_frame(starts, np.concatenate([*codes, np.zeros(0, np.int32)]), universe)


def form_of(manifest: Manifest) -> SetForm:
    """The public form of sets, for polars frames."""
    return SetForm(**{**manifest.form, "frame": "polars"})


def list_frame(records: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Released sets as one column of lists `items`, whatever form they were returned in."""
    import polars as pl

    form = manifest.form
    if form["form"] == "long":
        return _lists(records.rename({form["id"]: "id", form["item"]: "item"}))
    if records.is_empty():  # an empty pandas column has no type that says it holds lists
        return pl.DataFrame(schema={"items": pl.List(_item_type(manifest))})
    return records.select(records[form["column"]].alias("items"))


def _item_type(manifest: Manifest) -> pl.DataType:
    """Int64, or String if an item is declared as a text."""
    import polars as pl

    declared = manifest.schema["items"]
    return pl.String() if isinstance(declared, list) and isinstance(declared[0], str) else pl.Int64()


def _lists(long: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return long.group_by("id", maintain_order=True).agg(pl.col("item").alias("items")).select("items")


def as_text(frame: pl.DataFrame, manifest: Manifest) -> str:
    """FIMI lines, if the sets were not a long table and their items allow it; otherwise CSV."""
    import polars as pl

    if manifest.form["form"] == "long":
        return csv_of(frame)
    sets = list_frame(frame, manifest)
    items = sets["items"].list.eval(pl.element().cast(pl.String))
    if items.explode().str.contains(SPACE).any():
        return to_long(sets).write_csv()
    return "".join(f"{line}\n" for line in items.list.join(" "))


def number_of(frame: pl.DataFrame, manifest: Manifest) -> int:
    """The number of records; in a long table, a record has one row per item."""
    return frame[manifest.form["id"]].n_unique() if manifest.form["form"] == "long" else len(frame)


def given_back(results: Results, form: dict[str, str], schema: SetSchema) -> Drawn | NativeFrame:  # noqa: ARG001
    return give_back_sets(results.records, SetForm(**form))


def in_frame(frame: pl.DataFrame, kind: str, manifest: Manifest) -> NativeFrame:
    column = manifest.form.get("column", "")
    return give_back_lists(frame, kind, column) if manifest.form["form"] != "long" else give_back(frame, kind)


def attributes(schema: SetSchema) -> dict[str, Attribute]:  # noqa: ARG001
    return {}


def code_reader(frame: pl.DataFrame, manifest: Manifest, schema: SetSchema) -> Callable[[Key], Codes]:
    return SetCodes(list_frame(frame, manifest)["items"], schema.universe)


class SetCodes:
    """Sets of items as columns of codes: one column per item, with 0 or 1, and one for the size."""

    def __init__(self, sets: pl.Series, universe: Universe) -> None:
        sizes = sets.list.len().to_numpy().astype(np.int64)
        self._sizes = sizes
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._items = universe.encode(sets.explode(empty_as_null=False)).astype(np.int64)

    def __call__(self, key: Key) -> Ints:
        if key == "size":
            return self._sizes
        held = np.zeros(len(self._sizes), dtype=np.int64)
        held[self._owner[self._items == key]] = 1
        return held

    @cached_property
    def supports(self) -> Ints:
        """How many sets hold each item, by its code."""
        return np.bincount(self._items)


def broken_rules(frame: pl.DataFrame, manifest: Manifest, schema: SetSchema) -> Iterator[str]:  # noqa: ARG001
    """Schemas of sets have no rules."""
    return iter(())


def own_questions(frame: pl.DataFrame, release: Release, schema: SetSchema, dice: Dice) -> SetWorkload:  # noqa: ARG001
    from cantle.methods.own_error.set_workload import Counted, set_workload

    sets = list_frame(frame, release.manifest)["items"]
    starts = np.concatenate([[0], np.cumsum(sets.list.len().to_numpy().astype(np.int64))])
    codes = schema.universe.encode(sets.explode(empty_as_null=False)).astype(np.int64)
    counted = Counted.of(schema.universe, release.groups, release.manifest.summary)
    return set_workload((starts, codes), counted)


def pairs_of(release: Release) -> tuple[set[Pair], set[Pair]]:  # noqa: ARG001
    return set(), set()


def column_lines(
    frame: pl.DataFrame,
    manifest: Manifest,
    schema: SetSchema,  # noqa: ARG001
    everything: bool = True,  # noqa: ARG001
) -> Iterator[str]:
    """The most frequent items of the released sets, as small bars."""
    sets = list_frame(frame, manifest)["items"]
    held = sets.explode(empty_as_null=False).drop_nulls().value_counts(sort=True).head(_MOST)
    if len(held):
        yield from bars([str(item) for item in held.to_series(0)], held["count"].to_list(), len(sets))


def redraw(frame: pl.DataFrame, n: int, dice: Dice, manifest: Manifest) -> pl.DataFrame:
    sets = list_frame(frame, manifest)
    drawn = dice.integers(0, max(1, len(sets)), n if len(sets) else 0)
    return give_back_sets(sets[drawn], form_of(manifest))


def accuracy_sentence(manifest: Manifest) -> str:
    return set_verdict.sentence(manifest.accuracy, manifest.summary["records"])


def more_accuracy(manifest: Manifest) -> Iterator[str]:  # noqa: ARG001
    yield set_verdict.WEAKER


def verdict_notes(release: Release) -> Iterator[str]:  # noqa: ARG001
    """Notes on sets follow from the summary alone (interfaces/notes.py)."""
    return iter(())


def uses(release: Release) -> Uses:
    return set_verdict.uses(release.manifest)


def outcome(manifest: Manifest, regions: str) -> str:
    return drawn_records(manifest, "set", regions)


def fitted(manifest: Manifest) -> str:  # noqa: ARG001
    return ""


def described(manifest: Manifest, stored: str) -> dict[str, JSON]:
    """The schema of the data file; FIMI lines have none."""
    form = manifest.form
    if stored == "dat":
        return {}
    long = [{"name": form["id"], "type": "integer"}, {"name": form["item"]}]
    return {"schema": {"fields": long if stored == "csv" else [{"name": form["column"], "type": "array"}]}}


def data_domain(manifest: Manifest) -> str:
    universe = declared_names(manifest, "items")
    return f"Collections of any number of sets (also zero) of items of a public universe ({universe})."
