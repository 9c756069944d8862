"""One browser for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.chromium import launched


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """The browser, which is closed after this folder, because no other test can start an event loop while it runs."""
    with launched() as chromium:
        yield chromium
