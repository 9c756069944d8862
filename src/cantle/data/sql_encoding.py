"""The encoder of `Domain` as a database expression (ibis): the same codes for every value of a typed column, read in
batches. So values that only a database has, such as infinite dates, need no form outside of it.

Columns keep their type, so nothing is parsed. Numbers, dates and datetimes of the schema are read from integers,
decimals of a declared precision, floats, booleans, dates and timestamps; categories from text, integers and booleans.
Other pairs are refused by the declared type alone, before a record is read. An expression must not fail because of a
value: values are clamped before any arithmetic that could overflow, and a CASE excludes values that must not be
computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from types import ModuleType
from typing import TYPE_CHECKING

import polars as pl

from cantle.errors import DataError, EngineError, MissingExtra, ParameterError, install_command, raise_alone, replacing
from cantle.schema.domain import MISSING, Attribute, Domain, Labels, Steps
from cantle.schema.spelling import BLANKS
from cantle.schema.values import truth_words

if TYPE_CHECKING:
    from ibis.backends import BaseBackend
    from ibis.expr.types import Column, Value
    from ibis.expr.types import Table as Table

CLASS = "label"
WHO = "who"
_EXACT = 2**53
_TINY = 1e-290  # a division of smaller numbers could underflow, at which some databases fail
_DAY = 86_400
_ROWS = 1 << 18  # read together
_KNOWN = ("postgres", "postgresql", "duckdb")
UNREACHABLE = "the database cannot be reached, or has no such table; check the URL, the server and --table"


def load_ibis() -> ModuleType:
    """The ibis package; MissingExtra if it is not installed."""
    try:
        import ibis
    except ImportError:
        raise_alone(
            MissingExtra(f"the database engine needs ibis, which is not installed; {install_command('database')}")
        )
    return ibis


def require_known_database(data: object) -> None:
    """Refuses a database other than PostgreSQL and DuckDB, given as an ibis table or by its URL.

    Two things must hold for every value, and are tested with these two databases only: all values of a column have its
    type (in SQLite they need not, and ibis takes the type of an undeclared column from its first record), and no
    expression fails because of a value.
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

    The statements that read texts name blanks of all scripts, which only UTF-8 can write. Under SQL_ASCII the bytes of
    one record decide whether it can be read at all. Only the encoding is asked for, and no table is opened.
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


def code_table(table: Table, domain: Domain, person: str | None = None) -> Table:
    """The codes of a table's records: c0, c1, ... and the class `label`, without dropped records; if there is a column
    of persons, `who` is this column."""
    ibis = load_ibis()
    named = {f"c{j}": attribute for j, attribute in enumerate(domain.attributes)}
    known = table.schema()
    wanted = [one.name for one in (*domain.attributes, *([domain.target] if domain.target else []))]
    wanted += [] if person is None else [person]
    missing = ", ".join(repr(name) for name in wanted if name not in known)
    if missing:
        raise DataError(f"the table has no column {missing}; correct the names in the schema.")
    if domain.target is not None:
        named[CLASS] = domain.target
    whose = {} if person is None else {WHO: _require_identifiers(table[person])}
    codes = table.select(**{name: _code(ibis, table, one) for name, one in named.items()}, **whose)
    codes = codes.filter([codes[name] >= 0 for name in named])
    return codes if domain.target is not None else codes.mutate(**{CLASS: ibis.literal(0, type="int16")})


def _require_identifiers(column: Column) -> Column:
    """A column of persons, refused by its type if it cannot identify them."""
    kind, name = column.type(), column.get_name()
    if not (kind.is_boolean() or kind.is_integer() or kind.is_string()):
        fix = "cast it to text or to an integer in a view"
        raise DataError(f"column {name!r} has type {kind} in the database and cannot identify persons; {fix}.")
    return column


def read_codes(codes: Table) -> Iterator[pl.DataFrame]:
    """The rows of a code table, some at a time, by one statement. A database's errors may quote values, so all are
    replaced: every backend has exceptions of its own."""
    why = "it is gone, or refuses to be read; look at its log, and grant SELECT on the table"
    with replacing(Exception, lambda _: EngineError(f"the database failed: {why}")):
        backend = codes.get_backend()
        if backend.name == "duckdb":  # ibis reads DuckDB by a method that newer versions do not have
            batches = backend.con.sql(str(backend.compile(codes))).to_arrow_reader(_ROWS)
        else:
            batches = backend.to_pyarrow_batches(codes, chunk_size=_ROWS)
        for batch in batches:
            yield pl.DataFrame(pl.from_arrow(batch))


def _code(ibis: ModuleType, table: Table, attribute: Attribute) -> Value:
    """`Attribute.encode` as an expression; -1 if the record is to be dropped."""
    column, scale = table[attribute.name], attribute.scale
    fine = _label(ibis, column, scale) if isinstance(scale, Labels) else _step(ibis, column, scale)
    if fine is None:
        kind = str(column.type())
        raise DataError(
            f"column {attribute.name!r} has type {kind} in the database, which the database engine does not read as "
            f"{scale.type}; cast it in a view, or use another engine."
        )
    code = fine // attribute.width if attribute.width > 1 else fine
    missing = attribute.bins if attribute.nullable else -1
    return ibis.cases((fine >= 0, code), (fine == MISSING, missing), else_=-1).cast(_integer(attribute.size))


def _integer(size: int) -> str:
    return "int16" if size < 2**15 else "int32" if size < 2**31 else "int64"


# ---- grids ----------------------------------------------------------------------------------------------------


def _step(ibis: ModuleType, column: Column, scale: Steps) -> Value | None:
    """`Steps.locate` as an expression, or None for a type without a rule."""
    if max(abs(scale.first), abs(scale.first + scale.grid * scale.step)) >= _EXACT:
        return None
    kind = column.type()
    number = _number(ibis, column)
    if scale.type == "number" and number is not None:
        value, missing = number.cast("float64"), _is_missing(column, number, scale.marks)
        return ibis.cases((missing, MISSING), else_=_place_float(ibis, value, scale))
    if scale.type == "integer" and number is not None:
        missing = _is_missing(column, number, scale.marks)
        whole = _clamped(ibis, number, scale.first, scale.first + (scale.grid - 1) * scale.step)
        whole = whole.floor().cast("int64") if not kind.is_integer() and not kind.is_boolean() else whole
        return ibis.cases((missing, MISSING), else_=(whole - scale.first + scale.ahead) // scale.step)
    if scale.type in ("date", "datetime") and (kind.is_date() or _is_plain_timestamp(column)):
        whole = _days_or_seconds(ibis, column, scale)
        return ibis.cases((column.isnull(), MISSING), else_=(whole - scale.first + scale.ahead) // scale.step)
    return None


def _number(ibis: ModuleType, column: Column) -> Value | None:
    """A column as integers or floats that hold its values; None if its type has no such numbers."""
    kind = column.type()
    if kind.is_boolean():
        return ibis.cases((column, 1), else_=0).cast("int64")
    if kind.is_integer() and not kind.is_uint64():
        return column.cast("int64")
    if kind.is_floating() or (kind.is_decimal() and kind.precision is not None and kind.precision <= 38):
        return column.cast("float64")
    return None


def _is_missing(column: Column, number: Value, marks: Sequence[str]) -> Value:
    """Null, NaN, or a number that is one of the missing-value marks; `number` is the column by `_number`."""
    kind, number, missing = column.type(), number.cast("float64"), column.isnull()
    if kind.is_floating() or kind.is_decimal():
        missing = missing | number.isnan()
    numbers = [float(mark) for mark in marks if _is_number(mark)]
    return missing | number.isin(numbers) if numbers else missing


def _is_number(mark: str) -> bool:
    try:
        return float(mark) == float(mark)
    except ValueError:
        return False


def _clamped(ibis: ModuleType, value: Value, low: Value | float, high: Value | float) -> Value:
    return ibis.greatest(ibis.least(value, high), low)


def _place_float(ibis: ModuleType, value: Value, scale: Steps) -> Value:
    """The same operations on the same floats as `Steps.locate`, and so the same places."""

    def grid_value(k: Value) -> Value:
        return (k * scale.step + scale.first).cast("float64") / float(scale.scale)

    ends = [ibis.literal(scale.value(k), type="float64") for k in (0, scale.grid - 1)]
    value = _clamped(ibis, value, *ends)
    above = value * float(scale.scale) - float(scale.first)
    above = ibis.cases((above.abs() < _TINY, 0.0), else_=above)
    k = _clamped(ibis, (above / float(scale.step)).floor().cast("int64"), 0, scale.grid - 1)
    k = ibis.cases(((grid_value(k + 1) <= value) & (k < scale.grid - 1), k + 1), else_=k)
    k = ibis.cases(((grid_value(k) > value) & (k > 0), k - 1), else_=k)
    if not scale.nearest:
        return k
    between = (2 * (k * scale.step + scale.first) + scale.step).cast("float64") / float(2 * scale.scale)
    return ibis.cases(((between < value) & (k < scale.grid - 1), k + 1), else_=k)


def _is_plain_timestamp(column: Column) -> bool:
    """Whether the database computes a timestamp's seconds since 1970 correctly; with time zones only PostgreSQL
    does."""
    kind = column.type()
    return kind.is_timestamp() and (kind.timezone is None or column.get_backend().name == "postgres")


def _days_or_seconds(ibis: ModuleType, column: Column, scale: Steps) -> Value:
    """Whole days or seconds since 1970, clamped to the grid."""
    last = scale.first + (scale.grid - 1) * scale.step
    per = 1 if scale.type == "date" else _DAY
    if column.type().is_date():
        # clamped as a date, because the largest dates of a database may be too large for its timestamps
        ends = [ibis.date(_day(day)) for day in (scale.first // per, last // per + 1)]
        days = _clamped(ibis, column, *ends).delta(ibis.date(_day(0)), unit="day").cast("int64")
        return _clamped(ibis, days * per, scale.first, last)
    seconds = column.truncate("s").epoch_seconds().cast("float64")
    lowest, highest = (scale.first, last) if per == _DAY else (scale.first * _DAY, last * _DAY)
    whole = _clamped(ibis, seconds, float(lowest), float(highest)).cast("int64")
    return whole if per == _DAY else ((whole - lowest) // _DAY) + scale.first


def _day(day: int) -> str:
    from datetime import date, timedelta

    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


# ---- categories -----------------------------------------------------------------------------------------------


def _label(ibis: ModuleType, column: Column, scale: Labels) -> Value | None:
    """`Labels.locate` as an expression, or None for a type without a rule."""
    place = {label: k for k, label in enumerate(scale.labels)}
    spelt = scale.spellings or tuple((str(label), label) for label in scale.labels)
    codes = {text: place[label] for text, label in spelt}
    unknown = scale.unknown if isinstance(scale.unknown, int) else place[scale.unknown[1]]
    absent = {"", *scale.marks} - set(codes)
    kind = column.type()
    if kind.is_boolean() or kind.is_integer():
        codes |= {number: codes[word] for number, word in truth_words(codes).items()}
    if kind.is_boolean():
        known = (column, codes.get("1", unknown))
        return ibis.cases((column.isnull(), MISSING), known, else_=codes.get("0", unknown))
    if kind.is_integer() and not kind.is_uint64():
        value = column.cast("int64")
        texts: Mapping[str, str | int] = {text: int(text) for text in (*codes, *absent) if _is_whole(text)}
    elif kind.is_string() and scale.type != "integer":
        return _text_label(ibis, column, scale, codes, unknown)
    else:
        return None
    pairs = [(value == texts[text], code) for text, code in codes.items() if text in texts]
    gone = [texts[text] for text in sorted(absent) if text in texts]
    pairs += [(value.isin(gone), MISSING)] if gone else []
    return ibis.cases((column.isnull(), MISSING), *pairs, else_=unknown)


def _text_label(ibis: ModuleType, column: Column, scale: Labels, codes: Mapping[str, int], unknown: int) -> Value:
    """The same for a column of texts: first as written, then without blanks and in lower case if the schema says so."""
    otherwise, marks = ibis.literal(unknown), sorted({"", *scale.marks} - set(codes))
    if scale.trim or scale.ignore_case:
        value = column.re_replace(f"^[{BLANKS}]+|[{BLANKS}]+$", "") if scale.trim else column
        if scale.ignore_case and scale.folding.capitals:
            value = value.translate(scale.folding.capitals, scale.folding.small)
        tidy = dict.fromkeys(scale.tidy_marks, MISSING) | scale.tidy_texts
        otherwise = value.cases(*tidy.items(), else_=unknown)
    exact = [(column == text, code) for text, code in codes.items()]
    return ibis.cases((column.isnull(), MISSING), *exact, (column.isin(marks), MISSING), else_=otherwise)


def _is_whole(text: str) -> bool:
    """Whether a text is the way an integer is written, so that an integer column can hold it."""
    return text.removeprefix("-").isdecimal() and str(int(text)) == text and abs(int(text)) < 2**63
