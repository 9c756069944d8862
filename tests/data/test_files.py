"""Files of every form: the same records give the same codes, in memory and in DuckDB; refusals are fixed texts."""

from __future__ import annotations

import codecs
import gzip
import json
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from cantle.data import sheets
from cantle.data.draft_schema import draft
from cantle.data.engine_choice import OPENERS, EngineChoice
from cantle.data.file_forms import ending, files
from cantle.data.tables import read_columns
from cantle.errors import DataError, MissingExtra, ParameterError
from cantle.schema import Schema
from cantle.schema.file_bytes import pieces
from tests.neighbours.filed import ods, xlsx
from tests.neighbours.reading import table

FIELDS: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
    {"name": "pay", "type": "number", "step": 0.5, "constraints": {"minimum": 0, "maximum": 100}},
    {"name": "town", "type": "string", "categories": ["Łódź", "007", "7"]},
    {"name": "born", "type": "date", "constraints": {"minimum": "1990-01-01", "maximum": "2030-01-01"}},
    {"name": "member", "type": "boolean"},
]
ROWS = [
    (34, 1.5, "Łódź", date(2000, 2, 29), True),
    (7, 99.5, "007", date(1990, 1, 1), False),
    (None, None, None, None, None),
    (99, 0.0, "7", date(2020, 12, 31), None),
]
NAMES = [one["name"] for one in FIELDS]
SCHEMA: dict[str, Any] = {"fields": FIELDS}
FRAME = pl.DataFrame(ROWS, schema=NAMES, orient="row")


def written(place: Path, name: str, content: bytes) -> Path:
    (place / name).write_bytes(content)
    return place / name


def text() -> str:
    return FRAME.write_csv()


def json_lines() -> bytes:
    rows = [{k: v.isoformat() if isinstance(v, date) else v for k, v in row.items()} for row in FRAME.to_dicts()]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def arrow(place: Path) -> Path:
    FRAME.write_ipc(place / "t.feather")
    return place / "t.feather"


def sheet(write: Callable[..., None], name: str) -> Callable[[Path], Path]:
    def make(place: Path) -> Path:
        # a row without any value is not a record, so the empty record has a value in an undeclared column
        write([[*NAMES, "note"], *([*row, None if any(row) else "x"] for row in ROWS)], place / name)
        return place / name

    return make


def several(place: Path) -> list[Path]:
    lines = text().splitlines(keepends=True)
    first = written(place, "1.csv", "".join(lines[:3]).encode())
    return [first, written(place, "2.csv.gz", gzip.compress((lines[0] + "".join(lines[3:])).encode()))]


def pattern(place: Path) -> str:
    several(place)
    return str(place / "?.csv*")


FORMS: dict[str, Callable[[Path], Any]] = {
    "gz": lambda place: written(place, "t.csv.gz", gzip.compress(text().encode())),
    "zst": lambda place: written(place, "t.tsv.zst", zstandard.compress(text().replace(",", "\t").encode())),
    "UTF-16": lambda place: written(place, "t.csv", text().encode("utf-16")),
    "UTF-16, big": lambda place: written(place, "t.csv", codecs.BOM_UTF16_BE + text().encode("utf-16-be")),
    "CR": lambda place: written(place, "t.csv", text().replace("\n", "\r").encode()),
    "JSON Lines": lambda place: written(place, "t.jsonl", json_lines()),
    "JSON Lines, packed": lambda place: written(place, "t.ndjson.gz", gzip.compress(json_lines())),
    "Arrow": arrow,
    "Excel": sheet(xlsx, "t.xlsx"),
    "ODS": sheet(ods, "t.ods"),
    "list": several,
    "pattern": pattern,
    "folder": lambda place: several(place)[0].parent,
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_records_give_the_same_codes(form: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    data, expected = FORMS[form](tmp_path / "data"), table()(SCHEMA, FRAME)
    assert expected.total() == len(ROWS)
    assert table()(SCHEMA, data) == expected
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    assert table(choice=EngineChoice("duckdb"))(SCHEMA, data) == expected


def test_a_packed_file_may_have_several_parts_and_must_be_whole(tmp_path: Path) -> None:
    many = text().encode() * 3000
    for name, pack in (("t.csv.gz", gzip.compress), ("t.csv.zst", zstandard.compress)):
        whole = pack(many) + pack(b"") + pack(b"end\n")
        assert b"".join(pieces(written(tmp_path, name, whole), "utf-8", 1000)) == many + b"end\n"
        with pytest.raises(DataError, match="damaged or truncated") as caught:
            list(pieces(written(tmp_path, name, whole[:-3]), "utf-8"))
        assert caught.value.__context__ is None


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        for name, age in (("one", 1), ("two", 2)):
            sheet = book.add_worksheet(name)
            sheet.write_row(2, 3, ["age"])  # the header is the first row with a value
            sheet.write_row(3, 3, [age])
    for names, age in (({}, "1"), ({"dialect": {"sheetName": "two"}}, "2")):
        schema = Schema.from_dict({"fields": FIELDS[:1], **names})
        assert read_columns(tmp_path / "t.xlsx", schema).frame.rows() == [(age,)]
    with pytest.raises(DataError, match="no such sheet"):
        read_columns(tmp_path / "t.xlsx", Schema.from_dict({"fields": FIELDS, "dialect": {"sheetName": "three"}}))


@pytest.mark.parametrize("error", [b"#DIV/0!", b"#SPILL!", b"#ERROR!"])
def test_no_cell_makes_an_excel_file_unreadable(error: bytes, tmp_path: Path) -> None:
    """The library that reads Excel refused files with an unknown error value, and panicked at very early dates."""
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "plain.xlsx") as book:
        page, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        page.write_column(0, 0, ["age", 1, 2])
        page.write_formula(3, 0, "=1/0", None, "#DIV/0!")
        page.write_number(4, 0, -1e15, day)
        page.write_column(0, 1, ["other", 1, 1, 1, 1])
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as damaged:
        for name in plain.namelist():
            damaged.writestr(name, plain.read(name).replace(b"#DIV/0!", error))
    schema = Schema.from_dict(
        {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]}
    )
    assert read_columns(tmp_path / "t.xlsx", schema).frame["age"].to_list() == ["1", "2", None, "-1000000000000000"]


def test_a_missing_package_is_named_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    with pytest.raises(MissingExtra, match="excel"):
        sheets.load_excel()
    with pytest.raises(MissingExtra, match="excel"):
        table()(SCHEMA, written(tmp_path, "t.xlsx", b""))


@pytest.mark.parametrize("name", ["t.arrow", "t.xlsx", "t.csv.zst", "t.ods"])
def test_spark_refuses_what_it_cannot_read_before_anything_is_read(name: str) -> None:
    from cantle.data.engines_for_tables import refuse_early

    with pytest.raises(ParameterError, match="spark engine cannot read"):
        refuse_early(name, Schema.from_dict(SCHEMA), EngineChoice("spark"), None)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [SCHEMA, {"kind": "sets", "items": [1, 2]}])
def test_spark_refuses_titles_above_a_header(kind: dict[str, Any]) -> None:
    schema = Schema.from_dict(kind | {"headerRow": 2})
    with pytest.raises(ParameterError, match="cannot skip lines above a header"):
        OPENERS[schema.kind].refuse_early("t.csv", schema, EngineChoice("spark"), None)


def test_no_match_and_no_file_are_refused(tmp_path: Path) -> None:
    wrong = [(str(tmp_path / "*.csv"), "matches no"), ([tmp_path / "no.csv"], "there is no file"), ("", "empty")]
    for data, says in wrong:
        with pytest.raises(DataError, match=says):
            table()(SCHEMA, data)
    assert files([tmp_path / "a.csv", [tmp_path / "b.csv"]]) == [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert [ending(name) for name in ("a.csv.GZ", "a.Parquet", "a.tar.7z")] == [".csv", ".parquet", ".7z"]


def test_drafts_of_other_files(tmp_path: Path) -> None:
    assert '"age"' in draft(arrow(tmp_path)).replace("name: age", '"age"')
    assert "town" in draft(FORMS["Excel"](tmp_path), header=True)
    with pytest.raises(ParameterError, match="part of its records"):
        draft(FORMS["JSON Lines"](tmp_path), header=True)


def test_fimi_lines_in_utf_16_need_a_declared_order_of_bytes(tmp_path: Path) -> None:
    from cantle.data.sets import read_baskets

    sets: dict[str, Any] = {"kind": "sets", "items": [1, 2, 3]}
    path = written(tmp_path, "t.dat", "1 2\n3\n".encode("utf-16-le"))
    baskets = read_baskets(path, Schema.from_dict({**sets, "dialect": {"encoding": "utf-16-le"}}))  # type: ignore[arg-type]
    assert baskets.items.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="write the encoding as utf-16-le"):
        read_baskets(path, Schema.from_dict({**sets, "dialect": {"encoding": "utf-16"}}))  # type: ignore[arg-type]
