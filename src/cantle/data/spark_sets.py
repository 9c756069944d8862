"""Sets on Spark: long tables and columns of lists, in Spark data frames or in files that Spark reads.

cantle.data.sets defines what a record is. Paths are read without type inference (cantle.data.spark_files), and
the form is chosen by the names and types of the columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from cantle.data import sets
from cantle.data.arrow_batches import polars_of
from cantle.data.engine_choice import Opened
from cantle.data.engines_for_tables import spark_frame
from cantle.data.sets import check_pair
from cantle.data.tables import read_batches
from cantle.schema.sets import SetForm, SetSchema
from cantle.trusted.counting import spark
from cantle.trusted.counting.base import Engine
from cantle.trusted.counting.ragged import Records
from cantle.trusted.counting.spark.sets import Lists, LongRows, SparkSets

if TYPE_CHECKING:
    from cantle.data.spark_files import DataFrame

TEXT = (".csv", ".tsv", ".txt", ".data", ".test", ".json")


def open_spark(data: object, schema: SetSchema, engine: Callable[[Records], Engine]) -> Opened:
    """An engine that counts the records on Spark's workers, and the form of the input."""
    given = hasattr(data, "sparkSession")
    own = not given and not spark.is_running()
    table, _, _ = sets.as_long_table(schema)
    frame = cast("DataFrame", data) if given else spark_frame(spark.session(), data, table, sets.columns_of(schema))
    try:
        form, frame, records = _chosen(frame, data, schema)
        return form.to_dict(), engine(SparkSets(frame, records, own=own))
    except BaseException:
        if own:
            frame.sparkSession.stop()
        raise


def _chosen(frame: DataFrame, data: object, schema: SetSchema) -> tuple[SetForm, DataFrame, LongRows | Lists]:
    """The form of a frame, the columns to read, and what the workers do with them."""
    table, _, _ = sets.as_long_table(schema)
    text = isinstance(data, str | os.PathLike) and os.fspath(data).lower().endswith(TEXT)
    types = polars_of(spark.nothing_of(frame)).schema
    where, universe = "the Spark frame", schema.universe
    column = None if text else sets.list_column_among(where, types, schema)
    if column is not None:
        frame = spark.select(frame, [column])
        sets.lists_of(where, polars_of(spark.nothing_of(frame))[column], universe)  # judges the type
        lists = Lists(lambda batch: sets.pack(*sets.lists_of(where, polars_of(batch)[column], universe), schema))
        return SetForm(form="list", column=column), frame, lists
    check_pair(where, types, schema)
    frame, ids = spark.select(frame, sets.columns_of(schema)), sets.ids_among(schema)
    list(read_batches(polars_of(spark.nothing_of(frame)), table, ids=ids))  # judges the types
    rows = LongRows(
        lambda batch: sets.rows_of(polars_of(batch), schema), ids[-1], lambda group: sets.pack_rows(group, schema)
    )
    return sets.long_form(schema), frame, rows
