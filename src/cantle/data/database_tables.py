"""Tables in databases, as a source of records: one statement by ibis reads them once, in batches of plain values.

Values that only a database has, such as infinite dates, have no form outside of it; so the statement clamps dates and
timestamps to the years that the encoder knows. Nothing else is computed in the database, and no expression fails
because of a value. Columns of other types are refused by the declared type alone, before a record is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from types import ModuleType
from typing import TYPE_CHECKING

from cantle.data.arrow_batches import require_columns
from cantle.errors import DataError, EngineError, ParameterError, optional, raise_alone, replacing

if TYPE_CHECKING:
    import pyarrow
    from ibis.backends import BaseBackend
    from ibis.expr.types import Column, Value
    from ibis.expr.types import Table as Table

_YEARS = ("0001-01-01", "9999-12-31")
_SECONDS = (-62_135_596_800.0, 253_402_300_799.0)  # of these years, since 1970
_ROWS = 1 << 18  # read together
_KNOWN = ("postgres", "postgresql", "duckdb")
UNREACHABLE = "the database cannot be reached, or has no such table; check the URL, the server and --table"


def load_ibis() -> ModuleType:
    """The ibis package."""
    return optional("the database engine needs", "ibis", "database")


def require_known_database(data: object) -> None:
    """Refuses a database other than PostgreSQL and DuckDB, given as an ibis table or by its URL.

    All values of a column must have its type. In SQLite they need not, and ibis takes the type of an undeclared column
    from its first record. Other databases were not tried.
    """
    if hasattr(data, "get_backend"):
        try:
            name = str(data.get_backend().name)
        except Exception:
            raise_alone(ParameterError("the ibis table belongs to no database; take it from a connection"))
    elif isinstance(data, str) and "://" in data:
        name = data.partition("://")[0].lower()
    else:
        return
    if name not in _KNOWN:
        fix = "copy the table into one of these, or write it as Parquet"
        raise ParameterError(f"the database engine reads PostgreSQL and DuckDB, not {name!r}; {fix}")


def require_encoding(data: object, reads_texts: bool) -> None:
    """Refuses a PostgreSQL database whose encoding does not hold all texts, given as an ibis table or by its URL.

    Under SQL_ASCII the bytes of one record decide whether it can be read at all. Only the encoding is asked for, and no
    table is opened.
    """
    given = hasattr(data, "get_backend")
    if not given and not (isinstance(data, str) and data.lower().startswith(("postgres://", "postgresql://"))):
        return
    backend = None
    try:
        backend = data.get_backend() if given else load_ibis().connect(data)  # type: ignore[attr-defined]
        encoding = _encoding_of(backend)
    except Exception:  # noqa: BLE001 - every backend has exceptions of its own, and some quote the URL
        raise_alone(EngineError(UNREACHABLE))
    finally:
        if backend is not None and not given:
            backend.disconnect()
    if encoding == "SQL_ASCII" or (encoding != "UTF8" and reads_texts):
        rule = "the database engine reads texts from databases with encoding UTF8"
        fix = "copy the table into a database with encoding UTF8, or write it as Parquet"
        raise DataError(f"the database has encoding {encoding}; {rule}: {fix}.")


def _encoding_of(backend: BaseBackend) -> str:
    """The encoding in which a database stores texts."""
    if backend.name != "postgres":
        return "UTF8"
    with closing(backend.raw_sql("SHOW server_encoding")) as cursor:
        (encoding,) = cursor.fetchone()
    return encoding.decode() if isinstance(encoding, bytes) else str(encoding)


def read_rows(table: Table, wanted: Sequence[str], person: str | None) -> Iterator[pyarrow.Table]:
    """These columns of a table, some rows at a time; first no row, so that types are judged without a record.

    A database's errors may quote values, so all are replaced: every backend has exceptions of its own.
    """
    import pyarrow

    plain = _plain_columns(load_ibis(), table, wanted, person)
    times = [place for place, name in enumerate(wanted) if table[name].type().is_timestamp()]
    yield _with_timestamps(plain.schema().to_pyarrow().empty_table(), times)
    why = "it is gone, or refuses to be read; look at its log, and grant SELECT on the table"
    with replacing(Exception, lambda _: EngineError(f"the database failed: {why}")):
        backend = plain.get_backend()
        if backend.name == "duckdb":  # ibis reads DuckDB by a method that newer versions do not have
            batches = backend.con.sql(str(backend.compile(plain))).to_arrow_reader(_ROWS)
        else:
            batches = backend.to_pyarrow_batches(plain, chunk_size=_ROWS)
        for batch in batches:
            yield _with_timestamps(pyarrow.Table.from_batches([batch]), times)


def _with_timestamps(rows: pyarrow.Table, times: Sequence[int]) -> pyarrow.Table:
    """The same rows, with timestamps in place of seconds since 1970."""
    import pyarrow

    for place in times:
        rows = rows.set_column(place, rows.column_names[place], rows.column(place).cast(pyarrow.timestamp("s")))
    return rows


def _plain_columns(ibis: ModuleType, table: Table, wanted: Sequence[str], person: str | None) -> Table:
    """The columns as values that every program knows; timestamps become seconds since 1970."""
    require_columns("the table", table.schema(), wanted)
    if person is not None:
        _require_identifiers(table[person])
    return table.select(**{name: _plain(ibis, table[name]) for name in wanted})


def _require_identifiers(column: Column) -> None:
    """Refuses a column of persons by its type if it cannot identify them."""
    kind, name = column.type(), column.get_name()
    if not (kind.is_boolean() or kind.is_integer() or kind.is_string()):
        fix = "cast it to text or to an integer in a view"
        raise DataError(f"column {name!r} has type {kind} in the database and cannot identify persons; {fix}.")


def _plain(ibis: ModuleType, column: Column) -> Value:
    """A column as values that every program knows; refused by its type if it has no such values."""
    kind = column.type()
    if kind.is_boolean() or kind.is_integer() or kind.is_floating():
        return column
    if kind.is_array() and (kind.value_type.is_string() or kind.value_type.is_integer()):
        return _flat(ibis, column) if column.get_backend().name == "postgres" else column
    if kind.is_string():
        return column.concat("")  # without the blanks that fill up a CHAR(20)
    if kind.is_decimal() and kind.precision is not None and kind.precision <= 38:
        return column.cast("float64")
    if kind.is_date():
        return _clamped(ibis, column, column, [ibis.date(day) for day in _YEARS])
    # Only PostgreSQL computes the seconds of timestamps with time zones correctly.
    if kind.is_timestamp() and (kind.timezone is None or column.get_backend().name == "postgres"):
        return _clamped(ibis, column, column.truncate("s").epoch_seconds().cast("float64"), _SECONDS).cast("int64")
    fix = "cast it in a view, or use another engine"
    raise DataError(f"column {column.get_name()!r} has type {kind} in the database, which cannot be read; {fix}.")


def _flat(ibis: ModuleType, column: Column) -> Value:
    """A column of arrays in which nested ones, which PostgreSQL allows whatever the type says, are missing."""
    dimensions = ibis.udf.scalar.builtin(_dimensions, name="array_ndims", signature=((column.type(),), "int64"))
    return ibis.cases((dimensions(column) > 1, ibis.null(column.type())), else_=column)


def _dimensions(array):  # type: ignore[no-untyped-def]
    """How many dimensions an array has: a function of PostgreSQL, given here by its name alone."""


def _clamped(ibis: ModuleType, column: Column, value: Value, ends: Sequence[Value | float]) -> Value:
    """The value between both ends, or null where the column is null: databases leave nulls out of a least value."""
    return ibis.cases((column.notnull(), ibis.greatest(ibis.least(value, ends[1]), ends[0])))
