"""Cases of the benchmark: a method on an engine and a generated data set of one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cantle.data.engine_choice import EVERY_ENGINE, EngineChoice
from cantle.errors import CantleError, ParameterError
from cantle.methods.catalogue import METHODS
from cantle_lab.bench.data import KINDS

AXES = ("rows", "attributes", "universe")
PRESETS = ("default", "paper")
KIND_OF = {name: method.kind for name, method in METHODS.items()}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One whole run: a file is read, published with epsilon 1 and saved."""

    method: str
    records: int
    preset: str = "default"
    engine: str = "memory"
    axis: str = "size"
    wide: int | None = None
    """The width of the data, if it is not the usual one."""

    @property
    def kind(self) -> str:
        """table, sets or graph."""
        return KIND_OF[self.method]

    @property
    def width(self) -> int | None:
        """Attributes of a table, items of the universe of sets."""
        usual = KINDS[self.kind].width
        return None if usual is None else self.wide or usual.usual

    @property
    def widths(self) -> dict[str, int]:
        """The width under its name in the results; nothing if this kind of data has none."""
        of_kind, width = KINDS[self.kind].width, self.width
        return {} if of_kind is None or width is None else {of_kind.column: width}

    @property
    def name(self) -> str:
        return self.method if self.preset == "default" else f"{self.method}:{self.preset}"

    @property
    def file(self) -> str:
        """The name of the data file without its ending; cases with the same name share the file."""
        return "-".join(str(part) for part in (self.kind, self.records, self.width) if part is not None)

    def __str__(self) -> str:
        sizes = {"records": self.records} | self.widths
        return f"{self.name} on {self.engine}, {', '.join(f'{size:,} {name}' for name, size in sizes.items())}"


class Skipped(NamedTuple):
    """Something that could not be measured, and the reason."""

    what: str
    why: str


def words_of(text: str, known: Sequence[str], option: str) -> list[str]:
    """The words of a list separated by commas; raises a ParameterError unless all of them are known."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = next((word for word in words if word not in known), None)
    if wrong is not None or not words:
        raise ParameterError(f"{option} takes a list of {', '.join(known)}, separated by commas; got {text!r}")
    return words


def methods_of(text: str) -> list[tuple[str, str]]:
    """(method, preset) pairs from words such as `rps` or `rps:paper`."""
    known = [*METHODS, *(f"{method}:{preset}" for method in METHODS for preset in PRESETS)]
    pairs = [word.partition(":") for word in words_of(text, known, "--methods")]
    return [(method, preset or "default") for method, _, preset in pairs]


def engines_of(text: str) -> list[str]:
    """The engines that the option names, whether they can run here or not."""
    return words_of(text, EVERY_ENGINE, "--engines")


def available(engines: Sequence[str]) -> tuple[list[str], list[Skipped]]:
    """The engines that can run here, and for each other one the reason why it cannot."""
    able, skipped = [], []
    for engine in engines:
        try:
            if engine == "database":
                raise ParameterError("it needs a server with a table of its own; see docs/engines.md")
            EngineChoice.of(engine, None, None)
            able.append(engine)
        except CantleError as error:
            skipped.append(Skipped(f"engine {engine}", str(error)))
    return able, skipped


def sizes(
    methods: Sequence[tuple[str, str]], engines: Sequence[str], records: Sequence[int]
) -> tuple[list[Case], list[Skipped]]:
    """Every method on every engine that holds its kind of data, at every size."""
    cases, skipped = [], []
    for number in records:
        for method, preset in methods:
            cases += [
                Case(method=method, preset=preset, engine=engine, records=number)
                for engine in engines
                if engine == "memory" or KINDS[KIND_OF[method]].every_engine
            ]
    for method in dict.fromkeys(method for method, _ in methods):
        kind = KIND_OF[method]
        others = [] if KINDS[kind].every_engine else [engine for engine in engines if engine != "memory"]
        skipped += [Skipped(f"{method} on {one}", f"data of kind {kind} is measured in memory only") for one in others]
    return cases, skipped


def growth(axes: Sequence[str], methods: Sequence[tuple[str, str]], largest: int) -> Iterator[Case]:
    """Cases in memory whose size grows along each axis.

    On `rows` the number of records grows up to `largest`. On `attributes` (tables) and `universe` (sets) the width
    grows, with a quarter of `largest` records.
    """
    for method, preset in methods:
        case = Case(method=method, preset=preset, records=max(16, largest // 4))
        width = KINDS[case.kind].width
        for axis in axes:
            if axis == "rows":
                for part in (16, 4, 1):
                    yield replace(case, axis=axis, records=max(16, largest // part))
            elif width is not None and axis == width.axis:
                for number in width.along_axis():
                    yield replace(case, axis=axis, wide=number)
