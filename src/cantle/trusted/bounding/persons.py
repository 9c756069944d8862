"""The bound on what one person contributes: at most `max_records` records per person are used, by a public rule.

Claim 40. For each person the first `max_records` records are kept, in the order of a public hash of their codes and,
where hashes are equal, of the codes themselves, the last column first (that is the class, if there are several); a
record without a person is dropped. Which records of a person are kept depends only on that person's records, so data
sets that differ in all records of one person differ, after this, in at most `max_records`. Records of equal codes are
alike, so what is kept does not depend on the order in which records come.

Every engine applies this one rule, `within_bound`, to all records of a person together; on disk and in Spark they are
first brought together (cantle.trusted.counting.stores).

Persons are distinguished by the exact text of their identifier. Two persons read as one would share the bound, and
removing one of them would bring back records of the other; one person read as two would have two bounds.
tests/trusted/counting/test_bounded_persons.py compares all engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.core.arrays import Codes, Words
from cantle.trusted.core.mixing import scramble
from cantle.trusted.geometry.boxes import Bools, Ints

if TYPE_CHECKING:
    import polars as pl

KEY = 0x63616E746C65  # public; any fixed number would do
PERSON = "person"
"""The column of persons in rows of tables."""


def with_persons(ids: pl.Series, columns: Sequence[Codes], classes: Codes) -> pl.DataFrame:
    """Rows of tables with the person of each (texts, none missing)."""
    import polars as pl

    return pl.DataFrame([ids.alias(PERSON), *(pl.Series(f"{i}", one) for i, one in enumerate((*columns, classes)))])


def bounded(rows: Sequence[pl.DataFrame], class_count: int, max_records: int) -> tuple[list[Codes], Codes]:
    """The codes and classes of the rows that are used, given all rows of some persons as `with_persons` made them."""
    import polars as pl

    ids, *columns = pl.concat(rows).get_columns()
    codes = [column.to_numpy() for column in columns]
    used = within_bound(person_numbers(ids), codes if class_count > 1 else codes[:-1], max_records)
    *columns_used, classes = (column[used] for column in codes)
    return columns_used, classes


def person_numbers(ids: pl.Series) -> Ints:
    """One number per record, equal for equal identifiers; -1 for a record without a person."""
    return ids.rank("dense").cast(int).fill_null(0).to_numpy().astype(np.int64) - 1


def marks(columns: Sequence[Codes], records: int) -> Words:
    """The hash of each record, which decides its position among the records of its person."""
    mark = np.full(records, KEY, dtype=np.uint64)
    for column in columns:
        mark = scramble(mark ^ column.astype(np.uint64))
    return mark


def within_bound(person: Ints, columns: Sequence[Codes], max_records: int) -> Bools:
    """Which records are used, given the person and the codes of each."""
    mark = marks(columns, len(person))
    order = np.lexsort((mark, person))
    if _has_ties(person[order], mark[order], [column[order] for column in columns]):
        order = np.lexsort((*columns, mark, person))
    sorted_person = person[order]
    first = np.searchsorted(sorted_person, sorted_person, side="left")
    used = np.zeros(len(person), dtype=np.bool_)
    used[order] = (np.arange(len(person)) - first < max_records) & (sorted_person >= 0)
    return used


def sets_within_bound(person: Ints, lengths: Ints, items: Codes, max_records: int) -> Bools:
    """Which sets are used, given the person and the number of items of each, and all items, each once in a set.

    The code of a set is a hash of its items that does not depend on their order. Sets of one code (there are 2^64)
    keep their order, which is that of their ids.
    """
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(scramble(items.astype(np.uint64) + np.uint64(1)))])
    ends = np.cumsum(lengths)
    return within_bound(person, [sums[ends] - sums[ends - lengths]], max_records)


def sequences_within_bound(person: Ints, lengths: Ints, items: Codes, max_records: int) -> Bools:
    """Which sequences are used: the same with a hash of each symbol together with its place, so that the order of the
    symbols and their repeats decide too."""
    ends = np.cumsum(lengths)
    place = np.arange(len(items), dtype=np.int64) - np.repeat(ends - lengths, lengths)
    return sets_within_bound(person, lengths, (place << 32) + items, max_records)


def _has_ties(person: Ints, mark: Words, columns: Sequence[Codes]) -> bool:
    """Whether different records of one person have the same hash; all are sorted by person and hash."""
    same = np.flatnonzero((person[1:] == person[:-1]) & (mark[1:] == mark[:-1]) & (person[1:] >= 0))
    return any((column[same] != column[same + 1]).any() for column in columns)


def places(ids: pl.Series, number: int) -> Ints:
    """For each record the number, 0 to number - 1, of the group that collects the records of its person, set or node.

    It is computed from the identifier alone, a text or a whole number of up to 64 bits, so that all workers send equal
    identifiers to the same group; a library's own hash may differ between versions.
    """
    if ids.dtype.is_integer():
        return (scramble(ids.to_numpy().astype(np.uint64)) % np.uint64(number)).astype(np.int64)
    import pyarrow as pa

    array = ids.to_arrow().cast(pa.large_binary())
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    content = np.frombuffer(array.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]].astype(np.uint64)
    length = np.diff(offsets)
    within = np.arange(len(content)) - np.repeat(offsets[:-1] - offsets[0], length)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(scramble(content + (within << 8).astype(np.uint64)))])
    ends = offsets - offsets[0]
    return (scramble(sums[ends[1:]] - sums[ends[:-1]]) % np.uint64(number)).astype(np.int64)
