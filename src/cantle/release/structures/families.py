"""The structure `families`: noisy tables of views of families, and a model of them that families were drawn from.

Files: one per linked table, groups.parquet (the cells of each column, with the released rows), tables.parquet (the
noisy tables, whose counts are parts of one family).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np
import polars as pl

from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.drawing.linked_frames import children
from cantle.errors import VerifyError
from cantle.methods.families.layout import DRAWN_VIEWS, Layout
from cantle.methods.families.model.draw import drawn_families, number_drawn
from cantle.methods.families.model.view_fit import Answered, FamilyFit, in_families, table_of
from cantle.methods.families.results import family_cells, frame_of
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, laplace_variance
from cantle.release import Release, structures
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import Share
from cantle.release.document_fields import Document
from cantle.release.manifest import Manifest
from cantle.release.report.content import Figure, Section
from cantle.release.schemas import schema_as
from cantle.release.structures import Traits
from cantle.release.structures.checks import changed_columns, made_by_this_version
from cantle.release.structures.noisy_tables import (
    cells_cover,
    in_words,
    refusing_other_forms,
    spreads,
    table_lines,
    table_problems,
)
from cantle.schema.code_sets import Key, Question
from cantle.schema.families import FamilySchema
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FIRST, LATER, in_rank

_CLOSE = 0.02  # share of the rows that may be in other cells of a column


SIZE = "number of families"
FIRST_TABLES, SIBLINGS, CHOSEN = "first table ", "siblings table ", "table "
"""How the purposes of the tables begin that the model is made of, in the order in which it takes them."""


class ReleasedFamilies:
    """The noisy tables of a release, and the estimates that follow from them."""

    def __init__(self, release: Release) -> None:
        self.manifest = release.manifest
        self.schema = schema_as(self.manifest, FamilySchema)
        self.layout = Layout.of(self.schema)
        self._frame = release.frames["tables"].partition_by("table", as_dict=True, maintain_order=True)
        self._stated: list[Document] = self.manifest.structure["tables"]
        cells = self.manifest.structure["cells"]
        parent, child = (
            [np.array(cells[name][one.name], dtype=np.int64) for one in domain.attributes]
            for name, domain in zip(self.schema.names, self.schema.domains, strict=True)
        )
        self.edges = parent, child
        self.fit = self._fitted()

    def _fitted(self) -> FamilyFit:
        (size,) = (number for number, about in enumerate(self._stated) if about["why"] == SIZE)
        noisy, (num, den) = self._numbers(size)
        first: dict[tuple[int, int], Answered] = {}
        for number, about in enumerate(self._stated):
            if about["why"].startswith(FIRST_TABLES):
                (column,) = self._columns(about)
                first[about["view"], column] = self._counts(number)
        rules = self.schema.domains[0].rules_on_codes, self.schema.domains[1].rules_on_codes
        fit = FamilyFit(self.layout, self.edges, rules, (int(noisy[0]), float(laplace_variance(num / den))), first)
        for beginning in (SIBLINGS, CHOSEN):
            mine = [(number, one) for number, one in enumerate(self._stated) if one["why"].startswith(beginning)]
            for number, about in mine:
                fit[about["view"]].add(self._table(fit, number, about))
            if mine or beginning == SIBLINGS:
                fit.use_tables()
        return fit

    def _columns(self, about: Document) -> tuple[int, ...]:
        """The columns of a table, by their numbers in its view."""
        if about["view"] not in DRAWN_VIEWS:
            raise VerifyError(f"{about['why']} is about a view that families are not drawn from")
        names = [column.name for column in self.layout.columns(about["view"])]
        return tuple(names.index(name) for name in about["columns"])

    def _table(self, fit: FamilyFit, number: int, about: Document) -> NoisyTable:
        """A table that the run measured; its groups must be those that follow from the first tables."""
        columns, own = self._columns(about), fit[about["view"]]
        groups = tuple(len(edges) - 1 for edges in about["edges"])
        for column, count, edges in zip(columns, groups, about["edges"], strict=True):
            grouping = own.groupings[column]
            if count not in grouping.sizes or own.edges[column][grouping.edges(count)].tolist() != edges:
                raise VerifyError(f"{about['why']} has other groups of {own.columns[column].name} than can be")
        return table_of(self._counts(number), columns, groups)

    def _numbers(self, number: int) -> tuple[Ints, tuple[int, int]]:
        frame = self._frame[(number,)]
        return frame["noisy"].to_numpy(), (int(frame["rate_num"][0]), int(frame["rate_den"][0]))

    def _counts(self, number: int) -> Answered:
        return in_families(*self._numbers(number))

    def view_sizes(self) -> Mapping[int, dict[str, int]]:
        """The number of codes of each column, by view."""
        found = {}
        for view in range(4):
            edges = self.layout.edges(view, *self.edges)
            columns = self.layout.columns(view)
            found[view] = {one.name: int(edge[-1]) for one, edge in zip(columns, edges, strict=True)}
        return found


def traits(manifest: Manifest) -> Traits:
    cells = manifest.structure["cells"]
    tables = [about for about in manifest.structure["tables"] if len(about.get("columns", ())) > 1]
    columns, together = sum(map(len, cells.values())), f"{len(tables)} table{'s' * (len(tables) != 1)}"
    counted = f"{columns} columns of two tables ({manifest.summary['cells']:,} values and ranges of values)"
    return Traits(f"{counted} and {together} of several columns")


class Opened(structures.Opened):
    """A release of families."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._schema = schema_as(release.manifest, FamilySchema)
        self._stated = release.manifest.structure["tables"]

    @cached_property
    def codes(self) -> tuple[list[Codes], Ints, list[Codes]]:
        """The codes of the parents' columns, the numbers of children, and the codes of the children's columns."""
        above, below = self._schema.domains
        parent, _ = above.encode_columns(self._rows[0])
        own, _ = below.encode_columns(self._rows[1])
        size = cast("pl.DataFrame", self._release.records)[self._schema.names[1]].list.len().to_numpy()
        return parent, size.astype(np.int64), own

    @cached_property
    def _rows(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows of parents and of children."""
        frame, name = cast("pl.DataFrame", self._release.records), self._schema.names[1]
        return frame.drop(name), children(frame, name)

    @cached_property
    def places(self) -> tuple[dict[Key, Codes], Ints, dict[Key, Codes]]:
        """The places of the released rows by column, of those that were counted and of those that were declared."""
        found: list[dict[Key, Codes]] = []
        for table, rows in zip(self._schema.tables, self._rows, strict=True):
            counted = table.domain().with_target_as_column().on_places
            codes, _ = counted.encode_columns(rows)
            own: dict[Key, Codes] = {one.name: part for one, part in zip(counted.attributes, codes, strict=True)}
            declared = table.as_declared().with_target_as_column().on_places.attributes
            every: dict[Key, Codes] = {one.name: one.encode(rows[one.name]) for one in declared}
            found.append(every | own)
        return found[0], self.codes[1], found[1]

    def noise_of_a_cell(self) -> float:
        """The largest standard deviation of a count of the noisy tables, in families."""
        frame = self._release.frames["tables"].filter(self._release.frames["tables"]["rate_den"] > 10**9 * 2)
        rates = frame.select("rate_num", "rate_den").unique().rows()
        return max((laplace_variance(num / den) ** 0.5 / item_partitions.PARTS for num, den in rates), default=1.0)

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether families fit the schema, tables have their shapes and rates, and families follow from them."""
        parent, size, child = self.codes
        if len(parent[0]) != len(size) or len(child[0]) != size.sum():
            yield "a row is not in the schema's domain"
            return
        if (len(size), int(size.sum())) != (self._manifest.summary["records"], self._manifest.summary["children"]):
            yield "there are other numbers of parents and children than stated"
        if size.max(initial=0) > self._schema.max_children:
            yield f"a family has more than {self._schema.max_children} children"
        yield from self._out_of_order(size, child)
        yield from self._breaking()
        for name, domain in zip(self._schema.names, self._schema.domains, strict=True):
            if not cells_cover(self._manifest.structure["cells"].get(name, {}), domain):
                yield f"the cells are not those of the columns of {name}"
                return
        with refusing_other_forms():
            released = ReleasedFamilies(self._release)
        sizes = released.view_sizes()
        yield from table_problems(self._release, lambda about: sizes[about["view"]])
        again = family_cells(self._schema, released.edges, (parent, child))
        changed = list(changed_columns(self._release.groups, again, "groups"))
        yield from changed and ["the rows do not have the counts of the cells", *changed]
        if not changed:
            yield from self._not_as_drawn(released)

    def _out_of_order(self, size: Ints, child: list[Codes]) -> Iterator[str]:
        """Checks the first column of the order: within a family it never turns back, and null comes last."""
        if not self._schema.order:
            return
        name, falls = self._schema.order[0]
        domain = self._schema.domains[1]
        at = [one.name for one in domain.attributes].index(name)
        rank = in_rank(child[at], domain.attributes[at].bins, falls)
        family = np.repeat(np.arange(len(size)), size)
        if ((np.diff(rank) < 0) & (np.diff(family) == 0)).any():
            yield f"the children of a family are not in the order of {name}"

    def _breaking(self) -> Iterator[str]:
        """The rules that released rows break."""
        for table, rows in zip(self._schema.tables, self._rows, strict=True):
            declared = table.as_declared()
            if declared.rules is not None and declared.rules.breaking(declared.coder(rows)).any():
                yield "a released row breaks a rule of the schema"

    def _not_as_drawn(self, released: ReleasedFamilies) -> Iterator[str]:
        """Draws the families again with the stated seed and compares; the last digits of numbers may vary. Another
        version may draw others."""
        if not made_by_this_version(self._manifest):
            return
        number, dice = number_drawn(released.fit), public_streams(self._manifest.postprocessing["seed"], STREAMS)
        if number != self._manifest.summary["records"]:
            yield "the families are not as many as the noisy tables say"
            return
        drawn = drawn_families(released.fit, number, dice["records"])
        _, codes = frame_of(self._schema, drawn, dice["places"])
        counts = family_cells(self._schema, released.edges, codes)["count"].to_numpy()
        moved = np.abs(counts - self._release.groups["count"].to_numpy())
        columns = self._release.groups.select("table", "column").with_columns(moved=moved)
        most = columns.group_by("table", "column").sum()["moved"].max()
        if most is not None and cast(Any, most) > _CLOSE * max(50, int(drawn.size.sum()), len(drawn.size)):
            yield "the families are not like those that the noisy tables make"

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:  # noqa: ARG002
        raise VerifyError("questions about families are answered by their own class")

    # ---- more families, show, report ----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Families drawn anew from the noisy tables."""
        with refusing_other_forms():
            released = ReleasedFamilies(self._release)
            return frame_of(self._schema, drawn_families(released.fit, n, dice), dice)[0]

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The sizes of families as bars, then the noisy tables."""
        _, size, _ = self.codes
        counts = np.bincount(size, minlength=self._schema.max_children + 1)
        longest = max(1, int(counts.max(initial=1)))
        bars = [f"{number:4} {'█' * round(40 * count / longest):40} {count:,}" for number, count in enumerate(counts)]
        yield f"{self._schema.names[1]} per family", bars
        yield "Noisy tables", table_lines([(one["why"], self._about(one)) for one in self._stated], everything)

    def _about(self, about: dict[str, Any]) -> str:
        which = {FIRST: f"first {self._schema.names[1]}: ", LATER: f"later {self._schema.names[1]}: "}
        return (which.get(about["view"], "") if about.get("columns") else "") + in_words(about)

    def report(self) -> Section:
        """Which columns were measured together, how finely, and with how much noise."""
        noise = spreads(self._release, lambda about: 1 if about["why"] == SIZE else item_partitions.PARTS)
        rows = [(asked, self._about(one), spread) for one, (asked, spread) in zip(self._stated, noise, strict=True)]
        words = (
            f"Families were drawn so that they agree with {len(rows)} noisy tables. In each of them a family counts as "
            "one, however many children it has. The noise of 95 of 100 counts is smaller than the last figure."
        )
        figure = Figure("Tables that were measured", header=("question", "columns", "noise"), rows=rows, words=2)
        return Section("regions", "Noisy tables", (words,), (figure,))
