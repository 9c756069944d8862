"""Questions that are asked twice: of the curator, and again of the release when it is checked or sampled.

Every decision of baskets and journeys follows by a public rule from earlier noisy answers and public dice. So the
function that asks gets an `Asker`: the curator while a release is made
(cantle.methods.curator_asker), and the released numbers later (cantle.release.structures.replay).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from cantle.trusted.core.answers import Noisy, NoisyCells

Rows = tuple[str | None, ...]
"""What the groups of the release call the numbers of a query, in equal portions; None if they do not have them."""


class Asker(Protocol):
    """Answers questions about the data. Prices are whole nano-units of epsilon."""

    @property
    def max_records(self) -> int:
        """The most records of one protected unit, k."""

    def left(self) -> int:
        """What can still be spent."""

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        """Reserves what the release's own error costs, if it is wanted and there are enough records; the share of
        `whole`, or 0."""

    def ask(self, query: Any, price: int, why: str, rows: Rows) -> Noisy:
        """All numbers of a query; `why` is what the receipt calls it."""

    def above(self, query: Any, price: int, at_least: int, why: str, rows: Rows) -> NoisyCells:
        """The numbers of a query from a threshold on, and those that it always gives."""
