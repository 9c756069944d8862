"""The schema of a table: what it accepts, and refusals that name the field, the rule and the fix."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.dialect import Dialect

YAML = """
title: A census
fields:
  - {name: age, type: integer, constraints: {minimum: 17, maximum: 90}, title: Age in years}
  - {name: weight, type: number, step: 0.1, constraints: {minimum: 0, maximum: 1, unique: false}}
  - name: answer
    type: string
    categories: [yes, no, 010, 12:30, 7, null-ish]
    categoriesOrdered: true
    hierarchy: trees/answer.csv
  - {name: sex, type: integer, categories: [{value: 1, label: m}, {value: 2, label: f}], unknown: 2}
  - {name: born, type: date, format: "%d/%m/%Y", constraints: {minimum: 1900-01-01, maximum: 2020-12-31}}
  - {name: seen, type: datetime, step: 15min, constraints: {minimum: 2020-01-01, maximum: 2020-01-02T00:00:00Z}}
  - {name: ill, type: boolean, trueValues: [Y], falseValues: [N], unknown: drop}
  - {name: income, type: string, constraints: {enum: ["<=50K", ">50K"]}, role: target}
  - {name: ssn, role: identifier}
missingValues: ["", "?"]
delimiter: ";"
dialect: {encoding: latin-1}
"""


ARX = "yes;word;*\nno;word;*\n7;number;*\n010;number;*\n12:30;number;*\nnull-ish;word;*\n"
NESTED = {"*": [{"word": ["yes", "no", "null-ish"]}, {"number": ["010", "12:30", "7"]}]}


def load(folder: Path, text: str = YAML, name: str = "s.yaml") -> Schema:
    (folder / "trees").mkdir(exist_ok=True)
    (folder / "trees" / "answer.csv").write_text(ARX)
    (folder / name).write_text(text)
    return Schema.load(folder / name)


def field(**keys: Any) -> dict[str, Any]:
    return {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}, **keys}


def one_field(**keys: Any) -> Schema:
    return Schema.from_dict({"fields": [field(**keys)]})


def test_a_schema_is_loaded_from_yaml(tmp_path: Path) -> None:
    schema = load(tmp_path)
    by_name = {f.name: f for f in schema.fields}
    assert by_name["answer"].categories == ("yes", "no", "010", "12:30", "7", "null-ish")
    assert by_name["weight"].step == Fraction(1, 10)
    assert by_name["sex"].categories == (1, 2)
    assert by_name["born"].minimum == date(1900, 1, 1)
    assert by_name["seen"].maximum == datetime(2020, 1, 2)
    assert by_name["seen"].step == 900
    assert by_name["income"].categories == ("<=50K", ">50K")
    assert schema.missing_values == ("", "?")
    assert schema.dialect == Dialect(delimiter=";", encoding="latin-1")
    assert not schema.inferred
    domain = schema.domain()
    assert domain.columns == ("age", "weight", "answer", "sex", "born", "seen", "ill", "income")
    assert [a.ordered for a in domain.attributes] == [True, True, True, False, True, True, False]
    assert domain.target is not None
    assert (domain.target.name, domain.target.size) == ("income", 2)


def test_the_canonical_form_gives_the_same_schema_back(tmp_path: Path) -> None:
    schema = load(tmp_path)
    (tmp_path / "trees" / "answer.csv").unlink()
    (tmp_path / "s.json").write_text(json.dumps(schema.to_dict()))
    again = Schema.load(tmp_path / "s.json")
    assert again == schema
    assert again.to_dict() == schema.to_dict()
    assert again.hash() == schema.hash()
    assert len(schema.hash()) == 64
    kept = schema.to_dict()
    assert kept["title"] == "A census"
    assert kept["fields"][0]["title"] == "Age in years"
    assert kept["fields"][1]["constraints"] == {"minimum": 0, "maximum": 1, "unique": False}
    assert kept["fields"][2]["hierarchy"] == NESTED


# --------------------------------------------------------------------------------------------- hierarchies


def test_a_hierarchy_in_a_file_or_in_the_schema_gives_the_same_schema(tmp_path: Path) -> None:
    schema = load(tmp_path)
    inline = load(tmp_path, YAML.replace("trees/answer.csv", json.dumps(NESTED)))
    (tmp_path / "trees" / "answer.yaml").write_text(json.dumps(NESTED))
    other = load(tmp_path, YAML.replace("answer.csv", "answer.yaml"))
    assert schema == inline == other
    assert schema.hash() == inline.hash() == other.hash()
    turned = load(tmp_path, YAML.replace("trees/answer.csv", json.dumps(NESTED).replace('"yes", "no"', '"no", "yes"')))
    plain = load(tmp_path, YAML.replace("hierarchy: trees/answer.csv", ""))
    assert len({schema.hash(), turned.hash(), plain.hash()}) == 3
    attribute = schema.domain().attributes[2]
    assert attribute.taxonomy == schema.fields[2].hierarchy
    assert attribute.taxonomy is not None
    assert attribute.taxonomy.leaves == ("yes", "no", "null-ish", "010", "12:30", "7")
    assert schema.fields[2].categories == ("yes", "no", "010", "12:30", "7", "null-ish")


def test_paths_start_at_the_schema_file_or_at_base_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = load(tmp_path)
    document = {"fields": [{**schema.to_dict()["fields"][2], "hierarchy": "trees/answer.csv"}]}
    here = Schema.from_dict(document, base_dir=tmp_path)
    assert here.to_dict()["fields"][0]["hierarchy"] == NESTED
    with pytest.raises(SchemaError, match="field 'answer'.*no file"):
        Schema.from_dict(document)
    monkeypatch.chdir(tmp_path)
    assert Schema.from_dict(document) == here
    assert Schema.load("s.yaml") == schema
    monkeypatch.chdir("trees")
    assert Schema.load("../s.yaml") == schema
    with pytest.raises(SchemaError, match="field 'answer'.*no file"):
        Schema.from_dict(document)


def test_a_target_may_have_a_hierarchy_and_an_identifier_has_none() -> None:
    keys = {"name": "x", "type": "string", "categories": ["a", "b", "c"], "hierarchy": [["c", "a"], "b"]}
    other = {"name": "id", "role": "identifier", "hierarchy": "nowhere.csv"}
    schema = Schema.from_dict({"fields": [{**keys, "role": "target"}, other]})
    target = schema.domain().target
    assert target is not None
    assert (target.size, target.describe(0, 2), target.edge(0)) == (3, "c | a", "c")
    assert schema.fields[1].hierarchy is None
    assert one_field(type="string", categories=["a"], hierarchy=None).fields[0].hierarchy is None


# --------------------------------------------------------------------------------------------- hostile texts

FIELDS = "fields:\n- {name: x, type: string, categories: [a, b]}\n"
TREE = "fields:\n- {name: x, type: string, categories: [a, b], hierarchy: %s}\n"
BOMB = "".join(f"a{k}: &a{k} [{f'*a{k - 1}, ' * 9 if k else ''}x]\n" for k in range(30))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.yaml", FIELDS + "x: " + "[" * 3000 + "]" * 3000, "100 levels"),
        ("s.yaml", FIELDS + "x: " + "[" * 200_000, "100 levels"),
        ("s.yaml", FIELDS + "x: " + "{a: " * 200_000, "100 levels"),
        ("s.yaml", "? " * 200_000, "100 levels"),
        ("s.yaml", "fields:\n  " + "- " * 200_000 + "a", "100 levels"),
        ("s.yaml", TREE % ("[" * 101 + "a, b" + "]" * 101), "field 'x', hierarchy.*100 levels"),
        ("s.yaml", TREE % ("[{g: " * 3000 + "a, b" + "}]" * 3000), "100 levels"),
        ("s.yaml", TREE % "&h [a, b, *h]", "line 2 has a YAML anchor, alias or merge .h.; write"),
        ("s.yaml", FIELDS + "x: &a text", "line 3 has a YAML anchor, alias or merge .a."),
        ("s.yaml", "&a {fields: [*a]}", "anchor, alias"),
        ("s.yaml", FIELDS + BOMB, "anchor, alias"),
        ("s.yaml", FIELDS + "x: *a", "anchor, alias"),
        ("s.yaml", "fields:\n  - {name: a, type: boolean, type: string}", "line 2: the key 'type' stands twice"),
        ("s.json", '{"fields": [{"name": "a", "type": "boolean", "type": "string"}]}', "the key 'type' stands twice"),
        ("s.yaml", FIELDS + "<<: {kind: table}", "merge .<<."),
        ("s.yaml", FIELDS + "x: " + "9" * 5000, "digits"),
        ("s.yaml", FIELDS + "x: !!bool perhaps", "tag"),
        ("s.yaml", FIELDS + "x: !!int ''", "tag"),
        ("s.yaml", FIELDS + "x: !!binary aGk=", "could not determine a constructor"),
        ("s.yaml", FIELDS + "x: !!set {a, b}", "could not determine a constructor"),
        ("s.yaml", FIELDS + "x: !!python/name:os.system", "could not determine a constructor"),
        ("s.yaml", FIELDS + "? [a]\n: b", "unhashable key"),
        ("s.yaml", FIELDS + "dialect: {1: 2, a: 3}", "key '1'"),
        ("s.json", '{"fields": ' + "[" * 200_000, "100 levels"),
        ("s.json", '{"fields": [{"name": "x", "type": ' + "[" * 400 + "]" * 400 + "}]}", "field 'x'.*100 levels"),
        ("s.json", '{"fields": [], "x": ' + "[" * 400 + "]" * 400 + "}", "100 levels"),
        ("s.json", '{"fields": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_hostile_texts_are_refused_with_short_messages(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(SchemaError, match=says) as caught:
        load(tmp_path, text, name)
    assert len(str(caught.value)) < 500


def nested(levels: int, inner: Any) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


def test_hostile_dictionaries_are_refused_at_once() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for odd in (nested(3000, "a"), circle):
        for keys in ({"type": odd}, {"categories": odd}, {"thing": odd}, {"constraints": {"thing": odd}}):
            with pytest.raises(SchemaError, match="field 'x': it (is nested|has) more than"):
                one_field(**keys)
        with pytest.raises(SchemaError, match="schema: it (is nested|has) more than"):
            Schema.from_dict({"fields": [field()], "thing": odd})
    deep = nested(101, "a")
    for tree in (deep, {"g": deep}, nested(3000, "a"), circle):
        with pytest.raises(SchemaError, match="field 'x'.*(100 levels|cycle)"):
            one_field(type="string", categories=["a", "b"], hierarchy=tree)
    fine = one_field(type="string", categories=["a", "b"], hierarchy=nested(98, [{"g": ["b", "a"]}]))
    assert fine.to_dict()["fields"][0]["hierarchy"] == {"g": ["b", "a"]}


def test_a_repeated_value_among_many_is_found() -> None:
    labels = [f"c{k}" for k in range(200_000)]
    with pytest.raises(SchemaError, match="'c199999' is listed twice"):
        one_field(type="string", categories=[*labels, labels[-1]], constraints={})


def test_the_hash_depends_on_every_public_choice() -> None:
    hashes = {
        one_field().hash(),
        one_field(constraints={"minimum": 0, "maximum": 10}).hash(),
        one_field(constraints={"minimum": 0, "maximum": 9, "required": True}).hash(),
        one_field(step=2).hash(),
        one_field(missingValues=["-1"]).hash(),
        Schema.from_dict({"fields": [field()], "guarantee": "none"}).hash(),
        Schema.from_dict({"fields": [field()], "header": False}).hash(),
    }
    assert len(hashes) == 7


def test_defaults_written_out_do_not_change_the_hash() -> None:
    spelled = Schema.from_dict(
        {"fields": [field(role=None)], "missingValues": [""], "kind": "table", "unit": "record", "dialect": {}}
    )
    assert spelled.hash() == one_field().hash()


def test_an_inferred_schema_is_marked() -> None:
    schema = Schema.from_dict({"fields": [field()], "guarantee": "none"})
    assert schema.inferred
    assert Schema.from_dict(schema.to_dict()).inferred


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"constraints": {}}, "no minimum.*lowest"),
        ({"constraints": {"minimum": 0}}, "no maximum.*highest"),
        ({"constraints": {"minimum": 9, "maximum": 0}}, "minimum 9 is above maximum 0"),
        ({"minimum": 3}, "constraints"),
        ({"constraints": {"minimum": 0.5, "maximum": 9}}, "not a whole number"),
        ({"constraints": {"minimum": True, "maximum": 9}}, "not a number"),
        ({"constraints": {"minimum": float("nan"), "maximum": 9}}, "nan"),
        ({"constraints": {"minimum": 0, "maximum": 2**53}}, "2\\*\\*53"),
        ({"constraints": {"minimum": 0, "maximum": str(2**53)}}, "2\\*\\*53"),
        ({"constraints": {"minimum": -(2**62), "maximum": 2**62}}, r"2\*\*53"),
        ({"constraints": {"min": 0, "max": 9}}, "'min'.*'minimum'"),
        ({"constraints": {"minimum": 0, "maxmum": 9}}, "'maxmum'.*'maximum'"),
        ({"constraints": {"minimum": "???", "maximum": 9}}, "`minimum` is still blank"),
        ({"constraints": 3}, "mapping"),
        ({"step": 0}, "not positive"),
        ({"step": "1e999999999"}, "not a number"),
        ({"step": "x"}, "not a number"),
        ({"unknown": "drop"}, "for categories"),
        ({"typ": "integer"}, "'typ'.*'type'"),
        ({"rol": "target"}, "'rol'.*'role'"),
        ({"role": "key"}, "role 'key'"),
        ({"type": "duration"}, "'duration' is not known.*integer"),
        ({"type": "number"}, "needs a `step`"),
        ({"type": "number", "step": 1e-9, "constraints": {"minimum": 0, "maximum": 1e9}}, "15 digits|2\\*\\*53"),
        ({"type": "number", "step": "1/3"}, "not a number"),
        ({"type": "number", "step": 0.1, "categories": [0.5]}, "not for type number"),
        ({"type": "datetime", "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}}, "step: 1h"),
        ({"type": "date", "constraints": {"minimum": "2020-13-01", "maximum": "2021-01-01"}}, "not a date"),
        ({"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "9999-12-31"}}, "year 9999"),
        ({"type": "date", "constraints": {"minimum": "2020-01-01T10:00", "maximum": "2021-01-01"}}, "time of day"),
        ({"type": "date", "format": "any", "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}}, "any"),
        ({"type": "date", "format": "%H", "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}}, "%H"),
        (
            {"type": "date", "format": "%Q%d%m%Y", "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}},
            "%Q",
        ),
        ({"type": "string"}, "needs `categories`"),
        ({"type": "string", "categories": []}, "empty"),
        ({"type": "string", "categories": "abc"}, "empty|list"),
        ({"type": "string", "categories": ["a", "b", "a"]}, "'a' is listed twice"),
        ({"type": "string", "categories": [True]}, "quotes"),
        ({"type": "string", "categories": [1.5]}, "quotes"),
        ({"type": "string", "categories": [None]}, "quotes"),
        ({"type": "string", "categories": ["???"]}, "`categories` is still blank"),
        ({"type": "string", "categories": ["a", ""]}, "both a category and a missing value"),
        ({"type": "string", "categories": ["a"], "unknown": "b"}, "`unknown: b`"),
        ({"type": "string", "categories": ["a"], "categoriesOrdered": "yes"}, "true or false"),
        ({"type": "integer", "categories": ["a"]}, "not an integer"),
        ({"type": "boolean", "categories": ["a"]}, "boolean"),
        ({"type": "boolean", "trueValues": ["a"], "falseValues": ["a"]}, "both"),
        ({"constraints": {"minimum": 0, "maximum": 9, "required": "yes"}}, "true or false"),
        ({"hierarchy": [[1, 2], 3]}, "numeric attributes need none: split points are chosen from the grid"),
        ({"hierarchy": {"fanout": 2}, "type": "number", "step": 1}, "numeric attributes need none"),
        ({"hierarchy": "x.csv", "type": "boolean"}, "needs no hierarchy"),
        ({"hierarchy": "???", "type": "string", "categories": ["a"]}, "`hierarchy` is still blank"),
        ({"hierarchy": "none.csv", "type": "string", "categories": ["a"]}, "no file 'none.csv'"),
        ({"hierarchy": ["a"], "type": "string", "categories": ["a", "b"]}, "'b' is missing"),
        ({"hierarchy": ["a", "c"], "type": "string", "categories": ["a"]}, "'c' is not a declared category"),
        ({"hierarchy": [[1, 2], 4], "categories": [1, 2, 3]}, "'4' is not a declared category"),
    ],
)
def test_a_bad_field_is_refused_by_name(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(SchemaError, match=says) as caught:
        one_field(**keys)
    for problem in caught.value.problems:
        assert re.fullmatch(r"field 'x'.*: .+; .+\.", problem.text)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "fields"),
        ({}, "fields"),
        ({"fields": {}}, "fields"),
        ({"fields": []}, "no field can be published"),
        ({"fields": [{"type": "integer"}]}, "field number 1.*no name"),
        ({"fields": [{"name": 3}]}, "field number 1.*no name"),
        ({"fields": [{"name": "a", "role": "identifier"}]}, "no field can be published"),
        ({"fields": [field(), field()]}, "'x'.*two fields"),
        ({"fields": [field(role="target"), field(name="y", role="target")]}, "2 fields have `role: target`"),
        ({"fields": [field()], "unit": {"person": "id"}}, "neither `record` nor a person"),
        ({"fields": [field()], "unit": {"person": "id", "max_records": 0}}, "`max_records` is not a whole number"),
        ({"fields": [field()], "unit": {"person": "", "max_records": 2}}, "not the name of a column"),
        ({"fields": [field()], "kind": "sets"}, "no `items`"),
        ({"fields": [field()], "kind": "graph"}, "not for graphs"),
        ({"fields": [field()], "kind": "cube"}, "kind 'cube'"),
        ({"fields": [field()], "missingValue": ["?"]}, "'missingValue'.*'missingValues'"),
        ({"fields": [field()], "missingValues": "?"}, "list of texts"),
        ({"fields": [field()], "dialect": {"delimitr": ";"}}, "'delimitr'.*'delimiter'"),
        ({"fields": [field()], "dialect": {"commentChar": "#"}}, "'commentChar' is not supported"),
        ({"fields": [field()], "delimiter": "\n"}, "single ASCII character"),
        ({"fields": [field()], "delimiter": ";;"}, "single ASCII character"),
        ({"fields": [field()], "quoteChar": "é"}, "single ASCII character"),
        ({"fields": [field()], "quoteChar": ","}, "the same"),
        ({"fields": [field()], "encoding": "utf-99"}, "encoding 'utf-99'"),
        ({"fields": [field()], "header": "no"}, "true or false"),
        ({"fields": [field()], "guarantee": "full"}, "guarantee"),
    ],
)
def test_a_bad_document_is_refused(document: Any, says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        Schema.from_dict(document)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.yaml", "fields: [", "not valid YAML .line"),
        ("s.json", "{", "not valid JSON .line 1"),
        ("s.yaml", "just text", "fields"),
        ("s.yaml", "", "fields"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SchemaError, match=says):
        Schema.load(tmp_path / name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such file.*cantle init"):
        Schema.load(tmp_path / "s.yaml")
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.load(tmp_path)
    (tmp_path / "s.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.load(tmp_path / "s.yaml")


def test_keys_of_other_tools_are_kept() -> None:
    schema = one_field(**{"custom:thing": {"a": [1, 2]}, "rdfType": "http://x", "format": "default"})
    kept = schema.to_dict()["fields"][0]
    assert kept["custom:thing"] == {"a": [1, 2]}
    assert kept["rdfType"] == "http://x"


def test_extreme_integer_bounds_are_exact() -> None:
    top = 2**53 - 1
    attribute = one_field(constraints={"minimum": top - 5, "maximum": top}).domain().attributes[0]
    assert attribute.bins == 6
    assert attribute.edge(6) == top + 1
    wide = one_field(step=2**20, constraints={"minimum": -top, "maximum": top}).domain().attributes[0]
    assert wide.bins == 2**34


HALF = "\ud800"


@pytest.mark.parametrize(
    "document",
    [
        {"fields": [{"name": "a", "type": "integer", "categories": [1, 2**53]}]},
        {"fields": [{"name": "a", "type": "string", "categories": ["x", HALF]}]},
        {"fields": [{"name": HALF, "type": "boolean"}]},
        {"fields": [{"name": "a", "type": "boolean"}], "missingValues": [HALF]},
        {"fields": [{"name": "a", "type": "boolean", "custom": {"deep": [{HALF: 1}]}}]},
        {"fields": [{"name": "a", "type": "boolean"}], "custom": 2**53},
        {"fields": [{"name": "a", "type": "boolean"}], "custom": [float("inf")]},
        {"fields": [{"name": "a", "type": "boolean"}], "custom": {"x": b"bytes"}},
        {"fields": [{"name": "a", "type": "string", "categories": ["x", "y"], "hierarchy": [{HALF: ["x", "y"]}]}]},
        {"kind": "graph", "title": HALF},
        {"kind": "graph", "nodes": ["b", HALF]},
        {"kind": "graph", "nodes": {"minimum": 0, "maximum": 2**53}},
        {"kind": "sets", "items": [1, 2], "column": HALF},
    ],
    ids=str,
)
def test_values_that_a_release_could_not_state_are_refused(document: dict[str, Any]) -> None:
    """A release is written after the budget is spent, when canonical JSON must not refuse the schema any more."""
    with pytest.raises(SchemaError):
        Schema.from_dict(document)


def test_many_categories_are_allowed() -> None:
    labels = [f"label {i}" for i in range(100_000)]
    attribute = one_field(type="string", categories=labels, constraints={}).domain().attributes[0]
    assert attribute.size == 100_001


def test_importing_the_schema_loads_nothing_heavy() -> None:
    code = "import sys, cantle.schema; print(sorted({'numpy', 'polars', 'yaml', 'narwhals'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"constraints": {"minimum": 0, "maximum": 9, "exclusiveMinimum": 0}}, "exclusiveMinimum"),
        ({"constraints": {"minimum": 0, "maximum": 9, "exclusiveMaximum": 9}}, "exclusiveMaximum"),
    ],
)
def test_keys_that_matter_but_are_not_supported_are_refused(given: dict[str, Any], word: str) -> None:
    with pytest.raises(SchemaError, match=f"{word}.*not supported"):
        one_field(**given)
    Schema.from_dict({"fields": [{"name": "id", "role": "identifier", **given}, {"name": "b", "type": "boolean"}]})
