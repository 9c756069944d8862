"""Text files line by line: each record is read the same whatever the other lines are and wherever pieces end."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import DataError
from cantle.schema import identifier_lines
from cantle.schema.identifier_lines import matrix_market, pieces, read_fields
from tests.effort import examples

Value = int | bytes


def records(text: bytes, many: int = 2) -> list[tuple[Value, ...]]:
    """The fields of all records; in each piece, records from lines with quotes come last."""
    rows = []
    for columns in read_fields(iter([text]), many):
        texts = [iter(column.texts) for column in columns]
        for row in range(len(columns[0].numbers)):
            cells = zip(columns, texts, strict=True)
            rows.append(tuple(next(rest) if column.other[row] else int(column.numbers[row]) for column, rest in cells))
        assert all(next(rest, None) is None for rest in texts)
    return rows


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b"", []),
        (b"\n\n \n", []),
        (b"1 2", [(1, 2)]),
        (b"1\t2\r\n3  4\r\n", [(1, 2), (3, 4)]),
        (b"1\r2 3\r4 5", [(2, 3), (4, 5)]),
        (b"  1 2 0.5 more\n", [(1, 2)]),
        (b"# 1 2\n% 1 2\n #3 4\n3 4\n", [(3, 4)]),
        (b"1,2\n3, 4\n5 ,6\n7 8,9\n1;2;3\n", [(1, 2), (3, 4), (5, 6), (7, 8), (1, 2)]),
        (b",2,3\n1,,2\n1, ,2\n , 1 2\n1,\n1\n4 5\n", [(4, 5)]),
        (b"ann bob\nann 7\n", [(b"ann", b"bob"), (b"ann", 7)]),
        (b"00000001 12345678\n", [(1, 12_345_678)]),
        (b"123456789 1234567890123456\n", [(123_456_789, 1_234_567_890_123_456)]),
        (b"12345678901234567 1\n", [(b"12345678901234567", 1)]),
        (b"-5 +5\n1.0 1e3\n", [(b"-5", b"+5"), (b"1.0", b"1e3")]),
        (b"1a 12345678x\n/1 :1\n", [(b"1a", b"12345678x"), (b"/1", b":1")]),
        (b"\xff\xfe \x00\n", [(b"\xff\xfe", b"\x00")]),
        (b'"a b","c ""d"""\n', [(b"a b", b'c "d"')]),
        (b'"1",2\n', [(b"1", b"2")]),
        (b'5" 3\n"x y\n', [(b'5"', b"3"), (b'"x', b"y")]),
        (b'"",b\n" ",b\n#"a","b"\n"a"\n', []),
        (b'"a"b c\n', [(b'"a"b', b"c")]),
    ],
)
def test_records_of_all_shapes(text: bytes, want: list[tuple[Value, ...]]) -> None:
    assert records(text) == want


def test_one_field_is_enough_for_a_node() -> None:
    assert records(b"7\nann 1 2\n#8\n,9\n", many=1) == [(7,), (b"ann",)]


def slowly(line: str) -> tuple[Value, ...] | None:
    """The record of a line without quotes, read by simpler code."""
    if re.match(r"[ \t]*[#%]", line):
        return None
    fields = re.split(r"[ \t]*[,;][ \t]*|[ \t]+", line.strip(" \t"))[:2]
    if len(fields) < 2 or not all(fields):
        return None
    return tuple(int(f) if re.fullmatch(r"[0-9]{1,16}", f) else f.encode() for f in fields)


TOKENS = st.sampled_from(
    ["1", "12", "0012", "99999999", "100000000", "9" * 16, "9" * 17, "ann", "x1", "-3", "#", "%", "é"]
)
MARKS = st.sampled_from([" ", "\t", ",", ", ", " ;", ",,", "  ", "", " , ,"])
LINES = st.lists(st.one_of(TOKENS, MARKS), max_size=7).map("".join)


@examples(15)
@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
def test_all_lines_at_once_are_read_like_one_line_after_another(lines: list[str], end: str) -> None:
    want = [record for record in map(slowly, lines) if record]
    assert records(end.join(lines).encode()) == want


@examples(15)
@given(st.lists(LINES, max_size=12), st.integers(0, 11), LINES)
def test_a_line_does_not_change_the_other_records(lines: list[str], place: int, more: str) -> None:
    place = min(place, len(lines))
    before, after = records("\n".join(lines[:place]).encode()), records("\n".join(lines[place:]).encode())
    assert (
        records("\n".join([*lines[:place], more, *lines[place:]]).encode()) == before + records(more.encode()) + after
    )


# ------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_end_with_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, pack, size: int) -> None:
    # type: ignore[no-untyped-def]
    text = b"\xef\xbb\xbf1 2\r\n# comment\r\n33 44\n\n555 666"
    (tmp_path / f"g.txt{ending}").write_bytes(pack(text))
    monkeypatch.setattr(identifier_lines, "_PIECE", size)
    parts = list(pieces(tmp_path / f"g.txt{ending}"))
    if size > 3:
        assert b"".join(parts) == text[3:]
        assert sum((records(part) for part in parts), []) == [(1, 2), (33, 44), (555, 666)]
    assert all(part.endswith((b"\n", b"\r")) for part in parts[:-1])


def test_bz2_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "g.bz2").write_bytes(bz2.compress(b"1 2\n"))
    assert list(pieces(tmp_path / "g.bz2")) == [b"1 2\n"]


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2"])
def test_truncated_and_wrongly_packed_files_are_refused_with_fixed_messages(tmp_path: Path, ending: str) -> None:
    pack = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}[ending]
    for content in (pack(b"canary1 canary2\n" * 500)[:-12], b"canary1 canary2\n"):
        (tmp_path / f"g{ending}").write_bytes(content)
        with pytest.raises(DataError, match="cannot be unpacked") as caught:
            list(pieces(tmp_path / f"g{ending}"))
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file 'g.txt'"):
        list(pieces(tmp_path / "g.txt"))
    with pytest.raises(DataError, match="is a folder"):
        list(pieces(tmp_path))


# ----------------------------------------------------------------------------------------------- Matrix Market

BANNER = b"%%MatrixMarket matrix coordinate pattern symmetric\n"


def test_matrix_market_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "g.mtx").write_bytes(BANNER + b"% made by hand\n%\n\n 4 4 3\n2 1\n3 1 0.5\n4 4\n")
    rows, entries = matrix_market(tmp_path / "g.mtx")
    assert rows == 4
    assert sum((records(part) for part in entries), []) == [(2, 1), (3, 1), (4, 4)]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"1 2\n",
        b"%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n",
        BANNER,
        BANNER + b"3 4 1\n1 2\n",
        BANNER + b"3 3\n1 2\n",
        BANNER + b"canary\n",
        BANNER + b"4000000000 4000000000 1\n1 2\n",
    ],
)
def test_only_square_coordinate_matrices_are_accepted(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "g.mtx").write_bytes(text)
    with pytest.raises(DataError, match="'g.mtx' is not a square"):
        matrix_market(tmp_path / "g.mtx")
