"""Degrees of edge lists larger than memory, counted by DuckDB. Needs `duckdb`.

This is for `unit: edge`, where all questions are about the degrees of a public number of nodes. Clean pairs of
identifiers (cantle.trusted.bounding.graph_pairs) go into a private database, which is deleted at the end. SQL drops
loops, keeps each edge once, whatever its direction, and counts how many nodes have each degree. Only these numbers come
back: the engine of graphs in memory (cantle.trusted.counting.graph) then holds the list of degrees, as if it had been
given (Claims 35 and 36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.bounding.graph_arrays import Degrees
from cantle.trusted.bounding.graph_pairs import Identified
from cantle.trusted.bounding.node_ids import Ints
from cantle.trusted.counting.private_database import MEMORY, PrivateDatabase

if TYPE_CHECKING:
    from pyarrow import Table

FAILURE = "DuckDB cannot count the degrees; raise memory, or free space in the temporary folder"

# Pairs of two numbers are in one table, all other pairs in the other one, so that each edge is in one table only.
_TABLES = {"numbers": "BIGINT", "texts": "BLOB"}
_EDGES = """
    CREATE TABLE {name}_edges AS
    SELECT DISTINCT least(one, two) AS one, greatest(one, two) AS two FROM {name} WHERE one <> two;
    DROP TABLE {name};
    CREATE TABLE {name}_degrees AS
    SELECT node, count(*) AS degree
    FROM (SELECT one AS node FROM {name}_edges UNION ALL SELECT two FROM {name}_edges) GROUP BY node;
    DROP TABLE {name}_edges"""
# A number may have edges in both tables: those to texts are in the second, where it is written in digits.
_SPECTRUM = """
    SELECT degree, count(*) AS nodes FROM (
        SELECT CAST(sum(degree) AS BIGINT) AS degree FROM (
            SELECT encode(CAST(node AS VARCHAR)) AS node, degree FROM numbers_degrees
            UNION ALL SELECT node, degree FROM texts_degrees
        ) GROUP BY node
    ) GROUP BY degree ORDER BY degree"""


def count_degrees(parts: Iterable[Identified], nodes: int, memory: int = MEMORY) -> Degrees:
    """The degrees of a public number of nodes; `memory` is a limit as for `PrivateDatabase`.

    As in memory, nodes that were not named have no edges, and if there are too many nodes, the largest degrees count.
    """
    with PrivateDatabase(memory, FAILURE) as base:
        for name, kind in _TABLES.items():
            base.run(f"CREATE TABLE {name} (one {kind}, two {kind})")
        for name, rows in _batches(parts, base.arrow):
            base.insert(name, rows)
        for name in _TABLES:
            base.run(_EDGES.format(name=name))
        degrees, many = base.two_columns(_SPECTRUM)
    return Degrees(_largest(degrees, many, nodes))


def _batches(parts: Iterable[Identified], arrow: ModuleType) -> Iterator[tuple[str, Table]]:
    """The rows of both tables, some at a time."""
    for part in parts:
        numbers = [arrow.array(ends, type=arrow.int64()) for ends in part.numbers.T]
        texts = [arrow.array(ends, type=arrow.binary()) for ends in part.texts]
        for name, columns in zip(_TABLES, (numbers, texts), strict=True):
            yield name, arrow.table(columns, names=["one", "two"])


def _largest(degrees: Ints, many: Ints, nodes: int) -> Ints:
    """This many degrees, ascending: the largest ones, with zeros before them if there are fewer."""
    larger = np.cumsum(many[::-1])[::-1] - many
    kept = np.clip(nodes - larger, 0, many)
    return np.concatenate([np.zeros(nodes - int(kept.sum()), np.int64), np.repeat(degrees, kept)])
