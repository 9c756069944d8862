"""Released sets as frames and files: a column of lists, a long table, FIMI lines; and back. Released values only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle import readers
from cantle.errors import DataError, ParameterError, VerifyError
from cantle.fimi import Ints, read_tokens
from cantle.universe import SPACE, Universe

ITEMS = "items"
"""The column of lists of a frame of sets."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The public form in which sets came in, and go out again.

    `form` is fimi, long or list; `frame` is polars, pandas or pyarrow (polars for files and Python lists); then the
    names of the columns.
    """

    form: str
    frame: str = "polars"
    id: str = "id"
    item: str = "item"
    column: str = ITEMS


def to_frame(starts: Ints, codes: NDArray[np.integer], universe: Universe) -> pl.DataFrame:
    """Sets as a frame with one column of lists: record i holds the items of codes[starts[i]:starts[i + 1]].

    >>> to_frame(np.array([0, 2, 3]), np.array([0, 1, 1]), Universe(("bread", "milk")))["items"].to_list()
    [['bread', 'milk'], ['milk']]
    """
    if len(starts) < 2:
        return pl.DataFrame({ITEMS: universe.labels(codes[:0]).implode().head(0)})
    flat = pl.Series([universe.labels(codes)])
    spans = pl.DataFrame({"first": starts[:-1], "count": np.diff(starts)})
    return spans.select(pl.lit(flat).list.slice(pl.col("first"), pl.col("count")).alias(ITEMS))


def to_long(frame: pl.DataFrame) -> pl.DataFrame:
    """One row an item: `id`, from 1 in the order of the frame, and `item`.

    >>> to_long(pl.DataFrame({"items": [["bread", "milk"], ["milk"]]})).rows()
    [(1, 'bread'), (1, 'milk'), (2, 'milk')]
    """
    numbered = frame.select(id=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), item=pl.col(ITEMS))
    return numbered.filter(pl.col("item").list.len() > 0).explode("item")


def give_back(frame: pl.DataFrame, kind: Kind) -> Any:
    """The (public) frame of sets in the form and the kind of frame that came in; ids are fresh."""
    if kind.form == "long":
        return readers.give_back(to_long(frame).rename({"id": kind.id, "item": kind.item}), kind.frame)
    made = readers.give_back(frame.rename({ITEMS: kind.column}), kind.frame)
    if kind.frame == "pandas":  # which would hold arrays; people write lists, and a column of objects if it is empty
        made[kind.column] = made[kind.column].astype(object).map(lambda one: one.tolist())
    return made


# ---------------------------------------------------------------------------------------------------- FIMI


def write_fimi(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Writes a (public) frame of sets as FIMI lines, in its order."""
    sets = frame[ITEMS]
    words = sets.list.eval(pl.element().cast(pl.String))
    flat = words.explode()
    if flat.null_count() or not (words.list.len() > 0).fill_null(False).all():
        raise ParameterError("FIMI lines cannot hold an empty set or a missing item; leave them out.")
    if sets.dtype != pl.List(pl.Int64) and flat.str.contains(SPACE).any():
        raise ParameterError("FIMI lines cannot hold items with a space in them; write Parquet.")
    with Path(path).open("wb") as file:
        words.list.join(" ").to_frame().write_csv(file, include_header=False, quote_style="never")


def read_fimi_frame(path: str | os.PathLike[str], universe: Universe) -> pl.DataFrame:
    """The frame of sets that `write_fimi` wrote; raises VerifyError where that cannot be what it wrote."""
    lines, codes, before = [], [], 0
    try:
        for line, code in read_tokens(Path(path), "utf-8", universe):
            lines.append(line + before)
            codes.append(code)
            before += int(line[-1]) + 1
    except DataError:
        raise VerifyError(f"{Path(path).name!r} is missing or cannot be read") from None
    if any((part < 0).any() for part in codes):
        raise VerifyError(f"{Path(path).name!r} does not hold FIMI lines of declared items only")
    starts = np.zeros(before + 1, dtype=np.int64)
    if before:
        starts[1:] = np.cumsum(np.bincount(np.concatenate(lines), minlength=before))
    return to_frame(starts, np.concatenate([*codes, np.zeros(0, np.int32)]), universe)
