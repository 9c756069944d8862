"""The structure `sets`: noisy counts of distinct sets of items, and perhaps of sizes of sets.

Files: groups.parquet (the counted sets), sizes.parquet (noisy numbers of records by size, if they were asked).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, public_dice
from cantle.drawing.records import share_drawn
from cantle.errors import VerifyError
from cantle.methods.baskets.model.questions import PAID
from cantle.methods.baskets.model.sizes import fit_sizes, size_edges
from cantle.methods.diffpart.results import all_sets, sizes_frame
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import Share, variances
from cantle.release.manifest import Manifest
from cantle.release.sets import SetCodes
from cantle.release.show import item_section
from cantle.release.structures import Traits
from cantle.release.structures.checks import OfItems, changed_columns, has_columns, rate_paid, unpaid
from cantle.schema.code_sets import Key, Question, holds
from cantle.schema.items import Universe
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Floats, Ints

ALL_SETS = "item sets"
"""The charge for counting all sets of a small universe at once."""

_COLUMNS = "items path noisy rate_num rate_den count estimate"
_SHOWN = 20


def traits(manifest: Manifest) -> Traits:
    return Traits(f"{manifest.summary['leaves']:,} sets of items")


class Opened(OfItems):
    """A release of counted sets."""

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether groups are distinct sets of declared items with the noise of the receipt, and hold the records."""
        if not has_columns(self._groups, _COLUMNS, items=self.universe):
            raise VerifyError("the groups do not have the columns of sets")
        yield from unpaid(self._manifest.receipt, self._groups, "groups")
        for name, column in (("groups", self._groups["items"]), ("records", self.records)):
            if not _are_sets(column, self.universe):
                raise VerifyError(f"the {name} are not all sets of declared items")
        summary, count = self._manifest.summary, self._groups["count"].to_numpy()
        if self._groups["items"].n_unique() != len(self._groups) or len(self._groups) != summary["leaves"]:
            raise VerifyError("a set is listed twice in the groups, or not as many are listed as stated")
        yield from self._not_computed()
        if (count < 0).any() or not int(count.sum()) == len(self.records) == summary["records"]:
            raise VerifyError("the counts of the groups do not add up to the stated number")
        yield from self._size_problems()
        yield from _recount(self._groups, self.records)

    def _not_computed(self) -> Iterator[str]:
        """Checks that estimates and counts follow from the noisy counts, as far as all of these were released."""
        whys = {charge.why for charge in self._manifest.receipt.charges()}
        groups, share = self._groups, share_drawn(self._manifest.summary)
        if ALL_SETS in whys:
            (path,) = self._manifest.receipt.paths
            num, den = rate_paid(path.charges[-1])
            noisy = Noisy(groups["noisy"].to_numpy().reshape(1, -1), np.array([num]), den)
            dice = public_dice(self._manifest.postprocessing["seed"])
            yield from changed_columns(groups, all_sets(self.universe, noisy, path.path, dice).groups, "groups")
            return
        if not np.array_equal(groups["estimate"], groups["noisy"]):
            yield "the estimates of the groups are not the noisy counts"
        if share == 1 and not np.array_equal(groups["count"], groups["noisy"]):
            yield "the counts of the groups are not the noisy ones"
        if (np.abs(groups["estimate"].to_numpy() * share - groups["count"].to_numpy()) >= 1).any():
            yield "the counts of the groups are not the estimates, or the stated share of them, rounded up or down"

    def _size_problems(self) -> Iterator[str]:
        """Checks that sizes were released if and only if the receipt paid for them, with the noise that it paid for."""
        paid = {rate_paid(one) for one in self._manifest.receipt.charges() if one.why == PAID["sizes"]}
        sizes = self._release.frames.get("sizes")
        if sizes is None or not paid:
            if paid or sizes is not None:
                yield "the sizes are not those that the receipt paid for"
            return
        if not has_columns(sizes, "size noisy rate_num rate_den estimate"):
            raise VerifyError("the sizes do not have the columns of sizes")
        edges, (num, den) = size_edges(self.universe.size), next(iter(paid))
        noisy = Noisy(sizes["noisy"].to_numpy().reshape(1, -1), np.array([num]), den)
        if len(sizes) != len(edges):
            raise VerifyError("the sizes are not those that the receipt paid for")
        model = fit_sizes(noisy.value[0], edges, self.universe.size, num / den)
        yield from changed_columns(sizes, sizes_frame(edges, noisy, model), "sizes")

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:  # noqa: ARG002
        """The noise of all counted sets for which the question holds."""
        inside = self._variances[np.broadcast_to(holds(question, self._codes), len(self._variances))]
        return Noise(float(inside.sum()), float(3 * (inside**2).sum()))

    @cached_property
    def _variances(self) -> Floats:
        return variances(self._groups)

    @cached_property
    def _codes(self) -> Callable[[Key], Ints]:
        return cache(SetCodes(self._groups["items"], self.universe))

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Records drawn from the released ones."""
        sets = self.records
        return sets[dice.integers(0, max(1, len(sets)), n if len(sets) else 0)].to_frame()

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """The sets that are released most often."""
        most = self._groups.sort("count", descending=True, maintain_order=True).head(_SHOWN)
        lines = [f"{{{', '.join(map(str, row['items']))}}}: {row['count']:,}" for row in most.iter_rows(named=True)]
        left = len(self._groups) - _SHOWN
        yield item_section(self._release)
        yield "Sets", [*lines, f"… and {left} more in groups.parquet"] if left > 0 else lines

    def report(self) -> None:
        """None: the sections about the sets say it all."""


def _are_sets(items: pl.Series, universe: Universe) -> bool:
    """Whether all sets are non-empty and hold declared items in ascending order."""
    sizes = items.list.len().to_numpy().astype(np.int64)
    starts, codes = np.cumsum(sizes) - sizes, universe.encode(items.explode(empty_as_null=False)).astype(np.int64)
    inside = np.ones(len(codes), dtype=np.bool_)
    inside[starts[sizes > 0]] = False
    rising = np.diff(codes, prepend=-1) > 0
    return bool((sizes > 0).all() and (codes >= 0).all() and rising[inside].all())


def _recount(groups: pl.DataFrame, records: pl.Series) -> Iterator[str]:
    """Checks that each listed set occurs as often as its count, and no other set."""
    held = records.alias("items").to_frame().group_by("items").agg(pl.len().cast(pl.Int64).alias("held"))
    joint = groups.filter(pl.col("count") > 0).select("items", "count").join(held, on="items", how="left")
    if len(held) != len(joint) or (joint["held"].fill_null(0) != joint["count"]).any():
        yield "the records do not have the counts of the groups"
