"""Cost of the stages of a release of sets: core-seconds and peak memory (DiffPart, figure 4)."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import process_time

from cantle.data.sets import read_baskets
from cantle.schema.sets import SetSchema
from cantle_lab.bench.passes import peak
from cantle_lab.papers.harness import Options, Setting
from cantle_lab.papers.sets import Sets

STAGES = ("reading", "partitioning", "drawing", "writing", "peak MB")
DRAWING = "drawing records"
"""The message that the publisher logs when it has closed the data and starts post-processing."""


def stages(setting: Setting, data: Sets, path: Path, options: Options, salt: int) -> dict[str, float]:
    """User and system seconds of `publish` from a file and of `save`, by stage, and peak memory of the process.

    Reading is timed separately and subtracted from the time until post-processing; the rest of that time is
    partitioning. Peak memory includes what the evaluation itself holds.
    """
    schema = data.schema()
    began = process_time()
    read_baskets(path, SetSchema.from_dict(schema))
    reading = process_time() - began
    _forget_peak()
    with _clock() as at, tempfile.TemporaryDirectory() as scratch:
        began = process_time()
        release = setting.release(path, schema, 1, options, salt)
        published = process_time()
        release.save(Path(scratch) / "release")
        saved = process_time()
    drawing = at.get(DRAWING, published)
    reading = min(reading, drawing - began)
    times = (reading, drawing - began - reading, published - drawing, saved - published)
    return dict(zip(STAGES, (*times, peak(with_children=False)), strict=True))


@contextmanager
def _clock() -> Iterator[dict[str, float]]:
    """The CPU time of this process at which the publisher logged each message inside the block."""
    at: dict[str, float] = {}

    class Clock(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            at[record.getMessage()] = process_time()

    logger, clock = logging.getLogger("cantle"), Clock()
    level = logger.level
    logger.addHandler(clock)
    logger.setLevel(logging.INFO)
    try:
        yield at
    finally:
        logger.removeHandler(clock)
        logger.setLevel(level)


def _forget_peak() -> None:
    """Resets the peak memory of this process to what it holds now (on Linux only)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
