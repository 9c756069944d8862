"""The released numbers of sequences as answers to the questions that were asked, so that all that follows from them can
be computed again.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from cantle.errors import VerifyError
from cantle.methods.journeys.model.questions import PAID, name_of
from cantle.methods.journeys.results import ENDS
from cantle.methods.own_error.accuracy import WHY
from cantle.release import Release
from cantle.release.load import sequence_schema_of
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS


class Replayed:
    """Answers the questions of `ask_all` with the noisy numbers of a release; keeps what each question would cost."""

    def __init__(self, release: Release) -> None:
        self._groups, self._receipt = release.groups, release.manifest.receipt
        self._universe = sequence_schema_of(release.manifest).universe
        self.max_records = self._receipt.unit.max_records
        self._left = {"all": self._receipt.epsilon_nano}
        self._asked: dict[str, list[tuple[str, int, int]]] = {"all": []}
        self._accuracy = release.manifest.accuracy

    @property
    def paths_taken(self) -> tuple[int, int]:
        """The kinds of path of short and of long sequences."""
        paths = [path.path for path in self._receipt.paths]
        return (paths[0], paths[0]) if len(paths) == 1 else (self._path_of("short"), self._path_of("long"))

    def _path_of(self, part: str) -> int:
        return next(path.path for path in self._receipt.paths if _plain(path.charges) == self._asked[part])

    def receipts(self) -> list[list[tuple[str, int, int]]]:
        """What each kind of path paid for."""
        return sorted(_plain(path.charges) for path in self._receipt.paths)

    def asked(self) -> list[list[tuple[str, int, int]]]:
        """What the noisy numbers say that each kind of path should have paid for."""
        return sorted(self._asked.values())

    def left(self, part: str) -> int:
        return self._left[part]

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        """The share that the release states; verify.py checks whether it is right."""
        measured = self._accuracy
        if measured is None or not measured.bought:
            return Fraction(0)
        if measured.noisy_records != noisy_records:
            raise VerifyError("the accuracy was decided by another number of records than the noisy lengths give")
        price = whole * measured.share.numerator // measured.share.denominator
        self._left["all"] -= price
        self._asked["all"].append((WHY, price, self.max_records))
        return measured.share

    def divide(self, longest: int) -> None:  # noqa: ARG002
        self._left = dict.fromkeys(("short", "long"), self._left["all"])
        self._asked = {part: [*self._asked["all"]] for part in ("short", "long")}

    def lengths(self, edges: Ints, price: int) -> Noisy:
        return self._dense("all", "lengths", ["lengths"], len(edges), price, 1)

    def paths(self, part: str, longest: int, price: int) -> Noisy:
        cells = sum(self._universe.size**length for length in range(1, longest + 1))
        return self._dense(part, "paths", ["paths"], cells, price, 1)

    def ends(self, part: str, classes: tuple[int, ...], weights: tuple[int, int, int], price: int) -> Noisy:
        cells = (len(classes) + 1) * self._universe.size
        den = self._pay(part, "ends", price, PARTS)
        tables = [
            self._rows(name) if weight else np.zeros(cells, np.int64)
            for name, weight in zip(ENDS, weights, strict=True)
        ]
        if any(len(table) != cells for table in tables):
            raise VerifyError("the groups do not have the numbers of first and last symbols")
        return Noisy(np.concatenate(tables).reshape(1, -1), np.array([price]), den)

    def strings(self, part: str, order: int, classes: tuple[int, ...], price: int, again: bool) -> Noisy:
        cells = (len(classes) + 1) * (self._universe.size + 1) ** order
        return self._dense(part, name_of(order), [_name(order, again)], cells, price, PARTS)

    def listed(
        self, part: str, order: int, classes: tuple[int, ...], always: Ints, at_least: int, price: int, again: bool
    ) -> NoisyCells:
        den, size = self._pay(part, name_of(order), price, PARTS), self._universe.size
        rows = self._groups.filter(self._groups["question"] == _name(order, again))
        cells = np.searchsorted(np.array(classes, dtype=np.int64), rows["length"].to_numpy(), side="right")
        cells = cells.astype(np.int64) if order == 2 else np.zeros(len(rows), np.int64)
        for place in range(order):
            code = self._universe.encode(rows["symbols"].list.get(place)).astype(np.int64)
            cells = cells * (size + 1) + np.where(code < 0, size, code)
        value = rows["noisy"].to_numpy()
        if not (np.diff(cells) > 0).all() or not np.isin(always, cells).all():
            raise VerifyError("the strings are not in order, or one that is always given is not listed")
        if (value[~np.isin(cells, always)] < at_least).any():
            raise VerifyError("a string below the threshold is listed")
        return NoisyCells(np.zeros_like(cells), cells, value, np.array([price]), den, np.array([at_least]))

    def distance(self, part: str, order: int, cells: Ints, expected: Ints, price: int) -> Noisy:  # noqa: ARG002
        return self._dense(part, "test", [f"test of {order}"], 1, price, PARTS)

    def _dense(self, part: str, question: str, names: list[str], number: int, price: int, sensitivity: int) -> Noisy:
        den = self._pay(part, question, price, sensitivity)
        value = np.concatenate([self._rows(name) for name in names])
        if len(value) != number:
            raise VerifyError(f"the groups do not have the {number} numbers of the question about {PAID[question]}")
        return Noisy(value.reshape(1, -1), np.array([price]), den)

    def _rows(self, name: str) -> Ints:
        return self._groups.filter(self._groups["question"] == name)["noisy"].to_numpy()

    def _pay(self, part: str, question: str, price: int, sensitivity: int) -> int:
        self._left[part] -= price
        self._asked[part].append((PAID[question], price, sensitivity * self.max_records))
        return sensitivity * self.max_records * NANO


def _name(order: int, again: bool) -> str:
    return f"strings of {order}" + (", again" if again else "")


def _plain(charges: object) -> list[tuple[str, int, int]]:
    return [(charge.why, charge.epsilon_nano, charge.sensitivity) for charge in charges]  # type: ignore[attr-defined]
