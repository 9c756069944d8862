"""Tables as data frames: pandas frames with inferred types, and frames with declared types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from tests.neighbours.law import Form, Pair, Unbuildable, adds_at_most
from tests.neighbours.reading import table
from tests.neighbours.values import BLANKS, POOLS, WORDS, column, document, fields_of, newcomer

MOST = 8
Values = dict[str, list[Any]]


def _drawn(dice: Random) -> tuple[list[str], Values, dict[str, Any], int]:
    """Names and values of the columns of D, the added record, and its position."""
    fields, size = fields_of(dice, 2), dice.choice([0, 1, 2, 3, dice.randint(0, MOST)])
    pools = {name: dice.choice(list(POOLS.values())) for name in fields}
    values = {name: column(dice, pools[name], size) for name in fields}
    return fields, values, {name: newcomer(dice, pools[name]) for name in fields}, dice.randint(0, size)


def _with(values: Values, added: dict[str, Any], at: int) -> Values:
    return {name: [*held[:at], added[name], *held[at:]] for name, held in values.items()}


def shown(one: Any, two: Any) -> str:
    """Both frames with their types."""
    return " | ".join(
        f"{kind}: {frame.to_dict('list')!r:.400} {list(map(str, frame.dtypes))}"
        for kind, frame in (("D", one), ("D'", two))
    )


# ---- pandas, types inferred -----------------------------------------------------------------------------------


def _anew(values: Values, added: dict[str, Any], at: int) -> tuple[Any, Any]:
    """Both frames made from Python lists; pandas chooses each type from all values."""
    return pd.DataFrame(values), pd.DataFrame(_with(values, added, at))


def _of_rows(values: Values, added: dict[str, Any], at: int) -> tuple[Any, Any]:
    """Both frames made from records."""
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return pd.DataFrame(rows, columns=list(values)), pd.DataFrame([*rows[:at], added, *rows[at:]], columns=list(values))


def _joined(values: Values, added: dict[str, Any], at: int) -> tuple[Any, Any]:
    """A frame, and the same frame with a frame of one record concatenated into it."""
    before = pd.DataFrame(values)
    record = pd.DataFrame({name: [value] for name, value in added.items()})
    parts = [before.iloc[:at], record, before.iloc[at:]]
    return before, pd.concat([part for part in parts if len(part)], ignore_index=True)


def _appended(values: Values, added: dict[str, Any], _at: int) -> tuple[Any, Any]:
    """A frame, and the same frame after `frame.loc[n] = record`."""
    before = pd.DataFrame(values)
    after = before.copy()
    after.loc[len(after)] = [added[name] for name in values]
    return before, after


def _narrow(values: Values, added: dict[str, Any], at: int) -> tuple[Any, Any]:
    """As `_joined`, with narrow or categorical types where they lose nothing."""
    before = pd.DataFrame(values)
    for name in values:
        kind = str(before[name].dtype)
        narrow = {"float64": "float32", "int64": "int16", "object": "category", "str": "category"}.get(kind)
        if narrow == "category" or (narrow and (before[name].astype(narrow).astype(kind) == before[name]).all()):
            before[name] = before[name].astype(narrow)
    record = pd.DataFrame({name: [value] for name, value in added.items()})
    parts = [before.iloc[:at], record, before.iloc[at:]]
    return before, pd.concat([part for part in parts if len(part)], ignore_index=True)


def inferred(make: Callable[..., tuple[Any, Any]]) -> Callable[[Random, Path], Pair]:
    """Pairs of pandas frames made in one way."""

    def pair(dice: Random, _folder: Path) -> Pair:
        fields, values, added, at = _drawn(dice)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings of pandas to the maker of the frame
                one, two = make(values, added, at)
        except Exception as error:  # a datetime out of bounds, or an object that is no value
            raise Unbuildable from error
        if list(one.columns) != list(two.columns):
            raise Unbuildable
        return Pair(document(fields), one, two, adds_at_most(1), shown(one, two))

    return pair


# ---- types declared -------------------------------------------------------------------------------------------

INTEGERS = [0, 1, 2, -1, 7, -999, 12, 100, None]
SMALL = [0, 1, 2, 7, 12, 100, None]
LONG = [*INTEGERS, 2**53 + 1, -(2**53) - 1, 2**63 - 1]
REALS = [0.0, -0.0, 1.0, 1.5, 0.1, -999.0, float("nan"), float("inf"), 1e300, None]
TEXTS = [*(word for word in WORDS if "\x00" not in word), None]
DATES = [date(2020, 1, 3), date(1, 1, 1), date(9999, 12, 31), None]
MOMENTS = [datetime(2020, 1, 3), datetime(2020, 1, 3, 5, 59, 59, 999_999), datetime(1969, 12, 31, 23, 59, 59), None]
CENTS = [Decimal("1.00"), Decimal("1.50"), Decimal("-999.00"), Decimal("0.10"), None]

POLARS: list[tuple[Any, list[Any]]] = [
    (pl.Int8, INTEGERS[:4]), (pl.Int64, LONG), (pl.UInt64, [0, 1, 2**64 - 1, None]), (pl.Float32, REALS[:6]),
    (pl.Float64, REALS), (pl.Boolean, [True, False, None]), (pl.String, TEXTS), (pl.Categorical, TEXTS),
    (pl.Date, DATES), (pl.Datetime("us"), MOMENTS), (pl.Datetime("ns"), MOMENTS), (pl.Datetime("ms", "UTC"), MOMENTS),
    (pl.Decimal(12, 2), CENTS), (pl.Null, [None]), (pl.Int128, [*LONG, 2**100]),
    (pl.Enum(["Ash", "1", "true"]), ["Ash", "1", "true", None]), (pl.Duration, [None]), (pl.Binary, [b"1", None]),
    (pl.Object, [*POOLS["ints"], *POOLS["bools"], *POOLS["words"], *POOLS["odd"], *BLANKS]),
]  # fmt: skip
PANDAS: list[tuple[Any, list[Any]]] = [
    ("Int64", LONG), ("UInt8", SMALL), ("Float64", REALS), ("Float32", REALS[:6]), ("boolean", [True, False, None]),
    ("string", TEXTS), ("str", TEXTS), ("string[pyarrow]", TEXTS), (pd.ArrowDtype(pa.int64()), LONG),
    (pd.ArrowDtype(pa.float64()), REALS), (pd.ArrowDtype(pa.bool_()), [True, False, None]),
    (pd.ArrowDtype(pa.string()), TEXTS), (pd.ArrowDtype(pa.date32()), DATES),
    (pd.ArrowDtype(pa.timestamp("us")), MOMENTS),
    (pd.ArrowDtype(pa.decimal128(12, 2)), CENTS), ("datetime64[ns]", MOMENTS), ("datetime64[s]", MOMENTS),
    ("datetime64[us, UTC]", MOMENTS), (pd.CategoricalDtype(["Ash", "1", "true"]), ["Ash", "1", "true", None]),
    (pd.CategoricalDtype([0, 1, 2]), [0, 1, 2, None]), ("timedelta64[ns]", [None]),
]  # fmt: skip
ARROW: list[tuple[Any, list[Any]]] = [
    (pa.int8(), INTEGERS[:4]), (pa.int64(), LONG), (pa.uint64(), [0, 1, 2**64 - 1, None]), (pa.float32(), REALS[:6]),
    (pa.float64(), REALS), (pa.bool_(), [True, False, None]), (pa.string(), TEXTS), (pa.large_string(), TEXTS),
    (pa.dictionary(pa.int32(), pa.string()), TEXTS), (pa.date32(), DATES), (pa.date64(), DATES[:1]),
    (pa.timestamp("ns"), MOMENTS), (pa.timestamp("s", "+02:00"), [datetime(2020, 1, 3), None]),
    (pa.decimal128(12, 2), CENTS), (pa.null(), [None]), (pa.time32("s"), [None]), (pa.binary(), [b"1", None]),
]  # fmt: skip


def _typed(dice: Random, known: list[tuple[Any, list[Any]]]) -> tuple[list[str], dict[str, Any], Values, Values]:
    """Names and types of columns, and the values of both frames."""
    fields, size = fields_of(dice, 2), dice.randint(0, MOST)
    at, kinds, one, two = dice.randint(0, size), {}, {}, {}
    for name in fields:
        kinds[name], pool = dice.choice(known)
        one[name] = [dice.choice(pool) for _ in range(size)]
        two[name] = [*one[name][:at], dice.choice(pool), *one[name][at:]]
    return fields, kinds, one, two


def declared(known: list[tuple[Any, list[Any]]], make: Callable[[Values, dict[str, Any]], Any]) -> Any:
    """Pairs of frames with the same types, whatever the values are."""

    def pair(dice: Random, _folder: Path) -> Pair:
        fields, kinds, one, two = _typed(dice, known)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                frames = [make(one, kinds), make(two, kinds)]
        except (TypeError, ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError) as error:
            raise Unbuildable from error
        if frames and isinstance(frames[0], pl.DataFrame) and dice.random() < 0.5 and pl.Object not in kinds.values():
            frames = [part.lazy() for part in frames]
        return Pair(document(fields), *frames, adds_at_most(1), f"{kinds} {one} {two}")

    return pair


def polars_frame(values: Values, kinds: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([pl.Series(name, held, dtype=kinds[name]) for name, held in values.items()])


def pandas_frame(values: Values, kinds: dict[str, Any]) -> Any:
    return pd.DataFrame({name: pd.Series(held, dtype=kinds[name]) for name, held in values.items()})


def arrow_table(values: Values, kinds: dict[str, Any]) -> Any:
    return pa.table({name: pa.array(held, type=kinds[name], from_pandas=False) for name, held in values.items()})


def in_parquet(known: list[tuple[Any, list[Any]]], make: Callable[[Values, dict[str, Any]], Any]) -> Any:
    """The same pairs in Parquet files."""
    build = declared(known, make)

    def pair(dice: Random, folder: Path) -> Pair:
        frames, paths = build(dice, folder), []
        for part, frame in (("one", frames.before), ("two", frames.after)):
            path = folder / part / "data.parquet"
            path.parent.mkdir(exist_ok=True)
            try:
                write_parquet(frame, path)
            except (pa.ArrowException, pl.exceptions.PolarsError) as error:
                raise Unbuildable from error
            paths.append(path)
        return Pair(frames.schema, *paths, frames.rule, frames.shown)

    return pair


def write_parquet(frame: Any, path: Path) -> None:
    import pyarrow.parquet

    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        frame.write_parquet(path)
    else:
        pyarrow.parquet.write_table(frame, path, row_group_size=2)


WRITABLE = [one for one in POLARS if one[0] not in (pl.Object, pl.Int128, pl.Null)]

FORMS = [
    Form("pandas, from lists", "memory", inferred(_anew), table(), 150, "pandas"),
    Form("pandas, from records", "memory", inferred(_of_rows), table(), 150, "pandas"),
    Form("pandas, pd.concat", "memory", inferred(_joined), table(), 150, "pandas"),
    Form("pandas, loc[n]", "memory", inferred(_appended), table(), 150, "pandas"),
    Form("pandas, narrow and categorical", "memory", inferred(_narrow), table(), 150, "pandas"),
    Form("pandas, declared types", "memory", declared(PANDAS, pandas_frame), table(), 300, "pandas"),
    Form("polars", "memory", declared(POLARS, polars_frame), table(), 400),
    Form("pyarrow", "memory", declared(ARROW, arrow_table), table()),
    Form("Parquet, by polars", "memory", in_parquet(WRITABLE, polars_frame), table(), 250, "Parquet"),
    Form("Parquet, by pyarrow", "memory", in_parquet(ARROW, arrow_table), table(), 250, "Parquet"),
]
