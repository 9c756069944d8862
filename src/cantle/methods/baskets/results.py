"""From the noisy answers of `baskets` to what is released: groups and records. Post-processing.

Groups have one row per noisy number, question by question. `items` are those that the number is about (none for sizes
and for records without a head item); `size` is the smallest size of a bin (0 elsewhere). `noisy` counts in units of
1 / `parts` of a record. `estimate` is a number of records: those of a size or pattern, or those that hold the item or
the pair. The estimates of an item in records of one item, in short and in long records add up to its support.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, Floats, variance
from cantle.drawing.records import Results
from cantle.drawing.set_frames import to_frame
from cantle.methods.baskets.model.item_supports import ItemSupports
from cantle.methods.baskets.model.pool import HeadModel
from cantle.methods.baskets.model.questions import SINGLE, Answers, item_questions
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.methods.baskets.model.synthesis import Measured, synthesise, too_many_items
from cantle.schema.items import Codes, Universe
from cantle.schema.sets import ITEMS
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS, bits_of

_CLEAR = 10  # a sum of patterns is used as a pair's count if it exceeds this many standard deviations
_DIGITS = 3  # of estimates; further digits may vary with the machine


def basket_results(universe: Universe, answers: Answers, measured: Measured, path: int, dice: Dice) -> Results:
    """Everything a release of baskets holds."""
    starts, items = synthesise(measured, dice)
    return Results(
        to_frame(starts, items, universe),
        basket_groups(universe, answers, measured, path),
        {},
        summary_of(answers, len(starts) - 1, measured.sizes),
        sets=(starts, items),
    )


def summary_of(answers: Answers, records: int, sizes: SizeModel) -> dict[str, int]:
    """The numbers of the summary: how much of a record counts, what was measured, and whether the sizes call for too
    many items."""
    plan, given = answers.pair_plan, answers.pairs
    asked = 0 if plan is None else len(plan.items)
    return {
        "records": records,
        "items_per_record": answers.item_plan.most,
        "head_items": len(answers.head_items),
        "paired_items": asked,
        "pairs_per_record": 0 if plan is None else plan.most,
        "pairs": asked * (asked - 1) // 2,
        "pairs_given": 0 if plan is None or given is None else len(given.cells),
        "pairs_always_given": 0 if plan is None else len(plan.always),
        "at_least": 0 if plan is None else plan.at_least,
        **too_many_items(sizes),
    }


def basket_groups(universe: Universe, answers: Answers, measured: Measured, path: int) -> pl.DataFrame:
    """One row per noisy number."""
    blocks = [_sizes(answers, measured.sizes), *_items(answers, measured.items)]
    if answers.head is not None:
        blocks.append(_head(answers, answers.head, measured.head))
    if answers.pairs is not None:
        blocks.append(_pairs(answers, answers.pairs, measured))
    return pl.concat([block.frame(universe, path) for block in blocks])


@dataclass(frozen=True, eq=False)
class _Block:
    """The rows of one question; the first `empty` of them are about no item."""

    question: str
    answer: Noisy | NoisyCells
    value: Ints
    empty: int
    starts: Ints
    codes: Codes
    size: Ints
    parts: int
    estimate: Floats

    def frame(self, universe: Universe, path: int) -> pl.DataFrame:
        rows, rate_num = len(self.value), int(self.answer.rate_num[0])
        held = to_frame(self.starts, self.codes, universe)
        none = pl.DataFrame({ITEMS: pl.Series([[]] * self.empty, dtype=held[ITEMS].dtype)})
        numbers = {"path": path, "rate_num": rate_num, "rate_den": self.answer.rate_den, "parts": self.parts}
        return pl.concat([none, held]).select(
            pl.Series("question", [self.question] * rows, dtype=pl.String),
            ITEMS,
            pl.Series("size", self.size),
            pl.Series("noisy", self.value),
            *(pl.Series(name, np.full(rows, value, dtype=np.int64)) for name, value in numbers.items()),
            pl.Series("estimate", np.round(self.estimate, _DIGITS) + 0.0),  # no -0.0
        )


_NOTHING = np.zeros(1, np.int64), np.zeros(0, np.int32)


def _sizes(answers: Answers, sizes: SizeModel) -> _Block:
    value, edges = answers.sizes.value[0], answers.edges
    bin_of = np.searchsorted(edges, sizes.size, side="right") - 1
    estimate = np.bincount(bin_of, sizes.count, len(edges)).astype(float)
    return _Block("sizes", answers.sizes, value, len(edges), *_NOTHING, edges, 1, estimate)


def _items(answers: Answers, items: ItemSupports) -> list[_Block]:
    universe = len(items.support)
    one_each = np.arange(universe + 1), np.arange(universe, dtype=np.int32)
    nothing = np.zeros(universe, np.int64)
    rows = answers.items.value.reshape(-1, universe)
    plan, single = answers.item_plan, np.zeros(universe) if items.single is None else items.single
    long = np.minimum(items.long * items.enlarge, items.support) if plan.strata else np.zeros(universe)
    short = np.maximum(items.support - single - long, 0.0)
    estimates = [one for one, kept in ((single, plan.singles), (short, True), (long, plan.strata)) if kept]
    return [
        _Block(
            name, answers.items, value, 0, *one_each, nothing, PARTS * (plan.most if name == SINGLE else 1), estimate
        )
        for name, estimate, value in zip(item_questions(plan.strata, plan.singles), estimates, rows, strict=True)
    ]


def _head(answers: Answers, noisy: Noisy, head: HeadModel) -> _Block:
    value, items = noisy.value[0], answers.head_items
    starts, places = bits_of(np.arange(1, len(value)), np.zeros(len(value) - 1, np.int64))
    estimate = np.zeros(len(value))
    estimate[head.mask] = head.count
    return _Block("head", noisy, value, 1, starts, items[places].astype(np.int32), np.zeros_like(value), 1, estimate)


def _pairs(answers: Answers, noisy: NoisyCells, measured: Measured) -> _Block:
    codes = np.stack(measured.pairs.item_codes(), axis=1)
    records, support = _pair_records(answers, codes, measured), measured.items.support
    starts, flat = 2 * np.arange(len(codes) + 1), codes.reshape(-1).astype(np.int32)
    estimate = np.minimum(np.maximum(records, 0.0), support[codes].min(axis=1))
    return _Block("pairs", noisy, noisy.value, 0, starts, flat, np.zeros_like(noisy.value), PARTS, estimate)


def _pair_records(answers: Answers, codes: Ints, measured: Measured) -> Floats:
    """How many records hold each pair.

    Counts of pairs are scaled up by the average, because not all pairs of long records count; this is too much for
    pairs that occur mostly in short records. Head patterns count all records in full, so they are used for two head
    items, if their sum clearly exceeds its noise.
    """
    pairs = measured.pairs
    records = pairs.noisy * pairs.enlarge
    if answers.head is None:
        return records
    place = np.full(len(measured.items.support), -1)
    place[answers.head_items] = np.arange(len(answers.head_items))
    inside = np.flatnonzero((place[codes] >= 0).all(axis=1))
    value, both = answers.head.value[0], (1 << place[codes[inside]]).sum(axis=1)
    mask = np.arange(len(value))
    counted = np.array([value[(mask & two) == two].sum() for two in both], dtype=float)
    rate = float(answers.head.rate_num[0]) / answers.head.rate_den
    clear = counted > _CLEAR * np.sqrt(len(value) / 4 * variance(np.array([rate]))[0])
    records[inside[clear]] = counted[clear]
    return records
