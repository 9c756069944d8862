"""Columns of lists: codes, their declaration, the columns that are counted for them, and questions about them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data.draft_schema import draft
from cantle.data.draft_schema.kinds import kind_of
from cantle.data.frames import column_of_lists
from cantle.errors import ParameterError, SchemaError
from cantle.schema.code_sets import holds
from cantle.schema.domain import unsigned
from cantle.schema.items import Universe
from cantle.schema.lists import Lists, as_texts, from_texts
from cantle.schema.questions import parse
from cantle.schema.scales import DROP, MISSING
from cantle.schema.table import TableSchema

ITEMS = ["flu", "gout", "mumps"]
ILL: dict[str, Any] = {"name": "ill", "type": "list", "items": ITEMS}
RECORDS = st.lists(st.none() | st.lists(st.sampled_from([*ITEMS, "cough"]), max_size=5), min_size=1, max_size=8)


def schema(**more: Any) -> TableSchema:
    age = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    return TableSchema.from_dict({"fields": [age, {**ILL, **more}]})


def scale(**more: Any) -> Lists:
    found = schema(**more).as_declared().attributes[1].scale
    assert isinstance(found, Lists)
    return found


# ---- codes ----------------------------------------------------------------------------------------------------------


@given(st.sampled_from([1, 2, 8, 31, 32, 60, 62, 63, 64, 65, 200]), st.integers(0, 2**32), st.booleans())
def test_values_and_codes_are_one_to_one(size: int, seed: int, texts: bool) -> None:
    lists = Lists.of(Universe(tuple(f"i{n}" for n in range(size)) if texts else range(size)))
    dice = random.Random(seed)
    codes = np.array([*(dice.getrandbits(size) for _ in range(20)), lists.grid], dtype=unsigned(lists.grid + 1))
    known = [MISSING if code == lists.grid else code for code in codes.tolist()]
    values = lists.values(codes)
    assert lists.locate(values).tolist() == known
    assert lists.locate(as_texts(values)).tolist() == known
    assert from_texts(as_texts(values), values.dtype).to_list() == values.to_list()
    assert [lists.text(code) for code in codes[:-1].tolist()] == as_texts(values)[:-1].to_list()


@given(RECORDS, st.randoms())
def test_every_form_of_a_list_has_the_same_code(records: list[list[str] | None], dice: Any) -> None:
    """The order of items and their repeats mean nothing, whatever holds the list."""
    found, mixed = scale(), [None if one is None else dice.sample(one * 2, 2 * len(one)) for one in records]
    codes = [sum(1 << ITEMS.index(item) for item in {*one} & {*ITEMS}) if one is not None else -1 for one in records]
    texts = ["" if one is None else " ; ".join(one) or "[]" for one in mixed]
    parsed = [None if one is None else json.dumps(one) for one in mixed]
    objects = [None if one is None else one if at % 2 else np.array(one) for at, one in enumerate(mixed)]
    forms = [
        pl.Series(mixed, dtype=pl.List(pl.String)),
        pl.Series(texts, dtype=pl.String),
        pl.Series(parsed, dtype=pl.String),
        column_of_lists(objects),
        column_of_lists([*objects, ""])[:-1],
        pl.Series(mixed, dtype=pl.List(pl.Categorical)),
    ]
    assert [found.locate(form).tolist() for form in forms] == [codes] * len(forms)


@given(RECORDS, st.sampled_from([{}, {"unknown": "drop"}, {"unknown": "gout"}, {"max_items": 1}, {"required": True}]))
def test_each_record_is_mapped_by_itself(records: list[list[str] | None], more: dict[str, Any]) -> None:
    required = {"constraints": {"required": True}} if more.get("required") else more
    found = scale(**required)
    for form in (records, [None if one is None else ";".join(one) for one in records]):
        kind = pl.List(pl.String) if form is records else pl.String()
        alone = [int(found.locate(pl.Series([one], dtype=kind))[0]) for one in form]
        assert found.locate(pl.Series(form, dtype=kind)).tolist() == alone


@pytest.mark.parametrize("unknown", ["null", "drop", "gout"])
def test_a_list_of_objects_is_read_alike_beside_a_text(unknown: str) -> None:
    """A column that holds lists alone is one of lists, and one text more makes all of them texts of JSON."""
    held: list[object] = [
        ["flu "],
        [" flu", "gout"],
        [""],
        ["  "],
        ["flu", ""],
        [None, "flu"],
        [],
        ("gout",),
        {1},
        [[1]],
    ]
    found = scale(unknown=unknown)
    alone = [int(found.locate(column_of_lists([one]))[0]) for one in held]
    assert found.locate(column_of_lists(held)).tolist() == alone
    assert found.locate(column_of_lists([*held, "mumps"])).tolist()[:-1] == alone


@pytest.mark.parametrize(
    ("more", "given", "codes"),
    [
        ({}, ["cough;gout", "cough", "", "NA", " gout ;; "], [2, 0, MISSING, 0, 2]),
        ({"unknown": "drop"}, ["cough;gout", "", "gout;", '["gout", null]'], [DROP, MISSING, 2, 2]),
        ({"unknown": "flu"}, ["cough;gout", "[]"], [3, 0]),
        ({"max_items": 2}, ["mumps;gout;flu", "mumps;gout"], [3, 6]),
        ({"constraints": {"required": True}}, ["", None, "flu"], [0, 0, 1]),
        ({"missingValues": ["NA"]}, ["NA", "", " NA "], [MISSING] * 3),
        ({"delimiter": "|"}, ["flu|gout", "flu;gout"], [3, 0]),
        ({"delimiter": ", "}, ["flu, gout", "flu,gout"], [3, 0]),
        ({}, ["[flu", "[1, ", '{"flu": 1}', '["flu", ["gout"]]', "[NaN]", '["\\ud800", "gout"]'], [0, 0, 0, 1, 0, 2]),
        ({"items": {"minimum": 1, "maximum": 3}}, ["1;3", "[1, 3]", "2", "02", "[1.5]"], [5, 5, 2, 0, 0]),
    ],
)
def test_texts(more: dict[str, Any], given: list[str | None], codes: list[int]) -> None:
    assert scale(**more).locate(pl.Series(given)).tolist() == codes


def test_numbers_are_items_in_any_type() -> None:
    whole = Lists.of(Universe(range(1, 4)))
    for kind in (pl.Int8, pl.Float64, pl.String):
        assert whole.locate(pl.Series([1, 3, None], dtype=pl.Int8).cast(kind)).tolist() == [1, 4, MISSING]
    assert whole.locate(pl.Series([[1, 3]], dtype=pl.Array(pl.Int16, 2))).tolist() == [5]
    assert whole.locate(pl.Series([[1.0, 2.5, None]])).tolist() == [1]


# ---- declared -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"items": None}, "a list needs `items`"),
        (
            {"items": {"minimum": 1, "maximum": 5001}},
            "at most 5,000 different ones, not 5,001; declare groups of items",
        ),
        ({"items": ["a;b"], "delimiter": "|"}, "separates the items of releases"),
        ({"items": ["a|b"], "delimiter": "|"}, "separates the items of this column"),
        ({"items": ["[a"]}, r"starts with \["),
        ({"items": ["a "]}, "a blank at an end"),
        ({"items": ["NA"], "missingValues": ["NA"]}, "both an item and a missing value"),
        ({"itemType": "integer"}, "not all items are"),
        ({"itemType": "date"}, "itemType 'date' is not for lists"),
        ({"max_items": 0}, "from 1 to 3"),
        ({"max_items": 4}, "from 1 to 3"),
        ({"delimiter": ""}, "delimiter '' is no text"),
        ({"role": "target"}, "no target"),
        ({"categories": ["a"]}, "`categories` is not for type list"),
        ({"constraints": {"minimum": 0}}, "`minimum` is not for type list"),
        ({"unknown": "cough"}, "`unknown: cough` is not one of its categories"),
        ({"items": "???"}, "blank"),
    ],
)
def test_what_a_list_cannot_be(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        schema(**more)


def test_the_columns_of_items_have_names_of_their_own() -> None:
    flag = {"name": "ill: flu", "type": "boolean"}
    with pytest.raises(SchemaError, match="the column of an item of 'ill' is called so too"):
        TableSchema.from_dict({"fields": [flag, ILL]})


def test_the_canonical_form_says_the_same() -> None:
    for more in ({}, {"delimiter": ",", "max_items": 2, "unknown": "drop"}, {"items": [3, 5]}, {"itemType": "string"}):
        made = schema(**more)
        assert TableSchema.from_dict(made.to_dict()) == made
    assert schema().to_dict()["fields"][1] == {**ILL, "delimiter": ";"}  # type: ignore[index,call-overload]


# ---- counted --------------------------------------------------------------------------------------------------------


@given(RECORDS, st.booleans(), st.integers(1, 3))
def test_counted_columns_give_the_lists_back(records: list[list[str] | None], required: bool, most: int) -> None:
    domain = schema(constraints={"required": required}, max_items=most).domain()
    frame = pl.DataFrame({"age": 1, "ill": pl.Series(records, dtype=pl.List(pl.String))})
    codes, classes = domain.encode(frame)
    again = domain.decode(codes, classes, np.zeros(codes.shape))["ill"]
    first = [one and [item for item in ITEMS if item in one][:most] for one in records]
    assert again.to_list() == [[] if required and one is None else one for one in first]
    assert not domain.rules or not domain.rules.breaking(domain_codes(domain, codes)).any()


def domain_codes(domain: Any, codes: Any) -> Any:
    place = {one.name: column for column, one in enumerate(domain.attributes)}
    return lambda name: codes[:, place[name]]


def test_a_missing_list_has_a_column_of_its_own() -> None:
    names = ["age", "ill: flu", "ill: gout", "ill: mumps"]
    assert [one.name for one in schema().domain().attributes] == [*names, "ill (missing)"]
    assert [one.name for one in schema(constraints={"required": True}).domain().attributes] == names


# ---- questions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("ill contains flu", [1, 0, 0, 1]),
        ("ill contains 'flu' and age >= 3", [0, 0, 0, 1]),
        ("not ill contains flu", [0, 1, 1, 0]),
        ("ill not contains flu", [0, 1, 0, 0]),
        ("ill is null", [0, 0, 1, 0]),
        ("ill is not null", [1, 1, 0, 1]),
        ("`ill: gout` or age == 0", [1, 0, 0, 1]),
    ],
)
def test_questions(question: str, found: list[int]) -> None:
    made = schema()
    frame = pl.DataFrame({"age": [0, 1, 2, 3], "ill": pl.Series([["flu"], [], None, ["gout", "flu"]])})
    codes, _ = made.domain().encode(frame)
    asked = made.counted(parse(question, made.vocabulary()))
    assert holds(asked, domain_codes(made.domain(), codes)).astype(int).tolist() == found


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("ill contains flue", "did you mean flu"),
        ("ill == flu", "write `ill contains 'flu'`"),
        ("ill", "expected a comparison after ill"),
        ("age contains flu", "expected a comparison"),
        ("ill + age > 3", "no numbers or dates"),
    ],
)
def test_questions_that_make_no_sense(question: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        parse(question, schema().vocabulary())


def test_rules_about_lists() -> None:
    made = TableSchema.from_dict(
        {**schema().to_dict(), "rules": ["age < 3 -> not ill contains gout", "ill is not null"]}
    )
    frame = pl.DataFrame({"age": [0, 5, 2], "ill": pl.Series([["flu", "gout"], ["gout"], None])})
    declared, counted = made.as_declared(), made.domain()
    assert declared.rules is not None
    assert [number for _, number in declared.rules.numbers(declared.coder(frame))] == [1, 1]
    assert counted.rules is not None
    codes, _ = counted.encode(frame)
    assert counted.rules.breaking(domain_codes(counted, codes)).tolist() == [True, False, True]


# ---- drafts ---------------------------------------------------------------------------------------------------------


def test_a_draft_proposes_lists(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 2], "ill": [["flu", "gout"], ["gout"]]})
    frame.write_parquet(tmp_path / "a.parquet")
    assert kind_of(tmp_path / "a.parquet", None) == "sets"
    frame.with_columns(sex=pl.lit("F")).write_parquet(tmp_path / "b.parquet")
    assert kind_of(tmp_path / "b.parquet", None) == "table"
    assert '{name: "ill", type: list, items: "???"}' in draft(frame)
    assert '{name: "ill", type: list, items: "???"}' in draft(tmp_path / "a.parquet")
    assert '{name: "ill", type: list, items: ["flu", "gout"]}' in draft(tmp_path / "a.parquet", infer=True)


def test_a_draft_recognises_texts_made_of_few_items(tmp_path: Path) -> None:
    texts = ["flu| gout", "flu", "gout|mumps", "[]", "mumps|flu", "gout|flu|mumps", ""]
    names = ["Ash, Ann", "Bole, Bob", "Cedar, Cy", "Dogwood, Di", "Elm, Ed", "Fir, Flo", "Gum, Gus"]
    pl.DataFrame({"ill": texts, "who": names}).write_csv(tmp_path / "a.csv")
    text = draft(tmp_path / "a.csv", header=True, infer=True)
    assert '{name: "ill", type: list, items: ["flu", "gout", "mumps"], delimiter: "|"}' in text
    assert '{name: "who", type: string' in text
