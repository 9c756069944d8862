"""The kinds of data by their names in schemas."""

from __future__ import annotations

from cantle.release import families, graphs, sequences, sets, tables
from cantle.release.manifest import Manifest
from cantle.release.released_kind import ReleasedKind, Texts

KINDS: dict[str, ReleasedKind] = {
    "table": tables.KIND,
    "sets": sets.KIND,
    "sequences": sequences.KIND,
    "graph": graphs.KIND,
    "families": families.KIND,
}


def files_of(manifest: Manifest) -> tuple[str, ...]:
    """The names of the data files, without their endings: mostly one."""
    return tuple(texts_of(manifest).resources) or ("data",)


def texts_of(manifest: Manifest) -> Texts:
    """What the manifest says about the records."""
    return KINDS[manifest.kind].texts(manifest)
