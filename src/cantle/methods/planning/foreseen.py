"""The public decisions of mosaic as a plan foresees them, for all columns of a table or for a part of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.drawing.column_cells import LOW_WIDTHS, WIDTHS, Column, starting_edges
from cantle.methods.mosaic import plan as rules
from cantle.methods.mosaic.method import Mosaic
from cantle.methods.planning.outline import Relations, pairs_together, relations
from cantle.schema.fields import MOST_CLASSES


@dataclass(frozen=True)
class Foreseen:
    """What a run would decide. `others` are all columns but the target, with their expected numbers of cells.

    `hub` says that a hub column would lead the first tables; `hub_asked` that it would be chosen with noise. `classes`
    is the number of cells of the leading column, 0 if there is none.
    """

    target: Column | None
    others: Sequence[Column]
    wide: Sequence[Column]
    start: rules.Opening
    cells: Sequence[int]
    hub: bool
    classes: int
    shares: rules.Plan

    @property
    def columns(self) -> int:
        return len(self.others) + (self.target is not None)

    @property
    def pairs_together(self) -> int:
        """The expected number of pairs of columns that are measured together."""
        if self.target is not None:
            return pairs_together([*self.cells, self.classes], len(self.others), self.shares)
        few = [place for place, size in enumerate(self.cells) if 3 <= size <= MOST_CLASSES]
        return pairs_together(self.cells, few[0] if self.hub else None, self.shares)


def foreseen(method: Mosaic, epsilon: float, records: int, persons: int, kept: int | None = None) -> Foreseen:
    """The decisions for all columns, or for as many as are `kept`: the target, and others at even distances."""
    rate, target = epsilon / persons, _target(method)
    others = [column for column in method.columns if column is not target]
    if kept is not None:
        places = np.linspace(0, len(others) - 1, kept - (target is not None)).round().astype(int)
        others = [others[place] for place in places.tolist()]
    columns = len(others) + (target is not None)
    every = others if target is None else [*others, target]
    wide = [column for column in every if column.wide]
    accuracy: Fraction = method.own_accuracy.expected(round(epsilon * rules.NANO), records, persons)
    banded = target is not None and not rules.few(target)
    start = rules.opening(records, rate, len(wide), _cells(others, WIDTHS), accuracy, banded, every)
    cells = _refined(others, _cells(others, LOW_WIDTHS if start.low else WIDTHS), start)
    few = [size for size in cells if 3 <= size <= MOST_CLASSES]
    hub = target is None and columns >= rules.HUB_COLUMNS and bool(few)
    classes = round(sum(few) / len(few)) if hub else 0
    if target is not None:
        classes = start.most_bands if banded else target.codes
    shares = rules.plan(start, cells, columns, classes, hub and len(few) > 1, hub)
    return Foreseen(target, others, wide, start, cells, hub, classes, shares)


def relations_of(method: Mosaic, epsilon: float, records: int, persons: int) -> Relations | None:
    """The pairs of columns that would be measured together, and how few columns would keep all; None if none can be
    lost."""
    whole = foreseen(method, epsilon, records, persons)
    lead = "the one on which the others depend most" if whole.hub else None
    if whole.target is not None:
        lead = whole.target.name
    return relations(whole.columns, lead, lambda kept: foreseen(method, epsilon, records, persons, kept).pairs_together)


def _target(method: Mosaic) -> Column | None:
    """The declared target if mosaic uses it as one."""
    target = rules.usable_target(method.columns, method.target)
    return None if target is None else method.columns[target]


def _cells(columns: Sequence[Column], widths: int) -> list[int]:
    """The starting cells; places count as many as budgets take them for."""
    starts = (rules.PLACE_CELLS if one.place else len(starting_edges(one, widths)) - 1 + one.null for one in columns)
    return list(starts)


def _refined(columns: Sequence[Column], cells: Sequence[int], start: rules.Opening) -> list[int]:
    """The expected number of cells of each column after frequent values and finer ranges of wide columns are found.

    These are about 12 values, and one range per `theta` records, the threshold of the tree's tests, as observed on
    Adult, bank and the demo. They are found only if there are enough records (`gate`).
    """
    more = round(12 + start.n0 / start.theta) if start.gate else 0
    pairs = zip(columns, cells, strict=True)
    return [min(column.codes, size + more) if column.wide else size for column, size in pairs]
