"""The data files of a release, mostly one (`data.<ending>`): how records are written, read, printed and given back.

Released values only. What differs between kinds of data is a class, listed in `STORAGES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from cantle.data.fimi import read_tokens
from cantle.data.frames import read_column
from cantle.data.xes import read_xes
from cantle.drawing.linked_frames import joined, linked
from cantle.drawing.records import Drawn, as_frame, csv_of, give_back, read_csv, write_csv
from cantle.drawing.set_frames import PLACE, give_back_sets, long_table, to_frame, write_fimi, write_xes
from cantle.errors import DataError, ParameterError, VerifyError, raise_alone
from cantle.release.manifest import Manifest
from cantle.release.schemas import schema_as
from cantle.release.structures import traits_of
from cantle.release.words import file_metadata
from cantle.schema import Schema
from cantle.schema.domain import Domain
from cantle.schema.families import FamilySchema
from cantle.schema.items import SPACE, Universe
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import SetForm, SetSchema
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame, PandasSeries
    from cantle.release import Release


ENDINGS = {"csv": "csv", "parquet": "parquet", "fimi": "dat", "xes": "xes"}
"""The ending of a data file in each format."""


class Storage(ABC):
    """How records of one kind are stored: in one file of CSV or Parquet, unless a class says otherwise."""

    noun = ""
    """What the records are of, in a sentence."""
    formats: tuple[str, ...] = ("csv", "parquet")
    """The formats in which records can be stored."""
    usual_format: Mapping[str, str] = {}
    """The format if none is requested, by the form of the input; csv if the form is not listed."""

    def files(self, manifest: Manifest) -> tuple[str, ...]:  # noqa: ARG002
        """The names of the data files, without their endings."""
        return ("data",)

    @abstractmethod
    def column_types(self, manifest: Manifest) -> dict[str, pl.DataType]:
        """The types of the columns of records, in their order."""

    def write(self, frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
        """Writes the records in a format."""
        if data == "csv":
            write_csv(frame, path)
        else:
            frame.write_parquet(path, metadata=file_metadata(manifest))

    def read(self, path: Path, stored: str, manifest: Manifest) -> pl.DataFrame:
        """The records of a saved release, stored in a format, in the shape in which they were released."""
        return pl.read_parquet(path) if stored == "parquet" else pl.read_csv(path, schema=self.column_types(manifest))

    def as_text(self, frame: pl.DataFrame, manifest: Manifest) -> str:  # noqa: ARG002
        """Records as lines to print."""
        return csv_of(frame)

    def given_back(self, drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: Any) -> Drawn | NativeFrame:  # noqa: ARG002
        """Drawn records in the form and the kind of frame of the input, given the schema."""
        return drawn


def _types(domain: Domain) -> dict[str, pl.DataType]:
    """The types of the declared columns of a table."""
    nobody = np.zeros((0, len(domain.attributes)))
    return dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)


class TableStorage(Storage):
    """Tables."""

    noun = "a table"

    def column_types(self, manifest: Manifest) -> dict[str, pl.DataType]:
        domain = schema_as(manifest, TableSchema).domain()
        ranges = [one.name for one in domain.attributes] if traits_of(manifest).of_ranges else []
        return _types(domain) | dict.fromkeys(ranges, pl.String())

    def read(self, path: Path, stored: str, manifest: Manifest) -> pl.DataFrame:
        if stored == "parquet":
            return pl.read_parquet(path)
        frame = read_csv(path, self.column_types(manifest))
        # polars reads a pair of quotes as an empty text. Here it means null, because no category is empty.
        is_one_text = frame.schema.dtypes() == [pl.String()]
        return frame.with_columns(frame.to_series().replace("", None)) if is_one_text else frame

    def given_back(self, drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: TableSchema) -> Drawn | NativeFrame:
        """The schema says which columns may hold nulls, so that types do not depend on the records that were drawn."""
        if form["frame"] == "polars":
            return drawn
        nullable = [one.name for one in schema.as_declared().attributes if one.nullable]
        return give_back(as_frame(drawn), form["frame"], nullable)


class DegreeStorage(Storage):
    """Degrees of a graph."""

    noun = "a graph"

    def column_types(self, manifest: Manifest) -> dict[str, pl.DataType]:  # noqa: ARG002
        return {"degree": pl.Int64()}


class ListStorage(Storage):
    """Sets, or sequences, which are ordered: lines (FIMI), a long table, a column of lists, or an event log (XES)."""

    usual_format: Mapping[str, str] = {"fimi": "fimi", "lines": "fimi", "long": "csv", "list": "parquet", "xes": "xes"}

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered
        self.noun = "sequences" if ordered else "sets"
        self.formats = ("csv", "parquet", "fimi", *(["xes"] if ordered else []))

    def column_types(self, manifest: Manifest) -> dict[str, pl.DataType]:
        form, item = SetForm(**manifest.form), item_type(manifest)
        if form.form != "long":
            return {form.column: pl.List(item)}
        place: dict[str, pl.DataType] = {form.order or PLACE: pl.Int64()} if self._ordered else {}
        return {form.id: pl.Int64()} | place | {form.item: item}

    def write(self, frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
        form = SetForm(**manifest.form)
        if data == "csv" and form.form == "long":  # it is a long table already; a second one may not fit in memory
            super().write(frame, path, data, manifest)
            return
        lists = list_frame(frame, manifest)
        if data == "fimi":
            write_fimi(lists, path)
        elif data == "xes":
            write_xes(lists, path)
        elif data == "csv":
            super().write(long_table(lists, form, ordered=self._ordered), path, data, manifest)
        else:
            super().write(lists.rename({"items": form.column}), path, data, manifest)

    def read(self, path: Path, stored: str, manifest: Manifest) -> pl.DataFrame:
        form, schema = SetForm(**manifest.form), schema_as(manifest, SetSchema)
        if stored == "fimi":
            frame = read_fimi_frame(path, schema.universe, getattr(schema, "max_length", None))
        elif stored == "xes":
            frame = _read_xes_frame(path, schema)
        elif stored == "parquet":
            frame = pl.read_parquet(path).rename({form.column: "items"})
        else:
            long_form = replace(manifest, form=manifest.form | {"form": "long"})
            long = pl.read_csv(path, schema=self.column_types(long_form))
            order = [form.order or PLACE] if self._ordered else []
            frame = list_frame(long.sort(form.id, *order, maintain_order=True), long_form)
        back: pl.DataFrame = give_back_sets(frame, form, ordered=self._ordered)
        return back

    def as_text(self, frame: pl.DataFrame, manifest: Manifest) -> str:
        """Lines of items, if records were not a long table and their items allow it; otherwise CSV."""
        if manifest.form["form"] == "long":
            return csv_of(frame)
        lists = list_frame(frame, manifest)
        items = lists["items"].list.eval(pl.element().cast(pl.String))
        if items.explode().str.contains(SPACE).any():
            return long_table(lists, SetForm(**manifest.form), ordered=self._ordered).write_csv()
        return "".join(f"{line}\n" for line in items.list.join(" "))

    def given_back(self, drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: SetSchema) -> Drawn | NativeFrame:  # noqa: ARG002
        return give_back_sets(as_frame(drawn), SetForm(**form), ordered=self._ordered)


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


def _read_xes_frame(path: Path, schema: SetSchema) -> pl.DataFrame:
    """The frame of sequences in a file of `write_xes`."""
    assert isinstance(schema, SequenceSchema)  # no other kind of data has this format
    plain = SequenceSchema(universe=schema.universe, max_length=schema.max_length, form="xes")
    parts = list(read_xes(path, plain))
    records = np.concatenate([np.zeros(0, np.int64), *(records for records, _ in parts)])
    codes = np.concatenate([np.zeros(0, np.int32), *(codes for _, codes in parts)])
    return to_frame(np.append(0, np.cumsum(np.bincount(records))), codes, schema.universe)


def list_frame(records: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Released records as one column of lists `items`, whatever form they were returned in."""
    form = SetForm(**manifest.form)
    if form.form == "long":
        groups = records.group_by(form.id, maintain_order=True)
        return groups.agg(pl.col(form.item).alias("items")).select("items")
    if records.is_empty():  # an empty pandas column has no type that says it holds lists
        return pl.DataFrame(schema={"items": pl.List(item_type(manifest))})
    return records.select(records[form.column].alias("items"))


def item_type(manifest: Manifest) -> pl.DataType:
    """The type of items: Int64, or String if an item is declared as a text."""
    declared = manifest.schema["items"]
    return pl.String() if isinstance(declared, list) and isinstance(declared[0], str) else pl.Int64()


class FamilyStorage(Storage):
    """Linked tables: one frame with a column of lists of children, and a file per table."""

    noun = "families"

    def files(self, manifest: Manifest) -> tuple[str, ...]:
        return tuple(str(one["name"]) for one in cast("list[dict[str, Any]]", manifest.schema["resources"]))

    def column_types(self, manifest: Manifest) -> dict[str, pl.DataType]:
        schema = schema_as(manifest, FamilySchema)
        above, below = map(_types, schema.domains)
        return {**above, schema.names[1]: pl.List(pl.Struct(below))}

    def write(self, frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
        schema = schema_as(manifest, FamilySchema)
        for table, own in zip(linked(frame, schema), _paths(path, schema), strict=True):
            super().write(table, own, data, manifest)

    def read(self, path: Path, stored: str, manifest: Manifest) -> pl.DataFrame:
        """Both files as one frame; every child must have its parent, in the order of the parents."""
        schema, frames = schema_as(manifest, FamilySchema), []
        for own, table, domain in zip(_paths(path, schema), schema.tables, schema.domains, strict=True):
            types = {str(table.person): pl.Int64(), **_types(domain)}
            frames.append(pl.read_parquet(own) if stored == "parquet" else read_csv(own, types))
        parent, child = frames
        keys, below = (one[str(table.person)].to_numpy() for one, table in zip(frames, schema.tables, strict=True))
        if not np.array_equal(keys, np.arange(1, len(parent) + 1)):
            raise VerifyError(f"the keys of {schema.names[0]} are not 1, 2, … in order")
        if len(below) and (below.min() < 1 or below.max() > len(parent) or (np.diff(below) < 0).any()):
            what = "a child without a parent, or children out of the order of parents"
            raise VerifyError(f"{schema.names[1]} holds {what}")
        size = np.bincount(below, minlength=len(parent) + 1)[1:]
        bare = [one.drop(str(table.person)) for one, table in zip(frames, schema.tables, strict=True)]
        return joined(bare[0], bare[1], size, schema.names[1])

    def as_text(self, frame: pl.DataFrame, manifest: Manifest) -> str:
        """Both tables as CSV, with a blank line between them."""
        return "\n".join(csv_of(table) for table in linked(frame, schema_as(manifest, FamilySchema)))

    def given_back(
        self,
        drawn: Drawn | pl.DataFrame,
        form: dict[str, str],  # noqa: ARG002
        schema: FamilySchema,  # noqa: ARG002
    ) -> Drawn | NativeFrame:
        """Families stay one polars frame with a column of lists. `Release.tables` gives frames of the input's kind."""
        return as_frame(drawn)


def _paths(path: Path, schema: FamilySchema) -> tuple[Path, Path]:
    """The files of both tables, in the place of `data.csv`, or beside another name."""
    first, second = (
        path.with_name(
            path.name.removesuffix(f"data{path.suffix}") + f"{name}{path.suffix}"
            if path.name.endswith(f"data{path.suffix}")
            else f"{path.stem}-{name}{path.suffix}"
        )
        for name in schema.names
    )
    return first, second


def linked_tables(release: Release) -> dict[str, NativeFrame]:
    """Both linked tables by name, in the kind of frame that was given."""
    schema = cast(FamilySchema, release.schema)
    kind = release.manifest.form.get("frame", "polars")
    both = linked(cast("pl.DataFrame", release.records), schema)
    nullable = ([one.name for one in domain.attributes if one.nullable] for domain in schema.domains)
    return {name: give_back(one, kind, some) for name, one, some in zip(schema.names, both, nullable, strict=True)}


STORAGES: dict[str, Storage] = {
    "table": TableStorage(),
    "sets": ListStorage(ordered=False),
    "sequences": ListStorage(ordered=True),
    "graph": DegreeStorage(),
    "families": FamilyStorage(),
}
"""How records are stored, by kind of data."""


def files_of(manifest: Manifest) -> tuple[str, ...]:
    """The names of the data files, without their endings: mostly one."""
    return STORAGES[manifest.kind].files(manifest)


def choose(manifest: Manifest, asked: str | None) -> str:
    """The format of the data file: the requested one, otherwise the form of the input."""
    if asked is None:
        return STORAGES[manifest.kind].usual_format.get(manifest.form.get("form", ""), "csv")
    _require_known(manifest.kind, asked)
    return asked


def require_storable(schema: Schema, asked: str | None) -> None:
    """Refuses a format that the kind of data, or its items, do not allow, before any budget is spent."""
    if asked is not None:
        _require_known(schema.kind, asked)
        if asked == "fimi":
            cast("SetSchema", schema).universe.check_fimi()  # no other kind of data has this format


def _require_known(kind: str, asked: str) -> None:
    known = STORAGES[kind]
    if asked not in known.formats:
        raise ParameterError(f"the format must be {' or '.join(known.formats)} for {known.noun}, got {asked!r}")


def write(records: Drawn | NativeFrame, path: Path, data: str, manifest: Manifest) -> str | None:
    """Writes the records; returns the hash of the file if it was computed while writing."""
    if not isinstance(records, Drawn):
        STORAGES[manifest.kind].write(as_polars(records, manifest), path, data, manifest)
        return None
    if data == "csv":
        return records.write_csv(path)
    records.write_parquet(path, file_metadata(manifest))
    return None


def read(folder: Path, prefix: str, manifest: Manifest) -> pl.DataFrame:
    """The records of a saved release, in the shape in which they were released."""
    storage = STORAGES[manifest.kind]
    first = storage.files(manifest)[0]
    stored = next(data for data, ending in ENDINGS.items() if (folder / f"{prefix}{first}.{ending}").exists())
    return storage.read(folder / f"{prefix}data.{ENDINGS[stored]}", stored, manifest)


def as_text(records: NativeFrame, manifest: Manifest) -> str:
    """Records as lines to print: CSV, or FIMI lines for sets that were not a long table and whose items allow it."""
    return STORAGES[manifest.kind].as_text(as_polars(records, manifest), manifest)


def number_of(records: NativeFrame, manifest: Manifest) -> int:
    """The number of records; in a long table each record has one row per item."""
    frame = as_polars(records, manifest)
    return frame[manifest.form["id"]].n_unique() if manifest.form.get("form") == "long" else len(frame)


def as_polars(records: NativeFrame, manifest: Manifest) -> pl.DataFrame:
    """The records as a polars frame, whatever kind of frame they were returned in.

    pandas has no type for days or lists, so the types are taken from the schema.
    """
    import narwhals as nw

    frame = nw.from_native(records, eager_only=True)
    if frame.implementation.is_pandas_like():
        types = STORAGES[manifest.kind].column_types(manifest)
        return pl.DataFrame([_typed(frame[name].to_pandas(), kind) for name, kind in types.items()])
    return frame.to_polars()


def lists_of(release: Release) -> pl.Series:
    """The released sets or sequences as a column of lists."""
    return list_frame(as_polars(release.records, release.manifest), release.manifest)["items"]


def _typed(series: PandasSeries, kind: pl.DataType) -> pl.Series:
    """A pandas column converted to this type; pandas writes a missing number as NaN."""
    if isinstance(kind, pl.List):
        return pl.Series(series.name, series.tolist(), dtype=kind)
    column = read_column(series).alias(series.name)
    return (column.fill_nan(None) if column.dtype.is_float() else column).cast(kind)
