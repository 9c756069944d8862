"""Conversion of leaves to the frame of `groups.parquet` and back: one row per leaf and class.

A numeric attribute gives `<name>.lo`, `<name>.hi` (half-open, original units); a category or place gives its label and
`<name>.lo`, `<name>.hi` as positions in the order of its values; `<name>.null` says whether null belongs to the region.
Values that are no neighbours have positions beyond all values, which stand for their set (geometry/value_sets.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from cantle.drawing.counts import distinct_spans
from cantle.drawing.tree import Leaves, Tree
from cantle.errors import SchemaError
from cantle.schema.domain import Attribute, Domain, Labels, Steps
from cantle.schema.places import Plane
from cantle.trusted.core.arrays import Bools, Codes, Floats
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import Cuts, Ints

if TYPE_CHECKING:
    import polars as pl

Number = TypeVar("Number", np.int64, np.float64)

OURS = ("leaf", "parent", "depth", "path", "noisy", "rate_num", "rate_den", "estimate", "count")


def column_of(name: str) -> str:
    """The name of an attribute's column, changed if it is the name of one of our own columns."""
    return f"attribute.{name}" if name in OURS else name


def check_names(domain: Domain) -> None:
    """Refuses names that would clash in the frame of groups."""
    seen: set[str] = set(OURS)
    for attribute in domain.attributes + ((domain.target,) if domain.target else ()):
        name = column_of(attribute.name)
        for column in (name, f"{name}.lo", f"{name}.hi", f"{name}.null"):
            if column in seen:
                raise SchemaError(f"field {attribute.name}: its column {column} clashes with another; rename the field")
            seen.add(column)


def is_category(attribute: Attribute) -> bool:
    """Whether the values are labels, or places on a map, rather than points on a line."""
    return isinstance(attribute.scale, Labels | Plane)


def groups_frame(domain: Domain, leaves: Leaves) -> pl.DataFrame:
    """One row per leaf and class, sorted by leaf, then by class."""
    import polars as pl

    classes = leaves.count.shape[1]
    columns: dict[str, pl.Series | Codes | Floats] = {
        "leaf": np.repeat(leaves.ids, classes),
        "parent": np.repeat(leaves.parent, classes),
        "depth": np.repeat(leaves.depth, classes),
        "path": np.repeat(leaves.path, classes),
    }
    for a, attribute in enumerate(domain.attributes):
        # Many leaves share the same few spans, so each span is put into words once.
        ends = leaves.hi[:, a]
        (lo, hi), which = distinct_spans(leaves.lo[:, a], ends, max(attribute.size, int(ends.max(initial=0))))
        columns |= span_columns(attribute, lo, hi, np.repeat(which, classes))
    if domain.target:
        codes = np.tile(np.arange(classes), len(leaves.ids))
        columns[column_of(domain.target.name)] = domain.target.decode(codes, np.zeros(len(codes)))
    asked = leaves.noisy.shape[1] > 0
    columns["noisy"] = leaves.noisy.reshape(-1) if asked else pl.Series([None] * len(leaves.count), dtype=pl.Int64)
    columns["rate_num"] = np.repeat(leaves.rate_num, classes) if asked else columns["noisy"]
    columns["rate_den"] = np.full(leaves.count.size, leaves.rate_den)
    columns["estimate"], columns["count"] = leaves.estimate.reshape(-1), leaves.count.reshape(-1)
    return pl.DataFrame(columns)


def span_columns(attribute: Attribute, lo: Ints, hi: Ints, which: Ints) -> dict[str, pl.Series]:
    """The columns of an attribute, given spans of its codes and which of them each row has."""
    import polars as pl

    name, spans = column_of(attribute.name), dict[str, "pl.Series | Codes | Bools"]()
    first, last = np.minimum(lo, attribute.bins), np.minimum(hi, attribute.bins)
    far = hi > attribute.size
    if is_category(attribute):
        first, last = np.where(far, lo, first), np.where(far, hi, last)
        pairs = zip(lo.tolist(), hi.tolist(), strict=True)
        spans[name] = pl.Series([attribute.describe(*pair) for pair in pairs], dtype=pl.String)[which]
        spans[f"{name}.lo"], spans[f"{name}.hi"] = first[which], last[which]
    else:
        spans[f"{name}.lo"], spans[f"{name}.hi"] = _edges(attribute, first)[which], _edges(attribute, last)[which]
    if attribute.nullable:
        null = np.where(far, value_sets.sets_of(lo, hi) >> attribute.bins & 1, hi > attribute.bins)
        spans[f"{name}.null"] = null.astype(np.bool_)[which]
    return {column: pl.Series(values) for column, values in spans.items()}


def _edges(attribute: Attribute, codes: Ints) -> pl.Series | Ints:
    """The lower edges of bins, and the edge after the last: an array, or a series for dates and times."""
    import polars as pl

    scale = attribute.scale
    if isinstance(scale, Steps) and scale.type == "integer":
        return scale.first + np.minimum(codes * attribute.width, scale.grid) * scale.step
    return pl.Series([attribute.edge(code) for code in codes.tolist()])


def leaves_from(domain: Domain, groups: pl.DataFrame) -> Leaves:
    """The leaves in a frame of groups; the inverse of `groups_frame`."""
    import polars as pl

    classes = domain.target.size if domain.target else 1
    rows = groups.gather_every(classes)
    lo = np.zeros((len(rows), len(domain.attributes)), dtype=np.int64)
    hi = np.zeros_like(lo)
    for a, attribute in enumerate(domain.attributes):
        name = column_of(attribute.name)
        ends = [rows[f"{name}.lo"], rows[f"{name}.hi"]]
        if not is_category(attribute):
            edges = pl.Series(_edges(attribute, np.arange(attribute.bins + 1)))
            ends = [edges.search_sorted(end) for end in ends]
        lo[:, a], hi[:, a] = (np.asarray(end) for end in ends)
        if attribute.nullable:
            # Null is the last code: a region with null reaches one past the bins, unless it is a set of its own.
            hi[:, a] = np.maximum(hi[:, a], np.where(rows[f"{name}.null"].to_numpy(), attribute.size, 0))
    asked = groups["noisy"].null_count() == 0

    def cells(column: str, kind: type[Number]) -> NDArray[Number]:
        return groups[column].to_numpy().astype(kind).reshape(-1, classes)

    nothing = np.zeros((len(rows), 0), dtype=np.int64)
    leaf, parent, depth, path = (rows[c].to_numpy().astype(np.int64) for c in ("leaf", "parent", "depth", "path"))
    return Leaves(
        leaf, parent, depth, path, lo, hi,
        cells("noisy", np.int64) if asked else nothing,
        rows["rate_num"].to_numpy().astype(np.int64) if asked else np.zeros(0, np.int64),
        int(rows["rate_den"][0]) if len(rows) else 1,
        cells("estimate", np.float64), cells("count", np.int64),
    )  # fmt: skip


def spans_frame(domain: Domain, tree: Tree) -> pl.DataFrame:
    """Every node: parent, depth, what the last cut left of which column, in words and as a span of codes, and the noisy
    size if it was asked for. A node has any number of children."""
    import polars as pl

    count = len(tree)
    columns: dict[str, Ints] = {
        name: np.full(count, -1) for name in ("by", "lo", "hi", "noisy", "rate_num", "rate_den")
    }
    for level in tree.levels[1:]:
        ids, cuts = tree.cuts[level.depth - 1]
        by = cuts.attribute[np.searchsorted(ids, level.parent)]
        rows = np.arange(len(level))
        columns["by"][level.ids], columns["lo"][level.ids] = by, level.lo[rows, by]
        columns["hi"][level.ids] = level.hi[rows, by]
    asked = np.zeros(count, dtype=np.bool_)
    for ids, noisy in tree.sizes:
        asked[ids] = True
        columns["noisy"][ids], columns["rate_num"][ids] = noisy.value[:, 0], noisy.rate_num
        columns["rate_den"][ids] = noisy.rate_den
    spans = np.stack([columns["by"], columns["lo"], columns["hi"]], axis=1)[1:]
    distinct, which = np.unique(spans, axis=0, return_inverse=True)
    said = [domain.attributes[by].describe(lo, hi) for by, lo, hi in distinct.tolist()]
    names = pl.Series([one.name for one in domain.attributes] + [None], dtype=pl.String)
    cut, no_cut = columns["by"] >= 0, pl.Series([None], dtype=pl.String)
    return pl.DataFrame(
        {
            "node": np.arange(count),
            "parent": np.concatenate([level.parent for level in tree.levels]),
            "depth": np.concatenate([np.full(len(level), level.depth) for level in tree.levels]),
            "column": names.gather(np.where(cut, columns["by"], len(names) - 1)),
            "values": pl.concat([no_cut, pl.Series(said, dtype=pl.String).gather(which.reshape(-1))]),
        }
        | {name: _where(cut, columns[name]) for name in ("lo", "hi")}
        | {name: _where(asked, columns[name]) for name in ("noisy", "rate_num", "rate_den")}
    )


def _where(known: Bools, numbers: Ints) -> pl.Series:
    """The numbers where they are known, and null elsewhere."""
    import polars as pl

    return pl.select(pl.when(pl.Series(known)).then(pl.Series(numbers))).to_series()


def tree_frame(domain: Domain, tree: Tree) -> pl.DataFrame:
    """Every node of a tree of binary cuts: parent, depth, and the cut that split it (attribute and first value of the
    right side)."""
    import polars as pl

    count = len(tree)
    attribute, point = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for ids, cuts in tree.cuts.values():
        assert isinstance(cuts, Cuts), "such a frame has no place for more than two children"
        assert cuts.left is None, "nor for sets of values"
        attribute[ids], point[ids] = cuts.attribute, cuts.point
    names = pl.Series([a.name for a in domain.attributes] + [None], dtype=pl.String)
    frame = pl.DataFrame(
        {
            "node": np.arange(count),
            "parent": np.concatenate([level.parent for level in tree.levels]),
            "depth": np.concatenate([np.full(len(level), level.depth) for level in tree.levels]),
            "attribute": names.gather(np.where(attribute < 0, len(names) - 1, attribute)),
            "point": np.where(attribute < 0, 0, point),
        }
    )
    return frame.with_columns(point=pl.when(pl.col("attribute").is_null()).then(None).otherwise(pl.col("point")))
