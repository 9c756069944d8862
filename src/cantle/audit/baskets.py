"""Exact audits of baskets: configurations with and without pairs, through the shipped code.

The answers of the last questions are not enumerated, because nothing depends on them. Without pairs, item supports are
the last question, and set sizes are enumerated. With pairs, sizes and supports are enumerated; head patterns and pairs
come last.

A few public constants differ from the shipped ones (`changed`). The fit of item supports takes 1 step instead of
200. With pairs, `PARTS` is 6 instead of 5040, so that the rate per part is a whole number of units; pairs are asked for
however few records there are; and a plan may count a single pair per record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cantle.audit.diffpart import SetConfig
from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Constant, Detail, Shown, Table, heard, without_own_error
from cantle.methods.baskets.method import Baskets
from cantle.methods.baskets.model import item_supports, pair_plan, questions
from cantle.methods.baskets.model.questions import PAID
from cantle.trusted.claims import set_queries
from cantle.trusted.core.budget import ReceiptFields
from cantle.trusted.geometry import item_partitions

FEW_PARTS = 6


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
        closed = () if detail.leaves else tuple(PAID[question] for question in last)
        return shown(method, *heard(method, self.sets(table, method), self.budget, noise, closed))

    def changed(self) -> Iterator[Constant]:
        yield item_supports, "_ROUNDS", 1
        if not self.singles:
            yield pair_plan, "_SINGLES_MIN", 2.0  # a share that no records reach
        if self.rich:
            yield from (
                (pair_plan, name, value)
                for name, value in {"POOR": 0.0, "_FEWEST_PAIRS": 1, "_HEAD_FROM": 0.08}.items()
            )
            yield from ((module, "PARTS", FEW_PARTS) for module in (item_partitions, set_queries, pair_plan, questions))


def shown(method: Baskets, answers: list[str], receipt: ReceiptFields) -> Shown:
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
