"""The target drawn last, from a model fitted to all tables with it and to the leaves of a label tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cantle import kernel_choice
from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic.model import label_classes, label_fit
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.label_fit import Block, Sums
from cantle.methods.mosaic.model.label_tree import label_tree
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import LabelTree

DRAFT = 15_000
"""Number of drafted records that the model is fitted on."""

SLICE = 1 << 18
"""Records whose labels are computed together."""

COMPILED_FROM = 2_000


def _sums(records: int) -> Sums:
    if kernel_choice.worth_loading(records, COMPILED_FROM):
        from cantle.methods.mosaic.model import _label_kernels

        return _label_kernels
    return label_fit


@dataclass
class Labels:
    """The model of the target in one release: it is fitted, gives a label tree to be counted, and draws labels.

    `shares` are those of the classes; `chosen` are tables with the target, all classes apart.
    """

    columns: Sequence[Column]
    groupings: Sequence[Groupings]
    target: int
    class_tables: Mapping[int, NoisyTable]
    chosen: Sequence[NoisyTable]
    shares: Floats

    def __post_init__(self) -> None:
        self.class_tables = {n: table for n, table in self.class_tables.items() if self.groupings[n].cells > 1}
        self.chosen = [self._target_last(table) for table in self.chosen]
        self._draft: list[Codes] = []

    def _target_last(self, table: NoisyTable) -> NoisyTable:
        order = [a for a, c in enumerate(table.columns) if c != self.target] + [table.columns.index(self.target)]
        columns, groups = (tuple(part[a] for a in order) for part in (table.columns, table.groups))
        empty = None if table.empty is None else table.empty.transpose(order)
        return NoisyTable(columns, groups, table.counts.transpose(order), table.variance, empty)

    def tree(self, cells: Sequence[Codes], leaves: int) -> LabelTree:
        """The public tree whose leaves are to be counted by class."""
        rows = self._fit_tables(cells)
        sums = _sums(len(self._draft[0]))
        soft = self._first.probability(label_fit.stack(rows, self._first.starts), sums)
        others = [n for n in range(len(cells)) if n != self.target]
        tree = label_tree(
            [self._draft[n] for n in others],
            [self.groupings[n].cells for n in others],
            [self.columns[n].numeric for n in others],
            soft,
            leaves,
        )
        column = np.where(tree.column < 0, -1, np.array(others)[tree.column])
        return LabelTree(column, tree.goes_left, tree.left, tree.right, tree.leaf)

    def redraw(self, cells: Sequence[Codes], tree: LabelTree, noisy: Ints, variance: float, dice: Dice) -> Codes:
        """New labels for all records, after the leaves were counted; the tree may be that of a release."""
        if not self._draft:
            self._fit_tables(cells)
        sums = _sums(len(cells[0]))
        block = Block(tree.locate(self._draft), noisy.astype(np.float64), variance, (), label_fit.JOINT)
        final = label_classes.fit([*self._blocks, block], sums, self._first)
        records = len(cells[0])
        probability = np.empty((len(self.shares), records))
        for first in range(0, records, SLICE):
            part = [column[first : first + SLICE] for column in cells]
            rows = label_fit.stack([*self._rows(part), tree.locate(part)], final.starts)
            probability[:, first : first + SLICE] = final.probability(rows, sums)
        return label_classes.redraw(probability, self.shares, dice)

    def _fit_tables(self, cells: Sequence[Codes]) -> list[Codes]:
        """Fits the model to the tables alone; returns the drafted records' cells in them."""
        self._draft = [part[:DRAFT] for part in cells]
        rows = self._rows(self._draft)
        self._blocks = self._table_blocks(rows)
        self._first = label_classes.fit(self._blocks, _sums(len(self._draft[0])))
        return rows

    def _rows(self, cells: Sequence[Codes]) -> list[Codes]:
        """The cell of each record in every table with the target."""
        rows = [cells[number] for number in self.class_tables]
        for table in self.chosen:
            index: Codes = np.zeros(1, dtype=np.uint32)
            for column, groups in zip(table.columns[:-1], table.groups[:-1], strict=True):
                index = index * groups + self.groupings[column].map(groups).astype(np.uint32)[cells[column]]
            rows.append(index)
        return rows

    def _table_blocks(self, rows: Sequence[Codes]) -> list[Block]:
        blocks = []
        for (number, table), row in zip(self.class_tables.items(), rows, strict=False):
            grouping = self.groupings[number]
            levels = tuple(
                (grouping.map(groups).astype(np.int64), variance)
                for groups, variance in label_fit.COLUMN_LEVELS
                if groups < grouping.cells
            )
            blocks.append(Block(row, table.counts, table.variance, levels, label_fit.COLUMN_CELLS))
        for table, row in zip(self.chosen, rows[len(self.class_tables) :], strict=True):
            blocks.append(Block(row, table.counts.reshape(-1, len(self.shares)), table.variance, (), label_fit.JOINT))
        return blocks
