"""From the rules of a schema to its relations: which rules become a bijection of records, and which stay rules.

An equation with one column alone on a side computes this column. Comparisons of two columns make differences: they form
a graph over the columns, and each tree of it is solved from its root: the target, or else a column that is never
missing, best one that other rules name. For the same reason, comparisons of columns that are never missing come first.
`a -> b` looks b up. A comparison that closes a circle, and every other, stays a rule, which forbids parts of the domain
(cantle.schema.rules).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cantle.errors import SchemaError
from cantle.schema.code_sets import CodeSet, Linear, OneColumn, Question, Term, columns_of, join, negated
from cantle.schema.documents import Problems, fail
from cantle.schema.domain import Attribute
from cantle.schema.lists import Lists
from cantle.schema.relations import VALUE, Computed, Difference, LookedUp, Relations, Unfolded
from cantle.schema.scales import Steps
from cantle.schema.taxonomy import Label

Table = tuple[tuple[Label, Label], ...]


@dataclass(frozen=True)
class Claim:
    """What a rule without an arrow says, or one of its parts joined by `and`; `number` is the place of the rule."""

    number: int
    text: str
    question: Question


@dataclass
class _Span:
    """The distance between two columns in places, as rules bound it: of `more` from `less`."""

    more: str
    less: str
    low: int
    high: int
    claims: list[Claim] = field(default_factory=list)


@dataclass
class Related:
    """The relations, and the claims that are none."""

    relations: Relations
    left: list[Claim]
    zeros: list[tuple[str, Question]]
    """What cannot be, because of nulls and of bounds, as questions about counted columns."""


def relate(
    columns: Mapping[str, Attribute],
    target: str | None,
    claims: Sequence[Claim],
    maps: Mapping[tuple[str, str], Table],
    named: Sequence[str] = (),
) -> Related | None:
    """The relations among columns; None if there are none. `named` are columns that other rules name."""
    computed, rest = _computed(columns, target, claims, {name for _, name in maps})
    looked = _looked_up(columns, target, maps)
    used = {one.name for one in computed} | {one.name for one in looked}
    spans, left = _spans(columns, used, rest)
    named = [*named, *(str(key) for claim in left for key in columns_of(claim.question))]
    chosen, circles = _forest(sorted(spans, key=lambda span: columns[span.more].nullable + columns[span.less].nullable))
    left += [claim for span in circles for claim in span.claims]
    differences = _solved(columns, target, chosen, named)
    lists = [Unfolded.of(one) for one in columns.values() if isinstance(one.scale, Lists)]
    if not (differences or computed or looked or lists):
        return None
    relations = Relations(
        tuple(one.on_places for one in columns.values()),
        tuple(differences),
        tuple(computed),
        tuple(looked),
        tuple(lists),
    )
    _check_names(relations)
    _check_computed(relations, target)
    return Related(relations, left, [*_of_nulls(relations), *_of_bounds(relations), *_of_lists(relations)])


# ---- computed columns -----------------------------------------------------------------------------------------------


def _computed(
    columns: Mapping[str, Attribute], target: str | None, claims: Sequence[Claim], looked: set[str]
) -> tuple[list[Computed], list[Claim]]:
    """The columns that equations compute, each after those that it needs, and the other claims."""
    found, rest = dict[str, Computed](), list[Claim]()
    problems = Problems()
    for claim in claims:
        alone = _alone(claim.question, target)
        if alone is None or str(alone.key) in {*found, *looked}:
            rest.append(claim)
            continue
        with problems.during("rules", claim.number):
            found[str(alone.key)] = _equation(claim, alone, columns, target)
    problems.refuse()
    ordered = list[Computed]()
    while waiting := [one for one in found.values() if one not in ordered]:
        names = {one.name for one in waiting}
        ready = [one for one in waiting if not names & {name for name, _ in one.factors}]
        if not ready:
            fail("rules", f"{' and '.join(sorted(names))} are computed from each other", "leave one rule out", "rules")
        ordered += ready
    return ordered, rest


def _alone(question: Question, target: str | None) -> Term | None:
    """The column that stands alone on one side of an equation; the one on the left, if there are two and it is not the
    target."""
    if not isinstance(question, Linear) or question.low is None or question.low != question.high:
        return None
    sides = [question.terms[:1]] if question.left == 1 else []
    sides += [question.terms[-1:]] if question.left == len(question.terms) - 1 else []
    both = [side[0] for side in sides]
    return next((one for one in both if one.key != target), both[0] if both else None)


def _equation(claim: Claim, alone: Term, columns: Mapping[str, Attribute], target: str | None) -> Computed:
    question, where = claim.question, f"rule {claim.text!r}"
    assert isinstance(question, Linear)
    assert question.low is not None
    name, others = str(alone.key), [term for term in question.terms if term is not alone]
    if name == target:
        names = " and ".join(str(term.key) for term in others)
        fail(where, f"the target {name} is computed from {names}, so there is nothing to learn", "leave one out")
    if any(term.factor % alone.factor for term in others) or question.low % alone.factor:
        rule = f"{name} has steps that do not hold all sums of the other columns"
        fail(where, rule, f"give {name} a `multipleOf` (or `step`) that all of them are multiples of")
    factors = tuple((str(term.key), -term.factor // alone.factor) for term in others)
    lacking = [one for one, _ in factors if columns[one].nullable]
    if lacking and not columns[name].nullable:
        rule = f"{name} is required, and {lacking[0]}, from which it is computed, may be missing"
        fail(where, rule, f"make {lacking[0]} required too, or {name} not")
    return Computed(name, question.low // alone.factor, factors, claim.text)


def _check_computed(relations: Relations, target: str | None) -> None:  # noqa: ARG001
    """Refuses computed columns whose bounds do not hold all sums."""
    problems = Problems()
    for column in relations.computed:
        attribute = relations.columns[column.name]
        assert isinstance(attribute.scale, Steps)
        ranges = [relations.forms.range(form) for form in relations.forms.forms[column.name]]
        low, high = min(one for one, _ in ranges), max(one for _, one in ranges)
        with problems.during("rules"):
            if low < 0 or high >= attribute.grid:
                ends = f"from {attribute.scale.text(low)} to {attribute.scale.text(high)}"
                what = " and ".join(name for name, _ in column.factors)
                rule = f"by the rule and the bounds of {what} it goes {ends}, which its own bounds do not hold"
                fail(f"field {column.name!r}", rule, "widen its bounds, or narrow those of the others")
    problems.refuse()


# ---- columns that follow from others --------------------------------------------------------------------------------


def _looked_up(
    columns: Mapping[str, Attribute], target: str | None, maps: Mapping[tuple[str, str], Table]
) -> list[LookedUp]:
    found = list[LookedUp]()
    for (source, name), table in maps.items():
        where = f"rule '{source} -> {name}'"
        if name == target:
            fail(where, f"the target {name} follows from {source}, so there is nothing to learn", "leave one out")
        if any(one.name == name for one in found):
            fail(where, f"{name} follows from two columns", "keep one rule")
        if columns[source].nullable and not columns[name].nullable:
            rule = f"{name} is required, and {source}, from which it follows, may be missing"
            fail(where, rule, f"make {source} required too, or {name} not")
        found.append(LookedUp(name, source, table))
    ordered = list[LookedUp]()
    while waiting := [one for one in found if one not in ordered]:
        ready = [one for one in waiting if one.source not in {other.name for other in waiting}]
        if not ready:
            names = " and ".join(one.name for one in waiting)
            fail("rules", f"{names} follow from each other", "leave one rule out", "rules")
        ordered += ready
    return ordered


# ---- differences ----------------------------------------------------------------------------------------------------


def _spans(
    columns: Mapping[str, Attribute], used: set[str], claims: Sequence[Claim]
) -> tuple[list[_Span], list[Claim]]:
    """The distances that comparisons of two columns bound, and the other claims."""
    spans, left = dict[frozenset[str], _Span](), list[Claim]()
    problems = Problems()
    for claim in claims:
        question = claim.question
        names = [] if not isinstance(question, Linear) else [str(term.key) for term in question.terms]
        if not isinstance(question, Linear) or len(names) != 2 or set(names) & used:
            left.append(claim)
            continue
        first, second = question.terms
        with problems.during("rules", claim.number):
            _check_resolution(claim, names[0], names[1], columns)
        if first.factor != -second.factor:
            left.append(claim)
            continue
        _bound(spans, claim, question, columns)
    problems.refuse()
    for span in spans.values():
        if span.low > span.high:
            texts = " and ".join(repr(claim.text) for claim in span.claims)
            fail("rules", f"{texts} leave no difference of {span.more} and {span.less}", "correct one", "rules")
    return list(spans.values()), left


def _check_resolution(claim: Claim, one: str, other: str, columns: Mapping[str, Attribute]) -> None:
    """Refuses a comparison of columns whose values lie at different distances."""
    scales = [columns[name].scale for name in (one, other)]
    units = [f"{one.step / one.scale:.15g}" for one in scales if isinstance(one, Steps)]
    if units[0] != units[1]:
        rule = f"values of {one} lie {units[0]} apart and those of {other} {units[1]}"
        fix = "give both the same `multipleOf` (datetimes: the same step), or leave the rule out"
        fail(f"rule {claim.text!r}", rule, fix)


def _bound(
    spans: dict[frozenset[str], _Span], claim: Claim, question: Linear, columns: Mapping[str, Attribute]
) -> None:
    """Narrows the distance between the two columns of a claim."""
    first, second = question.terms
    more, less = (first, second) if first.factor > 0 else (second, first)
    low, high = question.low, question.high  # of the reduced condition, whose factors are 1 and -1
    pair = frozenset({str(first.key), str(second.key)})
    backwards = low is None and question.left == 1  # start <= end: the difference is end - start
    span = spans.get(pair)
    if (span is None and backwards) or (span is not None and span.more == less.key):
        more, less, low, high = less, more, None if high is None else -high, None if low is None else -low
    if span is None:
        grids = columns[str(more.key)].grid, columns[str(less.key)].grid
        span = spans[pair] = _Span(str(more.key), str(less.key), 1 - grids[1], grids[0] - 1)
    span.low = span.low if low is None else max(span.low, low)
    span.high = span.high if high is None else min(span.high, high)
    span.claims.append(claim)


def _forest(spans: Sequence[_Span]) -> tuple[list[_Span], list[_Span]]:
    """The distances that join columns to trees, in this order, and those that close circles."""
    group = {name: name for span in spans for name in (span.more, span.less)}
    chosen, circles = list[_Span](), list[_Span]()
    for span in spans:
        one, other = group[span.more], group[span.less]
        (circles if one == other else chosen).append(span)
        group = {name: other if root == one else root for name, root in group.items()}
    return chosen, circles


def _solved(
    columns: Mapping[str, Attribute], target: str | None, spans: Sequence[_Span], named: Sequence[str]
) -> list[Difference]:
    """The differences of each tree from its root on."""
    found, known = list[Difference](), set[str]()
    order = sorted(columns, key=lambda name: (name != target, columns[name].nullable, name not in named))
    for root in order:
        if root in known:
            continue
        reached = [root]
        for parent in reached:
            for span in spans:
                child = {span.more: span.less, span.less: span.more}.get(parent)
                if child is not None and child not in reached:
                    reached.append(child)
                    alone = f"{child} ({parent} missing)" if columns[parent].nullable else None
                    name = f"{span.more} - {span.less}"
                    texts = tuple(dict.fromkeys(claim.text for claim in span.claims))
                    found.append(Difference(name, child, parent, span.more == child, span.low, span.high, alone, texts))
        known |= set(reached)
    return found


def _check_names(relations: Relations) -> None:
    for name in (name for one in relations.differences for name in (one.name, one.alone)):
        if name in relations.columns:
            fail(f"field {name!r}", "a difference that rules make is called so too", "rename the field")
    for lists in relations.lists:
        for name in lists.columns:
            if name in relations.columns:
                fail(f"field {name!r}", f"the column of an item of {lists.name!r} is called so too", "rename the field")


# ---- what cannot be -------------------------------------------------------------------------------------------------


def _of_nulls(relations: Relations) -> list[tuple[str, Question]]:
    """A difference has no value where its parent has none; the child's own column has one only there."""
    zeros, forms = list[tuple[str, Question]](), relations.forms
    for one in relations.differences:
        if one.alone is None:
            continue
        no_parent = forms.missing(one.parent)
        apart, own = forms.there(one.name), forms.there(one.alone)
        both = [join(True, [no_parent, apart]), join(True, [negated(no_parent), own])]
        if not relations.columns[one.child].nullable:
            both += [join(True, [negated(no_parent), negated(apart)]), join(True, [no_parent, negated(own)])]
        zeros += [(f"{one.name} where {one.parent} is null", question) for question in both]
    return zeros


def _of_bounds(relations: Relations) -> list[tuple[str, Question]]:
    """A child does not leave its bounds."""
    zeros, forms = list[tuple[str, Question]](), relations.forms
    for one in relations.differences:
        last = relations.columns[one.child].grid - 1
        for form in forms.forms[one.child]:
            low, high = forms.range(form)
            if form.case.get(one.child) != VALUE:
                continue
            beyond = [forms.inside(form, None, -1)] if low < 0 else []
            beyond += [forms.inside(form, last + 1, None)] if high > last else []
            zeros += [(f"the bounds of {one.child}", question) for question in beyond]
    return zeros


def _of_lists(relations: Relations) -> list[tuple[str, Question]]:
    """A missing list holds no item, and no list holds too many."""
    zeros = list[tuple[str, Question]]()
    for one in relations.lists:
        scale = relations.columns[one.name].scale
        assert isinstance(scale, Lists)
        if one.missing is not None:
            holds = [OneColumn(item, CodeSet.of([1], 2)) for item in one.items]
            both = join(True, [OneColumn(one.missing, CodeSet.of([1], 2)), join(False, holds)])
            zeros.append((f"{one.name} where it is missing", both))
        if scale.most < len(one.items):
            terms = tuple(Term(item, 1, 2, 2) for item in one.items)
            zeros.append((f"the most items of {one.name}", Linear(terms, scale.most + 1, None)))
    return zeros


def missing_map(source: str, name: str) -> SchemaError:
    """The refusal of `source -> name` without a public table."""
    return SchemaError(
        f"rule '{source} -> {name}': say which {name} each {source} is in: give {source!r} a hierarchy with a level of "
        f"the categories of {name!r}, or {name!r} a `from: {source}` and a `map`. It is not learned from the data: "
        "that would reveal which pairs occur."
    )
