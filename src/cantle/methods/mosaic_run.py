"""Mosaic: tables of grouped columns, chosen where the model is worst, and records drawn from all of them together.

The questions go to the curator through `Questions` (mosaic_questions.py); everything between them is public. The shares
of the budget are in mosaic_plan.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np

from cantle.methods import mosaic_plan as rules
from cantle.methods.mosaic_questions import CandidateTables, Questions, SpikeSearch
from cantle.postprocess.counts import Dice, Floats
from cantle.postprocess.mosaic import estimates, label
from cantle.postprocess.mosaic.classes import MOST_MEAN_CELLS, learn_classes, predict
from cantle.postprocess.mosaic.column_cells import (
    LOW_WIDTHS,
    WIDTHS,
    Column,
    largest_spikes,
    single_values,
    starting_edges,
    with_null,
    with_single_values,
)
from cantle.postprocess.mosaic.draft_pool import DraftPool
from cantle.postprocess.mosaic.draw_values import Heaps, draw_values, heap_groups, heaps
from cantle.postprocess.mosaic.generate import Model, generate
from cantle.postprocess.mosaic.given_class import given_class
from cantle.postprocess.mosaic.groupings import Groupings, barriers
from cantle.postprocess.mosaic.noisy_tables import NoisyTable, laplace_variance, question
from cantle.postprocess.mosaic.table_sets import Survivors, candidates
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable, HeapTable

POOL = 10_000
SUBSET = 200_000
"""Records, by the noisy count, from which on scores use a subset."""

DOUBT = 2.0
Learned = tuple[Floats, list[Floats]] | None
"""Shares of learned classes and the columns' distributions in them."""

STREAMS = ("pools", "sets", "subset", "records", "workload")


@dataclass
class MosaicRun:
    """One run. `persons` is the number of records per person, `accuracy` whether the release's own error is wanted."""

    questions: Questions
    columns: Sequence[Column]
    target: int | None
    epsilon: Fraction
    dice: dict[str, Dice]
    persons: int = 1
    accuracy: bool = True
    edges: list[Ints] = field(default_factory=list)
    tables: list[NoisyTable] = field(default_factory=list)
    heaps: dict[int, Heaps] = field(default_factory=dict)

    def run(self) -> list[Ints]:
        """Codes of the synthetic records, one array per column; also sets `edges`, `tables`, `plan`."""
        noisy = self.questions.size(self._price(rules.SIZE))
        self.lead = self._usable_target()
        self._open(noisy)
        self._shape_cells()
        self._choose_lead()
        self._first_tables(noisy)
        self._measure_heaps()
        for number in range(self.plan.rounds):
            self._round(number)
        records = max(0, round(self.noisy_total))
        cells = generate(self._model(), max(1, records), self.dice["records"])
        if self.plan.label:
            cells = self._relabel(cells)
        return [self._values(column, part)[:records] for column, part in enumerate(cells)]

    # ---- before the tables --------------------------------------------------------------------------------

    def _price(self, share: Fraction) -> Fraction:
        return rules.price(share, self.epsilon)

    def _rate(self, price: Fraction, sensitivity: int) -> float:
        return float(price) / (sensitivity * self.persons)

    def _usable_target(self) -> int | None:
        """The target if it has 2 to 8 cells and is not the only column (corrections.md A4)."""
        few = self.target is not None and 2 <= self.columns[self.target].codes <= rules.MOST_CLASSES
        return self.target if few and len(self.columns) > 1 else None

    def _others(self) -> list[int]:
        return [number for number in range(len(self.columns)) if number != self.lead]

    def _sizes(self) -> list[int]:
        return [len(edges) - 1 for edges in self.edges]

    def _open(self, noisy: int) -> None:
        self.wide = [number for number in self._others() if self.columns[number].wide]
        self.edges = [with_null(column, starting_edges(column, WIDTHS)) for column in self.columns]
        sizes = [self._sizes()[number] for number in self._others()]
        rate = float(self.epsilon) / self.persons
        round_values = any(len(self.columns[number].classes.periods) > 1 for number in self.wide)
        self.start = rules.opening(noisy, rate, len(self.wide), round_values, sizes, self.accuracy)

    def _shape_cells(self) -> None:
        """The cells of wide columns: 16 widths under the low rule; tree and spikes, or one heavy value."""
        widths = LOW_WIDTHS if self.start.low else WIDTHS
        roots = {number: starting_edges(self.columns[number], widths) for number in self.wide}
        if self.wide and self.start.gate:
            roots = self.questions.grow(roots, self.start.theta, self._price(rules.TREE))
            scale = self.persons * len(self.wide) / float(self._price(rules.SPIKES))
            searches = [self._search(number, roots[number], scale) for number in self.wide]
            for search, (codes, counts) in zip(
                searches, self.questions.spikes(searches, self._price(rules.SPIKES)), strict=True
            ):
                roots[search.column] = with_single_values(roots[search.column], largest_spikes(codes, counts))
        elif self.wide:
            searches = [self._search(number, roots[number], 1.0) for number in self.wide]
            price = self._price(rules.SHUT)
            none = max(0.1 * self.start.n0, 3 * self.persons / float(price))
            heavy = self.questions.heaviest(searches, ceil(none), price)
            if heavy is not None:
                roots[heavy[0]] = with_single_values(roots[heavy[0]], np.array([heavy[1]]))
        for number, edges in roots.items():
            self.edges[number] = with_null(self.columns[number], edges)
        self.questions.set_cells(self.edges)

    def _search(self, number: int, edges: Ints, scale: float) -> SpikeSearch:
        column = self.columns[number]
        classes = column.classes
        sizes = classes.sizes(0, column.values)
        thresholds = [max(1, ceil(scale * log(max(2, size * len(sizes))))) for size in sizes.tolist()]
        single = edges[:-1][np.diff(edges) == 1]
        return SpikeSearch(number, column.values, classes, tuple(thresholds), tuple(single.tolist()))

    def _choose_lead(self) -> None:
        """Without a target, in a wide table, a hub column takes its place (mosaic.md 7 E, corrections.md A5)."""
        hub = False
        if self.lead is None and len(self.columns) >= rules.HUB_COLUMNS:
            few = [number for number, size in enumerate(self._sizes()) if 3 <= size <= rules.MOST_CLASSES]
            hub = len(few) > 1
            self.lead = self.questions.hub(few, self._price(rules.HUB)) if hub else few[0] if few else None
        sizes = [self._sizes()[number] for number in self._others()]
        classes = 0 if self.lead is None else self._sizes()[self.lead]
        is_hub = self.lead is not None and self.lead != self.target
        self.plan = rules.plan(self.start, sizes, len(self.columns), classes, hub, is_hub)

    # ---- step 2 -------------------------------------------------------------------------------------------

    def _first_tables(self, noisy: int) -> None:
        others, sizes = self._others(), self._sizes()
        lead = [] if self.lead is None else [self.lead]
        identity = [np.arange(size).astype(np.uint8 if size <= 256 else np.uint16) for size in sizes]
        asked = [CrossTable((n, *lead), (identity[n], *(identity[m] for m in lead))) for n in others]
        price = self._price(self.plan.first)
        if not self.plan.count:
            price += self._remainder(price, self._price(self.start.heaps))
        answers = self.questions.cross_tables(asked, price)
        rate = self._rate(price, len(asked))
        self.variance = laplace_variance(rate)
        size_variance = laplace_variance(self._rate(self._price(rules.SIZE), 1))
        self.noisy_total = estimates.total_records(noisy, size_variance, answers, self.variance)
        self.total = max(1.0, self.noisy_total)
        shapes = [table.shape for table in asked]
        counts, spread = estimates.one_way_counts(answers, shapes, others, self.lead, len(sizes))
        self.counts, self.spread = counts, [part * self.variance for part in spread]
        self.one_way = self._one_ways(None)
        self.groupings = tuple(
            Groupings(p, barriers(column, edges))
            for p, column, edges in zip(self.one_way, self.columns, self.edges, strict=True)
        )
        self.class_tables = {
            number: NoisyTable((number, *lead), shape, answer.reshape(shape).astype(np.float64), self.variance)
            for number, answer, shape in zip(others, answers, shapes, strict=True)
            if lead
        }
        self.classes_win = self.plan.count == 0
        self.errors = [0.0, 0.0]

    def _remainder(self, *to_come: Fraction) -> Fraction:
        """What is left beyond the prices that are still to be paid: it goes to the last table."""
        reserved = rules.ACCURACY if self.start.accuracy else Fraction(0)
        return self.questions.left() - sum(to_come) - self._price(self.plan.label) - self._price(reserved)

    def _one_ways(self, groupings: Sequence[Groupings] | None) -> list[Floats]:
        doubt = DOUBT if self.start.gate else 0.0
        return estimates.one_ways(
            self.counts, self.spread, self.tables, self.columns, self.edges, groupings, self.total, doubt
        )

    def _measure_heaps(self) -> None:
        if not self.start.heaps:
            return
        price = self._price(self.start.heaps)
        rounded = [number for number in self.wide if len(self.columns[number].classes.periods) > 1]
        scale = self.persons * len(rounded) / float(price)
        asked = []
        for number in rounded:
            column, edges = self.columns[number], self.edges[number]
            group = heap_groups(self.one_way[number] * self.total, single_values(edges), scale, self.total)
            if (group >= 0).any():
                asked.append(HeapTable(number, edges, group, column.classes))
        for table, noisy in zip(asked, self.questions.heaps(asked, price) if asked else [], strict=True):
            self.heaps[table.column] = heaps(table, noisy, self.one_way[table.column] * self.total, scale)

    # ---- step 3 -------------------------------------------------------------------------------------------

    def _model(self) -> Model:
        """What records are drawn from now."""
        given = []
        for number, p in enumerate(self.one_way):
            if number in self.class_tables:
                shares = self.one_way[self.lead]  # type: ignore[index]
                given.append(given_class(self.class_tables[number], p, shares, self.groupings, self.total))
            else:
                given.append(p[None, :])
        one_way = tuple(self.one_way)
        learned = self._learned_classes() if self.classes_win else None
        if learned is None:
            return Model(one_way, tuple(given), self.groupings, tuple(self.tables), self.total, lead=self.lead)
        tables = (*self.class_tables.values(), *self.tables)
        shares, within = learned
        return Model(one_way, tuple(within), self.groupings, tables, self.total, mixture=shares, first=self.lead)

    def _learned_classes(self) -> Learned:
        tables = [*self.class_tables.values(), *self.tables]
        if not tables or np.mean(self._sizes()) > MOST_MEAN_CELLS:
            return None
        return learn_classes(tables, self.one_way, self.groupings, self.total, self.dice["pools"])

    def _round(self, number: int) -> None:
        """Chooses and buys the tables of one round against one draft of the records."""
        plan, dice = self.plan, self.dice
        model = self._model()
        pool = DraftPool(generate(model, POOL, dice["pools"]), self.total)
        taken = {table.columns for table in self.tables}
        found = candidates(self._sizes(), self.lead, plan.label > 0, plan.cap, taken, dice["sets"])
        if not found:
            return self._repeat()
        sets = self._table_sets(found, pool)
        before = sets.models
        survivors = Survivors([members for members, _ in found], len(self.columns), joining=number == 0)
        learned = self._learned_classes() if model.mixture is None else None
        first, last = len(self.tables), plan.count * (number + 1) // plan.rounds
        while len(self.tables) < last:
            left = survivors.left()
            if not len(left):
                return self._repeat()
            if len(self.tables) > first:
                sets = _with_new_models(sets, left, pool)
            chosen = self.questions.choose_table(sets, left, self._price(plan.selection / plan.count))
            survivors.choose(chosen)
            self._buy(found[chosen], before[chosen] / float(sets.share), learned)
            pool.learn(sets.tables[chosen], self.tables[-1])
        self.one_way = self._one_ways(self.groupings)
        if self.errors[0] > 0:
            self.classes_win = self.errors[1] < 0.95 * self.errors[0]
        return None

    def _table_sets(self, found: Sequence[Any], pool: DraftPool) -> CandidateTables:
        """The candidates with their models from the draft and their penalties (corrections.md A7)."""
        plan = self.plan
        share = min(Fraction(1), Fraction(SUBSET, self.start.n0))
        tables = tuple(question(members, groups, self.groupings) for members, groups in found)
        noise = plan.count * self.persons / (float(plan.tables) * float(self.epsilon)) * float(share)
        penalties = np.rint(np.array([table.cells for table in tables]) * noise).astype(np.int64)
        return CandidateTables(
            tables, pool.models(tables, float(share)), penalties, share, int(self.dice["subset"].integers(2**63))
        )

    def _buy(self, grouped: Any, model: Floats, learned: Learned, more: Fraction = Fraction(0)) -> None:
        """Measures one table; where classes were learned, notes which of both drafts predicted it better."""
        plan = self.plan
        members, groups = grouped
        price = self._price(plan.tables / plan.count) + more
        if len(self.tables) == plan.count - 1:
            price += self._remainder(price)
        (noisy,) = self.questions.cross_tables([question(members, groups, self.groupings)], price)
        table = NoisyTable(
            members, groups, noisy.reshape(groups).astype(np.float64), laplace_variance(self._rate(price, 1))
        )
        self.tables.append(table)
        if learned is not None:
            expected = predict(table, *learned, self.groupings) * self.total
            noise = table.variance * noisy.size
            self.errors[0] += float(((noisy - model) ** 2).sum()) - noise
            self.errors[1] += float(((noisy - expected) ** 2).sum()) - noise

    def _repeat(self) -> None:
        """No unchosen set is left: the tables left over are second measurements of the chosen ones in turn (E5).

        They need no choice, so its price goes to the table.
        """
        first = list(self.tables)
        while first and len(self.tables) < self.plan.count:
            again = first[len(self.tables) % len(first)]
            self._buy(
                (again.columns, again.groups),
                np.zeros(again.counts.size),
                None,
                self._price(self.plan.selection / self.plan.count),
            )

    # ---- records ------------------------------------------------------------------------------------------

    def _relabel(self, cells: list[Any]) -> list[Any]:
        assert self.lead is not None
        with_target = [table for table in self.tables if self.lead in table.columns]
        fitter = label.Labels(self.columns, self.groupings, self.lead, self.class_tables, with_target)
        price = self._price(self.plan.label)
        leaves = int(min(400, max(4, 2 * (self.total * self._rate(price, 1)) ** 0.5)))
        tree = fitter.tree(cells, leaves)
        noisy = self.questions.label_counts(tree, self.lead, 2, price)
        cells[self.lead] = fitter.redraw(cells, noisy, laplace_variance(self._rate(price, 1)), self.dice["records"])
        return cells

    def _values(self, column: int, cells: Any) -> Ints:
        return draw_values(cells, self.edges[column], self.heaps.get(column), self.dice["records"])


def _with_new_models(sets: CandidateTables, left: Ints, pool: DraftPool) -> CandidateTables:
    """The candidates with new models from the draft for those still in the running; the others are not scored."""
    models = list(sets.models)
    for place, model in zip(left, pool.models([sets.tables[i] for i in left], float(sets.share)), strict=True):
        models[place] = model
    return replace(sets, models=tuple(models))
