"""A release in one file for programs of statistics: Excel, SPSS or Stata, with the labels of its code book.

It is made from the release alone. R reads the last two with labels (package haven), or the folder by a script.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from cantle.drawing.records import with_texts
from cantle.errors import MissingExtra, OutputError, ParameterError, install_command, raise_alone
from cantle.release import Release
from cantle.release.kinds import texts_of
from cantle.release.schemas import attributes_of
from cantle.release.storage import as_polars
from cantle.release.words import labels_of

MOST_ROWS = 1_048_575
"""Rows that a sheet holds below its first one."""


def bundle(release: Release, target: Path) -> None:
    """Writes the file; its ending says which."""
    write = WRITERS.get(target.suffix.lower())
    if write is None:
        raise ParameterError(f"the file must end in {', '.join(WRITERS)}, got {target.name!r}")
    if not attributes_of(release.manifest):
        raise ParameterError("only a release of a table fits into one such file; the others are text files already")
    try:
        write(release, with_texts(as_polars(release.records, release.manifest)), target)
    except OSError as error:
        raise_alone(OutputError(f"cannot write {target}: {error.strerror}"))


def _titles(release: Release, frame: pl.DataFrame) -> list[str]:
    """The full name of each column, where the schema has one."""
    declared: Any = release.manifest.schema["fields"]
    titles = {one["name"]: str(one.get("title") or one["name"]) for one in declared}
    return [titles.get(name, name) for name in frame.columns]


def _excel(release: Release, frame: pl.DataFrame, target: Path) -> None:
    """Four sheets: the data, the codes with their labels, the statement, the accuracy."""
    if find_spec("xlsxwriter") is None:
        raise MissingExtra(f"Excel files need the package xlsxwriter; install it with: {install_command('excel')}")
    from xlsxwriter import Workbook

    if len(frame) > MOST_ROWS:
        raise ParameterError(f"a sheet holds at most {MOST_ROWS:,} records; the release has {len(frame):,}")
    codes = [
        (name, str(value), label) for name, some in labels_of(release.manifest).items() for value, label in some.items()
    ]
    titles = [(name, "", title) for name, title in zip(frame.columns, _titles(release, frame), strict=True)]
    sheets = {
        "data": frame,
        "codes": pl.DataFrame(titles + codes, schema=["column", "value", "label"], orient="row"),
        "statement": pl.DataFrame({"statement": release.statement.splitlines()}),
        "accuracy": pl.DataFrame({"accuracy": list(texts_of(release.manifest).accuracy) or ["not measured"]}),
    }
    # Texts stay texts: a released value that starts with = is no formula, and one that looks like a link is none.
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with Workbook(target, plain) as book:
        for name, sheet in sheets.items():
            sheet.write_excel(book, name, autofit=name != "statement")


def _statistics(release: Release, frame: pl.DataFrame, target: Path) -> None:
    """Writes a file of SPSS or Stata. Their names of columns are narrower than ours."""
    of_stata = target.suffix.lower() == ".dta"
    if find_spec("pyreadstat") is None:
        raise MissingExtra(f"this needs the package pyreadstat; install it with: {install_command('statistics')}")
    import pyreadstat

    for name in frame.columns:
        if not re.fullmatch(r"[A-Za-z]\w{0,31}", name, re.ASCII):
            raise ParameterError(
                f"column {name!r} has a name that this format does not allow (up to 32 letters, digits, _): use .xlsx"
            )
    labels = labels_of(release.manifest)
    if of_stata:  # Stata labels whole numbers only
        labels = {name: some for name, some in labels.items() if all(type(value) is int for value in some)}
    flags = [name for name, kind in frame.schema.items() if kind == pl.Boolean]
    labels |= {name: {0: "false", 1: "true"} for name in flags}
    numbers = frame.with_columns(pl.col(flags).cast(pl.Int8))
    options = {} if of_stata else {"row_compress": True}
    write: Callable[..., None] = pyreadstat.write_dta if of_stata else pyreadstat.write_sav
    write(numbers, str(target), column_labels=_titles(release, frame), variable_value_labels=labels, **options)


def _r_script(release: Release, frame: pl.DataFrame, target: Path) -> None:  # noqa: ARG001 - it reads any release
    """Writes the R functions that read a release with its labels."""
    script = files("cantle.release").joinpath("read_release.R").read_text("utf-8")
    target.write_text(script, encoding="utf-8", newline="\n")


WRITERS: dict[str, Callable[[Release, pl.DataFrame, Path], None]] = {
    ".xlsx": _excel,
    ".sav": _statistics,
    ".dta": _statistics,
    ".r": _r_script,
}
"""What writes the file, by its ending."""
