"""The structure `families`: noisy tables of views of families, and a model of them that families were drawn from.

Files: one per linked table, groups.parquet (the cells of each column, with the released rows), tables.parquet (the
noisy tables, whose counts are parts of one family).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.errors import VerifyError
from cantle.methods.families.model.answers import variance_of
from cantle.methods.families.results import family_cells, frame_of
from cantle.methods.question_words import question_in_words
from cantle.release import Release, structures
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import Share
from cantle.release.load import family_schema_of
from cantle.release.manifest import Manifest
from cantle.release.structures import Traits
from cantle.release.structures.checks import changed_columns, shape_problems, table_rates
from cantle.release.structures.families_model import ReleasedFamilies
from cantle.release.structures.tables_model import refusing_other_forms
from cantle.schema.code_sets import Key, Question
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import are_edges
from cantle.trusted.geometry.views import FIRST, LATER

if TYPE_CHECKING:
    import polars as pl

    from cantle.release.report.content import Section

_CLOSE = 0.02  # share of the rows that may be in other cells of a column
_MOST_LINES = 20


def traits(manifest: Manifest) -> Traits:
    cells = manifest.structure["cells"]
    tables = [about for about in manifest.structure["tables"] if len(about.get("columns", ())) > 1]
    columns, together = sum(map(len, cells.values())), f"{len(tables)} table{'s' * (len(tables) != 1)}"
    counted = f"{columns} columns of two tables ({manifest.summary['cells']:,} values and ranges of values)"
    return Traits(f"{counted} and of {together} of several columns", f"{counted}, {together} of several columns")


class Opened(structures.Opened):
    """A release of families."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._schema = family_schema_of(release.manifest)
        self._stated = release.manifest.structure["tables"]

    @cached_property
    def codes(self) -> tuple[list[Codes], Ints, list[Codes]]:
        """The codes of the parents' columns, the numbers of children, and the codes of the children's columns."""
        frame, name = cast("pl.DataFrame", self._release.records), self._schema.names[1]
        size = frame[name].list.len().to_numpy().astype(np.int64)
        child = frame[name].filter(frame[name].list.len() > 0).explode().struct.unnest()
        above, below = self._schema.domains
        parent, _ = above.encode_columns(frame.drop(name))
        own, _ = below.encode_columns(child)
        return parent, size, own

    @cached_property
    def places(self) -> tuple[dict[Key, Codes], Ints, dict[Key, Codes]]:
        """The places of the released rows by column, of those that were counted and of those that were declared."""
        frame, name = cast("pl.DataFrame", self._release.records), self._schema.names[1]
        child = frame[name].filter(frame[name].list.len() > 0).explode().struct.unnest()
        found: list[dict[Key, Codes]] = []
        for table, rows in zip(self._schema.tables, (frame.drop(name), child), strict=True):
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
        return max((variance_of(*rate) ** 0.5 for rate in rates), default=1.0)

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
        cells = self._manifest.structure["cells"]
        for name, domain in zip(self._schema.names, self._schema.domains, strict=True):
            stated = {column: np.array(edges, dtype=np.int64) for column, edges in cells.get(name, {}).items()}
            known = {one.name: one.size for one in domain.attributes}
            if set(stated) != set(known) or not all(are_edges(stated[one], size) for one, size in known.items()):
                yield f"the cells are not those of the columns of {name}"
                return
        yield from table_rates(self._release, self._stated)
        with refusing_other_forms():
            released = ReleasedFamilies(self._release)
        sizes = released.view_sizes()
        tables = {number: frame for (number,), frame in self._release.frames["tables"].group_by("table")}
        if not set(tables) <= set(range(len(self._stated))) or len(self._stated) != self._manifest.summary["tables"]:
            yield "there are other noisy tables than stated"
            return
        for number, about in enumerate(self._stated):
            yield from shape_problems(number, about, tables.get(number), sizes[about["view"]])
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
        code, null = child[at].astype(np.int64), domain.attributes[at].bins
        rank = np.where(code == null, np.int64(2**62), -code if falls else code)
        family = np.repeat(np.arange(len(size)), size)
        if ((np.diff(rank) < 0) & (np.diff(family) == 0)).any():
            yield f"the children of a family are not in the order of {name}"

    def _breaking(self) -> Iterator[str]:
        """The rules that released rows break."""
        frame, name = cast("pl.DataFrame", self._release.records), self._schema.names[1]
        child = frame[name].filter(frame[name].list.len() > 0).explode().struct.unnest()
        for table, rows in zip(self._schema.tables, (frame.drop(name), child), strict=True):
            declared = table.as_declared()
            if declared.rules is not None and declared.rules.breaking(declared.coder(rows)).any():
                yield "a released row breaks a rule of the schema"

    def _not_as_drawn(self, released: ReleasedFamilies) -> Iterator[str]:
        """Draws the families again with the stated seed and compares; the last digits of numbers may vary."""
        if released.number != self._manifest.summary["records"]:
            yield "the families are not as many as the noisy tables say"
            return
        seed = self._manifest.postprocessing["seed"]
        drawn = released.drawn(seed)
        places = public_streams(seed, STREAMS)["places"]
        _, codes = frame_of(self._schema, drawn, places)
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
            return frame_of(self._schema, released.draw(n, dice), dice)[0]

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The sizes of families as bars, then the noisy tables."""
        _, size, _ = self.codes
        counts = np.bincount(size, minlength=self._schema.max_children + 1)
        longest = max(1, int(counts.max(initial=1)))
        bars = [f"{number:4} {'█' * round(40 * count / longest):40} {count:,}" for number, count in enumerate(counts)]
        yield f"{self._schema.names[1]} per family", bars
        lines = [f"{about['why']}: {self._about(about)}" for about in self._stated]
        left = len(lines) - _MOST_LINES
        if not everything and left > 1:
            lines = [*lines[:_MOST_LINES], f"… and {left:,} more; see them with --all"]
        yield "Noisy tables", lines

    def _about(self, about: dict[str, Any]) -> str:
        if "columns" not in about:
            return str(about["column"])
        shape = " x ".join(str(len(edges) - 1) for edges in about["edges"])
        which = {FIRST: f"first {self._schema.names[1]}: ", LATER: f"later {self._schema.names[1]}: "}
        return f"{which.get(about['view'], '')}{', '.join(about['columns'])} ({shape})" if about["columns"] else "all"

    def report(self) -> Section:
        """Which columns were measured together, how finely, and with how much noise."""
        from cantle.release.report.content import Figure, Section

        rates = self._release.frames["tables"].group_by("table", maintain_order=True).first()
        noise = {row["table"]: row["rate_den"] / max(1, row["rate_num"]) for row in rates.iter_rows(named=True)}
        rows = []
        for number, about in enumerate(self._stated):
            parts = 1 if about["why"] == "number of families" else 5040
            spread = f"±{3 * noise[number] / parts:,.0f}" if number in noise else ""
            rows.append((question_in_words(about["why"]), self._about(about), spread))
        words = (
            f"Families were drawn so that they agree with {len(rows)} noisy tables. In each of them a family counts as "
            "one, however many children it has. The noise of 95 of 100 counts is smaller than the last figure."
        )
        figure = Figure("Tables that were measured", header=("question", "columns", "noise"), rows=rows, words=2)
        return Section("regions", "Noisy tables", (words,), (figure,))
