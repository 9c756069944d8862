"""Conversion of frames into small integer codes by a public schema, which all evaluations share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from cantle.errors import DataError, raise_alone
from cantle_lab.documents import FieldDocument, TableDocument, bounds

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """One attribute's public values, numbered from 0 to `size` - 1 in their order."""

    name: str
    kind: Literal["number", "ordered", "nominal"]
    size: int
    low: float = 0
    step: float = 1
    categories: tuple[str, ...] = ()

    def encode(self, column: pl.Series) -> Ints:
        """The code of each value; numbers are clipped to the public bounds."""
        if column.null_count():
            raise DataError(f"column {self.name} has nulls; the evaluator works on complete tables")
        if self.kind == "number":
            codes = np.rint((column.to_numpy() - self.low) / self.step).astype(np.int64)
            return np.clip(codes, 0, self.size - 1)
        try:
            texts = column.cast(pl.String)
            return texts.cast(pl.Enum(self.categories)).to_physical().to_numpy().astype(np.int64)
        except pl.exceptions.PolarsError:
            raise_alone(DataError(f"column {self.name} has values outside its categories; list them all"))

    def decode(self, codes: Ints) -> pl.Series:
        """The values behind the codes: integers, floats (fractional grid) or strings."""
        if self.kind != "number":
            return pl.Series(self.name, np.array(self.categories, dtype=object)[codes], dtype=pl.String)
        values = self.low + self.step * codes
        whole = float(self.low).is_integer() and float(self.step).is_integer()
        return pl.Series(self.name, np.rint(values).astype(np.int64) if whole else values)


@dataclass(frozen=True)
class Coded:
    """A table as codes: `codes` has one column per attribute, `labels` is the target (zeros without a target)."""

    codes: Ints
    labels: Ints

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Ints) -> Coded:
        """The records at these positions."""
        return Coded(self.codes[rows], self.labels[rows])


class Coder:
    """The public schema as grids: `attributes` (without target and identifiers) and `target`."""

    def __init__(self, schema: TableDocument) -> None:
        fields = [f for f in schema["fields"] if f.get("role") != "identifier"]
        self.attributes = tuple(_grid(f) for f in fields if f.get("role") != "target")
        targets = [_grid(f) for f in fields if f.get("role") == "target"]
        self.target = targets[0] if targets else None
        self.order = [f["name"] for f in fields]

    @property
    def classes(self) -> int:
        """The number of classes; 1 without a target."""
        return self.target.size if self.target else 1

    def encode(self, frame: pl.DataFrame) -> Coded:
        """The frame as codes, with columns in schema order."""
        columns = [grid.encode(frame[grid.name]) for grid in self.attributes]
        codes = np.column_stack(columns) if columns else np.zeros((frame.height, 0), dtype=np.int64)
        labels = self.target.encode(frame[self.target.name]) if self.target else np.zeros(len(codes), np.int64)
        return Coded(codes, labels)

    def decode(self, table: Coded) -> pl.DataFrame:
        """The frame that the codes stand for, with columns in schema order."""
        columns = [grid.decode(table.codes[:, i]) for i, grid in enumerate(self.attributes)]
        if self.target:
            columns.append(self.target.decode(table.labels))
        return pl.DataFrame(columns).select(self.order)


def _grid(field: FieldDocument) -> Grid:
    name, rules = field["name"], field.get("constraints", {})
    categories = field.get("categories") or rules.get("enum")
    if categories:
        kind: Literal["ordered", "nominal"] = "ordered" if field.get("categoriesOrdered") else "nominal"
        return Grid(name=name, kind=kind, size=len(categories), categories=tuple(map(str, categories)))
    (low, high), step = bounds(field), field.get("step", rules.get("multipleOf", 1))
    return Grid(name=name, kind="number", size=round((high - low) / step) + 1, low=low, step=step)
