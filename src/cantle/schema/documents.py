"""Parsers for YAML and JSON texts; even a hostile text causes nothing worse than a SchemaError.

They read schemas and hierarchy files, which are public, so messages may quote them.

A check refuses by raising a SchemaError. `Problems` collects the refusals of several checks, so that people see all
blanks and errors at once, with the lines of the file.
"""

from __future__ import annotations

import json
import math
import os
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

from cantle.errors import Place, Problem, SchemaError

if TYPE_CHECKING:
    import yaml


MAX_DEPTH = 100  # levels of a taxonomy
MAX_NESTING = 2 * MAX_DEPTH + 10  # levels of lists and mappings; a named group inside a list takes two
MAX_SIZE = 10_000_000  # values
MAX_INTEGER = 2**53 - 1  # what JSON holds exactly, so that every release can state its schema
MAX_BYTES, MAX_YAML_BYTES = 1 << 30, 8 << 20  # of a file beside a schema; YAML is slow to parse

_quoting = reprlib.Repr()
_quoting.maxstring = _quoting.maxother = 80


def quote(value: object) -> str:
    """A public value as shown in a message, shortened if it is long."""
    try:
        return _quoting.repr(value)
    except ValueError:  # an integer too long to be written
        return f"a very long {type(value).__name__}"


def fail(where: str, rule: str, fix: str, *keys: str) -> NoReturn:
    """Refuses the schema; `keys` (such as `constraints.minimum` or `fields.0`) say where the error is."""
    text = f"{where}: {rule}; {fix}."
    places = tuple(tuple(int(one) if one.isdecimal() else one for one in key.split(".")) for key in keys)
    raise SchemaError(text, (Problem(text, places),))


def read_text(path: Path, name: str, where: str) -> str:
    """The text of a file that belongs to a schema; messages call it by this name."""
    most = MAX_YAML_BYTES if path.suffix.lower() in (".yaml", ".yml") else MAX_BYTES
    try:
        if not path.is_file():
            fail(where, f"there is no file {quote(name)}", "give its path from the folder of the schema")
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            fail(where, f"{quote(name)} is larger than {most >> 20} MiB", "declare fewer or shorter values")
        return content.decode("utf-8-sig")
    except (OSError, ValueError):
        fail(where, f"the file {quote(name)} cannot be read as UTF-8 text", "check its permissions and encoding")


def parse_document(text: str, where: str, is_json: bool) -> object:
    """The document in a YAML or JSON text, whose size is in proportion to the text; otherwise raises SchemaError.

    The text is public, so the message may quote the line that is wrong.
    """
    try:
        return _from_json(text, where) if is_json else _from_yaml(text, where)
    except RecursionError:
        _refuse_depth(where)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):  # what converters of scalars raise
        fail(where, "a value in it does not fit its tag or its digits", "put numbers and odd texts in quotes")


def _from_json(text: str, where: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _without_repeats(pairs, where))
    except json.JSONDecodeError as broken:
        fail(where, f"it is not valid JSON (line {broken.lineno}: {broken.msg})", "correct that line")


def _without_repeats(pairs: list[tuple[str, object]], where: str) -> dict[str, object]:
    """The mapping of pairs; a repeated key is refused, because one of its two values would be lost silently."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        _refuse_repeat(where, "", next(key for place, key in enumerate(keys) if key in keys[:place]))
    return mapping


def _refuse_repeat(where: str, line: str, key: object) -> NoReturn:
    fail(where, f"{line}the key {key!r} stands twice in one mapping", "keep one of the two")


def _from_yaml(text: str, where: str) -> object:
    import yaml

    try:
        _check_events(text, where)
        return yaml.load(text, Loader=_yaml_loader(where))
    except yaml.YAMLError as broken:
        mark = getattr(broken, "problem_mark", None)
        place = f" (line {mark.line + 1}: {getattr(broken, 'problem', '')})" if mark else ""
        fail(where, f"it is not valid YAML{place}", "correct that line")


def _check_events(text: str, where: str) -> None:
    """Refuses anchors, aliases and merges, and a YAML text that is nested too deeply for the loader's stack.

    With aliases a short text can expand to more values than fit in memory; and a schema is clearer without them.
    """
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        merges = isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]
        name = "<<" if merges else getattr(event, "anchor", None)
        if name is not None:
            line = f"line {event.start_mark.line + 1}" if event.start_mark else "a line"
            fail(where, f"{line} has a YAML anchor, alias or merge ({name})", "write the values out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_NESTING:
            _refuse_depth(where)


def check_values(value: object, where: str, depth: int = 0) -> int:
    """Refuses lists and mappings that are nested too deeply or too many, and values that JSON does not have; returns
    the number of values."""
    if depth > MAX_NESTING:
        _refuse_depth(where)
    size = 1
    for key in value if isinstance(value, Mapping) else ():
        _check_scalar(key, where)
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        size += 1
        if isinstance(one, str | int | float):
            _check_scalar(one, where)
        elif isinstance(one, list | tuple | Mapping):
            size += check_values(one, where, depth + 1)
        elif one is not None and not isinstance(one, date | Decimal | os.PathLike):
            fail(where, f"a value of type {type(one).__name__} has no form in JSON", "write it as text or number")
    if size > MAX_SIZE:
        fail(where, f"it has more than {MAX_SIZE:,} values", "declare fewer")
    return size


def _check_scalar(value: object, where: str) -> None:
    """Refuses values that canonical JSON cannot hold: a release contains its schema, and by then the budget is
    spent."""
    if isinstance(value, str):
        check_text(value, where)
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        rule = "a whole number in it is 2**53 or larger (or -2**53 or smaller)"
        fail(where, rule, "narrow it, or put it in quotes if it is text")
    elif isinstance(value, float) and not math.isfinite(value):
        fail(where, "JSON has no nan and no infinity", "write a finite number")


def half_in(text: str) -> bool:
    """Whether a text holds half of a surrogate pair."""
    return not text.isascii() and re.search("[\ud800-\udfff]", text) is not None


def check_text(text: str, where: str) -> None:
    """Refuses a text that cannot be written in UTF-8."""
    if half_in(text):
        fail(where, f"{text[:80]!a} holds half a character (a lone surrogate)", "write it in full")


def one_line(value: object) -> str:
    """JSON on one line that is YAML too: characters YAML does not allow in a file are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)


def _refuse_depth(where: str) -> NoReturn:
    fail(where, f"it is nested more than {MAX_DEPTH} levels deep", "make it flatter")


def _yaml_loader(where: str) -> type[yaml.SafeLoader]:
    """A safe YAML loader for the types of JSON, in which everything but true/false, plain numbers and null is text.

    YAML 1.1 would turn the categories `yes` and `no` into booleans, 010 into 8 and 12:30 into 750.
    """
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    kinds = {None, *(f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float", "str", "seq", "map"))}

    class Loader(base):  # type: ignore[misc, valid-type]
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        yaml_constructors = {kind: made for kind, made in base.yaml_constructors.items() if kind in kinds}

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
            mapping: dict[object, object] = super().construct_mapping(node, deep)
            if len(mapping) < len(node.value):
                keys = [self.construct_object(key) for key, _ in node.value]
                place = next(place for place, key in enumerate(keys) if key in keys[:place])
                _refuse_repeat(where, f"line {node.value[place][0].start_mark.line + 1}: ", keys[place])
            return mapping

    for tag, pattern, starts in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("int", r"-?(0|[1-9][0-9]*)", "-0123456789"),
        ("float", r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", "-0123456789"),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(starts))
    return Loader


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


def with_lines(error: SchemaError, where: str, text: str) -> SchemaError:
    """The error of a schema that was read from a file, with the lines that it is about."""
    root = _composed(text)
    located = sorted(((_lines(root, one.places), one) for one in error.problems), key=lambda pair: pair[0])
    if len(located) == 1:
        lines, one = located[0]
        what = one.text.removeprefix("schema: ")
        return SchemaError(f"{where}, {_in_words(lines)}: {what}", (one,))
    messages = [f"{_in_words(lines)}: {one.text}" for lines, one in located]
    problems = (Problem(text, one.places) for text, (_, one) in zip(messages, located, strict=True))
    return SchemaError(_listing(where, messages), tuple(problems))


def _in_words(lines: list[int]) -> str:
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


def _lines(root: yaml.Node | None, places: tuple[Place, ...]) -> list[int]:
    return sorted({_line(root, place) for place in places or ((),)})


def _line(root: yaml.Node | None, place: Place) -> int:
    """The line of a place (of its key, if it has one), or of what encloses it if it does not exist. A place may lack
    `constraints`."""
    line, at = 1, _parts(root)
    for step in place:
        if str(step) not in at and "constraints" in at:
            at = _parts(at["constraints"][1])
        if str(step) not in at:
            break
        line, inside = at[str(step)]
        at = _parts(inside)
    return line


def _parts(node: yaml.Node | None) -> dict[str, tuple[int, yaml.Node]]:
    """What a list or a mapping holds, with the line on which each part starts."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return {str(at): (one.start_mark.line + 1, one) for at, one in enumerate(node.value)}
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return {str(key.value): (key.start_mark.line + 1, one) for key, one in pairs}


def _composed(text: str) -> yaml.Node | None:
    """The nodes of a valid YAML or JSON text: JSON is YAML, but for tabs."""
    import yaml

    try:
        return yaml.compose(text.replace("\t", " "), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError):  # JSON has keys of more than 1,024 characters
        return None
