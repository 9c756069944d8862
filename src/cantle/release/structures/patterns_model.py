"""The released numbers of sizes, items and pairs as answers to the questions that were asked, so that all that follows
from them can be computed again.

Every plan of the method (bins, items per record, head, pairs, thresholds) and every price follows from earlier answers
by a public rule, so all of them can be computed again from the noisy numbers (cantle.methods.baskets.model.questions).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cantle.errors import VerifyError
from cantle.methods.baskets.model.pair_plan import PairPlan, pair_cells
from cantle.methods.baskets.model.questions import PAID, Answers, Terms, ask_all
from cantle.methods.baskets.model.synthesis import Measured
from cantle.methods.baskets.results import DOUBLES, item_questions
from cantle.methods.own_error.accuracy import WHY
from cantle.release import Release
from cantle.release.load import set_schema_of, universe_of
from cantle.release.manifest import Manifest
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.set_parts import PARTS

if TYPE_CHECKING:
    import polars as pl


class Released:
    """Answers the questions of `ask_all` with the noisy numbers of a release; keeps what each question would cost."""

    def __init__(self, manifest: Manifest, groups: pl.DataFrame) -> None:
        self._groups, self._universe = groups, universe_of(manifest)
        self.left, self.max_records = manifest.receipt.epsilon_nano, manifest.receipt.unit.max_records
        self.asked: list[tuple[str, int, int]] = []
        self._accuracy = manifest.accuracy

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        """The share that the release states; verify_accuracy.py checks whether it is right."""
        measured = self._accuracy
        if measured is None or not measured.bought:
            return Fraction(0)
        if measured.noisy_records != noisy_records:
            raise VerifyError("the accuracy was decided by another number of records than the noisy sizes give")
        price = whole * measured.share.numerator // measured.share.denominator
        self.left -= price
        self.asked.append((WHY, price, self.max_records))
        return measured.share

    def set_sizes(self, edges: Ints, price: int) -> Noisy:
        return self._dense("sizes", ("sizes",), len(edges), price, 1)

    def item_supports(self, most: int, strata: bool, singles: bool, price: int) -> Noisy:
        names, size = item_questions(strata, singles), self._universe.size
        return self._dense("items", names, size * len(names), price, most * PARTS)

    def head_patterns(self, items: Ints, price: int) -> Noisy:
        return self._dense("head", ("head",), 1 << len(items), price, 1)

    def pair_supports(self, plan: PairPlan, price: int) -> NoisyCells:
        den = self._pay("pairs", price, plan.most * PARTS)
        strata = [self._pairs(name, plan) for name in ((DOUBLES, "pairs") if plan.doubles else ("pairs",))]
        cells = np.concatenate([cells + stratum * plan.pairs for stratum, (cells, _) in enumerate(strata)])
        value = np.concatenate([value for _, value in strata])
        if not np.isin(plan.always, cells).all() or (value[~np.isin(cells, plan.always)] < plan.at_least).any():
            raise VerifyError("a pair below the threshold is listed, or one that is always given is not")
        return NoisyCells(np.zeros_like(cells), cells, value, np.array([price]), den, np.array([plan.at_least]))

    def _pairs(self, name: str, plan: PairPlan) -> tuple[Ints, Ints]:
        """The cells of one stratum of pairs, and their noisy values."""
        rows = self._rows((name,))
        codes = self._universe.encode(rows["items"].explode(empty_as_null=False))
        place = np.searchsorted(plan.items, codes.astype(np.int64))
        if len(codes) != 2 * len(rows) or not np.array_equal(np.append(plan.items, -1)[place], codes):
            raise VerifyError("a pair is not one of the items that were paired")
        cells = pair_cells(place[::2], place[1::2])
        if not (np.diff(cells) > 0).all() or not (place[::2] < place[1::2]).all():
            raise VerifyError("the pairs are not in order, each listed once")
        return cells, rows["noisy"].to_numpy()

    def _dense(self, question: str, names: tuple[str, ...], number: int, price: int, sensitivity: int) -> Noisy:
        den = self._pay(question, price, sensitivity)
        value = self._rows(names)["noisy"].to_numpy()
        if len(value) != number:
            raise VerifyError(f"the groups do not have the {number} numbers of the question about {PAID[question]}")
        return Noisy(value.reshape(1, -1), np.array([price]), den)

    def _pay(self, question: str, price: int, sensitivity: int) -> int:
        self.left -= price
        self.asked.append((PAID[question], price, sensitivity * self.max_records))
        return sensitivity * self.max_records * NANO

    def _rows(self, names: tuple[str, ...]) -> pl.DataFrame:
        import polars as pl

        return self._groups.filter(pl.col("question").is_in(names))


def answers_of(release: Release) -> tuple[Released, Answers, Measured]:
    """The answers, and what is fitted to them, computed again."""
    manifest = release.manifest
    released = Released(manifest, release.groups)
    terms = Terms.of(set_schema_of(manifest), pairs=manifest.parameters["pairs"] == "on")
    return released, *ask_all(released, terms)
