"""The modules that open each kind of data, by the kind's name in the schema."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from cantle.data import engines_for_tables, graphs, sets
from cantle.data.engine_choice import EngineChoice, Opened
from cantle.errors import ParameterError
from cantle.schema import Schema

Kind = TypeVar("Kind", contravariant=True)
Method = TypeVar("Method", contravariant=True)


class Opener(Protocol[Kind, Method]):
    """What the module of a kind of data provides; `Kind` and `Method` are the types of its schema and methods."""

    @property
    def ENGINES(self) -> tuple[str, ...]:  # noqa: N802 - a constant of the module
        """The engines that can hold this kind of data."""

    def refuse_early(self, data: object, schema: Kind, choice: EngineChoice, nodes: object) -> None:
        """Refuses whatever can be refused without opening the data, so that nothing is charged."""

    def open_engine(self, data: object, schema: Kind, method: Method, choice: EngineChoice, nodes: object) -> Opened:
        """An engine that holds the data, and the form of the input; `nodes` is the private list of a graph's nodes."""


OPENERS: dict[str, Opener[Any, Any]] = {"table": engines_for_tables, "sets": sets, "graph": graphs}


def choose_engine(schema: Schema, engine: str, memory: str | int | None, table: str | None) -> EngineChoice:
    """The engine with this name; refused if it cannot hold this kind of data."""
    able = OPENERS[schema.kind].ENGINES
    if engine in {name for opener in OPENERS.values() for name in opener.ENGINES} - {*able}:
        raise ParameterError(f"engine {engine} is for tables; data of kind {schema.kind} takes {' or '.join(able)}")
    return EngineChoice.of(engine, memory, table)
