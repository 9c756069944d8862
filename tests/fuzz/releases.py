"""Saved releases as targets: one file is changed and the hashes are computed again, so that `verify` reads the file.

A release may come from anyone. Whatever its files contain, `verify` reports what is wrong, and `load` returns a release
or raises one of our errors. Nothing in a release is private, so there are no canaries.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import rfc8785

import cantle
from cantle.release import sha256
from cantle.release.manifest import MARK
from cantle.release.verify import verify_folder
from tests.fuzz.case import WhenUsed
from tests.release.people import SCHEMA, people

FEW_COLUMNS = {"fields": [one for one in SCHEMA["fields"] if one["name"] in ("age", "town", "member", "joined", "ill")]}
KINDS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "mosaic": (people(40), FEW_COLUMNS, {"epsilon": 2000}),
    "rps": (people(40), SCHEMA, {"depth": 3}),
    "diffgen": (people(40), SCHEMA, {"rounds": 2}),
    "diffpart": ([[1, 2], [2], [2, 3]] * 9, {"kind": "sets", "items": {"minimum": 1, "maximum": 9}}, {}),
    "degrees": ([(i, i % 7 + 20) for i in range(20)], {"kind": "graph"}, {}),
}
"""Data, schema and settings by method."""

PARTS = (
    ("mosaic", "groups.parquet"), ("mosaic", "tables.parquet"), ("rps", "groups.parquet"), ("rps", "tree.parquet"),
    ("rps", "marginals.parquet"), ("diffgen", "groups.parquet"), ("diffpart", "groups.parquet"),
    ("diffpart", "data.parquet"), ("degrees", "groups.parquet"),
)  # fmt: skip
MANIFEST = f"{MARK}release.json"


@cache
def saved(method: str) -> dict[str, bytes]:
    """The files of a release, which is made once."""
    data, schema, options = KINDS[method]
    with tempfile.TemporaryDirectory() as place:
        release = cantle.publish(data, schema, method=method, insecure_seed=1, **{"epsilon": 9} | options)
        folder = release.save(Path(place) / "out")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def part(method: str, name: str) -> WhenUsed[bytes]:
    """One file of a release, as it was saved."""
    return WhenUsed(lambda: (saved(method)[MARK + name],))


MANIFESTS = WhenUsed(lambda: tuple(json.loads(saved(method)[MANIFEST]) for method in KINDS))


def use_part(method: str) -> Callable[[Path, Random], None]:
    def use(path: Path, _dice: Random) -> None:
        look(path.parent / "release", saved(method) | {MARK + path.name: path.read_bytes()})

    return use


def use_manifest(path: Path, _dice: Random) -> None:
    """Adds the other files of the method that the manifest names, if it names one."""
    method = "rps"
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        method = json.loads(path.read_bytes())["method"]
    files = saved(method) if isinstance(method, str) and method in KINDS else saved("rps")
    look(path.parent / "release", files | {MANIFEST: path.read_bytes()})


def look(folder: Path, files: dict[str, bytes]) -> None:
    """Writes a release with new hashes, verifies and loads it, and draws records from it if its method is mosaic."""
    folder.mkdir()
    for name, content in (files | {MANIFEST: _rehashed(files)}).items():
        (folder / name).write_bytes(content)
    assert all(isinstance(problem, str) for problem in verify_folder(folder))
    release = cantle.Release.load(folder)
    if release.manifest.method == "mosaic":
        release.sample(3, seed=1)


def _rehashed(files: dict[str, bytes]) -> bytes:
    """The manifest with the hashes of these files; unchanged if it has no place for them."""
    try:
        manifest = json.loads(files[MANIFEST])
        manifest["files"] = {name: sha256(content) for name, content in files.items() if name != MANIFEST}
        del manifest["sha256"]
        manifest["sha256"] = sha256(rfc8785.dumps(manifest))
        return rfc8785.dumps(manifest)
    except Exception:  # noqa: BLE001 - whatever it is, it is not of the form that could hold them
        return files[MANIFEST]
