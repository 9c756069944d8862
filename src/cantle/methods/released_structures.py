"""The structure of what each method releases: the name of a module of `cantle.release.structures`."""

STRUCTURE_OF = {
    "rps": "tree",
    "diffgen": "cells",
    "mosaic": "tables",
    "diffpart": "sets",
    "baskets": "patterns",
    "degrees": "degrees",
    "journeys": "sequences",
    "families": "families",
}
"""Releases of these methods need not name their structure."""
