"""The released numbers as answers to the questions that a method asked, so that all that follows can be computed again.

Every later question and every price follows from earlier answers by a public rule. So a method that gets its answers
from here asks again what it asked, and `asked` is what each kind of path should have paid for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from cantle.errors import VerifyError
from cantle.methods.asking import Rows
from cantle.methods.own_error.accuracy import WHY
from cantle.release import Release
from cantle.release.manifest import PathCharges
from cantle.release.schemas import universe_of
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.geometry.boxes import Ints

Paid = list[tuple[str, int, int]]
"""Charges in order: purpose, price in billionths, sensitivity."""


class Replay(ABC):
    """Answers questions about collections of items with the noisy numbers of a release."""

    def __init__(self, release: Release, number_of_records: str) -> None:
        """The number of records follows from the noisy numbers with this name."""
        self._groups, self._receipt = release.groups, release.manifest.receipt
        self._universe, self._accuracy = universe_of(release.manifest), release.manifest.accuracy
        self._number_of_records = number_of_records
        self.max_records = self._receipt.unit.max_records
        self._left, self._asked = self._receipt.epsilon_nano, Paid()

    def asked(self) -> list[Paid]:
        """What the noisy numbers say that each kind of path should have paid for."""
        return [self._asked]

    def receipts(self) -> list[Paid]:
        """What each kind of path paid for."""
        return sorted(map(charges_of, self._receipt.paths))

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        """The share that the release states; verify.py checks whether it is right."""
        measured = self._accuracy
        if measured is None or not measured.bought:
            return Fraction(0)
        if measured.noisy_records != noisy_records:
            others = f"another number of records than the noisy {self._number_of_records} give"
            raise VerifyError(f"the accuracy was decided by {others}")
        price = whole * measured.share.numerator // measured.share.denominator
        self._charge(WHY, price, self.max_records)
        return measured.share

    def left(self) -> int:
        return self._left

    def ask(self, query: Any, price: int, why: str, rows: Rows) -> Noisy:
        den = self._pay(query, price, why)
        none = np.zeros(query.key.cells // len(rows), np.int64)
        value = np.concatenate([none if name is None else self._rows(name)["noisy"].to_numpy() for name in rows])
        if len(value) != query.key.cells:
            raise VerifyError(f"the groups do not have the {query.key.cells} numbers of the question about {why}")
        return Noisy(value.reshape(1, -1), np.array([price]), den)

    def above(self, query: Any, price: int, at_least: int, why: str, rows: Rows) -> NoisyCells:
        den = self._pay(query, price, why)
        cells, value = self.cells_of(query, rows)
        if not (np.diff(cells) > 0).all() or not np.isin(query.always, cells).all():
            raise VerifyError(f"the {why} are not in order, or one that is always given is not listed")
        if (value[~np.isin(cells, query.always)] < at_least).any():
            raise VerifyError(f"the {why} list one below the threshold")
        return NoisyCells(np.zeros_like(cells), cells, value, np.array([price]), den, np.array([at_least]))

    @abstractmethod
    def cells_of(self, query: Any, rows: Rows) -> tuple[Ints, Ints]:
        """The cells of a query that rows with these names list, and their noisy values."""

    def _rows(self, name: str | None) -> pl.DataFrame:
        return self._groups.filter(pl.col("question") == name)

    def _pay(self, query: Any, price: int, why: str) -> int:
        """Notes the charge; returns the denominator of the rate of the noise."""
        sensitivity = query.sensitivity(Unit(self.max_records))
        self._charge(why, price, sensitivity)
        return int(sensitivity * NANO)

    def _charge(self, why: str, price: int, sensitivity: int) -> None:
        self._left -= price
        self._asked.append((why, price, sensitivity))


def charges_of(path: PathCharges) -> Paid:
    """The charges of a kind of path in the form of a replay."""
    return [(charge.why, charge.epsilon_nano, charge.sensitivity) for charge in path.charges]
