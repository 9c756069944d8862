"""Reading saved releases. Released values only."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl

from cantle.errors import CantleError, VerifyError, raise_alone
from cantle.release import FILES, MARK, Release
from cantle.release.data_file import read
from cantle.release.manifest import FORMAT, Manifest
from cantle.release.schemas import schema_of
from cantle.schema.canonical_json import JSON


def load(folder: Path) -> Release:
    """The release in a folder; files are checked by `verify`, not here."""
    prefix = MARK if os.path.exists(folder / (MARK + FILES["manifest"])) else ""
    manifest = read_manifest(folder)
    try:
        schema_of(manifest)  # first, because files are read by it
        paths = {name: folder / (prefix + FILES[name]) for name in ("tree", "marginals", "tables", "sizes")}
        frames = {name: pl.read_parquet(path) for name, path in paths.items() if path.exists()}
        groups = pl.read_parquet(folder / (prefix + FILES["groups"]))
        return Release(read(folder, prefix, manifest), groups, frames, manifest, folder=folder)
    except (OSError, StopIteration, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise_alone(VerifyError(f"{folder} has a missing or damaged file ({type(error).__name__})"))
    except CantleError:
        raise
    except Exception as error:
        raise_alone(VerifyError(f"{folder}: release.json is not of the expected form ({type(error).__name__})"))


def read_manifest(folder: Path) -> Manifest:
    """release.json of a folder."""
    return Manifest.from_dict(read_document(folder))


def read_document(folder: Path) -> dict[str, JSON]:
    """release.json of a folder, as parsed JSON."""
    for prefix in ("", MARK):
        path = folder / (prefix + FILES["manifest"])
        if os.path.exists(path):
            try:
                document = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                raise_alone(VerifyError(f"{path} is not readable JSON"))
            if isinstance(document, dict) and document.get("format") == FORMAT:
                return document
            raise VerifyError(f"{path} is not a release of this format ({FORMAT})")
    if not os.path.exists(folder):
        raise VerifyError(f"there is no folder {folder}; check the path")
    what = "holds no release: there is no" if os.path.isdir(folder) else "is a file; give the release folder, which has"
    raise VerifyError(f"{folder} {what} {FILES['manifest']}")
