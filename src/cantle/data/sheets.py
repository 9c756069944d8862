"""Reader of spreadsheets (.xlsx, .ods) through fastexcel: every cell by itself, as text.

By default, fastexcel chooses the type of a column by its first thousand cells. cantle makes it read all cells as text,
so that the meaning of a cell depends on that cell alone: numbers with a decimal point and up to 15 digits, dates in ISO
form with their time, true and false. What a number format adds (percent signs, leading zeros) is not part of the cell.
Errors (#DIV/0!) and empty cells are missing. A row without any value is not a record.

Reading begins at the first row that has a value. In a sheet without a header, columns are counted from column A,
whether or not a record has a value there.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import polars as pl

from cantle.data.excel_cells import readable
from cantle.errors import DataError, MissingExtra, install_command, raise_alone

if TYPE_CHECKING:
    from cantle.schema.table import Dialect


def load() -> ModuleType:
    """The package fastexcel; MissingExtra if it is not installed."""
    try:
        import fastexcel
    except ImportError:
        raise_alone(
            MissingExtra(f"spreadsheets need fastexcel, which is not installed; {install_command('excel')} or save CSV")
        )
    return fastexcel


def read_sheet(path: Path, dialect: Dialect, fields: list[str]) -> tuple[list[str], list[pl.Series]]:
    """The names of the columns, from the header or from the schema's fields, and the columns as text."""
    places, frame = _cells(path, dialect.sheet_name)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame
    columns = frame.get_columns()
    if dialect.header:
        if not frame.height:
            raise DataError(
                f"the sheet of {path.name!r} is empty, not even a header; write one, or say `header: false`."
            )
        return ["" if one[0] is None else str(one[0]) for one in columns], [one[1:] for one in columns]
    nothing = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    by_place = dict(zip(places, columns, strict=True))
    return fields, [by_place.get(place, nothing) for place in range(len(fields))]


def _cells(path: Path, sheet: str | None) -> tuple[list[int], pl.DataFrame]:
    """The distance from column A of each column that has a value, and these columns as text."""
    excel = load()
    try:
        source = path if path.suffix.lower() == ".ods" else readable(path)
        cells = excel.read_excel(source).load_sheet(0 if sheet is None else sheet, header_row=None, dtypes="string")
        return [one.absolute_index for one in cells.selected_columns], cells.to_polars()
    except Exception:  # noqa: BLE001 - whatever the library objects to, it may do so in words that quote a value
        what = "has no such sheet, " if sheet is not None else ""
        raise_alone(DataError(f"{path.name!r} {what}is not a readable spreadsheet, or is damaged; save it again."))
