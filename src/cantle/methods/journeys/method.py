"""Journeys: private sequences from noisy lengths and strings.

Every sequence spreads one unit over its strings, so that no sequence is cut and long ones cost no more than short ones.
cantle.methods.journeys.model.questions decides from earlier noisy answers which questions are asked; this module asks
the curator. Everything after the answers is post-processing: a chain of symbols is fitted to the noisy strings, order
by order, and sequences of the noisy lengths are drawn from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from cantle.drawing.counts import STREAMS, Dice, public_streams
from cantle.drawing.records import Results
from cantle.errors import ParameterError
from cantle.methods.base import Configured
from cantle.methods.curator_asker import CuratorAsker
from cantle.methods.journeys.model.questions import Answers, ask_all, require_shareable
from cantle.methods.journeys.results import journey_results
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.settings import read_settings, setting
from cantle.trusted.core.curator import Curator

if TYPE_CHECKING:
    from cantle.schema.sequences import SequenceSchema

PRESETS: dict[str, dict[str, object]] = {"default": {"accuracy_share": DEFAULT_SHARE}}
MOST_RECORDS = 10_000
"""The largest number of sequences per person; up to it, the rates of all noise fit 64 bits."""


@dataclass(frozen=True, kw_only=True)
class JourneySettings:
    """The parameters of journeys, each described in docs/reference.md."""

    accuracy_share: Fraction = setting(accuracy_share(), shown=True)


class Journeys(Configured):
    """One run: its settings, the noisy answers and what is fitted to them. All of these are public."""

    name: ClassVar[str] = "journeys"
    Settings: ClassVar[type] = JourneySettings
    kind: ClassVar[str] = "sequences"

    def __init__(self, schema: SequenceSchema, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(JourneySettings, "journeys", PRESETS, preset, given)
        if schema.protects[0] > MOST_RECORDS:
            rule = f"journeys takes at most {MOST_RECORDS} sequences per person, the schema says {schema.protects[0]}"
            raise ParameterError(f"{rule}; lower `max_records`")
        self.preset, self.schema, self.seed = preset, schema, 0
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, universe=schema.universe, ordered=True)
        self.answers: Answers | None = None

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:  # noqa: ARG002 (units cost no more)
        """Refuses an epsilon that is too small to be divided among the questions."""
        require_shareable(epsilon_nano)

    def run(self, curator: Curator) -> None:
        """Asks all questions."""
        asker = CuratorAsker(curator, self.own_accuracy)
        dice = public_streams(self.seed, STREAMS)
        self.answers = ask_all(asker, self.schema.universe.size, self.schema.max_length, dice)

    def results(self, dice: Dice) -> Results:
        """Records and groups from the noisy answers."""
        assert self.answers is not None, "call run first"
        return journey_results(self.schema.universe, self.answers, dice)
