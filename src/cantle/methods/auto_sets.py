"""The method `auto` for sets: diffpart for small universes, baskets for large ones.

Diffpart counts all sets at once. For universes in between, a noisy histogram of sizes decides: all sets are
counted at once if there are at most as many sets as records times epsilon.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from cantle.drawing.counts import Dice
from cantle.drawing.records import Results
from cantle.errors import ParameterError
from cantle.methods.baskets.method import PRESETS, Baskets
from cantle.methods.baskets.model.questions import ask_sizes, require_shareable
from cantle.methods.curator_asker import CuratorAsker
from cantle.methods.diffpart.method import SMALL, DiffPart
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.methods.settings import Echo, rules_of, unknown_parameter
from cantle.schema.sets import SetSchema
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.item_partitions import ItemTree

BOTH = {"accuracy_share"}
"""Parameters that both methods have."""

ALL_AT_ONCE = 8
"""Up to this many items, all sets are counted at once, however few records there are."""


def auto_sets(schema: SetSchema, preset: str, given: Mapping[str, object]) -> DiffPart | Baskets | BySizes:
    """The method for this universe; if only one method has a given preset or parameter, it is that one."""
    size = schema.universe.size
    theirs, ours = (set(given) & set(rules_of(one.Settings)) - BOTH for one in (DiffPart, Baskets))
    if unknown := set(given) - theirs - ours - BOTH:
        name, known = min(unknown), {*rules_of(DiffPart.Settings), *rules_of(Baskets.Settings)}
        raise ParameterError(unknown_parameter(f"method auto ({DiffPart.name} or {Baskets.name})", name, known))
    if theirs and ours:
        raise ParameterError(
            f"parameter {min(theirs)} belongs to diffpart, {min(ours)} to baskets; name the method, or drop one"
        )
    if theirs or preset not in PRESETS or (size <= ALL_AT_ONCE and not ours):
        return DiffPart(schema, preset=preset, **given)
    if ours or size > SMALL:
        return Baskets(schema, preset=preset, **given)
    return BySizes(schema, **given)


class BySizes:
    """One run that first measures sizes, and then continues with the method that they decide.

    Until then its name is `auto`.
    """

    Settings: ClassVar[type] = Baskets.Settings
    kind: ClassVar[str] = "sets"
    kernels_from: ClassVar[int | None] = Baskets.kernels_from

    def __init__(self, schema: SetSchema, **given: object) -> None:
        self.schema, size = schema, schema.universe.size
        self.baskets = Baskets(schema, preset="default", **given)
        self.tree, self.most = ItemTree.of(size, size, even=True), size
        self.chosen: DiffPart | Baskets | None = None

    @classmethod
    def for_schema(cls, schema: SetSchema, *, preset: str, **given: object) -> Self:  # noqa: ARG003 (there is one)
        return cls(schema, **given)

    @property
    def name(self) -> str:
        return "auto" if self.chosen is None else self.chosen.name

    def parameters(self) -> Echo:
        return (self.chosen or self.baskets).parameters()

    @property
    def own_accuracy(self) -> OwnAccuracy:
        return (self.chosen or self.baskets).own_accuracy

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:  # noqa: ARG002 (units cost no more)
        """Refuses an epsilon that cannot be shared."""
        require_shareable(epsilon_nano)

    def run(self, curator: Curator) -> None:
        """Asks for the sizes, then all questions of the chosen method."""
        first = ask_sizes(CuratorAsker(curator), self.schema.universe.size)
        if 2**self.schema.universe.size <= first.strength(curator.unit.max_records):
            share = self.baskets.settings.accuracy_share
            self.chosen = DiffPart(self.schema, accuracy_share=share)
            self.chosen.sizes = first
            self.chosen.run(curator)
        else:
            self.chosen = self.baskets
            self.chosen.run_rest(curator, first)

    def results(self, dice: Dice) -> Results:
        """Records and groups from the noisy answers."""
        assert self.chosen is not None, "call run first"
        return self.chosen.results(dice)
