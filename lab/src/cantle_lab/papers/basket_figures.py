"""Comparison of baskets with diffpart, Basic and the empty release.

It covers items, pairs, rules, sizes, whole sets, and the cost of publishing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.methods.baskets.model.pair_plan import pair_places
from cantle.trusted.counting.basket_counts import count_pairs
from cantle_lab.papers import sets
from cantle_lab.papers.baselines import basic, clipped
from cantle_lab.papers.coding import Floats
from cantle_lab.papers.diffpart_figures import BASKETS, PAPER_LARGE, SEED, each
from cantle_lab.papers.harness import Options, Row, Setting, rows
from cantle_lab.papers.metrics import variation_of_codes
from cantle_lab.papers.setqueries import (
    FEW_ITEMS,
    GROUPS,
    SANITY,
    Answers,
    Itemset,
    Nothing,
    Queries,
    Yardstick,
    answers_of,
    first,
    from_records,
    longest_of,
    relative_error,
    top,
    utility,
    workload,
)
from cantle_lab.papers.sets import Sets

FIGURE = "baskets-sets"
BUDGETS = (0.1, 0.5, 1.0)
METHODS: dict[str, Options] = {"diffpart": PAPER_LARGE, "baskets": BASKETS}
TOPS = (20, 100, 500)
UTILITY = 100
"""The number of most frequent itemsets of which the paper's utility (appendix E) is computed."""

PAIRS = 100
"""The number of most frequent true pairs whose lift and confidence are compared."""

_LONGER = 10  # queries of err20 and err60 for two or more items, per query of another measure
_PAIRED = 3000  # these pairs are searched among this many most frequent items


def compare(setting: Setting) -> Iterator[Row]:
    """Baskets, diffpart, Basic (up to 20 items) and the empty release on every data set, at three budgets."""
    for name, data in each(setting, FIGURE, {name: name for name in sets.FILES}):
        case, panel = Case.of(data, 200 if setting.quick else 2000), f"{name}: {{}} by budget"
        yield from rows(FIGURE, panel, "empty release", None, 0, case.scores(Nothing(data.size)))
        for epsilon, repeat in setting.points(BUDGETS):
            for series, scores in _of_one_budget(setting, case, epsilon, repeat):
                yield from rows(FIGURE, panel, f"{series}, B = {epsilon:g}", None, repeat, scores)


def _of_one_budget(setting: Setting, case: Case, epsilon: float, repeat: int) -> Iterator[tuple[str, dict[str, float]]]:
    """The scores of Basic (if there are few items) and of all methods at one budget."""
    data = case.yard.data
    if data.size <= FEW_ITEMS:
        yield "Basic", case.scores(clipped(basic(data, epsilon, setting.rng(repeat))))
    for method, options in METHODS.items():
        release, cost = setting.timed(data.frame, data.schema(), epsilon, options, repeat)
        records = sets.from_frame(pl.DataFrame(release.records), data.size)
        yield method, case.scores(answers_of(records), records) | {"CPU s": cost}


@dataclass(frozen=True)
class Case:
    """A data set with what is measured on it:

    * supL1: the sum of the errors of all items' supports, divided by the sum of supports
    * rec1 to rec3: the relative error of queries for one to three items of a random record
    * err20, err60: the same for the paper's queries of up to 20 % and 60 % of the items of the longest record. These
      are expected errors: only few of the paper's random queries are for one item, but these have almost all of the
      error if the universe is large. So every item is asked once, with the weight that queries of this length have.
    * p20, p100, p500: the share of the most frequent itemsets that are among the most frequent of the release
    * u100: the paper's utility of the first 100 itemsets
    * se100, se500: the mean relative error of the supports of the first 100 and 500 itemsets
    * lift and conf: |ln(released lift / true lift)| and |error of the confidence| of the most frequent true pairs, each
      as mean and median
    * sizeTV: the total variation distance of the sizes
    * true mass: the share of the true records that the release has in common with the data, set by set
    """

    yard: Yardstick
    singles: Mapping[str, float]
    """The share of queries for one item among those of err20 and err60."""
    rules: Rules

    @staticmethod
    def of(data: Sets, number: int) -> Case:
        """The case of a data set, with this many queries of each kind."""
        rng, singles = np.random.default_rng(SEED), dict[str, float]()
        able = [k for k in (1, 2, 3) if (data.lengths >= k).any()]
        asked = {f"rec{k}": from_records(data, k, number, rng) for k in able}
        for percent in (GROUPS[0], GROUPS[2]):
            longest = min(longest_of(data, percent), data.size)
            singles[f"err{percent}"] = 1 / longest
            if longest > 1:
                asked[f"err{percent}"] = workload(data.size, longest, _LONGER * number, rng, shortest=2)
        rules = Rules.of(answers_of(data), frequent_pairs(data))
        return Case(Yardstick.of(data, asked, max(TOPS)), singles, rules)

    def scores(self, answers: Answers, released: Sets | None = None) -> dict[str, float]:
        """All measures of one release that apply to it."""
        data, supports = self.yard.data, self.yard.data.supports()
        values = {"supL1": float(np.abs(answers.supports() - supports).sum() / max(1, supports.sum()))}
        values |= self.yard.errors(answers)
        of_one = relative_error(supports.astype(float), answers.supports(), SANITY * len(data))
        for name, share in self.singles.items():
            values[name] = share * of_one + (1 - share) * values.get(name, 0.0)
        values |= self._tops(answers)
        if answers.records > 0:
            values |= self.rules.errors(answers)
        if released is not None:
            values["sizeTV"] = variation_of_codes(data.lengths, released.lengths)
        return values | self.yard.true_mass(answers, released)

    def _tops(self, answers: Answers) -> dict[str, float]:
        """The measures of the most frequent itemsets."""
        mine, best = list(self.yard.frequent), top(answers, max(TOPS))
        theirs = list(best)
        scores = {f"p{k}": len(set(mine[:k]) & set(theirs[:k])) / max(1, len(mine[:k])) for k in TOPS}
        scores[f"u{UTILITY}"] = utility(first(self.yard.frequent, UTILITY), first(best, UTILITY))
        error = np.abs(answers.count(as_queries(mine)) / np.array(list(self.yard.frequent.values())) - 1)
        return scores | {f"se{k}": float(error[:k].mean()) for k in TOPS[1:] if len(mine)}


@dataclass(frozen=True)
class Rules:
    """Lift and confidence of pairs of items.

    Lift is how much more often two items occur together than they would if they were independent. Confidence is the
    share of the records with one item that have the other too; there is one for each item of a pair.
    """

    pairs: Queries
    lift: Floats
    confidence: Floats

    @staticmethod
    def of(answers: Answers, pairs: Queries) -> Rules:
        """The rules of these pairs; a pair that never occurs counts as half a record, so that the logarithm exists."""
        together, support = answers.count(pairs), np.maximum(answers.supports()[pairs], 1.0)
        lift = np.maximum(together, 0.5) * max(1.0, answers.records) / support.prod(axis=1)
        return Rules(pairs, lift, together[:, None] / support)

    def errors(self, answers: Answers) -> dict[str, float]:
        """Mean and median errors of the lift and confidence in a release."""
        released = Rules.of(answers, self.pairs)
        if not len(self.pairs):
            return {}
        lift = np.abs(np.log(released.lift / self.lift))
        confidence = np.abs(released.confidence - self.confidence)
        return {"lift": float(lift.mean()), "lift median": float(np.median(lift)),
                "conf": float(confidence.mean()), "conf median": float(np.median(confidence))}  # fmt: skip


def as_queries(itemsets: list[Itemset]) -> Queries:
    """Itemsets of any size as rows of a matrix, padded on the right with -1."""
    widest = max((len(one) for one in itemsets), default=1)
    return np.array([[*one, *[-1] * (widest - len(one))] for one in itemsets], np.int32).reshape(-1, widest)


def frequent_pairs(data: Sets) -> Queries:
    """The PAIRS most frequent pairs of items."""
    items = np.sort(np.argsort(-data.supports(), kind="stable")[:_PAIRED])
    if len(items) < 2:
        return np.zeros((0, 2), np.int32)
    every = 10**6  # so large that every pair counts in full
    parts = count_pairs(data.starts, data.items, data.size, items, every)
    most = np.argsort(-parts, kind="stable")[: min(PAIRS, np.count_nonzero(parts))]
    low, high = pair_places(most)
    return np.stack([items[low], items[high]], axis=1).astype(np.int32)
