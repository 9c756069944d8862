"""`cantle check` reports what the readers of `publish` do with each record, and marks the report as private."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml

from cantle.errors import ParameterError
from cantle.internal import WARNING
from cantle.internal.check_and_evaluate import check, limit_of
from cantle.internal.hints import hint
from cantle.schema import Schema
from cantle.schema.scales import Labels, Steps
from cantle.schema.values import NumberForm
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401

FIELDS = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 17, "maximum": 90}},
    {"name": "weight", "type": "number", "constraints": {"minimum": 0, "maximum": 300, "multipleOf": 0.1}},
    {"name": "job", "type": "string", "categories": ["Clerk", "Farmer"]},
    {"name": "visit", "type": "date", "constraints": {"minimum": "2024-01-01", "maximum": "2025-01-01"}},
    {"name": "income", "type": "string", "categories": ["low", "high"], "role": "target"},
]
TABLE = {"fields": FIELDS, "missingValues": ["", "?"]}
ROWS = """age,weight,job,visit,income,who
17,60.5,Clerk,2024-05-01,low,1
200,"60,5",clerk,01.05.2024,low,1
abc,?,Farmer,2024-05-02,high,2
33,1000,Farmer,,High,2
-5,70,,2024-05-03,high,
"""


def found(document: dict[str, object], rows: str, tmp_path: Path, name: str = "data.csv") -> dict[tuple[str, str], int]:
    """The count of each finding, by section and text."""
    path = tmp_path / name
    path.write_text(rows)
    checked = check(path, Schema.from_dict(document))
    return {(part.title, one.what): one.count for part in checked.sections for one in part.findings if one.count}


def test_every_way_to_lose_a_value_is_counted(tmp_path: Path) -> None:
    assert found(TABLE, ROWS, tmp_path) == {
        ("records", "records dropped, because a required value is missing or not declared"): 1,
        ("age", "not readable as an integer"): 1,
        ("age", "below the minimum"): 1,
        ("age", "above the maximum"): 1,
        ("weight", "missing"): 1,
        ("weight", "not readable as a number"): 1,
        ("weight", "above the maximum"): 1,
        ("job", "missing"): 1,
        ("job", "not a declared category"): 1,
        ("visit", "missing"): 1,
        ("visit", "not readable as a date"): 1,
        ("income", "not a declared category"): 1,
    }


SPAN = {"minimum": 0, "maximum": 900}
PRICES = "x\n" + "".join(f"{k % 700 + (k % 100) / 100:.2f}\n" for k in range(1_400))
FIVES = "x\n" + "".join(f"{k * 5}\n" for k in range(100))
SOME = FIVES + "".join(f"{k * 5 + 1}\n" for k in range(50))
HOURS = "x\n" + "".join(f"2024-01-{1 + k % 9:02}T{k % 24:02}:30:00\n" for k in range(90))
DAYS = {"minimum": "2024-01-01", "maximum": "2024-02-01"}


@pytest.mark.parametrize(
    ("field", "rows", "count", "said"),
    [
        ({"type": "number", "step": 0.01}, PRICES, 1_400, "constraints: {…, multipleOf: 0.01}, and no step"),
        ({"type": "number", "step": 1}, PRICES, 1_400, "multipleOf: 0.01}, and step: 1 as before"),
        ({"type": "integer", "step": 50}, FIVES, 100, "multipleOf: 5}, and step: 50 as before"),
        ({"type": "integer", "step": 5}, FIVES, 100, "multipleOf: 5}, and no step"),
        ({"type": "integer", "step": 5}, SOME, 0, ""),
        ({"type": "integer", "constraints": SPAN | {"multipleOf": 5}}, SOME, 50, "step: 5, and no multipleOf"),
        ({"type": "integer", "constraints": SPAN | {"multipleOf": 5}}, FIVES, 0, ""),
        ({"type": "integer", "constraints": SPAN | {"multipleOf": 1}}, SOME, 0, ""),
        ({"type": "number", "constraints": SPAN | {"multipleOf": 0.01}}, PRICES, 0, ""),
        ({"type": "datetime", "step": "1h", "constraints": DAYS}, HOURS, 90, "multipleOf: 30min}, and step: 1h"),
        ({"type": "integer"}, SOME, 0, ""),
    ],
)
def test_steps_and_multiples_that_the_data_contradict_are_named(
    field: dict[str, object], rows: str, count: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text(rows)
    document = {"fields": [{"name": "x", "constraints": SPAN, **field}]}
    checked = check(tmp_path / "data.csv", Schema.from_dict(document))
    hints = [one for part in checked.sections for one in part.findings if one.count and one.advice]
    assert [one.count for one in hints] == ([count] if count else [])
    assert said in "\n".join(checked.lines())


@pytest.mark.parametrize("unknown", ["null", "drop", "Clerk"])
def test_the_records_used_are_those_that_the_encoder_keeps(unknown: str, tmp_path: Path) -> None:
    fields = [
        one | ({"unknown": None if unknown == "null" else unknown} if one["name"] == "job" else {}) for one in FIELDS
    ]
    schema = Schema.from_dict(TABLE | {"fields": fields})
    path = tmp_path / "data.csv"
    path.write_text(ROWS * 1)
    codes, _ = schema.domain().encode(pl.read_csv(path, infer_schema=False))
    assert check(path, schema).used == len(codes)


def test_numbers_of_a_typed_file_are_never_unreadable(tmp_path: Path) -> None:
    schema = Schema.from_dict({"fields": FIELDS[:1], "missingValues": ["-999"]})
    path = tmp_path / "data.parquet"
    pl.DataFrame({"age": [20, -999, None, 400]}).write_parquet(path)
    counts = {one.what: one.count for part in check(path, schema).sections for one in part.findings if one.count}
    assert counts == {"missing": 2, "above the maximum": 1}


def test_records_per_person_are_counted(tmp_path: Path) -> None:
    document = TABLE | {"unit": {"person": "who", "max_records": 1}}
    counts = found(document, ROWS, tmp_path)
    assert counts["records", "records dropped, because they have no person"] == 1
    assert counts["records", "records not used, because at most 1 per person are used"] == 1
    checked = check(tmp_path / "data.csv", Schema.from_dict(document))
    assert (checked.used, checked.facts["persons"], checked.facts["most records of a person"]) == (2, 2, 2)


def test_persons_with_fewer_records_than_the_bound_lose_none(tmp_path: Path) -> None:
    document = {"fields": [{"name": "ill", "type": "boolean"}], "unit": {"person": "who", "max_records": 2}}
    counts = found(document, "who,ill\na,true\na,true\na,false\nb,true\n", tmp_path)
    assert counts["records", "records not used, because at most 2 per person are used"] == 1
    assert check(tmp_path / "data.csv", Schema.from_dict(document)).used == 3


SETS = {"kind": "sets", "items": {"minimum": 1, "maximum": 17}}


@pytest.mark.parametrize(("name", "rows"), [
    ("data.dat", "1 2 3\n4 99 foo 2 2\n77\n\n5\n"),
    ("data.csv", "id,item\na,1\na,2\na,3\nb,4\nb,99\nb,foo\nb,2\nb,2\nc,77\nd,5\n"),
])  # fmt: skip
def test_findings_about_sets(name: str, rows: str, tmp_path: Path) -> None:
    counts = found(SETS, rows, tmp_path, name)
    assert counts == {
        ("sets", "sets not used, because no declared item is left"): 1,
        ("items", "not a declared item"): 3,
        ("items", "an item that its set already has"): 1,
    }
    checked = check(tmp_path / name, Schema.from_dict(SETS))
    assert (checked.read, checked.used, checked.facts["items of the largest set"]) == (4, 3, 3)


def test_items_with_spaces_in_fimi_lines_are_refused_as_publish_refuses_them(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"use a long table \(one row per set and item, .csv\) or Parquet"):
        found({"kind": "sets", "items": ["tea", "whole milk"]}, "whole milk, tea\n", tmp_path, "data.dat")


def test_findings_about_a_column_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"items": [[1, 2, 3], [4, 99, 100, 2, 2], [77], [], None, [5]]}).write_parquet(path)
    checked = check(path, Schema.from_dict(SETS))
    assert (checked.read, checked.used) == (6, 3)
    assert checked.sections[1].findings[0].count == 3


def test_findings_about_graphs(tmp_path: Path) -> None:
    document = {"kind": "graph", "unit": "node-isolate", "nodes": {"minimum": 1, "maximum": 10}}
    counts = found(document, "# c\nsource target\n1 2\n2 1\n007 7\n4 99\nx 1\n3 4\n", tmp_path, "edges.txt")
    assert counts == {
        ("edges", "a node that is missing or not declared"): 2,
        ("edges", "a node connected with itself"): 1,
        ("edges", "an edge that is there already"): 1,
    }
    checked = check(tmp_path / "edges.txt", Schema.from_dict(document))
    assert (checked.read, checked.used, checked.facts["nodes without an edge"]) == (6, 2, 6)


def test_findings_about_nodes_that_are_texts_and_a_list_of_nodes(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("ann bob\nbob ann\nann 7\ncid cid\nbob eve\n")
    (tmp_path / "nodes.txt").write_text("ann\nbob\n7\ncid\n")
    checked = check(tmp_path / "edges.txt", Schema.from_dict({"kind": "graph", "unit": "node"}), tmp_path / "nodes.txt")
    counts = {one.what: one.count for one in checked.sections[0].findings if one.count}
    assert counts == {
        "a node that is not in the list of nodes": 1,
        "a node connected with itself": 1,
        "an edge that is there already": 1,
    }
    assert (checked.used, checked.facts["nodes"]) == (2, 4)


def test_wrong_limits_are_refused() -> None:
    from cantle.errors import ParameterError

    for wrong in ("five", "120%", "-1%", "2"):
        with pytest.raises(ParameterError, match="--limit"):
            limit_of(wrong)


def test_the_command_prints_findings_and_writes_nothing(cantle: Cantle, tmp_path: Path) -> None:  # noqa: F811
    Path("data.csv").write_text(ROWS)
    Path("schema.yaml").write_text(yaml.safe_dump(TABLE))
    before = {path.name for path in tmp_path.iterdir()}
    done = cantle("check", "data.csv", "--schema", "schema.yaml")
    assert (done.code, done.err) == (1, WARNING + "\n")
    assert '"60,5" (1)' in done.out
    assert {path.name for path in tmp_path.iterdir()} == before
    assert cantle("check", "data.csv", "--schema", "schema.yaml", "--limit", "20%").code == 0
    machine = cantle("check", "data.csv", "--schema", "schema.yaml", "--json")
    assert machine.code == 1
    assert json.loads(machine.out)["internal"] == WARNING


def test_a_written_report_must_be_named_internal(cantle: Cantle) -> None:  # noqa: F811
    Path("data.csv").write_text(ROWS)
    Path("schema.yaml").write_text(yaml.safe_dump(TABLE))
    assert cantle("check", "data.csv", "--schema", "schema.yaml", "-o", "check.txt").code == 2
    cantle("check", "data.csv", "--schema", "schema.yaml", "-o", "check.internal.txt")
    assert Path("check.internal.txt").read_text().startswith(WARNING)
    cantle("check", "data.csv", "--schema", "schema.yaml", "-o", "check.internal.json")
    assert json.loads(Path("check.internal.json").read_text())["ok"] is False
    assert os.name != "posix" or Path("check.internal.json").stat().st_mode & 0o077 == 0, (
        "only the owner may read the file"
    )
    assert cantle("check", "data.csv", "--schema", "schema.yaml", "-o", "check.internal.txt").code == 1


def test_check_names_findings_above_the_limit_and_keys_that_would_help(
    cantle: Cantle,  # noqa: F811
    tmp_path: Path,
) -> None:
    fields = [
        {"name": "wage", "type": "integer", "constraints": {"minimum": 0, "maximum": 9000}},
        {"name": "day", "type": "date", "constraints": {"minimum": "2025-01-01", "maximum": "2025-12-31"}},
        {"name": "sex", "type": "string", "categories": ["F", "M"]},
    ]
    (tmp_path / "schema.yaml").write_text(yaml.safe_dump({"fields": fields, "dialect": {"delimiter": ";"}}))
    (tmp_path / "data.csv").write_text("wage;day;sex\n812,50;24.12.2025;F\n;13.01.2025;\n99,00;01.02.2025;M\n")
    done = cantle("check", "data.csv", "--schema", "schema.yaml")
    assert done.code == 1
    assert 'name: "wage", type: number, step: "???", decimalChar: ",", constraints' in done.out
    assert 'name: "day", type: date, format: "%d.%m.%Y", constraints' in done.out
    assert "day: not readable as a date (100 %); wage: not readable as an integer (67 %)" in done.out
    assert "as declared, but some are missing -> null: sex 33 %" in done.out


DAYS = Steps(type="date", first=0, step=1, grid=99_999)
MOMENTS = Steps(type="datetime", first=0, step=60, grid=9**9)
WHOLE = Steps(type="integer", first=0, step=1, grid=10)
NUMBER = Steps(type="number", first=0, step=1, grid=10)
SEXES = Labels(type="string", labels=("Female", "Male", "Other"))


@pytest.mark.parametrize(
    ("scale", "texts", "keys"),
    [
        (DAYS, ["12/24/2025", "01/02/2025"], {"format": "%m/%d/%Y"}),
        (DAYS, ["24.12.2025", "01.02.2025", "24/12/25"], {"format": ["%d.%m.%Y", "%d/%m/%y"]}),
        (replace(DAYS, formats=("%d.%m.%Y",)), ["24/12/25"], {"format": ["%d.%m.%Y", "%d/%m/%y"]}),
        (DAYS, ["soon"], {}),
        (MOMENTS, ["24.12.2025 18:30", "2025-12-24 18:30 Uhr"], {"format": "%d.%m.%Y %H:%M"}),
        (NUMBER, ["12,5", "7,25"], {"decimalChar": ","}),
        (NUMBER, ["1.234,5", "12.345"], {"decimalChar": ",", "groupChar": "."}),
        (NUMBER, ["1,234.5", "12,345"], {"groupChar": ","}),
        (NUMBER, ["1,234", "12,345"], {"groupChar": ","}),
        (NUMBER, ["1'234.50", "80'000"], {"groupChar": "'"}),
        (NUMBER, ["1 234,50", "80\u00a0000"], {"decimalChar": ",", "groupChar": " "}),
        (NUMBER, ["35,7 kg", "80 kg"], {"decimalChar": ",", "bareNumber": False}),
        (NUMBER, ["€ 1.234,50", "€ 80,00"], {"decimalChar": ",", "groupChar": ".", "bareNumber": False}),
        (NUMBER, ["5 km", "7.5 km"], {"bareNumber": False}),
        (replace(NUMBER, form=NumberForm(decimal=",")), ["1.234,5"], {"groupChar": "."}),
        (WHOLE, ["5 \ufffd"], {"bareNumber": False}),
        (WHOLE, ["90+", "5 km"], {"bareNumber": False, "replace": {"90+": 90}}),
        (WHOLE, ["90+"], {"replace": {"90+": 90}}),
        (SEXES, ["M\ufffdle"], {}),
        (WHOLE, ["1.234.567"], {"groupChar": "."}),
        (WHOLE, ["12 000", "1 200"], {"groupChar": " "}),
        (WHOLE, ["12,5"], {"type": "number", "step": "???", "decimalChar": ","}),
        (SEXES, ["FEMALE", "male"], {"ignoreCase": True}),
        (SEXES, ["F", "Mael", "zebra"], {"replace": {"F": "Female", "Mael": "Male"}}),
        (Labels(type="boolean", labels=(False, True)), ["igen"], {"trueValues": ["???"], "falseValues": ["???"]}),
        (
            Labels(type="boolean", labels=(False, True)),
            ["ja", "Ja", "nein"],
            {"trueValues": ["ja"], "falseValues": ["nein"], "ignoreCase": True},
        ),
        (
            Labels(type="boolean", labels=(False, True)),
            ["yes", "no", "Y"],
            {"trueValues": ["yes", "y"], "falseValues": ["no"], "ignoreCase": True},
        ),
        (Labels(type="string", labels=("Köln", "Bern")), ["Koeln", "bonn"], {"replace": {"Koeln": "Köln"}}),
        (SEXES, ["x"], {}),
    ],
)
def test_hints_name_the_spelling_of_values(scale: Steps | Labels, texts: list[str], keys: dict[str, object]) -> None:
    found = hint(scale, [*texts, "n/a", " NULL "])
    assert found.keys == keys
    assert found.marks == ("n/a", "NULL")
    assert found.encoding == ("\ufffd" in "".join(texts))


def test_days_and_months_that_cannot_be_told_apart_are_remarked() -> None:
    assert hint(DAYS, ["01/02/2025"]).remark == "%m/%d/%Y reads them as well as %d/%m/%Y: say which it is"
    assert not hint(DAYS, ["24/02/2025", "01/02/2025"]).remark


def test_with_the_suggested_lines_every_value_is_read(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    """What a person pastes must be a schema, and it must read what it was suggested for."""
    bounds = {"minimum": "2025-01-01", "maximum": "2025-12-31"}
    many = [f"P{number}" for number in range(40)]
    schema = {
        "fields": [
            {"name": "day", "type": "date", "constraints": bounds},
            {"name": "wage", "type": "number", "step": 1, "constraints": {"minimum": 0, "maximum": 9000}},
            {"name": "sex", "type": "string", "categories": ["F", "M"], "replace": {"w": "F"}},
            {"name": "town", "type": "string", "categories": ["Genève", "-"], "missingValues": ["", "x"]},
            {"name": "place", "type": "string", "categories": many},
        ],
        "dialect": {"delimiter": ";"},
        "missingValues": ["", "?"],
    }
    rows = [
        "24.12.2025;1.234,50 €;F;Genève;P1",
        "24/12/25;n/a;female;Geneve;p2",
        "NULL;12,00 €;m;x;P3",
        "13.01.2025;7 €;w;-;p4",
        "?;;M;n/a;P5",
    ]
    (tmp_path / "schema.yaml").write_text(yaml.safe_dump(schema, allow_unicode=True), encoding="utf-8")
    (tmp_path / "data.csv").write_text("\n".join(["day;wage;sex;town;place", *rows]), encoding="utf-8")
    found = cantle("check", "data.csv", "--schema", "schema.yaml", "--json")
    lines = json.loads(found.out)["suggested"]
    assert lines[0] == "fields:"
    assert lines[-1] == 'missingValues: ["", "?", "NULL", "n/a"]'
    assert "add these keys" in next(line for line in lines if '"place"' in line)
    pasted = yaml.safe_load("\n".join(lines))
    entries = {one["name"]: one for one in pasted.pop("fields")}
    assert entries["town"]["missingValues"] == ["", "x", "n/a"]
    assert entries["sex"]["replace"] == {"w": "F", "female": "F"}
    schema |= pasted
    schema["fields"] = [one | entries.get(one["name"], {}) for one in schema["fields"]]
    (tmp_path / "schema.yaml").write_text(yaml.safe_dump(schema, allow_unicode=True), encoding="utf-8")
    again = cantle("check", "data.csv", "--schema", "schema.yaml", "--json")
    assert (json.loads(again.out)["worst"]["share"], json.loads(again.out)["suggested"]) == (0, [])
