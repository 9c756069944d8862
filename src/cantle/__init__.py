"""Publish private tables, baskets and graphs under pure differential privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cantle._publish import publish as publish
    from cantle.estimators import RPS as RPS
    from cantle.estimators import DiffGen as DiffGen
    from cantle.release import Release as Release
    from cantle.schema import Schema as Schema
    from cantle.trusted.ledger import Ledger as Ledger

__all__ = ["DiffGen", "Ledger", "RPS", "Release", "Schema", "publish"]

_HOMES = {
    "DiffGen": "cantle.estimators",
    "Ledger": "cantle.trusted.ledger",
    "RPS": "cantle.estimators",
    "Release": "cantle.release",
    "Schema": "cantle.schema",
    "publish": "cantle._publish",
}


def __getattr__(name: str) -> Any:
    # Imported when first used, so that `cantle --help` does not wait for numpy and polars.
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'cantle' has no attribute {name!r}")
