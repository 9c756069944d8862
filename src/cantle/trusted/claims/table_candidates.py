"""Candidates of `mosaic`: tables, frequent values and hub columns; and their scores, each with its range and a proof.

As in scores.py, claims hold for up to 2^52 records. tests/laws/test_table_candidates.py checks them by brute force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.claims.cut_candidates import Chosen, Scored
from cantle.trusted.claims.list_queries import PartsOfLists
from cantle.trusted.claims.scores import SCALE
from cantle.trusted.claims.table_queries import CrossTables, ValueSearch, are_searches, counted
from cantle.trusted.claims.views import ViewTables
from cantle.trusted.core.keys import Domain, are_ints, are_rising, are_whole_cells, is_whole
from cantle.trusted.counting.base import Counted, TableEngine
from cantle.trusted.geometry.boxes import Frontier, Ints, is_int64_array
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, are_tables

MOST_MODEL, MOST_PENALTY = 1 << 52, 1 << 60
"""Largest entry of a model (a model adds up to less than 2^60) and largest penalty: every score fits 64 bits."""

MOST_TOGETHER = 1 << 22
"""Most counts of the tables of hubs that the engine counts together."""


# ---- the distance of a table from a model -------------------------------------------------------------------------


@dataclass(frozen=True)
class Distance:
    """sum over cells of |count - model| - penalty, model and penalty public whole numbers.

    Claim 45. Range 2: each record adds 1 to one count of each table, so |count - model| changes by 1 one way or the
    other and the penalty not at all; every score changes by exactly 1 or -1. Not monotone. With n <= 2^52 records,
    models that add up to less than 2^60 and penalties up to 2^60, 64 bits hold every score.
    """

    @property
    def range(self) -> int:
        return 2

    def scores(self, counted: Counted, models: Sequence[Ints], penalties: Ints) -> Ints:
        counts, starts = counted
        # Models must be as long as the counted tables, so that no count is compared with the model of another table.
        if [len(model) for model in models] != np.diff(starts, append=len(counts)).tolist():
            raise ParameterError("a model needs one number per cell of its table")
        return np.add.reduceat(np.abs(counts - np.concatenate(models)), starts) - penalties


SCORED = {"tables": (CrossTables, PartsOfLists), "families": (ViewTables,)}
"""The queries whose tables compete, by kind of data."""


@dataclass(frozen=True, eq=False)
class TableSets:
    """The tables of some queries that may still be chosen, with public models and penalties; permute-and-flip.

    Models, penalties and the ascending list `left` may depend on noisy answers, earlier choices and public dice; they
    are fixed before the question. With a share below 1 models and penalties are those of the subset: nothing is divided
    by the share.

    Claim 46. Scoring on a subset keeps the range. A record takes part by its codes x and its copy number among the
    records with these codes (geometry/subset.py), seed and share being public. Adding a record with codes x adds the
    copy number c_x + 1 and leaves all other copies theirs, so the subset gains that one record or none: every score
    changes as Claim 45 says, or none does. The position of a record plays no part.

    Claim 73. For tables in parts the scores have the range of `Distance`, 2, times `margin`, the largest number of
    parts: no record adds more than that to the cells of a table, and none takes any away (Claim 72). So
    |parts - model| summed over the cells moves by no more than that either way, and the public penalty not at all. With
    up to 2^42 records and models that add up to less than 2^60, 64 bits hold every score.
    """

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True

    keys: tuple[Any, ...]
    models: tuple[Ints, ...]
    penalties: Ints
    left: Ints

    @property
    def tables(self) -> tuple[Any, ...]:
        return tuple(table for key in self.keys for table in key.tables)

    @property
    def margin(self) -> int:
        return max(key.parts for key in self.keys)

    def fits(self, nodes: Frontier, domain: Any, quality: Distance) -> bool:
        if type(quality) is not Distance or type(self.keys) is not tuple or not self.keys:
            return False
        if not all(type(key) in SCORED[self.kind] and key.fits(nodes, domain) for key in self.keys):
            return False
        tables = self.tables
        if type(self.models) is not tuple or len(self.models) != len(tables):
            return False
        if (
            not _are_models(self.models, tables)
            or not is_int64_array(self.penalties, len(tables))
            or (self.penalties < -MOST_PENALTY).any()  # not by `abs`: 64 bits have no absolute value of -2^63
            or (self.penalties > MOST_PENALTY).any()
        ):
            return False
        if type(self.left) is not np.ndarray or not is_int64_array(self.left, len(self.left)) or not len(self.left):
            return False
        return bool(self.left[0] >= 0 and self.left[-1] < len(tables) and (np.diff(self.left) > 0).all())

    def exact_scores(self, engine: Any, positions: Ints, nodes: Frontier, quality: Distance) -> Iterator[Scored]:  # noqa: ARG002
        counts, starts = zip(*(key.exact_counts(engine) for key in self.keys), strict=True)
        first = np.cumsum([0, *map(len, counts[:-1])], dtype=np.int64)
        exact_counts = np.concatenate(counts), np.concatenate([a + b for a, b in zip(first, starts, strict=True)])
        exact_scores = quality.scores(exact_counts, self.models, self.penalties)[self.left]
        yield Scored(0, 1, exact_scores, np.array([0, len(self.left)], dtype=np.int64))

    def answer(self, nodes: Frontier, chosen: Sequence[Chosen[Scored]]) -> int:  # noqa: ARG002
        return int(self.left[chosen[0].row[0]])


@dataclass(frozen=True, eq=False)
class ViewSets(TableSets):
    """The same for tables of views of families; all families are scored.

    Claim 69. The scores have range 2 PARTS: one family adds at most PARTS parts to the cells of a table and takes none
    away (Claim 68), so |parts - model| summed over the cells moves by at most PARTS either way, and the public penalty
    not at all. The tables of a list may be of several views: a score depends on one view only. Not monotone. With up to
    2^48 families the parts add up to less than 2^61, so 64 bits hold every score (Claim 45).

    A subset by codes and copy number would not do: the records of a family carry its number of children in
    their weight but not in all of their codes, so a record more could move the weights of the others' copies.
    """

    kind: ClassVar[str] = "families"


def _are_models(models: tuple[Ints, ...], tables: tuple[Any, ...]) -> bool:
    if not all(is_int64_array(model, table.cells) for model, table in zip(models, tables, strict=True)):
        return False
    together = np.concatenate(models)
    return bool((together >= 0).all() and (together <= MOST_MODEL).all()) and float(together.sum(dtype=float)) < 2.0**60


# ---- one heavy value ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heaviest:
    """The number of records that have a value.

    Claim 47. Range 1: each record adds 1 to at most one value per column and lowers none, and the score of "none" is
    public. Monotone. Counts are at most the number of records.
    """

    @property
    def range(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class _ScoredValues(Scored):
    """Scored values: each row's search (-1 for "none"), class and code. A row without a code (-1) stands for all values
    of its class except those of the ranks that are `taken`."""

    search: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    number: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    code: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    taken: dict[int, Ints] = field(default_factory=dict)


@dataclass(frozen=True)
class HeavyValues:
    """One value of several columns, or none: the exponential mechanism with weight 1 / (columns * classes of the
    column * values of its class) for a value, and 1 for none, whose score is the public number `none`.

    Values that do not occur have score 0 and are one row per class, for all of them.
    """

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True
    margin: ClassVar[int] = 1

    searches: tuple[ValueSearch, ...]
    sizes: tuple[int, ...]
    none: int

    def fits(self, nodes: Frontier, domain: Domain, quality: Heaviest) -> bool:
        known = is_whole(nodes, domain) and are_ints(self.sizes) and self.sizes == domain[0]
        scored = type(quality) is Heaviest and are_ints((self.none,)) and 0 <= self.none <= MOST_MODEL
        return known and scored and are_searches(self.searches, self.sizes)

    def exact_scores(
        self,
        engine: TableEngine,
        positions: Ints,  # noqa: ARG002
        nodes: Frontier,  # noqa: ARG002
        quality: Heaviest,  # noqa: ARG002
    ) -> Iterator[_ScoredValues]:
        first = np.array([[self.none], [1], [1], [-1], [-1], [-1]], dtype=np.int64)
        parts, taken, rows = [first], dict[int, Ints](), 1
        for place, search in enumerate(self.searches):
            for number, size, exact_codes, exact_counts, ranks in self._classes(engine, search):
                some, inverse = len(exact_codes), len(self.searches) * len(search.classes.periods) * size
                # One row per value that occurs, and one for all the others of its class.
                part = np.empty((6, some + (size > len(ranks))), dtype=np.int64)
                part[:, :some] = [[0], [1], [inverse], [place], [number], [0]]
                part[0, :some], part[5, :some] = exact_counts, exact_codes
                if size > len(ranks):
                    part[:, some] = 0, size - len(ranks), inverse, place, number, -1
                    taken[rows + some] = ranks
                parts.append(part)
                rows += part.shape[1]
        scores, many, inverse_of, places, numbers, codes = np.concatenate(parts, axis=1)
        starts = np.array([0, rows], dtype=np.int64)
        yield _ScoredValues(0, 1, scores, starts, None, inverse_of, many, places, numbers, codes, taken)

    def _classes(self, engine: TableEngine, search: ValueSearch) -> Iterator[tuple[int, int, Ints, Ints, Ints]]:
        """For each class that has values: its number and size, the values that occur and may be named with their exact
        counts, and the ascending ranks of these and of those that may not be named."""
        exact_codes, exact_counts = search.occupied(engine, self.sizes[search.column])
        skipped = np.array(search.skip, dtype=np.int64)
        named = ~np.isin(exact_codes, skipped)
        exact_codes, exact_counts = exact_codes[named], exact_counts[named]
        classes, skipped_classes = search.classes.of(exact_codes), search.classes.of(skipped)
        for number, size in enumerate(search.classes.sizes(0, search.values).tolist()):
            mine = classes == number
            both = np.concatenate([exact_codes[mine], skipped[skipped_classes == number]])
            if size:
                ranks = np.sort(search.classes.rank(both, number))
                yield number, size, exact_codes[mine], exact_counts[mine], ranks

    def answer(self, nodes: Frontier, chosen: Sequence[Chosen[_ScoredValues]]) -> tuple[int, int] | None:  # noqa: ARG002
        scored, row, within = chosen[0].scored, int(chosen[0].row[0]), int(chosen[0].within[0])
        if scored.search[row] < 0:
            return None
        search, number = self.searches[int(scored.search[row])], int(scored.number[row])
        if scored.code[row] >= 0:
            return search.column, int(scored.code[row])
        # `within` counts only ranks that are not taken, so every taken rank before it adds one.
        taken = scored.taken[row]
        rank = within + int(np.searchsorted(taken - np.arange(len(taken)), within, side="right"))
        return search.column, int(search.classes.code(np.array([rank]), number)[0])


# ---- a hub --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dependence:
    """How much the other columns depend on one: floor(SCALE * mean over j of 1/2 sum_cells |x_jh - x_j x_h / n|).

    Claim 48. Range 4 SCALE. Adding a record to cell (a, b) moves x_jh - x_j x_h / n by n/(n+1) (e_a - p)(e_b - q)^T,
    p = x_j / n and q = x_h / n, an outer product of vectors of L1 norm at most 2 each, so half the L1 norm moves by at
    most 2n/(n+1) < 2, and so does the mean over j. Floors of SCALE times numbers less than 2 apart differ by at most
    2 SCALE, either way. n is the exact number of records: with a noisy one in its place there is no bound. The score is
    exact up to 2^52 records: it is one division of whole numbers, of any length where 64 bits would not do.
    """

    @property
    def range(self) -> int:
        return 4 * SCALE

    def score(self, tables: Sequence[Ints]) -> int:
        """The score of a column, given its table (cells of j, cells of it) with every other column j."""
        n = int(tables[0].sum())
        if n == 0:
            return 0
        # n x and x_j x_h are at most n^2, and the sum over a table at most 2 n^2: below 2^61 up to 2^30 records.
        kind: type[np.int64 | np.object_] = np.int64 if n < 1 << 30 else np.object_
        total = 0
        for table in tables:
            x = table.astype(kind)
            total += int(np.abs(n * x - x.sum(axis=1)[:, None] * x.sum(axis=0)[None, :]).sum())
        return SCALE * total // (2 * n * len(tables))


@dataclass(frozen=True, eq=False)
class Hubs:
    """The columns that can stand in for a target, scored by how much the others depend on them."""

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True
    margin: ClassVar[int] = 1

    within: ColumnCells
    columns: tuple[int, ...]

    def fits(self, nodes: Frontier, domain: Domain, quality: Dependence) -> bool:
        if not are_whole_cells(self.within, nodes, domain) or type(quality) is not Dependence or len(domain[0]) < 2:
            return False
        if not are_rising(self.columns, 0, len(domain[0])):
            return False
        return all(are_tables(self._tables(h), self.within.shape) for h in self.columns)

    def exact_scores(
        self,
        engine: TableEngine,
        positions: Ints,  # noqa: ARG002
        nodes: Frontier,  # noqa: ARG002
        quality: Dependence,
    ) -> Iterator[Scored]:
        scores = []
        for some in self._together():
            tables = tuple(table for hub in some for table in self._tables(hub))
            exact_counts, starts = counted(engine, CrossTables(self.within, tables), tables)
            parts = zip(np.split(exact_counts, starts[1:]), tables, strict=True)
            shaped = [counts.reshape(table.shape) for counts, table in parts]
            others = len(self.within.shape) - 1
            scores += [quality.score(shaped[first : first + others]) for first in range(0, len(shaped), others)]
        yield Scored(0, 1, np.array(scores, dtype=np.int64), np.array([0, len(scores)], dtype=np.int64))

    def answer(self, nodes: Frontier, chosen: Sequence[Chosen[Scored]]) -> int:  # noqa: ARG002
        return self.columns[int(chosen[0].row[0])]

    def _tables(self, hub: int) -> tuple[CrossTable, ...]:
        """The table of every other column with this one, one group per cell."""
        sizes = self.within.shape
        groups = [np.arange(size).astype(np.uint16) for size in sizes]
        return tuple(CrossTable((j, hub), (groups[j], groups[hub])) for j in range(len(sizes)) if j != hub)

    def _together(self) -> Iterator[list[int]]:
        """The columns in groups whose tables can be counted together."""
        some, cells = list[int](), 0
        for hub in self.columns:
            more = sum(table.cells for table in self._tables(hub))
            if some and cells + more > MOST_TOGETHER:
                yield some
                some, cells = [], 0
            some, cells = [*some, hub], cells + more
        yield some


TABLE_QUALITIES = (Distance, Heaviest, Dependence)
TABLE_CANDIDATES = (TableSets, ViewSets, HeavyValues, Hubs)
