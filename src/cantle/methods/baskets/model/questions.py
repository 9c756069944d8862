"""The questions of `baskets`, and what follows from each answer: fits, plans, the next question. Post-processing.

An `Asker` answers them (cantle.methods.asking). The shares of epsilon are 4 % for
sizes, 25 to 55 % for items, 5 % for head patterns if there is a head, and the rest for pairs. If pairs are switched
off, or records times epsilon is too small for them, items get all that is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.errors import ParameterError
from cantle.methods.asking import Asker
from cantle.methods.baskets.model.given_pairs import GivenPairs
from cantle.methods.baskets.model.item_supports import ItemSupports, fit_supports
from cantle.methods.baskets.model.pair_plan import (
    HEAD_SHARE,
    SIZES_SHARE,
    ItemPlan,
    PairPlan,
    head_threshold,
    plan_head,
    plan_items,
    plan_pairs,
)
from cantle.methods.baskets.model.pool import HeadModel
from cantle.methods.baskets.model.sizes import SizeModel, fit_sizes, size_edges
from cantle.methods.baskets.model.synthesis import Measured
from cantle.schema.sets import SetSchema
from cantle.trusted.claims import set_queries as queries
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS

LEAST = 1000
"""Fewest nano-units of epsilon that leave at least one for every question."""


PAID = {"sizes": "set sizes", "items": "item supports", "head": "head patterns", "pairs": "pairs of items"}
"""What the receipt calls each question."""

SINGLE, SHORT, LONG = "items, records of one item", "items, short records", "items, long records"
OTHER = "items, other records"
"""What the groups call strata of items."""


def item_questions(strata: bool, singles: bool) -> tuple[str, ...]:
    """The names of the questions about item supports, stratum by stratum."""
    if not singles:
        return (SHORT, LONG) if strata else ("items",)
    return (SINGLE, SHORT, LONG) if strata else (SINGLE, OTHER)


@dataclass(frozen=True)
class Terms:
    """What is public before the first question; `departments` is the number of each item's department, if there are
    any."""

    universe: int
    pairs: bool = True
    departments: Ints | None = None

    @staticmethod
    def of(schema: SetSchema, *, pairs: bool) -> Terms:
        """The terms in a schema."""
        departments = schema.departments
        numbers = None if departments is None else np.array(departments, dtype=np.int64)
        return Terms(schema.universe.size, pairs=pairs, departments=numbers)


@dataclass(frozen=True, eq=False)
class Answers:
    """The noisy answers with the plans they follow; head and pairs may be missing."""

    edges: Ints
    sizes: Noisy
    item_plan: ItemPlan
    items: Noisy
    head_items: Ints
    head: Noisy | None
    pair_plan: PairPlan | None
    pairs: NoisyCells | None


@dataclass(frozen=True, eq=False)
class AskedSizes:
    """The answer to the first question, the sizes fitted to it, and what could be spent before."""

    whole: int
    edges: Ints
    noisy: Noisy
    sizes: SizeModel

    @property
    def noisy_records(self) -> int:
        """The noisy number of records: the sum of all noisy sizes."""
        return int(self.noisy.value.sum())

    def strength(self, max_records: int) -> float:
        """Records times epsilon, divided by the records of a unit: how much can be measured."""
        return self.sizes.records * self.whole / NANO / max_records


def ask_all(asker: Asker, terms: Terms) -> tuple[Answers, Measured]:
    """Asks all questions; returns the answers, and what is fitted to them."""
    return ask_rest(asker, terms, ask_sizes(asker, terms.universe))


def require_shareable(epsilon_nano: int) -> None:
    """Refuses an epsilon that is too small to be divided among the questions."""
    if epsilon_nano < LEAST:
        raise ParameterError(f"epsilon is too small for baskets, which shares it; raise it to {LEAST / NANO:g}")


def ask_sizes(asker: Asker, universe: int) -> AskedSizes:
    """Asks the first question, about sizes."""
    whole = asker.left()
    require_shareable(whole)
    edges = size_edges(universe)
    query = queries.SetSizes(tuple(edges.tolist()))
    noisy = asker.ask(query, _portion(whole, SIZES_SHARE), why=PAID["sizes"], rows=("sizes",))
    return AskedSizes(whole, edges, noisy, fit_sizes(noisy.value[0], edges, universe, 1 / noise_scale(noisy)))


def ask_rest(asker: Asker, terms: Terms, first: AskedSizes) -> tuple[Answers, Measured]:
    """Asks the other questions. The last one gets what rounding leaves."""
    whole, sizes = first.whole, first.sizes
    accuracy = asker.accuracy(whole, first.noisy_records)
    epsilon = whole / NANO / asker.max_records
    plan = plan_items(sizes, terms.universe, epsilon, accuracy, terms.pairs)
    price = _portion(whole, plan.share) if plan.pairs else asker.left()
    query = queries.ItemSupports(terms.universe, plan.most, plan.strata, plan.singles)
    noisy_items = asker.ask(query, price, why=PAID["items"], rows=item_questions(plan.strata, plan.singles))
    items = _supports(noisy_items, plan, sizes, terms)
    head_items, noisy_head, head = _ask_head(asker, plan, items, sizes, _portion(whole, HEAD_SHARE))
    pair_plan, noisy_pairs, pairs = _ask_pairs(asker, plan, items, sizes, (whole, asker.left()))
    answers = Answers(first.edges, first.noisy, plan, noisy_items, head_items, noisy_head, pair_plan, noisy_pairs)
    return answers, Measured(sizes, items, head, pairs)


def _supports(noisy: Noisy, plan: ItemPlan, sizes: SizeModel, terms: Terms) -> ItemSupports:
    rows = noisy.value.reshape(1 + plan.strata + plan.singles, terms.universe) / PARTS
    scale = noise_scale(noisy) / PARTS
    return fit_supports(rows, scale, plan.most, sizes, terms.departments, singles=plan.singles)


def _ask_head(
    asker: Asker, plan: ItemPlan, items: ItemSupports, sizes: SizeModel, price: int
) -> tuple[Ints, Noisy | None, HeadModel]:
    """Measures patterns of the most frequent items, if there are at least two and pairs are measured."""
    head_items = plan_head(items.support, sizes.records) if plan.pairs else np.zeros(0, np.int64)
    if not len(head_items):
        return head_items, None, HeadModel.none(sizes.records)
    query = queries.HeadPatterns(tuple(head_items.tolist()))
    noisy = asker.ask(query, price, why=PAID["head"], rows=("head",))
    value = noisy.value[0].astype(float)
    kept = value > head_threshold(len(value), noise_scale(noisy))
    kept[0] = True
    rest = max(0.0, sizes.records - float(value[kept].sum()))
    return head_items, noisy, HeadModel(head_items, np.flatnonzero(kept), np.maximum(value[kept], 0.0), rest)


def _ask_pairs(
    asker: Asker, plan: ItemPlan, items: ItemSupports, sizes: SizeModel, budget: tuple[int, int]
) -> tuple[PairPlan | None, NoisyCells | None, GivenPairs]:
    """Measures pairs of top items with all that is left; `budget` is the whole epsilon, and what is left of it."""
    if not plan.pairs:
        return None, None, GivenPairs.none()
    epsilon, price = budget[0] / NANO / asker.max_records, budget[1]
    pair_plan = plan_pairs(items.support, sizes, epsilon, price / NANO / asker.max_records)
    query = queries.PairSupports(tuple(pair_plan.items.tolist()), pair_plan.most, pair_plan.always)
    noisy = asker.above(query, price, pair_plan.at_least, why=PAID["pairs"], rows=("pairs",))
    noise, scale = noise_scale(noisy) / PARTS, pair_plan.scale
    given = GivenPairs(pair_plan.items, noisy.cells, noisy.value / PARTS, pair_plan.most, noise, scale)
    return pair_plan, noisy, given


def noise_scale(noisy: Noisy | NoisyCells) -> float:
    """The scale of the noise: sensitivity over epsilon."""
    return noisy.rate_den / int(noisy.rate_num[0])


def _portion(total: int, fraction: Fraction) -> int:
    """A share of a whole number of nano-units, rounded down."""
    return total * fraction.numerator // fraction.denominator
