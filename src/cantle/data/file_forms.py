"""Files and their forms: what the ending of a name means, and which files a path or pattern names."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TypeGuard

from cantle.errors import DataError
from cantle.schema.file_bytes import UNPACKED

CSV = (".csv", ".tsv", ".txt", ".data", ".test")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
JSON_LINES = (".jsonl", ".ndjson")
SHEETS = (".xlsx", ".xlsm", ".ods")
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
"""Files of SPSS, Stata and SAS."""
TABLES = CSV + PARQUET + ARROW + JSON_LINES + SHEETS + STATISTICS
"""All endings of files that hold tables."""

MOST_NAMED = 20

OnePath = str | os.PathLike[str]
Paths = OnePath | list[OnePath] | tuple[OnePath, ...]
"""A path, a pattern, a folder, or a list of them."""


def ending(path: str | os.PathLike[str]) -> str:
    """The ending that says what a file holds, in lower case, without the ending of the packing.

    >>> ending("people.CSV"), ending("people.csv.gz"), ending("people.gz")
    ('.csv', '.csv', '')
    """
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in UNPACKED else name).suffix.lower()


def are_paths(data: object) -> bool:
    """Whether a table is handed over as a path, or as a list of them.

    Only for tables: a list of sets or edges is private, and a record in it may look like a path.
    """
    if isinstance(data, list | tuple):
        return bool(data) and all(map(is_path, data))
    return is_path(data)


def is_path(data: object) -> TypeGuard[OnePath]:
    """Whether data is handed over as one path, folder or pattern."""
    return isinstance(data, str | os.PathLike)


def files(data: Paths) -> list[Path]:
    """The files meant by a path, a pattern, a folder or a list of them, in the order of their names."""
    if isinstance(data, list | tuple):
        return [path for one in data for path in files(one)]
    text, path = os.fspath(data), Path(data)
    if not text:  # Path("") would be the working folder
        raise DataError("the path is empty; name a file.")
    if os.path.isdir(path):
        paths = [one for one in sorted(path.iterdir()) if ending(one) in TABLES and one.is_file()]
    elif not os.path.exists(path) and is_pattern(text):
        paths = [Path(one) for one in sorted(glob.glob(text, recursive=True))]
    else:
        return [path]
    if not paths:
        raise DataError(f"{path.name!r} holds or matches no file with a table; check the path.")
    return paths


def taken(data: str) -> str:
    """Which files a folder or a pattern stands for, in words; empty for a single file."""
    if not os.path.isdir(data) and (os.path.exists(data) or not is_pattern(data)):
        return ""
    found = [str(path) for path in files(data)]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{data!r} stands for {len(found)} file{'s' * (len(found) > 1)}: {', '.join(found[:MOST_NAMED])}{more}"


def require_files(paths: list[Path]) -> None:
    """Refuses a file that does not exist."""
    for path in paths:
        if not os.path.exists(path):  # also false for a text that cannot be a path
            raise DataError(f"there is no file {path.name!r}; check the path.")


def is_pattern(text: str) -> bool:
    """Whether a path may stand for several files."""
    return any(mark in text for mark in "*?[")
