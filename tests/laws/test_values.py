"""One value has one meaning: alone, among others, in a typed column and in one of objects (docs/privacy.md, cleaning).

pandas picks the type of a column by all of its values, so one more record can turn integers into floats, or any values
into objects. These tests let it do so, and check that no other record gets another code.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cantle
from cantle.data.frames import EXACT, column_of, meaning
from cantle.data.graphs import read_graph
from cantle.data.sets import read_baskets
from cantle.data.tables import as_ids, read_columns
from cantle.schema import Schema
from cantle.schema.graph import GraphSchema
from cantle.schema.sets import SetSchema
from cantle.schema.values import MIXED
from tests.effort import examples, slow

WORDS = ["1", "0", "1.0", "0.1", "true", "True", "2020-01-01", "2020-01-01T00:00:00", "9007199254740992", "1.5", "7"]
FIELDS: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer", "constraints": {"minimum": -1000, "maximum": 9}, "missingValues": ["-999"]},
    "wide": {"type": "integer", "step": 2, "constraints": {"minimum": -(2**52), "maximum": 2**53 - 1}},
    "number": {
        "type": "number",
        "step": 0.1,
        "constraints": {"minimum": -1000, "maximum": 9},
        "missingValues": ["-999.0"],
    },
    "nearest": {"type": "number", "step": 5, "constraints": {"minimum": -1000, "maximum": 9, "multipleOf": 0.25}},
    "string": {"type": "string", "categories": WORDS, "missingValues": ["-999", "x"]},
    "known": {"type": "string", "categories": WORDS, "unknown": "drop", "missingValues": ["-999"]},
    "code": {"type": "integer", "categories": [1, 0, 7, 20200101], "unknown": 7},
    "boolean": {"type": "boolean", "unknown": "drop"},
    "date": {"type": "date", "constraints": {"minimum": "2019-01-01", "maximum": "2020-12-31"}},
    "digits": {"type": "date", "format": "%Y%m%d", "constraints": {"minimum": "2019-01-01", "maximum": "2020-12-31"}},
    "datetime": {
        "type": "datetime",
        "step": "1s",
        "constraints": {"minimum": "2019-12-31", "maximum": "2020-01-02"},
    },
}
ALIKE = "datetime", "code", "known", "wide", "nearest"
"""Fields that are read like another one; they run with `-m slow`."""
SCHEMAS = {name: Schema.from_dict({"fields": [{"name": "x", **field}]}) for name, field in FIELDS.items()}
ANY_FIELD = SCHEMAS["integer"]
TOKYO, AWAY = timezone(timedelta(hours=9)), timezone(timedelta(hours=-23, minutes=-59))
NASTY: list[Any] = [
    *(
        None,
        float("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "ns"),
        Decimal("nan"),
        "",
        " ",
        "x",
        "nan",
        "-999",
        "1.0",
        "\x00",
    ),
    *(True, False, np.True_, 1, 0, -999, 7, np.int8(1), np.uint64(2**64 - 1), 20200101, 2**53 - 1, 2**53, 2**53 + 1),
    *(
        -(2**53) - 1,
        2**63 - 1,
        2**63,
        -(2**63),
        2**70,
        10**400,
        1.0,
        -0.0,
        0.1,
        1.5,
        -999.0,
        float("inf"),
        -float("inf"),
    ),
    *(np.float32(0.1), np.float16(1), np.float64(20200101), 1e300, 9007199254740993.0, np.longdouble(1)),
    *(Decimal("1"), Decimal("1.50"), Decimal("-0.0"), Decimal("-999.00"), Decimal("1e999999"), Decimal("Infinity")),
    *(date(2020, 1, 1), datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1), datetime(2020, 1, 1, tzinfo=UTC)),
    *(datetime(2020, 1, 1, 9, tzinfo=TOKYO), datetime.min.replace(tzinfo=TOKYO), datetime.max.replace(tzinfo=AWAY)),
    *(pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timestamp("2020-01-01", tz="UTC")),
    *(pd.Timestamp("2020-01-01", tz="Europe/Vienna"), np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns")),
    *(np.datetime64(300_000 - 1970, "Y"), pd.Timedelta(1), timedelta(1), np.timedelta64(1, "s"), pd.Period("2020")),
    *(
        1j,
        1 + 0j,
        Fraction(1),
        Fraction(15, 10),
        b"1",
        (1, 2),
        frozenset([1]),
        object(),
        pd.Interval(0, 1),
        np.str_("1"),
    ),
]
VALUES = st.sampled_from(NASTY) | st.integers() | st.floats() | st.booleans() | st.text(max_size=3) | st.datetimes()


def series_of(values: list[Any], dtype: Any = None) -> pd.Series[Any] | None:
    """The values in a column of pandas; None if pandas itself refuses them."""
    try:
        series = pd.Series(values, dtype=dtype)
    except Exception:
        return None
    return series if len(series) == len(values) else None


def codes(column: Any, schema: Schema) -> list[int]:
    """The code of each value, or -1 if its record is dropped."""
    return encoded(read(column, schema), schema)


def read(column: Any, schema: Schema) -> pl.Series:
    """The column as it is read, before it is encoded."""
    frame = pl.DataFrame({"x": column}) if isinstance(column, pl.Series) else pd.DataFrame({"x": column})
    return read_columns(frame, schema).frame["x"]


def encoded(column: pl.Series, schema: Schema) -> list[int]:
    (attribute,) = schema.domain().attributes
    return attribute.encode(column).tolist()


def encoded_together(columns: list[pl.Series], schema: Schema) -> list[list[int]]:
    """The codes of many small columns; columns of the same type are encoded together.

    tests/laws/test_types.py shows that a typed value has the same code among others.
    """
    codes_per_column: list[list[int]] = [[] for _ in columns]
    for dtype in {column.dtype for column in columns}:
        places = [place for place, column in enumerate(columns) if column.dtype == dtype]
        together = iter(encoded(pl.concat([columns[place] for place in places]), schema))
        for place in places:
            codes_per_column[place] = [next(together) for _ in range(len(columns[place]))]
    return codes_per_column


def alone(value: Any, name: str) -> int:
    """The code of a value in a column of objects that holds nothing else."""
    place = next((place for place, nasty in enumerate(NASTY) if nasty is value), None)
    return codes(column_alone(value), SCHEMAS[name])[0] if place is None else nasty_code(place, name)


@cache
def nasty_code(place: int, name: str) -> int:
    """The code of a nasty value in a field if it is alone."""
    return encoded(nasty_columns()[place], SCHEMAS[name])[0]


@cache
def nasty_columns() -> list[pl.Series]:
    """Each nasty value as it is read alone from a column of objects; fields differ only after that."""
    return [read(column_alone(value), ANY_FIELD) for value in NASTY]


@cache
def nasty_columns_of_pandas() -> list[pl.Series]:
    """Each nasty value as it is read from a column of the type that pandas picks."""
    columns = [series_of([value] * 2) for value in NASTY]
    assert not any(column is None for column in columns)
    return [read(column, ANY_FIELD) for column in columns]


@cache
def nasty_columns_of_polars() -> list[tuple[int, pl.Series]]:
    """Each nasty value as it is read from polars, with its position: as an object, and typed if polars has a type."""
    columns = list[tuple[int, pl.Series]]()
    for place, value in enumerate(NASTY):
        whole = meaning(value, exact=True)
        if whole is None or whole[0] != "whole" or abs(whole[1]) < EXACT:
            columns.append((place, read(pl.Series([value, "x"], dtype=pl.Object), ANY_FIELD)))
        if typed_by_polars(value):
            columns.append((place, read(pl.Series([value, None]), ANY_FIELD)))
    return columns


def nasty_codes(name: str) -> list[int]:
    return [nasty_code(place, name) for place in range(len(NASTY))]


def in_category(value: Any) -> Any:
    """The value that pandas keeps in a categorical, where True and 1 are the same."""
    return int(value) if isinstance(value, bool | np.bool_) else value


@pytest.mark.parametrize("name", slow(list(FIELDS), *ALIKE))
@examples(6)
@given(st.lists(VALUES, max_size=4))
@example([True, None])
@example([2**53 + 1, None])
@example([1, 1.5, "x"])
@example([1, 1j])
@example([True, 1])
def test_a_value_has_one_code_among_others_in_any_column_of_pandas(name: str, values: list[Any]) -> None:
    schema = SCHEMAS[name]
    want = [alone(value, name) for value in values]
    for dtype in (None, object):
        column = series_of(values, dtype)
        assert column is None or codes(column, schema) == want, dtype
    column = series_of(values, "category")
    assert column is None or codes(column, schema) == [alone(in_category(value), name) for value in values]


@pytest.mark.parametrize("name", slow(list(FIELDS), *ALIKE))
def test_a_value_has_one_code_in_a_typed_column(name: str) -> None:
    found = encoded_together(nasty_columns_of_pandas(), SCHEMAS[name])
    for value, code, codes_found in zip(NASTY, nasty_codes(name), found, strict=True):
        assert codes_found == [code] * 2, repr(value)


def typed_by_polars(value: Any) -> bool:
    """Whether polars has a type that holds the value unchanged."""
    if isinstance(value, Decimal):
        return value.is_finite() and value.adjusted() < 9
    short = not isinstance(value, int) or isinstance(value, bool) or abs(value) < EXACT
    return short and isinstance(value, bool | int | float | str | date) and not pd.isna(value)


@pytest.mark.parametrize("name", slow(list(FIELDS), *ALIKE))
def test_polars_agrees_with_pandas(name: str) -> None:
    want, columns = nasty_codes(name), nasty_columns_of_polars()
    found = encoded_together([column for _, column in columns], SCHEMAS[name])
    for (place, column), codes_found in zip(columns, found, strict=True):
        assert codes_found[0] == want[place], (NASTY[place], column.dtype)


@pytest.mark.parametrize("kind", [pl.Date, *(pl.Datetime(unit) for unit in ("ms", "us", "ns"))], ids=str)
def test_no_day_that_a_type_can_hold_makes_a_column_unreadable(kind: Any) -> None:
    """polars panics when it writes a day of the year 300,000, which databases and Parquet files may hold."""
    far = 2**31 - 1 if kind == pl.Date else 2**63 - 1
    near, both = (pl.Series(days).cast(kind) for days in ([0], [far, 0, -far]))
    for schema in SCHEMAS.values():
        assert codes(both, schema)[1:2] == codes(near, schema)
    assert as_ids(both, ())[1:2].to_list() == as_ids(near, ()).to_list()


@examples(16)
@given(st.lists(VALUES, max_size=6), st.booleans())
def test_values_are_read_alike_together_and_alone(values: list[Any], exact: bool) -> None:
    column = column_of(values, exact=exact)
    each = [column_of([value], exact=exact) for value in values]
    for place, single in enumerate(each):
        found, want = column[place : place + 1], single
        if column.dtype == MIXED:
            kept = [part for part in column.struct.unnest()[place].get_columns() if part[0] is not None]
            found = kept[0] if kept else pl.Series([None], dtype=single.dtype)
        if found[0] is None:
            assert want[0] is None
        else:
            assert found.equals(want)


# ---------------------------------------------------------------------------- cases that failed in a review

NEIGHBOURS: dict[str, tuple[str, list[Any], Any]] = {
    "a blank among truth values": ("integer", [True, False] * 3, None),
    "a blank among truth values of categories": ("string", [True, False] * 3, None),
    "a word among numbers of categories": ("string", [1.0, 0.0, 7.0], "x"),
    "a word among integers": ("string", [1, 0, 7], "x"),
    "a word among marks": ("integer", [-999.0, 3.0], "x"),
    "a word among moments of categories": ("string", [pd.Timestamp("2020-01-01")] * 2, "x"),
    "a word among moments": ("datetime", [pd.Timestamp("2020-01-01 00:00:01")] * 2, "x"),
    "a finer moment": ("string", [pd.Timestamp("2020-01-01")] * 2, pd.Timestamp("2020-01-01 00:00:00.000000001")),
    "another zone": (
        "datetime",
        [pd.Timestamp("2020-01-01", tz="UTC")] * 2,
        pd.Timestamp("2020-01-01", tz="Asia/Tokyo"),
    ),
    "a blank among dates of digits": ("digits", [20200101, 20200202], None),
    "a blank among large integers": ("wide", [2**53 - 1, 2**53 + 1], None),
    "a fraction among large integers": ("string", [2**53, 2**53 + 1], 0.5),
    "a word among short floats": ("string", [np.float32(0.1)] * 2, "x"),
    "a word among durations": ("string", [pd.Timedelta(1)] * 2, "x"),
    "a complex number among integers": ("code", [1, 7], 1j),
}


@pytest.mark.parametrize("case", NEIGHBOURS)
def test_an_added_record_changes_no_other_code(case: str) -> None:
    name, values, more = NEIGHBOURS[case]
    schema = SCHEMAS[name]
    before = codes(pd.Series(values), schema)
    for place in (0, len(values)):
        longer = pd.Series([*values[:place], more, *values[place:]])
        after = codes(longer, schema)
        assert after.pop(place) == alone(more, name)
        assert after == before


@pytest.mark.parametrize(
    ("values", "more"), [([True, False] * 500, None), ([1.0, 0.0] * 500, "x")], ids=["flags", "words"]
)
def test_one_record_does_not_change_the_share_of_nulls_of_others(values: list[Any], more: Any) -> None:
    """In an earlier version one record made all others null, which showed at any epsilon."""
    kind = FIELDS["integer"] if more is None else {"type": "string", "categories": ["1", "0"]}
    schema = {"fields": [{"name": "x", **kind}, {"name": "y", "type": "string", "categories": ["a"]}]}
    for records in (values, [*values, more]):
        frame = pd.DataFrame({"x": pd.Series(records), "y": "a"})
        records_out = cantle.publish(frame, schema, epsilon=1, method="rps", insecure_seed=3).records
        assert records_out["x"].isna().mean() < 0.2


# -------------------------------------------------------------------------------------------- identifiers


def persons(column: Any, schema: Schema) -> list[str | None]:
    frame = pd.DataFrame({"x": "1", "who": column})
    return as_ids(read_columns(frame, schema).frame["who"], ("-999",)).to_list()


PERSONS = Schema.from_dict(
    {
        "fields": [{"name": "x", **FIELDS["string"]}],
        "unit": {"person": "who", "max_records": 2},
        "missingValues": ["-999"],
    }
)


@examples(8)
@given(st.lists(VALUES, max_size=4))
@example([2**53 + 1, None])
@example([2**53 + 1, 2**53, None])
def test_an_identifier_is_read_alike_among_others(values: list[Any]) -> None:
    want = [persons(column_alone(value), PERSONS)[0] for value in values]
    for dtype in (None, object, "category"):
        column = series_of(values, dtype)
        assert column is None or persons(column, PERSONS) == want, dtype


def column_alone(value: Any) -> pd.Series[Any]:
    column = pd.Series([None], dtype=object)
    column[0] = value
    return column


@pytest.mark.parametrize("value", [1, 1.0, True, "1", np.int8(1), np.float32(1), Decimal("1.0")], ids=repr)
def test_numbers_that_are_equal_are_one_person(value: Any) -> None:
    assert persons(pd.Series([value, "x"], dtype=object), PERSONS) == ["1", "x"]


@pytest.mark.parametrize(
    "value", [1.5, 2.0**53, 2**53, 2**60 + 1, float("inf"), float("nan"), None, -999, "-999", ""], ids=repr
)
def test_values_that_are_no_identifiers_are_null(value: Any) -> None:
    assert persons(pd.Series([value, "x"], dtype=object), PERSONS) == [None, "x"]
    if isinstance(value, float | int):
        assert persons(pd.Series([value]), PERSONS) == [None]


NODES = GraphSchema.from_dict({"kind": "graph"})


def nodes(source: Any) -> list[int]:
    return sorted(read_graph(source, NODES).keys.tolist())


@examples(10)
@given(st.lists(VALUES, max_size=4))
@example([2**53 + 1, 2**53, None])
def test_a_node_is_read_alike_among_others(values: list[Any]) -> None:
    """A loop names a node but no edge."""
    each = [nodes(pd.DataFrame({"a": column_alone(value), "b": column_alone(value)})) for value in values]
    for dtype in (None, object):
        column = series_of(values, dtype)
        if column is not None:
            assert set(nodes(pd.DataFrame({"a": column, "b": column}))) == {key for keys in each for key in keys}


def test_one_missing_identifier_does_not_merge_nodes() -> None:
    ends = [2**60 + k for k in range(300)]
    blank = pd.DataFrame({"a": [*ends, None], "b": [*ends, 1]})
    assert nodes(pd.DataFrame({"a": ends, "b": ends})) == nodes(blank) == []
    assert len(nodes(blank.astype("Int64"))) == len(nodes(list(zip(ends, ends, strict=True)))) == 300


# -------------------------------------------------------------------------------------------------- items

ITEMS = {"texts": WORDS, "integers": [1, 0, 7, 20200101]}


def taken(frame: Any, items: str, **keys: Any) -> list[list[int]]:
    """The codes of the items of each set."""
    baskets = read_baskets(frame, SetSchema.from_dict({"kind": "sets", "items": ITEMS[items], **keys}))
    return [part.tolist() for part in np.split(baskets.items, baskets.starts[1:-1])] if len(baskets.starts) > 1 else []


@pytest.mark.parametrize("items", ITEMS)
@examples(6)
@given(st.lists(VALUES, max_size=4))
@example([1, "x"])
@example([1.0, "x"])
@example(["1", 1])
def test_an_item_is_read_alike_among_others(items: str, values: list[Any]) -> None:
    """In a long table with one id per row, in all types of pandas, and in lists of one item or of all items."""

    def long(column: Any) -> list[list[int]]:
        return taken(pd.DataFrame({"id": np.arange(len(column)), "item": column}), items)

    each = [items_of_set for value in values for items_of_set in long(column_alone(value))]
    for dtype in (None, object):
        column = series_of(values, dtype)
        assert column is None or long(column) == each, dtype
    column = series_of(values, "category")
    assert column is None or long(column) == long(pd.Series(list(map(in_category, values)), dtype=object))
    short = [value for value in values if not isinstance(value, int | np.integer) or abs(int(value)) < EXACT]
    each = [items_of_set for value in short for items_of_set in long(column_alone(value))]
    assert taken([[value] for value in short], items) == each
    together = sorted({code for items_of_set in each for code in items_of_set})
    assert taken([short], items) == ([together] if together else [])
    assert taken(pd.DataFrame({"items": [short, None]}), items) == ([together] if together else [])


@pytest.mark.parametrize("first", slow([0, 1], 1))
def test_no_item_makes_a_frame_of_sets_unreadable(first: int) -> None:
    """An error for some values and not for others would reveal them; half of the values are tried by default."""
    for more in NASTY[first::2]:
        table = pd.DataFrame({"id": [1, 2, 3], "item": series_of(["1", "7", more])})
        assert taken(table, "texts")[:2] == [[0], [10]], repr(more)
        lists = pd.DataFrame({"items": pd.Series([["1", more], more, ["7"]], dtype=object)})
        sets = taken(lists, "texts")
        assert (0 in sets[0], sets[-1]) == (True, [10]), repr(more)
        single = taken(lists.iloc[1:2].infer_objects(), "texts")  # with the type that pandas infers
        assert single == sets[1:-1], repr(more)
