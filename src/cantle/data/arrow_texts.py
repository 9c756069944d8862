"""Texts in Arrow data that are not UTF-8: each is read by itself, with U+FFFD for its undecodable bytes, as in CSV.

Arrow declares texts to be UTF-8, but neither pyarrow nor Spark checks that: files of other writers hold other bytes.
polars relies on it. Of a text that breaks off in the middle of a character it reads what comes after the text in
memory, and panics; so one record could end a run, or the bytes of another could become part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from cantle.errors import DataError, raise_alone

if TYPE_CHECKING:
    import pyarrow as pa

    Columns = TypeVar("Columns", pa.Table, pa.RecordBatch)
    Values: TypeAlias = pa.Array | pa.ChunkedArray


def decodable(table: Columns) -> Columns:
    """The same table or batch, in which all texts are UTF-8."""
    for place, name in enumerate(table.schema.names):
        column = table.column(place)
        decoded = decodable_column(column)
        if decoded is not column:
            table = table.set_column(place, name, decoded)
    return table


def decodable_column(values: Values) -> Values:
    """The same column, in which all texts are UTF-8. Columns that are, which is nearly all, are not copied."""
    import pyarrow as pa

    binary = _as_binary(values.type)
    if binary is None:
        return values
    try:
        values.validate(full=True)
    except pa.ArrowException:
        return _decoded(values, binary)
    return values


def _as_binary(kind: pa.DataType) -> pa.DataType | None:
    """The type with bytes in place of texts; None if there are no texts in it, or if columns of it are not read."""
    import pyarrow as pa

    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return _as_binary(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = _as_binary(kind.value_type)
        return None if inner is None else pa.large_list(inner)
    return None


def _decoded(values: Values, binary: pa.DataType) -> Values:
    """The values one by one, as bytes that are decoded here: pyarrow would raise an error that quotes them."""
    import pyarrow as pa

    kind = pa.large_list(pa.large_string()) if pa.types.is_large_list(binary) else pa.large_string()
    try:
        plain = values.cast(binary)
        plain.validate(full=True)
        return pa.array([_text(value) for value in plain.to_pylist()], type=kind)
    except Exception:
        raise_alone(DataError("the table is damaged: a column of texts cannot be read; write it again."))


def _text(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [_text(one) for one in value] if isinstance(value, list) else value
