"""Answers to questions, with error bars, from a release alone.

There are two ways to answer. One counts released records; its interval follows from the privately measured error
(widths.py). The other reads noisy tables, if they answer the question by themselves; its interval covers their noise,
whose law is known exactly. The narrower interval decides. If a release did not measure its own error, the interval of
the first way has no confidence: it covers the noise in the counts behind the records, or shows what single columns
allow.

A step of a schema is a bin, and trees count columns of many values in wider ones. Which values the records of a bin
have was never asked, so neither the noise nor the measured error says how far a count is off that cuts a bin. Its
interval reaches from the records in bins inside the question to those in bins that it touches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from cantle.drawing.records import share_drawn
from cantle.errors import ParameterError
from cantle.release.answers.estimates import NOISE_ONLY, Estimate
from cantle.release.manifest import Manifest
from cantle.release.schemas import schema_as
from cantle.release.structures import opened, traits_of
from cantle.schema.code_sets import (
    AnySet,
    Box,
    CodeSet,
    Key,
    Linear,
    OneColumn,
    Question,
    changed,
    columns_of,
    edges_of,
    holds,
    is_box,
    join,
    recoded,
)
from cantle.schema.domain import Attribute, Labels
from cantle.schema.places import Area
from cantle.schema.question_columns import Numeric, Vocabulary
from cantle.schema.questions import parse
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Bools, Codes

if TYPE_CHECKING:
    from cantle.methods.own_error.accuracy import Pair
    from cantle.release import Release
    from cantle.release.answers.regression import Regression
    from cantle.trusted.geometry.workloads import FamilyWorkload, SequenceWorkload, SetWorkload, TableWorkload


@dataclass(frozen=True)
class Bins:
    """The bins of one column: `width` codes each in the order of `place`, null by itself after the last one.

    `place` says where each code stands; None if bins follow the order of the codes. `wide` bins hold several declared
    steps or categories.
    """

    width: int
    grid: int
    place: tuple[int, ...] | None = None
    wide: bool = True

    def whole(self, codes: AnySet) -> CodeSet:
        """The codes of all bins that lie inside a set of codes."""
        if isinstance(codes, Area):
            first = np.arange(0, self.grid, self.width)
            inside = codes.share(first, np.minimum(first + self.width, self.grid)) == 1
            some = CodeSet.of(np.flatnonzero(inside).tolist(), len(inside))
            bins = CodeSet(tuple(min(edge * self.width, self.grid) for edge in some.edges), codes.size)
            return bins.union(CodeSet.span(self.grid, codes.size, codes.size)) if codes.outside else bins
        if self.place is None:
            spans = [CodeSet.span(self._up(first), self._down(end), codes.size) for first, end in codes.spans()]
            return CodeSet(tuple(edge for span in spans for edge in span.edges), codes.size)
        of_code = np.append(np.array(self.place) // self.width, np.arange(codes.size - self.grid) - 1)
        inside = codes.holds(np.arange(codes.size))
        return CodeSet.of(np.flatnonzero(~np.isin(of_code, of_code[~inside])).tolist(), codes.size)

    def touched(self, codes: AnySet) -> CodeSet:
        """The codes of all bins that a set of codes has a part of."""
        return self.whole(codes.complement()).complement()

    def _down(self, edge: int) -> int:
        return edge if edge >= self.grid else edge // self.width * self.width

    def _up(self, edge: int) -> int:
        return edge if edge >= self.grid else min(self.grid, -(-edge // self.width) * self.width)


def bins_of(manifest: Manifest) -> dict[Key, Bins]:
    """The bins of the columns of a release that were not counted value by value but in bins."""
    counted = traits_of(manifest).counted
    if counted is None:
        return {}
    domain = schema_as(manifest, TableSchema).domain()
    declared = {attribute.name: attribute for attribute in domain.with_target_as_column().attributes}
    return {
        one.name: Bins(one.width, one.grid, _places(declared[one.name], one), one.width > declared[one.name].width)
        for one in counted(domain).attributes
        if one.width > 1
    }


def _places(declared: Attribute, counted: Attribute) -> tuple[int, ...] | None:
    """Where the declared categories stand among those that were counted, whose order may have been drawn."""
    if not isinstance(declared.scale, Labels) or not isinstance(counted.scale, Labels):
        return None
    place = {label: number for number, label in enumerate(counted.scale.labels)}
    return tuple(place[label] for label in declared.scale.labels)


class CountedCodes(Protocol):
    """The sets of codes of one column that were counted, such as bins."""

    def whole(self, codes: AnySet) -> AnySet:
        """The counted codes inside a set of codes."""

    def touched(self, codes: AnySet) -> AnySet:
        """The counted codes around a set of codes."""


def inside_and_around(question: Question, bins: Mapping[Key, CountedCodes]) -> tuple[Question, Question]:
    """Two questions that cut no bin: one that holds only where this one does, and one that holds wherever it does."""
    inside = recoded(question, lambda key, codes: bins[key].whole(codes) if key in bins else codes)
    return inside, recoded(question, lambda key, codes: bins[key].touched(codes) if key in bins else codes)


def sums_inside_and_around(
    question: Question, cells: Callable[[Sequence[Key]], Mapping[Key, tuple[int, ...]]]
) -> tuple[Question, Question]:
    """The same for sums of columns, whose values were counted in cells between the edges of these columns."""

    def on_cells(part: OneColumn | Linear, touched: bool) -> Question:
        if not isinstance(part, Linear):
            return part
        known = cells(part.keys)
        terms = tuple(replace(term, around=known.get(term.key, ())) for term in part.terms)
        return replace(part, terms=terms, touched=touched)

    inside = changed(question, lambda part: on_cells(part, False))
    return inside, changed(question, lambda part: on_cells(part, True))


def steps_cut(question: Question, vocabulary: Vocabulary) -> str:
    """Says which steps a question cuts, and which bounds are exact; empty if it cuts none."""
    cut = [
        f"{one.name} cuts a step of {one.step_in_words}; bounds at {' and '.join(around)} (< or >=) are exact"
        for key in columns_of(question)
        if isinstance(one := vocabulary.columns.get(str(key)), Numeric)
        for around in one.exact_around_all(edges_of(question, key))
    ]
    return "; ".join(cut)


MOST_KEPT = 10_000
"""Counts that are kept, because the rows of a table ask for the same boxes of codes."""


class Asker:
    """Answers questions about one release; keeps the codes of columns once they are needed. Each kind of data has a
    class of its own (`asker_of`)."""

    def __init__(self, release: Release) -> None:
        self._release, self.opened = release, opened(release)
        self._kept, self._counted = dict[Key, Codes](), dict[Question, int]()
        self.vocabulary = release.schema.vocabulary()
        self.records = int(release.manifest.summary["records"])
        self.share_drawn = share_drawn(release.manifest.summary)  # a record may stand for several

    # ---- what differs between kinds of data ---------------------------------------------------------------

    def read(self, key: Key) -> Codes:
        """The codes of the released records in one of the columns that questions name."""
        raise NotImplementedError

    attributes: Mapping[str, Attribute] = {}
    """The columns of a table by name; none of other kinds of data."""

    @property
    def counted(self) -> Mapping[Key, CountedCodes]:
        """The bins in which columns were counted, if they were not counted value by value."""
        return {}

    @property
    def pairs(self) -> tuple[set[Pair], set[Pair]]:
        """All pairs of columns of a table, and those that were measured together."""
        return set(), set()

    def workload(self, seed: int) -> TableWorkload | SetWorkload | SequenceWorkload | FamilyWorkload | None:
        """The questions that a seed draws for the released records, whose error a release measures."""
        raise NotImplementedError

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        """The answer to a question that holds for so many of the records drawn."""
        return self.around(question, drawn, self.noise_margin(question, drawn, confidence), confidence, NOISE_ONLY)

    def around(self, question: Question, drawn: int, margin: float, confidence: float, covers: str) -> Estimate:
        """An interval with a margin on both sides of a count, and what cut bins leave open."""
        value, (fewer, more) = drawn / self.share_drawn, self.cut_bins(question)
        low, high = value + fewer - margin, value + more + margin
        return Estimate(value, low, high, confidence, covers, self.cut_steps(question)).at_least_zero()

    def mean(self, column: str, question: Question, confidence: float) -> Estimate:  # noqa: ARG002
        """The mean of a column of numbers over the records that a question holds for and that have a value."""
        raise no_numbers(column, [])

    def table(self, by: Sequence[str], question: Question, mean: str | None, confidence: float) -> pl.DataFrame:  # noqa: ARG002
        """One row per combination of groups of these columns: the groups, value, low, high, covers."""
        raise ParameterError("only releases of tables have columns to group by")

    def itemsets(self, min_support: float, longest: int | None, confidence: float) -> pl.DataFrame:  # noqa: ARG002
        """The frequent itemsets of a release of sets."""
        raise ParameterError("only releases of sets have frequent itemsets")

    def weighing(self) -> Asker:
        """The same in sums of weights."""
        raise ParameterError("only releases of tables have weights")

    def regress(self, formula: str, confidence: float) -> Regression:  # noqa: ARG002
        """The coefficients of a linear regression."""
        raise ParameterError("only releases of tables have columns for a regression")

    def cut_steps(self, question: Question) -> str:  # noqa: ARG002
        """Says which steps a question cuts, and which bounds are exact; empty if it cuts none."""
        return ""

    # ---- counts -------------------------------------------------------------------------------------------

    def parse(self, question: str) -> Question:
        return self.counted_question(parse(question, self.vocabulary))

    def counted_question(self, question: Question) -> Question:
        """A question about declared columns as one about the columns that were counted."""
        return self._release.schema.counted(question)

    def codes(self, key: Key) -> Codes:
        """The codes of the released records in one column."""
        if key not in self._kept:
            self._kept[key] = self.read(key)
        return self._kept[key]

    def inside(self, question: Question) -> Bools:
        """For each released record whether the question holds."""
        return np.broadcast_to(holds(question, self.codes), self.records)

    def count(self, question: Any, confidence: float) -> Estimate:
        """How many records a question holds for."""
        check_confidence(confidence)
        return self.estimate(question, self.drawn(question), confidence)

    def drawn(self, question: Question) -> int:
        """For how many of the records drawn a question holds."""
        if question not in self._counted:
            if len(self._counted) >= MOST_KEPT:
                self._counted.clear()
            self._counted[question] = int(self.inside(question).sum())
        return self._counted[question]

    def cut_bins(self, question: Any) -> tuple[float, float]:
        """How many fewer and more records a question may hold for, because of the bins that it cuts."""
        inside, around = self.ends(question)
        if inside == around:
            return 0.0, 0.0
        fewer, more = (float((self.drawn(one) - self.drawn(question)) / self.share_drawn) for one in (inside, around))
        return fewer, more

    def ends(self, question: Question) -> tuple[Question, Question]:
        """The questions inside and around the bins that a question cuts."""
        return inside_and_around(question, self.counted)

    def noise_margin(self, question: Question, drawn: int, confidence: float) -> float:
        """The margin of the noise behind a question that holds for so many of the records drawn."""
        whole = columns_of(question) if is_box(question) else None

        def share(box: Box) -> float:
            if whole is not None and len(box) == len(whole):
                return 1.0
            around = self.drawn(join(True, (OneColumn(*one) for one in box.items())))
            return max(1, drawn) / max(1, drawn, around)  # no record drawn does not mean no noise

        return self.opened.noise(question, share).margin(confidence)


def no_numbers(name: str, able: Sequence[str]) -> ParameterError:
    """Says that there is no such column of numbers, and which ones there are."""
    known = f"columns of numbers: {', '.join(able)}" if able else "this release has no column of numbers"
    return ParameterError(f"there is no column of numbers {name!r} to take the mean of; {known}")


def check_confidence(confidence: float) -> None:
    """Refuses a confidence that no interval can have."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence <= 0.999:
        raise ParameterError(f"the confidence must be a number from 0.5 to 0.999, got {confidence!r}")
