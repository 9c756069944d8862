"""Readers of tables and sets on Spark, without its type inference: one record must not decide how others are read.

* CSV: Spark passes on lines, and its workers parse each line by itself with the reader of this package. Spark's own CSV
  parser takes the number of columns from the first record, and fails at a record with very many fields.
* JSON lines: the same, with cantle.data.line_grammars. Spark would infer types from all records.
* Parquet and ORC declare their types. Values in the names of folders (`town=Ash/`) are read as text.

Sets are long tables or columns of lists, in Spark data frames or in such files; cantle.data.sets defines what a record
is. Their form is chosen by the names and types of the columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cantle.data.arrow_batches import polars_of
from cantle.data.engine_choice import Opened
from cantle.data.engines_for_tables import spark_frame, spark_session
from cantle.data.file_forms import ARROW, CSV, JSON_LINES, SHEETS, STATISTICS, ending
from cantle.data.line_grammars import CsvDialect, Grammar, objects_in
from cantle.data.long_tables import (
    as_long_table,
    check_pair,
    columns_of,
    ids_among,
    long_form,
    pack,
    pack_rows,
    rows_of,
)
from cantle.data.sets import list_column_among, lists_of
from cantle.data.tables import _check_columns, _csv_dialect, _split_header, parse_lines, read_batches
from cantle.errors import ParameterError
from cantle.schema.dialect import Dialect, needs_no_decoding
from cantle.schema.sets import SetForm, SetSchema
from cantle.schema.table import TableSchema
from cantle.trusted.counting import spark
from cantle.trusted.counting.base import Engine
from cantle.trusted.counting.ragged import Records
from cantle.trusted.counting.spark.sets import Lists, LongRows, SparkSets

if TYPE_CHECKING:
    import polars as pl
    import pyarrow
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession


JSON = (".json", *JSON_LINES)
ASCII = bytes(range(128))
PARTITION_TYPES = "spark.sql.sources.partitionColumnTypeInference.enabled"


def require_readable(data: object, schema: TableSchema) -> None:
    """Refuses files that Spark has no reader for, and text in an encoding in which Spark cannot find lines. It reads no
    data."""
    if not isinstance(data, str | os.PathLike):
        return
    path = Path(data)
    if _ending(path) in ARROW + SHEETS + STATISTICS or path.suffix.lower() in (".zst", ".xz"):
        raise ParameterError(f"the spark engine cannot read {path.name!r}; give CSV, JSON lines, Parquet or ORC")
    if _ending(path) in CSV:
        require_header_first(schema.dialect)
    if _ending(path) in CSV + JSON and not _keeps_ascii(schema.dialect):
        raise ParameterError(
            f"the spark engine cannot find line ends in encoding {schema.dialect.encoding!r}; write the file as UTF-8"
        )


def require_header_first(dialect: Dialect) -> None:
    """Refuses titles above a header: Spark reads a file in parts, whose lines it does not number."""
    if dialect.header_row > 1:
        raise ParameterError("the spark engine cannot skip lines above a header; remove them, and leave out headerRow")


def _keeps_ascii(dialect: Dialect) -> bool:
    return ASCII.decode(dialect.encoding, "replace") == ASCII.decode("ascii")


def _ending(path: str | os.PathLike[str]) -> str:
    return ending(os.fspath(path).rstrip("/"))


def read_path(session: SparkSession, path: str, schema: TableSchema, wanted: list[str]) -> DataFrame:
    """A Spark data frame over the files at a path. The ending decides how they are read: CSV, JSON, ORC, else
    Parquet."""
    kind = _ending(path)
    if kind in CSV:
        return _csv(session, path, schema, wanted)
    with spark.reading(Path(path).name):
        if kind in JSON:
            lines = session.read.text(path).selectExpr("cast(value AS binary) AS line")
            return lines.mapInArrow(ObjectParser(schema.dialect.encoding, wanted).parse, _text_columns(wanted))
        with _folders_as_text(session):
            return session.read.format("orc" if kind == ".orc" else "parquet").load(path)


def _text_columns(names: list[str]) -> str:
    """The columns as a Spark schema, all of type text."""
    return ", ".join(f"`{name.replace('`', '``')}` string" for name in names)


@contextmanager
def _folders_as_text(session: SparkSession) -> Iterator[None]:
    """Turns off type inference for folder names: a folder that one record adds must not change its column's type."""
    before = session.conf.get(PARTITION_TYPES) or "true"
    session.conf.set(PARTITION_TYPES, "false")
    try:
        yield
    finally:
        session.conf.set(PARTITION_TYPES, before)


# ---- CSV ------------------------------------------------------------------------------------------------------


def _csv(session: SparkSession, path: str, schema: TableSchema, wanted: list[str]) -> DataFrame:
    name, dialect = Path(path).name, _csv_dialect(Path(path.rstrip("/")), schema.dialect)
    with spark.reading(name):
        lines = session.read.text(path).selectExpr(
            "cast(value AS binary) AS line",
            "_metadata.file_block_start AS start",  # where a worker's part of the file begins
            "xxhash64(_metadata.file_path) AS file",
        )
        top = lines.where("start = 0").head(1) if dialect.header else []
    names = schema.file_columns
    if dialect.header:
        first = bytes(top[0].line).decode(schema.dialect.encoding, "replace").removeprefix("\ufeff") if top else ""
        names, _ = _split_header(iter([first.encode("utf-8", "replace") + (b"\n" if top else b"")]), dialect)
        _check_columns(f"{name!r}", names, wanted)
    parser = LineParser(dialect, schema.dialect.encoding, names, wanted)
    return lines.mapInArrow(parser.parse, _text_columns(wanted))


@dataclass(frozen=True)
class LineParser:
    """Parses lines one by one: a short line lacks its last values, extra fields of a long line are ignored."""

    dialect: CsvDialect
    encoding: str
    names: list[str]
    wanted: list[str]

    def parse(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """Arrow batches of lines as batches of the wanted columns, all text; runs on the workers."""
        before = None
        for batch in batches:
            lines = batch["line"].to_pylist()
            if self.dialect.header:
                parts = list(zip(batch["file"].to_pylist(), batch["start"].to_pylist(), strict=True))
                # The first line of a part that begins its file is the header.
                heads = [part != last and part[1] == 0 for part, last in zip(parts, [before, *parts], strict=False)]
                lines = [line for line, head in zip(lines, heads, strict=True) if not head]
                before = parts[-1] if parts else before
            yield from self._columns(lines)

    def _columns(self, lines: list[bytes]) -> Iterator[pyarrow.RecordBatch]:
        text = b"".join(map(self._closed, lines))
        yield from _arrow(parse_lines(text, self.names, self.dialect, self.wanted))

    def _closed(self, line: bytes) -> bytes:
        """A line as UTF-8 in which every quote is closed, so that no field continues in the next line."""
        text = _utf_8(line, self.encoding) + b"\n"
        quote = (self.dialect.quote or "").encode()
        return Grammar(self.dialect).rewritten(text) if quote and quote in text else text


# ---- JSON -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectParser:
    """Parses lines of JSON one by one."""

    encoding: str
    wanted: list[str]

    def parse(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """Arrow batches of lines as batches of the wanted columns, all text; runs on the workers."""
        for batch in batches:
            lines = [_utf_8(line, self.encoding) for line in batch["line"].to_pylist()]
            yield from _arrow(objects_in(lines, self.wanted))


def _utf_8(line: bytes, encoding: str) -> bytes:
    """A line as UTF-8, converted as when files are read."""
    return line if needs_no_decoding(encoding) else line.decode(encoding, "replace").encode("utf-8", "replace")


def _arrow(frame: pl.DataFrame) -> list[pyarrow.RecordBatch]:
    import pyarrow

    types = pyarrow.schema([(name, pyarrow.string()) for name in frame.columns])
    return frame.to_arrow().cast(types).to_batches()


TEXT = (".csv", ".tsv", ".txt", ".data", ".test", ".json")


def open_spark(data: object, schema: SetSchema, engine: Callable[[Records], Engine]) -> Opened:
    """An engine that counts the records on Spark's workers, and the form of the input."""
    table = as_long_table(schema)
    with spark_session(data) as (session, own):
        form, frame, records = _chosen(
            spark_frame(session, data, table, list(columns_of(schema).values())), data, schema
        )
        return form.to_dict(), engine(SparkSets(frame, records, own=own))


def _chosen(frame: DataFrame, data: object, schema: SetSchema) -> tuple[SetForm, DataFrame, LongRows | Lists]:
    """The form of a frame, the columns to read, and what the workers do with them."""
    table = as_long_table(schema)
    text = isinstance(data, str | os.PathLike) and os.fspath(data).lower().endswith(TEXT)
    types = polars_of(spark.nothing_of(frame)).schema
    where, universe = "the Spark frame", schema.universe
    column = None if text else list_column_among(where, types, schema)
    if column is not None:
        frame = spark.select(frame, [column])
        lists_of(where, polars_of(spark.nothing_of(frame))[column], universe)  # judges the type
        lists = Lists(lambda batch: pack(*lists_of(where, polars_of(batch)[column], universe), schema))
        return SetForm(form="list", column=column), frame, lists
    check_pair(where, types, schema)
    frame, ids = spark.select(frame, list(columns_of(schema).values())), ids_among(schema)
    list(read_batches(polars_of(spark.nothing_of(frame)), table, ids=ids))  # judges the types
    rows = LongRows(
        lambda batch: rows_of(polars_of(batch), schema),
        ids[-1],
        lambda group: pack_rows(group, schema),
    )
    return long_form(schema), frame, rows
