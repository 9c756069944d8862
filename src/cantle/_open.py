"""Opens private data as the engine a method asks: records become codes of the public domain, once."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cantle.data.encoding import read_codes
from cantle.data.engines_for_tables import IN_MEMORY, EngineChoice, open_table
from cantle.data.graphs import read_graph
from cantle.data.sets import FIMI, read_baskets
from cantle.data.spark_files import require_readable
from cantle.data.tables import as_ids, read_batches
from cantle.errors import DataError, ParameterError
from cantle.methods.degrees import DegreeSequence
from cantle.methods.diffgen import DiffGen
from cantle.methods.diffpart import DiffPart
from cantle.methods.rps import RPS
from cantle.trusted.bounding.persons import person_numbers, within_bound
from cantle.trusted.engines.base import Engine
from cantle.trusted.engines.columns import ColumnEngine
from cantle.trusted.engines.graph import GraphEngine
from cantle.trusted.engines.rows import open_rows
from cantle.trusted.engines.sets import SetEngine

Plan = RPS | DiffGen | DiffPart | DegreeSequence
Form = dict[str, str]
"""The public form in which data came in, so that records can be given back in it."""


def require_fitting(data: Any, schema: Any, nodes: Any, choice: EngineChoice = IN_MEMORY) -> None:
    """Refuses what shows without opening the data, so that it costs nothing: persons where the engine cannot bound
    their records, a node list where none can be used, and FIMI lines that cannot hold the declared items."""
    if schema.kind == "table" and schema.person is not None and choice.engine != "memory":
        raise ParameterError(f"engine {choice.engine} cannot bound the records of a person yet; use engine memory")
    if choice.engine == "spark":
        require_readable(data, schema)
    if nodes is not None:
        if schema.kind != "graph":
            raise ParameterError("nodes is for graphs: a private list of the nodes that may have no edge")
        if schema.unit != "node":
            rule = f"under `unit: {schema.unit}` the nodes are public"
            raise ParameterError(f"nodes: {rule}; declare them in the schema, not with the data")
        if isinstance(nodes, str | os.PathLike) and not os.path.exists(nodes):
            raise DataError(f"there is no file {os.path.basename(nodes)!r}; check the path.")
    if schema.kind == "sets" and isinstance(data, str | os.PathLike):
        lines = schema.form is None and Path(data).suffix.lower() in FIMI
        if schema.form == "fimi" or lines:
            schema.universe.check_fimi()


def open_data(
    data: Any, schema: Any, plan: Plan, nodes: Any = None, choice: EngineChoice = IN_MEMORY
) -> tuple[Form, Engine]:
    """The data behind an engine, and the form it came in; `nodes` is the private node list of a graph."""
    if isinstance(plan, DegreeSequence):
        return {"frame": "polars"}, GraphEngine(read_graph(data, schema, nodes), nodes=schema.node_count)
    if isinstance(plan, DiffPart):
        baskets = read_baskets(data, schema)
        return asdict(baskets.form), SetEngine(baskets.starts, baskets.items, tree=plan.tree, most=plan.most)
    if schema.person is not None:
        return _persons(data, schema, plan)
    if choice.engine != "memory":
        return {"frame": "polars"}, open_table(data, schema, plan, choice)
    return _table(data, schema, plan)


def _table(data: Any, schema: Any, plan: RPS | DiffGen) -> tuple[Form, Engine]:
    """Codes in the layout the method asks about."""
    kind, parts = "", []
    for kind, *part in read_codes(data, schema, plan.domain, plan.layout):  # noqa: B007 - all batches are of one kind
        parts.append(part)
    codes, classes = [part[0] for part in parts], np.concatenate([part[1] for part in parts])
    if plan.layout == "columns":
        return {"frame": kind}, _columns([np.concatenate(column) for column in zip(*codes, strict=True)], classes, plan)
    return {"frame": kind}, _rows(np.concatenate(codes), classes, plan)


def _persons(data: Any, schema: Any, plan: RPS | DiffGen) -> tuple[Form, Engine]:
    """The same, with the records of each person bounded (cantle.trusted.bounding.persons)."""
    kind, parts, ids = "", [], []
    attributes = [*plan.domain.attributes, *([plan.domain.target] if plan.domain.target else [])]
    for batch in read_batches(data, schema):
        kind, frame = batch.kind, batch.frame
        ids.append(as_ids(frame[schema.person], schema.missing_values))
        parts.append([attribute.encode(frame[attribute.name]) for attribute in attributes])
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    person = person_numbers(pl.concat(ids))
    known = np.flatnonzero(np.logical_and.reduce([column >= 0 for column in columns]) & (person >= 0))
    columns = [column[known] for column in columns]
    used = within_bound(person[known], columns, schema.max_records)
    columns = [column[used] for column in columns]
    classes = columns.pop() if plan.domain.target else np.zeros(int(used.sum()), np.uint8)
    if plan.layout == "columns":
        return {"frame": kind}, _columns(columns, classes, plan)
    width = np.min_scalar_type(max([1, *plan.sizes]))
    rows = np.stack([column.astype(width) for column in columns], axis=1) if columns else np.zeros((len(classes), 0))
    return {"frame": kind}, _rows(rows, classes, plan)


def _columns(columns: list[Any], classes: Any, plan: RPS | DiffGen) -> Engine:
    return ColumnEngine(columns, classes, sizes=plan.sizes, class_count=plan.classes)


def _rows(codes: Any, classes: Any, plan: RPS | DiffGen) -> Engine:
    return open_rows(codes, classes, sizes=plan.sizes, class_count=plan.classes)
