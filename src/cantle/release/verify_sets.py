"""Verification of releases of sets and degrees: rates against the receipt, records against the groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.records import share_drawn
from cantle.methods.baskets.model.questions import PAID as BASKETS_PAID
from cantle.methods.baskets.model.set_sizes import fit_sizes, size_edges
from cantle.methods.degrees.results import FEW_EDGES, PAID, Answers, degree_results
from cantle.methods.diffpart.lengths import sizes_frame
from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.load import graph_schema_of, universe_of
from cantle.release.manifest import Manifest, Receipt
from cantle.release.sets import list_frame
from cantle.schema.items import Universe
from cantle.trusted.claims.degree_queries import MOST_DEGREE
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO, Charge
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    import polars as pl
    from polars._typing import PolarsDataType


SIZES_PAID = BASKETS_PAID["sizes"]
_PAID = "path noisy rate_num rate_den"
_COLUMNS = {
    "sets": f"items {_PAID} count estimate",
    "counts": f"question {_PAID} k estimate",
    "rps": f"{_PAID} count estimate leaf parent depth degree.lo degree.hi",
}
"""The columns of groups; all are whole numbers except items, questions and estimates."""


def set_problems(release: Release) -> Iterator[str]:
    """Checks that groups are distinct sets of declared items with the noise of the receipt, and that they hold the
    records."""
    manifest, groups = release.manifest, release.groups
    universe = universe_of(manifest)
    if not _has_columns(groups, "sets", integers=universe.integers):
        yield "the groups do not have the columns of sets"
        return
    yield from _paid(manifest.receipt, groups)
    records = list_frame(as_polars(release.records, release.manifest), manifest)["items"]
    for name, column in (("groups", groups["items"]), ("records", records)):
        starts, codes = _codes(column, universe)
        if not _are_sets(starts, codes):
            yield f"the {name} are not all sets of declared items"
            return
    summary, count = manifest.summary, groups["count"].to_numpy()
    if groups["items"].n_unique() != len(groups) or len(groups) != summary["leaves"]:
        yield "a set is listed twice in the groups, or not as many are listed as stated"
    share = share_drawn(summary)
    if _as_counted(manifest) and share == 1 and not np.array_equal(count, groups["noisy"].to_numpy()):
        yield "the counts of the groups are not the noisy ones"
    if (np.abs(groups["estimate"].to_numpy() * share - count) >= 1).any():
        yield "the counts of the groups are not the estimates, or the stated share of them, rounded up or down"
    if (count < 0).any() or not int(count.sum()) + summary["refilled"] == len(records) == summary["records"]:
        yield "the counts of the groups and the refilled records do not add up to the number of records"
        return
    yield from _size_problems(release)
    cut = summary.get("items_per_record")
    if cut is None or not manifest.parameters["fill"]:
        yield from _recount(groups, records, exact=summary["refilled"] == 0)
        return
    # Records with as many items as cut ones were lengthened. Shorter sets still occur as often as their counts say; for
    # the others only the sum can be compared.
    yield from _recount(groups.filter(groups["items"].list.len() < cut), records, exact=False)
    longer = int(groups.filter(groups["items"].list.len() >= cut)["count"].sum())
    if int((records.list.len() >= cut).sum()) < longer:
        yield "the records do not have the counts of the groups"


def _size_problems(release: Release) -> Iterator[str]:
    """Checks that sizes were released if and only if the receipt paid for them, with the noise that it paid for."""
    import polars as pl

    paid = {rate_paid(charge) for charge in release.manifest.receipt.charges() if charge.why == SIZES_PAID}
    sizes = release.frames.get("sizes")
    if sizes is None or not paid:
        if paid or sizes is not None:
            yield "the sizes are not those that the receipt paid for"
        return
    whole = dict.fromkeys(["size", "noisy", "rate_num", "rate_den"], pl.Int64())
    if dict(sizes.schema) != {**whole, "estimate": pl.Float64()} or any(sizes.null_count().row(0)):
        yield "the sizes do not have the columns of sizes"
        return
    edges = size_edges(universe_of(release.manifest).size)
    if sizes["size"].to_list() != edges.tolist() or set(sizes.select("rate_num", "rate_den").rows()) != paid:
        yield "the sizes are not those that the receipt paid for"
        return
    num, den = next(iter(paid))
    model = fit_sizes(sizes["noisy"].to_numpy(), edges, universe_of(release.manifest).size, num / den)
    noisy = Noisy(sizes["noisy"].to_numpy().reshape(1, -1), np.array([num]), den)
    if not np.allclose(sizes_frame(edges, noisy, model)["estimate"].to_numpy(), sizes["estimate"].to_numpy()):
        yield "the estimates of the sizes do not follow from the noisy numbers"


def _has_columns(groups: pl.DataFrame, which: str, *, integers: bool = True) -> bool:
    """Whether the groups have these columns, of these types, without nulls."""
    import polars as pl

    kinds: dict[str, PolarsDataType] = {"items": pl.List(pl.Int64 if integers else pl.String), "question": pl.String}
    kinds["estimate"] = pl.Float64
    wanted = {name: kinds.get(name, pl.Int64) for name in _COLUMNS[which].split()}
    return dict(groups.schema) == wanted and not any(groups.null_count().row(0))


def _as_counted(manifest: Manifest) -> bool:
    """Whether leaves are released with their noisy counts: they come from a tree of groups, and nothing is filled
    in."""
    settings = manifest.parameters
    whys = {charge.why for charge in manifest.receipt.charges()}
    return not settings["fill"] and "item sets" not in whys


def _paid(receipt: Receipt, groups: pl.DataFrame) -> Iterator[str]:
    """Checks that each group's noise rate is the last charge on its path divided by the sensitivity."""
    paths = {path.path: path.charges for path in receipt.paths}
    for path, num, den in groups.select("path", "rate_num", "rate_den").unique().sort("path").rows():
        if path not in paths or not paths[path]:
            yield "a group points to a path that is not in the receipt"
        elif (num, den) != rate_paid(paths[path][-1]):
            yield f"the noise of groups on path {path} is not what the receipt paid for"


def rate_paid(charge: Charge) -> tuple[int, int]:
    """The rate of the noise that a charge paid for."""
    return charge.epsilon_nano, charge.sensitivity * NANO


def _codes(items: pl.Series, universe: Universe) -> tuple[Ints, Ints]:
    sizes = items.list.len().to_numpy().astype(np.int64)
    return np.concatenate([[0], np.cumsum(sizes)]), universe.encode(items.explode(empty_as_null=False)).astype(np.int64)


def _are_sets(starts: Ints, codes: Ints) -> bool:
    """Whether all sets are non-empty and hold declared items in ascending order."""
    inside = np.ones(len(codes), dtype=np.bool_)
    inside[starts[:-1][np.diff(starts) > 0]] = False
    rising = np.diff(codes, prepend=-1) > 0
    return bool((np.diff(starts) > 0).all() and (codes >= 0).all() and rising[inside].all())


def _recount(groups: pl.DataFrame, records: pl.Series, *, exact: bool) -> Iterator[str]:
    """Checks that each listed set occurs as often as its count, or more often if records were filled in."""
    import polars as pl

    held = records.alias("items").to_frame().group_by("items").agg(pl.len().cast(pl.Int64).alias("held"))
    joint = groups.filter(pl.col("count") > 0).select("items", "count").join(held, on="items", how="left")
    less = joint["held"].fill_null(0) < joint["count"]
    if less.any() or (exact and (len(held) != len(joint) or (joint["held"] != joint["count"]).any())):
        yield "the records do not have the counts of the groups"


def degree_problems(release: Release) -> Iterator[str]:
    """Checks that degrees follow from the noisy numbers; under mode rps, that they have the counts of the leaves."""
    manifest, groups = release.manifest, release.groups
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy()
    if len(degrees) != manifest.summary["records"] or (np.diff(degrees, prepend=0) < 0).any():
        yield "the degrees are not ascending, or not as many as stated"
        return
    mode = manifest.parameters["mode"]
    if not _has_columns(groups, mode):
        yield "the groups do not have the columns of degrees"
        return
    if mode == "rps":
        yield from _paid(manifest.receipt, groups)
        yield from _leaf_degrees(release, degrees)
        return
    wrong = list(_questions(manifest, groups))
    if wrong:
        yield from wrong
        return
    again = degree_results(_answers(manifest, groups), None)
    if not again.groups.drop("estimate").equals(groups.drop("estimate")) or again.summary != manifest.summary:
        yield "the noisy numbers are not in order, or not those of the stated bound and summary"
    elif not np.array_equal(again.records["degree"].to_numpy(), degrees):
        yield "the degrees do not follow from the noisy numbers"
    elif not np.allclose(again.groups["estimate"].to_numpy(), groups["estimate"].to_numpy()):
        yield "the estimates are not those of the degrees"


def _questions(manifest: Manifest, groups: pl.DataFrame) -> Iterator[str]:
    """Checks that each question has the noise that the receipt paid for, and that no paid question is missing."""
    (path,) = manifest.receipt.paths
    paid = {charge.why: rate_paid(charge) for charge in path.charges if charge.verb == "measure"}
    for number, question, *rate in groups.select("path", "question", "rate_num", "rate_den").unique().rows():
        if number != path.path or paid.get(PAID.get(question, "")) != tuple(rate):
            yield f"the noise of {question!r} is not what the receipt paid for"
    told = dict(groups["question"].value_counts().iter_rows())
    if any(told.get(question, 0) != (number if PAID[question] in paid else 0) for question, number in _sizes(manifest)):
        yield "the noisy numbers are not those that the receipt paid for"


def _sizes(manifest: Manifest) -> Iterator[tuple[str, int]]:
    """The number of answers to each question."""
    summary, schema = manifest.summary, graph_schema_of(manifest)
    most = summary["theta"]
    if schema.unit == "edge":
        most = min(max(1, summary["records"] - 1), schema.max_degree or MOST_DEGREE, MOST_DEGREE)
    yield from {
        "kept edges": 1,
        "nodes": 1,
        "nodes with edges": FEW_EDGES,
        "at most": most + 1,
        "at least": most,
        "sorted": summary["records"],
    }.items()


def _answers(manifest: Manifest, groups: pl.DataFrame) -> Answers:
    """The noisy answers as the method had them."""
    import polars as pl

    schema = graph_schema_of(manifest)
    answers = Answers(schema.unit, schema.node_count, schema.max_degree)
    answers.path = manifest.receipt.paths[0].path
    answers.theta = 0 if schema.unit == "edge" else manifest.summary["theta"]
    for question in groups["question"].unique(maintain_order=True).to_list():
        rows = groups.filter(pl.col("question") == question)
        rate = np.array([rows["rate_num"][0]], dtype=np.int64)
        noisy = Noisy(rows["noisy"].to_numpy().reshape(1, -1), rate, int(rows["rate_den"][0]))
        answers.add(question, noisy, int(rows["k"][0]))
    answers.listed = answers.has("at most")
    if schema.unit == "edge":
        if not answers.has("sorted"):  # an empty list of degrees
            answers.add("sorted", Noisy(np.zeros((1, 0), np.int64), np.ones(1, np.int64), 1), 0)
        answers.nodes = len(answers.values("sorted"))
    return answers


def _leaf_degrees(release: Release, degrees: Ints) -> Iterator[str]:
    """Checks that leaves cover the degrees up to the bound, follow the tree's cuts, and have the released counts."""
    groups, summary = release.groups, release.manifest.summary
    lo, hi = groups["degree.lo"].to_numpy(), groups["degree.hi"].to_numpy()
    tree = release.frames["tree"]
    cuts = np.sort(tree["point"].drop_nulls().to_numpy())
    edges = np.concatenate([[0], cuts, [summary["theta"] + 1]])
    ends = tree.filter(tree["attribute"].is_null()).select(leaf="node", parent="parent", depth="depth")
    same = np.array_equal(np.sort(lo), edges[:-1]) and np.array_equal(np.sort(hi), edges[1:])
    if not same or not ends.equals(groups.select("leaf", "parent", "depth")):
        yield "the ranges of degrees are not those of the tree's cuts"
        return
    held = np.searchsorted(degrees, hi) - np.searchsorted(degrees, lo)
    if len(groups) != summary["leaves"] or not np.array_equal(held, groups["count"].to_numpy()):
        yield "the degrees do not have the counts of the leaves"
