"""The law: two inputs that differ in one unit give codes that differ in that unit alone, or the same refusal.

A `Form` is one way of handing data over: it builds pairs of inputs and says how the shipped code reads them. A `Pair`
knows its own rule, because the unit is a record here, a person or a node there. Nothing below knows how reading works.
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
"""Warnings about the versions of libraries, which no record has a part in."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring inputs with their public schema; `rule` says whether the codes of both are neighbours too."""

    schema: dict[str, Any]
    before: Any
    after: Any
    rule: Rule
    shown: str = ""
    """The pair in words, for a failure that people read."""


@dataclass(frozen=True)
class Form:
    """One way to hand data over. `pair` builds two inputs in an empty folder, `read` gives the codes of one."""

    name: str
    engine: str
    pair: Callable[[Random, Path], Pair]
    read: Callable[[dict[str, Any], Any], Codes]
    pairs: int = 500
    """How many are tried by default."""
    reader: str = ""
    """What reads it, where several forms share that; its name by default."""
    batch: int = 1
    """How many pairs go to an engine together."""

    @property
    def cases(self) -> int:
        return -(-self.pairs // self.batch)

    def __str__(self) -> str:
        return f"{self.name} ({self.engine})"


class Unbuildable(Exception):
    """The container refuses the values itself, before the library sees anything: there is no such input."""


@dataclass(frozen=True)
class Outcome:
    """What comes of reading one input: codes, or an error in words."""

    codes: Codes | None
    error: str = ""
    fault: str = ""
    """What is wrong with the error itself, whatever the other input gives."""


def outcome(form: Form, schema: dict[str, Any], data: Any) -> Outcome:
    """Reads one input; a warning counts as an error, for it may depend on a record."""
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
        same = one.error == two.error
        return None if same else f"one is refused, the other is not: {one.error or 'read'!r}, {two.error or 'read'!r}"
    if pair.rule(one.codes, two.codes):
        return None
    return f"codes gone: {dict(one.codes - two.codes)}, codes new: {dict(two.codes - one.codes)}"


def adds_at_most(records: int) -> Rule:
    """All codes of the first are in the second, which has at most so many more."""
    return lambda one, two: not one - two and (two - one).total() <= records


def breaches(form: Form, first: int, last: int, seed: int = SEED) -> Iterator[str]:
    """The cases of a form that break the law, in words that allow to repeat them."""
    with tempfile.TemporaryDirectory() as place:
        for case in range(first, last):
            dice = Random(f"{seed} {form.name} {form.engine} {case}")
            pair = built(form, dice, Path(place))
            found = breach(form, pair)
            if found is not None:
                yield f"{form}, case {case}: {found}\n  {pair.shown or pair}"


def is_found(broken: Form, sound: Form, first: int = 0) -> bool:
    """Whether one of the pairs that a sound form passes breaks the law in a broken one; `first` is tried first."""
    with tempfile.TemporaryDirectory() as place:
        for case in (*range(first, sound.cases), *range(first)):

            def pair(case: int = case) -> Pair:  # made anew, for a broken reader may write to the files
                return built(sound, Random(f"{SEED} {sound.name} {sound.engine} {case}"), Path(place))

            if breach(broken, pair()) is not None and breach(sound, pair()) is None:
                return True
    return False


def built(form: Form, dice: Random, folder: Path) -> Pair:
    """The next pair that the container itself accepts."""
    while True:
        try:
            return form.pair(dice, folder)
        except Unbuildable:
            continue


def files(folder: Path, name: str, before: bytes, after: bytes) -> tuple[Path, Path]:
    """Both contents as files of the same name: a message may say it."""
    made = []
    for part, content in (("one", before), ("two", after)):
        path = folder / part / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        made.append(path)
    return made[0], made[1]


def inserted(dice: Random, records: list[Any], more: list[Any]) -> list[Any]:
    """The records with some more, each at any place."""
    made = list(records)
    for one in more:
        made.insert(dice.randint(0, len(made)), one)
    return made
