"""Plans for sets of items, for sequences and for graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np

from cantle.methods.auto_sets import BySizes
from cantle.methods.baskets.method import Baskets
from cantle.methods.baskets.model.pair_plan import HEAD_SHARE, SIZES_SHARE, plan_items
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.methods.degrees.method import DegreeSequence
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.journeys.method import Journeys
from cantle.methods.journeys.model.questions import (
    DENSE,
    ENDS,
    LEAST_STRENGTH,
    LENGTHS_SHARE,
    LONGER_LOG,
    PAIRS_SHARE,
    SMALL_LOG,
    SYMBOLS_SHARE,
)
from cantle.methods.own_accuracy import SIZE_SHARE
from cantle.methods.own_error.accuracy import WHY
from cantle.methods.planning.outline import MEAN_ERROR, Outline, Part
from cantle.methods.planning.tables import noise_of
from cantle.methods.words import question_in_words
from cantle.trusted.core.budget import NANO

ITEMS_PER_SET = 5
"""Assumed mean number of items of a set."""

BOUND = 64
"""Assumed bound on degrees."""


def plan_baskets(method: Baskets, epsilon: float, records: int, persons: int) -> Outline:
    """The shares of baskets, for sets of a few items each."""
    universe, rate = method.terms.universe, epsilon / persons
    sizes = _sizes(records, universe)
    accuracy = method.own_accuracy.expected(round(epsilon * NANO), records, persons)
    plan = plan_items(sizes, universe, rate, accuracy, method.terms.pairs)
    rest = 1 - float(SIZES_SHARE) - float(accuracy)
    items = float(plan.share) if plan.pairs else rest
    enlarged = sizes.occurrences / sizes.counted(plan.most)
    noise = noise_of(items * rate / plan.most) * enlarged * sqrt(1 + plan.strata)
    budget = [Part("sizes of sets", float(SIZES_SHARE), noise_of(float(SIZES_SHARE) * rate))]
    budget += [Part(question_in_words(WHY), float(accuracy)), Part(question_in_words("item supports"), items, noise)]
    remarks = [f"assumes {ITEMS_PER_SET} items per set on average; at most {plan.most} items of a set count"]
    if plan.pairs:
        pairs = rest - items - float(HEAD_SHARE)
        budget += [Part(question_in_words("head patterns"), float(HEAD_SHARE)), Part("pairs of items", pairs)]
    else:
        remarks.append("too few records for this epsilon to measure which items go together")
    return _of_items("baskets", budget, noise, records, universe, remarks)


def _sizes(records: int, universe: int) -> SizeModel:
    """The assumed sizes of sets: a geometric distribution."""
    size = np.arange(1, min(universe, 60) + 1)
    chance = (1 - 1 / ITEMS_PER_SET) ** size
    return SizeModel(size, max(1, records) * chance / chance.sum(), float(records))


def plan_diffpart(method: DiffPart, epsilon: float, records: int, persons: int) -> Outline:
    """The shares of diffpart, which counts all sets at once or builds a tree of groups of items."""
    accuracy = method.own_accuracy.expected(round(epsilon * NANO), records, persons)
    counted = Part("number of records", float(SIZE_SHARE) if method.own_accuracy.share else 0.0)
    return _diffpart(method, [counted, Part(question_in_words(WHY), float(accuracy))], epsilon / persons, records)


def _diffpart(method: DiffPart, before: list[Part], rate: float, records: int) -> Outline:
    """The outline of diffpart after the questions `before`."""
    universe, rest = method.tree.size, 1 - sum(part.share for part in before)
    if method.all_at_once:
        each = noise_of(rest * rate)
        budget = [*before, Part(f"all {2**universe - 1:,} sets", rest, each)]
        return _of_items("diffpart", budget, each * sqrt(2 ** (universe - 1)), records, universe, [])
    leaves = rest * float(method.settings.leaf_share)
    noise = noise_of(leaves * rate)
    budget = [*before, Part("choosing which sets to count", rest - leaves), Part("counts of sets", leaves, noise)]
    remarks = ["sets that are rarer than the noise of one count are dropped"]
    if (error := method.useful_error(rest * rate)) is not None:
        off = ", ".join(f"{error(sets):,.0f} records for {sets} set{'s' * (sets > 1)}" for sets in (1, 10))
        beyond = "; that says nothing about so few records" if error(1) >= records else ""
        remarks.append(
            f"in 95 of 100 cases the count of a query is off by at most {off} that it covers (Theorem 4.2){beyond}"
        )
    return _of_items("diffpart", budget, noise, records, universe, remarks)


def plan_by_sizes(method: BySizes, epsilon: float, records: int, persons: int) -> Outline:
    """The plan of method auto for 9 to 20 items: diffpart if there are enough records for all sets, else baskets.

    Enough means that records times epsilon per record is at least the number of sets.
    """
    if 2**method.schema.universe.size > records * epsilon / persons:
        return plan_baskets(Baskets(method.schema), epsilon, records, persons)
    accuracy = method.own_accuracy.expected(round(epsilon * NANO), records, persons)
    before = [Part("sizes of sets", float(SIZES_SHARE)), Part(question_in_words(WHY), float(accuracy))]
    return _diffpart(DiffPart(method.schema), before, epsilon / persons, records)


def _of_items(name: str, budget: list[Part], noise: float, records: int, universe: int, remarks: list[str]) -> Outline:
    """The outline of a method for sets, with its costs; `noise` is that in the support of one item."""
    start, per_set, least, bytes_per_set = _COSTS["compiled" if name == "baskets" and records >= COMPILED else name]
    return Outline(
        method=name,
        budget=tuple(budget),
        value_noise=noise,
        one_way=min(MEAN_ERROR * noise, ITEMS_PER_SET * records / universe),
        cells=1.0,
        remarks=tuple(remarks),
        seconds=start + per_set * records,
        megabytes=least + bytes_per_set * records / 1e6,
    )


COMPILED = 200_000
"""The number of records from which on kernels are compiled, if numba is installed."""

_COSTS: Mapping[str, tuple[float, float, float, float]] = {
    "baskets": (0.5, 1.4e-4, 290, 400),
    "compiled": (1.0, 7e-6, 290, 400),
    "diffpart": (0.3, 6e-6, 200, 500),
}
"""Seconds to start, seconds per set, megabytes to start, and bytes per set, as measured in single runs."""


def plan_degrees(method: DegreeSequence, epsilon: float, records: int, persons: int) -> Outline:  # noqa: ARG001
    """The shares of degrees; `records` is the number of nodes. The noise grows with the bound on degrees."""
    s, unit = method.settings, method.schema.unit
    if unit == "edge":
        budget = [Part("sorted degrees", 0.5), Part("nodes by degree", 0.5, noise_of(epsilon / 4))]
        return _of_degrees(
            budget, noise_of(epsilon / 4), ["one edge is protected, which promises much less than a node"]
        )
    bound = s.theta or min(BOUND, method.schema.max_degree or BOUND)
    asked = [
        Part("bound on degrees", 0.0 if s.theta else float(s.theta_share)),
        Part("number of edges", float(s.edges_share)),
        Part("number of nodes", float(method.share_of_nodes(round(epsilon * NANO))) if unit == "node" else 0.0),
    ]
    rest = 1 - sum(part.share for part in asked)
    noise = noise_of(rest * epsilon / ((bound + 1) if unit == "node" else 2 * bound))
    budget = [*asked, Part("nodes by degree", rest, noise)]
    given = "as given" if s.theta else "assumed; the run chooses it"
    return _of_degrees(budget, noise, [f"with a bound of {bound} on degrees ({given}); the noise grows with the bound"])


def _of_degrees(budget: list[Part], noise: float, remarks: list[str]) -> Outline:
    """The outline of degrees; `noise` is that in one count of nodes."""
    return Outline(
        method="degrees",
        budget=tuple(budget),
        value_noise=noise,
        one_way=MEAN_ERROR * noise,
        cells=1.0,
        remarks=tuple(remarks),
    )


def plan_journeys(method: Journeys, epsilon: float, records: int, persons: int) -> Outline:
    """The shares of journeys, for sequences of a few symbols each."""
    symbols, rate = method.schema.universe.size, epsilon / persons
    accuracy = float(method.own_accuracy.expected(round(epsilon * NANO), records, persons))
    left = 1 - float(LENGTHS_SHARE) - accuracy
    many = (symbols + 1) ** 2 > DENSE
    ordered = records * rate >= LEAST_STRENGTH
    single = left * float(SYMBOLS_SHARE) if many else 0.0 if ordered else left
    pairs = (left - single) * float(PAIRS_SHARE if records * rate >= LONGER_LOG and not many else 1)
    noise = ENDS * noise_of((pairs if ordered else single) * rate)
    budget = [Part("lengths of sequences", float(LENGTHS_SHARE), noise_of(float(LENGTHS_SHARE) * rate))]
    budget += [Part(question_in_words(WHY), accuracy), Part("symbols", single), Part("pairs of symbols", pairs, noise)]
    budget += [Part("strings of symbols", left - single - pairs)]
    budget = [part for part in budget if part.share > 0]
    remarks = []
    if not ordered:
        remarks.append("too few sequences for this epsilon to measure which symbol follows which")
    elif records * rate < SMALL_LOG:
        remarks.append("few sequences for this epsilon: which symbol follows which is known roughly at best")
    return Outline(
        method="journeys",
        budget=tuple(budget),
        value_noise=noise,
        one_way=min(MEAN_ERROR * noise, records / symbols),
        cells=1.0,
        remarks=tuple(remarks),
        seconds=0.5 + 3e-6 * records,
        megabytes=250 + 400 * records / 1e6,
    )


PLANNERS: dict[str, Callable[[Any, float, int, int], Outline]] = {
    "baskets": plan_baskets,
    "diffpart": plan_diffpart,
    "auto": plan_by_sizes,
    "journeys": plan_journeys,
    "degrees": plan_degrees,
}
