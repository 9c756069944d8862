"""Families of more records than memory holds: each group of keys is joined by itself and kept in a nameless file.

All rows of a key, of both files, are in one group (stores.py, `together`). The file disappears when it is closed.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cantle.trusted.bounding.families import Families, Order, families_of
from cantle.trusted.counting.stores import guarded
from cantle.trusted.geometry.views import FamilyDomain

if TYPE_CHECKING:
    from polars import DataFrame


class FiledFamilies:
    """Families on disk, group after group, as often as they are asked for until the file is closed."""

    def __init__(self, groups: Iterable[Sequence[DataFrame]], domain: FamilyDomain, order: Order) -> None:
        self._groups, self._domain, self._order = groups, domain, order

    def __enter__(self) -> Callable[[], Iterator[Families]]:
        with guarded():
            self._file, self._parts = tempfile.TemporaryFile(), 0  # noqa: SIM115 - closed below
        try:
            for rows in self._groups:
                joined = families_of(rows, self._domain, self._order)
                with guarded():
                    pickle.dump((joined.parent, joined.size, joined.child), self._file)
                self._parts += 1
        except BaseException:
            self._file.close()
            raise
        return self._again

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _again(self) -> Iterator[Families]:
        with guarded():
            self._file.seek(0)
        for _ in range(self._parts):
            with guarded():
                held = pickle.load(self._file)  # noqa: S301 - written above, and nobody else can
            yield Families(*held)
