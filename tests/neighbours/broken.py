"""Readers with a deliberate flaw that the tests of the law must find: the shipped reader after one wrong step.

A reader that always loses the last record is not among them, because it keeps the law: D and D' lose one record each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from cantle.errors import DataError
from tests.neighbours.law import Codes, Form

Read = Callable[[dict[str, Any], Any], Codes]


@dataclass(frozen=True)
class Flaw:
    """A form, and the flaw of its reader."""

    form: str
    broken: Callable[[Read], Read]
    shown_by: int = 0
    """A case of the form that shows the flaw; the search begins with it."""


def types_by_all_values(read: Read) -> Read:
    """Reads a column as numbers if all its values are numbers, so that one word turns 1.0 and 01 into texts."""

    def wrong(schema: dict[str, Any], data: Any) -> Codes:
        columns = {}
        for name in data.columns:
            held = pl.Series(name, [None if one is None else str(one) for one in data[name].tolist()], dtype=pl.String)
            numbers = held.cast(pl.Float64, strict=False)
            columns[name] = held if numbers.null_count() > held.null_count() else numbers
        return read(schema, pl.DataFrame(columns))

    return wrong


def refuses_words(read: Read) -> Read:
    """Raises an error for a word in a column of numbers."""

    def wrong(schema: dict[str, Any], data: Any) -> Codes:
        if any(str(kind) == "object" for kind in data.dtypes):
            raise DataError("the frame holds a column of objects; give numbers.")
        return read(schema, data)

    return wrong


def keeps_what_another_said(read: Read) -> Read:
    """Raises our error together with that of a library, which may quote a value."""

    def wrong(schema: dict[str, Any], data: Any) -> Codes:
        try:
            return read(schema, [*data, *[int(one) for one in data if isinstance(one, str)]])
        except ValueError:
            raise DataError("the sets cannot be read.") from None

    return wrong


def reads_in_twos(read: Read) -> Read:
    """Loses the last one of an odd number of records."""
    return lambda schema, data: read(schema, data[: len(data) // 2 * 2])


def counts_lines_in_the_message(read: Read) -> Read:
    """Raises the same error for all inputs, but with the number of records."""

    def wrong(_schema: dict[str, Any], data: Any) -> Codes:
        raise DataError(f"none of the {len(data)} records can be read.")

    del read
    return wrong


def decodes_with_a_state(read: Read) -> Read:
    """Reads letters and digits differently after a shift byte, even on later lines."""

    def wrong(schema: dict[str, Any], data: Path) -> Codes:
        before, shift, after = data.read_bytes().partition(b"\x0e")
        data.write_bytes(before + shift + after.translate(bytes((i + 1) % 256 if i > 47 else i for i in range(256))))
        return read(schema, data)

    return wrong


def takes_the_first_line_for_names(read: Read) -> Read:
    """Takes the first record of a file without header for the header, which gives the number of columns."""

    def wrong(schema: dict[str, Any], data: Path) -> Codes:
        lines = data.read_bytes().split(b"\n")
        data.write_bytes(b"\n".join([line for line in lines if line.count(b",") == lines[0].count(b",")]))
        return read(schema, data)

    return wrong


def numbers_persons_by_order(read: Read) -> Read:
    """Takes every four consecutive rows for one person, and ignores identifiers."""

    def wrong(schema: dict[str, Any], data: Any) -> Codes:
        if isinstance(data, pl.LazyFrame):
            data = data.collect()
        return read(schema, data.with_columns(who=pl.int_range(pl.len(), dtype=pl.Int64) // 4))

    return wrong


def melts_identifiers(read: Read) -> Read:
    """Turns identifiers into floats if one is missing."""

    def wrong(schema: dict[str, Any], data: Any) -> Codes:
        if data["who"].dtype == pl.Int64 and data["who"].null_count():
            data = data.with_columns(who=pl.col("who").cast(pl.Float64).cast(pl.Int64))
        return read(schema, data)

    return wrong


def samples_by_row(read: Read) -> Read:
    """Leaves out every third record by position."""
    return lambda schema, data: read(schema, [one for i, one in enumerate(data) if i % 3 != 1])


def types_by_the_sheet(read: Read) -> Read:
    """Chooses the type of a column that fits all its cells."""

    def wrong(schema: dict[str, Any], data: Path) -> Codes:
        import fastexcel

        header = schema["dialect"]["header"]
        try:
            sheet = fastexcel.read_excel(data).load_sheet(0, header_row=0 if header else None).to_polars()
        except fastexcel.FastExcelError:
            return read(schema, data)
        names = [one["name"] for one in schema["fields"]]
        if sheet.width < len(names):
            return read(schema, data)
        return read(
            schema, sheet.select(pl.nth(range(len(names)))).rename(dict(zip(sheet.columns, names, strict=False)))
        )

    return wrong


FLAWS = {
    "types by the sheet": Flaw("Excel", types_by_the_sheet),
    "types by all values": Flaw("pandas, from lists", types_by_all_values, 56),
    "refuses words": Flaw("pandas, from lists", refuses_words),
    "keeps what another said": Flaw("sets, Python lists", keeps_what_another_said, 23),
    "reads in twos": Flaw("sets, Python lists", reads_in_twos),
    "samples by row": Flaw("graph, list of pairs", samples_by_row),
    "counts lines in the message": Flaw("sets, Python lists", counts_lines_in_the_message),
    "decodes with a state": Flaw("sets, FIMI", decodes_with_a_state, 29),
    "takes the first line for names": Flaw("CSV", takes_the_first_line_for_names, 152),
    "numbers persons by order": Flaw("persons, polars declared", numbers_persons_by_order),
    "numbers persons of sets by order": Flaw("sets, persons, polars", numbers_persons_by_order),
    "melts identifiers": Flaw("persons, polars declared", melts_identifiers),
}


def broken(flaw: Flaw, forms: list[Form]) -> tuple[Form, Form]:
    """The form with its reader broken, and the same form unchanged."""
    form = next(one for one in forms if one.name == flaw.form and one.engine == "memory")
    return replace(form, read=flaw.broken(form.read)), form
