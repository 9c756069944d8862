"""A rehearsal: a run on made-up records with known noise, which says what a partitioning would ask, and its errors.

It is made for plans, and before a ledger is charged. It sees no data, so its result depends on public values alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cantle.drawing.counts import public_dice
from cantle.trusted.core.budget import Budget, ReceiptFields, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.noise import Seeded

if TYPE_CHECKING:
    from cantle.framework.run import PartitioningRun

RECORDS = 2000
SEED = 20


def rehearse(
    planned: PartitioningRun, epsilon_nano: int, max_records: int, records: int = RECORDS, crowded: float = 0.5
) -> tuple[PartitioningRun, ReceiptFields]:
    """A finished run, and its receipt. A share of the records lie in one point, so that one path gets deep; the others
    are spread evenly."""
    run, dice = planned.again(), public_dice(SEED)
    columns = []
    for size in run.sizes:
        codes = dice.integers(0, size, records)
        codes[: int(records * crowded)] = dice.integers(0, size)
        columns.append(codes)
    engine = WordEngine([(columns, dice.integers(0, run.classes, records))], sizes=run.sizes, class_count=run.classes)
    with Curator(engine, Budget(epsilon_nano, Unit(max_records)), Seeded(SEED)) as curator:
        run.run(curator)
        return run, curator.seal()
