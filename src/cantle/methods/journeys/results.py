"""From the noisy answers of `journeys` to what is released: groups and records. Post-processing.

Groups have one row per noisy number, question by question. `symbols` are those that the number is about, in their
order; in place of a symbol, start and end are null. `length` is the shortest length of a bin of lengths, else 0.
`noisy` counts in units of 1 / `parts` of an occurrence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.records import Results, share_drawn, wanted_items
from cantle.drawing.set_frames import to_frame
from cantle.methods.journeys.model.journey import uses
from cantle.methods.journeys.model.questions import Answers
from cantle.schema.items import Codes, Universe
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    import polars as pl


def journey_results(universe: Universe, answers: Answers, dice: Dice) -> Results:
    """Everything a release of journeys holds."""
    starts, codes = draw(answers, dice)
    return Results(
        to_frame(starts, codes, universe),
        groups_of(universe, answers),
        {},
        summary_of(answers, len(starts) - 1),
        {"name": "sequences", "version": 1},
        sets=(starts, codes),
    )


def summary_of(answers: Answers, records: int) -> dict[str, int]:
    """The numbers of the summary: up to which length sequences count in full, and how long strings are counted."""
    return {
        "records": records,
        "full_up_to": answers.model.span,
        "order": answers.order,
        "strings": sum(len(cells) for *_, cells in answers.measured),
        **wanted_items(answers.lengths.symbols),
    }


def draw(answers: Answers, dice: Dice, number: int | None = None) -> tuple[Ints, Codes]:
    """Sequences in random order, as ragged rows; `number` of them, by default as many as the noisy lengths say."""
    lengths = answers.lengths
    share = share_drawn(wanted_items(lengths.symbols))
    sizes = lengths.drawn(lengths.records * share if number is None else number)
    _, codes = answers.model.draw(np.repeat(np.arange(len(sizes)), sizes), dice)
    every = np.repeat(np.arange(len(sizes))[::-1], sizes[::-1])
    begins = np.cumsum(every) - every
    order = dice.permutation(len(every))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(every[order])])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], every[order]) + np.repeat(begins[order], every[order])
    return starts, codes[place]


# ---- groups -----------------------------------------------------------------------------------------------------


def groups_of(universe: Universe, answers: Answers) -> pl.DataFrame:
    """One row per noisy number."""
    import polars as pl

    size, edges = universe.size, answers.edges
    frames = [_frame("lengths", answers.noisy_lengths, np.zeros((len(edges), 0), np.int64), edges, 1, universe)]
    for name, order, shares, noisy, cells in answers.measured:
        codes = np.stack([cells // (size + 1) ** back % (size + 1) for back in range(order - 1, -1, -1)], axis=1)
        parts = uses(shares, order, size, cells)
        frames.append(_frame(name, noisy, codes, np.zeros(len(cells), np.int64), parts, universe))
    return pl.concat(frames)


def _frame(
    question: str, answer: Noisy | NoisyCells, codes: Ints, length: Ints, parts: Ints | int, universe: Universe
) -> pl.DataFrame:
    """The rows of one question; `codes` has one row per number, in which the code after the last means null."""
    import polars as pl

    inside = codes.reshape(-1) < universe.size
    flat = universe.labels(np.where(inside, codes.reshape(-1), 0)).set(pl.Series(~inside), None)
    item = pl.Int64() if universe.integers else pl.String()
    none = pl.Series("symbols", [[]] * len(codes), dtype=pl.List(item))
    numbers: dict[str, Ints | int] = {
        "length": length,
        "noisy": answer.value.reshape(-1),
        "rate_num": int(answer.rate_num[0]),
        "rate_den": answer.rate_den,
        "parts": parts,
    }
    return pl.DataFrame(
        [
            pl.Series("question", [question] * len(codes), dtype=pl.String),
            flat.reshape(codes.shape).arr.to_list().alias("symbols") if codes.shape[1] else none,
            *(pl.Series(name, np.broadcast_to(one, len(codes)).astype(np.int64)) for name, one in numbers.items()),
        ]
    )
