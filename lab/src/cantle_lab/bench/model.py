"""A model of the cost of 10^9 and 10^12 records on a cluster, from measured passes; it is not a measurement.

The cost of every pass is a line through two measured runs, fixed + rate * size (or through one run and the origin, if
there is only one, or if the measured line falls). With n records, w workers and n0 records in the larger run:

    levels    L = L0 + log2(n / n0) if the method deepens with the data, up to its public limit; otherwise L0
    cells     g = the factor by which cells of counts and draws grow: 2 ** (L - L0), or n / n0 up to a limit, or 1
    workers   n * open + L * n * (count and move, per level) core-seconds, shared evenly by w, plus fixed costs
    driver    g * cells * (noise and choices, per cell), in one process
    adding up (8 - 1) * E_j * add on each level j of a tree of workers, the driver last: log8(w) levels, one after the
              other. E_j is the number of entries that one node of that tree sends in all: g * cells, but at most one
              per attribute, level and record of the 8 ** j workers below
    records   n * (draw and save), in one process

A worker sends 16 bytes per entry (cell and count). The model leaves out skew, stragglers, latency, spilling to disk,
and the network, so its results are lower bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import Any

from cantle.kernel_choice import FROM
from cantle.methods.diffgen.method import MOST_ROUNDS
from cantle.methods.diffpart.method import PRESETS, DiffPartSettings
from cantle.methods.rps.method import DEEPEST
from cantle.methods.settings import read_settings
from cantle.trusted.counting.spark.workers import MOST

ENTRY = 16
HOUR = 3600.0
CORES = (1, 32, 1000)
RECORDS = (10**9, 10**12)
LEAST = FROM
"""The fewest records of a run that the model uses. Smaller runs use other kernels, and most of their cost is fixed."""


Run = dict[str, Any]
"""One row of the table of measurements, by the names of its columns."""


@dataclass(frozen=True)
class Rule:
    """How a method's number of levels or cells grows with the number of records."""

    per_doubling: int = 0
    """Further levels per doubling of the records."""
    most_levels: int = 0
    most_cells: int | None = None
    """The largest number of cells on a level; None if it does not grow with the records."""


RULES = {
    "mosaic": Rule(),  # it has at most twice as many tables as columns, however many records there are
    "rps": Rule(1, DEEPEST),
    "diffgen": Rule(1, MOST_ROUNDS + 1),  # after the last round, records are placed once more to be counted
    "diffpart": Rule(most_cells=read_settings(DiffPartSettings, "diffpart", PRESETS, "default", {}).max_cells),
    "baskets": Rule(),
    "degrees": Rule(),
    "families": Rule(),
    "journeys": Rule(),
}


@dataclass(frozen=True)
class Line:
    """Core-seconds as fixed + rate * size."""

    fixed: float
    rate: float

    @staticmethod
    def through(x: float, y: float, x0: float | None = None, y0: float = 0.0) -> Line:
        """The line through (x, y) and a smaller run (x0, y0).

        It goes through (x, y) and the origin if there is no smaller run, if the line would fall, or if it would start
        below 0.

        >>> Line.through(3.0, 8.0, 1.0, 4.0), Line.through(4.0, 8.0)
        (Line(fixed=2.0, rate=2.0), Line(fixed=0.0, rate=2.0))
        """
        if x0 is None or x <= x0 or y <= y0:
            return Line(0.0, y / max(x, 1.0))
        rate = (y - y0) / (x - x0)
        return Line(y - rate * x, rate) if y >= rate * x else Line(0.0, y / x)

    def at(self, size: float) -> float:
        return self.fixed + self.rate * size


@dataclass(frozen=True, kw_only=True)
class Passes:
    """The cost of each pass, from measured runs; records, levels and cells are those of the larger run."""

    records: int
    attributes: int
    levels: int
    cells: int
    """Cells of counts over all levels."""
    deepest: int
    """Cells of counts on the level with most of them."""
    opening: Line
    """Reading and encoding, by the number of records."""
    level: Line
    """Counting and moving, by records times levels."""
    deciding: Line
    """Noise, choices and bookkeeping, by cells."""
    drawing: Line
    """Drawing and writing released records, by their number."""
    add: float
    """Core-seconds of adding one entry."""

    @staticmethod
    def of(row: Run, smaller: Run | None, add: float) -> Passes:
        """The passes from one or two rows of the table of measurements; sets and graphs count as one attribute."""

        def line(size: Callable[[Run], float], *passes: str) -> Line:
            total = sum(row[name] for name in passes)
            if smaller is None:
                return Line.through(size(row), total)
            return Line.through(size(row), total, size(smaller), sum(smaller[name] for name in passes))

        return Passes(
            **{name: row[name] for name in ("records", "levels", "cells", "deepest")},
            attributes=row["attributes"] or 1,
            opening=line(lambda one: one["records"], "open"),
            level=line(lambda one: one["records"] * one["levels"], "count", "move"),
            deciding=line(lambda one: one["cells"], "noise", "other"),
            drawing=line(lambda one: one["records"], "draw", "save"),
            add=add,
        )


@dataclass(frozen=True)
class Forecast:
    """The model's results for n records."""

    records: int
    levels: float
    growth: float
    passes: Passes

    @property
    def opening(self) -> float:
        """Core-seconds of reading and encoding."""
        return self.passes.opening.at(self.records)

    @property
    def counting(self) -> float:
        """Core-seconds of counting and moving, over all levels."""
        return self.passes.level.at(self.records * self.levels)

    @property
    def deciding(self) -> float:
        """Core-seconds of noise, choices and bookkeeping, in the driver."""
        return self.passes.deciding.at(self.passes.cells * self.growth)

    @property
    def drawing(self) -> float:
        """Core-seconds of drawing and writing the released records, in one process."""
        return self.passes.drawing.at(self.records)

    def entries(self, workers: int) -> float:
        """The number of partial counts that one of this many workers (or nodes of their tree) sends over all levels."""
        held = self.records / workers * self.passes.attributes * self.levels
        return min(self.passes.cells * self.growth, held)

    def adding(self, workers: int) -> float:
        """Seconds that adding up partial counts takes; the levels of the tree of workers do it one after the other."""
        seconds, left = 0.0, workers
        while left > 1:
            together = min(left, MOST)
            seconds += (together - 1) * self.entries(left) * self.passes.add
            left = -(-left // together)
        return seconds

    def hours(self, workers: int) -> float:
        """Hours from the first byte to the noisy counts; drawing records is post-processing and comes afterwards."""
        shared = (self.opening + self.counting) / workers
        return (shared + self.deciding + self.adding(workers)) / HOUR

    def bytes_per_level(self, workers: int) -> float:
        """The number of bytes that one worker sends on the level with most cells."""
        held = self.records / workers * self.passes.attributes
        return ENTRY * min(self.passes.deepest * self.growth, held)


def forecast(method: str, passes: Passes, records: int) -> Forecast:
    """The model of a method for this many records, from measured runs."""
    rule = RULES[method.partition(":")[0]]
    more = rule.per_doubling * max(0.0, log2(records / passes.records))
    levels = max(float(passes.levels), min(float(rule.most_levels), passes.levels + more))
    growth = 2.0 ** (levels - passes.levels)
    if rule.most_cells is not None:
        growth = max(1.0, min(records / passes.records, rule.most_cells / max(1, passes.deepest)))
    return Forecast(records, levels, growth, passes)
