"""Releases of sequences: how they are stored, returned and described, how accurate they are, and for what.

They share the forms of sets, with an order. Accuracy and uses follow from public numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.kinds import DRAWN, Texts, worded
from cantle.release.manifest import Manifest
from cantle.release.structures import traits_of
from cantle.release.words import Right, Uses, declared_names, drawn_records, groups, measured, points, sentence
from cantle.schema.items import Universe
from cantle.schema.sequences import pattern_of
from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.geometry.sequence_strings import string_cells

if TYPE_CHECKING:
    import polars as pl

    from cantle.schema.canonical_json import JSON
    from cantle.schema.code_sets import Key

BEYOND = "What depends on longer strings than were counted, such as returns after a long gap, comes out too weak."


def rights(accuracy: Accuracy | None, released: int) -> list[Right]:
    """The measured errors of shares of sequences, the largest last."""
    about = ("", "for one symbol directly after another", "for one at any time after another")
    return measured(accuracy, released, about)


def middle(accuracy: Accuracy | None, released: int) -> float | None:
    """The one figure of that sentence that stands for all, from 0 to 1."""
    return max((right.error for right in rights(accuracy, released)), default=None)


def uses(manifest: Manifest) -> Uses:
    """What the sequences are good for and what they are not good for."""
    released, order = manifest.summary["records"], manifest.summary["order"]
    bad = ["looking up or matching single sequences: they are made up"]
    if not released:
        return Uses(("nothing: no sequence was released",), tuple(bad))
    good = ["how long sequences are", "with which symbols they start and end"]
    if order > 1 and not knows_order(manifest):
        bad.append("which symbol follows which, beyond the most frequent: no order of symbols was measured well")
    elif order > 1:
        good.append(f"strings of up to {order} symbols")
        level = middle(manifest.accuracy, released)
        if level is not None:
            good[-1] += f"; what follows what is right to ±{points(level)} percentage points"
            sizes = groups(level, released, "sequences", "with one symbol after another")
            good, bad = [*good, *sizes.good], [*bad, *sizes.bad]
    return Uses(tuple(good), (*bad, *_lost(order)))


def knows_order(manifest: Manifest) -> bool:
    """Whether there were sequences enough for this epsilon to measure which symbol follows which."""
    return not traits_of(manifest).besides


def _lost(order: int) -> Iterator[str]:
    if order == 1:
        yield "which symbol follows which: no order of symbols was measured"
    else:
        yield f"what depends on more than {order} symbols in a row, such as returns after a long gap"
    yield "when things happened: times are not released"


def most_frequent(sequences: pl.Series, shown: int) -> list[tuple[list[str], int]]:
    """The most frequent whole sequences of any length and their numbers, the most frequent first, then by name."""
    import polars as pl

    symbols = sequences.cast(pl.List(pl.String)).alias("symbols")
    held = symbols.value_counts().with_columns(named=pl.col("symbols").list.join(" > "))
    most = held.sort("count", "named", descending=[True, False]).head(shown)
    return most.select("symbols", "count").rows()


class SequenceCodes:
    """Sequences as columns of codes: length, first and last symbol, and 0 or 1 for each string in a question."""

    def __init__(self, starts: Ints, codes: Codes) -> None:
        self.starts, self.codes = starts, codes.astype(np.int64)
        self._owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    @staticmethod
    def of(sequences: pl.Series, universe: Universe) -> SequenceCodes:
        """Those of a column of lists."""
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sequences.list.len().to_numpy().astype(np.int64))])
        return SequenceCodes(starts, universe.encode(sequences.explode(empty_as_null=False)))

    def __call__(self, key: Key) -> Codes:
        if key == "length":
            return np.diff(self.starts)
        if key == "first":
            return self.codes[self.starts[:-1]]
        if key == "last":
            return self.codes[self.starts[1:] - 1]
        ends = self.starts[:-1] - 1  # of what was found, in each sequence
        for part in pattern_of(key):
            ends = self._after(np.array(part), ends)
        return (ends < len(self.codes)).astype(np.int64)

    def strings(self, symbols: int, order: int) -> Ints:
        """The number of the string at each place (sequence_strings.string_cells)."""
        return string_cells(self.starts, self.codes, symbols, order)

    def _after(self, part: Ints, ends: Ints) -> Ints:
        """Where this string ends first in each sequence, after where the one before it ended; past all if nowhere."""
        count, size = len(self.codes), len(part)
        found = np.full(len(ends), count)
        if size > count:
            return found
        begins = np.arange(count - size + 1)
        here = self._owner[begins] == self._owner[begins + size - 1]
        for place, symbol in enumerate(part.tolist()):
            here &= self.codes[begins + place] == symbol
        at = begins[here]
        at = at[at > ends[self._owner[at]]]
        np.minimum.at(found, self._owner[at], at + size - 1)
        return found


def _texts(manifest: Manifest) -> Texts:
    form, traits = manifest.form, traits_of(manifest)
    long: list[JSON] = [{"name": form.get("id", ""), "type": "integer"}]
    long += [{"name": form.get("order") or "position", "type": "integer"}, {"name": form.get("item", "")}]
    lists: list[JSON] = [{"name": form.get("column", ""), "type": "array"}]
    parts = rights(manifest.accuracy, manifest.summary["records"])
    universe = declared_names(manifest, "items")
    return Texts(
        drawn_records(manifest, "sequence", traits.in_words) + traits.besides,
        DRAWN,
        f"Collections of any number of sequences (also zero) of symbols of a public alphabet ({universe}).",
        {"dat": {}, "xes": {}, "csv": {"schema": {"fields": long}}, "parquet": {"schema": {"fields": lists}}},
        (sentence("The share of sequences", manifest.accuracy, parts), BEYOND),
        middle(manifest.accuracy, manifest.summary["records"]),
    )


KIND = worded("sequences", lambda release: uses(release.manifest), _texts)
