"""The nodes and leaves of a released tree: whether they follow from its cuts and from noisy counts.

Children are known to be disjoint and to cover their parent, or else the tree is refused.

`tree.parquet` has one of two forms. The newer one says of each node what the last cut left: a span of codes of one
column, also in words, and the noisy size of the region if it was asked for. The older one says at the parent which
column was cut in two at which point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cantle.drawing.counts import public_dice
from cantle.drawing.group_frames import groups_frame
from cantle.drawing.records import drawable
from cantle.drawing.tree import Leaves, Tree
from cantle.errors import VerifyError
from cantle.methods.rps.results import possible, summarise
from cantle.release import Release
from cantle.release.manifest import Receipt
from cantle.release.structures.checks import changed_columns, rate_paid, unpaid
from cantle.schema.domain import Domain
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints
from cantle.trusted.core.budget import Charge
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import Frontier

_FEW = 8  # children of a node that are looked at one by one


@dataclass(frozen=True, eq=False)
class Nodes:
    """All nodes, numbered level by level from the root, 0; children follow each other in the order of their parents.

    Node i has the children first[i], …, first[i] + many[i] - 1, cut by the column of number cut[i] (-1 for leaves).
    `lo` and `hi` are its spans of codes. Of these, the last cut changed that of column by[i] (-1 for the root).
    """

    parent: Ints
    depth: Ints
    first: Ints
    many: Ints
    by: Ints
    lo: Ints
    hi: Ints

    @property
    def leaves(self) -> Ints:
        return np.flatnonzero(self.many == 0)

    @property
    def cut(self) -> Ints:
        return np.where(self.many > 0, self.by[np.minimum(self.first, len(self.by) - 1)], -1)

    def name(self, node: int, domain: Domain) -> str:
        """What the last cut left, in words: "age 30 to 39"."""
        by = domain.attributes[self.by[node]]
        return f"{by.name} {by.describe(*self.span(node))}"

    def span(self, node: int) -> tuple[int, int]:
        """The codes that the last cut left of its column."""
        return int(self.lo[node, self.by[node]]), int(self.hi[node, self.by[node]])

    def counts(self, leaf: Ints, count: Ints) -> Ints:
        """Counts of all nodes, given those of leaves: each is added to all nodes above."""
        total = np.bincount(leaf, count, len(self.parent)).astype(np.int64)
        for depth in range(int(self.depth.max()), 0, -1):
            here = np.flatnonzero(self.depth == depth)
            np.add.at(total, self.parent[here], total[here])
        return total

    def route(self, codes: Codes) -> Ints:
        """The leaf of each record, level by level: among its children, the last that starts at or below its code."""
        node, cut, start = np.zeros(len(codes), dtype=np.int64), self.cut, self._starts()
        left = self._left_sets()
        moving = np.flatnonzero(self.many[node] > 0)
        few = self.many.max() <= _FEW
        keys = self.parent * (int(self.hi.max(initial=0)) + 1)
        while len(moving):
            here = node[moving]
            code = codes[moving, cut[here]].astype(np.int64)
            if few:
                first, child = self.first[here], self.first[here].copy()
                for k in range(1, int(self.many[here].max())):
                    child += (k < self.many[here]) & (code >= start[np.minimum(first + k, len(start) - 1)])
                node[moving] = child
            else:
                node[moving] = np.searchsorted(keys + start, keys[self.first[here]] + code, side="right") - 1
            if left is not None:
                outside = (left[here] >> np.minimum(code, value_sets.MOST)) & 1 == 0
                node[moving] = np.where(left[here] > 0, self.first[here] + outside, node[moving])
            moving = moving[self.many[node[moving]] > 0]
        return node

    def _left_sets(self) -> Ints | None:
        """The set of the first child where values were divided into sets that are no spans; None if nowhere."""
        node = np.arange(1, len(self.by))
        far = node[self.hi[node, self.by[1:]] > self.hi[0, self.by[1:]]]
        if not len(far):
            return None
        parents, left = np.unique(self.parent[far]), np.zeros(len(self.parent), dtype=np.int64)
        ends = np.array([self.span(node) for node in self.first[parents].tolist()])
        left[parents] = value_sets.sets_of(ends[:, 0], ends[:, 1])
        return left

    def _starts(self) -> Ints:
        """The first code that the last cut left to each node."""
        return self.lo[np.arange(len(self.by)), self.by] if self.lo.shape[1] else np.zeros(len(self.by), dtype=np.int64)

    def as_tree(self, leaves: Leaves, sizes: list[tuple[Ints, Noisy]]) -> Tree:
        """The tree as the run had it, with the noisy numbers of these leaves and these noisy sizes of nodes."""
        tree = Tree(self.lo.shape[1], leaves.count.shape[1], sizes=sizes)
        for depth in range(int(self.depth.max()) + 1):
            tree.add_level(self._level(np.flatnonzero(self.depth == depth), depth))
            mine: Bools = self.depth[leaves.ids] == depth
            if mine.any():
                asked = (
                    Noisy(leaves.noisy[mine], leaves.rate_num[mine], leaves.rate_den) if len(leaves.rate_num) else None
                )
                tree.note_leaves(self._level(leaves.ids[mine], depth), asked, leaves.path[mine])
        return tree

    def _level(self, ids: Ints, depth: int) -> Frontier:
        return Frontier(ids, self.parent[ids], depth, self.lo[ids], self.hi[ids])


def nodes_of(tree: pl.DataFrame, domain: Domain) -> Nodes:
    """The nodes in `tree.parquet`; a VerifyError unless the children of every node are disjoint and cover it."""
    parent, depth, own = (tree[name].to_numpy().astype(np.int64) for name in ("parent", "depth", "node"))
    in_order = len(parent) and parent[0] == -1 and depth[0] == 0 and np.array_equal(own, np.arange(len(own)))
    if not in_order or (np.diff(parent) < 0).any() or (parent >= own).any() or (parent[1:] < 0).any():
        raise VerifyError("the nodes of the tree do not come after their parents, in the order of these")
    if not np.array_equal(depth[1:], depth[parent[1:]] + 1):
        raise VerifyError("a node of the tree is not one level below its parent")
    many = np.bincount(parent + 1, minlength=len(parent) + 1)[1:]
    first = 1 + np.cumsum(many) - many
    read = _cuts_at_parents if "point" in tree.columns else _spans_of_nodes
    by, start, end = read(tree, domain, parent, own - first[parent], many)
    lo = np.zeros((len(parent), len(domain.attributes)), dtype=np.int64)
    sizes = np.array([a.size for a in domain.attributes], dtype=np.int64)
    hi = np.tile(sizes, (len(parent), 1)).reshape(lo.shape)
    for level in range(1, int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        above, cut = parent[here], by[here]
        lo[here], hi[here] = lo[above], hi[above]
        low, high = lo[above, cut], hi[above, cut]
        begin, stop = np.where(start[here] < 0, low, start[here]), np.where(end[here] < 0, high, end[here])
        follows = np.where(here == first[above], low, np.append(-1, stop[:-1]))
        reaches = (here < first[above] + many[above] - 1) | (stop == high)
        spans = (begin < stop) & (stop <= np.minimum(high, sizes[cut])) & (begin == follows) & reaches
        whole, part = value_sets.sets_of(low, high), value_sets.sets_of(begin, stop)
        small = (sizes[cut] <= value_sets.MOST) & (many[above] == 2)
        if not (spans | (small & _divided(whole, part, here == first[above]))).all():
            raise VerifyError("the regions below a region of the tree are not disjoint, or do not cover it")
        lo[here, cut], hi[here, cut] = begin, stop
    nodes = Nodes(parent, depth, first, many, by, lo, hi)
    if "values" in tree.columns and tree["values"].to_list() != _in_words(nodes, domain):
        raise VerifyError("the words of the tree are not those of its cuts")
    return nodes


def _divided(whole: Ints, part: Ints, first: Bools) -> Bools:
    """Whether each child is one of two sets of values that together make up the set of their parent."""
    other = np.where(first, np.roll(part, -1), np.roll(part, 1))  # the other child
    return (part > 0) & (other > 0) & (part & other == 0) & (part | other == whole)


def _cuts_at_parents(
    tree: pl.DataFrame, domain: Domain, parent: Ints, place: Ints, many: Ints
) -> tuple[Ints, Ints, Ints]:
    """For each node the number of the column that was cut, and its span; -1 is the end of the parent's span."""
    column = _numbers(tree["attribute"], domain)
    if not np.array_equal(many, np.where(column >= 0, 2, 0)):
        raise VerifyError("the tree is not a binary tree")
    if not tree["point"].is_null().equals(tree["attribute"].is_null(), check_names=False):
        raise VerifyError("a cut of the tree has no point, or a leaf has one")
    point, right = tree["point"].fill_null(0).to_numpy().astype(np.int64), place == 1
    at = point[parent]
    by = np.append(-1, column[parent[1:]])
    return by, np.where(right, at, -1), np.where(right, -1, at)


def _spans_of_nodes(
    tree: pl.DataFrame,
    domain: Domain,
    parent: Ints,  # noqa: ARG001
    place: Ints,
    many: Ints,
) -> tuple[Ints, Ints, Ints]:
    """The same, as the nodes say it themselves; all children of a node must be spans of one column."""
    by = _numbers(tree["column"], domain)
    start, end = (tree[name].fill_null(0).to_numpy().astype(np.int64) for name in ("lo", "hi"))
    same = by[1:] == by[np.arange(1, len(by)) - place[1:]]
    if by[0] >= 0 or (by[1:] < 0).any() or not same.all() or (many == 1).any() or (start < 0).any():
        raise VerifyError("the regions below a region of the tree are not spans of one column")
    if start[0] or end[0] or (end[1:] < 1).any():
        raise VerifyError("a region of the tree has no span, or the root has one")
    return by, start, end


def _numbers(names: pl.Series, domain: Domain) -> Ints:
    """The numbers of columns; -1 for null, and an error for other names."""
    known: dict[str | None, int] = {attribute.name: a for a, attribute in enumerate(domain.attributes)}
    if unknown := set(names.unique().to_list()) - {*known, None}:
        raise VerifyError(f"the tree cuts a column that is not in the schema: {min(map(str, unknown))}")
    return np.array([known.get(name, -1) for name in names.to_list()], dtype=np.int64)


def _in_words(nodes: Nodes, domain: Domain) -> list[str | None]:
    """What the last cut left, in words; null for the root."""
    keys = [(by, *nodes.span(node)) for node, by in enumerate(nodes.by.tolist()) if node]
    said = {key: domain.attributes[key[0]].describe(*key[1:]) for key in set(keys)}
    return [None, *(said[key] for key in keys)]


def sizes_asked(tree: pl.DataFrame) -> list[tuple[Ints, Noisy]]:
    """The noisy sizes of regions in the newer form."""
    if "noisy" not in tree.columns:
        return []
    asked = tree.filter(tree["noisy"].is_not_null())
    if any(tree[name].is_null().ne(tree["noisy"].is_null()).any() for name in ("rate_num", "rate_den")):
        raise VerifyError("a size of a region has no noise, or noise belongs to no size")
    rates = asked.select("rate_num", "rate_den").unique().sort("rate_den", "rate_num").rows()
    parts = ((den, asked.filter(asked["rate_den"] == den)) for den in sorted({den for _, den in rates}))
    return [
        (part["node"].to_numpy(), Noisy(part["noisy"].to_numpy().reshape(-1, 1), part["rate_num"].to_numpy(), den))
        for den, part in parts
    ]


SIZE, TEST = "number of records", "stop test"
"""The charges for noisy sizes: of the whole domain, and of regions that were tested by their counts."""

_CLOSE = 1e-6  # estimates are sums and means of few numbers, so only their last digits vary with the machine
_KNOWN = 10**6  # the rate of the noise in a number that is exactly known


@dataclass(frozen=True)
class Counting:
    """How the counts of leaves follow from the noisy numbers."""

    least_squares: bool = True
    by_depth: bool = False
    label: str = "counts"
    declared: int | None = None
    """The number that all counts add up to, if it is not noisy."""
    counted: bool = True
    """Whether the noisy number of records is a size of the root, or only decided whether the error was measured."""


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
        raise VerifyError("the regions of the leaves are not those the tree's cuts make")
    yield from _path_problems(manifest.receipt, nodes, leaves)
    yield from _size_problems(manifest.receipt, nodes, leaves, sizes_asked(release.frames["tree"]))
    again = _computed(release, domain, nodes, leaves, how)
    count, more = drawable(again.count, len(domain.columns), public_dice(manifest.postprocessing["seed"]))
    if list(more.values()) != ([] if wanted is None else [wanted]) or int(count.sum()) != manifest.summary["records"]:
        yield "the counts of the leaves do not add up to the number of records"
    yield from changed_columns(release.groups, groups_frame(domain, replace(again, count=count)), "groups", _CLOSE)


def _path_problems(receipt: Receipt, nodes: Nodes, leaves: Leaves) -> Iterator[str]:
    """Checks that leaves below one region were charged the same as far as it, and that leaves were counted at their
    own depth."""
    charges = {path.path: path.charges for path in receipt.paths}
    if not set(leaves.path.tolist()) <= set(charges):
        return  # reported with the rates
    for number in np.unique(leaves.path).tolist():
        own, depths = [one.depth for one in charges[number]], leaves.depth[leaves.path == number]
        if (depths < max(own, default=0)).any() or (own and leaves.noisy.shape[1] and (depths != own[-1]).any()):
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


def _size_problems(receipt: Receipt, nodes: Nodes, leaves: Leaves, sizes: list[tuple[Ints, Noisy]]) -> Iterator[str]:
    """Checks that the noisy sizes of regions have the noise that the paths through them paid for."""
    paid = {
        (path.path, charge.depth, *rate_paid(charge))
        for path in receipt.paths
        for charge in path.charges
        if charge.why in (SIZE, TEST) and charge.verb == "measure"
    }
    path = np.zeros(len(nodes.parent), dtype=np.int64)
    path[leaves.ids] = leaves.path
    for node in np.flatnonzero(nodes.many)[::-1].tolist():  # all paths through a region have the same charges there
        path[node] = path[nodes.first[node]]
    for ids, noisy in sizes:
        rates = zip(path[ids].tolist(), nodes.depth[ids].tolist(), noisy.rate_num.tolist(), strict=True)
        if not {(*rate, noisy.rate_den) for rate in rates} <= paid:
            yield "the noise in the sizes of regions is not what the receipt paid for"
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
    """The noisy sizes of regions. Not all releases hold all of them. What is unknown is replaced by the stated
    estimates: then only differences between the estimates of one leaf, or of all leaves, can be checked."""
    tree, receipt = release.frames["tree"], release.manifest.receipt
    tested = [charge for charge in receipt.charges() if charge.why == TEST and charge.verb == "measure"]
    counted = how.counted and how.declared is None and _size_charges(receipt)
    if "noisy" in tree.columns:
        sizes = sizes_asked(tree)
        if not (counted and any(charge.depth == 0 for charge in tested)):
            return sizes
        # The tree holds one size of each region, but the whole domain has two.
        first = _size_of_all(release, leaves)
        known = release.manifest.accuracy is not None
        return [*first, *sizes] if known else [*first, *sizes_asked(tree.filter(tree["node"] > 0))]
    if tested and not how.by_depth:
        return [(leaves.ids, _exactly(leaves.estimate.sum(axis=1)))]
    return _size_of_all(release, leaves) if counted else []


def _size_charges(receipt: Receipt) -> list[Charge]:
    return [charge for charge in receipt.charges() if charge.why == SIZE]


def _size_of_all(release: Release, leaves: Leaves) -> list[tuple[Ints, Noisy]]:
    """The noisy number of records, which decided whether the release measured its error, or else their estimate."""
    root, accuracy = np.zeros(1, dtype=np.int64), release.manifest.accuracy
    if accuracy is None:
        return [(root, _exactly(leaves.estimate.sum().reshape(1)))]
    num, den = rate_paid(_size_charges(release.manifest.receipt)[0])
    return [(root, Noisy(np.array([[accuracy.noisy_records]]), np.array([num]), den))]


def _exactly(sizes: Floats) -> Noisy:
    """Sizes that are known without noise."""
    return Noisy(sizes.reshape(-1, 1), np.full(len(sizes), _KNOWN), 1)  # type: ignore[arg-type]
