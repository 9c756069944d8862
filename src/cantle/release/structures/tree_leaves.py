"""The leaves of a released tree: whether they are those of its cuts, and follow from their noisy counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cantle.drawing.counts import public_dice
from cantle.drawing.group_frames import groups_frame
from cantle.drawing.records import drawable
from cantle.drawing.tree import Leaves
from cantle.methods.rps.results import possible, summarise
from cantle.release import Release
from cantle.release.manifest import Receipt
from cantle.release.structures.checks import changed_columns, rate_paid, unpaid
from cantle.release.structures.tree_nodes import Nodes, sizes_asked
from cantle.schema.domain import Domain
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Floats, Ints

SIZE, TEST = "number of records", "stop test"
"""The charges for noisy sizes: of the whole domain, and of regions that were tested by their counts."""

_KNOWN = 10**6  # the rate of the noise in a number that is exactly known


@dataclass(frozen=True)
class Counting:
    """How the counts of leaves follow from the noisy numbers."""

    least_squares: bool = True
    by_depth: bool = False
    label: str = "counts"
    declared: int | None = None
    """The number that all counts add up to, if it is not noisy."""


def leaf_problems(
    release: Release, domain: Domain, nodes: Nodes, leaves: Leaves, how: Counting, wanted: int | None
) -> Iterator[str]:
    """Checks that the leaves are those of the tree's cuts, have the noise of the receipt, and follow from their noisy
    counts. `wanted` are the records that these call for, if they are too many to draw."""
    manifest = release.manifest
    yield from unpaid(manifest.receipt, release.groups, "leaves")
    ends = nodes.leaves
    cut = zip((leaves.ids, leaves.lo, leaves.hi), (ends, nodes.lo[ends], nodes.hi[ends]), strict=True)
    if not all(np.array_equal(*pair) for pair in cut) or len(ends) != manifest.summary["leaves"]:
        yield "the regions of the leaves are not those the tree's cuts make"
        return
    yield from _path_problems(manifest.receipt, nodes, leaves)
    again = _computed(release, domain, nodes, leaves, how)
    count, more = drawable(again.count, len(domain.columns), public_dice(manifest.postprocessing["seed"]))
    if list(more.values()) != ([] if wanted is None else [wanted]) or int(count.sum()) != manifest.summary["records"]:
        yield "the counts of the leaves do not add up to the number of records"
    yield from changed_columns(release.groups, groups_frame(domain, replace(again, count=count)), "groups")


def _path_problems(receipt: Receipt, nodes: Nodes, leaves: Leaves) -> Iterator[str]:
    """Checks that leaves below one region were charged the same as far as it, and that leaves were counted at their
    own depth."""
    charges = {path.path: path.charges for path in receipt.paths}
    if not set(leaves.path.tolist()) <= set(charges):
        return  # reported with the rates
    for number in np.unique(leaves.path).tolist():
        deepest, depths = max(one.depth for one in charges[number]), leaves.depth[leaves.path == number]
        if (depths < deepest).any() or (leaves.noisy.shape[1] and (depths != charges[number][-1].depth).any()):
            yield f"the leaves on path {number} are not at the depth that the receipt paid for"
    above = leaves.ids
    for depth in range(int(nodes.depth.max()), -1, -1):
        above = np.where(nodes.depth[above] > depth, nodes.parent[above], above)
        spent = {number: tuple(one for one in charges[number] if one.depth <= depth) for number in charges}
        kinds = {one: kind for kind, one in enumerate(dict.fromkeys(spent.values()))}
        kind = np.zeros(max(charges) + 1, dtype=np.int64)
        kind[list(charges)] = [kinds[spent[number]] for number in charges]
        if len(np.unique(above * len(kinds) + kind[leaves.path])) != len(np.unique(above)):
            yield "leaves below one region are on paths that were charged differently for it"
            return


def _computed(release: Release, domain: Domain, nodes: Nodes, leaves: Leaves, how: Counting) -> Leaves:
    """The leaves by the tree, with estimates by the noisy counts, and counts by the stated estimates."""
    tree = nodes.as_tree(leaves, _sizes(release, leaves, how))
    if how.declared is not None:
        tree.declare(how.declared)
    spans = replace(leaves, lo=nodes.lo[leaves.ids], hi=nodes.hi[leaves.ids])
    return summarise(
        tree,
        least_squares=how.least_squares,
        by_depth=how.by_depth,
        label=how.label,
        may=None if domain.rules is None else possible(domain, spans),
        stated=leaves.estimate,
    )


def _sizes(release: Release, leaves: Leaves, how: Counting) -> list[tuple[Ints, Noisy]]:
    """The noisy sizes of regions. Older releases do not hold all of them. What is unknown is replaced by the stated
    estimates: then only differences between the estimates of one leaf, or of all leaves, can be checked."""
    tree, receipt, accuracy = release.frames["tree"], release.manifest.receipt, release.manifest.accuracy
    if "noisy" in tree.columns:
        return sizes_asked(tree)
    totals = leaves.estimate.sum(axis=1)
    if any(charge.why == TEST and charge.verb == "measure" for charge in receipt.charges()) and not how.by_depth:
        return [(leaves.ids, _exactly(totals))]
    root, asked = np.zeros(1, dtype=np.int64), [charge for charge in receipt.charges() if charge.why == SIZE]
    if not asked or how.declared is not None:
        return []
    if accuracy is None:
        return [(root, _exactly(totals.sum(keepdims=True)))]
    num, den = rate_paid(asked[0])
    return [(root, Noisy(np.array([[accuracy.noisy_records]]), np.array([num]), den))]


def _exactly(sizes: Floats) -> Noisy:
    """Sizes that are known without noise."""
    return Noisy(sizes.reshape(-1, 1), np.full(len(sizes), _KNOWN), 1)  # type: ignore[arg-type]
