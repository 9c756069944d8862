"""Rules: public knowledge about values that cannot occur together, such as `age < 15 -> income is null`.

A rule is a condition that every record satisfies, written as a question (cantle.schema.questions), or two conditions
with an arrow: if the left one holds, the right one holds too. Rules are public, like all of a schema. They say which
points of the domain are impossible, so that no record is released there. Input records are counted as they are,
whatever the rules say.

Forbidden points are found for boxes of codes. Each condition on a column has a verdict: it holds nowhere, somewhere or
everywhere in the box. `and` takes the smallest of the verdicts, `or` the largest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cantle.errors import ParameterError, SchemaError
from cantle.schema.code_sets import CodeSet, Key, OneColumn, Question, columns_of, edges_of, holds, join, negated
from cantle.schema.documents import fail
from cantle.schema.problems import Problems
from cantle.trusted.core.arrays import Bools, Codes, Ints

if TYPE_CHECKING:
    from cantle.schema.domain import Attribute
    from cantle.schema.question_columns import Vocabulary

NOWHERE, SOMEWHERE, EVERYWHERE = 0, 1, 2
Verdicts = NDArray[np.int8]
Box = Mapping[Key, tuple[int, int]]
"""Spans of codes for some columns; the other columns have all codes."""

_MOST_BOXES = 5_000
_ARROW = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|(->)""")


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

    def forbidden(self, verdict: Callable[[OneColumn], Verdicts]) -> Verdicts:
        """Whether a rule is broken nowhere, somewhere or everywhere, for many boxes, given the verdicts on columns."""
        verdicts = _joined(self.broken[0], verdict)
        for one in self.broken[1:]:
            verdicts = np.maximum(verdicts, _joined(one, verdict))
        return verdicts

    def forbidden_spans(self, spans: Mapping[Key, tuple[Ints, Ints]]) -> Verdicts:
        """The same for boxes given by the first code of each column and the code after the last."""
        return self.forbidden(lambda one: self._of_spans(one, *spans.get(one.key, self._whole(one.key))))

    def _whole(self, key: Key) -> tuple[Ints, Ints]:
        return np.zeros(1, dtype=np.int64), np.array([dict(self.sizes)[key]])

    @staticmethod
    def _of_spans(one: OneColumn, lo: Ints, hi: Ints) -> Verdicts:
        """The verdicts on a condition, from the number of its codes in each span."""
        inside = one.codes.below(hi) - one.codes.below(lo)
        return (SOMEWHERE + (inside == hi - lo).astype(np.int8) - (inside == 0).astype(np.int8)).astype(np.int8)

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
            verdict = max(_of_box(one, now) for one in self.broken)
            if verdict == NOWHERE:
                return now
            if verdict == SOMEWHERE:
                waiting += self._halved(now)
        return None

    def _halved(self, box: dict[Key, tuple[int, int]]) -> list[dict[Key, tuple[int, int]]]:
        """The box in two parts, cut in the column with the most places at which a condition changes."""
        places = {key: [edge for edge in self._edges[key] if lo < edge < hi] for key, (lo, hi) in box.items()}
        key = max(places, key=lambda one: len(places[one]))
        (lo, hi), cut = box[key], places[key][len(places[key]) // 2]
        return [{**box, key: (lo, cut)}, {**box, key: (cut, hi)}]

    @cached_property
    def _edges(self) -> dict[Key, list[int]]:
        return {key: sorted(set().union(*(edges_of(one, key) for one in self.broken))) for key, _ in self.sizes}

    def on_cells(self, edges: Mapping[Key, Ints]) -> Rules:
        """The rules over cells, given the edges of each column's cells; a cell breaks a rule if all its points do.

        A condition holds for a cell if it holds for all codes in the cell. A cell in which every point breaks a rule,
        but not the same one, may be missed.
        """
        sizes = tuple((key, len(edges[key]) - 1) for key, _ in self.sizes)
        return Rules(self.texts, tuple(_on_cells(one, edges) for one in self.broken), sizes)

    def on_codes(self, columns: Mapping[Key, Attribute]) -> Rules:
        """The rules about codes of whole steps instead of places, for columns in which no rule cuts a step."""
        sizes = tuple((key, columns[key].size if key in columns else size) for key, size in self.sizes)
        return Rules(self.texts, tuple(_on_codes(one, columns) for one in self.broken), sizes)

    def cuts(self, key: Key) -> list[int]:
        """The codes of a column at which a condition changes, with 0 and the number of codes."""
        return [0, *self._edges[key], dict(self.sizes)[key]]

    def reordered(self, key: Key, order: Sequence[int]) -> Rules:
        """The rules for a column whose code i now stands for what was code order[i]; null stays last."""
        broken = tuple(_reordered(one, key, order) for one in self.broken)
        return Rules(self.texts, broken, self.sizes)


def _joined(question: Question, verdict: Callable[[OneColumn], Verdicts]) -> Verdicts:
    if isinstance(question, OneColumn):
        return verdict(question)
    verdicts: Verdicts = np.array(EVERYWHERE if question.every else NOWHERE, dtype=np.int8)
    for part in question.parts:
        verdicts = (np.minimum if question.every else np.maximum)(verdicts, _joined(part, verdict))
    return verdicts


def _of_box(question: Question, box: Box) -> int:
    """The verdict on a condition for one box."""
    if isinstance(question, OneColumn):
        first, end = box[question.key]
        inside = question.codes.overlap(first, end)
        return EVERYWHERE if inside == end - first else SOMEWHERE if inside else NOWHERE
    parts = [_of_box(part, box) for part in question.parts]
    return min(parts, default=EVERYWHERE) if question.every else max(parts, default=NOWHERE)


def _on_cells(question: Question, edges: Mapping[Key, Ints]) -> Question:
    if not isinstance(question, OneColumn):
        return type(question)(question.every, tuple(_on_cells(part, edges) for part in question.parts))
    lo, hi = edges[question.key][:-1], edges[question.key][1:]
    whole = question.codes.below(hi) - question.codes.below(lo) == hi - lo
    return OneColumn(question.key, CodeSet.of(np.flatnonzero(whole).tolist(), len(lo)))


def _on_codes(question: Question, columns: Mapping[Key, Attribute]) -> Question:
    if not isinstance(question, OneColumn):
        return type(question)(question.every, tuple(_on_codes(part, columns) for part in question.parts))
    mine = columns.get(question.key)
    if mine is None:
        return question
    edges = (mine.bins + edge - mine.grid if edge >= mine.grid else edge // mine.width for edge in question.codes.edges)
    return OneColumn(question.key, CodeSet(tuple(edges), mine.size))


def _reordered(question: Question, key: Key, order: Sequence[int]) -> Question:
    if not isinstance(question, OneColumn):
        return type(question)(question.every, tuple(_reordered(part, key, order) for part in question.parts))
    if question.key != key:
        return question
    size = question.codes.size
    was = question.codes.holds(np.array([*order, *range(len(order), size)]))
    return OneColumn(key, CodeSet.of(np.flatnonzero(was).tolist(), size))


# ---------------------------------------------------------------------------------------------------------- declared


def compiled(texts: Sequence[str], vocabulary: Vocabulary) -> Rules | None:
    """The rules in codes; raises a SchemaError that points at the error, or says that rules contradict each other."""
    if not texts:
        return None
    problems, broken = Problems(), list[Question]()
    for number, text in enumerate(texts):
        with problems.during("rules", number):
            broken.append(_broken(text, vocabulary))
            _check_steps(text, broken[-1], vocabulary)
    problems.refuse()
    keys = dict.fromkeys(key for one in broken for key in columns_of(one))
    sizes = tuple((key, vocabulary.columns[str(key)].size) for key in keys)
    rules = Rules(tuple(texts), tuple(broken), sizes)
    if rules.allowed_box({}) is None:
        rule = "they contradict each other, so that every record would break one (or are too many to be sure)"
        fail("rules", rule, "correct or remove one", "rules")
    return rules


def _check_steps(text: str, broken: Question, vocabulary: Vocabulary) -> None:
    """Refuses a rule that is broken in a part of a step only, because its records are counted as one."""
    for key in columns_of(broken):
        column = vocabulary.columns[str(key)]
        for edge in sorted(edges_of(broken, key)):
            around = column.exact_around(edge)
            if around is not None:
                rule = f"{text!r} cuts the step of {key} from {around[0]} to {around[1]}, which is counted as a whole"
                fix = f"let the condition begin or end at one of the two, as in `{key} < {around[0]}` or "
                fail("rules", rule, f"{fix}`{key} >= {around[1]}`, or declare a smaller step or `multipleOf`")


def _broken(text: str, vocabulary: Vocabulary) -> Question:
    """The question that holds for records that break the rule in a text."""
    from cantle.schema.questions import parse

    parts, start = [], 0
    for arrow in _ARROW.finditer(text):
        if arrow[1]:
            parts.append(text[start : arrow.start()])
            start = arrow.end()
    parts.append(text[start:])
    if len(parts) > 2 or not all(part.strip() for part in parts):
        rule = f"{text!r} is not a condition, or two of them with one arrow between"
        fail("rules", rule, "write `age < 15 -> income is null`")
    refused = ""
    try:
        conditions = [parse(part, vocabulary) for part in parts]
    except ParameterError as error:
        refused = str(error)
    if refused:
        raise SchemaError(f"rule {text!r}: {refused}")
    if len(conditions) == 1:
        return negated(conditions[0])
    return join(True, [conditions[0], negated(conditions[1])])
