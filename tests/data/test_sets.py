"""Baskets: what a record is in each form, that no record affects how others are read, and released sets."""

from __future__ import annotations

import pickle
import random
import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data import fimi
from cantle.data.sets import Baskets, read_baskets
from cantle.drawing import set_frames
from cantle.drawing.set_frames import give_back_sets, to_frame, to_long, write_fimi
from cantle.errors import CantleError, DataError, ParameterError, VerifyError
from cantle.release.storage import read_fimi_frame
from cantle.schema import Schema, file_bytes
from cantle.schema.items import Universe
from cantle.schema.sets import SetForm, SetSchema
from tests.effort import examples

STATIONS = {"minimum": 1, "maximum": 17}
TEXTS = ["milk", "rye bread", "01", "Öl"]


def schema(items: Any = STATIONS, **keys: Any) -> SetSchema:
    return Schema.from_dict({"kind": "sets", "items": items, **keys})


def sets(baskets: Baskets, universe: Universe) -> list[tuple[Any, ...]]:
    """The records as labels, after checks of the invariants of Baskets."""
    starts, items = baskets.starts, baskets.items
    assert (starts.dtype, items.dtype) == (np.int64, np.int32)
    assert starts[0] == 0
    assert starts[-1] == len(items)
    assert (np.diff(starts) > 0).all()
    inside = np.ones(len(items), dtype=bool)
    inside[starts[:-1]] = False
    assert (np.diff(items, prepend=-1)[inside] > 0).all()
    assert ((items >= 0) & (items < universe.size)).all()
    return [tuple(universe.labels(items[a:b]).to_list()) for a, b in zip(starts, starts[1:], strict=False)]


def read(data: Any, **keys: Any) -> list[tuple[Any, ...]]:
    declared = schema(**keys)
    return sets(read_baskets(data, declared), declared.universe)


def fimi_of(folder: Path, content: bytes, name: str = "x.dat", **keys: Any) -> list[tuple[Any, ...]]:
    (folder / name).write_bytes(content)
    return read(folder / name, **keys)


def error(data: Any, **keys: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_baskets(data, schema(**keys))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


# --------------------------------------------------------------------------------------------------- FIMI lines


@pytest.mark.parametrize(
    ("content", "want"),
    [
        (b"", []),
        (b"\n\n \n", []),
        (b"3 1 17\n2\n", [(1, 3, 17), (2,)]),
        (b"3 1 17\n2", [(1, 3, 17), (2,)]),
        (b"3 1\r\n\r\n2\r\n", [(1, 3), (2,)]),
        (b"\xef\xbb\xbf3 1\n2\n", [(1, 3), (2,)]),
        (b"  3\t\t1  \n\t2 \n", [(1, 3), (2,)]),
        (b"3 3 1 3\n", [(1, 3)]),
        (b"3 0 18 -1 99999999999999999999999 1\n", [(1, 3)]),
        (b"0\n18\nx\n2\n", [(2,)]),
        (b"03 +3 3.0 3,1 1e0 x3 3x - -3 0x1 4\n", [(4,)]),
        (b"\xff\xfe 3 \x80\n\xc3\n1\xff 2\n", [(3,), (2,)]),
        (b"3\x001\n", [(1, 3)]),
        (b"% 17 categories\n1 2\n", [(17,), (1, 2)]),
    ],
    ids=range(14),
)
def test_fimi_lines_of_all_shapes(tmp_path: Path, content: bytes, want: list[Any]) -> None:
    assert fimi_of(tmp_path, content) == want
    assert fimi_of(tmp_path, content, name="x.txt") == want
    assert fimi_of(tmp_path, content, name="x.seq", form="fimi") == want
    as_list = [*range(1, 17), 10**15, 17]  # the same items, not a range
    assert fimi_of(tmp_path, content, items=as_list) == [tuple(sorted(one)) for one in want]


def test_fimi_lines_of_negative_items(tmp_path: Path) -> None:
    signed = {"minimum": -20, "maximum": 3}
    assert fimi_of(tmp_path, b"-20 -0 0 -1 3 --1 - -21 -01 1-\n", items=signed) == [(-20, -1, 0, 3)]
    assert fimi_of(tmp_path, b"-1 -7 7\n", items=[-1, -7]) == [(-1, -7)]


def test_fimi_lines_of_texts(tmp_path: Path) -> None:
    content = "Öl milk\x0001 rye bread\n1 Milk \u00a0milk\nmilk milk\n".encode()
    assert fimi_of(tmp_path, content, items=TEXTS) == [("milk", "01", "Öl"), ("milk",)]
    nbsp = "a\u00a0b a \u3000\n".encode()
    assert fimi_of(tmp_path, nbsp, items=["a", "b", "a\u00a0b", "\u3000"]) == [("a", "a\u00a0b", "\u3000")]


def test_fimi_lines_in_another_encoding(tmp_path: Path) -> None:
    assert fimi_of(tmp_path, "Öl\nmilk\n".encode("latin-1"), items=TEXTS, encoding="latin-1") == [("Öl",), ("milk",)]
    assert fimi_of(tmp_path, "3 1\n2\n".encode("cp037"), encoding="cp037") == [(1, 3), (2,)]
    assert fimi_of(tmp_path, b"3 1\x81\n2\n", encoding="shift_jis") == [(3,), (2,)]


LINES = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.lists(st.sampled_from(["1", "2", "17", "18", "0", "03", "-1", "x", "\t", "Öl", "170"])).map(
            lambda words: " ".join(words).encode()
        ),
    ).map(lambda line: line.replace(b"\n", b"")),
    max_size=6,
)


def expected(lines: list[bytes], items: list[str]) -> list[tuple[str, ...]]:
    """The records of some lines, read one token at a time."""
    records = []
    for line in lines:
        tokens = {word.decode("utf-8", "replace") for word in re.split(rb"[\x00-\x20]+", line)}
        records.append(tuple(item for item in items if item in tokens))
    return [record for record in records if record]


@pytest.mark.parametrize(("block", "long"), [(1, 1 << 22), (5, 0), (64, 8)])
@examples(12)
@given(LINES)
def test_lines_are_read_one_by_one(tmp_path_factory: Any, block: int, long: int, lines: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("fimi")
    content, numbers = b"\n".join(lines), [str(one) for one in range(1, 18)]
    content = content.removeprefix(b"\xef\xbb\xbf")
    lines = content.split(b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fimi, "_BLOCK", block)
        patch.setattr(fimi, "_LONG", long)
        patch.setattr(file_bytes, "_PIECE", max(block, 4))
        got = fimi_of(folder, content)
        assert [tuple(map(str, one)) for one in got] == expected(lines, numbers)
        assert fimi_of(folder, content, items=["Öl", "x", "03", "1"]) == expected(lines, ["Öl", "x", "03", "1"])


def test_a_very_long_line(tmp_path: Path) -> None:
    content = b"5\n" + b"3 99 x 1 " * 500_000 + b"\n" + b"7" * 300_000 + b"\n2\n"
    assert len(content) > fimi._LONG  # such a line is read in pieces
    assert fimi_of(tmp_path, content) == [(5,), (1, 3), (2,)]


def test_many_lines_over_many_blocks(tmp_path: Path) -> None:
    dice = np.random.default_rng(3)
    drawn, ends = dice.integers(0, 1013, 270_000).tolist(), np.cumsum(dice.integers(1, 9, 60_000)).tolist()
    data = [drawn[first:last] for first, last in pairwise([0, *ends]) if last <= len(drawn)]
    content = "\n".join(" ".join(map(str, one)) for one in data).encode()
    want = [tuple(sorted(set(one) - {0})) for one in data]
    assert len(content) > 1 << 20  # more than one block
    universe = {"minimum": 1, "maximum": 1012}
    (tmp_path / "x.dat").write_bytes(content)
    baskets = read_baskets(tmp_path / "x.dat", schema(universe))
    items = (baskets.items + 1).tolist()
    got = [tuple(items[a:b]) for a, b in zip(baskets.starts, baskets.starts[1:], strict=False)]
    assert got == [one for one in want if one]


# ---------------------------------------------------------------------------------------------------- all forms


def all_forms(folder: Path, records: list[list[Any]]) -> dict[str, Any]:
    """The same records in every form of lists, and as long tables with rows in any order."""
    frame = pl.DataFrame({"items": records}, strict=False)
    rows = [(number, item) for number, record in enumerate(records) for item in record]
    random.Random(5).shuffle(rows)
    long = pl.DataFrame(rows, schema=["id", "item"], orient="row")
    frame.write_parquet(folder / "list.parquet")
    long.write_parquet(folder / "long.parquet")
    long.write_csv(folder / "long.csv")
    long.write_csv(folder / "long.tsv", separator="\t")
    return {
        "python": records,
        "generator": (iter(one) for one in records),
        "sets": [set(one) for one in records],
        "polars": frame,
        "lazy": frame.lazy(),
        "series": frame["items"],
        "pyarrow": frame.to_arrow(),
        "arrow array": frame["items"].to_arrow(),
        "pandas objects": pd.DataFrame({"items": pd.Series(records, dtype=object)}),
        "pandas arrays": pd.DataFrame({"items": pd.Series([np.array(one) for one in records], dtype=object)}),
        "pandas series": pd.Series(records, dtype=object),
        "parquet list": folder / "list.parquet",
        "long polars": long,
        "long lazy": long.lazy(),
        "long pandas": long.to_pandas() if long["item"].dtype != pl.String else long,
        "long pyarrow": long.to_arrow(),
        "long text ids": long.with_columns(pl.col("id").cast(pl.String)),
        "parquet long": folder / "long.parquet",
        "csv": folder / "long.csv",
        "tsv": str(folder / "long.tsv"),
    }


NUMBERS = [[3, 1, 3], [], [99], [17], [0, 2, -5], [1, 3]]
WORDS = [["Öl", "milk", "milk"], [], ["?"], ["rye bread", "Milk", "01"], ["milk"]]


@pytest.mark.parametrize("records", [NUMBERS, WORDS], ids=["numbers", "texts"])
def test_all_forms_give_the_same_records(tmp_path: Path, records: list[list[Any]]) -> None:
    declared = schema(STATIONS if records is NUMBERS else TEXTS)
    items = [declared.universe.label(code) for code in range(declared.universe.size)]
    want = sorted(one for one in (tuple(i for i in items if i in record) for record in records) if one)
    for name, data in all_forms(tmp_path, records).items():
        assert sorted(sets(read_baskets(data, declared), declared.universe)) == want, name


def test_numbers_in_lists_of_any_type() -> None:
    for kind in (pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.String, pl.Categorical, pl.Decimal(20, 2)):
        values = ["3", "1", "99", None] if kind in (pl.String, pl.Categorical) else [3, 1, 99, None]
        assert read(pl.DataFrame({"x": pl.Series([values, None, []], dtype=pl.List(kind))})) == [(1, 3)]
    assert read(pl.Series([[3, 1], [2, 99]], dtype=pl.Array(pl.Int64, 2))) == [(1, 3), (2,)]
    assert read(pl.Series([[None], []])) == []
    assert read(pl.Series([[True, False]])) == [(1,)]  # truth values are numbers
    assert read(pd.Series([[3, 1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64())))) == [(1, 3)]


def test_python_values_one_by_one() -> None:
    class Odd:
        def __iter__(self) -> Any:
            raise ValueError("SECRET")

    odd = [None, float("nan"), 2.5, 10**5000, Decimal("sNaN"), "\ud800", "03", Odd(), [3], b"3", 1e300]
    fine = [True, 3, 3.0, np.int8(4), np.float32(5), Decimal("6.0"), "7"]
    assert read([[*odd, *fine], odd]) == [(1, 3, 4, 5, 6, 7)]
    assert read([[10**30, 3], [2**63]]) == [(3,)]
    assert read([["\ud800", "3"]]) == [(3,)]
    assert read(["3 4", b"\x03", 5, None, Odd(), {6: 2}, range(7, 9), (9,), np.array([10])]) == [
        (6,),
        (7, 8),
        (9,),
        (10,),
    ]
    assert read(pd.Series([[*odd, *fine], "3 4", None, 5], dtype=object)) == [(1, 3, 4, 5, 6, 7)]
    assert read(np.array([[1, 2], [3, 18]])) == [(1, 2), (3,)]
    assert read([]) == []
    assert read([["milk", 1, 1.0, "01"]], items=["milk", "1", "01"]) == [("milk", "1", "01")]


# -------------------------------------------------------------------------------------------------- long tables


def test_rows_without_id_are_dropped(tmp_path: Path) -> None:
    rows = b"id,item\na,1\n,2\nNULL,3\nb,4\na,5\na,x\nc\n,\n"
    (tmp_path / "x.csv").write_bytes(rows)
    assert read(tmp_path / "x.csv") == [(3,), (1, 5), (4,)]
    assert read(tmp_path / "x.csv", missingValues=["NULL"]) == [(1, 5), (4,)]
    floats = pl.DataFrame({"id": [1.0, None, float("nan"), 1.0], "item": [1, 2, 3, 4]})
    assert read(pd.DataFrame(floats.to_dict(as_series=False))) == [(1, 4)]
    with pytest.raises(DataError, match="column 'id'.*floats"):
        read(floats)
    assert read(pl.DataFrame({"id": [1, -9, 1], "item": [1, 2, 4]}), missingValues=["-9"]) == [(1, 4)]
    assert read(pl.DataFrame({"id": ["a", None, ""], "item": [1, 2, 4]})) == [(1,)]


@pytest.mark.parametrize(
    "kind", [pl.Int32, pl.Int128, pl.Decimal(9, 1), pl.String, pl.Categorical, pl.Date, pl.Boolean]
)
def test_ids_of_any_type(kind: Any) -> None:
    ids = pl.Series([0, 1, 0, 1]).cast(kind if kind != pl.Categorical else pl.String).cast(kind)
    assert read(pl.DataFrame({"id": ids, "item": [3, 2, 1, 3]})) == [(1, 3), (2, 3)]


@examples(12)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "10", "9", ""]), st.integers(0, 20))), st.randoms())
def test_the_order_of_rows_does_not_matter(rows: list[Any], dice: random.Random) -> None:
    declared, again = schema(form="long"), list(rows)
    dice.shuffle(again)
    one, two = (
        read_baskets(pl.DataFrame(r, schema={"id": pl.String, "item": pl.Int64}, orient="row"), declared)
        for r in (rows, again)
    )
    assert one.starts.tolist() == two.starts.tolist()
    assert one.items.tolist() == two.items.tolist()
    want = {of: {item for other, item in rows if other == of and 1 <= item <= 17} for of, _ in rows if of}
    assert sorted(sets(one, declared.universe)) == sorted(tuple(sorted(items)) for items in want.values() if items)


def test_a_record_in_several_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "_PIECE", 16)
    (tmp_path / "x.csv").write_bytes(b"id,item\na,1\nb,2\na,3\nb,4\na,5\n")
    assert read(tmp_path / "x.csv") == [(1, 3, 5), (2, 4)]


def test_names_and_dialects_of_long_tables(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"product;when;basket\n3;now;a\n1;now;a\n")
    names = {"id": "basket", "item": "product"}
    assert read(tmp_path / "x.txt", **names, delimiter=";") == [(1, 3)]
    (tmp_path / "x.csv").write_bytes(b"a,3,zz\nb,2\na,1\n")
    assert read(tmp_path / "x.csv", header=False) == [(1, 3), (2,)]


# ----------------------------------------------------------------------------------------- errors of whole inputs


def test_paths_that_are_no_file_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in error(tmp_path)
    assert "there is no file 'nowhere.dat'" in error(tmp_path / "nowhere.dat")
    assert "check" in error("a\0b")
    for name in ("x.dat.gz", "x.csv.xz", "x.zip"):
        (tmp_path / name).write_bytes(b"SECRET")
        assert "unpack" in error(tmp_path / name)
    (tmp_path / "x.sq").write_bytes(b"SECRET")
    assert "`form: fimi`" in error(tmp_path / "x.sq")
    (tmp_path / "x.csv").write_bytes(b"")
    assert "empty" in error(tmp_path / "x.csv")


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise PermissionError("SECRET")

    (tmp_path / "x.dat").write_bytes(b"1\n")
    monkeypatch.setattr(Path, "open", refused)
    message = error(tmp_path / "x.dat")
    assert "permissions" in message
    assert "SECRET" not in message


def test_forms_that_do_not_fit_the_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"SECRET,b\nSECRET,2\n")
    assert "`id: …` and `item: …`" in error(tmp_path / "x.csv")
    assert error(tmp_path / "x.csv", item="b").endswith("`id: …`.")
    assert "no column 'basket'" in error(tmp_path / "x.csv", id="basket", item="b")
    assert "Parquet" in error(tmp_path / "x.csv", form="list")
    pl.DataFrame({"items": [[1]]}).write_parquet(tmp_path / "x.parquet")
    assert "`form: list`" in error(tmp_path / "x.parquet", form="fimi")
    assert "no column 'id' and 'item'" in error(tmp_path / "x.parquet", form="long")
    assert "no column 'other'" in error(tmp_path / "x.parquet", column="other")


def test_forms_that_do_not_fit_the_frame_are_refused() -> None:
    nothing = pl.DataFrame({"a": [1], "b": ["SECRET"]})
    assert "neither columns 'id' and 'item' nor a column of lists" in error(nothing)
    assert "`column: …`" in error(pl.DataFrame({"a": [[1]], "b": [[2]]}))
    assert "`form: long` or `form: list`" in error(pl.DataFrame({"id": [1], "item": [1], "b": [[2]]}))
    # the type of a pandas column depends on its values, so only the names decide
    assert read(pd.DataFrame({"id": [1, 1], "item": pd.Series([[1], 2], dtype=object)})) == [(2,)]
    assert "`column: …`" in error(pd.DataFrame({"a": [1], "b": [[2]]}))
    assert "not lists" in error(nothing, column="b")
    assert "no column 'c'" in error(nothing, column="c")
    for inner in (b"SECRET", {"SECRET": 1}, [1]):
        assert "store it as" in error(pl.DataFrame({"a": [[inner]]}))
    assert "`item: …`" in error(pl.DataFrame({"id": [1]}), form="long")
    assert "has type List" in error(pl.DataFrame({"id": [1], "item": [[1]]}), form="long")
    assert "cannot be read" in error(pd.DataFrame([[1, 2, 3]], columns=["id", "item", "item"]))
    for neither in (17, None, b"SECRET", {"SECRET": [1]}):
        assert "give a file" in error(neither)
    assert "tables" in error([(1, 2)], form="long")


def test_the_form_follows_from_names_and_types() -> None:
    assert read(pl.DataFrame({"a": [1], "b": [[2]]})) == [(2,)]
    assert read(pl.DataFrame({"a": [[1]], "items": [[2]]})) == [(2,)]
    assert read(pl.DataFrame({"a": [[1]], "b": [[2]]}), column="b") == [(2,)]
    assert read(pl.DataFrame({"id": [7], "item": [[2]]})) == [(2,)]
    assert read(pl.DataFrame({"id": [1, 1], "item": [1, 2], "b": [[3], [4]]}), form="long") == [(1, 2)]
    assert read(pl.DataFrame({"id": [1, 1], "item": [1, 2], "b": [[3], [4]]}), form="list") == [(3,), (4,)]
    assert read(pd.DataFrame({"id": [1], "item": pd.Series([[1]], dtype=object)}), column="item") == [(1,)]
    text = pd.DataFrame({"id": [1, 1], "item": pd.Series(["1", "2"], dtype=object)})
    assert read(text, form="long") == [(1, 2)]


def test_an_iterable_that_raises_is_refused() -> None:
    def broken() -> Any:
        yield [1]
        raise ValueError("SECRET")

    assert "SECRET" not in error(broken())


def test_truncated_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"items": [["SECRET"] * 50] * 500}).write_parquet(path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-1], b"SECRET", b"", b"PAR1" + bytes(400) + whole[404:]):
        path.write_bytes(content)
        assert "SECRET" not in error(path)


HOSTILE = st.lists(st.binary(max_size=20) | st.sampled_from([b"1", b" ", b"\n", b",", b'"', b"\r\n", b"PAR1"])).map(
    b"".join
)


@examples(12)
@given(HOSTILE, st.sampled_from(["x.dat", "x.txt", "x.csv", "x.tsv", "x.parquet"]), st.booleans())
def test_any_bytes_are_read_or_refused_with_a_cantle_error(
    tmp_path_factory: Any, content: bytes, name: str, head: bool
) -> None:
    path = tmp_path_factory.mktemp("hostile") / name
    path.write_bytes((b"id,item\n" if name.endswith("csv") and head else b"") + b"SECRET" + content)
    for keys in ({}, {"items": ["a", "b"]}, {"form": "long", "header": False}, {"form": "fimi"}):
        declared = schema(**keys)
        got = outcome(path, declared)
        if isinstance(got, CantleError):
            assert "SECRET" not in str(got)
            assert got.__suppress_context__ or got.__context__ is None
        else:
            sets(got, declared.universe)
            assert repr(got) == str(got) == "Baskets(private)"


def outcome(path: Path, declared: SetSchema) -> Baskets | CantleError:
    try:
        return read_baskets(path, declared)
    except CantleError as caught:
        return caught


@examples(12)
@given(st.lists(st.lists(st.integers(0, 19), max_size=4)), st.lists(st.lists(st.integers(0, 19), max_size=4)))
def test_records_are_read_independently_of_each_other(one: list[Any], two: list[Any]) -> None:
    assert read(one + two) == read(one) + read(two)


def test_baskets_print_nothing_and_cannot_be_pickled_or_copied() -> None:
    baskets = read_baskets([["SECRET", "a"]], schema(["a"]))
    assert repr(baskets) == str(baskets) == "Baskets(private)"
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(baskets)


def test_universes_of_one_item_and_of_many(tmp_path: Path) -> None:
    assert fimi_of(tmp_path, b"5 5\n4\n5\n55\n", items=[5]) == [(5,), (5,)]
    assert fimi_of(tmp_path, b"x x\ny\n", items=["x"]) == [("x",)]
    many = [f"i{number}" for number in range(100_000)]
    assert fimi_of(tmp_path, b"i99999 i7\ni100000\n", items=many) == [("i7", "i99999")]
    most = {"minimum": 1, "maximum": 10_000_000}
    assert fimi_of(tmp_path, b"10000000 1\n10000001\n", items=most) == [(1, 10_000_000)]


# ----------------------------------------------------------------------------------------------- released sets


def test_released_sets_as_frames() -> None:
    universe = Universe(("milk", "rye bread", "Öl"))
    frame = to_frame(np.array([0, 2, 2, 3]), np.array([2, 0, 1]), universe)
    assert frame.schema == {"items": pl.List(pl.String)}
    assert frame["items"].to_list() == [["Öl", "milk"], [], ["rye bread"]]
    assert to_long(frame).rows() == [(1, "Öl"), (1, "milk"), (3, "rye bread")]
    numbers = to_frame(np.array([0, 1]), np.array([4], dtype=np.int32), Universe(range(3, 9)))
    assert numbers.schema == {"items": pl.List(pl.Int64)}
    assert numbers["items"].to_list() == [[7]]
    empty = to_frame(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), Universe(range(3)))
    assert empty.schema == numbers.schema
    assert len(empty) == 0
    assert to_long(empty).schema == {"id": pl.Int64, "item": pl.Int64}


UNIVERSES = [Universe(range(-2, 9)), Universe((5, 3, 10**15)), Universe(("a", "é", '"', ",", "#1"))]


@pytest.mark.parametrize("universe", UNIVERSES, ids=str)
@examples(10)
@given(st.data())
def test_released_lines_are_read_back(tmp_path_factory: Any, universe: Universe, data: Any) -> None:
    folder = tmp_path_factory.mktemp("release")
    records = data.draw(st.lists(st.lists(st.integers(0, universe.size - 1), min_size=1, max_size=4)))
    starts = np.cumsum([0, *map(len, records)])
    frame = to_frame(starts, np.array(sum(records, []), dtype=np.int64), universe)
    write_fimi(frame, folder / "data.dat")
    assert read_fimi_frame(folder / "data.dat", universe).equals(frame)
    declared = SetSchema(universe=universe)
    want = [tuple(universe.label(code) for code in sorted(set(one))) for one in records]
    assert sets(read_baskets(folder / "data.dat", declared), universe) == want


def test_released_lines_over_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    universe, count = Universe(range(100)), 1000
    codes = np.arange(2 * count) % 100
    frame = to_frame(np.arange(0, 2 * count + 1, 2), codes, universe)
    write_fimi(frame, tmp_path / "data.dat")
    assert (tmp_path / "data.dat").read_bytes().startswith(b"0 1\n2 3\n")
    monkeypatch.setattr(fimi, "_BLOCK", 50)
    assert read_fimi_frame(tmp_path / "data.dat", universe).equals(frame)


@pytest.mark.parametrize("listed", [0, 4, 1 << 16])
@pytest.mark.parametrize("low", [-12, -5, 0, 1, 996, 10**15])
def test_lines_of_integers_are_the_same_by_every_way_of_writing(
    low: int, listed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_frames, "_LISTED", listed)
    monkeypatch.setattr(set_frames, "_BLOCK", 3)
    dice = np.random.default_rng(low % 7)
    for count, span in [(0, 1), (1, 1), (3, 4), (10, 2), (10, 5), (50, 20)]:
        lists = [(low + dice.integers(0, span, dice.integers(1, 6))).tolist() for _ in range(count)]
        write_fimi(pl.DataFrame({"items": lists}, schema={"items": pl.List(pl.Int64)}), tmp_path / "x.dat")
        expected = "".join(" ".join(map(str, one)) + "\n" for one in lists)
        assert (tmp_path / "x.dat").read_bytes() == expected.encode()


@given(st.lists(st.lists(st.integers(0, 4), max_size=4)))
def test_sets_as_a_frame_with_and_without_empty_ones(lists: list[list[int]]) -> None:
    for universe in UNIVERSES[0], UNIVERSES[2]:
        for some in lists, [one for one in lists if one]:
            starts, codes = np.cumsum([0, *map(len, some)]), np.array(sum(some, []), dtype=np.int32)
            frame = to_frame(starts, codes, universe)
            assert frame.schema == {"items": pl.List(pl.Int64 if universe.integers else pl.String)}
            assert frame["items"].to_list() == [[universe.label(code) for code in one] for one in some]
            for part in slice(1, None), slice(0, -1):  # slices of a table
                expected = frame["items"].to_list()[part]
                assert to_frame(starts[part], codes, universe)["items"].to_list() == expected


def test_items_that_fimi_lines_cannot_hold_are_refused(tmp_path: Path) -> None:
    for lists in ([["rye bread"]], [["a\u00a0b"]], [["a\n"]]):
        with pytest.raises(ParameterError, match="space"):
            write_fimi(pl.DataFrame({"items": lists}), tmp_path / "x.dat")
    for lists in ([[1], []], [[1], None], [[1, None]]):
        with pytest.raises(ParameterError, match="empty set or a missing item"):
            write_fimi(pl.DataFrame({"items": lists}), tmp_path / "x.dat")
    assert not (tmp_path / "x.dat").exists()
    with pytest.raises(OSError, match="No such file"):
        write_fimi(pl.DataFrame({"items": [[1]]}), tmp_path / "nowhere" / "x.dat")


@pytest.mark.parametrize("content", [b"1 99\n", b"1\n\n2\n", b"1  2\n", b"x\n", b"01\n", b"\xff\n", b"1 \n"])
def test_released_lines_that_were_changed_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.dat").write_bytes(content)
    with pytest.raises(VerifyError, match=r"'data\.dat'"):
        read_fimi_frame(tmp_path / "data.dat", Universe(range(1, 18)))


def test_a_missing_file_of_released_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match="missing"):
        read_fimi_frame(tmp_path / "data.dat", Universe(range(3)))
    with pytest.raises(VerifyError, match="cannot be read"):
        read_fimi_frame(tmp_path, Universe(range(3)))


def test_released_sets_have_the_form_of_the_input(tmp_path: Path) -> None:
    released = to_frame(np.array([0, 2, 3]), np.array([0, 4, 2]), schema().universe)
    lists, long = [[1, 5], [3]], [(1, 1), (1, 5), (2, 3)]

    def given_back(data: Any, **keys: Any) -> Any:
        return give_back_sets(released, read_baskets(data, schema(**keys)).form)

    for data in ([[1]], pl.DataFrame({"items": [[1]]})):
        assert given_back(data).equals(released)
    (tmp_path / "x.dat").write_bytes(b"1\n")
    assert given_back(tmp_path / "x.dat").equals(released)
    assert read_baskets(tmp_path / "x.dat", schema()).form == SetForm(form="fimi")
    assert given_back(pl.DataFrame({"x": [[1]]})).to_dict(as_series=False) == {"x": lists}
    (tmp_path / "x.csv").write_bytes(b"id,product\n1,1\n")
    back = given_back(tmp_path / "x.csv", item="product")
    assert back.columns == ["id", "product"]
    assert back.rows() == long
    arrow = given_back(pa.table({"x": [[1]]}))
    assert isinstance(arrow, pa.Table)
    assert arrow.to_pydict() == {"x": lists}
    pandas = given_back(pd.DataFrame({"x": [[1]]}))
    assert isinstance(pandas, pd.DataFrame)
    assert pandas["x"].tolist() == lists
    assert all(type(one) is list for one in pandas["x"])
    pandas = given_back(pd.DataFrame({"id": [1], "item": [1]}))
    assert list(pandas.itertuples(index=False, name=None)) == long
    with pytest.raises(ParameterError, match="kind"):
        give_back_sets(released, SetForm(form="list", frame="excel"))
