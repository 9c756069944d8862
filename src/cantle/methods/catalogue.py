"""The methods by name, and the method for each kind of data. A file of a method is loaded when it is asked for.

METHODS lists our methods by name. AUTOMATIC says how `method="auto"` makes a method for each kind of data. A method can
also be somebody's own partitioning: an object, its class, the address of the class, or the name of an entry point.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
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
    "families": {"families": "Families"},
}
"""The class of each method, by the kind of data; the file has the name of the method."""

ENTRY_POINTS = "cantle.methods"
"""The group in which packages name partitionings of their own (docs/framework.md)."""


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


def make_method(schema: Schema, method: object, preset: str, parameters: Mapping[str, object]) -> Method:
    """The method of this name with its settings checked; no data is read. `auto` chooses by the schema. Whatever is no
    name of ours must be somebody's partitioning."""
    if not isinstance(method, str) or method not in ("auto", *METHODS):
        found = _found(method)
        if found is not None:
            return _own(schema, found, preset, parameters)
        near = difflib.get_close_matches(str(method), METHODS, 1, 0.75) if isinstance(method, str) else []
        hint = f"did you mean {near[0]}? Use" if near else "use"
        raise ParameterError(
            f"method {method!r} is not known; {hint} one of auto, {', '.join(METHODS)}, or a partitioning: an object, "
            "its class, or package.module:Class (cantle.framework)"
        )
    able = methods_for(schema.kind)
    if method not in ("auto", *able):
        raise ParameterError(f"method {method} is not for {schema.kind} data; use {' or '.join(able)}, or auto")
    if method == "auto":
        return AUTOMATIC[schema.kind](schema, preset, parameters)
    return METHODS[method].for_schema(schema, preset=preset, **parameters)


def _found(method: object) -> object:
    """What an address (package.module:Class) or the name of an entry point stands for; other texts for nothing, and
    anything else for itself."""
    if not isinstance(method, str):
        return method
    if ":" not in method:
        named = entry_points(group=ENTRY_POINTS, name=method)
        return next(iter(named)).load() if named else None
    module, _, name = method.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        told = str(error)
    raise ParameterError(f"method {method}: there is no such class ({told}); write package.module:Class")


def _own(schema: Schema, found: object, preset: str, parameters: Mapping[str, object]) -> Method:
    """A run of somebody's partitioning; refuses what is none."""
    from cantle.framework.partitioning import Partitioning
    from cantle.framework.run import PartitioningRun

    if isinstance(found, type) and issubclass(found, Partitioning):
        found, parameters = found(**parameters), {}
    if not isinstance(found, Partitioning):
        what = found.__name__ if isinstance(found, type) else type(found).__name__
        raise ParameterError(f"method: {what} is no partitioning; derive it from cantle.framework.Partitioning")
    mine = type(found).__name__
    if parameters:
        raise ParameterError(f"give the parameters to the object: {mine}({min(parameters)}=…), not to publish or plan")
    if preset != "default":
        raise ParameterError(f"{mine} has no presets; leave preset out")
    if found.name in ("auto", *METHODS):
        raise ParameterError(f"{mine}: {found.name} is the name of a method of cantle; give the class another `name`")
    if schema.kind != found.kind:
        raise ParameterError(f"{mine} partitions tables, and this schema is for {schema.kind} data")
    return cast(Method, PartitioningRun.of(schema, found))  # each object has a name of its own


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
    "families": partial(_always, "families"),
}
"""For each kind of data the function that makes a method from a schema, a preset and parameters."""
