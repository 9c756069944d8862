"""The structure `patterns`: noisy numbers of records by size, of items, of patterns of frequent items, and of pairs.

File: groups.parquet, one row per noisy number.

Every plan of the method (bins, items per record, head, pairs, thresholds) and every price follows from earlier answers
by a public rule, so all of them can be computed again from the noisy numbers (cantle.methods.baskets.model.questions).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.drawing.counts import Dice, public_dice
from cantle.drawing.set_frames import to_frame
from cantle.errors import VerifyError
from cantle.methods.asking import Rows
from cantle.methods.baskets.model.pair_plan import pair_cells
from cantle.methods.baskets.model.questions import SINGLE, Answers, Terms, ask_all
from cantle.methods.baskets.model.synthesis import KERNELS_FROM, Measured, synthesise
from cantle.methods.baskets.results import basket_groups, summary_of
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import Share, sum_of, variances, worst_of_columns
from cantle.release.manifest import Manifest
from cantle.release.report.sets import SetView
from cantle.release.schemas import schema_as
from cantle.release.show import item_section
from cantle.release.structures import Traits
from cantle.release.structures.checks import OfItems, changed_columns, has_columns
from cantle.release.structures.replay import Replay
from cantle.release.words import percent
from cantle.schema.code_sets import AnySet, Question
from cantle.schema.sets import SetSchema
from cantle.schema.values import Codes
from cantle.trusted.claims.set_queries import PairSupports
from cantle.trusted.geometry.boxes import Ints


class Replayed(Replay):
    """Answers the questions of `ask_all` with the noisy numbers of a release."""

    def cells_of(self, query: PairSupports, rows: Rows) -> tuple[Ints, Ints]:
        """The cells of the pairs that are listed, and their noisy values."""
        listed = self._rows(rows[0])
        codes = self._universe.encode(listed["items"].explode(empty_as_null=False))
        items = np.array(query.items)
        place = np.searchsorted(items, codes.astype(np.int64))
        if len(codes) != 2 * len(listed) or not np.array_equal(np.append(items, -1)[place], codes):
            raise VerifyError("a pair is not one of the items that were paired")
        cells = pair_cells(place[::2], place[1::2])
        if not (np.diff(cells) > 0).all() or not (place[::2] < place[1::2]).all():
            raise VerifyError("the pairs are not in order, each listed once")
        return cells, listed["noisy"].to_numpy()


_COLUMNS = "question items size noisy path rate_num rate_den parts estimate"
_CLOSE = 0.01  # tolerated relative difference of items and sizes, because last digits vary with the machine
_SHOWN = 20


def traits(manifest: Manifest) -> Traits:
    s = manifest.summary
    if not s["pairs"]:
        off = manifest.parameters["pairs"] == "off"
        why = "`pairs=off` was set" if off else "the records are too few for this epsilon"
        besides = f"\n**No co-occurrence was measured** ({why}): which items go together is not in this release."
        return Traits("sets by size and items, but no pairs", besides=besides)
    head = f", patterns of the {s['head_items']} most frequent ones" if s["head_items"] else ""
    some = "all" if s["pairs_given"] == s["pairs"] else f"{s['pairs_given']:,} of the"
    return Traits(f"sets by size, items{head}, and {some} {s['pairs']:,} pairs of {s['paired_items']:,} items")


class Opened(OfItems):
    """A release of sizes, items and pairs."""

    @cached_property
    def _answers(self) -> tuple[Replayed, Answers, Measured]:
        """The answers, and what is fitted to them, computed again."""
        replayed = Replayed(self._release, "sizes")
        terms = Terms.of(schema_as(self._manifest, SetSchema), pairs=self._manifest.parameters["pairs"] == "on")
        return replayed, *ask_all(replayed, terms)

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether questions and prices follow from the answers, the groups too, and the records from both."""
        if not has_columns(self._groups, _COLUMNS, items=self.universe):
            raise VerifyError("the groups do not have the columns of patterns")
        replayed, answers, measured = self._answers
        (path,) = self._manifest.receipt.paths
        if replayed.receipts() != replayed.asked():
            yield "the questions that the noisy numbers lead to are not those that the receipt paid for"
        yield from changed_columns(self._groups, basket_groups(self.universe, answers, measured, path.path), "groups")
        self._check_records(answers, measured)

    def _check_records(self, answers: Answers, measured: Measured) -> None:
        """Checks that there are as many records as stated, and that their items and sizes are those that the stated
        seed draws."""
        dice = public_dice(self._manifest.postprocessing["seed"], compiled=_worth_loading(measured))
        starts, items = synthesise(measured, dice)
        stated = summary_of(answers, len(starts) - 1, measured.sizes)
        if len(self.records) != len(starts) - 1 or self._manifest.summary != stated:
            raise VerifyError("the records or the summary are not what the noisy numbers say")
        codes = self.universe.encode(self.records.explode(empty_as_null=False))
        sizes = self.records.list.len().to_numpy()
        if (codes < 0).any() or (sizes < 1).any() or any(self.records.list.n_unique().to_numpy() != sizes):
            raise VerifyError("the records are not all sets of declared items")
        for mine, drawn in ((codes, items), (sizes, np.diff(starts))):
            if _distance(mine, drawn) > _CLOSE * max(1, len(drawn)):
                raise VerifyError("the records are not like those that the noisy numbers make")

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:
        """The largest noise of the items and sizes that the question names, scaled by the share of their records for
        which it holds."""
        return worst_of_columns(
            question, share, lambda key, codes: self._size_noise(codes) if key == "size" else self._item_noise(int(key))
        )

    def _size_noise(self, codes: AnySet) -> Noise:
        """The noise of the bins of sizes that the question touches; the last bin has no end."""
        rows = self._groups.filter(self._groups["question"] == "sizes")
        first = rows["size"].to_numpy()
        touched = codes.share(first, np.append(first[1:], codes.size)) > 0
        return sum_of(Noise.of(float(one)) for one in variances(rows)[touched])

    def _item_noise(self, code: int) -> Noise:
        """The noise in the number of records with an item. Records were cut to a few items, so counts and noise are
        scaled up."""
        rows = self._groups.filter(self._groups["question"].str.starts_with("items"))
        cut = rows.filter(rows["question"] != SINGLE)
        total = float((cut["noisy"] / cut["parts"]).sum())
        enlarged = max(1.0, float(cut["estimate"].sum()) / total) if total > 0 else 1.0
        mine = rows.filter(rows["items"].list.first() == self.universe.label(code))
        factor = np.where(mine["question"] == SINGLE, 1.0, enlarged) / mine["parts"].to_numpy()
        return sum_of(Noise.of(float(v), float(f)) for v, f in zip(variances(mine), factor, strict=True))

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Records drawn anew from the noisy numbers."""
        _, _, measured = self._answers
        dice.compiled = _worth_loading(measured)
        return to_frame(*synthesise(measured, dice, n), self.universe)

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The pairs of items that most of the released sets hold."""
        view = SetView.of(self._release)
        lines = [
            f"{view.label(one)}, {view.label(two)}: {held:,} sets, {percent(held, view.records)}"
            for one, two, held in view.pairs(_SHOWN)
        ]
        known = self._manifest.summary["pairs"]
        yield item_section(self._release)
        yield "Most frequent pairs of items", lines if known else ["no pair of items was measured"]

    def report(self) -> None:
        """None: the sections about the sets say it all."""


def _worth_loading(measured: Measured) -> bool:
    """Whether kernels pay off: the work depends on the number of records in the sizes, however few are drawn."""
    return kernel_choice.worth_loading(round(measured.sizes.total), KERNELS_FROM)


def _distance(one: Codes, two: Codes) -> int:
    """The sum, over all small numbers, of the differences between how often they occur in two lists."""
    most = 1 + max(int(one.max(initial=0)), int(two.max(initial=0)))
    return int(np.abs(np.bincount(one, minlength=most) - np.bincount(two, minlength=most)).sum())
