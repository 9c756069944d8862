"""The same seed gives the same release, in this version as in the last, whichever engine counts."""

from __future__ import annotations

import json
from collections.abc import Set
from pathlib import Path
from typing import Any

import pytest

from cantle.methods.auto_sets import BySizes
from cantle.methods.baskets import Baskets
from cantle.postprocess.mosaic import generate, label
from cantle.trusted import kernel_choice
from cantle.trusted.geometry import count_tables
from tests.golden.same_bytes import HASHES, TABLES, all_hashes, other_calls, table_hashes

KNOWN = json.loads(HASHES.read_text(encoding="utf-8"))


KERNELS = {
    "rps", "rps, balance", "rps, midpoints", "rps, random order", "rps, paper, mixed score", "rps, small epsilon",
    "rps, persons", "diffgen", "diffgen, gini", "diffgen, paper", "diffgen, persons", "mosaic", "mosaic, own error",
    "mosaic, more records", "mosaic, small epsilon", "mosaic, one column", "diffpart, fanout 3, fimi", "diffpart, fimi",
    "baskets, fimi", "baskets, own error", "baskets, by sizes", "baskets, words",
}  # fmt: skip
"""Releases that take all kernels."""
BOTH = {"rps", "diffgen", "mosaic", "diffpart, fimi", "baskets, fimi"}
"""Releases that are made with and without kernels by default."""
IN_DUCKDB = {"rps, midpoints", "rps, count stop", "diffgen, balanced", "mosaic"}


def parted(some: Set[str], every: Set[str]) -> list[Any]:
    """Some releases by default, the others with `-m slow`."""
    assert some < every
    return [pytest.param(some, id="by default"), pytest.param(every - some, id="the others", marks=pytest.mark.slow)]


PLAIN = parted(KNOWN.keys() - (KERNELS - BOTH), KNOWN.keys())
BY_KERNELS = parted(KERNELS, KNOWN.keys())
BY_DUCKDB = parted(IN_DUCKDB, TABLES.keys())


def compile_from(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels take over from this number of records on."""
    monkeypatch.setattr(kernel_choice, "FROM", records)
    for module in (generate, label, count_tables):
        monkeypatch.setattr(module, "COMPILED_FROM", records)
    for method in (Baskets, BySizes):
        monkeypatch.setattr(method, "kernels_from", records)


def check(found: dict[str, dict[str, str]], wanted: Set[str]) -> None:
    """The releases that are wanted were made, and none of them has changed."""
    assert found.keys() == wanted
    assert {name for name in found if found[name] != KNOWN[name]} == set()


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


def test_another_seed_or_parameter_has_another_hash() -> None:
    """A check of the check: all parts of a release are hashed, and no two calls give the same tables."""
    assert all(set(parts) == {"data", "manifest", "tables"} for parts in KNOWN.values())
    manifests = [parts["manifest"] for parts in KNOWN.values()]
    assert len(set(manifests)) > 0.8 * len(manifests)
