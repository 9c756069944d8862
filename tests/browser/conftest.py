"""One browser for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.chromium import launched


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """It ends with the folder: while it runs, no other test can start an event loop."""
    with launched() as made:
        yield made
