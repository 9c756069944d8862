"""How far counts of the question box are off: the measured error of a table, for the script of the page to scale.

The script does what `release.widths` does for `cantle query`, without what the page does not know: the noise behind a
question, so that more is added to the measured error, and direct answers from noisy tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cantle.postprocess import question_scale as law
from cantle.postprocess.accuracy import PairError, QuestionError
from cantle.release import Release
from cantle.release.accuracy import MORE_DOUBT, noise_scale
from cantle.release.report.groupings import Grouping
from cantle.release.report.table_view import TableView
from cantle.release.tables import pairs_of
from cantle.schema.scales import Steps

NOWHERE = -1


def table_errors(view: TableView, groupings: Sequence[Grouping], release: Release) -> dict[str, Any] | None:
    """The levels of error by class of question (one column, two measured together, others), what scales them, and the
    counted cell that each group of a column is only a part of; None if nothing was measured."""
    accuracy = release.accuracy
    if accuracy is None or not accuracy.numbers():
        return None
    one = [] if accuracy.one_column is None else [accuracy.one_column]
    names, together = [grouping.name for grouping in groupings], pairs_of(release)[1]
    cells = release.manifest.structure.get("cells", {})
    return {
        "levels": [_level(one), *(_level(accuracy.of_pairs(together=known)) for known in (True, False))],
        "together": [
            sorted(map(names.index, pair)) for pair in sorted(map(sorted, together)) if set(pair) <= set(names)
        ],
        "spreads": [
            law.largest_spread(np.bincount(codes)[np.unique(codes)], ordered=isinstance(attribute.scale, Steps))
            for attribute, codes in list(zip(view.attributes, view.codes, strict=True))[: len(names)]
        ],
        "parts": [
            _parts(grouping, attribute.size, cells.get(grouping.name, ()))
            for grouping, attribute in zip(groupings, view.attributes, strict=False)
        ],
        "law": {
            "large": law.LARGE,
            "singles": law.OF_SINGLES,
            "share": law.SMALLEST_SHARE,
            "reference": law.SMALLEST_REFERENCE,
        },
    }


def _level(errors: Sequence[QuestionError] | Sequence[PairError]) -> float | None:
    """By how many records a question of scale LARGE is off at most in 95 of 100 cases."""
    return max((max(0, error.records) + MORE_DOUBT * noise_scale(error) for error in errors), default=None)


def _parts(grouping: Grouping, size: int, edges: Sequence[int]) -> list[int]:
    """For each group the number of the counted cell that it is only a part of; NOWHERE if there is none."""
    found = []
    for place in range(grouping.size):
        first, end = grouping.codes_of(place, size)[[0, -1]].tolist()
        cell = int(np.searchsorted(edges, first, side="right")) - 1
        inside = len(edges) and end <= edges[cell + 1] and end - first < edges[cell + 1] - edges[cell]
        found.append(cell if inside else NOWHERE)
    return found
