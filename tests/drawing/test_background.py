"""Work in a second thread: items in order, one at a time, and the same bytes as without a thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import get_ident
from time import sleep

import pytest

import cantle
from cantle import kernel_choice
from cantle.drawing import records
from tests.release.people import SCHEMA, people


def test_at_most_one_item_is_waiting() -> None:
    done: list[int] = []

    def items() -> Iterator[int]:
        for item in range(20):
            assert done[: max(0, item - 1)] == list(range(item - 1))
            yield item

    def work(item: int) -> None:
        assert get_ident() != caller
        sleep(0.001 * (item % 4))
        done.append(item)

    caller = get_ident()
    records.in_background(work, items())
    assert done == list(range(20))


@pytest.mark.parametrize("where", [0, 2, 5])
def test_an_error_in_the_thread_is_raised_and_ends_the_work(where: int) -> None:
    done: list[int] = []

    def work(item: int) -> None:
        if item == where:
            raise OSError("full")
        done.append(item)

    with pytest.raises(OSError, match="full"):
        records.in_background(work, iter(range(6)))
    assert done[:where] == list(range(where))
    assert len(done) <= where + 1


def test_a_thread_is_used_for_large_data_on_several_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8), raising=False)
    assert (records.worth_a_thread(records.LARGE - 1), records.worth_a_thread(records.LARGE)) == (False, True)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: [3], raising=False)
    assert not records.worth_a_thread(10**9)


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_the_same_bytes_with_and_without_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(kernel_choice, "FROM", 0)
    monkeypatch.setattr(records, "_ROWS", 64)  # makes many blocks of few records
    people(3000).write_csv(tmp_path / "people.csv")
    files = []
    for apart in (False, True):
        monkeypatch.setattr(records, "worth_a_thread", lambda _, apart=apart: apart)
        release = cantle.publish(tmp_path / "people.csv", SCHEMA, epsilon=2, method=method, insecure_seed=5)
        folder = release.save(tmp_path / f"{method}{apart}")
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert files[0] == files[1]
