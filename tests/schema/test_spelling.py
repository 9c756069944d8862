"""How values are written: signs in numbers, formats of dates, blanks, case, and texts that are replaced."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.domain import Attribute
from cantle.schema.fields import CONSTRAINT_KEYS, FIELD_KEYS, WRITING, Field
from cantle.schema.items import Universe
from cantle.schema.values import BLANKS

MARKS = ["", "-999", "k.A."]
CENTS = {"type": "number", "step": 0.01, "constraints": {"minimum": -1000, "maximum": 1_000_000}}
WHOLE = {"type": "integer", "constraints": {"minimum": 0, "maximum": 10_000}}
DAYS = {"type": "date", "constraints": {"minimum": "1990-01-01", "maximum": "2030-12-31"}}
SEX = {"type": "string", "categories": ["M", "F"], "replace": {"male": "M", "1": "M", 2: "F"}}


def attribute(**keys: Any) -> Attribute:
    schema = Schema.from_dict({"fields": [{"name": "x", **keys}], "missingValues": MARKS})
    assert Schema.from_dict(schema.to_dict()) == schema
    return schema.domain().attributes[0]


def read(values: list[Any], dtype: Any = pl.String, **keys: Any) -> list[Any]:
    """The values after encoding and decoding."""
    declared = attribute(**keys).on_places
    return declared.values(declared.encode(pl.Series(values, dtype=dtype))).to_list()


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        ({"decimalChar": ","}, {"1,5": 1.5, " -2,25 ": -2.25, "7": 7.0, "1,5e2": 150.0, ",5": 0.5, "1.5": None}),
        ({"decimalChar": ",", "groupChar": "."}, {"1.234,5": 1234.5, "1.234.567": 1e6, "1.5": None, "12.34,5": None}),
        ({"groupChar": " "}, {"1 234.5": 1234.5, "1\xa0234": 1234.0, "1\u202f234": 1234.0, "1  234": None}),
        ({"groupChar": "'"}, {"12'345.50": 12345.5, "1'234'567": 1e6, "12345": 12345.0}),
        ({"bareNumber": False}, {"$5": 5.0, "5 %": 5.0, "-€7.5": -7.5, "€ -7.5": -7.5, "EUR 3": 3.0, ".5%": 0.5}),
        ({"bareNumber": False}, {"3-4": None, "(5)": None, "Rs.500": None, "1 2": None, "--5": None, "%": None}),
        ({"decimalChar": ",", "missingValues": ["9,99"]}, {"9,99": None, " 9,99": None, "9,98": 9.98}),
        ({"replace": {"keine": 0, "viel": 999.5}}, {"keine": 0.0, " viel ": 999.5, "Viel": None, "3": 3.0}),
    ],
)
def test_numbers_are_read_as_they_are_written(keys: dict[str, Any], values: dict[str, float | None]) -> None:
    assert read(list(values), **CENTS | keys) == list(values.values())


def test_whole_numbers_may_have_the_same_signs() -> None:
    keys = WHOLE | {"groupChar": ".", "decimalChar": ",", "bareNumber": False, "replace": {"90+": 90}}
    assert read(["1.234", "7 Stk.", "7,9", "90+", "-999", " -999", "k.A."], **keys) == [
        1234,
        7,
        7,
        90,
        None,
        None,
        None,
    ]


def test_a_point_between_thousands_of_whole_numbers_needs_no_decimal_comma() -> None:
    assert read(["1.234", "1.5", "7"], **WHOLE | {"groupChar": "."}) == [1234, None, 7]


def test_columns_of_numbers_are_used_as_they_are() -> None:
    assert read([1.5, 1234.0, None], pl.Float64, **CENTS | {"decimalChar": ",", "groupChar": "."}) == [
        1.5,
        1234.0,
        None,
    ]
    assert read([1.5], pl.Float64, **CENTS | {"replace": {"viel": 3}}) == [1.5]


def test_a_missing_mark_counts_with_blanks_around_it() -> None:
    assert read(["-999", " -999 ", "7"], **WHOLE) == [None, None, 7]
    assert read([" 1990-01-01 ", "1991-01-01"], **DAYS | {"missingValues": ["1990-01-01"]})[0] is None


def test_several_formats_are_tried_in_their_order() -> None:
    keys = DAYS | {"format": ["%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y"], "replace": {"nie": "2030-12-31"}}
    texts = [
        "03.01.2020",
        "3.1.20",
        " 03/01/2020 ",
        "01/31/2020",
        "2020-01-03",
        "2020-01-03T05:00:00",
        "31/31/2020",
        "nie",
    ]
    days = ["" if day is None else day.isoformat() for day in read(texts, **keys)]
    same = "2020-01-03"
    assert days == [same, same, same, "2020-01-31", same, same, "", "2030-12-31"]


def test_a_year_of_two_digits_is_not_one_of_four() -> None:
    assert read(["03.01.20", "03.01.2020"], **DAYS | {"format": "%d.%m.%Y"})[0] is None
    hours = {"type": "datetime", "step": "1h", "constraints": {"minimum": "2000-01-01", "maximum": "2030-01-01"}}
    moments = read(["03.01.20 05:00", "3.1.2020 05:59"], **hours | {"format": ["%d.%m.%Y %H:%M", "%d.%m.%y %H:%M"]})
    assert [str(one) for one in moments] == ["2020-01-03 05:00:00", "2020-01-03 05:59:00"]


def test_blanks_around_categories_do_not_count_unless_they_are_declared() -> None:
    plain = {"type": "string", "categories": ["Ash", " Elm"], "unknown": "drop"}
    trimmed, kept = attribute(**plain), attribute(**plain | {"trim": False})
    texts = pl.Series(["Ash", " Ash\xa0", " Elm", "  Elm", " ", " k.A. ", "x"])
    assert trimmed.encode(texts).tolist() == [0, 0, 1, -1, 2, 2, -1]
    assert kept.encode(texts).tolist() == [0, -1, 1, -1, -1, -1, -1]


def test_trimming_removes_what_unicode_calls_blank() -> None:
    """polars strips exactly the characters that the code for other engines lists."""
    every = pl.Series([chr(code) for code in range(0x3100)])
    assert "".join(every.filter(every.str.strip_chars() == "").to_list()) == BLANKS


def test_case_is_ignored_letter_by_letter() -> None:
    keys = {"type": "string", "categories": ["Male", "Straße", "ΟΔΟΣ", "k"], "ignoreCase": True}
    texts = ["MALE", " male", "STRAßE", "STRAẞE", "strasse", "οδος", "οδοσ", "\u212a", "İ"]
    assert read(texts, **keys) == ["Male", "Male", "Straße", "Straße", None, None, "ΟΔΟΣ", "k", None]
    flag = {"type": "boolean", "trueValues": ["Ja"], "falseValues": ["nein"], "ignoreCase": True}
    assert read(["JA", "nein ", "tRUE", "k.a."], **flag) == [True, False, True, None]


def test_texts_are_replaced() -> None:
    assert read(["male", "M", " 1", "2", "m"], **SEX) == ["M", "M", "M", "F", None]
    assert read([1, 2, 3], pl.Int64, **SEX) == ["M", "F", None]
    assert read(["m", "MALE"], **SEX | {"ignoreCase": True}) == ["M", "M"]
    coded = {"type": "integer", "categories": [1, 2], "replace": {"one": 1, "09": 2}}
    assert read(["one", "9", "01", "3"], **coded) == [1, 2, 1, None]
    assert read(["on", "true"], type="boolean", replace={"on": True}) == [True, True]


def test_codes_keep_leading_zeros() -> None:
    codes = {"type": "string", "categories": ["007", "07", "7", "1.10", "1.1"]}
    assert read(["007", "07", "7", "1.10", "1.1", "0007"], **codes) == ["007", "07", "7", "1.10", "1.1", None]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (CENTS | {"decimalChar": ",,"}, "single sign"),
        (CENTS | {"decimalChar": "5"}, "single sign"),
        (CENTS | {"decimalChar": " "}, "single sign"),
        (CENTS | {"groupChar": "."}, "the same"),
        (CENTS | {"bareNumber": "no"}, "true or false"),
        (CENTS | {"trim": False}, "for columns of categories"),
        (CENTS | {"replace": {"5": 6}}, "read as a value already"),
        (CENTS | {"replace": {"-999": 6}}, "missing value"),
        (CENTS | {"replace": {"x": "much"}}, "not a number"),
        (DAYS | {"decimalChar": ","}, "for columns of numbers"),
        (DAYS | {"format": []}, "empty list"),
        (DAYS | {"format": ["%d.%m.%Y", "%Q"]}, "%Q"),
        (SEX | {"decimalChar": ","}, "for columns of numbers"),
        (SEX | {"replace": {"x": "X"}}, "not one of its categories"),
        (SEX | {"replace": {"F": "M"}}, "a category itself"),
        (SEX | {"replace": ["x"]}, "not a mapping"),
        ({"type": "string", "categories": ["a", "A"], "ignoreCase": True}, "differ in case alone"),
        ({"type": "string", "categories": ["K.a."], "ignoreCase": True}, "differ in case alone"),
        ({"type": "integer", "categories": [1], "ignoreCase": True}, "for columns of categories"),
    ],
)
def test_keys_that_make_no_sense_are_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        attribute(**keys)


def test_the_table_of_keys_has_every_key_of_the_parser() -> None:
    """Every key that the canonical form of a field can have is in the table, and keys about spelling are marked."""
    full = Field(
        name="x", role="target", ordered=True, unknown="drop", true_values=("j",), false_values=("n",),
        missing_values=("",), formats=("%F",), trim=False, ignore_case=True, replaced=(("a", "b"),),
        required=True, minimum=0, maximum=1, step=1, categories=("b",), source="y", mapped=(("a", "b"),),
        bounds=((Fraction(0), Fraction(1)),) * 2, columns=("a", "b"), share=Fraction(1, 2),
        items=Universe((1, 3)), most_items=1,
    )  # fmt: skip
    stated = full.to_dict()
    constraints = stated.pop("constraints")
    assert set(stated) <= set(FIELD_KEYS)
    assert set(constraints) <= set(CONSTRAINT_KEYS)  # type: ignore[arg-type]
    assert set(WRITING) <= set(FIELD_KEYS)
    assert set(FIELD_KEYS) - set(stated) == {"constraints", "hierarchy", "decimalChar", "groupChar", "bareNumber"}


def test_replaced_values_are_moved_to_the_grid() -> None:
    declared = attribute(**WHOLE | {"replace": {"all": 99_999}})
    assert np.array_equal(declared.encode(pl.Series(["all", "10000"])), [10_000, 10_000])
