"""Released families as one frame, and as two linked tables with keys from 1 on. Released values only."""

from __future__ import annotations

from typing import cast

import numpy as np
import polars as pl

from cantle.schema.families import FamilySchema
from cantle.trusted.core.arrays import Ints


def joined(parent: pl.DataFrame, child: pl.DataFrame, size: Ints, name: str) -> pl.DataFrame:
    """Both tables as one frame: the children of each parent, which follow each other, as a list."""
    import pyarrow as pa

    offsets = pa.array(np.concatenate([[0], np.cumsum(size)]).astype(np.int64))
    structs = child.to_struct(name).to_arrow()
    lists = cast(pl.Series, pl.from_arrow(pa.LargeListArray.from_arrays(offsets, structs)))
    return parent.with_columns(lists.alias(name).cast(pl.List(pl.Struct(child.schema))))


def children(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows of all children, family after family."""
    return frame[name].filter(frame[name].list.len() > 0).explode().struct.unnest()


def linked(frame: pl.DataFrame, schema: FamilySchema) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both tables of families, with keys: 1, 2, … in the order of the frame."""
    name = schema.names[1]
    parent_key, child_key = (str(one.person) for one in schema.tables)
    number = pl.Series(parent_key, np.arange(1, len(frame) + 1, dtype=np.int64))
    size = frame[name].list.len().to_numpy()
    key = pl.Series(child_key, np.repeat(number.to_numpy(), size))
    return frame.drop(name).insert_column(0, number), children(frame, name).insert_column(0, key)
