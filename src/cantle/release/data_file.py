"""The data files of a release, mostly one (`data.<ending>`): written and read. Released values only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from cantle.data.frames import read_column
from cantle.drawing.records import Drawn
from cantle.errors import ParameterError
from cantle.release.kinds import KINDS, files_of
from cantle.release.manifest import Manifest
from cantle.release.storage import list_frame
from cantle.release.words import file_metadata
from cantle.schema import Schema

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame, PandasSeries
    from cantle.release import Release
    from cantle.schema.sets import SetSchema

ENDINGS = {"csv": "csv", "parquet": "parquet", "fimi": "dat", "xes": "xes"}


def choose(manifest: Manifest, asked: str | None) -> str:
    """The format of the data file: the requested one, otherwise the form of the input."""
    if asked is None:
        return KINDS[manifest.kind].usual_format.get(manifest.form.get("form", ""), "csv")
    _require_known(manifest.kind, asked)
    return asked


def require_storable(schema: Schema, asked: str | None) -> None:
    """Refuses a format that the kind of data, or its items, do not allow, before any budget is spent."""
    if asked is not None:
        _require_known(schema.kind, asked)
        if asked == "fimi":
            cast("SetSchema", schema).universe.check_fimi()  # no other kind of data has this format


def _require_known(name: str, asked: str) -> None:
    kind = KINDS[name]
    if asked not in kind.formats:
        raise ParameterError(f"the format must be {' or '.join(kind.formats)} for {kind.noun}, got {asked!r}")


def write(records: Drawn | NativeFrame, path: Path, data: str, manifest: Manifest) -> str | None:
    """Writes the records; returns the hash of the file if it was computed while writing."""
    if not isinstance(records, Drawn):
        KINDS[manifest.kind].storage.write(as_polars(records, manifest), path, data, manifest)
        return None
    if data == "csv":
        return records.write_csv(path)
    records.write_parquet(path, file_metadata(manifest))
    return None


def read(folder: Path, prefix: str, manifest: Manifest) -> pl.DataFrame:
    """The records of a saved release, in the shape in which they were released."""
    stem = files_of(manifest)[0]
    stored = next(data for data, ending in ENDINGS.items() if (folder / f"{prefix}{stem}.{ending}").exists())
    return KINDS[manifest.kind].storage.read(folder / f"{prefix}data.{ENDINGS[stored]}", stored, manifest)


def as_text(records: NativeFrame, manifest: Manifest) -> str:
    """Records as lines to print: CSV, or FIMI lines for sets that were not a long table and whose items allow it."""
    return KINDS[manifest.kind].storage.as_text(as_polars(records, manifest), manifest)


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
        return pl.DataFrame(
            [
                _typed(frame[name].to_pandas(), kind)
                for name, kind in KINDS[manifest.kind].storage.column_types(manifest).items()
            ]
        )
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
