"""What tests of the studio share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.studio.site import Site, people


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    people(tmp_path / "project")
    made = Site(tmp_path / "project")
    yield made
    made.studio.close()
