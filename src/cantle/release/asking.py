"""Answers to questions, with error bars, from a release alone.

There are two ways to answer. One counts released records; its interval follows from the privately measured error
(widths.py). The other reads noisy tables, if they answer the question by themselves; its interval covers their noise,
whose law is known exactly. The narrower interval decides. If a release did not measure its own error, the interval of
the first way has no confidence: it covers the noise in the counts behind the records, or shows what single columns
allow.

If a question cuts a step, or a bin of values
that were counted together, the interval reaches from the records in bins inside the question to those in bins that it
touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.records import share_drawn
from cantle.errors import ParameterError, raise_alone
from cantle.release.bins import Bins, Counted, bins_of, inside_and_around, sums_inside_and_around
from cantle.release.data_file import as_polars
from cantle.release.degree_counts import DEGREE, mean_degree, thresholds_of
from cantle.release.estimates import LIMITS, MEASURED, NOISE, NOISE_ONLY, Estimate
from cantle.release.kinds import KINDS
from cantle.release.set_widths import SetWidths
from cantle.release.structures import facts_of, opened, structure_of
from cantle.release.sum_means import mean_of_sum
from cantle.release.widths import NEVER, Widths, joined, shared_margin
from cantle.schema.code_sets import (
    CodeSet,
    Key,
    OneColumn,
    Question,
    columns_of,
    edges_of,
    holds,
    is_box,
    join,
    sums_in,
)
from cantle.schema.domain import Attribute
from cantle.schema.question_columns import Misfit, Points, Vocabulary
from cantle.schema.question_tokens import quoted, tokens_of
from cantle.schema.questions import parse, parse_sum
from cantle.schema.scales import Labels, Steps
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

    from cantle.release import Release
    from cantle.schema.relations import Relations
    from cantle.schema.sums import Total

MOST_VALUES = 64
"""A column of numbers with at most this many values has one row per value in a table."""

RANGES = 16
MOST_KEPT = 10_000
"""Counts that are kept, because the rows of a table ask for the same boxes of codes."""

MOST_ROWS = 100_000

OF_SETS = ("sets", "patterns")
"""The structures for sets."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one column in a table: their labels, and the codes at which they start."""

    column: str
    labels: pl.Series
    edges: Ints


class Asker:
    """Answers questions about one release; keeps the codes of columns once they are needed."""

    def __init__(self, release: Release) -> None:
        if facts_of(release.manifest).of_ranges:
            raise ParameterError("records of ranges (values=set) cannot be counted; publish with other `values`")
        self._release, self._kept = release, dict[Key, Codes]()
        self.opened = opened(release)
        self._counted = dict[Question, int]()
        self._distributions = dict[Key, tuple[Floats, Floats]]()
        self._kind = KINDS[release.schema.kind]
        self.vocabulary: Vocabulary = release.schema.vocabulary()

    # ---- the release --------------------------------------------------------------------------------------

    @cached_property
    def _read(self) -> Callable[[Key], Codes]:
        frame = as_polars(self._release.records, self._release.manifest)
        return self._kind.code_reader(frame, self._release.manifest, self._release.schema)

    def chosen(self, question: Question, frame: pl.DataFrame) -> Bools:
        """For each record of another frame with the columns of this table whether the question holds."""
        holding = holds(question, self._kind.code_reader(frame, self._release.manifest, self._release.schema))
        return np.broadcast_to(holding, len(frame))

    @cached_property
    def attributes(self) -> dict[str, Attribute]:
        """The columns of a table by name; none of sets and graphs."""
        return self._kind.attributes(self._release.schema)

    @cached_property
    def records(self) -> int:
        """The number of released records."""
        return int(self._release.manifest.summary["records"])

    def codes(self, key: Key) -> Codes:
        """The codes of the released records in one column."""
        if key not in self._kept:
            self._kept[key] = self._read(key)
        return self._kept[key]

    def inside(self, question: Question) -> Bools:
        """For each released record whether the question holds."""
        return np.broadcast_to(holds(question, self.codes), self.records)

    def parse(self, question: str) -> Question:
        return self._release.schema.counted(parse(question, self.vocabulary))

    # ---- counts -------------------------------------------------------------------------------------------

    def count(self, question: Question, confidence: float) -> Estimate:
        """How many records a question holds for."""
        check_confidence(confidence)
        return self._estimate(question, self.drawn(question), confidence)

    def drawn(self, question: Question) -> int:
        """For how many of the records drawn a question holds."""
        if question not in self._counted:
            if len(self._counted) >= MOST_KEPT:
                self._counted.clear()
            self._counted[question] = int(self.inside(question).sum())
        return self._counted[question]

    def _estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        if self.set_widths is not None:
            return self.set_widths.estimate(question, confidence)
        released = drawn / share_drawn(self._release.manifest.summary)  # a record may stand for several
        measured = self.widths.margin(question, confidence) if self.attributes else None
        direct = self.opened.direct(question)
        if direct is not None:
            margin = shared_margin(direct, confidence) if self.attributes else direct.noise.margin(confidence)
            if measured is None or margin < measured:
                return _around(max(0.0, direct.value), margin, confidence, NOISE)
        covers = NOISE_ONLY if measured is None else MEASURED
        margin = self.noise_margin(question, drawn, confidence) if measured is None else measured
        low, high = (released + more for more in self.cut_bins(question))
        known = Estimate(released, low - margin, high + margin, confidence, covers, self.cut_steps(question))
        known = known.at_least_zero()
        return self.widths.within_limits(known, question, margin, confidence) if self.attributes else known

    def cut_steps(self, question: Question) -> str:
        """Says which steps a question cuts, and which bounds are exact; empty if it cuts none."""
        cut = [
            f"{one.name} cuts a step of {one.step_in_words}; bounds at {' and '.join(around)} (< or >=) are exact"
            for key in columns_of(question)
            if isinstance(one := self.vocabulary.columns.get(str(key)), Points)
            for around in one.exact_around_all(edges_of(question, key))
        ]
        return "; ".join(cut)

    def cut_bins(self, question: Question) -> tuple[float, float]:
        """How many fewer and more records a question may hold for, because of the bins that it cuts."""
        counted: dict[Key, Counted] = {**self.bins, **thresholds_of(self._release)}
        inside, around = inside_and_around(question, counted)
        if sums_in(question):
            inside, _ = sums_inside_and_around(inside, self._cells_of_sums)
            _, around = sums_inside_and_around(around, self._cells_of_sums)
        if inside == around:
            return 0.0, 0.0
        here, share = self.drawn(question), share_drawn(self._release.manifest.summary)
        fewer, more = (float((self.drawn(one) - here) / share) for one in (inside, around))
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
    def widths(self) -> Widths:
        """How wide the intervals of a release of a table are."""
        return Widths(self._release, self)

    @cached_property
    def set_widths(self) -> SetWidths | None:
        """How wide the intervals of a release of sets are; None for other releases."""
        return SetWidths(self._release, self) if structure_of(self._release.manifest) in OF_SETS else None

    @cached_property
    def _of_degrees(self) -> bool:
        return structure_of(self._release.manifest) == "degrees"

    @cached_property
    def bins(self) -> dict[Key, Bins]:
        """The bins in which columns were counted, if they were."""
        return bins_of(self._release.manifest)

    def noise_margin(self, question: Question, drawn: int, confidence: float) -> float:
        """The margin of the noise behind a question that holds for so many of the records drawn."""
        whole = columns_of(question) if is_box(question) else None

        def share(box: dict[Key, CodeSet]) -> float:
            if whole is not None and len(box) == len(whole):
                return 1.0
            around = self.drawn(join(True, (OneColumn(*one) for one in box.items())))
            return max(1, drawn) / max(1, drawn, around)  # no record drawn does not mean no noise

        return self.opened.noise(question, share).margin(confidence)

    # ---- means --------------------------------------------------------------------------------------------

    def mean(self, column: str, question: Question, confidence: float) -> Estimate:
        """The mean of a column of numbers over the records that a question holds for and that have a value.

        The mean is a sum over thresholds t of the share of values that are at least t. The error of each share follows
        from the measured errors of counts, and is at most twice the smaller of the two sides of t. A value beyond the
        largest released one is not allowed for.
        """
        check_confidence(confidence)
        if self._of_degrees and column == DEGREE:
            return mean_degree(self._release, self.codes(DEGREE), question, confidence)
        made = self._made_of(column)
        if made is not None:
            return mean_of_sum(self, *made, question, confidence)
        attribute = self._numbers(column)
        there = CodeSet.span(0, attribute.grid, attribute.size)
        asked = join(True, (question, OneColumn(column, there)))
        return self.mean_of(attribute, asked, confidence)

    def _made_of(self, column: str) -> tuple[Relations | None, Total] | None:
        """The sum of columns that a text names, or that a declared column was made into by rules; None for others."""
        relations = self._release.schema.relations
        if relations is not None and column in relations.counted:
            return None
        if column not in self.attributes and len(tokens_of(column)) > 2:
            return relations, parse_sum(column, self.vocabulary)
        if relations is None or column not in relations.forms.forms or self._numbers(column) is None:
            return None
        return relations, parse_sum(quoted(column), self.vocabulary)

    def mean_of(self, attribute: Attribute, asked: Question, confidence: float) -> Estimate:
        """The mean of a counted column over the records that a question holds for; they all have a value."""
        codes, inside = self.codes(attribute.name), self.inside(asked)
        ends = numbers_of(attribute, np.array([0, attribute.grid - 1]))
        lowest, highest = float(ends.min()), float(ends.max())
        if not inside.any():
            return Estimate(nan, lowest, highest, confidence, LIMITS)
        value = float(numbers_of(attribute, codes[inside]).mean())
        values, below = self._distribution(attribute)
        errors, covers = self.widths.share_errors(attribute.name, asked, below, confidence), MEASURED
        if errors is None and len(columns_of(asked)) > 1 and self.widths.by_columns:
            return Estimate(value, lowest, highest, confidence, LIMITS, NEVER)
        group = int(inside.sum())
        if errors is None:
            noise, covers = self.noise_margin(asked, group, confidence), NOISE_ONLY
            errors = np.minimum(1, np.minimum(2 * np.minimum(below, 1 - below) * self.records, noise) / group)
        errors = np.minimum(1, errors + max(map(abs, self.cut_bins(asked))) / group)
        margin = float((np.diff(values) * errors).sum()) + self._inside_bins(attribute, inside)
        note = joined(self.widths.note(columns_of(asked)) if covers == MEASURED else "", self.cut_steps(asked))
        note = joined(self._unit(attribute.name), note)
        return Estimate(value, max(lowest, value - margin), min(highest, value + margin), confidence, covers, note)

    def _unit(self, column: str) -> str:
        """The unit of a difference of dates or datetimes."""
        relations = self._release.schema.relations
        return "" if relations is None or column not in relations.units else f"in {relations.units[column][0]}"

    def _distribution(self, attribute: Attribute) -> tuple[Floats, Floats]:
        """The released values of a column of numbers, ascending, and the share of all values below each but the
        first."""
        if attribute.name not in self._distributions:
            codes = self.codes(attribute.name)
            values, times = np.unique(numbers_of(attribute, codes[codes < attribute.grid]), return_counts=True)
            self._distributions[attribute.name] = values, np.cumsum(times)[:-1] / times.sum()
        return self._distributions[attribute.name]

    def _inside_bins(self, attribute: Attribute, inside: Bools) -> float:
        """How far the mean of the records inside may be off, because values were counted in bins.

        Values are drawn evenly inside a step of width s. If their density is linear there, the mean of a step is off
        its middle by s (f_right - f_left) / (12 f_mean), and all together by at most s / 12 times the sum of the
        differences between the shares of neighbouring steps. Where decimals are counted, half a place more is lost to
        rounding down. About bins of several steps nothing is assumed.
        """
        mine, scale = self.bins.get(attribute.name), attribute.scale
        if mine is None:
            return 0.0
        if mine.wide or not isinstance(scale, Steps):
            codes = np.array([0, mine.width - 1]) if isinstance(scale, Steps) else np.arange(attribute.grid)
            return float(np.ptp(numbers_of(attribute, codes)))
        place = scale.step / scale.scale
        varies = _variation(self.codes(attribute.name)[inside] // mine.width)
        lost = place / 2 if scale.type == "number" and not scale.nearest else 0.0
        return mine.width * place * varies / 12 + lost

    def _numbers(self, name: str) -> Attribute:
        attribute = self.attributes.get(name)
        if attribute is None or attribute.scale.type not in ("integer", "number"):
            able = [one for one, a in self.attributes.items() if a.scale.type in ("integer", "number")]
            able += [DEGREE] if self._of_degrees else []
            known = f"columns of numbers: {', '.join(able)}" if able else "this release has no column of numbers"
            raise ParameterError(f"there is no column of numbers {name!r} to take the mean of; {known}")
        return attribute

    # ---- tables -------------------------------------------------------------------------------------------

    def table(self, by: Sequence[str], question: Question, mean: str | None, confidence: float) -> pl.DataFrame:
        """One row per combination of groups of these columns: the groups, value, low, high, covers."""
        import polars as pl

        check_confidence(confidence)
        groups = [self.groups(name) for name in by]
        shape = [len(one.labels) for one in groups]
        if np.prod(shape, dtype=float) > MOST_ROWS:
            raise ParameterError(f"this table has more than {MOST_ROWS:,} rows; name fewer columns after --by")
        inside = self.inside(question)
        place = np.zeros(int(inside.sum()), dtype=np.int64)
        for one, size in zip(groups, shape, strict=True):
            here = np.searchsorted(one.edges, self.codes(one.column)[inside], side="right") - 1
            place = place * size + here
        counts = np.bincount(place, minlength=int(np.prod(shape)))
        rows = np.array(np.unravel_index(np.arange(len(counts)), shape)).T
        made = []
        for row, released in zip(rows.tolist(), counts.tolist(), strict=True):
            parts = (_group(one, at, self.attributes[one.column].size) for one, at in zip(groups, row, strict=True))
            asked = join(True, (question, *map(self._release.schema.counted, parts)))
            known = self._estimate(asked, released, confidence) if mean is None else None
            made.append(known or self.mean(str(mean), asked, confidence))
        labels = [one.labels.gather(rows[:, j]).alias(one.column) for j, one in enumerate(groups)]
        return pl.DataFrame(labels).with_columns(
            *(pl.Series(name, [getattr(one, name) for one in made]) for name in ("value", "low", "high", "covers"))
        )

    def groups(self, name: str) -> Groups:
        """The groups of a column: its values; of many numbers, the released cells or ranges of equal width."""
        import polars as pl

        if not self.attributes:
            raise ParameterError("only releases of tables have columns to group by")
        try:
            self.vocabulary.column(name)
        except Misfit as why:
            raise_alone(ParameterError(str(why)))
        attribute = self.attributes[name]
        if isinstance(attribute.scale, Labels) or (attribute.grid <= MOST_VALUES and attribute.cell == 1):
            labels = attribute.values(np.arange(attribute.size))
            return Groups(name, labels, np.arange(attribute.size))
        edges = self._ranges(attribute)
        spans = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        words = [None if first >= attribute.grid else attribute.describe(first, end) for first, end in spans]
        return Groups(name, pl.Series(words, dtype=pl.String), edges[:-1])

    def _ranges(self, attribute: Attribute) -> Ints:
        cells = self.widths.cells_of(attribute)
        if cells is not None:
            return cells
        bins = self.bins.get(attribute.name)
        if bins is not None:  # some bins each
            step = -(-attribute.grid // (bins.width * RANGES)) * bins.width
            within = np.append(np.arange(0, attribute.grid, step), attribute.grid)
        else:
            within = np.unique(np.arange(RANGES + 1) * attribute.grid // RANGES)
        return np.append(within, attribute.size) if attribute.nullable else within


def _group(groups: Groups, at: int, size: int) -> OneColumn:
    end = int(groups.edges[at + 1]) if at + 1 < len(groups.edges) else size
    return OneColumn(groups.column, CodeSet.span(int(groups.edges[at]), end, size))


def numbers_of(attribute: Attribute, codes: Codes) -> Floats:
    """The numbers that codes stand for; null must not be among the codes."""
    if isinstance(attribute.scale, Steps):
        return (attribute.scale.first + codes.astype(np.int64) * attribute.scale.step) / attribute.scale.scale
    return np.array(attribute.scale.labels, dtype=float)[codes]


def _variation(steps: Codes) -> float:
    """The sum of the differences between the shares of neighbouring steps, from none before to none after them."""
    if not len(steps):
        return 0.0
    held, times = np.unique(steps, return_counts=True)
    shares = times / len(steps)
    apart = np.diff(held) > 1
    jumps = np.where(apart, shares[1:] + shares[:-1], np.abs(np.diff(shares)))
    return float(shares[0] + jumps.sum() + shares[-1])


def _around(value: float, margin: float, confidence: float, covers: str) -> Estimate:
    return Estimate(float(value), value - margin, value + margin, confidence, covers).at_least_zero()


def check_confidence(confidence: float) -> None:
    """Refuses a confidence that no interval can have."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence <= 0.999:
        raise ParameterError(f"the confidence must be a number from 0.5 to 0.999, got {confidence!r}")
