"""Loader of the optional packages of the extra `papers`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from cantle.errors import MissingExtra, install_command, raise_alone


def need(module: str) -> ModuleType:
    """Imports a module; raises MissingExtra with the install command if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        package = {"sklearn": "scikit-learn"}.get(module.split(".")[0], module.split(".")[0])
        raise_alone(
            MissingExtra(f"{package} is not installed and the papers' evaluation needs it; {install_command('papers')}")
        )
