"""The two domains of a schema with rules: what is counted, and what files have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cantle.schema.code_sets import NOTHING, CodeSet, Key, OneColumn, Question, columns_of, join
from cantle.schema.documents import Problems, fail
from cantle.schema.domain import Attribute, Domain, Labels
from cantle.schema.fields import Field
from cantle.schema.lists import Lists
from cantle.schema.maps import table_of
from cantle.schema.question_columns import Vocabulary
from cantle.schema.relate import Claim, Related, Table, missing_map, relate
from cantle.schema.rules import Declared, check_steps, compiled, declared, uncontradicted


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
    maps = _maps(found, fields, columns)
    claims = [Claim(at, one.text, part) for at, one in enumerate(found) for part in one.claims]
    others = [one for one in found if not one.claims and one.follows is None]
    named = [str(key) for one in others for key in columns_of(one.broken)]
    target = None if domain.target is None else domain.target.name
    known = relate(columns, target, claims, maps, named)
    every = [*((one.text, one.broken) for one in found if one.follows is None), *_of_maps(maps, columns)]
    places: dict[Key, int] = {name: one.on_places.size for name, one in columns.items()}
    places |= {
        item: 2 for one in columns.values() if isinstance(one.scale, Lists) for item in one.scale.names(one.name)
    }
    whole = replace(domain, rules=compiled(every, places))
    if known is None:
        for number, one in enumerate(found):
            with problems.during("rules", number):
                check_steps(one.text, one.broken, vocabulary)
        problems.refuse()
        uncontradicted(whole.rules)
        return _possible(whole), whole
    left = {claim.number for claim in known.left}
    # a rule of several parts, of which some became relations, stays as a whole: the other parts hold anyway
    kept = [one for at, one in enumerate(found) if one.follows is None and (not one.claims or at in left)]
    broken = [(one.text, known.relations.forms.translated(one.broken)) for one in kept]
    return _counted(domain, known, broken, vocabulary), whole


def _counted(domain: Domain, known: Related, broken: Sequence[tuple[str, Question]], vocabulary: Vocabulary) -> Domain:
    relations = known.relations
    declared_columns = {one.name: one for one in domain.with_target_as_column().attributes}
    counted = {name: made or declared_columns[name] for name, made in relations.counted.items()}
    problems = Problems()
    for text, question in broken:
        with problems.during("rules"):
            check_steps(text, question, vocabulary)
    problems.refuse()
    sizes: dict[Key, int] = {name: one.on_places.size for name, one in counted.items()}
    zeros = [(text, question) for text, question in (*broken, *known.zeros) if question != NOTHING]
    rules = uncontradicted(compiled(zeros, sizes))
    target = None if domain.target is None else domain.target.name
    attributes = tuple(one for name, one in counted.items() if name != target)
    return _possible(replace(domain, attributes=attributes, columns=tuple(counted), rules=rules, relations=relations))


def _possible(domain: Domain) -> Domain:
    """The domain, if its rules leave some combination of whole steps."""
    rules = domain.rules_on_codes
    if rules is not None and rules.sums and rules.allowed_box({}) is None:
        rule = "several of them cut every combination of steps that is possible"
        fail("rules", rule, "declare smaller steps for the columns that they compare", "rules")
    return domain


def _maps(
    found: Sequence[Declared], fields: Mapping[str, Field], columns: Mapping[str, Attribute]
) -> dict[tuple[str, str], Table]:
    """The tables of all rules `a -> b`, and of fields that name what they follow from."""
    pairs = [one.follows for one in found if one.follows is not None]
    pairs += [(one.source, one.name) for one in fields.values() if one.source is not None]
    maps = dict[tuple[str, str], Table]()
    for source, name in dict.fromkeys(pairs):
        where = f"field {name!r}"
        for one in (source, name):
            if one not in columns:
                fail(where, f"`from: {one}` names no column that is published", "correct it", "from")
            if not isinstance(columns[one].scale, Labels):
                fail("rules", f"'{source} -> {name}' is for two columns of categories, and {one} has none", "list them")
        if source == name:
            fail(where, "it follows from itself", "name another column", "from")
        table = table_of(fields[source], fields[name])
        if table is None:
            raise missing_map(source, name)
        maps[source, name] = table
    return maps


def _of_maps(maps: Mapping[tuple[str, str], Table], columns: Mapping[str, Attribute]) -> list[tuple[str, Question]]:
    """When a record breaks `a -> b`, for each table."""
    return [
        (f"{source} -> {name}", _not_mapped(columns[source], columns[name], table))
        for (source, name), table in maps.items()
    ]


def _not_mapped(source: Attribute, one: Attribute, table: Table) -> Question:
    assert isinstance(source.scale, Labels)
    assert isinstance(one.scale, Labels)
    from_place = {label: k for k, label in enumerate(source.scale.labels)}
    parts = []
    for code, label in enumerate(one.scale.labels):
        before = CodeSet.of((from_place[key] for key, value in table if value == label), source.size)
        after = CodeSet.of([code], one.size).complement()
        parts.append(join(True, [OneColumn(source.name, before), OneColumn(one.name, after)]))
    return join(False, parts)
