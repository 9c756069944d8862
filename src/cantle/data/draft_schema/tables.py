"""Drafts of table schemas: one line per column, with blanks for what only people can know."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cantle.data.draft_schema.declared import declared, frame_columns, names_its_columns
from cantle.data.draft_schema.inferred import inferred
from cantle.data.draft_schema.proposed_rules import with_places
from cantle.data.draft_schema.table_text import entry_of, text_of
from cantle.data.file_forms import STATISTICS, ending
from cantle.data.statistics_files import book_of
from cantle.errors import ParameterError
from cantle.schema.code_books.columns import BookColumn
from cantle.schema.dialect import Dialect

LISTS_COLUMNS = True


def recognises(path: Path, ending: str, packed: bool) -> bool:  # noqa: ARG001
    """A file is taken for a table if no other kind of data recognises it."""
    return False


def needs_header(path: str | os.PathLike[str]) -> bool:
    return not names_its_columns(path)


def draft_of(path: Path, header_row: int | None) -> str:
    return draft(path, header=header_row)


def draft(
    data: object,
    *,
    header: int | None = None,
    infer: bool = False,
    book: Sequence[BookColumn] = (),
) -> str:
    """Text of a commented YAML schema with blanks (???) for what only you know: bounds, categories, precision.

    Of a data frame or Parquet file only the names and types of the columns are read, of a CSV file the header. Types of
    pandas stay blank: one record can change them, because a missing value turns whole numbers into floats.

    Parameters
    ----------
    data : path or data frame
        The table.
    header : bool or int, optional
        Whether a CSV file starts with column names, or in which line they are, if titles stand above them. It is
        required, because otherwise a record could become public.
    infer : bool
        Files only: guess bounds and categories from the values. Releases made with such a schema are NOT private.
    book : sequence of columns
        What a code book says (`cantle init --codebook`); columns that it does not have stay blank.

    Examples
    --------
    >>> import polars as pl
    >>> text = draft(pl.DataFrame({"age": [31], "weight": [70.5], "town": ["Ash"]}))
    >>> print(text[text.index("fields:"):])
    fields:
      - {name: "age", type: integer, constraints: {minimum: "???", maximum: "???"}}
      - {name: "weight", type: number, step: "???", constraints: {minimum: "???", maximum: "???"}}
      - {name: "town", type: string, categories: "???"}
    <BLANKLINE>
    missingValues: [""]  # texts that stand for a missing value, such as "NA" or "?"
    <BLANKLINE>
    """
    if not isinstance(data, str | os.PathLike):
        if infer or header is not None:
            raise ParameterError("`infer` and `header` are for files; of a data frame, names and types are read")
        columns, dialect = frame_columns(data), Dialect()
    else:
        columns, dialect = declared(Path(data), header)
        if not book and ending(data) in STATISTICS:  # its labels are its code book
            book = book_of(Path(data))
    marks = [""]
    if infer:
        columns, marks = inferred(str(data), [name for name, _, _ in columns], dialect)
    known = {one.name: one.entry() for one in book}
    fields = [known.get(name) or entry_of(name, kind, facts) for name, kind, facts in columns]
    if dialect.header:  # otherwise fields stand for columns by their order
        fields = with_places(fields)
    return text_of(fields, marks, dialect, inferred=infer)
