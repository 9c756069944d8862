"""The structure `sequences`: noisy numbers of sequences by length, and of strings.

File: groups.parquet, one row per noisy number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import polars as pl

from cantle.drawing.counts import STREAMS, Dice, public_dice, public_streams
from cantle.drawing.set_frames import to_frame
from cantle.errors import CantleError, VerifyError
from cantle.methods.asking import Rows
from cantle.methods.journeys.model.questions import SMALL_LOG, Answers, ask_all
from cantle.methods.journeys.results import draw, groups_of, summary_of
from cantle.release import Release
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import DirectAnswer, Share, sum_of, variances, worst_of_columns
from cantle.release.manifest import Manifest
from cantle.release.report.content import Section
from cantle.release.schemas import schema_as
from cantle.release.sequences import most_frequent
from cantle.release.show import bars
from cantle.release.structures import Traits
from cantle.release.structures.checks import OfItems, changed_columns
from cantle.release.structures.replay import Replay
from cantle.release.words import percent
from cantle.schema.code_sets import AnySet, OneColumn, Question
from cantle.schema.sequences import SequenceSchema, pattern_of
from cantle.trusted.claims.sequence_queries import ListedStrings
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.sequence_strings import string_cells

_COLUMNS = ["question", "symbols", "length", "noisy", "rate_num", "rate_den", "parts"]
_CLOSE = 0.01  # tolerated relative difference of pairs of symbols, because last digits vary with the machine
_SHOWN, _BARS = 12, 8


class Replayed(Replay):
    """Answers the questions of `ask_all` with the noisy numbers of a release."""

    def cells_of(self, query: ListedStrings, rows: Rows) -> tuple[Ints, Ints]:
        size, held = self._universe.size, self._rows(*rows)
        cells = np.zeros(len(held), np.int64)
        for place in range(query.order):
            code = self._universe.encode(held["symbols"].list.get(place)).astype(np.int64)
            cells = cells * (size + 1) + np.where(code < 0, size, code)
        return cells, held["noisy"].to_numpy()


def strength(manifest: Manifest) -> float:
    """Records times epsilon, divided by the records of a unit."""
    receipt = manifest.receipt
    return float(manifest.summary["records"] * receipt.epsilon_nano / NANO / receipt.unit.max_records)


def traits(manifest: Manifest) -> Traits:
    s = manifest.summary
    if s["order"] == 1:
        besides = "\n**No order was measured** (the sequences are too few for this epsilon): "
        besides += "which symbol follows which is not in this release."
        return Traits("lengths and symbols, but no order", besides=besides)
    besides = ""
    if strength(manifest) < SMALL_LOG:
        besides = "\n**No order was measured well** (the sequences are few for this epsilon): which symbol follows "
        besides += "which is known roughly at best, and rare successions not at all."
    return Traits(f"lengths, starts, ends, and {s['strings']:,} strings of up to {s['order']} symbols", besides=besides)


class Opened(OfItems):
    """A release of lengths and strings."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.schema = schema_as(release.manifest, SequenceSchema)

    @cached_property
    def _answers(self) -> tuple[Replayed, Answers]:
        replayed = Replayed(self._release, "lengths")
        dice = public_streams(self._manifest.postprocessing["seed"], STREAMS)
        return replayed, ask_all(replayed, self.universe.size, self.schema.max_length, dice)

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether questions and prices follow from the answers, the groups too, and the records from both."""
        if self._groups.columns != _COLUMNS or any(self._groups.null_count().row(0)):
            yield "the groups do not have the columns of sequences"
            return
        try:
            replayed, answers = self._answers
        except (CantleError, ValueError, IndexError) as error:
            yield str(error) if isinstance(error, VerifyError) else "the groups are not those of such a release"
            return
        if replayed.receipts() != replayed.asked():
            yield "the questions that the noisy numbers lead to are not those that the receipt paid for"
            return
        again = groups_of(self.universe, answers)
        yield from changed_columns(self._groups, again, "groups")
        yield from self._record_problems(answers)

    def _record_problems(self, answers: Answers) -> Iterator[str]:
        records = self.records
        starts, drawn = draw(answers, public_dice(self._manifest.postprocessing["seed"]))
        if len(records) != len(starts) - 1 or self._manifest.summary != summary_of(answers, len(starts) - 1):
            yield "the records or the summary are not what the noisy numbers say"
            return
        codes = self.universe.encode(records.explode(empty_as_null=False))
        lengths = records.list.len().to_numpy().astype(np.int64)
        if (codes < 0).any() or (lengths < 1).any():
            yield "the records are not all sequences of declared symbols"
            return
        if not np.array_equal(np.sort(lengths), np.sort(np.diff(starts))):
            yield "the lengths of the records are not those that the noisy numbers say"
            return
        begins, size = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]), self.universe.size
        cells, others = string_cells(begins, codes, size, 2), string_cells(starts, drawn, size, 2)
        _, place = np.unique(np.concatenate([cells, others]), return_inverse=True)
        sign = np.repeat([1, -1], [len(cells), len(others)])
        if np.abs(np.bincount(place, sign)).sum() > _CLOSE * max(1, len(cells)):
            yield "the records are not like those that the noisy numbers make"

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:
        """The largest noise of what the question names, scaled by the share of its records for which it holds."""
        return worst_of_columns(
            question,
            share,
            lambda key, codes: (
                self._numbers(str(key), codes)[1]
                if key in ("length", "first", "last")
                else self._of_strings(pattern_of(key))
            ),
        )

    def direct(self, question: Question) -> DirectAnswer | None:
        """Lengths in whole bins, first and last symbols."""
        if not isinstance(question, OneColumn) or question.key not in ("length", "first", "last"):
            return None
        if question.key == "length":
            first, end = self._bins()
            touched = question.codes.share(first, end)
            if ((touched > 0) & (touched < 1)).any():
                return None
        elif self._manifest.summary["order"] == 1:
            return None  # only symbols were counted, wherever they are
        value, noise = self._numbers(question.key, question.codes)
        return DirectAnswer(value, noise)

    def _bins(self) -> tuple[Ints, Ints]:
        first = self._rows("lengths")["length"].to_numpy()
        return first, np.append(first[1:], self.schema.max_length + 1)

    def _numbers(self, key: str, codes: AnySet) -> tuple[float, Noise]:
        """The noisy number of sequences with these lengths, first or last symbols, and its noise."""
        if key == "length":
            rows = self._rows("lengths")
            first, end = self._bins()
            rows = rows.filter(codes.share(first, end) > 0)
        else:
            place = -1 if key == "first" else 0
            rows = self._rows("strings of 2")
            rows = rows.filter(rows["symbols"].list.get(-1 - place).is_null())
            symbols = self.universe.encode(rows["symbols"].list.get(place)).astype(np.int64)
            inside = codes.share(symbols, symbols + 1) > 0
            rows = rows.filter(inside)
        parts = rows["parts"].to_numpy()
        value = float((rows["noisy"].to_numpy() / parts).sum())
        return value, sum_of(Noise.of(float(v), 1 / p) for v, p in zip(variances(rows), parts.tolist(), strict=True))

    def _of_strings(self, pattern: tuple[tuple[int, ...], ...]) -> Noise:
        """The noise in the count of a string, in sequences."""
        order = min(max(2, *map(len, pattern)), self._manifest.summary["order"])
        rows = self._rows(f"strings of {order}")
        rows = rows.filter(rows["symbols"].list.drop_nulls().list.len() == order).head(1)  # no start and no end
        return sum_of(Noise.of(float(v), 1 / p) for v, p in zip(variances(rows), rows["parts"], strict=True))

    def _rows(self, question: str) -> pl.DataFrame:
        return self._groups.filter(self._groups["question"] == question)

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Records drawn anew from the noisy numbers."""
        _, answers = self._answers
        return to_frame(*draw(answers, dice, n), self.universe)

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The most frequent sequences, and what follows what most often."""
        every = self.records
        held = every.list.unique().explode(empty_as_null=False).value_counts(sort=True)
        held = held.sort(["count", held.columns[0]], descending=[True, False]).head(_BARS)
        symbols = [str(symbol) for symbol in held.to_series(0)]
        yield "Most frequent symbols", list(bars(symbols, held["count"].to_list(), len(every))) if len(held) else []
        lines = [
            f"{' > '.join(one)}: {count:,} sequences, {percent(count, len(every))}"
            for one, count in most_frequent(every, _SHOWN)
        ]
        yield "Most frequent sequences", lines or ["no sequence was released"]

    def report(self) -> Section | None:
        return None
