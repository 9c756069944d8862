"""Drafts of a schema: blanks by default; with `infer`, every blank is filled in from the values, and marked."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import yaml

import cantle
from cantle.data.draft_schema import draft
from cantle.data.draft_schema.kinds import KINDS
from cantle.data.tables import read_columns
from cantle.errors import DataError, ParameterError, SchemaError
from cantle.schema import Schema
from cantle.schema.declared_values import BLANK
from cantle.schema.table import TableSchema

FRAME = pl.DataFrame(
    {
        "a b": [1, None, 300],
        "real": [0.5, 1.25, -3.1],
        "word: #": ["SECRET", "no", 'é"\x85'],
        "day": [date(2020, 1, 1), None, date(2021, 1, 1)],
        "time": [datetime(2020, 1, 1, 5), datetime(2020, 1, 1, 6), None],
        "flag": [True, False, None],
        "nothing": pl.Series([None, None, None], dtype=pl.String),
    }
)


def load(folder: Path, text: str) -> Schema:
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    return Schema.load(folder / "s.yaml")


def test_a_csv_draft_has_names_and_blanks_only(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    text = draft(tmp_path / "t.csv", header=True)
    assert "SECRET" not in text
    assert "300" not in text.split("fields:")[1]
    assert '"word: #"' in text
    assert "guarantee" not in text
    with pytest.raises(SchemaError, match="field 'a b': `type` is still blank"):
        load(tmp_path, text)


def test_a_draft_mentions_hierarchies(tmp_path: Path) -> None:
    pl.DataFrame({"word": ["SECRET"]}).write_parquet(tmp_path / "t.parquet")
    assert '#   hierarchy   groups of categories, if any: {Group: ["a", "b"]' in draft(tmp_path / "t.parquet")


def test_a_draft_mentions_persons_and_files_without_header(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    FRAME.write_parquet(tmp_path / "t.parquet")
    assert "unit: {person: COLUMN, max_records: 3}" in draft(tmp_path / "t.parquet")
    assert "header: false" not in draft(tmp_path / "t.parquet")  # a Parquet file declares its names
    assert "no header" not in draft(tmp_path / "t.csv", header=True)
    assert "no header" in draft(tmp_path / "t.csv", header=False)


def test_drafts_do_not_depend_on_the_values(tmp_path: Path) -> None:
    for name, write in (("t.csv", pl.DataFrame.write_csv), ("t.parquet", pl.DataFrame.write_parquet)):
        write(FRAME, tmp_path / name)
        full = draft(tmp_path / name, header=True)
        write(FRAME.clear(), tmp_path / name)
        assert draft(tmp_path / name, header=True) == full


def test_a_parquet_draft_has_types_and_blanks(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "t.parquet")
    text = draft(tmp_path / "t.parquet")
    assert "SECRET" not in text
    for kind in ("integer", "number", "string", "date", "datetime", "boolean"):
        assert f"type: {kind}" in text.split("fields:")[1]
    with pytest.raises(SchemaError, match="field 'a b'.*`minimum`"):
        load(tmp_path, text)
    for key, value in (("minimum", "0"), ("maximum", "9"), ("step", "1"), ("categories", "[x]")):
        text = text.replace(f'{key}: "{BLANK}"', f"{key}: {value}")
    with pytest.raises(SchemaError, match="field 'day'.*not a date"):
        load(tmp_path, text)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "semicolon.csv", "t.tsv"])
def test_an_inferred_draft_is_complete_and_marked(tmp_path: Path, name: str) -> None:
    if name == "t.parquet":
        FRAME.write_parquet(tmp_path / name)
    else:
        FRAME.write_csv(tmp_path / name, separator={"semicolon.csv": ";", "t.tsv": "\t"}.get(name, ","))
    text = draft(tmp_path / name, header=True, infer=True)
    assert "NO GUARANTEE" in text
    schema = load(tmp_path, text)
    assert schema.inferred
    types = {one.name: (one.type, one.role) for one in schema.fields}
    assert types == {
        "a b": ("integer", None),
        "real": ("number", None),
        "word: #": ("string", None),
        "day": ("date", None),
        "time": ("datetime", None),
        "flag": ("boolean", None),
        "nothing": ("string", "identifier"),
    }
    domain = schema.domain()
    codes, classes = domain.encode(read_columns(tmp_path / name, schema).frame)
    within = (codes * 0.0).astype(float)
    assert domain.decode(codes, classes, within).rows() == FRAME.drop("nothing").rows()


def test_inferring_finds_missing_marks_and_identifiers(tmp_path: Path) -> None:
    lines = ["n,word"] + [f"{i if i % 2 else '?'},w{i}" for i in range(1500)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    schema = load(tmp_path, draft(tmp_path / "t.csv", header=True, infer=True))
    assert schema.missing_values == ("", "?")
    assert [(one.type, one.role) for one in schema.fields] == [("integer", None), ("string", "identifier")]


def test_bad_files(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("")
    with pytest.raises(DataError, match="ends before its header"):
        draft(tmp_path / "t.csv", header=True)
    with pytest.raises(DataError, match="no file"):
        draft(tmp_path / "nowhere.csv", header=True)
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    with pytest.raises(DataError, match="repeats a name"):
        draft(tmp_path / "t.csv", header=True, infer=True)


def test_dates_with_years_beyond_python_are_strings(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0000-01-01,0000-01-01 10:00:00\n2020-01-01,2020-01-01 10:00:00\n")
    schema = load(tmp_path, draft(tmp_path / "t.csv", header=True, infer=True))
    assert [one.type for one in schema.fields] == ["string", "string"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_file_without_header_is_drafted_without_its_values(tmp_path: Path, end: str, separator: str) -> None:
    lines = [separator.join(row) for row in (("SECRET", "17", "x"), ("HIDDEN", "18", "y"))]
    (tmp_path / "t.csv").write_bytes(end.join(lines).encode())
    text = draft(tmp_path / "t.csv", header=False)
    assert not {"SECRET", "HIDDEN", "17"} & set(text.replace('"', " ").split())
    assert [line for line in text.splitlines() if "- {name" in line] == [
        f'  - {{name: "column_{number}", type: "{BLANK}"}}' for number in (1, 2, 3)
    ]
    read = load(tmp_path, draft(tmp_path / "t.csv", header=False, infer=True))
    assert not read.dialect.header
    assert read_columns(tmp_path / "t.csv", read).frame.rows() == [("SECRET", "17", "x"), ("HIDDEN", "18", "y")]


def test_without_a_word_about_the_header_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("SECRET,word\nx,y\n")
    with pytest.raises(ParameterError, match="header=True, header=False or its line") as caught:
        draft(tmp_path / "t.csv")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_draft_has_the_names_of_the_header_and_nothing_else(tmp_path: Path, end: str) -> None:
    (tmp_path / "t.csv").write_bytes(end.join(["a,b", "SECRET,2", "3,4", ""]).encode())
    text = draft(tmp_path / "t.csv", header=True)
    assert "SECRET" not in text
    assert text.count("- {name") == 2


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        ("SECRET,b,SECRET", "repeats a name"),
        ('a,"SECRET\nb"', "control character"),
        ('a,"SECRET\rb"', "control character"),
        ("a,SECRET\0", "control character"),
        ("a,SECRET\x1f", "control character"),
        ("a,SECRET\u2028b", "control character"),
        ('a,"SECRET\tb"', "control character"),
        ("a," + "SECRET" * 40, "more than 200 characters"),
        (",".join(f"SECRET{i}" for i in range(20_001)), "more than 20,000 fields"),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("infer", [True, False])
def test_headers_that_cannot_be_names_are_refused_and_not_quoted(
    tmp_path: Path, first: str, problem: str, infer: bool
) -> None:
    (tmp_path / "t.csv").write_text(first + "\n1,2,3\n", newline="")
    with pytest.raises(DataError, match=problem) as caught:
        draft(tmp_path / "t.csv", header=True, infer=infer)
    assert "SECRET" not in str(caught.value)


def test_a_header_in_an_encoding_of_western_europe_is_recognised(tmp_path: Path) -> None:
    """Only the header decides on the encoding, so that the draft does not depend on the records."""
    for records in ("", "Köln;3\n"):
        (tmp_path / "t.csv").write_bytes(f"Größe;Stück €\n{records}".encode("cp1252"))
        text = draft(tmp_path / "t.csv", header=True)
        assert '"Größe"' in text
        assert '"Stück €"' in text
        assert 'dialect: {"delimiter": ";", "encoding": "cp1252"}' in text
        assert "The encoding is a guess" in text
    (tmp_path / "t.csv").write_bytes("Größe;n\n".encode() + b"K\xf6ln;3\n")
    assert "encoding" not in draft(tmp_path / "t.csv", header=True).partition("fields:")[2]


def test_a_draft_of_a_frame_has_its_names_and_types_only() -> None:
    days = [datetime(2025, 1, 1)]
    frame = pl.DataFrame({"n": [1], "x": [0.5], "s": ["secret"], "b": [True], "d": days})
    text = cantle.draft(frame)
    assert [one["type"] for one in yaml.safe_load(text)["fields"]] == [
        "integer", "number", "string", "boolean", "datetime"
    ]  # fmt: skip
    assert not any(word in text.split("fields:")[1] for word in ("secret", "0.5", "2025-01-01"))
    with pytest.raises(ParameterError, match="for files"):
        cantle.draft(frame, infer=True)


def test_no_record_of_a_pandas_frame_changes_its_draft() -> None:
    """One missing value turns integers into floats, and one text into objects; such types must not be published."""
    texts = {cantle.draft(pd.DataFrame({"n": values})) for values in ([1, 2], [1, None], [1, "x"], [])}
    assert len(texts) == 1


def test_inferring_says_what_values_are_multiples_of(tmp_path: Path) -> None:
    rows = ["price,third,hour,odd", "1.25,0.3333333,2024-01-01T05:00:00,2024-01-01T05:00:00.5"]
    (tmp_path / "t.csv").write_text("\n".join([*rows, "2.5,0.6666667,2024-01-02T07:00:00,2024-01-02T07:00:00"]) + "\n")
    schema = load(tmp_path, draft(tmp_path / "t.csv", header=True, infer=True))
    assert isinstance(schema, TableSchema)
    known = {one.name: (one.step, one.multiple_of) for one in schema.fields}
    assert known["price"] == (None, Fraction(1, 100))
    assert known["third"] == (Fraction(1, 10**6), None)
    assert known["hour"] == (None, 3600)
    assert known["odd"] == (1, None)


def test_a_log_of_events_is_noticed_and_its_columns_are_drafted(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("Case ID,Activity,Complete Timestamp,Resource\n1,Register,2024-01-01,Ann\n", "utf-8")
    assert "--kind sequences" in draft(log, header=1)
    drafted = yaml.safe_load(KINDS["sequences"].draft_of(log, 1))
    assert (drafted["id"], drafted["item"]) == ("Case ID", "Activity")
    assert drafted["order"] == {"column": "Complete Timestamp", "type": "???"}


def test_other_tables_are_not_taken_for_logs(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("case,case time,age\n1,2,3\n", "utf-8")
    assert "--kind sequences" not in draft(table, header=1)
