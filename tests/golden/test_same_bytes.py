"""The same seed gives the same release as in the last version, whichever engine counts."""

from __future__ import annotations

import json
from collections.abc import Set
from pathlib import Path
from typing import Any

import pytest

from cantle import kernel_choice
from cantle.methods.auto_sets import BySizes
from cantle.methods.baskets.method import Baskets
from cantle.methods.mosaic.model import generate, label
from cantle.trusted.geometry import cross_tables
from tests.golden.same_bytes import HASHES, TABLES, all_hashes, other_calls, table_hashes

KNOWN = json.loads(HASHES.read_text(encoding="utf-8"))


KERNELS = {
    "rps", "rps, balance", "rps, midpoints", "rps, random order", "rps, paper, mixed score", "rps, small epsilon",
    "rps, persons", "diffgen", "diffgen, gini", "diffgen, paper", "diffgen, persons", "mosaic", "mosaic, own error",
    "mosaic, more records", "mosaic, small epsilon", "mosaic, one column", "diffpart, fanout 3, fimi", "diffpart, fimi",
    "baskets, fimi", "baskets, own error", "baskets, by sizes", "baskets, words",
}  # fmt: skip
"""Releases that together use all kernels."""
BOTH = {"rps", "diffgen", "mosaic", "diffpart, fimi", "baskets, fimi"}
"""Releases that are made with and without kernels by default."""
IN_DUCKDB = {"rps, midpoints", "rps, count stop", "diffgen, balanced", "mosaic"}


def divided(some: Set[str], every: Set[str]) -> list[Any]:
    """Runs some releases by default, and the others with `-m slow`."""
    assert some < every
    return [pytest.param(some, id="by default"), pytest.param(every - some, id="the others", marks=pytest.mark.slow)]


PLAIN = divided(KNOWN.keys() - (KERNELS - BOTH), KNOWN.keys())
BY_KERNELS = divided(KERNELS, KNOWN.keys())
BY_DUCKDB = divided(IN_DUCKDB, TABLES.keys())


def compile_from(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses kernels from this number of records on."""
    monkeypatch.setattr(kernel_choice, "FROM", records)
    for module in (generate, label, cross_tables):
        monkeypatch.setattr(module, "COMPILED_FROM", records)
    for method in (Baskets, BySizes):
        monkeypatch.setattr(method, "kernels_from", records)


def check(hashes: dict[str, dict[str, str]], wanted: Set[str]) -> None:
    """Checks that exactly the wanted releases were made, and that none of them has changed."""
    assert hashes.keys() == wanted
    assert {name for name in hashes if hashes[name] != KNOWN[name]} == set()


@pytest.mark.parametrize("wanted", PLAIN)
def test_releases_are_those_of_the_last_version(
    wanted: Set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_from(10**18, monkeypatch)
    check(all_hashes(tmp_path, wanted), wanted)


@pytest.mark.parametrize("wanted", BY_KERNELS)
def test_kernels_make_the_same_releases(wanted: Set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")
    compile_from(0, monkeypatch)
    check(all_hashes(tmp_path, wanted), wanted)


@pytest.mark.parametrize("wanted", BY_DUCKDB)
def test_duckdb_makes_the_same_releases(wanted: Set[str], tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed (extra duckdb)")
    check(table_hashes(tmp_path, wanted, engine="duckdb"), wanted)


def test_every_known_release_is_made_by_default(tmp_path: Path) -> None:
    assert TABLES.keys() | other_calls(tmp_path).keys() == KNOWN.keys()
    assert PLAIN[0].values[0] | BY_KERNELS[0].values[0] == KNOWN.keys()


def test_all_parts_of_releases_are_hashed_and_most_hashes_differ() -> None:
    """Otherwise equal hashes would prove little."""
    assert all(set(parts) == {"data", "manifest", "tables"} for parts in KNOWN.values())
    manifests = [parts["manifest"] for parts in KNOWN.values()]
    assert len(set(manifests)) > 0.8 * len(manifests)
