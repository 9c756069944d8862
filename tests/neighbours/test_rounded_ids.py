"""Identifiers that a spreadsheet holds as numbers: no two persons or sets become one because a number was rounded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from cantle.data.engine_choice import IN_MEMORY, EngineChoice
from cantle.data.sets import read_baskets
from cantle.schema.sets import SetSchema
from tests.neighbours.reading import table

FIELDS = [
    {"name": "who", "type": "string", "role": "identifier"},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
]
PERSONS: dict[str, Any] = {"fields": FIELDS, "unit": {"person": "who", "max_records": 1}}
SETS: dict[str, Any] = {
    "kind": "sets",
    "items": {"minimum": 1, "maximum": 9},
    "form": "long",
    "id": "who",
    "item": "age",
}
PAIRS = [("9007199254740992", "9007199254740993"), ("0", "1e-12"), ("1", "1.0000000000000002")]
"""Numbers as the cells of a file spell them, whose texts are alike after rounding."""


def sheet(path: Path, rows: list[tuple[str, int]], *, as_text: bool = False) -> Path:
    """A spreadsheet with these identifiers, as texts or as numbers in exactly this spelling."""
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        page.write_row(0, 0, ["who", "age"])
        for place, (who, age) in enumerate(rows):
            page.write_string(place + 1, 0, who) if as_text else page.write_number(place + 1, 0, 10**6 + place)
            page.write_number(place + 1, 1, age)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    for place, (who, _) in enumerate(rows):
        cell = b"<v>%d</v>" % (10**6 + place)
        name = "xl/worksheets/sheet1.xml"
        parts[name] = parts[name].replace(cell, b"<v>%b</v>" % who.encode())
    with zipfile.ZipFile(path, "w") as book:
        for name, part in parts.items():
            book.writestr(name, part)
    return path


@pytest.mark.parametrize(("pair", "engine"), [*((pair, "memory") for pair in PAIRS), (PAIRS[0], "duckdb")])
def test_persons_with_rounded_numbers_do_not_share_a_bound(pair: tuple[str, str], engine: str, tmp_path: Path) -> None:
    choice = IN_MEMORY if engine == "memory" else EngineChoice.of(engine, None, None)
    for stays, leaves in (pair, pair[::-1]):
        for age in (3, 4):
            before = sheet(tmp_path / "data.xlsx", [(stays, 7)])
            one = table("columns", choice=choice)(PERSONS, before)
            two = table("columns", choice=choice)(PERSONS, sheet(before, [(leaves, age), (stays, 7)]))
            assert not one - two
            assert (two - one).total() <= 1


def test_sets_with_rounded_numbers_are_not_joined(tmp_path: Path) -> None:
    path = sheet(tmp_path / "data.xlsx", [("9007199254740992", 1), ("9007199254740993", 2), ("7", 3)])
    assert read_baskets(path, SetSchema.from_dict(SETS)).starts.tolist() == [0, 1]


def test_long_texts_are_identifiers(tmp_path: Path) -> None:
    """Only those that a rounded number would have as its text are not."""
    path = sheet(tmp_path / "data.xlsx", [("123456789012345678", 1), ("123456789012345679", 2)], as_text=True)
    assert read_baskets(path, SetSchema.from_dict(SETS)).starts.tolist() == [0, 1, 2]
