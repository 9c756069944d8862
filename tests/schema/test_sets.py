"""The schema of sets and its universe of items: what may be declared, and that each value is encoded by itself."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError, SchemaError
from cantle.schema import Schema
from cantle.schema.dialect import Dialect
from cantle.schema.items import MAX_INTEGER, Universe, parse_items
from cantle.schema.sets import SetSchema

STATIONS = {"minimum": 1, "maximum": 17}


def schema(items: Any = STATIONS, **keys: Any) -> SetSchema:
    parsed = Schema.from_dict({"kind": "sets", "items": items, **keys})
    assert isinstance(parsed, SetSchema)
    return parsed


def codes(universe: Universe, values: Any, dtype: Any = None) -> list[int]:
    encoded = universe.encode(pl.Series(values, dtype=dtype))
    assert encoded.dtype == np.int32
    return encoded.tolist()


# ---------------------------------------------------------------------------------------------------- documents


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"items": ["milk", "bread"], "form": "fimi"},
        {"items": [7, 3, -2], "id": "basket", "item": "product", "missingValues": ["", "NULL"]},
        {"column": "clicks", "title": "Clicks", "description": "…", "sources": [{"title": "us"}]},
        {"form": "long", "dialect": {"delimiter": ";", "encoding": "latin-1"}, "guarantee": "none"},
    ],
    ids=range(5),
)
def test_the_canonical_form_gives_the_same_schema(keys: dict[str, Any]) -> None:
    declared = schema(**keys)
    written = declared.to_dict()
    assert json.loads(json.dumps(written)) == written
    assert schema(**{key: value for key, value in written.items() if key != "kind"}) == declared
    assert SetSchema.from_dict(written).hash() == declared.hash()
    assert rfc8785.dumps(written)
    assert (declared.kind, declared.protects) == ("sets", (1, "record"))


def test_keys_and_their_defaults() -> None:
    declared = schema(id="basket", delimiter=";", guarantee="none", title="T")
    assert (declared.form, declared.id, declared.item, declared.column) == ("long", "basket", None, None)
    assert declared.dialect == Dialect(delimiter=";")
    assert declared.inferred
    assert declared.extra == {"title": "T"}
    assert schema().to_dict() == {"kind": "sets", "items": STATIONS}
    assert schema().form is None
    assert schema(column="x").form == "list"
    assert not schema(unit="record").inferred


def test_the_hash_depends_on_what_is_declared() -> None:
    different = [
        schema(),
        schema({"minimum": 1, "maximum": 18}),
        schema(["1", "2"]),
        schema([2, 1]),
        schema(form="fimi"),
    ]
    assert len({one.hash() for one in different}) == len(different)
    assert schema(list(range(1, 18))).hash() == schema().hash()


def test_a_schema_file_with_an_item_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_bytes("\ufeffmilk\r\n\r\nrye bread \nÖl\n".encode())
    (tmp_path / "schema.yaml").write_text("kind: sets\nitems: items.txt\nform: long\n", encoding="utf-8")
    loaded = Schema.load(tmp_path / "schema.yaml")
    assert loaded.universe == Universe(("milk", "rye bread", "Öl"))
    assert loaded.to_dict()["items"] == ["milk", "rye bread", "Öl"]
    (tmp_path / "items.txt").unlink()
    assert SetSchema.from_dict(loaded.to_dict()) == loaded


@pytest.mark.parametrize(
    ("lines", "items"),
    [
        (b"3\n1\n2\n", (3, 1, 2)),
        (b"1\n2\n3", range(1, 4)),
        (b"-1\n0\n1", range(-1, 2)),
        (b"01\n02\n", ("01", "02")),
        (b"1\n2\n-0\n", ("1", "2", "-0")),
        (b"1\n" + b"9" * 16, ("1", "9" * 16)),
        (b"1\n" + b"9" * 5000, ("1", "9" * 5000)),
        (b"one", ("one",)),
    ],
    ids=range(8),
)
def test_items_are_read_from_the_lines_of_a_file(tmp_path: Path, lines: bytes, items: Any) -> None:
    (tmp_path / "items").write_bytes(lines)
    assert parse_items("items", tmp_path) == Universe(items)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"items": None}, "no `items`"),
        ({"items": []}, "there is none"),
        ({"items": ()}, "there is none"),
        ({"items": 17}, "neither bounds nor a list"),
        ({"items": True}, "neither bounds nor a list"),
        ({"items": {}}, "bounds have a `minimum` and a `maximum`"),
        ({"items": {"minimum": 1}}, "bounds have a `minimum` and a `maximum`"),
        ({"items": {"minimum": 1.5, "maximum": 3}}, "`minimum` is not a whole number"),
        ({"items": {"minimum": True, "maximum": 3}}, "`minimum` is not a whole number"),
        ({"items": {"minimum": "1", "maximum": 3}}, "`minimum` is not a whole number"),
        ({"items": {"minimum": 1, "maximum": 3, "step": 1}}, "and nothing else"),
        ({"items": {"minimum": 4, "maximum": 3}}, "minimum 4 is above maximum 3; swap"),
        ({"items": {"minimum": 1, "maximum": 10_000_001}}, "10,000,001, more than 10,000,000"),
        ({"items": {"minimum": 0, "maximum": 2**53}}, "`maximum` is not a whole number"),
        ({"items": [1, 2**53]}, "2\\*\\*53"),
        ({"items": [10**5000]}, "2\\*\\*53"),
        ({"items": ["milk", "bread", "milk"]}, "'milk' is declared twice"),
        ({"items": [3, 5, 3]}, "item 3 is declared twice"),
        ({"items": ["3", 3]}, "'3' is declared twice"),
        ({"items": [1, 2.0]}, "neither an integer nor a text"),
        ({"items": [1, True]}, "neither an integer nor a text"),
        ({"items": ["a", None]}, "neither an integer nor a text"),
        ({"items": ["a", ""]}, "an empty text is missing"),
        ({"items": ["a", ["b"]]}, "neither an integer nor a text"),
        ({"items": ["a", "\ud800"]}, "half a character"),
        ({"items": "???"}, "still blank"),
        ({"items": ["???"]}, "still blank"),
        ({"items": "nowhere.txt"}, "no file 'nowhere.txt'"),
        ({"items": "."}, "no file '.'"),
        ({"items": "a\0b"}, "items: "),
        ({"form": "csv"}, "`form` is not known; use one of fimi, long, list"),
        ({"form": ["long"]}, "`form` is not known"),
        ({"form": "list", "id": "a"}, "do not agree"),
        ({"form": "fimi", "column": "a"}, "do not agree"),
        ({"item": "a", "column": "b"}, "do not agree"),
        ({"id": "a", "item": "a"}, "same column"),
        ({"item": "id"}, "same column"),
        ({"id": 3}, "`id` must be the name of a column"),
        ({"column": ""}, "`column` must be the name of a column"),
        ({"colum": "a"}, "key 'colum' is not known; write 'column'"),
        ({"fields": []}, "`fields` is not for sets"),
        ({"hierarchy": {"a": ["b"]}}, "hierarchy"),
        ({"hierarchy": 7}, "hierarchy"),
        ({"hierarchy": "none.csv"}, "hierarchy"),
        ({"unit": {"person": "id"}}, "neither `record` nor a person"),
        ({"unit": {"person": "id", "max_records": 2}}, "column of ids or of items"),
        ({"unit": {"person": "who", "max_records": 0}}, "max_records"),
        ({"unit": {"person": "who", "max_records": 2}, "form": "fimi"}, "has no column of persons"),
        ({"unit": {"person": "who", "max_records": 2}, "column": "x"}, "has no column of persons"),
        ({"guarantee": "full"}, "can only be `none`"),
        ({"dialect": {"delimiter": "--"}}, "single ASCII character"),
        ({"missingValues": "NULL"}, "must be a list of texts"),
    ],
)
def test_wrong_schemas_are_refused(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        schema(**{"items": STATIONS, **keys})


def test_item_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xd6l\n")
    with pytest.raises(SchemaError, match="UTF-8"):
        parse_items("latin", tmp_path)
    (tmp_path / "blank").write_bytes(b"\n \n")
    with pytest.raises(SchemaError, match="there is none"):
        parse_items("blank", tmp_path)
    (tmp_path / "twice").write_bytes(b"x\ny\nx\n")
    with pytest.raises(SchemaError, match="'x' is declared twice"):
        parse_items("twice", tmp_path)


def test_a_table_schema_is_no_schema_of_sets() -> None:
    with pytest.raises(SchemaError, match="kind: sets"):
        SetSchema.from_dict({"items": [1]})
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(SchemaError, match="deep"):
        schema(title=deep)


# ----------------------------------------------------------------------------------------------------- universe


def test_the_repr_of_a_universe() -> None:
    assert repr(Universe(range(1, 18))) == "Universe(17 items, 1 to 17)"
    assert repr(Universe(("a", "b"))) == "Universe(2 items, 'a' to 'b')"
    assert Universe(range(1, 18)).integers
    assert not Universe(("1",)).integers


@pytest.mark.parametrize("items", [range(-3, 9), (5, -3, 8, 0), (5, 10**15, -3), ("b", "a", "é é")], ids=str)
def test_codes_are_positions_and_labels_are_their_inverse(items: Any) -> None:
    universe = Universe(items)
    assert universe.size == len(items)
    assert [universe.label(code) for code in range(universe.size)] == list(items)
    labels = universe.labels(np.arange(universe.size))
    assert labels.to_list() == list(items)
    assert labels.dtype == (pl.Int64 if universe.integers else pl.String)
    assert universe.encode(labels).tolist() == list(range(universe.size))
    assert universe.labels(np.zeros(0, dtype=np.int32)).dtype == labels.dtype


@pytest.mark.parametrize("items", [range(4), (0, 1, 2, 3, 10**15), (3, 0, 1, 2, 77)], ids=["range", "search", "table"])
def test_integers_of_any_type_are_looked_up(items: Any) -> None:
    u = Universe(items)

    def labels(values: Any, dtype: Any = None) -> list[Any]:
        return [u.label(code) if code >= 0 else None for code in codes(u, values, dtype)]

    assert labels([3, 0, -1, 4, None, 2**63 - 1, -(2**63)]) == [3, 0, *[None] * 5]
    assert labels([3, 255], pl.UInt8) == [3, None]
    assert labels([3, 2**64 - 1], pl.UInt64) == [3, None]
    assert labels([3, 2**100], pl.Int128) == [3, None]
    assert labels([3.0, 2.5, -0.0, float("nan"), float("inf"), 1e300, None]) == [3, None, 0, *[None] * 4]
    assert labels([3.0, 2.5], pl.Float32) == [3, None]
    assert labels([Decimal("3.00"), Decimal("2.50")]) == [3, None]
    odd = ["03", "+3", " 3", "3 ", "3.0", "3e0", "-0", "", "x", "٣", "3\n", "1_0", "9" * 30]
    assert labels(["3", "0", *odd, None]) == [3, 0, *[None] * (len(odd) + 1)]
    assert labels(["3", "x"], pl.Categorical) == [3, None]
    assert labels([True, False]) == [1, 0]
    assert labels([[3]]) == [None]
    assert labels([b"3"]) == [None]
    assert labels([], pl.Null) == []


def test_texts_of_any_type_are_looked_up() -> None:
    u = Universe(("3", "03", "milk", "true", "2.5", "Milk"))
    assert codes(u, ["milk", "Milk", " milk", "03", None, "", "\ufffd"]) == [2, 5, -1, 1, -1, -1, -1]
    assert codes(u, [3, 4, None]) == [0, -1, -1]
    assert codes(u, [3.0, 2.5, float("nan")]) == [0, 4, -1]
    assert codes(u, [Decimal("3.00"), Decimal("2.50")]) == [0, 4]
    assert codes(u, [True]) == [3]
    assert codes(u, ["milk", "x"], pl.Categorical) == [2, -1]
    assert codes(u, [["milk"]]) == [-1]


@given(st.sets(st.integers(-40, 40), min_size=1), st.lists(st.integers(-50, 50)), st.sampled_from([0, 10**14]))
def test_all_ways_to_look_up_an_integer_agree(items: set[int], values: list[int], far: int) -> None:
    order = tuple(sorted(items, key=lambda one: (one % 7, one)))
    universe = Universe(order + ((far,) if far else ()))
    want = [order.index(value) if value in items else -1 for value in values]
    assert codes(universe, values, pl.Int64) == want
    assert codes(universe, [str(value) for value in values], pl.String) == want
    assert codes(universe, [float(value) for value in values], pl.Float64) == want


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3)))
def test_all_ways_to_look_up_a_text_agree(values: list[str]) -> None:
    items = ("a", "ab", "é", "\x00", " ", "\ufeff")
    universe = Universe(items)
    want = [items.index(value) if value in items else -1 for value in values]
    assert codes(universe, values, pl.String) == want
    assert universe.locate_texts(values).tolist() == want


def test_universes_of_one_item_and_of_many() -> None:
    assert codes(Universe(range(5, 6)), [5, 4, 6]) == [0, -1, -1]
    assert codes(Universe(("x",)), ["x", "y"]) == [0, -1]
    many = schema([f"item {i}" for i in range(100_000)]).universe
    assert codes(many, ["item 99999", "item 100000"]) == [99_999, -1]
    largest = schema({"minimum": -MAX_INTEGER, "maximum": -MAX_INTEGER + 9_999_999}).universe
    assert codes(largest, [-MAX_INTEGER, 0]) == [0, -1]


@pytest.mark.parametrize("bad", ["rye bread", "a\tb", "a\u00a0b", "\x00", "\ufeffa"])
def test_items_with_a_space_cannot_be_in_fimi_lines(bad: str) -> None:
    Universe(("a", "b")).check_fimi()
    Universe(range(3)).check_fimi()
    with pytest.raises(ParameterError, match="FIMI"):
        Universe(("a", bad)).check_fimi()


def test_departments_are_the_widest_groups_and_are_in_the_canonical_form(tmp_path: Path) -> None:
    """This holds for nested lists, a rule and an ARX file; items keep their declared order."""
    document: dict[str, Any] = {"kind": "sets", "items": ["a1", "b1", "a2", "c1"]}
    nested = [{"A": ["a1", "a2"]}, ["b1", "c1"]]
    (tmp_path / "tree.csv").write_text("a1;A;*\nb1;B;*\na2;A;*\nc1;B;*\n")
    for hierarchy in (nested, {"all": nested}, "tree.csv"):
        schema = SetSchema.from_dict(document | {"hierarchy": hierarchy}, tmp_path)
        assert schema.departments == (0, 1, 0, 1)
        assert schema.universe.items == ("a1", "b1", "a2", "c1")
        assert SetSchema.from_dict(schema.to_dict()).departments == schema.departments
        assert SetSchema.from_dict(schema.to_dict()).hash() == schema.hash()
    assert SetSchema.from_dict(document | {"hierarchy": {"prefixes": [1]}}).departments == (0, 1, 0, 2)
    assert SetSchema.from_dict(document).departments is None
    assert SetSchema.from_dict({"kind": "sets", "items": ["a"], "hierarchy": ["a"]}).departments == (0,)
