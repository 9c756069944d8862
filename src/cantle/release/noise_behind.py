"""The noise in the counts that the released records of a question were drawn from.

If the release did not measure its own error, this is all that an interval covers. Drawing records from noisy counts
adds an error of its own, which is not included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import variance
from cantle.drawing.group_frames import column_of, leaves_from
from cantle.methods.baskets.results import SINGLE
from cantle.release.estimates import Noise
from cantle.release.load import domain_of, graph_schema_of, grid_and_domain, universe_of
from cantle.release.noisy_tables import tables_of
from cantle.release.sets import SetCodes
from cantle.schema.code_sets import CodeSet, Key, Question, columns_of, holds, hull
from cantle.trusted.core.arrays import Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

    from cantle.release import Release

Share = Callable[[dict[Key, CodeSet]], float]
"""The share of the released records in a box (codes per column) for which a question holds."""
NoiseOfAnswer = Callable[[Question, Share], Noise]


def noise_behind(release: Release) -> NoiseOfAnswer:
    """The noise in answers counted in the released records; the counts behind them are looked up once."""
    return _METHODS[release.manifest.method](release)


def sum_of(noises: Iterable[Noise]) -> Noise:
    total = Noise(0.0, 0.0)
    for noise in noises:
        total += noise
    return total


# ------------------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, eq=False)
class Regions:
    """Boxes of codes with a noisy count each: spans first .. end per column, and the variance of the noise."""

    columns: Sequence[str]
    first: Codes
    end: Codes
    variance: Floats

    def noise(self, question: Question) -> Noise:
        """The noise in an answer: each count is weighted by the part of its box for which the question holds."""
        weight = np.ones(len(self.variance))
        for key, codes in hull(question).items():
            if key in self.columns:
                at = self.columns.index(str(key))
                weight *= _overlap(self.first[:, at], self.end[:, at], codes)
        spread = weight**2 * self.variance
        return Noise(float(spread.sum()), float(3 * (spread**2).sum()))


def _overlap(first: Codes, end: Codes, codes: CodeSet) -> Floats:
    """The share of each span that is in the set of codes."""
    inside = np.zeros(len(first))
    for low, high in codes.spans():
        inside += np.clip(np.minimum(end, high) - np.maximum(first, low), 0, None)
    return inside / np.maximum(1, end - first)


def _rps_regions(release: Release) -> Regions:
    domain = domain_of(release.manifest)
    leaves = leaves_from(domain, release.groups)
    first, end = (
        _side_by_side([a.places(part[:, j]) for j, a in enumerate(domain.attributes)], len(part))
        for part in (leaves.lo, leaves.hi)
    )
    names = [attribute.name for attribute in domain.attributes]
    rate = leaves.rate_num / leaves.rate_den if len(leaves.rate_num) else np.full(len(first), np.inf)
    spread = np.where(np.isinf(rate), 0.0, variance(np.where(np.isinf(rate), 1.0, rate)))
    if domain.target is None:
        return Regions(names, first, end, spread)
    classes = domain.target.size
    label = np.tile(np.arange(classes), len(first))[:, None]
    first, end = (np.repeat(part, classes, axis=0) for part in (first, end))
    joined = np.hstack([first, label]), np.hstack([end, label + 1])
    return Regions([*names, domain.target.name], *joined, np.repeat(spread, classes))


def _side_by_side(columns: list[Ints], rows: int) -> Ints:
    """The columns of an array with so many rows; there is none if the target is the only column of the table."""
    return np.array(columns, dtype=np.int64).reshape(len(columns), rows).T


def _diffgen_regions(release: Release) -> Regions:
    domain, grid = grid_and_domain(release)
    place = grid.unravel(release.groups["leaf"].to_numpy().astype(np.int64))
    edges = [a.places(np.asarray(edge)) for a, edge in zip(domain.attributes, grid.edges, strict=True)]
    first = _side_by_side([edge[place[:, j]] for j, edge in enumerate(edges)], len(place))
    end = _side_by_side([edge[place[:, j] + 1] for j, edge in enumerate(edges)], len(place))
    names = [attribute.name for attribute in domain.attributes]
    if domain.target is not None:
        label = domain.target.encode(release.groups[column_of(domain.target.name)]).astype(np.int64)[:, None]
        first, end, names = np.hstack([first, label]), np.hstack([end, label + 1]), [*names, domain.target.name]
    return Regions(names, first, end, _variances(release.groups))


def _variances(groups: pl.DataFrame) -> Floats:
    return variance(groups["rate_num"].to_numpy() / groups["rate_den"].to_numpy())


# --------------------------------------------------------------------------------------------------------- sets


def _diffpart(release: Release) -> NoiseOfAnswer:
    """The noise of all counted sets for which the question holds."""
    codes, each = cache(SetCodes(release.groups["items"], universe_of(release.manifest))), _variances(release.groups)

    def noise(question: Question, share: Share) -> Noise:  # noqa: ARG001
        inside = each[np.broadcast_to(holds(question, codes), len(each))]
        return Noise(float(inside.sum()), float(3 * (inside**2).sum()))

    return noise


def _baskets(release: Release, question: Question, share: Share) -> Noise:
    """The largest noise of the items and sizes that the question names, scaled by the share of their records for which
    it holds."""
    groups, worst = release.groups, Noise(0.0, 0.0)
    for key in columns_of(question):
        codes = hull(question).get(key)
        if codes is None:
            continue
        mine = _size_noise(groups, codes) if key == "size" else _item_noise(release, int(key))
        worst = max(worst, mine.scaled(share({key: codes})), key=lambda noise: noise.variance)
    return worst


def _size_noise(groups: pl.DataFrame, codes: CodeSet) -> Noise:
    """The noise of the bins of sizes that the question touches; the last bin has no end."""
    rows = groups.filter(groups["question"] == "sizes")
    first = rows["size"].to_numpy()
    end = np.append(first[1:], codes.size)
    touched = _overlap(first, end, codes) > 0
    return sum_of(Noise.of(float(one)) for one in _variances(rows)[touched])


def _item_noise(release: Release, code: int) -> Noise:
    """The noise in the number of records with an item. Records were cut to a few items, so counts and noise are scaled
    up."""
    groups, item = release.groups, universe_of(release.manifest).label(code)
    rows = groups.filter(groups["question"].str.starts_with("items"))
    cut = rows.filter(rows["question"] != SINGLE)
    total = float((cut["noisy"] / cut["parts"]).sum())
    enlarged = max(1.0, float(cut["estimate"].sum()) / total) if total > 0 else 1.0
    mine = rows.filter(rows["items"].list.first() == item)
    factor = np.where(mine["question"] == SINGLE, 1.0, enlarged) / mine["parts"].to_numpy()
    return sum_of(Noise.of(float(v), float(f)) for v, f in zip(_variances(mine), factor, strict=True))


# ------------------------------------------------------------------------------------------------------ degrees


def _degrees(release: Release, question: Question, share: Share) -> Noise:  # noqa: ARG001
    codes = hull(question).get("degree")
    groups = release.groups
    if "question" not in groups.columns:  # ranges of degrees, counted by rps
        first, end = (groups[f"degree.{end}"].to_numpy().astype(np.int64)[:, None] for end in ("lo", "hi"))
        return Regions(["degree"], first, end, _variances(groups)).noise(question)
    edges = [] if codes is None else [edge for edge in codes.edges if 0 < edge < codes.size]
    return sum_of(_edge_noise(release, edge) for edge in edges) if edges else _node_noise(release)


def _edge_noise(release: Release, edge: int) -> Noise:
    """The noise in the number of nodes of degree at least `edge`."""
    groups = release.groups
    least = groups.filter((groups["question"] == "at least") & (groups["k"] == edge))
    most = groups.filter((groups["question"] == "at most") & (groups["k"] == edge - 1))
    for rows in (least, most):
        if len(rows):
            return Noise.of(float(_variances(rows)[0]))
    rows = groups.filter(groups["question"] == "sorted")
    if not len(rows):  # beyond the bound: the nodes are among those that reach it
        return Noise.of(float(_variances(groups.filter(groups["question"].is_in(["at least", "at most"])))[-1]))
    degrees, spread = np.sort(rows["estimate"].to_numpy()), float(_variances(rows)[0]) ** 0.5
    near = np.searchsorted(degrees, [edge - spread, edge + spread])
    return Noise.of(float(near[1] - near[0]) ** 2 / 4)


def _node_noise(release: Release) -> Noise:
    """The noise in the number of nodes, if that is private: it was measured by itself, or as a number of nodes by
    degree."""
    groups = release.groups
    if graph_schema_of(release.manifest).unit != "node":
        return Noise(0.0, 0.0)
    asked = [groups.filter(groups["question"] == name) for name in ("nodes", "at most", "at least")]
    rows = next(rows for rows in asked if len(rows))
    return Noise.of(float(_variances(rows)[0]))


def _by_regions(regions: Regions) -> NoiseOfAnswer:
    return lambda question, _: regions.noise(question)


_METHODS: dict[str, Callable[[Release], NoiseOfAnswer]] = {
    "mosaic": lambda release: tables_of(release).noise_behind,
    "rps": lambda release: _by_regions(_rps_regions(release)),
    "diffgen": lambda release: _by_regions(_diffgen_regions(release)),
    "diffpart": _diffpart,
    "baskets": lambda release: partial(_baskets, release),
    "degrees": lambda release: partial(_degrees, release),
}
