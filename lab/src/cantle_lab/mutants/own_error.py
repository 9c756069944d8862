"""NOT PRIVATE, on purpose: known ways to get a release's own error wrong, to show that the audit catches them."""

from __future__ import annotations

import numpy as np

from cantle.audit.exact import Breakage
from cantle.audit.own_error import ONE_NUMBER, THREE_VALUES, TWO_NUMBERS
from cantle.trusted.claims.own_error import PERCENT, OwnError, ranked, weighted_errors
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.base import TableEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.workloads import TableWorkload
from cantle_lab.mutants.patches import Call, inside, instead, run_of, variant


@variant
def _chosen_from_the_data(_original: Call, self: OwnError, engine: TableEngine) -> Ints:
    """Only questions with an exact count above 0 are compared."""
    assert isinstance(self.workload, TableWorkload)
    tables, rectangles = self.workload.tables, self.workload.rectangles
    exact_counts = rectangles.counts(tables, engine.count_all(self.workload))
    errors = weighted_errors(exact_counts, rectangles.counts(tables, self.released), rectangles.weights)
    kept = exact_counts > 0 if exact_counts.any() else np.ones(len(exact_counts), dtype=np.bool_)
    return np.array([ranked(errors[kept], PERCENT)], dtype=np.int64)


@variant
def _charged_at_one_over_q(original: Call, self: Curator, workload: TableWorkload, released: Ints) -> Noisy:
    """The quantile is treated like a mean of Q questions, so that its noise is Q times too small."""
    questions = len(workload.rectangles)
    run_of(self).reserved = inside(self, "reserved") * questions
    noisy = original(self, workload, released)
    return Noisy(noisy.value, noisy.rate_num // questions, noisy.rate_den)


@variant
def _one_charge_for_all(_original: Call, _self: OwnError, unit: Unit) -> int:
    """Each of several numbers gets the noise that one number alone would need."""
    return unit.max_records


@variant
def _never_charged(_original: Call, self: Curator, _root: Frontier, epsilon: int, **_: str) -> None:
    """The price is reserved, but no path pays it."""
    inside(self, "engine").keep_all()
    run_of(self).reserved = int(epsilon)


OWN_ERROR_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("own error: a workload chosen from the data", "Claim 55b: public questions", THREE_VALUES,
             ((0, 0),), (2, 0), 5.0, instead(OwnError, "exact_numbers", _chosen_from_the_data)),
    Breakage("own error: a quantile charged at 1/Q", "Claim 55b: sensitivity 1", ONE_NUMBER,
             ((0, 0),), (0, 0), 4.5, instead(Curator, "own_error", _charged_at_one_over_q)),
    Breakage("own error: one charge for two numbers", "Claim 57: sensitivity K", TWO_NUMBERS,
             (), (0, 0, 0), 4.5, instead(OwnError, "sensitivity", _one_charge_for_all)),
    Breakage("own error: reserved and never charged", "Claim 58: charged at the root", ONE_NUMBER,
             ((0, 0),), (0, 0), 4.5, instead(Curator, "reserve", _never_charged)),
)  # fmt: skip
