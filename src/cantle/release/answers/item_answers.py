"""Answers about a release of sets or sequences of items, with intervals from the measured levels of error.

Of sets, one level is about single items; one about pairs and triples all of whose pairs the release counted; one about
other groups. The last two are the largest errors of all groups that were looked at, because nobody can tell from a
release which pair it missed. A question that is more than a group of items is off by at most the errors of what it adds
up.

Of sequences, lengths, first and last symbols are answered from their noisy numbers, whose noise is known. Strings are
counted in the released sequences: of two symbols, one after the other, the largest error was measured for pairs that
follow each other directly, and for pairs at any distance. Other strings have limits that
are as wide. Without a measured error, and for questions about several things, only the noise in the counts behind them
is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle.methods.own_error.accuracy import PairError
from cantle.methods.own_error.sequence_workload import sequence_workload
from cantle.methods.own_error.set_workload import CountedPairs, set_workload
from cantle.release import Release
from cantle.release.accuracy import MOST_DOUBT, WORST_DOUBT
from cantle.release.answers.asking import Asker, check_confidence
from cantle.release.answers.estimates import (
    HELD,
    LIMITS,
    MEASURED,
    NOISE,
    NOISE_ONLY,
    Estimate,
    columns_of_estimates,
    level,
)
from cantle.release.answers.widths import BY_NOISE
from cantle.release.sequences import SequenceCodes
from cantle.release.sets import SetCodes
from cantle.release.structures.checks import OfItems
from cantle.schema.code_sets import Joined, Key, OneColumn, Question, columns_of, is_box, join
from cantle.schema.items import Universe
from cantle.schema.sequences import pattern_of
from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.geometry.workloads import SequenceWorkload, SetWorkload

UNMEASURED = 0.2
"""The share of the records by which an item's count may be off if that was not measured: with so few records, cutting
sets to a few items changes counts more than noise does. Of the 30 most frequent items in made-up orders, with 100 to
2,400 records times epsilon, .93 to 1.00 were off by less."""

USUAL = 0.95
"""The confidence of the limits of single items, which together have none."""


class SetAsker(Asker):
    """Answers questions about one release of sets."""

    opened: OfItems

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._every, self._accuracy = self.records / self.share_drawn, release.accuracy
        self._universe = self.opened.universe
        self._pairs = CountedPairs.of(self._universe, release.groups, release.manifest.summary)

    @cached_property
    def _codes(self) -> SetCodes:
        return SetCodes(self.opened.records, self._universe)

    def read(self, key: Key) -> Codes:
        return self._codes(key)

    def workload(self, seed: int) -> SetWorkload:  # noqa: ARG002
        """The questions about these records; they are not drawn at random."""
        return set_workload((self._codes.starts, self._codes.items), self._pairs)

    def itemsets(self, min_support: float, longest: int | None, confidence: float) -> pl.DataFrame:
        require(min_support, longest)
        check_confidence(confidence)
        least = min_support * self.records if min_support < 1 else min_support * self.share_drawn
        found = frequent(self._codes.starts, self._codes.items, least, longest)
        made = []
        for group, drawn in sorted(found, key=lambda one: (-one[1], len(one[0]), one[0])):
            asked = join(True, [OneColumn(item, HELD) for item in group])
            self._counted[asked] = drawn
            made.append(([self._universe.label(item) for item in group], self.estimate(asked, drawn, confidence)))
        labels = pl.List(pl.Int64 if isinstance(self._universe.label(0), int) else pl.String)
        listed = pl.Series("items", [group for group, _ in made], dtype=labels)
        return pl.DataFrame([listed, *columns_of_estimates([one for _, one in made])])

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:  # noqa: ARG002
        """The answer to a question: its released count, and an interval within what single items allow."""
        value, margin, columns = self._count(question), self.margin(question, confidence), columns_of(question)
        if margin is None and (columns in ([], ["size"]) or self._pairs.pairs is None):
            margin = (BY_NOISE if self._pairs.pairs is not None else 1.0) * self._noise(question, confidence)
            return Estimate(value, value - margin, value + margin, confidence, NOISE_ONLY).at_least_zero()
        limited = margin is None or len(columns) > 1
        low, high = self.limits(question, USUAL if margin is None else confidence) if limited else (0.0, inf)
        known = Estimate(value, min(low, value), max(high, value), confidence, MEASURED, self._note(question))
        if margin is None:
            return replace(known, covers=LIMITS, note="how far such counts are off was not measured")
        return replace(known, low=max(known.low, value - margin), high=min(known.high, value + margin)).at_least_zero()

    def margin(self, question: Question, confidence: float) -> float | None:
        """The half width of the interval of a question; None if its class was not measured.

        The largest error is larger than the lower bound here in one case of 20, and than the upper bound in one of 400.
        Between them, the noise in the counts behind the question decides.
        """
        least, most = (self._level(question, confidence, doubt) for doubt in (WORST_DOUBT, MOST_DOUBT))
        if least is None or most is None:
            return None
        return min(most, max(least, self._noise(question, confidence)))

    def limits(self, question: Question, confidence: float) -> tuple[float, float]:
        """The smallest and the largest count that the counts of single items and sizes allow."""
        if isinstance(question, OneColumn):
            count, margin = self._count(question), self.margin(question, confidence)
            if margin is None:
                margin = max(UNMEASURED * self._every, BY_NOISE * self._noise(question, confidence))
            return max(0.0, count - margin), min(self._every, count + margin)
        assert isinstance(question, Joined)  # items have no sums
        if not question.parts:
            return (self._every, self._every) if question.every else (0.0, 0.0)
        low, high = zip(*(self.limits(part, confidence) for part in question.parts), strict=True)
        if question.every:
            return max(0.0, sum(low) - (len(low) - 1) * self._every), min(high)
        return max(low), min(self._every, sum(high))

    def _level(self, question: Question, confidence: float, doubt: float) -> float | None:
        """By how many records a question is off at most, if `doubt` scales of their noise are added to the numbers."""
        accuracy, columns = self._accuracy, columns_of(question)
        if accuracy is None or accuracy.one_column is None or "size" in columns:  # sizes were not compared
            return None

        alone = level(accuracy.one_column, confidence, doubt)
        if len(columns) < 2:
            return alone
        together, apart = accuracy.together or accuracy.apart, accuracy.apart or accuracy.together
        if together is None or apart is None:
            return None
        if _is_group(question):
            return level(together if self._together(columns) else apart, confidence, doubt)
        several = max(level(error, confidence, doubt) for error in (together, apart))
        return several + len(columns) * alone

    def _count(self, question: Question) -> float:
        return self.drawn(question) / self.share_drawn

    def _noise(self, question: Question, confidence: float) -> float:
        """The margin of the noise behind a question."""
        return self.noise_margin(question, self.drawn(question), confidence)

    def _together(self, columns: Sequence[Key]) -> bool:
        return bool(self._pairs.together([tuple(int(key) for key in columns)])[0])

    def _note(self, question: Question) -> str:
        """What the interval allows for, if items were not counted together."""
        columns = columns_of(question)
        if len(columns) < 2 or not _is_group(question) or self._together(columns):
            return ""
        pairs = [(one, other) for i, one in enumerate(columns) for other in columns[i + 1 :]]
        one, other = next(pair for pair in pairs if not self._together(pair))
        names = f"{self._universe.label(int(one))} and {self._universe.label(int(other))}"
        return f"{names} were not counted together, so the interval allows for as large an error as this release made"


def _is_group(question: Question) -> bool:
    """Whether a question asks for sets that hold all of some items."""
    parts = question.parts if isinstance(question, Joined) else [question]
    held = (isinstance(part, OneColumn) and part.key != "size" and part.codes == HELD for part in parts)
    return is_box(question) and all(held)


# ---- frequent itemsets ----------------------------------------------------------------------------------------

# Depth first over prefixes (Zaki 2000, Eclat): the sets that hold a group are a bitmap, and a prefix meets all items
# that may follow it in one operation. A group is frequent only if all its parts are, so nothing else is looked at.

MOST = 10_000
"""The most itemsets that are listed."""

Itemset = tuple[int, ...]
_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)


def require(min_support: float, longest: int | None) -> None:
    """Refuses a support that is neither a share nor a number of sets, and lengths below 1."""
    plain = isinstance(min_support, int | float) and not isinstance(min_support, bool)
    if not plain or not (0 < min_support < 1 or (min_support >= 1 and float(min_support).is_integer())):
        raise ParameterError(
            f"min_support is a share of the sets below 1, such as 0.02, or a whole number of sets, got {min_support!r}"
        )
    if longest is not None and (isinstance(longest, bool) or not isinstance(longest, int) or longest < 1):
        raise ParameterError(f"longest is a number of items from 1 on, got {longest!r}")


def frequent(starts: Ints, items: Codes, least: float, longest: int | None) -> list[tuple[Itemset, int]]:
    """Every itemset of at most `longest` items that at least `least` of the sets hold, and how many do.

    >>> frequent(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 0]), 2, None)
    [((0,), 3), ((0, 1), 2), ((1,), 2)]
    """
    supports = np.bincount(items)
    kept = np.flatnonzero(supports >= max(1.0, least))
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.argsort(items, kind="stable")
    ends = np.cumsum(supports)
    bitmaps = np.zeros((len(kept), -(-(len(starts) - 1) // 8)), dtype=np.uint8)
    for row, item in enumerate(kept.tolist()):
        held = np.zeros(len(starts) - 1, dtype=np.bool_)
        held[owner[order[ends[item] - supports[item] : ends[item]]]] = True
        bitmaps[row] = np.packbits(held)
    found = []
    for one in _below((), kept, bitmaps, supports[kept], max(1.0, least), longest or len(supports)):
        found.append(one)
        if len(found) > MOST:
            raise ParameterError(f"more than {MOST:,} itemsets are that frequent; raise min_support, or lower longest")
    return found


def _below(
    prefix: Itemset, items: Ints, bitmaps: NDArray[np.uint8], counts: Ints, least: float, more: int
) -> Iterator[tuple[Itemset, int]]:
    """The frequent itemsets that begin with a prefix; `items` may follow it, with the sets that then hold all."""
    for place, (item, count) in enumerate(zip(items.tolist(), counts.tolist(), strict=True)):
        mine = (*prefix, item)
        yield mine, count
        if more > 1 and place + 1 < len(items):
            both = bitmaps[place + 1 :] & bitmaps[place]
            known = _ONES[both].sum(axis=1, dtype=np.int64)
            kept = known >= least
            yield from _below(mine, items[place + 1 :][kept], both[kept], known[kept], least, more - 1)


class SequenceAsker(Asker):
    """Answers questions about one release of sequences."""

    opened: OfItems

    @property
    def universe(self) -> Universe:
        return self.opened.universe

    @cached_property
    def sequences(self) -> SequenceCodes:
        return SequenceCodes.of(self.opened.records, self.universe)

    def read(self, key: Key) -> Codes:
        return self.sequences(key)

    def workload(self, seed: int) -> SequenceWorkload:  # noqa: ARG002
        """The questions about these records; they are not drawn at random."""
        return sequence_workload((self.sequences.starts, self.sequences.codes))

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        """The answer to a question that holds for so many of the released sequences."""
        direct = self.opened.direct(question)
        if direct is not None:
            margin = direct.noise.margin(confidence)
            made = Estimate(direct.value, direct.value - margin, direct.value + margin, confidence, NOISE)
            return made.at_least_zero()
        if not isinstance(question, OneColumn) or question.key in ("length", "first", "last"):
            return super().estimate(question, drawn, confidence)
        error, measured = self._error(pattern_of(question.key))
        if error is None:
            return super().estimate(question, drawn, confidence)
        if measured:
            return self.around(question, drawn, level(error, confidence), confidence, MEASURED)
        margin = max(level(error, confidence), BY_NOISE * self.noise_margin(question, drawn, confidence))
        limits = self.around(question, drawn, margin, confidence, LIMITS)
        return replace(limits, note="the error of such strings was not measured: as wide as that of pairs")

    def _error(self, pattern: Sequence[Sequence[int]]) -> tuple[PairError | None, bool]:
        """The measured error of pairs in a row, or at any distance, and whether the string is such a pair."""
        accuracy, shape = self._release.accuracy, tuple(map(len, pattern))
        if accuracy is None:
            return None, False
        return (accuracy.together if len(shape) == 1 < shape[0] else accuracy.apart), shape in ((2,), (1, 1))
