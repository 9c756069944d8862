"""Rules: public knowledge about values that cannot occur together, such as `age < 15 -> income is null`.

A rule is a condition that every record satisfies, written as a question (cantle.schema.questions), or two conditions
with an arrow: if the left one holds, the right one holds too. Rules are public, like all of a schema. They say which
points of the domain are impossible, so that no record is released there. Input records are counted as they are,
whatever the rules say.

Forbidden points are found for boxes of codes. Each condition on a column has a verdict: it holds nowhere, somewhere or
everywhere in the box. `and` takes the smallest of the verdicts, `or` the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cantle.errors import ParameterError, SchemaError, raise_alone
from cantle.schema.code_sets import (
    EVERYTHING,
    EVERYWHERE,
    NOWHERE,
    SOMEWHERE,
    AnySet,
    CodeSet,
    Joined,
    Key,
    Linear,
    OneColumn,
    Question,
    Term,
    Verdicts,
    areas_in,
    changed,
    columns_of,
    edges_of,
    holds,
    join,
    recoded,
    sums_in,
)
from cantle.schema.documents import fail
from cantle.schema.places import Area
from cantle.schema.questions import parse_rule
from cantle.trusted.core.arrays import Bools, Codes, Ints

if TYPE_CHECKING:
    from cantle.schema.domain import Attribute
    from cantle.schema.question_columns import Vocabulary

Box = Mapping[Key, tuple[int, int]]
"""Spans of codes for some columns; the other columns have all codes."""

_MOST_BOXES = 5_000


@dataclass(frozen=True)
class Rules:
    """Rules over the codes of the columns' full grids (null last): the text of each rule, and the question when it is
    broken."""

    texts: tuple[str, ...]
    broken: tuple[Question, ...]
    sizes: tuple[tuple[Key, int], ...]

    @cached_property
    def columns(self) -> list[Key]:
        """The columns that rules name."""
        return list(dict.fromkeys(key for one in self.broken for key in columns_of(one)))

    def breaking(self, codes: Callable[[Key], Codes]) -> Bools:
        """For each record whether it breaks a rule."""
        broken = holds(self.broken[0], codes)
        for one in self.broken[1:]:
            broken = broken | holds(one, codes)
        return broken

    def numbers(self, codes: Callable[[Key], Codes]) -> list[tuple[str, int]]:
        """Each rule with the number of records that break it."""
        return [(text, int(holds(one, codes).sum())) for text, one in zip(self.texts, self.broken, strict=True)]

    def forbidden_spans(self, spans: Mapping[Key, tuple[Ints, Ints]]) -> Verdicts:
        """Whether a rule is broken nowhere, somewhere or everywhere, for many boxes, given by the first code of each
        column and the code after the last."""
        verdicts = [_verdict(one, lambda key: spans.get(key) or self._whole(key)) for one in self.broken]
        return np.maximum.reduce(np.broadcast_arrays(*verdicts))

    def _whole(self, key: Key) -> tuple[Ints, Ints]:
        return np.zeros(1, dtype=np.int64), np.array([self._size[key]])

    @cached_property
    def _size(self) -> dict[Key, int]:
        return dict(self.sizes)

    def allowed_box(self, box: Box) -> Box | None:
        """A box inside `box` in which no rule is broken; None if every point of it breaks one.

        A box that is neither allowed nor forbidden is halved at a code where a condition changes. If many halvings find
        nothing, the box counts as forbidden, so that no record that breaks a rule is ever released.
        """
        waiting = [{key: box.get(key, (0, size)) for key, size in self.sizes}]
        for _ in range(_MOST_BOXES):
            if not waiting:
                return None
            now = waiting.pop()
            verdict = self.forbidden_spans({key: (np.array(lo), np.array(hi)) for key, (lo, hi) in now.items()})
            if verdict == NOWHERE:
                return now
            if verdict == SOMEWHERE:
                waiting += self._halved(now)
        return None

    def _halved(self, box: dict[Key, tuple[int, int]]) -> list[dict[Key, tuple[int, int]]]:
        """The box in two parts, cut in the column with the most places at which a condition changes; if only sums of
        columns and areas are left, in the middle of the longest column of these."""
        places = {key: [edge for edge in self._edges[key] if lo < edge < hi] for key, (lo, hi) in box.items()}
        key = max(places, key=lambda one: len(places[one]))
        if not places[key]:
            key = max(self._summed, key=lambda one: box[one][1] - box[one][0])
            places[key] = [sum(box[key]) // 2]
        (lo, hi), cut = box[key], places[key][len(places[key]) // 2]
        return [{**box, key: (lo, cut)}, {**box, key: (cut, hi)}]

    @cached_property
    def _edges(self) -> dict[Key, list[int]]:
        return {key: sorted(set().union(*(edges_of(one, key) for one in self.broken))) for key, _ in self.sizes}

    @cached_property
    def sums(self) -> list[Linear]:
        """The conditions on sums of columns."""
        return list(dict.fromkeys(each for one in self.broken for each in sums_in(one)))

    @cached_property
    def _summed(self) -> list[Key]:
        """The columns in sums, and places in areas."""
        sums = [key for one in self.sums for key in columns_of(one)]
        return list(dict.fromkeys([*sums, *self.places]))

    @cached_property
    def places(self) -> list[Key]:
        """The places that rules name with an area."""
        return list(dict.fromkeys(key for one in self.broken for key, _ in areas_in(one)))

    def among(self, keys: Collection[Key]) -> Rules | None:
        """The rules that name these columns only; None if there is none."""
        both = [one for one in zip(self.texts, self.broken, strict=True) if {*columns_of(one[1])} <= {*keys}]
        if not both:
            return None
        texts, broken = zip(*both, strict=True)
        return Rules(texts, broken, tuple(one for one in self.sizes if one[0] in keys))

    def on_cells(self, edges: Mapping[Key, Ints]) -> Rules:
        """The rules over cells, given the edges of each column's cells; a cell breaks a rule if all its points do.

        A condition holds for a cell if it holds for all codes in the cell. A cell in which every point breaks a rule,
        but not the same one, may be missed.
        """

        def inside(key: Key, codes: AnySet) -> CodeSet:
            lo, hi = edges[key][:-1], edges[key][1:]
            return CodeSet.of(np.flatnonzero(codes.share(lo, hi) == 1).tolist(), len(lo))

        def of_cells(term: Term) -> Term:
            return replace(term, edges=np.asarray(edges[term.key]), size=len(edges[term.key]) - 1)

        both = zip(self.texts, self.broken, strict=True)
        texts, broken = zip(*(pair for pair in both if not any(one.touched for one in sums_in(pair[1]))), strict=True)
        sizes = tuple((key, len(edges[key]) - 1) for key, _ in self.sizes)
        return Rules(texts, tuple(recoded(one, inside, of_cells) for one in broken), sizes)

    def on_codes(self, columns: Mapping[Key, Attribute]) -> Rules:
        """The rules about codes of whole steps instead of places, for columns in which no condition on one column cuts
        a step.

        Sums do cut steps. So a code may break a rule in a part of its places: those are avoided when places are drawn.
        That is possible if only one rule is broken in a part; codes that break several rules in parts are not drawn.
        """

        def whole(key: Key, codes: AnySet) -> AnySet:
            mine = columns.get(key)
            if mine is None or isinstance(codes, Area):
                return codes
            edges = (mine.bins + edge - mine.grid if edge >= mine.grid else edge // mine.width for edge in codes.edges)
            return CodeSet(tuple(edges), mine.size)

        def of_steps(term: Term) -> Term:
            mine = columns.get(term.key)
            return term if mine is None else replace(term, width=mine.width, size=mine.size)

        sizes = tuple((key, columns[key].size if key in columns else size) for key, size in self.sizes)
        broken = tuple(recoded(one, whole, of_steps) for one in self.broken)
        wide = [one for one in broken if any(term.width > 1 for each in sums_in(one) for term in each.terms)]
        touched = [
            changed(one, lambda part: replace(part, touched=True) if isinstance(part, Linear) else part) for one in wide
        ]
        both = tuple(join(True, pair) for pair in combinations(touched, 2))
        return Rules(self.texts + ("two rules at once",) * len(both), broken + both, sizes)

    def cuts(self, key: Key) -> list[int]:
        """The codes of a column at which a condition changes, with 0 and the number of codes."""
        return [0, *self._edges[key], dict(self.sizes)[key]]

    def reordered(self, key: Key, order: Sequence[int]) -> Rules:
        """The rules for a column whose code i now stands for what was code order[i]; null stays last."""

        def moved(one: Key, codes: AnySet) -> AnySet:
            if one != key:
                return codes
            was = codes.holds(np.array([*order, *range(len(order), codes.size)]))
            return CodeSet.of(np.flatnonzero(was).tolist(), codes.size)

        return replace(self, broken=tuple(recoded(one, moved) for one in self.broken))


def _verdict(question: Question, spans: Callable[[Key], tuple[Ints, Ints]]) -> Verdicts:
    """The verdict on a question for boxes. `and` takes the smallest verdict, `or` the largest."""
    if isinstance(question, Linear):
        return question.verdict(spans)
    if isinstance(question, OneColumn):
        lo, hi = spans(question.key)
        inside = question.codes.share(lo, hi)
        return (SOMEWHERE + (inside == 1).astype(np.int8) - (inside == 0).astype(np.int8)).astype(np.int8)
    verdicts: Verdicts = np.array(EVERYWHERE if question.every else NOWHERE, dtype=np.int8)
    for part in question.parts:
        verdicts = (np.minimum if question.every else np.maximum)(verdicts, _verdict(part, spans))
    return verdicts


# ---------------------------------------------------------------------------------------------------------- declared


@dataclass(frozen=True)
class Declared:
    """A rule as it is written: when a record breaks it, and what it claims if it has no arrow."""

    text: str
    broken: Question
    claims: tuple[Question, ...] = ()
    follows: tuple[str, str] | None = None
    """Two columns of which the second follows from the first."""


def declared(text: str, vocabulary: Vocabulary) -> Declared:
    """The rule in a text, in codes of the declared columns."""
    try:
        parsed = parse_rule(text, vocabulary)
    except ParameterError as error:
        raise_alone(SchemaError(f"rule {text!r}: {error}"))
    if isinstance(parsed, tuple):
        return Declared(text, EVERYTHING, follows=parsed)
    claim, *rest = parsed
    if rest:
        return Declared(text, join(True, [claim, _denied(rest[0])]))
    claims = claim.parts if isinstance(claim, Joined) and claim.every else (claim,)
    return Declared(text, _denied(claim), claims)


def _denied(claim: Question) -> Question:
    """When a record breaks a claim. A comparison of columns is not broken where one of them is null."""
    if isinstance(claim, Linear):
        return join(False, claim.opposite())
    if isinstance(claim, OneColumn):
        return OneColumn(claim.key, claim.codes.complement())
    return join(not claim.every, [_denied(part) for part in claim.parts])


def compiled(broken: Sequence[tuple[str, Question]], sizes: Mapping[Key, int]) -> Rules | None:
    """Rules from when they are broken."""
    if not broken:
        return None
    keys = dict.fromkeys(key for _, one in broken for key in columns_of(one))
    texts, questions = zip(*broken, strict=True)
    return Rules(texts, questions, tuple((key, sizes[key]) for key in keys))


def uncontradicted(rules: Rules | None) -> Rules | None:
    """The rules; raises a SchemaError if they contradict each other."""
    if rules is not None and rules.allowed_box({}) is None:
        rule = "they contradict each other, so that every record would break one (or are too many to be sure)"
        for text, broken in zip(rules.texts, rules.broken, strict=True):
            if Rules((text,), (broken,), rules.sizes).allowed_box({}) is None:
                rule = f"no record fulfils {text!r} beside its bounds and the other rules"
        fail("rules", rule, "correct or remove one", "rules")
    return rules


def check_steps(text: str, broken: Question, vocabulary: Vocabulary) -> None:
    """Refuses a rule that is broken in a part of a step only, because its records are counted as one."""
    for key in columns_of(broken):
        column = vocabulary.columns.get(str(key))
        for edge in sorted(edges_of(broken, key)) if column is not None else []:
            around = column.exact_around(edge)  # type: ignore[union-attr]
            if around is not None:
                rule = f"{text!r} cuts the step of {key} from {around[0]} to {around[1]}, which is counted as a whole"
                fix = f"let the condition begin or end at one of the two, as in `{key} < {around[0]}` or "
                fail("rules", rule, f"{fix}`{key} >= {around[1]}`, or declare a smaller step or `multipleOf`")
