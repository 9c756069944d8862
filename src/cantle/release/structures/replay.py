"""The released numbers as answers to the questions that a method asked, so that all that follows can be computed again.

Every later question and every price follows from earlier answers by a public rule. So a method that gets its answers
from here asks again what it asked, and `asked` is what each kind of path should have paid for.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import polars as pl

from cantle.errors import VerifyError
from cantle.methods.own_error.accuracy import WHY
from cantle.release import Release
from cantle.release.manifest import PathCharges
from cantle.release.schemas import universe_of
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO

Paid = list[tuple[str, int, int]]
"""Charges in order: purpose, price in billionths, sensitivity."""


class Replay:
    """Answers questions about collections of items with the noisy numbers of a release."""

    def __init__(self, release: Release, paid: Mapping[str, str], number_of_records: str) -> None:
        """`paid` is what the receipt calls each question, and the number of records follows from the noisy numbers
        named last."""
        self._groups, self._receipt = release.groups, release.manifest.receipt
        self._universe, self._accuracy = universe_of(release.manifest), release.manifest.accuracy
        self._paid, self._number_of_records = paid, number_of_records
        self.max_records = self._receipt.unit.max_records
        self._left, self._asked = {"all": self._receipt.epsilon_nano}, dict[str, Paid]({"all": []})

    def asked(self) -> list[Paid]:
        """What the noisy numbers say that each kind of path should have paid for."""
        return sorted(self._asked.values())

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
        self._charge("all", WHY, price, self.max_records)
        return measured.share

    def _dense(self, part: str, question: str, names: tuple[str, ...], number: int, price: int, own: int) -> Noisy:
        """All numbers of a question, of which one record changes at most `own`."""
        den = self._pay(part, question, price, own)
        value = self._rows(*names)["noisy"].to_numpy()
        if len(value) != number:
            what = self._paid[question]
            raise VerifyError(f"the groups do not have the {number} numbers of the question about {what}")
        return Noisy(value.reshape(1, -1), np.array([price]), den)

    def _rows(self, *names: str) -> pl.DataFrame:
        return self._groups.filter(pl.col("question").is_in(names))

    def _pay(self, part: str, question: str, price: int, own: int) -> int:
        """Notes the charge; returns the denominator of the rate of the noise."""
        self._charge(part, self._paid[question], price, own * self.max_records)
        return own * self.max_records * NANO

    def _charge(self, part: str, why: str, price: int, sensitivity: int) -> None:
        self._left[part] -= price
        self._asked[part].append((why, price, sensitivity))


def charges_of(path: PathCharges) -> Paid:
    """The charges of a kind of path in the form of a replay."""
    return [(charge.why, charge.epsilon_nano, charge.sensitivity) for charge in path.charges]
