"""Plans for tables: the public rules of mosaic, rps and diffgen, with a guessed number of records instead of a noisy
one, and somebody's own partitioning. The decisions of mosaic are foreseen for all columns, or for a part of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.drawing.column_cells import LOW_WIDTHS, WIDTHS, Column, starting_edges
from cantle.drawing.counts import variance
from cantle.methods.diffgen.method import DiffGen
from cantle.methods.mosaic import plan as rules
from cantle.methods.mosaic.method import Mosaic
from cantle.methods.mosaic.model.answers import LIST_ITEMS, PLACE, SCORES
from cantle.methods.mosaic.model.bands import ALONE
from cantle.methods.mosaic.model.items import ITEMS
from cantle.methods.mosaic.model.place_cells import LEVELS
from cantle.methods.own_error.accuracy import WHY
from cantle.methods.planning.outline import MEAN_ERROR, Outline, Part, Relations, pairs_together, relations, too_fine
from cantle.methods.rps.method import RPS
from cantle.methods.rps.results import summarise
from cantle.methods.words import EVERY_COLUMN, question_in_words
from cantle.schema.domain import Attribute, Labels, Steps
from cantle.schema.fields import MOST_CLASSES
from cantle.schema.groups import MOST_VALUES
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry import value_sets

if TYPE_CHECKING:
    from cantle.framework.run import PartitioningRun


@dataclass(frozen=True)
class Foreseen:
    """What a run would decide. `others` are all columns but the target, with their expected numbers of cells.

    `hub` says that a hub column would lead the first tables; `hub_asked` that it would be chosen with noise. `classes`
    is the number of cells of the leading column, 0 if there is none; `scores` that of scores of groups.
    """

    target: Column | None
    others: Sequence[Column]
    wide: Sequence[Column]
    start: rules.Opening
    cells: Sequence[int]
    hub: bool
    classes: int
    shares: rules.Plan
    scores: int

    @property
    def columns(self) -> int:
        return len(self.others) + (self.target is not None)

    @property
    def pairs_together(self) -> int:
        """The expected number of pairs of columns that are measured together."""
        lead = len(self.others) if self.target is not None else self._few[0] if self.hub else None
        cells = self.cells if self.target is None else [*self.cells, self.classes]
        of_scores = self.scores * (self.scores - 1) // 2 if self.shares.scores else 0
        every = self.columns * (self.columns - 1) // 2
        return min(every, pairs_together(cells, lead, self.shares) + of_scores)

    @property
    def _few(self) -> list[int]:
        """The columns that may be a hub."""
        return [place for place, size in enumerate(self.cells) if 3 <= size <= MOST_CLASSES]


def foreseen(method: Mosaic, epsilon: float, records: int, persons: int, kept: int | None = None) -> Foreseen:
    """The decisions for all columns, or for as many as are `kept`: the target, and others at even distances."""
    rate, target = epsilon / persons, _target(method)
    others = [column for column in method.columns if column is not target]
    if kept is not None:
        places = np.linspace(0, len(others) - 1, kept - (target is not None)).round().astype(int)
        others = [others[place] for place in places.tolist()]
    columns = len(others) + (target is not None)
    every = others if target is None else [*others, target]
    wide = [column for column in every if column.wide]
    accuracy: Fraction = method.own_accuracy.expected(round(epsilon * rules.NANO), records, persons)
    banded = target is not None and not rules.few(target)
    cells, items, lists = _cells(others, WIDTHS), len(method.items), method.lists is not None
    start = rules.opening(records, rate, len(wide), cells, accuracy, banded, every, items, lists)
    cells = _refined(others, _cells(others, LOW_WIDTHS if start.low else WIDTHS), start)
    few = [size for size in cells if 3 <= size <= MOST_CLASSES]
    hub = target is None and rules.hub_leads(start, cells) and bool(few)
    classes = round(sum(few) / len(few)) if hub else 0
    if target is not None:
        classes = start.most_bands if banded else target.codes
    named = [column.name for column in method.columns[len(method.columns) - len(method.groups) :]]
    scores = sum(column.name in named for column in others)
    shares = rules.plan(start, cells, columns, classes, hub and len(few) > 1, hub, scores)
    return Foreseen(target, others, wide, start, cells, hub, classes, shares, scores)


def relations_of(method: Mosaic, epsilon: float, records: int, persons: int) -> Relations | None:
    """The pairs of columns that would be measured together, and how few columns would keep all; None if none can be
    lost."""
    whole = foreseen(method, epsilon, records, persons)
    lead = "the one on which the others depend most" if whole.hub else None
    if whole.target is not None:
        lead = whole.target.name
    return relations(whole.columns, lead, lambda kept: foreseen(method, epsilon, records, persons, kept).pairs_together)


def _target(method: Mosaic) -> Column | None:
    """The declared target if mosaic uses it as one."""
    target = rules.usable_target(method.columns, method.target)
    return None if target is None else method.columns[target]


def _cells(columns: Sequence[Column], widths: int) -> list[int]:
    """The starting cells; places count as many as budgets take them for."""
    starts = (rules.PLACE_CELLS if one.place else len(starting_edges(one, widths)) - 1 + one.null for one in columns)
    return list(starts)


def _refined(columns: Sequence[Column], cells: Sequence[int], start: rules.Opening) -> list[int]:
    """The expected number of cells of each column after frequent values and finer ranges of wide columns are found.

    These are about 12 values, and one range per ten scales of the noise of the counts that split cells, as observed on
    Adult, bank and the demo. They are found only if there are enough records (`spikes`, `gate`).
    """
    more = round(12 * start.spikes + start.split_records / 10) if start.gate else 0
    pairs = zip(columns, cells, strict=True)
    return [min(column.codes, size + more) if column.wide else size for column, size in pairs]


SMOOTHED = 0.6
"""The share of the noise that remains in the cells of wide columns of numbers. Most of these cells hold few records,
and their counts are made non-negative and smoothed. Like CUT, it was chosen on Adult, bank and the demo."""

NAMED = 8
"""At most this many of the columns that are grouped into ranges are named."""

MANY_VALUES = 8
"""So many values of a bin of rps are worth a remark."""

ENOUGH = 20_000
"""Records times epsilon from which on models keep most of what they explain of a numeric target."""

CUT = 1.4
"""The factor by which errors of groups are larger if their ends cut wide cells."""


def noise_of(rate: float) -> float:
    """The standard deviation of noise with this rate."""
    return float(sqrt(float(variance(rate))))


def plan_mosaic(method: Mosaic, epsilon: float, records: int, persons: int) -> Outline:
    """The shares of mosaic, and the noise in its first tables."""
    rate, made = epsilon / persons, foreseen(method, epsilon, records, persons)
    others, start, cells, shares, target = made.others, made.start, made.cells, made.shares, made.target
    asked = [size for column, size in zip(others, cells, strict=True) if target is not None or not column.place]
    first = _first_noise(asked, shares, rate)
    if len(asked) < len(others):  # places have counts of their own instead
        queue, places = iter(first), iter(start.places)
        first = [
            noise_of(float(next(places) * LEVELS[-1]) * rate) if column.place else next(queue) for column in others
        ]
    known = [
        _known_noise(size, cells, noise**2 * max(1, made.classes), shares, rate, made.columns)
        for size, noise in zip(cells, first, strict=True)
    ]
    of_items = _each(start.items, len(method.items), rate) or 0.0
    of_lists = _of_lists(method, start, rate)
    every = [*known, *(of_items for _ in method.items), *of_lists]
    value_noise = sqrt(sum(noise**2 for noise in every) / len(every))
    budget = [
        Part("number of records", float(rules.SIZE), noise_of(float(rules.SIZE) * rate)),
        Part("ranges and shared values of columns of many values", float(start.shape)),
        Part(
            question_in_words(f"{PLACE} 1"),
            float(sum(start.places)),
            _each(sum(start.places) * LEVELS[-1], len(start.places), rate),
        ),
        Part(question_in_words(WHY), float(start.accuracy)),
        Part(question_in_words(ALONE), float(start.bands), _each(start.bands, 1, rate)),
        Part(question_in_words("hub column"), float(shares.hub)),
        Part(f"{EVERY_COLUMN}{' with the target' if target is not None else ''}", float(shares.first), max(first)),
        Part(question_in_words(SCORES), float(shares.scores)),
        Part(question_in_words("choice of tables"), float(shares.selection)),
        Part(
            f"counts of {shares.count} table{'' if shares.count == 1 else 's'} of several columns",
            float(shares.tables),
            _each(shares.tables, shares.count, rate),
        ),
        Part(question_in_words("leaves by class"), float(shares.label), _each(shares.label, 1, rate)),
        Part(question_in_words(ITEMS), float(start.items), of_items or None),
        Part(LIST_ITEMS, float(start.lists), max(of_lists, default=None)),
    ]
    parts = zip(others, cells, known, strict=True)
    errors = [_column_error(column, size, records, noise) for column, size, noise in parts]
    errors += [min(MEAN_ERROR * of_items, records / size) for size in method.items]
    errors += [min(MEAN_ERROR * noise, records / 2) for noise in of_lists]
    return Outline(
        method="mosaic",
        budget=tuple(budget),
        value_noise=value_noise,
        one_way=sum(errors) / len(errors),
        cells=sum(cells) / len(cells),
        blur=1.0 if start.gate or not made.wide else CUT,
        too_fine=_fine(others, records, value_noise),
        remarks=(*_grouped(others, cells), *_mosaic_remarks(start), *_banded(target, start), *_items(method)),
        relations=relations_of(method, epsilon, records, persons),
        **table_cost("mosaic", records, made.columns + len(method.items) + len(method.listed), shares.count),
    )


ITEMS_PER_LIST = 4
"""Assumed number of items of a record that count in full."""


def _of_lists(method: Mosaic, start: rules.Opening, rate: float) -> list[float]:
    """The noise in the count of each item of lists."""
    if method.lists is None:
        return []
    most = min(method.lists.longest, ITEMS_PER_LIST)
    return [noise_of(float(start.lists * rules.LIST_ITEMS) * rate / most)] * len(method.listed)


def _first_noise(cells: Sequence[int], shares: rules.Plan, rate: float) -> list[float]:
    """The noise in the first table of each column."""
    noise = [0.0] * len(cells)
    for group in rules.first_tables(cells, shares.first, shares.count == 0):
        for number in group.columns:
            noise[number] = noise_of(float(group.paid) * rate / len(group.columns))
    return noise


def _each(share: Any, number: int, rate: float) -> float | None:
    return noise_of(float(share) * rate / number) if share and number else None


def _known_noise(size: int, cells: Sequence[int], first: float, shares: rules.Plan, rate: float, columns: int) -> float:
    """The noise in the count of one value of a column with `size` cells, combined from all tables that contain it.

    `first` is the variance in the column's first table. A chosen table has 2.5 columns on average. It contains the
    single values of a column that it does not have to group, and the noise of a value is then summed over the cells of
    the other columns.
    """
    precision = 1 / first
    if shares.count and size <= sqrt(shares.cap):
        mean = sum(cells) / len(cells)
        others = max(1.0, min(shares.cap / size, mean**1.5))
        mine = shares.count * 2.5 / columns
        precision += mine / (others * float(variance(float(shares.tables) * rate / shares.count)))
    return sqrt(1 / precision)


def _column_error(column: Column, cells: int, records: int, noise: float) -> float:
    """The expected error of one count; it is at most the number of records in a cell."""
    return min(MEAN_ERROR * noise * (SMOOTHED if column.wide else 1.0), records / max(1, cells))


def _fine(columns: Sequence[Column], records: int, noise: float) -> tuple[str, ...]:
    """Remarks on columns that are too fine; wide columns of numbers are left out, because they are put into ranges."""
    narrow = [column for column in columns if not (column.wide or column.place)]
    return tuple(text for column in narrow for text in too_fine(column.name, column.values, records, noise))


def _grouped(columns: Sequence[Column], cells: Sequence[int]) -> list[str]:
    """A remark on the columns that are counted in ranges instead of value by value."""
    wide = [(column, size) for column, size in zip(columns, cells, strict=True) if column.wide]
    if not wide:
        return []
    names = ", ".join(column.name for column, _ in wide[:NAMED])
    more = f" and {len(wide) - NAMED} more" if len(wide) > NAMED else ""
    sizes = [size for _, size in wide]
    many = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    are = "is" if len(wide) == 1 else "are"
    ranges = f"{len(wide)} of {len(columns)} columns {are} grouped into about {many} ranges each before counting"
    return [f"{ranges}: {names}{more}"]


def _mosaic_remarks(start: rules.Opening) -> tuple[str, ...]:
    return () if start.accuracy else ("too few records for this epsilon to measure how far the release is off",)


def _banded(target: Column | None, start: rules.Opening) -> list[str]:
    """What to expect of a numeric target: shares of R2 as measured by `cantle reproduce analysts-numbers`."""
    if target is None or not start.banded:
        return []
    kept = "half to nine tenths" if start.n0 * start.rate >= ENOUGH else "at best half"
    return [
        f"{target.name} is numeric: it is related to the other columns in up to {start.most_bands} bands; models that "
        f"predict it from the release explain {kept} of what models trained on the data explain"
    ]


ALIKE = 10
"""So many ordered columns of the same number of values look like items of scales."""


def _items(method: Mosaic) -> list[str]:
    """What becomes of the items of groups and of lists, and which columns look like items that are in no group."""
    said = []
    if method.groups:
        said.append(
            f"{len(method.items)} items in {len(method.groups)} groups are counted one by one: answers of a group hang "
            "together as its sum says, and are related to other columns through it"
        )
    if method.lists is not None:
        said.append(
            f"{len(method.listed)} items of lists are counted together for {float(rules.LISTS):.0%} of epsilon, as if "
            f"no record had more than {ITEMS_PER_LIST} of them"
        )
    related = method.domain.attributes[: len(method.columns) - len(method.groups)]
    ordered = [one for one in related if one.scale.ordered and one.cell == 1 and 2 < one.grid <= MOST_VALUES]
    for size in sorted({one.grid for one in ordered}):
        alike = [one.name for one in ordered if one.grid == size]
        if len(alike) >= ALIKE:
            said.append(
                f"{len(alike)} columns have {size} ordered values each ({alike[0]} to {alike[-1]}): if they are items "
                "of scales, say so under `groups:` of the schema; then they are all kept together"
            )
    return said


def plan_rps(method: RPS, epsilon: float, records: int, persons: int) -> Outline:
    """The shares of rps; counts of one column have the noise of its one-way table, or of leaves if there is none."""
    s, rate = method.settings, epsilon / persons
    accuracy = float(method.own_accuracy.expected(round(epsilon * rules.NANO), records, persons))
    rest = 1 - float(s.oneway_share) - float(s.count_share) - accuracy
    leaves = rest * float(s.leaf_share)
    if s.halves:  # cuts are free: leaves get what stop tests leave
        leaves = rest - (rest - leaves) * float(s.stop_share) * s.stop.paid
    tables, leaf_noise = max(1, len(method.sizes)), noise_of(leaves * rate)
    noise = noise_of(float(s.oneway_share) * rate / tables) if s.oneway_share else leaf_noise
    budget = [
        Part("number of records", float(s.count_share), _each(s.count_share, 1, rate)),
        Part(question_in_words("one-way tables"), float(s.oneway_share), noise if s.oneway_share else None),
        Part(question_in_words(WHY), accuracy),
        Part("choosing where to cut, and tests whether to stop", rest - leaves),
        Part(question_in_words("leaf"), leaves, leaf_noise),
    ]
    outline = _by_columns("rps", method.domain.attributes, budget, noise, records)
    return replace(outline, remarks=(*outline.remarks, *_in_spans(method), *_in_bins(method)))


def _in_bins(method: RPS) -> list[str]:
    """Columns of many more values than bins: between wide bounds, most records may lie in one of them."""
    attributes = () if method.settings.halves else method.domain.attributes
    wide = [one.name for one in attributes if one.width >= MANY_VALUES * one.cell and isinstance(one.scale, Steps)]
    if not wide:
        return []
    return [
        f"values are put into {method.settings.bins} ranges of equal width, inside which they are spread evenly: "
        f"{', '.join(wide[:NAMED])}; narrow bounds, a larger `bins` or method mosaic keep more"
    ]


def _in_spans(method: RPS) -> list[str]:
    """Categories that are cut at points of their order although subsets were asked for."""
    pairs = zip(method.domain.attributes, method.sets, strict=False)
    others = [one.name for one, divided in pairs if isinstance(one.scale, Labels) and one.size > 2 and not divided]
    if not others:
        return []
    return [
        f"cuts=subsets is for categories of 3 to {value_sets.MOST} values without order, hierarchy or rules; these are "
        f"cut in the order of their values: {', '.join(others)}"
    ]


def plan_diffgen(method: DiffGen, epsilon: float, records: int, persons: int) -> Outline:
    """The shares of diffgen; how cuts and counts of cells divide the rest is decided during the run."""
    s, rate = method.settings, epsilon / persons
    columns = max(1, len(method.domain.attributes))
    accuracy = float(method.own_accuracy.expected(round(epsilon * rules.NANO), records, persons))
    rest = 1 - float(s.oneway_share) - float(s.count_share) - accuracy
    noise = noise_of(float(s.oneway_share) * rate / columns) if s.oneway_share else noise_of(rest / 2 * rate)
    budget = [
        Part("number of records per class", float(s.count_share), _each(s.count_share, 1, rate)),
        Part(question_in_words("one-way tables"), float(s.oneway_share), noise if s.oneway_share else None),
        Part(question_in_words(WHY), accuracy),
        Part("choosing where to cut, and counts of groups", rest),
    ]
    return _by_columns("diffgen", method.domain.attributes, budget, noise, records)


def _by_columns(
    name: str, attributes: Sequence[Attribute], budget: Sequence[Part], noise: float, records: int
) -> Outline:
    """The outline of rps or diffgen; `noise` is that in one count of one column."""
    sizes = [attribute.size for attribute in attributes]
    errors = [min(MEAN_ERROR * noise, records / size) for size in sizes]
    fine = [text for one in attributes for text in too_fine(one.name, one.bins, records, noise)]
    return Outline(
        method=name,
        budget=tuple(budget),
        value_noise=noise,
        one_way=sum(errors) / max(1, len(errors)),
        cells=sum(sizes) / max(1, len(sizes)),
        too_fine=tuple(fine),
        **table_cost(name, records, len(sizes), 0),
    )


MOST_REHEARSED = 100_000
"""The most records of a rehearsal; a longer one would hardly say more."""


def plan_partitioning(method: PartitioningRun, epsilon: float, records: int, persons: int) -> Outline:
    """A rehearsal on made-up records, because what a partitioning asks depends on answers: the budget of the kind of
    path on which most records are, and the noise in counts of leaves.

    The leaves of the rehearsal divide a column into some number of spans on average; the plan counts in such spans.
    """
    from cantle.framework.rehearsal import rehearse

    tried = min(records, MOST_REHEARSED)
    run, receipt = rehearse(method, round(epsilon * NANO), persons, tried, crowded=0.0)
    leaves = summarise(run.tree, least_squares=True, by_depth=False, label="counts")
    on_path = np.bincount(leaves.path, leaves.count.sum(axis=1) + 1e-3)
    charges = {path["path"]: path["charges"] for path in receipt["paths"]}[int(np.argmax(on_path))]
    spent = Counter[str]()
    for charge in charges:
        spent[charge["why"]] += charge["epsilon_nano"]
    spread = variance(leaves.rate_num / leaves.rate_den) * leaves.count.shape[1]
    noise = float(np.sqrt(np.mean(spread)))
    shares = {why: nano / receipt["epsilon_nano"] for why, nano in spent.items()}
    budget = [Part(question_in_words(why), share, noise if why == "leaf" else None) for why, share in shares.items()]
    spans = [size / float(np.mean(leaves.hi[:, a] - leaves.lo[:, a])) for a, size in enumerate(run.sizes)]
    errors = [
        min(MEAN_ERROR * noise * sqrt(len(leaves.ids) / many), records / size)
        for many, size in zip(spans, run.sizes, strict=True)
    ]
    cells = sum(spans) / len(spans) if spans else 1.0
    said = (
        f"rehearsed on {tried:,} made-up records that are spread evenly: {len(leaves.ids):,} regions, "
        f"{run.tree.levels[-1].depth} cuts deep; what it asks of real records may differ, and so may the errors"
    )
    return Outline(
        method=method.name,
        budget=tuple(budget),
        value_noise=noise * sqrt(len(leaves.ids) / cells),
        one_way=sum(errors) / max(1, len(errors)),
        cells=cells,
        remarks=(said,),
        **table_cost("rps", records, len(run.sizes), 0),
    )


def table_cost(method: str, records: int, columns: int, tables: int) -> dict[str, Any]:
    """Core-seconds and megabytes, from single runs on two cores (`cantle reproduce plan`, `cantle bench`).

    They may be wrong by a factor of about two.
    """
    start, per_value, per_table, least, bytes_per_value = _COSTS[method]
    seconds = start + per_value * records * columns + per_table * tables
    return {"seconds": seconds, "megabytes": least + records * columns * bytes_per_value / 1e6}


_COSTS: Mapping[str, tuple[float, float, float, float, float]] = {
    "mosaic": (0.5, 2e-6, 0.08, 220, 50),
    "rps": (0.2, 1.2e-7, 0.0, 120, 16),
    "diffgen": (0.2, 1.2e-7, 0.0, 120, 16),
}
"""Seconds to start, per value and per chosen table; megabytes to start; bytes per value."""

PLANNERS: Mapping[str, Callable[[Any, float, int, int], Outline]] = {
    "mosaic": plan_mosaic,
    "rps": plan_rps,
    "diffgen": plan_diffgen,
}
