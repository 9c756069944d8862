"""Questions about records: their meaning for every type of column, and errors that point at the position."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.schema import Schema
from cantle.schema.code_sets import CodeSet, Question, columns_of, edges_of, holds, hull, negated
from cantle.schema.questions import DEEPEST, parse
from tests.effort import examples
from tests.release.people import SCHEMA, people

TREE = {"name": "tree", "type": "string", "categories": ["oak", "elm", "fir", "yew"]} | {
    "hierarchy": {"leafy": ["oak", "elm"], "needles": ["fir", "yew"]}
}
KIDS = {"name": "kids", "type": "integer", "categories": [0, 1, 2, 5]}
ODD = {"name": "hours per-week", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
FULL: Any = Schema.from_dict({"fields": [*SCHEMA["fields"], TREE, KIDS, ODD]})
VOCABULARY = FULL.vocabulary()


def table() -> pl.DataFrame:
    dice = np.random.default_rng(3)
    more = {"tree": dice.choice(["oak", "elm", "fir", "yew"], 400), "kids": dice.choice([0, 1, 2, 5], 400)}
    frame = people(400).with_columns(pl.Series(name, values) for name, values in more.items())
    return frame.with_columns(pl.Series("hours per-week", dice.integers(0, 100, 400)))


FRAME = table()
ATTRIBUTES = {one.name: one.on_places for one in FULL.domain().with_target_as_column().attributes}
CODES = {name: one.encode(FRAME[name]) for name, one in ATTRIBUTES.items()}


def rows(question: Question) -> list[bool]:
    return np.broadcast_to(holds(question, lambda key: CODES[str(key)]), len(FRAME)).tolist()


c = pl.col
MEANINGS: dict[str, pl.Expr] = {
    "age >= 65": c("age") >= 65,
    "age < 20.5": c("age") < 20.5,
    "65 <= age": c("age") >= 65,
    "18 <= age < 65": c("age").is_between(18, 64),
    "age between 20 and 29": c("age").is_between(20, 29),
    "age not between 20 and 29": ~c("age").is_between(20, 29),
    "age != 30": c("age") != 30,
    "not (age == 30)": (c("age") != 30) | c("age").is_null(),
    "age is null": c("age").is_null(),
    "age IS NOT NULL AND member": c("age").is_not_null() & c("member"),
    "weight > 80.5 or weight <= 40": (c("weight") > 80.5) | (c("weight") <= 40),
    "town == 'Ash' or town = Birch": c("town").is_in(["Ash", "Birch"]),
    "town in ('Ash', \"Cedar\")": c("town").is_in(["Ash", "Cedar"]),
    "town not in ['Ash', `Cedar`]": ~c("town").is_in(["Ash", "Cedar"]),
    "town <> 'Ash'": c("town") != "Ash",
    "grade >= 'mid'": c("grade").is_in(["mid", "high"]),
    "grade < high": c("grade").is_in(["mid", "low"]),
    "member": c("member"),
    "not member": ~c("member"),
    "member == false": ~c("member"),
    "joined < 2020-03-01": c("joined") < date(2020, 3, 1),
    "joined between '2020-02-01' and 2020-02-29": c("joined").is_between(date(2020, 2, 1), date(2020, 2, 29)),
    "seen >= 2020-01-10T12:00": c("seen") >= datetime(2020, 1, 10, 12),
    "seen > '2020-01-10'": c("seen") > datetime(2020, 1, 10),
    "ill == 'yes' and age > 50 and age < 60": (c("ill") == "yes") & c("age").is_between(51, 59),
    "(age > 50 or member) and not (town == 'Ash' and member)": (
        ((c("age") > 50).fill_null(False) | c("member")) & ~((c("town") == "Ash").fill_null(False) & c("member"))
    ),
    "tree == leafy": c("tree").is_in(["oak", "elm"]),
    "tree in 'needles'": c("tree").is_in(["fir", "yew"]),
    "kids >= 2": c("kids") >= 2,
    "kids == 5 or kids < 1": (c("kids") == 5) | (c("kids") < 1),
    "'hours per-week' > 40": c("hours per-week") > 40,
    "age > 1e1": c("age") > 10,
}


@pytest.mark.parametrize("question", MEANINGS)
def test_a_question_means_what_it_says(question: str) -> None:
    assert rows(parse(question, VOCABULARY)) == FRAME.select(MEANINGS[question].fill_null(False)).to_series().to_list()


@pytest.mark.parametrize("question", MEANINGS)
def test_not_negates_every_answer(question: str) -> None:
    asked = parse(question, VOCABULARY)
    assert rows(negated(asked)) == [not one for one in rows(asked)]
    assert rows(parse(f"not ({question})", VOCABULARY)) == rows(negated(asked))


WRONG = {
    "agee > 3": ("did you mean age?", 0),
    "age >": ("expected a value", 5),
    "age == 17.5": ("steps of 1", 7),
    "age == 1e999999999": ("is none", 7),
    "town == 'Ahs'": ("Ash, Birch, Cedar, Dogwood", 8),
    "(age > 3": ("to close the one at character 1", 8),
    "age > 3)": ("too many", 7),
    "age > 3 age": ("expected and, or", 8),
    "age 3": ("expected a comparison", 4),
    "town < 'Ash'": ("no order", 7),
    "grade < 3": ("low, mid, high", 8),
    "age > kids": ("holds no numbers or dates", 0),
    "age > 'x": ("not closed", 6),
    "age > 3 ; import os": ("has no meaning", 8),
    "age > 3 && member": ("write `and`", 8),
    "AGE > 3": ("did you mean age?", 0),
    "age > 3x": ("not a number", 6),
    "joined > 'yes'": ("write 2024-12-31", 9),
    "age not 3": ("expected in or between", 8),
    "age is 3": ("expected 'null'", 7),
    "age in (3, )": ("expected a value", 11),
    "kids > 'x'": ("are integers", 7),
    "__import__('os')": ("no column", 0),
    "id == '3'": ("no column 'id'", 0),
    "tree > 'leafy'": ("no order", 7),
    "contains 'bread'": ("no column 'contains'", 0),
    "and": ("expected a column", 0),
    "hours > 3": ("needs quotes: 'hours per-week'", 0),
    "3 == 4": ("expected a column", 5),
    "3 age": ("expected a comparison", 2),
}


@pytest.mark.parametrize("question", WRONG)
def test_an_error_names_the_fix_and_points_at_the_position(question: str) -> None:
    words, at = WRONG[question]
    with pytest.raises(ParameterError) as caught:
        parse(question, VOCABULARY)
    message, shown, caret = str(caught.value).splitlines()
    assert words in message
    assert shown.strip() == question
    assert len(caret) - 3 == at
    assert caught.value.__context__ is None


def test_an_item_without_contains_is_refused_with_the_right_question() -> None:
    sets = Schema.from_dict({"kind": "sets", "items": ["bread", "whole milk"]}).vocabulary()
    with pytest.raises(ParameterError, match="contains 'bread'"):
        parse("bread", sets)
    with pytest.raises(ParameterError, match="an item with blanks needs quotes: 'whole milk'"):
        parse("contains whole milk", sets)


def test_a_label_may_be_used_for_its_category() -> None:
    listed = [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}, {"value": 3, "label": "female"}]
    coded = Schema.from_dict({"fields": [{"name": "sex", "type": "integer", "categories": listed}]}).vocabulary()
    assert parse("sex == 'male'", coded) == parse("sex == 1", coded)
    with pytest.raises(ParameterError, match="no category 'female'.* The categories of sex are"):
        parse("sex == 'female'", coded)


def test_an_error_shows_the_part_of_a_long_question_around_the_position() -> None:
    with pytest.raises(ParameterError) as caught:
        parse("age > 3 or " * 200 + "agee > 3", VOCABULARY)
    _, shown, caret = str(caught.value).splitlines()
    assert len(shown) < 140
    assert shown[len(caret) - 1 :].startswith("agee")


def test_neither_depth_nor_length_can_exhaust_the_parser() -> None:
    for question in ("(" * 5_000 + "age > 3", "not " * 5_000 + "age > 3", "age > 3 or " * 10_000):
        with pytest.raises(ParameterError, match="flatter|characters"):
            parse(question, VOCABULARY)
    flat = "(" * (DEEPEST - 1) + "age > 3" + ")" * (DEEPEST - 1)
    assert parse(flat, VOCABULARY) == parse("age > 3", VOCABULARY)
    assert columns_of(parse("age > 3 or " * 1_000 + "member", VOCABULARY)) == ["age", "member"]


WORDS = ["age", "town", "'Ash'", "(", ")", "and", "or", "not", "in", "is", "null", "between", "3", "==", "<", ",", "`"]


@examples(50)
@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        asked = parse(text, VOCABULARY)
    except ParameterError:
        return
    assert len(rows(asked)) == len(FRAME)


codes = st.lists(st.integers(0, 9), max_size=8)


@examples(40)
@given(codes, codes)
def test_operations_on_sets_of_codes(one: list[int], two: list[int]) -> None:
    def members(codes: CodeSet) -> set[int]:
        assert list(codes.edges) == sorted(set(codes.edges))
        inside = {code for code in range(10) if codes.holds(code)}
        assert len(codes) == len(inside)
        return inside

    a, b = CodeSet.of(one, 10), CodeSet.of(two, 10)
    assert members(a) == set(one)
    assert members(a.complement()) == set(range(10)) - set(one)
    assert members(a.union(b)) == set(one) | set(two)
    assert members(a.intersection(b)) == set(one) & set(two)


def test_the_hull_contains_every_point_where_the_question_holds() -> None:
    for text in MEANINGS:
        asked = parse(text, VOCABULARY)
        inside = np.array(rows(asked))
        for key, around in hull(asked).items():
            assert around.holds(CODES[str(key)])[inside].all()
    both = hull(parse("age > 50 and (town == 'Ash' or member)", VOCABULARY))
    assert list(both) == ["age"]
    assert edges_of(parse("age > 50 and age <= 60 or age == 3", VOCABULARY), "age") == {3, 4, 51, 61}
