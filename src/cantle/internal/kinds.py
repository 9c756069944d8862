"""What `cantle check` and `cantle evaluate` do with each kind of data, by its name in schemas."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cantle.errors import ParameterError
from cantle.internal.check_graphs import check_graph
from cantle.internal.check_sets import check_sets
from cantle.internal.check_tables import check_table
from cantle.internal.compare_graphs import compare_graph
from cantle.internal.compare_sets import compare_sets
from cantle.internal.compare_tables import compare_table
from cantle.internal.comparison import Comparison
from cantle.internal.findings import Checked
from cantle.release import Release


@dataclass(frozen=True)
class InternalKind:
    """The functions for one kind of data. Their last argument is the private list of a graph's nodes."""

    check: Callable[[Any, Any, Path | None], Checked]
    compare: Callable[[Any, Release, Path | None], Comparison]
    takes_nodes: bool = False
    takes_frames: bool = False

    def source(self, data: object) -> object:
        """The data as these functions read it: a path, or a frame if they take one."""
        if isinstance(data, str | os.PathLike):
            return Path(data)
        if not self.takes_frames:
            raise ParameterError("only tables are compared as data frames; give the path of the file")
        return data


KINDS = {
    "table": InternalKind(check_table, compare_table, takes_frames=True),
    "sets": InternalKind(check_sets, compare_sets),
    "graph": InternalKind(check_graph, compare_graph, takes_nodes=True),
}


def kind_for(name: str, nodes: Path | None) -> InternalKind:
    """The kind of this name; refuses a list of nodes that it does not take."""
    kind = KINDS[name]
    if nodes is not None and not kind.takes_nodes:
        raise ParameterError("--nodes is for graphs; leave it out")
    return kind
