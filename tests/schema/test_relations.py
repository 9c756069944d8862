"""Rules between columns: a bijection of each record, what it refuses, and questions about what it makes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.code_sets import EVERYWHERE, NOWHERE, Linear, Term, holds, negated
from cantle.schema.domain import unsigned
from cantle.schema.questions import parse
from cantle.schema.table import TableSchema


def whole(name: str, low: int, high: int, required: bool = True, **keys: Any) -> dict[str, Any]:
    return {
        "name": name,
        "type": "integer",
        "constraints": {"minimum": low, "maximum": high, "required": required},
        **keys,
    }


CITIES = {
    "name": "city",
    "type": "string",
    "categories": ["Graz", "Linz", "Oslo"],
    "constraints": {"required": True},
}
COUNTRY = {"name": "country", "type": "string", "categories": ["Austria", "Norway"], "constraints": {"required": True}}
MAP = {"Graz": "Austria", "Linz": "Austria", "Oslo": "Norway"}


def schema_of(fields: list[dict[str, Any]], *rules: str, **keys: Any) -> TableSchema:
    schema = TableSchema.from_dict({"fields": fields, "rules": list(rules), **keys})
    assert Schema.from_dict(schema.to_dict()) == schema
    return schema


def points(schema: TableSchema) -> pl.DataFrame:
    """All records of the declared domain."""
    domain = schema.as_declared().with_target_as_column().on_places
    every = np.array(list(product(*(range(one.size) for one in domain.attributes))))
    return pl.DataFrame([one.values(every[:, j]) for j, one in enumerate(domain.attributes)])


def written(schema: TableSchema, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame, as it is counted and mapped back; the places of what is counted are kept."""
    domain = schema.domain().with_target_as_column().on_places
    codes, _ = domain.encode_columns(frame)
    columns = {one.name: (one, part) for one, part in zip(domain.attributes, codes, strict=True)}
    return pl.DataFrame([one.values(part) for one, part in domain.as_written(columns)])


SCHEMAS = {
    "difference": schema_of([whole("a", 0, 9), whole("b", 0, 12)], "b >= a", "b - a < 3"),
    "missing": schema_of([whole("a", 0, 5, False), whole("b", 2, 8, False)], "b > a"),
    "required child": schema_of([whole("a", 0, 5, False), whole("b", 0, 6)], "b >= a"),
    "chain": schema_of(
        [whole("a", 0, 4), whole("b", 0, 4, False), whole("c", 1, 5, False)], "a <= b <= c", "c - a <= 3"
    ),
    "only below": schema_of([whole("a", 0, 5), whole("b", 0, 5)], "b - a <= -1"),
    "sum": schema_of([whole("x", 0, 4), whole("y", 1, 3), whole("t", 0, 9)], "t == x + y"),
    "multiple": schema_of([whole("x", 0, 4), whole("t", 1, 13)], "t == 3 * x + 1"),
    "sum of differences": schema_of(
        [whole("a", 0, 6), whole("b", 0, 8), whole("stay", 0, 2)], "b >= a", "b - a <= 2", "stay == b - a"
    ),
    "target": schema_of([whole("a", 0, 5), whole("b", 0, 7, role="target")], "b >= a", "b - a <= 2"),
    "map": schema_of([CITIES, {**COUNTRY, "from": "city", "map": MAP}, whole("a", 0, 1, False)]),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_records_that_obey_are_mapped_back_to_themselves_and_others_to_records_that_obey(name: str) -> None:
    schema = SCHEMAS[name]
    frame = points(schema)
    rules = schema.as_declared().rules
    assert rules is not None
    breaking = np.broadcast_to(rules.breaking(schema.as_declared().coder(frame)), len(frame))
    again = written(schema, frame)
    assert again.columns == frame.columns
    obeying = frame.filter(pl.Series(~breaking))
    assert 0 < len(obeying) < len(frame)
    assert again.filter(pl.Series(~breaking)).equals(obeying)
    # what is counted of a record that breaks a rule is either forbidden or obeys all rules when it is written
    domain = schema.domain().with_target_as_column().on_places
    codes, _ = domain.encode_columns(frame)
    named = dict(zip((one.name for one in domain.attributes), codes, strict=True))
    forbidden = (
        np.zeros(len(frame), dtype=bool)
        if domain.rules is None
        else np.broadcast_to(domain.rules.breaking(lambda key: named[str(key)]), len(frame))
    )
    assert not (forbidden & ~breaking).any()
    left = again.filter(pl.Series(~forbidden))
    assert not rules.breaking(schema.as_declared().coder(left)).any()


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_record_is_mapped_by_itself(name: str) -> None:
    """Neighbours are inputs: the codes of a record do not depend on the others."""
    schema = SCHEMAS[name]
    frame = points(schema)
    some = frame[:: max(1, len(frame) // 20)]
    whole_columns, whole_classes = schema.domain().encode_columns(some)
    for at in range(len(some)):
        columns, classes = schema.domain().encode_columns(some[at : at + 1])
        assert [part[0] for part in columns] == [part[at] for part in whole_columns]
        assert classes[0] == whole_classes[at]


QUESTIONS = [
    "b - a > 1", "b >= a", "b < 4", "b is null", "not b > 3", "b - a == 2 or a < 2", "b in (3, 4)", "2 * a - b <= 1",
    "a + b between 3 and 7", "a <= b <= a + 2", "b != a", "3 <= b",
]  # fmt: skip


@pytest.mark.parametrize("name", ["difference", "missing", "required child", "chain", "target", "sum of differences"])
@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_about_declared_columns_holds_for_the_same_counted_records(name: str, text: str) -> None:
    schema = SCHEMAS[name]
    frame, rules = points(schema), schema.as_declared().rules
    assert rules is not None
    frame = frame.filter(pl.Series(~np.broadcast_to(rules.breaking(schema.as_declared().coder(frame)), len(frame))))
    question = parse(text, schema.vocabulary())
    domain = schema.domain().with_target_as_column().on_places
    codes, _ = domain.encode_columns(frame)
    named = dict(zip((one.name for one in domain.attributes), codes, strict=True))
    expected = holds(question, schema.as_declared().coder(frame))
    found = holds(schema.counted(question), lambda key: named[str(key)])
    assert np.array_equal(np.broadcast_to(found, len(frame)), np.broadcast_to(expected, len(frame)))


def test_what_is_counted_and_what_is_not_read() -> None:
    domain = SCHEMAS["difference"].domain()
    assert [one.name for one in domain.attributes] == ["a", "b - a"]
    assert [one.size for one in domain.attributes] == [10, 3]
    chain = SCHEMAS["chain"].domain()
    assert [one.name for one in chain.attributes] == ["a", "b - a", "c - a"]  # both from the column that is required
    target = SCHEMAS["target"].domain()
    assert (target.target.name if target.target else "", target.columns) == ("b", ("b - a", "b"))
    relations = SCHEMAS["sum"].domain().relations
    assert relations is not None
    assert relations.unread == {"t": "x + y"}
    assert SCHEMAS["sum of differences"].domain().columns == ("a", "b - a")


def test_a_value_that_is_computed_is_never_read_and_drops_no_record() -> None:
    fields = [whole("x", 0, 4), whole("t", 0, 4), CITIES, {**COUNTRY, "unknown": "drop", "from": "city", "map": MAP}]
    schema = schema_of(fields, "t == x")
    frame = pl.DataFrame({"x": [1, 2], "t": [None, "what"], "city": ["Graz", "Oslo"], "country": ["Mars", None]})
    columns, _ = schema.domain().encode_columns(frame)
    assert [part.tolist() for part in columns] == [[1, 2], [0, 2]]


def test_dates_and_times_differ_in_days_or_in_the_longest_unit_that_fits() -> None:
    bounds = {"minimum": "2024-01-01", "maximum": "2024-03-01", "required": True}
    dates = [{"name": name, "type": "date", "step": 7, "constraints": bounds} for name in ("start", "end")]
    schema = schema_of(dates, "end >= start", "end - start <= 13")
    made = schema.domain().attributes[1]
    assert (made.name, made.grid, made.cell, made.bins) == ("end - start", 14, 7, 2)
    hours = {**bounds, "multipleOf": "6h"}
    times = [{"name": name, "type": "datetime", "step": "1d", "constraints": hours} for name in ("start", "end")]
    schema = schema_of(times, "end >= start", "end - start < 2d")
    made, relations = schema.domain().attributes[1], schema.domain().relations
    assert relations is not None
    assert relations.units == {"end - start": "in hours"}
    assert (made.grid, made.cell, made.describe(0, 1)) == (8, 4, "[0, 24)")


DATE = {"type": "date", "constraints": {"minimum": "2024-01-01", "maximum": "2024-12-31"}}
TIME = {"type": "datetime", "step": "1h", "constraints": {"minimum": "2024-01-01", "maximum": "2024-12-31"}}
TWOS = {"minimum": 0, "maximum": 30, "multipleOf": 2}
WRONG: dict[str, tuple[list[dict[str, Any]], tuple[str, ...], str]] = {
    "product": ([whole("a", 0, 9), whole("b", 0, 9)], ("a * b > 3",), "no products of two columns"),
    "kinds": ([whole("a", 0, 9), {"name": "b", **DATE}], ("b >= a",), "same kind"),
    "resolution": (
        [whole("a", 0, 9), {"name": "b", "type": "number", "step": 0.5, "constraints": {"minimum": 0, "maximum": 9}}],
        ("b >= a",), "lie 0.005 apart and those of a 1",
    ),
    "unit": ([{"name": "a", **TIME}, {"name": "b", **TIME}], ("b - a < 30",), "has a unit"),
    "dates added": ([{"name": "a", **DATE}, {"name": "b", **DATE}], ("a + b > 30",), "mean nothing"),
    "itself": ([whole("a", 0, 9)], ("a - a >= 0",), "compared with itself"),
    "no difference": ([whole("a", 0, 9), whole("b", 0, 9)], ("a > b", "b > a"), "leave no difference"),
    "circle": ([whole(n, 0, 9) for n in "abc"], ("b > a", "c > b", "a > c"), "beside its bounds and the other rules"),
    "bounds": ([whole("x", 0, 9), whole("t", 0, 9)], ("t == x + 1",), "from 1 to 10"),
    "required sum": ([whole("x", 0, 9, False), whole("t", 0, 9)], ("t == x",), "t is required, and x"),
    "target sum": ([whole("x", 0, 9), whole("y", 0, 9), whole("t", 0, 18, role="target")],
                   ("t == x + y",), "nothing to learn"),
    "each other": ([whole(n, 0, 9) for n in "xyz"], ("x == y", "y == x"), "computed from each other"),
    "steps of a sum": ([whole("x", 0, 9), {"name": "t", "type": "integer", "constraints": TWOS}],
                       ("t == x + 1",), "do not hold all sums"),
    "no map": ([CITIES, COUNTRY], ("city -> country",), "that would reveal which pairs occur"),
    "map with a gap": ([CITIES, {**COUNTRY, "from": "city", "map": {"Graz": "Austria"}}], (), "'Linz'"),
    "map to nowhere": ([CITIES, {**COUNTRY, "from": "city", "map": {**MAP, "Oslo": "Mars"}}], (), "'Mars'"),
    "map of numbers": ([whole("city", 0, 3), {**COUNTRY, "from": "city", "map": MAP}], (), "two columns of categories"),
    "from nothing": ([{**COUNTRY, "from": "town", "map": MAP}], (), "names no column"),
    "two maps": ([CITIES, {**CITIES, "name": "town"}, {**COUNTRY, "from": "city", "map": MAP}],
                 ("town -> country",), "from two columns"),
    "name": ([whole("a", 0, 9), whole("b", 0, 9), whole("b - a", 0, 1)], ("b >= a",), "rename"),
    "wide steps": (
        [whole(n, 0, 9, step=10) for n in "abc"], ("b >= a", "c >= b", "c - a <= 1"), "declare smaller steps",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_kept_is_refused_with_words(name: str) -> None:
    fields, rules, says = WRONG[name]
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"fields": fields, "rules": list(rules)})
    assert says in str(caught.value)


def test_a_map_comes_from_a_hierarchy_a_mapping_groups_or_a_file(tmp_path: Path) -> None:
    cities = {**CITIES, "categories": ["Graz", "Linz", "Oslo", "Bergen"]}
    tree = {"Austria": ["Graz", "Linz"], "Norway": ["Oslo", "Bergen"]}
    (tmp_path / "towns.csv").write_text(
        "city;size;country\nGraz;1;Austria\nLinz;2;Austria\nOslo;3;Norway\nBergen;4;Norway\n"
    )
    pairs = {city: country for country, group in tree.items() for city in group}
    forms: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
        ({**cities, "hierarchy": tree}, COUNTRY, ["city -> country"]),
        ({**cities, "hierarchy": tree}, {**COUNTRY, "from": "city"}, []),
        (cities, {**COUNTRY, "from": "city", "map": pairs}, []),
        (cities, {**COUNTRY, "from": "city", "map": tree}, []),
        (cities, {**COUNTRY, "from": "city", "map": "towns.csv"}, ["city -> country"]),
    ]
    for city, country, rules in forms:
        schema = Schema.from_dict({"fields": [city, country], "rules": rules}, tmp_path)
        assert isinstance(schema, TableSchema)
        frame = pl.DataFrame({"city": ["Oslo", "Graz"], "country": [None, None]})
        assert written(schema, frame)["country"].to_list() == ["Norway", "Austria"]
        assert Schema.from_dict(schema.to_dict()) == schema  # the file is not needed again


# ---- sums of columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule"),
    [("place,land\nGraz,Austria", "does not name city and country"), ('city,country\n"Graz,Austria', "is not CSV")],
)
def test_a_file_without_the_columns_or_with_an_open_quote_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "towns.csv").write_text(text, encoding="utf-8")
    city = {"name": "city", "type": "string", "categories": ["Graz"]}
    fields = [city, {**COUNTRY, "from": "city", "map": "towns.csv"}]
    with pytest.raises(SchemaError, match=rule):
        Schema.from_dict({"fields": fields, "rules": ["city -> country"]}, tmp_path).domain()


def linears() -> list[Linear]:
    dice = np.random.default_rng(4)
    found = []
    for _ in range(30):
        terms = tuple(
            Term(name, int(dice.choice([-2, -1, 1, 3])), grid, grid + int(dice.integers(2)))
            for name, grid in zip("abc", dice.integers(2, 6, 3).tolist(), strict=True)
        )
        low, high = sorted(dice.integers(-8, 12, 2).tolist())
        found.append(Linear(terms, *[(low, high), (low, None), (None, high)][int(dice.integers(3))]))
    return found


def fulfils(one: Linear, codes: tuple[int, ...]) -> bool:
    """The condition in plain Python."""
    total = sum(term.factor * code for term, code in zip(one.terms, codes, strict=True))
    there = all(code < term.grid for term, code in zip(one.terms, codes, strict=True))
    return there and (one.low is None or total >= one.low) and (one.high is None or total <= one.high)


@pytest.mark.parametrize("one", linears())
def test_a_sum_of_columns_agrees_with_plain_python_for_points_and_boxes(one: Linear) -> None:
    every = np.array(list(product(*(range(term.size) for term in one.terms))))
    expected = np.array([fulfils(one, tuple(codes)) for codes in every.tolist()])
    of = {str(term.key): every[:, j].astype(unsigned(term.size)) for j, term in enumerate(one.terms)}
    assert one.holds(lambda key: of[str(key)]).tolist() == expected.tolist()
    assert np.array_equal(holds(negated(one), lambda key: of[str(key)]), ~expected)
    dice = np.random.default_rng(1)
    for _ in range(40):
        box = {str(t.key): tuple(sorted(dice.choice(t.size + 1, 2, replace=False).tolist())) for t in one.terms}
        inside = np.all([(of[key] >= lo) & (of[key] < hi) for key, (lo, hi) in box.items()], axis=0)
        verdict = int(one.verdict(lambda key, box=box: tuple(map(np.array, box[str(key)]))))  # type: ignore[misc]
        assert verdict != EVERYWHERE or expected[inside].all()
        assert verdict != NOWHERE or not expected[inside].any()
        if inside.sum() == 1:
            assert (verdict == EVERYWHERE) == expected[inside].all()
    for term in one.terms:
        first, end = one.bounds_of(term.key)
        possible = of[str(term.key)][expected]
        assert not len(possible) or first <= possible.min() <= possible.max() < end


@pytest.mark.parametrize("one", linears()[:10])
def test_a_sum_changes_at_the_codes_that_it_names(one: Linear) -> None:
    every = np.array(list(product(*(range(term.grid) for term in one.terms))))
    of = {str(term.key): every[:, j] for j, term in enumerate(one.terms)}
    for j, term in enumerate(one.terms):
        cuts = np.stack(np.broadcast_arrays(*one.changes(term.key, lambda key: of[str(key)]), of["a"])[:-1])
        before = np.array([fulfils(one, tuple(codes)) for codes in every.tolist()])
        after = every.copy()
        after[:, j] += 1
        there = after[:, j] < term.grid
        moved = np.array([fulfils(one, tuple(codes)) for codes in after.tolist()])
        changes = there & (before != moved)
        assert (cuts[:, changes] == after[changes, j]).any(axis=0).all()


@pytest.mark.parametrize("length", ["2d", "2 d", "2 days", "48h", "48 hours", "2880 min", "172800 seconds", "172800s"])
def test_lengths_of_time_have_units_as_people_write_them(length: str) -> None:
    vocabulary = schema_of([{"name": name, **TIME} for name in ("start", "end")]).vocabulary()
    assert parse(f"end - start > {length}", vocabulary) == parse("end > 2d + start", vocabulary)
