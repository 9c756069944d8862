"""Exact audits of the questions about families: small scripts that ask them through the shipped `FamilyQuestions`.

A record of these audits is a key with all its rows: some parent rows, and some children of two values. The shipped code
joins the rows of both files, so that a key may also be without a parent, have two, or have more children than the most.
`PARTS` is 2 instead of 5040, so that rates per part are whole units; two later children then count with 1 of 2 parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import polars as pl

from cantle.audit.exact import Constant, Script, Scripted, Table
from cantle.methods.families.questions import FamilyQuestions
from cantle.trusted.bounding import families as joining
from cantle.trusted.bounding.families import Order, as_children
from cantle.trusted.bounding.persons import with_persons
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.families import FamilyEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.views import CHILDREN, FIRST, LATER, PARENTS, FamilyDomain

FEW_PARTS = 2
DOMAIN = FamilyDomain((1,), (2,), 3)
ORDER = Order(((0, -1, True),))

Rows = tuple[int, tuple[int, ...]]
"""The number of parent rows of a key, and the values of its children."""

KEYS: tuple[Rows, ...] = (
    *((1, children) for size in range(4) for children in combinations_with_replacement((0, 1), size)),
    (1, (0, 0, 1, 1)),
    (2, (1,)),
    (0, (0, 1)),
)
"""All keys of one parent row with up to three children, one with a child too many, one with two parent rows, and one
without a parent."""

Answers = list[object]


@dataclass(frozen=True, eq=False)
class FamilyConfig(Scripted):
    """A script of questions over families; a record is the number of a key in `KEYS`, and its class."""

    def changed(self) -> Iterator[Constant]:
        yield item_partitions, "PARTS", FEW_PARTS

    @property
    def budget(self) -> Budget:
        return Budget(self.units * NANO, Unit(1, "family"))

    def source(self, table: Table) -> FamilyEngine:
        # by the name in its module, so that a flaw can take its place
        families = joining.families_of(_rows([KEYS[record[0]] for record in table]), DOMAIN, ORDER)
        return FamilyEngine([families], DOMAIN)

    def questions(self, curator: Curator) -> FamilyQuestions:
        questions = FamilyQuestions(curator)
        for view in (PARENTS, FIRST, LATER, CHILDREN):
            questions.of(view).set_cells([np.arange(size + 1) for size in DOMAIN.sizes(view)])
        return questions


def _rows(keys: list[Rows]) -> list[pl.DataFrame]:
    """The rows of both files, in the order of the keys."""
    owners = [str(number) for number, (parents, _) in enumerate(keys) for _ in range(parents)]
    below = [(str(number), value) for number, (_, children) in enumerate(keys) for value in children]
    nothing = np.zeros(len(owners), dtype=np.uint8), np.zeros(len(below), dtype=np.uint8)
    values = np.array([value for _, value in below], dtype=np.uint8)
    parents = with_persons(pl.Series(owners, dtype=pl.String), [nothing[0]], nothing[0])
    children = with_persons(pl.Series([key for key, _ in below], dtype=pl.String), [values], nothing[1])
    return [parents, as_children(children)]


def _table(view: int, *columns: int) -> CrossTable:
    """A cross table of these columns of a view, in all of their cells."""
    sizes = DOMAIN.sizes(view)
    return CrossTable(columns, tuple(np.arange(sizes[column], dtype=np.uint8) for column in columns))


OWN, BEFORE = 5, 4
"""The columns of a later child, and of the one before, in the view of later children."""


def _one_table(view: int, *columns: int) -> Script:
    """A script that measures one table of a view."""

    def script(questions: FamilyQuestions, last: Callable[[], None]) -> Answers:
        last()
        return [questions.table(view, _table(view, *columns), Fraction(2), "table 1").tolist()]

    return script


def _choice(questions: FamilyQuestions, last: Callable[[], None]) -> Answers:
    """A choice between tables of two views by their distance from a model made of the noisy number of families."""
    size = questions.size(Fraction(1))
    tables = [(FIRST, _table(FIRST, 2)), (LATER, _table(LATER, OWN))]
    models = [np.full(2, max(0, size)), np.full(2, 1)]
    chosen = questions.choose(questions.round(tables), models, np.array([0, 1]), np.arange(2), Fraction(4), "choice")
    last()
    questions.table(*tables[chosen], Fraction(2), "table 1")
    return [size, chosen]


def _cells(questions: FamilyQuestions, last: Callable[[], None]) -> Answers:
    """Counts of a column of all children, then a table of first children."""
    wide = questions.table(CHILDREN, _table(CHILDREN, 2), Fraction(2), "cells")
    last()
    questions.table(FIRST, _table(FIRST, 1), Fraction(2), "table 1")
    return [wide.tolist()]


LATER_TABLE = FamilyConfig(
    "families: a table of later children", (len(KEYS),), {}, 2, script=_one_table(LATER, BEFORE, OWN), records=2,
    tight=True,
)  # fmt: skip
FIRST_TABLE = FamilyConfig(
    "families: a table of first children", (len(KEYS),), {}, 2, script=_one_table(FIRST, 1, 2), records=2, tight=True
)
PARENT_TABLE = FamilyConfig(
    "families: a table of parents", (len(KEYS),), {}, 2, script=_one_table(PARENTS, 1), records=2, tight=True
)
CHOICE = FamilyConfig("families: a table of two views chosen", (len(KEYS),), {}, 7, script=_choice, records=1)

FAMILY_CONFIGS: tuple[FamilyConfig, ...] = (
    LATER_TABLE,
    FIRST_TABLE,
    PARENT_TABLE,
    FamilyConfig("families: a table of all children", (len(KEYS),), {}, 2, script=_one_table(CHILDREN, 2), tight=True),
    CHOICE,
    FamilyConfig("families: a column of all children", (len(KEYS),), {}, 4, script=_cells, records=1),
)
