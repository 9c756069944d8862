"""Does a release of sets, or of degrees, add up? Rates against the receipt, records against the groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.answers import Noisy
from cantle.budget import NANO
from cantle.degree_results import Answers, degree_results
from cantle.forms import as_polars, list_frame
from cantle.regions import Ints
from cantle.release import Release
from cantle.stored import schema_of

if TYPE_CHECKING:
    import polars as pl


def set_problems(release: Release) -> Iterator[str]:
    """Groups are sets of declared items, each once and in order, paid for; and the records hold their counts."""
    manifest, groups = release.manifest, release.groups
    universe = schema_of(manifest).universe
    yield from _paid(manifest["receipt"], groups, NANO * manifest["receipt"]["unit"]["max_records"])
    records = list_frame(as_polars(release.records), manifest)["items"]
    for name, column in (("groups", groups["items"]), ("records", records)):
        starts, codes = _codes(column, universe)
        if not _are_sets(starts, codes):
            yield f"the {name} are not all sets of declared items"
            return
    if groups["items"].n_unique() != len(groups):
        yield "a set is listed twice in the groups"
    summary, count = manifest["summary"], groups["count"].to_numpy()
    if (count < 0).any() or not int(count.sum()) + summary["refilled"] == len(records) == summary["records"]:
        yield "the counts of the groups and the refilled records do not add up to the number of records"
        return
    yield from _recount(groups, records, exact=summary["refilled"] == 0)


def _paid(receipt: dict[str, Any], groups: pl.DataFrame, rate_den: int) -> Iterator[str]:
    """Each group's noise is what its path paid last."""
    paths = {path["path"]: path["charges"] for path in receipt["paths"]}
    for path, num, den in groups.select("path", "rate_num", "rate_den").unique().sort("path").rows():
        if path not in paths or not paths[path]:
            yield "a group points to a path that is not in the receipt"
        elif num != paths[path][-1]["epsilon_nano"] or den != rate_den:
            yield f"the noise of groups on path {path} is not what the receipt paid for"


def _codes(items: pl.Series, universe: Any) -> tuple[Ints, Ints]:
    sizes = items.list.len().to_numpy().astype(np.int64)
    return np.concatenate([[0], np.cumsum(sizes)]), universe.encode(items.explode(empty_as_null=False)).astype(np.int64)


def _are_sets(starts: Ints, codes: Ints) -> bool:
    """Whether all sets are non-empty, of known items, ascending."""
    inside = np.ones(len(codes), dtype=np.bool_)
    inside[starts[:-1][np.diff(starts) > 0]] = False
    rising = np.diff(codes, prepend=-1) > 0
    return bool((np.diff(starts) > 0).all() and (codes >= 0).all() and rising[inside].all())


def _recount(groups: pl.DataFrame, records: pl.Series, *, exact: bool) -> Iterator[str]:
    """Every listed set is in the records as often as its count says; more often where pruned mass was refilled."""
    import polars as pl

    held = records.alias("items").to_frame().group_by("items").agg(pl.len().cast(pl.Int64).alias("held"))
    joint = groups.filter(pl.col("count") > 0).select("items", "count").join(held, on="items", how="left")
    less = joint["held"].fill_null(0) < joint["count"]
    if less.any() or (exact and (len(held) != len(joint) or (joint["held"] != joint["count"]).any())):
        yield "the records do not have the counts of the groups"


def degree_problems(release: Release) -> Iterator[str]:
    """The sequence is what the noisy numbers make of it; under mode rps, it has the counts of the leaves."""
    manifest, groups = release.manifest, release.groups
    degrees = as_polars(release.records)["degree"].to_numpy()
    if len(degrees) != manifest["summary"]["records"] or (np.diff(degrees, prepend=0) < 0).any():
        yield "the degrees are not ascending, or not as many as stated"
        return
    if "question" not in groups.columns:
        yield from _leaf_degrees(groups, degrees)
        return
    yield from _questions(manifest["receipt"], groups)
    again = degree_results(_answers(manifest, groups), None)
    if not np.array_equal(again.records["degree"].to_numpy(), degrees):
        yield "the degrees are not what the noisy numbers make of them"
    elif not np.allclose(again.groups["estimate"].to_numpy(), groups["estimate"].to_numpy()):
        yield "the estimates are not those of the degrees"


def _questions(receipt: dict[str, Any], groups: pl.DataFrame) -> Iterator[str]:
    """Every question's noise is a charge of the one path."""
    paid = {(c["epsilon_nano"], c["sensitivity"] * NANO) for p in receipt["paths"] for c in p["charges"]}
    for question, num, den in groups.select("question", "rate_num", "rate_den").unique().rows():
        if (num, den) not in paid:
            yield f"the noise of {question!r} is not what the receipt paid for"


def _answers(manifest: dict[str, Any], groups: pl.DataFrame) -> Answers:
    """The noisy answers as the method had them."""
    import polars as pl

    schema = schema_of(manifest)
    answers = Answers(schema.unit, schema.node_count)
    answers.theta = manifest["summary"]["theta"]
    for question in groups["question"].unique(maintain_order=True).to_list():
        rows = groups.filter(pl.col("question") == question)
        rate = np.array([rows["rate_num"][0]], dtype=np.int64)
        noisy = Noisy(rows["noisy"].to_numpy().reshape(1, -1), rate, int(rows["rate_den"][0]))
        answers.add(question, noisy, int(rows["k"][0]))
    if schema.unit == "edge" and answers.nodes is None:
        answers.nodes = len(answers.values("sorted"))
    return answers


def _leaf_degrees(groups: pl.DataFrame, degrees: Ints) -> Iterator[str]:
    lo, hi = groups["degree.lo"].to_numpy(), groups["degree.hi"].to_numpy()
    held = np.searchsorted(degrees, hi) - np.searchsorted(degrees, lo)
    if not np.array_equal(held, groups["count"].to_numpy()):
        yield "the degrees do not have the counts of the leaves"
