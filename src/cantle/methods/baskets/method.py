"""Baskets: sets over large universes, from noisy set sizes, item supports, head patterns and pairs.

cantle.methods.baskets.model.questions decides from earlier noisy answers which questions are asked, and at which price;
this module asks the curator. Everything after the answers is post-processing: random walks along the released pairs
fill a pool of records, raking weights the pool to match the noisy answers, and the released records are drawn from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from cantle.drawing.counts import Dice
from cantle.drawing.records import Results
from cantle.errors import ParameterError
from cantle.methods.base import Configured
from cantle.methods.baskets.model.questions import (
    Answers,
    AskedSizes,
    Terms,
    ask_rest,
    ask_sizes,
    require_shareable,
)
from cantle.methods.baskets.model.synthesis import KERNELS_FROM, Measured
from cantle.methods.baskets.results import basket_results
from cantle.methods.curator_asker import CuratorAsker
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.settings import one_of, read_settings, setting
from cantle.schema.sets import SetSchema
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.item_partitions import MOST_CHILDREN, ItemTree

PRESETS: Mapping[str, Mapping[str, object]] = {"default": {"pairs": "on", "accuracy_share": DEFAULT_SHARE}}
MOST_RECORDS = 10_000
"""The largest number of records per person; up to it, the rates of all noise fit 64 bits."""

FEWEST = 2
"""The smallest number of items of a universe."""


@dataclass(frozen=True, kw_only=True)
class BasketSettings:
    """The parameters of baskets, each described in docs/reference.md."""

    pairs: str = setting(one_of("on", "off"), shown=True)
    accuracy_share: Fraction = setting(accuracy_share(), shown=True)


class Baskets(Configured):
    """One run: its settings, the noisy answers and what is fitted to them. All of these are public."""

    name: ClassVar[str] = "baskets"
    Settings: ClassVar[type] = BasketSettings
    kind: ClassVar[str] = "sets"
    kernels_from: ClassVar[int | None] = KERNELS_FROM

    def __init__(self, schema: SetSchema, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(BasketSettings, "baskets", PRESETS, preset, given)
        size = schema.universe.size
        if size < FEWEST:
            raise ParameterError(f"baskets takes at least {FEWEST} items, this universe has {size}; use diffpart")
        if schema.protects[0] > MOST_RECORDS:
            rule = f"baskets takes at most {MOST_RECORDS} records per person, the schema says {schema.protects[0]}"
            raise ParameterError(f"{rule}; lower `max_records`")
        self.preset, self.schema = preset, schema
        self.terms = Terms.of(schema, pairs=self.settings.pairs == "on")
        # No question of baskets uses the taxonomy, and no record is cut.
        self.tree, self.most = ItemTree.of(size, MOST_CHILDREN, even=True), size
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, universe=schema.universe)
        self.answers: Answers | None = None
        self.measured: Measured | None = None
        self.path = 0

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:  # noqa: ARG002 (units cost no more)
        """Refuses an epsilon that is too small to be divided among the questions."""
        require_shareable(epsilon_nano)

    def run(self, curator: Curator) -> None:
        """Asks all questions."""
        self.run_rest(curator, ask_sizes(CuratorAsker(curator, self.own_accuracy), self.terms.universe))

    def run_rest(self, curator: Curator, first: AskedSizes) -> None:
        """Asks all questions after the one about sizes."""
        self.answers, self.measured = ask_rest(CuratorAsker(curator, self.own_accuracy), self.terms, first)
        self.path = int(curator.path(curator.root())[0])

    def results(self, dice: Dice) -> Results:
        """Records and groups from the noisy answers."""
        assert self.answers is not None, "call run first"
        assert self.measured is not None
        return basket_results(self.schema.universe, self.answers, self.measured, self.path, dice)
