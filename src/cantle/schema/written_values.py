"""The parser of keys about how values are written: signs of numbers, blanks, case, and texts that mean other values.

Every check raises a SchemaError that names the field, the rule and the fix; a schema is public, so messages may quote
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from cantle.schema.declared_values import day, exact, flag, integer, moment
from cantle.schema.documents import fail
from cantle.schema.fields import FIELD_KEYS, WRITING, Bound, Field
from cantle.schema.taxonomy import Label
from cantle.schema.values import Folding, NumberForm, trimmed

BOUNDS: dict[str, Callable[[str, str, object], Bound]] = {
    "integer": integer,
    "number": exact,
    "date": day,
    "datetime": moment,
}
_DEFAULTS = {"decimalChar": ".", "groupChar": None, "bareNumber": True, "trim": True, "ignoreCase": False}


def check_place(where: str, kind: str, listed: bool, entry: Mapping[str, object]) -> None:
    """Refuses a key that has no meaning for a column of this type, unless it has its default value."""
    for name in WRITING:
        key = FIELD_KEYS[name]
        if name not in entry or name in ("format", "trueValues", "falseValues") or entry[name] == _DEFAULTS.get(name):
            continue
        if kind not in key.types or key.categories not in (None, listed):
            what = "categories" if key.categories else "numbers" if key.categories is False else ", ".join(key.types)
            fail(where, f"`{name}` is for columns of {what}", "take it out", name)


def with_number_form(one: Field, where: str, entry: Mapping[str, object], marks: tuple[str, ...]) -> Field:
    """The field of numbers or dates, completed by the keys about how they are written."""
    form, read = number_form(where, one.type, entry), BOUNDS[one.type]
    pairs = [(text, read(where, f"`replace` of {text!r}:", value)) for text, value in _replace(where, entry, marks)]
    field = replace(one, form=form)
    already = next((text for text, _ in pairs if _is_read(field, text, marks)), None)
    if already is not None:
        fail(where, f"{already!r} in `replace` is read as a value already", "take it out of `replace`", "replace")
    return replace(field, replaced=tuple((trimmed(text), value) for text, value in pairs))


def number_form(where: str, kind: str, entry: Mapping[str, object]) -> NumberForm:
    """The signs that numbers are written with."""
    # whole numbers have no decimals, so `groupChar: "."` does not require `decimalChar`
    usual = "," if kind == "integer" and entry.get("groupChar") == "." else "."
    form = NumberForm(
        decimal=_sign(where, "decimalChar", entry.get("decimalChar", usual)),
        group=None if entry.get("groupChar") is None else _sign(where, "groupChar", entry["groupChar"], blank=True),
        bare=flag(where, "bareNumber", entry.get("bareNumber", True)),
    )
    if form.group == form.decimal:
        fail(where, "decimalChar and groupChar are the same", "change one", "decimalChar", "groupChar")
    return form


def _is_read(one: Field, text: str, marks: tuple[str, ...]) -> bool:
    import polars as pl

    from cantle.schema.scales import Steps

    scale = one.attribute(marks).scale
    return isinstance(scale, Steps) and not scale.read(pl.Series([text]))[1].any()


def _sign(where: str, key: str, value: object, *, blank: bool = False) -> str:
    if blank and value in (" ", "\xa0", "\u202f"):
        return " "
    if isinstance(value, str) and re.fullmatch(r"[^\w+\-()\[\]\\^\s]", value):
        return value
    return fail(where, f"`{key}` must be a single sign, not a letter, a digit or a bracket", 'write "," or "."', key)


def with_spellings(one: Field, where: str, entry: Mapping[str, object], marks: tuple[str, ...]) -> Field:
    """The field of categories, completed by the keys about how they are written."""
    field = replace(
        one,
        trim=flag(where, "trim", entry.get("trim", True)),
        ignore_case=flag(where, "ignoreCase", entry.get("ignoreCase", False)),
    )
    given = _replace(where, entry, marks)
    if not given and not field.ignore_case:
        return field
    own = _texts(field, marks)
    pairs = [(_key(one, text), _meant(where, one, text, value)) for text, value in given]
    twice = next((text for text, _ in pairs if text in own), None)
    if twice is not None:
        fail(where, f"{twice!r} in `replace` is a category itself", "take it out of one of them", "replace")
    field = replace(field, replaced=tuple(pairs))
    if field.ignore_case:
        _check_case(where, _texts(field, marks), marks)
    return field


def _texts(one: Field, marks: tuple[str, ...]) -> dict[str, int]:
    """All texts that mean a category, with its place."""
    from cantle.schema.scales import Labels

    scale = one.attribute(marks).scale
    return scale.texts if isinstance(scale, Labels) else {}


def _key(one: Field, text: str) -> str:
    """The text under which a category is looked up: 01 is read as 1 in a list of integers."""
    import polars as pl

    from cantle.schema.values import label_text

    return str(label_text(pl.Series([text]), one.type).item())


def _meant(where: str, one: Field, text: str, value: object) -> Label:
    known: tuple[Label, ...] = (False, True) if one.type == "boolean" else one.categories or ()
    if one.type == "string" and type(value) is int:
        value = str(value)
    category = next((label for label in known if label == value and type(label) is type(value)), None)
    if category is None:
        rule = f"`replace` turns {text!r} into {value!r}, which is not one of its categories"
        fail(where, rule, "correct it", "replace")
    return category


def _check_case(where: str, places: Mapping[str, int], marks: tuple[str, ...]) -> None:
    """Refuses texts that differ in case alone and mean different things."""
    folded: dict[str, tuple[str, int]] = {}
    fold, fix = Folding.of([*places, *marks]), "keep one, or take `ignoreCase` out"
    for text, place in places.items():
        other, same = folded.setdefault(fold(text), (text, place))
        if same != place:
            fail(where, f"{other!r} and {text!r} differ in case alone", fix, "ignoreCase")
    for mark in marks:
        if fold(mark) in folded:
            rule = f"category {folded[fold(mark)][0]!r} and missing value {mark!r} differ in case alone"
            fail(where, rule, fix, "ignoreCase")


def _replace(where: str, entry: Mapping[str, object], marks: tuple[str, ...]) -> list[tuple[str, object]]:
    given = entry.get("replace")
    if given is None:
        return []
    if not isinstance(given, Mapping):
        fail(where, "`replace` is not a mapping", "write `replace: {text: value, …}`", "replace")
    pairs = []
    for key, value in given.items():
        text = str(key).lower() if isinstance(key, bool) else str(key)
        if not trimmed(text) or text in marks:
            fail(where, f"{text!r} in `replace` is a missing value", "take it out of one of them", "replace")
        pairs.append((text, value))
    return pairs
