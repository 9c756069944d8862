"""Releases in memory with changed parts, as somebody might edit them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import cantle
from cantle.release.manifest import Manifest


def with_parts(release: cantle.Release, **parts: Any) -> cantle.Release:
    """The release with other records, groups, frames or manifest."""
    fields = {name: getattr(release, name) for name in ("groups", "frames", "manifest")}
    return cantle.Release(**({"drawn": parts.pop("records", release.drawn)} | fields | parts))


def with_manifest(release: cantle.Release, change: Callable[[dict[str, Any]], Any]) -> cantle.Release:
    """The release with a manifest that is changed as release.json could be."""
    document = copy.deepcopy(release.manifest.to_dict())
    change(document)
    return with_parts(release, manifest=Manifest.from_dict(document))
