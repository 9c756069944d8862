"""The tile with the accuracy of a release, for releases of synthetic records."""

from __future__ import annotations

from cantle.release import Release
from cantle.release.kinds import texts_of
from cantle.release.report.content import Tile
from cantle.release.verdict_words import points


def accuracy_tile(release: Release, middle: float | None) -> Tile:
    """How far shares are right: the sentence that all outputs share, and one of its figures, from 0 to 1."""
    words = texts_of(release.manifest).accuracy[0]
    return Tile("accuracy", "not measured" if middle is None else f"±{points(middle)} points", words)
