"""Answers about a release of a table: counts, means and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import hypot, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle.drawing.counts import workload_dice
from cantle.errors import ParameterError, raise_alone
from cantle.methods.own_error.accuracy import Pair, affordable
from cantle.methods.own_error.table_workload import columns_of as columns_to_ask
from cantle.methods.own_error.table_workload import released_columns, table_workload
from cantle.release import Release
from cantle.release.answers.asking import (
    Asker,
    Bins,
    bins_of,
    check_confidence,
    inside_and_around,
    no_numbers,
    steps_cut,
    sums_inside_and_around,
)
from cantle.release.answers.estimates import LIMITS, MEASURED, NOISE, NOISE_ONLY, Estimate, Noise
from cantle.release.answers.groups import Groups, grouped, groups_of
from cantle.release.answers.sums import mean_of_sum
from cantle.release.answers.widths import BY_NOISE, NEVER, Widths, joined, shared_margin, tail_errors
from cantle.release.schemas import attributes_of, code_reader, domain_of, schema_as
from cantle.release.storage import as_polars
from cantle.release.structures import traits_of
from cantle.release.tables import pairs_of
from cantle.schema.code_sets import (
    CodeSet,
    Key,
    OneColumn,
    Question,
    areas_in,
    columns_of,
    holds,
    hull,
    join,
    sums_in,
)
from cantle.schema.domain import Attribute
from cantle.schema.made_columns import Unfolded
from cantle.schema.question_columns import Misfit, quoted, tokens_of
from cantle.schema.questions import parse_sum
from cantle.schema.scales import Steps
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints
from cantle.trusted.geometry.workloads import TableWorkload

if TYPE_CHECKING:
    from cantle.release.answers.regression import Regression
    from cantle.schema.sums import Total


TWO_SIDES = 1.96
"""The 95 % quantile of a normal variable."""

TIED, INSIDE, UNSEEN = 0.7, 0.15, 1.5
"""What the mean of a column that was counted in cells is off by: a part of what its measured error would be if all
thresholds erred to the same side, a part of the mean width of its cells, and what a tail may hold in which fewer
records than this many margins of a cell may be missing. Chosen on five generated tables (rides, wages, eight laws, a
trial of 6,000 persons, a shop) at epsilon 0.1 to 3."""


class TableAsker(Asker):
    """Answers questions about one release of a table."""

    def __init__(self, release: Release) -> None:
        if traits_of(release.manifest).of_ranges:
            raise ParameterError("records of ranges (values=set) cannot be counted; publish with other `values`")
        super().__init__(release)
        self._distributions, self._covariances = dict[Key, tuple[Floats, Floats]](), dict[Key, Floats]()
        self.attributes, self.target = attributes_of(release.manifest), release.schema.target
        self.relations = schema_as(release.manifest, TableSchema).relations

    @cached_property
    def _frame(self) -> pl.DataFrame:
        return as_polars(self._release.records, self._release.manifest)

    @cached_property
    def _reader(self) -> Callable[[str], Codes]:
        return code_reader(self._release.manifest, self._frame)

    def read(self, key: Key) -> Codes:
        return self._reader(str(key))

    def chosen(self, question: Question, frame: pl.DataFrame) -> Bools:
        """For each record of another frame with the columns of this table whether the question holds."""
        codes = code_reader(self._release.manifest, frame)
        holding = holds(question, lambda key: codes(str(key)))
        return np.broadcast_to(holding, len(frame))

    @cached_property
    def bins(self) -> dict[Key, Bins]:
        """The bins in which columns were counted, if they were."""
        return bins_of(self._release.manifest)

    @property
    def counted(self) -> Mapping[Key, Bins]:
        return self.bins

    def cut_bins(self, question: Question) -> tuple[float, float]:
        fewer, more = self._cut_steps(question)
        cut = self._cut_cells(question)
        return fewer - cut, more + cut

    def _cut_cells(self, question: Question) -> float:
        """The margin of areas that cut cells of a map: the records of such a cell may all lie on one side, and do so as
        likely as the share of the cell that is on this side."""
        varies = 0.0
        for key, area in areas_in(question):
            edges = self.widths.finest_cells(str(key))
            if edges is not None:
                share = area.share(edges[:-1], edges[1:])
                place = np.searchsorted(edges, self.codes(key), side="right") - 1
                varies += float((np.bincount(place, minlength=len(share)) ** 2 * share * (1 - share)).sum())
        return TWO_SIDES * sqrt(varies) / self.share_drawn

    def _cut_steps(self, question: Question) -> tuple[float, float]:
        if not sums_in(question):
            return super().cut_bins(question)
        inside, around = inside_and_around(question, self.counted)
        inside, _ = sums_inside_and_around(inside, self._cells_of_sums)
        _, around = sums_inside_and_around(around, self._cells_of_sums)
        fewer, more = (float((self.drawn(one) - self.drawn(question)) / self.share_drawn) for one in (inside, around))
        return fewer, more

    @cached_property
    def _cells_of_sums(self) -> dict[Key, tuple[int, ...]]:
        """The edges of the cells of columns of numbers, which sums of columns cut."""
        cuts = self._release.manifest.structure.get("cuts", {})
        found = dict[Key, tuple[int, ...]]()
        for name, one in self.attributes.items():
            edges = self.widths.cells_of(one)
            if edges is None and name in cuts:
                edges = replace(one, width=one.cell).places(np.array(cuts[name], dtype=np.int64))
            if edges is not None and isinstance(one.scale, Steps):
                found[name] = tuple(edges.tolist())
        return found

    @cached_property
    def pairs(self) -> tuple[set[Pair], set[Pair]]:
        return pairs_of(self._release.manifest)

    @cached_property
    def widths(self) -> Widths:
        """How wide the intervals are."""
        return Widths(self._release, self)

    def workload(self, seed: int) -> TableWorkload | None:
        manifest = self._release.manifest
        domain, accuracy, receipt = domain_of(manifest), manifest.accuracy, manifest.receipt
        assert accuracy is not None
        columns, classes = domain.encode_columns(self._frame)
        codes = [*columns, classes][: len(columns_to_ask(domain))]
        noisy, persons = accuracy.noisy_records, receipt.unit.max_records
        numbers = affordable(accuracy.share, receipt.epsilon_nano, noisy, persons, of_tables=True)
        named = {one.name for one in released_columns(domain)}
        asked = table_workload(columns_to_ask(domain), codes, workload_dice(seed), self.pairs[1], numbers, named)
        return None if asked is None else asked[0]

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        measured, direct = self.widths.margin(question, confidence), self.opened.direct(question)
        if direct is not None:
            margin = shared_margin(direct, confidence)
            if measured is None or margin < measured:
                value = max(0.0, float(direct.value))
                return Estimate(value, value - margin, value + margin, confidence, NOISE).at_least_zero()
        margin = self.noise_margin(question, drawn, confidence) if measured is None else measured
        known = self.around(question, drawn, margin, confidence, NOISE_ONLY if measured is None else MEASURED)
        known = self.widths.with_cut_cells(known, question, confidence)
        return self.widths.within_limits(known, question, margin, confidence)

    def weighing(self) -> TableAsker:
        return WeightedAsker(self._release)

    def cut_steps(self, question: Question) -> str:
        return steps_cut(question, self.vocabulary)

    # ---- means --------------------------------------------------------------------------------------------

    def mean(self, column: str, question: Question, confidence: float) -> Estimate:
        """The mean of a column of numbers over the records that a question holds for and that have a value.

        The mean is a sum over thresholds t of the share of values that are at least t. The error of each share follows
        from the measured errors of counts, and is at most twice the smaller of the two sides of t. Of a column that was
        counted in cells, only what relates it to the group is taken from there: noise in the counts of cells, the
        places of values inside them, and what a tail may hold that was not released, are known without measuring.
        """
        check_confidence(confidence)
        made = self._made_of(column)
        if made is not None:
            return mean_of_sum(self, made, question, confidence)
        attribute = self._numbers(column)
        there = CodeSet.span(0, attribute.grid, attribute.size)
        asked = join(True, (question, OneColumn(column, there)))
        return self.mean_of(attribute, asked, confidence)

    def _made_of(self, column: str) -> Total | None:
        """The sum of columns that a text names, or that a declared column was made into by rules; None for others."""
        if column in self.relations.counted:
            return None
        if column not in self.attributes and len(tokens_of(column)) > 2:
            return parse_sum(column, self.vocabulary)
        if column not in self.relations.forms or self._numbers(column) is None:
            return None
        return parse_sum(quoted(column), self.vocabulary)

    def mean_of(self, attribute: Attribute, asked: Question, confidence: float) -> Estimate:
        """The mean of a counted column over the records that a question holds for; they all have a value."""
        return self.mean_among(attribute, asked, confidence)

    def mean_among(
        self, attribute: Attribute, asked: Question, confidence: float, weights: Floats | None = None
    ) -> Estimate:
        """The same; with a weight for each released record, the mean in which it counts for that.

        A sum of weights adds up numbers of records of weight at least u, over all u. Errors of these are about in
        proportion to the roots of their shares, so the error of a weighted share is that of a share, times the sum of
        these roots relative to the mean weight.
        """
        codes, inside = self.codes(attribute.name), self.inside(asked)
        ends = numbers_of(attribute, np.array([0, attribute.grid - 1]))
        lowest, highest = float(ends.min()), float(ends.max())
        mine = np.ones(int(inside.sum())) if weights is None else weights[inside]
        if not mine.any():
            return Estimate(nan, lowest, highest, confidence, LIMITS)
        value = float(np.average(numbers_of(attribute, codes[inside]), weights=mine))
        values, below = self._distribution(attribute)
        group, weighs, cut = len(mine), _spread_of(mine), max(map(abs, self.cut_bins(asked)))

        def off(errors: Floats) -> float:
            return float((np.diff(values) * np.minimum(1, (errors + cut / group) * weighs)).sum())

        measured, covers = self.widths.share_errors(attribute.name, asked, below, confidence), MEASURED
        if measured is not None:
            known = self._known_errors(attribute, asked, confidence)
            if known is None:
                margin = off(np.maximum(*measured))
            else:
                margin = hypot(TIED * off(measured[1]), weighs * known[0]) + weighs * known[1]
        elif len(columns_of(asked)) > 1 and self.widths.by_columns:
            return Estimate(value, lowest, highest, confidence, LIMITS, NEVER)
        else:
            noise, covers = self.noise_margin(asked, group, confidence), NOISE_ONLY
            margin = off(np.minimum(1, np.minimum(2 * np.minimum(below, 1 - below) * self.records, noise) / group))
        margin += inside_bins(attribute, self.bins.get(attribute.name), codes[inside])
        note = joined(self.widths.note(columns_of(asked)) if covers == MEASURED else "", self.cut_steps(asked))
        note = joined(self.relations.units.get(attribute.name, ""), note)
        return Estimate(value, max(lowest, value - margin), min(highest, value + margin), confidence, covers, note)

    def _distribution(self, attribute: Attribute) -> tuple[Floats, Floats]:
        """The released values of a column of numbers between its bounds, ascending, and the share of all values below
        each but the first."""
        if attribute.name not in self._distributions:
            codes = self.codes(attribute.name)
            values, times = np.unique(numbers_of(attribute, codes[codes < attribute.grid]), return_counts=True)
            ends = np.sort(numbers_of(attribute, np.array([0, attribute.grid - 1])))
            below = np.concatenate([np.zeros(1), np.cumsum(times) / times.sum()])
            self._distributions[attribute.name] = np.concatenate([ends[:1], values, ends[1:]]), below
        return self._distributions[attribute.name]

    def _known_errors(self, attribute: Attribute, asked: Question, confidence: float) -> tuple[float, float] | None:
        """How far the mean of a column is off because of noise in the counts of its cells that hold records and because
        records are drawn, and how far by where values are inside cells, and beyond the cells of a tail; None if its
        cells are not known."""
        edges = self.widths.cells_of(attribute)
        if edges is None:
            return None
        codes, span = self.codes(attribute.name), hull(asked)[attribute.name]
        edges = edges[edges <= attribute.grid]
        ends = numbers_of(attribute, edges[:-1]), numbers_of(attribute, edges[1:] - attribute.cell)
        able = np.flatnonzero(span.share(edges[:-1], edges[1:]) > 0)
        middle, width = (ends[0] + ends[1])[able] / 2, np.abs(ends[1] - ends[0])[able]
        place = np.searchsorted(edges, codes, side="right") - 1
        every, mine = (np.bincount(part, minlength=len(edges))[able] for part in (place, place[self.inside(asked)]))
        noise = self._covariance(attribute, edges)[np.ix_(able, able)] / max(1, every.sum()) ** 2 * self.share_drawn**2
        one = Noise(float(noise.diagonal().max())).margin(confidence)
        apart = (middle - np.average(middle, weights=every)) * (every > 0)
        values, below = self._distribution(attribute)
        unseen = tail_errors(values, below, np.full(len(below), UNSEEN * one * every.sum() / max(1, self.records)))
        here = (values[1:] > ends[0][able].min()) & (values[:-1] < ends[1][able].max())
        tail = (np.diff(values) * unseen)[here].sum() * self.records / max(1, every.sum())
        numbers = numbers_of(attribute, codes[self.inside(asked)])
        random = BY_NOISE**2 * float(apart @ noise @ apart) + float(numbers.var()) / len(numbers)
        return Noise(random).margin(confidence), INSIDE * float(np.average(width, weights=mine)) + float(tail)

    def spread_error(self, attribute: Attribute, confidence: float) -> float:
        """How far the variance of a column is off by the noise in the counts of its cells that hold records, as a part
        of it; 0 if its cells are not known."""
        edges = self.widths.cells_of(attribute)
        if edges is None:
            return 0.0
        codes = self.codes(attribute.name)
        edges, numbers = edges[edges <= attribute.grid], numbers_of(attribute, codes[codes < attribute.grid])
        middle = (numbers_of(attribute, edges[:-1]) + numbers_of(attribute, edges[1:] - attribute.cell)) / 2
        held = np.bincount(np.searchsorted(edges, codes, side="right") - 1, minlength=len(edges))[: len(middle)] > 0
        apart = ((middle - numbers.mean()) ** 2 - numbers.var()) * held * self.share_drawn / max(1, len(numbers))
        off = Noise(float(apart @ self._covariance(attribute, edges) @ apart)).margin(confidence)
        return BY_NOISE * off / max(float(numbers.var()), 1e-12)

    def _covariance(self, attribute: Attribute, edges: Ints) -> Floats:
        if attribute.name not in self._covariances:
            self._covariances[attribute.name] = self.opened.covariance(attribute.name, edges)
        return self._covariances[attribute.name]

    def _numbers(self, name: str) -> Attribute:
        attribute = self.attributes.get(name)
        if attribute is None or attribute.scale.type not in ("integer", "number"):
            able = [one for one, a in self.attributes.items() if a.scale.type in ("integer", "number")]
            raise no_numbers(name, able)
        return attribute

    def column(self, name: str) -> Attribute:
        """A column that questions may name; raises a ParameterError for others."""
        try:
            self.vocabulary.column(name)
        except Misfit as why:
            raise_alone(ParameterError(str(why)))
        return self.attributes[name]

    def regress(self, formula: str, confidence: float) -> Regression:
        from cantle.release.answers.regression import regress

        return regress(self, formula, confidence)

    # ---- tables -------------------------------------------------------------------------------------------

    def table(self, by: Sequence[str], question: Question, mean: str | None, confidence: float) -> pl.DataFrame:
        check_confidence(confidence)
        lists = {one.name: one for one in self.relations.lists}
        if (named := next((lists[name] for name in by if name in lists), None)) is not None:
            return self._by_item(named, by, question, mean, confidence)
        groups, inside = [self.groups(name) for name in by], self.inside(question)

        def answer(parts: Sequence[OneColumn], released: int) -> Estimate:
            asked = join(True, (question, *map(self._release.schema.counted, parts)))
            return self.estimate(asked, released, confidence) if mean is None else self.mean(mean, asked, confidence)

        return grouped(groups, [self.codes(one.column)[inside] for one in groups], answer)

    def _by_item(
        self, lists: Unfolded, by: Sequence[str], question: Question, mean: str | None, confidence: float
    ) -> pl.DataFrame:
        """One row per item of lists, and one for missing lists; a record is in the rows of all its items."""
        parts = []
        for column, label in zip(lists.columns, lists.labels, strict=True):
            both = self.table([column if name == lists.name else name for name in by], question, mean, confidence)
            shown = pl.lit(None if column == lists.missing else label, dtype=pl.String)
            parts.append(both.filter(pl.col(column)).with_columns(shown.alias(column)).rename({column: lists.name}))
        return pl.concat(parts)

    def groups(self, name: str) -> Groups:
        """The groups of a column: its values; of many numbers, the released cells or ranges of equal width."""
        bins, attribute = self.bins.get(name), self.column(name)
        return groups_of(attribute, self.widths.cells_of(attribute), None if bins is None else bins.width)


class WeightedAsker(TableAsker):
    """Answers questions about a release of a table in sums of weights (`role: weight`) instead of numbers of records.

    A weighted count is a count times the mean weight of its records. Both have intervals, each of which may fail in
    half of the cases in which the product may. Weights are released values like any other: asking for them uses no
    budget.
    """

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        name = release.schema.weight
        if name is None:
            raise ParameterError("this release has no column of weights; the schema declares one with role: weight")
        if name not in self.attributes:
            raise ParameterError(f"the weights {name!r} follow from other columns by rules, so nothing can be weighted")
        self.weight = self.attributes[name]

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        both = (1 + confidence) / 2
        number, mean = super().estimate(question, drawn, both), self._mean_weight(question, both)
        value = number.value * mean.value if drawn else 0.0
        covers = next((kind for kind in (LIMITS, NOISE_ONLY) if kind in (number.covers, mean.covers)), mean.covers)
        made = replace(number, value=value, low=number.low * mean.low, high=number.high * mean.high, covers=covers)
        return replace(made, confidence=confidence, note=number.note or mean.note).at_least_zero()

    def _mean_weight(self, question: Question, confidence: float) -> Estimate:
        return self.mean_among(self.weight, self._related(question), confidence)

    def mean_of(self, attribute: Attribute, asked: Question, confidence: float) -> Estimate:
        weights = numbers_of(self.weight, self.codes(self.weight.name))
        return self.mean_among(attribute, self._related(asked), confidence, weights)

    def _related(self, question: Question) -> Question:
        """The question as one about weights too: its interval allows for connections with them that were lost."""
        return join(True, (question, OneColumn(self.weight.name, CodeSet.span(0, self.weight.grid, self.weight.size))))


def numbers_of(attribute: Attribute, codes: Codes) -> Floats:
    """The numbers that codes stand for; null must not be among the codes."""
    if isinstance(attribute.scale, Steps):
        return (attribute.scale.first + codes.astype(np.int64) * attribute.scale.step) / attribute.scale.scale
    return np.array(attribute.scale.labels, dtype=float)[codes]


def inside_bins(attribute: Attribute, mine: Bins | None, codes: Codes) -> float:
    """How far the mean of a column may be off for records of these codes, because values were counted in bins.

    Values are drawn evenly inside a step of width s. If their density is linear there, the mean of a step is off
    its middle by s (f_right - f_left) / (12 f_mean), and all together by at most s / 12 times the sum of the
    differences between the shares of neighbouring steps. What the fullest step holds more than both of its neighbours
    may be a single value anywhere in it, so this part of the records may be off by half a step. Where decimals are
    counted, half a place more is lost to rounding down. About bins of several steps nothing is assumed.
    """
    scale = attribute.scale
    if mine is None:
        return 0.0
    if mine.wide or not isinstance(scale, Steps):
        codes = np.array([0, mine.width - 1]) if isinstance(scale, Steps) else np.arange(attribute.grid)
        return float(np.ptp(numbers_of(attribute, codes)))
    place = scale.step / scale.scale
    varies, peak = _variation(codes // mine.width)
    lost = place / 2 if scale.type == "number" and not scale.nearest else 0.0
    return mine.width * place * min(varies / 12 + peak / 2, 1 / 2) + lost


def _spread_of(weights: Floats) -> float:
    """The integral of the root of the share of weights of at least u, over all u, divided by the mean weight.

    >>> _spread_of(np.ones(3)), round(_spread_of(np.array([0.0, 0.0, 0.0, 2.0])), 9)
    (1.0, 2.0)
    """
    held, times = np.unique(weights, return_counts=True)
    above = np.cumsum(times[::-1])[::-1] / len(weights)
    return float((np.diff(held, prepend=0.0) * np.sqrt(above)).sum() / weights.mean())


def _variation(steps: Codes) -> tuple[float, float]:
    """The sum of the differences between the shares of neighbouring steps, from none before to none after them; and by
    how much the largest share exceeds both of its neighbours."""
    if not len(steps):
        return 0.0, 0.0
    held, times = np.unique(steps, return_counts=True)
    shares, most = times / len(steps), int(times.argmax())
    apart = np.diff(held) > 1
    jumps = np.where(apart, shares[1:] + shares[:-1], np.abs(np.diff(shares)))
    beside = shares[np.abs(held - held[most]) == 1]
    return float(shares[0] + jumps.sum() + shares[-1]), float(shares[most] - beside.max(initial=0.0))
