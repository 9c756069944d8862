"""Exact audits of sets and sequences on tiny universes, through the shipped code: DiffPart, baskets, journeys.

DiffPart: both presets, and all sets counted at once. Every test of sub-partitions pays whole units, so that exponents
in base 2 are whole. Of sub-partitions the output shows which reach their threshold (and, with a wider `window`, by how
much). The counts of leaves are not enumerated (`Audit.enumerate_leaves`), because nothing depends on them.

Baskets: the answers of the last questions are not enumerated, because nothing depends on them. Without pairs, item
supports are the last question, and set sizes are enumerated. With pairs, sizes and supports are enumerated; head
patterns and pairs come last.

Journeys: noisy lengths are enumerated; they decide up to which length sequences count in full. Pairs come last.

A few public constants differ from the shipped ones (`changed`). `PARTS` is 6 instead of 5040, so that the rate per part
is a whole number of units. The fit of item supports takes 1 step instead of 200, a plan may count a single pair per
record, and pairs are asked for however few records there are; longer strings are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product

import numpy as np

from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Config, Constant, Detail, Record, Shown, Table, heard, leaked, without_own_error
from cantle.data.sets import AsksSets
from cantle.methods.baskets.method import Baskets
from cantle.methods.baskets.model import item_supports, pair_plan
from cantle.methods.baskets.model import questions as baskets
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.journeys.method import Journeys
from cantle.methods.journeys.model import questions as journeys
from cantle.schema.items import Universe
from cantle.schema.sequences import SequenceSchema
from cantle.schema.sets import SetSchema
from cantle.trusted.claims import sequence_queries, set_queries
from cantle.trusted.core.budget import ReceiptFields
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sequences import SequenceEngine
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.sequence_strings import SequenceDomain

FEW_PARTS = 6

# ---- DiffPart ----------------------------------------------------------------------------------------------------

LEAVES = ("leaf partitions", "item sets")
"""The purposes of the last questions on every path."""


@dataclass(frozen=True, eq=False)
class SetConfig(Config):
    """DiffPart over a few items (`sizes` has one entry); a record is the ascending tuple of its items."""

    window: tuple[int, int] = (0, 0)
    records: int = 1
    quick: int = 0

    @cached_property
    def schema(self) -> SetSchema:
        return SetSchema.from_dict({"kind": "sets", "items": {"minimum": 0, "maximum": self.sizes[0] - 1}})

    def points(self) -> list[Record]:
        """Every set of items."""
        items = range(self.sizes[0])
        return list(chain.from_iterable(combinations(items, size) for size in range(1, len(items) + 1)))

    def ragged(self, table: Table, codes: Mapping[object, int] | None = None) -> Ragged:
        """The records; `codes` numbers the items, if they are not numbers already."""
        items = [item if codes is None else codes[item] for record in table for item in record]
        return Ragged(np.cumsum([0, *map(len, table)], dtype=np.int64), np.array(items, dtype=np.int32))

    def sets(self, table: Table, method: AsksSets, codes: Mapping[object, int] | None = None) -> SetEngine:
        """An engine over these sets."""
        return SetEngine(self.ragged(table, codes), tree=method.tree, most=method.most)

    def schema_for(self, table: Table) -> SetSchema:  # noqa: ARG002 (a mutant lets the schema depend on the table)
        """The public schema, which is the same for all tables."""
        return self.schema

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        schema = self.schema_for(table)
        number = {item: code for code, item in enumerate(schema.universe.items)}
        method = DiffPart(schema, preset=self.preset, **without_own_error(self.settings))
        final = () if detail.leaves else LEAVES
        return _shown_partitions(
            method, noise, *heard(method, self.sets(table, method, number), self.budget, noise, final)
        )


def _shown_partitions(method: DiffPart, noise: Enumerating, answers: list[str], receipt: ReceiptFields) -> Shown:
    """All that a release contains, and more: all noisy answers, partitions, leaves in their order, receipt."""
    lines = [f"items {method.schema.universe.items}"]
    partitions = method.kept_partitions
    for nodes in partitions.rounds:
        cuts = (nodes.level_starts.tolist(), nodes.level.tolist(), nodes.below_starts.tolist(), nodes.below.tolist())
        lines.append(f"partitions {nodes.ids.tolist()} of {nodes.parent.tolist()} at {nodes.taken.tolist()}: {cuts}")
    kept, leaves = partitions.parts() if partitions.rounds else None, partitions.leaves()
    if kept is not None:
        lines.append(f"kept {kept.mask.tolist()} {kept.noisy.tolist()} at {kept.rate_num.tolist()}")
    rows = zip(leaves.parent.tolist(), leaves.mask.tolist(), leaves.noisy.tolist(), strict=True)
    return (*answers, *lines, *leaked(noise), f"receipt {receipt}"), tuple(chain.from_iterable(rows))


def _tree(**given: object) -> dict[str, object]:
    """Settings of a tree whose inner nodes have two children, with thresholds that depend on the noise alone,
    overridden by those given."""
    return {"fanout": 2, "cells": "tree", "m": "off", "eta": "off", "c1": 1, "c2": "1/2", "leaf_share": "1/2"} | given


PAPER: dict[str, object] = {"fanout": 2, "c1": 1, "c2": 1}

EXAMPLE = SetConfig("DiffPart paper: four items", (4,), PAPER, 6, preset="paper", records=0, tight=True)
"""Example 4.2: one test or two pay 1 unit each, leaves 5 or 4."""

PAIR = SetConfig("DiffPart: two items, leaves only", (2,), _tree(), 1, records=3, tight=True)

LISTED = SetConfig("DiffPart: three items, values shown", (3,), _tree(leaf_share="1/3"), 3, window=(0, 1), tight=True)
"""Instance I12: a test pays 1 unit, leaves 2."""

TWICE = SetConfig("DiffPart paper: three items, a node with one child", (3,), PAPER, 4, preset="paper", tight=True)
"""One test or two pay 1 unit each, leaves 3 or 2."""

CUT_TO_ONE = SetConfig("DiffPart: records cut to one of two items", (2,), _tree(m=1), 2, records=3, tight=True)

CUT_TO_TWO = SetConfig("DiffPart: records cut to two of three items", (3,), _tree(m=2), 4, tight=True)

CAPPED = SetConfig(
    "DiffPart: at most one sub-partition goes on",
    (4,),
    _tree(m=1, max_cells=1, eta="1/2"),
    4,
    window=(0, 1),
    records=0,
    tight=True,
)
"""A test pays 1 unit, leaves 3. Of two sub-partitions, the one with the larger noisy count is cut further."""

ALL = SetConfig("DiffPart: all sets of three items at once", (3,), {}, 2, records=2, tight=True)

DIFFPART_CONFIGS: tuple[SetConfig, ...] = (
    SetConfig("DiffPart: one item", (1,), _tree(), 2, records=3, tight=True),
    SetConfig("DiffPart: all sets of one item at once", (1,), {}, 1, records=3, tight=True),
    SetConfig("DiffPart: all sets of two items at once", (2,), {}, 1, records=3, tight=True),
    ALL,
    PAIR,
    SetConfig("DiffPart: three items at once by threshold", (3,), _tree(fanout=3), 1, records=2, tight=True),
    TWICE,
    LISTED,
    EXAMPLE,
    CUT_TO_ONE,
    CUT_TO_TWO,
    SetConfig("DiffPart: records cut to two of four items", (4,), _tree(m=2), 6, records=0, tight=True),
    SetConfig("DiffPart: records cut to three of four items", (4,), _tree(m=3), 6, records=0, tight=True),
    SetConfig("DiffPart paper: literal, four items", (4,), PAPER | {"literal": True}, 6, preset="paper", records=0,
              tight=True),
    SetConfig("DiffPart paper: records cut to two of three items", (3,), PAPER | {"m": 2}, 4, preset="paper", records=0,
              tight=True),
    SetConfig("DiffPart: thresholds by the number of cells", (3,), _tree(eta="1/4"), 4, tight=True),
    CAPPED,
    SetConfig("DiffPart: a person of two records", (3,), _tree(), 8, unit=2, records=0, tight=True),
    SetConfig("DiffPart: preset default, m = 3", (3,), {"cells": "tree", "fanout": 2, "m": 3}, 8, tight=True),
)  # fmt: skip


# ---- baskets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BasketConfig(SetConfig):
    """Baskets over a few items (`sizes` has one entry)."""

    window: tuple[int, int] = (0, 1)
    rich: bool = False
    """Whether pairs are asked for, whatever the noisy sizes are."""
    singles: bool = True
    """Whether records of one item may be counted separately."""

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        last = ("head", "pairs") if self.rich else ("items",)
        method = Baskets(self.schema, preset=self.preset, **without_own_error(self.settings))
        closed = () if detail.leaves else tuple(baskets.PAID[question] for question in last)
        return _shown_baskets(method, *heard(method, self.sets(table, method), self.budget, noise, closed))

    def changed(self) -> Iterator[Constant]:
        yield item_supports, "_ROUNDS", 1
        if not self.singles:
            yield pair_plan, "_SINGLES_MIN", 2.0  # a share that no records reach
        if self.rich:
            yield from (
                (pair_plan, name, value)
                for name, value in {"POOR": 0.0, "_FEWEST_PAIRS": 1, "_HEAD_FROM": 0.08}.items()
            )
            yield from ((module, "PARTS", FEW_PARTS) for module in (item_partitions, set_queries, pair_plan, baskets))


def _shown_baskets(method: Baskets, answers: list[str], receipt: ReceiptFields) -> Shown:
    """All that a release is made from, and more: noisy answers, all plans, receipt."""
    noisy = method.answers
    assert noisy is not None
    lines = [f"edges {noisy.edges.tolist()}", f"items {noisy.item_plan}", f"head {noisy.head_items.tolist()}"]
    if noisy.pair_plan is not None:
        plan = noisy.pair_plan
        lines.append(f"pairs {plan.items.tolist()} {plan.most} {plan.at_least} {plan.always.tolist()}")
    return (*answers, *lines, f"receipt {receipt}"), ()


POOR = BasketConfig("Baskets: sizes and three items", (3,), {}, 25, records=2, tight=True)
"""Sizes pay 1 unit, items 24."""

RICH = BasketConfig("Baskets: two items with head and pairs", (2,), {}, 600, window=(5, 6), rich=True, tight=True)
"""Sizes pay 24 units, items 300, head patterns 30, pairs 246."""

ALWAYS = BasketConfig(
    "Baskets: three items with pairs always given", (3,), {}, 1800, window=(1, 2), records=0, rich=True, singles=False
)
"""Sizes pay 72 units, items 900, head patterns 90 if there is a head, pairs the rest.

With most noisy supports, all pairs are always given (Claim 54), and the record of three items occupies them. The
configuration is not tight: noisy supports are cut at 2 parts, and a record counts 6.
"""

BASKET_CONFIGS: tuple[BasketConfig, ...] = (
    BasketConfig("Baskets: sizes and two items", (2,), {"pairs": "off"}, 25, records=2, tight=True),
    POOR,
    BasketConfig("Baskets: a person of two records", (2,), {}, 50, unit=2, records=1, tight=True),
    RICH,
    ALWAYS,
)


# ---- journeys ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JourneyConfig(SetConfig):
    """Journeys over a few symbols (`sizes` has one entry); a record is the tuple of its symbols."""

    longest: int = 2
    window: tuple[int, int] = (0, 1)

    @cached_property
    def schema(self) -> SequenceSchema:
        return SequenceSchema(universe=Universe(range(self.sizes[0])), max_length=self.longest)

    def points(self) -> list[Record]:
        """Every sequence."""
        symbols = range(self.sizes[0])
        return list(chain.from_iterable(product(symbols, repeat=size) for size in range(1, self.longest + 1)))

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        method = Journeys(self.schema, preset=self.preset, **without_own_error(self.settings))
        engine = SequenceEngine(self.ragged(table), SequenceDomain(self.sizes[0]))
        closed = () if detail.leaves else (journeys.PAID["pairs"],)
        answers, receipt = heard(method, engine, self.budget, noise, closed)
        made = method.answers
        assert made is not None
        return (*answers, f"in full up to {made.model.span}, order {made.order}", f"receipt {receipt}"), ()

    def changed(self) -> Iterator[Constant]:
        yield from ((module, "PARTS", FEW_PARTS) for module in (sequence_queries, journeys))
        yield from ((journeys, name, value) for name, value in {"ENDS": 3, "LEAST_STRENGTH": 0, "_FULL": 0.2}.items())


IN_PARTS = JourneyConfig("Journeys: two symbols", (2,), {}, 150, longest=3, records=0, tight=True)
"""Lengths pay 12 units, pairs 138."""

JOURNEY_CONFIGS: tuple[JourneyConfig, ...] = (IN_PARTS,)
