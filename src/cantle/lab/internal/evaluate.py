"""`cantle evaluate`: compares a release with the data it was made from. The result is private."""

from __future__ import annotations

from pathlib import Path

from cantle.errors import ParameterError
from cantle.lab.internal.compare_graphs import compare_graph
from cantle.lab.internal.compare_sets import compare_sets
from cantle.lab.internal.compare_tables import compare_table
from cantle.lab.internal.comparison import Comparison
from cantle.release import Release


def evaluate(path: Path, release: Release, nodes: Path | None = None) -> Comparison:
    """Compares a release with the private file; `nodes` is the list of a graph's nodes, if there is one."""
    kind = release.manifest.kind
    if nodes is not None and kind != "graph":
        raise ParameterError("--nodes is for graphs; leave it out")
    if kind == "graph":
        return compare_graph(path, release, nodes)
    return compare_table(path, release) if kind == "table" else compare_sets(path, release)
