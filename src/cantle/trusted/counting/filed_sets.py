"""The engine of sets in files: records larger than memory, sorted by DuckDB and counted in batches. Needs `duckdb`.

A long table has one row per basket and item, in any order. DuckDB sorts the rows by basket, on disk if they do not fit
in memory; the items of each record, ascending and each once, are then written to one file, 4 bytes each. The questions
of `baskets` are sums over records, so they are counted some records at a time. Partitions of diffpart need all records
at once: for these the file is read into memory, once, and the engine in memory takes over.

The folder holds private codes. Only its owner can enter it, and it is deleted when the engine is closed or
garbage-collected, also after a failure.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol

import numpy as np

from cantle.errors import EngineError, ParameterError, raise_alone
from cantle.trusted.bounding.persons import sequences_within_bound, sets_within_bound
from cantle.trusted.claims.set_queries import BASKET_KEYS, HeadPatterns, ItemSupports, SetSizes
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.core.keys import SET_KEYS, SetKey
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.basket_counts import count_pairs
from cantle.trusted.counting.private_database import PrivateDatabase
from cantle.trusted.counting.sets import SetEngine, count_key
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions
from cantle.trusted.geometry.workloads import SetWorkload, count_sets

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray, Table

BATCH = 1 << 22
"""Items counted together."""

FAILURE = "DuckDB cannot sort the rows; raise memory, or free space in the temporary folder"

Packed = tuple[Ints, Codes]
"""The number of items of each of some records, and these items, ascending in each record."""

Count = Callable[[Ints, Codes], Ints]
"""Counts of records given as ragged rows; it may be sent to other processes."""


class SetParts(Protocol):
    """Records kept elsewhere, in parts."""

    def added(self, count: Count) -> Ints:
        """The sum of `count` over all parts, given as ragged rows; 0 if there is no record."""

    def everything(self) -> tuple[Ints, Codes]:
        """All records as ragged rows."""

    def close(self) -> object: ...


class SetFiles:
    """A private folder with the records: where each record begins, and a file of their items."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="cantle-private-")  # mode 0700
        self.close = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._lengths: list[Ints] = [np.zeros(1, np.int64)]

    def __repr__(self) -> str:
        return "SetFiles()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("files of private records cannot be pickled")

    def write(self, packs: Iterable[Packed]) -> SetFiles:
        """Adds records."""
        try:
            with (Path(self._folder) / "items").open("ab") as file:
                for lengths, items in packs:
                    self._lengths.append(lengths)
                    items.astype(np.int32).tofile(file)
        except OSError:
            raise_alone(EngineError("the records cannot be written to the temporary folder; free space there"))
        self._lengths = [np.concatenate(self._lengths)]
        return self

    def added(self, count: Count) -> Ints:
        return add_up(count(*rows) for rows in self.batches())

    def everything(self) -> tuple[Ints, Codes]:
        return self.starts, np.concatenate([np.zeros(0, np.int32), *(items for _, items in self.batches())])

    @property
    def starts(self) -> Ints:
        """Where each record begins, and the end."""
        return np.cumsum(self._lengths[0])

    def batches(self, most: int = BATCH) -> Iterator[tuple[Ints, Codes]]:
        """All records as ragged rows, about `most` items at a time."""
        starts, first = self.starts, 0
        while first < len(starts) - 1:
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
            span = starts[first : last + 1]
            items = np.fromfile(
                Path(self._folder) / "items", np.int32, int(span[-1] - span[0]), offset=4 * int(span[0])
            )
            yield span - span[0], items
            first = last


def sort_rows(
    rows: Iterable[Table],
    files: SetFiles,
    memory: int,
    max_records: int | None = None,
    *,
    longest: int | None = None,
) -> SetFiles:
    """Writes the records of a long table, given as tables of columns `id` and `item` (a code); the first may be empty.

    `memory` is a limit as for `PrivateDatabase`. With `max_records`, the tables also have a column `who`; a record then
    consists of the rows of one person with one id. With `longest` they have a column `place`: records are sequences in
    this order, of which the first so many items are written, repeats too.
    """
    names = "id, item" if longest is None else "id, place, item"
    names = names if max_records is None else f"who, {names}"
    with PrivateDatabase(memory, FAILURE, in_order=True) as base:
        for number, table in enumerate(rows):
            base.insert("pairs", table, new=not number)
        sorted_rows = base.batches(f"SELECT {names} FROM pairs ORDER BY {names}")
        if max_records is None:
            return files.write(_packs(sorted_rows, longest))
        return files.write(_packs_of_persons(sorted_rows, max_records, longest))


def _packs(sorted_rows: Iterable[Table], longest: int | None = None) -> Iterator[Packed]:
    """Records of rows that are sorted by id and item, in batches that may end inside a record."""
    for table in _whole(sorted_rows, "id"):
        yield _pack(_changes(table["id"]), table["item"], longest)


def _packs_of_persons(sorted_rows: Iterable[Table], max_records: int, longest: int | None = None) -> Iterator[Packed]:
    """The same for rows sorted by person, id and item, with at most `max_records` records per person (Claim 40)."""
    for table in _whole(sorted_rows, "who"):
        new_person = _changes(table["who"])
        new = new_person | _changes(table["id"])
        _require_sorted(table["id"], new_person)
        lengths, items = _pack(new, table["item"], longest)
        person = np.cumsum(new_person, dtype=np.int64)[new]
        used = (sets_within_bound if longest is None else sequences_within_bound)(person, lengths, items, max_records)
        yield lengths[used], items[np.repeat(used, lengths)]


def _whole(sorted_rows: Iterable[Table], name: str) -> Iterator[Table]:
    """Sorted rows in batches that never end between rows of the same `name`: those of the last wait for the next
    batch."""
    import pyarrow as pa

    held: Table | None = None
    for table in sorted_rows:
        table = table if held is None else pa.concat_tables([held, table])
        _require_sorted(table[name])
        new = _changes(table[name])
        last = int(np.flatnonzero(new)[-1]) if len(new) else 0
        held = table.slice(last).combine_chunks()
        if last:
            yield table.slice(0, last)
    if held is not None and held.num_rows:
        yield held


def _require_sorted(keys: ChunkedArray, new: Bools | None = None) -> None:
    """Stops if rows are not sorted by key: a record in two pieces would count as two records, and break every bound.

    Where `new` is true, a new group begins, and any key may follow.
    """
    import pyarrow.compute as pc

    if len(keys) > 1:
        rises = pc.less_equal(keys.slice(0, len(keys) - 1), keys.slice(1)).to_numpy(zero_copy_only=False)
        if not (rises if new is None else rises | new[1:]).all():
            raise EngineError("DuckDB did not sort the rows; use engine memory, and report this")


def _changes(ids: Array | ChunkedArray) -> Bools:
    """Where a record begins."""
    import pyarrow.compute as pc

    new = np.ones(len(ids), dtype=np.bool_)
    if len(ids) > 1:
        new[1:] = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
    return new


def _pack(new: Bools, items: ChunkedArray, longest: int | None) -> Packed:
    codes = items.to_numpy()
    used = new.copy()
    if longest is None:  # each item once
        used[1:] |= codes[1:] != codes[:-1]
    else:
        used[:] = np.arange(len(new)) - np.flatnonzero(new)[np.cumsum(new) - 1] < longest
    record = np.cumsum(new[used]) - 1
    return np.bincount(record), codes[used].astype(np.int32)


class FiledSetEngine:
    """Counts over records in files or on workers; records are cut only for questions about partitions."""

    kind: ClassVar[str] = "sets"
    keys: ClassVar[tuple[type, ...]] = (*SET_KEYS, *BASKET_KEYS)

    def __init__(self, files: SetParts, *, tree: ItemTree, most: int, compiled: bool = False) -> None:
        if not tree.is_sound() or not 1 <= most <= tree.size:
            raise ParameterError("the taxonomy or the bound on items of a record is not sound")
        self._files, self._tree, self._most, self.compiled = files, tree.copy(), most, compiled
        self._inner: SetEngine | None = None
        if most < tree.size:  # all questions are about cut records
            self._in_memory()

    def __repr__(self) -> str:
        return "FiledSetEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        self._files.close()
        if self._inner is not None:
            self._inner.close()
        self._inner = None

    def keep_all(self) -> None:
        """Files keep all records until the engine is closed."""

    def count_all(self, workload: SetWorkload) -> Ints:
        return self._files.added(lambda starts, items: count_sets(workload, starts, items))

    @property
    def domain(self) -> ItemTree:
        """A copy of the taxonomy, because a method may hold it."""
        return self._tree.copy()

    def root(self) -> Partitions:
        return Partitions.root(self._tree, self._most)

    def tally(self, positions: Ints, key: SetKey | SetSizes | ItemSupports | HeadPatterns) -> Iterator[Chunk]:
        if self._inner is None and isinstance(key, SetSizes | ItemSupports | HeadPatterns):
            size = self._tree.size
            nothing = count_key(key, np.zeros(1, np.int64), np.zeros(0, np.int32), size)
            exact = self._files.added(lambda starts, items: count_key(key, starts, items, size))
            yield 0, 1, (nothing + exact).reshape(1, -1)
        else:
            yield from self._in_memory().tally(positions, key)

    def pairs(self, items: tuple[int, ...], most: int, doubles: bool) -> tuple[Ints, Ints]:
        if self._inner is not None:
            return self._inner.pairs(items, most, doubles)
        size, number = self._tree.size, len(items) * (len(items) - 1) // 2 * (1 + doubles)

        def count(starts: Ints, codes: Codes) -> Ints:
            counts = np.zeros(number, dtype=np.int64)
            at, parts = count_pairs(starts, codes, size, np.array(items), most, doubles)
            counts[at] = parts
            return counts

        counts = self._files.added(count)
        cells = np.flatnonzero(counts)
        return cells, counts[cells]

    def shorten(self, most: int) -> None:
        self._most = most
        self._in_memory().shorten(most)

    def touched(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        return self._in_memory().touched(positions)

    def split(self, positions: Ints, kept: Kept) -> None:
        self._in_memory().split(positions, kept)

    def _in_memory(self) -> SetEngine:
        """The engine in memory, over all records."""
        if self._inner is None:
            rows = self._files.everything()
            self._inner = SetEngine(*rows, tree=self._tree, most=self._tree.size, compiled=self.compiled)
            if self._most < self._tree.size:
                self._inner.shorten(self._most)
        return self._inner


def add_up(counts: Iterable[Ints]) -> Ints:
    """The sum of counts; 0 if there are none."""
    total: Ints = np.zeros(1, dtype=np.int64)
    for some in counts:
        total = total + some
    return total
