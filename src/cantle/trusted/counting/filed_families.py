"""Families of more records than memory holds: both files are divided by key, and each part is joined by itself.

The parts are in files without a name, which disappear when they are closed. Which part a key belongs to follows from
its text alone, so equal keys of both files meet (bounding/persons.py, `places`).
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator

from cantle.trusted.bounding.families import Families, Keyed, Order, families_of
from cantle.trusted.counting.bounded_persons import divided
from cantle.trusted.counting.stores import guarded
from cantle.trusted.geometry.views import FamilyDomain


class FiledFamilies:
    """Families on disk, part after part, as often as they are asked for."""

    def __init__(self, parents: Iterable[Keyed], children: Iterable[Keyed], domain: FamilyDomain, order: Order) -> None:
        with guarded():
            self._file, self._parts = tempfile.TemporaryFile(), 0  # noqa: SIM115 - closed when the engine lets go of it
        for above, below in zip(divided(parents), divided(children), strict=True):
            joined = families_of(above, below, domain, order)
            with guarded():
                pickle.dump((joined.parent, joined.size, joined.child), self._file)
            self._parts += 1

    def __call__(self) -> Iterator[Families]:
        with guarded():
            self._file.seek(0)
        for _ in range(self._parts):
            with guarded():
                held = pickle.load(self._file)  # noqa: S301 - written above, and nobody else can
            yield Families(*held)
