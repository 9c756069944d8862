"""Drafts of schemas for sets and graphs, for `cantle init`: commented YAML. They look at no value of the file."""

from __future__ import annotations

import os
from pathlib import Path

from cantle.data.tables import PARQUET, column_types
from cantle.errors import DataError, ParameterError
from cantle.schema.fields import BLANK

KINDS = ("table", "sets", "graph")
_ENDINGS = {".dat": "sets", ".mtx": "graph", ".edges": "graph", ".edgelist": "graph"}
_PACKED = (".gz", ".xz", ".bz2")

_SETS = f"""\
# A schema says what is public about sets of items: baskets, visits, clicks; a record is one set. Fill in every {BLANK}
# from what could occur (a catalogue, a list of pages), never from the data: items and their order are published.
kind: sets

# every item that could occur, alike ones next to each other: methods group neighbours. Whole numbers as
# {{minimum: 1, maximum: 500}}, a list such as ["bread", "milk"], or a file with one item a line, such as items.txt
items: {BLANK}

# form: long        # fimi (a line of items a record), long (a row an item) or list (a column of lists); by default
#                   # told by the file: .dat and .txt are FIMI lines, .csv is a long table, .parquet as its columns say
# id: basket        # long: the column that says which record (default id)
# item: product     # long: the column that says which item (default item)
# column: products  # list: the column of lists (default items, or the only one there is)
"""
_GRAPH = f"""\
# A schema says what is public about a graph. What is published are its degrees.
kind: graph

# whom the promise protects: node (one node with all its edges; the number of nodes is private), node-isolate (all edges
# of one node) or edge (one edge). Under the last two the number of nodes is public and must be declared below.
unit: node

# nodes: {BLANK}       # how many nodes there are (unit node-isolate or edge), or which could occur (any unit):
#                  # {{minimum: 0, maximum: 999}}, or a file with one identifier a line, such as nodes.txt
# max_degree: {BLANK}  # a bound on the edges of a node that is known without the data, if there is one
# form: edges      # edges, matrix-market, or degrees (one number a line; under unit edge alone)
"""


def kind_of(path: Path, asked: str | None) -> str:
    """The kind of data as asked, else by the ending of the file's name (of packed files only graphs can be read), or
    by the types of a Parquet file's columns."""
    if asked is not None and asked not in KINDS:
        raise ParameterError(f"--kind must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {asked!r}")
    packed = path.suffix.lower() in _PACKED
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if asked is None and ending == ".txt" and not packed:  # taken for a table, its first line would be column names
        raise ParameterError(f"{path.name!r} may be a table, sets or edges; say which: --kind table, sets or graph")
    if asked is None and ending in PARQUET and os.path.exists(path) and _has_lists(path):
        return "sets"
    return asked or _ENDINGS.get(ending, "graph" if packed and ending in ("", ".txt") else "table")


def _has_lists(path: Path) -> bool:
    import polars as pl

    return any(isinstance(kind, pl.List | pl.Array) for kind in column_types(path).values())


def blank(path: Path, kind: str) -> str:
    """The draft for a file of a kind that is no table."""
    if not os.path.exists(path):
        raise DataError(f"there is no file {path.name!r}; check the path.")
    return _SETS if kind == "sets" else _GRAPH
