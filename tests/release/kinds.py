"""Small sets of items and a small graph in every form, shared by the tests of releases and of the command line."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cantle.release import Release
from cantle.release.structures import opened

NUMBERS: dict[str, Any] = {"kind": "sets", "items": {"minimum": 1, "maximum": 30}}
WORDS: dict[str, Any] = {"kind": "sets", "items": [f"item{i:02d}" for i in range(1, 31)]}
GRAPH: dict[str, Any] = {"kind": "graph"}
ISOLATE: dict[str, Any] = {"kind": "graph", "unit": "node-isolate", "nodes": 300}
EDGE: dict[str, Any] = {"kind": "graph", "unit": "edge", "nodes": 300}
DEGREES: dict[str, Any] = {"kind": "graph", "unit": "edge", "form": "degrees"}

FORMS = ("fimi", "long.csv", "long.parquet", "list.parquet")
FRAMES = ("polars list", "polars long", "pandas list", "pandas long", "pyarrow list", "pyarrow long", "python")


def baskets(schema: dict[str, Any], n: int = 400, seed: int = 7) -> list[list[Any]]:
    """Sets of items of one of the two universes above; some items are popular."""
    items = list(range(1, 31)) if isinstance(schema["items"], dict) else schema["items"]
    return [[items[i] for i in one] for one in _places(n, seed)]


@cache
def _places(n: int, seed: int) -> list[list[int]]:
    dice = np.random.default_rng(seed)
    chance = 1 / np.arange(1, 31)
    return [dice.choice(30, dice.integers(1, 7), replace=False, p=chance / chance.sum()).tolist() for _ in range(n)]


def as_source(sets: list[list[Any]], form: str, folder: Path) -> Any:
    """The sets as a file or a frame of one of the forms above."""
    rows = [(f"r{number}", item) for number, one in enumerate(sets) for item in one]
    long = pl.DataFrame(rows, schema=["id", "item"], orient="row")
    lists = pl.DataFrame({"items": sets})
    if form == "python":
        return sets
    if form == "fimi":
        (folder / "sets.dat").write_text("".join(" ".join(map(str, one)) + "\n" for one in sets))
        return folder / "sets.dat"
    if form in FORMS:
        path = folder / form
        frame = long if form.startswith("long") else lists
        frame.write_csv(path) if form.endswith("csv") else frame.write_parquet(path)
        return path
    library, shape = form.split()
    frame = long if shape == "long" else lists
    return {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[library]


SEQUENCES: dict[str, Any] = {"kind": "sequences", "items": {"minimum": 1, "maximum": 8}, "max_length": 12}
LOG: dict[str, Any] = SEQUENCES | {"order": {"column": "time", "type": "integer"}}


@cache
def journeys(n: int = 3000, seed: int = 7) -> list[list[int]]:
    """Sequences of the universe above: a symbol often follows itself or the one before it in the alphabet."""
    dice = np.random.default_rng(seed)
    made = []
    for length in np.minimum(dice.geometric(0.3, n), 12).tolist():
        one = [int(dice.integers(1, 9))]
        while len(one) < length:
            one.append((one[-1] + int(dice.choice([0, 0, 1, 3])) - 1) % 8 + 1)
        made.append(one)
    return made


def as_log(n: int = 3000) -> pl.DataFrame:
    """The same as a long table, in another order of rows."""
    rows = [(f"c{case:05}", place, symbol) for case, one in enumerate(journeys(n)) for place, symbol in enumerate(one)]
    return pl.DataFrame(rows, schema=["id", "time", "item"], orient="row").sort("item", "id")


def edges(n: int = 300, seed: int = 7) -> list[tuple[int, int]]:
    """A connected graph on 0 .. n - 1 in which early nodes have many neighbours."""
    return list(_pairs(n, seed))


@cache
def _pairs(n: int, seed: int) -> list[tuple[int, int]]:
    dice = np.random.default_rng(seed)
    return [(node, int(dice.integers(0, node) * dice.random())) for node in range(1, n) for _ in range(min(node, 3))]


def edge_file(folder: Path, name: str = "friends.txt", pairs: list[tuple[int, int]] | None = None) -> Path:
    """The graph as an edge list in SNAP's form."""
    lines = [f"{one}\t{two}\n" for one, two in (edges() if pairs is None else pairs)]
    (folder / name).write_text("# who knows whom\n" + "".join(lines))
    return folder / name


def tree_lines(release: Release, depth: int = 3) -> list[str]:
    """What was released, as `cantle show` prints it last: a tree down to a certain depth, cuts, tables, sets or
    degrees."""
    *_, (_, lines) = opened(release).lines(depth, True)
    return lines
