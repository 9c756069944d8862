"""Where pytest looks for examples: only in modules whose text holds some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Without this, every module would be imported and each of its functions looked at for examples."""
    found = yield
    if file_path.suffix != ".py" or ">>>" in file_path.read_text():
        return found
    return [one for one in found if not isinstance(one, DoctestModule)]
