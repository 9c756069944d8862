"""The private database of engines that keep records in files: one message for all errors, and no folder left."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cantle.errors import EngineError

pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")

from cantle.trusted.engines.private_database import PrivateDatabase  # noqa: E402

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
