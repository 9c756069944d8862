"""The share of epsilon that measures a release's own error: it is decided from a first noisy count and spent at the
end.

Whether the error is measured ("bought") must be known before a method plans its questions. The share is charged at the
root before the first split, and the question is asked once the records are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cantle.methods.settings import Rule, portion, share_up_to
from cantle.postprocess.accuracy import (
    WHY,
    Accuracy,
    PairDistance,
    QuestionError,
    kinds_of,
    total_variation,
    worth_measuring,
)
from cantle.postprocess.counts import Dice, workload_dice
from cantle.postprocess.records import Drawn, records_meant, share_drawn
from cantle.postprocess.results import Results
from cantle.postprocess.set_workload import set_workload
from cantle.postprocess.table_workload import columns_of, engine_codes, table_workload
from cantle.schema.domain import Domain
from cantle.trusted.answers import Noisy
from cantle.trusted.curator import Curator
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.workloads import (
    SetWorkload,
    TableWorkload,
    count_sets,
    fingerprint,
)
from cantle.trusted.queries import Size

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

    def __init__(self, share: Fraction, *, universe: int = 0, domain: Domain | None = None) -> None:
        self._universe, self._domain = universe, domain
        # If no column has two values, there are no questions to ask.
        able = domain is None or any(attribute.size > 1 for attribute in columns_of(domain))
        self.share = share if able else Fraction(0)
        self.noisy_records = 0
        self.bought = False

    def at_most(self, epsilon_nano: int) -> int:
        """The largest price of the accuracy, including that of the number of records."""
        return max(1, portion(epsilon_nano, SIZE_SHARE)) + portion(epsilon_nano, self.share) if self.share else 0

    def expected(self, epsilon_nano: int, records: int, max_records: int) -> Fraction:
        """The share of epsilon that would be spent with this many records."""
        enough = bool(self.share) and worth_measuring(self.share, epsilon_nano, records, max_records)
        return self.share if enough else Fraction(0)

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
        self.bought = bool(self.expected(epsilon_nano, noisy_records, curator.unit.max_records))
        if self.bought:
            curator.reserve(root, portion(epsilon_nano, self.share), why=WHY)
        return self.share if self.bought else Fraction(0)

    def measure(self, curator: Curator, results: Results, seed: int) -> Accuracy | None:
        """The accuracy of the drawn records; this is the last question of a run."""
        if not self.share:
            return None
        if not self.bought:
            return Accuracy(bought=False, share=self.share, noisy_records=self.noisy_records)
        workload, released = self._workload(results, workload_dice(seed))
        kinds = kinds_of(workload)
        noisy = curator.own_error(workload, released) if kinds else None
        numbers = {} if noisy is None else _numbers(kinds, noisy, records_meant(results.summary))
        return Accuracy(
            bought=True,
            share=self.share,
            noisy_records=self.noisy_records,
            **numbers,
            workload=fingerprint(workload),
        )

    def _workload(self, results: Results, dice: Dice) -> tuple[TableWorkload | SetWorkload, Ints]:
        """The questions, and their answers from the released records."""
        asked: TableWorkload | SetWorkload
        if self._domain is not None:
            assert isinstance(results.drawn, Drawn)
            codes: Sequence[Any] = engine_codes(self._domain, results.drawn)
            asked, drawn = table_workload(columns_of(self._domain), codes, dice)
        else:
            assert results.sets is not None
            asked = sets = set_workload(self._universe, results.sets, dice)
            drawn = count_sets(sets, *results.sets)
        share = share_drawn(results.summary)  # if fewer records were drawn, each stands for several
        return asked, drawn if share == 1 else np.round(drawn / share).astype(np.int64)


def _numbers(kinds: dict[str, int], noisy: Noisy, released: int) -> dict[str, Any]:
    """The noisy numbers by kind of question, in the order of the questions."""
    rate = int(noisy.rate_num[0]), noisy.rate_den
    numbers: dict[str, Any] = {}
    for (name, number), records in zip(kinds.items(), noisy.value[0].tolist(), strict=True):
        if name == "pairs":
            distance = total_variation(records, released)
            numbers[name] = PairDistance(pairs=number, records=records, distance=distance, rate=rate)
        else:
            numbers[name] = QuestionError(q=number, records=records, rate=rate)
    return numbers
