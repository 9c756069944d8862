"""Building blocks of figures: the settings they run with, and their rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import polars as pl

from cantle.release import Release
from cantle_lab.papers import report

Schema = Mapping[str, object]
Options = Mapping[str, object]
Choice = TypeVar("Choice")


class Row(NamedTuple):
    """One measured value; `x` is epsilon (or what `Figure.x` names), or None if the value does not depend on it."""

    figure: str
    panel: str
    series: str
    x: float | None
    repeat: int
    value: float


class Publish(Protocol):
    """The signature of `cantle.publish`."""

    def __call__(self, data: object, schema: Schema, /, *, epsilon: float, **options: object) -> Release:
        """A release of the data."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The settings that figures run with: the publisher, the data folder, repeats, the short form, the seed."""

    publish: Publish
    data_dir: Path | None = None
    repeats: int = 5
    quick: bool = False
    seed: int | None = None
    echo: Callable[[str], None] = print

    def pick(self, full: Sequence[Choice], few: Sequence[Choice]) -> Sequence[Choice]:
        """`few` in the short form (`quick`), otherwise `full`."""
        return few if self.quick else full

    def release(self, data: object, schema: Schema, epsilon: float, options: Options, salt: int) -> Release:
        """A release by RPS, unless the options name another method.

        It is seeded, and so not private, only if the setting has a seed; `salt` then distinguishes releases. Figures
        compare methods, so no budget is spent on measuring the release's own error, unless the options ask for that.
        """
        chosen = {"method": "rps"} | dict(options)
        if chosen["method"] != "degrees":
            chosen = {"accuracy_share": 0} | chosen
        if self.seed is not None:
            chosen["insecure_seed"] = 1_000_003 * self.seed + salt
        return self.publish(data, schema, epsilon=epsilon, **chosen)

    def sweep(
        self,
        epsilons: Sequence[float],
        series: Mapping[str, Options],
        measure: Callable[[float, Options, int], float],
    ) -> Iterator[tuple[str, float, int, float]]:
        """(series, epsilon, repeat, value) for every series, epsilon and repeat."""
        for name, options in series.items():
            for epsilon in epsilons:
                for repeat in range(self.repeats):
                    yield name, epsilon, repeat, measure(epsilon, options, repeat)


@dataclass(frozen=True)
class Figure:
    """A figure: the function that measures it, and how its summary is printed and drawn."""

    rows: Callable[[Setting], Iterator[Row]]
    x: str = "epsilon"
    table: Callable[[pl.DataFrame], str] = report.table
    picture: report.Picture | None = report.draw

    @property
    def about(self) -> str:
        """What is measured, in one line: the first paragraph of the function's docstring."""
        return " ".join((inspect.getdoc(self.rows) or "").split("\n\n")[0].split())
