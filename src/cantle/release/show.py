"""A release as text: the promise, where the budget went, what the columns look like, and the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cantle.methods.question_words import question_in_words
from cantle.release import Release
from cantle.release.accuracy import accuracy_to
from cantle.release.bars import WIDTH, bars
from cantle.release.data_file import as_polars
from cantle.release.kinds import KINDS, accuracy_lines
from cantle.release.load import domain_of, grid_and_domain
from cantle.release.manifest import Manifest
from cantle.release.regions import counted_in_overview, ranges_in_overview, ranges_of
from cantle.release.sets import list_frame
from cantle.release.spending import budget_lines
from cantle.release.words import percent, totals
from cantle.schema.canonical_json import JSON
from cantle.trusted.core.budget import words_of
from cantle.trusted.geometry.boxes import Ints

_LIKELY = 100  # measured pairs of items with the highest estimates, which are counted in the released sets
_MOST_LINES = 20  # noisy tables that are shown, unless all are requested


def sections(release: Release, depth: int = 3, everything: bool = True) -> Iterator[tuple[str, list[str]]]:
    """All that `cantle show` prints below the main facts: titles with their lines, the tree last.

    Without `everything`, only the first ones of many columns or noisy tables are shown.
    """
    if release.manifest.notes:
        yield "Notes", list(release.manifest.notes)
    stated = release.manifest
    verdict = KINDS[stated.kind].uses(release)
    yield "Good for", [f"* {words}" for words in verdict.good]
    yield "Not good for", [f"* {words}" for words in verdict.bad]
    if measured := accuracy_lines(stated):
        yield "Accuracy", measured
    yield "Budget", list(budget_lines(release.manifest))
    kind = KINDS[stated.kind]
    if kind.COLUMNS:
        frame = as_polars(release.records, stated)
        yield kind.COLUMNS, list(kind.column_lines(frame, stated, release.schema, everything))
    title, _ = LINES[release.manifest.method]
    drawn = list(tree_lines(release, depth))
    left = len(drawn) - _MOST_LINES
    few = everything or release.manifest.method != "mosaic" or left <= 1
    yield title, drawn if few else [*drawn[:_MOST_LINES], f"… and {left:,} more; see them with --all"]


def overview(release: Release) -> list[tuple[str, str]]:
    """The main facts, as pairs of a name and a text."""
    m = release.manifest
    return [
        ("guarantee", m.guarantee),
        ("epsilon", f"{m.epsilon} for {m.unit}"),
        ("method", f"{m.method}, preset {m.parameters['preset']}"),
        ("records", f"{m.summary['records']:,} {KINDS[m.kind].RECORDS}"),
        ("counted", counted_in_overview(m)),
        *((("totals", text),) if (text := totals(m, KINDS[m.kind].COUNTED)) else ()),
        *((("ranges", text),) if (text := ranges_in_overview(m)) else ()),
        *([("accuracy", words.removeprefix("Accuracy "))] if (words := KINDS[m.kind].accuracy_sentence(m)) else []),
        *_account(m),
    ]


def facts(release: Release) -> dict[str, JSON]:
    """The main facts as values for programs: numbers and names, no sentences."""
    m, line = release.manifest, release.manifest.ledger
    ledger: dict[str, JSON] | None = None
    if line is not None:
        ledger = {"dataset": line.dataset, "sequence": line.sequence}
        ledger |= {"spent_nano": line.spent_nano, "cap_nano": line.cap_nano}
    return {
        "kind": m.kind,
        "private": m.private,
        "guarantee": m.guarantee,
        "epsilon": release.epsilon,
        "epsilon_nano": m.receipt.epsilon_nano,
        "unit": m.receipt.unit.to_dict(),
        "method": m.method,
        "preset": m.parameters["preset"],
        "summary": m.summary,
        "ranges": dict(ranges_of(m)),
        "notes": list(m.notes),
        "accuracy": None if m.accuracy is None else accuracy_to(m.accuracy),
        "ledger": ledger,
    }


def _account(manifest: Manifest) -> list[tuple[str, str]]:
    """What the data set has spent, if the release was charged in a ledger."""
    line = manifest.ledger
    if not line:
        return []
    spent, cap = line.spent_nano, line.cap_nano
    left = "no cap is set" if cap is None else f"{words_of(cap - spent)} left of {words_of(cap)}"
    return [("ledger", f"{line.dataset}, release {line.sequence}: epsilon {words_of(spent)} spent, {left}")]


# ------------------------------------------------------------------------------------------------ the regions


def cut_lines(release: Release) -> Iterator[str]:
    """The released cut of every attribute, and the taxonomy it was cut from."""
    domain, grid = grid_and_domain(release)
    for attribute, edge in zip(domain.attributes, grid.edges, strict=True):
        labels = [attribute.describe(int(lo), int(hi)) for lo, hi in zip(edge[:-1], edge[1:], strict=True)]
        yield f"{attribute.name}: {' · '.join(labels)}"
    for attribute in domain.attributes:
        if attribute.taxonomy is not None:
            yield f"\ntaxonomy of {attribute.name}"
            yield from attribute.taxonomy.preview()


def table_lines(release: Release) -> Iterator[str]:
    """The noisy tables of a mosaic release: the purpose of each, and its columns."""
    for about in release.manifest.structure["tables"]:
        if "edges" in about and "columns" in about:
            shape = " x ".join(str(len(edges) - 1) for edges in about["edges"])
            text = f"{', '.join(about['columns'])} ({shape})" if about["columns"] else "all"
        else:
            text = about["column"]
        yield f"{question_in_words(about['why'])}: {text}"


def tree_lines(release: Release, depth: int = 3) -> Iterator[str]:
    """What the method released, as lines: a tree down to a certain depth, cuts, tables, sets or degrees."""
    _, lines = LINES[release.manifest.method]
    return lines(release, depth)


def _tree_lines(release: Release, depth: int) -> Iterator[str]:
    """The tree down to a certain depth: for each region the span that its last cut left, and its released count."""
    domain = domain_of(release.manifest)
    attributes = {attribute.name: attribute for attribute in domain.attributes}
    count = _node_counts(release)
    tree = release.frames["tree"].select("parent", "attribute", "point").to_dicts()
    children: dict[int, list[int]] = {}
    for node, row in enumerate(tree):
        if row["parent"] >= 0:
            children.setdefault(row["parent"], []).append(node)

    def lines(node: int, name: str, bars: str, spans: dict[str, tuple[int, int]], level: int) -> Iterator[str]:
        kids = children.get(node, [])
        yield f"{name}: {count[node]:,}{'  …' if kids and level == depth else ''}"
        for side, kid in enumerate(kids if level < depth else []):
            cut, point = tree[node]["attribute"], tree[node]["point"]
            lo, hi = spans.get(cut, (0, attributes[cut].size))
            span = (lo, point) if side == 0 else (point, hi)
            last = side == len(kids) - 1
            text = f"{cut} {attributes[cut].describe(*span)}"
            branch = lines(kid, text, bars + ("   " if last else "│  "), spans | {cut: span}, level + 1)
            yield bars + ("└─ " if last else "├─ ") + next(branch)
            yield from branch

    yield from lines(0, "all", "", {}, 0)


def _set_lines(release: Release, most: int = 20) -> Iterator[str]:
    """The sets that are released most often."""
    for row in release.groups.sort("count", descending=True, maintain_order=True).head(most).iter_rows(named=True):
        yield f"{{{', '.join(map(str, row['items']))}}}: {row['count']:,}"
    if len(release.groups) > most:
        yield f"… and {len(release.groups) - most} more in groups.parquet"


def _basket_lines(release: Release, most: int = 20) -> Iterator[str]:
    """The measured pairs that most of the released sets hold."""
    import polars as pl

    measured = release.groups.filter(pl.col("items").list.len() == 2)
    pairs = measured.group_by("items", maintain_order=True).agg(pl.col("estimate").sum()).sort("estimate")
    likely = pairs["items"].tail(_LIKELY).to_list()
    sets = list_frame(as_polars(release.records, release.manifest), release.manifest)["items"]
    named = sorted({str(item) for pair in likely for item in pair})
    flat = pl.DataFrame({"set": pl.int_range(len(sets), eager=True), "item": sets}).explode("item").drop_nulls()
    parts = flat.with_columns(pl.col("item").cast(pl.String)).filter(pl.col("item").is_in(named))
    holders = {str(item[0]): part["set"].to_numpy() for item, part in parts.partition_by("item", as_dict=True).items()}
    nobody = np.zeros(0, dtype=np.int64)
    counted = []
    for pair in likely:
        one, two = (holders.get(str(item), nobody) for item in pair)
        counted.append((len(np.intersect1d(one, two, assume_unique=True)), pair))
    for count, pair in sorted(counted, key=lambda one: (-one[0], str(one[1])))[:most]:
        yield f"{', '.join(map(str, pair))}: {count:,} sets, {percent(count, len(sets))}"
    if not counted:
        yield "no pair of items was measured"


def _degree_lines(release: Release) -> Iterator[str]:
    """How many nodes have a degree in each power of two."""
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy()
    edges = [0, *(1 << i for i in range(int(degrees.max(initial=0)).bit_length() + 1))]
    labels = [str(lo) if hi - lo == 1 else f"{lo} to {hi - 1}" for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
    counts = np.diff(np.searchsorted(np.sort(degrees), edges)).tolist()
    for count, line in zip(counts, bars(labels, counts), strict=True):
        yield f"{line:{len(labels[-1]) + WIDTH + 7}}  {count:,} node{'s' * (count != 1)}"


def _node_counts(release: Release) -> Ints:
    """Released counts of all nodes: leaves summed up to the root."""
    count = np.zeros(len(release.frames["tree"]), dtype=np.int64)
    np.add.at(count, release.groups["leaf"].to_numpy(), release.groups["count"].to_numpy())
    parent = release.frames["tree"]["parent"].to_numpy()
    depths = release.frames["tree"]["depth"].to_numpy()
    for depth in range(int(depths.max()), 0, -1):
        here = np.flatnonzero(depths == depth)
        np.add.at(count, parent[here], count[here])
    return count


LINES: dict[str, tuple[str, Callable[[Release, int], Iterator[str]]]] = {
    "mosaic": ("Noisy tables", lambda release, _: table_lines(release)),
    "rps": ("Regions", _tree_lines),
    "diffgen": ("Regions", lambda release, _: cut_lines(release)),
    "diffpart": ("Sets", lambda release, _: _set_lines(release)),
    "baskets": ("Most frequent pairs of items", lambda release, _: _basket_lines(release)),
    "degrees": ("Nodes by degree", lambda release, _: _degree_lines(release)),
}
"""For each method a title, and the function that shows what it released."""
