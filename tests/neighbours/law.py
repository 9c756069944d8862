"""The law of neighbours: two inputs that differ in one unit give codes that differ in that unit, or the same error.

A `Form` is one way to pass data to the library: it builds pairs of inputs, and reads them with the shipped code. Each
`Pair` has its own rule, because the unit may be a record, a person or a node. This file does not depend on readers.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from cantle.errors import CantleError

Codes = Counter[Hashable]
Rule = Callable[[Codes, Codes], bool]

SEED = 1
OF_VERSIONS = (("PySpark does not yet fully support pandas", FutureWarning), (".*is deprecated", DeprecationWarning))
"""Warnings about versions of libraries, which do not depend on records."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring inputs with their public schema; `rule` decides whether their codes are neighbours too."""

    schema: dict[str, Any]
    before: Any
    after: Any
    rule: Rule
    shown: str = ""
    """The pair as text, for messages about failures."""


@dataclass(frozen=True)
class Form:
    """One way to pass data. `pair` builds two inputs in an empty folder; `read` returns the codes of one input."""

    name: str
    engine: str
    pair: Callable[[Random, Path], Pair]
    read: Callable[[dict[str, Any], Any], Codes]
    pairs: int = 500
    """The number of pairs that `python -m tests.neighbours` tests."""
    reader: str = ""
    """The name of the reader, which several forms may share; by default the name of the form."""
    batch: int = 1
    """The number of pairs that an engine gets together."""

    @property
    def cases(self) -> int:
        return -(-self.pairs // self.batch)

    def __str__(self) -> str:
        return f"{self.name} ({self.engine})"


class Unbuildable(Exception):
    """The container itself refuses the values, so there is no such input."""


@dataclass(frozen=True)
class Outcome:
    """The result of reading one input: codes, or the message of an error."""

    codes: Codes | None
    error: str = ""
    fault: str = ""
    """What is wrong with the error itself, whatever the result of the other input."""


def outcome(form: Form, schema: dict[str, Any], data: Any) -> Outcome:
    """Reads one input; a warning counts as an error, because it may depend on a record."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for words, kind in OF_VERSIONS:
                warnings.filterwarnings("ignore", words, kind)
            return Outcome(form.read(schema, data))
    except CantleError as error:
        kept = error.__context__ if error.__context__ is not None else error.__cause__
        fault = "" if kept is None else f"our error keeps {type(kept).__name__} of another library"
        return Outcome(None, f"{type(error).__name__}: {error}", fault)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return Outcome(None, f"{type(error).__name__}: {error}", "the error is not one of ours")


def breach(form: Form, pair: Pair) -> str | None:
    """How a pair breaks the law, or None if it keeps it."""
    one, two = outcome(form, pair.schema, pair.before), outcome(form, pair.schema, pair.after)
    for found in (one, two):
        if found.fault:
            return f"{found.fault}: {found.error}"
    if one.codes is None or two.codes is None:
        if form.batch > 1:
            return f"a whole batch is refused: {one.error or two.error}"
        same = one.error == two.error
        return None if same else f"one is refused, the other is not: {one.error or 'read'!r}, {two.error or 'read'!r}"
    if pair.rule(one.codes, two.codes):
        return None
    return f"codes gone: {dict(one.codes - two.codes)}, codes new: {dict(two.codes - one.codes)}"


def adds_at_most(records: int) -> Rule:
    """All codes of the first input are in the second, which has at most this many more."""
    return lambda one, two: not one - two and (two - one).total() <= records


def breaches(form: Form, first: int, last: int, seed: int = SEED) -> Iterator[str]:
    """Describes the cases of a form that break the law, with what is needed to repeat them."""
    with tempfile.TemporaryDirectory() as place:
        for case in range(first, last):
            dice = Random(f"{seed} {form.name} {form.engine} {case}")
            pair = built(form, dice, Path(place))
            problem = breach(form, pair)
            if problem is not None:
                yield f"{form}, case {case}: {problem}\n  {pair.shown or pair}"


def is_found(broken: Form, sound: Form, first: int = 0) -> bool:
    """Whether some pair keeps the law in the sound form and breaks it in the broken one; case `first` comes first."""
    with tempfile.TemporaryDirectory() as place:
        for case in (*range(first, sound.cases), *range(first)):

            def pair(case: int = case) -> Pair:  # built again each time, because a broken reader may change the files
                return built(sound, Random(f"{SEED} {sound.name} {sound.engine} {case}"), Path(place))

            if breach(broken, pair()) is not None and breach(sound, pair()) is None:
                return True
    return False


def built(form: Form, dice: Random, folder: Path) -> Pair:
    """The next pair that the container accepts."""
    while True:
        try:
            return form.pair(dice, folder)
        except Unbuildable:
            continue


def files(folder: Path, name: str, before: bytes, after: bytes) -> tuple[Path, Path]:
    """Writes both contents to files of the same name, because a message may contain it."""
    paths = []
    for part, content in (("one", before), ("two", after)):
        path = folder / part / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        paths.append(path)
    return paths[0], paths[1]


def inserted(dice: Random, records: list[Any], more: list[Any]) -> list[Any]:
    """The records with some more, each at a random position."""
    result = list(records)
    for one in more:
        result.insert(dice.randint(0, len(result)), one)
    return result
