"""The kinds of data by their names in schemas."""

from __future__ import annotations

from cantle.release import graphs, sequences, sets, tables
from cantle.release.manifest import Manifest
from cantle.release.released_kind import ReleasedKind, Texts

KINDS: dict[str, ReleasedKind] = {
    "table": tables.KIND,
    "sets": sets.KIND,
    "sequences": sequences.KIND,
    "graph": graphs.KIND,
}


def texts_of(manifest: Manifest) -> Texts:
    """What the manifest says about the records."""
    return KINDS[manifest.kind].texts(manifest)
