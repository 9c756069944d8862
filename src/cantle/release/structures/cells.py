"""The structure `cells`: the cells of a grid, of which those with enough noisy records are listed, and one-way tables.

Files: groups.parquet (listed cells and classes), marginals.parquet (tables of columns, if any).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle.data.tables import read_columns
from cantle.drawing.counts import Dice, public_dice
from cantle.drawing.group_frames import column_of
from cantle.drawing.records import RECORDS_WANTED, Drawn, drawable, give_back
from cantle.errors import ParameterError, VerifyError
from cantle.methods.diffgen import results as from_cells
from cantle.methods.diffgen.results import ColumnTable, tables_frame, tables_from
from cantle.release import Release, structures
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import Regions, Share, side_by_side, variances
from cantle.release.manifest import Manifest
from cantle.release.sampling import scaled
from cantle.release.schemas import domain_of, schema_as
from cantle.release.show import column_section
from cantle.release.structures import Traits, methods_of, structure_of
from cantle.release.structures.checks import (
    ONE_WAYS,
    broken_rules,
    changed_columns,
    not_as_drawn,
    one_way_rates,
    rate_paid,
    records_not_held,
    unless_found,
)
from cantle.schema.code_sets import Question
from cantle.schema.table import TableSchema
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.arrays import Codes, Ints

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame


def traits(manifest: Manifest) -> Traits:
    s = manifest.summary
    listed = f"the {s['listed']:,} with a noisy count of at least {s['at_least']} are listed"
    return Traits(f"{s['cells']:,} cells after {s['rounds']} cuts, of which {listed}", lambda domain: domain)


class Opened(structures.Opened):
    """A release of cells. Only those with many records are listed, so sums of them are biased: no answer is direct."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.domain = domain_of(release.manifest)
        self.grid = from_cells.grid_of(self.domain, release.manifest.structure["cuts"])

    @cached_property
    def _listed(self) -> Ints:
        return from_cells.listed_cells(self.domain, self._groups)

    @cached_property
    def _tables(self) -> list[ColumnTable]:
        stated, frame = self._manifest.structure.get("tables", {}), self._release.frames.get("marginals")
        paid = [rate_paid(charge) for charge in self._manifest.receipt.charges() if charge.why == ONE_WAYS]
        return tables_from(self.domain, stated, frame, paid[0]) if paid and frame is not None else []

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether cells are those of the cuts, follow from their noisy counts, and hold the released records, which
        follow from all noisy numbers."""
        drawn = not_as_drawn(self._release, self.domain, lambda dice: self._drawn(self._released, dice))
        return unless_found(self._recounted(), drawn)

    def _recounted(self) -> Iterator[str]:
        yield from broken_rules(self._release)
        if not self.grid.fits(tuple(a.size for a in self.domain.attributes)):
            raise VerifyError("the cuts do not cover the domain")
        yield from one_way_rates(self._release)
        stated = self._release.frames.get("marginals")
        if stated is not None and len(stated):
            yield from changed_columns(stated, tables_frame(self.domain, self._tables), "one-way tables")
        listed, size = self._listed, self.grid.cells * self._classes
        in_order = (np.diff(listed) > 0).all() and (listed >= 0).all() and (listed < size).all()
        if size != self._manifest.summary["cells"] or len(listed) != self._manifest.summary["listed"] or not in_order:
            raise VerifyError("the cells are not those of the released cuts, each listed once in order")
        if (self._groups["noisy"] < self._manifest.summary["at_least"]).any():
            yield "a cell below the threshold is listed"
        yield from self._not_computed()
        held = np.zeros((self.grid.cells, self._classes), dtype=np.int64)
        held.reshape(-1)[listed] = self._groups["count"].to_numpy()
        yield from records_not_held(self._release, self.domain, self._cell, held, "cells")

    def _not_computed(self) -> Iterator[str]:
        """Checks that estimates and counts follow from the noisy counts, and these have the noise of the receipt."""
        num, den = rate_paid(self._manifest.receipt.paths[0].charges[-1])
        value = self._groups["noisy"].to_numpy()
        noisy = NoisyCells(np.zeros_like(value), self._listed, value, np.array([num]), den, np.ones(1, np.int64))
        summary = self._manifest.summary
        wanted = summary.get(RECORDS_WANTED)
        # Counts add up to the noisy or declared number of records, but not in the published form of the method.
        total = (wanted or summary["records"]) if self._manifest.parameters["preset"] == "default" else None
        stated = self._groups["estimate"].to_numpy()
        estimate, count = from_cells.projected(self.domain, self.grid, noisy, total, stated)
        count, more = drawable(count, len(self.domain.columns), public_dice(self._manifest.postprocessing["seed"]))
        if list(more.values()) != ([] if wanted is None else [wanted]) or int(count.sum()) != summary["records"]:
            yield "the counts of the cells do not add up to the number of records"
        again = from_cells.cells_frame(self.domain, self.grid, noisy, estimate, count)
        yield from changed_columns(self._groups, again, "groups")

    @property
    def _classes(self) -> int:
        return self.domain.target.size if self.domain.target else 1

    def _cell(self, codes: Codes) -> Ints:
        return self.grid.locate(list(codes.T)) if codes.shape[1] else np.zeros(len(codes), np.int64)

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:  # noqa: ARG002
        return self._regions.noise(question)

    @cached_property
    def _regions(self) -> Regions:
        domain, place = self.domain, self._place
        edges = [a.places(np.asarray(edge)) for a, edge in zip(domain.attributes, self.grid.edges, strict=True)]
        first, end = (side_by_side([edge[place[:, j] + k] for j, edge in enumerate(edges)], len(place)) for k in (0, 1))
        names = [attribute.name for attribute in domain.attributes]
        if domain.target is not None:
            label = domain.target.encode(self._groups[column_of(domain.target.name)]).astype(np.int64)[:, None]
            first, end, names = np.hstack([first, label]), np.hstack([end, label + 1]), [*names, domain.target.name]
        return Regions(names, first, end, variances(self._groups))

    @property
    def _place(self) -> Ints:
        """The interval of each listed cell in every column."""
        return self.grid.unravel(self._groups["leaf"].to_numpy().astype(np.int64))

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Records in proportion to the released cells."""
        may = from_cells.possible(self.domain, self.grid, self._listed)
        return self._drawn(scaled(self._released, may, n, dice), dice).frame()

    @property
    def _released(self) -> Ints:
        return self._groups["count"].to_numpy()

    def _drawn(self, count: Ints, dice: Dice) -> Drawn:
        """So many records of each listed cell."""
        drawn = self.domain, self.grid, self._listed, count, self._tables, dice
        return from_cells.draw_from_cells(*drawn, released=int(self._released.sum()))

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The released cut of every column, and the taxonomy it was cut from."""
        lines = [f"{name}: {' · '.join(labels)}" for name, labels in self._intervals().items()]
        for attribute in self.domain.attributes:
            if attribute.taxonomy is not None:
                lines += [f"\ntaxonomy of {attribute.name}", *attribute.taxonomy.preview()]
        yield column_section(self._release, everything)
        yield "Regions", lines

    def _intervals(self) -> dict[str, list[str]]:
        """The intervals of each column in words."""
        both = zip(self.domain.attributes, self.grid.edges, strict=True)
        return {
            one.name: [one.describe(int(lo), int(hi)) for lo, hi in zip(edge[:-1], edge[1:], strict=True)]
            for one, edge in both
        }

    def report(self) -> None:
        """None: the sections about the columns say it all."""


# ---- the cuts themselves --------------------------------------------------------------------------------------


def cells_of(release: Release) -> Opened:
    """A release of cells, to generalise with its cuts; ParameterError for other releases."""
    if structure_of(release.manifest) != "cells":
        raise ParameterError(
            f"only a {methods_of('cells')} release has cuts to generalise with; "
            f"this one is by {release.manifest.method}: publish with method {methods_of('cells')}"
        )
    return Opened(release)


def generalised(release: Release) -> pl.DataFrame:
    """The released records in generalised form."""
    mine = cells_of(release)
    return from_cells.generalised(mine.domain, mine.grid, release.groups)


def generalise(release: Release, data: object, *, target: bool, numbered: bool = False) -> NativeFrame:
    """Another table, generalised with the released cuts, in the kind of frame that was given; persons are ignored."""
    mine, schema = cells_of(release), schema_as(release.manifest, TableSchema)
    if mine.domain.relations is not None:
        raise ParameterError(
            "this release counts other columns than the table has, which rules between columns or lists were made into"
        )
    fields = tuple(field for field in schema.fields if target or field.role != "target")
    raw = read_columns(data, replace(schema, fields=fields, rules=(), person=None))
    return give_back(from_cells.generalise(mine.domain, mine.grid, raw.frame, numbered=numbered), raw.kind)
