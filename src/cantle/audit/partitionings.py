"""The exact audit of somebody's own partitioning, in one call: `cantle.audit(QuadTree(depth=2))`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from cantle.audit import Row, audit_exactly
from cantle.audit.exact import Audit, Config
from cantle.errors import ParameterError
from cantle.framework.partitioning import Partitioning
from cantle.framework.run import PartitioningRun
from cantle.schema.domain import Domain
from cantle.schema.table import TableSchema

UNITS = (4, 8, 6, 12, 3, 5, 9, 10, 16, 18, 24, 36, 48, 120)
"""Epsilons to audit with, in units of ln 2: the first of which every price is a whole number is taken."""

_REPEATS = 8
"""How often the law of one table is computed, to see whether a class draws by itself."""

_NOT_WHOLE = ("an exponent is not whole", "no whole unit")
"""What is said of prices that are no whole number of units."""


@dataclass(frozen=True, eq=False)
class Own(Config):
    """A partitioning on a table of a few columns; with a document, on the table that it declares."""

    plan: Any = None
    document: Any = None

    def domain(self) -> Domain:
        return super().domain() if self.document is None else TableSchema.from_dict(self.document).domain()

    def method(self, domain: Domain) -> PartitioningRun:
        return PartitioningRun(self.plan, domain, rehearsal=True)


def audit(
    partitioning: Partitioning | type[Partitioning],
    *,
    sizes: tuple[int, ...] = (3, 2),
    classes: int = 1,
    schema: Mapping[str, object] | None = None,
    records: int = 2,
    units: int | None = None,
) -> Row:
    """The worst loss of a partitioning over all tables of up to so many records and all their neighbours, exactly.

    Parameters
    ----------
    partitioning : Partitioning
        The object, or the class; keep depths small, because every outcome is tried.
    sizes, classes : tuple of int, int
        The number of values of each column, and of classes of a target (1 for none).
    schema : dict, optional
        A table of few values, in place of `sizes` and `classes`.
    records : int
        Tables of up to this many records are tried.
    units : int, optional
        Epsilon in units of ln 2; by default the first of some numbers that makes all prices whole.

    Returns
    -------
    Row
        The loss that is claimed and the worst that was measured, in these units, and whether the claim holds.

    Raises
    ------
    ParameterError
        If the class does not always do the same with the same answers, or no epsilon makes all prices whole.

    Examples
    --------
    >>> import cantle
    >>> from cantle import framework as fw
    >>> class Halves(fw.Partitioning):
    ...     def stop(self, regions, ask):
    ...         return regions.depth == 2
    ...     def partition(self, regions, ask):
    ...         return regions.halve()
    >>> row = cantle.audit(Halves())
    >>> row.claimed, row.measured, row.ok
    (4, 4.0, True)
    """
    own = copy.copy(partitioning() if isinstance(partitioning, type) else partitioning)
    if not isinstance(own, Partitioning):
        raise ParameterError("audit takes a partitioning: derive it from cantle.framework.Partitioning")
    own.accuracy_share = Fraction(0)  # this question is cantle's own, and audited by itself
    if schema is not None:
        domain = TableSchema.from_dict(schema).domain()
        sizes, classes = tuple(one.size for one in domain.attributes), domain.target.size if domain.target else 1
    for tried in UNITS if units is None else (units,):
        config = Own(own.name, sizes, {}, tried, classes, records=records, plan=own, document=schema)
        try:
            _require_repeatable(config)
            return replace(audit_exactly(config), note="at these prices")
        except (ValueError, ParameterError) as error:
            if not any(words in str(error) for words in _NOT_WHOLE):
                raise
    raise ParameterError(f"{own.name}: {units or UNITS} units of epsilon do not make every price whole; choose others")


def _require_repeatable(config: Own) -> None:
    """Refuses a class that does not do the same after the same answers: then a measured loss would mean nothing."""
    try:
        laws = [Audit(config).law(()) for _ in range(_REPEATS)]
        same = all(law == laws[0] for law in laws)
    except (AssertionError, IndexError):  # a script of outcomes led elsewhere
        same = False
    if not same:
        raise ParameterError(
            f"{type(config.plan).__name__} does not do the same after the same answers; draw with ask.coin, and keep "
            "nothing between runs"
        )
