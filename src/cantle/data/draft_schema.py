"""Drafts of table schemas, for `cantle init`: commented YAML with explicit blanks for what only people can know.

Without `infer` only the header and the declared column types are read, never a value. A CSV file does not say whether
its first line is a header or a record, so the caller must say it; from a file without a header only the number of
fields in its first line is used. With `infer` the blanks are filled from the private values; the schema, and releases
made with it, are then marked as having no guarantee.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, MINYEAR, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from cantle.data.file_forms import ARROW, JSON_LINES, PARQUET, ending
from cantle.data.frames import as_frame
from cantle.data.tables import column_types, header, read_columns
from cantle.errors import DataError, ParameterError
from cantle.schema.canonical_json import JSON
from cantle.schema.code_books.columns import BookColumn
from cantle.schema.declared_values import plain
from cantle.schema.json_schema import EDITOR_LINE
from cantle.schema.table import BLANK, Dialect, Field, TableSchema

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataTypeClass

Known = dict[str, JSON]
"""What is known of a column: its role, categories, step, minimum and maximum, if any."""
Column = tuple[str, str | None, Known]  # name, type, what is known of it

_INTRO = f"""\
# A schema says what is public about a table. Fill in every {BLANK} from what could occur
# (a code book, the law, common sense), never from the data: bounds and categories are published.
# `cantle plan`, `check` and `publish` list everything that is still blank or wrong, with its line.
#
#   {{name: age, type: integer, constraints: {{minimum: 0, maximum: 110}}}}            values outside are clamped
#   {{name: weight, type: number, step: 0.1, constraints: {{minimum: 0, maximum: 300}}}}   step: precision
#   {{name: seen, type: datetime, step: 15min, constraints: {{minimum: 2024-01-01, maximum: 2025-01-01}}}}  or date
#   {{name: job, type: string, categories: ["Clerk", "Farmer"]}}   every value that could occur;  or type: boolean
#   {{name: ssn, role: identifier}}                               never published
#
#   role: target              the column a classifier will predict
#   constraints               required: true drops records without a value. Without it null is a value of its own,
#                             and noise may invent a few nulls in a column that has none
#   unknown                   what an undeclared category becomes: null (default), drop, or one of the categories
#   categoriesOrdered: true   the order of the categories means something
#   hierarchy   groups of categories, if any: {{Group: ["a", "b"], Other: ["c"]}}, or a file such as job.csv (ARX)
#   decimalChar: ",", groupChar: ".", bareNumber: false    numbers are written like 1.234,50 EUR
#   format: ["%d.%m.%Y", "%d.%m.%y"]                       dates are written like 31.12.2024 or 31.12.24
#   ignoreCase: true, replace: {{m: Male, f: Female}}        spellings of categories
#
# One record is protected. If people may have several, protect persons: unit: {{person: COLUMN, max_records: 3}}
"""
_NO_HEADER = (
    "# The file has no header: its columns are numbered from the left. Choose names for them, and keep this order.\n"
)
_GUESSED = "# The header is not UTF-8. The encoding is a guess: correct it if names look wrong.\n"
_WARNING = """\
# NO GUARANTEE: this schema was inferred from the private values themselves (--infer). Whoever reads it, or any
# release made with it, learns about them. Use it to explore; before publishing, set every bound and category
# to what could occur, and only then remove the line `guarantee: none`.
guarantee: none
"""
LONG_TABLES = (".csv", ".tsv")
"""Endings of the files of sets that may start with column names."""
WESTERN = "cp1252"
"""The encoding of a header that is not UTF-8: that of Excel in Western Europe."""
_MARKS = ("?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", ".")
_MANY = 1000  # an inferred column with more distinct texts becomes an identifier
_MOST_DECIMALS = 6
_MOST_NAMES = 20_000
_LONGEST_NAME = 200


def needs_header(path: str | os.PathLike[str], kind: str = "table") -> bool:
    """Whether a draft needs to know if the file has a header. Typed files declare the names of their columns; a file of
    sets may be a long table, with columns that have names."""
    return ending(path) not in PARQUET + ARROW if kind == "table" else kind == "sets" and ending(path) in LONG_TABLES


def draft(
    data: object,
    *,
    header: bool | None = None,
    infer: bool = False,
    book: Sequence[BookColumn] = (),
) -> str:
    """Text of a commented YAML schema with blanks (???) for what only you know: bounds, categories, precision.

    Of a data frame or Parquet file only the names and types of the columns are read, of a CSV file the header. Types of
    pandas stay blank: one record can change them, because a missing value turns whole numbers into floats.

    Parameters
    ----------
    data : path or data frame
        The table.
    header : bool, optional
        Whether a CSV file starts with column names. It is required, because otherwise a record could become public.
    infer : bool
        Files only: guess bounds and categories from the values. Releases made with such a schema are NOT private.
    book : sequence of columns
        What a code book says (`cantle init --codebook`); columns that it does not have stay blank.

    Examples
    --------
    >>> import polars as pl
    >>> text = draft(pl.DataFrame({"age": [31], "weight": [70.5], "town": ["Ash"]}))
    >>> print(text[text.index("fields:"):])
    fields:
      - {name: "age", type: integer, constraints: {minimum: "???", maximum: "???"}}
      - {name: "weight", type: number, step: "???", constraints: {minimum: "???", maximum: "???"}}
      - {name: "town", type: string, categories: "???"}
    <BLANKLINE>
    missingValues: [""]  # texts that stand for a missing value, such as "NA" or "?"
    <BLANKLINE>
    """
    if not isinstance(data, str | os.PathLike):
        if infer or header is not None:
            raise ParameterError("`infer` and `header` are for files; of a data frame, names and types are read")
        columns, dialect = _frame_columns(data), Dialect()
    else:
        columns, dialect = _declared(Path(data), header)
    marks = [""]
    if infer:
        columns, marks = _inferred(str(data), [name for name, _, _ in columns], dialect)
    known = {one.name: one.entry() for one in book}
    fields = [known.get(name) or _entry(name, kind, facts) for name, kind, facts in columns]
    return text_of(fields, marks, dialect, inferred=infer)


def text_of(
    fields: Sequence[Mapping[str, JSON]],
    marks: Sequence[str] = ("",),
    dialect: Dialect | None = None,
    inferred: bool = False,
) -> str:
    """The text of a schema with one line per field."""
    dialect = dialect or Dialect()
    listed = "fields:\n" + "".join(f"  - {_flow(one)}\n" for one in fields)
    if not dialect.header:
        listed = _NO_HEADER + listed
    parts = [EDITOR_LINE + _INTRO, *([_WARNING] if inferred else []), listed]
    parts.append(f'missingValues: {_json(marks)}  # texts that stand for a missing value, such as "NA" or "?"\n')
    if dialect != Dialect():
        guessed = _GUESSED if dialect.encoding == WESTERN else ""
        parts.append(f"{guessed}dialect: {_json(dialect.to_dict())}\n")
    return "\n".join(parts)


def _entry(name: str, kind: str | None, known: Known) -> dict[str, JSON]:
    """One field with what is known about it, and blanks for the rest."""
    if known.get("role"):  # it has no values, or too many different ones to be published as categories
        return {"name": name, "role": "identifier"}
    if kind is None:
        return {"name": name, "type": BLANK}
    if kind == "string":
        return {"name": name, "type": kind, "categories": known.get("categories", BLANK)}
    if kind == "boolean":
        return {"name": name, "type": kind}
    step: dict[str, JSON] = {"step": known.get("step", BLANK)} if kind in ("number", "datetime") else {}
    bounds: dict[str, JSON] = {key: known.get(key, BLANK) for key in ("minimum", "maximum")}
    return {"name": name, "type": kind, **step, "constraints": bounds}


def _flow(value: JSON | Mapping[str, JSON], key: str = "") -> str:
    """A value as YAML on one line, with plain keys; a blank (???) needs quotes there."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_flow(one, name)}" for name, one in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value) if key in ("type", "role") and value != BLANK else _json(value)


def _json(value: object) -> str:
    """JSON on one line that is YAML too: characters YAML does not allow in a file are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)


# ------------------------------------------------------------------------------ what the file itself declares


def declared_columns(path: Path, has_header: bool | None) -> tuple[list[tuple[str, str | None]], Dialect]:
    """The name of each column, its type if the file declares one, and the dialect; no value is read."""
    columns, dialect = _declared(path, has_header)
    return [(name, kind) for name, kind, _ in columns], dialect


def _declared(path: Path, has_header: bool | None) -> tuple[list[Column], Dialect]:
    """Names and declared types of the columns, and the dialect; its delimiter is the one that the first line uses
    most."""
    if ending(path) in JSON_LINES:
        rule = "the names in a file of JSON lines are part of its records"
        raise ParameterError(f"{path.name!r}: {rule}; write the schema from a code book")
    if not needs_header(path):
        return [(name, _kind(dtype), {}) for name, dtype in column_types(path).items()], Dialect()
    if has_header is None:
        rule = "nothing in it says whether the first line holds column names or a record"
        raise ParameterError(f"{path.name!r}: {rule}; say which: header=True or header=False")
    headers = {one: header(path, Dialect(delimiter=one)) for one in (None, ";", "\t", "|")}
    best = max(headers, key=lambda one: len(headers[one]))
    names = headers[best]
    if len(names) > _MOST_NAMES:
        raise DataError(f"the first line of {path.name!r} has more than {_MOST_NAMES:,} fields; check its line ends.")
    dialect = Dialect(delimiter=best, header=has_header)
    if has_header and any("\ufffd" in name for name in names):
        dialect = Dialect(delimiter=best, encoding=WESTERN)
        names = header(path, dialect)
    if has_header:
        _check_names(path, names)
    else:
        names = [f"column_{number}" for number in range(1, len(names) + 1)]
    return [(name, None, {}) for name in names], dialect


def _frame_columns(data: object) -> list[Column]:
    """Names and types of a frame's columns. Types of pandas depend on the values, so they are left out."""
    words = {"Boolean": "boolean", "Date": "date", "Datetime": "datetime"}
    words |= dict.fromkeys(("String", "Categorical", "Enum"), "string")
    frame, columns = as_frame(data), list[Column]()
    if frame.implementation.is_pandas_like():
        return [(name, None, {}) for name in frame.columns]
    for name, dtype in frame.collect_schema().items():
        kind = "integer" if dtype.is_integer() else "number" if dtype.is_numeric() else words.get(type(dtype).__name__)
        columns.append((name, kind, {}))
    return columns


def _check_names(path: Path, names: list[str]) -> None:
    """Refuses texts that cannot be column names; the message does not quote them, because they may be values."""
    problem = None
    if len(set(names)) < len(names):
        problem = "repeats a name"
    elif any(len(name) > _LONGEST_NAME for name in names):
        problem = f"has a name of more than {_LONGEST_NAME} characters"
    elif any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for name in names for letter in name):
        problem = "has a control character in a name"
    if problem:
        fix = "correct it, or say that the file has none (--header no)"
        raise DataError(f"the header of {path.name!r} {problem}; {fix}.")


def _kind(dtype: pl.DataType) -> str | None:
    """The schema's type for a column's declared type; None if there is none."""
    import polars as pl

    if dtype.is_integer() or dtype.is_float() or dtype.is_decimal():
        return "integer" if dtype.is_integer() else "number"
    kinds: dict[DataTypeClass, str] = {pl.Boolean: "boolean", pl.Date: "date", pl.Datetime: "datetime"}
    kinds |= {pl.String: "string", pl.Categorical: "string", pl.Enum: "string"}
    return kinds.get(dtype.base_type())


# -------------------------------------------------------------------- what the values say (no guarantee left)


def _inferred(path: str | os.PathLike[str], names: list[str], dialect: Dialect) -> tuple[list[Column], list[str]]:
    """Columns with types and all blanks filled in from the values, and the missing-value marks that occur."""
    import polars as pl

    schema = TableSchema(fields=tuple(Field(name=name) for name in names), dialect=dialect)
    frame = read_columns(path, schema).frame
    texts = [series for series in frame if series.dtype == pl.String]
    marks = ["", *(mark for mark in _MARKS if any((series == mark).any() for series in texts))]
    return [(series.name, *_guess(series, marks)) for series in frame], marks


def _guess(series: pl.Series, marks: list[str]) -> tuple[str | None, Known]:
    """The narrowest type that reads every value of a column, and its bounds or categories."""
    import polars as pl

    series = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    values = series.drop_nulls()
    values = values.filter(~values.is_in(marks)) if values.dtype == pl.String else values
    if values.dtype.is_float():
        values = values.filter(values.is_finite())
    if values.is_empty():
        return None, {"role": "identifier"}
    if values.dtype != pl.String:
        kind = _kind(values.dtype) or "string"
        return _filled(values, kind)
    tried = (_filled_from_text(values, kind) for kind in ("boolean", "integer", "number", "date", "datetime", "string"))
    return next(filled for filled in tried if filled)


def _filled_from_text(texts: pl.Series, kind: str) -> tuple[str | None, Known] | None:
    """The column read as type `kind`; None if a value cannot be read so."""
    import polars as pl

    if kind == "boolean":
        return ("boolean", {}) if texts.str.to_lowercase().is_in(["true", "false"]).all() else None
    if kind == "integer":
        values = texts.cast(pl.Int64, strict=False)
    elif kind == "number":
        values = texts.cast(pl.Float64, strict=False)
        values = values if values.is_finite().all() else values.clear(len(values))
    elif kind == "date":
        values = texts.str.to_date("%Y-%m-%d", strict=False)
    elif kind == "datetime":
        texts = texts.str.replace(" ", "T", literal=True)
        values = texts.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    else:
        values = texts
    if kind in ("date", "datetime") and not values.dt.year().is_between(MINYEAR, MAXYEAR).all():
        return None  # polars has years that Python does not have
    return None if values.null_count() else _filled(values, kind)


def _filled(values: pl.Series, kind: str) -> tuple[str | None, Known]:
    """The type of a column, and its bounds or categories, from its values; too many texts make it an identifier."""
    low, high = values.min(), values.max()
    if kind == "boolean":
        return kind, {}
    if kind == "string":
        listed = sorted(values.unique().to_list())
        return (kind, {"categories": listed}) if len(listed) <= _MANY else (None, {"role": "identifier"})
    if kind == "number":
        step = _decimal_step(values)
        return kind, {
            "step": float(step),
            "minimum": float((Decimal(str(low)) / step).to_integral_value(ROUND_FLOOR) * step),
            "maximum": float((Decimal(str(high)) / step).to_integral_value(ROUND_CEILING) * step),
        }
    if isinstance(low, datetime) and isinstance(high, datetime):
        first, last = (moment.replace(microsecond=0, tzinfo=None) for moment in (low, high))
        return kind, {"step": "1s", "minimum": first.isoformat(), "maximum": last.isoformat()}
    return kind, {"minimum": plain(low), "maximum": plain(high)}


def _decimal_step(values: pl.Series) -> Decimal:
    """The precision the values are written in, at most six decimals and fifteen digits."""
    shown = [Decimal(str(one)).normalize() for one in values.unique().head(1000).to_list()]
    decimals = max(0, *(-int(one.as_tuple().exponent) for one in shown))
    whole = max(one.adjusted() for one in shown) + 2
    return Decimal(1).scaleb(-min(decimals, _MOST_DECIMALS) if whole <= 8 else max(0, whole - 14))


# ---- sets and graphs ------------------------------------------------------------------------------------------------
# These drafts use no value of the file.

KINDS = ("table", "sets", "graph")
_ENDINGS = {".dat": "sets", ".mtx": "graph", ".edges": "graph", ".edgelist": "graph"}
_PACKED = (".gz", ".xz", ".bz2")

_SETS = f"""\
# A schema says what is public about sets of items: baskets, visits, clicks; a record is one set. Fill in every {BLANK}
# from what could occur (a catalogue, a list of pages), never from the data: items and their order are published.
kind: sets

# every item that could occur, similar ones next to each other, because methods group neighbours. Whole numbers as
# {{minimum: 1, maximum: 500}}, a list such as ["bread", "milk"], or a file with one item per line, such as items.txt
items: {BLANK}

# form: long        # fimi (one record per line), long (one item per row) or list (a column of lists); by default
#                   # recognised: .dat and .txt are FIMI lines, .csv is a long table, .parquet by its columns
# id: basket        # long: the column that identifies the record (default id)
# item: product     # long: the column of the item (default item)
# column: products  # list: the column of lists (default items, or the only such column)
# unit: {{person: customer, max_records: 3}}   # long: protect people who have several sets (default: one set)
"""
_GRAPH = f"""\
# A schema says what is public about a graph. Only its degrees are published.
kind: graph

# whom the promise protects: node (one node with all its edges; the number of nodes is private), node-isolate (all edges
# of one node) or edge (one edge). Under the last two the number of nodes is public and must be declared below.
unit: node

# nodes: {BLANK}       # how many nodes there are (unit node-isolate or edge), or which could occur (any unit):
#                  # {{minimum: 0, maximum: 999}}, or a file with one identifier per line, such as nodes.txt
# max_degree: {BLANK}  # a bound on the edges of a node that is known without the data, if there is one
# form: edges      # edges, matrix-market, or degrees (one number per line; only under unit edge)
"""


def kind_of(path: Path, asked: str | None) -> str:
    """The kind of data: as requested, otherwise by the ending of the file's name (a compressed file can only be a
    graph), or by the types of a Parquet file's columns."""
    if asked is not None and asked not in KINDS:
        raise ParameterError(f"--kind must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {asked!r}")
    packed = path.suffix.lower() in _PACKED
    kind = (path.with_suffix("") if packed else path).suffix.lower()
    if asked is None and kind == ".txt" and not packed:  # as a table, its first line would become column names
        raise ParameterError(f"{path.name!r} may be a table, sets or edges; say which: --kind table, sets or graph")
    if asked is None and kind in PARQUET and os.path.exists(path) and _has_lists(path):
        return "sets"
    return asked or _ENDINGS.get(kind, "graph" if packed and kind in ("", ".txt") else "table")


def _has_lists(path: Path) -> bool:
    import polars as pl

    return any(isinstance(kind, pl.List | pl.Array) for kind in column_types(path).values())


def blank_schema(path: Path, kind: str, has_header: bool | None = None) -> str:
    """The draft for a file that is not a table; `has_header` says whether a long table of sets starts with column
    names."""
    if not os.path.exists(path):
        raise DataError(f"there is no file {path.name!r}; check the path.")
    text = EDITOR_LINE + {"sets": _SETS, "graph": _GRAPH}[kind]
    if kind != "sets" or not has_header:
        return text
    columns, dialect = _declared(path, True)
    names = [_json(name) for name, _, _ in columns]
    if len(names) == 2:
        text = text.replace("# id: basket   ", f"id: {names[0]}").replace("# item: product", f"item: {names[1]}")
    else:
        text += f"# The columns of the file are {', '.join(names)}.\n"
    return text + (f"\ndialect: {_json(dialect.to_dict())}\n" if dialect != Dialect() else "")
