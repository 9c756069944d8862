"""Kills, races and full disks in short; the long forms: python benchmarks/faults.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import faults
from benchmarks.server import postgres
from tests.effort import slow

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and permissions of POSIX")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as url:
        if url is None:
            pytest.skip("PostgreSQL (initdb, postgres) is not installed")
        yield url


@pytest.mark.parametrize("times", slow([1, 40], 40))
def test_kills_at_random_moments(times: int, tmp_path: Path) -> None:
    assert faults.kills(times, tmp_path) == []


@pytest.mark.parametrize("step", slow([20, 8, 1], 8, 1))
def test_deaths_before_touches_of_files(step: int, tmp_path: Path) -> None:
    assert faults.deaths(step, tmp_path) == []


def test_kills_among_charges(tmp_path: Path) -> None:
    assert faults.charges(4, tmp_path) == []


def test_full_disks(tmp_path: Path) -> None:
    assert faults.full(1, tmp_path) == []


def test_a_race_for_a_file(tmp_path: Path) -> None:
    assert faults.race(4, 3, str(tmp_path / "ledger.db"), tmp_path) == []


def test_a_race_for_a_database(server: str, tmp_path: Path) -> None:
    assert faults.race(4, 3, server, tmp_path) == []


def test_whole_publishers_at_once(tmp_path: Path) -> None:
    assert faults.publishers(2, 2, str(tmp_path / "ledger.db"), tmp_path) == []


def test_the_judge_can_find_fault(tmp_path: Path) -> None:
    """A check of the checks: a release whose charge was taken out of the ledger, and a half written one."""
    import sqlite3
    from collections import Counter

    faults.write_people(tmp_path)
    where = str(tmp_path / "ledger.db")
    runs = {10_000_000 + i: f"out{i}" for i in range(3)}
    for nano, name in runs.items():
        worker = faults.start("publish", where, f"{nano / 10**9:.9f}", name, cwd=tmp_path)
        faults.let_go([worker])
        assert faults.ends([worker])[0][0] == 0
    assert faults.judge(tmp_path, where, runs, Counter()) == []
    (tmp_path / "out1" / "release.json").write_text("{")
    with sqlite3.connect(where) as connection:
        connection.execute("DELETE FROM cantle_release WHERE sequence = 1")
        connection.execute("UPDATE cantle_release SET sha256 = 'f' WHERE sequence = 3")
    connection.close()
    found = "\n".join(faults.judge(tmp_path, where, {k: v for k, v in runs.items() if v != "out1"}, Counter()))
    assert "out0: the data was opened without a charge" in found
    assert "out2: the ledger has another hash" in found
    assert "one that never ran" in found
