"""pm4py reads the event logs that cantle writes, and cantle those that pm4py writes; skipped without pm4py."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import cantle
from tests.release.kinds import SEQUENCES, journeys

pm4py = pytest.importorskip("pm4py")


def pairs(sequences: list[list[int]]) -> Counter[tuple[str, str]]:
    return Counter((str(a), str(b)) for one in sequences for a, b in zip(one, one[1:], strict=False))


@pytest.mark.filterwarnings("ignore")
def test_pm4py_reads_a_released_log_and_writes_one_that_cantle_reads(tmp_path: Path) -> None:
    release = cantle.publish(journeys(), SEQUENCES, epsilon=2, insecure_seed=3)
    release.save(tmp_path / "out", data="xes")
    log = pm4py.read_xes(str(next((tmp_path / "out").glob("*.xes"))))
    follows, starts, ends = pm4py.discover_dfg(log)
    released = release.records["items"].to_list()
    assert dict(follows) == dict(pairs(released))
    assert sum(starts.values()) == sum(ends.values()) == len(released)
    pm4py.write_xes(log, str(tmp_path / "again.xes"))
    again = cantle.publish(tmp_path / "again.xes", SEQUENCES, epsilon=2, insecure_seed=4)
    direct = cantle.publish(released, SEQUENCES, epsilon=2, insecure_seed=4)
    assert again.records["items"].to_list() == direct.records["items"].to_list()
