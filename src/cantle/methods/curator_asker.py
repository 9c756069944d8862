"""The curator as the one who answers the questions of baskets and journeys (cantle.methods.asking)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from cantle.methods.asking import ALL, Rows
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Cuts


class CuratorAsker:
    """Passes questions on to the curator."""

    def __init__(self, curator: Curator, own_accuracy: OwnAccuracy | None = None) -> None:
        self.curator, self._own_accuracy = curator, own_accuracy or OwnAccuracy(Fraction(0))
        self.parts: dict[str, Any] = {ALL: curator.root()}

    @property
    def max_records(self) -> int:
        return self.curator.unit.max_records

    def left(self, part: str = ALL) -> int:
        return int(self.curator.left(self.parts[part])[0])

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        return self._own_accuracy.decide(self.curator, whole, noisy_records)

    def divide(self, rule: Cuts, parts: tuple[str, ...]) -> None:
        children = self.curator.split(self.parts[ALL], rule)
        self.parts = {name: children.take(slice(at, at + 1)) for at, name in enumerate(parts)}

    def ask(self, query: Any, price: int, why: str, rows: Rows, part: str = ALL) -> Noisy:  # noqa: ARG002
        return self.curator.measure(self.parts[part], query, price, why=why)

    def above(self, query: Any, price: int, at_least: int, why: str, rows: Rows, part: str = ALL) -> NoisyCells:  # noqa: ARG002
        return self.curator.measure(self.parts[part], query, price, at_least=at_least, why=why)
