"""A saved release is on the disk before it has its name, so that a power cut leaves all of it or nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import cantle
from tests.release.people import SCHEMA, people


@pytest.mark.skipif(sys.platform == "win32", reason="this system cannot open folders")
def test_every_file_is_on_the_disk_before_the_release_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = cantle.publish(people(40), SCHEMA, epsilon=1, method="rps", preset="paper", insecure_seed=1)
    waits, target, named = os.fsync, tmp_path / "release", []
    waited: set[tuple[int, int]] = set()

    def fsync(handle: int) -> None:
        waits(handle)
        waited.add((os.fstat(handle).st_dev, os.fstat(handle).st_ino))
        named.append(target.exists())

    monkeypatch.setattr(os, "fsync", fsync)
    release.save(target)
    saved = {(path.stat().st_dev, path.stat().st_ino) for path in (target, tmp_path, *target.iterdir())}
    assert len(saved) > 4
    assert saved <= waited
    assert named[:-1] == [False] * (len(named) - 1)  # at last the folder that holds the new name
