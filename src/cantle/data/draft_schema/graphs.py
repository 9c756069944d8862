"""Drafts of schemas of graphs. They use nothing of the file but its name."""

from __future__ import annotations

import os
from pathlib import Path

from cantle.data.draft_schema.columns import require_file
from cantle.schema.declared_values import BLANK
from cantle.schema.json_schema import EDITOR_LINE

LISTS_COLUMNS = False
_ENDINGS = (".mtx", ".edges", ".edgelist")

_GRAPH = f"""\
# A schema says what is public about a graph. Only its degrees are published.
kind: graph

# whom the promise protects: node (one node with all its edges; the number of nodes is private), node-isolate (all edges
# of one node) or edge (one edge). Under the last two the number of nodes is public and must be declared below.
unit: node

# nodes: {BLANK}       # how many nodes there are (unit node-isolate or edge), or which could occur (any unit):
#                  # {{minimum: 0, maximum: 999}}, or a file with one identifier per line, such as nodes.txt
# max_degree: {BLANK}  # a bound on the edges of a node that is known without the data, if there is one
# form: edges      # edges, matrix-market, or degrees (one number per line; only under unit edge)
"""


def recognises(path: Path, ending: str, packed: bool) -> bool:  # noqa: ARG001
    """Files of edges; a compressed file whose name does not say more can only be one."""
    return ending in _ENDINGS or (packed and ending in ("", ".txt"))


def needs_header(path: str | os.PathLike[str]) -> bool:  # noqa: ARG001
    return False


def draft_of(path: Path, header_row: int | None) -> str:  # noqa: ARG001
    require_file(path)
    return EDITOR_LINE + _GRAPH
