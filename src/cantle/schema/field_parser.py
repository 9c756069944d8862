"""The parser of declared columns: from an entry of a schema's `fields` to a checked `Field`.

Every check raises a SchemaError that names the field, the rule and the fix; a schema is public, so messages
may quote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from cantle.schema.declared_values import (
    BLANK,
    Folder,
    check_blanks,
    check_keys,
    exact,
    flag,
    integer,
    plain,
    plain_mapping,
    repeated,
    texts,
)
from cantle.schema.documents import MAX_INTEGER, Problems, fail
from cantle.schema.fields import (
    CONSTRAINT_KEYS,
    DELIMITER,
    FIELD_KEYS,
    LIST,
    MAX_DIGITS,
    MAX_GRID,
    MOST_STEPS,
    PLACE,
    TYPE_WORDS,
    TYPES,
    Bound,
    Field,
    grid_of,
    since_1970,
)
from cantle.schema.relate import parse_map
from cantle.schema.values import PLAIN
from cantle.schema.written_values import BOUNDS, check_place, number_form, with_number_form, with_spellings

if TYPE_CHECKING:
    from cantle.schema.taxonomy import Label, Taxonomy


_FIELD_KEYS = {*FIELD_KEYS, "title", "description", "example", "examples", "rdfType"}
_OTHER_CONSTRAINTS = {"unique", "exclusiveMinimum", "exclusiveMaximum", "pattern", "minLength", "maxLength"}
_CONSTRAINT_KEYS = {*CONSTRAINT_KEYS, *_OTHER_CONSTRAINTS, "jsonSchema"}
_SECONDS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86_400}
_YEAR_10000 = 2_932_897  # days from 1970


def parse_field(
    entry: object, number: int, missing: tuple[str, ...], base_dir: Folder = None, *, old_steps: bool = False
) -> Field:
    """A checked field; the path of a hierarchy file is relative to `base_dir`.

    `old_steps` is the meaning of `step` in schema version 1, which had no `multipleOf`.
    """
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(name, str) or not name:
        fail(f"field number {number}", "it has no name", "give it `name:` as the column is called (in quotes)")
    where, constraints = f"field {name!r}", entry.get("constraints") or {}
    if not isinstance(constraints, Mapping):
        fail(where, "`constraints` is not a mapping", "write `constraints: {minimum: …, maximum: …}`", "constraints")
    problems = Problems()
    with problems.during():
        check_keys(where, entry, _FIELD_KEYS)
    with problems.during("constraints"):
        check_keys(f"{where}, constraints", constraints, _CONSTRAINT_KEYS)
    with problems.during():
        check_blanks(where, {**entry, **constraints})
    kind, role = entry.get("type", "string"), entry.get("role")
    with problems.during("type"):
        if kind not in (*TYPES, BLANK):
            meant = TYPE_WORDS.get(str(kind).lower())
            fix = f"write {meant!r} if that is meant" if meant else f"use one of {', '.join(TYPES)}"
            fail(where, f"type {kind!r} is not known", fix)
    with problems.during("role"):
        if role not in (None, "target", "identifier", "weight", BLANK):
            fail(where, f"role {role!r} is not known", "use target, identifier, weight or leave it out")
        if role == "weight" and (kind not in ("integer", "number") or {"categories", "map", "from"} & entry.keys()):
            fail(where, "a weight is a number", "give it type number (or integer) with a minimum and a maximum")
    required = problems.value(False, flag, where, "constraints.required", constraints.get("required", False))
    marks = entry.get("missingValues", [])
    ours = [key for key in CONSTRAINT_KEYS if not (old_steps and key == "multipleOf")]
    common = Field(
        name=name,
        type=kind if isinstance(kind, str) else "string",
        role=role if isinstance(role, str) else None,
        formats=problems.value((), formats_of, where, kind, entry.get("format")),
        required=required,
        missing_values=problems.value((), texts, where, "missingValues", marks) if "missingValues" in entry else None,
        extra=plain_mapping(entry, without=FIELD_KEYS),
        extra_constraints=plain_mapping(constraints, without=ours),
        old_step=old_steps,
    )
    problems.refuse()
    if role == "identifier":  # it is not read as a value, so no other key matters
        return common
    given = {**constraints, **entry}
    for key in ("exclusiveMinimum", "exclusiveMaximum"):  # they would change which values may occur
        if given.get(key) is not None:
            fail(where, f"`{key}` is not supported", f"give `{key.removeprefix('exclusive').lower()}` on the grid")
    blank = missing if common.missing_values is None else common.missing_values
    if kind in _SPECIAL:
        ignored = [key for key in FIELD_KEYS if key in entry and kind not in FIELD_KEYS[key].types]
        for key in [*ignored, *(key for key in ("minimum", "maximum", "enum", "multipleOf") if key in constraints)]:
            fail(where, f"`{key}` is not for type {kind}", _SPECIAL[kind], key)
        return _with_map(common, where, given) if kind == PLACE else _with_items(common, where, given, blank, base_dir)
    listed, tree = entry.get("categories", constraints.get("enum")), entry.get("hierarchy")
    unbounded = kind == "integer" and not {"minimum", "maximum"} & {*given}
    if listed is None and tree is not None and (kind == "string" or unbounded):
        leaves = _hierarchy(tree, common, base_dir).leaves
        listed = _numbers(leaves) if kind == "integer" else leaves
    if "map" in entry or "from" in entry:
        source, mapped = parse_map(where, name, entry, base_dir)
        common = replace(common, source=source, mapped=mapped)
    check_place(where, common.type, kind in ("string", "boolean") or listed is not None, entry)
    if kind == "boolean":
        return with_spellings(_with_truth_values(common, where, entry, listed), where, entry, blank)
    if kind == "string" or listed is not None:
        field = _with_categories(common, where, entry, listed, blank)
        field = field if tree is None else replace(field, hierarchy=_hierarchy(tree, field, base_dir))
        return with_spellings(field, where, entry, blank)
    if tree is not None:
        rule = "`hierarchy` is for categories, numeric attributes need none: split points are chosen from the grid"
        fail(where, rule, "take `hierarchy` out", "hierarchy")
    return with_number_form(_with_grid(common, where, entry, given), where, entry, blank)


def _hierarchy(tree: object, one: Field, base_dir: Folder) -> Taxonomy:
    """The hierarchy of a field; without categories these are its leaves."""
    from cantle.schema.hierarchy_files import load_hierarchy

    problems = Problems()
    with problems.during("hierarchy"):
        return load_hierarchy(tree, one.categories, one.name, base_dir)
    raise problems.error()


def _numbers(leaves: tuple[Label, ...]) -> list[Label]:
    """The categories of a field of integers that has only a hierarchy; in files they are texts."""
    whole = all(re.fullmatch(r"-?(0|[1-9]\d{0,15})", str(leaf)) for leaf in leaves)
    return [int(leaf) for leaf in leaves] if whole else [*leaves]


def _with_truth_values(common: Field, where: str, entry: Mapping[str, object], listed: object) -> Field:
    if listed is not None:
        fail(where, "a boolean has the categories false and true already", "take `categories` out")
    if entry.get("hierarchy") is not None:
        fail(where, "a boolean has two values and needs no hierarchy", "take `hierarchy` out", "hierarchy")
    true, false = (texts(where, key, entry.get(key, [])) for key in ("trueValues", "falseValues"))
    if set(true) & set(false):
        fail(where, "a text is in both trueValues and falseValues", "keep it in one")
    return replace(common, true_values=true, false_values=false, unknown=_unknown(where, entry, (False, True)))


def _with_categories(
    common: Field, where: str, entry: Mapping[str, object], listed: object, missing: tuple[str, ...]
) -> Field:
    kind = common.type
    if listed is None:
        fix = "list every value that could occur under `categories`, or give it `role: identifier`"
        fail(where, "a string needs `categories`", fix)
    if kind not in ("string", "integer"):
        fix = "use minimum, maximum and step, or type string"
        fail(where, f"`categories` is not for type {kind}", fix, "categories")
    if not isinstance(listed, list | tuple) or not listed:
        fail(where, "the category list is empty", "list every value that could occur, at least one", "categories")
    value_labels = [_category(where, kind, one) for one in listed]
    categories = tuple(value for value, _ in value_labels)
    for twice in repeated(categories):
        fail(where, f"category {twice!r} is listed twice", "keep it once", "categories")
    spelt = set(map(str, categories))
    clash = next((value for value in ("", *missing) if value in spelt), None)
    if clash is not None:
        rule = f"{clash!r} is both a category and a missing value"
        fail(where, rule, "keep it in one list (empty is missing)", "categories")
    ordered = flag(where, "categoriesOrdered", entry.get("categoriesOrdered", False))
    return replace(
        common,
        categories=categories,
        value_labels=tuple(pair for pair in value_labels if pair[1]),
        ordered=ordered,
        unknown=_unknown(where, entry, categories),
    )


def _category(where: str, kind: str, given: object) -> tuple[str | int, str]:
    """A category and what it means, as in {value: 1, label: male}; empty if the list does not say so."""
    listed = given if isinstance(given, Mapping) else {}
    label, value = listed.get("label"), listed.get("value", given)
    if label is not None and not isinstance(label, str | int):
        fail(where, f"label {label!r} is not text", "put it in quotes", "categories")
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == "integer" and (not is_whole or abs(value) > MAX_INTEGER):
        fail(where, f"category {value!r} is not an integer", "list integers, or use type string", "categories")
    if not is_whole and not isinstance(value, str):
        fail(where, f"category {value!r} is not text", "put it in quotes", "categories")
    return (value if kind == "integer" else str(value)), ("" if label is None else str(label).strip())


def _unknown(where: str, entry: Mapping[str, object], categories: tuple[Label, ...]) -> Label | None:
    policy = entry.get("unknown")
    if policy is None or policy == "null":
        return None
    if policy == "drop":
        return "drop"
    if isinstance(categories[0], str) and isinstance(policy, int) and not isinstance(policy, bool):
        policy = str(policy)
    chosen = next((value for value in categories if policy == value and type(policy) is type(value)), None)
    if chosen is None:
        rule = f"`unknown: {policy}` is not one of its categories"
        fail(where, rule, "use null, drop or a listed category", "unknown")
    return chosen


def _with_grid(common: Field, where: str, entry: Mapping[str, object], given: Mapping[str, object]) -> Field:
    problems, bounds = Problems(), list[Bound]()
    for key, end in (("minimum", "lowest"), ("maximum", "highest")):
        with problems.during(key):
            if key in entry:
                fail(where, f"`{key}` stands beside the type", f"write `constraints: {{{key}: …}}`")
            if given.get(key) is None:
                fail(where, f"it has no {key}", f"add `constraints: {{{key}: …}}`, the {end} value that could occur")
            bounds.append(BOUNDS[common.type](where, key, given[key]))
    with problems.during("unknown"):
        if "unknown" in entry:
            fail(where, "`unknown` is for categories", "take it out: numbers out of range are clamped")
    multiple, step = None if common.old_step else given.get("multipleOf"), given.get("step")
    if multiple is not None:
        multiple = problems.value(None, _distance, where, common.type, "multipleOf", multiple)
    elif step is None and common.type in _NEEDS_STEP:
        with problems.during("step"):
            fail(where, f"a {common.type} needs a `step` or `multipleOf`", _NEEDS_STEP[common.type])
    step = None if step is None else problems.value(None, _distance, where, common.type, "step", step)
    problems.refuse()
    low, high = bounds
    if since_1970(low) > since_1970(high):
        fail(where, f"minimum {plain(low)} is above maximum {plain(high)}", "swap them", "minimum", "maximum")
    if common.role == "weight" and (since_1970(low) < 0 or since_1970(high) <= 0):
        rule = f"weights from {plain(low)} to {plain(high)} are not all positive"
        fail(where, rule, "start at 0 or above", "minimum")
    field = replace(common, minimum=low, maximum=high, step=step, multiple_of=multiple)
    _check_grid(where, field)
    return field


_SPECIAL = {
    PLACE: "give `bounds: [[low lat, low lon], [high lat, high lon]]`",
    LIST: "declare what lists may hold under `items`",
}
"""The types without categories and bounds, and what their columns have instead."""


def _with_map(common: Field, where: str, entry: Mapping[str, object]) -> Field:
    """A place: the bounds of the map, its step, and how the file has it."""
    if common.role == "target":
        fail(where, "a place cannot be the target", "give the role to another column", "role")
    problems, bounds = Problems(), list[tuple[Fraction, Fraction]]()
    with problems.during("bounds"):
        bounds = _corners(where, entry.get("bounds"))
    step = problems.value(Fraction(1), exact, where, "step", entry.get("step"))
    with problems.during("step"):
        if step <= 0 or any((high - low) / step >= MOST_STEPS for low, high in bounds):
            rule = "`step` makes more than 2**26 steps on an axis" if step > 0 else f"step {step} is not positive"
            fail(where, rule, "use a larger step: 0.0001 degrees are 11 metres")
    layout = common.formats[0] if common.formats else "default"
    with problems.during("format"):
        if layout not in ("default", "array", "object"):
            fail(where, f"format {layout!r} is not known", 'use default ("lon, lat"), array or object')
    columns = problems.value((), texts, where, "columns", entry.get("columns", []))
    with problems.during("columns"):
        if columns and (len(set(columns)) != 2 or common.formats):
            fail(where, "`columns` are two, latitude first, and have no `format`", "write `columns: [lat, lon]`")
    form = problems.value(PLAIN, number_form, where, PLACE, entry)
    with problems.during("decimalChar"):
        if form != PLAIN and not columns:
            fail(where, "`decimalChar` is for places in two `columns`", "take it out")
    given = entry.get("share")
    share = None if given is None else problems.value(None, exact, where, "share", given)
    with problems.during("share"):
        if share is not None and not Fraction(1, 20) <= share <= Fraction(9, 10):
            fail(where, f"share {given} is not a share from 0.05 to 0.9", "give the share of epsilon for the place")
    problems.refuse()
    return replace(common, bounds=tuple(bounds), step=step, columns=columns, share=share, form=form)


def _with_items(
    common: Field, where: str, entry: Mapping[str, object], missing: tuple[str, ...], base_dir: Folder
) -> Field:
    """A list: its items, and how texts have them."""
    if common.role is not None:
        fail(where, "lists are no target and no weights", "give the role to another column", "role")
    if entry.get("items") is None:
        fail(where, "a list needs `items`", "list every item that could occur, or name a file with one item per line")
    from cantle.schema.lists import items_of

    delimiter, most = entry.get("delimiter", DELIMITER), entry.get("max_items")
    if not isinstance(delimiter, str) or not delimiter or delimiter == BLANK:
        fail(where, f"delimiter {delimiter!r} is no text", "write what stands between two items in a text", "delimiter")
    items = items_of(where, entry, missing, delimiter, base_dir)
    most = None if most is None else integer(where, "max_items", most)
    if most is not None and not 1 <= most <= items.size:
        rule = f"max_items {most} is not from 1 to {items.size}"
        fail(where, rule, "give the most items that a list may have", "max_items")
    unknown = _unknown(where, entry, tuple(items.items))
    return replace(common, items=items, delimiter=delimiter, most_items=most, unknown=unknown)


def _corners(where: str, given: object) -> list[tuple[Fraction, Fraction]]:
    """The lowest and the highest latitude and longitude."""
    pairs = given if isinstance(given, list | tuple) and len(given) == 2 else ()
    if not pairs or not all(isinstance(one, list | tuple) and len(one) == 2 for one in pairs):
        rule = "it has no `bounds`" if given is None else "`bounds` are not two corners"
        fail(where, rule, "write `bounds: [[40.48, -74.26], [40.93, -73.70]]`, low [lat, lon] and high")
    low, high = ([exact(where, "bounds", one) for one in corner] for corner in pairs)
    for name, least, most, end in zip(("latitude", "longitude"), low, high, (90, 360), strict=True):
        if not -end <= least < most <= end:
            rule = f"the bounds of {name} go from {plain(least)} to {plain(most)}"
            fail(where, rule, f"give a low end below the high one, within -{end} to {end}, latitude first")
    return list(zip(low, high, strict=True))


_NEEDS_STEP = {
    "number": "add the precision worth keeping, such as `step: 0.5`, or what all values are multiples of, such as "
    "`constraints: {multipleOf: 0.01}`",
    "datetime": "add the precision worth keeping, such as `step: 1h` (or seconds, 15min, 1d)",
}


def _distance(where: str, kind: str, key: str, value: object) -> int | Fraction:
    """A checked `step` or `multipleOf`."""
    length = re.fullmatch(r"(\d+)\s*(s|sec|min|h|d)", value) if isinstance(value, str) else None
    if kind == "datetime" and length:
        value = int(length[1]) * _SECONDS[length[2]]
    if kind == "date" and length and length[2] == "d":
        value = int(length[1])
    step = exact(where, key, value) if kind == "number" else integer(where, key, value)
    if step <= 0:
        fail(where, f"{key} {step} is not positive", "give the distance between two values", key)
    return step


def formats_of(where: str, kind: str, value: object) -> tuple[str, ...]:
    """The declared formats of dates."""
    if kind not in ("date", "datetime"):
        return () if value is None else (str(value),)  # a format for other types, kept as it is
    if value in (None, "default"):
        return ()
    listed = value if isinstance(value, list | tuple) else [value]
    if not listed:
        fail(where, "`format` is an empty list", 'list patterns such as "%d/%m/%Y", or leave it out', "format")
    return tuple(_pattern(where, one) for one in listed)


def _pattern(where: str, value: object) -> str:
    # a full date with known parts is required, because a wrong pattern would make every value missing
    given = set(re.findall(r"%(.)", value)) if isinstance(value, str) else set()
    full = given & set("Yy") and given & set("mbB") and given & set("de") or "F" in given
    if not isinstance(value, str) or not full or not given <= set("YymbBdeFHIMSTpRf%z."):
        fail(where, f"format {value!r} is not supported", 'use a pattern such as "%d/%m/%Y", or ISO dates', "format")
    return value


def _check_grid(where: str, one: Field) -> None:
    if one.multiple_of is not None:
        _check_multiples(where, one, one.multiple_of)
    grid = grid_of(one)
    first, end, scale = grid.first, grid.beyond, grid.scale
    if grid.places > MAX_GRID:
        fail(where, "the grid has more than 2**53 values", "narrow the bounds or take a larger step")
    if one.type == "number" and max(abs(first), abs(end), scale) >= MAX_DIGITS:
        fail(where, "bounds and step need more than 15 digits", "narrow the bounds or take a larger step")
    if one.type in ("date", "datetime") and end >= _YEAR_10000 * (1 if one.type == "date" else _SECONDS["d"]):
        fail(where, "the grid runs to the end of the year 9999", "lower the maximum by a step")


def _check_multiples(where: str, one: Field, multiple: int | Fraction) -> None:
    """Refuses a step that is not made of whole multiples, and a minimum that is none, from which the grid starts."""
    if one.step is not None and (one.step / Fraction(multiple)).denominator != 1:
        rule = f"`step` {plain(one.step)} is not a multiple of `multipleOf` {plain(multiple)}"
        fail(where, rule, "give a step that holds whole multiples, or only one of the two", "step")
    if one.type in ("integer", "number"):
        assert one.minimum is not None
        low = since_1970(one.minimum)
        below = low // multiple * multiple
        if below != low:
            near = f"write `minimum: {plain(Fraction(below))}` or {plain(Fraction(below + multiple))}"
            fail(where, f"minimum {plain(one.minimum)} is not a multiple of {plain(multiple)}", near, "minimum")
