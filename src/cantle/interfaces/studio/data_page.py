"""Step 1, Data: a file on this machine, chosen by its path or from a list, or uploaded. Only its header is read."""

from __future__ import annotations

import json
import os
from pathlib import Path

from starlette.responses import Response

from cantle.data.draft_schema.families import DOCUMENTS, draft_package
from cantle.data.draft_schema.kinds import KINDS as DRAFTS
from cantle.data.draft_schema.kinds import kind_of
from cantle.errors import CantleError, DataError, ParameterError
from cantle.interfaces.studio import commands
from cantle.interfaces.studio.pages import Visit, go, page
from cantle.interfaces.studio.project import KINDS, SCHEMA, write
from cantle.interfaces.studio.studio import Studio
from cantle.schema import DEFAULT, PACKAGE
from cantle.schema.file_bytes import UNPACKED
from cantle.schema.json_schema import FILE_NAME, json_schema

_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".sav", ".dta", ".sas7bdat", ".xlsx", ".arrow", ".jsonl")
_PACKAGE = "datapackage.yaml"
_PACKAGES = tuple(f"datapackage{ending}" for ending in DOCUMENTS)
_ENDINGS = (*_TABLES, *_PACKAGES, ".dat", ".mtx", ".edges", ".edgelist", *UNPACKED)
_MOST_SHOWN = 500


def show(studio: Studio, visit: Visit, error: str = "", folder: Path | None = None) -> Response:
    """The page."""
    given = Path(os.path.abspath(folder or studio.folder))
    folders, files, more = _listed(given)
    data, kind = studio.data, visit.text("kind")
    guess = kind or _kind(Path(data)) if data else DEFAULT
    schema = studio.schema
    asked = [name for name, drafted in DRAFTS.items() if data and drafted.needs_header(data)]
    command = commands.init(studio.data_shown, studio.settings.schema, guess, guess in asked or None)
    return page(
        studio,
        "data",
        "data",
        visit,
        error,
        commands=[command] if data and not _is_package(data) else [],
        yaml=schema.text if schema.exists and len(schema.text) < 20_000 else "",
        folder=str(given),
        parent=str(given.parent) if given.parent != given else "",
        folders=folders,
        files=files,
        more=more,
        browsing=folder is not None,
        data=data,
        data_shown=studio.data_shown,
        uploaded=studio.upload is not None,
        kind=guess,
        kinds=KINDS,
        asked=asked,
        schema_exists=schema.exists,
        schema_name=studio.settings.schema,
        typed=visit.text("path"),
    )


def _listed(folder: Path) -> tuple[list[str], list[str], int]:
    """The folders and the data files in a folder, sorted by name, and how many more there are."""
    try:
        names = sorted(
            (one for one in os.scandir(folder) if not one.name.startswith(".")), key=lambda one: one.name.lower()
        )
        folders = [one.name for one in names if one.is_dir()]
        files = [one.name for one in names if one.name.lower().endswith(_ENDINGS) and one.is_file()]
    except OSError:
        return [], [], 0
    more = max(0, len(folders) - _MOST_SHOWN) + max(0, len(files) - _MOST_SHOWN)
    return folders[:_MOST_SHOWN], files[:_MOST_SHOWN], more


def _kind(data: Path) -> str:
    try:
        return kind_of(data, None)
    except CantleError:
        return DEFAULT


def browse(studio: Studio, visit: Visit) -> Response:
    """The page with another folder listed."""
    folder = Path(visit.text("folder") or studio.folder) / visit.text("into")
    problem = "" if folder.is_dir() else "there is no such folder, or it may not be read"
    return show(studio, visit, problem, folder if not problem else None)


def choose(studio: Studio, visit: Visit) -> None:
    """Takes a file by its path."""
    typed = visit.text("path")
    path = studio.folder / Path(typed).expanduser()
    if not typed or not path.is_file():
        raise ParameterError("there is no such file; type its whole path, or choose it in the list")
    if not os.access(path, os.R_OK):
        raise ParameterError("this file may not be read by you; ask for the permission, or choose another")
    studio.take(None)
    studio.project.set_own(data=studio.project.name_of(path))


def draft_schema(studio: Studio, visit: Visit) -> Response | None:
    """Writes a draft of a schema from the header, unless there is a schema."""
    data, kind = studio.require_data(), kind_of(studio.require_data(), visit.text("kind") or None)
    if kind == PACKAGE:
        return _take_package(studio, visit, data)
    studio.project.set(schema=SCHEMA if "resources" in studio.schema.document else studio.settings.schema)
    studio.project.set_own(kind=kind)
    if studio.schema.exists and not visit.text("replace"):
        return go("/columns", "kept")
    write(studio.project.schema_file, _draft(data, kind, visit.text("header"), visit.text("row") or "1"))
    write(studio.project.schema_file.with_name(FILE_NAME), json.dumps(json_schema(), indent=1) + "\n")
    return None if KINDS[kind].has_boxes else go("/columns/text", "schema")


def _draft(data: Path, kind: str, header: str, row: str) -> str:
    drafted = DRAFTS[kind]
    if not drafted.needs_header(data):
        return drafted.draft_of(data, None)
    return drafted.draft_of(data, _header_row(data, header, row))


def _header_row(data: Path, header: str, row: str) -> int:
    """The line of the header, as the form says; 0 without one."""
    if header not in ("yes", "no"):
        rule = "a schema is public, and the first line may hold column names or a record"
        raise ParameterError(f"{rule}; say which it is")
    if not row.isascii() or not row.isdigit() or not int(row[:9]):
        raise ParameterError("the line of the header is a number, counted from 1")
    if data.stat().st_size == 0:
        raise DataError("the file is empty; choose another")
    return int(row[:9]) if header == "yes" else 0


def _is_package(data: str | Path) -> bool:
    return Path(data).suffix.lower() in DOCUMENTS


def _take_package(studio: Studio, visit: Visit, data: Path) -> Response:
    """Takes a data package as the data and as the schema; of two files it is drafted first."""
    drafted = not _is_package(data)
    if drafted:
        data = _drafted_package(studio, visit, data)
    elif studio.upload is not None:
        raise ParameterError("a data package names its files by their paths; choose it where it lies")
    name = studio.project.name_of(data)
    studio.take(None)
    studio.project.set(schema=name)
    studio.project.set_own(kind=PACKAGE, data=name)
    return go("/columns/text", "schema" if drafted else "kept")


def _drafted_package(studio: Studio, visit: Visit, parents: Path) -> Path:
    """The package of two files in the folder of the project, which names them; a draft, unless it is there already."""
    child, key, package = visit.text("child"), visit.text("key"), studio.folder / _PACKAGE
    if not child or not key:
        raise ParameterError("linked tables are two files; name the file of the children, and the column of the key")
    children = studio.folder / Path(child).expanduser()
    if not children.is_file():
        raise ParameterError("there is no file of the children by this name; check its path")
    if {parents.parent.resolve(), children.parent.resolve()} != {studio.folder}:
        raise ParameterError("a data package lies beside its files; put both into the folder of the project")
    if not package.exists() or visit.text("replace"):
        asked = any(DRAFTS[DEFAULT].needs_header(path) for path in (parents, children))
        row = _header_row(parents, visit.text("header"), visit.text("row") or "1") if asked else 0
        write(package, draft_package(parents, children, key, row))
    return package
