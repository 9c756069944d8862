"""Answers about a release of a table: counts, means and tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import nan
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
    columns_of,
    holds,
    hull,
    join,
    sums_in,
)
from cantle.schema.domain import Attribute
from cantle.schema.made_columns import Unfolded
from cantle.schema.question_columns import Misfit
from cantle.schema.question_words import quoted, tokens_of
from cantle.schema.questions import parse_sum
from cantle.schema.scales import Steps
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints
from cantle.trusted.geometry.workloads import TableWorkload

if TYPE_CHECKING:
    from cantle.release.answers.regression import Regression
    from cantle.schema.sums import Total


TIED, INSIDE, UNSEEN = 0.7, 0.15, 1.5
"""What the mean of a column that was counted in cells is off by: a part of what its measured error would be if all
thresholds erred to the same side, a part of the mean width of its cells, and what a tail may hold in which fewer
records than this many margins of a cell may be missing. Chosen on five generated tables (rides, wages, eight laws, a
trial of 6,000 persons, a shop) at epsilon 0.1 to 3."""


@dataclass(frozen=True, eq=False)
class CountedCells:
    """The cells in which a column of numbers was counted by itself: their edges, lowest and highest numbers, noisy
    counts, and the covariance of the noise in these."""

    edges: Ints
    low: Floats
    high: Floats
    counts: Floats
    noise: Floats

    @staticmethod
    def of(asker: TableAsker, attribute: Attribute, edges: Ints) -> CountedCells:
        edges, name, opened = edges[edges <= attribute.grid], attribute.name, asker.opened
        low, high = (numbers_of(attribute, part) for part in (edges[:-1], edges[1:] - attribute.cell))
        spans = (OneColumn(name, CodeSet.span(*one, attribute.size)) for one in pairwise(edges.tolist()))
        counts = [0.0 if (known := opened.direct(one)) is None else known.value for one in spans]
        return CountedCells(edges, low, high, np.array(counts), opened.covariance(name, edges))


class TableAsker(Asker):
    """Answers questions about one release of a table."""

    def __init__(self, release: Release) -> None:
        if traits_of(release.manifest).of_ranges:
            raise ParameterError("records of ranges (values=set) cannot be counted; publish with other `values`")
        super().__init__(release)
        self._distributions = dict[Key, tuple[Floats, Floats]]()
        self._counted_cells = dict[Key, CountedCells | None]()
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
        if not sums_in(question):
            return super().cut_bins(question)
        inside, around = inside_and_around(question, self.counted)
        inside, _ = sums_inside_and_around(inside, self._cells_of_sum)
        _, around = sums_inside_and_around(around, self._cells_of_sum)
        fewer, more = (float((self.drawn(one) - self.drawn(question)) / self.share_drawn) for one in (inside, around))
        return fewer, more

    def _cells_of_sum(self, columns: Sequence[Key]) -> dict[Key, tuple[int, ...]]:
        """The edges of the cells of columns of numbers, which a sum of these columns cuts: those in which they were
        counted together, or else by themselves."""
        cuts = self._release.manifest.structure.get("cuts", {})
        found = dict[Key, tuple[int, ...]]()
        for one in (self.attributes[str(key)] for key in columns):
            edges = self.widths.cells_of(one)
            if edges is None and one.name in cuts:
                edges = replace(one, width=one.cell).places(np.array(cuts[one.name], dtype=np.int64))
            together = (self.widths.related_groups(one, str(other)) for other in columns if other != one.name)
            groups = [edge for edge in together if len(edge) > 2]
            if edges is not None and isinstance(one.scale, Steps):
                found[one.name] = tuple(min([edges, *groups], key=len).tolist())
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

        measured = self.widths.share_errors(attribute.name, asked, below, confidence)
        alone, covers = len(columns_of(asked)) == 1, NOISE_ONLY if measured is None else MEASURED
        known = self._known_errors(attribute, asked, confidence) if alone or measured is not None else None
        if known is not None:
            tied = 0.0 if measured is None else TIED * off(measured[1])
            margins = np.hypot(tied, weighs * known[0]) + weighs * known[1]
        elif measured is not None:
            margins = np.full(2, off(np.maximum(*measured)))
        elif not alone and self.widths.by_columns:
            return Estimate(value, lowest, highest, confidence, LIMITS, NEVER)
        else:
            noise = self.noise_margin(asked, group, confidence)
            most = np.minimum(2 * np.minimum(below, 1 - below) * self.records, noise)
            margins = np.full(2, off(np.minimum(1, most / group)))
        margins = np.maximum(margins, self._of_cut_group(attribute, asked, value))
        margins += inside_bins(attribute, self.bins.get(attribute.name))
        margins += self._contradicted(attribute, confidence) * weighs * self.records / group
        low, high = max(lowest, value - margins[0]), min(highest, value + margins[1])
        note = joined(self.widths.note(columns_of(asked)) if covers == MEASURED else "", self.cut_steps(asked))
        note = joined(self.relations.units.get(attribute.name, ""), note)
        return Estimate(value, float(low), float(high), confidence, covers, note)

    def _of_cut_group(self, attribute: Attribute, asked: Question, value: float) -> Floats:
        """How far the mean of a group may be too high and too low if it cuts cells: any of their records may belong to
        it."""
        inside, around = self.widths.inside_and_around_cells(asked)
        if inside == around:
            return np.zeros(2)
        sure, some = self.inside(inside), self.inside(around)
        numbers = numbers_of(attribute, self.codes(attribute.name)[some])
        others = np.sort(numbers[~sure[some]])
        known, more = numbers[sure[some]], max(0, self.drawn(asked) - int(sure.sum()))
        ends = [np.append(known, part[:more]).mean() for part in (others, others[::-1])]
        return np.array([value - ends[0], ends[1] - value])

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

    def _known_errors(self, attribute: Attribute, asked: Question, confidence: float) -> tuple[Floats, float] | None:
        """How far the mean of a column may be too high and too low because of noise in the counts of its cells that
        hold records and because records are drawn, and how far it is off by where values are inside cells, and beyond
        the cells of a tail; None if its cells are not known.

        A cell at a bound counts what lies beyond it, too. So it may hold many records where noise left none.
        """
        cells = self._cells_of(attribute)
        if cells is None:
            return None
        codes, span = self.codes(attribute.name), hull(asked)[attribute.name]
        able = np.flatnonzero(span.share(cells.edges[:-1], cells.edges[1:]) > 0)
        low, high = cells.low[able], cells.high[able]
        middle, width = (low + high) / 2, np.abs(high - low)
        place = np.searchsorted(cells.edges, codes, side="right") - 1
        every, mine = (
            np.bincount(part, minlength=len(cells.edges))[able] for part in (place, place[self.inside(asked)])
        )
        noise = cells.noise[np.ix_(able, able)] / max(1, every.sum()) ** 2 * self.share_drawn**2
        one = Noise(float(noise.diagonal().max())).margin(confidence)
        values, below = self._distribution(attribute)
        unseen = tail_errors(values, below, np.full(len(below), UNSEEN * one * every.sum() / max(1, self.records)))
        here = (values[1:] > low.min()) & (values[:-1] < high.max())
        tail = (np.diff(values) * unseen)[here].sum() * self.records / max(1, every.sum())
        numbers = numbers_of(attribute, codes[self.inside(asked)])
        random = list[float]()
        for bound in (middle.argmin(), middle.argmax()):
            held = every > 0
            held[bound] = True
            apart = (middle - np.average(middle, weights=every)) * held
            spread = BY_NOISE**2 * float(apart @ noise @ apart) + float(numbers.var()) / len(numbers)
            random.append(Noise(spread).margin(confidence))
        return np.array(random), INSIDE * float(np.average(width, weights=mine)) + float(tail)

    def _contradicted(self, attribute: Attribute, confidence: float) -> Floats:
        """How far the mean of a column over all records is too high and too low if it is not what the noisy counts of
        its cells allow by themselves, as where a tail was taken for noise: 0 if it is."""
        cells = self._cells_of(attribute)
        codes = self.codes(attribute.name)
        codes = codes[codes < attribute.grid]
        if cells is None or not len(codes):
            return np.zeros(2)
        place, numbers = np.searchsorted(cells.edges, codes, side="right") - 1, numbers_of(attribute, codes)
        held, total = (np.bincount(place, some, len(cells.low)) for some in (None, numbers))
        typical = np.where(held > 0, total / np.maximum(held, 1), (cells.low + cells.high) / 2)
        counts = cells.counts
        mean = float(typical @ counts) / max(1.0, counts.sum())
        apart = (typical - mean) / max(1.0, counts.sum())
        margin = BY_NOISE * Noise(float(apart @ cells.noise @ apart)).margin(confidence)
        margin += INSIDE * float(np.average(np.abs(cells.high - cells.low), weights=held))
        too_high = float(numbers.mean()) - mean
        return np.array([too_high + margin if too_high > margin else 0, margin - too_high if -too_high > margin else 0])

    def _cells_of(self, attribute: Attribute) -> CountedCells | None:
        """The cells of a column of numbers and their noisy counts; None if it was not counted by itself."""
        if attribute.name not in self._counted_cells:
            edges = self.widths.cells_of(attribute)
            self._counted_cells[attribute.name] = None if edges is None else CountedCells.of(self, attribute, edges)
        return self._counted_cells[attribute.name]

    def spread_error(self, attribute: Attribute, confidence: float) -> float:
        """How far the variance of a column is off by the noise in the counts of its cells that hold records, as a part
        of it; 0 if its cells are not known."""
        cells = self._cells_of(attribute)
        if cells is None:
            return 0.0
        codes = self.codes(attribute.name)
        numbers, middle = numbers_of(attribute, codes[codes < attribute.grid]), (cells.low + cells.high) / 2
        held = np.bincount(np.searchsorted(cells.edges, codes, side="right") - 1, minlength=len(cells.edges)) > 0
        apart = ((middle - numbers.mean()) ** 2 - numbers.var()) * held[: len(middle)]
        apart *= self.share_drawn / max(1, len(numbers))
        off = Noise(float(apart @ cells.noise @ apart)).margin(confidence)
        return BY_NOISE * off / max(float(numbers.var()), 1e-12)

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


def inside_bins(attribute: Attribute, mine: Bins | None) -> float:
    """How far the mean of a column may be off at most, because values were counted in bins.

    Values are drawn evenly inside a bin, but all of them may lie at one of its ends: round numbers do. In bins of
    several steps they follow other counts, and may lie at one end where they were put at the other. Where decimals are
    counted, one place more is lost to rounding down.
    """
    scale = attribute.scale
    if mine is None:
        return 0.0
    if mine.wide or not isinstance(scale, Steps):
        codes = np.array([0, mine.width - 1]) if isinstance(scale, Steps) else np.arange(attribute.grid)
        return float(np.ptp(numbers_of(attribute, codes)))
    places = (mine.width - 1) / 2 + (scale.type == "number" and not scale.nearest)
    return places * scale.step / scale.scale


def _spread_of(weights: Floats) -> float:
    """The integral of the root of the share of weights of at least u, over all u, divided by the mean weight.

    >>> _spread_of(np.ones(3)), round(_spread_of(np.array([0.0, 0.0, 0.0, 2.0])), 9)
    (1.0, 2.0)
    """
    held, times = np.unique(weights, return_counts=True)
    above = np.cumsum(times[::-1])[::-1] / len(weights)
    return float((np.diff(held, prepend=0.0) * np.sqrt(above)).sum() / weights.mean())
