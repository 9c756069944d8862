"""The structure `tables`: noisy tables over cells of columns, and a model of them that records were drawn from.

Files: groups.parquet (the cells of each column, with the released records), tables.parquet (the noisy tables).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import polars as pl

from cantle.drawing.counts import STREAMS, Dice, public_streams, variance
from cantle.errors import VerifyError
from cantle.methods.mosaic.model.answers import LIST_ITEMS
from cantle.methods.mosaic.results import cell_frame, drawn_codes, placed
from cantle.methods.own_error.accuracy import measured_pairs
from cantle.release import Release, structures
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import DirectAnswer, NoisyTable, Share, Tables
from cantle.release.document_fields import Document
from cantle.release.manifest import Manifest
from cantle.release.report.content import Figure, Section
from cantle.release.schemas import domain_of
from cantle.release.show import column_section
from cantle.release.storage import as_polars
from cantle.release.structures import Traits
from cantle.release.structures.checks import broken_rules, changed_columns, made_by_this_version, unless_found
from cantle.release.structures.noisy_tables import (
    cells_cover,
    in_words,
    refusing_other_forms,
    spreads,
    table_lines,
    table_problems,
)
from cantle.release.structures.tables_model import released_tables
from cantle.schema.code_sets import Key, Question
from cantle.schema.domain import Domain
from cantle.trusted.core.arrays import Floats, Ints
from cantle.trusted.geometry.item_partitions import PARTS

_CLOSE = 0.01  # share of the records that may be in other cells of a column


def traits(manifest: Manifest) -> Traits:
    """The number of columns and of the parts that they were counted in, and of the pairs that were counted together."""
    cells, of_all = manifest.structure["cells"], manifest.summary["cells"]
    scores = manifest.structure.get("groups", [])
    together = [pair for pair in measured_pairs(manifest.structure) if not pair & {*scores}]
    columns, pairs = len(cells) - len(scores), len(together)
    every, counted = columns * (columns - 1) // 2, f"{columns} columns ({of_all:,} values and ranges of values)"
    if columns == 1:
        counted = counted.replace("columns", "column")
    elif pairs == every:
        counted += " and all pairs of columns" if every > 1 else " and both together"
    else:
        counted += f" and {pairs:,} of {every:,} pairs of columns" if pairs else ", but no pairs of columns"
    return Traits(counted, _counted, cells)


def _counted(domain: Domain) -> Domain:
    return domain.with_target_as_column().with_scores()


class Opened(structures.Opened):
    """A release of noisy tables."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._domain, self._stated = domain_of(release.manifest), release.manifest.structure["tables"]

    @cached_property
    def _edges(self) -> list[Ints]:
        """The edges of the cells of each column."""
        cells = self._manifest.structure["cells"]
        return [np.array(cells[one.name], dtype=np.int64) for one in self._domain.attributes]

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether tables have their shapes and rates, and cells and records follow from them."""
        yield from broken_rules(self._release)
        if not cells_cover(self._manifest.structure["cells"], self._domain):
            raise VerifyError("the cells are not those of the schema's columns, each covered once, in order")
        sizes = {one.name: one.size for one in self._domain.attributes}
        yield from table_problems(self._release, lambda _: sizes)
        yield from unless_found(self._recount(), self._not_as_drawn())

    def _recount(self) -> Iterator[str]:
        """Puts every released record into its cells and compares with the counts; draws places inside steps again."""
        frame, domain = as_polars(self._release.records, self._manifest), self._domain
        codes, _ = domain.encode_columns(frame)
        if len(codes[0]) != self._manifest.summary["records"]:
            raise VerifyError("the records are not as many as stated, or not all in the schema's domain")
        changed = list(changed_columns(self._release.groups, cell_frame(domain, self._edges, codes), "groups"))
        yield from changed and ["the records do not have the counts of the cells", *changed]
        dice = public_streams(self._manifest.postprocessing["seed"], STREAMS)["places"]
        places, _ = domain.on_places.encode_columns(frame)
        for one, drawn, again in zip(domain.attributes, places, placed(domain, codes, dice), strict=True):
            if one.width > 1 and not np.array_equal(drawn, again):
                yield f"the values of {one.name} are not at the places inside their steps that the stated seed draws"

    def _not_as_drawn(self) -> Iterator[str]:
        """Draws the records again with the stated seed and compares. The last digits of numbers may vary with the
        machine, and so a few records may differ. Another version may draw others."""
        if not made_by_this_version(self._manifest):
            return
        released = released_tables(self._release)
        if released.number != self._manifest.summary["records"]:
            raise VerifyError("the records are not as many as the noisy tables say")
        codes = released.records(self._manifest.postprocessing["seed"])
        drawn = cell_frame(self._domain, self._edges, codes)["count"].to_numpy()
        starts = np.cumsum([0, *(len(edge) - 1 for edge in self._edges[:-1])])
        moved = np.add.reduceat(np.abs(drawn - self._release.groups["count"].to_numpy()), starts)
        if moved.max() > _CLOSE * max(1, len(codes[0])):
            yield "the records are not like those that the noisy tables make"

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:
        return self._tables.noise_behind(question, share)

    def direct(self, question: Question) -> DirectAnswer | None:
        return self._tables.answer(question)

    def covariance(self, column: Key, edges: Ints) -> Floats:
        return self._tables.covariance(column, edges)

    @cached_property
    def _tables(self) -> Tables:
        """Every table over cells of columns; the first one, over no column, is the number of records."""
        frame = self._release.frames["tables"].partition_by("table", as_dict=True, maintain_order=True)
        counted = {one.name: one for one in self._domain.attributes}
        tables, behind, size = list[NoisyTable](), list[NoisyTable](), None
        for number, stated in enumerate(self._stated):
            rows = frame.get((number,))
            if rows is not None and stated["why"] == LIST_ITEMS:
                spread = float(variance(rows["rate_num"][0] / rows["rate_den"][0])) / PARTS**2
                none = np.zeros(2)
                behind += [NoisyTable((name,), (np.arange(3),), none, spread) for name in stated["of"]]
            if rows is None or "columns" not in stated:
                continue
            both = zip(stated["columns"], stated["edges"], strict=True)
            edges = tuple(counted[name].places(np.array(edge, dtype=np.int64)) for name, edge in both)
            counts = rows["noisy"].to_numpy().astype(float).reshape([len(edge) - 1 for edge in edges])
            spread = float(variance(rows["rate_num"][0] / rows["rate_den"][0]))
            table = NoisyTable(tuple(stated["columns"]), edges, counts, spread)
            if edges:
                tables.append(table)
            else:
                size = table
        return Tables(tables, size, behind)

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Records drawn anew from the noisy tables."""
        released = released_tables(self._release)
        with refusing_other_forms():
            return drawn_codes(released.domain, released.sample(n, dice), dice).frame()

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The noisy tables: the purpose of each, and its columns."""
        lines = table_lines([(about["why"], in_words(about)) for about in self._stated], everything)
        yield column_section(self._release, everything)
        if self._in_bands:
            yield "Target", [self._in_bands]
        yield "Noisy tables", lines

    @property
    def _in_bands(self) -> str:
        """How a numeric target was related to other columns; empty for other targets."""
        edges, lead = self._manifest.structure.get("bands"), self._manifest.structure["lead"]
        if not edges:
            return ""
        target = next(one for one in self._domain.attributes if one.name == lead)
        parts = ", ".join(target.describe(*span) for span in pairwise(edges))
        return (
            f"{lead} is numeric: it was related to the other columns in {len(edges) - 1} bands, {parts}; inside a band "
            "its values follow its own noisy counts"
        )

    def report(self) -> Section:
        """Which columns were measured together, how finely, and with how much noise."""
        rows = [
            (asked, _over(about), _cells(about), spread)
            for about, (asked, spread) in zip(self._stated, spreads(self._release, _parts_of), strict=True)
        ]
        words = (
            f"Records were drawn so that they agree with {len(rows)} noisy tables. The noise of 95 of 100 counts in a "
            "table is smaller than the figure in the last column."
        )
        header = ("question", "columns", "cells", "noise of a count")
        figure = Figure("Tables that were measured", header=header, rows=rows, words=2)
        said = (words, f"{self._in_bands}.") if self._in_bands else (words,)
        return Section("regions", "Noisy tables", said, (figure,))


def _over(about: Document) -> str:
    """What a table is over."""
    if "of" in about:
        return in_words(about)
    return str(about.get("column") or ", ".join(about["columns"]) or "all records")


def _parts_of(about: Document) -> int:
    """As how many parts a record counts in a table; items of lists are counted in parts."""
    return PARTS if "most" in about else 1


def _cells(about: Document) -> str:
    """The number of cells of a table; empty if it lists single values."""
    return f"{prod(len(edges) - 1 for edges in about['edges']):,}" if "columns" in about else ""
