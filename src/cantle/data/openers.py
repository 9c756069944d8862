"""The modules that open each kind of data, by the kind's name in the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeVar, cast

from cantle.data.engine_choice import EVERY_ENGINE, EngineChoice, Opened
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


_MODULES = {"table": "engines_for_tables", "sets": "sets", "sequences": "sequences", "graph": "graphs"}


class _Openers(Mapping[str, Opener[Any, Any]]):
    """The modules by kind. Each is loaded when it is asked for: a release loads the one of its own kind."""

    def __getitem__(self, kind: str) -> Opener[Any, Any]:
        return cast(Opener[Any, Any], import_module(f"cantle.data.{_MODULES[kind]}"))

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


OPENERS: Mapping[str, Opener[Any, Any]] = _Openers()


def choose_engine(schema: Schema, engine: str, memory: str | int | None, table: str | None) -> EngineChoice:
    """The engine with this name; refused if it cannot hold this kind of data."""
    able = OPENERS[schema.kind].ENGINES
    if engine in {*EVERY_ENGINE} - {*able}:
        raise ParameterError(f"engine {engine} is for tables; data of kind {schema.kind} takes {' or '.join(able)}")
    return EngineChoice.of(engine, memory, table)
