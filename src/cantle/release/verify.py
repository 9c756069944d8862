"""Verification of a release: adds up every path, recomputes every rate, recounts the records, checks every hash.

It shows integrity. Authorship only follows from a signature: a person who can rewrite the whole folder can also rewrite
the hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import rfc8785

from cantle.drawing.group_frames import leaves_from, span_columns
from cantle.drawing.tree import Leaves
from cantle.errors import CantleError, VerifyError
from cantle.methods.diffgen.results import listed_cells
from cantle.methods.rps.one_ways import tables_from
from cantle.release import FILES, Release, mark_of, sha256, sha256_of
from cantle.release.baskets import basket_problems
from cantle.release.data_file import as_polars
from cantle.release.kinds import KINDS
from cantle.release.load import domain_of, grid_and_domain, load, read_document, schema_of
from cantle.release.manifest import Manifest, Receipt
from cantle.release.registry import registry
from cantle.release.sign import SIGNATURE, signature_problems
from cantle.release.statement import datapackage, statement
from cantle.release.verify_accuracy import accuracy_problems
from cantle.release.verify_mosaic import mosaic_problems
from cantle.release.verify_sets import degree_problems, rate_paid, set_problems
from cantle.schema.canonical_json import JSON
from cantle.schema.domain import Domain
from cantle.schema.values import Codes
from cantle.trusted.core.budget import words_of
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import are_edges

if TYPE_CHECKING:
    import polars as pl


REPORT = "report.html"
"""A page that anyone can make from the release. Its hash is not recorded: it must be the page that the release makes.
"""


@dataclass(frozen=True)
class Findings:
    """What is wrong with a saved release, and what this installation could not check."""

    problems: list[str]
    unchecked: list[str]


def verify_folder(folder: Path) -> list[str]:
    """All problems of a saved release; empty if there are none."""
    return findings(folder).problems


def findings(folder: Path, key: Path | None = None) -> Findings:
    """All problems of a saved release, and what could not be checked. The report is looked at last.

    With the public key of who published it, the signature is checked too.
    """
    bad = file_problems(folder) or _found(lambda: problems(load(folder)))
    unchecked: list[str] = []
    if not bad:
        bad = _found(lambda: report_problems(folder, load(folder), unchecked))
        unchecked += _texts_unchecked(load(folder).manifest)
        if key is not None:
            bad += signature_problems(folder, key)
        elif list(folder.glob(f"*{SIGNATURE}")):
            unchecked.append(f"{SIGNATURE} was not checked, because that needs the signer's public key: --key FILE")
    return Findings(bad, unchecked)


def report_problems(folder: Path, release: Release, unchecked: list[str]) -> list[str]:
    """All problems with the report in the folder of a release; `unchecked` receives what could not be checked."""
    from cantle.release.report.check import report_findings

    bad, more = report_findings(folder, release)
    unchecked += more
    return bad


def file_problems(folder: Path) -> list[str]:
    """All problems with the files of a saved release."""
    return _found(lambda: list(_files(folder, read_document(folder))))


def problems(release: Release) -> list[str]:
    """All problems inside a release."""
    return _found(lambda: list(_checks(release)))


def _checks(release: Release) -> Iterator[str]:
    yield from _receipt(release.manifest.receipt)
    yield from _ledger(release.manifest)
    yield from _schema(release.manifest)
    yield from _leaves(release)
    yield from _rules(release)
    yield from accuracy_problems(release)


def _found(look: Callable[[], list[str]]) -> list[str]:
    """The problems that a check finds. If a release cannot be read, that is a problem too, whatever exception a library
    raises: polars has errors of its own for missing columns, and panics on some damaged files."""
    from polars.exceptions import PanicException, PolarsError

    try:
        return look()
    except CantleError as error:
        return [str(error)]
    except (PolarsError, PanicException) as error:
        return [f"a table of the release is not of the expected form ({type(error).__name__})"]
    except Exception as error:
        return [f"release.json is not of the expected form ({type(error).__name__})"]


def _files(folder: Path, document: dict[str, JSON]) -> Iterator[str]:
    """Checks hashes, unlisted files, and the texts that are made from the manifest."""
    manifest = Manifest.from_dict(document)
    bare = {key: value for key, value in document.items() if key != "sha256"}
    prefix = mark_of(manifest)
    own = prefix + FILES["manifest"]
    if sha256(rfc8785.dumps(bare)) != manifest.sha256:
        yield f"{own} does not have the hash it states"
    if (folder / own).is_file() and (folder / own).read_bytes() != rfc8785.dumps(document):
        yield f"{own} is not in canonical form"
    there = {path.name for path in folder.iterdir()}
    listed = set(manifest.files) | {own}
    needed = {prefix + FILES[name] for name in ("statement", "registry", "datapackage", "groups")}
    yield from (f"{name} is not part of the release" for name in sorted(needed - listed))
    yield from (f"{name} is listed and missing" for name in sorted(listed - there))
    yield from (f"{name} is not listed" for name in sorted(there - listed - {prefix + REPORT, prefix + SIGNATURE}))
    for name in sorted(listed & there - {own}):
        if sha256_of(folder / name) != manifest.files[name]:
            yield f"{name} does not have the listed hash"
    yield from _texts(folder, prefix, manifest, listed & there)


def _texts(folder: Path, prefix: str, manifest: Manifest, there: set[str]) -> Iterator[str]:
    """Checks that the statement, the registry's entry and the data package agree with the manifest.

    Another version of cantle may word them differently; then only their hashes are checked.
    """
    if _texts_unchecked(manifest):
        return
    for name, text in (("statement", statement), ("registry", registry)):
        said = prefix + FILES[name]
        if said in there and (folder / said).read_bytes() != text(manifest).encode():
            yield f"{said} does not say what the release says"
    data = sorted(name for name in there if name.startswith(f"{prefix}data."))
    package = prefix + FILES["datapackage"]
    if package in there and data and (folder / package).read_bytes() != rfc8785.dumps(datapackage(manifest, data[0])):
        yield f"{package} does not describe this release"


def _texts_unchecked(manifest: Manifest) -> list[str]:
    """A sentence if the texts were made by another version of cantle, which may word them differently."""
    made, here = manifest.software.get("cantle"), version("cantle")
    if made == here:
        return []
    texts = ", ".join(FILES[name] for name in ("statement", "registry", "datapackage"))
    return [f"{texts} have their hashes, but their words were not checked: cantle {made} made them, this is {here}"]


def _receipt(receipt: Receipt) -> Iterator[str]:
    """Adds up the charges on every kind of path; no sum may exceed epsilon."""
    for path in receipt.paths:
        spent = sum(charge.epsilon_nano for charge in path.charges)
        if spent != path.epsilon_nano:
            yield f"path {path.path} of the receipt does not add up"
        if spent > receipt.epsilon_nano or any(charge.epsilon_nano < 1 for charge in path.charges):
            yield f"path {path.path} of the receipt spends more than epsilon"


def _ledger(manifest: Manifest) -> Iterator[str]:
    """Checks that earlier releases are numbered without gaps, and add up with this one to what the data set spent."""
    line = manifest.ledger
    if line is None:
        return
    if [entry.sequence for entry in line.earlier] != list(range(1, line.sequence)):
        yield "the earlier releases are not numbered without gaps"
    spent = [entry.epsilon_nano for entry in line.earlier] + [manifest.receipt.epsilon_nano]
    if min(spent) < 1 or sum(spent) != line.spent_nano:
        yield "the releases in the ledger do not add up to what is spent"
    if line.cap_nano is not None and line.spent_nano > line.cap_nano:
        yield "the data set has spent more than its cap"


def _schema(manifest: Manifest) -> Iterator[str]:
    schema = schema_of(manifest)
    if schema.hash() != manifest.schema_sha256:
        versions = f"{manifest.software.get('cantle')} made the release, this is {version('cantle')}"
        yield (
            "the schema does not have the hash it states: it was changed, or made by a version of cantle that writes "
            f"schemas in another form ({versions}); verify it with the version that made it"
        )
    if manifest.private != (not manifest.seeded and not schema.inferred):
        yield "the release does not say honestly whether it is private"
    if manifest.epsilon != words_of(manifest.receipt.epsilon_nano):
        yield "epsilon differs from the receipt"


def _leaves(release: Release) -> Iterator[str]:
    """Checks what the method released: that it adds up, has the noise of the receipt, and holds the records."""
    return PROBLEMS[release.manifest.method](release)


def _rules(release: Release) -> Iterator[str]:
    """Checks that no released record breaks a rule of the schema."""
    manifest, schema = release.manifest, schema_of(release.manifest)
    return KINDS[schema.kind].broken_rules(as_polars(release.records, manifest), manifest, schema)


def _tree_leaves(release: Release) -> Iterator[str]:
    """Checks that leaves cover the domain once, have the noise of the receipt, and hold the released records."""
    manifest = release.manifest
    domain = domain_of(manifest)
    leaves = leaves_from(domain, release.groups)
    yield from _rates(manifest.receipt, leaves)
    yield from _one_way_rates(release)
    tables = tables_from(domain, release.frames.get("marginals"))
    sizes = [attribute.size for attribute in domain.attributes]
    if tables and not all(are_edges(edge, size) for edge, size in zip(tables.edges, sizes, strict=True)):
        yield "the cells of a one-way table do not cover its column once, in order"
    if not _same_regions(domain, leaves, release.frames["tree"]):
        yield "the regions of the leaves are not those the tree's cuts make"
        return
    if (leaves.count < 0).any() or int(leaves.count.sum()) != manifest.summary["records"]:
        yield "the counts of the leaves do not add up to the number of records"
    if manifest.parameters["values"] != "set":
        yield from _recount(release, domain, leaves)


def _cells(release: Release) -> Iterator[str]:
    """Checks that cells have the spans of the released cuts, the noise of the receipt, and the released records."""
    manifest, groups = release.manifest, release.groups
    domain, grid = grid_and_domain(release)
    if not grid.fits(tuple(a.size for a in domain.attributes)):
        yield "the cuts do not cover the domain"
        return
    last = manifest.receipt.paths[0].charges[-1]
    rates = groups.select("rate_num", "rate_den").unique().rows()
    if len(groups) and rates != [rate_paid(last)]:
        yield "the noise of the cells is not what the receipt paid for"
    yield from _one_way_rates(release)
    listed, count = listed_cells(domain, groups), groups["count"].to_numpy()
    size = grid.cells * (domain.target.size if domain.target else 1)
    in_order = (np.diff(listed) > 0).all() and (listed >= 0).all() and (listed < size).all()
    if size != manifest.summary["cells"] or not in_order:
        yield "the cells are not those of the released cuts, each listed once in order"
        return
    place = grid.unravel(groups["leaf"].to_numpy())
    for a, attribute in enumerate(domain.attributes):
        edge = grid.edges[a]
        for name, column in span_columns(attribute, edge[:-1], edge[1:], place[:, a]).items():
            if not groups[name].equals(column.cast(groups[name].dtype)):
                yield f"column {name} of the cells is not that of the released cuts"
    if (groups["noisy"] < manifest.summary["at_least"]).any():
        yield "a cell below the threshold is listed"
    yield from _recount_cells(release, listed, count)


def _one_way_rates(release: Release) -> Iterator[str]:
    """Checks that the one-way tables have the noise of the receipt."""
    if "marginals" in release.frames:
        charges = release.manifest.receipt.charges()
        paid = {rate_paid(charge) for charge in charges if charge.why == "one-way tables"}
        if not set(release.frames["marginals"].select("rate_num", "rate_den").unique().rows()) <= paid:
            yield "the noise of the one-way tables is not what the receipt paid for"


def _recount_cells(release: Release, listed: Ints, count: Ints) -> Iterator[str]:
    """Puts every released record into its cell and compares with the counts."""
    domain, grid = grid_and_domain(release)
    codes, classes = domain.encode(as_polars(release.records, release.manifest))
    if len(codes) != release.manifest.summary["records"]:
        yield "the records are not as many as stated, or not all in the schema's domain"
        return
    cell = grid.locate(list(codes.T)) if codes.shape[1] else np.zeros(len(codes), np.int64)
    entry = cell * (domain.target.size if domain.target else 1) + classes.astype(np.int64)
    held, numbers = np.unique(entry, return_counts=True)
    if not np.array_equal(held, listed[count > 0]) or not np.array_equal(numbers, count[count > 0]):
        yield "the records do not have the counts of the cells"


def _rates(receipt: Receipt, leaves: Leaves) -> Iterator[str]:
    """Checks that each leaf's noise rate is the last charge on its path divided by the sensitivity."""
    paths = {path.path: path.charges for path in receipt.paths}
    if not set(leaves.path.tolist()) <= set(paths):
        yield "a leaf points to a path that is not in the receipt"
        return
    if not leaves.noisy.shape[1]:
        return
    for number in np.unique(leaves.path).tolist():
        last = paths[number][-1]
        nums = np.unique(leaves.rate_num[leaves.path == number]).tolist()
        if [(num, leaves.rate_den) for num in nums] != [rate_paid(last)]:
            yield f"the noise of leaves on path {number} is not what the receipt paid for"


def _binary(tree: pl.DataFrame, domain: Domain) -> tuple[Ints, Ints, Ints]:
    """Attribute (-1 for leaves), point and first child of every node; children come in pairs after their parents."""
    names = {attribute.name: a for a, attribute in enumerate(domain.attributes)}
    attribute = np.array([names.get(name, -1) for name in tree["attribute"].to_list()], dtype=np.int64)
    inner = np.flatnonzero(attribute >= 0)
    first = np.zeros(len(tree), dtype=np.int64)
    first[inner] = 1 + 2 * np.arange(len(inner))
    if len(tree) != 1 + 2 * len(inner) or (first[inner] <= inner).any():
        raise VerifyError("the tree is not a binary tree")
    return attribute, tree["point"].fill_null(0).to_numpy(), first


def _same_regions(domain: Domain, leaves: Leaves, tree: pl.DataFrame) -> bool:
    """Whether the leaves are the regions that the tree's cuts make of the domain: disjoint, covering it."""
    attribute, point, first = _binary(tree, domain)
    lo = np.zeros((len(tree), len(domain.attributes)), dtype=np.int64)
    hi = np.tile([a.size for a in domain.attributes], (len(tree), 1)).astype(np.int64).reshape(lo.shape)
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        inner = level[attribute[level] >= 0]
        left, right, cut = first[inner], first[inner] + 1, attribute[inner]
        lo[left] = lo[right] = lo[inner]
        hi[left] = hi[right] = hi[inner]
        hi[left, cut] = lo[right, cut] = point[inner]
        level = np.stack([left, right], axis=1).reshape(-1)
    ends = np.flatnonzero(attribute < 0)
    return (
        np.array_equal(leaves.ids, ends)
        and np.array_equal(leaves.lo, lo[ends])
        and np.array_equal(leaves.hi, hi[ends])
        and bool((hi > lo).all())
    )


def _recount(release: Release, domain: Domain, leaves: Leaves) -> Iterator[str]:
    """Sends every released record down the tree and compares the leaves it reaches with their counts."""
    codes, classes = domain.encode(as_polars(release.records, release.manifest))
    if len(codes) != release.manifest.summary["records"]:
        yield "the records are not as many as stated, or not all in the schema's domain"
        return
    leaf = _route(release, domain, codes)
    position = np.searchsorted(leaves.ids, leaf)
    held = np.zeros_like(leaves.count)
    np.add.at(held, (position, classes.astype(np.int64)), 1)
    if not np.array_equal(held, leaves.count):
        yield "the records do not have the counts of the leaves"


def _route(release: Release, domain: Domain, codes: Codes) -> Ints:
    """The leaf of each record, level by level."""
    attribute, point, first = _binary(release.frames["tree"], domain)
    node = np.zeros(len(codes), dtype=np.int64)
    moving = np.flatnonzero(attribute[node] >= 0)
    while len(moving):
        here = node[moving]
        node[moving] = first[here] + (codes[moving, attribute[here]] >= point[here])
        moving = moving[attribute[node[moving]] >= 0]
    return node


PROBLEMS: dict[str, Callable[[Release], Iterator[str]]] = {
    "mosaic": mosaic_problems,
    "rps": _tree_leaves,
    "diffgen": _cells,
    "diffpart": set_problems,
    "baskets": basket_problems,
    "degrees": degree_problems,
}
