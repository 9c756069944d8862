"""Drafts of schemas of sequences. They use no value of the file; of a long table, the column names if it has any."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cantle.data.draft_schema import sets
from cantle.data.draft_schema.columns import declared, require_file
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import Dialect
from cantle.schema.documents import one_line
from cantle.schema.json_schema import EDITOR_LINE

LISTS_COLUMNS = False

_LONG = ("case", "time", "activity")
_TEXT = f"""\
# A schema says what is public about sequences of symbols: click paths, trips, process logs; a record is one sequence.
# Fill in every {BLANK} from what could occur (a list of pages, stations, activities), never from the data.
kind: sequences

# every symbol that could occur. Whole numbers as {{minimum: 1, maximum: 500}}, a list such as ["home", "news"], or a
# file with one symbol per line, such as pages.txt
items: {BLANK}

%s# max_length: 1000  # of a longer sequence the first so many symbols are used (at most 5040)
# unit: {{person: patient, max_records: 3}}   # long: protect people who have several sequences (default: one)
"""
_LINES = """\
# form: lines       # lines (one sequence per line), long (one event per row), list (a column of lists) or xes (an event
#                   # log); by default recognised: .seq, .dat and .txt are lines, .xes is a log, .parquet by its columns
# column: pages     # list: the column of lists (default items, or the only such column)
"""


def recognises(path: Path, ending: str, packed: bool) -> bool:  # noqa: ARG001
    """Lines of symbols, and event logs, by their endings."""
    return ending in (".seq", ".xes")


def needs_header(path: str | os.PathLike[str]) -> bool:
    return sets.needs_header(path)


def draft_of(path: Path, header_row: int | None) -> str:
    """The draft. If a long table has column names, in line `header_row`, the draft offers them to choose from."""
    require_file(path)
    if not sets.needs_header(path):
        return EDITOR_LINE + _TEXT % _LINES
    names, dialect = list[str](), Dialect()
    if header_row:
        columns, dialect = declared(path, header_row)
        names = [one_line(name) for name, _, _ in columns]
    text = EDITOR_LINE + _TEXT % _columns(names)
    return text + (f"\ndialect: {one_line(dialect.to_dict())}\n" if dialect != Dialect() else "")


def event_log(names: Sequence[str]) -> list[str] | None:
    """The columns of sequence, order and symbol, if their names say so and none else does."""
    found = [[name for name in names if word in name.lower()] for word in _LONG]
    apart = len({name for some in found for name in some}) == len(_LONG)
    return [some[0] for some in found] if apart and all(len(some) == 1 for some in found) else None


def _columns(names: list[str]) -> str:
    """The lines that name the columns: as the names say; of three others, the first is taken for the sequence and the
    last for the symbol."""
    id_, order, item = event_log(names) or (names if len(names) == 3 else [f'"{BLANK}"'] * 3)
    choice = f"one of {', '.join(names)}: " if names else ""
    return f"""\
form: long
id: {id_}   # {choice}the column that identifies the sequence
item: {item}   # the column of the symbol
order: {{column: {order}, type: "{BLANK}"}}   # of positions or times; types: integer, number, date, datetime
"""
