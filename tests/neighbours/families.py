"""Families: D' also has all rows of one more key, in both files, at any positions.

Keys may have no parent row, two, or one without its required value; children that nobody adopts, too many of them, or
some that are dropped; and rows without a key.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl

from cantle.data.engine_choice import EngineChoice
from cantle.interfaces.opening import open_data
from cantle.methods.catalogue import make_method
from cantle.schema import Schema
from cantle.trusted.counting.families import FamilyEngine
from cantle.trusted.geometry.views import CHILDREN, PARENTS
from tests.neighbours.frames import write_parquet
from tests.neighbours.identifiers import INFERRED, NO_TEXT, NOBODY, ODD_TEXT, TEXT, TYPED, Spellings, cast
from tests.neighbours.law import Codes, Form, Pair, Unbuildable, adds_at_most, inserted

BOUND = 2
Rows = list[tuple[Any, Any]]
"""Keys and values."""
Both = tuple[Rows, Rows]
"""The rows of parents and of children."""


def _package(kind: str) -> dict[str, Any]:
    key = {"name": "who", "type": kind, "role": "identifier"}
    income = {"name": "income", "type": "integer", "constraints": {"minimum": 0, "maximum": 2, "required": True}}
    age = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 5}}
    link = {"fields": "who", "reference": {"resource": "homes", "fields": "who"}}
    return {
        "resources": [
            {"name": "homes", "path": "homes.csv", "schema": {"fields": [key, income], "primaryKey": "who"}},
            {"name": "people", "path": "people.csv", "schema": {"fields": [key, age], "foreignKeys": [link]}},
        ],
        "unit": {"family": "homes", "max_children": BOUND},
        "order": {"people": ["-age"]},
    }


def _rows(dice: Random, known: Spellings, nobody: list[Any]) -> tuple[Both, Both]:
    """The rows of both files of D and of D'."""
    keys, newcomer = cast(dice, known, 4)

    def of_key(spellings: list[Any]) -> Both:
        parents = [(dice.choice(spellings), dice.choice([0, 1, 2, None])) for _ in range(dice.choice([0, 1, 1, 1, 2]))]
        return parents, [(dice.choice(spellings), dice.choice([0, 3, 5, None])) for _ in range(dice.randint(0, 4))]

    parents, children = list[tuple[Any, Any]](), list[tuple[Any, Any]]()
    for key in keys:
        above, below = of_key(key)
        parents, children = parents + above, children + below
    if nobody and dice.random() < 0.3:
        children = inserted(dice, children, [(dice.choice(nobody), 1)])
    dice.shuffle(parents)
    dice.shuffle(children)
    above, below = of_key(nobody if nobody and dice.random() < 0.2 else newcomer)
    return (parents, children), (inserted(dice, parents, above), inserted(dice, children, below))


def _columns(rows: Rows, value: str) -> dict[str, list[Any]]:
    return {"who": [row[0] for row in rows], value: [row[1] for row in rows]}


def csv(dice: Random, folder: Path) -> Pair:
    inputs = _rows(dice, TEXT, NO_TEXT)
    made = []
    for name, (parents, children) in zip(("one", "two"), inputs, strict=True):
        own = folder / name
        own.mkdir(exist_ok=True)
        for file, rows, value in (("homes", parents, "income"), ("people", children, "age")):
            lines = [f"who,{value}", *(f"{who},{'' if one is None else one}" for who, one in rows), ""]
            (own / f"{file}.csv").write_text("\n".join(lines), encoding="utf-8")
        made.append(own)
    return Pair(_package("string"), made[0], made[1], adds_at_most(1), f"{inputs}")


def pandas(dice: Random, _folder: Path) -> Pair:
    inputs = _rows(dice, INFERRED, [*NOBODY, *ODD_TEXT])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = [
                {"homes": pd.DataFrame(_columns(one, "income")), "people": pd.DataFrame(_columns(two, "age"))}
                for one, two in inputs
            ]
    except Exception as error:
        raise Unbuildable from error
    return Pair(_package(dice.choice(["string", "integer"])), *made, adds_at_most(1), f"{inputs}")


def typed(parquet: bool) -> Callable[[Random, Path], Pair]:
    """Frames of polars whose keys have a declared type, or Parquet files of them."""

    def pair(dice: Random, folder: Path) -> Pair:
        pool, kind = dice.choice([("integers", pl.Int64), ("texts", pl.String), ("booleans", pl.Boolean)])
        inputs = _rows(dice, TYPED[pool], [None])
        made: list[dict[str, Any]] = []
        for number, both in enumerate(inputs):
            held: dict[str, Any] = {}
            for name, rows, value in zip(("homes", "people"), both, ("income", "age"), strict=True):
                frame = pl.DataFrame(_columns(rows, value), schema={"who": kind, value: pl.Int64})
                held[name] = frame
                if parquet:
                    held[name] = folder / f"{number}{name}.parquet"
                    write_parquet(frame, held[name])
            made.append(held)
        return Pair(_package("string"), *made, adds_at_most(1), f"{inputs}")

    return pair


def read(engine: str) -> Callable[[dict[str, Any], Any], Codes]:
    """The families that an engine counts, each as a tuple of its codes."""

    def families(document: dict[str, Any], data: Any) -> Codes:
        schema = Schema.from_dict(document)
        made = make_method(schema, "auto", "default", {})
        _, held = open_data(data, schema, made, None, EngineChoice(engine))
        assert isinstance(held, FamilyEngine)
        parents, children = held.view(PARENTS), held.view(CHILDREN)
        above = list(zip(*(part.tolist() for part in parents._columns(slice(None))), strict=True))
        below = [tuple(row) for row in zip(*(one.tolist() for one in children._columns(slice(None))), strict=True)]
        counted, first = Counter[Any](), 0
        for *codes, size in above:
            assert {row[:-1] for row in below[first : first + size]} <= {(*codes, size)}
            counted[*codes, tuple(row[-1] for row in below[first : first + size])] += 1
            first += size
        held.close()
        return counted

    return families


FORMS = [
    Form(f"families, {name}", engine, pair, read(engine), 100, "families")
    for engine in ("memory", "duckdb")
    for name, pair in (
        ("CSV", csv), ("pandas from lists", pandas), ("polars declared", typed(False)), ("Parquet", typed(True)),
    )
]  # fmt: skip
