"""The curator as the one who answers the questions of baskets and journeys (cantle.methods.asking)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from cantle.methods.asking import Rows
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.curator import Curator


class CuratorAsker:
    """Passes questions on to the curator."""

    def __init__(self, curator: Curator, own_accuracy: OwnAccuracy | None = None) -> None:
        self.curator, self._own_accuracy = curator, own_accuracy or OwnAccuracy(Fraction(0))
        self._root = curator.root()

    @property
    def max_records(self) -> int:
        return self.curator.unit.max_records

    def left(self) -> int:
        return int(self.curator.left(self._root)[0])

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        return self._own_accuracy.decide(self.curator, whole, noisy_records)

    def ask(self, query: Any, price: int, why: str, rows: Rows) -> Noisy:  # noqa: ARG002
        return self.curator.measure(self._root, query, price, why=why)

    def above(self, query: Any, price: int, at_least: int, why: str, rows: Rows) -> NoisyCells:  # noqa: ARG002
        return self.curator.measure(self._root, query, price, at_least=at_least, why=why)
