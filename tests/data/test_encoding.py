"""Reading lines directly into codes gives the same codes as reading the file as text and encoding the text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle import kernel_choice
from cantle.data import encoding
from cantle.data.encoding import read_codes
from cantle.data.tables import read_columns
from cantle.errors import DataError
from cantle.schema import Schema
from cantle.schema.domain import Attribute, Domain, Steps
from tests.effort import examples, slow

pytest.importorskip("numba")

WHOLE = {"name": "n", "type": "integer", "constraints": {"minimum": -20, "maximum": 1000}}
FIELDS: list[dict[str, Any]] = [
    WHOLE,
    {"name": "m", "type": "integer", "constraints": {"minimum": 0, "maximum": 10**6, "required": True}, "step": 7},
    {"name": "id", "type": "string", "role": "identifier"},
    {"name": "c", "type": "string", "categories": ["a", "é", "eight888", "a longer one than sixteen", "b c"]},
    {"name": "k", "type": "integer", "categories": [1, 2, 30], "unknown": "drop"},
    {"name": "b", "type": "boolean"},
    {"name": "x", "type": "number", "constraints": {"minimum": 0, "maximum": 2}, "step": 0.5},
    {"name": "y", "type": "string", "categories": ["yes", "no"], "role": "target", "unknown": "no"},
]
MARKS = ["", "NA", "-999", "007"]


def schema(**keys: Any) -> Schema:
    return Schema.from_dict({"fields": FIELDS, "missingValues": MARKS, **keys})


def gathered(path: Path, given: Schema, domain: Domain) -> tuple[list[list[int]], list[int], list[str]]:
    """The codes per attribute, the classes, and their types, with all batches joined."""
    parts = [(codes, classes) for _, codes, classes in read_codes(path, given, domain)]
    classes = np.concatenate([part[1] for part in parts])
    columns = [np.concatenate(column) for column in zip(*(part[0] for part in parts), strict=True)]
    return [column.tolist() for column in columns], classes.tolist(), [str(c.dtype) for c in (*columns, classes)]


def check(path: Path, given: Schema, domain: Domain | None = None) -> None:
    frame, domain = read_columns(path, given).frame, domain or given.domain()
    columns, labels = domain.encode_columns(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_choice, "FROM", 0)
        types = [str(column.dtype) for column in (*columns, labels)]
        assert gathered(path, given, domain) == ([column.tolist() for column in columns], labels.tolist(), types)


NUMBERS = """0 3 -3 +3 00 007 -0 -00 08 999 1000 1001 -20 -21 -999 -999.0 3.0 3.9 -3.9 .5 1e2 1E2 1_0 ٣ ３ nan inf -inf
- -- 1- 0x1 12345678 123456789 999999999999999999 1000000000000000000 9223372036854775807 9223372036854775808
-9223372036854775809 99999999999999999999999999 -99999999999999999999 1,5"""
WORDS = """a é A eight888 eight8889 eight88 b yes no true false TRUE True 1 2 30 01 2.0 1.0 NA N/A null ? -
zzzzzzzzzzzzzzzzzzzzz"""
SPACED = [" 3", "3 ", " 3 ", "\t3", "3\r", "\x003", "b c", " a", "a ", "é\r", "e\u0301", " ", ""]
SPACED += ["a longer one than sixteen", "a longer one than sixtee", "a longer one than sixteen!"]
VALUES = st.sampled_from([*NUMBERS.split(), *WORDS.split(), *SPACED])
ROWS = st.lists(st.lists(VALUES, min_size=0, max_size=10), max_size=12)


@examples(12)
@given(
    rows=ROWS, end=st.sampled_from(["\n", "\r\n", "\r"]), last=st.booleans(), skip=st.booleans(), header=st.booleans()
)
def test_codes_are_those_of_the_text(
    tmp_path_factory: Any, rows: list[list[str]], end: str, last: bool, skip: bool, header: bool
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    names = [",".join(one["name"] for one in FIELDS)] if header else []
    text = end.join([*names, *(",".join(row) for row in rows)]) + (end if last else "")
    path.write_bytes(text.encode())
    check(path, schema(skipInitialSpace=skip, header=header))


@examples(8)
@given(
    st.lists(
        st.binary(max_size=30) | st.sampled_from([b"\r", b"", b",", b"a,,\xc3", b"\xff,a", b'"', b"3,4,i,a"]),
        max_size=8,
    )
)
def test_codes_are_those_of_the_text_for_any_bytes(tmp_path_factory: Any, lines: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(b"\n".join(lines))
    check(path, schema(header=False))
    path.write_bytes(b"\n".join(lines).replace(b'"', b""))
    check(path, schema(header=False, quoteChar=""))


@examples(12)
@given(
    st.lists(st.tuples(st.integers(-(10**19), 10**19) | st.integers(-30, 1100), st.integers(-5, 10**7)), max_size=20)
)
def test_codes_of_whole_numbers_are_those_of_the_text(tmp_path_factory: Any, rows: list[tuple[int, int]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text("n,m,c,k,b,x,y\n" + "".join(f"{n},{m},a,1,1,1,no\n" for n, m in rows))
    check(path, schema())


@pytest.mark.parametrize("rows", slow([1, 2, 3], 2))
@pytest.mark.parametrize("piece", slow([1, 40, 1000], 1))
def test_the_size_of_pieces_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, rows: int
) -> None:
    body = "3,4,i,a,1,true,0.5,yes\n\n,,,,,,,\n5 ,x,i,b c,30,no,7,maybe\n-999,8,i,zz,1,0,NA,no\n1,2\n" * 5
    (tmp_path / "t.csv").write_text(
        ",".join(one["name"] for one in FIELDS) + "\n" + body + '"9",9,i,a,2,1,1,yes\n' + body
    )
    monkeypatch.setattr(encoding, "_PIECE", max(piece, 40))
    monkeypatch.setattr(encoding, "_ROWS", rows)
    check(tmp_path / "t.csv", schema())


def test_steps_and_multiples_have_the_codes_of_the_text_path(tmp_path: Path) -> None:
    bounds = {"minimum": -20, "maximum": 92}
    fields = [
        {"name": "s", "type": "integer", "step": 30, "constraints": bounds},
        {"name": "near", "type": "integer", "constraints": {**bounds, "multipleOf": 4}},
        {"name": "both", "type": "integer", "step": 30, "constraints": {**bounds, "multipleOf": 5}},
    ]
    numbers = [*range(-30, 101), 10**17, -(10**17)]
    lines = [f"{number},{number},{number}\n" for number in numbers]
    (tmp_path / "t.csv").write_text("s,near,both\n" + "".join(lines) + "NA,,007\n")
    check(tmp_path / "t.csv", schema(fields=fields))


def test_a_file_without_records_gives_no_codes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,m,c,k,b,x,y\n")
    check(tmp_path / "t.csv", schema())
    (tmp_path / "t.csv").write_text("")
    check(tmp_path / "t.csv", schema(header=False))


def test_one_column_and_no_target(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n\n3\n\n4\n")
    check(tmp_path / "t.csv", Schema.from_dict({"fields": [WHOLE]}))
    (tmp_path / "t.csv").write_text("z,n\nq,3\n\n,4\n,\nq\n")
    check(tmp_path / "t.csv", Schema.from_dict({"fields": [WHOLE]}))


def test_wide_grids_and_long_lists_are_left_to_the_text_path(tmp_path: Path) -> None:
    many = {"name": "l", "type": "string", "categories": [f"v{i}" for i in range(5000)]}
    day = {"name": "d", "type": "date", "constraints": {"minimum": "2000-01-01", "maximum": "2030-01-01"}}
    ends = [{**WHOLE, "name": name} for name in "fe"]
    given = Schema.from_dict({"fields": [*ends, many, WHOLE, day]})
    far = Steps(type="integer", first=-(2**60), step=1, grid=2**61)
    end = Steps(type="integer", first=-(2**63), step=1, grid=10)
    own = Attribute("f", far, True), Attribute("e", end, True)
    (tmp_path / "t.csv").write_text(
        f"f,e,l,n,d\n7,{-(2**63) + 3},v77,5,2001-02-03\n{2**62},0,v4999,x,2001-02-30\n-1,,w,,\n"
    )
    check(tmp_path / "t.csv", given)
    check(tmp_path / "t.csv", given, replace(given.domain(), attributes=(*own, *given.domain().attributes[2:])))


def test_bad_files_are_refused_with_the_same_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_choice, "FROM", 0)
    for name, text, says in (
        ("t.csv", b"a,b\nSECRET,2\n", "no column 'n'"),
        ("t.doc", b"SECRET", "ending"),
        ("t.csv", b"", "empty"),
    ):
        (tmp_path / name).write_bytes(text)
        with pytest.raises(DataError, match=says) as caught:
            list(read_codes(tmp_path / name, schema(), schema().domain()))
        assert "SECRET" not in str(caught.value)


def test_plain_lines_are_really_read_by_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests above would compare the text path with itself."""
    names = [one["name"] for one in FIELDS if one["name"] != "x"]
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + "3,12,i,a,1,true,yes\n,5,i,,,,other\n" * 3)
    given = Schema.from_dict({"fields": [one for one in FIELDS if one["name"] != "x"], "missingValues": MARKS})
    want = given.domain().encode_columns(read_columns(tmp_path / "t.csv", given).frame)
    monkeypatch.setattr(kernel_choice, "FROM", 0)

    def refuse(*_: Any) -> Any:
        raise AssertionError("the text path was asked")

    monkeypatch.setattr(encoding.Lines, "parse", refuse)
    codes, classes, _ = gathered(tmp_path / "t.csv", given, given.domain())
    assert codes == [column.tolist() for column in want[0]]
    assert classes == want[1].tolist()
