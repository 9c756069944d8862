"""Fields of release.json, read once each and checked for their types, because a release may come from anyone.

`read` makes a dataclass of a mapping: its fields are the only definition of what the mapping holds. `written` is
the way back.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from cantle.errors import ParameterError, VerifyError, raise_alone
from cantle.schema import canonical_json
from cantle.schema.canonical_json import JSON

Document = dict[str, Any]
"""Settings or structure in JSON, of a form that depends on the method."""
Value = TypeVar("Value")

_WORDS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


def read(kind: type[Value], document: object, where: str = "", **known: object) -> Value:
    """An object of a dataclass, made of a mapping that has its fields and no others; those known already are left out.

    Raises a VerifyError that names the field if one is missing, unknown or of another type. Only fields that
    have a default may be missing.
    """
    left = dict(checked(document, dict, where or "the whole of it"))
    types, values = _types(kind), dict(known)  # type: ignore[arg-type]
    for one in [one for one in fields(kind) if one.name not in known]:  # type: ignore[arg-type]
        path = f"{where}.{one.name}" if where else one.name
        if one.name in left:
            values[one.name] = _read_as(types[one.name], left.pop(one.name), path)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise VerifyError(f"release.json is not of the expected form: {path} is missing")
    if left:
        path = f"{where}.{min(left)}" if where else min(left)
        raise VerifyError(f"release.json has a field that this version of cantle does not know: {path}")
    try:
        return kind(**values)
    except ParameterError as error:
        raise_alone(VerifyError(f"release.json is not of the expected form: {where}: {error}"))


@cache
def _types(kind: Any) -> dict[str, Any]:
    """The types of the fields of a dataclass by name."""
    return get_type_hints(kind, localns=vars(canonical_json))  # types of JSON name each other there


def _read_as(kind: Any, value: object, where: str) -> object:
    """A value of this type, which is that of a field of a dataclass; `true` is not a number here."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is UnionType:  # a type, or None
        return None if value is None else _read_as(next(one for one in parts if one is not NoneType), value, where)
    if origin is tuple:
        listed = checked(value, list, where)
        kinds = [parts[0]] * len(listed) if parts[1:] == (...,) else parts
        if len(kinds) != len(listed):
            raise VerifyError(f"release.json is not of the expected form: {where} does not have {len(kinds)} values")
        return tuple(_read_as(kinds[i], one, f"{where}[{i}]") for i, one in enumerate(listed))
    if origin is dict:
        mapping = checked(value, dict, where)
        if parts[1] in _WORDS:
            mapping = {key: checked(one, parts[1], f"{where}.{key}") for key, one in mapping.items()}
        return mapping
    if isinstance(kind, type) and is_dataclass(kind):
        return read(kind, value, where)
    made: object = checked(value, kind, where)
    return made


def written(value: object) -> JSON:
    """An object of a dataclass as JSON, such that `read` gives it back.

    >>> from cantle.trusted.core.budget import Unit
    >>> written((Unit(2), None)), read(Unit, written(Unit(2))) == Unit(2)
    ([{'max_records': 2, 'kind': 'record'}, None], True)
    """
    if is_dataclass(value):
        return {one.name: written(getattr(value, one.name)) for one in fields(value)}
    return [written(one) for one in value] if isinstance(value, tuple) else value  # type: ignore[return-value]


def checked(value: object, kind: type[Value], where: str) -> Value:
    """The value, if it is exactly of this type."""
    if not isinstance(value, kind) or type(value) is not kind:
        raise VerifyError(f"release.json is not of the expected form: {where} is not {_WORDS[kind]}")
    return value
