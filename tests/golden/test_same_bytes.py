"""The same seed gives the same release, in this version as in the last, whichever engine counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cantle import _fast
from cantle.methods.auto_sets import BySizes
from cantle.methods.baskets import Baskets
from cantle.postprocess.mosaic import generate, label
from cantle.trusted.geometry import count_tables
from tests.golden.same_bytes import HASHES, TABLES, all_hashes, table_hashes

KNOWN = json.loads(HASHES.read_text(encoding="utf-8"))


def compile_from(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels take over from this number of records on."""
    monkeypatch.setattr(_fast, "FROM", records)
    for module in (generate, label, count_tables):
        monkeypatch.setattr(module, "COMPILED_FROM", records)
    for method in (Baskets, BySizes):
        monkeypatch.setattr(method, "kernels_from", records)


def test_releases_are_those_of_the_last_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_from(10**18, monkeypatch)
    hashes = all_hashes(tmp_path)
    assert {name for name in hashes if hashes[name] != KNOWN.get(name)} == set()
    assert hashes.keys() == KNOWN.keys()


def test_kernels_make_the_same_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")
    compile_from(0, monkeypatch)
    assert all_hashes(tmp_path) == KNOWN


def test_duckdb_makes_the_same_releases(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed (extra duckdb)")
    assert table_hashes(tmp_path, TABLES, engine="duckdb") == {name: KNOWN[name] for name in TABLES}


def test_another_seed_or_parameter_has_another_hash() -> None:
    """A check of the check: all parts of a release are hashed, and no two calls give the same tables."""
    assert all(set(parts) == {"data", "manifest", "tables"} for parts in KNOWN.values())
    manifests = [parts["manifest"] for parts in KNOWN.values()]
    assert len(set(manifests)) > 0.8 * len(manifests)
