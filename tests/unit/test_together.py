"""Work in threads: in order, with few things under way, and the same bytes as without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import get_ident
from time import sleep
from typing import Any

import pytest

import cantle
from cantle import fast, together
from tests.release.people import SCHEMA, people


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_results_come_in_order(number: int) -> None:
    def work(item: int) -> tuple[int, int]:
        sleep(0.002 * (item % 3))
        return item, get_ident()

    found = list(together.in_order(work, range(30), number))
    assert [item for item, _ in found] == list(range(30))
    assert (get_ident() in {who for _, who in found}) == (number == 0)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_an_item_is_made_when_all_but_the_last_few_are_done(number: int) -> None:
    done: set[int] = set()

    def items() -> Iterator[int]:
        for item in range(20):
            assert done >= set(range(item - number))
            yield item

    def work(item: int) -> None:
        sleep(0.001 * (item % 4))
        done.add(item)

    for item, _ in enumerate(together.in_order(work, items(), number)):
        assert item in done
    assert len(done) == 20


@pytest.mark.parametrize("number", [0, 1, 3])
def test_what_goes_wrong_is_told_in_its_place(number: int) -> None:
    made = together.in_order(lambda item: 1 // item, [1, 1, 0, 1], number)
    assert [next(made), next(made)] == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_threads_are_for_large_data_and_several_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8), raising=False)
    assert (together.threads(together.LARGE - 1), together.threads(together.LARGE)) == (0, together.MOST)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: [3], raising=False)
    assert together.threads(10**9) == 0


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_the_same_bytes_with_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    pytest.importorskip("numba")
    from cantle import drawn, encoding

    monkeypatch.setattr(fast, "FROM", 0)
    monkeypatch.setattr(encoding, "_SHARED", 1 << 10)  # many pieces and blocks of few records
    monkeypatch.setattr(drawn, "_ROWS", 64)
    people(3000).write_csv(tmp_path / "people.csv")
    made: list[dict[str, Any]] = []
    for number in (0, 1, 3):
        monkeypatch.setattr(together, "threads", lambda _, number=number: number)
        release = cantle.publish(tmp_path / "people.csv", SCHEMA, epsilon=2, method=method, insecure_seed=5)
        folder = release.save(tmp_path / f"{method}{number}")
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1] == made[2]
