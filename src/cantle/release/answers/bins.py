"""Bins of values that a release was counted in, and what they leave open of a question.

A step of a schema is such a bin, and trees count columns of many values in wider ones. Which values the records of a
bin have was never asked, so neither the noise nor the measured error of a release says how far a count is off that
cuts a bin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from cantle.release.manifest import Manifest
from cantle.release.structures import traits_of
from cantle.schema.code_sets import AnySet, CodeSet, Key, Linear, OneColumn, Question, changed, recoded
from cantle.schema.domain import Attribute, Labels
from cantle.schema.places import Area


@dataclass(frozen=True)
class Bins:
    """The bins of one column: `width` codes each in the order of `place`, null by itself after the last one.

    `place` says where each code stands; None if bins follow the order of the codes. `wide` bins hold several declared
    steps or categories.
    """

    width: int
    grid: int
    place: tuple[int, ...] | None = None
    wide: bool = True

    def whole(self, codes: AnySet) -> CodeSet:
        """The codes of all bins that lie inside a set of codes."""
        if isinstance(codes, Area):
            first = np.arange(0, self.grid, self.width)
            inside = codes.share(first, np.minimum(first + self.width, self.grid)) == 1
            some = CodeSet.of(np.flatnonzero(inside).tolist(), len(inside))
            bins = CodeSet(tuple(min(edge * self.width, self.grid) for edge in some.edges), codes.size)
            return bins.union(CodeSet.span(self.grid, codes.size, codes.size)) if codes.outside else bins
        if self.place is None:
            spans = [CodeSet.span(self._up(first), self._down(end), codes.size) for first, end in codes.spans()]
            return CodeSet(tuple(edge for span in spans for edge in span.edges), codes.size)
        of_code = np.append(np.array(self.place) // self.width, np.arange(codes.size - self.grid) - 1)
        inside = codes.holds(np.arange(codes.size))
        return CodeSet.of(np.flatnonzero(~np.isin(of_code, of_code[~inside])).tolist(), codes.size)

    def touched(self, codes: AnySet) -> CodeSet:
        """The codes of all bins that a set of codes has a part of."""
        return self.whole(codes.complement()).complement()

    def _down(self, edge: int) -> int:
        return edge if edge >= self.grid else edge // self.width * self.width

    def _up(self, edge: int) -> int:
        return edge if edge >= self.grid else min(self.grid, -(-edge // self.width) * self.width)


def bins_of(manifest: Manifest) -> dict[Key, Bins]:
    """The bins of the columns of a release that were not counted value by value but in bins."""
    from cantle.release.load import table_schema_of  # which imports the package

    counted = traits_of(manifest).counted
    if counted is None:
        return {}
    domain = table_schema_of(manifest).domain()
    declared = {attribute.name: attribute for attribute in domain.with_target_as_column().attributes}
    return {
        one.name: Bins(one.width, one.grid, _places(declared[one.name], one), one.width > declared[one.name].width)
        for one in counted(domain).attributes
        if one.width > 1
    }


def _places(declared: Attribute, counted: Attribute) -> tuple[int, ...] | None:
    """Where the declared categories stand among those that were counted, whose order may have been drawn."""
    if not isinstance(declared.scale, Labels) or not isinstance(counted.scale, Labels):
        return None
    place = {label: number for number, label in enumerate(counted.scale.labels)}
    return tuple(place[label] for label in declared.scale.labels)


class Counted(Protocol):
    """The sets of codes of one column that were counted, such as bins."""

    def whole(self, codes: AnySet) -> AnySet:
        """The counted codes inside a set of codes."""

    def touched(self, codes: AnySet) -> AnySet:
        """The counted codes around a set of codes."""


def inside_and_around(question: Question, bins: Mapping[Key, Counted]) -> tuple[Question, Question]:
    """Two questions that cut no bin: one that holds only where this one does, and one that holds wherever it does."""
    inside = recoded(question, lambda key, codes: bins[key].whole(codes) if key in bins else codes)
    return inside, recoded(question, lambda key, codes: bins[key].touched(codes) if key in bins else codes)


def sums_inside_and_around(question: Question, cells: Mapping[Key, tuple[int, ...]]) -> tuple[Question, Question]:
    """The same for sums of columns, whose values were counted in cells between these edges."""

    def on_cells(part: OneColumn | Linear, touched: bool) -> Question:
        if not isinstance(part, Linear):
            return part
        terms = tuple(replace(term, around=cells.get(term.key, ())) for term in part.terms)
        return replace(part, terms=terms, touched=touched)

    inside = changed(question, lambda part: on_cells(part, False))
    return inside, changed(question, lambda part: on_cells(part, True))
