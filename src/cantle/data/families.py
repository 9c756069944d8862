"""Readers of families: two linked tables, joined by key (cantle.trusted.bounding.families).

Each table is read like a table of persons, with its key as the column of persons: the rules for identifiers hold, rows
without a key are dropped, and so are rows without a required value. A row maps to its key and
its codes by itself. Nothing is said about children without a parent, or about a parent that is there twice.

The data is a mapping of two sources by the names of the resources; or the path of the data package or of its folder,
relative to which the resources name their files; or one workbook or a database, whose sheets or tables are named like
the resources.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cantle.data import engines_for_tables
from cantle.data.arrow_batches import polars_of
from cantle.data.draft_schema.families import DOCUMENTS
from cantle.data.engine_choice import EVERY_ENGINE, IN_MEMORY, POLARS, EngineChoice, Opened, refuse_nodes
from cantle.data.engines_for_tables import frames_in, person_codes
from cantle.data.file_forms import SHEETS, TABLES, ending, is_path
from cantle.errors import DataError, ParameterError, raise_alone
from cantle.schema import load_schema
from cantle.schema.domain import Domain
from cantle.schema.families import FamilySchema
from cantle.schema.table import TableSchema
from cantle.trusted.bounding.families import Families, Order, as_children, families_of, is_of_children
from cantle.trusted.bounding.persons import PERSON
from cantle.trusted.counting.families import FamilyEngine
from cantle.trusted.geometry.views import FamilyDomain

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from cantle.trusted.counting.spark.families import SparkFamilies

ENGINES = EVERY_ENGINE


def refuse_early(data: object, schema: FamilySchema, choice: EngineChoice, nodes: object) -> None:
    """Refuses a list of nodes, data that does not name both tables, and files that do not exist or whose reader is not
    installed."""
    refuse_nodes(nodes)
    if choice.table is not None:
        raise ParameterError("families are two tables, which the package names; leave --table out")
    if choice.engine == "database":
        choice.require(data)
    for source, table, place in zip(*read_from(data, schema, choice), schema.names, strict=True):
        of_one = replace(choice, table=place) if choice.engine == "database" else choice
        engines_for_tables.refuse_early(source, table, of_one, None)


def open_engine(
    data: object,
    schema: FamilySchema,
    method: object,  # noqa: ARG001 - the schema says all that is counted
    choice: EngineChoice,
    nodes: object,  # noqa: ARG001 - refused before
) -> Opened:
    """An engine that holds the families, and the kind of frame of the input."""
    if choice.engine == "spark":
        return POLARS, _open_spark(sources(data, schema, choice), schema)
    kinds: list[str] = []
    domain, order = FamilyDomain(*schema.sizes, schema.max_children), order_of(schema)
    groups = choice.store.together(_rows(data, schema, choice, kinds), PERSON)
    engine = FamilyEngine((families_of(group, domain, order) for group in groups), domain, choice.store)
    return {"frame": kinds[0]} if choice.engine == "memory" else POLARS, engine


def _open_spark(both: tuple[object, object], schema: FamilySchema) -> SparkFamilies:
    """An engine whose workers join both tables by key."""
    from cantle.trusted.counting import spark
    from cantle.trusted.counting.spark.families import SparkFamilies

    with engines_for_tables.spark_session(*both) as (session, own):
        frames, encode = [], []
        for place, (source, table, domain) in enumerate(zip(both, schema.tables, schema.domains, strict=True)):
            columns, encoder = engines_for_tables.wanted(table), _encoder(table, domain, of_children=place == 1)
            frames.append(spark.select(engines_for_tables.spark_frame(session, source, table, columns), columns))
            encoder(spark.nothing_of(frames[-1]))  # judges types
            encode.append(encoder)
        joined = FamilyDomain(*schema.sizes, schema.max_children)
        return SparkFamilies(frames, encode, joined, order_of(schema), own=own)


def _encoder(table: TableSchema, domain: Domain, *, of_children: bool) -> Callable[[RecordBatch], pl.DataFrame]:
    """What workers do with a batch: rows with their keys, those of children marked."""

    def encode(batch: RecordBatch) -> pl.DataFrame:
        rows = person_codes(polars_of(batch), table, domain)
        return as_children(rows) if of_children else rows

    return encode


def order_of(schema: FamilySchema) -> Order:
    """The order of children in codes."""
    columns = schema.domains[1].attributes
    place = {one.name: number for number, one in enumerate(columns)}
    nulls = [one.bins if one.nullable else -1 for one in columns]
    return Order(tuple((place[name], nulls[place[name]], falls) for name, falls in schema.order))


def read_families(data: object, schema: FamilySchema) -> Families:
    """The families of both tables, in memory."""
    rows = list(_rows(data, schema, IN_MEMORY, []))
    return families_of(rows, FamilyDomain(*schema.sizes, schema.max_children), order_of(schema))


def keys_of(data: object, schema: FamilySchema) -> tuple[pl.Series, pl.Series]:
    """The keys of the rows of both tables that would be counted."""
    rows = list(_rows(data, schema, IN_MEMORY, []))
    parents = [one[PERSON].cast(pl.String) for one in rows if not is_of_children(one)]
    children = [one[PERSON].cast(pl.String) for one in rows if is_of_children(one)]
    return pl.concat(parents), pl.concat(children)


def _rows(data: object, schema: FamilySchema, choice: EngineChoice, kinds: list[str]) -> Iterator[pl.DataFrame]:
    """The rows of both tables with their keys, those of children marked; the kinds of the frames are added to
    `kinds`."""
    both = zip(*read_from(data, schema, choice), schema.domains, schema.names, (False, True), strict=True)
    for source, table, domain, name, of_children in both:
        of_one = replace(choice, table=name) if choice.engine == "database" else choice
        try:
            for frame in frames_in(source, table, of_one, kinds):
                rows = person_codes(frame, table, domain)
                yield as_children(rows) if of_children else rows
        except DataError as error:
            raise_alone(DataError(f"resource {name!r}: {error}"))


def read_from(
    data: object, schema: FamilySchema, choice: EngineChoice
) -> tuple[tuple[object, object], tuple[TableSchema, TableSchema]]:
    """The sources of parents and of children, and the schemas to read them by: of one workbook, the sheets that are
    named like the resources, unless the package names others."""
    both = sources(data, schema, choice)
    if choice.engine == "database" or not all(map(is_path, both)) or both[0] != both[1]:
        return both, schema.tables
    if ending(Path(str(both[0]))) not in SHEETS:
        raise DataError(f"both resources name {Path(str(both[0])).name!r}; each table is a file or a sheet of its own.")
    first, second = (
        table if table.dialect.sheet_name else replace(table, dialect=replace(table.dialect, sheet_name=name))
        for table, name in zip(schema.tables, schema.names, strict=True)
    )
    return both, (first, second)


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
    given = Path(data)
    if ending(given) in SHEETS:
        return data, data
    if not given.is_dir():
        _require_package(data)
    folder = given if given.is_dir() else given.parent
    paths = schema.paths if None not in schema.paths or given.is_dir() else paths_in(given, schema)
    for name, path in zip(schema.names, paths, strict=True):
        if path is None:
            raise DataError(f"resource {name!r} has no `path`; add it to the package, or give both tables by name.")
    return folder / str(paths[0]), folder / str(paths[1])


def _require_package(data: str | os.PathLike[str]) -> None:
    """Refuses paths that are no data package, because the files beside them are not what the user means."""
    name = Path(data).name
    if "://" in os.fspath(data):
        raise ParameterError("a database is read by engine database: add --engine database (engine='database')")
    if ending(data) in TABLES:
        raise DataError(f"{name!r} is one table; give the data package, whose resources name both files.")
    if Path(data).suffix.lower() not in DOCUMENTS:
        fix = "give the package or its folder, a workbook, or the URL of a database with --engine database"
        raise DataError(f"{name!r} is no data package (.yaml, .json); {fix}.")


def paths_in(package: Path, schema: FamilySchema) -> tuple[str | None, str | None]:
    """The paths that a data package names, for a schema that has none because it comes from a release."""
    stated = load_schema(package) if package.suffix.lower() in DOCUMENTS else None
    return stated.paths if type(stated) is FamilySchema and stated.names == schema.names else schema.paths
