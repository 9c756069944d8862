"""The algorithm of families: noisy tables of views, chosen where drafted families differ most from the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from cantle.drawing.column_cells import starting_edges, with_null
from cantle.drawing.counts import Dice
from cantle.methods.families.layout import DRAWN_VIEWS, Layout
from cantle.methods.families.model.draw import Drawing, Drawn, drawn_families, number_drawn
from cantle.methods.families.model.view_fit import FamilyFit, in_families, table_of
from cantle.methods.families.plan import SIBLING_GROUPS, Plan, paid, plan
from cantle.methods.families.questions import FamilyQuestions
from cantle.methods.mosaic.model.groupings import FINEST
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, laplace_variance, question, whole_table
from cantle.methods.mosaic.model.table_sets import FEWEST_GROUPS, MOST_PAIRS, DraftPool, Grouped, Survivors, grow
from cantle.methods.mosaic.plan import SIZE, opening
from cantle.methods.mosaic.wide_cells import WideCells
from cantle.schema.rules import Rules
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.views import CHILDREN, FIRST, LATER, PARENTS, STAGES

POOL = 10_000
"""Families of a draft with which candidates are compared."""

LEAST_PARTS, SPLIT_FROM = 2, 128
"""A table of siblings is divided by stage, or by the number of children left, if it may have so many cells each."""

LONG = 2.0
"""From so many later children per family on, gaps in the order depend on how many are to come."""

LEFT_GROUPS, LEAST_BY_LEFT = 6, 1_500
"""Groups of the number of children left in the order's table of siblings of long chains, if the noise allows the table
so many cells: gaps depend on what is still to come."""


@dataclass
class FamilyRun:
    """One run. `accuracy` is called with the noisy number of families; it reserves the budget that measures the
    release's own error, and returns its share of epsilon."""

    questions: FamilyQuestions
    layout: Layout
    rules: tuple[Rules | None, Rules | None]
    epsilon: Fraction
    dice: dict[str, Dice]
    accuracy: Callable[[int], Fraction] = lambda _noisy: Fraction(0)
    edges: tuple[list[Ints], list[Ints]] = field(default_factory=lambda: ([], []))

    def run(self) -> Drawn:
        """The drawn families; also sets `edges` and `fit`."""
        noisy = self.questions.size(self._price(SIZE))
        self._size = noisy, laplace_variance(float(self._price(SIZE)))
        wide = sum(column.wide for column in (*self.layout.parent, *self.layout.child))
        self.start = opening(noisy, float(self.epsilon), wide, [], self.accuracy(noisy))
        self._shape_cells()
        self._first_tables()
        self._siblings()
        for number in range(self.plan.rounds):
            self._round(number)
        return drawn_families(self.fit, number_drawn(self.fit), self.dice["records"])

    def _price(self, share: Fraction) -> Fraction:
        return paid(share, self.epsilon)

    def _rate(self, price: Fraction) -> tuple[int, int]:
        """The rate of the noise of a table of parts."""
        return price.numerator, price.denominator * item_partitions.PARTS

    def _shape_cells(self) -> None:
        """Determines the cells of all columns; those of wide ones are refined if there are enough families."""
        layout, start = self.layout, replace(self.start, low=not self.start.gate, rich=False)
        for view, columns, own in zip((PARENTS, CHILDREN), (layout.parent, layout.child), self.edges, strict=True):
            own += [with_null(column, starting_edges(column)) for column in columns]
            edges, first = layout.edges(view, *self.edges), 0 if view == PARENTS else len(layout.parent) + 1
            wide = [first + place for place, column in enumerate(columns) if column.wide]
            part = self.epsilon * Fraction(len(wide), max(1, start.wide))
            asking = self.questions.of(view), layout.columns(view), wide, edges
            WideCells(*asking, start, part, item_partitions.PARTS).refine()
            own[:] = edges[first:][: len(columns)]
        for view in DRAWN_VIEWS:
            self.questions.of(view).set_cells(layout.edges(view, *self.edges))

    # ---- first tables -------------------------------------------------------------------------------------

    def _first_tables(self) -> None:
        """Measures the table of each column of the parents, of the number of children, and of each column of the
        first children."""
        layout = self.layout
        parent, child = ([len(edge) - 1 for edge in own] for own in self.edges)
        self.plan: Plan = plan(self.start, [*parent, layout.most + 1, *child], child if layout.most > 1 else [])
        columns = [(view, column) for view in (PARENTS, FIRST) for column in layout.drawn(view)]
        first, last = {}, len(columns) if not (self.plan.siblings or self.plan.count) else 0
        for number, ((view, column), share) in enumerate(zip(columns, self.plan.first, strict=True), 1):
            asked = whole_table(column, len(layout.edges(view, *self.edges)[column]) - 1)
            price = self.questions.left() if number == last else self._price(share)
            noisy = self.questions.table(view, asked, price, f"first table {number}")
            first[view, column] = in_families(noisy, self._rate(price))
        self.fit = FamilyFit(layout, self.edges, self.rules, self._size, first)

    def _siblings(self) -> None:
        """Measures each column of the children together with its value at the child before."""
        if (chained := self._order_of_long_chains()) is not None:
            changed = self.plan.in_long_chains(chained)
            if self._cells(chained, float(changed.siblings[chained] * self.epsilon)) >= LEAST_BY_LEFT:
                self.plan = changed
        last = len(self.plan.siblings) - 1 if not self.plan.count else -1
        later = self.fit[LATER]
        for child, share in enumerate(self.plan.siblings):
            price = self.questions.left() if child == last else self._price(share)
            columns, groups = self._sibling_groups(child, self._cells(child, float(price)), by_left=child == chained)
            later.add(self._measured(LATER, (columns, groups), price, f"siblings table {child + 1}"))
        self.fit.use_tables()

    def _measured(self, view: int, grouped: Grouped, price: Fraction, why: str) -> NoisyTable:
        """A table of one view, measured."""
        noisy = self.questions.table(view, question(*grouped, self.fit[view].groupings), price, why)
        return table_of(in_families(noisy, self._rate(price)), *grouped)

    def _cells(self, child: int, price: float) -> float:
        """How many cells a table of siblings may have at this price; the order empties half of its own."""
        order = self.layout.order
        return max(4.0, self.fit[LATER].total * price / 4) * (2 if order is not None and order[0] == child else 1)

    def _sibling_groups(self, child: int, cap: float, *, by_left: bool) -> Grouped:
        """How finely: by stage, or `by_left`, the number of children left, and in all cells where the noise allows
        it."""
        layout, later = self.layout, self.fit[LATER]
        within, own = len(layout.parent) + (not by_left), layout.own(LATER, child)
        cells, grouping = later.sizes[own], later.groupings[own]
        if by_left and cap >= LEAST_BY_LEFT:
            groups, parts = grouping.at_most(int((cap / LEFT_GROUPS / LEAST_PARTS) ** 0.5)), LEFT_GROUPS
        elif cells in grouping.sizes and cells**2 <= cap / LEAST_PARTS:
            groups, parts = cells, min(STAGES, int(cap / cells**2))
        else:
            parts = LEAST_PARTS if cap >= SPLIT_FROM else 1
            groups = grouping.at_most(min(SIBLING_GROUPS, int((cap / parts) ** 0.5)))
        groups, parts = max(groups, min(2, cells)), later.groupings[within].at_most(parts)
        pair = layout.previous(child), own
        return (pair, (groups, groups)) if parts == 1 else ((within, *pair), (parts, groups, groups))

    def _order_of_long_chains(self) -> int | None:
        """The column of the order, if families with two children have two later ones on average, or more."""
        sizes = self.fit[PARENTS].one_way[len(self.layout.parent)][2:]
        later = (sizes * np.arange(1, len(sizes) + 1)).sum()
        long = later > 0 and later >= LONG * sizes.sum()
        return self.layout.order[0] if self.layout.order is not None and long else None

    # ---- chosen tables ------------------------------------------------------------------------------------

    def _round(self, number: int) -> None:
        """Chooses and measures the tables of one round, comparing candidates with one draft of the families."""
        fit, each = self.fit, self.plan
        drawn = Drawing(fit, self.dice["pools"], last=False).families(POOL)
        cells = {view: drawn.view(view, self.dice["pools"]) for view in DRAWN_VIEWS}
        pools = {view: DraftPool(own, fit[view].total) for view, own in cells.items() if len(own[0])}
        found = candidates(fit, list(pools), each.cap, self.dice["sets"])
        tables = [(view, question(*grouped, fit[view].groupings)) for view, grouped in found]
        round_ = self.questions.round(tables) if tables else None
        models: list[Ints] = [np.zeros(0, np.int64)] * len(tables)
        for view in pools:
            self._expect(models, view, tables, pools)
        penalties = self._penalties(found, tables)
        offsets = np.cumsum([0, *(len(fit[view].columns) for view in DRAWN_VIEWS)]).tolist()
        sets = [tuple(offsets[view] + column for column in columns) for view, (columns, _) in found]
        survivors = Survivors(sets, offsets[-1], joining=False)
        first, last = each.count * number // each.rounds, each.count * (number + 1) // each.rounds
        for bought in range(first, last):
            left = survivors.left() if sets else np.zeros(0, np.int64)
            if round_ is None or not len(left):
                break  # all tables were measured
            why = f"choice of table {bought + 1}"
            chosen = self.questions.choose(
                round_, models, penalties, left, self._price(each.selection / each.count), why
            )
            survivors.choose(chosen)
            view, grouped = found[chosen]
            is_last = bought == each.count - 1
            price = self.questions.left() if is_last else self._price(each.tables / each.count)
            table = self._measured(view, grouped, price, f"table {bought + 1}")
            fit[view].add(table)
            pools[view].learn(tables[chosen][1], table)
            self._expect(models, view, tables, pools)
        fit.use_tables()

    def _expect(
        self, models: list[Ints], view: int, tables: Sequence[tuple[int, CrossTable]], pools: dict[int, DraftPool]
    ) -> None:
        """Sets what the draft expects in the cells of the tables of one view, in parts."""
        mine = [place for place, (own, _) in enumerate(tables) if own == view]
        if mine:
            found = pools[view].models([tables[place][1] for place in mine], item_partitions.PARTS)
            for place, model in zip(mine, found, strict=True):
                models[place] = model

    def _penalties(self, found: Sequence[tuple[int, Grouped]], tables: Sequence[tuple[int, CrossTable]]) -> Ints:
        """What the noise of a table would add to its distance, so that large tables are not preferred for it."""
        noise = self.plan.count * item_partitions.PARTS / (float(self.plan.tables) * float(self.epsilon))
        possible = [
            table.cells - int(self.fit[view].empty(*grouped).sum())
            for (view, grouped), (_, table) in zip(found, tables, strict=True)
        ]
        return np.rint(np.array(possible, dtype=np.float64) * noise).astype(np.int64)


def candidates(fit: FamilyFit, views: Sequence[int], cap: int, dice: Dice) -> list[tuple[int, Grouped]]:
    """The candidate tables of a round about these views: pairs of columns of which one is drawn. Tables that
    were measured already are left out."""
    found: list[tuple[int, Grouped]] = []
    for view in views:
        own = fit[view]
        taken = {tuple(sorted(table.columns)) for table in own.tables}
        sizes, drawn = own.sizes, fit.layout.drawn(view)
        usable = [column for column, size in enumerate(sizes) if size >= 2]
        sets: list[tuple[int, ...]] = [pair for pair in combinations(usable, 2) if pair[1] in drawn]
        if len(sets) > MOST_PAIRS:
            sets = [sets[i] for i in np.sort(dice.choice(len(sets), MOST_PAIRS, replace=False)).tolist()]
        for members in sets:
            if members not in taken:
                grown = grow(members, sizes, [min(size, FEWEST_GROUPS) for size in sizes], cap, FINEST)
                groups = [own.groupings[one].at_most(number) for one, number in zip(members, grown, strict=True)]
                found.append((view, (members, tuple(groups))))
    return found
