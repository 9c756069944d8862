"""All problems of a schema are reported at once, with the lines of its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cantle.errors import SchemaError
from cantle.schema import Schema
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture

WRONG = """\
# a comment
kind: table
fields:
  - {name: age, type: integer, constraints: {minimum: "???", maximum: "???"}}
  - name: weight
    type: number
    constraints:
      minimum: heavy
      maximum: 300
  - {name: job, type: string,
     categories: [Clerk, Clerk]}
  - name: age
    type: whole
    rule: x
    colour: blue
    role: goal
    constraints: {min: 3}
missingValues: no
unit: {person: 7, max_records: 2}
dialect: {delimiter: ";;"}
"""
FOUND = {  # the start of each problem, and its lines
    "field 'age': `minimum` and `maximum` are still blank": "4",
    "field 'age': two fields have the same name": "4, 12",
    "field 'weight': minimum 'heavy' is not a number": "8",
    "field 'weight': a number needs a `step`": "5",
    "field 'job': category 'Clerk' is listed twice": "11",
    "field 'age': type 'whole' is not known": "13",
    "field 'age': key 'rule' is not known; write 'role'": "14",
    "field 'age': role 'goal' is not known": "16",
    "field 'age', constraints: key 'min' is not known; write 'minimum'": "17",
    "schema: `missingValues` must be a list": "18",
    "unit: `person` is not the name": "19",
    "dialect: `delimiter` must be a single": "20",
}


def problems_of(path: Path, text: str) -> tuple[str, list[str]]:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        Schema.load(path)
    return str(caught.value), [one.text for one in caught.value.problems]


def test_all_problems_of_a_file_are_reported_with_their_lines(tmp_path: Path) -> None:
    message, problems = problems_of(tmp_path / "s.yaml", WRONG)
    lines = {text: place for place, text in (one.split(": ", 1) for one in problems)}
    for start, line in FOUND.items():
        (text,) = (one for one in lines if one.startswith(start))
        assert lines.pop(text) == f"line{'s' * (',' in line)} {line}", start
    assert lines == {}
    assert all(f"\n  {one}" in message for one in problems)
    assert message.startswith(f"schema {str(tmp_path / 's.yaml')!r} has {len(FOUND)} problems:\n")


def test_problems_of_json_files_have_lines_too(tmp_path: Path) -> None:
    import yaml

    text = json.dumps(yaml.safe_load(WRONG), indent=1)
    _, problems = problems_of(tmp_path / "s.json", text)
    assert len(problems) == len(FOUND)
    rows = text.splitlines()
    (heavy,) = (one for one in problems if "'heavy'" in one)
    assert heavy.startswith(f"line {next(n for n, row in enumerate(rows, 1) if 'heavy' in row)}: ")
    (twice,) = (one for one in problems if "same name" in one)
    opening = [n for n, row in enumerate(rows, 1) if row == "  {"]
    assert twice.startswith(f"lines {opening[0]}, {opening[3]}: ")


def test_a_dictionary_has_no_lines_and_a_single_problem_no_list(tmp_path: Path) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"fields": [{"name": "x", "type": "integer"}, {"name": "y"}]})
    assert str(caught.value).startswith("the schema has 3 problems:\n  field 'x': it has no minimum")
    message, _ = problems_of(tmp_path / "s.yaml", "fields:\n  - {name: sex, type: strin, categories: [F, M]}\n")
    assert f"{'s.yaml'}', line 2: field 'sex': type 'strin' is not known" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"kind": "sets", "items": "???", "form": "x", "missingValues": 3, "unit": 3}, 4),
        ({"kind": "graph", "nodes": "???", "form": "x", "max_degree": 0}, 3),
        ({"fields": [{"name": "x", "role": "identifier"}], "guarantee": "some", "encoding": 3}, 3),
    ],
)
def test_problems_of_sets_and_graphs_are_listed(document: dict[str, Any], count: int) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(document)
    assert len(caught.value.problems) == count, str(caught.value)


@pytest.mark.parametrize(
    "words", [("check", "t.csv"), ("plan", "--records", "9", "--epsilon", "1"), ("publish", "t.csv", "--epsilon", "1")]
)
def test_commands_print_the_list(tmp_path: Path, cantle: Cantle, words: tuple[str, ...]) -> None:  # noqa: F811
    (tmp_path / "s.yaml").write_text(WRONG)
    (tmp_path / "t.csv").write_text("age\n1\n")
    done = cantle(*words, "--schema", "s.yaml", "--json")
    assert done.code == 3
    assert "\n  line 8: field 'weight': minimum 'heavy'" in done.err
    assert len(json.loads(done.out)["problems"]) == len(FOUND)
