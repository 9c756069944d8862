"""The command that installs an extra, for each way in which cantle may have been installed."""

from __future__ import annotations

import json
from importlib import metadata
from types import SimpleNamespace

import pytest

from cantle.errors import install_command

WAYS = {
    "checkout": (json.dumps({"url": "file:///somewhere", "dir_info": {}}), "."),
    "editable": (json.dumps({"url": "file:///somewhere", "dir_info": {"editable": True}}), "."),
    "wheel": (json.dumps({"url": "file:///somewhere/cantle.whl", "archive_info": {}}), "cantle"),
    "by name": (None, "cantle"),
    "damaged": ("{", "."),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_advice_fits_the_way_of_installation(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    text, name = WAYS[way]
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert install_command("excel") == f"pip install '{name}[excel]'"


def test_without_metadata_cantle_came_from_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("excel") == "pip install '.[excel]'"
