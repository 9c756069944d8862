"""Descriptions, for each method, of what records were drawn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from cantle.methods.own_error.measured_pairs import measured_pairs
from cantle.release.manifest import Manifest
from cantle.release.words import percent

Summary = Mapping[str, int]
NAMED = 8
"""Most columns that an overview names."""


def regions_in_statement(manifest: Manifest) -> str:
    """The end of the sentence "drawn from the noisy counts of"."""
    return (
        " and of ".join(_mosaic(manifest))
        if manifest.method == "mosaic"
        else WORDS[manifest.method][0](manifest.summary)
    )


def counted_in_overview(manifest: Manifest) -> str:
    """What was counted with noise, which the records were drawn from."""
    return (
        ", and ".join(_mosaic(manifest)) if manifest.method == "mosaic" else WORDS[manifest.method][1](manifest.summary)
    )


def ranges_of(manifest: Manifest) -> dict[str, int]:
    """The columns that mosaic counted in ranges of values, with the number of ranges; nothing for other methods."""
    if manifest.method != "mosaic":
        return {}
    cells = manifest.structure["cells"]
    declared = (str(one["name"]) for one in cast("list[dict[str, object]]", manifest.schema["fields"]))
    named = [(name, cells[name]) for name in declared if name in cells]
    return {name: len(edges) - 1 for name, edges in named if len(edges) - 1 < edges[-1] - edges[0]}


def ranges_in_overview(manifest: Manifest) -> str:
    """Which columns were counted in ranges, not value by value; nothing if there is none."""
    ranges = ranges_of(manifest)
    if not ranges:
        return ""
    named = ", ".join(f"{name} in {many}" for name, many in list(ranges.items())[:NAMED])
    more = f" and {len(ranges) - NAMED} more" if len(ranges) > NAMED else ""
    counted = "columns was" if len(ranges) == 1 else "columns were"
    return f"{len(ranges)} of {len(manifest.structure['cells'])} {counted} counted in ranges of values: {named}{more}"


def _mosaic(manifest: Manifest) -> list[str]:
    """The number of columns and of the parts that they were counted in, and of the pairs that were counted together."""
    columns, pairs = len(manifest.structure["cells"]), len(measured_pairs(manifest.structure))
    parts = f"{columns} column{'s' * (columns > 1)} ({manifest.summary['cells']:,} values and ranges of values)"
    return [parts, f"{pairs:,} of {columns * (columns - 1) // 2:,} pairs of columns"][: 1 if columns < 2 else 2]


def _diffpart(s: Summary) -> str:
    too_small = " and of the groups of items that were too small to cut further" if s["refilled"] else ""
    return f"{s['leaves']:,} sets of items{too_small}"


def _baskets(s: Summary) -> str:
    if not s["pairs"]:
        return "sets by size and of items"
    head = f", of the patterns of the {s['head_items']} most frequent ones" if s["head_items"] else ""
    some = "all" if s["pairs_given"] == s["pairs"] else f"{s['pairs_given']:,} of the"
    given = f"{some} {s['pairs']:,} pairs of {s['paired_items']:,} items"
    return f"sets by size, of items{head}, and of {given}"


def _baskets_in_short(s: Summary) -> str:
    if not s["pairs"]:
        return "sets by size and items, but no pairs"
    return f"sets by size, items, and {s['pairs_given']:,} pairs of {s['paired_items']:,} items"


def _degrees(s: Summary) -> str:
    bound = "nodes of every degree" if not s["theta"] else f"nodes of degrees up to {s['theta']}"
    guessed = f"; {s['guessed']:,} larger degrees are a guess" if s.get("guessed") else ""
    return f"{bound}, in {s['leaves']:,} ranges" if "leaves" in s else f"{bound}{guessed}"


def _diffpart_in_short(s: Summary) -> str:
    filled = f"; {percent(s['refilled'], s['records'])} of records are filled in at random" if s["refilled"] else ""
    return f"{s['leaves']:,} sets of items{filled}"


WORDS: dict[str, tuple[Callable[[Summary], str], Callable[[Summary], str]]] = {
    "rps": (lambda s: f"{s['leaves']:,} regions", lambda s: f"{s['leaves']:,} regions, at most {s['depth']} cuts deep"),
    "diffgen": (
        lambda s: (
            f"{s['cells']:,} cells, of which the {s['listed']:,} with a noisy count of at least {s['at_least']} "
            "are listed"
        ),
        lambda s: f"{s['cells']:,} groups after {s['rounds']} cuts, of which {s['listed']:,} have a released count",
    ),
    "diffpart": (_diffpart, _diffpart_in_short),
    "baskets": (_baskets, _baskets_in_short),
    "degrees": (
        lambda s: "nodes by degree" if "leaves" not in s else f"{s['leaves']:,} ranges of degrees",
        _degrees,
    ),
}
