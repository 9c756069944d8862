"""Publish private tables, sets and graphs under pure differential privacy.

publish      make a private release of a file or a data frame
plan         what a release would be like, before anything is spent
Release      what was published: `records`, `statement`, `save`, `load`, `verify`, `sample`, `count`, `mean`, `report`
Estimate     an answer with its interval
Schema       what is public about the data: `Schema.load("schema.yaml")`
framework    a partitioning of your own: say when to stop and how to cut, and publish with it
audit        the exact loss of such a partitioning on tiny tables: `audit(MyTree())`
check        what a schema does to the data, before a release (internal: it shows private facts)
evaluate     a release beside its data (internal too)
draft        a schema with blanks, from the columns of a file or a data frame
Ledger       what each data set has spent, across releases
Mosaic, RPS, DiffGen: the methods for tables as scikit-learn estimators
errors       the exceptions that are raised on purpose

Each of them is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cantle.data.draft_schema import draft as draft
    from cantle.interfaces.estimators import RPS as RPS
    from cantle.interfaces.estimators import DiffGen as DiffGen
    from cantle.interfaces.estimators import Mosaic as Mosaic
    from cantle.interfaces.publishing import publish as publish
    from cantle.internal.check_and_evaluate import check as check
    from cantle.internal.check_and_evaluate import evaluate as evaluate
    from cantle.methods.planning import plan as plan
    from cantle.methods.planning.outline import Plan as Plan
    from cantle.release import Release as Release
    from cantle.release.answers.estimates import Estimate as Estimate
    from cantle.schema import Schema as Schema
    from cantle.trusted.ledger import Ledger as Ledger

__version__: str
__all__ = [
    "DiffGen",
    "Estimate",
    "Ledger",
    "Mosaic",
    "Plan",
    "RPS",
    "Release",
    "Schema",
    "check",
    "draft",
    "evaluate",
    "plan",
    "publish",
]

_HOMES = {
    "DiffGen": "cantle.interfaces.estimators",
    "Estimate": "cantle.release.answers.estimates",
    "Ledger": "cantle.trusted.ledger",
    "Mosaic": "cantle.interfaces.estimators",
    "Plan": "cantle.methods.planning.outline",
    "RPS": "cantle.interfaces.estimators",
    "Release": "cantle.release",
    "Schema": "cantle.schema",
    "check": "cantle.internal.check_and_evaluate",
    "draft": "cantle.data.draft_schema",
    "evaluate": "cantle.internal.check_and_evaluate",
    "plan": "cantle.methods.planning",
    "publish": "cantle.interfaces.publishing",
}

_MODULES = ("audit", "errors", "framework")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", *_MODULES])


def __getattr__(name: str) -> object:
    # Imported when first used, so that `cantle --help` does not wait for numpy and polars.
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"cantle.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("cantle")
    raise AttributeError(f"module 'cantle' has no attribute {name!r}")
