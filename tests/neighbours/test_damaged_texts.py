"""Texts with damaged characters and byte order marks: adding such a record does not change how others are read.

These pairs once broke the law; the forms of this folder draw others at random.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cantle.data.engine_choice import IN_MEMORY, EngineChoice
from cantle.data.graphs import read_graph
from cantle.data.sets import read_baskets
from cantle.errors import DataError
from cantle.interfaces.estimators import _with_target
from cantle.schema.graph import GraphSchema
from cantle.schema.sets import SetSchema
from tests.neighbours.reading import table

FIELDS: list[dict[str, Any]] = [
    {"name": "town", "type": "string", "categories": ["Ash", "Elm", "\ufffd"], "ignoreCase": True},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
]
TABLE: dict[str, Any] = {"fields": FIELDS}
BROKEN_OFF = [b"\xe2", b" \xe2\x80", b"\xf0\x9f", b"a longer text that breaks off \xe1\x9a", b"\xed\xa0\x80"]
"""Texts that end inside a character, where polars reads on beyond their end. The last one is half a surrogate pair."""


def texts(*values: bytes) -> pa.Array:
    """An Arrow array of unchecked texts, as writers other than Arrow's may leave them."""
    held = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(held), held.buffers())


def of_texts(*values: bytes) -> pa.Table:
    return pa.table({"town": texts(*values), "age": pa.array([b"5"] * len(values), pa.binary()).cast(pa.string())})


def in_pandas(made: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({name: pd.arrays.ArrowExtensionArray(made[name]) for name in made.column_names})


def in_dictionary(made: pa.Table) -> pa.Table:
    index = pa.array(range(len(made)))
    return made.set_column(0, "town", pa.DictionaryArray.from_arrays(index, made["town"].combine_chunks()))


@pytest.mark.parametrize("broken", BROKEN_OFF)
@pytest.mark.parametrize("form", [lambda made: made, in_pandas, in_dictionary])
def test_an_arrow_text_that_ends_inside_a_character_changes_no_other(form: Any, broken: bytes) -> None:
    read = table()
    before = read(TABLE, form(of_texts(b"ash", b"\x80\xa0")))
    after = read(TABLE, form(of_texts(b"ash", broken, b"\x80\xa0")))
    assert not before - after
    assert (after - before).total() == 1


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_files_with_such_a_text_are_read_by_duckdb_like_tables(ending: str, tmp_path: Path) -> None:
    made, path = of_texts(b"Ash", b"\xe2"), tmp_path / f"data.{ending}"
    if ending == "parquet":
        pq.write_table(made, path)
    else:
        with pa.ipc.new_file(str(path), made.schema) as file:
            file.write_table(made)
    choice = EngineChoice.of("duckdb", None, None)
    assert table(choice=choice)(TABLE, path) == table(choice=IN_MEMORY)(TABLE, made)


def test_sets_graphs_and_estimators_read_such_a_text_too() -> None:
    schema = SetSchema.from_dict({"kind": "sets", "items": ["a", "b", "\ufffd"]})
    lists = pa.ListArray.from_arrays([0, 2, 3], texts(b"a", b"\xe2", b"b"))
    for data in (lists, pa.table({"items": lists}), in_pandas(pa.table({"items": lists}))):
        assert read_baskets(data, schema).items.tolist() == [0, 2, 1]
    edges = pa.table({"a": texts(b"ann", b"\xe2"), "b": texts(b"bob", b"\xe2\x80")})
    for data in (edges, in_pandas(edges)):
        graph: Any = read_graph(data, GraphSchema.from_dict({"kind": "graph"}))
        assert len(graph.ends) == 1  # a damaged text is no node
    whole: Any = _with_target(of_texts(b"Ash", b"\xe2"), ["x", "y"], "target")
    assert whole["town"].to_list() == ["Ash", "\ufffd"]


def test_json_lines_in_utf_16_need_a_declared_byte_order(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    lines = '{"town": "Ash", "age": 5}\n'.encode("utf-16-le")
    read, marked = table(), {**TABLE, "dialect": {"encoding": "utf-16"}}
    messages = set()
    for first in (b"", b"\xff\xfe\n\0", b"\xfe\xff\n\0", "{}\n".encode("utf-16-le")):
        path.write_bytes(first + lines)
        with pytest.raises(DataError, match="utf-16-le") as error:
            read(marked, path)
        messages.add(str(error.value))
        assert Counter({(0, 5, 0): 1}) <= read({**TABLE, "dialect": {"encoding": "utf-16-le"}}, path)
    assert len(messages) == 1


@pytest.mark.parametrize("columns", [1, 2])
def test_a_line_of_a_byte_order_mark_is_read_the_same_with_a_quote_elsewhere(columns: int, tmp_path: Path) -> None:
    document = {"fields": FIELDS[:columns], "dialect": {"header": False}}
    path, read = tmp_path / "data.csv", table()
    path.write_bytes(b"Ash,5\n\xef\xbb\xbf")
    before = read(document, path)
    path.write_bytes(b'"Elm",5\nAsh,5\n\xef\xbb\xbf')
    after = read(document, path)
    assert not before - after
    assert (after - before).total() == 1
