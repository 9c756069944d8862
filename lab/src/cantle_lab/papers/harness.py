"""Building blocks of figures: the settings they run with, and their rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import polars as pl

from cantle.errors import DataError, ParameterError
from cantle.release import Release
from cantle_lab.papers import report

Schema = Mapping[str, object]
Options = Mapping[str, object]
Choice = TypeVar("Choice")
Data = TypeVar("Data")


class Row(NamedTuple):
    """One measured value; `x` is epsilon (or what `Figure.x` names), or None if the value does not depend on it."""

    figure: str
    panel: str
    series: str
    x: float | None
    repeat: int
    value: float


def rows(
    figure: str, panel: str, series: str, x: float | None, repeat: int, scores: Mapping[str, float]
) -> Iterator[Row]:
    """A row for each score; `{}` in the name of the panel stands for the name of the score."""
    for name, value in scores.items():
        yield Row(figure, panel.format(name), series, x, repeat, value)


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

    def timed(self, data: object, schema: Schema, epsilon: float, options: Options, salt: int) -> tuple[Release, float]:
        """A release, and the core-seconds that it took."""
        before = process_time()
        release = self.release(data, schema, epsilon, options, salt)
        return release, process_time() - before

    def points(self, epsilons: Sequence[float], few: Sequence[float] = (1,)) -> Iterator[tuple[float, int]]:
        """(epsilon, repeat) for every epsilon, or for these few in the short form, and every repeat."""
        return product(self.pick(epsilons, few), range(self.repeats))

    def sweep(
        self,
        figure: str,
        panels: Mapping[str, Mapping[str, Options]],
        measure: Callable[[float, Options, int], Mapping[str, float]],
        epsilons: Sequence[float],
        few: Sequence[float] = (1,),
    ) -> Iterator[Row]:
        """The scores of every series of every panel, at every epsilon and repeat."""
        for panel, series in panels.items():
            for name, options in series.items():
                for epsilon, repeat in self.points(epsilons, few):
                    yield from rows(figure, panel, name, epsilon, repeat, measure(epsilon, options, repeat))

    def rng(self, repeat: int) -> np.random.Generator:
        """The noise of a baseline: repeatable only if the setting has a seed."""
        return np.random.default_rng(None if self.seed is None else [self.seed, repeat])


def readable(
    data_dir: Path | None,
    figure: str,
    echo: Callable[[str], None],
    needs: str,
    loaders: Mapping[str, Callable[[Path], Data]],
) -> Iterator[Data]:
    """The data sets whose files can be read; echoes which ones are left out, and raises an error if none is left."""
    if data_dir is None:
        raise ParameterError(f"{figure} needs data; give --data DIR, the folder that contains {needs}")
    found = 0
    for name, load in loaders.items():
        try:
            data = load(data_dir)
        except DataError as missing:
            echo(f"{figure}: {name} is left out: {missing}")
            continue
        found += 1
        yield data
    if not found:
        raise DataError(f"{figure}: none of the data sets could be read; name the folder that contains {needs}")


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
