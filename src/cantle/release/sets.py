"""Releases of sets of items: how they are stored, returned and described, how accurate they are, and for what.

The last two follow from public numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import polars as pl

from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.kinds import DRAWN, Texts, worded
from cantle.release.manifest import Manifest
from cantle.release.schemas import universe_of
from cantle.release.structures import traits_of
from cantle.release.words import Right, Uses, declared_names, drawn_records, groups, measured, points, sentence
from cantle.schema.canonical_json import JSON
from cantle.schema.code_sets import Key
from cantle.schema.items import Universe
from cantle.trusted.core.arrays import Ints

WEAKER = "Connections between items tend to come out weaker than they are."


def rights(accuracy: Accuracy | None, released: int) -> list[Right]:
    """The measured errors of shares of sets."""
    several = ("with two or three items", "with two or three items")
    if accuracy is not None and accuracy.together is not None and accuracy.apart is not None:
        several = ("with two or three items whose pairs were counted", "with two or three other items")
    return measured(accuracy, released, ("with one item", *several))


def uses(manifest: Manifest) -> Uses:
    """What the sets are good for and what they are not good for."""
    released = manifest.summary["records"]
    bad = ["looking up or matching single sets: they are made up"]
    if not released:
        return Uses(("nothing: no set was released",), tuple(bad))
    known = rights(manifest.accuracy, released)
    one = next((right.error for right in known), None)
    good = [f"shares of sets with one item{_right(one)}"]
    if one is not None:
        sizes = groups(one, released, "sets", "with an item")
        good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    if _pairs_known(manifest):
        several = known[min(1, len(known) - 1)].error if known else None
        good.append(f"shares of sets with two or three items{_counted(manifest)}{_right(several)}")
    return Uses(tuple(good), (*bad, *_lost(manifest)))


def _right(error: float | None) -> str:
    return (
        ": how far they are off was not measured" if error is None else f": right to ±{points(error)} percentage points"
    )


def _pairs_known(manifest: Manifest) -> bool:
    return bool(manifest.summary.get("pairs", True))


def _counted(manifest: Manifest) -> str:
    """The items whose pairs were counted, if these are not all."""
    paired = manifest.summary.get("paired_items", 0)
    return f" of the {paired:,} most frequent ones" if 0 < paired < universe_of(manifest).size else ""


def _lost(manifest: Manifest) -> Iterator[str]:
    """What a release of sets has lost."""
    if not _pairs_known(manifest):
        yield "which items go together: the release does not know it"
    elif _counted(manifest):
        yield "which of the rarer items go together: their pairs were not counted"


class SetCodes:
    """Sets of items as columns of codes: one column per item, with 0 or 1, and one for the size."""

    def __init__(self, sets: pl.Series, universe: Universe) -> None:
        self._sizes = sets.list.len().to_numpy().astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self._sizes)])
        self.items = universe.encode(sets.explode(empty_as_null=False)).astype(np.int64)
        self._owner = np.repeat(np.arange(len(self._sizes)), self._sizes)

    def __call__(self, key: Key) -> Ints:
        if key == "size":
            return self._sizes
        held = np.zeros(len(self._sizes), dtype=np.int64)
        held[self._owner[self.items == key]] = 1
        return held

    @cached_property
    def supports(self) -> Ints:
        """How many sets hold each item, by its code."""
        return np.bincount(self.items)


def _texts(manifest: Manifest) -> Texts:
    form, traits = manifest.form, traits_of(manifest)
    long: list[JSON] = [{"name": form.get("id", ""), "type": "integer"}, {"name": form.get("item", "")}]
    lists: list[JSON] = [{"name": form.get("column", ""), "type": "array"}]
    known = rights(manifest.accuracy, manifest.summary["records"])
    universe = declared_names(manifest, "items")
    return Texts(
        drawn_records(manifest, "set", traits.in_words) + traits.besides,
        DRAWN,
        f"Collections of any number of sets (also zero) of items of a public universe ({universe}).",
        {"dat": {}, "csv": {"schema": {"fields": long}}, "parquet": {"schema": {"fields": lists}}},
        (sentence("The share of sets", manifest.accuracy, known), WEAKER),
        known[len(known) // 2].error if known else None,
    )


KIND = worded("sets", lambda release: uses(release.manifest), _texts)
