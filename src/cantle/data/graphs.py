"""Readers of graphs: edge lists, Matrix Market files, networkx graphs, frames and arrays of two columns, degree lists.

    read_graph("email-Enron.txt.gz", schema)              # SNAP: two identifiers per line, # or % for comments
    read_graph("web.mtx", schema)                         # Matrix Market, coordinate
    read_graph(frame, schema, nodes=["ann", "bob"])       # including nodes without edges

Edges have no direction and count once, however often and in whichever direction they are written.
cantle.trusted.bounding.node_ids defines identifiers, and cantle.schema.identifier_lines defines lines. A line of the
usual column titles (source, target and the like) is not an edge. Cleaning is record by record, without messages; errors
are about the input as a whole, in fixed texts.

The nodes are those that an edge or a loop names, the nodes of a networkx graph, the rows of a Matrix Market file, and
those of `nodes`, a private list of all nodes for `unit: node`. An edge list alone does not contain nodes without edges;
the graph then has `listed` unset, and questions about the number of nodes are refused
(cantle.trusted.bounding.projection).

Edge lists larger than memory (engine duckdb, `unit: edge`) are read some records at a time, and their degrees counted
on disk. Projection, for the other units, takes edges in a public order and needs the whole graph in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat, SupportsIndex, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cantle.data.arrow_batches import polars_of, typed_batches
from cantle.data.engine_choice import POLARS, EngineChoice, Opened
from cantle.data.file_forms import PARQUET, Paths, ending, files, is_path
from cantle.data.frames import (
    ANYTHING,
    EXACT,
    arrow_of,
    as_floats_where_large,
    as_frame,
    as_polars,
    collected,
    frame_or_series,
    is_declared,
    meaning,
    unreadable,
)
from cantle.data.tables import column_types, read_parquet
from cantle.errors import DataError, ParameterError
from cantle.schema.dialect import UNDECODABLE
from cantle.schema.file_bytes import check_file, check_packing
from cantle.schema.graph import GraphSchema, NodeRange
from cantle.schema.identifier_lines import matrix_market, pieces, read_fields
from cantle.schema.values import in_microseconds, text_of
from cantle.trusted.bounding.graph_pairs import Declared, Identified, Pairs
from cantle.trusted.bounding.graph_pairs import Degrees as Degrees
from cantle.trusted.bounding.graph_pairs import Graph as Graph
from cantle.trusted.bounding.node_ids import Column, Identifier, identifier
from cantle.trusted.counting.graph import GraphEngine, count_degrees

if TYPE_CHECKING:
    from cantle.data.frames import Series

Array = NDArray[Any]
"""An array of any type, as in the private data."""
Identifiers = Array | list[object]
"""A column of identifiers, one per record."""

ENGINES = ("memory", "duckdb")
_MISSING_TEXTS = ("none", "nan", "nat", "<na>", "")  # how missing values of frames print themselves
_FLOATS = "identifiers of nodes are declared as floats, which round large numbers; store them as integers or text."


@runtime_checkable
class Network(Protocol):
    """A networkx graph, or an object with the same methods."""

    @property
    def nodes(self) -> Iterable[object]: ...

    def edges(self) -> Iterable[object]: ...

    def is_directed(self) -> bool: ...


def refuse_early(data: object, schema: GraphSchema, choice: EngineChoice, nodes: object) -> None:
    """Refuses a list of nodes if the nodes are public or its file does not exist, packed files that cannot be read, and
    inputs that need memory if another engine was chosen."""
    for one in (data, nodes):
        if _is_path(one):
            check_packing(Path(one), text=ending(one) not in PARQUET)
    if choice.engine == "duckdb":
        refuse_on_disk(data, schema, choice)
    _refuse_public(nodes, schema)
    if isinstance(nodes, str | os.PathLike) and not os.path.exists(nodes):
        raise DataError(f"there is no file {os.path.basename(nodes)!r}; check the path.")


def open_engine(data: object, schema: GraphSchema, method: object, choice: EngineChoice, nodes: object) -> Opened:  # noqa: ARG001
    """An engine that holds the graph; degrees are returned as a polars frame, whatever the form of the input."""
    if choice.engine == "duckdb":
        refuse_on_disk(data, schema, choice)
        assert schema.node_count is not None, "a schema that protects one edge states the number of nodes"
        parts = _parts(files(_paths(data)), schema)
        return POLARS, GraphEngine(count_degrees(parts, schema.node_count, choice.store))
    return POLARS, GraphEngine(read_graph(data, schema, nodes), nodes=schema.node_count)


def _refuse_public(nodes: object, schema: GraphSchema) -> None:
    """Refuses a list of nodes if the schema makes them public."""
    if nodes is not None and schema.unit != "node":
        rule = f"under `unit: {schema.unit}` the nodes are public"
        raise ParameterError(f"nodes: {rule}; declare them in the schema, not with the data")


def read_graph(data: object, schema: GraphSchema, nodes: object = None) -> Graph | Degrees:
    """The graph in a file, frame, array or networkx graph; for `form: degrees`, the degrees.

    `nodes` is a private list of all nodes: a file with one identifier per line, or the identifiers themselves.
    """
    _refuse_public(nodes, schema)
    if schema.form == "degrees":
        return _degrees(_degree_values(data))
    pairs = Pairs(titles=_is_path(data))
    listed = _add_edges(pairs, data, schema.form)
    if nodes is not None:
        _add_nodes(pairs, nodes)
    return pairs.graph(declared_nodes(schema), schema.node_count, listed=listed or nodes is not None)


def declared_nodes(schema: GraphSchema) -> Declared | None:
    """The declared identifiers; None if the schema does not declare them."""
    if isinstance(schema.nodes, NodeRange):
        return Declared(schema.nodes.minimum, schema.nodes.maximum)
    if not isinstance(schema.nodes, tuple):
        return None
    numbers = np.array([one for one in schema.nodes if isinstance(one, int)], dtype=np.int64)
    texts = (one.encode("utf-8", "surrogatepass") for one in schema.nodes if isinstance(one, str))
    return Declared(numbers=numbers, texts=frozenset(texts))


# ------------------------------------------------------------------------------------------------------- edges


def _add_edges(pairs: Pairs, data: object, form: str | None) -> bool:
    """Adds the edges of any input; returns whether the input also names nodes without edges."""
    if _is_path(data):
        return _add_file(pairs, Path(data), form)
    if form == "matrix-market":
        raise DataError("`form: matrix-market` is for files; give a path, or leave `form` out.")
    if isinstance(data, Network):
        pairs.add([_identifiers(one) for one in _two_columns(data.edges())])
        _add_nodes(pairs, list(data.nodes))
        return True
    pairs.add(two_ends(data))
    return False


def _add_file(pairs: Pairs, path: Path, form: str | None) -> bool:
    rows, parts = edge_columns(path, form)
    for columns in parts:
        pairs.add(columns)
    if rows is None:
        return False
    pairs.add_numbers(np.repeat(np.arange(1, rows + 1), 2).reshape(-1, 2))
    return True


def edge_columns(path: Path, form: str | None) -> tuple[int | None, Iterable[list[Column]]]:
    """The two ends of the edges in a file, some at a time; for Matrix Market also the number of rows, that is of
    nodes."""
    if is_matrix_market(path, form):
        rows, entries = matrix_market(path)
        return rows, read_fields(entries, 2)
    if path.suffix.lower() in PARQUET:
        check_file(path)
        return None, [two_ends(read_parquet(path))]
    return None, read_fields(pieces(path), 2)


def is_matrix_market(path: Path, form: str | None) -> bool:
    """Whether a file is in Matrix Market form: by the schema, otherwise by its ending."""
    endings = [ending.lower() for ending in path.suffixes]
    return form == "matrix-market" or (form is None and ".mtx" in endings[-2:])


def two_ends(data: object) -> list[Column]:
    """The identifiers in the first two columns of a frame, an array or a list of pairs."""
    return [_identifiers(one) for one in _columns(data)]


def _add_nodes(pairs: Pairs, nodes: object) -> None:
    if _is_path(nodes):
        for columns in read_fields(pieces(nodes), 1):
            pairs.add(columns)
        return
    if not isinstance(nodes, Iterable):
        raise ParameterError("`nodes` is neither a file nor a list of identifiers; give one of these.")
    pairs.add([_identifiers(_node_column(nodes))])


def _node_column(nodes: Iterable[object]) -> Identifiers:
    """Listed nodes as a column: arrays and series by their type, anything else value by value."""
    import narwhals as nw

    if isinstance(nodes, np.ndarray) and nodes.ndim == 1:
        return _declared_array(nodes)
    series = frame_or_series(nodes)
    return _ids(series) if isinstance(series, nw.Series) else list(nodes)


def _is_path(data: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(data, str | os.PathLike)


# ----------------------------------------------------------------------------------------------------- columns


def _columns(data: object) -> tuple[Identifiers, Identifiers]:
    """The first two columns of a frame, an array or a list of pairs."""
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.shape[1] < 2:
            raise DataError("an array of edges has two columns and one row per edge; reshape it.")
        array = _declared_array(data)
        return array[:, 0], array[:, 1]
    if isinstance(data, list | tuple):
        return _two_columns(data)
    columns = _frame(data)
    if len(columns) < 2:
        raise DataError("a frame of edges has two columns, one for each end; give both.")
    return _ids(columns[0]), _ids(columns[1])


def _two_columns(pairs: Iterable[object]) -> tuple[list[object], list[object]]:
    """The two ends of each pair; anything else in the list is not a record."""
    listed = [pair for pair in pairs if isinstance(pair, list | tuple) or (isinstance(pair, np.ndarray) and pair.ndim)]
    good = [pair for pair in listed if len(pair) >= 2]
    return [pair[0] for pair in good], [pair[1] for pair in good]


def _frame(data: object) -> list[Series]:
    """The columns of a polars, pandas or pyarrow frame or series."""
    import narwhals as nw

    known = "a file, a networkx graph, a frame or an array of two columns"
    with unreadable(f"this cannot be read as a graph; give {known}."):
        native = frame_or_series(data)
        return [native] if isinstance(native, nw.Series) else list(collected(as_frame(native)).iter_columns())


def _ids(series: Series) -> Identifiers:
    """A column of identifiers: an array if all are numbers, otherwise a list of values.

    Columns declared as floats are refused. pandas turns integers into floats if one is missing, and rounds from 2**53
    on; so in pandas such large integers are missing in every type (docs/privacy.md, cleaning).
    """
    import narwhals as nw

    if series.implementation.is_pandas_like() and not is_declared(series.to_pandas().dtype):
        values = series.to_pandas()
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
            return as_floats_where_large(values.to_numpy()) if values.dtype.kind != "b" else values.to_numpy()
        return [None if _is_rounded_elsewhere(value) else value for value in values.tolist()]
    if series.dtype.is_float():
        raise DataError(_FLOATS)
    if series.dtype.is_temporal():  # some of these have no Python object
        return text_of(in_microseconds(as_polars(series))).to_list()
    if series.dtype in (nw.String, nw.Categorical) and (arrow := arrow_of(series)) is not None:
        return [None if text and UNDECODABLE in text else text for text in arrow.to_pylist()]
    # numpy has no integers of 128 bits: without this, a column of them could be read only if a value were missing
    in_array = series.dtype.is_integer() and series.dtype not in (nw.Int128, nw.UInt128)
    return series.to_numpy() if in_array and not series.is_null().any() else series.to_list()


def _is_rounded_elsewhere(value: object) -> bool:
    return isinstance(value, int | np.integer) and abs(int(value)) >= EXACT


def _declared_array(values: Array) -> Array:
    """The array, if it does not hold floats; an empty array may, because numpy makes it from an empty list."""
    if values.dtype.kind == "f" and values.size:
        raise DataError(_FLOATS)
    return values


def _identifiers(values: Identifiers) -> Column:
    """Identifiers of any type, one per record."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        fits = values <= np.uint64(2**63 - 1) if values.dtype == np.uint64 else np.ones(len(values), dtype=np.bool_)
        return _mixed(values, fits)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return _mixed(values, (np.abs(values) < EXACT) & (values == np.floor(values)))
    return _mixed(np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.bool_), values)


def _mixed(values: Array, whole: NDArray[np.bool_], objects: Iterable[object] | None = None) -> Column:
    """Identifiers from an array in which `whole` marks the whole numbers; the others are converted one by one."""
    numbers = np.where(whole, values, 0).astype(np.int64)
    others = values[~whole].tolist() if objects is None else objects
    identifiers = [identifier_of(one) for one in others]
    texts = [b"" if one is None else one if isinstance(one, bytes) else b"%d" % one for one in identifiers]
    return Column(numbers, ~whole, texts)


def identifier_of(value: object) -> Identifier | None:
    """The canonical identifier of any value; None if the value is missing or has no text of its own.

    A float or decimal that is whole and below 2**53 is that number. Other floats are missing, because they may be
    rounded integers, so that two nodes would have the same one.

    >>> identifier_of("007"), identifier_of(7.0), identifier_of(("x", 1)), identifier_of(None)
    (7, 7, b"('x', 1)", None)
    """
    if isinstance(value, timedelta | np.timedelta64):  # those of pandas and of Python have different texts
        return None
    if isinstance(value, complex) and value != value:  # so a blank looks in a column with a complex number
        return None
    if isinstance(value, str | bytes | int):
        return identifier(value)
    if isinstance(value, np.integer | np.bool_):
        return identifier(int(value))
    known = meaning(value)
    if known is not None and isinstance(known[1], float):
        return int(known[1]) if abs(known[1]) < EXACT and known[1].is_integer() else None
    return _of_object(value)


def _of_object(value: object) -> Identifier | None:
    """The text of tuples and similar objects; an object whose text is only its address in memory has no identifier."""
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return None
    try:
        text = str(value)
    except Exception:  # code of another library failed for this value: it is missing
        return None
    return None if text.lower() in _MISSING_TEXTS else identifier(text)


# ----------------------------------------------------------------------------------------------------- degrees


def _degree_values(data: object) -> NDArray[np.float64]:
    """One number per node. An unreadable value becomes 0, so that the number of nodes is the number of lines."""
    if _is_path(data):
        columns = [columns[0] for columns in read_fields(pieces(data), 1)]
        return np.concatenate([np.empty(0), *(_patched(column) for column in columns)])
    if isinstance(data, np.ndarray) and data.ndim == 1:
        values = data.tolist()
    elif isinstance(data, list | tuple):
        values = data
    else:
        listed = _frame(data)
        if len(listed) != 1:
            raise DataError("a list of degrees has one column; give that one.")
        values = listed[0].to_list()
    return np.array([_number(value) for value in values], dtype=np.float64)


def _patched(column: Column) -> NDArray[np.float64]:
    values = column.numbers.astype(np.float64)
    values[column.other] = [_number(text) for text in column.texts]
    return values


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, str | bytes | SupportsFloat | SupportsIndex) else 0.0
    except ANYTHING:  # a value that is not a number
        return 0.0


def _degrees(values: NDArray[np.float64]) -> Degrees:
    """Whole degrees from 0 to the number of other nodes, ascending."""
    most = max(len(values) - 1, 0)
    return Degrees(np.sort(np.clip(np.floor(np.nan_to_num(values, nan=0.0)), 0, most).astype(np.int64)))


# -------------------------------------------------------------------------------------------------- larger than memory


def refuse_on_disk(data: object, schema: GraphSchema, choice: EngineChoice) -> None:
    """Refuses inputs and units that need the graph in memory, before anything is read."""
    if schema.unit != "edge":
        rule = f"engine duckdb takes graphs under `unit: edge`; projecting one for `unit: {schema.unit}` needs it"
        raise ParameterError(f"{rule} in memory; use engine memory")
    if schema.form in ("degrees", "matrix-market"):
        raise ParameterError(f"engine duckdb takes edge lists, not `form: {schema.form}`; use engine memory")
    if choice.table is not None:
        raise ParameterError("table names a table of a database, and graphs are read from files; leave it out")
    for path in files(_paths(data)):
        if is_matrix_market(path, schema.form):
            raise DataError(f"{path.name!r} is in Matrix Market form; use engine memory, or give an edge list.")


def _paths(data: object) -> Paths:
    """The paths of the files. In a list only `pathlib.Path` counts: texts may be nodes, which no message may name."""
    if is_path(data):
        return data
    if isinstance(data, list) and data and all(isinstance(one, Path) for one in data):
        return data
    rule = "engine duckdb takes graphs from files of edges"
    raise DataError(f"{rule}; give a file, a folder, a pattern or a list of pathlib.Path, or use engine memory.")


def _parts(paths: list[Path], schema: GraphSchema) -> Iterator[Identified]:
    """The clean pairs of all files, some at a time."""
    declared = declared_nodes(schema)
    for path in paths:
        for columns in _ends_in(path):
            pairs = Pairs(titles=True)
            pairs.add(columns)
            yield pairs.identified(declared)


def _ends_in(path: Path) -> Iterable[list[Column]]:
    """The two ends of the edges in a file, some at a time."""
    check_file(path)
    if ending(path) not in PARQUET:
        return edge_columns(path, "edges")[1]
    batches = typed_batches(path, list(column_types(path))[:2])
    return (two_ends(polars_of(batch)) for batch in batches)
