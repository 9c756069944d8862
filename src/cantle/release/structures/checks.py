"""What the checks of several structures share: rates against the receipt, frames against what is computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.drawing.counts import Dice, public_dice
from cantle.drawing.records import RECORDS_WANTED, Drawn
from cantle.errors import VerifyError
from cantle.release.schemas import schema_as, universe_of
from cantle.release.storage import as_polars, lists_of
from cantle.release.structures import Opened, traits_of
from cantle.schema.domain import Domain
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.core.budget import NANO, Charge

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

    from cantle.release import Release
    from cantle.release.manifest import Manifest, Receipt
    from cantle.schema.items import Universe

_MAY_DIFFER = 1e-4  # share of records that may be others, because last digits vary with the machine
_CLOSE = 0.01  # tolerated difference of estimates, because last digits vary with the machine
ONE_WAYS = "one-way tables"
"""The charge for one-way tables, and what they are called in sentences."""


class OfItems(Opened):
    """A release of sets or sequences of items."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.universe = universe_of(release.manifest)

    @cached_property
    def records(self) -> pl.Series:
        """The released sets or sequences as lists."""
        return lists_of(self._release)


def made_by_this_version(manifest: Manifest) -> bool:
    """Whether the version of cantle that made a release is this one; another may draw other records from the same
    noisy numbers."""
    return manifest.software.get("cantle") == version("cantle")


def has_columns(frame: pl.DataFrame, names: str, items: Universe | None = None) -> bool:
    """Whether a frame has these columns, without nulls: texts, lists of items, estimates, and for the rest whole
    numbers."""
    kinds: dict[str, PolarsDataType] = {"question": pl.String, "estimate": pl.Float64}
    kinds["items"] = pl.List(pl.Int64 if items is None or items.integers else pl.String)
    wanted = {name: kinds.get(name, pl.Int64) for name in names.split()}
    return dict(frame.schema) == wanted and not any(frame.null_count().row(0))


def unless_found(problems: Iterator[str], more: Iterator[str]) -> Iterator[str]:
    """These problems, or if there are none, those of a check that relies on what they are about."""
    found = False
    for problem in problems:
        found = True
        yield problem
    if not found:
        yield from more


def rate_paid(charge: Charge) -> tuple[int, int]:
    """The rate of the noise that a charge paid for."""
    return charge.epsilon_nano, charge.sensitivity * NANO


def unpaid(receipt: Receipt, groups: pl.DataFrame, noun: str) -> Iterator[str]:
    """Checks that each group's noise rate is the last charge on its path divided by the sensitivity."""
    paths = {path.path: path.charges for path in receipt.paths}
    for path, num, den in groups.select("path", "rate_num", "rate_den").unique().sort("path").rows():
        if path not in paths:
            yield f"{noun} point to path {path}, which is not in the receipt"
        elif num is not None and [(num, den)] != [rate_paid(charge) for charge in paths[path][-1:]]:
            yield f"the noise of {noun} on path {path} is not what the receipt paid for"


def one_way_rates(release: Release) -> Iterator[str]:
    """Checks that the one-way tables have the noise of the receipt."""
    if "marginals" in release.frames:
        paid = {rate_paid(charge) for charge in release.manifest.receipt.charges() if charge.why == ONE_WAYS}
        if not set(release.frames["marginals"].select("rate_num", "rate_den").unique().rows()) <= paid:
            yield "the noise of the one-way tables is not what the receipt paid for"


def changed_columns(stated: pl.DataFrame, again: pl.DataFrame, noun: str, close: float = _CLOSE) -> Iterator[str]:
    """Checks that a released table is as computed again. The last digits of estimates may vary with the machine."""
    if stated.schema != again.schema or len(stated) != len(again):
        raise VerifyError(f"the {noun} do not have the columns and rows of such a release")
    changed = [name for name in stated.columns if not _same(stated[name], again[name], close)]
    if {"rate_num", "rate_den"} & set(changed):
        yield f"the noise of the {noun} is not what the receipt paid for"
    if others := [name for name in changed if not name.startswith("rate_")]:
        yield f"what the {noun} say does not follow from the noisy numbers and the schema: {', '.join(others)}"


def _same(one: pl.Series, other: pl.Series, close: float) -> bool:
    numbers = one.dtype.is_float() and one.null_count() == 0
    return np.allclose(one, other, rtol=1e-6, atol=close) if numbers else one.equals(other)


def broken_rules(release: Release) -> Iterator[str]:
    """Records that break a rule of the schema; those whose values are ranges are not checked."""
    manifest = release.manifest
    domain = schema_as(manifest, TableSchema).as_declared()
    if domain.rules is None or traits_of(manifest).of_ranges:
        return
    broken = domain.rules.numbers(domain.coder(as_polars(release.records, manifest)))
    yield from (f"{number} records break the rule {text!r}" for text, number in broken if number)


def records_not_held(
    release: Release, domain: Domain, place: Callable[[Codes], Ints], count: Ints, noun: str
) -> Iterator[str]:
    """Checks that the released records have these counts by place and class."""
    codes, classes = domain.encode(as_polars(release.records, release.manifest))
    if len(codes) != release.manifest.summary["records"]:
        raise VerifyError("the records are not as many as stated, or not all in the schema's domain")
    held = np.zeros_like(count)
    np.add.at(held, (place(codes), classes.astype(np.int64)), 1)
    if not np.array_equal(held, count):
        yield f"the records do not have the counts of the {noun}"


def not_as_drawn(release: Release, domain: Domain, draw: Callable[[Dice], Drawn | pl.DataFrame]) -> Iterator[str]:
    """Draws the records again with the stated seed and compares; another version may draw others."""
    manifest = release.manifest
    if not made_by_this_version(manifest):
        return
    records = as_polars(release.records, manifest)
    dice = public_dice(manifest.postprocessing["seed"], compiled=kernel_choice.worth_loading(records.height))
    if RECORDS_WANTED in manifest.summary:
        dice.random()  # with it, counts were scaled down
    again, places = draw(dice), domain.on_places
    if isinstance(again, pl.DataFrame):  # of ranges
        changed = 0 if again.equals(records) else records.height
    else:
        both = (places.encode_columns(frame)[0] for frame in (records, again.frame()))
        changed = max((int((one != other).sum()) for one, other in zip(*both, strict=True)), default=0)
    if changed > _MAY_DIFFER * records.height:
        yield "the records are not those that the noisy numbers make with the stated seed"
