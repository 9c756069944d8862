"""A model of the cost of 10^9 and 10^12 records on a cluster, from measured passes; it is not a measurement.

Every pass is a line through two measured runs, fixed + rate * size (through one run and the origin, if there is only
one or if noise made the line fall). With n records, w workers and n0 records in the larger run:

    levels    L = L0 + log2(n / n0) if the method deepens with the data, up to its public limit; otherwise L0
    cells     g = the factor by which cells of counts and draws grow: 2 ** (L - L0), or n / n0 up to a limit, or 1
    workers   n * open + L * n * (count and move, per level) core-seconds, shared evenly by w, plus fixed costs
    driver    g * cells * (noise and choices, per cell), in one process
    adding up (8 - 1) * E_j * add on each level j of a tree of workers, the driver last: log8(w) levels, one after the
              other. E_j is the number of entries that one place sends in all: g * cells, but at most one per
              attribute, level and record of the 8 ** j workers below
    records   n * (draw and save), in one process

A worker sends 16 bytes per entry (place and count). The model leaves out skew, stragglers, latency, spilling to disk,
and the network, so its results are lower bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import Any

from cantle._fast import FROM
from cantle.methods.diffgen import MOST_ROUNDS
from cantle.methods.diffpart import PRESETS, DiffPartSettings
from cantle.methods.rps import DEEPEST
from cantle.methods.settings import read_settings
from cantle.trusted.engines.spark.tree import MOST

ENTRY = 16
HOUR = 3600.0
CORES = (1, 32, 1000)
RECORDS = (10**9, 10**12)
LEAST = FROM
"""Runs of fewer records say little: other kernels count them, and most of what they cost is fixed."""


Run = dict[str, Any]
"""One row of the table of measurements: texts and numbers by the name of their column."""


@dataclass(frozen=True)
class Rule:
    """How a method deepens: levels per doubling of the records, the most levels, and the most cells of a level, if
    these grow with the records."""

    per_doubling: int = 0
    most_levels: int = 0
    most_cells: int | None = None


RULES = {
    "mosaic": Rule(),  # its tables are at most twice as many as its columns, however many records there are
    "rps": Rule(1, DEEPEST),
    "diffgen": Rule(1, MOST_ROUNDS + 1),  # the last placing is for the counts
    "diffpart": Rule(most_cells=read_settings(DiffPartSettings, "diffpart", PRESETS, "default", {}).max_cells),
    "baskets": Rule(),
    "degrees": Rule(),
}


@dataclass(frozen=True)
class Line:
    """Core-seconds as fixed + rate * size."""

    fixed: float
    rate: float

    @staticmethod
    def through(x: float, y: float, x0: float | None = None, y0: float = 0.0) -> Line:
        """Through a point and an earlier one; through the origin if there is none, or if the line would fall.

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
    """Of counts, over all levels."""
    deepest: int
    """Of counts, on the level with most."""
    opening: Line
    """By records."""
    level: Line
    """Counting and moving: by records times levels."""
    deciding: Line
    """Noise, choices and books: by cells."""
    drawing: Line
    """Drawing and writing released records: by records."""
    add: float
    """Core-seconds of adding one entry."""

    @staticmethod
    def of(row: Run, smaller: Run | None, add: float) -> Passes:
        """From one or two rows of the table of measurements; records of sets and graphs count as one attribute."""

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
        """Core-seconds of noise, choices and books, in the driver."""
        return self.passes.deciding.at(self.passes.cells * self.growth)

    @property
    def drawing(self) -> float:
        """Core-seconds of drawing and writing the released records, in one process."""
        return self.passes.drawing.at(self.records)

    @property
    def core_seconds(self) -> float:
        """Of everything but adding up, which depends on the number of workers."""
        return self.opening + self.counting + self.deciding + self.drawing

    def entries(self, workers: int) -> float:
        """Partial counts that one of so many workers, or places of the tree, sends over all levels."""
        held = self.records / workers * self.passes.attributes * self.levels
        return min(self.passes.cells * self.growth, held)

    def adding(self, workers: int) -> float:
        """Seconds in which partial counts are added up, on one level of the tree of workers after the other."""
        seconds, left = 0.0, workers
        while left > 1:
            together = min(left, MOST)
            seconds += (together - 1) * self.entries(left) * self.passes.add
            left = -(-left // together)
        return seconds

    def hours(self, workers: int) -> float:
        """From the first byte to the noisy counts; drawing records is post-processing and comes after."""
        shared = (self.opening + self.counting) / workers
        return (shared + self.deciding + self.adding(workers)) / HOUR

    def bytes_per_level(self, workers: int) -> float:
        """What one worker sends on the level with most cells."""
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
