"""Fixtures that tests of the studio share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.studio.site import Site, people


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    people(tmp_path / "project")
    studio_site = Site(tmp_path / "project")
    yield studio_site
    studio_site.studio.close()
