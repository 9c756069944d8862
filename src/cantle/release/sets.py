"""Releases of sets of items: how they are stored, returned and described, how accurate they are, and for what.

The last two follow from public numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle.data.fimi import read_tokens
from cantle.drawing.records import as_frame, csv_of
from cantle.drawing.set_frames import give_back_sets, to_frame, to_long, write_fimi
from cantle.errors import DataError, VerifyError, raise_alone
from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import WORST_DOUBT, bound_of, noise_scale
from cantle.release.manifest import Manifest
from cantle.release.released_kind import DRAWN, ReleasedKind, Texts
from cantle.release.structures import traits_of
from cantle.release.words import (
    BY_EARLIER,
    SWITCHED_OFF,
    TOO_FEW,
    Right,
    Uses,
    declared_names,
    drawn_records,
    groups,
    line,
    percent,
    points,
    write_plain,
)
from cantle.schema.items import SPACE, Universe
from cantle.schema.sets import SetForm, SetSchema

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.release import Release
    from cantle.release.answers.set_answers import SetAsker
    from cantle.schema.canonical_json import JSON
    from cantle.schema.code_sets import Key
    from cantle.trusted.core.arrays import Ints

WEAKER = "Connections between items tend to come out weaker than they are."


def sentence(accuracy: Accuracy | None, released: int) -> str:
    """The accuracy in one sentence, as `publish`, `show`, the statement, the report and Python print it."""
    if accuracy is None or not accuracy.bought:
        return SWITCHED_OFF if accuracy is None else TOO_FEW
    if accuracy.earlier is not None:
        return BY_EARLIER
    parts = _rights(accuracy, released)
    return line("The share of sets", parts) if parts else TOO_FEW


def _rights(accuracy: Accuracy, released: int) -> list[Right]:
    """The measured errors of shares of sets, each at least as large as the one before it."""
    other = "with two or three items" if accuracy.together is None else "with two or three other items"
    counted = "with two or three items whose pairs were counted" if accuracy.apart else "with two or three items"
    kinds = ((accuracy.one_column, "with one item"), (accuracy.together, counted), (accuracy.apart, other))
    parts, level = list[Right](), 0.0
    for error, about in kinds:
        if error is not None:
            level = max(level, bound_of(error, WORST_DOUBT) / max(1, released))
            parts.append(Right(level, about, WORST_DOUBT * noise_scale(error) > level * released / 2))
    return parts


def middle(accuracy: Accuracy | None, released: int) -> float | None:
    """The one figure of that sentence that stands for all: the middle one, from 0 to 1."""
    rights = [] if accuracy is None or not accuracy.bought else _rights(accuracy, released)
    return rights[len(rights) // 2].error if rights else None


def uses(manifest: Manifest) -> Uses:
    """What the sets are good for and what they are not good for."""
    released, accuracy = manifest.summary["records"], manifest.accuracy
    bad = ["looking up or matching single sets: they are made up"]
    if not released:
        return Uses(("nothing: no set was released",), tuple(bad))
    rights = [] if accuracy is None or not accuracy.bought else _rights(accuracy, released)
    one = next((right.error for right in rights), None)
    good = [f"shares of sets with one item{_right(one)}"]
    if one is not None:
        sizes = groups(one, released, "sets", "with an item")
        good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    if _pairs_known(manifest):
        several = rights[min(1, len(rights) - 1)].error if rights else None
        good.append(f"shares of sets with two or three items{_counted(manifest)}{_right(several)}")
    return Uses(tuple(good), (*bad, *_lost(manifest)))


def _right(error: float | None) -> str:
    return (
        ": how far they are off was not measured" if error is None else f": right to ±{points(error)} percentage points"
    )


def _pairs_known(manifest: Manifest) -> bool:
    return bool(manifest.summary.get("pairs", True))


def _counted(manifest: Manifest) -> str:
    """The items whose pairs were counted, if these are not all."""
    if "paired_items" not in manifest.summary:
        return ""
    return f" of the {manifest.summary['paired_items']:,} most frequent ones"


def _lost(manifest: Manifest) -> Iterator[str]:
    """What a release of sets has lost."""
    if not _pairs_known(manifest):
        yield "which items go together: the release does not know it"
    elif "paired_items" in manifest.summary:
        yield "which of the rarer items go together: their pairs were not counted"
    if filled := manifest.summary.get("refilled", 0):
        yield f"rare sets: {percent(filled, manifest.summary['records'])} of the sets are filled in at random"


def _column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    form, item = manifest.form, item_type(manifest)
    if form["form"] == "long":
        return {form["id"]: pl.Int64(), form["item"]: item}
    return {form["column"]: pl.List(item)}


def _write(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
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


def _read(path: Path, stored: str, manifest: Manifest, schema: SetSchema) -> pl.DataFrame:
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


def read_fimi_frame(path: Path, universe: Universe, longest: int | None = None) -> pl.DataFrame:
    """The frame of sets in a file of `write_fimi`, or of sequences of at most so many symbols; raises VerifyError if
    the file cannot be one."""
    lines, codes, before = [], [], 0
    try:
        for line, code in read_tokens(path, "utf-8", universe, longest):
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


def list_frame(records: pl.DataFrame, manifest: Manifest, *, long: bool = False) -> pl.DataFrame:
    """Released records as one column of lists `items`, whatever form they were returned in; `long` says that they are
    a long table."""
    form = manifest.form
    if long or form["form"] == "long":
        return _lists(records.rename({form["id"]: "id", form["item"]: "item"}))
    if records.is_empty():  # an empty pandas column has no type that says it holds lists
        return pl.DataFrame(schema={"items": pl.List(item_type(manifest))})
    return records.select(records[form["column"]].alias("items"))


def item_type(manifest: Manifest) -> pl.DataType:
    """The type of items: Int64, or String if an item is declared as a text."""
    declared = manifest.schema["items"]
    return pl.String() if isinstance(declared, list) and isinstance(declared[0], str) else pl.Int64()


def _lists(long: pl.DataFrame) -> pl.DataFrame:
    return long.group_by("id", maintain_order=True).agg(pl.col("item").alias("items")).select("items")


def _as_text(frame: pl.DataFrame, manifest: Manifest) -> str:
    """FIMI lines, if the sets were not a long table and their items allow it; otherwise CSV."""
    if manifest.form["form"] == "long":
        return csv_of(frame)
    sets = list_frame(frame, manifest)
    items = sets["items"].list.eval(pl.element().cast(pl.String))
    if items.explode().str.contains(SPACE).any():
        return to_long(sets).write_csv()
    return "".join(f"{line}\n" for line in items.list.join(" "))


class SetCodes:
    """Sets of items as columns of codes: one column per item, with 0 or 1, and one for the size."""

    def __init__(self, sets: pl.Series, universe: Universe) -> None:
        self._sizes = sets.list.len().to_numpy().astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self._sizes)])
        self.items = universe.encode(sets.explode(empty_as_null=False)).astype(np.int64)
        self._owner = np.repeat(np.arange(len(self._sizes)), self._sizes)

    def __call__(self, key: Key) -> Ints:
        if key == "size":
            return self._sizes
        held = np.zeros(len(self._sizes), dtype=np.int64)
        held[self._owner[self.items == key]] = 1
        return held

    @cached_property
    def supports(self) -> Ints:
        """How many sets hold each item, by its code."""
        return np.bincount(self.items)


def _given_back(drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: SetSchema) -> Drawn | NativeFrame:  # noqa: ARG001
    return give_back_sets(as_frame(drawn), SetForm(**form))


def _asker(release: Release) -> SetAsker:
    from cantle.release.answers.set_answers import SetAsker  # which imports the kinds of data

    return SetAsker(release)


def _texts(manifest: Manifest) -> Texts:
    form, traits = manifest.form, traits_of(manifest)
    long: list[JSON] = [{"name": form.get("id", ""), "type": "integer"}, {"name": form.get("item", "")}]
    lists: list[JSON] = [{"name": form.get("column", ""), "type": "array"}]
    said = sentence(manifest.accuracy, manifest.summary["records"]), WEAKER
    universe = declared_names(manifest, "items")
    return Texts(
        drawn_records(manifest, "set", traits.released) + traits.besides,
        DRAWN,
        f"Collections of any number of sets (also zero) of items of a public universe ({universe}).",
        {"dat": {}, "csv": {"schema": {"fields": long}}, "parquet": {"schema": {"fields": lists}}},
        said,
    )


KIND = ReleasedKind(
    noun="sets",
    record="set",
    records="synthetic sets",
    counted="sets",
    part="item",
    how="{n} synthetic sets of items, drawn from noisy counts",
    formats=("csv", "parquet", "fimi"),
    usual_format={"fimi": "fimi", "long": "csv", "list": "parquet"},
    column_types=_column_types,
    write=_write,
    read=_read,
    as_text=_as_text,
    given_back=_given_back,
    asker=_asker,
    uses=lambda release: uses(release.manifest),
    texts=_texts,
)
