"""The structure `tables`: noisy tables over cells of columns, and a model of them that records were drawn from.

Files: groups.parquet (the cells of each column, with the released records), tables.parquet (the noisy tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import polars as pl

from cantle.drawing.column_cells import Column, column_of
from cantle.drawing.counts import STREAMS, Dice, public_streams, variance
from cantle.errors import VerifyError
from cantle.methods.mosaic.model.answers import (
    FIRST,
    LIST_ITEMS,
    LIST_PAIRS,
    LIST_SIZES,
    LIST_TABLE,
    NESTED,
    PLACE,
    SCORES,
)
from cantle.methods.mosaic.model.bands import ALONE, FEW_BANDS, MANY_BANDS, Bands
from cantle.methods.mosaic.model.fitted import Fitted, empty_cells, first_tables
from cantle.methods.mosaic.model.items import ITEMS, items_of, with_items
from cantle.methods.mosaic.model.label import DRAFT
from cantle.methods.mosaic.model.lists import ListAnswers, ListSizes, PartTable, listed_of, with_lists
from cantle.methods.mosaic.model.noisy_tables import NoisyTable as Bought
from cantle.methods.mosaic.model.noisy_tables import laplace_variance
from cantle.methods.mosaic.model.place_cells import Level, Place, estimated
from cantle.methods.mosaic.model.rare_items import with_rare_items
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
from cantle.schema.code_sets import Key, Question
from cantle.schema.domain import Domain
from cantle.schema.rules import Rules
from cantle.trusted.core.arrays import Codes, Floats, Ints
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.cross_tables import LabelTree
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


# ---- the model ------------------------------------------------------------------------------------------------

# What a run infers from its answers (one-way distributions, groups, classes, the model of the target) follows from them
# by public rules, so it is computed again here. Private choices are not repeated: the released tables show them.


@dataclass(frozen=True, eq=False)
class Answer:
    """One noisy table: what it is about, its numbers, and the rate of its noise."""

    why: str
    about: Document
    noisy: Ints
    price: float
    sensitivity: int

    @property
    def variance(self) -> float:
        return laplace_variance(self.price / self.sensitivity)


class ReleasedTables:
    """The noisy tables of a release, and the model that follows from them."""

    def __init__(self, release: Release) -> None:
        manifest = release.manifest
        self.domain: Domain = domain_of(manifest)
        self._groups = items_of(self.domain)
        self._items = [at for group in self._groups for at in group.items]
        self._names = [attribute.name for attribute in self.domain.attributes]
        self._persons = manifest.receipt.unit.max_records
        self._answers = _answers(manifest.structure["tables"], release.frames["tables"])
        self._uses_classes: bool = manifest.structure["classes"]
        lead = manifest.structure["lead"]
        self._lead = None if lead is None else self._names.index(lead)
        cells, related = manifest.structure["cells"], self._names[: self.domain.related]
        self.edges = [np.array(cells[name], dtype=np.int64) for name in related]
        self._bands = manifest.structure.get("bands")
        self._listed = listed_of(self.domain)
        self._related = self._fit(self._rules_among(related))
        self.fitted = self._with_lists()

    @property
    def number(self) -> int:
        """How many records the run drew."""
        return max(0, round(self.fitted.noisy_total))

    def records(self, seed: int) -> list[Codes]:
        """Codes of the records that the run drew with this seed."""
        streams = public_streams(seed, STREAMS)
        cells = self._draw(max(1, self.number), streams["classes"], streams["records"])
        return self._with_items(self.fitted.draw_values(cells, self.number, streams["records"]), streams["records"])

    def sample(self, n: int, dice: Dice) -> list[Codes]:
        """Codes of n new records. Models are fitted to drafted records, so a small sample is taken from a larger
        draft."""
        cells = self._draw(max(n, DRAFT), dice, dice)
        if n < DRAFT:
            picked = _spread_evenly(cells, n, dice)
            cells = [part[picked] for part in cells]
        return self._with_items(self.fitted.draw_values(cells, n, dice), dice)

    def _with_items(self, codes: list[Codes], dice: Dice) -> list[Codes]:
        if self._listed is not None:
            codes = with_rare_items(codes, self._listed, self._list_answers, self.fitted.total, dice)
        answers = self._about(ITEMS)
        if [one.about["columns"] for one in answers] != [[self._names[at]] for at in self._items]:
            raise VerifyError("the items of groups are not those of the schema")
        if not answers:
            return codes
        noisy = [one.noisy for one in answers]
        return with_items(codes, self._groups, noisy, answers[0].variance, self.fitted.total, dice)

    def _draw(self, records: int, classes: Dice, dice: Dice) -> list[Codes]:
        learned = self._related.learned_classes(classes) if self._uses_classes else None
        cells = self.fitted.draw_cells(records, learned, dice)
        for answer in self._about("leaves by class"):
            assert self._lead is not None
            tree = self._label_tree(answer.about["tree"])
            counts = answer.noisy.reshape(tree.leaves, -1)
            cells[self._lead] = self.fitted.labels().redraw(cells, tree, counts, answer.variance, dice)
        return cells

    def _about(self, why: str) -> list[Answer]:
        return [answer for answer in self._answers if answer.why == why]

    def _rules_among(self, names: Sequence[str]) -> Rules | None:
        every = self.domain.rules_on_codes
        return None if every is None else every.among(names)

    def _with_lists(self) -> Fitted:
        """The estimates with the items of lists as further columns."""
        listed, first = self._listed, self.domain.related
        if listed is None:
            return self._related
        columns = [column_of(one) for one in self.domain.attributes[first:][: len(self.domain.listed)]]
        (alone,), (size,) = self._about(LIST_ITEMS), self._about(LIST_SIZES)
        sizes = ListSizes.of(size.noisy, size.price / size.sensitivity, self._related.total, listed.longest)
        items = self._parts(alone)
        tables = [self._parts(one) for one in self._answers if one.why.startswith(LIST_TABLE)]
        pairs = [self._parts(one) for one in self._about(LIST_PAIRS)]
        self._list_answers = ListAnswers(sizes, items, listed.related(items), tables, pairs[0] if pairs else None)
        return with_lists(self._related, columns, listed, self._list_answers)

    def _parts(self, answer: Answer) -> PartTable:
        about, column, cells = answer.about, None, 1
        if "by" in about:
            ((column,), (cells,)) = self._grouped(answer.why, about["by"], about["edges"], self._related)
        return PartTable.of(answer.noisy, len(answer.noisy) // cells, answer.variance, about["most"], column)

    def _fit(self, rules: Rules | None) -> Fitted:
        columns = [column_of(attribute) for attribute in self.domain.attributes[: len(self.edges)]]
        (size,) = self._about("number of records")
        first = {answer.about["columns"][0]: answer for answer in self._answers if answer.why.startswith(FIRST)}
        noisy_size = int(size.noisy[0]), size.variance
        bands = self._bands_of_target(max(1, noisy_size[0]))
        places = {number: self._place(column, rules) for number, column in enumerate(columns) if column.place}
        names = enumerate(self._names[: len(columns)])
        others = [name for at, name in names if at != self._lead and (self._lead is not None or at not in places)]
        counts = [(first[name].noisy, first[name].variance) for name in others]
        fitted = first_tables(columns, self.edges, self._lead, noisy_size, counts, rules, bands, places)
        parts = list[Bought]()
        for answer in self._answers:
            if not answer.why.startswith(("table ", SCORES)):
                continue
            table = self._bought(answer, fitted)
            if answer.why == SCORES:
                fitted.add_scores(table)
                continue
            if not answer.why.endswith(NESTED):
                fitted.add(table)
                continue
            parts.append(table)
            if answer.why.endswith(NESTED[-1]):
                fitted.add_pair(parts)
                parts = []
        if fitted.tables:
            fitted.use_tables()
        return fitted

    def _place(self, column: Column, rules: Rules | None) -> Place:
        """A place from the counts of its levels; the blocks of the release must be those that follow."""
        levels = [
            Level(np.array(one.about["edges"][0], dtype=np.int64), one.noisy.astype(np.float64), one.variance)
            for one in self._answers
            if one.why.startswith(f"{PLACE} ") and one.about["columns"] == [column.name]
        ]
        place = estimated(column, levels, empty_cells(rules, column, levels[-1].edges))
        if not np.array_equal(place.blocks, self.edges[self._names.index(column.name)]):
            raise VerifyError(f"the cells of {column.name} are not those that its noisy counts make")
        return place

    def _bands_of_target(self, records: int) -> Bands | None:
        """The bands of a numeric target, which must be those that follow from its noisy counts; they replace its cells
        in `edges`."""
        if self._bands is None:
            return None
        assert self._lead is not None
        (alone,) = self._about(ALONE)
        every = (
            Bands.of(self.edges[self._lead], alone.noisy, alone.variance, float(records), most)
            for most in (MANY_BANDS, FEW_BANDS)
        )
        bands = next((one for one in every if one.outer.tolist() == self._bands), None)
        if bands is None:
            raise VerifyError("the bands of the target are not those that follow from its noisy counts")
        self.edges[self._lead] = bands.outer
        return bands

    def _bought(self, answer: Answer, fitted: Fitted) -> Bought:
        """A table that the run chose and measured; its groups must be those that follow from the first tables."""
        columns, groups = self._grouped(answer.why, answer.about["columns"], answer.about["edges"], fitted)
        return Bought(columns, groups, answer.noisy.reshape(groups).astype(np.float64), answer.variance)

    def _grouped(
        self, why: str, names: Sequence[str], stated: Sequence[list[int]], fitted: Fitted
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Columns by number and their numbers of groups."""
        columns, groups = tuple(map(self._names.index, names)), tuple(len(edges) - 1 for edges in stated)
        for column, number, edges in zip(columns, groups, stated, strict=True):
            if number not in fitted.groupings[column].sizes:
                raise VerifyError(f"{why} has groups of {self._names[column]} that cannot be")
            starts = self.edges[column][fitted.groupings[column].starts(number)]
            if starts.tolist() != edges[:-1]:
                raise VerifyError(f"{why} has other groups of {self._names[column]} than the first tables make")
        return columns, groups

    def _label_tree(self, nodes: Sequence[Document]) -> LabelTree:
        sizes = tuple(self.fitted.sizes)
        column = [-1 if "leaf" in node else self._names.index(node["column"]) for node in nodes]
        goes_left = []
        for node, at in zip(nodes, column, strict=True):
            goes = np.zeros(0 if at < 0 else sizes[at], dtype=bool)
            goes[node.get("cells", [])] = True
            goes_left.append(goes)
        left, right, leaf = ([node.get(name, -1) for node in nodes] for name in ("left", "right", "leaf"))
        arrays = [np.array(part, dtype=np.int64) for part in (column, left, right, leaf)]
        tree = LabelTree(arrays[0], tuple(goes_left), *arrays[1:])
        if not tree.fits(sizes):
            raise VerifyError("the leaves by class are not those of a tree over the cells")
        return tree


def _spread_evenly(cells: Sequence[Codes], n: int, dice: Dice) -> Ints:
    """Positions of n of the records, in random order: evenly spaced in sorted order, so that shares are preserved."""
    order = np.lexsort(cells)
    ticks = ((np.arange(n) + dice.random()) * (len(order) / max(1, n))).astype(np.int64)
    return dice.permutation(order[ticks])


def _answers(asked: Sequence[Document], tables: pl.DataFrame) -> list[Answer]:
    """The noisy tables in order, each with its numbers and rate."""
    number = tables["table"].to_numpy()
    noisy, num, den = (tables[name].to_numpy() for name in ("noisy", "rate_num", "rate_den"))
    answers = []
    for place, about in enumerate(asked):
        mine = np.flatnonzero(number == place)
        price, sensitivity = (num[mine[0]] / NANO, int(den[mine[0]]) // NANO) if len(mine) else (0.0, 1)
        answers.append(Answer(about["why"], about, noisy[mine], float(price), sensitivity))
    return answers


def released_tables(release: Release) -> ReleasedTables:
    """The noisy tables of a release with their model; raises VerifyError if they have another form."""
    with refusing_other_forms():
        return ReleasedTables(release)
