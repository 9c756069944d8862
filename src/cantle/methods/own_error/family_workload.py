"""Questions about released families, for measuring a release's own error.

All of them follow from released values and public dice, and count families: by their own columns and number of
children, with a child of some kind, and with two children in a row of some kinds. Each asks for values between those of
two released records, or for one category.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.drawing.counts import Dice
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import LATER, PARENTS, FamilyDomain, view_rows
from cantle.trusted.geometry.workloads import ASKED, FamilyWorkload, count_families

MOST_PAIRS, EACH = 40, 8
"""Most pairs of columns that are asked about per view, and the questions about each."""

FEW = 12
"""A column of at most this many codes is asked for one code, a column of more for a span."""


def family_workload(
    domain: FamilyDomain, parent: Sequence[Codes], size: Ints, child: Sequence[Codes], dice: Dice
) -> tuple[FamilyWorkload, Ints] | None:
    """The questions, and their answers from the released families; None if there is no question."""
    views, columns, spans, rows = [], [], [], {}
    for view in sorted(ASKED):
        rows[view] = view_rows(view, parent, size, child)
        sizes = domain.sizes(view)
        pairs = _pairs(domain, view)
        if not len(rows[view][1]) or not pairs:
            continue
        for number in np.repeat(np.sort(dice.permutation(len(pairs))[:MOST_PAIRS]), EACH).tolist():
            views.append(view)
            columns.append(pairs[number])
            spans.append([_span(rows[view][0][one], sizes[one], dice) for one in pairs[number]])
    if not views:
        return None
    ends = np.array(spans, dtype=np.int64)
    workload = FamilyWorkload(
        np.array(views), np.array(columns, dtype=np.int64), ends[:, :, 0].copy(), ends[:, :, 1].copy()
    )
    return workload, np.concatenate([count_families(workload, view, *rows[view]) for view in sorted(ASKED)])


def _pairs(domain: FamilyDomain, view: int) -> list[tuple[int, int]]:
    """The pairs of columns that questions about a view are about; those of children have a column of a child."""
    sizes, above, below = domain.sizes(view), len(domain.parent) + 1, len(domain.child)
    if view == PARENTS:
        found = [(one, other) for one in range(above) for other in range(one + 1, above)] or [(0, 0)]
    elif view == LATER:
        before = range(len(sizes) - 2 * below, len(sizes) - below)
        found = [(one, other) for one in before for other in range(len(sizes) - below, len(sizes))]
    else:
        found = [(one, other) for one in range(len(sizes)) for other in range(above, len(sizes)) if one < other]
        found += [(one, one) for one in range(above, len(sizes))]
    return [pair for pair in found if all(sizes[one] > 1 for one in pair)]


def _span(codes: Codes, size: int, dice: Dice) -> tuple[int, int]:
    """The codes between those of two released records, or of one."""
    one, other = (int(codes[at]) for at in dice.integers(0, len(codes), 2).tolist())
    return (one, one + 1) if size <= FEW else (min(one, other), max(one, other) + 1)
