"""Sets on Spark: long tables and columns of lists, in Spark data frames or in files that Spark reads.

cantle.data.sets defines what a record is. Paths are read without type inference (cantle.data.spark_files), and
the form is chosen by the names and types of the columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from cantle import kernel_choice
from cantle.data import sets
from cantle.data.engine_choice import Opened
from cantle.data.engines_for_tables import polars_of, spark_frame
from cantle.data.set_form import check_pair
from cantle.data.sets import AsksSets
from cantle.data.tables import as_ids, read_batches
from cantle.schema.sets import SetForm, SetSchema
from cantle.trusted.counting import spark
from cantle.trusted.counting.filed_sets import FiledSetEngine, Packed
from cantle.trusted.counting.spark.sets import Lists, LongRows, Rows, SparkSets

if TYPE_CHECKING:
    import pyarrow

    from cantle.data.spark_files import DataFrame

TEXT = (".csv", ".tsv", ".txt", ".data", ".test", ".json")


def open_spark(data: object, schema: SetSchema, method: AsksSets) -> Opened:
    """An engine that counts the sets on Spark's workers, and the form of the input."""
    form, spark_sets, number = spark_records(data, schema)
    least = method.kernels_from
    compiled = least is not None and kernel_choice.worth_loading(number, least)
    return form.to_dict(), FiledSetEngine(spark_sets, tree=method.tree, most=method.most, compiled=compiled)


def spark_records(data: object, schema: SetSchema) -> tuple[SetForm, SparkSets, int]:
    """The form of the input, its records on Spark's workers, and their number."""
    given = hasattr(data, "sparkSession")
    own = not given and not spark.is_running()
    frame = cast("DataFrame", data) if given else _read(data, schema)
    try:
        form, frame, records = _chosen(frame, data, schema)
        spark_sets = SparkSets(frame, records, own=own)
        return form, spark_sets, int(spark_sets.added(lambda starts, _: np.array([len(starts) - 1]))[0])
    except BaseException:
        if own:
            frame.sparkSession.stop()
        raise


def _read(data: object, schema: SetSchema) -> DataFrame:
    table, _, _ = sets.as_long_table(schema)
    return spark_frame(spark.session(), data, table, [one.name for one in table.fields])


def _chosen(frame: DataFrame, data: object, schema: SetSchema) -> tuple[SetForm, DataFrame, LongRows | Lists]:
    """The form of a frame, the columns to read, and what the workers do with them."""
    table, _, _ = sets.as_long_table(schema)
    text = isinstance(data, str | os.PathLike) and os.fspath(data).lower().endswith(TEXT)
    types = polars_of(spark.nothing_of(frame)).schema
    where = "the Spark frame"
    column = None if text else sets.list_column_among(where, types, schema)
    if column is not None:
        frame = spark.select(frame, [column])
        sets.lists_of(where, polars_of(spark.nothing_of(frame))[column], schema.universe)  # judges the type
        return SetForm(form="list", column=column), frame, Lists(_of_lists(where, column, schema))
    check_pair(where, types, schema)
    frame = spark.select(frame, [one.name for one in table.fields])
    list(read_batches(polars_of(spark.nothing_of(frame)), table, ids=sets.id_columns(schema)))  # judges the types
    return sets.long_form(schema), frame, LongRows(_of_rows(schema), _grouped(schema))


def _of_lists(where: str, column: str, schema: SetSchema) -> Callable[[pyarrow.RecordBatch], Packed]:
    def pack(batch: pyarrow.RecordBatch) -> Packed:
        return sets.pack(*sets.lists_of(where, polars_of(batch)[column], schema.universe), schema)

    return pack


def _of_rows(schema: SetSchema) -> Callable[[pyarrow.RecordBatch], Rows]:
    def encode(batch: pyarrow.RecordBatch) -> Rows:
        keys, codes = sets.rows_of(polars_of(batch), schema, as_ids)
        return tuple(keys), codes

    return encode


def _grouped(schema: SetSchema) -> Callable[[Rows], Packed]:
    def pack(rows: Rows) -> Packed:
        keys, codes = rows
        return sets.pack(*sets.long_rows(keys, codes.astype(np.int32), schema), schema)

    return pack
