"""Opens private data as the engine a method asks: records become codes of the public domain, once."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from cantle.baskets import read_baskets
from cantle.encoding import read_codes
from cantle.engines.base import Engine
from cantle.engines.columns import ColumnEngine
from cantle.engines.graph import GraphEngine
from cantle.engines.memory import open_rows
from cantle.engines.sets import SetEngine
from cantle.errors import ParameterError
from cantle.graphs import read_graph
from cantle.methods.degrees import DegreeSequence
from cantle.methods.diffgen import DiffGen
from cantle.methods.diffpart import DiffPart
from cantle.methods.rps import RPS
from cantle.sources import IN_MEMORY, Place, open_table

Plan = RPS | DiffGen | DiffPart | DegreeSequence
Form = dict[str, str]
"""The public form in which data came in, so that records can be given back in it."""


def open_data(
    data: Any, schema: Any, plan: Plan, nodes: Any = None, place: Place = IN_MEMORY
) -> tuple[Form, Engine]:
    """The data behind an engine, and the form it came in; `nodes` is the private node list of a graph."""
    if nodes is not None and not isinstance(plan, DegreeSequence):
        raise ParameterError("nodes is for graphs: a private list of the nodes that may have no edge")
    if isinstance(plan, DegreeSequence):
        return {"frame": "polars"}, GraphEngine(read_graph(data, schema, nodes), nodes=schema.node_count)
    if isinstance(plan, DiffPart):
        baskets = read_baskets(data, schema)
        return asdict(baskets.kind), SetEngine(baskets.starts, baskets.items, tree=plan.tree, most=plan.most)
    if place.engine != "memory":
        return {"frame": "polars"}, open_table(data, schema, plan, place)
    return _table(data, schema, plan)


def _table(data: Any, schema: Any, plan: RPS | DiffGen) -> tuple[Form, Engine]:
    """Codes in the layout the method asks about."""
    kind, parts = "", []
    for kind, *part in read_codes(data, schema, plan.domain, plan.layout):  # noqa: B007 - all batches are of one kind
        parts.append(part)
    codes, classes = [part[0] for part in parts], np.concatenate([part[1] for part in parts])
    if plan.layout == "columns":
        columns = [np.concatenate(column) for column in zip(*codes, strict=True)]
        return {"frame": kind}, ColumnEngine(columns, classes, sizes=plan.sizes, class_count=plan.classes)
    store = open_rows(np.concatenate(codes), classes, sizes=plan.sizes, class_count=plan.classes)
    return {"frame": kind}, store
