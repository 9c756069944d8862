"""Line ends: LF, CR LF and CR end a record in every reader of text; a byte order mark is not part of a record."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data import fimi, line_grammars
from cantle.data.tables import batches_of_lines, header, read_columns, read_csv
from cantle.schema import Schema, file_bytes, identifier_lines
from cantle.schema.dialect import Dialect
from cantle.schema.identifier_lines import matrix_market, pieces, read_fields
from cantle.schema.items import Universe
from tests.effort import examples

ENDS = ["\n", "\r\n", "\r"]
MARK = "\ufeff"
FIELDS = [{"name": name, "type": "string", "categories": ["x", "y", "two\rlines"]} for name in "ab"]


def rows(folder: Path, text: str, **keys: Any) -> list[tuple[Any, ...]]:
    (folder / "t.csv").write_bytes(text.encode())
    frame = read_columns(folder / "t.csv", Schema.from_dict({"fields": FIELDS, **keys})).frame
    return [
        tuple(value or None for value in row) for row in frame.rows()
    ]  # an empty cell is missing, with and without quotes


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("quote", ["", '"'])
def test_every_line_end_ends_a_record(tmp_path: Path, end: str, header: bool, quote: str) -> None:
    lines = (["a,b"] if header else []) + [f"{quote}x{quote},y", "y,x", "", f"x,{quote}y{quote}"]
    for text in (end.join(lines), end.join(lines) + end):
        assert rows(tmp_path, text, header=header) == [("x", "y"), ("y", "x"), ("x", "y")]


@pytest.mark.parametrize("end", ENDS)
def test_the_header_ends_with_its_line(tmp_path: Path, end: str) -> None:
    (tmp_path / "t.csv").write_bytes(f"a,b{end}SECRET,1{end}".encode())
    assert header(tmp_path / "t.csv", Dialect()) == ["a", "b"]


@pytest.mark.parametrize("stray", ["", 'x"x,"y"z\n'])
def test_a_carriage_return_in_quotes_is_a_character(tmp_path: Path, stray: str) -> None:
    got = rows(tmp_path, f'{stray}"two\rlines",x\ry,"two\rlines"\r\ny,y', header=False)
    assert got[-3:] == [("two\rlines", "x"), ("y", "two\rlines"), ("y", "y")]


TEXTS = st.text(st.sampled_from("xy\r\n\"', é" + MARK), max_size=5)


@examples(20)
@given(
    records=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6),
    ends=st.lists(st.sampled_from(ENDS), min_size=6, max_size=6),
)
def test_mixed_line_ends_give_the_records_that_were_written(
    tmp_path_factory: Any, records: list[tuple[str, str]], ends: list[str]
) -> None:
    text = ""
    for record, end in zip(records, ends, strict=False):
        line = io.StringIO()
        csv.writer(line, lineterminator=end, quoting=csv.QUOTE_ALL).writerow(record)
        text += line.getvalue()
    got = rows(tmp_path_factory.mktemp("csv"), text, header=False)
    assert [tuple(value or "" for value in row) for row in got] == records


LINES = st.lists(
    st.text(st.sampled_from("xy,é " + MARK), max_size=6).filter(lambda line: line.strip(MARK)), min_size=1, max_size=6
)


@examples(14)
@given(LINES, st.integers(0, 6), st.sampled_from(ENDS), st.sampled_from(["", '"']))
def test_a_record_is_read_the_same_at_every_position(
    tmp_path_factory: Any, lines: list[str], place: int, end: str, quote: str
) -> None:
    """This includes records with a byte order mark: if it were removed from the first line only, a new first line would
    change the record that was first before."""
    folder, place = tmp_path_factory.mktemp("csv"), min(place, len(lines) - 1)
    lines = [f"{MARK if line.startswith(MARK) else ''}{quote}x{quote}{line.removeprefix(MARK)}" for line in lines]
    alone = [rows(folder, line, header=False)[0] for line in lines]
    assert rows(folder, end.join(lines), header=False) == alone
    turned = [*lines[place:], *lines[:place]]
    assert rows(folder, end.join(turned), header=False) == [*alone[place:], *alone[:place]]


@pytest.mark.parametrize("size", [7, 8, 9, 10, 1000])
def test_a_line_end_that_two_pieces_share_ends_one_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(file_bytes, "_PIECE", size)
    (tmp_path / "t.csv").write_bytes(b"a\r\nx\r\ny\r\nx\r\n\r\ny\r\n")
    one = Schema.from_dict({"fields": FIELDS[:1]})  # with a single column, a blank line is a record
    got = read_columns(tmp_path / "t.csv", one).frame["a"].to_list()
    assert [value or None for value in got] == ["x", "y", "x", None, "y"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("block", [1, 5, 1 << 16])
def test_fimi_lines_end_at_every_line_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, block: int
) -> None:
    monkeypatch.setattr(fimi, "_BLOCK", block)
    (tmp_path / "s.dat").write_bytes(end.join(["1 2", "3", f"{MARK}2 3", ""]).encode())
    records: list[list[int]] = []
    for lines, codes in fimi.read_tokens(tmp_path / "s.dat", "utf-8", Universe(range(1, 4))):
        for line in range(int(lines.max()) + 1):
            records.append([int(code) for code in codes[lines == line] if code >= 0])
    assert [items for items in records if items] == [[0, 1], [2], [1, 2]]


@pytest.mark.parametrize("end", ENDS)
def test_edges_and_matrices_end_at_every_line_end(tmp_path: Path, end: str) -> None:
    (tmp_path / "g.txt").write_bytes(end.join(["# a comment", "1 2", f"{MARK}3 4", ""]).encode())
    [[one, two]] = read_fields(iter([b"".join(pieces(tmp_path / "g.txt"))]), 2)
    assert (one.numbers.tolist(), two.numbers.tolist(), one.texts) == ([1, 3], [2, 4], [])
    lines = ["%%MatrixMarket matrix coordinate pattern symmetric", "% 9 9 9", "4 4 2", "1 2", "3 4", ""]
    (tmp_path / "g.mtx").write_bytes(end.join(lines).encode())
    size, parts = matrix_market(tmp_path / "g.mtx")
    assert size == 4
    assert b"".join(parts).split() == [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_header_alone_holds_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    """The end of the header may be the last byte of the file, or lie in a later piece of it."""
    path = tmp_path / "one.csv"
    schema = Schema.from_dict({"fields": [{"name": "a", "type": "string", "categories": ["x"]}]})
    path.write_bytes(b"a" + end)
    assert len(read_columns(path, schema).frame) == 0
    path.write_bytes(b"a" + end + b"x" + end)
    monkeypatch.setattr(file_bytes, "_PIECE", 1)
    assert [value for frame in read_csv(path, schema, ["a"]) for value in frame["a"].to_list()] == ["x"]


def test_the_time_for_one_very_long_record_grows_with_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pieces of 64 bytes stand in for a file of a gigabyte. Joining them one by one would copy 16 GB."""
    monkeypatch.setattr(identifier_lines, "_PIECE", 64)
    long, path = b"z" * 1_500_000, tmp_path / "t.csv"
    path.write_bytes(b"a\nx\n" + long + b"\nx\n")
    started = time.process_time()
    whole = path.read_bytes()
    parts = [whole[at : at + 64] for at in range(0, len(whole), 64)]
    assert sum(map(len, batches_of_lines(iter(parts), b'"'))) == len(whole)
    assert list(line_grammars.lines_of(parts)) == [b"a", b"x", long, b"x", b""]
    assert b"".join(identifier_lines.pieces(path)) == whole
    assert time.process_time() - started < 2
