"""The records of persons, bounded before an engine counts them (Claim 40, cantle.trusted.bounding.persons).

On disk, the records are first divided by person into files without a name, which disappear when they are closed; each
file is small enough to be bounded in memory.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.bounding.persons import person_numbers, places, within_bound
from cantle.trusted.core.arrays import Codes
from cantle.trusted.counting.stores import guarded

if TYPE_CHECKING:
    from polars import Series

FILES = 64
"""Files among which the persons are divided."""

OfPersons = tuple["Series", list[Codes], Codes]
"""The person of each record (texts, none missing), its codes by column, and its class."""


def bounded(parts: Iterable[OfPersons], class_count: int, max_records: int) -> tuple[list[Codes], Codes]:
    """The columns and classes of the records that are used, of all parts together; there must be a part."""
    import polars as pl

    ids, columns, labels = zip(*parts, strict=True)
    codes, classes = [np.concatenate(column) for column in zip(*columns, strict=True)], np.concatenate(labels)
    content = [*codes, classes] if class_count > 1 else codes
    used = within_bound(person_numbers(pl.concat(ids)), content, max_records)
    return [column[used] for column in codes], classes[used]


def bounded_on_disk(
    parts: Iterable[OfPersons], class_count: int, max_records: int
) -> Iterator[tuple[list[Codes], Codes]]:
    """The same for more records than memory holds, in batches; all records of a person are in one of them."""
    for held in divided(parts):
        if held:
            yield bounded(held, class_count, max_records)


def divided(parts: Iterable[OfPersons]) -> Iterator[list[OfPersons]]:
    """The records in FILES lists of parts, some of which may be empty; all records of a person are in one of them, and
    equal identifiers of other parts that are divided so are in the list of the same number."""
    with ExitStack() as stack:
        with guarded():
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(FILES)]
        written = [0] * FILES
        for ids, columns, classes in parts:
            place = places(ids, FILES)
            for number in np.unique(place).tolist():
                mine = place == number
                part = ids.filter(mine), [column[mine] for column in columns], classes[mine]
                with guarded():
                    pickle.dump(part, files[number])
                written[number] += 1
        for file, times in zip(files, written, strict=True):
            with guarded():
                file.seek(0)
                held = [pickle.load(file) for _ in range(times)]  # noqa: S301 - written above, and nobody else can
            yield held
            file.close()
