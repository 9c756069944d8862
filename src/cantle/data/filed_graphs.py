"""Edge lists larger than memory: text and Parquet files read in parts, for engine duckdb and `unit: edge`.

Records and identifiers are defined in cantle.data.graphs. Here files are read some records at a time, and degrees are
counted on disk (cantle.trusted.counting.degrees_on_disk). Projection, for the other units, takes edges in a public
order and needs the whole graph in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cantle.data import graphs
from cantle.data.arrow_batches import parquet_batches, polars_of
from cantle.data.engine_choice import POLARS, EngineChoice, Opened
from cantle.data.file_forms import PARQUET, Paths, ending, files, is_path
from cantle.data.tables import column_types
from cantle.errors import DataError, ParameterError
from cantle.schema.graph import GraphSchema
from cantle.schema.identifier_lines import check_file
from cantle.trusted.bounding.graph_pairs import Identified, Pairs
from cantle.trusted.bounding.node_ids import Column
from cantle.trusted.counting.degrees_on_disk import count_degrees
from cantle.trusted.counting.graph import GraphEngine
from cantle.trusted.counting.stores import OnDisk


def refuse_filed(data: object, schema: GraphSchema, choice: EngineChoice) -> None:
    """Refuses inputs and units that need the graph in memory, before anything is read."""
    if schema.unit != "edge":
        rule = f"engine duckdb takes graphs under `unit: edge`; projecting one for `unit: {schema.unit}` needs it"
        raise ParameterError(f"{rule} in memory; use engine memory")
    if schema.form in ("degrees", "matrix-market"):
        raise ParameterError(f"engine duckdb takes edge lists, not `form: {schema.form}`; use engine memory")
    if choice.table is not None:
        raise ParameterError("table names a table of a database, and graphs are read from files; leave it out")
    for path in files(_paths(data)):
        if graphs.is_matrix_market(path, schema.form):
            raise DataError(f"{path.name!r} is in Matrix Market form; use engine memory, or give an edge list.")


def _paths(data: object) -> Paths:
    """The paths of the files. In a list only `pathlib.Path` counts: texts may be nodes, which no message may name."""
    if is_path(data):
        return data
    if isinstance(data, list) and data and all(isinstance(one, Path) for one in data):
        return data
    rule = "engine duckdb takes graphs from files of edges"
    raise DataError(f"{rule}; give a file, a folder, a pattern or a list of pathlib.Path, or use engine memory.")


def open_filed(data: object, schema: GraphSchema, choice: EngineChoice) -> Opened:
    """An engine that holds the degrees of the nodes."""
    refuse_filed(data, schema, choice)
    nodes = schema.node_count
    assert nodes is not None, "a schema that protects one edge states the number of nodes"
    return POLARS, GraphEngine(count_degrees(_parts(files(_paths(data)), schema), nodes, OnDisk(choice.files)))


def _parts(paths: list[Path], schema: GraphSchema) -> Iterator[Identified]:
    """The clean pairs of all files, some at a time."""
    declared = graphs.declared_nodes(schema)
    for path in paths:
        for columns in _columns(path):
            pairs = Pairs(titles=True)
            pairs.add(columns)
            yield pairs.identified(declared)


def _columns(path: Path) -> Iterable[list[Column]]:
    """The two ends of the edges in a file, some at a time."""
    check_file(path)
    if ending(path) not in PARQUET:
        return graphs.edge_columns(path, "edges")[1]
    batches = parquet_batches(path, list(column_types(path))[:2])
    return (graphs.two_ends(polars_of(batch)) for batch in batches)
