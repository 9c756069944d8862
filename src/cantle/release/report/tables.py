"""The report of a release of a table: a card per column, and how strongly pairs of columns are connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from cantle.drawing.records import records_meant
from cantle.release import Release
from cantle.release.answers.table_answers import TableAsker
from cantle.release.report.charts import Bar, share_text
from cantle.release.report.content import BASIS, CONFIDENCE, Figure, Section, bar_of, card, weakest
from cantle.release.report.groupings import Grouping, Ints, group
from cantle.release.report.pairs import associations, heat_map, thinned
from cantle.release.report.regions import place_section
from cantle.release.schemas import schema_as
from cantle.release.storage import as_polars
from cantle.release.structures import traits_of
from cantle.release.tables import pairs_of, weaker
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.domain import Attribute, Labels
from cantle.schema.fields import Field
from cantle.schema.made_columns import Unfolded
from cantle.schema.relations import Relations
from cantle.schema.table import TableSchema
from cantle.schema.values import Codes

SHOWN = 16
"""Most groups of a column, besides null."""


@dataclass(frozen=True, eq=False)
class TableView:
    """Attributes and codes of all released columns, in the order of the schema; each code is a place."""

    attributes: Sequence[Attribute]
    codes: Sequence[Codes]
    fields: Mapping[str, Field] = field(default_factory=dict)
    relations: Relations = Relations(())
    """What rules make of declared columns."""

    @staticmethod
    def of(release: Release) -> TableView | None:
        """The view of a release; None if its values are sets of values which have no codes."""
        if traits_of(release.manifest).of_ranges:
            return None
        schema = schema_as(release.manifest, TableSchema)
        domain = schema.domain().with_target_as_column().on_places
        codes, _ = domain.encode_columns(as_polars(release.records, release.manifest))
        return TableView(domain.attributes, codes, {one.name: one for one in schema.fields}, schema.relations)

    @property
    def notes(self) -> Sequence[str]:
        """What rules make of declared columns, in sentences."""
        return self.relations.sentences()

    @property
    def lists(self) -> Mapping[str, Unfolded]:
        """For each column that is counted for lists, these lists."""
        return self.relations.lists_by_item

    @property
    def records(self) -> int:
        return len(self.codes[0]) if self.codes else 0

    @cached_property
    def shown(self) -> list[Grouping]:
        return self.groups(SHOWN)

    def groups(self, most: int) -> list[Grouping]:
        """Each column in at most `most` groups and null."""
        made = [group(one, codes, most) for one, codes in zip(self.attributes, self.codes, strict=True)]
        return [self._with_captions(grouping) for grouping in made]

    def _with_captions(self, grouping: Grouping) -> Grouping:
        """Groups of single categories by the labels that the schema gives them."""
        captions = self.fields[grouping.name].captions() if grouping.name in self.fields else {}
        return replace(grouping, labels=tuple(captions.get(label, label) for label in grouping.labels))

    def is_nominal(self, column: str) -> bool:
        """Whether a column holds codes with labels and without an order, so that a mean of them says nothing."""
        one = self.fields.get(column)
        return one is not None and bool(one.value_labels) and not one.ordered

    def title(self, column: str) -> str:
        """What a column is called in full, if the schema says so; of a difference its unit."""
        return self.fields[column].title if column in self.fields else self.relations.units.get(column, "")

    def grouped(self, groupings: Sequence[Grouping]) -> list[Ints]:
        """The group of each record, by column."""
        return [grouping.of(codes) for grouping, codes in zip(groupings, self.codes, strict=True)]


MOST_CARDS = 120


def column_section(view: TableView, asker: TableAsker, target: str | None) -> Section:
    """The columns of a table, in the order of the schema."""
    figures, bases = [], set()
    for attribute, grouping in list(zip(view.attributes, view.shown, strict=True))[:MOST_CARDS]:
        lists = view.lists.get(attribute.name)
        if lists is not None:  # one card for all items
            if attribute.name == lists.columns[0]:
                figures.append(list_card(lists, view, asker))
            continue
        bars = bars_of(attribute, grouping, asker)
        bases.add(weakest(bar.covers for bar in bars))
        drawn, facts = in_order(bars, grouping), _facts(attribute, bars, view, asker)
        made = card(attribute.name, bars, view.records, "records", numeric=grouping.numeric, drawn=drawn, first="value")
        figures.append(replace(made, facts=facts, badge="target" if attribute.name == target else ""))
    more = max(0, len(view.attributes) - MOST_CARDS)
    words = [f"Error bars {basis}" for kind, basis in BASIS.items() if kind in bases]
    words += view.notes
    if more:
        words.append(f"The first {MOST_CARDS} columns are shown; {more} more are in the data.")
    return Section("columns", "Columns", words, figures, cards=True)


def list_card(lists: Unfolded, view: TableView, asker: TableAsker) -> Figure:
    """The card of a column of lists: for each item how many records have it."""
    found = [asker.count(OneColumn(name, CodeSet.of([1], 2)), CONFIDENCE) for name in lists.columns]
    bars = [
        bar_of(label, one, muted=name == lists.missing)
        for name, label, one in zip(lists.columns, lists.labels, found, strict=True)
    ]
    items, title = len(lists.items), view.title(lists.name)
    drawn = [*sorted(bars[:items], key=lambda bar: -bar.value)[:MOST_CARDS], *bars[items:]]
    made = card(lists.name, bars, view.records, "records", numeric=False, drawn=drawn, first="item")
    return replace(made, facts=[*([("title", title)] if title else []), ("declared", f"lists of {items} items")])


def bars_of(attribute: Attribute, grouping: Grouping, asker: TableAsker) -> list[Bar]:
    """One bar per group, null last."""
    bars = []
    for place, label in enumerate(grouping.labels):
        edges = tuple(grouping.codes_of(place, attribute.size).tolist())
        estimate = asker.count(OneColumn(attribute.name, CodeSet(edges, attribute.size)), CONFIDENCE)
        missing = grouping.nullable and place == grouping.size - 1
        tick = grouping.ticks[place] if grouping.ticks else ""
        bars.append(bar_of(label, estimate, tick, muted=missing))
    return bars


def in_order(bars: list[Bar], grouping: Grouping) -> list[Bar]:
    """Sorts unordered categories from the largest to the smallest; "others" and missing values stay last."""
    if grouping.numeric or grouping.table is None:
        return bars
    fixed = 1 + grouping.nullable
    return [*sorted(bars[:-fixed], key=lambda bar: -bar.value), *bars[-fixed:]]


def _facts(attribute: Attribute, bars: list[Bar], view: TableView, asker: TableAsker) -> list[tuple[str, str]]:
    title = view.title(attribute.name)
    facts = [*([("title", title)] if title else []), ("declared", declared(attribute))]
    if attribute.scale.type in ("integer", "number") and not view.is_nominal(attribute.name):
        mean = asker.mean(attribute.name, asker.parse(""), CONFIDENCE)
        if mean.value == mean.value:
            facts.append(("mean", f"{plain(mean.value)} ({plain(mean.low)} to {plain(mean.high)})"))
    if attribute.nullable and view.records:
        null = bars[-1]
        ends = f"{share_text(null.low / view.records)} to {share_text(min(1.0, null.high / view.records))}"
        facts.append(("missing", f"{share_text(null.value / view.records)} ({ends})"))
    return facts


def declared(attribute: Attribute) -> str:
    scale = attribute.scale
    if isinstance(scale, Labels):
        return "yes or no" if scale.type == "boolean" else f"{scale.grid:,} categories"
    return f"{scale.type}, {scale.text(0)} to {scale.text(scale.grid - 1)}"


def plain(value: float) -> str:
    """A number to four digits, without powers of ten.

    >>> plain(188204.3), plain(38.3791), plain(0.01234)
    ('188,204', '38.38', '0.01234')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


MOST = 40
_LISTED = 25


def pair_section(release: Release, view: TableView) -> Section:
    """A heat map of the connections between all pairs of columns; pairs not measured together are marked."""
    groupings, columns = view.shown[:MOST], view.grouped(view.shown)[:MOST]
    names = [grouping.name for grouping in groupings]
    strength = associations(thinned(columns), [grouping.size for grouping in groupings])
    firm = pairs_of(release.manifest)[1]

    def together(a: int, b: int) -> bool:
        return frozenset((names[a], names[b])) in firm

    def words(a: int, b: int) -> str:
        how = "measured together" if together(a, b) else "not measured together"
        return f"{names[a]} and {names[b]}: {strength[a, b]:.2f}, {how}"

    pairs = sorted(combinations(range(len(names)), 2), key=lambda pair: -strength[pair])
    rows = [
        (f"{names[a]} and {names[b]}", f"{strength[a, b]:.2f}", "yes" if together(a, b) else "no")
        for a, b in pairs[:_LISTED]
    ]
    share = sum(together(a, b) for a, b in pairs)
    label = f"Heat map of {len(names)} columns. The strongest pairs are in the table below."
    figure = Figure(
        "Strength of connection",
        heat_map(names, strength, label, words=words, firm=together),
        note="Cramér's V of the released records, columns in at most 16 groups: 0 unrelated, 1 fully determined.",
        header=("pair", "strength", "measured together"),
        rows=rows,
    )
    some = f"Of the first {MOST} columns, " if len(view.shown) > MOST else ""
    text = f"{some}{share or ('none' if some else 'None')} of {len(pairs)} pairs of columns were measured together."
    if share < len(pairs):
        text += " The others are connected only through other columns."
    text += f" {weaker(release.manifest.accuracy, records_meant(release.manifest.summary))}"
    legend = [("heat", "strong"), ("under", "weak")]
    if share < len(pairs):
        legend.append(("loose", "not measured together"))
    return Section("pairs", "Pairs of columns", (text,), (figure,), legend=legend)


def sections(release: Release) -> list[Section]:
    view = TableView.of(release)
    if view is None or not view.records:
        return []
    asker, target = TableAsker(release), schema_as(release.manifest, TableSchema).target
    shown = [column_section(view, asker, target)]
    if len(view.attributes) > 1:
        shown.append(pair_section(release, view))
    maps = place_section(release)
    return [*shown, *([] if maps is None else [maps])]
