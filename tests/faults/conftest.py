"""Durability is tested with the system's own `fsync`; elsewhere tests do not wait for the disk (tests/conftest.py)."""

from __future__ import annotations

import os

import pytest

from tests.conftest import real_fsync


@pytest.fixture(autouse=True)
def waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", real_fsync)
