"""What a method is, and recursive partitioning and summarisation, one level at a time (RPS 3.1, Algorithm 1)."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from cantle.errors import ParameterError, SchemaError
from cantle.methods.settings import Echo
from cantle.postprocess.counts import Dice
from cantle.postprocess.group_frames import check_names
from cantle.postprocess.results import Results
from cantle.schema.domain import Domain, Layout
from cantle.schema.table import TableSchema
from cantle.trusted.budget import words_of
from cantle.trusted.curator import Curator
from cantle.trusted.geometry.boxes import Bools, Cuts, Frontier

MOST_CLASSES = 1000
LEAST_NANO = 10_000
"""Fewest nano-units of epsilon, per record of a unit, for a table. A number of records that gets 2 % of epsilon then
has noise of scale five million. Ten times that, about as many records as can be drawn, come once in 44,000 releases."""


class Method(Protocol):
    """One run of an algorithm: it sees public values and noisy answers, never a record.

    A new method is one file with such a class and one line in METHODS. What its kind of data needs beside this is
    named where the data is opened: cantle.data.engines_for_tables.AsksTable, cantle.data.sets.AsksSets.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    """The kind of data it is for, as schemas name it."""
    Settings: ClassVar[type]
    """The frozen dataclass of its parameters (cantle.methods.settings)."""

    @classmethod
    def for_schema(cls, schema: Any, *, preset: str, **given: object) -> Self:
        """The method with its settings checked; refuses whatever can be refused without the data."""

    def parameters(self) -> Echo:
        """Every keyword, given or defaulted; all public."""

    def run(self, curator: Curator) -> None:
        """Asks all questions, and keeps the noisy answers."""

    def results(self, dice: Dice, /) -> Results:
        """Records and groups, from the noisy answers alone."""


@runtime_checkable
class UsesDice(Protocol):
    """A method that uses public dice between its questions; their seed is set before the run."""

    seed: int


@runtime_checkable
class ChecksBudget(Protocol):
    """A method that cannot run with every epsilon: it refuses before anything is charged."""

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Raises ParameterError if this epsilon, for units of `max_records` records, does not go with the settings."""


class TableMethod:
    """What methods for tables have in common: codes of a domain, and how they are laid out for counting.

    `domain` says how fine the codes are: as the schema declares it there is one code per value, and
    `Domain.coarsen` puts them into bins.
    """

    kind: ClassVar[str] = "table"
    layout: ClassVar[Layout]
    domain: Domain

    def __init__(self, domain: Domain, *, preset: str = "default", **given: object) -> None:
        raise NotImplementedError

    @classmethod
    def for_schema(cls, schema: TableSchema, *, preset: str, **given: object) -> Self:
        """The method for the domain that the schema declares."""
        domain = schema.domain()
        check_names(domain)
        if domain.target and domain.target.size > MOST_CLASSES:
            raise SchemaError(
                f"field {domain.target.name}: a target has at most {MOST_CLASSES} classes, this one "
                f"{domain.target.size}; use a wider step or fewer categories, or drop role: target"
            )
        return cls(domain, preset=preset, **given)

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Refuses an epsilon under which noise alone may call for more records than can be drawn."""
        if epsilon_nano < LEAST_NANO * max_records:
            of_a_unit = "" if max_records == 1 else f" for {max_records} records per person"
            raise ParameterError(
                f"epsilon is too small: a table needs at least {words_of(LEAST_NANO * max_records)}{of_a_unit}, or "
                "noise alone may call for more records than can be drawn; raise epsilon"
            )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each attribute has."""
        return tuple(attribute.size for attribute in self.domain.attributes)

    @cached_property
    def classes(self) -> int:
        """How many classes the target has; 1 without a target."""
        return self.domain.target.size if self.domain.target else 1


class Partitioning(Protocol):
    """The three sub-routines of RPS 3.1, and what comes before them."""

    def begin(self, root: Frontier, curator: Curator) -> None:
        """Questions about the whole data, paid by every path."""

    def stop(self, nodes: Frontier, curator: Curator) -> Bools:
        """Which regions are leaves."""

    def partition(self, nodes: Frontier, curator: Curator) -> Cuts:
        """A cut for each region that is not."""

    def summarize(self, leaves: Frontier, curator: Curator) -> None:
        """Noisy summaries of the leaves, with all that is left on their paths."""


def grow(method: Partitioning, curator: Curator) -> None:
    """Runs the method over the tree. The method keeps the noisy answers."""
    nodes = curator.root()
    method.begin(nodes, curator)
    while len(nodes):
        # Levels and the number of regions are public: they follow from noisy answers.
        logging.getLogger("cantle").info("level %d: %d regions", nodes.depth, len(nodes))
        leaf = method.stop(nodes, curator)
        if leaf.any():
            method.summarize(nodes.take(leaf), curator)
        rest = nodes.take(~leaf)
        if not len(rest):
            return
        nodes = curator.split(rest, method.partition(rest, curator))
