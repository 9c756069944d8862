"""Files of SPSS, Stata and SAS: values, dates, labels, and what cannot be read. pyreadstat writes the files."""

from __future__ import annotations

import warnings
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest

import cantle
from cantle.data.draft_schema import draft
from cantle.data.sheets import book_of, column_names
from cantle.data.tables import as_ids, read_columns
from cantle.errors import DataError, MissingExtra, ParameterError
from cantle.schema.table import TableSchema
from tests.interfaces.cli.inside import run
from tests.neighbours.reading import table

WRITERS = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
FRAME = pl.DataFrame(
    {
        "town": ["Graz", "Linz", "", "Graz"],
        "sex": [1.0, 2.0, None, 9.0],
        "age": [31.0, 99.0, 18.0, None],
        "born": [date(1989, 1, 2), None, date(1900, 1, 1), date(2001, 12, 31)],
        "seen": [datetime(2020, 1, 2, 3, 4, 5), None, datetime(1970, 1, 1), datetime(1999, 12, 31, 23, 59, 59)],
    }
)
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "town", "type": "string", "categories": ["Graz", "Linz"]},
        {"name": "sex", "type": "integer", "categories": [1, 2]},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 110}},
        {"name": "born", "type": "date", "constraints": {"minimum": "1900-01-01", "maximum": "2020-12-31"}},
        {"name": "seen", "type": "datetime", "step": "1h",
         "constraints": {"minimum": "1970-01-01", "maximum": "2020-12-31"}},
    ]
}  # fmt: skip
LABELS = {"sex": {1: "male", 2: "female"}}


def write(path: Path, frame: pl.DataFrame = FRAME, **options: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        WRITERS[path.suffix](frame, str(path), **options)
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_the_values_are_those_of_the_frame(ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"t{ending}")
    assert column_names(path) == FRAME.columns
    assert table()(SCHEMA, path) == table()(SCHEMA, FRAME)
    read = read_columns(path, TableSchema.from_dict(SCHEMA)).frame
    assert read["born"].to_list() == FRAME["born"].to_list()
    assert read["seen"].to_list() == FRAME["seen"].to_list()


def test_declared_missing_values_are_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sav", missing_ranges={"age": [99], "sex": [{"lo": 8, "hi": 9}]})
    read = read_columns(path, TableSchema.from_dict(SCHEMA)).frame
    assert read["age"].to_list() == [31, None, 18, None]
    assert read["sex"].to_list() == [1, 2, None, None]


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_bytes_that_are_no_text_spoil_their_own_value_only(ending: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"town": ["Köln", "Graz", "Wien"]})
    path = write(tmp_path / f"t{ending}", frame)
    path.write_bytes(path.read_bytes().replace("ö".encode(), b"\xff\xfe"))
    schema = {"fields": [{"name": "town", "type": "string", "categories": ["Graz", "Wien", "Köln"]}]}
    assert read_columns(path, TableSchema.from_dict(schema)).frame["town"].to_list() == [
        "K\ufffd\ufffdln",
        "Graz",
        "Wien",
    ]


def test_a_file_without_an_encoding_is_read_in_that_of_the_schema(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xpt", pl.DataFrame({"town": ["Kxxln"]}))
    path.write_bytes(path.read_bytes().replace(b"Kxxln", b"K\xf6ln "))
    field = {"name": "town", "type": "string", "categories": ["Köln"]}
    for encoding, expected in (("utf-8", "K\ufffdln"), ("cp1252", "Köln")):
        schema = TableSchema.from_dict({"fields": [field], "dialect": {"encoding": encoding}})
        assert read_columns(path, schema).frame["town"].to_list() == [expected]


def test_identifiers_are_whole_numbers_that_a_float_holds(tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": [1.0, 2.0**53, 2.5, 1.0, None], "age": [1.0, 2.0, 3.0, 4.0, 5.0]})
    age = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    schema = {"fields": [age], "unit": {"person": "who", "max_records": 1}}
    read = read_columns(write(tmp_path / "t.sav", frame), TableSchema.from_dict(schema)).frame
    assert as_ids(read["who"], ()).to_list() == ["1", None, None, "1", None]


def test_the_labels_of_a_file_are_its_code_book(tmp_path: Path) -> None:
    options = {"column_labels": {"sex": "Sex of the person"}, "variable_value_labels": LABELS}
    path = write(tmp_path / "t.sav", **options)
    text = draft(path)
    assert 'title: "Sex of the person", categories: [{value: 1, label: "male"}, {value: 2, label: "female"}]' in text
    assert '{name: "born", type: date,' in text
    assert '{name: "seen", type: datetime,' in text
    made = run("init", "--codebook", path.name, cwd=tmp_path)
    assert '{value: 1, label: "male"}' in made.stdout
    assert run("init", path.name, cwd=tmp_path).stdout == text


def test_labels_of_missing_codes_and_of_scales_are_no_categories(tmp_path: Path) -> None:
    labels = {"sex": {1: "male", 2: "female", 9: "refused"}, "age": {0: "newborn", 110: "oldest"}}
    measure = {"age": "scale", "sex": "nominal"}
    path = write(
        tmp_path / "t.sav", variable_value_labels=labels, missing_ranges={"sex": [9]}, variable_measure=measure
    )
    book = {one.name: one for one in book_of(path)}
    assert book["sex"].categories == ["1", "2"]
    assert book["age"].categories is None


def test_labels_survive_from_the_file_to_the_release_and_back(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sav", pl.concat([FRAME] * 50), variable_value_labels=LABELS)
    schema = {"fields": [{"name": "sex", "type": "integer", "categories": [{"value": 1, "label": "male"}, 2]}]}
    release = cantle.publish(path, schema, epsilon=5, insecure_seed=1)
    release.save(tmp_path / "r")
    assert run("bundle", "r", "-o", "NOT-PRIVATE.out.sav", cwd=tmp_path).returncode == 0
    again = pyreadstat.read_sav(str(next(tmp_path.glob("*out.sav"))))[1]
    assert again.variable_value_labels == {"sex": {1.0: "male"}}


@pytest.mark.parametrize("ending", [*WRITERS, ".por", ".sas7bdat"])
def test_a_damaged_file_is_refused_without_a_quote(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    path.write_bytes(b"SECRET" * 100)
    with pytest.raises(DataError, match=rf"'t\{ending}' is not a readable \{ending} file") as caught:
        table()(SCHEMA, path)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None


def test_missing_columns_and_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.sav", FRAME.drop("age"))
    with pytest.raises(DataError, match="has no column 'age'"):
        table()(SCHEMA, path)
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(MissingExtra, match="statistics"):
        table()(SCHEMA, path)


def test_spark_refuses_them(tmp_path: Path) -> None:
    from cantle.data.spark_files import require_readable

    with pytest.raises(ParameterError, match="cannot read 't.sav'"):
        require_readable(tmp_path / "t.sav", TableSchema.from_dict(SCHEMA))


def test_the_counts_of_a_published_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t.dta", pl.concat([FRAME] * 100))
    release = cantle.publish(path, SCHEMA, epsilon=1000, insecure_seed=1)
    held = Counter(pl.DataFrame(release.records)["sex"].to_list())
    assert held == {1: 100, 2: 100, None: 200}
