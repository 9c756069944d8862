"""The summarised leaves of a table, as flat arrays: between the tree and the frames of a release."""

from __future__ import annotations

from dataclasses import dataclass

from cantle.postprocess.counts import Floats
from cantle.trusted.geometry.boxes import Ints


@dataclass(frozen=True, eq=False)
class Leaves:
    """The summarised leaves of a table, ascending by id. `noisy` and `rate_num` are empty where nothing was asked."""

    ids: Ints
    parent: Ints
    depth: Ints
    path: Ints
    lo: Ints
    hi: Ints
    noisy: Ints
    rate_num: Ints
    rate_den: int
    estimate: Floats
    count: Ints
