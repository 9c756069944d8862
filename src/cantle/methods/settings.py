"""Keyword parameters of methods: each method has a class of settings, whose rules parse and check every parameter."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, fields
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, SupportsInt, TypeVar

from cantle.errors import ParameterError, raise_alone

Settings = TypeVar("Settings")

Echo = dict[str, str | int | None]
"""Settings as they are written in release.json."""

Rule = tuple[Callable[[object], object], str]
"""A parser of values, which raises a ValueError or TypeError for a wrong value, and the rule in words."""


def one_of(*words: str) -> Rule:
    """A rule for exactly one of the words."""

    def read(value: object) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return read, "one of " + ", ".join(words)


def parsed(parse: Callable[[str], object], text: str) -> Rule:
    """A rule for a text that `parse` accepts; it raises a ValueError for others."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            raise TypeError
        return parse(value)

    return read, text


def whole(low: int, high: int) -> Rule:
    """A rule for a whole number from `low` to `high`."""

    def read(value: object) -> int:
        if not isinstance(value, str | SupportsInt):
            raise TypeError
        number = int(value)
        if isinstance(value, bool) or not (isinstance(value, str) or number == value) or not low <= number <= high:
            raise ValueError
        return number

    return read, f"a whole number from {low} to {high}"


def maybe(rule: Rule, word: str) -> Rule:
    """A rule that also accepts None, written as None or as the word."""
    read, text = rule
    return (lambda value: None if value is None or value == word else read(value)), f"{text}, or {word}"


def or_word(rule: Rule, word: str) -> Rule:
    """A rule that also accepts the word itself."""
    read, text = rule
    return (lambda value: word if value == word else read(value)), f"{text}, {word}"


def _fraction(value: object) -> Fraction:
    """An exact number; a float is taken as the decimal that it prints as."""
    if isinstance(value, bool) or not isinstance(value, str | float | Rational | Decimal):
        raise TypeError
    return Fraction(repr(float(value)) if isinstance(value, float) else value)


def _exact(text: str, accepts: Callable[[Fraction], bool]) -> Rule:
    """A rule for an exact number that satisfies a condition."""

    def read(value: object) -> Fraction:
        fraction = _fraction(value)
        if not accepts(fraction):
            raise ValueError
        return fraction

    return read, text


def share(*, positive: bool = False) -> Rule:
    """A rule for an exact fraction below 1 that is at least 0, or above 0 if `positive`."""
    if positive:
        return _exact("a share above 0 and below 1", lambda given: 0 < given < 1)
    return _exact("a share from 0 to below 1", lambda given: 0 <= given < 1)


def share_up_to(most: Fraction) -> Rule:
    """A rule for an exact fraction from 0 to `most`."""
    return _exact(f"a share from 0 to {most}", lambda given: 0 <= given <= most)


def decimal(high: int) -> Rule:
    """A rule for an exact number from 0 to `high`."""
    return _exact(f"a number from 0 to {high}", lambda given: 0 <= given <= high)


def flag() -> Rule:
    """A rule for true or false."""

    def read(value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    return read, "true or false"


def setting(rule: Rule, *, shown: bool = False, unless: object = ...) -> Any:  # a field takes the type of its class
    """A field of a class of settings, which the rule parses.

    Help texts name the fields that are `shown`; the others are for preset paper and for those who study the method.
    Releases do not name a field that has the value `unless`.
    """
    return field(metadata={"rule": rule, "shown": shown, "unless": unless})


def literal_switch() -> Any:
    """The field `literal`, off by default: preset paper to the letter. Releases name it only where it is on."""
    return setting(flag(), unless=False)


def refuse_literal(method: str, preset: str, given: Mapping[str, object]) -> None:
    """Refuses `literal` beside any preset but paper."""
    if given.get("literal") is True and preset != "paper":
        raise ParameterError(f"{method} parameter literal makes preset paper literal; add preset=paper")


def rules_of(kind: type) -> dict[str, Rule]:
    """The rule of each parameter."""
    return {one.name: one.metadata["rule"] for one in fields(kind)}


_MEANT = {
    "seed": "noise comes from the operating system; insecure_seed makes a release repeatable, and NOT PRIVATE",
    "delta": "every release has pure epsilon-differential privacy: delta is 0",
} | dict.fromkeys(("target", "label", "categories", "bounds", "unit"), "declare it in the schema")
_MEANT["random_state"] = _MEANT["seed"]
"""Parameters of other libraries, and what to use instead."""


def unknown_parameter(method: str, name: str, known: Collection[str]) -> str:
    """The message that a method has no such parameter, with a hint at the one that may be meant."""
    near = difflib.get_close_matches(name, [*known, "epsilon", "method", "engine", "ledger", "dataset"], 1)
    hint = _MEANT.get(name) or (f"did you mean {near[0]}?" if near else "")
    return f"{method} has no parameter {name!r}{f'; {hint}' if hint else ''} (known: {', '.join(sorted(known))})"


def read_settings(
    kind: type[Settings],
    method: str,
    presets: Mapping[str, Mapping[str, object]],
    preset: str,
    given: Mapping[str, object],
) -> Settings:
    """The values of the preset, overridden by those given, all checked and parsed."""
    rules = rules_of(kind)
    if preset not in presets:
        raise ParameterError(
            f"{method} has no preset {preset!r}; use one of {', '.join(presets)}, or name another method"
        )
    for name in given:
        if name not in rules:
            raise ParameterError(unknown_parameter(method, name, [*rules, "preset"]))
    values: dict[str, object] = {**presets[preset], **given}
    for name, value in values.items():
        read, text = rules[name]
        try:
            values[name] = read(value)
        except (ValueError, TypeError, OverflowError, ZeroDivisionError):
            raise_alone(ParameterError(f"{method} parameter {name} must be {text}, got {value!r}"))
    return kind(**values)


def echo(settings: object) -> Echo:
    """Settings as JSON values: numbers, words and flags are unchanged, anything else becomes its exact text."""
    every = [(one, getattr(settings, one.name)) for one in fields(settings)]  # type: ignore[arg-type]
    values = [(one.name, value) for one, value in every if one.metadata["unless"] != value]
    return {name: value if value is None or isinstance(value, str | int) else str(value) for name, value in values}


def portion(total: int, fraction: Fraction) -> int:
    """A share of a whole number of nano-units, rounded down."""
    return total * fraction.numerator // fraction.denominator
