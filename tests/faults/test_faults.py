"""Kills, races and full disks, in short; `python benchmarks/faults.py` runs the long forms."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import faults
from cantle.trusted.ledger import Ledger
from tests.effort import slow

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and permissions of POSIX")


@pytest.mark.parametrize(("times", "lasts"), [(1, 0.1), pytest.param(40, 0.0, marks=pytest.mark.slow)])
def test_releases_survive_kills_at_random_moments(times: int, lasts: float, tmp_path: Path) -> None:
    assert faults.kills(times, tmp_path, lasts) == []


@pytest.mark.parametrize("step", slow([40, 20, 8, 1], 20, 8, 1))
def test_releases_survive_kills_before_file_operations(step: int, tmp_path: Path) -> None:
    assert faults.deaths(step, tmp_path) == []


def test_the_ledger_survives_kills_during_charges(tmp_path: Path) -> None:
    assert faults.charges(2, tmp_path) == []


@pytest.mark.parametrize("sizes", slow([1, 8], 8))
def test_releases_survive_limits_of_file_size(sizes: int, tmp_path: Path) -> None:
    assert faults.full(sizes, tmp_path, mounts=False) == []


@pytest.mark.slow
def test_releases_survive_full_disks(tmp_path: Path) -> None:
    if not faults.can_mount():
        pytest.skip("this user may not mount a disk")
    assert faults.full(4, tmp_path, mounts=True) == []


def test_processes_may_race_for_a_ledger_file(tmp_path: Path) -> None:
    assert faults.race(4, 3, str(tmp_path / "ledger.db"), tmp_path) == []


def test_processes_may_race_for_a_ledger_in_a_database(server: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE raced")
    assert faults.race(4, 3, server.replace("///postgres", "///raced"), tmp_path) == []


def test_several_publishers_may_run_at_once(tmp_path: Path) -> None:
    assert faults.publishers(2, 1, str(tmp_path / "ledger.db"), tmp_path) == []


def test_the_judge_finds_faults(tmp_path: Path) -> None:
    """The judge must report a release without a charge, one with another hash, and a charge without a run."""
    import sqlite3
    from collections import Counter

    faults.write_people(tmp_path)
    ledger = str(tmp_path / "ledger.db")
    runs = {10_000_000 + i: f"out{i}" for i in range(3)}
    Ledger(ledger).create()
    for nano, name in runs.items():
        faults.publish_here(tmp_path, ledger, nano, name)
    assert faults.judge(tmp_path, ledger, runs, Counter()) == []
    (tmp_path / "out1" / "release.json").write_text("{")
    with sqlite3.connect(ledger) as connection:
        connection.execute("DELETE FROM cantle_release WHERE sequence = 1")
        connection.execute("UPDATE cantle_release SET sha256 = 'f' WHERE sequence = 3")
    connection.close()
    reported = "\n".join(faults.judge(tmp_path, ledger, {k: v for k, v in runs.items() if v != "out1"}, Counter()))
    assert "out0: the data was opened without a charge" in reported
    assert "out2: the ledger has another hash" in reported
    assert "one that never ran" in reported
