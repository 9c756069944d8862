"""The word engine in all its forms, for tests: in memory and on disk, with and without kernels, in small batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

from cantle.trusted.counting import words
from cantle.trusted.counting.stores import InMemory, OnDisk
from cantle.trusted.counting.words import WordEngine
from tests.laws.strategies import word_engine

Build = Callable[..., Any]
"""Opens an engine: (codes, classes, sizes, class_count)."""


def _with_kernels(codes: np.ndarray, classes: np.ndarray, **options: Any) -> WordEngine:
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")
    return word_engine(codes, classes, compiled=True, **options)


def _on_disk(codes: np.ndarray, classes: np.ndarray, **options: Any) -> WordEngine:
    """Read in three batches."""
    parts = np.array_split(np.arange(len(classes)), 3)
    batches = [([column[part] for column in codes.T], classes[part]) for part in parts]
    return WordEngine(batches, store=OnDisk(), **options)


WORD_ENGINES: dict[str, Build] = {
    "memory": word_engine,
    "memory, kernels": _with_kernels,
    "disk": _on_disk,
    "disk, kernels": partial(_with_kernels, store=OnDisk()),
    "small chunks": partial(word_engine, store=InMemory(), chunk_cells=5),
    "small chunks, kernels": partial(_with_kernels, chunk_cells=5),
}


@contextmanager
def batches_of(records: int) -> Iterator[None]:
    """Everything is read and sorted in batches of this many records."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BATCH", "MANY", "SORTED"):
            patch.setattr(words, name, records)
        yield
