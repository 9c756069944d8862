"""From the rules of a schema to its two domains: what is counted, and what files have.

Some rules become a bijection of records (cantle.schema.relations). An equation with one column alone on a side computes
this column. Comparisons of two columns make differences: they form a graph over the columns, and each tree of it is
solved from its root: the target, or else a column that is never missing, best one that other rules name. For the same
reason, comparisons of columns that are never missing come first. `a -> b` looks b up. A comparison that closes a
circle, and every other, stays a rule, which forbids parts of the domain (cantle.schema.rules).

The table by which b follows from a is in the `map` of b: `{Graz: Austria, Oslo: Norway}`, the same by groups
(`{Austria: [Graz, Linz]}`), or a CSV file with a header that names both columns. Without it, the hierarchy of a is
used: the group of each city whose name is a declared country.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from cantle.errors import SchemaError
from cantle.schema.code_sets import NOTHING, CodeSet, Key, Linear, OneColumn, Question, Term, columns_of, join, negated
from cantle.schema.declared_values import Folder, repeated
from cantle.schema.documents import Problems, fail, read_text
from cantle.schema.domain import Attribute, Domain, Labels
from cantle.schema.fields import Field
from cantle.schema.lists import Lists
from cantle.schema.made_columns import VALUE, Computed, Difference, LookedUp, Unfolded
from cantle.schema.question_columns import Vocabulary
from cantle.schema.relations import Relations
from cantle.schema.rules import Declared, check_steps, compiled, declared, uncontradicted
from cantle.schema.scales import Steps
from cantle.schema.taxonomy import Label, Taxonomy

Columns = Mapping[str, Attribute]
Made = TypeVar("Made", Computed, LookedUp)


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


def related(
    domain: Domain, vocabulary: Vocabulary, texts: Sequence[str], fields: Mapping[str, Field]
) -> tuple[Domain, Domain]:
    """The domain that is counted, with the rules that forbid parts of it, and the declared one with all rules."""
    problems, found = Problems(), list[Declared]()
    for number, text in enumerate(texts):
        with problems.during("rules", number):
            found.append(declared(text, vocabulary))
    problems.refuse()
    columns = {one.name: one for one in domain.with_target_as_column().attributes}
    target = None if domain.target is None else domain.target.name
    looked = _looked_up(found, fields, columns, target)
    claims = [Claim(at, one.text, part) for at, one in enumerate(found) for part in one.claims]
    others = [one for one in found if not one.claims and one.follows is None]
    named = [str(key) for one in others for key in columns_of(one.broken)]
    relations, left = _relations(columns, target, claims, looked, named)
    every = [(one.text, one.broken) for one in found if one.follows is None]
    every += [(one.rule, _not_mapped(one)) for one in looked]
    places: dict[Key, int] = {name: one.on_places.size for name, one in columns.items()}
    whole = replace(domain, rules=compiled(every, places | dict.fromkeys(relations.lists_by_item, 2)))
    numbers = {claim.number for claim in left}
    # a rule of several parts, of which some became relations, stays as a whole: the other parts hold anyway
    kept = [one for at, one in enumerate(found) if one.follows is None and (not one.claims or at in numbers)]
    broken = [(one.text, relations.translated(one.broken)) for one in kept]
    for number, (text, question) in enumerate(broken):
        with problems.during("rules", number):
            check_steps(text, question, vocabulary)
    problems.refuse()
    counted = {name: made or columns[name] for name, made in relations.counted.items()}
    sizes: dict[Key, int] = {name: one.on_places.size for name, one in counted.items()}
    broken += [*_of_nulls(relations), *_of_bounds(relations)]
    # an item that no rule names may stay out of every list, so that it contradicts none
    items = {str(key) for _, one in broken for key in columns_of(one)}
    both = (items, relations.lists_by_item)
    of_lists = ([pair for one in relations.lists for pair in one.broken(names)] for names in both)
    some, rules = (compiled([pair for pair in (*broken, *more) if pair[1] != NOTHING], sizes) for more in of_lists)
    attributes = tuple(one for name, one in counted.items() if name != target)
    made = replace(domain, attributes=attributes, columns=tuple(counted), rules=rules)
    made = replace(made, relations=relations) if relations.made else made
    _possible(replace(made, rules=uncontradicted(some)))
    return made, whole


def _possible(domain: Domain) -> Domain:
    """The domain, if its rules leave some combination of whole steps."""
    rules = domain.rules_on_codes
    if rules is not None and rules.sums and rules.allowed_box({}) is None:
        rule = "several of them cut every combination of steps that is possible"
        fail("rules", rule, "declare smaller steps for the columns that they compare", "rules")
    return domain


def _relations(
    columns: Columns, target: str | None, claims: Sequence[Claim], looked: Sequence[LookedUp], named: Sequence[str]
) -> tuple[Relations, list[Claim]]:
    """The relations among columns, and the claims that are none. `named` are columns that other rules name."""
    computed, rest = _computed(columns, target, claims, {one.name for one in looked})
    used = {one.name for one in computed} | {one.name for one in looked}
    spans, left = _spans(columns, used, rest)
    named = [*named, *(str(key) for claim in left for key in columns_of(claim.question))]
    chosen, circles = _forest(sorted(spans, key=lambda span: columns[span.more].nullable + columns[span.less].nullable))
    left += [claim for span in circles for claim in span.claims]
    differences = _solved(columns, target, chosen, named)
    every = tuple(one.on_places for one in columns.values())
    lists = tuple(Unfolded(one) for one in every if isinstance(one.scale, Lists))
    relations = Relations(every, lists, tuple(differences), tuple(computed), tuple(looked))
    _check_names(relations)
    _check_computed(relations)
    return relations, left


def _in_order(found: Sequence[Made], how: str) -> list[Made]:
    """The columns that are made of others, each after those that it needs."""
    ordered = list[Made]()
    while len(ordered) < len(found):
        waiting = [one for one in found if one not in ordered]
        names = {one.name for one in waiting}
        ready = [one for one in waiting if names.isdisjoint(one.sources)]
        if not ready:
            fail("rules", f"{' and '.join(sorted(names))} {how} from each other", "leave one rule out", "rules")
        ordered += ready
    return ordered


# ---- computed columns -----------------------------------------------------------------------------------------------


def _computed(
    columns: Columns, target: str | None, claims: Sequence[Claim], looked: set[str]
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
    return _in_order([*found.values()], "are computed"), rest


def _alone(question: Question, target: str | None) -> Term | None:
    """The column that stands alone on one side of an equation; the one on the left, if there are two and it is not the
    target."""
    if not isinstance(question, Linear) or question.low is None or question.low != question.high:
        return None
    sides = [question.terms[:1]] if question.left == 1 else []
    sides += [question.terms[-1:]] if question.left == len(question.terms) - 1 else []
    both = [side[0] for side in sides]
    return next((one for one in both if one.key != target), both[0] if both else None)


def _equation(claim: Claim, alone: Term, columns: Columns, target: str | None) -> Computed:
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
    factors = tuple((columns[str(term.key)].on_places, -term.factor // alone.factor) for term in others)
    for lacking in [one.name for one, _ in factors if one.nullable and not columns[name].nullable]:
        rule = f"{name} is required, and {lacking}, from which it is computed, may be missing"
        fail(where, rule, f"make {lacking} required too, or {name} not")
    return Computed(columns[name].on_places, question.low // alone.factor, factors, claim.text)


def _check_computed(relations: Relations) -> None:
    """Refuses computed columns whose bounds do not hold all sums."""
    problems = Problems()
    for one in relations.computed:
        ends = [end for form in relations.forms[one.name] for end in relations.range(form)]
        with problems.during("rules"):
            if min(ends) < 0 or max(ends) >= one.column.grid:
                goes = " to ".join(one.column.steps.text(end) for end in (min(ends), max(ends)))
                what = " and ".join(one.sources)
                rule = f"by the rule and the bounds of {what} it goes from {goes}, which its own bounds do not hold"
                fail(f"field {one.name!r}", rule, "widen its bounds, or narrow those of the others")
    problems.refuse()


# ---- columns that follow from others --------------------------------------------------------------------------------


def _looked_up(
    found: Sequence[Declared], fields: Mapping[str, Field], columns: Columns, target: str | None
) -> list[LookedUp]:
    """The columns of all rules `a -> b`, and of fields that name what they follow from, each with its table."""
    pairs = [one.follows for one in found if one.follows is not None]
    pairs += [(one.source, one.name) for one in fields.values() if one.source is not None]
    looked = list[LookedUp]()
    for source, name in dict.fromkeys(pairs):
        where, rule = f"field {name!r}", f"rule '{source} -> {name}'"
        for one in (source, name):
            if one not in columns:
                fail(where, f"`from: {one}` names no column that is published", "correct it", "from")
            if not isinstance(columns[one].scale, Labels):
                fail("rules", f"'{source} -> {name}' is for two columns of categories, and {one} has none", "list them")
        if source == name:
            fail(where, "it follows from itself", "name another column", "from")
        if name == target:
            fail(rule, f"the target {name} follows from {source}, so there is nothing to learn", "leave one out")
        if any(one.name == name for one in looked):
            fail(rule, f"{name} follows from two columns", "keep one rule")
        if columns[source].nullable and not columns[name].nullable:
            why = f"{name} is required, and {source}, from which it follows, may be missing"
            fail(rule, why, f"make {source} required too, or {name} not")
        table = table_of(fields[source], fields[name])
        if table is None:
            raise SchemaError(
                f"{rule}: say which {name} each {source} is in: give {source!r} a hierarchy with a level of the "
                f"categories of {name!r}, or {name!r} a `from: {source}` and a `map`. It is not learned from the data: "
                "that would reveal which pairs occur."
            )
        looked.append(LookedUp(columns[name].on_places, columns[source].on_places, table))
    return _in_order(looked, "follow")


def _not_mapped(looked: LookedUp) -> Question:
    """When a record breaks `a -> b`."""
    source, one, parts = looked.source, looked.column, list[Question]()
    follows = looked.codes_of(source)[: source.grid]
    for code in range(one.grid):
        before = CodeSet.of(np.flatnonzero(follows == code).tolist(), source.size)
        after = CodeSet.of([code], one.size).complement()
        parts.append(join(True, [OneColumn(source.name, before), OneColumn(one.name, after)]))
    return join(False, parts)


# ---- differences ----------------------------------------------------------------------------------------------------


def _spans(columns: Columns, used: set[str], claims: Sequence[Claim]) -> tuple[list[_Span], list[Claim]]:
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


def _check_resolution(claim: Claim, one: str, other: str, columns: Columns) -> None:
    """Refuses a comparison of columns whose values lie at different distances."""
    scales = [columns[name].scale for name in (one, other)]
    units = [f"{one.step / one.scale:.15g}" for one in scales if isinstance(one, Steps)]
    if units[0] != units[1]:
        rule = f"values of {one} lie {units[0]} apart and those of {other} {units[1]}"
        fix = "give both the same `multipleOf` (datetimes: the same step), or leave the rule out"
        fail(f"rule {claim.text!r}", rule, fix)


def _bound(spans: dict[frozenset[str], _Span], claim: Claim, question: Linear, columns: Columns) -> None:
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


def _solved(columns: Columns, target: str | None, spans: Sequence[_Span], named: Sequence[str]) -> list[Difference]:
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
                    name, plus = f"{span.more} - {span.less}", span.more == child
                    texts = tuple(dict.fromkeys(claim.text for claim in span.claims))
                    ends = columns[child].on_places, name, columns[parent].on_places
                    found.append(Difference(*ends, plus, span.low, span.high, alone, texts))
        known |= set(reached)
    return found


def _check_names(relations: Relations) -> None:
    for name in (name for one in relations.differences for name in (one.difference, one.alone)):
        if name in relations.columns:
            fail(f"field {name!r}", "a difference that rules make is called so too", "rename the field")
    for lists in relations.lists:
        for name in lists.columns:
            if name in relations.columns:
                fail(f"field {name!r}", f"the column of an item of {lists.name!r} is called so too", "rename the field")


# ---- what cannot be -------------------------------------------------------------------------------------------------


def _of_nulls(relations: Relations) -> list[tuple[str, Question]]:
    """A difference has no value where its parent has none; the child's own column has one only there."""
    zeros, there = list[tuple[str, Question]](), relations.there
    for one in relations.differences:
        if one.alone is None:
            continue
        no_parent = relations.missing(one.parent.name)
        apart, own = there(one.difference), there(one.alone)
        both = [join(True, [no_parent, apart]), join(True, [negated(no_parent), own])]
        if not one.column.nullable:
            both += [join(True, [negated(no_parent), negated(apart)]), join(True, [no_parent, negated(own)])]
        zeros += [(f"{one.difference} where {one.parent.name} is null", question) for question in both]
    return zeros


def _of_bounds(relations: Relations) -> list[tuple[str, Question]]:
    """A child does not leave its bounds."""
    zeros = list[tuple[str, Question]]()
    for one in relations.differences:
        last = one.column.grid - 1
        for form in relations.forms[one.name]:
            low, high = relations.range(form)
            if form.case.get(one.name) != VALUE:
                continue
            beyond = [relations.inside(form, None, -1)] if low < 0 else []
            beyond += [relations.inside(form, last + 1, None)] if high > last else []
            zeros += [(f"the bounds of {one.name}", question) for question in beyond]
    return zeros


# ---- public tables ----------------------------------------------------------------------------------------------

_FIX = "write `from: city` and `map: {Graz: Austria, Oslo: Norway}`, or name a CSV file with both columns"


def parse_map(
    where: str, name: str, entry: Mapping[str, object], base_dir: Folder
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The column that a field follows from, and its table as texts; the table is empty if a hierarchy has to serve."""
    source, given = entry.get("from"), entry.get("map")
    if not isinstance(source, str) or not source:
        fail(where, "`from` is not the name of a column", _FIX, "from")
    if given is None:
        return source, ()
    pairs = _in_file(where, name, source, given, base_dir) if isinstance(given, str) else _in_mapping(where, given)
    for twice in repeated(one for one, _ in dict.fromkeys(pairs)):
        fail(where, f"`map` gives {twice!r} two values", "keep one", "map")
    return source, tuple(dict.fromkeys(pairs))


def _in_mapping(where: str, given: object) -> list[tuple[str, str]]:
    if not isinstance(given, Mapping) or not given:
        fail(where, "`map` is not a mapping", _FIX, "map")
    pairs = list[tuple[str, str]]()
    for key, value in given.items():
        if isinstance(value, list | tuple):
            pairs += [(str(one), str(key)) for one in value]
        else:
            pairs.append((str(key), str(value)))
    return pairs


def _in_file(where: str, name: str, source: str, given: str, base_dir: Folder) -> list[tuple[str, str]]:
    text = read_text(Path(base_dir or ".") / given, given, where)
    header = text.partition("\n")[0]
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=";" if ";" in header else ",", strict=True))
    except csv.Error:
        fail(where, f"{given!r} is not CSV", "check its quotes", "map")
    names = [one.strip() for one in rows[0]] if rows else []
    if source not in names or name not in names:
        fail(where, f"the header of {given!r} does not name {source} and {name}", "name both columns in it", "map")
    at, to = names.index(source), names.index(name)
    return [(row[at].strip(), row[to].strip()) for row in rows[1:] if len(row) > max(at, to)]


def table_of(source: Field, one: Field) -> tuple[tuple[Label, Label], ...] | None:
    """For each category of a column the one that follows from it; None if nothing says so."""
    where, labels = f"field {one.name!r}", {str(label): label for label in _labels(one)}
    if one.mapped:
        found = dict(one.mapped)
        lacking = [str(label) for label in _labels(source) if str(label) not in found]
        wrong = [value for value in found.values() if value not in labels]
        if lacking:
            fail(where, f"`map` does not say what follows from {lacking[0]!r}", "add it", "map")
        if wrong:
            fail(where, f"`map` has {wrong[0]!r}, which is none of its categories", "correct it", "map")
        return tuple((label, labels[found[str(label)]]) for label in _labels(source))
    if source.hierarchy is None:
        return None
    pairs = [(leaf, _level(source.hierarchy, code, labels)) for code, leaf in enumerate(source.hierarchy.leaves)]
    missing = next((leaf for leaf, found in pairs if found is None), None)
    if missing is not None:
        rule = f"the hierarchy of {source.name} has no {one.name} above {str(missing)!r}"
        fix = f"name the groups by the categories of {one.name}, or give a `map` (a group of one category has no name)"
        fail(where, rule, fix, "hierarchy")
    return tuple((leaf, found) for leaf, found in pairs if found is not None)


def _labels(one: Field) -> Sequence[Label]:
    return (False, True) if one.type == "boolean" else one.categories or ()


def _level(tree: Taxonomy, code: int, labels: Mapping[str, Label]) -> Label | None:
    """The category that names a node above a leaf; the lowest such node."""
    names = [tree.name(*span) for span in tree.path(code)]
    return next((labels[name] for name in reversed(names[:-1]) if name in labels), None)
