"""Stores: arrays in memory and in files without a name, which leave nothing behind and fail with one message."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import EngineError
from cantle.trusted.bounding.persons import PERSON, bounded, with_persons
from cantle.trusted.counting import stores
from cantle.trusted.counting.stores import InMemory, OnDisk
from cantle.trusted.counting.words import WordEngine
from tests.entropy import launcher
from tests.release.people import SCHEMA, people

PARTS = [np.arange(6, dtype=np.uint64).reshape(3, 2), np.zeros((0, 2), np.uint64), np.full((2, 2), 9, np.uint64)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("store", [InMemory(), OnDisk()], ids=["memory", "disk"])
def test_rooms_hold_what_is_written_to_them(store: Any, folder: Path) -> None:
    room = store.room((3, 4), np.int32)
    room[:] = np.arange(12).reshape(3, 4)
    other = store.room((3, 4), np.int32)
    other[:] = 0
    assert (room.shape, room.dtype) == ((3, 4), np.int32)
    assert room.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert store.room((0, 4), np.uint8).shape == (0, 4)
    assert store.gathered(iter(PARTS), (2,), np.uint64).tolist() == np.concatenate(PARTS).tolist()
    assert store.gathered(iter([]), (2,), np.uint64).shape == (0, 2)
    assert not list(folder.iterdir())


def test_files_have_no_name_that_others_could_open(folder: Path) -> None:
    def parts() -> Iterator[np.ndarray]:
        for part in PARTS:
            yield part
            assert not list(folder.iterdir())

    rows = OnDisk().gathered(parts(), (2,), np.uint64)
    assert len(rows) == 5
    assert not list(folder.iterdir())


def test_room_is_claimed_where_the_system_cannot(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    monkeypatch.setattr(stores, "_ZEROS", 7)
    room = OnDisk().room((5, 5), np.int16)
    assert room.tolist() == np.zeros((5, 5)).tolist()
    room[4, 4] = 3
    assert room[4, 4] == 3
    assert not list(folder.iterdir())


def test_a_full_disk_has_a_message_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "CanaryQx7")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(EngineError, match="TMPDIR") as caught:
        OnDisk().room((5, 5), np.int16)
    assert "CanaryQx7" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "use", [lambda: OnDisk().gathered(PARTS, (2,), np.uint64), lambda: list(OnDisk().together([], "a"))]
)
def test_a_folder_that_cannot_be_written_has_the_same_message(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(EngineError, match="TMPDIR"):
        use()


def test_errors_of_a_source_are_not_taken_for_those_of_the_disk() -> None:
    def broken() -> Iterator[Any]:
        yield [np.zeros(3, np.uint8)], np.zeros(3, np.uint8)
        raise ConnectionError("the source is gone")

    with pytest.raises(ConnectionError):
        WordEngine(broken(), sizes=(4,), class_count=1, store=OnDisk())


@pytest.mark.parametrize("classes", [1, 3])
def test_persons_are_bounded_on_disk_as_in_memory(classes: int) -> None:
    dice = np.random.default_rng(2)
    parts = []
    for n in (70, 0, 50):
        ids = pl.Series([f"p{i}" for i in dice.integers(0, 30, n)], dtype=pl.String)
        codes = [dice.integers(0, 9, n), dice.integers(0, 4, n)]
        parts.append(with_persons(ids, codes, dice.integers(0, classes, n)))
    for files in (3, 64):
        groups = list(OnDisk(files).together(parts, PERSON))
        for most in (1, 2, 5):
            bounds = (bounded(group, classes, most) for group in groups)
            found = [np.column_stack([*columns, label]) for columns, label in bounds]
            columns, label = bounded(parts, classes, most)
            expected = np.column_stack([*columns, label])
            assert len(found) > 1
            assert sorted(np.concatenate(found).tolist()) == sorted(expected.tolist())
            assert 0 < len(expected) <= 30 * most


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGKILL"])
def test_nothing_is_left_when_the_command_is_stopped(signal: str, tmp_path: Path) -> None:
    """A service manager sends these in the middle of a run."""
    people(3000).write_csv(tmp_path / "people.csv")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    folder = tmp_path / "folder"
    folder.mkdir()
    program = f"""
        import os, signal, sys
        from cantle.interfaces.cli import app as cli
        from cantle.trusted.counting.words import WordEngine
        def stop(self, *_):
            os.kill(os.getpid(), signal.{signal})
        WordEngine.split = stop
        sys.argv = ["cantle", *sys.argv[1:]]
        cli.main()
    """
    arguments = ["publish", "people.csv", "--schema", "schema.json", "--epsilon", "1", "--method", "rps"]
    done = subprocess.run(
        [*launcher(), "-c", textwrap.dedent(program), *arguments, "--engine", "duckdb"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == (143 if signal == "SIGTERM" else -9)
    assert (done.returncode, done.stderr) == (done.returncode, b"")
    assert not list(folder.iterdir())
    assert not (tmp_path / "release").exists()


def test_nothing_is_left_after_a_run(folder: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    cantle.publish(people(30), SCHEMA, epsilon=1, engine="duckdb", method="rps", preset="paper")
    assert not list(folder.iterdir())
