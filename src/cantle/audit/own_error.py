"""Exact audits of the measurement of a release's own error: whole runs of rps and diffpart, through the shipped code.

All answers before the last are enumerated. Records are drawn from them with a public seed, and questions about these
records are drawn as in any release. The noise of the last answer is recorded instead of enumerated, because nothing
depends on it. Two public rules differ from the shipped ones: there are two questions about one column and about each
pair, and the error is measured however few records there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Config, Constant, Detail, Shown, Table, shown
from cantle.audit.sets import SetConfig
from cantle.drawing.counts import public_dice
from cantle.drawing.records import Results
from cantle.methods import own_accuracy
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.methods.own_error import set_workload, table_workload
from cantle.methods.rps.method import RPS
from cantle.trusted.core.curator import Curator

SEED = 3
"""The seed of the public dice."""


FEW: tuple[Constant, ...] = (
    (table_workload, "QUESTIONS", 2),
    (table_workload, "RECTANGLES", 2),
    (set_workload, "TRIPLES", 1),
    (own_accuracy, "affordable", lambda *_, **__: 3),
)
"""Workloads have few questions, and the error is always measured."""


def measured(own: OwnAccuracy, curator: Curator, results: Results, noise: Enumerating) -> str:
    """Asks the last question, whose draws are recorded, and returns the rest of the answer as text."""
    noise.closed = lambda _lanes: True
    accuracy = own.measure(curator, results, SEED)
    assert accuracy is not None
    return f"{accuracy.workload} {[one.rate for one in accuracy.numbers()]}"


@dataclass(frozen=True, eq=False)
class OwnErrorConfig(Config):
    """A run of rps with its leaves enumerated, then the measurement of its own error."""

    quick: int = 0

    def changed(self) -> Iterable[Constant]:
        return FEW

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        method = RPS(self.domain(), preset=self.preset, **self.settings)
        with Curator(self.engine(table, method, detail.chunk_cells), self.budget, noise) as curator:
            method.run(curator)
            line = measured(method.own_accuracy, curator, method.results(public_dice(SEED)), noise)
            lines, cells = shown(method, noise, curator.seal(), leaves=True)
        return (*lines, line), cells


@dataclass(frozen=True, eq=False)
class OwnErrorOfSets(SetConfig):
    """A run of diffpart with all sets counted at once, then the measurement of its own error."""

    quick: int = 0

    def changed(self) -> Iterable[Constant]:
        return FEW

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:  # noqa: ARG002 - all draws but the last
        method = DiffPart(self.schema, preset=self.preset, **self.settings)
        with Curator(self.sets(table, method), self.budget, noise) as curator:
            method.run(curator)
            line = measured(method.own_accuracy, curator, method.results(public_dice(SEED)), noise)
            assert method.noisy is not None
            return (line, f"{method.noisy.value.tolist()}", f"receipt {curator.seal()}"), ()


def _bare(**given: object) -> dict[str, object]:
    """Settings of a tree of one cut in the middle, overridden by those given; the error gets a quarter of the budget
    and the leaves the rest."""
    plain = {"attributes": "midpoint", "depth": 1, "oneway_share": 0, "count_share": 0, "records": 9}
    return plain | {"values": "low", "consistency": False, "accuracy_share": "1/4"} | given


ONE_NUMBER = OwnErrorConfig("own error: one column", (2,), _bare(), 4, window=(0, 4), records=1, tight=True)
"""Leaves pay 3 units, own error 1."""

TWO_NUMBERS = OwnErrorConfig("own error: two numbers", (2, 2), _bare(), 4, window=(0, 3), records=1)

THREE_VALUES = OwnErrorConfig("own error: three values", (3,), _bare(depth=2), 4, window=(0, 3), records=0)

OF_SETS = OwnErrorOfSets("own error: sets", (2,), {"accuracy_share": "1/100"}, 100, window=(0, 2), records=1)
"""The number of records pays 1 unit, own error 1, all sets 98."""

OWN_ERROR_CONFIGS: tuple[Config, ...] = (
    ONE_NUMBER,
    TWO_NUMBERS,
    THREE_VALUES,
    OwnErrorConfig("own error: a person of two records", (2,), _bare(), 8, window=(0, 3), unit=2, records=1),
    OwnErrorConfig("own error: a class beside the columns", (2,), _bare(), 4, 2, window=(0, 2), records=1),
    OF_SETS,
)
