"""A short run of the fuzzer, the same on every machine. The long form is python benchmarks/fuzz.py."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

import cantle
from benchmarks import fuzz
from cantle.errors import CantleError, DataError, SchemaError
from cantle.release.verify import verify_folder
from tests.effort import EFFORT, examples, slow
from tests.fuzz import releases
from tests.fuzz.case import CANARIES, NUMBER, WORD, Target, attempt, empty
from tests.fuzz.degenerate import SHAPES
from tests.fuzz.neighbours import NEIGHBOURS
from tests.fuzz.targets import SETS_SCHEMA, TARGETS
from tests.release.people import SCHEMA


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@pytest.mark.parametrize("name", TARGETS)
def test_changed_files_raise_only_our_own_errors(name: str) -> None:
    try_some(TARGETS[name], 4 * EFFORT)


def try_some(target: Target, cases: int) -> None:
    with folder() as place:
        for case in range(cases):
            dice = fuzz.dice_of(1, target.name, case)
            assert attempt(target, target.case(dice), place, dice) is None, f"case {case}"
            empty(place)


@pytest.mark.parametrize("cases", slow([40, 2_000], 2_000))
def test_degenerate_shapes_are_published(cases: int) -> None:
    """A table with one category and a required target once ended in an IndexError after the charge."""
    try_some(SHAPES, cases)


@pytest.mark.parametrize("name", [name for name, target in NEIGHBOURS.items() if len(target.seeds) > 1])
def test_hostile_files_that_differ_by_one_line_keep_the_law(name: str) -> None:
    """The other pairs of neighbours are tested in tests/neighbours."""
    try_some(NEIGHBOURS[name], 5 * EFFORT)


def test_neighbours_that_differ_by_more_are_unhandled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader here loses the last one of an odd number of sets."""
    from cantle.data import sets

    def odd(data: Any, schema: Any) -> Any:
        baskets = sets.read_baskets(data, schema)
        return baskets if len(baskets.starts) % 2 else sets.read_baskets([], schema)

    monkeypatch.setattr("tests.neighbours.sets.read_baskets", odd)
    target = NEIGHBOURS["neighbours, sets, Python lists (memory)"]
    with folder() as place:
        assert any("AssertionError" in str(attempt(target, b"", place, Random(case))) for case in range(100))


@pytest.mark.parametrize("name", [name for name in TARGETS if not name.startswith("release ")])
def test_valid_files_are_read(name: str) -> None:
    """Otherwise the fuzzer would only test refusals of whole files. The next test does the same for releases."""
    target, readable = TARGETS[name], 0
    for number, seed in enumerate(target.seeds):
        with folder() as place:
            path = place / target.file
            path.write_bytes(target.pack(seed) if target.pack else seed)
            try:
                target.use(path, Random(number))
                readable += 1
            except CantleError:  # the dialect of this case does not fit the file
                continue
    assert readable


def test_unchanged_releases_verify_and_changed_ones_are_read_beyond_their_hashes(tmp_path: Path) -> None:
    for method in releases.KINDS:
        releases.look(tmp_path / method, releases.saved(method))
        assert verify_folder(tmp_path / method) == []
    groups = releases.MARK + "groups.parquet"
    releases.look(tmp_path / "mixed", releases.saved("rps") | {groups: releases.saved("degrees")[groups]})
    assert verify_folder(tmp_path / "mixed") == [
        "a table of the release is not of the expected form (ColumnNotFoundError)"
    ]


# ---- what counts as unhandled ---------------------------------------------------------------------------------------


def target_of(use: Callable[[Path, Random], None]) -> Target:
    return Target("made up", "file", (b"",), use)


def problem_of(use: Callable[[Path, Random], None]) -> str | None:
    with folder() as place:
        return attempt(target_of(use), b"", place, Random(1))


def raise_(error: Exception) -> Callable[[Path, Random], None]:
    def use(_path: Path, _dice: Random) -> None:
        raise error

    return use


def test_other_errors_are_unhandled() -> None:
    assert problem_of(raise_(DataError("the file is not one"))) is None
    assert "ValueError" in str(problem_of(raise_(ValueError("odd"))))
    assert "MemoryError" in str(problem_of(raise_(MemoryError())))
    assert "RecursionError" in str(problem_of(raise_(RecursionError())))
    assert "UserWarning" in str(problem_of(lambda *_: warnings.warn("3 values out of range", stacklevel=1)))


def test_canaries_are_found_in_messages_causes_logs_and_files() -> None:
    assert "canary" in str(problem_of(raise_(DataError(f"no column {WORD.decode()}"))))

    def quoted(_path: Path, _dice: Random) -> None:
        try:
            int(WORD)
        except ValueError as error:
            raise DataError("a value is not a number") from error

    def logged(_path: Path, _dice: Random) -> None:
        import logging

        logging.getLogger("cantle.anything").debug("row %s", NUMBER.decode())

    def released(path: Path, _dice: Random) -> None:
        (path.parent / "out").mkdir()
        (path.parent / "out" / "data.csv").write_bytes(b"a\n" + WORD)

    for use in (quoted, logged, released):
        assert "canary" in str(problem_of(use))


def test_a_case_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    def forever(_path: Path, _dice: Random) -> None:
        while True:
            pass

    monkeypatch.setattr(fuzz, "SECONDS", 0.2)
    before = signal.signal(signal.SIGPROF, fuzz.time_up)
    try:
        with folder() as place:
            assert "seconds" in str(fuzz.one_case(target_of(forever), b"", place, Random(1)))
    finally:
        signal.signal(signal.SIGPROF, before)


@pytest.mark.slow
def test_the_long_form_runs_its_cases_in_a_separate_process() -> None:
    assert fuzz.fuzz("hierarchy braces", 1, 0, 20) == []


# ---- Python objects -------------------------------------------------------------------------------------------------


class Odd:
    """An object whose methods raise errors."""

    def __init__(self, kind: int) -> None:
        self.kind = kind

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError(WORD.decode())

    __str__ = __repr__ = __eq__ = __lt__ = __len__ = __iter__ = __float__ = __int__ = __bool__ = _refuse  # type: ignore[assignment]
    __hash__ = object.__hash__


@dataclass(frozen=True)
class Picked:
    """The number of an odd value; Hypothesis prints, compares and reuses what it draws, which some of them refuse."""

    number: int


class Text(str):
    """A text whose methods raise errors."""

    def encode(self, *_: Any, **__: Any) -> bytes:
        raise RuntimeError(WORD.decode())


ODD: tuple[Any, ...] = (
    10**5000, -(10**5000), "\ud800", "a\udfff", Text("b"), Odd(1), WORD.decode(), int(NUMBER), np.nan, pd.NaT, pd.NA,
    np.datetime64("NaT", "ns"), np.float32("inf"), np.int64(-(2**63)), np.uint64(2**64 - 1), Decimal("sNaN"),
    Decimal("1e999999"), Fraction(1, 3), date.max, datetime.min, time.max, timedelta.max, [], [1, [2]], {"a": 1},
    {1, 2}, (), object(), type, np.array([1, 2]), b"\xff", range(3), "\x00", "9" * 5000, "1e400",
)  # fmt: skip
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.decimals(), st.fractions(),
    st.complex_numbers(), st.dates(), st.times(), st.timedeltas(), st.datetimes(timezones=st.none() | st.just(UTC)),
    st.integers(0, len(ODD) - 1).map(Picked),
)  # fmt: skip


def opened(drawn: Any) -> Any:
    """The drawn structure, with numbers replaced by the odd values that they stand for."""
    if isinstance(drawn, list | tuple):
        return type(drawn)(map(opened, drawn))
    return ODD[drawn.number] if isinstance(drawn, Picked) else drawn


TABLE = {"fields": [field for field in SCHEMA["fields"] if field["name"] in ("age", "town", "joined", "ill")]}


def harmless(data: Any, schema: Any, **options: Any) -> None:
    """Publishes; only our own errors are allowed, without a canary."""
    import traceback

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cantle.publish(data, schema, epsilon=1, **options)
    except CantleError as error:
        text = "".join(traceback.format_exception(error)).encode("utf-8", "surrogatepass")
        assert not any(bird in text for bird in CANARIES)


@given(st.lists(VALUES, max_size=6))
@examples(10)
def test_odd_objects_in_tables(values: list[Any]) -> None:
    values = opened(values)
    column = pd.Series(values, dtype=object)
    frame = pd.DataFrame(dict.fromkeys(("age", "town", "joined", "ill"), column))
    harmless(frame, TABLE, method="rps", depth=1)
    objects = pl.Series("age", values, dtype=pl.Object)
    others = pl.DataFrame({name: ["no"] * len(values) for name in ("town", "joined", "ill")})
    harmless(others.with_columns(objects), TABLE, method="diffgen", rounds=1)


@given(st.lists(st.lists(VALUES, max_size=4) | VALUES, max_size=6))
@examples(10)
def test_odd_objects_in_sets(records: list[Any]) -> None:
    records = opened(records)
    schema = {key: value for key, value in SETS_SCHEMA.items() if key != "missingValues"}
    harmless(records, schema, cells="tree", fanout=2)
    harmless(pd.DataFrame({"items": pd.Series(records, dtype=object)}), schema, cells="tree", fanout=2)
    long = pd.DataFrame({"id": pd.Series(records, dtype=object), "item": pd.Series(records, dtype=object)})
    harmless(long, schema | {"form": "long"}, cells="tree", fanout=2)


@given(st.lists(st.tuples(VALUES, VALUES) | VALUES, max_size=6), st.lists(VALUES, max_size=4))
@examples(10)
def test_odd_objects_in_graphs(edges: list[Any], nodes: list[Any]) -> None:
    edges, nodes = opened(edges), opened(nodes)
    harmless(edges, {"kind": "graph"}, nodes=nodes)
    pairs = pd.DataFrame({"a": pd.Series(nodes, dtype=object), "b": pd.Series(nodes, dtype=object)})
    harmless(pairs, {"kind": "graph", "unit": "edge", "nodes": 5})
    harmless(nodes, {"kind": "graph", "unit": "edge", "form": "degrees"})


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.dates(), st.just("\ud800"),
    st.integers(3, 5000).map(lambda digits: 10**digits),
)  # fmt: skip
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner)
)


@given(DOCUMENTS)
@examples(10)
def test_any_document_as_a_part_of_a_schema(thing: Any) -> None:
    if not isinstance(thing, str):
        with pytest.raises(SchemaError):
            cantle.Schema.from_dict(thing)
    field = {"name": "a", "type": "boolean", "custom": thing}
    schemas: list[dict[str, Any]] = [
        {"fields": [field]}, {"fields": thing}, {"fields": [field | {"categories": thing}]},
        {"kind": "sets", "items": thing}, {"kind": "graph", "nodes": thing}, {"kind": "graph", "max_degree": thing},
        {"fields": [{"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": thing}}]},
        {"fields": [{"name": "a", "type": "string", "categories": ["x", "y"], "hierarchy": thing}]},
    ]  # fmt: skip
    for schema in schemas:
        try:
            target_of = cantle.Schema.from_dict(schema)
            assert cantle.Schema.from_dict(target_of.to_dict()).hash() == target_of.hash()
            rfc8785.dumps(target_of.to_dict())
        except SchemaError:
            pass


@pytest.mark.parametrize(
    "value", [10**5000, "\ud800", Odd(1), Text("b"), Decimal("sNaN")], ids=lambda v: type(v).__name__
)
def test_an_odd_value_is_missing_or_clamped_and_the_others_are_read(value: Any) -> None:
    """One record must not be able to make a table unreadable."""
    from cantle.data.tables import read_columns

    schema = cantle.Schema.from_dict({"fields": [TABLE["fields"][0]]})
    given_ = pd.DataFrame({"age": pd.Series([7, value, 9], dtype=object)})
    (age,) = schema.domain().attributes
    codes = age.encode(read_columns(given_, schema).frame["age"])
    huge = type(value) is int  # a very large number is clamped like others
    assert codes.tolist() == age.encode(pl.Series([7, 10**9 if huge else None, 9])).tolist()


# ---- paths that no file can have ------------------------------------------------------------------------------------

NO_PATHS = ["9" * 400, "\x00", "a/" * 3000, "\udcff\x00.csv"]


@pytest.mark.parametrize("name", NO_PATHS, ids=["long", "null", "deep", "bytes"])
@pytest.mark.parametrize("ending", ["", ".csv", ".parquet", ".dat", ".txt.gz"])
def test_impossible_paths_are_refused_as_files(name: str, ending: str, tmp_path: Path) -> None:
    table, sets, graph = TABLE, SETS_SCHEMA | {"form": None}, {"kind": "graph"}
    for schema in (table, sets, graph):
        with pytest.raises(DataError):
            cantle.publish(name + ending, schema, epsilon=1)
    paid = {"ledger": tmp_path / "ledger.db", "dataset": "any"}
    with pytest.raises(DataError):
        cantle.publish(name + ending, TABLE, epsilon=1, **paid)
    with pytest.raises(DataError):
        cantle.publish(name + ending, TABLE, epsilon=1, engine="duckdb", **paid)
    assert not (tmp_path / "ledger.db").exists()
    declared = [{"kind": "graph", "nodes": name + ending}, {"kind": "sets", "items": name + ending}]
    declared.append({"fields": [TABLE["fields"][1] | {"hierarchy": name + ending}]})
    for one in declared:
        with pytest.raises(CantleError):
            cantle.Schema.from_dict(one, base_dir=tmp_path)


@pytest.mark.parametrize("name", NO_PATHS, ids=["long", "null", "deep", "bytes"])
def test_impossible_paths_are_refused_as_releases_ledgers_and_folders(name: str, tmp_path: Path) -> None:
    assert verify_folder(tmp_path / name) != []
    with pytest.raises(CantleError):
        cantle.Release.load(tmp_path / name)
    with pytest.raises(CantleError):
        cantle.Schema.load(tmp_path / name)
    with pytest.raises(CantleError):
        cantle.Ledger(tmp_path / name).accounts()
    with pytest.raises(CantleError):
        cantle.publish([[1]], {"kind": "sets", "items": [1, 2]}, epsilon=1).save(tmp_path / name)
