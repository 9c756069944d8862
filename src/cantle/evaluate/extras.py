"""Loads the optional packages of the extra `papers`, or says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cantle.errors import MissingExtra


def need(module: str) -> Any:
    """The module of that name, imported now; MissingExtra with the fix when it is not installed."""
    try:
        return import_module(module)
    except ImportError as missing:
        package = {"sklearn": "scikit-learn"}.get(module.split(".")[0], module.split(".")[0])
        raise MissingExtra(
            f"{package} is not installed and the papers' evaluation needs it; pip install 'cantle[papers]'"
        ) from missing
