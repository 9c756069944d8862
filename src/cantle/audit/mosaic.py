"""Exact audits of mosaic's questions: small scripts that ask them through the shipped `Questions`.

A whole run of mosaic cannot be enumerated: its shares are not whole units, and it asks too much. Instead, each script
asks a few questions as the method does, in the same order, later ones depending on earlier answers, at prices in whole
units. All answers are part of the output. The dependence on a hub is scored in steps of 1/2 instead of 1/1024 (`SCALE`
is 2), and items of lists in parts of 1/2 (`PARTS` is 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.audit.exact import Constant, Script, Scripted, Table
from cantle.methods.mosaic.questions import CandidateTables, Questions, SpikeSearch
from cantle.trusted.claims import table_candidates
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable, LabelTree
from cantle.trusted.geometry.value_classes import ValueClasses

Answers = list[object]


@dataclass(frozen=True, eq=False)
class MosaicConfig(Scripted):
    """A script of questions over columns of a few values each."""

    quick: int = 0

    def changed(self) -> Iterator[Constant]:
        yield table_candidates, "SCALE", 2
        yield item_partitions, "PARTS", 2

    def source(self, table: Table) -> WordEngine:
        return WordEngine([self.batch(table)], sizes=self.sizes, class_count=1)

    def questions(self, curator: Curator) -> Questions:
        return Questions(curator)


def _units(number: int) -> Fraction:
    return Fraction(number)


def _table(*columns: int, groups: int = 2) -> CrossTable:
    """A cross table of these columns, each with `groups` cells that are a group each."""
    return CrossTable(columns, tuple(np.arange(groups, dtype=np.uint8) for _ in columns))


HALVES: Ints = np.arange(3)
"""The cells of a column of two values."""

TABLES = (_table(0, 1), _table(0), _table(1))


# ---- scripts --------------------------------------------------------------------------------------------------


def _three_tables(questions: Questions, last: Callable[[], None]) -> Answers:
    """Three cross tables in one question."""
    questions.set_cells([HALVES] * 2)
    last()
    return [part.tolist() for part in questions.cross_tables(TABLES, _units(3))]


def _choose_against_noisy_tables(share: Fraction, seed: int = 0) -> Script:
    """A script that chooses one of three tables by its distance from a model made of the noisy one-way tables.

    The size pays 1 unit, both one-way tables 2 together, the choice 2, the chosen table 1.
    """

    def script(questions: Questions, last: Callable[[], None]) -> Answers:
        questions.set_cells([HALVES] * 2)
        size = questions.size(_units(1))
        one, two = questions.cross_tables(TABLES[1:], _units(2))
        models = (np.outer(one, two).reshape(-1) * size, one, two)
        candidates = CandidateTables(TABLES, models, np.array([1, 0, 0]), share, seed)
        chosen = questions.choose_table(candidates, np.arange(3), _units(2))
        last()
        questions.cross_tables([TABLES[chosen]], _units(1))
        return [size, one.tolist(), two.tolist(), chosen]

    return script


EVEN = ValueClasses(0, (1, 2))
SEARCHES = (SpikeSearch(0, 4, EVEN, (1, 2), (3,)), SpikeSearch(1, 2, ValueClasses(0, (1,)), (1,)))


def _spikes(questions: Questions, last: Callable[[], None]) -> Answers:
    """A search for frequent values in two columns, whose draws are recorded."""
    last()
    return [part.tolist() for answer in questions.spikes(SEARCHES, _units(2)) for part in answer]


def _spikes_shown(questions: Questions, last: Callable[[], None]) -> Answers:  # noqa: ARG001
    """A search for frequent values in one column, whose draws are enumerated."""
    return [part.tolist() for answer in questions.spikes(SEARCHES[1:], _units(1)) for part in answer]


def _heaviest(questions: Questions, last: Callable[[], None]) -> Answers:  # noqa: ARG001
    """The choice of one frequent value."""
    return [questions.heaviest(SEARCHES, 1, _units(1))]


def _hub(questions: Questions, last: Callable[[], None]) -> Answers:  # noqa: ARG001
    """The choice of a hub column."""
    questions.set_cells([HALVES] * 3)
    return [questions.hub((0, 1, 2), _units(8))]


def _label(questions: Questions, last: Callable[[], None]) -> Answers:
    """Counts of the classes in both leaves of a tree of one cut."""
    questions.set_cells([HALVES] * 2)
    nothing = np.zeros(0, dtype=np.bool_)
    tree = LabelTree(
        np.array([0, -1, -1]),
        (np.array([True, False]), nothing, nothing),
        np.array([1, -1, -1]),
        np.array([2, -1, -1]),
        np.array([-1, 1, 0]),
    )
    last()
    questions.label_counts(tree, 1, 2, _units(1))
    return []


def _list(questions: Questions, last: Callable[[], None]) -> Answers:
    """The sizes of lists of two items, their pairs, and the items by a third column. A count has two parts."""
    questions.set_cells([HALVES] * 3)
    sizes = questions.list_sizes((0, 1), (0, 1, 2), _units(1))
    last()
    questions.item_parts((0, 1), None, 1, _units(2))
    questions.item_parts((0, 1), _table(2), 1, _units(2), "by a column")
    return [sizes.tolist()]


BY_COLUMNS = (_table(2), _table(3))
"""The tables of items by one of two columns."""


def _list_column(questions: Questions, last: Callable[[], None]) -> Answers:
    """The choice of one of two columns by which the items of lists depart most from noisy counts, then its counts."""
    questions.set_cells([HALVES] * 4)
    noisy = questions.item_parts((0, 1), None, 1, _units(2), "items")
    models = [np.repeat(4 * noisy.clip(0), 2), np.zeros(4, np.int64)]
    chosen = questions.choose_column((0, 1), BY_COLUMNS, 1, models, np.array([1, 0]), _units(4))
    last()
    questions.item_parts((0, 1), BY_COLUMNS[chosen], 1, _units(2), "by a column")
    return [noisy.tolist(), chosen]


# ---- the list -------------------------------------------------------------------------------------------------

THREE = MosaicConfig("mosaic: three cross tables", (2, 2), {}, 3, script=_three_tables, tight=True)
CHOICE = MosaicConfig(
    "mosaic: a table chosen against noisy ones", (2, 2), {}, 6, script=_choose_against_noisy_tables(Fraction(1)),
    records=2,
)  # fmt: skip
SUBSET = MosaicConfig(
    "mosaic: a table chosen on a subset", (2, 2), {}, 6, script=_choose_against_noisy_tables(Fraction(1, 2), 5),
    records=1,
)  # fmt: skip
SPIKES = MosaicConfig("mosaic: frequent values of two columns", (4, 2), {}, 2, script=_spikes, records=2, tight=True)
LIST = MosaicConfig("mosaic: items of a list", (2, 2, 2), {}, 5, script=_list, records=2, tight=True)
LIST_COLUMN = MosaicConfig("mosaic: a column for items of a list", (2,) * 4, {}, 8, script=_list_column, records=1)
HEAVIEST = MosaicConfig("mosaic: one frequent value", (4, 2), {}, 1, script=_heaviest, records=2)

MOSAIC_CONFIGS: tuple[MosaicConfig, ...] = (
    THREE,
    CHOICE,
    SUBSET,
    SPIKES,
    LIST,
    LIST_COLUMN,
    MosaicConfig("mosaic: frequent values, shown", (4, 2), {}, 1, script=_spikes_shown, window=(0, 2), records=2,
                 tight=True),
    HEAVIEST,
    MosaicConfig("mosaic: a hub", (2, 2, 2), {}, 8, script=_hub, records=2, quick=1),
    MosaicConfig("mosaic: leaves by class", (2, 2), {}, 1, script=_label, tight=True),
    MosaicConfig("mosaic: a person of two records, three tables", (2, 2), {}, 3, script=_three_tables, unit=2,
                 records=2, tight=True),
)  # fmt: skip
