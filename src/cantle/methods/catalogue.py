"""The methods by name, and the method for each kind of data. A file of a method is loaded when it is asked for.

METHODS lists all methods by name. AUTOMATIC says how `method="auto"` makes a method for each kind of data.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from cantle.errors import ParameterError
from cantle.methods.base import Method
from cantle.methods.settings import rules_of
from cantle.schema import Schema

if TYPE_CHECKING:
    from cantle.schema.sets import SetSchema

_CLASSES = {
    "table": {"mosaic": "Mosaic", "rps": "RPS", "diffgen": "DiffGen"},
    "sets": {"diffpart": "DiffPart", "baskets": "Baskets"},
    "sequences": {"journeys": "Journeys"},
    "graph": {"degrees": "DegreeSequence"},
}
"""The class of each method, by the kind of data; the file has the name of the method."""


class _Methods(Mapping[str, type[Method]]):
    """The classes by name. A file is loaded when its class is asked for, so that a release loads one method only."""

    def __getitem__(self, name: str) -> type[Method]:
        (found,) = (named[name] for named in _CLASSES.values() if name in named)
        return cast(type[Method], getattr(import_module(f"cantle.methods.{name}.method"), found))

    def __iter__(self) -> Iterator[str]:
        return (name for named in _CLASSES.values() for name in named)

    def __len__(self) -> int:
        return sum(map(len, _CLASSES.values()))


METHODS: Mapping[str, type[Method]] = _Methods()


def methods_for(kind: str) -> list[str]:
    """The names of the methods for a kind of data."""
    return [*_CLASSES[kind]]


def make_method(schema: Schema, method: str, preset: str, parameters: Mapping[str, object]) -> Method:
    """The method of this name with its settings checked; no data is read. `auto` chooses by the schema."""
    if method not in ("auto", *METHODS):
        near = difflib.get_close_matches(method, METHODS, 1, 0.75)
        hint = f"did you mean {near[0]}? Use" if near else "use"
        raise ParameterError(f"method {method!r} is not known; {hint} one of auto, {', '.join(METHODS)}")
    able = methods_for(schema.kind)
    if method not in ("auto", *able):
        raise ParameterError(f"method {method} is not for {schema.kind} data; use {' or '.join(able)}, or auto")
    if method == "auto":
        return AUTOMATIC[schema.kind](schema, preset, parameters)
    return METHODS[method].for_schema(schema, preset=preset, **parameters)


def _always(taken: str, schema: Schema, preset: str, parameters: Mapping[str, object]) -> Method:
    """The same method for all schemas; refuses a parameter that only others have, and names them."""
    for name in parameters:
        able = [other for other in methods_for(schema.kind) if name in rules_of(METHODS[other].Settings)]
        if able and taken not in able:
            raise ParameterError(f"{taken} has no parameter {name!r}; name the method: {' or '.join(able)}")
    return METHODS[taken].for_schema(schema, preset=preset, **parameters)


def _by_universe(schema: SetSchema, preset: str, parameters: Mapping[str, object]) -> Method:
    """A method for sets; the number of declared items decides, and sometimes the sizes of the sets."""
    from cantle.methods.auto_sets import auto_sets

    return cast(Method, auto_sets(schema, preset, parameters))  # the name of a BySizes changes while it runs


AUTOMATIC: dict[str, Callable[[Any, str, Mapping[str, object]], Method]] = {
    "table": partial(_always, "mosaic"),
    "sets": _by_universe,
    "sequences": partial(_always, "journeys"),
    "graph": partial(_always, "degrees"),
}
"""For each kind of data the function that makes a method from a schema, a preset and parameters."""
