"""NOT PRIVATE, on purpose: known ways to get mosaic's questions wrong, to show that the audit catches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from cantle.audit import mosaic as configs
from cantle.audit.exact import Breakage, Table, replaced
from cantle.methods.mosaic.questions import CandidateTables, Questions
from cantle.trusted.claims.table_candidates import HeavyValues, TableSets, _ScoredValues
from cantle.trusted.claims.table_queries import CrossTables, Spikes, counted
from cantle.trusted.counting import list_counts, words
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.subset import Subset
from cantle_lab.mutants.patches import INFINITE, Call, inside, instead, variant


def _exact_tables(questions: Questions, candidates: CandidateTables) -> list[Ints]:
    """The exact counts of the candidates, read without the curator."""
    engine = inside(questions._curator, "engine")
    exact_counts, starts = counted(engine, CrossTables(questions.within, candidates.tables), candidates.tables)
    return np.split(exact_counts, starts[1:])


@variant
def _model_of_the_data(
    original: Call, self: Questions, candidates: CandidateTables, surviving: Ints, price: Fraction
) -> int:
    """The model of the first table is eight times its exact counts."""
    models = (8 * _exact_tables(self, candidates)[0], *candidates.models[1:])
    return original(self, replace(candidates, models=models), surviving, price)


@variant
def _pruned(original: Call, self: Questions, candidates: CandidateTables, surviving: Ints, price: Fraction) -> int:
    """Tables whose exact counts are all below 2 are no candidates."""
    large = np.array([counts.max() >= 2 for counts in _exact_tables(self, candidates)])[surviving]
    return original(self, candidates, surviving[large] if large.any() else surviving, price)


def _one_left_out(original: Callable[..., int]) -> Callable[..., int]:
    return lambda self, unit: original(self, unit) - unit.max_records


@variant
def _observed_values(original: Call, self: HeavyValues, *asked: object) -> Iterator[_ScoredValues]:
    """Only "none" and the values that occur in the data are candidates."""
    for scored in original(self, *asked):
        kept = (scored.code >= 0) | (scored.search < 0)
        rows = {"scores", "inverse_weights", "many", "search", "number", "code"}
        yield replace(scored, starts=np.array([0, kept.sum()]), **{row: getattr(scored, row)[kept] for row in rows})


@contextmanager
def _by_position() -> Iterator[None]:
    """Whether a record takes part depends on its position in the input."""

    def places(records: npt.NDArray[np.uint64]) -> Ints:
        return np.arange(records.shape[1])

    def takes_part(_self: Subset, _columns: object, copy: Ints) -> Bools:
        return copy % 2 == 0

    with ExitStack() as stack:
        stack.enter_context(replaced(words, "copy_numbers", places))
        stack.enter_context(replaced(Subset, "takes_part", takes_part))
        yield


@variant
def _whole(original: Call, size: Ints, most: int) -> Ints:
    """Every item of a record counts in full, however many it holds."""
    return np.full_like(original(size, most), item_partitions.PARTS)


def _one(original: object) -> property:  # noqa: ARG001
    return property(lambda _self: 1)


# ---- the table ------------------------------------------------------------------------------------------------------

_TWICE: Table = ((0, 0, 0),) * 2
_SHIFTED: Table = (*((0, 0, 0),) * 4, (0, 1, 0), (1, 0, 0))
"""A record that is added before the others changes whether each later one takes part."""

MOSAIC_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("mosaic: one table left out of the sensitivity", "Claim 41", configs.THREE, (), (0, 0, 0),
             4.5, instead(CrossTables, "sensitivity", _one_left_out)),
    Breakage("mosaic: one column left out of the sensitivity of spikes", "Claim 44", configs.SPIKES, (), (0, 0, 0),
             4.0, instead(Spikes, "sensitivity", _one_left_out)),
    Breakage("mosaic: a model that saw the data", "Claim 45: a public model", configs.CHOICE, _TWICE * 4, (1, 1, 0),
             6.1, instead(Questions, "choose_table", _model_of_the_data)),
    Breakage("mosaic: candidates pruned by exact counts", "2.1: public candidates", configs.CHOICE, ((0, 0, 0),),
             (0, 1, 0), INFINITE, instead(Questions, "choose_table", _pruned)),
    Breakage("mosaic: a subset by position", "Claim 46: by codes and copy number", configs.SUBSET, _SHIFTED,
             (0, 0, 0), 6.7, _by_position),
    Breakage("mosaic: only values that occur", "2.1: public candidates", configs.HEAVIEST, (), (0, 0, 0),
             INFINITE, instead(HeavyValues, "exact_scores", _observed_values)),
    Breakage("mosaic: a whole count for every item of a list", "Claim 72: parts", configs.LIST, (), (1, 1, 0, 0),
             7.0, instead(list_counts, "item_parts", _whole)),
    Breakage("mosaic: a column for items chosen at the range of a table", "Claim 73: the range of parts",
             configs.LIST_COLUMN, (), (1, 0, 1, 0, 0), 8.1, instead(TableSets, "margin", _one)),
)  # fmt: skip
