"""The share of epsilon that measures a release's own error: it is decided from a first noisy count and spent at the
end.

Whether the error is measured ("bought") must be known before a method plans its questions. The share is charged at the
root before the first split, and the question is asked once the records are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cantle.drawing.counts import Dice, workload_dice
from cantle.drawing.records import Drawn, Results, share_drawn
from cantle.methods.own_error.accuracy import (
    WHY,
    Accuracy,
    Pair,
    PairError,
    QuestionError,
    affordable,
    all_pairs,
    kinds_of,
    measured_pairs,
)
from cantle.methods.own_error.family_workload import family_workload
from cantle.methods.own_error.sequence_workload import sequence_workload
from cantle.methods.own_error.set_workload import CountedPairs, set_workload
from cantle.methods.own_error.table_workload import columns_of, engine_codes, released_columns, table_workload
from cantle.methods.settings import Rule, portion, share_up_to
from cantle.schema.domain import Domain
from cantle.schema.items import Universe
from cantle.trusted.claims.queries import Size
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.sequence_strings import count_contained
from cantle.trusted.geometry.views import FamilyDomain
from cantle.trusted.geometry.workloads import (
    FamilyWorkload,
    SequenceWorkload,
    SetWorkload,
    TableWorkload,
    count_sets,
    fingerprint,
)

AnyWorkload = TableWorkload | SetWorkload | SequenceWorkload | FamilyWorkload

DEFAULT_SHARE = "1/25"
SIZE_SHARE = Fraction(1, 100)
"""The share of epsilon that pays for the number of records, if the method has not measured it."""


def accuracy_share() -> Rule:
    """The rule of the parameter `accuracy_share`."""
    return share_up_to(Fraction(1, 4))


@runtime_checkable
class MeasuresItself(Protocol):
    """A method whose releases can state how far their records are off."""

    @property
    def own_accuracy(self) -> OwnAccuracy: ...


class OwnAccuracy:
    """The measurement of a release's own error: whether it was bought, and from which noisy count that was decided.

    All of this is public.
    """

    def __init__(
        self,
        share: Fraction,
        *,
        universe: Universe | None = None,
        domain: Domain | None = None,
        ordered: bool = False,
        families: FamilyDomain | None = None,
    ) -> None:
        self._universe, self._domain, self._ordered, self._families = universe, domain, ordered, families
        # If no column has two values, there are no questions to ask.
        able = domain is None or any(attribute.size > 1 for attribute in columns_of(domain))
        self.share = share if able else Fraction(0)
        self.noisy_records = 0
        self._numbers = 0

    @property
    def bought(self) -> bool:
        """Whether the error is measured."""
        return self._numbers > 0

    def at_most(self, epsilon_nano: int) -> int:
        """The largest price of the accuracy, including that of the number of records."""
        return max(1, portion(epsilon_nano, SIZE_SHARE)) + portion(epsilon_nano, self.share) if self.share else 0

    def expected(self, epsilon_nano: int, records: int, max_records: int) -> Fraction:
        """The share of epsilon that would be spent with this many records."""
        return self.share if self._affordable(epsilon_nano, records, max_records) else Fraction(0)

    def _affordable(self, epsilon_nano: int, records: int, max_records: int) -> int:
        """How many numbers can be measured with this many records."""
        tables = self._domain is not None
        return affordable(self.share, epsilon_nano, records, max_records, of_tables=tables) if self.share else 0

    def decide(self, curator: Curator, epsilon_nano: int, noisy_records: int | None = None) -> Fraction:
        """Reserves the share if there are enough records, and returns the share that was reserved, or 0.

        Without a noisy number of records, one is measured first.
        """
        if not self.share:
            return Fraction(0)
        root = curator.root()
        if noisy_records is None:
            price = max(1, portion(epsilon_nano, SIZE_SHARE))
            noisy_records = int(curator.measure(root, Size(), price, why="number of records").value[0, 0])
        self.noisy_records = noisy_records
        self._numbers = self._affordable(epsilon_nano, noisy_records, curator.unit.max_records)
        if self.bought:
            curator.reserve(root, portion(epsilon_nano, self.share), why=WHY)
        return self.share if self.bought else Fraction(0)

    def measure(self, curator: Curator, results: Results, seed: int) -> Accuracy | None:
        """The accuracy of the drawn records; this is the last question of a run."""
        if not self.share:
            return None
        pairs = self._pairs(results)
        known = Accuracy(
            bought=self.bought,
            share=self.share,
            noisy_records=self.noisy_records,
            all_pairs=len(pairs[0]),
            pairs_together=len(pairs[1]),
        )
        if not self.bought:
            return known
        asked = self._workload(results, pairs, workload_dice(seed))
        if asked is None:
            return known
        workload, released = asked
        numbers = _numbers(kinds_of(workload), curator.own_error(workload, released))
        return replace(known, **numbers, workload=fingerprint(workload))

    def _pairs(self, results: Results) -> tuple[set[Pair], set[Pair]]:
        """All pairs of columns of a table, and those measured together."""
        if self._domain is None:
            return set(), set()
        every = all_pairs(released_columns(self._domain))
        return every, every & measured_pairs(results.structure)

    def _workload(
        self, results: Results, pairs: tuple[set[Pair], set[Pair]], dice: Dice
    ) -> tuple[AnyWorkload, Ints] | None:
        """The questions, and their answers from the released records; None if there is no question."""
        asked: tuple[AnyWorkload, Ints] | None
        if self._domain is not None:
            assert isinstance(results.drawn, Drawn)
            codes: Sequence[Any] = engine_codes(self._domain, results.drawn)
            columns, asked_about = columns_of(self._domain), {one.name for one in released_columns(self._domain)}
            asked = table_workload(columns, codes, dice, pairs[1], self._numbers, asked_about)
        elif self._ordered:
            assert results.sets is not None
            pairs_asked = sequence_workload(results.sets)
            asked = (pairs_asked, count_contained(pairs_asked, *results.sets)) if kinds_of(pairs_asked) else None
        elif self._families is not None:
            assert results.families is not None
            asked = family_workload(self._families, *results.families, dice)
        else:
            assert results.sets is not None
            assert self._universe is not None
            sets = set_workload(results.sets, CountedPairs.of(self._universe, results.groups, results.summary))
            asked = (sets, count_sets(sets, *results.sets)) if kinds_of(sets) else None
        share = share_drawn(results.summary)  # if fewer records were drawn, each stands for several
        if asked is None or share == 1:
            return asked
        return asked[0], np.round(asked[1] / share).astype(np.int64)


def _numbers(kinds: dict[str, int], noisy: Noisy) -> dict[str, Any]:
    """The noisy numbers by kind of question, in the order of the questions."""
    rate = int(noisy.rate_num[0]), noisy.rate_den
    numbers = dict[str, Any]()
    for (name, number), records in zip(kinds.items(), noisy.value[0].tolist(), strict=True):
        if name in ("together", "apart"):
            numbers[name] = PairError(pairs=number, records=records, rate=rate)
        else:
            numbers[name] = QuestionError(q=number, records=records, rate=rate)
    return numbers
