"""Results of a method: synthetic records as integer codes, one array per column, converted to a frame when needed.

Released values only. The files are byte for byte those that polars would write (`csv_of`). Datetimes are whole seconds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from cantle.errors import MissingExtra, ParameterError, raise_alone
from cantle.schema.domain import Attribute, Labels, Lists, Plane
from cantle.schema.lists import as_texts, from_texts
from cantle.trusted.core.arrays import Codes, Ints

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow

    from cantle.drawing.counts import Dice

    NativeFrame: TypeAlias = pl.DataFrame | pd.DataFrame | pyarrow.Table
    import polars as pl

    from cantle.schema.canonical_json import JSON


LISTED = 1 << 16
"""A column of at most this many values is converted to text once, however few records there are."""

MOST_DRAWN, MOST_ITEMS, MOST_VALUES = 50_000_000, 150_000_000, 300_000_000
"""Most records, most items of sets, and most values of a table in one release: they fit in the memory of an ordinary
machine."""

_ROWS = 1 << 14  # records written together by the kernel
_MANY = 1 << 18  # records written together as frames


ITEMS_WANTED = "items_wanted"
"""In the summary of a release of sets: the items that the noisy counts call for, if these are too many to draw."""


def wanted_items(items: float) -> dict[str, int]:
    """The entry in the summary of a release whose noisy counts call for too many items; otherwise empty.

    With a very small epsilon the noise alone may call for billions of items. The run is paid for by then, so fewer
    records are drawn, and the release says so.
    """
    return {ITEMS_WANTED: math.ceil(items)} if items > MOST_ITEMS else {}


RECORDS_WANTED = "records_wanted"
"""In the summary of a release of a table: the records that the noisy counts call for, if these are too many to draw."""


def most_records(columns: int) -> int:
    """Most records that are drawn for a table of so many columns."""
    return min(MOST_DRAWN, MOST_VALUES // max(1, columns))


def drawable(count: Ints, columns: int, dice: Dice) -> tuple[Ints, dict[str, int]]:
    """Numbers of records to draw, and the entry in the summary if all of them are too many: then each number is scaled
    down by the same factor and rounded at random."""
    wanted, most = float(count.sum(dtype=np.float64)), most_records(columns)
    if wanted <= most:
        return count, {}
    running = np.floor(np.cumsum(count.reshape(-1) * (most / wanted)) + dice.random())
    fewer = np.diff(running, prepend=0.0).astype(np.int64)
    return fewer.reshape(count.shape), {RECORDS_WANTED: math.ceil(wanted)}


def records_meant(summary: Mapping[str, int]) -> int:
    """The records of a table that the released records stand for: their number, or more if not all were drawn."""
    return summary.get(RECORDS_WANTED, summary["records"])


def share_drawn(summary: Mapping[str, int]) -> float:
    """The share of the records in the noisy counts that are drawn: 1, or less if these are too many."""
    if RECORDS_WANTED in summary:
        return summary["records"] / summary[RECORDS_WANTED]
    return MOST_ITEMS / max(MOST_ITEMS, summary.get(ITEMS_WANTED, 0))


def require_drawable(items: float) -> None:
    """Refuses to draw more items than fit in memory."""
    if items > MOST_ITEMS:
        raise ParameterError(
            f"the noisy counts ask for more than {MOST_ITEMS:,} items, the most that are drawn; if the data has less, "
            "raise epsilon"
        )


SECONDS = "%Y-%m-%dT%H:%M:%S"
"""How datetimes are written."""


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    """Writes the text of `csv_of` to a file without holding it in memory."""
    frame = with_texts(frame)
    frame.write_csv(path, null_value='""' if frame.width == 1 else None, datetime_format=SECONDS)


def csv_of(frame: pl.DataFrame, *, include_header: bool = True) -> str:
    """A released table as CSV. A null in a table of one column is a pair of quotes: many readers skip empty lines."""
    null, frame = '""' if frame.width == 1 else None, with_texts(frame)
    return frame.write_csv(include_header=include_header, null_value=null, datetime_format=SECONDS)


def read_csv(path: Path, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """A frame of these types that `write_csv` wrote."""
    import polars as pl

    lists = {name: kind for name, kind in types.items() if isinstance(kind, pl.List)}
    frame = pl.read_csv(path, schema={**types, **dict.fromkeys(lists, pl.String())})
    return frame.with_columns(from_texts(frame[name], kind).alias(name) for name, kind in lists.items())


def with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists as texts."""
    import polars as pl

    lists = [one.name for one in frame if isinstance(one.dtype, pl.List)]
    return frame.with_columns(as_texts(frame[name]).alias(name) for name in lists) if lists else frame


def give_back(frame: pl.DataFrame, kind: str, nullable: Collection[str] = ()) -> NativeFrame:
    """The (public) frame as the kind of frame that was given: polars, pandas or pyarrow.

    `nullable` are the columns that may hold nulls.
    """
    if kind == "polars":
        return frame
    try:
        if kind == "pyarrow":
            return frame.to_arrow()
        if kind == "pandas":
            return _to_pandas(frame, nullable)
    except ImportError:
        raise_alone(MissingExtra(f"frames of kind {kind!r} need {kind}; install it."))
    raise ParameterError(f"frame kind {kind!r} is not known; use polars, pandas or pyarrow.")


def kind_of_frame(records: Drawn | NativeFrame) -> str:
    """The kind of frame that records are in: polars, pandas or pyarrow."""
    library = type(records).__module__.partition(".")[0]
    return library if library in ("pandas", "pyarrow") else "polars"


def _to_pandas(frame: pl.DataFrame, nullable: Collection[str]) -> pd.DataFrame:
    """A pandas frame in which integers and booleans that may be null stay integers and booleans."""
    import pandas as pd
    import polars as pl

    def column(series: pl.Series) -> npt.ArrayLike:
        if series.dtype == pl.String:
            return pd.Series(series.to_list(), dtype=pd.Series(["text"]).dtype)
        if series.dtype in (pl.Int64, pl.Boolean) and (series.name in nullable or series.null_count()):
            return pd.array(series.to_list(), dtype="Int64" if series.dtype == pl.Int64 else "boolean")
        if isinstance(series.dtype, pl.List):
            return pd.Series(series.to_list(), dtype=object)
        if series.dtype == pl.Date:
            return series.cast(pl.Datetime("ms")).to_numpy()
        return series.to_numpy()

    return pd.DataFrame({series.name: column(series) for series in frame})


@dataclass(frozen=True, eq=False)
class Drawn:
    """Columns in the order of the schema; a code is the place of a value on its grid, null the place after the last."""

    attributes: tuple[Attribute, ...]
    codes: tuple[Codes, ...]
    records: int
    compiled: bool = False
    """Whether compiled kernels write the records; the bytes are the same."""

    @staticmethod
    def of(columns: list[tuple[Attribute, Codes]], records: int, *, compiled: bool = False) -> Drawn:
        """The records of these columns, each given with its codes."""
        attributes, codes = (tuple(side) for side in zip(*columns, strict=True)) if columns else ((), ())
        return Drawn(attributes, codes, records, compiled)

    def __len__(self) -> int:
        return self.records

    def frame(self) -> pl.DataFrame:
        """The records as a data frame."""
        return self._frame(slice(None))

    def _frame(self, part: slice) -> pl.DataFrame:
        import polars as pl

        columns = zip(self.attributes, self.codes, strict=True)
        return pl.DataFrame([one for attribute, codes in columns for one in attribute.written(codes[part])])

    def _frames(self) -> Iterator[pl.DataFrame]:
        for first in range(0, self.records, _MANY):
            yield self._frame(slice(first, first + _MANY))

    def write_parquet(self, path: Path, metadata: dict[str, str]) -> None:
        """Writes the records, some at a time."""
        from polars.io.plugins import register_io_source

        def source(*_: object) -> Iterator[pl.DataFrame]:
            return self._frames()

        stream = register_io_source(source, schema=self._frame(slice(0)).schema)
        stream.sink_parquet(path, metadata=metadata, row_group_size=_MANY)

    def write_csv(self, path: Path) -> str:
        """Writes the records, some at a time; returns the hash of the file."""
        words = self._words() if self.compiled and len(self.attributes) > 1 else None
        if words is not None:
            return self._write(path, *words)
        digest = hashlib.sha256()
        with path.open("wb") as file:
            for number, frame in enumerate(self._frames() if self.records else [self.frame()]):
                text = csv_of(frame, include_header=number == 0).encode()
                digest.update(text)
                file.write(text)
        return digest.hexdigest()

    def _write(self, path: Path, tables: list[_Words], header: bytes) -> str:
        from cantle.drawing import _kernels

        wide = max(attribute.grid for attribute in self.attributes) >= 2**31
        block = np.zeros((_ROWS, len(tables)), dtype=np.int64 if wide else np.int32)
        starts = np.cumsum([0, *(len(table.places) for table in tables)])[:-1]
        offsets = np.cumsum([0, *(len(table.text) for table in tables)])[:-1]
        steps = np.array(
            [[start, table.first, table.step, table.end] for start, table in zip(starts, tables, strict=True)]
        )
        places = np.concatenate([table.places + (offset << 16) for table, offset in zip(tables, offsets, strict=True)])
        text = np.concatenate([*(table.text for table in tables), np.zeros(_kernels.WHOLE, np.uint8)])
        longest = sum(table.longest for table in tables)
        room = np.empty(_ROWS * longest + _kernels.WHOLE, dtype=np.uint8)
        digest = hashlib.sha256(header)
        with path.open("wb") as file:
            file.write(header)
            for first in range(0, self.records, _ROWS):
                number = min(_ROWS, self.records - first)
                for j, codes in enumerate(self.codes):
                    block[:number, j] = codes[first : first + number]
                made = room[: _kernels.join(block[:number], steps, places, text, room)].data
                digest.update(made)
                file.write(made)
        return digest.hexdigest()

    def _words(self) -> tuple[list[_Words], bytes] | None:
        """Each column's values as bytes, and the header line; None if that does not pay off or is not possible."""
        import polars as pl

        tables, last = [], len(self.attributes) - 1
        for j, attribute in enumerate(self.attributes):
            end = b"\n" if j == last else b","
            scale = attribute.scale
            if isinstance(scale, Plane | Lists):
                return None
            if attribute.grid > LISTED and not isinstance(scale, Labels) and scale.type == "integer":
                tables.append(_Words.integers(scale.first, scale.step, attribute.grid, end))
                continue
            table = _Words.listed(attribute, end) if attribute.grid <= max(LISTED, self.records) else None
            if table is None:
                return None
            tables.append(table)
        names = pl.DataFrame({attribute.name: [] for attribute in self.attributes})
        return tables, names.write_csv().encode()


@dataclass(frozen=True, eq=False)
class _Words:
    """The values of a column as bytes, each followed by the comma or line feed that ends its field.

    `places` holds position << 16 | length for each value.
    """

    text: npt.NDArray[np.uint8]
    places: npt.NDArray[np.int64]
    longest: int
    first: int = 0
    step: int = 0  # if not 0, values are whole numbers from `first` on, and only null is listed
    end: int = 0

    @staticmethod
    def integers(first: int, step: int, grid: int, end: bytes) -> _Words:
        null, longest = np.frombuffer(end, np.uint8), max(len(str(first)), len(str(first + (grid - 1) * step))) + 1
        return _Words(null, np.array([1]), longest, first, step, grid)

    @staticmethod
    def listed(attribute: Attribute, end: bytes) -> _Words | None:
        """All values and null as polars writes them; None if a value has a line break."""
        import polars as pl

        values = attribute.values(np.arange(attribute.grid + 1))
        written = pl.DataFrame([values.alias("a"), pl.repeat(0, len(values), eager=True).alias("b")])
        lines = written.write_csv(include_header=False, separator=",", datetime_format=SECONDS)
        text = np.frombuffer(lines.encode(), dtype=np.uint8).copy()
        ends = np.flatnonzero(text == 10)
        if len(ends) != len(values) or (text == 13).any():
            return None
        starts = np.concatenate([[0], ends[:-1] + 1])
        text[ends - 2] = end[0]  # the comma before the second column
        lengths = ends - 1 - starts
        if lengths.max(initial=0) >= 1 << 16:
            return None
        return _Words(text, starts << 16 | lengths, int(lengths.max(initial=1)))


@dataclass(frozen=True, eq=False)
class Results:
    """Records and groups, other frames by name, the numbers of the summary, and public structure for release.json."""

    drawn: Drawn | pl.DataFrame
    """The records as codes (Drawn) or as a frame; codes can be written to a file without making a frame."""
    groups: pl.DataFrame
    frames: dict[str, pl.DataFrame]
    summary: dict[str, int]
    structure: dict[str, JSON] = field(default_factory=dict)
    sets: tuple[Ints, Codes] | None = None
    """Released sets as item codes: where each begins, and the items of all."""
    families: tuple[Sequence[Codes], Ints, Sequence[Codes]] | None = None
    """Released families: the parents' codes, their numbers of children, and the children's codes."""

    @cached_property
    def records(self) -> pl.DataFrame:
        """The records as a frame."""
        return as_frame(self.drawn)


def as_frame(drawn: Drawn | pl.DataFrame) -> pl.DataFrame:
    """Records as a frame; codes are converted."""
    return drawn.frame() if isinstance(drawn, Drawn) else drawn
