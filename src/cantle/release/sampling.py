"""Drawing more records from a release. Released values only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.drawing.counts import Dice, fresh_seed, public_dice
from cantle.drawing.records import as_frame, kind_of_frame
from cantle.errors import ParameterError
from cantle.release import Release
from cantle.release.answers.table_answers import TableAsker
from cantle.release.storage import STORAGES
from cantle.release.structures import opened, traits_of
from cantle.trusted.core.arrays import Bools, Ints

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame

_MOST_TRIED = 10_000_000
"""Records that are drawn at most to find those that a question asks for."""


def sample(release: Release, n: int, seed: int | None, where: str | None = None) -> NativeFrame:
    """n records, drawn from the noisy numbers, or from the released records if these say more. With `where`, a question
    about a table, only records for which it holds.

    The frame has the kind of the release: that of the data if it was just made, polars if it was loaded.
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= 10**9:
        raise ParameterError(f"n must be a whole number from 0 to 1e9, got {n!r}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ParameterError(f"seed must be a whole number of at least 0, got {seed!r}")
    generator = public_dice(fresh_seed() if seed is None else seed, compiled=kernel_choice.worth_loading(n))
    drawn = _drawn_where(release, where, n, generator) if where else opened(release).draw(n, generator)
    form = {**release.manifest.form, "frame": kind_of_frame(release.drawn)}
    return as_frame(STORAGES[release.manifest.kind].given_back(drawn, form, release.schema))


def _drawn_where(release: Release, where: str, n: int, generator: Dice) -> pl.DataFrame:
    """Draws records until n of them satisfy a question; as many at a time as the released records suggest."""
    if traits_of(release.manifest).counted is None:
        raise ParameterError("only records of a table can be chosen by a question; leave `where` out")
    asker, draw = TableAsker(release), opened(release).draw
    question = asker.parse(where)
    share = float(asker.inside(question).mean()) if asker.records else 0.0
    if not share:
        raise ParameterError("no released record satisfies the question; ask for a larger group")
    found, tried, missing = [draw(0, generator)], 0, n
    while missing > 0 and tried < _MOST_TRIED:
        many = min(_MOST_TRIED - tried, int(1.1 * missing / share) + 100)
        batch = draw(many, generator)
        places = np.flatnonzero(asker.chosen(question, batch))
        kept = generator.permutation(places)[:missing]  # whatever the order of a batch, any of its records may be kept
        found.append(batch[kept])
        tried, missing = tried + many, missing - len(kept)
    if missing > 0:
        got = f"{n - missing:,} of {tried:,} drawn records satisfy the question"
        raise ParameterError(f"{got}; ask for fewer records, or for a larger group")
    return pl.concat(found)


def scaled(count: Ints, may: Bools, n: int, generator: Dice) -> Ints:
    """Counts that add up to n, each on average n times its share. If all counts are 0, the cells that `may` hold
    records have equal shares.

    This is systematic sampling: the shares are put side by side on a line, on which n evenly spaced ticks start at a
    random point. Every result differs from n times its share by less than one; if n is the sum of the counts, they are
    returned unchanged.
    """
    weight = count.astype(float) if count.sum() else may.astype(float)
    if not weight.any():
        return np.zeros(len(count), dtype=np.int64)
    below = np.floor(np.append(0.0, np.cumsum(weight)) * (n / weight.sum()) + generator.random())
    below[0], below[-1] = 0, n
    return np.diff(np.minimum(below, n)).astype(np.int64)
