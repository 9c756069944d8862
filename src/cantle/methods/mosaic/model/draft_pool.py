"""Drafted records, whose weights change with every measured table; the candidates of a round are compared with them.

Without new weights, a set that contains a strong pair already measured would still look badly fitted, and be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable, count_tables


class DraftPool:
    """Drafted records (cells by column) and their weights."""

    def __init__(self, cells: Sequence[Codes], total: float) -> None:
        self._cells = np.stack([part.astype(np.uint16) for part in cells])
        self._weights = np.full(self._cells.shape[1], 1.0)
        self._total = total

    def models(self, tables: Sequence[CrossTable], share: float) -> tuple[Ints, ...]:
        """The number of records, rounded, that the draft expects in each cell of the tables."""
        size = self._cells.shape[1]
        running = np.cumsum(self._weights)
        points = (np.arange(size) + 0.5) * (running[-1] / size)
        pool = np.ascontiguousarray(self._cells[:, np.searchsorted(running, points)])
        scale = self._total / size * share
        counts = np.rint(count_tables(pool, tables) * scale).astype(np.int64)
        return tuple(np.split(counts, np.cumsum([table.cells for table in tables])[:-1]))

    def learn(self, question: CrossTable, answer: NoisyTable) -> None:
        """Multiplies the weights so that the draft agrees with a noisy table; cells of few records change less."""
        index = np.zeros(self._cells.shape[1], dtype=np.int64)
        for column, map_, groups in zip(question.columns, question.maps, question.shape, strict=True):
            index = index * groups + map_[self._cells[column]]
        expected = np.bincount(index, self._weights, minlength=question.cells)
        expected *= self._total / expected.sum()
        measured = answer.projected(self._total)
        noise = answer.variance**0.5
        self._weights *= ((measured + noise) / (expected + noise))[index]
