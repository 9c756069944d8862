"""Sets of items as FIMI lines, lists, columns of lists and long tables; D' has one more set, at any position."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from cantle.data.engine_choice import IN_MEMORY, OPENERS, EngineChoice
from cantle.data.sets import read_baskets
from cantle.methods.baskets.method import Baskets
from tests.neighbours.csvfiles import ENDS, OTHERS, SAFE, STATEFUL
from tests.neighbours.frames import arrow_table, polars_frame, write_parquet
from tests.neighbours.identifiers import INFERRED, NO_TEXT, NOBODY, TEXT, TYPED, Spellings, cast
from tests.neighbours.law import Codes, Form, Pair, Unbuildable, adds_at_most, files, inserted
from tests.neighbours.reading import schema_of
from tests.neighbours.values import ANY, BOOLS, FLOATS, INTS, WORDS

UNIVERSES: list[Any] = [[1, 2, 3, 7], {"minimum": -1, "maximum": 8}, ["1", "Ash", "true", "é", "1.5", "2020-01-03"]]
ITEMS: dict[str, list[Any]] = {"ints": INTS, "floats": FLOATS, "bools": BOOLS, "words": WORDS, "mixed": ANY}
PLAIN: list[Any] = [1, 2, 3, 7, "1", "Ash", "true", "é", "1.5", 1.5, 2.0, True]


def read(document: dict[str, Any], data: Any) -> Codes:
    """The sets as tuples of the codes of their items."""
    schema = schema_of(document)
    OPENERS[schema.kind].refuse_early(data, schema, IN_MEMORY, None)
    baskets = read_baskets(data, schema)
    return _codes(baskets.starts, baskets.items)


def read_elsewhere(engine: str) -> Callable[[dict[str, Any], Any], Codes]:
    """A reader through an engine that keeps sets outside memory."""

    def read(document: dict[str, Any], data: Any) -> Codes:
        schema, choice = schema_of(document), EngineChoice(engine)
        opener = OPENERS[schema.kind]
        opener.refuse_early(data, schema, choice, None)
        _, made = opener.open_engine(data, schema, Baskets(schema), choice, None)
        try:
            records = made._all.everything()  # type: ignore[attr-defined]
            return _codes(records.starts, records.codes)
        finally:
            made.close()

    return read


def _codes(starts: Any, items: Any) -> Codes:
    ends, held = starts.tolist(), items.tolist()
    return Counter(tuple(held[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True))


def _schema(dice: Random, **more: Any) -> dict[str, Any]:
    return {"kind": "sets", "items": dice.choice(UNIVERSES)} | more


def _pair(schema: dict[str, Any], one: Any, two: Any, shown: str) -> Pair:
    return Pair(schema, one, two, adds_at_most(1), f"{schema} {shown}")


def _sizes(dice: Random) -> int:
    return dice.choice([0, 1, 2, dice.randint(0, 8)])


# ---- FIMI -----------------------------------------------------------------------------------------------------

TOKENS = [b"1", b"2", b"3", b"7", b"01", b"1.0", b"-1", b"x", b"9" * 30, b"Ash", b"true", b"\xc3", b"\xff", b"\x1b$B",
          b"~{", b"+AGE", b"\x00", b"\t", b"\xe9", b"#", b'"', b",", b"\x0e", b"\x85", b"1.5"]  # fmt: skip


def fimi(encodings: list[str]) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, folder: Path) -> Pair:
        encoding, end = dice.choice(encodings), dice.choice(ENDS).encode()
        tokens = TOKENS if encoding in SAFE else [one for one in TOKENS if one.isalnum() and one.isascii()]
        lines = [b" ".join(dice.choices(tokens, k=dice.randint(0, 4))) for _ in range(_sizes(dice) + 1)]
        texts = []
        for part in (lines[1:], inserted(dice, lines[1:], lines[:1])):
            text = end.join([*part, b""])
            wide = "16" in encoding or "32" in encoding
            texts.append(text.decode("latin-1").encode(encoding, "replace") if wide else text)
        schema = _schema(dice, form="fimi", dialect={"encoding": encoding})
        return _pair(schema, *files(folder, "data.dat", *texts), repr(texts))

    return pair


# ---- lists ----------------------------------------------------------------------------------------------------


def _collection(dice: Random, pool: list[Any]) -> Any:
    """A set in one of the forms that Python users write, or a value that is no set."""
    items = [dice.choice(pool if dice.random() < 0.9 else ANY) for _ in range(dice.randint(0, 4))]
    kind = dice.randrange(12)
    if kind == 0:
        return dice.choice([None, 5, "Ash", 1.5, float("nan"), b"1", True, {1: 2}])
    if kind == 1:
        return tuple(items)
    if kind == 2:
        return {one for one in items if isinstance(one, int | str)}
    if kind == 3:
        return np.array([one for one in items if isinstance(one, int) and abs(one) < 2**60])
    return items


def _collections(dice: Random) -> tuple[list[Any], list[Any]]:
    pool = dice.choice([*ITEMS.values(), PLAIN])
    records = [_collection(dice, pool) for _ in range(_sizes(dice))]
    return records, inserted(dice, records, [_collection(dice, dice.choice([pool, ANY]))])


def python(dice: Random, _folder: Path) -> Pair:
    both = _collections(dice)
    return _pair(_schema(dice), *both, repr(both))


def objects(*, concat: bool) -> Callable[[Random, Path], Pair]:
    """Columns of Python objects in pandas."""

    def pair(dice: Random, _folder: Path) -> Pair:
        both = _collections(dice)
        try:
            one, two = (pd.DataFrame({"items": part}) for part in both)
            if concat:
                at = dice.randint(0, len(both[1]))
                halves = [pd.DataFrame({"items": part}) for part in (both[1][:at], both[1][at:]) if part]
                two = pd.concat(halves, ignore_index=True)
        except Exception as error:
            raise Unbuildable from error
        kinds = f"{one.dtypes['items']} {two.dtypes['items']}"
        return _pair(_schema(dice, column="items"), one, two, f"{both} {kinds}")

    return pair


LISTED: list[tuple[Any, Any, list[Any]]] = [
    (pl.List(pl.Int64), pa.list_(pa.int64()), [1, 2, 7, 2**53 + 1, None]),
    (pl.List(pl.Float64), pa.list_(pa.float64()), [1.0, 2.0, 1.5, float("nan"), None]),
    (pl.List(pl.String), pa.large_list(pa.string()), ["1", "Ash", "é", "true", "", None]),
    (pl.List(pl.Boolean), pa.list_(pa.bool_()), [True, False, None]),
    (pl.List(pl.Categorical), pa.list_(pa.dictionary(pa.int8(), pa.string())), ["1", "Ash", None]),
    (pl.Object, pa.list_(pa.int8()), [1, 2, None]),
]


def listed(library: str) -> Callable[[Random, Path], Pair]:
    """Columns of lists with a declared type."""

    def pair(dice: Random, folder: Path) -> Pair:
        of_polars, of_arrow, pool = dice.choice(LISTED)
        if library == "Parquet" and of_polars == pl.Object:
            raise Unbuildable
        sets = [
            None if dice.random() < 0.1 else dice.choices(pool, k=dice.randint(0, 4)) for _ in range(_sizes(dice) + 1)
        ]
        parts = sets[1:], inserted(dice, sets[1:], sets[:1])
        inputs: list[Any] = [_list_frame(library, of_polars, of_arrow, part) for part in parts]
        if library == "Parquet":
            paths = files(folder, "data.parquet", b"", b"")
            for frame, path in zip(inputs, paths, strict=True):
                write_parquet(frame, path)
            inputs = list(paths)
        return _pair(_schema(dice), *inputs, f"{of_polars} {of_arrow} {parts}")

    return pair


def _list_frame(library: str, of_polars: Any, of_arrow: Any, sets: list[Any]) -> Any:
    if library == "pyarrow":
        return arrow_table({"items": sets}, {"items": of_arrow})
    if library == "pandas":
        return pd.DataFrame({"items": pd.Series(sets, dtype=pd.ArrowDtype(of_arrow))})
    return polars_frame({"items": sets}, {"items": of_polars})


# ---- long tables ----------------------------------------------------------------------------------------------

Rows = list[tuple[Any, Any]]


def _rows(dice: Random, known: Spellings, nobody: list[Any], pool: list[Any], odd: list[Any]) -> tuple[Rows, Rows]:
    """Rows (id, item) of D and D'; D' also has the rows of one more basket, or rows that belong to no basket."""
    baskets, newcomer = cast(dice, known, 4)

    def rows(ids: list[Any], items: list[Any]) -> Rows:
        return [(dice.choice(ids), dice.choice(items)) for _ in range(dice.randint(1, 4))]

    known_rows = [row for basket in baskets for row in rows(basket, pool)]
    dice.shuffle(known_rows)
    return known_rows, inserted(
        dice, known_rows, rows(nobody if dice.random() < 0.4 else newcomer, dice.choice([pool, odd]))
    )


def _columns(rows: Rows) -> dict[str, list[Any]]:
    return {"id": [row[0] for row in rows], "item": [row[1] for row in rows]}


def long_csv(dice: Random, folder: Path) -> Pair:
    words = [one for one in WORDS if not set(one) & set(',"\n\r')]
    rows, end = _rows(dice, TEXT, NO_TEXT, words, words), dice.choice(ENDS)
    texts = [end.join(["id,item", *(f"{one},{item}" for one, item in part), ""]).encode() for part in rows]
    schema = _schema(dice, form="long", missingValues=["", "?"])
    return _pair(schema, *files(folder, "data.csv", *texts), repr(texts))


def long_inferred(*, concat: bool) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, _folder: Path) -> Pair:
        rows = _rows(dice, INFERRED, NOBODY, dice.choice([*ITEMS.values(), PLAIN]), ANY)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one, two = (pd.DataFrame(_columns(part)) for part in rows)
                if concat:
                    at = dice.randint(0, len(rows[1]))
                    halves = [pd.DataFrame(_columns(part)) for part in (rows[1][:at], rows[1][at:]) if part]
                    two = pd.concat(halves, ignore_index=True)
        except Exception as error:
            raise Unbuildable from error
        kinds = f"{list(map(str, one.dtypes))} {list(map(str, two.dtypes))}"
        return _pair(_schema(dice, form="long"), one, two, f"{rows[0]} {rows[1]} {kinds}")

    return pair


KINDS: list[tuple[str, Any, Any, Any]] = [
    ("integers", pl.Int64, pa.int64(), "Int64"), ("texts", pl.String, pa.string(), "string"),
    ("floats", pl.Float64, pa.float64(), "Float64"), ("texts", pl.Categorical, pa.large_string(), "str"),
]  # fmt: skip


def long_typed(library: str) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, folder: Path) -> Pair:
        pool, of_polars, of_arrow, of_pandas = dice.choice(KINDS)
        ids = {"polars": of_polars, "Parquet": of_polars, "pyarrow": of_arrow, "pandas": of_pandas}[library]
        item, known = dice.choice([("int", [1, 2, 7, 99, None]), ("text", ["1", "Ash", "é", "x", None])])
        rows = _rows(dice, TYPED[pool], [None], known, known)
        text, whole = {"pyarrow": (pa.string(), pa.int64()), "pandas": ("string", "Int64")}.get(
            library, (pl.String, pl.Int64)
        )
        kinds = {"id": ids, "item": whole if item == "int" else text}
        make: dict[str, Any] = {"pyarrow": arrow_table, "pandas": _pandas}
        inputs = [make.get(library, polars_frame)(_columns(part), kinds) for part in rows]
        if library == "Parquet":
            paths = files(folder, "data.parquet", b"", b"")
            for frame, path in zip(inputs, paths, strict=True):
                write_parquet(frame, path)
            inputs = list(paths)
        return _pair(_schema(dice, form="long"), *inputs, f"{kinds} {rows}")

    return pair


def _pandas(values: dict[str, list[Any]], kinds: dict[str, Any]) -> Any:
    return pd.DataFrame({name: pd.Series(held, dtype=kinds[name]) for name, held in values.items()})


DECLARED = ("pandas", "polars", "pyarrow", "Parquet")
OBJECTS, LISTS, LONG = "sets, pandas objects", "sets, columns of lists", "sets, long tables"
FORMS = [
    Form("sets, FIMI", "memory", fimi(SAFE), read),
    Form("sets, FIMI, other encodings", "memory", fimi(OTHERS + STATEFUL), read, 200, "sets, FIMI"),
    Form("sets, Python lists", "memory", python, read),
    Form("sets, pandas objects", "memory", objects(concat=False), read, 250, OBJECTS),
    Form("sets, pandas objects, pd.concat", "memory", objects(concat=True), read, 250, OBJECTS),
    *(Form(f"sets, {kind} lists", "memory", listed(kind), read, 125, LISTS) for kind in DECLARED),
    Form("sets, long CSV", "memory", long_csv, read, 100, LONG),
    Form("sets, long pandas from lists", "memory", long_inferred(concat=False), read, 150, LONG),
    Form("sets, long pandas pd.concat", "memory", long_inferred(concat=True), read, 150, LONG),
    *(Form(f"sets, long {kind}", "memory", long_typed(kind), read, 75, LONG) for kind in DECLARED),
]
