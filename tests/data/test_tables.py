"""Readers of tables: what a record is, and that no record affects how others are read."""

from __future__ import annotations

import csv
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from cantle.data.tables import header, read_columns
from cantle.drawing.records import give_back
from cantle.errors import DataError, ParameterError, SchemaError
from cantle.schema import Schema, file_bytes
from cantle.schema.dialect import Dialect
from cantle.schema.values import by_kind, label_text
from tests.effort import examples, slow

FIELDS = [
    {"name": "a", "type": "string", "categories": ["x"]},
    {"name": "b", "type": "string", "categories": ["x"]},
    {"name": "id", "type": "string", "role": "identifier"},
    {"name": "c", "type": "string", "categories": ["x"]},
]


def schema(**keys: Any) -> Schema:
    return Schema.from_dict({"fields": FIELDS, **keys})


def rows(folder: Path, text: bytes, name: str = "t.csv", **keys: Any) -> list[tuple[Any, ...]]:
    (folder / name).write_bytes(text)
    frame = read_columns(folder / name, schema(**keys)).frame
    assert frame.columns == ["a", "b", "c"]
    return frame.rows()


@pytest.mark.parametrize(
    ("body", "want"),
    [
        (b"", []),
        (b"1,2,i,3\n", [("1", "2", "3")]),
        (b"1,2,i,3", [("1", "2", "3")]),
        (b"1,2,i,3\r\n4,5,i,6\r\n", [("1", "2", "3"), ("4", "5", "6")]),
        (b"1\n1,2\n1,2,i,3,9,9\n", [("1", None, None), ("1", "2", None), ("1", "2", "3")]),
        (b"\n1,2,i,3\n\n\r\n4,5,i,6\n\n", [("1", "2", "3"), ("4", "5", "6")]),
        (b",,,\n", [(None, None, None)]),
        (b"1,\xff\xfe,i,\xc3\xa9\n4,5,i,6\n", [("1", "\ufffd\ufffd", "é"), ("4", "5", "6")]),
        (b"1,\x00,i,3\n4,5,i,6\n", [("1", "\x00", "3"), ("4", "5", "6")]),
        (b'1,"a,""b""\nc",i,3\n4,5,i,6\n', [("1", 'a,"b"\nc', "3"), ("4", "5", "6")]),
        (b'1,5" pipe,i,3\n4,5,i,6\n', [("1", '5" pipe', "3"), ("4", "5", "6")]),
        (b'1,"open,i,3\n4,5,i,6\n7,8,i,9\n', [("1", '"open', "3"), ("4", "5", "6"), ("7", "8", "9")]),
        (b'1,"open,i,3\n4,"5",i,6\n', [("1", '"open', "3"), ("4", "5", "6")]),
        (b'1,"a"b,i,3\n\n4,"5\n\n5",i,6\n', [("1", '"a"b', "3"), ("4", "5\n\n5", "6")]),
        (b'1,2,i,"\n4,5,i,6', [("1", "2", '"'), ("4", "5", "6")]),
        (b"#1,2,i,3\n", [("#1", "2", "3")]),
    ],
)
def test_records_of_all_shapes(tmp_path: Path, body: bytes, want: list[Any]) -> None:
    def plain(records: list[Any]) -> list[Any]:
        return [tuple(value or None for value in record) for record in records]

    assert plain(rows(tmp_path, b"a,b,id,c\n" + body)) == want
    assert plain(rows(tmp_path, body, header=False)) == want


def test_header_is_found_by_name_and_extra_columns_are_not_read(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbfc,zz,"a",b\n3,9,1,2\n'
    assert rows(tmp_path, text) == [("1", "2", "3")]


def test_dialects(tmp_path: Path) -> None:
    assert rows(tmp_path, b"a;b;c\n1;2,5;'3;4'\n", delimiter=";", quoteChar="'") == [("1", "2,5", "3;4")]
    assert rows(tmp_path, b"a\tb\tc\n1\t2\t3\n", name="t.tsv") == [("1", "2", "3")]
    assert rows(tmp_path, b'a, b, c\n1, 2, "3, 4"\n', skipInitialSpace=True) == [("1", "2", "3, 4")]
    assert rows(tmp_path, b'a,b,c\n1,"2,3\n', quoteChar="") == [("1", '"2', "3")]
    assert rows(tmp_path, "a,b,c\n1,é,3\n".encode("latin-1"), encoding="latin-1") == [("1", "é", "3")]
    assert rows(tmp_path, "a,b,c\n1,é,3\n".encode("gbk"), encoding="gbk") == [("1", "é", "3")]


def test_one_column_keeps_blank_lines_as_missing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a\nx\n\nx\n")
    one = Schema.from_dict({"fields": FIELDS[:1]})
    assert read_columns(tmp_path / "t.csv", one).frame["a"].to_list() == ["x", None, "x"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('",\n\r ;'), max_size=6)


@examples(12)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), max_size=6))
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory: Any, records: list[Any]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("a", "b", "id", "c"), *records])
    got = rows(tmp_path_factory.mktemp("csv"), text.getvalue().encode())
    assert [tuple(v or "" for v in row) for row in got] == [(a, b, c) for a, b, _, c in records]


LINES = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=5)


@examples(12)
@given(LINES)
def test_any_bytes_are_read(tmp_path_factory: Any, lines: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("csv")
    rows(folder, b"a,b,id,c\n" + b'",\n'.join(lines))
    rows(folder, b'",\n'.join(lines), header=False, skipInitialSpace=True)


@examples(12)
@given(LINES, LINES)
def test_lines_are_read_independently_of_each_other(tmp_path_factory: Any, one: list[bytes], two: list[bytes]) -> None:
    def read(lines: list[bytes]) -> list[Any]:
        # a digit comes first, so that no field opens a quote, which could reach over several lines
        written = [b"0" + line.replace(b",", b",0") + b"\n" for line in lines]
        return [tuple(v or "" for v in row) for row in rows(folder, b"a,b,id,c\n" + b"".join(written))]

    folder = tmp_path_factory.mktemp("csv")
    assert read(one + two) == read(one) + read(two)


def test_a_large_file_with_line_ends_inside_quotes(tmp_path: Path) -> None:
    n = 60_000
    record = b'%d,"two\nlines, and ""more""",i,"x\n"\n'
    got = rows(tmp_path, b"a,b,id,c\n" + b"".join(record % i for i in range(n)))
    assert got == [(str(i), 'two\nlines, and "more"', "x\n") for i in range(n)]
    stray = rows(tmp_path, b"a,b,id,c\n" + b"".join(record % i for i in range(n)) + b'9,5" pipe,i,"open\n')
    assert stray == [*got, ("9", '5" pipe', '"open')]


@pytest.mark.parametrize("many", slow([300, 2000], 2000))
def test_many_columns_are_read(many: int, tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(many)]
    wide = Schema.from_dict({"fields": [{"name": n, "type": "boolean"} for n in names]})
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * many) + "\n")
    codes, _ = wide.domain().encode(read_columns(tmp_path / "t.csv", wide).frame)
    assert codes.shape == (1, many)
    assert (codes == 1).all()


# ------------------------------------------------------------------------------------------- errors of the file


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", b"", "empty"),
        ("t.csv", b"a,b\nSECRET,2\n", "no column 'c'"),
        ("t.csv", b"a,b,c,b\nSECRET,2,3,4\n", "more than one column 'b'"),
        ("t.csv", b"a;b;c\nSECRET;2;3\n", "no column 'a', 'b', 'c'; correct .*, or say there .* `delimiter`"),
        ("t.csv", b"SECRET,2,3\n", "`header: false`"),
        ("t.csv", b"a,b, C\nSECRET,2,3\n", "no column 'c'; correct .* \\(case and blanks count\\)"),
        ("t.doc", b"SECRET", "ending that is not known; give a table as .csv"),
        ("t.csv.zip", b"SECRET", "compressed; unpack it"),
        ("t.csv.xz", b"SECRET", "cannot be unpacked"),
        ("t.csv.bz2", b"SECRET", "cannot be unpacked"),
        ("t.csv.gz", b"SECRET", "cannot be unpacked"),
        ("t.csv.zst", b"SECRET", "cannot be unpacked"),
        ("t.arrow", b"SECRET", "not a readable Arrow file"),
        ("t.xlsx", b"SECRET", "not a readable spreadsheet"),
        ("t.parquet", b"SECRET", "Parquet"),
        ("t.parquet", b"PAR1SECRETPAR1", "Parquet"),
        ("t.parquet", b"", "Parquet"),
    ],
)
def test_bad_files_are_refused_with_fixed_messages(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=says) as caught:
        read_columns(tmp_path / name, schema())
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_titles_above_the_header_are_skipped_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes, piece: int
) -> None:
    """A quote in a title would otherwise reach to a quote in a record."""
    monkeypatch.setattr(file_bytes, "_PIECE", piece)
    lines = [b'"Ward 7', b"", b"a,b,id,c", b"1,2,i,3", b'4,"5",i,6']
    below = [("1", "2", "3"), ("4", "5", "6")]
    assert rows(tmp_path, end.join(lines), dialect={"headerRow": 3}) == below
    assert rows(tmp_path, b"\xef\xbb\xbf" + end.join(lines), headerRow=3) == below
    assert rows(tmp_path, end.join(lines[2:]), dialect={"headerRow": 1}) == below
    with pytest.raises(DataError, match="ends before its header"):
        rows(tmp_path, end.join(lines), dialect={"headerRow": 6})


@pytest.mark.parametrize("above", [[], [["Ward 7"]], [[], ["", "printed today"], []], [[]]])
def test_titles_above_the_header_of_a_sheet_are_skipped(tmp_path: Path, above: list[list[str]]) -> None:
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for at, row in enumerate([*above, ["a", "b", "id", "c"], [1, 2, "i", 3], [], [4, 5, "i", 6]]):
            sheet.write_row(at, 0, row)
    titled = schema(dialect={"headerRow": len(above) + 1})
    assert read_columns(tmp_path / "t.xlsx", titled).frame.rows() == [("1", "2", "3"), ("4", "5", "6")]
    for wrong, says in ((len(above) + 3, "is empty"), (9, "ends above row 9")):
        with pytest.raises(DataError, match=says):
            read_columns(tmp_path / "t.xlsx", schema(headerRow=wrong))


@pytest.mark.parametrize("wrong", [0, -1, 1001, True, "3", 1.5])
def test_the_row_of_a_header_is_a_small_number(wrong: object) -> None:
    with pytest.raises(SchemaError, match="`headerRow` must be the number of the line"):
        schema(dialect={"headerRow": wrong})
    with pytest.raises(SchemaError, match="leave one out"):
        schema(dialect={"headerRow": 2, "header": False})


def test_a_missing_column_is_named_and_the_header_is_not_quoted(tmp_path: Path) -> None:
    fields = [{"name": f"field{k}", "type": "string", "categories": ["x"]} for k in range(2000)]
    names = [f"SECRET{k}" for k in range(50_000)] + ["SECRET" * 20_000]
    (tmp_path / "t.csv").write_text(",".join(names) + "\n")
    with pytest.raises(DataError, match="'field7' and 1992 more; correct") as caught:
        read_columns(tmp_path / "t.csv", Schema.from_dict({"fields": fields}))
    assert "SECRET" not in str(caught.value)
    messages = set()
    for line in (
        "fields0,SECRET\n",
        "SECRET,1\n",
        " Field0,2\n",
    ):  # even a line that resembles a header may be a record
        (tmp_path / "t.csv").write_text(line)
        with pytest.raises(DataError, match="no column 'field0'; correct") as caught:
            read_columns(tmp_path / "t.csv", Schema.from_dict({"fields": fields[:1]}))
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_paths_that_are_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds or matches no file"):
        read_columns(tmp_path, schema())
    with pytest.raises(DataError, match="no file 'nowhere.csv'"):
        read_columns(tmp_path / "nowhere.csv", schema())


def test_truncated_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({name: ["SECRET"] * 5000 for name in "abc"}).write_parquet(path)
    whole = path.read_bytes()
    for end in (len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(DataError, match="truncated") as caught:
            read_columns(path, schema())
        assert "SECRET" not in str(caught.value)
    path.write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    with pytest.raises(DataError, match="Parquet"):
        read_columns(path, schema())


def test_a_file_without_header_may_be_empty(tmp_path: Path) -> None:
    assert rows(tmp_path, b"", header=False) == []


def test_only_the_header_is_read_for_a_draft(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,"b ""x""\nline",c\n1,2,3\n')
    assert header(tmp_path / "t.csv", Dialect()) == ["a", 'b "x"\nline', "c"]


# -------------------------------------------------------------------------------------------------------- frames


def test_frames_are_refused_by_columns_and_types() -> None:
    with pytest.raises(DataError, match="no column 'b', 'c'"):
        read_columns(pl.DataFrame({"a": ["x"]}), schema())
    twice = pd.DataFrame([["x", "x", "x", "x"]], columns=["a", "b", "c", "c"])
    with pytest.raises(DataError, match="more than one column 'c'"):
        read_columns(twice, schema())
    with pytest.raises(DataError, match="more than one column 'c'"):
        read_columns(pa.table([["x"]] * 4, names=["a", "b", "c", "c"]), schema())
    with pytest.raises(DataError, match="column 'b' has type List"):
        read_columns(pl.DataFrame({"a": ["x"], "b": [[1]], "c": ["x"]}), schema())
    wide = pa.table({"a": ["x"], "b": pa.array([1], pa.decimal256(76, 0)), "c": ["x"]})
    with pytest.raises(DataError, match="column of a type that cannot be read"):
        read_columns(wide, schema())
    with pytest.raises(DataError, match="neither a path nor a data frame"):
        read_columns(17, schema())


def texts(series: pl.Series) -> list[Any]:
    """The texts that would be looked up in a list of categories."""
    return by_kind(series, lambda part: label_text(part, "string").to_numpy()).tolist()


@pytest.mark.parametrize("records", [0, 1])
def test_extension_types_are_refused_with_and_without_a_record(tmp_path: Path, records: int) -> None:
    """polars would read an empty column, and refuse the first value with its own message."""
    plain = pa.array(['"x"'] * records, pa.string())
    json = pa.ExtensionArray.from_storage(pa.json_(), plain)
    table = pa.table({"a": plain, "b": plain, "c": json})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        with pytest.raises(DataError, match="column 'c' has type Extension; store it as"):
            read_columns(source, schema())


def test_python_objects_are_read_one_by_one() -> None:
    odd = [1, "1", True, None, float("nan"), pd.NA, pd.NaT, np.float64(2), object(), [1], np.array([1, 2]), b"x"]
    frame = pd.DataFrame({"a": pd.Series(odd, dtype=object), "b": "x", "c": "x"})
    want = ["1", "1", "1", None, None, None, None, "2", None, None, None, None]
    assert texts(read_columns(frame, schema()).frame["a"]) == want
    objects = pl.DataFrame({"a": pl.Series(odd[:2] + odd[8:9], dtype=pl.Object), "b": "x", "c": "x"})
    assert texts(read_columns(objects, schema()).frame["a"]) == ["1", "1", None]


def test_raw_tables_print_nothing_and_cannot_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\nSECRET,2,3\n")
    raw = read_columns(tmp_path / "t.csv", schema())
    assert repr(raw) == str(raw) == "Raw(private)"
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(raw)


def test_records_come_back_as_the_kind_of_frame_that_was_given() -> None:
    frame = pl.DataFrame({"a": ["x", None], "b": [1, None], "c": [True, None], "d": [1.5, None], "e": [1, 2]})
    frame = frame.with_columns(f=pl.col("e").cast(pl.Date), g=pl.lit(None, dtype=pl.Datetime("us")))
    kinds = {kind: give_back(frame, kind) for kind in ("polars", "pandas", "pyarrow")}
    assert kinds["polars"] is frame
    assert pl.from_arrow(kinds["pyarrow"]).equals(frame)
    types = kinds["pandas"].dtypes.astype(str).to_dict()
    assert types["b"] == "Int64"
    assert types["c"] == "boolean"
    assert types["d"] == "float64"
    assert types["e"] == "int64"
    assert types["f"].startswith("datetime64")
    back = pl.from_pandas(kinds["pandas"])
    assert back["a"].to_list() == ["x", None]
    assert back["f"].cast(pl.Date).equals(frame["f"], check_names=False)
    assert read_columns(give_back(pl.DataFrame({n: ["x"] for n in "abc"}), "pandas"), schema()).kind == "pandas"
    with pytest.raises(ParameterError, match="kind"):
        give_back(frame, "excel")


@pytest.mark.parametrize("piece", [1, 3, 7, 16, 64])
@pytest.mark.parametrize(
    "body",
    [
        b"1,a\n2,b\n\n3,c\n",
        b"1,a\r\n2,b\r\n3,c",
        b'1,a\n2,"b\nb"\n3,c\n"4",d\n',
        b"1,a,x,y\n2\n\n\n3,\xff\xfe\n" + b"9" * 200 + b",z\n",
        b"",
        b"\n",
    ],
    ids=range(6),
)
def test_the_size_of_pieces_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, piece: int
) -> None:
    fields = [{"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]
    schema = Schema.from_dict({"fields": [*fields, {"name": "t", "type": "string", "categories": ["a", "b"]}]})
    (tmp_path / "x.csv").write_bytes(b"n,t\n" + body)
    whole = read_columns(tmp_path / "x.csv", schema).frame
    monkeypatch.setattr(file_bytes, "_PIECE", max(piece, 4))  # the header must be in the first piece
    assert read_columns(tmp_path / "x.csv", schema).frame.equals(whole)
