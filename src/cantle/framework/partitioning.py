"""The class that a partitioning derives from, and its settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from cantle.errors import ParameterError, raise_alone
from cantle.framework.ask import Ask
from cantle.framework.regions import Cut, Regions
from cantle.methods import settings
from cantle.methods.own_accuracy import DEFAULT_SHARE, accuracy_share
from cantle.trusted.core.arrays import Bools

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,39}")


@dataclass(frozen=True)
class Setting:
    """A parameter of a partitioning: its default, and the rule that parses and checks its values."""

    default: object
    rule: settings.Rule
    help: str = ""


def setting(
    default: object,
    *,
    at_least: int = 0,
    at_most: int = 2**31,
    one_of: Sequence[str] = (),
    share: bool = False,
    help: str = "",  # noqa: A002
) -> Any:  # an attribute takes the type that the class gives it
    """A parameter: a whole number within bounds, one of some words, true or false, or a share of epsilon."""
    if one_of:
        return Setting(default, settings.one_of(*one_of), help)
    if share:
        return Setting(default, settings.share(), help)
    return Setting(default, settings.flag() if isinstance(default, bool) else settings.whole(at_least, at_most), help)


class Partitioning:
    """A way to cut a table into regions: subclasses define `stop` and `partition`, and may define the rest.

    A run works on a copy, so what `begin` keeps on `self` stays in that run.
    """

    name: ClassVar[str] = "partitioning"
    """What releases call it; the name of the class in lower case, unless the class says otherwise."""
    kind: ClassVar[str] = "table"
    bins: int = setting(4096, at_least=2, at_most=65536, help="The most bins of a column of numbers.")
    accuracy_share: Fraction = Setting(  # type: ignore[assignment]
        DEFAULT_SHARE, accuracy_share(), "The share of epsilon that measures the release's own error."
    )
    _settings: ClassVar[dict[str, Setting]] = {}

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", cls.__name__.lower())
        cls._settings = {
            key: one for up in reversed(cls.__mro__) for key, one in vars(up).items() if type(one) is Setting
        }

    def __init__(self, **given: object) -> None:
        mine = type(self)
        for verb in ("stop", "partition"):
            if getattr(mine, verb) is getattr(Partitioning, verb):
                raise ParameterError(f"{mine.__name__} does not say how to {verb}: define {verb}(self, regions, ask)")
        if type(self.name) is not str or not _NAME.fullmatch(self.name):
            raise ParameterError(f"{mine.__name__}: a name has small letters, digits, _ - and . only: {self.name!r}")
        for key in given:
            if key not in self._settings:
                raise ParameterError(settings.unknown_parameter(self.name, key, [*self._settings]))
        for key, one in self._settings.items():
            read, text = one.rule
            value = given.get(key, one.default)
            try:
                setattr(self, key, read(value))
            except (ValueError, TypeError, OverflowError, ZeroDivisionError):
                raise_alone(ParameterError(f"{self.name} parameter {key} must be {text}, got {value!r}"))

    def parameters(self) -> settings.Echo:
        """The value of every parameter, given or default."""
        values = ((key, getattr(self, key)) for key in sorted(self._settings))
        return {key: value if isinstance(value, str | int) else str(value) for key, value in values}

    # ---- what an author defines ---------------------------------------------------------------------------

    def begin(self, root: Regions, ask: Ask) -> None:
        """Questions about the whole data, for which every path pays; none unless you define it."""

    def stop(self, regions: Regions, ask: Ask) -> Bools | bool:
        """Which regions become leaves: one yes or no for each, or one for all.

        Regions that cannot be cut, or that rules of the schema forbid, become leaves by themselves; they are not shown.
        """
        raise NotImplementedError

    def partition(self, regions: Regions, ask: Ask) -> Cut:
        """How to cut each of the regions that did not stop."""
        raise NotImplementedError

    def summarize(self, leaves: Regions, ask: Ask) -> None:
        """The question about the leaves: noisy counts with all that is left, unless you define another."""
        ask.counts(leaves)
