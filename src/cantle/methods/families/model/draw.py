"""Families drawn from the estimates: parents with their numbers of children, first children, then child after child.

Parents are drawn as mosaic draws a table. Each child is drawn from regressions of its columns on its parent, the first
child and the child before. The regressions for later children must be fitted on records that have the law of the view,
in which each family has one whole record: one later child per family, drawn by the regressions of the pass before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.obey_rules import repair
from cantle.drawing.records import MOST_DRAWN, MOST_VALUES
from cantle.methods.families.model.view_fit import FamilyFit
from cantle.methods.mosaic.model.conditionals import Regression
from cantle.methods.mosaic.model.generate import FittedColumn, fit_column, kernels, link_strengths, next_column
from cantle.methods.mosaic.model.sub_tables import LEVELS
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FIRST, LATER, PARENTS, stages, view_rows

PASSES, LAST_PASSES = 3, 8
"""How often the regressions for later children are fitted, in drafts and for a release. Each pass makes the chains of
children right for one position more."""

MOST_FITTED = 40_000
"""The most families in the passes before the last."""

TRIES = 8
"""How often children that break a rule are drawn again."""

WORK = 6_000_000
"""Most numbers that a regression of children reads per step: large families are few, and must be among its records."""

Plan = list[tuple[int, FittedColumn]]
"""Columns in the order in which they are drawn."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Drawn families as cells: the parents' columns, their numbers of children, and the children's columns, family
    after family."""

    parent: list[Codes]
    size: Ints
    child: Codes

    @property
    def starts(self) -> Ints:
        return np.cumsum(self.size) - self.size

    def view(self, view: int, dice: Dice) -> list[Codes]:
        """Records of a view with the weights that they have there: of LATER, one later child per family."""
        if view != LATER:
            return view_rows(view, self.parent, self.size, [*self.child])[0]
        family = np.flatnonzero(self.size >= 2)
        position = dice.integers(1, self.size[family]) if len(family) else np.zeros(0, np.int64)
        return list(_later(self, family, position, self.child[:, self.starts[family] + position])[:-1])


def _later(cells: Cells, family: Ints, position: Ints, own: Codes | None = None) -> Codes:
    """The columns of LATER, with a last row for mosaic's leading variable; those of the child itself are `own`."""
    at, size = cells.starts[family], cells.size[family]
    above = [part[family] for part in cells.parent]
    first, before = cells.child[:, at], cells.child[:, at + position - 1]
    own = np.zeros_like(first) if own is None else own
    rows = [*above, size - position, stages(position, size), *first, *before, *own, np.zeros(len(family))]
    return np.array(rows, dtype=np.uint16)


class Drawing:
    """Draws families with public dice; `last` says that they are for a release, not a draft."""

    def __init__(self, fit: FamilyFit, dice: Dice, *, last: bool) -> None:
        self._fit, self._layout, self._dice, self._last = fit, fit.layout, dice, last

    def families(self, number: int) -> Cells:
        """The cells of this many families."""
        above = self._fit[PARENTS]
        drawn = (above.draw_cells if self._last else above.draft_cells)(number, None, self._dice)
        size = drawn[-1].astype(np.int64)
        child = np.zeros((len(self._layout.child), int(size.sum())), dtype=np.uint16)
        cells = Cells(list(drawn[:-1]), size, child)
        self._engine = kernels(number)
        self._first_children(cells)
        if (size >= 2).any():
            self._later_children(cells)
        return cells

    def _first_children(self, cells: Cells) -> None:
        have = np.flatnonzero(cells.size >= 1)
        if not len(have):
            return
        above = [*(part[have] for part in cells.parent), cells.size[have]]
        blank = [np.zeros(len(have))] * (len(self._layout.child) + 1)
        rows = np.array([*above, *blank], dtype=np.uint16)
        self._draw(FIRST, self._fitted(FIRST, rows), rows)
        cells.child[:, cells.starts[have]] = rows[self._own(FIRST)]

    def _later_children(self, cells: Cells) -> None:
        every = np.flatnonzero(cells.size >= 2)
        position, passes = np.ones(len(every), dtype=np.int64), LAST_PASSES if self._last else PASSES
        for number in range(passes):
            families = every if number == passes - 1 else every[:MOST_FITTED]
            pool = _later(cells, every[:MOST_FITTED], position[:MOST_FITTED])
            plan = self._fitted(LATER, pool)
            for at in range(1, int(cells.size[families].max())):
                mine = families[cells.size[families] > at]
                rows = _later(cells, mine, np.full(len(mine), at))
                self._draw(LATER, plan, rows)
                cells.child[:, cells.starts[mine] + at] = rows[self._own(LATER)]
            position = self._dice.integers(1, cells.size[every[:MOST_FITTED]])

    def _own(self, view: int) -> slice:
        drawn = self._layout.drawn(view)
        return slice(drawn.start, drawn.stop)

    def _fitted(self, view: int, rows: Codes) -> Plan:
        """The regressions of a view's columns, each fitted on these records and drawn for them before the next."""
        model, plan = replace(self._fit[view].model(None), joint=LEVELS, work=WORK), Plan()
        model = model.to_release() if self._last else model
        links, drawn = link_strengths(model), list(range(self._layout.drawn(view).start))
        while len(drawn) < len(self._fit[view].columns):
            column = next_column(model, drawn, links)
            fitted = fit_column(model, column, drawn, rows, self._engine)
            rows[column] = fitted.draw(rows, self._dice, self._engine)
            plan.append((column, fitted))
            drawn.append(column)
        return plan

    def _draw(self, view: int, plan: Plan, rows: Codes) -> None:
        """Draws the children of these records; those that break a rule in all of their cell are drawn again a few
        times."""
        _redraw(plan, rows, self._dice, self._engine)
        fit = self._fit[view]
        if fit.rules is None:
            return
        rules = fit.rules.on_cells({one.name: edges for one, edges in zip(fit.columns, fit.edges, strict=True)})
        named = {one.name: rows[column] for column, one in enumerate(fit.columns)}
        for _ in range(TRIES):
            bad = np.flatnonzero(rules.breaking(lambda name: named[str(name)]))
            if not len(bad):
                return
            some = np.ascontiguousarray(rows[:, bad])
            _redraw(plan, some, self._dice, self._engine)
            rows[:, bad] = some
        repair(rules, named, self._dice)


def _redraw(plan: Plan, rows: Codes, dice: Dice, engine: Regression) -> None:
    for column, fitted in plan:
        rows[column] = fitted.draw(rows, dice, engine)


# ---- values ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Drawn:
    """Drawn families as codes: the parents' columns, their numbers of children, and the children's columns."""

    parent: list[Codes]
    size: Ints
    child: list[Codes]


def number_drawn(fit: FamilyFit) -> int:
    """How many families are drawn: as many as were counted, unless that many would not fit in memory."""
    layout = fit.layout
    sizes = fit[PARENTS].one_way[len(layout.parent)]
    values = len(layout.parent) + 1 + len(layout.child) * float((sizes * np.arange(len(sizes))).sum())
    return max(0, min(round(fit.noisy_total), MOST_DRAWN, int(MOST_VALUES / values)))


def drawn_families(fit: FamilyFit, number: int, dice: Dice) -> Drawn:
    """The codes of this many families to release; children are in no particular order within their family."""
    cells = Drawing(fit, dice, last=True).families(max(1, number))
    size = cells.size[:number]
    family = np.repeat(np.arange(number), size)
    above = fit[PARENTS].draw_values([*cells.parent, cells.size], number, dice)[:-1]
    # the columns of the parent are drawn a second time, and not used: rules are about the children's own columns
    rows = [*(part[family] for part in cells.parent), size[family], *cells.child[:, : len(family)]]
    below = fit[FIRST].draw_values(rows, len(family), dice)[-len(fit.layout.child) :]
    return Drawn(above, size, below)


def in_order(size: Ints, ranks: Sequence[Codes]) -> Ints:
    """The places of the children, sorted within their families by these ranks, the first of which counts most."""
    family = np.repeat(np.arange(len(size)), size)
    return np.lexsort((*ranks[::-1], family))
