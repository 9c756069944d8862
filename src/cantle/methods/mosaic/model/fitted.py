"""Estimates from noisy answers about a table, and records drawn from them, both in a run and from a saved release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Dice, Floats
from cantle.drawing.obey_rules import Regions, Shape, repair
from cantle.methods.mosaic.model import estimates
from cantle.methods.mosaic.model.bands import Bands
from cantle.methods.mosaic.model.classes import MOST_MEAN_CELLS, learn_classes
from cantle.methods.mosaic.model.estimates import draw_values, given_class
from cantle.methods.mosaic.model.generate import Model, generate
from cantle.methods.mosaic.model.groupings import Groupings, barriers
from cantle.methods.mosaic.model.label import Labels
from cantle.methods.mosaic.model.nested import combined, few_groups, stands_out
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, coarser, rising_together
from cantle.methods.mosaic.model.place_cells import Place
from cantle.methods.mosaic.model.possible import drawn_again, enough, more_for
from cantle.schema.code_sets import EVERYWHERE
from cantle.schema.rules import Rules
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints

"""The public dice of a run by their use: `records` and `classes` draw the records, the others serve earlier choices."""

Learned = tuple[Floats, list[Floats]] | None
"""Shares of learned classes and the columns' distributions in them."""


@dataclass
class Fitted:
    """Estimates from the answers so far. `first_tables` makes them; then `tables` are added one by one."""

    columns: Sequence[Column]
    edges: Sequence[Ints]
    lead: int | None
    noisy_total: float
    counts: list[Floats]
    spread: list[Floats]
    class_tables: dict[int, NoisyTable]
    tables: list[NoisyTable] = field(default_factory=list)
    rules: Rules | None = None
    places: Mapping[int, Place] = field(default_factory=dict)
    bands: Bands | None = None
    late: int = 0
    """So many of the last columns are items of lists, which are drawn after all others."""

    def __post_init__(self) -> None:
        self.total = max(1.0, self.noisy_total)
        self.one_way = self._one_ways(None)
        self.first_one_way = tuple(self.one_way)
        self.groupings = tuple(
            Groupings(p, barriers(column, edges))
            for p, column, edges in zip(self.one_way, self.columns, self.edges, strict=True)
        )

    @property
    def sizes(self) -> list[int]:
        """How many cells each column has."""
        return [len(edges) - 1 for edges in self.edges]

    def add(self, table: NoisyTable) -> None:
        """Adds a table; its cells that hold only values that break a rule are known to be empty."""
        if self.rules is not None:
            table = table.without(self.empty(table.columns, table.groups))
        self.tables.append(table)

    def as_chosen(self, table: NoisyTable) -> NoisyTable:
        """A table at no more groups than tables are chosen with."""
        if not table.settled:
            return table
        own = [self.groupings[column] for column in table.columns]
        return coarser(table, few_groups(table, own), own)

    def empty(self, columns: Sequence[int], groups: Sequence[int]) -> Bools:
        """Which cells of a table hold only values that break a rule."""
        if self.rules is None:
            return np.zeros(tuple(groups), dtype=np.bool_)
        spans = {}
        for column, number in zip(columns, groups, strict=True):
            starts = self.edges[column][self.groupings[column].starts(number)]
            spans[column] = starts, np.append(starts[1:], self.edges[column][-1])
        return _forbidden(self.rules, self.columns, spans)

    def add_pair(self, measured: Sequence[NoisyTable]) -> None:
        """Adds a pair that was measured at nested groups, coarsest first; if it was measured in few groups before, that
        table becomes a part of the new one."""
        columns = measured[-1].columns
        before = [table for table in self.tables if table.columns == columns]
        self.tables = [table for table in self.tables if table.columns != columns]
        measured = [*before, *measured]
        self.add(combined(measured, self.pair(columns), self.total, self._sides(measured[-1])))

    def add_scores(self, table: NoisyTable) -> None:
        """Adds a pair of scores: how strongly they rise together, and what stands out besides."""
        self.add(rising_together(table, self._sides(table)))

    def with_items(
        self, columns: Sequence[Column], counts: Sequence[Floats], variance: float, rules: Rules | None
    ) -> Fitted:
        """The same estimates with items of lists as further columns of two cells each, of these counts; `rules` are
        those about all columns."""
        made = replace(
            self,
            columns=[*self.columns, *columns],
            edges=[*self.edges, *(np.arange(3, dtype=np.int64) for _ in columns)],
            counts=[*self.counts, *counts],
            spread=[*self.spread, *(np.full(2, variance) for _ in columns)],
            tables=list(self.tables),
            rules=rules,
            late=len(columns),
        )
        made.use_tables()
        return made

    def stands_out(self, table: NoisyTable) -> bool:
        """Whether a pair should be measured more finely."""
        return stands_out(table, self.pair(table.columns), self.total, self._sides(table))

    def pair(self, columns: Sequence[int]) -> tuple[Groupings, Groupings]:
        return self.groupings[columns[0]], self.groupings[columns[1]]

    def _sides(self, table: NoisyTable) -> tuple[Floats, Floats]:
        """The number of records in each group of a pair's columns, as the first tables tell it."""
        first, second = (
            np.add.reduceat(self.first_one_way[column], self.groupings[column].starts(groups)) * self.total
            for column, groups in zip(table.columns, table.groups, strict=True)
        )
        return first, second

    def use_tables(self) -> None:
        """Updates the one-way distributions with the tables measured so far."""
        self.one_way = self._one_ways(self.groupings)

    def _one_ways(self, groupings: Sequence[Groupings] | None) -> list[Floats]:
        return estimates.one_ways(
            self.counts, self.spread, self.tables, self.columns, self.edges, groupings, self.total, self._known()
        )

    def _known(self) -> dict[int, Floats]:
        """Distributions of columns that do not follow from their first tables."""
        return {number: place.block_masses for number, place in self.places.items()}

    def learned_classes(self, dice: Dice) -> Learned:
        """Classes of records, learned from all tables together; None if columns have too many cells for that."""
        tables = [*self.class_tables.values(), *map(self.as_chosen, self.tables)]
        if not tables or np.mean(self.sizes) > MOST_MEAN_CELLS:
            return None
        return learn_classes(tables, self.one_way, self.groupings, self.total, dice)

    def model(self, learned: Learned) -> Model:
        """The model that records are drawn from, given the answers so far."""
        given = []
        for number, p in enumerate(self.one_way):
            if number in self.class_tables:
                shares = self.one_way[self.lead]  # type: ignore[index]
                given.append(given_class(self.class_tables[number], p, shares, self.groupings, self.total))
            else:
                classes = 1 if self.lead is None else self.sizes[self.lead]
                given.append(np.repeat(p[None, :], classes, axis=0))
        one_way = tuple(self.one_way)
        numbers = frozenset(number for number, column in enumerate(self.columns) if column.numeric)
        tables = tuple(self.tables)
        model = Model(
            one_way, tuple(given), self.groupings, tables, self.total, self.lead, late=self.late, numbers=numbers
        )
        if learned is None:
            return model
        shares, within = learned
        within = [*within, *(np.repeat(p[None, :], len(shares), axis=0) for p in one_way[len(within) :])]
        tables = (*self.class_tables.values(), *tables)
        return replace(model, given=tuple(within), tables=tables, mixture=shares, lead=None, first=self.lead)

    def draft_cells(self, records: int, learned: Learned, dice: Dice) -> list[Codes]:
        """Cells of this many drafted records, one array per column. Drafts are compared in few groups: neither finer
        counts nor the order inside groups matter."""
        model = self.model(learned)
        few = replace(model, tables=tuple(map(self.as_chosen, model.tables)), numbers=frozenset())
        return self._possible(few, records, dice)

    def draw_cells(self, records: int, learned: Learned, dice: Dice) -> list[Codes]:
        """Cells of this many records to release, one array per column."""
        return self._possible(self.model(learned).to_release(), records, dice)

    def _possible(self, model: Model, records: int, dice: Dice) -> list[Codes]:
        """Cells of records, none of which breaks a rule at every point of its cells."""
        cells = generate(model, records, dice)
        if self.rules is None:
            return cells
        named = {column.name: edges for column, edges in zip(self.columns, self.edges, strict=True)}
        rules = self.rules.on_cells(dict(named.items()))
        kept = self._obeying(rules, cells)
        if kept.all() or not enough(kept):
            repair(rules, self._named(cells), dice)
            return cells
        more = generate(model, more_for(kept), dice)
        kept = np.concatenate([kept, self._obeying(rules, more)])
        both = [np.concatenate(pair)[kept] for pair in zip(cells, more, strict=True)]
        tables = [*self.class_tables.values(), *self.tables]
        return drawn_again(both, records, self.one_way, tables, self.groupings, self.total, dice)

    def _obeying(self, rules: Rules, cells: Sequence[Codes]) -> Bools:
        parts = self._named(cells)
        return ~rules.breaking(lambda name: parts[str(name)])

    def _named(self, codes: Sequence[Codes]) -> dict[str, Codes]:
        return {column.name: part for column, part in zip(self.columns, codes, strict=True)}

    def labels(self) -> Labels:
        """The model that draws the target, as the last column, from tables in which its classes are apart."""
        assert self.lead is not None
        whole = (self.lead, self.sizes[self.lead])
        apart = [table for table in self.tables if whole in zip(table.columns, table.groups, strict=True)]
        return Labels(self.columns, self.groupings, self.lead, self.class_tables, apart, self.one_way[self.lead])

    def draw_values(self, cells: Sequence[Codes], records: int, dice: Dice) -> list[Codes]:
        """Codes of the first `records` records, one array per column."""
        cells, edges = list(cells), list(self.edges)
        if self.bands is not None and self.lead is not None:
            cells[self.lead], edges[self.lead] = self.bands.draw(cells[self.lead], dice), self.bands.edges
        codes = [
            self.places[number].draw(part[:records], dice)
            if number in self.places
            else draw_values(part, each, self.columns[number].null, dice)[:records]
            for number, (part, each) in enumerate(zip(cells, edges, strict=True))
        ]
        if self.rules is not None:
            self._obey(self.rules, cells, edges, self._named(codes), dice)
        return codes

    def _obey(
        self, rules: Rules, cells: Sequence[Codes], every: Sequence[Ints], codes_of: dict[str, Codes], dice: Dice
    ) -> None:
        """Changes records that break a rule, inside their cells if possible, so that they still agree with the
        tables."""
        bad = np.flatnonzero(rules.breaking(lambda name: codes_of[str(name)]))
        spans, shapes = {}, {}
        for number, (column, edges, part) in enumerate(zip(self.columns, every, cells, strict=True)):
            at = part[bad].astype(np.int64)
            if number in self.places:
                edges = self.places[number].edges
                at = np.searchsorted(edges, codes_of[column.name][bad], side="right") - 1
            spans[column.name] = edges[at], edges[at + 1]
            shapes[column.name] = Shape(np.array([0, column.codes]), np.ones(1))
        some = {name: codes[bad] for name, codes in codes_of.items()}
        Regions(rules, spans).change_one(some, np.arange(len(bad)), shapes, dice)
        for name, codes in some.items():
            codes_of[name][bad] = codes
        repair(rules, codes_of, dice)


def first_tables(
    columns: Sequence[Column],
    edges: Sequence[Ints],
    lead: int | None,
    size: tuple[int, float],
    first: Sequence[tuple[Ints, float]],
    rules: Rules | None = None,
    bands: Bands | None = None,
    places: Mapping[int, Place] | None = None,
) -> Fitted:
    """The estimates from the first tables: one per column but the leading one, in order, with their noise variances.
    Without a leading column, places have none.

    `size` is the noisy number of records with its variance. With `bands`, the leading column is a numeric target, whose
    cells are the bands; they are counted like categories.
    """
    if bands is not None:
        columns = [replace(one, numeric=one.numeric and number != lead) for number, one in enumerate(columns)]
    places = places or {}
    others = [number for number in range(len(columns)) if number != lead and (lead is not None or number not in places)]
    sizes = [len(edge) - 1 for edge in edges]
    leads = [] if lead is None else [lead]
    shapes = [(sizes[number], *(sizes[one] for one in leads)) for number in others]
    tables = []
    for number, (answer, variance), shape in zip(others, first, shapes, strict=True):
        table = NoisyTable((number, *leads), shape, answer.reshape(shape).astype(np.float64), variance)
        if rules is not None:
            spans = {one: (edges[one][:-1], edges[one][1:]) for one in (number, *leads)}
            table = table.without(_forbidden(rules, columns, spans))
        tables.append(table)
    noisy_total = estimates.total_records([size, *(place.records for place in places.values())], tables)
    counts, spread = estimates.one_way_counts(tables, lead, len(columns))
    class_tables = dict(zip(others, tables, strict=True)) if leads else {}
    return Fitted(
        columns, edges, lead, noisy_total, counts, spread, class_tables, rules=rules, bands=bands, places=places
    )


def empty_cells(rules: Rules | None, column: Column, edges: Ints) -> Bools:
    """Which cells of a column hold only values that break a rule, whatever the other columns hold."""
    if rules is None:
        return np.zeros(len(edges) - 1, dtype=np.bool_)
    spans: dict[str | int, tuple[Ints, Ints]] = {column.name: (edges[:-1], edges[1:])}
    return np.broadcast_to(rules.forbidden_spans(spans) == EVERYWHERE, len(edges) - 1)


def _forbidden(rules: Rules, columns: Sequence[Column], spans: Mapping[int, tuple[Ints, Ints]]) -> Bools:
    """Which cells of a table hold only values that break a rule, given the spans of codes along each of its columns."""
    shape = [len(lo) for lo, _ in spans.values()]
    along: dict[str | int, tuple[Ints, Ints]] = {}
    for axis, (column, (lo, hi)) in enumerate(spans.items()):
        form = [-1 if one == axis else 1 for one in range(len(shape))]
        along[columns[column].name] = lo.reshape(form), hi.reshape(form)
    return np.broadcast_to(rules.forbidden_spans(along) == EVERYWHERE, shape)
