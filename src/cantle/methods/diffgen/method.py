"""DiffGen: tables that train classifiers (Mohammed, Chen, Fung & Yu 2011).

It starts with every attribute fully general, specialises one value per round, which is chosen with noise, and finally
counts the cells with noise. Preset `paper` is Algorithm 1 with exact prices for its selections. Preset `default` makes
one selection per round among all (value, split) pairs, which are scored on all cells of the current table at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from cantle.drawing.counts import Dice, dot, variance
from cantle.drawing.records import Results
from cantle.errors import ParameterError, SchemaError
from cantle.methods.base import TableMethod
from cantle.methods.diffgen.results import ColumnTable, cell_results
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.rps.one_ways import cell_edges
from cantle.methods.settings import (
    literal_switch,
    maybe,
    one_of,
    portion,
    read_settings,
    refuse_literal,
    setting,
    share,
    whole,
)
from cantle.schema.domain import Attribute, Domain, Labels, Plane
from cantle.schema.taxonomy import Taxonomy
from cantle.trusted.claims.queries import Cells, Histogram
from cantle.trusted.claims.scores import Gini, HalfGini, InfoGain, JointMajority, Max, Quality, WeightedMajority
from cantle.trusted.claims.specialisations import MOST_TABLE, JointSplits, OneValue, SplitPoints, Value
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Frontier
from cantle.trusted.geometry.grid import Grid

KAPPA = 10
"""The number of records that an average cell should hold, in noise scales; it determines the rounds and cells."""

ENOUGH = 5000
"""The value of records * epsilon from which on a task counts as large (see `_scores`)."""

MOST_SPURIOUS = 10**7
"""The most records that empty cells may add on average before projection; the threshold of counts is set by it."""

LISTED = 10**7
"""The most cells that are listed one by one."""

WEIGHT = 1 << 10

MOST_ROUNDS, MOST_CELLS = 12, 1 << 13
"""The largest automatic numbers of rounds and cells: more take time without being more accurate (measured on Adult, up
to 10^6 records)."""

RISE = Fraction(7, 5)
"""The price of a round relative to the previous one with half Gini, because later specialisations stand out less."""

MOST_CATEGORIES = 1 << 10
"""A column of more categories has no table: its counts would be noise."""

POINTS = 64
"""The largest number of evenly spaced points of a number that are candidates in a round."""


@dataclass(frozen=True, kw_only=True)
class DiffGenSettings:
    """The parameters of diffgen, each described in docs/reference.md."""

    rounds: int | None = setting(maybe(whole(0, 1000), "auto"), shown=True)
    cells: int | None = setting(maybe(whole(1, LISTED), "auto"), shown=True)
    score: str = setting(
        one_of("auto", "majority", "tempered", "weighted", "gini", "max", "infogain", "purity"), shown=True
    )
    objective: str = setting(one_of("auto", "accuracy", "balanced"), shown=True)
    structure_share: Fraction | None = setting(maybe(share(positive=True), "auto"))
    count_share: Fraction = setting(share())
    oneway_share: Fraction = setting(share())
    records: int | None = setting(maybe(whole(0, 2**53), "private"), shown=True)
    accuracy_share: Fraction = setting(accuracy_share(), shown=True)
    literal: bool = literal_switch()


PRESETS: Mapping[str, Mapping[str, object]] = {
    "default": {"rounds": None, "cells": None, "score": "auto", "objective": "auto", "structure_share": None,
                "count_share": "1/50", "oneway_share": "1/8", "records": None, "accuracy_share": DEFAULT_SHARE,
                "literal": False},
    "paper": {"rounds": 10, "cells": None, "score": "max", "objective": "accuracy", "structure_share": "1/2",
              "count_share": 0, "oneway_share": 0, "records": None, "accuracy_share": 0, "literal": False},
}  # fmt: skip
LOCAL: Mapping[str, Quality] = {"max": Max(), "infogain": InfoGain(), "purity": Gini()}


class DiffGen(TableMethod):
    """One run: settings, the cuts made so far, and the noisy cells. All of these are public."""

    name: ClassVar[str] = "diffgen"
    Settings: ClassVar[type] = DiffGenSettings

    def __init__(self, domain: Domain, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(DiffGenSettings, "diffgen", PRESETS, preset, given)
        self.preset = preset
        place = next((one.name for one in domain.attributes if isinstance(one.scale, Plane)), None)
        if place is not None:
            raise SchemaError(f"field {place!r}: diffgen cuts numbers, a place is two: use mosaic or rps")
        refuse_literal("diffgen", preset, given)
        if domain.target is None:
            raise SchemaError("diffgen needs a class to train for; give one field role: target, or use method mosaic")
        self._check()
        self.domain = domain
        self.taxonomies = [_taxonomy(attribute) for attribute in domain.attributes]
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, domain=domain)
        self.grid = Grid.top(self.sizes)
        self.nano = NANO
        """A price divided by this is a rate of noise: nano-units per epsilon, times records of a unit."""
        self.rounds = 0
        self.noisy_records: int | None = self.settings.records
        self.totals_rate = 0.0
        """The rate of the noise in class totals; 0 if they were not measured."""
        self.noisy: NoisyCells | None = None
        self.tables: list[ColumnTable] = []

    def _check(self) -> None:
        """Refuses combinations of settings that cannot work, before any data is opened."""
        s = self.settings
        if (self.preset == "paper") != (s.score in LOCAL):
            known = (
                "max, infogain or purity" if self.preset == "paper" else "auto, majority, tempered, weighted or gini"
            )
            raise ParameterError(f"diffgen parameter score: preset {self.preset} takes {known}, got {s.score!r}")
        if s.literal and s.score != "max":
            raise ParameterError(
                f"diffgen parameter literal would do nothing: score={s.score} has the printed rate anyway"
            )
        if self.preset == "paper" and None in (s.rounds, s.structure_share):
            raise ParameterError("diffgen parameters rounds and structure_share: preset paper needs numbers, not auto")
        if self.preset == "default" and s.records is None and not s.count_share:
            raise ParameterError("diffgen needs the number of records: declare records=N or pay count_share=0.01")

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Refuses an epsilon so small that records cannot be drawn, or that some question would get nothing."""
        super().refuse_budget(epsilon_nano, max_records)
        s = self.settings
        rest = epsilon_nano - self.own_accuracy.at_most(epsilon_nano)
        if self.preset == "paper":
            self._published_price(rest)
            return
        if s.count_share:
            rest -= max(1, portion(epsilon_nano, s.count_share))
        if rest - portion(epsilon_nano, s.oneway_share) < 1:
            raise ParameterError(
                "diffgen: nothing is left for the counts; raise epsilon, or lower count_share or oneway_share"
            )

    def run(self, curator: Curator) -> None:
        """Asks all questions, about the whole domain."""
        root = curator.root()
        self.nano *= curator.unit.max_records
        if self.preset == "paper":
            self.own_accuracy.decide(curator, int(curator.left(root)[0]), self.noisy_records)
            self._specialise_as_published(root, curator)
        else:
            reserve = portion(int(curator.left(root)[0]), self.settings.oneway_share)
            self._specialise_jointly(root, curator, reserve)
            self._measure_columns(root, curator, reserve)
        left = int(curator.left(root)[0])
        at_least = self._threshold(left)
        self.noisy = curator.measure(root, Cells(self.grid, self.classes), left, at_least=at_least, why="cells")

    def results(self, generator: Dice) -> Results:
        """Records and groups from the noisy cells."""
        assert self.noisy is not None
        total = self._total(self.noisy) if self.preset == "default" else None
        return cell_results(self.domain, self.grid, self.noisy, self.tables, total, self.rounds, generator)

    def _total(self, noisy: NoisyCells) -> int | None:
        """The number of records: declared, or the mean of the class totals' sum and the cells', weighted by precision.

        A cell that is not listed had a noisy count of 0 or less. Whatever it holds, that count is -a / (1 - a) on
        average, where P[Z = k] is proportional to a^|k|.
        """
        if self.settings.records is not None or not self.totals_rate or noisy.at_least[0] > 1:
            return self.noisy_records
        assert self.noisy_records is not None
        cells, rate = self.grid.cells * self.classes, float(noisy.rate_num[0]) / noisy.rate_den
        said = np.array([self.noisy_records, noisy.value.sum() - (cells - len(noisy.value)) / np.expm1(rate)])
        precision = 1 / (np.array([self.classes, cells]) * variance(np.array([self.totals_rate, rate])))
        return round(dot(said, precision) / float(precision.sum()))

    # ---- default ------------------------------------------------------------------------------------------

    def _specialise_jointly(self, root: Frontier, curator: Curator, reserve: int) -> None:
        """Makes one selection per round among all (value, split) pairs.

        The numbers of rounds and cells follow from public values. `reserve` nano-units are not spent here.
        """
        s, total = self.settings, int(curator.left(root)[0])
        totals = self._class_totals(root, curator, total)
        self.own_accuracy.decide(curator, total, self.noisy_records)
        first, later, usual = self._scores(totals, total)
        rest = int(curator.left(root)[0]) - reserve
        structure = portion(rest, s.structure_share or usual)
        useful = max(2.0, (self.noisy_records or 0) * (rest - structure) / (self.nano * KAPPA))
        rounds = s.rounds if s.rounds is not None else min(MOST_ROUNDS, int(math.log2(useful)) - 1)
        most = min(s.cells or max(2, min(MOST_CELLS, int(useful))), MOST_TABLE // (4 * self.classes * (POINTS + 1)))
        prices = _prices(structure, rounds, later)
        while self.rounds < rounds and self.grid.cells < most and (price := prices[self.rounds]):
            widest = MOST_TABLE // (self.grid.cells * self.classes)  # the table of all its children must fit
            values = self._values(4 * most, widest)
            if not values:
                break
            score = later if self.rounds else first
            handicaps = tuple(self._handicap(value, score, price) for value in values)
            asked = JointSplits(self.grid, values, handicaps, POINTS, self.classes)
            pick = curator.choose(root, asked, score, price, why="specialise")[0]
            self._push(values[pick.value], pick.point)

    def _measure_columns(self, root: Frontier, curator: Curator, price: int) -> None:
        """Measures one-way tables of the columns that are not cut into single values, for the shapes of these columns.

        Each table is a grid that cuts one column only, so Claim 23 holds for it as for the cells.
        """
        coarse = [a for a, edge in enumerate(self.grid.edges) if (np.diff(edge) > 1).any()]
        if not price or not coarse:
            return
        each = price // len(coarse)
        for a in coarse:
            attribute = self.domain.attributes[a]
            if not each or (isinstance(attribute.scale, Labels) and attribute.size > MOST_CATEGORIES):
                continue
            edges = cell_edges(attribute, max(0, self.noisy_records or 0) * each / self.nano)
            others = tuple(np.array([0, size], dtype=np.int64) for size in self.sizes)
            column = Grid((*others[:a], edges, *others[a + 1 :]))
            asked = Cells(column, self.classes, together=True)
            noisy = curator.measure(root, asked, each, at_least=1, why="one-way tables")
            self.tables.append(ColumnTable(a, edges, noisy.cells, noisy.value, int(noisy.rate_num[0]), noisy.rate_den))

    def _class_totals(self, root: Frontier, curator: Curator, total: int) -> list[int]:
        """Noisy class totals, each raised to at least two noise scales.

        Their sum before that is the noisy number of records, unless a number is declared.
        """
        if not self.settings.count_share:
            return [1] * self.classes
        price = max(1, portion(total, self.settings.count_share))
        self.totals_rate = price / self.nano
        totals = curator.measure(root, Histogram(self.classes), price, why="class totals").value[0]
        if self.noisy_records is None:
            self.noisy_records = int(totals.sum())
        return np.maximum(totals, 2 * self.nano // price + 1).tolist()

    def _scores(self, totals: list[int], total: int) -> tuple[Quality, Quality, Fraction]:
        """The score of the first round, that of the others, and the default share of the budget for specialisations.

        Scores are chosen by name, or by objective and size of the task. If records * epsilon is small, majorities
        rarely change and say little, least of all in the first round: one class has the majority on both sides of
        almost every cut. The weights of score "tempered" are between equal weights and those that balance the classes,
        so the score also reacts to shares of a rare class below one half.
        """
        s = self.settings
        small = (self.noisy_records or 0) * total < ENOUGH * self.nano
        name = first = s.score
        if name == "auto":
            name = "majority" if s.objective == "accuracy" else "gini"
            name = "tempered" if small and s.objective != "balanced" else name
            first = "tempered" if name == "majority" else name
        usual = Fraction(3, 4) if small else Fraction(2, 3) if name == "majority" else Fraction(1, 2)
        return _score(first, totals), _score(name, totals), usual

    def _handicap(self, value: Value, score: Quality, price: int) -> int:
        """The handicap with which all points of a value together weigh as much as one candidate.

        It is ln(points) noise scales.
        """
        lo, hi = value.span
        points = 1 if value.children is not None else min(POINTS, hi - lo - 1)
        return int(math.log(points) * score.range * self.nano / price)

    def _values(self, most: int, widest: int) -> tuple[Value, ...]:
        """The values that can still be specialised into at most `widest` children, with at most `most` cells in all.

        This follows from the taxonomy and the grid alone.
        """
        values, cells = [], self.grid.cells
        for attribute, cut in enumerate(self.grid.shape):
            room = most * cut // cells - cut + 1  # children that fit
            for lo, hi in self.grid.spans(attribute):
                children = self._children(attribute, lo, hi)
                number = 2 if children is None else len(children)
                if hi - lo > 1 and number <= min(room, widest):
                    values.append(Value(attribute, (lo, hi), children))
        return tuple(values)

    def _children(self, attribute: int, lo: int, hi: int) -> tuple[tuple[int, int], ...] | None:
        """The children of a span of categories; None for numbers, which are cut at a point.

        At the top, null is one of the children.
        """
        taxonomy, nullable = self.taxonomies[attribute], self.domain.attributes[attribute].nullable
        if taxonomy is None:
            return None
        if nullable and (lo, hi) == (0, self.sizes[attribute]):
            top = taxonomy.children(0, hi - 1) or ((0, hi - 1),)
            return (*top, (hi - 1, hi))
        return taxonomy.children(lo, hi) if hi - lo > 1 else ()

    def _push(self, value: Value, point: int) -> None:
        """Specialises a value: the grid is refined at its children, or at `point` for a number."""
        points = (point,) if value.children is None else tuple(lo for lo, _ in value.children[1:])
        self.grid = self.grid.refine(value.attribute, points)
        self.rounds += 1

    # ---- paper --------------------------------------------------------------------------------------------

    def _specialise_as_published(self, root: Frontier, curator: Curator) -> None:
        """Algorithm 1: split points first, then one value per round, and new split points after numeric rounds.

        Deviation: there are |A_n| + 2h - 1 selections instead of |A_n| + 2h, because the last round needs no new
        points; the weight is exp(e' u) for Max, whose range is 1; the counts get what categorical rounds do not use.
        """
        s = self.settings
        assert s.rounds is not None  # refused earlier
        h = s.rounds
        score, numeric = LOCAL[s.score], self._numeric()
        price = self._published_price(int(curator.left(root)[0]))
        points: dict[tuple[int, int, int], int] = {}

        def find_points(values: list[Value]) -> None:
            if values:
                asked = SplitPoints(tuple(values), self.sizes[values[0].attribute], self.classes, s.literal)
                for pick in curator.choose(root, asked, score, price, why="split point"):
                    value = values[pick.value]
                    points[value.attribute, *value.span] = pick.point

        for a in numeric if h else ():
            find_points([Value(a, (0, self.sizes[a]), None)])
        while self.rounds < h and (s.cells is None or self.grid.cells < s.cells):
            values = self._known(points)
            if not values:
                break
            asked = OneValue(values, self.sizes, self.classes, s.literal)
            pick = curator.choose(root, asked, score, price, why="specialise")[0]
            chosen = values[pick.value]
            self._push(chosen, 0)
            if self.taxonomies[chosen.attribute] is None and self.rounds < h:
                sides = [span for span in chosen.children or () if span[1] - span[0] > 1]
                find_points([Value(chosen.attribute, span, None) for span in sides])

    def _numeric(self) -> list[int]:
        """The columns of numbers that can be cut."""
        return [a for a, taxonomy in enumerate(self.taxonomies) if taxonomy is None and self.sizes[a] > 1]

    def _published_price(self, left: int) -> int:
        """The price of each selection, if this many nano-units are left."""
        rounds, structure_share = self.settings.rounds, self.settings.structure_share
        assert rounds is not None
        assert structure_share is not None  # both are refused earlier
        price = portion(left, structure_share) // max(1, len(self._numeric()) + 2 * rounds - 1)
        if rounds and not price:
            raise ParameterError(f"epsilon is too small for {rounds} rounds; lower rounds or raise epsilon")
        return price

    def _known(self, points: dict[tuple[int, int, int], int]) -> tuple[Value, ...]:
        """All values that can be specialised; numbers are split at the point that was chosen for them."""
        values = []
        for value in self._values(2**50, 2**50):
            lo, hi = value.span
            point = points.get((value.attribute, lo, hi), 0)
            children = value.children or ((lo, point), (point, hi))
            values.append(Value(value.attribute, value.span, children))
        return tuple(values)

    # ---- counts -------------------------------------------------------------------------------------------

    def _threshold(self, epsilon_nano: int) -> int:
        """The threshold from which on counts are listed: 1, or so large that empty cells add few enough records.

        It follows from the public number of cells, and is the same for all cells and classes. With threshold t, an
        empty cell is listed with probability a^t / (1 + a), where a = exp(-rate), and then has about t + 1/rate
        records.
        """
        cells, rate = self.grid.cells * self.classes, epsilon_nano / self.nano
        threshold = 1
        while cells * math.exp(-rate * threshold) / (1 + math.exp(-rate)) * (threshold + 1 / rate) > MOST_SPURIOUS:
            threshold += 1 + int(0.1 / rate)
        return threshold


def _score(name: str, totals: list[int]) -> Quality:
    """The score of this name; its class weights follow from the noisy totals."""
    if name in ("tempered", "weighted"):
        power = 0.5 if name == "tempered" else 1.0
        weights = (WEIGHT * (min(totals) / count) ** power for count in totals)
        return WeightedMajority(tuple(max(1, int(weight)) for weight in weights))
    return HalfGini() if name == "gini" else JointMajority()


def _prices(structure: int, rounds: int, score: Quality) -> list[int]:
    """The price of each round, together at most `structure`: equal prices, or rising ones with half Gini.

    A majority score gains as much in late rounds as in early ones, so its rounds cost the same (measured on Adult).
    With very many rounds only the last `MOST_ROUNDS` prices rise; otherwise nothing would be left for the first.
    """
    rise = RISE if isinstance(score, HalfGini) else Fraction(1)
    parts = [rise ** max(0, MOST_ROUNDS - rounds + number) for number in range(rounds)]
    whole = sum(parts)
    return [int(structure * part / whole) for part in parts]


def _taxonomy(attribute: Attribute) -> Taxonomy | None:
    """The taxonomy of a category, given or by default; None for numbers."""
    if not isinstance(attribute.scale, Labels):
        return None
    return attribute.taxonomy or Taxonomy.default(attribute.scale.labels)
