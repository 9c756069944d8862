"""The data file of a release, `data.<ending>`: written and read for each kind of data. Released values only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.data.pandas_columns import read_column
from cantle.errors import DataError, ParameterError, VerifyError, raise_alone
from cantle.postprocess.records import Drawn, csv_of
from cantle.release.manifest import Manifest
from cantle.schema.items import Universe
from cantle.schema.sets import SetForm
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    import polars as pl

ENDINGS = {"csv": "csv", "parquet": "parquet", "fimi": "dat"}
KNOWN = {"table": ("csv", "parquet"), "sets": ("csv", "parquet", "fimi"), "graph": ("csv", "parquet")}
_OF_FORM = {"fimi": "fimi", "long": "csv", "list": "parquet"}


def choose(manifest: Manifest, asked: str | None) -> str:
    """The format of the data file: as requested, otherwise the form that came in."""
    if asked is None:
        return _OF_FORM[manifest.form["form"]] if manifest.kind == "sets" else "csv"
    _require_known(manifest.kind, asked)
    return asked


def require_storable(schema: Any, asked: str | None) -> None:
    """Refuses a format that the kind of data, or its items, do not allow, before any budget is spent."""
    if asked is not None:
        _require_known(schema.kind, asked)
    if asked == "fimi":
        schema.universe.check_fimi()


def _require_known(kind: str, asked: str) -> None:
    if asked not in KNOWN[kind]:
        words = {"table": "a table", "sets": "sets", "graph": "a graph"}[kind]
        raise ParameterError(f"the format must be {' or '.join(KNOWN[kind])} for {words}, got {asked!r}")


def write(records: Any, path: Path, data: str, manifest: Manifest) -> str | None:
    """Writes the records; sets as FIMI lines, as a long table (csv) or as a column of lists (parquet).

    Returns the hash of the file if it was computed while writing.
    """
    meta = {"cantle": manifest.guarantee}
    if isinstance(records, Drawn):
        if data == "csv":
            return records.write_csv(path)
        records.write_parquet(path, meta)
        return None
    frame = as_polars(records, manifest)
    if manifest.kind == "sets":
        from cantle.postprocess.set_frames import to_long, write_fimi

        frame = list_frame(frame, manifest)
        if data == "fimi":
            write_fimi(frame, path)
            return None
        form = manifest.form
        if data == "csv":
            frame = to_long(frame).rename({"id": form["id"], "item": form["item"]})
        else:
            frame = frame.rename({"items": form["column"]})
    if data == "csv":
        path.write_text(csv_of(frame), encoding="utf-8", newline="")
    else:
        frame.write_parquet(path, metadata=meta)
    return None


def read(folder: Path, prefix: str, manifest: Manifest, schema: Any) -> pl.DataFrame:
    """The records of a saved release, in the shape in which they were released."""
    import polars as pl

    stored = next(data for data, ending in ENDINGS.items() if (folder / f"{prefix}data.{ending}").exists())
    path = folder / f"{prefix}data.{ENDINGS[stored]}"
    if manifest.kind == "sets":
        return _read_sets(path, stored, manifest, schema)
    if stored == "parquet":
        return pl.read_parquet(path)
    if manifest.kind == "graph":
        return pl.read_csv(path, schema=_types_of(manifest))
    frame = pl.read_csv(path, schema=_types(schema, manifest))
    # polars reads a pair of quotes as an empty text; here it is null, because no category is empty.
    return frame.with_columns(frame.to_series().replace("", None)) if _is_one_text(frame) else frame


def _is_one_text(frame: pl.DataFrame) -> bool:
    import polars as pl

    return frame.schema.dtypes() == [pl.String()]


def _types(schema: TableSchema, manifest: Manifest) -> dict[str, Any]:
    import polars as pl

    domain = schema.domain()
    nobody = np.zeros((0, len(domain.attributes)))
    kinds = dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)
    if manifest.parameters.get("values") == "set":
        kinds.update(dict.fromkeys((a.name for a in domain.attributes), pl.String()))
    return kinds


def _read_sets(path: Path, stored: str, manifest: Manifest, schema: Any) -> pl.DataFrame:
    import polars as pl

    from cantle.postprocess.set_frames import give_back_sets

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
    """The frame of sets that `write_fimi` wrote; raises VerifyError where that cannot be what it wrote."""
    from cantle.data.fimi import read_tokens
    from cantle.postprocess.set_frames import to_frame

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
    if records.is_empty():  # then a pandas column does not know that it would hold lists
        return pl.DataFrame(schema={"items": pl.List(_item_type(manifest))})
    return records.select(records[form["column"]].alias("items"))


def _item_type(manifest: Manifest) -> Any:
    """Int64, or String where an item is declared as a text."""
    import polars as pl

    declared = manifest.schema["items"]
    return pl.String() if isinstance(declared, list) and isinstance(declared[0], str) else pl.Int64()


def _lists(long: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return long.group_by("id", maintain_order=True).agg(pl.col("item").alias("items")).select("items")


def as_text(records: Any, manifest: Manifest) -> str:
    """Records as lines to print: CSV; FIMI lines for sets that were not a long table and whose items allow it."""
    frame = as_polars(records, manifest)
    if manifest.kind != "sets" or manifest.form["form"] == "long":
        return csv_of(frame)
    import polars as pl

    from cantle.postprocess.set_frames import to_long
    from cantle.schema.items import SPACE

    sets = list_frame(frame, manifest)
    words = sets["items"].list.eval(pl.element().cast(pl.String))
    if words.explode().str.contains(SPACE).any():
        return to_long(sets).write_csv()
    return "".join(f"{line}\n" for line in words.list.join(" "))


def number_of(records: Any, manifest: Manifest) -> int:
    """The number of records; in a long table each record has one row per item."""
    if manifest.kind == "sets" and manifest.form["form"] == "long":
        return as_polars(records, manifest)[manifest.form["id"]].n_unique()
    return len(records)


def as_polars(records: Any, manifest: Manifest) -> pl.DataFrame:
    """The records as a polars frame, whatever kind of frame they were returned in.

    pandas has no type for days or lists, so the types are taken from the schema.
    """
    import narwhals as nw
    import polars as pl

    frame = nw.from_native(records, eager_only=True)
    if frame.implementation.is_pandas_like():
        return pl.DataFrame([_typed(frame[name].to_pandas(), kind) for name, kind in _types_of(manifest).items()])
    made: pl.DataFrame = frame.to_polars()
    return made


def _typed(series: Any, kind: Any) -> pl.Series:
    """A pandas column converted to this type; pandas writes a missing number as NaN."""
    import polars as pl

    if isinstance(kind, pl.List):
        return pl.Series(series.name, series.tolist(), dtype=kind)
    made = read_column(series).alias(series.name)
    return (made.fill_nan(None) if made.dtype.is_float() else made).cast(kind)


def _types_of(manifest: Manifest) -> dict[str, Any]:
    """The types of the columns of records, in their order."""
    import polars as pl

    if manifest.kind == "table":
        return _types(TableSchema.from_dict(manifest.schema), manifest)
    if manifest.kind == "graph":
        return {"degree": pl.Int64()}
    form, item = manifest.form, _item_type(manifest)
    if form["form"] == "long":
        return {form["id"]: pl.Int64(), form["item"]: item}
    return {form["column"]: pl.List(item)}
