"""Set-valued data for the evaluation: reading files, limiting universes, frames for the publisher, generated data."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cantle.errors import DataError, ParameterError
from cantle_lab.papers import sets
from cantle_lab.papers.sets import Sets, Town

LINES = ["% a header", "frontpage news tech", "", "7 7 3", "40 ", "3 40 7 3"]


def lists(data: Sets) -> list[list[int]]:
    """The records as lists."""
    return [data.items[a:b].tolist() for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]


def made(records: list[list[int]], size: int) -> Sets:
    """Records from lists of codes."""
    owners = np.repeat(np.arange(len(records)), [len(record) for record in records])
    return sets.gather(owners, np.concatenate([np.array(record, dtype=np.int64) for record in records]), size)


def test_lines_become_sets_numbered_by_ascending_id() -> None:
    data = sets.parse(LINES)
    assert lists(data) == [[0, 1], [2], [0, 1, 2]]
    assert (data.size, len(data), data.longest) == (3, 3, 3)
    assert (data.starts.dtype, data.items.dtype) == (np.int64, np.int32)
    assert data.supports().tolist() == [2, 2, 2]
    assert data.owners().tolist() == [0, 0, 1, 2, 2, 2]


@pytest.mark.parametrize("packed", [False, True])
def test_plain_and_packed_files_are_found(tmp_path: Path, packed: bool) -> None:
    assert sets.find("msnbc", tmp_path) is None
    assert sets.find("msnbc", None) is None
    plain = tmp_path / sets.FILES["msnbc"]
    plain.parent.mkdir()
    text = "\n".join(LINES).encode("ascii")
    if packed:
        plain.with_name(plain.name + ".xz").write_bytes(lzma.compress(text))
    else:
        plain.write_bytes(text)
    assert lists(sets.load("msnbc", tmp_path)) == [[0, 1], [2], [0, 1, 2]]


def test_missing_and_unknown_files_are_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot find retail/retail\.dat"):
        sets.load("retail", tmp_path)
    with pytest.raises(ParameterError, match="unknown data set stm; choose from msnbc, "):
        sets.find("stm", tmp_path)


def test_records_are_taken_and_drawn() -> None:
    data = made([[0], [1, 2], [0, 1, 3], [3]], 4)
    assert lists(data.take(np.array([2, 0, 2]))) == [[0, 1, 3], [0], [0, 1, 3]]
    drawn = data.draw(3, np.random.default_rng(0))
    assert len(drawn) == 3
    assert all(record in lists(data) for record in lists(drawn))
    assert lists(data.draw(9, np.random.default_rng(0))) == lists(data)


def test_a_limited_universe_keeps_the_most_frequent_items() -> None:
    data = made([[0], [1, 2], [0, 2, 3], [2, 3], [3]], 4)  # supports: item 1 has 1, item 0 has 2, items 3 and 2 have 3
    limited = data.limit(2)
    assert limited.size == 2
    assert lists(limited) == [[0], [0, 1], [0, 1], [1]]


def test_sets_become_a_frame_and_are_read_back() -> None:
    data = made([[0], [1, 2], [0, 1, 3]], 4)
    assert data.frame["items"].to_list() == [[1], [2, 3], [1, 2, 4]]
    assert data.schema() == {"kind": "sets", "items": {"minimum": 1, "maximum": 4}}
    assert lists(sets.from_frame(data.frame, 4)) == lists(data)
    untidy = pl.DataFrame({"items": [["4", "1"], [], ["2", "2"]]})
    assert lists(sets.from_frame(untidy, 4)) == [[0, 3], [1]]
    nothing = pl.DataFrame({"items": []}, schema={"items": pl.List(pl.Int32)})
    assert len(sets.from_frame(nothing, 4)) == 0


def test_an_empty_record_keeps_its_place_in_the_frame() -> None:
    data = Sets(np.array([0, 1, 1, 2]), np.array([0, 1], dtype=np.int32), 2)
    assert data.frame["items"].to_list() == [[1], [], [2]]


def test_fimi_lines_are_read_back(tmp_path: Path) -> None:
    data = made([[0], [1, 2], [0, 1, 3]], 4)
    data.write(tmp_path / "data.dat")
    text = (tmp_path / "data.dat").read_text(encoding="ascii")
    assert text == "1\n2 3\n1 2 4\n"
    assert lists(sets.parse(text.splitlines())) == lists(data)


def test_generated_data_are_repeatable_and_within_their_bounds() -> None:
    town = Town(records=3_000, items=100, longest=6, stations=12)
    data = sets.stand_in(town)
    again = sets.stand_in(town)
    assert (data.items == again.items).all()
    assert lists(data) != lists(sets.stand_in(town, seed=1))
    assert (len(data), data.size, data.longest) == (3_000, 100, 6)
    assert data.lengths.min() >= 1
    assert (np.diff(data.items)[np.diff(data.owners()) == 0] > 0).all()


def test_adjacent_items_of_generated_data_occur_together() -> None:
    data = sets.stand_in(Town(records=20_000, items=120, stations=12))
    supports = data.supports()
    assert supports.max() > 10 * supports.min() > 0
    holders = [set(data.owners()[data.items == item].tolist()) for item in (60, 61, 100)]
    near, far = len(holders[0] & holders[1]), len(holders[0] & holders[2])
    chance = supports[60] / len(data)
    assert near / supports[61] > 2 * chance > far / supports[100]


@pytest.mark.slow
def test_generated_data_have_the_size_of_stm() -> None:
    data = sets.stand_in()
    assert (len(data), data.size, data.longest) == (1_210_096, 1_012, 64)
    assert data.lengths.mean() == pytest.approx(4.82, abs=0.02)


@pytest.mark.parametrize(
    ("name", "records", "items", "longest"),
    [
        ("msnbc", 989_818, 17, 17),
        ("bms-webview-1", 59_601, 497, 267),
        ("bms-webview-2", 77_512, 3_340, 161),
        ("retail", 88_162, 16_470, 76),
        ("kosarak-5-25", 505_217, 2_605, 5),
        ("tags-math-sx", 822_059, 1_629, 5),
    ],
)
def test_the_real_files_have_the_documented_sizes(
    real_data: Path, name: str, records: int, items: int, longest: int
) -> None:
    if sets.find(name, real_data) is None:
        pytest.skip(f"{name} is not in the data folder")
    data = sets.load(name, real_data)
    assert (len(data), data.size, data.longest) == (records, items, longest)
