"""From the noisy answers of `journeys` to what is released: groups and records. Post-processing.

Groups have one row per noisy number, question by question. `symbols` are those that the number is about, in their
order; in place of a symbol, start and end are null. `length` is the shortest length that it is about, of a bin or of a
class of lengths. `noisy` counts in units of 1 / `parts` of a sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.records import Results, share_drawn, wanted_items
from cantle.drawing.set_frames import to_frame
from cantle.methods.journeys.model.paths import draw_paths, split_paths
from cantle.methods.journeys.model.questions import ENDS, Answers
from cantle.schema.items import Codes, Universe
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import PARTS

if TYPE_CHECKING:
    import polars as pl


def journey_results(universe: Universe, answers: Answers, paths: tuple[int, int], dice: Dice) -> Results:
    """Everything a release of journeys holds; `paths` are the kinds of path of short and of long sequences."""
    starts, codes = draw(answers, dice)
    return Results(
        to_frame(starts, codes, universe),
        groups_of(universe, answers, paths),
        {},
        summary_of(answers, len(starts) - 1),
        {"name": "sequences", "version": 1},
        sets=(starts, codes),
    )


def summary_of(answers: Answers, records: int) -> dict[str, int]:
    """The numbers of the summary: how long sequences are counted whole, and how long strings are counted."""
    return {
        "records": records,
        "whole_up_to": answers.short,
        "classes_of_length": len(answers.classes) + 1,
        "order": answers.order,
        "strings": sum(len(cells) for *_, cells in answers.measured),
        **wanted_items(answers.lengths.symbols),
    }


def draw(answers: Answers, dice: Dice, number: int | None = None) -> tuple[Ints, Codes]:
    """Sequences in random order, as ragged rows; `number` of them, by default as many as the noisy lengths say."""
    short, lengths = answers.short, answers.lengths
    share = share_drawn(wanted_items(lengths.symbols))
    sizes = lengths.drawn(lengths.records * share if number is None else number)
    symbols = round(len(answers.paths[0]))
    parts = [draw_paths(answers.paths, sizes[1 : short + 1], symbols, dice)]
    long = np.repeat(np.arange(short + 1, len(sizes)), sizes[short + 1 :])
    if answers.model is not None and len(long):
        parts.append(answers.model.draw(long, dice))
    every = np.concatenate([np.diff(starts) for starts, _ in parts])
    codes = np.concatenate([codes for _, codes in parts])
    begins = np.cumsum(every) - every
    order = dice.permutation(len(every))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(every[order])])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], every[order]) + np.repeat(begins[order], every[order])
    return starts, codes[place]


# ---- groups -----------------------------------------------------------------------------------------------------


def groups_of(universe: Universe, answers: Answers, paths: tuple[int, int]) -> pl.DataFrame:
    """One row per noisy number."""
    import polars as pl

    size, (short, long) = universe.size, paths
    frames = [_frame("lengths", answers.noisy_lengths, None, answers.edges, 1, short, universe)]
    if answers.noisy_paths is not None:
        for steps, part in enumerate(split_paths(answers.noisy_paths.value[0], size, answers.short), 1):
            codes = np.stack(np.unravel_index(np.arange(len(part)), (size,) * steps), axis=1)
            shown = np.full(len(part), steps)
            frames.append(_frame("paths", answers.noisy_paths, codes, shown, 1, short, universe, part))
    first_length = np.array([answers.short + 1, *answers.classes])
    if answers.noisy_ends is not None:
        cells = np.arange(len(first_length) * size)
        tables = answers.noisy_ends.value.reshape(3, -1)
        for name, value, weight in zip(ENDS, tables, answers.weights, strict=True):
            if weight:
                length = first_length[cells // size]
                codes = (cells % size)[:, None]
                frames.append(_frame(name, answers.noisy_ends, codes, length, weight, long, universe, value))
    for name, order, noisy, cells in answers.measured:
        codes = np.stack([cells // (size + 1) ** back % (size + 1) for back in range(order - 1, -1, -1)], axis=1)
        cls = cells // (size + 1) ** order
        shown = first_length[cls] if order == 2 else np.full(len(cells), answers.short + 1)
        frames.append(_frame(name, noisy, codes, shown, PARTS, long, universe))
    for order, noisy in answers.tests:
        frames.append(_frame(f"test of {order}", noisy, None, np.array([0]), 2 * PARTS, long, universe))
    return pl.concat(frames)


def _frame(
    question: str,
    answer: Noisy | NoisyCells,
    codes: Ints | None,
    length: Ints,
    parts: int,
    path: int,
    universe: Universe,
    value: Ints | None = None,
) -> pl.DataFrame:
    """The rows of one question; `codes` has one row per number, in which the code after the last means null."""
    import polars as pl

    if value is None:
        value = answer.value.reshape(-1)
    rows = len(value)
    item = pl.Int64() if universe.integers else pl.String()
    if codes is None:
        held = pl.Series("symbols", [[]] * rows, dtype=pl.List(item))
    else:
        inside = codes.reshape(-1) < universe.size
        flat = universe.labels(np.where(inside, codes.reshape(-1), 0)).set(pl.Series(~inside), None)
        held = flat.reshape(codes.shape).arr.to_list().alias("symbols")
    numbers = {"path": path, "rate_num": int(answer.rate_num[0]), "rate_den": answer.rate_den, "parts": parts}
    return pl.DataFrame(
        [
            pl.Series("question", [question] * rows, dtype=pl.String),
            held,
            pl.Series("length", length.astype(np.int64)),
            pl.Series("noisy", value.astype(np.int64)),
            *(pl.Series(name, np.full(rows, one, dtype=np.int64)) for name, one in numbers.items()),
        ]
    )
