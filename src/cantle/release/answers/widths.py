"""How wide the interval of a counting question about a table is, from the three measured levels of error.

A level is stated for a large group. A question gets the part of it that its public scale says (accuracy.py), by
the level of its class: one column, columns that were all measured together, or columns that were not. The measured
level is noisy and may be too small; if the noise in the counts behind the question is larger, the interval covers that
noise, as far as the measurement leaves room for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cantle.methods.own_error.accuracy import (
    LARGE,
    SMALLEST_SHARE,
    Pair,
    PairError,
    QuestionError,
    largest_spread,
    reference,
    scale_of,
)
from cantle.methods.own_error.table_workload import block_counts
from cantle.release.accuracy import DOUBT, MOST_DOUBT
from cantle.release.answers.asking import inside_and_around
from cantle.release.answers.estimates import LIMITS, MEASURED, NOISE_ONLY, Estimate, level
from cantle.release.answers.noise import DirectAnswer
from cantle.release.structures import traits_of
from cantle.schema.code_sets import (
    EVERYTHING,
    AnySet,
    CodeSet,
    Joined,
    Key,
    Linear,
    OneColumn,
    Question,
    columns_of,
    hull,
    is_box,
    join,
    negated,
)
from cantle.schema.domain import Attribute, Plane, Steps
from cantle.schema.places import Area
from cantle.trusted.core.arrays import Floats, Ints

if TYPE_CHECKING:
    from cantle.release import Release
    from cantle.release.answers.table_answers import TableAsker

BY_NOISE = 1.17
"""How much wider than its noise an interval from noise is. All questions that one noisy table answers share its noise:
without this, fewer than 95 of 100 would hold in many a release, and more in others."""

TAIL = 1.5
"""How many times the error of a share the part of a tail may be that was not released. Noise empties long tails."""

LONE = 1 / 8
"""How far a tail may reach, as a part of the way to the bound, if all released records have one value."""

NEVER = "these columns were never related here"


class Widths:
    """The error of questions about one release of a table, whose records `asker` counts."""

    def __init__(self, release: Release, asker: TableAsker) -> None:
        self._release, self._asker, self._accuracy = release, asker, release.accuracy
        self._spreads = dict[Key, float]()
        self._counted_cells = traits_of(release.manifest).cells

    @property
    def by_columns(self) -> bool:
        """Whether columns were counted one by one, so that these counts are right up to their noise."""
        return bool(self._counted_cells)

    @cached_property
    def _together(self) -> set[Pair]:
        return self._asker.pairs[1]

    @property
    def _records(self) -> float:
        return self._asker.records / self._asker.share_drawn

    def _share(self, question: Question) -> float:
        """The share of the released records for which a question holds."""
        return self._asker.drawn(question) / max(1, self._asker.records)

    def _noise(self, question: Question, confidence: float) -> float:
        """The margin of the noise behind a question."""
        return self._asker.noise_margin(question, self._asker.drawn(question), confidence)

    @cached_property
    def _all(self) -> DirectAnswer | None:
        return self._asker.opened.direct(EVERYTHING)

    def _of_all(self, confidence: float) -> float:
        """How far the number of all records is off."""
        return self._noise(EVERYTHING, confidence) if self._all is None else shared_margin(self._all, confidence)

    def are_together(self, columns: Sequence[Key]) -> bool:
        """Whether every pair of these columns was measured together."""
        return all(frozenset(map(str, pair)) in self._together for pair in combinations(columns, 2))

    def _class(self, columns: Sequence[Key]) -> str:
        if len(columns) < 2:
            return "one_column"
        return "together" if self.are_together(columns) else "apart"

    def levels(self, confidence: float, doubt: float = DOUBT) -> dict[str, float]:
        """By how many records questions of scale LARGE are off at most, for each class that was measured.

        `doubt` scales of its noise are added to a measured number; of several numbers the largest counts.
        """
        if self._accuracy is None:
            return {}
        one, near, far = self._accuracy.one_column, *(self._accuracy.of_pairs(together=yes) for yes in (True, False))
        classes: dict[str, Sequence[QuestionError | PairError]] = {"one_column": [one] if one else []}
        classes |= {"together": near, "apart": far}
        return {
            name: max(level(one, confidence, doubt) for one in numbers) for name, numbers in classes.items() if numbers
        }

    def level(self, columns: Sequence[Key], confidence: float, doubt: float = DOUBT) -> float | None:
        """The level of questions about these columns; None if it was not measured."""
        return self.levels(confidence, doubt).get(self._class(columns))

    def margin(self, question: Question, confidence: float) -> float | None:
        """The half width of the interval of a counting question; None if its class was not measured.

        The error is larger than its lower bound here in one case of ten, and than its upper bound in one of 400.
        """
        columns = columns_of(question)
        least, most = (self.level(columns, confidence, doubt) for doubt in (DOUBT, MOST_DOUBT))
        if least is None or most is None:
            return None
        part = self._scale(question) / self._stated(columns)
        if len(columns) > 1:  # the noise in the count of a cell is no smaller because the cell is small
            most *= part
        margin = min(most, max(least * part, self._noise(question, confidence)))
        return max(margin, self._share(question) * self._of_all(confidence))

    def _stated(self, columns: Sequence[Key]) -> float:
        """The scale for which the level of these columns is stated."""
        pairs = combinations(columns, 2)
        return min((reference(self.spread(one), self.spread(other)) for one, other in pairs), default=LARGE)

    def spread(self, column: Key) -> float:
        """The largest p (1 - p) of a condition on a column."""
        if column not in self._spreads:
            attribute, codes = self._asker.attributes[str(column)], self._asker.codes(column)
            times = block_counts(attribute, codes)
            if times is None:
                times = np.unique(codes, return_counts=True)[1]
            ordered = isinstance(attribute.scale, Steps) and not isinstance(attribute.scale, Plane)
            self._spreads[column] = largest_spread(times, ordered=ordered)
        return self._spreads[column]

    def _scale(self, question: Question) -> float:
        """The scale of a question. One that is no box, and not the opposite of a box, has at most the scales of its
        parts together, because it is off by at most as much as they are."""
        whole = np.array(self._share(question))
        if not is_box(question) and is_box(opposite := negated(question)):
            question = opposite  # it has the same scale
        parts = list(question.parts) if isinstance(question, Joined) else [question]
        if is_box(question):
            shares = [np.array(self._share(one)) for one in parts]
            return max(float(scale_of(share, shares)) for share in (whole, *self._opposite(question, parts)))
        own = float(scale_of(whole, [whole] * len(columns_of(question))))
        apart = parts if isinstance(question, Joined) else []  # a sum of columns has no parts
        return min(1.0, max(own, sum(self._scale(part) for part in apart)))

    def _opposite(self, question: Question, parts: Sequence[Question]) -> list[Floats]:
        """The share of A and not B, for a question A and B about a column of B that is nearly always the same and was
        not measured together with that of A.

        The error was then measured with the frequent value, and divided by the scale of such large groups. What a lost
        connection takes from A and B it adds to A and not B, so both are off by as much.
        """
        columns = columns_of(question)
        if len(columns) != 2 or self.are_together(columns) or self._stated(columns) >= LARGE:
            return []
        same = min(columns, key=self.spread)
        other = [self._share(one) for one in parts if isinstance(one, OneColumn) and one.key != same]
        return [np.array(max(0.0, share - self._share(question))) for share in other]

    def note(self, columns: Sequence[Key]) -> str:
        """What the interval of a question about these columns allows for."""
        apart = [pair for pair in combinations(columns, 2) if not self.are_together(pair)]
        if not apart or self._accuracy is None or self._accuracy.together is None:
            return ""
        one, other = apart[0]
        return (
            f"{one} and {other} were not measured together, so the interval allows for a connection as strong as any "
            "that this release missed"
        )

    # ---- limits -------------------------------------------------------------------------------------------

    def alone(self, question: OneColumn, confidence: float) -> float:
        """How far the count of a condition on one column is off at most."""
        measured, all_ = self.level([question.key], confidence), self._of_all(confidence)
        return max(all_, BY_NOISE * self._noise(question, confidence) if measured is None else measured)

    def limits(self, question: Question, confidence: float) -> tuple[float, float]:
        """The smallest and the largest count that the counts of single columns allow."""
        every = self._records + self._of_all(confidence)
        if isinstance(question, OneColumn):
            count, margin = self._share(question) * self._records, self.alone(question, confidence)
            fewer, more = self._asker.cut_bins(question)
            ends = [(count + fewer - margin, count + more + margin), self._of_cut_cells(question, confidence)]
            if (direct := self._asker.opened.direct(question)) is not None:  # a tail may have been taken for noise
                apart = shared_margin(direct, confidence)
                ends.append((direct.value - apart, direct.value + apart))
            low, high = zip(*filter(None, ends), strict=True)
            return max(0.0, min(low)), min(every, max(high))
        if isinstance(question, Linear):  # a sum of columns: what its columns allow
            around = join(True, [OneColumn(*one) for one in hull(question).items()])
            return 0.0, self.limits(around, confidence)[1]
        low, high = zip(*(self.limits(part, confidence) for part in question.parts), strict=True)
        if question.every:
            return max(0.0, sum(low) - (len(low) - 1) * every), min(high)
        return max(low), min(every, sum(high))

    def within_limits(self, known: Estimate, question: Question, margin: float, confidence: float) -> Estimate:
        """The estimate of a count, cut to what single columns allow; as wide as these limits if the release never
        related the columns."""
        columns, value = columns_of(question), known.value
        never = known.covers == NOISE_ONLY and self.by_columns
        alone = self.by_columns or "one_column" in self.levels(confidence)  # whether single columns have limits
        if len(columns) > 1 and (never or (known.covers == MEASURED and alone)):
            low, high = self.limits(question, confidence)
            low, high = min(low, value), max(high, value)
            if never:
                return replace(known, low=low, high=high, covers=LIMITS, note=joined(NEVER, known.note))
            note = joined(self.note(columns), known.note)
            known = replace(known, low=max(low, known.low), high=min(high, known.high), note=note)
        elif never:
            more = (BY_NOISE - 1) * margin  # beside what bins and steps leave open
            known = replace(known, low=known.low - more, high=known.high + more)
        return known.at_least_zero()

    def with_cut_cells(self, known: Estimate, question: Question, confidence: float) -> Estimate:
        """The estimate; the interval holds the counts of all cells inside the question and of all that it touches.

        Where in a cell its records are was never counted. The measured error knows it for most questions, because cells
        hold few records each, but not for one that cuts a cell in which a few frequent values lie.
        """
        low, high = self._of_cut_cells(question, confidence) or (known.low, known.high)
        return replace(known, low=min(low, known.low), high=max(high, known.high))

    def _of_cut_cells(self, question: Question, confidence: float) -> tuple[float, float] | None:
        """The fewest and the most records of a question whatever lies where in the cells that it cuts, up to the noise
        of counts; None if it cuts none.

        How many records have the categories that cut a group is known. Of these, at most as many do not satisfy the
        rest of the question as in the whole group.
        """
        inside, around = self.inside_and_around_cells(question)
        if inside == around:
            return None
        fewest, most, known = self._share(inside), self._share(around), around
        if (groups := self._groups(question)) and isinstance(question, Joined):
            known = join(True, [one for one in question.parts if isinstance(one, OneColumn) and one.key in groups])
            others = self._share(inside_and_around(known, groups)[1]) - most
            fewest, most = max(fewest, self._share(known) - others), min(most, self._share(known))
        noise = BY_NOISE * self._noise(known, confidence)
        return fewest * self._records - noise, most * self._records + noise

    def inside_and_around_cells(self, question: Question) -> tuple[Question, Question]:
        """The questions inside and around all cells that a question cuts."""
        return inside_and_around(question, {**self._cells, **self._groups(question)})

    def _groups(self, question: Question) -> dict[Key, Cells]:
        """The groups of values in which columns of a question were counted together with others of it, where the
        question cuts groups of categories or places, or names a part of one group of numbers. The values of a group may
        have nothing else in common."""
        found, columns = dict[Key, Cells](), columns_of(question)
        for one in question.parts if isinstance(question, Joined) and question.every else ():
            if not isinstance(one, OneColumn):
                continue
            attribute = self._asker.attributes[str(one.key)]
            tried = (self.related_groups(attribute, str(other)) for other in columns if other != one.key)
            known = [edges for edges in tried if len(edges) > 2]
            edges = tuple(min(known, key=len).tolist()) if known else ()
            whole = Cells(edges).whole(one.codes) if edges else one.codes
            ordered = isinstance(attribute.scale, Steps) and not isinstance(attribute.scale, Plane)
            if whole != one.codes and not (ordered and whole.edges):
                found[one.key] = Cells(edges)
        return found

    @cached_property
    def _cells(self) -> dict[Key, Cells]:
        """The cells of columns of numbers and of places."""
        numbers = [one for one in self._asker.attributes.values() if isinstance(one.scale, Steps)]
        edges = (
            (one.name, self.finest_cells(one.name) if isinstance(one.scale, Plane) else self.cells_of(one))
            for one in numbers
        )
        return {name: Cells(tuple(known.tolist())) for name, known in edges if known is not None}

    def cells_of(self, attribute: Attribute) -> Ints | None:
        """The edges of the cells in which a column was counted by itself; null has a cell of its own."""
        if attribute.name not in self._counted_cells:
            return None
        counted = replace(attribute, width=attribute.cell)
        return counted.places(np.array(self._counted_cells[attribute.name], dtype=np.int64))

    def related_groups(self, attribute: Attribute, other: str) -> Ints:
        """The edges of the finest groups in which a column was counted together with another one; all its values are
        one group if it was not."""
        found = [np.array([0, attribute.size])]
        for table in self._release.manifest.structure.get("tables", ()) if self.by_columns else ():
            if {attribute.name, other} <= {*table.get("columns", ())}:
                edges = np.array(table["edges"][table["columns"].index(attribute.name)], dtype=np.int64)
                found.append(replace(attribute, width=attribute.cell).places(edges))
        return max(found, key=len)

    def finest_cells(self, name: str) -> Ints | None:
        """The edges of the finest cells in which a place was counted by itself; None if it was not."""
        tables = self._release.manifest.structure.get("tables", ())
        edges = [one["edges"][0] for one in tables if one.get("columns") == [name]]
        return np.array(max(edges, key=len), dtype=np.int64) if edges else None

    # ---- means --------------------------------------------------------------------------------------------

    def share_errors(
        self, column: str, question: Question, below: Floats, confidence: float
    ) -> tuple[Floats, Floats] | None:
        """How far the share of a group that is below each of some thresholds of a column of numbers is off, first
        because the column itself is wrong, then because its connection with the group is; None if that was not
        measured. The question selects the group; `below` are the shares of all records below these thresholds.

        A share is off by at most twice the smaller of its two sides.
        """
        others = [key for key in columns_of(question) if key != column]
        levels = self.levels(confidence)
        alone, related = (levels.get(self._class(columns)) for columns in ([column], [column, *others]))
        if alone is None or related is None:
            return None
        group = max(self._share(question), 1 / max(1.0, self._records))
        own = alone / self._records * scale_of(below, [below]) / LARGE
        attribute = self._asker.attributes[column]
        if hull(question).get(column) != CodeSet.span(0, attribute.grid, attribute.size):
            own = 2 * own / group  # both counts of the share are about this column
        columns = [column, *others]
        stated = LARGE if self.are_together(columns) else self._stated(columns)
        spread = below * (1 - below)
        tied = 2 * related / (stated * self._records) * np.sqrt((1 - group) / group * spread) if others else 0 * own
        most = np.minimum(1, 2 * np.minimum(below, 1 - below) / group)
        return np.minimum(most, own), np.minimum(most, tied)


def tail_errors(values: Floats, below: Floats, own: Floats) -> Floats:
    """What the shares of a column's two tails may be off by where its records say nothing: beyond the value at which
    half of a share may be an error, by no more than a multiple of this error that falls with the square of the distance
    from the median, as the longest tails with a finite variance do. 0 at other thresholds.

    >>> values, below = np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.5, 0.9, 1.0])
    >>> tail_errors(values, below, np.array([0.1, 0.1, 0.1])).round(3).tolist()
    [0.0, 0.0, 0.075]
    """
    median = values[np.searchsorted(below, 0.5)]
    unseen = np.zeros(len(below))
    for share, near, far in (
        (1 - below, values[:-1] - median, values[1:] - median),
        (below, *_mirrored(values, median)),
    ):
        mine, known = near >= 0, 2 * share >= own
        if not mine.any():
            continue
        mean = float((np.diff(values) * share)[mine].sum() / max(share[mine].max(), SMALLEST_SHARE))
        edge = max(mean, float(far[mine & known].max(initial=0))) or LONE * float(far.max())
        begins = np.clip(edge, near, far)
        whole = begins - near + edge**2 * (far - begins) / np.maximum(begins * far, 1e-9)
        falls = np.minimum(1, whole / np.maximum(far - near, 1e-9))
        unseen = np.where(mine & ~known, TAIL * own * falls, unseen)
    return unseen


def _mirrored(values: Floats, median: float) -> tuple[Floats, Floats]:
    return median - values[1:], median - values[:-1]


@dataclass(frozen=True)
class Cells:
    """The cells of a column in which values were counted as one."""

    edges: tuple[int, ...]

    def whole(self, codes: AnySet) -> AnySet:
        """The codes of all cells that lie inside the condition."""
        known = np.array(self.edges)
        if isinstance(codes, Area):
            inside = CodeSet.of(np.flatnonzero(codes.share(known[:-1], known[1:]) == 1).tolist(), len(known) - 1)
            return CodeSet(tuple(known[[*inside.edges]].tolist()), codes.size)
        ends = np.array(codes.edges, dtype=np.int64).reshape(-1, 2)
        first = known[np.minimum(np.searchsorted(known, ends[:, 0]), len(known) - 1)]
        end = known[np.searchsorted(known, ends[:, 1], side="right") - 1]
        return CodeSet(tuple(np.stack([first, end], axis=1)[first < end].reshape(-1).tolist()), codes.size)

    def touched(self, codes: AnySet) -> AnySet:
        """The codes of all cells of which the condition has a part."""
        return self.whole(codes.complement()).complement()


def joined(*notes: str) -> str:
    """Notes as one; those that are empty are left out."""
    return "; ".join(filter(None, notes))


def shared_margin(answer: DirectAnswer, confidence: float) -> float:
    """The half width of the interval of a direct answer of a table."""
    return BY_NOISE * answer.noise.margin(confidence)
