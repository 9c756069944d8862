"""What a schema does to the values of a table, column by column, found by the encoders that `publish` uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.data.tables import as_ids, read_batches
from cantle.internal.findings import Checked, Examples, Finding, Section
from cantle.internal.hints import MOST_TEXTS, Hint, hint, lines
from cantle.schema.domain import DROP, MISSING, Attribute, Labels, Lists, Plane, Steps
from cantle.schema.relations import Relations
from cantle.schema.table import TableSchema
from cantle.schema.values import MIXED, Mask, text_of


def check_table(data: object, schema: TableSchema) -> Checked:
    """What `publish` would do with each record of a table."""
    domain = schema.as_declared().with_target_as_column()
    relations = schema.relations
    checked = [pair for attribute in domain.attributes for pair in _checked(attribute)]
    tallies = [tally for tally, _ in checked]
    read, kept, persons = 0, [np.zeros(0, dtype=bool)], []
    broken = dict.fromkeys(() if domain.rules is None else domain.rules.texts, 0)
    for batch in read_batches(data, schema):
        frame = batch.frame
        read += frame.height
        keep = np.ones(frame.height, dtype=bool)
        for tally, given in checked:
            fits = tally.add(given(frame))
            keep &= fits | (tally.attribute.name in relations.unread)
        kept.append(keep)
        if domain.rules is not None:
            for text, number in domain.rules.numbers(domain.coder(frame)):
                broken[text] += number
        if schema.person is not None:
            persons.append(as_ids(frame[schema.person], schema.missing_values))
    fits = np.concatenate(kept)
    whole, used, facts = _persons(schema, persons, fits)
    dropped = Finding("records dropped, because a required value is missing or not declared", int((~fits).sum()), read)
    against = [
        Finding(f"records that break the rule {text!r}", number, read, becomes=_of_breaking(text, relations))
        for text, number in broken.items()
    ]
    against += [
        Finding(f"values of {name}, which is computed from {other} and not read", read, read, problem=False)
        for name, other in relations.unread.items()
    ]
    sections = [Section("records", (dropped, *whole, *against)), *(tally.section(read) for tally in tallies)]
    better = tuple(lines(schema, {tally.attribute.name: tally.hint() for tally in tallies}))
    return Checked("table", "records", read, used, tuple(sections), facts, better)


def _checked(attribute: Attribute) -> list[tuple[_Tally, Callable[[pl.DataFrame], pl.Series]]]:
    """A tally of a column, and what it takes from a frame; of a place, one for each coordinate."""
    scale = attribute.scale
    if not isinstance(scale, Plane):
        return [(_Tally(attribute), attribute.given)]
    pairs: list[tuple[_Tally, Callable[[pl.DataFrame], pl.Series]]] = []
    for at, (name, axis) in enumerate((("lat", scale.lat), ("lon", scale.lon))):
        own = Attribute(f"{attribute.name}.{name}", replace(axis.places, nearest=False), attribute.nullable)
        pairs.append((_Tally(own), lambda frame, at=at: scale.split(attribute.given(frame))[at]))  # type: ignore[misc]
    return pairs


def _of_breaking(text: str, relations: Relations) -> str:
    """What becomes of records that break a rule. Sums are compared on the columns' grid, which rounding may break."""
    computed = next((one for one in relations.computed if one.rule == text), None)
    if computed is not None:
        grid = computed.column.steps
        finer = "; `multipleOf` declares finer values" if grid.type == "number" else ""
        return f"{computed.name} is computed instead, in multiples of {grid.step / grid.scale:g}{finer}"
    looked_up = next((one for one in relations.looked_up if one.rule == text), None)
    if looked_up is not None:
        return f"{looked_up.name} is computed instead"
    if any(text in one.rules for one in relations.differences):
        return "the difference is moved to the nearest that obeys"
    return "counted, but none is released"


def _persons(
    schema: TableSchema, ids: list[pl.Series], fits: Mask
) -> tuple[list[Finding], int, dict[str, int | float]]:
    """What the bound on records per person leaves out, the number of records used, and facts about the persons."""
    if schema.person is None:
        return [], int(fits.sum()), {}
    number, most = pl.concat(ids), schema.max_records
    nobody = int((number.is_null().to_numpy() & fits).sum())
    held = number.filter(pl.Series(fits)).drop_nulls().value_counts()["count"].to_numpy().astype(np.int64)
    over = int(np.maximum(held - most, 0).sum())
    findings = [
        Finding("records dropped, because they have no person", nobody, len(fits)),
        Finding(f"records not used, because at most {most} per person are used", over, len(fits)),
        Finding(f"persons with more records than {most}", int((held > most).sum()), len(held), problem=False),
    ]
    facts: dict[str, int | float] = {"persons": len(held), "most records of a person": int(held.max(initial=0))}
    facts["records per person, on average"] = float(held.mean()) if len(held) else 0.0
    return findings, int(np.minimum(held, most).sum()), facts


@dataclass(repr=False)
class _Tally:
    """What happened to the values of one column so far."""

    attribute: Attribute
    absent: int = 0
    below: int = 0
    above: int = 0
    known: int = 0
    multiples: dict[int, int] = field(default_factory=dict)
    """How many of the known values are multiples of each of these numbers of places."""
    undeclared: Examples = field(default_factory=Examples)
    unreadable: Examples = field(default_factory=Examples)

    def add(self, series: pl.Series) -> Mask:
        """Counts some values; returns which records are not dropped because of them."""
        if series.dtype == MIXED:
            parts = series.struct.unnest().get_columns()
            self.absent += int(np.logical_and.reduce([part.is_null().to_numpy() for part in parts]).sum())
            for part in parts:
                self._count(part.drop_nulls())
        else:
            self._count(series)
        return self.attribute.encode(series) >= 0

    def _count(self, series: pl.Series) -> None:
        scale = self.attribute.scale
        if isinstance(scale, Lists):
            items, _, missing = scale.spread(series)
            items = items.drop_nulls()
            self.known += len(items)
            self.absent += int(missing.sum())
            self.undeclared.add(text_of(items.filter(pl.Series(scale.items.encode(items) < 0))))
            self.above += int((_sizes(series, scale) > scale.most).sum())
            return
        if isinstance(scale, Labels):
            # an encoder that drops undeclared values shows which values these are
            places = replace(scale, unknown=DROP).locate(series)
            self.absent += int((places == MISSING).sum())
            self.undeclared.add(text_of(series.filter(pl.Series(places == DROP))))
            return
        missing = scale.locate(series) == MISSING
        given = missing & _has_text(series, scale)
        self.absent += int((missing & ~given).sum())
        self.unreadable.add(text_of(series.filter(pl.Series(given))))
        self._count_multiples(series, scale)
        below, above = _outside(series, scale)
        self.below += int(below.sum())
        self.above += int(above.sum())

    def _count_multiples(self, series: pl.Series, scale: Steps) -> None:
        values, missing = scale.read(series)
        values = values[~missing]
        self.known += len(values)
        for places in _tried(scale):
            self.multiples[places] = self.multiples.get(places, 0) + int(_are_multiples(values, scale, places).sum())

    def _of_multiples(self, scale: Steps) -> list[Finding]:
        """What the data say about `multipleOf`: a step whose values are all multiples, or multiples that are none."""
        if scale.nearest and self.multiples:
            off = self.known - self.multiples.get(1, 0)
            text = scale.distance(1)
            advice = f"to count them in steps, write in the schema: step: {text}, and no multipleOf"
            return [Finding(f"between multiples of {text}", off, self.known, becomes="the nearest", advice=advice)]
        whole = next((places for places in _tried(scale) if self.known and self.multiples[places] == self.known), None)
        if whole is None:
            return []
        text = scale.distance(whole)
        beside = "no step" if whole == scale.cell else f"step: {scale.distance(scale.cell)} as before"
        line = f"constraints: {{…, multipleOf: {text}}}, and {beside}"
        advice = f"to release multiples only, write in the schema: {line}"
        what = f"all of them multiples of {text}, released as any value of their step"
        return [Finding(what, self.known, self.known, problem=False, advice=advice)]

    def _of_lists(self, scale: Lists, read: int) -> Section:
        count, distinct, shown = self.undeclared.found()
        missing = "empty list" if scale.required else "null"
        becomes = self._unknown("left out of its list")
        findings = (
            Finding("missing", self.absent, read, problem=False, becomes=missing),
            Finding("items not declared", count, self.known, becomes=becomes, distinct=distinct, examples=shown),
            Finding(f"lists of more than {scale.most} items", self.above, read, becomes="the first of those declared"),
        )
        return Section(self.attribute.name, findings, f"lists of {scale.items.size} items")

    def section(self, read: int) -> Section:
        attribute, scale = self.attribute, self.attribute.scale
        if isinstance(scale, Lists):
            return self._of_lists(scale, read)
        missing = "null" if attribute.nullable else "record dropped"
        findings = [Finding("missing", self.absent, read, problem=False, becomes=missing)]
        for what, examples, becomes in (
            ("not a declared category", self.undeclared, self._unknown(missing)),
            (f"not readable as {_ARTICLES.get(scale.type, 'a')} {scale.type}", self.unreadable, missing),
        ):
            count, distinct, shown = examples.found()
            findings.append(Finding(what, count, read, becomes=becomes, distinct=distinct, examples=shown))
        if isinstance(scale, Steps):
            first, last = scale.text(0), scale.text(scale.grid - 1)
            findings += [
                Finding("below the minimum", self.below, read, becomes=first),
                Finding("above the maximum", self.above, read, becomes=last),
                *self._of_multiples(scale),
            ]
        return Section(attribute.name, tuple(findings), _declared(attribute))

    def hint(self) -> Hint:
        """What would make more of the values readable."""
        if isinstance(self.attribute.scale, Lists):
            return Hint()
        examples = self.undeclared if isinstance(self.attribute.scale, Labels) else self.unreadable
        return hint(self.attribute.scale, examples.most_frequent(MOST_TEXTS))

    def _unknown(self, missing: str) -> str:
        """A sentence about what becomes of undeclared categories."""
        scale = self.attribute.scale
        if isinstance(scale, Labels | Lists) and isinstance(scale.unknown, tuple):
            return str(scale.unknown[1])
        return "record dropped" if isinstance(scale, Labels | Lists) and scale.unknown == DROP else missing


_PARTS = (1, 2, 5, 10, 20, 50, 100)
_ARTICLES = {"integer": "an"}


def _sizes(series: pl.Series, scale: Lists) -> NDArray[np.int64]:
    """The number of different declared items in each list."""
    codes = replace(scale, most=scale.items.size, unknown=MISSING, required=True).locate(series)
    return sum((codes >> item & 1 for item in range(scale.items.size)), np.zeros(len(series), dtype=np.int64))


def _tried(scale: Steps) -> list[int]:
    """Numbers of places that values may be multiples of: the declared one, or parts of a step, the largest first."""
    decimals = scale.type == "number"
    if scale.nearest or scale.cell == 1:
        return [1] if scale.nearest and (decimals or scale.step > 1) else []
    parts = [scale.cell // part for part in _PARTS if scale.cell % part == 0]
    return [places for places in parts if places > 1 or decimals or scale.type == "datetime"]


def _are_multiples(values: NDArray[Any], scale: Steps, places: int) -> Mask:
    """Which values are multiples; dates and times count from the minimum."""
    distance = scale.step * places
    if scale.type == "number":
        return np.asarray(np.rint(values * (scale.scale / distance)) * distance / scale.scale == values)
    start = 0 if scale.type == "integer" else scale.first
    return np.asarray((values - start) % distance == 0)


def _declared(attribute: Attribute) -> str:
    scale = attribute.scale
    if isinstance(scale, Labels):
        return f"{scale.type}, {scale.grid:,} categories"
    return f"{scale.type}, {scale.text(0)} to {scale.text(scale.grid - 1)}"


def _has_text(series: pl.Series, scale: Steps) -> Mask:
    """Which values hold a text that is neither blank nor a mark of missing values."""
    if series.dtype.is_numeric() and scale.type in ("integer", "number"):
        return np.zeros(len(series), dtype=bool)  # the encoder reads every number that is not a mark of missing values
    text = text_of(series)
    blank = text.is_null() | text.is_in(list(scale.marks)) | text.str.strip_chars().is_in(["", *scale.marks])
    return ~blank.fill_null(True).to_numpy()


def _outside(series: pl.Series, scale: Steps) -> tuple[Mask, Mask]:
    """Which values are below the first, or a whole step above the last value of the grid."""
    values, missing = scale.read(series)
    end = scale.first + scale.grid * scale.step
    if scale.type == "number":
        return values < scale.first / scale.scale, values >= end / scale.scale
    return ~missing & (values < scale.first), ~missing & (values > end - 1)
