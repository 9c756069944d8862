"""The checks before the data is opened, which cost nothing, and the opening of the data behind an engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from cantle.data.engine_choice import IN_MEMORY, OPENERS, EngineChoice, Form, choose_engine
from cantle.errors import ParameterError
from cantle.methods.base import ChecksBudget, Method
from cantle.methods.catalogue import make_method
from cantle.release import check_free, check_writable
from cantle.release.facts import Facts, facts_from
from cantle.release.storage import require_storable
from cantle.schema import Schema, as_schema
from cantle.trusted.core.budget import Unit, nano_of
from cantle.trusted.counting.base import Engine
from cantle.trusted.ledger import Ledger

LEDGER_AND_NAME = "a ledger and a data set in it belong together: give both (--ledger and --dataset), or neither"


@dataclass(frozen=True)
class Order:
    """A requested release that has passed all checks that need no data."""

    data: object
    schema: Schema
    epsilon_nano: int
    method: Method
    choice: EngineChoice
    nodes: object
    insecure_seed: int | None
    account: tuple[Ledger, str] | None
    """The ledger that pays, and the data set that is charged there."""
    facts: Facts = field(default_factory=Facts)

    @property
    def unit(self) -> Unit:
        """Whom the promise protects, as the schema declares."""
        return Unit(*self.schema.protects)

    @property
    def accounted(self) -> str:
        """The unit as a ledger compares it.

        Rows and sets of items are different records, and two columns of persons may mean different persons. Epsilons of
        such units do not add up.
        """
        return f"{self.unit.describe()}{self.schema.unit_detail}"

    @property
    def guarantee(self) -> str:
        """What the release will promise."""
        if self.insecure_seed is not None:
            return "NOT PRIVATE: the noise came from a known seed"
        return (
            "no guarantee: the schema was read off the data"
            if self.schema.inferred
            else "pure epsilon-differential privacy"
        )


def preflight(
    data: object,
    schema: Schema | Mapping[str, object] | str | os.PathLike[str],
    *,
    epsilon: float | str | Fraction,
    method: object = "auto",
    preset: str = "default",
    engine: str = "memory",
    memory: str | int | None = None,
    table: str | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    nodes: object = None,
    insecure_seed: int | None = None,
    parameters: Mapping[str, object] | None = None,
    output: Path | None = None,
    stored_as: str | None = None,
    facts: Facts | Mapping[str, object] | str | os.PathLike[str] | None = None,
) -> Order:
    """Checks everything that can be checked before a charge; nothing is spent and no record is read.

    `output` and `stored_as` are the folder and format in which the release will be saved, if they are known already.
    """
    if output is not None:
        check_writable(check_free(output))
    nano, public, known = nano_of(epsilon), as_schema(schema), facts_from(facts)
    require_storable(public, stored_as)
    choice = choose_engine(public, engine, memory, table)
    plan = make_method(public, method, preset, parameters or {})
    if isinstance(plan, ChecksBudget):
        plan.refuse_budget(nano, public.protects[0])
    OPENERS[public.kind].refuse_early(data, public, choice, nodes)
    _check_seed(insecure_seed)
    choice.require(data)  # a misspelt path must cost nothing
    return Order(data, public, nano, plan, choice, nodes, insecure_seed, _account(ledger, dataset), known)


def open_data(
    data: object, schema: Schema, method: Method, nodes: object = None, choice: EngineChoice = IN_MEMORY
) -> tuple[Form, Engine]:
    """The form in which the data came, and an engine that holds it; `nodes` is the private node list of a graph."""
    return OPENERS[schema.kind].open_engine(data, schema, method, choice, nodes)


def _check_seed(seed: int | None) -> None:
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**53):
        raise ParameterError(
            "insecure_seed must be a whole number from 0 to 2^53 - 1; leave it out for a private release"
        )


def _account(ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None) -> tuple[Ledger, str] | None:
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise ParameterError(LEDGER_AND_NAME)
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger), dataset
