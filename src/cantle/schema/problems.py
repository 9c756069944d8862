"""All problems of a schema in one error, with the lines of its file.

A check refuses by raising a SchemaError. `Problems` collects the refusals of several checks, so that people see all
blanks and errors at once. A schema is public, so messages may quote it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from cantle.errors import Place, Problem, SchemaError

if TYPE_CHECKING:
    import yaml

MOST_SHOWN = 200

Result = TypeVar("Result")
Given = ParamSpec("Given")


class Problems:
    """The refusals of the checks of a schema.

    >>> problems = Problems()
    >>> for key in ("minimum", "maximum"):
    ...     with problems.during("fields", 0, key):
    ...         raise SchemaError(f"it has no {key}.")
    >>> print(problems.error())
    the schema has 2 problems:
      it has no minimum.
      it has no maximum.
    """

    def __init__(self) -> None:
        self.found: list[Problem] = []

    @contextmanager
    def during(self, *place: str | int) -> Iterator[None]:
        """A context in which a refusal ends the block; it is kept with its place, and the program goes on after the
        block."""
        try:
            yield
        except SchemaError as refused:
            for one in refused.problems:
                self.found.append(Problem(one.text, tuple((*place, *inside) for inside in one.places or ((),))))

    def value(
        self, otherwise: Result, check: Callable[Given, Result], *given: Given.args, **more: Given.kwargs
    ) -> Result:
        """The result of a check, or `otherwise` if it refuses."""
        with self.during():
            return check(*given, **more)
        return otherwise

    def error(self) -> SchemaError:
        """One error for all refusals."""
        return SchemaError(_listing("the schema", [one.text for one in self.found]), tuple(self.found))

    def refuse(self) -> None:
        """Raises that error, if a check refused."""
        if self.found:
            raise self.error()


def _listing(where: str, texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    more = [f"and {len(texts) - MOST_SHOWN:,} more."] if len(texts) > MOST_SHOWN else []
    return "\n  ".join([f"{where} has {len(texts):,} problems:", *texts[:MOST_SHOWN], *more])


# ---------------------------------------------------------------------------------------------------------------- lines


def with_lines(error: SchemaError, where: str, text: str, is_json: bool) -> SchemaError:
    """The error of a schema that was read from a file, with the lines that it is about."""
    root = _json_spots(text) if is_json else _yaml_spots(text)
    located = sorted(((_lines(root, one.places), one) for one in error.problems), key=lambda pair: pair[0])
    if len(located) == 1:
        lines, one = located[0]
        what = one.text.removeprefix("schema: ")
        return SchemaError(f"{where}, {_in_words(lines)}: {what}", (one,))
    messages = [f"{_in_words(lines)}: {one.text}" for lines, one in located]
    return SchemaError(_listing(where, messages), tuple(Problem(*pair) for pair in _paired(messages, located)))


def _paired(messages: list[str], located: list[tuple[list[int], Problem]]) -> list[tuple[str, tuple[Place, ...]]]:
    return [(text, one.places) for text, (_, one) in zip(messages, located, strict=True)]


def _in_words(lines: list[int]) -> str:
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


@dataclass
class _Spot:
    """The line on which a value of a document starts (its key, if it has one), and the spots inside it."""

    line: int
    parts: dict[str | int, _Spot] = field(default_factory=dict)
    is_list: bool = False


def _lines(root: _Spot, places: tuple[Place, ...]) -> list[int]:
    return sorted({_line(root, place) for place in places or ((),)})


def _line(root: _Spot, place: Place) -> int:
    """The line of a place, or of what encloses it if it does not exist. `constraints` may be missing in a place."""
    at = root
    for step in place:
        inside = at.parts if step in at.parts else at.parts.get("constraints", at).parts
        if step not in inside:
            break
        at = inside[step]
    return at.line


def _yaml_spots(text: str) -> _Spot:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    node = yaml.compose(text, Loader=loader)
    return _Spot(1) if node is None else _spot(node, 1)


def _spot(node: yaml.Node, line: int) -> _Spot:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return _Spot(line, {at: _spot(one, one.start_mark.line + 1) for at, one in enumerate(node.value)}, is_list=True)
    if isinstance(node, yaml.MappingNode):
        return _Spot(line, {str(key.value): _spot(one, key.start_mark.line + 1) for key, one in node.value})
    return _Spot(line)


_TEXT = r'"(?:[^"\\]|\\.)*"'
_JSON = re.compile(rf'(?P<key>{_TEXT})\s*:|(?P<open>[{{\[])|(?P<close>[}}\]])|(?P<value>{_TEXT}|[^\s,{{}}\[\]":]+)')


def _json_spots(text: str) -> _Spot:
    """The spots of a valid JSON text."""
    ends = [match.start() for match in re.finditer("\n", text)]
    stack, key, line = [_Spot(1, is_list=True)], "", 1
    for match in _JSON.finditer(text):
        if match["close"]:
            stack.pop()
            continue
        parent = stack[-1]
        if match["key"] is not None or parent.is_list:
            line = bisect_right(ends, match.start()) + 1
        if match["key"] is not None:
            key = json.loads(match["key"])
            continue
        spot = _Spot(line, is_list=match["open"] == "[")
        parent.parts[len(parent.parts) if parent.is_list else key] = spot
        if match["open"]:
            stack.append(spot)
    return stack[0].parts.get(0, stack[0])
