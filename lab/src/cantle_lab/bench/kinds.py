"""How the benchmark makes and measures each kind of data, by its name in schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cantle_lab.bench.data import make_graph, make_sets, make_table


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
    "graph": BenchKind(".txt", make_graph),
}


def make(kind: str, records: int, width: int | None, stem: Path, data: Path | None = None) -> None:
    """Writes a data set and its schema, to `stem` with the ending of its kind and to `stem`.json."""
    schema = KINDS[kind].make(records, width, stem.with_name(stem.name + KINDS[kind].ending), data)
    stem.with_name(stem.name + ".json").write_text(json.dumps(schema), encoding="utf-8")
