"""`cantle evaluate`: compares a release with the data it was made from. The result is private."""

from __future__ import annotations

from pathlib import Path

from cantle.internal.comparison import Comparison
from cantle.internal.kinds import kind_for
from cantle.release import Release


def evaluate(path: Path, release: Release, nodes: Path | None = None) -> Comparison:
    """Compares a release with the private file; `nodes` is the list of a graph's nodes, if there is one."""
    return kind_for(release.manifest.kind, nodes).compare(path, release, nodes)
