"""Verification of a mosaic release: the shapes and rates of its noisy tables, and the records in its cells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import STREAMS, public_streams
from cantle.errors import VerifyError
from cantle.methods.mosaic.results import cell_frame, placed
from cantle.release.data_file import as_polars
from cantle.release.load import domain_of
from cantle.release.manifest import Document
from cantle.release.mosaic import released_tables
from cantle.release.verify_sets import rate_paid
from cantle.schema.domain import Domain
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import are_edges

_CLOSE = 0.01  # share of the records that may be in other cells of a column

if TYPE_CHECKING:
    import polars as pl

    from cantle.release import Release


def mosaic_problems(release: Release) -> Iterator[str]:
    """All problems with the noisy tables, the cells and the records."""
    manifest = release.manifest
    domain, asked = domain_of(manifest), manifest.structure["tables"]
    cells = {name: np.array(edges, dtype=np.int64) for name, edges in manifest.structure["cells"].items()}
    sizes = {attribute.name: attribute.size for attribute in domain.attributes}
    if list(sizes) != [one.name for one in domain.attributes if one.name in cells] or len(cells) != len(sizes):
        yield "the cells are not those of the schema's columns"
        return
    if not all(are_edges(cells[name], size) for name, size in sizes.items()):
        yield "the cells of a column do not cover it once, in order"
        return
    yield from _rates(release)
    tables = {number: frame for (number,), frame in release.frames["tables"].group_by("table")}
    if not set(tables) <= set(range(len(asked))) or len(asked) != manifest.summary["tables"]:
        yield "there are other noisy tables than stated"
        return
    for number, about in enumerate(asked):
        yield from _shape(number, about, tables.get(number), sizes)
    edges = [cells[attribute.name] for attribute in domain.attributes]
    recounted = list(_recount(release, domain, edges))
    yield from recounted or _not_as_drawn(release, domain, edges)


def _not_as_drawn(release: Release, domain: Domain, edges: list[Ints]) -> Iterator[str]:
    """Draws the records again with the stated seed and compares. The last digits of numbers may vary with the machine,
    and so a few records may differ."""
    try:
        released = released_tables(release)
        if released.number != release.manifest.summary["records"]:
            yield "the records are not as many as the noisy tables say"
            return
        codes = released.records(release.manifest.postprocessing["seed"])
    except VerifyError as error:
        yield str(error)
        return
    drawn, stated = (frame["count"].to_numpy() for frame in (cell_frame(domain, edges, codes), release.groups))
    sizes = [len(edge) - 1 for edge in edges]
    moved = np.add.reduceat(np.abs(drawn - stated), np.cumsum([0, *sizes[:-1]]))
    if moved.max() > _CLOSE * max(1, len(codes[0])):
        yield "the records are not like those that the noisy tables make"


def _rates(release: Release) -> Iterator[str]:
    """Checks that measurements are in the order of their charges, with the noise that was paid for."""
    charges = [charge for charge in release.manifest.receipt.charges() if charge.verb == "measure"]
    runs = [why for why, _ in groupby(about["why"] for about in release.manifest.structure["tables"])]
    if runs != [charge.why for charge in charges]:
        yield "the noisy tables are not those that the receipt paid for"
        return
    paid = {charge.why: rate_paid(charge) for charge in charges}
    for why, num, den in release.frames["tables"].select("why", "rate_num", "rate_den").unique().rows():
        if paid.get(why) != (num, den):
            yield f"the noise of {why!r} is not what the receipt paid for"


def _shape(number: int, about: Document, frame: pl.DataFrame | None, sizes: dict[str, int]) -> Iterator[str]:
    """Checks that a table lists every cell once, in order, and that frequent values reached their threshold."""
    listed = np.zeros(0, np.int64) if frame is None else frame["cell"].to_numpy()
    if "at_least" in about:
        if (np.diff(listed) <= 0).any() or (listed < 0).any() or (listed >= sizes[about["column"]]).any():
            yield f"noisy table {number} does not list values of its column in order"
        elif frame is not None and (frame["noisy"] < min(about["at_least"])).any():
            yield f"noisy table {number} lists a value below the threshold"
        return
    if not np.array_equal(listed, np.arange(len(listed))):
        yield f"noisy table {number} does not list every cell once in order"
    elif "columns" in about:
        edges = about["edges"]
        good = len(edges) == len(about["columns"])
        good &= all(are_edges(np.array(e), sizes[name]) for e, name in zip(edges, about["columns"], strict=False))
        if not good or len(listed) != prod(len(edge) - 1 for edge in edges):
            yield f"noisy table {number} does not have the cells it states"
    elif "tree" in about and len(listed) % sum("leaf" in node for node in about["tree"]):
        yield f"noisy table {number} does not have the leaves it states"


def _recount(release: Release, domain: Domain, edges: list[Ints]) -> Iterator[str]:
    """Puts every released record into its cells and compares with the counts; draws places inside steps again."""
    frame = as_polars(release.records, release.manifest)
    codes, _ = domain.encode_columns(frame)
    if len(codes[0]) != release.manifest.summary["records"]:
        yield "the records are not as many as stated, or not all in the schema's domain"
        return
    if not cell_frame(domain, edges, codes).equals(release.groups):
        yield "the records do not have the counts of the cells"
    dice, (places, _) = (
        public_streams(release.manifest.postprocessing["seed"], STREAMS)["places"],
        (domain.on_places.encode_columns(frame)),
    )
    for one, drawn, again in zip(domain.attributes, places, placed(domain, codes, dice), strict=True):
        if one.width > 1 and not np.array_equal(drawn, again):
            yield f"the values of {one.name} are not at the places inside their steps that the stated seed draws"
