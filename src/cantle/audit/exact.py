"""The exact audit: the output distribution ("law") of a run on tiny tables, through the shipped code.

A run of the shipped curator, budget, engine and method is replayed for every sequence of outcomes of its noise
(`audit.enumerating`), in exact fractions and in base 2: one unit of epsilon (10^9 nano-units) is a factor of 2 where
production has a factor of e. The proofs do not depend on the base. The last draws, of the leaves, are not enumerated:
nothing depends on them, and their loss is the sum of rate * |difference| (tests/audit checks this against a full
enumeration).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, product
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

import numpy as np

from cantle.audit.enumerating import Enumerating, law
from cantle.data.engines_for_tables import AsksTable
from cantle.framework.run import TreeRun
from cantle.interfaces.publishing import run
from cantle.methods.base import Method
from cantle.methods.rps.method import RPS
from cantle.schema.domain import Domain
from cantle.schema.table import TableSchema
from cantle.trusted.core import stop_test
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO, Budget, ReceiptFields, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.counting.base import Engine
from cantle.trusted.counting.words import CHUNK_CELLS, Batch, WordEngine
from cantle.trusted.geometry.boxes import Cuts

Record = tuple[int, ...]
"""One code per column, then the class."""
Table = tuple[Record, ...]
"""Records in ascending order; the same record may occur several times."""
Drawn = tuple[tuple[int, Fraction], ...]
"""Exact count and rate of every draw that was not enumerated."""
Shown = tuple[tuple[str, ...], tuple[int, ...]]
"""The output of a run: one line per public fact, and the noisy cells of the leaves (none if not enumerated)."""

TOLERANCE = 1e-9
TIGHT = 0.97
"""A claim counts as tight if the worst loss reaches this share of it."""


Data = TypeVar("Data", bound=Hashable)
"""A private input: a table, or a graph."""
Constant = tuple[type | ModuleType, str, object]
"""A constant of the code that has another value in an audit: where it is, its name, and the value."""


@dataclass(frozen=True)
class Detail:
    """How closely a run is looked at."""

    leaves: bool
    """Whether the last draws are enumerated too."""
    chunk_cells: int
    """How many cells the engine handles at once."""


@contextmanager
def replaced(owner: type | ModuleType, name: str, new: object) -> Iterator[None]:
    """Sets `owner.name` to `new` inside the block, and restores it afterwards."""
    old = owner.__dict__[name]
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, old)


@dataclass(frozen=True, eq=False)
class Mechanism(ABC, Generic[Data]):
    """One mechanism with its settings on one tiny domain; the claim is that it loses at most `units`."""

    name: str
    sizes: tuple[int, ...]
    settings: Mapping[str, object]
    units: int
    classes: int = 1
    window: tuple[int, int] = (0, 1)
    preset: str = "default"
    unit: int = 1
    """The largest number of records of one protected person."""
    records: int = 3
    """Tables of up to this many records are audited, each with all its neighbours."""
    quick: int = 1
    """The same for a quick audit."""
    tight: bool = False
    """Whether some pair of that size must use up the claim."""

    @abstractmethod
    def pairs(self, records: int | None = None) -> Iterator[tuple[Data, Data]]:
        """All inputs of up to this many records (default: `self.records`), each paired with each of its neighbours."""

    @abstractmethod
    def run(self, table: Data, noise: Enumerating, detail: Detail) -> Shown:
        """One run on this input: all that it shows."""

    def changed(self) -> Iterable[Constant]:
        """The constants of the code that suit tiny data."""
        return ()

    @property
    def budget(self) -> Budget:
        return Budget(self.units * NANO, Unit(self.unit))

    def outcome(self, table: Data, noise: Enumerating, detail: Detail) -> tuple[Shown, Drawn]:
        """One run, and exact count and rate of every draw that it did not enumerate."""
        with ExitStack() as stack:
            for constant in self.changed():
                stack.enter_context(replaced(*constant))
            shown = self.run(table, noise, detail)
        return shown, tuple(pair for counts, rates in noise.recorded for pair in zip(counts, rates, strict=True))


@dataclass(frozen=True, eq=False)
class Config(Mechanism[Table]):
    """RPS on a table of a few columns, numbers or (with `labels`) categories without an order; the configurations of
    other mechanisms on tables derive from it."""

    labels: bool = False

    def domain(self) -> Domain:
        columns: list[dict[str, object]] = [
            _category(f"a{i}", size) if self.labels else _number(f"a{i}", size) for i, size in enumerate(self.sizes)
        ]
        if self.classes > 1:
            columns.append({"role": "target", **_category("y", self.classes)})
        return TableSchema.from_dict({"fields": columns}).domain()

    def method(self, domain: Domain) -> TreeRun:
        """The run that is audited."""
        return RPS(domain, preset=self.preset, **without_own_error(self.settings))

    def points(self) -> list[Record]:
        """Every possible record."""
        return list(product(*(range(size) for size in self.sizes), range(self.classes)))

    def tables(self, records: int) -> Iterator[Table]:
        """All tables of up to this many records, the empty one first."""
        for n in range(records + 1):
            yield from combinations_with_replacement(self.points(), n)

    def pairs(self, records: int | None = None) -> Iterator[tuple[Table, Table]]:
        """All tables of up to this many records, each paired with every table that has one unit more."""
        most = self.records if records is None else records
        for table in self.tables(most):
            for joined in (n for k in range(1, self.unit + 1) for n in combinations_with_replacement(self.points(), k)):
                yield table, with_records(table, *joined)

    def batch(self, table: Table) -> Batch:
        """The codes of a table by column, and its classes."""
        rows = np.array(table, dtype=np.int64).reshape(len(table), len(self.sizes) + 1)
        return list(rows[:, :-1].T), rows[:, -1]

    def engine(self, table: Table, method: AsksTable, chunk_cells: int = CHUNK_CELLS) -> WordEngine:
        """An engine over this table, as the method asks for it."""
        sizes, classes = method.sizes, method.classes
        return WordEngine([self.batch(table)], sizes=sizes, class_count=classes, chunk_cells=chunk_cells)

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        method = self.method(self.domain())
        engine, final = self.engine(table, method, detail.chunk_cells), () if detail.leaves else ("leaf",)
        _, receipt = heard(cast(Method, method), engine, self.budget, noise, final)
        return shown(method, noise, receipt, leaves=detail.leaves)


Script = Callable[[Any, Callable[[], None]], list[object]]
"""Asks its questions and returns the answers, which are compared as text; it calls its second argument before the last
question, whose draws are recorded instead of enumerated, because nothing depends on it."""


@dataclass(frozen=True, eq=False)
class Scripted(Config):
    """A script of questions as a method asks them, where a whole run cannot be enumerated."""

    script: Script = lambda _questions, _last: []

    @abstractmethod
    def source(self, table: Table) -> Engine:
        """An engine over this table."""

    @abstractmethod
    def questions(self, curator: Curator) -> object:
        """The shipped class that asks the questions of the method."""

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        last: list[bool] = []
        noise.closed = lambda _lanes: bool(last) and not detail.leaves
        with Curator(self.source(table), self.budget, noise) as curator:
            answers = self.script(self.questions(curator), lambda: last.append(True))
            receipt = curator.seal()
        return (*map(str, answers), *leaked(noise), f"receipt {receipt}"), ()


def _number(name: str, size: int) -> dict[str, object]:
    """A column of so many whole numbers from 0 on."""
    return {"name": name, "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": size - 1}}


def _category(name: str, size: int) -> dict[str, object]:
    """A column of so many categories without an order."""
    values = {"categories": [str(code) for code in range(size)], "unknown": "drop"}
    return {"name": name, "type": "string", **values, "constraints": {"required": True}}


def without_own_error(settings: Mapping[str, object]) -> dict[str, object]:
    """The settings with no share for the last question, unless they name one; audit/own_error.py audits that
    question."""
    return {"accuracy_share": 0, **settings}


def with_records(table: Table, *more: Record) -> Table:
    return tuple(sorted((*table, *more)))


# ---- base 2 ---------------------------------------------------------------------------------------------------


@contextmanager
def base_two() -> Iterator[None]:
    """Replaces the parts of PrivTree that depend on the base by their form in base 2; no other code depends on it.

    These are the price of a path's tests, the decay and the choice of tests. The price is the shipped bound L,
    converted to base e and back, rounded up both times. The tests chosen are the strongest in whole units.
    """
    natural = stop_test.lifetime_bound

    def lifetime(epsilon_nano: int, delta: int, records: int = 1) -> int:
        return math.ceil(natural(math.ceil(epsilon_nano * math.log(2)), delta, records) / math.log(2))

    def within(budget_nano: int, theta: int, fanout: int = 2, records: int = 1) -> PrivTree:
        for units in range(budget_nano // NANO // records, 0, -1):
            tests = PrivTree(theta, math.ceil(math.log2(fanout) / units), units * records * NANO)
            if lifetime(tests.epsilon_nano, tests.delta, records) <= budget_nano:
                return tests
        raise ValueError("no whole unit for stop tests; audit with a larger share")

    with replaced(stop_test, "lifetime_bound", lifetime), replaced(PrivTree, "within", staticmethod(within)):
        yield


def heard(
    method: Method, engine: Engine, budget: Budget, noise: Enumerating, final: Collection[str]
) -> tuple[list[str], ReceiptFields]:
    """Runs a method as `publish` does: its noisy answers in order, and the receipt. Draws of questions whose purpose is
    in `final` are recorded instead of enumerated, because nothing depends on them."""
    with listening(noise, final) as answers:
        return answers, run(method, engine, epsilon_nano=budget.total, unit=budget.unit, noise=noise)


@contextmanager
def listening(noise: Enumerating, final: Collection[str]) -> Iterator[list[str]]:
    """A list that collects all noisy answers inside the block, in order, except those to questions in `final`."""
    answers: list[str] = []

    def hearing(ask: Callable[..., object]) -> Callable[..., object]:
        def asked(self: Curator, *what: object, **about: object) -> object:
            closed = about["why"] in final
            noise.closed = (lambda _lanes: True) if closed else None
            answer = ask(self, *what, **about)
            noise.closed = None
            if not closed:
                answers.append(f"{about['why']}: {_as_text(answer)}")
            return answer

        return asked

    with ExitStack() as stack:
        for verb in ("measure", "choose"):
            stack.enter_context(replaced(Curator, verb, hearing(Curator.__dict__[verb])))
        yield answers


def _as_text(answer: object) -> str:
    """A noisy answer as text that can be compared."""
    match answer:
        case Noisy():
            return str(answer.value.tolist())
        case NoisyCells():
            return str((answer.rows.tolist(), answer.cells.tolist(), answer.value.tolist(), answer.rate_num.tolist()))
        case Cuts():
            return str([part.tolist() for part in vars(answer).values() if part is not None])
    return repr(answer)


# ---- one run --------------------------------------------------------------------------------------------------


def shown(method: TreeRun, noise: Enumerating, receipt: ReceiptFields, *, leaves: bool) -> Shown:
    """All that a release contains: tree, noisy values, one-way tables, declared count, receipt."""
    tree = method.tree
    lines = [f"depth {method.depth}, records {tree.declared}"]
    if method.oneways is not None:
        lines.append(f"one-way tables {method.oneways.value.tolist()} at {method.oneways.rate_num.tolist()}")
    for ids, noisy in tree.sizes:
        lines.append(f"sizes of {ids.tolist()}: {noisy.value.tolist()} at {noisy.rate_num.tolist()}")
    for ids, cuts in tree.cuts.values():
        said = [f"{name} {part.tolist()}" for name, part in vars(cuts).items() if part is not None]
        lines.append(f"cuts of {ids.tolist()}: {', '.join(said)}")
    cells: list[int] = []
    for nodes, measured, path in tree.leaves:
        rates = measured.rate_num.tolist() if measured is not None else None
        lines.append(f"leaves {nodes.ids.tolist()} at {rates} paths {path.tolist()}")
        if leaves and measured is not None:
            cells += measured.value.reshape(-1).tolist()
    return (*lines, *leaked(noise), f"receipt {receipt}"), tuple(cells)


def leaked(noise: Enumerating) -> list[str]:
    """Values that a run leaks, as lines; only mutants leak any."""
    return [f"leaked {value}" for value in getattr(noise, "leaked", ())]


@dataclass(frozen=True)
class Outcome:
    """The probability of one output, and the exact counts behind its draws that were not enumerated."""

    probability: Fraction
    drawn: Drawn

    @property
    def bits(self) -> float:
        return math.log2(self.probability.numerator) - math.log2(self.probability.denominator)


Law = dict[Shown, Outcome]


@dataclass(frozen=True)
class Finding:
    """The worst loss found, in units, with the pair of inputs and the output (`event`) that show it."""

    loss: float
    before: Hashable
    after: Hashable
    event: Shown
    total: bool
    """Whether the probabilities of every law add up to exactly one."""


@dataclass(eq=False)
class Audit(Generic[Data]):
    """The laws of one configuration, computed once per table, and their comparison."""

    config: Mechanism[Data]
    enumerate_leaves: bool = False
    chunk_cells: int = CHUNK_CELLS
    laws: dict[Data, Law] = field(default_factory=dict)

    def law(self, table: Data) -> Law:
        """The exact law of the output for this table."""
        if table not in self.laws:
            with base_two():
                run = partial(self.config.outcome, table, detail=Detail(self.enumerate_leaves, self.chunk_cells))
                probabilities = law(run, window=self.config.window)
            self.laws[table] = {out: Outcome(p, drawn) for (out, drawn), p in probabilities.items() if p}
            # The exact counts of leaves follow from the table and the output, so each output has one set of them.
            if len(self.laws[table]) != sum(1 for p in probabilities.values() if p):
                raise AssertionError("one output occurred with two different sets of exact leaf counts")
        return self.laws[table]

    def compare(self, before: Data, after: Data, *, leaves: bool = True) -> Finding:
        """The worst event of one pair; the loss of an output that only one of the two can show is infinite.

        Unless `leaves` is true, the loss of the leaf draws that were not enumerated does not count.
        """
        one, two = self.law(before), self.law(after)
        total = sum(o.probability for o in one.values()) == 1 == sum(o.probability for o in two.values())
        alone = next(iter(one.keys() ^ two.keys()), None)
        if alone is not None:
            return Finding(math.inf, before, after, alone, total)
        losses = {event: abs(one[event].bits - two[event].bits) for event in one}
        if leaves:
            losses = {event: loss + undrawn(one[event], two[event]) for event, loss in losses.items()}
        event = max(losses, key=losses.__getitem__)
        return Finding(losses[event], before, after, event, total)

    def worst(self, pairs: Iterable[tuple[Data, Data]] | None = None) -> Finding:
        """The worst event over the given pairs; by default over all small tables and all their neighbours."""
        findings = [self.compare(*pair) for pair in (self.config.pairs() if pairs is None else pairs)]
        most = max(findings, key=lambda finding: finding.loss)
        return Finding(most.loss, most.before, most.after, most.event, all(f.total for f in findings))


def undrawn(one: Outcome, two: Outcome) -> float:
    """The loss of draws that were not enumerated: discrete Laplace noise loses up to rate * |difference| per cell."""
    if [rate for _, rate in one.drawn] != [rate for _, rate in two.drawn]:
        return math.inf
    pairs = zip(one.drawn, two.drawn, strict=True)
    return float(sum((rate * abs(mine - theirs) for (mine, rate), (theirs, _) in pairs), Fraction(0)))


# ---- deliberate flaws ----------------------------------------------------------------------------------------------

Patch = Callable[[], AbstractContextManager[None]]
"""Changes shipped code inside a `with` block and undoes it at the end."""


@dataclass(frozen=True, eq=False)
class Flaw(ABC, Generic[Data]):
    """A deliberate flaw (`patch`), the pair of inputs that shows it, and the least loss it must show, in units."""

    name: str
    breaks: str
    """The claim or condition of docs/privacy.md that it violates."""
    config: Mechanism[Data]
    before: Data
    joins: Record
    least: float
    patch: Patch
    enumerate_leaves: bool = False

    @abstractmethod
    def neighbour(self) -> Data:
        """The other input of the pair."""

    def find(self, *, broken: bool) -> Finding:
        """The worst event of the pair, through the broken or the sound code."""
        audit = Audit(self.config, self.enumerate_leaves)
        with self.patch() if broken else nullcontext():
            return audit.compare(self.before, self.neighbour())


@dataclass(frozen=True, eq=False)
class Breakage(Flaw[Table]):
    """A flaw that shows on two tables: the second has the record `joins` in addition."""

    def neighbour(self) -> Table:
        return with_records(self.before, self.joins)
