"""The drafts of schemas of each kind of data, by its name in schemas; their texts are in the folder `texts`.

Those of sets, sequences and graphs use no value of the file; of a long table, the column names if it has any.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cantle.data.draft_schema import families, tables
from cantle.data.draft_schema.columns import declared, event_log, prepared
from cantle.data.file_forms import PARQUET
from cantle.data.file_forms import ending as ending_of
from cantle.data.tables import column_types
from cantle.errors import ParameterError
from cantle.schema import DEFAULT
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import Dialect
from cantle.schema.documents import one_line
from cantle.schema.file_bytes import UNPACKED, check_file
from cantle.schema.json_schema import EDITOR_LINE

LONG_TABLES = (".csv", ".tsv")
"""Endings of the files that may start with column names."""

_PLACE = "(columns)\n"
"""Where a text has the lines about columns."""
_SET_COLUMNS = """\
# id: basket        # long: the column that identifies the record (default id)
# item: product     # long: the column of the item (default item)
"""
_LINES = """\
# form: lines       # lines (one sequence per line), long (one event per row), list (a column of lists) or xes (an event
#                   # log); by default recognised: .seq, .dat and .txt are lines, .xes is a log, .parquet by its columns
# column: pages     # list: the column of lists (default items, or the only such column)
"""


@dataclass(frozen=True)
class DraftedKind:
    """How the schema of a kind of data is drafted."""

    draft_of: Callable[[Path, int | None], str]
    """The text of the draft; the number is the line that holds column names (0: none), if that is needed."""
    recognises: Callable[[Path, str, bool], bool]
    """Whether the name of a file, or the types that it declares, say that it is of this kind, given the ending of the
    file inside, and whether it is packed."""
    needs_header: Callable[[str | os.PathLike[str]], bool]
    """Whether a draft needs to know if the file starts with column names."""
    lists_columns: bool = False
    """Whether the draft lists columns, which a code book, answers or the values themselves can describe."""


def kind_of(path: Path, asked: str | None) -> str:
    """The kind of data: as requested, otherwise by the ending of the file's name, or by the types of a Parquet file's
    columns."""
    if asked is not None:
        if asked not in KINDS:
            *first, last = KINDS
            raise ParameterError(f"--kind must be {', '.join(first)} or {last}, got {asked!r}")
        return asked
    packed = path.suffix.lower() in UNPACKED
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if ending == ".txt" and not packed:  # as a table, its first line would become column names
        fix = "say which: --kind table, sets, sequences or graph"
        raise ParameterError(f"{path.name!r} may be a table, sets, sequences or edges; {fix}")
    return next((name for name, kind in KINDS.items() if kind.recognises(path, ending, packed)), DEFAULT)


def _may_name_columns(path: str | os.PathLike[str]) -> bool:
    return ending_of(path) in LONG_TABLES


def _text(kind: str, columns: str = "", dialect: Dialect | None = None) -> str:
    """The text of a kind, with the lines about its columns."""
    text = EDITOR_LINE + prepared(kind).replace(_PLACE, columns)
    return text + (f"\ndialect: {one_line(dialect.to_dict())}\n" if dialect not in (None, Dialect()) else "")


def _named(path: Path, header_row: int | None) -> tuple[list[str], Dialect]:
    """The names of the columns of a long table, if they are in a line of it."""
    check_file(path)
    columns, dialect = declared(path, header_row) if header_row else ([], Dialect())
    return [one_line(one.name) for one in columns], dialect


def _draft_graph(path: Path, _: int | None) -> str:
    check_file(path)
    return _text("graph")


def _draft_sets(path: Path, header_row: int | None) -> str:
    """Of two columns, the first one is taken for the set, and the other for the item."""
    names, dialect = _named(path, header_row)
    if not header_row:
        return _text("sets", _SET_COLUMNS)
    id_, item = names if len(names) == 2 else [f'"{BLANK}"'] * 2
    choice = f"   # one of {', '.join(names)}" if len(names) != 2 else ""
    lines = f"id: {id_}{choice or '   # the column that identifies the record'}\n"
    return _text("sets", f"{lines}item: {item}{choice or '   # the column of the item'}\n", dialect)


def _draft_sequences(path: Path, header_row: int | None) -> str:
    """Columns are taken as their names say; of three others, the first for the sequence and the last for the symbol."""
    if not _may_name_columns(path):
        header_row = None
    names, dialect = _named(path, header_row)
    if not _may_name_columns(path):
        return _text("sequences", _LINES)
    id_, order, item = event_log(names) or (names if len(names) == 3 else [f'"{BLANK}"'] * 3)
    choice = f"one of {', '.join(names)}: " if names else ""
    lines = f"""\
form: long
id: {id_}   # {choice}the column that identifies the sequence
item: {item}   # the column of the symbol
order: {{column: {order}, type: "{BLANK}"}}   # of positions or times; types: integer, number, date, datetime
"""
    return _text("sequences", lines, dialect)


def _is_table(*_: object) -> bool:
    """A file is taken for a table if no other kind of data recognises it."""
    return False


def _is_sets(path: Path, ending: str, _: bool) -> bool:
    """FIMI lines, and Parquet files with a column of lists and at most one other; with more it is a table."""
    import polars as pl

    if ending not in PARQUET or not os.path.exists(path):
        return ending == ".dat"
    lists = [isinstance(kind, pl.List | pl.Array) for kind in column_types(path).values()]
    return len(lists) <= 2 and any(lists)


def _is_log(_: Path, ending: str, __: bool) -> bool:
    """Lines of symbols, and event logs, by their endings."""
    return ending in (".seq", ".xes")


def _is_graph(_: Path, ending: str, packed: bool) -> bool:
    """Files of edges; a compressed file whose name does not say more can only be one."""
    return ending in (".mtx", ".edges", ".edgelist") or (packed and ending in ("", ".txt"))


KINDS: dict[str, DraftedKind] = {
    "table": DraftedKind(tables.draft_of, _is_table, tables.needs_header, lists_columns=True),
    "sets": DraftedKind(_draft_sets, _is_sets, _may_name_columns),
    "sequences": DraftedKind(_draft_sequences, _is_log, _may_name_columns),
    "graph": DraftedKind(_draft_graph, _is_graph, lambda _: False),
    "families": DraftedKind(families.draft_of, families.recognises, families.needs_header),
}
