"""The bound on what one person contributes: at most `max_records` records per person are used, by a public rule.

Claim 40. For each person the records with the smallest public hash of their encoded values are kept, at most
`max_records` of them; a record without a person is dropped. Which records of a person are kept depends only on that
person's records, so data sets that differ in all records of one person differ, after this, in at most `max_records`.

Persons are distinguished by the exact text of their identifier. Two persons read as one would share the bound, and
removing one of them would bring back records of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cantle._arrays import Codes
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.mixing import scramble

if TYPE_CHECKING:
    import polars as pl

KEY = np.uint64(0x63616E746C65)  # public: it only has to be fixed


def person_numbers(ids: pl.Series) -> Ints:
    """One number per record, equal for equal identifiers; -1 for a record without a person."""
    return ids.rank("dense").cast(int).fill_null(0).to_numpy().astype(np.int64) - 1


def within_bound(person: Ints, columns: list[Codes], max_records: int) -> Bools:
    """Which records are used, given the person and the codes of each."""
    mark = np.full(len(person), KEY, dtype=np.uint64)
    for column in columns:
        mark = scramble(mark ^ column.astype(np.uint64))
    order = np.lexsort((mark, person))
    sorted_person = person[order]
    first = np.searchsorted(sorted_person, sorted_person, side="left")
    used = np.zeros(len(person), dtype=np.bool_)
    used[order] = (np.arange(len(person)) - first < max_records) & (sorted_person >= 0)
    return used
