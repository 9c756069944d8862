"""The algorithm of mosaic: noisy tables of grouped columns, chosen where the model is worst, from which records are
drawn.

The curator is asked through `Questions` (questions.py); everything between the questions uses public values. The
shares of the budget are in plan.py, the cells of wide columns in wide_cells.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from cantle.drawing.column_cells import WIDTHS, Column, starting_edges, with_null
from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic import plan as rules
from cantle.methods.mosaic.model import table_sets
from cantle.methods.mosaic.model.answers import (
    LIST_CHOICE,
    LIST_ITEMS,
    LIST_PAIRS,
    LIST_SIZES,
    LIST_TABLE,
    NESTED,
    PLACE,
    SCORES,
)
from cantle.methods.mosaic.model.bands import ALONE, Bands
from cantle.methods.mosaic.model.classes import predict
from cantle.methods.mosaic.model.fitted import Learned, empty_cells, first_tables
from cantle.methods.mosaic.model.items import ITEMS, Items, with_items
from cantle.methods.mosaic.model.lists import (
    ListAnswers,
    Listed,
    ListSizes,
    PartTable,
    expected_parts,
    groups_of,
    noise_in,
    number_of_columns,
    related_columns,
    size_edges,
    with_lists,
)
from cantle.methods.mosaic.model.nested import steps_below, steps_between
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, identity, laplace_variance, question, whole_table
from cantle.methods.mosaic.model.place_cells import LEVELS, SPLIT, Level, Place, estimated, first_edges, next_edges
from cantle.methods.mosaic.model.rare_items import with_rare_items
from cantle.methods.mosaic.model.table_sets import DraftPool, Grouped, Survivors, candidates
from cantle.methods.mosaic.questions import CandidateTables, Questions
from cantle.methods.mosaic.wide_cells import WideCells
from cantle.schema.fields import MOST_CLASSES
from cantle.schema.rules import Rules
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.item_partitions import PARTS

POOL = 10_000
SUBSET = 200_000
"""The noisy number of records from which on scores use a subset of the records."""

FINER = Fraction(1, 2)
"""What the finer counts of a pair that stands out cost, as a part of a table. At the price of a whole one other pairs
were about 6 % less accurate, at half of it no less, on check-ins with five columns and on six generated numbers."""


@dataclass
class MosaicRun:
    """One run of mosaic.

    `persons` is the number of records per person. `accuracy` is called with the noisy number of records; it reserves
    the budget that measures the release's own error, and returns its share of epsilon.
    """

    questions: Questions
    columns: Sequence[Column]
    target: int | None
    epsilon: Fraction
    dice: dict[str, Dice]
    persons: int = 1
    accuracy: Callable[[int], Fraction] = lambda _noisy: Fraction(0)
    edges: list[Ints] = field(default_factory=list)
    rules: Rules | None = None
    groups: Sequence[Items] = ()
    lists: Listed | None = None
    listed: Sequence[Column] = ()
    places: dict[int, Place] = field(default_factory=dict)
    measured: Fraction = Fraction(0)
    """How many tables were measured, where finer counts of a pair are a part of one."""

    def run(self) -> list[Codes]:
        """Codes of the synthetic records, one array per column; also sets `edges`, `plan`, `fitted`, `learned`."""
        noisy = self.questions.size(self._price(rules.SIZE))
        self.lead = rules.usable_target(self.columns, self.target)
        names = {column.name for column in self.columns}
        self.first_rules = None if self.rules is None else self.rules.among(names)
        self._open(noisy)
        self._shape_cells()
        self._make_bands()
        self._choose_lead()
        self._first_tables(noisy)
        self._pairs_of_scores()
        for number in range(self.plan.rounds):
            self._round(number)
            self.fitted.use_tables()
        return self._draw()

    # ---- before the tables --------------------------------------------------------------------------------

    def _price(self, share: Fraction) -> Fraction:
        return rules.price(share, self.epsilon)

    def _rate(self, price: Fraction, sensitivity: int) -> float:
        return float(price) / (sensitivity * self.persons)

    def _others(self) -> list[int]:
        return [number for number in range(len(self.columns)) if number != self.lead]

    def _sizes(self) -> list[int]:
        return [len(edges) - 1 for edges in self.edges]

    def _other_sizes(self) -> list[int]:
        """The numbers of cells of all columns but the leading one, as budgets take them."""
        sizes = self._sizes()
        return [rules.PLACE_CELLS if self.columns[one].place else sizes[one] for one in self._others()]

    def _open(self, noisy: int) -> None:
        """Makes the first decisions, from the noisy number of records and the starting cells."""
        self.edges = [with_null(column, starting_edges(column, WIDTHS)) for column in self.columns]
        rate = float(self.epsilon) / self.persons
        banded = self.lead is not None and not rules.few(self.columns[self.lead])
        self.start = rules.opening(
            noisy,
            rate,
            sum(column.wide for column in self.columns),
            self._other_sizes(),
            self.accuracy(noisy),
            banded,
            self.columns,
            sum(len(group.items) for group in self.groups),
            self.lists is not None,
        )

    def _shape_cells(self) -> None:
        """Sets the cells of all columns, those of wide columns and places after questions about them."""
        wide = [number for number, column in enumerate(self.columns) if column.wide]
        WideCells(self.questions, self.columns, wide, self.edges, self.start, self.epsilon, self.persons).refine()
        self._shape_places()
        self.questions.set_cells(self.edges)

    def _shape_places(self) -> None:
        """Counts places at three levels, and sets the blocks in which other columns see them."""
        shares = dict(zip((at for at, one in enumerate(self.columns) if one.place), self.start.places, strict=True))
        for number, share in shares.items():
            column, rate, levels = self.columns[number], self._rate(self._price(share), 1), list[Level]()
            edges = first_edges(column, self.start.n0 * rate)
            for step, part in enumerate(LEVELS):
                paid = self._price(share * part)
                if len(self.columns) == 1 and step == 2:
                    paid = self.questions.left()
                if step:
                    edges = next_edges(column, levels[-1], rate * float(part), SPLIT[step - 1])
                self.edges[number] = edges
                self.questions.set_cells(self.edges)
                asked = CrossTable((number,), (np.arange(len(edges) - 1, dtype=np.uint16),))
                (noisy,) = self.questions.cross_tables([asked], paid, f"{PLACE} {3 * len(self.places) + step + 1}")
                levels.append(Level(edges, noisy.astype(np.float64), laplace_variance(self._rate(paid, 1))))
            self.places[number] = estimated(column, levels, empty_cells(self.first_rules, column, edges))
            self.edges[number] = self.places[number].blocks

    def _make_bands(self) -> None:
        """Puts a numeric target into bands, which are its cells in all tables. A single band relates it to nothing, so
        it is then a column like any other."""
        self.bands: Bands | None = None
        if not self.start.banded:
            return
        assert self.lead is not None
        fine, price = self.edges[self.lead], self._price(self.start.bands)
        asked = whole_table(self.lead, len(fine) - 1)
        (noisy,) = self.questions.cross_tables([asked], price, ALONE)
        noise = laplace_variance(self._rate(price, 1))
        bands = Bands.of(fine, noisy, noise, float(self.start.n0), self.start.most_bands)
        if len(bands.starts) < 3:
            self.lead = None
            return
        self.bands, self.edges[self.lead] = bands, bands.outer
        self.questions.set_cells(self.edges)

    def _choose_lead(self) -> None:
        """Chooses the leading column and makes the plan: in a wide table without target, a hub column leads."""
        hub = False
        if self.lead is None and rules.hub_leads(self.start, self._sizes()):
            few = [number for number, size in enumerate(self._sizes()) if 3 <= size <= MOST_CLASSES]
            hub = len(few) > 1
            self.lead = self.questions.hub(few, self._price(rules.HUB)) if hub else few[0] if few else None
        sizes = self._other_sizes()
        classes = 0 if self.lead is None else self._sizes()[self.lead]
        is_hub = self.lead is not None and self.lead != self.target
        self.plan = rules.plan(self.start, sizes, len(self.columns), classes, hub, is_hub, len(self.groups))

    # ---- the first tables ---------------------------------------------------------------------------------

    def _first_tables(self, noisy: int) -> None:
        """Measures the first table of each column (with the leading column, if there is one) and fits them."""
        sizes, lead = self._sizes(), [] if self.lead is None else [self.lead]
        others = [number for number in self._others() if lead or number not in self.places]
        maps = [identity(size) for size in sizes]
        asked = [CrossTable((n, *lead), (maps[n], *(maps[m] for m in lead))) for n in others]
        price = self._price(self.plan.first)
        if not self.plan.count:
            price += self._remainder(price)
        answers, variances = dict[int, Ints](), dict[int, float]()
        for group in rules.first_tables([sizes[number] for number in others], price, self.plan.count == 0):
            counts = self.questions.cross_tables([asked[place] for place in group.columns], group.paid, group.why)
            answers |= zip(group.columns, counts, strict=True)
            variances |= dict.fromkeys(group.columns, laplace_variance(self._rate(group.paid, len(group.columns))))
        size = noisy, laplace_variance(self._rate(self._price(rules.SIZE), 1))
        first = [(answers[place], variances[place]) for place in range(len(others))]
        self.fitted = first_tables(
            self.columns, self.edges, self.lead, size, first, self.first_rules, self.bands, self.places
        )
        self.classes_win = self.plan.count == 0
        self.errors = [0.0, 0.0]

    def _remainder(self, *to_come: Fraction) -> Fraction:
        """What is left after the prices that are still to be paid; the last table gets it."""
        return self.questions.left() - sum(to_come) - self._price(self.plan.label) - self._price(self.start.later)

    def _pairs_of_scores(self) -> None:
        """Counts each pair of scores together, if there are enough records."""
        if not self.plan.scores:
            return
        groups = [(group.score, min(self._sizes()[group.score], rules.SCORE_GROUPS)) for group in self.groups]
        pairs = [((one, other), (few, more)) for (one, few), (other, more) in combinations(groups, 2)]
        price = self._price(self.plan.scores)
        asked = [question(*pair, self.fitted.groupings) for pair in pairs]
        variance = laplace_variance(self._rate(price, len(pairs)))
        for (members, shape), noisy in zip(pairs, self.questions.cross_tables(asked, price, SCORES), strict=True):
            self.fitted.add_scores(NoisyTable(members, shape, noisy.reshape(shape).astype(np.float64), variance))
        self.fitted.use_tables()

    # ---- chosen tables ------------------------------------------------------------------------------------

    def _learned(self, stream: str) -> Learned:
        """The learned latent classes, if they are in use; those for the final records have their own stream of dice."""
        return self.fitted.learned_classes(self.dice[stream]) if self.classes_win else None

    def _round(self, number: int) -> None:
        """Chooses and measures the tables of one round, comparing candidates with one draft of the records."""
        plan, dice, fitted = self.plan, self.dice, self.fitted
        in_use = self._learned("pools")
        pool = DraftPool(fitted.draft_cells(POOL, in_use, dice["pools"]), fitted.total)
        taken = {table.columns for table in fitted.tables}
        grouped_sets = candidates(self._sizes(), self.lead, plan.label > 0, plan.cap, taken, dice["sets"])
        if not grouped_sets:
            return self._repeat()
        sets = self._table_sets(grouped_sets, pool)
        before = sets.models
        survivors = Survivors([members for members, _ in grouped_sets], len(self.columns), joining=number == 0)
        learned = fitted.learned_classes(dice["pools"]) if in_use is None else None
        first, last = self.measured, plan.count * (number + 1) // plan.rounds
        while self.measured < last:
            left = survivors.left()
            if not len(left):
                return self._repeat()
            if self.measured > first:
                sets = _with_new_models(sets, left, pool)
            chosen = self.questions.choose_table(sets, left, self._price(plan.selection / plan.count))
            survivors.choose(chosen)
            table = self._buy(grouped_sets[chosen], before[chosen] / float(sets.share), learned)
            pool.learn(sets.tables[chosen], table)
        if self.errors[0] > 0:
            self.classes_win = self.errors[1] < 0.95 * self.errors[0]
        return None

    def _table_sets(self, found: Sequence[Grouped], pool: DraftPool) -> CandidateTables:
        """The candidates with their penalties and with their models from the draft."""
        plan = self.plan
        share = min(Fraction(1), Fraction(SUBSET, self.start.n0))
        tables = tuple(question(members, groups, self.fitted.groupings) for members, groups in found)
        noise = plan.count * self.persons / (float(plan.tables) * float(self.epsilon)) * float(share)
        possible = [
            table.cells - int(self.fitted.empty(*grouped).sum()) for table, grouped in zip(tables, found, strict=True)
        ]
        penalties = np.rint(np.array(possible) * noise).astype(np.int64)
        return CandidateTables(
            tables, pool.models(tables, float(share)), penalties, share, int(self.dice["subset"].integers(2**63))
        )

    def _buy(self, grouped: Grouped, model: Floats, learned: Learned) -> NoisyTable:
        """Measures one table, and a pair that stands out more finely at once; returns it in the groups it was chosen
        with. If classes were learned, adds up how well the draft and the classes predicted it."""
        plan, fitted = self.plan, self.fitted
        members, groups = grouped
        finest = table_sets.finest(members, self._sizes(), plan.cap)
        if finest is not None and fitted.empty(members, finest).any():
            finest = None
        if finest is not None and plan.count == 1:
            fitted.add_pair(
                self._measured_nested(members, steps_below(finest, fitted.pair(members)), self._next_price())
            )
            return fitted.as_chosen(fitted.tables[-1])
        table = self._measured(members, groups, self._next_price())
        fitted.add(table)
        if finest is not None and self.measured < plan.count and fitted.stands_out(table):
            steps = steps_between(groups, finest, fitted.pair(members))
            fitted.add_pair(self._measured_nested(members, steps, self._next_price(part=FINER)))
        if learned is not None:
            expected = predict(table, *learned, fitted.groupings) * fitted.total
            noisy, noise = table.counts.ravel(), table.variance * table.counts.size
            self.errors[0] += float(((noisy - model) ** 2).sum()) - noise
            self.errors[1] += float(((noisy - expected) ** 2).sum()) - noise
        return table

    def _measured(
        self, members: tuple[int, ...], groups: tuple[int, ...], price: Fraction, part: str = ""
    ) -> NoisyTable:
        asked = question(members, groups, self.fitted.groupings)
        (noisy,) = self.questions.cross_tables([asked], price, part=part)
        counts = noisy.reshape(groups).astype(np.float64)
        return NoisyTable(members, groups, counts, laplace_variance(self._rate(price, 1)))

    def _measured_nested(
        self, members: tuple[int, ...], steps: Sequence[tuple[int, int]], price: Fraction
    ) -> list[NoisyTable]:
        """A pair, measured at up to three nested numbers of groups; the finest gets three shares of the price."""
        part = rules.price(Fraction(1, len(steps) + 2), price)
        paid = [part] * (len(steps) - 1) + [price - part * (len(steps) - 1)]
        return [
            self._measured(members, groups, each, name)
            for groups, each, name in zip(steps, paid, NESTED[-len(steps) :], strict=True)
        ]

    def _next_price(self, more: Fraction = Fraction(0), part: Fraction = Fraction(1)) -> Fraction:
        """The price of the next table, which is begun; the last one gets all that is left."""
        self.questions.next_table()
        self.measured += part
        price = self._price(part * self.plan.tables / self.plan.count) + more
        return price + self._remainder(price) if self.measured >= self.plan.count else price

    def _repeat(self) -> None:
        """Measures chosen tables again, one after the other, if no other set of columns is left.

        No choice is needed, so its price is added to that of the table.
        """
        first = list(self.fitted.tables)
        while first and self.measured < self.plan.count:
            again = self.fitted.as_chosen(first[int(self.measured) % len(first)])
            price = self._next_price(self._price(self.plan.selection / self.plan.count))
            self.fitted.add(self._measured(again.columns, again.groups, price))

    # ---- records ------------------------------------------------------------------------------------------

    def _draw(self) -> list[Codes]:
        """Draws the cells of the records, then their values."""
        dice, self.learned = self.dice["records"], self._learned("classes")
        if self.lists is not None:
            answers = self._ask_lists(self.lists)
            self.fitted = with_lists(self.fitted, self.listed, self.lists, answers)
        fitted = self.fitted
        records = max(0, round(fitted.noisy_total))
        cells = fitted.draw_cells(max(1, records), self.learned, dice)
        if self.plan.label:
            cells = self._relabel(cells)
        codes = fitted.draw_values(cells, records, dice)
        if self.lists is not None:
            codes = with_rare_items(codes, self.lists, answers, fitted.total, dice)
        return self._with_items(codes)

    def _with_items(self, codes: list[Codes]) -> list[Codes]:
        """The columns with the items of groups after them, which are counted now."""
        if not self.groups:
            return codes
        asked = [
            whole_table(at, len(added))
            for group in self.groups
            for at, added in zip(group.items, group.worth, strict=True)
        ]
        price = self._price(self.start.items)
        noisy = self.questions.cross_tables(asked, price, ITEMS)
        variance = laplace_variance(self._rate(price, len(asked)))
        return with_items(codes, self.groups, noisy, variance, self.fitted.total, self.dice["records"])

    def _ask_lists(self, listed: Listed) -> ListAnswers:
        """The noisy answers about lists: how many items records have, then items alone, and frequent ones by columns
        and in pairs."""
        left = self._price(self.start.lists)
        price = {what: rules.price(share, left) for what, share in rules.LIST_SHARES.items()}
        related, paired = related_columns(self.fitted, listed), len(listed.items) > 1
        asked = [LIST_SIZES, *[LIST_CHOICE, LIST_TABLE] * bool(related), *[LIST_PAIRS] * paired]
        alone = left - sum(price[what] for what in asked)
        edges = size_edges(listed.longest)
        noisy = self.questions.list_sizes(listed.items, edges, price[LIST_SIZES])
        sizes = ListSizes.of(noisy, self._rate(price[LIST_SIZES], 1), self.fitted.total, listed.longest)
        most = sizes.most(len(listed.items), self._rate(alone, 1))
        items = self._parts(listed.items, None, most, alone, LIST_ITEMS)
        answers = ListAnswers(sizes, items, listed.related(items), [])
        if related:
            self._by_columns(listed, answers, related, price)
        if paired:
            most = answers.related_sizes.usual(pairs=True)
            answers.pairs = self._parts(listed.at(answers.related), None, most, price[LIST_PAIRS], LIST_PAIRS)
        return answers

    def _by_columns(
        self, listed: Listed, answers: ListAnswers, related: Sequence[int], price: Mapping[str, Fraction]
    ) -> None:
        """Counts the items by the groups of some columns: the leading one, and others that are chosen."""
        sizes, some = answers.related_sizes, listed.at(answers.related)
        most = sizes.usual()
        number = number_of_columns(sizes, most, self._rate(price[LIST_TABLE], most), len(related))
        each, choice = (rules.price(Fraction(1, number), price[what]) for what in (LIST_TABLE, LIST_CHOICE))
        by = [question((one,), (groups_of(self.fitted, one),), self.fitted.groupings) for one in related]
        models = [expected_parts(self.fitted, answers, most, one) for one in by]
        noise = PARTS / self._rate(each, most)
        penalties = np.rint([noise * noise_in(model) for model in models]).astype(np.int64)
        for place in range(number):
            at = 0
            if by[0].columns[0] != self.lead:
                flat = [model.ravel() for model in models]
                at = self.questions.choose_column(some, by, most, flat, penalties, choice)
            table = by.pop(at)
            models.pop(at)
            penalties = np.delete(penalties, at)
            answers.by_column.append(self._parts(some, table, most, each, f"{LIST_TABLE} {place + 1}"))

    def _parts(self, items: Sequence[int], by: CrossTable | None, most: int, price: Fraction, why: str) -> PartTable:
        noisy = self.questions.item_parts(items, by, most, price, why)
        rows = len(noisy) // (1 if by is None else by.cells)
        variance = laplace_variance(self._rate(price, most * PARTS))
        return PartTable.of(noisy, rows, variance, most, None if by is None else by.columns[0])

    def _relabel(self, cells: list[Codes]) -> list[Codes]:
        """Draws the target of the drawn records again, from noisy counts of classes in the leaves of a tree."""
        assert self.lead is not None
        labels = self.fitted.labels()
        price = self._price(self.plan.label)
        rate = self._rate(price, 1)
        leaves = int(min(400, max(4, 2 * (self.fitted.total * rate) ** 0.5)))
        tree = labels.tree(cells, leaves)
        noisy = self.questions.label_counts(tree, self.lead, self._sizes()[self.lead], price)
        cells[self.lead] = labels.redraw(cells, tree, noisy, laplace_variance(rate), self.dice["records"])
        return cells


def _with_new_models(sets: CandidateTables, left: Ints, pool: DraftPool) -> CandidateTables:
    """The candidates, with new models from the draft for those that are left; the others are not scored."""
    models = list(sets.models)
    for place, model in zip(left, pool.models([sets.tables[i] for i in left], float(sets.share)), strict=True):
        models[place] = model
    return replace(sets, models=tuple(models))
