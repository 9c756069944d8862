"""Data for the question box of the report: released records in coarse groups, packed small enough for one page."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from cantle.methods.own_error.question_scale import LARGE, OF_PAIRS, OF_SINGLES, SMALLEST_REFERENCE, SMALLEST_SHARE
from cantle.release import Release, graphs, sets, tables
from cantle.release.accuracy import MORE_DOUBT
from cantle.release.answers.set_answers import SetAsker
from cantle.release.answers.table_answers import TableAsker
from cantle.release.report.groupings import Grouping, Ints
from cantle.release.report.set_view import SetView
from cantle.release.report.table_view import TableView
from cantle.schema.code_sets import CodeSet

GROUPS = 60
"""Groups of a column; with null they fit a byte many times over, and few compress better."""

MOST_BYTES = 500_000
"""Size of the embedded records; of more, an even sample is embedded."""

MOST_UNPACKED = 4_000_000
"""The same before compression: so that a large release is not compressed in vain."""

MOST_COLUMNS = 60
MOST_PATTERNS = 30_000
CONFIDENCE = 0.95
_UNMEASURED = "the error of such counts was not measured"

Box = dict[str, Any]
"""The data of the question box, as JSON has it. `kind` is the form of the box; `counted` and `unmeasured` are words for
what it counts and for counts without an error bar."""


def ask_table(view: TableView, asker: TableAsker) -> Box:
    """The groups of each column, and the group of each record: one byte per value, column by column, compressed, in
    base 64. If that takes too much room, only every n-th record is kept."""
    groupings = view.groups(GROUPS)[:MOST_COLUMNS]
    columns = [grouping.of(codes).astype(np.uint8) for grouping, codes in zip(groupings, view.codes, strict=False)]
    step, packed = max(1, -(-view.records * len(columns) // MOST_UNPACKED)), b""
    while columns:
        packed = zlib.compress(b"".join(column[::step].tobytes() for column in columns), 6)
        if len(packed) * 4 // 3 <= MOST_BYTES:
            break
        step = max(step + 1, -(-step * len(packed) * 4 // 3 // MOST_BYTES))
    held = -(-view.records // step)
    return {
        "kind": "table",
        "counted": tables.KIND.counted,
        "unmeasured": _UNMEASURED,
        "records": view.records,
        "held": held,
        "columns": [
            {"name": one.name, "labels": one.labels, "ordered": one.table is None, "nullable": one.nullable}
            | {"spread": asker.widths.spread(one.name), "cells": _cells(one, asker)}
            for one in groupings
        ],
        "data": base64.b64encode(packed).decode(),
        "error": _table_errors([one.name for one in groupings], asker),
    }


def ask_sets(view: SetView, asker: SetAsker) -> Box:
    """The number of sets with each pattern of the most frequent items; fewer items if there are too many patterns."""
    for most in (30, 24, 20, 16, 12, 8):
        top = view.top(most)
        masks, counts = view.patterns(top)
        if len(masks) <= MOST_PATTERNS:
            break
    return {
        "kind": "sets",
        "counted": sets.KIND.counted,
        "unmeasured": _UNMEASURED,
        "records": view.records,
        "held": view.records,
        "items": [view.label(code) for code in top],
        "patterns": [masks.tolist(), counts.tolist()],
        "error": asker.levels(CONFIDENCE, MORE_DOUBT),
    }


def ask_degrees(degrees: Ints, release: Release) -> Box:
    """How many nodes have each degree."""
    values, counts = np.unique(degrees, return_counts=True)
    return {
        "kind": "graph",
        "counted": graphs.KIND.counted,
        "unmeasured": "the band above shows how far noise moves such counts",
        "records": release.manifest.summary["records"],
        "held": len(degrees),
        "nodes": [values.tolist(), counts.tolist()],
        "error": [None, None],
    }


def _table_errors(names: Sequence[str], asker: TableAsker) -> Box:
    """The three levels of error of a table, and what the page needs to find the scale of a question.

    The page does not know the noise behind a question, so that more is added to the measured error. Its groups hold
    whole steps, but it does not know wider bins: where values were counted in such, it gives no interval.
    """
    pairs = combinations(range(len(names)), 2)
    wide = any(mine.wide for mine in asker.bins.values())
    numbers = {} if wide else asker.widths.levels(CONFIDENCE, MORE_DOUBT)
    return {
        "levels": [numbers.get(name) for name in ("one_column", "together", "apart")],
        "together": [a * len(names) + b for a, b in pairs if asker.widths.are_together([names[a], names[b]])],
        "large": LARGE,
        "singles": OF_SINGLES,
        "pairs": OF_PAIRS,
        "smallest": SMALLEST_SHARE,
        "least": SMALLEST_REFERENCE,
    }


def _cells(grouping: Grouping, asker: TableAsker) -> list[int]:
    """For each group of a column the first code of the counted cell that it is a part of, or -1."""
    size = asker.attributes[grouping.name].size
    groups = (tuple(grouping.codes_of(place, size).tolist()) for place in range(grouping.size))
    return [asker.widths.inside_cell(grouping.name, CodeSet(edges, size)) for edges in groups]
