"""Tables in other files: packed files, UTF-16, several files, JSON Lines, Arrow, spreadsheets."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import warnings
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

import polars as pl
import pyreadstat
import xlsxwriter
import zstandard

from tests.neighbours.batches import PAIRS, TYPES, Records, batched, hand_over, other, write_csv, write_json
from tests.neighbours.csvfiles import SAFE, WIDE, csv_pair
from tests.neighbours.frames import WRITABLE, in_parquet, polars_frame
from tests.neighbours.law import Form, Pair, adds_at_most, files, inserted
from tests.neighbours.reading import table
from tests.neighbours.values import DAYS, FLOATS, INTS, TIMES, WORDS, document, fields_of

# ---- CSV in other files ---------------------------------------------------------------------------------------


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".zst": zstandard.compress, ".xz": lzma.compress, ".bz2": bz2.compress,
}  # fmt: skip


def packed(dice: Random, folder: Path) -> Pair:
    """Pairs of packed CSV files."""
    plain, paths = csv_pair(SAFE)(dice, folder), []
    ending, pack = dice.choice(list(PACKINGS.items()))
    for source in (plain.before, plain.after):
        path = source.with_name(source.name + ending)
        path.write_bytes(pack(source.read_bytes()))
        paths.append(path)
    return Pair(plain.schema, *paths, plain.rule, plain.shown)


def in_several(dice: Random, folder: Path) -> Pair:
    """Pairs of tables in two files each, given as a list, a folder or a pattern; the added record may be in either."""
    single, paths = csv_pair(SAFE)(dice, folder), []
    how, first = dice.choice(["list", "folder", "pattern"]), dice.random() < 0.5
    for source in (single.before, single.after):
        place = source.parent / "both"
        place.mkdir(exist_ok=True)
        for old in place.iterdir():
            old.unlink()
        ending = source.suffix
        parts = [place / f"a{ending}", place / f"b{ending}"]
        parts[0 if first else 1].write_bytes(source.read_bytes())
        parts[1 if first else 0].write_bytes(single.before.read_bytes())
        paths.append({"list": parts, "folder": place, "pattern": str(place / f"*{ending}")}[how])
    return Pair(single.schema, *paths, single.rule, f"{how}: {single.shown}")


# ---- JSON Lines -----------------------------------------------------------------------------------------------

BROKEN = [b"", b" ", b"{", b"[1]", b"7", b'{"word": "A', b'"x"', b"\xff", b'{"word": "\\ud800"}', b'{"word": NaN}',
          b"[" * 5000, b'{"word": {"a": 1}}', b'{"word": [1]}', b'{"word": 1, "word": "Ash"}', b"\xef\xbb\xbf{}",
          b'{"coded": 1e0}', b'{"coded": 01}', b'{"whole": 99999999999999999999}']  # fmt: skip


def json_pair(dice: Random, folder: Path) -> Pair:
    """Two files of which the second has one more line, possibly one that no writer would write."""
    fields, end = fields_of(dice, 4), dice.choice([b"\n", b"\r\n", b"\r"])

    def line() -> bytes:
        if dice.random() < 0.3:
            return dice.choice(BROKEN)
        chosen = [name for name in fields if dice.random() < 0.8]
        values = {name: dice.choice([*WORDS, *INTS, *FLOATS[:8], True, False, None]) for name in chosen}
        return json.dumps(values, ensure_ascii=dice.random() < 0.5).encode("utf-8", "replace")

    lines = [line() for _ in range(dice.randint(0, 6))]
    more = inserted(dice, lines, [line()])
    last = end if dice.random() < 0.7 else b""
    paths = files(folder, "data.jsonl", *(end.join(part) + (last if part else b"") for part in (lines, more)))
    return Pair(document(fields), *paths, adds_at_most(1), f"{lines} {more}")


def write_json_lines(records: Records, folder: Path) -> Path:
    return write_json(records, folder).rename(folder / "data.jsonl")


# ---- Arrow ----------------------------------------------------------------------------------------------------


def in_arrow(dice: Random, folder: Path) -> Pair:
    """Arrow files of frames with declared types."""
    in_files, paths = in_parquet(WRITABLE, polars_frame)(dice, folder), []
    for source in (in_files.before, in_files.after):
        path = source.with_suffix(".feather")
        pl.read_parquet(source).write_ipc(path, compression=dice.choice(["uncompressed", "lz4"]))
        paths.append(path)
    return Pair(in_files.schema, *paths, in_files.rule, in_files.shown)


def write_arrow(records: Records, folder: Path) -> Path:
    hand_over(records, folder).write_ipc(folder / "data.arrow", record_batch_size=7)
    return folder / "data.arrow"


# ---- spreadsheets ---------------------------------------------------------------------------------------------

Rows = list[list[Any]]
OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def xlsx(rows: Rows, path: Path, notes: str | None = None) -> None:
    """Writes rows as Excel does: cells have types of their own, dates are numbers with a format; notes come first."""
    held = io.BytesIO()
    with xlsxwriter.Workbook(held, {"in_memory": True, "strings_to_numbers": False, "strings_to_urls": False}) as book:
        if notes is not None:
            book.add_worksheet("Notes").write_string(0, 0, notes)
        sheet = book.add_worksheet("Sheet1")
        shown = {date: "dd.mm.yyyy", datetime: "yyyy-mm-dd hh:mm:ss", float: "0.0%", int: "000"}
        formats = {kind: book.add_format({"num_format": text}) for kind, text in shown.items()}
        for at, row in enumerate(rows):
            for place, value in enumerate(row):
                if isinstance(value, date) and value.year >= 1900:
                    sheet.write_datetime(at, place, value, formats[type(value)])
                elif isinstance(value, bool):
                    sheet.write_boolean(at, place, value)
                elif isinstance(value, int | float) and abs(value) < 1e300:
                    sheet.write_number(at, place, value, formats[type(value)] if at % 2 else None)
                elif value is not None:
                    sheet.write_string(at, place, "".join(c for c in str(value) if c >= " ")[:32_000])
    path.write_bytes(held.getvalue())


def ods(rows: Rows, path: Path, notes: str | None = None) -> None:
    """Writes the same as an OpenDocument sheet."""

    def cell(value: Any) -> str:
        if value is None or value == "":
            return "<table:table-cell/>"
        kind, attribute = "string", ""
        if isinstance(value, bool):
            kind, attribute = "boolean", f' office:boolean-value="{str(value).lower()}"'
        elif isinstance(value, date):
            kind, attribute = "date", f' office:date-value="{value.isoformat()}"'
        elif isinstance(value, int | float) and abs(value) < 1e300:
            kind, attribute = "float", f' office:value="{value!r}"'
        text = quoteattr("".join(c for c in str(value) if c >= " "))[1:-1]
        return f'<table:table-cell office:value-type="{kind}"{attribute}><text:p>{text}</text:p></table:table-cell>'

    def table(name: str, rows: Rows) -> str:
        body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        return f'<table:table table:name="{name}">{body}</table:table>'

    spaces = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in ("office", "table", "text"))
    content = ("" if notes is None else table("Notes", [[notes]])) + table("Sheet1", rows)
    for element in ("office:spreadsheet", "office:body", "office:document-content"):
        content = f"<{element}{' ' + spaces if element.endswith('content') else ''}>{content}</{element}>"
    manifest = f'<manifest:manifest xmlns:manifest="{OPEN}:manifest:1.0"/>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)


CELLS: list[Any] = [*INTS, *FLOATS, *WORDS, *DAYS, *TIMES[:4], True, False, None, None, None]


Write = Callable[[Rows, Path, str | None], None]


def sheet_pair(write: Write, name: str) -> Callable[[Random, Path], Pair]:
    """Two sheets of which the second has one more row, with and without a header, empty rows and empty columns."""

    def pair(dice: Random, folder: Path) -> Pair:
        fields, header, named = fields_of(dice, 3), dice.random() < 0.5, dice.random() < 0.3
        tame = dice.choice([CELLS, INTS, [None, 1], WORDS])
        titles = [dice.choice([[], ["Ward 7"], [None, 2024]]) for _ in range(dice.randint(0, 3))] if header else []

        def row(cells: list[Any]) -> list[Any]:
            size = len(fields) + dice.randint(-1, 1)
            return [None if dice.random() < 0.3 else dice.choice(cells) for _ in range(size)]

        rows = [row(tame) for _ in range(dice.randint(0, 5))]
        both, paths = (rows, inserted(dice, rows, [row(CELLS)])), []
        for part, held in zip(("one", "two"), both, strict=True):
            (folder / part).mkdir(exist_ok=True)
            paths.append(folder / part / name)
            write([*titles, fields, *held] if header else held, paths[-1], "made up" if named else None)
        dialect = {"header": header} | ({"sheetName": "Sheet1"} if named else {})
        dialect |= {"headerRow": len(titles) + 1} if titles else {}
        return Pair(document(fields, dialect=dialect), *paths, adds_at_most(1), f"{dialect} {both}")

    return pair


def write_sheet(write: Write, name: str) -> Callable[[Records, Path], Path]:
    """A batch of pairs as one sheet; cells of one column have several types."""

    def make(records: Records, folder: Path) -> Path:
        rows = [[other(value) if place else value for place, value in enumerate(record)] for record in records]
        write([list(TYPES), *rows], folder / name, None)
        return folder / name

    return make


# ---- SPSS, Stata, SAS -----------------------------------------------------------------------------------------

STATISTICS = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "numbers": (pl.Float64, [*(float(one) for one in INTS), *(one for one in FLOATS if abs(one) < 1e30), None]),
    "texts": (pl.String, [*(one[:200] for one in WORDS if "\x00" not in one), ""]),
    "days": (pl.Date, [*DAYS, None]),
    "moments": (pl.Datetime("us"), [*TIMES[:4], None]),
}


def write_statistics(columns: dict[str, tuple[str, list[Any]]], path: Path, dice: Random | None = None) -> Path:
    """Writes columns of these kinds; with dice also bytes that are no text, in the place of others."""
    frame = pl.DataFrame({name: pl.Series(held, dtype=KINDS[kind][0]) for name, (kind, held) in columns.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        STATISTICS[path.suffix](frame, str(path))
    if dice is not None:
        path.write_bytes(path.read_bytes().replace("é".encode(), dice.choice([b"\xff\xfe", "é".encode()])))
    return path


def statistics_pair(name: str) -> Callable[[Random, Path], Pair]:
    """Two files of which the second has one more record; each column has a declared kind."""

    def pair(dice: Random, folder: Path) -> Pair:
        fields = fields_of(dice, 3)
        kinds = {field: dice.choice(list(KINDS)) for field in fields}
        tame = dice.random() < 0.5

        def record(*, added: bool) -> list[Any]:
            pools = (KINDS[kind][1] for kind in kinds.values())
            return [dice.choice(pool if added or not tame else pool[:3]) for pool in pools]

        records = [record(added=False) for _ in range(dice.randint(1, 5))]
        both, paths, bytes_of = (records, inserted(dice, records, [record(added=True)])), [], Random(dice.random())
        state = bytes_of.getstate()
        for part, held in zip(("one", "two"), both, strict=True):
            (folder / part).mkdir(exist_ok=True)
            bytes_of.setstate(state)
            columns = {f: (kind, [row[at] for row in held]) for at, (f, kind) in enumerate(kinds.items())}
            paths.append(write_statistics(columns, folder / part / name, bytes_of))
        return Pair(document(fields), *paths, adds_at_most(1), f"{kinds} {both}")

    return pair


def write_batch_of_statistics(name: str) -> Callable[[Records, Path], Path]:
    """A batch of pairs as one file."""
    kinds = {"whole": "numbers", "real": "numbers", "coded": "numbers", "flag": "numbers", "pair": "numbers"}
    kinds |= {"word": "texts", "folded": "texts", "day": "days", "hour": "moments"}

    def make(records: Records, folder: Path) -> Path:
        def cell(kind: str, value: Any) -> Any:
            if kind == "numbers":
                return None if value is None or abs(value) > 1e30 or value != value else float(value)
            return (value or "") if kind == "texts" else value

        columns = {
            field: (kinds[field], [cell(kinds[field], record[at]) for record in records])
            for at, field in enumerate(TYPES)
        }
        return write_statistics(columns, folder / name)

    return make


def rewritten(change: Callable[[bytes], bytes], name: str) -> Callable[[Records, Path], Path]:
    """A batch of pairs as one CSV file with changed bytes."""

    def make(records: Records, folder: Path) -> Path:
        (folder / name).write_bytes(change(write_csv(records, folder).read_bytes()))
        return folder / name

    return make


def utf_16(text: bytes) -> bytes:
    return text.decode().encode("utf-16")


def halves(records: Records, folder: Path) -> list[Path]:
    """A batch of pairs as two CSV files."""
    paths = []
    for part, held in enumerate((records[::2], records[1::2])):
        paths.append(write_csv(held, folder).rename(folder / f"part{part}.csv"))
    return paths


def both_ways(name: str, pair: Any, make: Callable[[Records, Path], Any]) -> list[Form]:
    """Two forms: single pairs with everything that files may contain, and many more pairs in batches."""
    return [
        Form(name, "memory", pair, table(), 100),
        Form(f"{name}, in batches", "memory", batched(make, PAIRS), table(), 400, name, PAIRS),
    ]


FORMS = [
    *both_ways("CSV, packed", packed, rewritten(gzip.compress, "data.csv.gz")),
    *both_ways("CSV, UTF-16", csv_pair(WIDE), rewritten(utf_16, "data.csv")),
    *both_ways("CSV, several files", in_several, halves),
    *both_ways("JSON Lines", json_pair, write_json_lines),
    *both_ways("Arrow", in_arrow, write_arrow),
    *both_ways("Excel", sheet_pair(xlsx, "data.xlsx"), write_sheet(xlsx, "data.xlsx")),
    *both_ways("ODS", sheet_pair(ods, "data.ods"), write_sheet(ods, "data.ods")),
    *both_ways("SPSS", statistics_pair("data.sav"), write_batch_of_statistics("data.sav")),
    *both_ways("Stata", statistics_pair("data.dta"), write_batch_of_statistics("data.dta")),
    *both_ways("SAS", statistics_pair("data.xpt"), write_batch_of_statistics("data.xpt")),
]
