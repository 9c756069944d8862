"""The module that opens each kind of data, the choice of its engine, and the checks before the data is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from cantle.data.arrow_batches import load as load_duckdb
from cantle.data.database_tables import load_ibis, require_known_database
from cantle.data.file_forms import files, is_path, is_pattern, require_files
from cantle.errors import ParameterError
from cantle.schema import Schema
from cantle.trusted.counting.base import Engine
from cantle.trusted.counting.stores import FILES, InMemory, OnDisk, Store

EVERY_ENGINE = ("memory", "duckdb", "spark", "database")
LEAST_MEMORY, USUAL_MEMORY = 1 << 30, 4_000_000_000
MOST_FILES = 200  # some systems let a process open 256

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_UNITS["TIB"] = 2**40


@dataclass(frozen=True)
class EngineChoice:
    """An engine by name, with its options."""

    engine: str = "memory"
    memory: int | None = None
    table: str | None = None

    @staticmethod
    def of(engine: str, memory: str | int | None, table: str | None) -> EngineChoice:
        """The engine with this name, after a check of its memory limit and of the packages it needs."""
        if engine not in EVERY_ENGINE:
            raise ParameterError(f"engine {engine!r} is not known; use one of {', '.join(EVERY_ENGINE)}")
        if memory is not None and engine != "duckdb":
            raise ParameterError(f"memory is a limit of engine duckdb; engine {engine} has none to set")
        if table is not None and engine not in ("duckdb", "database"):
            raise ParameterError(f"table names a table of a database; engine {engine} takes none")
        if engine == "duckdb":
            load_duckdb()
        elif engine == "spark":
            from cantle.trusted.counting import spark

            spark.load()
        elif engine == "database":
            load_ibis()
        return EngineChoice(engine, None if memory is None else bytes_of(memory), table)

    @property
    def store(self) -> Store:
        """Where the records are kept. On disk, rows are divided among so many files that those of one fit in memory."""
        if self.engine == "memory":
            return InMemory()
        return OnDisk(min(MOST_FILES, FILES * USUAL_MEMORY // (self.memory or USUAL_MEMORY)))

    def require(self, data: object) -> None:
        """Refuses files that do not exist, and databases that are not supported.

        Whether a cluster or database has the table is found out when it is opened.
        """
        if self.engine == "duckdb" and is_path(data):
            require_files(files(data))
        elif self.engine == "memory" and isinstance(data, str | os.PathLike) and not is_pattern(os.fspath(data)):
            require_files([Path(data)])
        elif self.engine == "database":
            require_known_database(data)


IN_MEMORY = EngineChoice()
Form = dict[str, str]
"""The public form of the input, so that records can be returned in the same form."""
Opened = tuple[Form, Engine]
POLARS: Form = {"frame": "polars"}


def bytes_of(size: str | int) -> int:
    """The bytes of a memory limit.

    >>> bytes_of("4GB"), bytes_of("1.5 GiB")
    (4000000000, 1610612736)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(size).strip(), re.IGNORECASE)
    if not found or found[2].upper() not in _UNITS:
        raise ParameterError(f"memory takes a size such as 4GB or 900MB, got {size!r}")
    made = int(float(found[1]) * _UNITS[found[2].upper()])
    if made < LEAST_MEMORY:
        raise ParameterError("memory must be at least 1GiB: reading and counting in batches needs that much")
    return made


def refuse_nodes(nodes: object) -> None:
    """Refuses a list of nodes if the data is not a graph."""
    if nodes is not None:
        raise ParameterError("nodes is for graphs: a private list of the nodes that may have no edge")


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


_MODULES = {
    "table": "engines_for_tables",
    "sets": "sets",
    "sequences": "sequences",
    "graph": "graphs",
    "families": "families",
}


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
