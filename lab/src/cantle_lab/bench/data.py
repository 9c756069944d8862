"""Generated data for benchmarks, drawn from seeds; nothing in it is private.

Tables have the public schema of Adult (from its documentation, not its records) and made-up values: skewed categories,
correlated numbers, and a class that depends on them. If a data folder is given, they are Adult itself, enlarged as in
DiffGen section 5. Sets are the stand-in for STM. Graphs have degrees that follow a power law.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from cantle_lab.documents import FieldDocument, TableDocument, bounds
from cantle_lab.papers import adult
from cantle_lab.papers.diffgen_figures import blow_up
from cantle_lab.papers.sets import Town, stand_in

SEED = 2026
BLOCK = 1 << 18
SKEW = 1.2
"""The frequency of a category is proportional to 1 / rank ** SKEW."""

POWERS = {"age": 1.5, "fnlwgt": 6.0, "education-num": 1.0, "capital-gain": 40.0, "capital-loss": 40.0}
"""A number is low + (high - low) * q ** power, with q between 0 and 1: the larger the power, the more small numbers."""

TOGETHER = 0.4
"""The probability that a value follows the record's standing, on which the class depends too."""

DEGREE, TAIL = 16, 0.6
"""The mean degree of a graph; the weight of a node is about rank ** -TAIL."""

Floats = npt.NDArray[np.float64]


def make_sets(records: int, width: int | None, path: Path, data: Path | None) -> Mapping[str, object]:  # noqa: ARG001
    """Writes sets over this many items; returns their schema."""
    items = width or Town().items
    drawn = stand_in(Town(records=records, items=items, longest=min(Town().longest, items)), SEED)
    drawn.write(path)
    return drawn.schema()


def make_sequences(records: int, width: int | None, path: Path, data: Path | None) -> Mapping[str, object]:  # noqa: ARG001
    """Writes click paths over this many pages; returns their schema."""
    pages, rng = width or 17, np.random.default_rng(SEED)
    length = np.minimum(rng.geometric(0.25, records), 50)
    codes = np.minimum(rng.geometric(0.2, int(length.sum())), pages)
    stays = rng.random(len(codes)) < 0.5
    codes = codes[np.maximum.accumulate(np.where(stays, 0, np.arange(len(codes))))]
    ends = np.cumsum(length)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(map(str, some.tolist())) + "\n" for some in np.split(codes, ends[:-1]))
    return {"kind": "sequences", "items": {"minimum": 1, "maximum": pages}, "max_length": 50}


def make_graph(records: int, width: int | None, path: Path, data: Path | None) -> Mapping[str, object]:  # noqa: ARG001
    """Writes the edges of a graph; returns its schema."""
    edges(records).write_csv(path, include_header=False, separator="\t")
    return {"kind": "graph", "unit": "node"}


def make_table(records: int, width: int | None, path: Path, data: Path | None) -> Mapping[str, object]:
    """Writes a table of this many attributes, or Adult from the folder `data`; returns its schema."""
    if data is not None:
        blow_up(adult.load(data, "all"), adult.schema("all"), records, path, np.random.default_rng(SEED))
        return adult.schema("all", data)
    schema = table_schema(width or 1)
    write_table(schema, records, path)
    return schema


def table_schema(attributes: int) -> TableDocument:
    """The schema of this many attributes of Adult, repeated if it has fewer, and of its class."""
    *fields, target = adult.schema("all")["fields"]
    repeated = []
    for i in range(attributes):
        again, which = divmod(i, len(fields))
        field = fields[which].copy()
        field["name"] += f"-{again + 1}" if again else ""
        repeated.append(field)
    return {"fields": [*repeated, target]}


def write_table(schema: TableDocument, records: int, path: Path) -> None:
    """Writes a CSV of this many records, in blocks."""
    rng = np.random.default_rng(SEED)
    with path.open("wb") as file:
        for start in range(0, records, BLOCK):
            _block(schema, min(BLOCK, records - start), rng).write_csv(file, include_header=not start)


def _block(schema: TableDocument, records: int, rng: np.random.Generator) -> pl.DataFrame:
    *fields, target = schema["fields"]
    standing = rng.normal(size=records)
    place = 1 / (1 + np.exp(-1.7 * standing))  # about uniform: the logistic curve is close to the normal one
    columns = [_column(field, _mixed(place, rng)) for field in fields]
    rich = (standing + 0.8 * rng.normal(size=records) > 0.9).astype(np.int64)
    return pl.DataFrame([*columns, _labels(target, rich)])


def _mixed(place: Floats, rng: np.random.Generator) -> Floats:
    return np.where(rng.random(len(place)) < TOGETHER, place, rng.random(len(place)))


def _column(field: FieldDocument, place: Floats) -> pl.Series:
    if "categories" in field:
        weight = 1 / np.arange(1, len(field["categories"]) + 1) ** SKEW
        return _labels(field, np.searchsorted(np.cumsum(weight)[:-1] / weight.sum(), place, side="right"))
    low, high = bounds(field)
    power = next((p for name, p in POWERS.items() if field["name"].startswith(name)), 1.2)
    return pl.Series(field["name"], (low + (high - low) * place**power).astype(np.int64))


def _labels(field: FieldDocument, codes: npt.NDArray[np.int64]) -> pl.Series:
    return pl.Series(field["name"], field["categories"]).gather(codes)


def make_families(records: int, width: int | None, path: Path, data: Path | None) -> Mapping[str, object]:  # noqa: ARG001
    """A folder with patients and visits; returns the package."""
    from cantle_lab.papers.made_families import CLINIC, clinic

    path.mkdir(parents=True, exist_ok=True)
    for name, frame in clinic(records, SEED).items():
        frame.write_csv(path / f"{name}.csv")
    return CLINIC


def edges(number: int) -> pl.DataFrame:
    """A simple graph of this many edges, one per row (`a`, `b`).

    The ends of an edge are drawn by the weights of the nodes; repeated edges are drawn again.
    """
    rng = np.random.default_rng(SEED)
    nodes = max(64, 2 * number // DEGREE)
    share = np.cumsum(np.arange(10, nodes + 10) ** -TAIL)
    keys = np.zeros(0, dtype=np.int64)
    while len(keys) < number:
        ends = np.searchsorted(share, rng.random((2, number)) * share[-1]).clip(0, nodes - 1)
        low, high = ends.min(axis=0), ends.max(axis=0)
        keys = np.unique(np.concatenate([keys, (low * nodes + high)[low < high]]))
    low, high = np.divmod(rng.permutation(keys)[:number], nodes)
    return pl.DataFrame({"a": low, "b": high})


@dataclass(frozen=True)
class Width:
    """The second size of a kind of data, besides its number of records: attributes of a table, items of sets."""

    column: str
    """Its name in the results."""
    axis: str
    usual: int
    parts: tuple[float, ...]
    """The widths along the axis, as multiples of the usual one."""

    def along_axis(self) -> list[int]:
        return [int(self.usual * part) for part in self.parts]


_ATTRIBUTES = Width("attributes", "attributes", 14, (1 / 4, 1 / 2, 1, 2))  # Adult without its class
_ITEMS = Width("items", "universe", 1_012, (1 / 4, 1 / 2, 1, 2, 4))  # STM (DiffPart, table 2)


@dataclass(frozen=True)
class BenchKind:
    """How one kind of data is made and measured."""

    ending: str
    make: Callable[[int, int | None, Path, Path | None], Mapping[str, object]]
    """Writes so many records of some width to a path, made from a folder of data if one is given, and returns the
    schema."""
    width: Width | None = None
    every_engine: bool = False
    """Whether all engines are measured, not only the one in memory."""
    from_data: bool = False
    """Whether data of the usual width can be made from a folder of data."""


KINDS = {
    "table": BenchKind(".csv", make_table, _ATTRIBUTES, every_engine=True, from_data=True),
    "sets": BenchKind(".dat", make_sets, _ITEMS),
    "sequences": BenchKind(".seq", make_sequences),
    "graph": BenchKind(".txt", make_graph),
    "families": BenchKind("", make_families),
}


def make(kind: str, records: int, width: int | None, stem: Path, data: Path | None = None) -> None:
    """Writes a data set and its schema, to `stem` with the ending of its kind and to `stem`.json."""
    schema = KINDS[kind].make(records, width, stem.with_name(stem.name + KINDS[kind].ending), data)
    stem.with_name(stem.name + ".json").write_text(json.dumps(schema), encoding="utf-8")
