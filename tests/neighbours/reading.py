"""Readers of the shipped code as functions from an input to a multiset of codes, through the engine that counts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from cantle.data.engine_choice import IN_MEMORY, OPENERS, EngineChoice
from cantle.interfaces.opening import open_data
from cantle.schema import Schema
from cantle.schema.domain import Domain
from cantle.trusted.core.keys import GridCells
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.grid import Grid
from tests.neighbours.law import Codes


@dataclass(frozen=True)
class Asked:
    """A stand-in for a method that asks `open_data` for the finest codes."""

    domain: Domain

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(one.size for one in self.domain.attributes)

    @property
    def classes(self) -> int:
        return self.domain.target.size if self.domain.target else 1


@lru_cache(maxsize=4096)
def _schema(text: str) -> Any:
    return Schema.from_dict(json.loads(text))


def schema_of(document: dict[str, Any]) -> Any:
    """The schema of a document; parsed once, because that takes longer than reading a small input."""
    return _schema(json.dumps(document))


def table(choice: EngineChoice = IN_MEMORY) -> Any:
    """A reader of tables in one engine."""

    def read(document: dict[str, Any], data: Any) -> Codes:
        schema = schema_of(document)
        OPENERS[schema.kind].refuse_early(data, schema, choice, None)
        _, engine = open_data(data, schema, Asked(schema.domain()), choice=choice)  # type: ignore[arg-type]
        try:
            return codes_in(engine)
        finally:
            engine.close()

    return read


def codes_in(engine: Any) -> Codes:
    """The records of an engine, as tuples of codes and class."""
    if isinstance(engine, WordEngine):
        layout, words = engine._layout, engine._rows.T
        return Counter(zip(*(layout.column(words, a).tolist() for a in range(len(engine.sizes) + 1)), strict=True))
    return counted(engine)


def counted(engine: Any) -> Codes:
    """The same from the occupied cells of the finest grid, which every engine of tables can count."""
    grid = Grid(tuple(np.arange(size + 1) for size in engine.sizes))
    entries, counts = engine.occupied(GridCells(grid, engine.classes))
    cells, classes = np.divmod(np.asarray(entries), engine.classes)
    codes: Codes = Counter()
    for cell, label, count in zip(grid.unravel(cells).tolist(), classes.tolist(), counts.tolist(), strict=True):
        codes[*cell, label] += count
    return codes
