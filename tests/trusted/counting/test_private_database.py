"""The private database of engines that keep records in files: one message for all errors, and no folder left."""

from __future__ import annotations

import gc
import pickle
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cantle.errors import EngineError

pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")

from cantle.trusted.counting.private_database import PrivateDatabase  # noqa: E402

MEMORY = 200 << 20
FAILURES: dict[str, Callable[[PrivateDatabase], object]] = {
    "a statement": lambda base: base.run("CREATE TABLE u AS SELECT a::INTEGER FROM t"),
    "rows that do not fit": lambda base: base.insert("n", base.arrow.table({"a": ["CANARY"]})),
    "a query that fails after many rows": lambda base: list(base.batches("SELECT a::INTEGER FROM t")),
    "two columns": lambda base: base.two_columns("SELECT a::INTEGER, 1 FROM t"),
}


@pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES.keys())
def test_all_errors_have_one_message_and_leave_no_folder(
    fail: Callable[[PrivateDatabase], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    base = PrivateDatabase(MEMORY, "it failed")
    base.insert("t", base.arrow.table({"a": ["1"] * 300_000 + ["CANARY"]}), new=True)
    base.run("CREATE TABLE n (a INTEGER)")
    assert list(tmp_path.iterdir())
    with pytest.raises(EngineError) as caught, base:
        fail(base)
    assert (str(caught.value), caught.value.__context__) == ("it failed", None)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_gives_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(EngineError, match="it failed"):
        PrivateDatabase(MEMORY, "it failed")


def test_the_database_shows_nothing_and_cannot_be_pickled() -> None:
    with PrivateDatabase(MEMORY, "it failed") as base:
        assert repr(base) == "PrivateDatabase()"
        with pytest.raises(TypeError, match="private"):
            pickle.dumps(base)


def test_only_its_owner_can_enter_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with PrivateDatabase(MEMORY, "it failed"):
        [folder] = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (folder / "codes.duckdb").exists()
    assert not list(tmp_path.iterdir())


def test_the_folder_is_removed_with_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.freeze()  # the collector then looks only at objects made from here on
    base = PrivateDatabase(MEMORY, "it failed")
    del base
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_duckdb_gets_half_of_the_memory() -> None:
    with PrivateDatabase(2_000_000_000, "it failed") as base:
        [(limit,)] = base._base.execute("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "953.6 MiB"
