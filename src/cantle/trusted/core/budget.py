"""The budget of one run: exact integers along the paths of the tree.

epsilon is k nano-units, k a whole number (epsilon = k / 10^9). Every open region has a balance: epsilon minus
all charges on its path from the root. A charge goes to open regions and is refused, for all of them, if one
could not pay. Splitting passes the balance on to every child and closes the parent.

Claim 11 (path budget). However charges, stops and splits are chosen from answers already given, the whole run
is epsilon-DP for one unit. By induction on the recursion: two data sets that differ in one record give the
queries at a region factors of at most e^charge each; given the answers the children are the same regions for
both, the record lies in exactly one, the others contribute equal factors; that child contributes at most
e^balance. It needs: charges only to regions that are still open (a parent cannot be asked after its children),
no region listed twice in one question, and no balance moved between siblings. `charge` and `inherit` ensure this;
tests/laws/test_hostile.py tries to get around them, and tests/audit computes the loss of whole runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from cantle.errors import BudgetExceeded, ParameterError, raise_alone
from cantle.trusted.geometry.boxes import Bools, Ints, is_int64_array

NANO = 10**9
MOST = 10**6 * NANO  # balances of a level are one int64 array, and stay whole numbers in JSON
MOST_RECORDS = 10**6
UNITS = {
    "record": "one record",
    "person": "one person",
    "node": "one node with all its edges",
    "node-isolate": "all edges of one node",
    "edge": "one edge",
    "family": "one family (all rows of one key)",
}


Price = int | Ints
"""Nano-units of epsilon, one number for all regions or one per region."""


ReceiptFields = dict[str, Any]
"""The receipt as release.json has it: the unit, and what was spent. Readers of releases know its fields by type."""


@dataclass(frozen=True)
class Unit:
    """Whom the promise protects: one record; one person with at most `max_records` records; in a graph, one node with
    its edges (`node`), all edges of one node (`node-isolate`) or one edge (`edge`); one family, that is one parent with
    all its children (`family`)."""

    max_records: int = 1
    kind: str = "record"

    def __post_init__(self) -> None:
        if type(self.kind) is not str or self.kind not in UNITS:
            raise ParameterError(f"a unit is one of {', '.join(UNITS)}")
        if type(self.max_records) is not int or not 1 <= self.max_records <= MOST_RECORDS:
            raise ParameterError(f"a unit has a whole number of records from 1 to {MOST_RECORDS}")

    def describe(self) -> str:
        if self.kind == "person" or (self.kind == "record" and self.max_records > 1):
            return f"{UNITS['person']}, up to {self.max_records} record{'s' * (self.max_records > 1)}"
        return UNITS[self.kind]

    def to_dict(self) -> dict[str, str | int]:
        return {"kind": self.kind, "max_records": self.max_records}


@dataclass(frozen=True)
class Charge:
    """One price on a path: its purpose, the verb, the amount, and the range or sensitivity it was paid for."""

    why: str
    verb: str
    epsilon_nano: int
    sensitivity: int
    depth: int


def nano_of(epsilon: object, example: str = "--epsilon 1 or epsilon=0.5") -> int:
    """epsilon in whole nano-units, rounded down; `example` shows in messages how to write it.

    >>> nano_of("0.3"), nano_of(0.3), nano_of(1)
    (300000000, 300000000, 1000000000)
    """
    try:
        exact = _exact(epsilon)
        nano = int(exact.numerator * NANO // exact.denominator)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise_alone(ParameterError(f"epsilon must be a positive number, got {epsilon!r}; write for example {example}"))
    if epsilon is True or not 0 < nano <= MOST:
        raise ParameterError(f"epsilon must be between 1e-9 and 1e6, got {epsilon!r}; a usual choice is 0.1 to 3")
    return nano


def _exact(number: object) -> Fraction:
    """A number or text as a fraction; TypeError for anything else."""
    if isinstance(number, Integral):
        return Fraction(int(number))
    if isinstance(number, Real) and not isinstance(number, Rational):
        # A float is read as the decimal it prints as, so that 0.3 means 3/10 and not the double below it.
        return Fraction(repr(float(number)))
    if isinstance(number, str | Decimal | Rational):
        return Fraction(number)
    raise TypeError("not a number")


def words_of(nano: int) -> str:
    """epsilon as exact decimal text.

    >>> words_of(300000000), words_of(2000000000), words_of(1)
    ('0.3', '2', '0.000000001')
    """
    whole, part = divmod(nano, NANO)
    return str(whole) if not part else f"{whole}.{part:09d}".rstrip("0")


def prices(epsilon_nano: object, regions: int) -> Ints:
    """The price of a question for each region, given as one number for all regions or one per region."""
    try:
        cost = np.asarray(epsilon_nano)
    except (ValueError, TypeError):
        cost = np.zeros(())
    if cost.dtype.kind not in "iu" or cost.shape not in ((), (regions,)) or (cost < 1).any() or (cost > MOST).any():
        rule = "a price is a positive whole number of nano-units of epsilon, one for all regions or one per region"
        raise ParameterError(f"{rule}; if it is a share of a very small epsilon, raise that")
    return np.full(regions, cost, dtype=np.int64)


class Budget:
    """Balances of all regions, and the kinds of paths that led to them."""

    def __init__(self, epsilon_nano: int, unit: Unit) -> None:
        if type(epsilon_nano) is not int or not 0 < epsilon_nano <= MOST:
            raise ParameterError("a budget needs a positive whole number of nano-units of epsilon")
        self.total, self.unit = epsilon_nano, unit
        self._balance: Ints = np.array([epsilon_nano], dtype=np.int64)
        self._open: Bools = np.array([True])
        self._split: Bools = np.array([False])
        self._path: Ints = np.zeros(1, dtype=np.int64)
        # Kinds of paths as a tree of charges: kind 0 has paid nothing, kind i is kind `parent` plus one charge.
        self._kinds: list[tuple[int, Charge | None]] = [(-1, None)]
        self._known: dict[tuple[int, Charge], int] = {}

    def __repr__(self) -> str:
        return f"Budget(epsilon={words_of(self.total)}, unit={self.unit.describe()!r})"

    def left(self, ids: Ints) -> Ints:
        """The balance of each region."""
        self._require_known(ids)
        return self._balance[ids].copy()

    def path(self, ids: Ints) -> Ints:
        """The kind of path of each region; the receipt lists the charges of each kind."""
        self._require_known(ids)
        return self._path[ids].copy()

    def require_open(self, ids: Ints) -> None:
        """Refuses regions that are unknown, already split or dropped, or listed twice."""
        self._require_known(ids)
        if not self._open[ids].all():
            raise ParameterError("a region that was split or dropped cannot be asked again; ask its children")

    def _require_known(self, ids: Ints) -> None:
        """Refuses anything but an ascending list of region numbers."""
        if not is_int64_array(ids, np.size(ids)):
            raise ParameterError("regions are given by an array of their numbers")
        if len(ids) and (ids[0] < 0 or ids[-1] >= len(self._open) or not (ids[1:] > ids[:-1]).all()):
            raise ParameterError("regions must be known and listed once, in ascending order")

    def charge(self, ids: Ints, cost: Ints, *, why: str, verb: str, sensitivity: int, depth: int) -> None:
        """Subtracts its cost (see `prices`) from each region's balance, or raises and subtracts nothing."""
        self.require_open(ids)
        short = cost > self._balance[ids]
        if short.any():
            first = int(np.argmax(short))
            raise BudgetExceeded(
                f"{why} needs epsilon {words_of(int(cost[first]))}, this path has "
                f"{words_of(int(self._balance[ids[first]]))} left at depth {depth}; "
                "lower the depth or the shares, or raise epsilon"
            )
        self._balance[ids] -= cost
        self._note(ids, cost, why=why, verb=verb, sensitivity=sensitivity, depth=depth)

    def _note(self, ids: Ints, cost: Ints, *, why: str, verb: str, sensitivity: int, depth: int) -> None:
        """Moves each region to the kind of path that ends in this charge."""
        if not len(ids):
            return
        # Usually all pay the same. Then only their kinds of path differ, and there are few of these.
        costs, price = (cost[:1], 0) if (cost == cost[0]).all() else np.unique(cost, return_inverse=True)
        pairs, inverse = _distinct(self._path[ids] * len(costs) + price)
        kinds = np.empty(len(pairs), dtype=np.int64)
        for i, pair in enumerate(pairs.tolist()):
            parent, paid = pair // len(costs), int(costs[pair % len(costs)])
            charge = Charge(why, verb, paid, sensitivity, depth)
            key = (parent, charge)
            if key not in self._known:
                self._known[key] = len(self._kinds)
                self._kinds.append(key)
            kinds[i] = self._known[key]
        self._path[ids] = kinds[inverse.reshape(-1)]

    def inherit(self, parents: Ints, times: Ints) -> Ints:
        """Opens this many children per parent and closes every region that was open; returns the children's ids.

        A parent without a kept child ends here, like a leaf.
        """
        self.require_open(parents)
        if not is_int64_array(times, len(parents)) or (times < 0).any():
            raise ParameterError("a parent has a whole number of children")
        self._open[:] = False
        self._split[parents] = times > 0
        first = len(self._open)
        children = np.repeat(parents, times)
        self._balance = np.concatenate([self._balance, self._balance[children]])
        self._path = np.concatenate([self._path, self._path[children]])
        self._open = np.concatenate([self._open, np.ones(len(children), dtype=np.bool_)])
        self._split = np.concatenate([self._split, np.zeros(len(children), dtype=np.bool_)])
        return np.arange(first, len(self._open), dtype=np.int64)

    def close(self) -> None:
        """Closes the budget: no region can be charged any more."""
        self._open[:] = False

    def _charges(self, kind: int) -> list[Charge]:
        """The charges of a kind of path, from the root down."""
        charges = []
        while kind:
            kind, charge = self._kinds[kind]
            charges.append(charge)
        return [charge for charge in reversed(charges) if charge is not None]

    def receipt(self) -> ReceiptFields:
        """The charges of every kind of path that ended in a leaf; a leaf refers to its kind by number."""
        paths = list[dict[str, object]]()
        for kind in np.unique(self._path[~self._split]).tolist():
            charges = self._charges(kind)
            spent = sum(charge.epsilon_nano for charge in charges)
            paths.append({"path": kind, "epsilon_nano": spent, "charges": [dict(vars(charge)) for charge in charges]})
        return {"unit": self.unit.to_dict(), "epsilon_nano": self.total, "paths": paths}


def _distinct(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys (0 or more), ascending, and for each key its number among them."""
    if int(keys.max()) >= 4 * len(keys):
        return np.unique(keys, return_inverse=True)
    there = np.bincount(keys) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]
