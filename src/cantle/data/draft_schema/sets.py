"""Drafts of schemas of sets. They use no value of the file; of a long table, the column names if it has any."""

from __future__ import annotations

import os
from pathlib import Path

from cantle.data.draft_schema.columns import declared, require_file
from cantle.data.file_forms import PARQUET
from cantle.data.file_forms import ending as ending_of
from cantle.data.tables import column_types
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import Dialect
from cantle.schema.documents import one_line
from cantle.schema.json_schema import EDITOR_LINE

LISTS_COLUMNS = False
LONG_TABLES = (".csv", ".tsv")
"""Endings of the files that may start with column names."""

_CHOICE = "(columns)\n"
_SETS = f"""\
# A schema says what is public about sets of items: baskets, visits, clicks; a record is one set. Fill in every {BLANK}
# from what could occur (a catalogue, a list of pages), never from the data: items and their order are published.
kind: sets

# every item that could occur, similar ones next to each other, because methods group neighbours. Whole numbers as
# {{minimum: 1, maximum: 500}}, a list such as ["bread", "milk"], or a file with one item per line, such as items.txt
items: {BLANK}

# form: long        # fimi (one record per line), long (one item per row) or list (a column of lists); by default
#                   # recognised: .dat and .txt are FIMI lines, .csv is a long table, .parquet by its columns
{_CHOICE}# column: products  # list: the column of lists (default items, or the only such column)
# unit: {{person: customer, max_records: 3}}   # long: protect people who have several sets (default: one set)
"""
_COLUMNS = """\
# id: basket        # long: the column that identifies the record (default id)
# item: product     # long: the column of the item (default item)
"""


def recognises(path: Path, ending: str, packed: bool) -> bool:  # noqa: ARG001
    """FIMI lines, and Parquet files with a column of lists and at most one other; with more it is a table."""
    return ending == ".dat" or (ending in PARQUET and os.path.exists(path) and _has_lists(path))


def _has_lists(path: Path) -> bool:
    import polars as pl

    kinds = [isinstance(kind, pl.List | pl.Array) for kind in column_types(path).values()]
    return len(kinds) <= 2 and any(kinds)


def needs_header(path: str | os.PathLike[str]) -> bool:
    return ending_of(path) in LONG_TABLES


def draft_of(path: Path, header_row: int | None) -> str:
    """The draft. If a long table has column names, in line `header_row`, the draft offers them to choose from."""
    require_file(path)
    if not header_row:
        return EDITOR_LINE + _SETS.replace(_CHOICE, _COLUMNS)
    columns, dialect = declared(path, header_row)
    text = EDITOR_LINE + _SETS.replace(_CHOICE, _to_choose([one_line(name) for name, _, _ in columns]))
    return text + (f"\ndialect: {one_line(dialect.to_dict())}\n" if dialect != Dialect() else "")


def _to_choose(names: list[str]) -> str:
    """The lines of the draft that name columns: blanks and what to choose from. Of two columns, the first one is taken
    for the set, and the other for the item."""
    id_, item = names if len(names) == 2 else [f'"{BLANK}"'] * 2
    choice = f"   # one of {', '.join(names)}" if len(names) != 2 else ""
    return f"""\
id: {id_}{choice or "   # the column that identifies the record"}
item: {item}{choice or "   # the column of the item"}
"""
