"""Sets larger than memory: long tables, columns of lists and FIMI lines read in batches, for engine duckdb.

cantle.data.sets defines what a record is. Here files are read some rows at a time, and DuckDB groups the rows of a long
table (cantle.trusted.counting.filed_sets). A long table may consist of several files, and a record may have rows in all
of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cantle import kernel_choice
from cantle.data import sets
from cantle.data.engine_choice import EngineChoice, Opened
from cantle.data.engines_for_tables import parquet_batches, polars_of
from cantle.data.file_forms import CSV, PARQUET, ending, files, is_path
from cantle.data.set_form import check_pair
from cantle.data.sets import AsksSets
from cantle.data.tables import Raw, column_types, header, read_batches
from cantle.errors import DataError, ParameterError
from cantle.schema.sets import SetForm, SetSchema
from cantle.trusted.counting.filed_sets import FiledSetEngine, Packed, SetFiles, sort_rows
from cantle.trusted.counting.private_database import MEMORY

if TYPE_CHECKING:
    from pyarrow import Table


def open_filed(data: object, schema: SetSchema, method: AsksSets, choice: EngineChoice) -> Opened:
    """An engine that holds the sets in files of a private folder, and the form of the input."""
    form, set_files = filed_records(data, schema, choice)
    try:
        least = method.kernels_from
        compiled = least is not None and kernel_choice.worth_loading(len(set_files.starts) - 1, least)
        return form.to_dict(), FiledSetEngine(set_files, tree=method.tree, most=method.most, compiled=compiled)
    except BaseException:
        set_files.close()
        raise


def filed_records(data: object, schema: SetSchema, choice: EngineChoice) -> tuple[SetForm, SetFiles]:
    """The form of the input, and its records in files of a private folder."""
    set_files = SetFiles()
    try:
        return _write(data, schema, choice, set_files), set_files
    except BaseException:
        set_files.close()
        raise


def _write(data: object, schema: SetSchema, choice: EngineChoice, set_files: SetFiles) -> SetForm:
    if choice.table is not None:
        raise ParameterError("table names a table of a database, and sets are read from files and frames; leave it out")
    if is_path(data):  # of a file, a folder or a pattern; a list holds sets, whatever they look like
        return _write_files(files(data), schema, choice, set_files)
    baskets = sets.read_baskets(data, schema)
    set_files.write([(baskets.starts[1:] - baskets.starts[:-1], baskets.items)])
    return baskets.form


def _write_files(paths: list[Path], schema: SetSchema, choice: EngineChoice, set_files: SetFiles) -> SetForm:
    """Writes all files, which must have the form of the first."""
    for path in paths:
        sets.check_file(path)
    endings = {ending(path) in PARQUET for path in paths}
    if len(endings) > 1:
        raise DataError("the files are of several kinds; give Parquet files only, or text files only.")
    if not endings.pop():
        return _write_text(paths, schema, choice, set_files)
    column = sets.list_column_of(paths[0], schema)
    if column is None:
        return _write_long(paths, schema, choice, set_files)
    for path in paths:
        set_files.write(_lists(path, column, schema))
    return SetForm(form="list", column=column)


def _write_text(paths: list[Path], schema: SetSchema, choice: EngineChoice, set_files: SetFiles) -> SetForm:
    kind = ending(paths[0])
    if schema.form == "long" or (schema.form is None and kind in CSV):
        return _write_long(paths, schema, choice, set_files)
    for path in paths:
        form, parts = sets.from_file(path, schema)
        set_files.write(sets.pack(*part, schema) for part in parts)
    return form


def _write_long(paths: list[Path], schema: SetSchema, choice: EngineChoice, set_files: SetFiles) -> SetForm:
    schema.require_long("this")
    for path in paths:
        if ending(path) in PARQUET:
            check_pair(f"{path.name!r}", column_types(path), schema)
        elif schema.dialect.header and ending(path) in CSV:
            check_pair(f"{path.name!r}", header(path, schema.dialect), schema)
    memory = MEMORY if choice.memory is None else choice.memory
    persons = None if schema.person is None else schema.max_records
    sort_rows(_rows(paths, schema), set_files, memory, persons, longest=schema.longest)
    return sets.long_form(schema)


def _rows(paths: list[Path], schema: SetSchema) -> Iterator[Table]:
    """The rows that have a declared item and an id, with ids of one type; and their persons, if the schema names
    them."""
    kinds: dict[str, pl.DataType] = {}
    named = dict(zip(("id", "who"), sets.id_columns(schema), strict=False))
    places = [] if schema.ordered_by is None else ["place"]
    for raw in _long_batches(paths, schema):
        keys, codes = sets.rows_of(raw.frame, schema)
        rows = {"item": pl.Series(codes), **dict(zip([*places, *named], keys, strict=True))}
        for key, name in named.items():
            if rows[key].dtype != kinds.setdefault(key, rows[key].dtype):
                raise DataError(f"column {name!r} has different types in the files; write them with one type.")
        yield pl.DataFrame(rows).to_arrow()


def _long_batches(paths: Iterable[Path], schema: SetSchema) -> Iterator[Raw]:
    table, ids = sets.as_long_table(schema)[0], sets.id_columns(schema)
    for path in paths:
        if ending(path) in PARQUET:
            for batch in parquet_batches(path, [one.name for one in table.fields]):
                yield from read_batches(polars_of(batch), table, ids=ids)
        else:
            yield from read_batches(path, table, ids=ids)


def _lists(path: Path, column: str, schema: SetSchema) -> Iterator[Packed]:
    for batch in parquet_batches(path, [column]):
        part = sets.lists_of(f"{path.name!r}", polars_of(batch)[column], schema.universe)
        yield sets.pack(*part, schema)
