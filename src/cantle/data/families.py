"""Readers of families: two linked tables, joined by key (cantle.trusted.bounding.families).

Each table is read like a table of persons, with its key as the column of persons: the rules for identifiers hold, rows
without a key are dropped, and so are rows without a required value (cantle.data.encoding). A row maps to its key and
its codes by itself. Nothing is said about children without a parent, or about a parent that is there twice.

The data is a mapping of two sources by the names of the resources; or the path of the data package or of its folder,
relative to which the resources name their files; or a database, whose tables are named like the resources.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from cantle.data import engines_for_tables
from cantle.data.encoding import read_person_codes
from cantle.data.engine_choice import POLARS, EngineChoice, Opened, refuse_nodes
from cantle.data.file_forms import TABLES, ending, is_path
from cantle.errors import DataError, ParameterError
from cantle.schema import load_schema
from cantle.schema.domain import Domain
from cantle.schema.families import FamilySchema
from cantle.schema.table import TableSchema
from cantle.trusted.bounding.families import Keyed, Order, families_of
from cantle.trusted.counting.families import FamilyEngine
from cantle.trusted.counting.filed_families import FiledFamilies
from cantle.trusted.counting.stores import OnDisk
from cantle.trusted.geometry.views import FamilyDomain

ENGINES = ("memory", "duckdb", "database")
DOCUMENTS = (".yaml", ".yml", ".json")
"""The endings of data packages."""


class AsksFamilies(Protocol):
    """What a method for families declares about the codes that it counts."""

    @property
    def domains(self) -> tuple[Domain, Domain]:
        """The public domains of parents and children."""

    @property
    def families(self) -> FamilyDomain: ...

    @property
    def order(self) -> Order: ...


def refuse_early(data: object, schema: FamilySchema, choice: EngineChoice, nodes: object) -> None:
    """Refuses a list of nodes, data that does not name both tables, and files that do not exist or whose reader is not
    installed."""
    refuse_nodes(nodes)
    if choice.table is not None:
        raise ParameterError("families are two tables, which the package names; leave --table out")
    if choice.engine == "database":
        choice.require(data)
    for source, table, place in zip(sources(data, schema, choice), schema.tables, schema.names, strict=True):
        of_one = replace(choice, table=place) if choice.engine == "database" else choice
        engines_for_tables.refuse_early(source, table, of_one, None)


def open_engine(
    data: object,
    schema: FamilySchema,
    method: AsksFamilies,
    choice: EngineChoice,
    nodes: object,  # noqa: ARG001 - refused before
) -> Opened:
    """An engine that holds the families, and the kind of frame of the input."""
    both = sources(data, schema, choice)
    if choice.engine == "memory":
        kinds: list[str] = []
        read = [list(_keyed([source], one, own, kinds)) for source, one, own in _each(both, schema, method)]
        joined = families_of(read[0], read[1], method.families, method.order)
        return {"frame": kinds[0]}, FamilyEngine(lambda: [joined], method.families)
    parts = [
        _keyed(_frames(source, table, name, choice), table, own, [])
        for (source, table, own), name in zip(_each(both, schema, method), schema.names, strict=True)
    ]
    filed = FiledFamilies(parts[0], parts[1], method.families, method.order)
    return POLARS, FamilyEngine(filed, method.families, OnDisk())


def _each(
    both: tuple[object, object], schema: FamilySchema, method: AsksFamilies
) -> Iterator[tuple[object, TableSchema, Domain]]:
    return zip(both, schema.tables, method.domains, strict=True)


def _keyed(parts: Iterable[object], schema: TableSchema, domain: Domain, kinds: list[str]) -> Iterator[Keyed]:
    """The rows of one table with their keys; the kinds of the frames are added to `kinds`."""
    for part in parts:
        for kind, rows in read_person_codes(part, schema, domain):
            kinds.append(kind)
            yield rows


def _frames(source: object, schema: TableSchema, name: str, choice: EngineChoice) -> Iterator[object]:
    """One table in parts, from files or a database."""
    if choice.engine == "database":
        if hasattr(source, "get_backend"):
            return engines_for_tables.table_frames(source, schema)
        return engines_for_tables.database_frames(str(source), name, schema)
    return engines_for_tables.sources(source, schema, choice)


def sources(data: object, schema: FamilySchema, choice: EngineChoice) -> tuple[object, object]:
    """The sources of parents and of children."""
    first, second = schema.names
    if isinstance(data, Mapping):
        if set(data) != {first, second}:
            raise DataError(
                f"the data must have the tables {first!r} and {second!r}, under the names of the resources."
            )
        return data[first], data[second]
    if choice.engine == "database":
        return data, data
    if not is_path(data):
        fix = f"give {{{first!r}: …, {second!r}: …}}, or the path of the data package"
        raise DataError(f"families are two tables; {fix}.")
    folder = Path(data) if os.path.isdir(data) else Path(data).parent
    paths = schema.paths if None not in schema.paths or os.path.isdir(data) else paths_in(Path(data), schema)
    if not os.path.isdir(data) and ending(Path(data)) in TABLES and Path(data).suffix.lower() not in DOCUMENTS:
        raise DataError(f"{Path(data).name!r} is one table; give the data package, whose resources name both files.")
    for name, path in zip(schema.names, paths, strict=True):
        if path is None:
            raise DataError(f"resource {name!r} has no `path`; add it to the package, or give both tables by name.")
    return folder / str(paths[0]), folder / str(paths[1])


def paths_in(package: Path, schema: FamilySchema) -> tuple[str | None, str | None]:
    """The paths that a data package names, for a schema that has none because it comes from a release."""
    stated = load_schema(package) if package.suffix.lower() in DOCUMENTS else None
    return stated.paths if type(stated) is FamilySchema and stated.names == schema.names else schema.paths
