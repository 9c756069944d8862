"""Fields of release.json, read once each and checked for their types, because a release may come from anyone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cantle.errors import VerifyError

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


class Fields:
    """The fields of one mapping in release.json. Each is read once and checked for its type."""

    def __init__(self, document: object, where: str) -> None:
        self._where = where
        self._left: dict[str, object] = dict(checked(document, dict, where or "the whole of it"))

    def take(self, name: str, kind: type[Value]) -> Value:
        """The value of a field, which must have exactly this type; `true` is not a number here."""
        if name not in self._left:
            raise VerifyError(f"release.json is not of the expected form: {self._path(name)} is missing")
        return checked(self._left.pop(name), kind, self._path(name))

    def take_or_none(self, name: str, kind: type[Value]) -> Value | None:
        """The same for a field that may be null."""
        if name in self._left and self._left[name] is None:
            self._left.pop(name)
            return None
        return self.take(name, kind)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def number(self, name: str) -> float:
        """A number, as float; canonical JSON writes 0.0 as 0."""
        value = self._left.get(name)
        return float(self.take(name, int)) if type(value) is int else self.take(name, float)

    def each(self, name: str, read: Callable[[object, str], Value]) -> list[Value]:
        """The values of a list, each converted by `read`."""
        where = self._path(name)
        return [read(value, f"{where}[{i}]") for i, value in enumerate(self.take(name, list))]

    def table(self, name: str, kind: type[Value], *, or_empty: bool = False) -> dict[str, Value]:
        """A mapping whose values are all of one type."""
        if or_empty and name not in self._left:
            return {}
        where = self._path(name)
        return {key: checked(value, kind, f"{where}.{key}") for key, value in self.take(name, dict).items()}

    def all_read(self, made: Value) -> Value:
        """Returns `made`; raises VerifyError if a field was not read."""
        if self._left:
            unknown = self._path(min(self._left))
            raise VerifyError(f"release.json has a field that this version of cantle does not know: {unknown}")
        return made

    def _path(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name


def checked(value: object, kind: type[Value], where: str) -> Value:
    """The value, if it is exactly of this type."""
    if not isinstance(value, kind) or type(value) is not kind:
        raise VerifyError(f"release.json is not of the expected form: {where} is not {_WORDS[kind]}")
    return value


def whole(value: object, where: str) -> int:
    return checked(value, int, where)


def text(value: object, where: str) -> str:
    return checked(value, str, where)
