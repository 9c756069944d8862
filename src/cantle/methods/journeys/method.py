"""Journeys: private sequences from noisy lengths, whole short sequences, and strings of longer ones.

Every sequence spreads one unit over its strings, so that no sequence is cut and long ones cost no more than short ones.
cantle.methods.journeys.model.questions decides from earlier noisy answers which questions are asked; this module asks
the curator. Everything after the answers is post-processing: a chain of symbols is fitted to the noisy strings, order
by order, and sequences of the noisy lengths are drawn from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.drawing.records import Results
from cantle.errors import ParameterError
from cantle.methods.journeys.model.questions import PAID, Answers, ask_all, name_of, require_shareable
from cantle.methods.journeys.results import journey_results
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.settings import Echo, echo, read_settings, setting
from cantle.trusted.claims.sequence_queries import (
    EndSymbols,
    Lengths,
    ListedStrings,
    ShortPaths,
    StringDistance,
    Strings,
)
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Cuts, Frontier, Ints

if TYPE_CHECKING:
    from cantle.schema.sequences import SequenceSchema

PRESETS: dict[str, dict[str, object]] = {"default": {"accuracy_share": DEFAULT_SHARE}}
MOST_RECORDS = 10_000
"""The largest number of sequences per person; up to it, the rates of all noise fit 64 bits."""


@dataclass(frozen=True, kw_only=True)
class JourneySettings:
    """The parameters of journeys, each described in docs/reference.md."""

    accuracy_share: Fraction = setting(accuracy_share(), shown=True)


class Journeys:
    """One run: its settings, the noisy answers and what is fitted to them. All of these are public."""

    name: ClassVar[str] = "journeys"
    Settings: ClassVar[type] = JourneySettings
    kind: ClassVar[str] = "sequences"
    kernels_from: ClassVar[int | None] = None

    def __init__(self, schema: SequenceSchema, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(JourneySettings, "journeys", PRESETS, preset, given)
        if schema.protects[0] > MOST_RECORDS:
            rule = f"journeys takes at most {MOST_RECORDS} sequences per person, the schema says {schema.protects[0]}"
            raise ParameterError(f"{rule}; lower `max_records`")
        self.preset, self.schema, self.seed = preset, schema, 0
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, universe=schema.universe, ordered=True)
        self.answers: Answers | None = None
        self.paths = 0, 0

    @classmethod
    def for_schema(cls, schema: SequenceSchema, *, preset: str, **given: object) -> Self:
        return cls(schema, preset=preset, **given)

    def parameters(self) -> Echo:
        return {"preset": self.preset, **echo(self.settings)}

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:  # noqa: ARG002 (units cost no more)
        """Refuses an epsilon that is too small to be divided among the questions."""
        require_shareable(epsilon_nano)

    def run(self, curator: Curator) -> None:
        """Asks all questions."""
        asker = CuratorAsker(curator, self.own_accuracy)
        dice = public_streams(self.seed, STREAMS)
        self.answers = ask_all(asker, self.schema.universe.size, self.schema.max_length, dice)
        kinds = [int(curator.path(part)[0]) for part in asker.parts.values()]
        self.paths = kinds[-2 if len(kinds) > 1 else 0], kinds[-1]

    def results(self, dice: Dice) -> Results:
        """Records and groups from the noisy answers."""
        assert self.answers is not None, "call run first"
        return journey_results(self.schema.universe, self.answers, self.paths, dice)


class CuratorAsker:
    """Passes the questions on to the curator. `parts` are the regions: all sequences, then short and long ones."""

    def __init__(self, curator: Curator, own_accuracy: OwnAccuracy) -> None:
        self._curator, self._own_accuracy = curator, own_accuracy
        root: Frontier = curator.root()
        self.parts = {"all": root}
        self._symbols = curator.domain.symbols  # type: ignore[union-attr]

    @property
    def max_records(self) -> int:
        return self._curator.unit.max_records

    def left(self, part: str) -> int:
        return int(self._curator.left(self.parts[part])[0])

    def accuracy(self, whole: int, noisy_records: int) -> Fraction:
        return self._own_accuracy.decide(self._curator, whole, noisy_records)

    def divide(self, longest: int) -> None:
        cut = Cuts(np.zeros(1, np.int64), np.array([longest]))
        children = self._curator.split(self.parts["all"], cut)
        self.parts = {"short": children.take(slice(0, 1)), "long": children.take(slice(1, 2))}

    def lengths(self, edges: Ints, price: int) -> Noisy:
        return self._measure("all", Lengths(tuple(edges.tolist())), price, "lengths")

    def paths(self, part: str, longest: int, price: int) -> Noisy:
        return self._measure(part, ShortPaths(self._symbols, longest), price, "paths")

    def ends(self, part: str, classes: tuple[int, ...], weights: tuple[int, int, int], price: int) -> Noisy:
        return self._measure(part, EndSymbols(self._symbols, classes, weights), price, "ends")

    def strings(self, part: str, order: int, classes: tuple[int, ...], price: int, again: bool) -> Noisy:  # noqa: ARG002
        return self._measure(part, Strings(self._symbols, order, classes), price, name_of(order))

    def listed(
        self,
        part: str,
        order: int,
        classes: tuple[int, ...],
        always: Ints,
        at_least: int,
        price: int,
        again: bool,  # noqa: ARG002
    ) -> NoisyCells:
        query = ListedStrings(self._symbols, order, classes, always)
        return self._curator.measure(self.parts[part], query, price, at_least=at_least, why=PAID[name_of(order)])

    def distance(self, part: str, order: int, cells: Ints, expected: Ints, price: int) -> Noisy:
        return self._measure(part, StringDistance(self._symbols, order, cells, expected), price, "test")

    def _measure(self, part: str, query: Any, price: int, question: str) -> Noisy:
        return self._curator.measure(self.parts[part], query, price, why=PAID[question])
