"""Fixtures of the evaluation tests."""

from __future__ import annotations

import os
from pathlib import Path

import adult_files
import pytest


@pytest.fixture(scope="session")
def small_adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated data folder with the Adult files in it."""
    return adult_files.write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real data folder, from the environment variable CANTLE_DATA; skips without it."""
    folder = os.environ.get("CANTLE_DATA")
    if not folder:
        pytest.skip("set CANTLE_DATA to the folder that contains adult/ to run this on the real Adult files")
    return Path(folder)
