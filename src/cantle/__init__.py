"""Publish private tables, baskets and graphs under pure differential privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cantle.publishing import publish as publish
    from cantle.release import Release as Release
    from cantle.schema import Schema as Schema

__all__ = ["Release", "Schema", "publish"]

_HOMES = {"publish": "cantle.publishing", "Release": "cantle.release", "Schema": "cantle.schema"}


def __getattr__(name: str) -> Any:
    # Imported when first used, so that `cantle --help` does not wait for numpy and polars.
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'cantle' has no attribute {name!r}")
