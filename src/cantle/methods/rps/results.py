"""From the noisy tree of rps to what is released: estimates, integers, groups, records. Post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, Floats, Strata, draw_uniform, project_rows, round_rows, variance
from cantle.drawing.group_frames import groups_frame
from cantle.drawing.obey_rules import Regions
from cantle.drawing.records import Drawn, Results, drawable
from cantle.drawing.tree import Leaves, Tree, consistent, integers
from cantle.methods.rps.one_ways import OneWayTables, Pieces, estimated, marginals_frame, one_way_tables
from cantle.schema.domain import Attribute, Domain
from cantle.schema.rules import Rules
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints


@dataclass(frozen=True)
class Drawing:
    """How records follow from the noisy tree: four settings of rps."""

    values: str
    consistency: bool = True
    summary: str = "counts"
    label: str = "counts"


def tree_results(
    domain: Domain,
    tree: Tree,
    nodes: pl.DataFrame,
    oneways: tuple[Sequence[Ints], Noisy] | None,
    settings: Drawing,
    depth: int,
    generator: Dice,
) -> Results:
    """Everything a release of a tree holds. `nodes` is the tree as a frame; `oneways` are the edges of the cells of
    one-way tables and their counts."""
    frontier = tree.leaf_frontier()
    may = None if domain.rules is None else possible_in(domain, domain.rules, frontier.lo, frontier.hi)
    leaves = summarise(
        tree, least_squares=settings.consistency, by_depth=settings.summary == "depth", label=settings.label, may=may
    )
    count, wanted = drawable(leaves.count, len(domain.columns), generator)
    leaves = replace(leaves, count=count)
    frames = {"tree": nodes}
    tables = None
    if oneways is not None:
        edges, noisy = oneways
        answer = edges, noisy.value[0], int(noisy.rate_num[0]), noisy.rate_den
        frames["marginals"], tables = marginals_frame(domain, *answer), one_way_tables(*answer)
    if settings.values == "set":
        records: Drawn | pl.DataFrame = draw_generalised(domain, leaves, generator)
    else:
        within = distributions(domain, leaves, settings.values, tables)
        records = drawn_records(domain, leaves, settings.values, within, generator)
    summary = {"records": len(records), "leaves": len(leaves.ids), "depth": depth} | wanted
    return Results(records, groups_frame(domain, leaves), frames, summary)


def summarise(
    tree: Tree,
    *,
    least_squares: bool,
    by_depth: bool,
    label: str,
    may: Bools | None = None,
    stated: Floats | None = None,
) -> Leaves:
    """Estimates and released integers of every leaf and class. Where `may` is given and false, there is known to be no
    record, and the noise of such a count affects nothing else.

    With `label` "counts", each class keeps its own count, so the shares of classes follow the noisy counts. With
    "majority", all records of a leaf get its most frequent class by the estimates (ties: the first), so rare classes
    nearly disappear. If estimates are `stated`, the integers are those of the stated ones.
    """
    frontier, depth = tree.leaf_frontier(), tree.leaf_depth()
    noisy = [part for _, part, _ in tree.leaves if part is not None]
    if noisy:
        value = np.concatenate([part.value for part in noisy])
        rate_num, rate_den = np.concatenate([part.rate_num for part in noisy]), noisy[0].rate_den
    else:
        value, rate_num, rate_den = np.zeros((len(depth), 0), np.int64), np.zeros(0, np.int64), 1
    known = value if may is None or not value.shape[1] else np.where(may, value, 0)
    total = np.asarray(max(0.0, _records(tree)) / 2.0**depth if by_depth else [], dtype=np.float64)
    if by_depth:  # N / 2^d records per leaf of depth d (RPS 3.2), N declared or noisy; classes only divide them
        estimate = project_rows(known.astype(float) if known.shape[1] else np.zeros((len(depth), 1)), total)
    elif least_squares:
        estimate = _least_squares(tree, frontier.ids, known, variance(rate_num / rate_den), may)
    else:
        estimate = known.astype(float)
    shown = estimate if stated is None else stated
    if by_depth:
        count = round_rows(shown, np.rint(total).astype(np.int64))
    elif least_squares:
        count = integers(tree.by_level(), frontier.ids, shown, may)
    else:
        count = np.maximum(known.sum(axis=1, keepdims=True) if label == "majority" else known, 0)
        if tree.declared is not None:
            count = _in_proportion(count, tree.declared)
    if label == "majority":
        count = _majority(shown if may is None else np.where(may, shown, -np.inf)) * count.sum(axis=1, keepdims=True)
    if may is not None:
        count = np.where(may, count, 0)
    return Leaves(
        frontier.ids, frontier.parent, depth, tree.leaf_path(), frontier.lo, frontier.hi,
        value, rate_num, rate_den, estimate, count,
    )  # fmt: skip


def _in_proportion(count: Ints, total: int) -> Ints:
    """Counts in proportion to these, with this total; equal ones if all are 0."""
    weight = (count if count.any() else np.ones_like(count)).astype(np.float64).reshape(1, -1)
    return round_rows(weight * (total / max(1.0, weight.sum())), np.array([total])).reshape(count.shape)


def possible(domain: Domain, leaves: Leaves) -> Bools:
    """For each leaf and class whether it has a point that breaks no rule of the schema."""
    if domain.rules is None:
        return np.ones(leaves.count.shape, dtype=np.bool_)
    return possible_in(domain, domain.rules, leaves.lo, leaves.hi)


def possible_in(domain: Domain, rules: Rules, lo: Ints, hi: Ints, *, glance: bool = False) -> Bools:
    """The same for regions given by their spans. With `glance`, a region that needs a search counts as possible."""
    regions, classes = Regions.of(domain, rules, lo, hi), domain.target.size if domain.target else 1
    labels = (np.full(len(lo), label) for label in range(classes))
    return np.stack([~regions.forbidden(label, glance=glance) for label in labels], axis=1)


def _majority(estimate: Floats) -> Ints:
    """1 for the most frequent class of each leaf, 0 for the others."""
    best: Ints = np.eye(estimate.shape[1], dtype=np.int64)[estimate.argmax(axis=1)]
    return best


def _records(tree: Tree) -> float:
    """The declared or noisy number of records."""
    return float(tree.declared if tree.declared is not None else tree.sizes[0][1].value[0, 0])


def _least_squares(tree: Tree, leaf: Ints, value: Ints, cell_variance: Floats, may: Bools | None) -> Floats:
    """Consistent estimates over the whole tree."""
    size, spread = np.zeros(len(tree)), np.full(len(tree), np.inf)
    for ids, noisy in tree.sizes:
        new = variance(noisy.rate_num / noisy.rate_den)
        # Several measurements of one region (count and stop test at the root) are averaged by their precision.
        precision = 1 / spread[ids] + 1 / new
        gain = 1 / (new * precision)
        size[ids] += gain * (noisy.value[:, 0] - size[ids])
        spread[ids] = 1 / precision
    if tree.declared is not None:
        size[0], spread[0] = tree.declared, 1e-9
    cells = {"ids": leaf, "value": value.astype(float), "variance": cell_variance}
    return consistent(tree.by_level(), cells, size, spread, may)


def distributions(domain: Domain, leaves: Leaves, values: str, tables: OneWayTables | None) -> list[Pieces]:
    """For each attribute the distribution of its values, fitted to its one-way table, or uniform over the grid."""
    count = leaves.count.sum(axis=1)
    some, total, made = np.flatnonzero(count), float(count.sum()), []
    lo, hi, weight = leaves.lo[some], leaves.hi[some], count[some].astype(float)
    for a, attribute in enumerate(domain.attributes):
        cuts = np.union1d(lo[:, a], hi[:, a])
        if values != "fitted" or tables is None:
            made.append(Pieces.even(attribute, cuts))
            continue
        counts = estimated(attribute, tables.edges[a], tables.noisy[a], tables.rate, total)
        made.append(Pieces.split(attribute, tables.edges[a], counts, cuts).fitted(lo[:, a], hi[:, a], weight))
    return made


def drawn_records(domain: Domain, leaves: Leaves, values: str, within: list[Pieces], generator: Dice) -> Drawn:
    """Records with the leaves' counts, each attribute drawn independently inside its region (RPS 3.2), shuffled.

    `within` are the `distributions` of the attributes.
    """
    classes = leaves.count.shape[1]
    region = np.flatnonzero(leaves.count.reshape(-1))
    counts, leaf = leaves.count.reshape(-1)[region], region // classes
    total = int(counts.sum())
    order, strata = generator.permutation(total), Strata(counts)
    columns = {}
    for a, attribute in enumerate(domain.attributes):
        lo, hi = leaves.lo[leaf, a], leaves.hi[leaf, a]
        if values in ("midpoint", "low"):
            code, point = _fixed(attribute, lo, hi, values)
            drawn = attribute.fine(np.repeat(code, counts)[order], np.repeat(point, counts)[order])
        else:
            drawn = within[a].draw(strata, lo, hi, order, generator)
        columns[attribute.name] = attribute, drawn
    if domain.target:
        label = label_places(domain.target, region % classes, counts, order, generator)
        columns[domain.target.name] = domain.target, label
    if domain.rules is not None:
        codes = {name: codes for name, (_, codes) in columns.items()}
        shapes = {pieces.attribute.name: pieces.shape for pieces in within}
        regions = Regions.of(domain, domain.rules, leaves.lo, leaves.hi)
        regions.redraw(codes, np.repeat(leaf, counts)[order], shapes, generator)
    return Drawn.of(domain.as_written(columns), total, compiled=generator.compiled)


def label_places(target: Attribute, label: Ints, counts: Ints, order: Ints, dice: Dice) -> Codes:
    """The classes of records as places on the target's grid; random within a class of several values."""
    row = np.repeat(np.arange(len(label), dtype=np.int32), counts)[order]
    return draw_uniform(target.places(label), target.places(label + 1), row, target.grid + 1, dice)


def draw_generalised(domain: Domain, leaves: Leaves, generator: Dice) -> pl.DataFrame:
    """Records whose values are the sets of their regions, as text (RPS 3.2), shuffled."""
    region, label = np.nonzero(leaves.count)
    counts = leaves.count[region, label]
    order = generator.permutation(int(counts.sum()))
    region, label = np.repeat(region, counts)[order], np.repeat(label, counts)[order]
    columns = {}
    for a, attribute in enumerate(domain.attributes):
        spans, inverse = np.unique(np.stack([leaves.lo[:, a], leaves.hi[:, a]], axis=1), axis=0, return_inverse=True)
        texts = pl.Series([attribute.describe(int(lo), int(hi)) for lo, hi in spans], dtype=pl.String)
        columns[attribute.name] = texts.gather(inverse.reshape(-1)[region])
    if domain.target:
        columns[domain.target.name] = domain.target.decode(label, np.zeros(len(label)))
    return pl.DataFrame({name: columns[name] for name in domain.columns})


def _fixed(attribute: Attribute, lo: Ints, hi: Ints, values: str) -> tuple[Ints, Floats]:
    """One point per region, its lower end or its middle; null only if the region holds no other value."""
    top = np.minimum(hi, attribute.bins)
    point = np.where((values == "low") | (top <= lo), lo, (lo + top) / 2)
    code = np.floor(point).astype(np.int64)
    return code, point - code
