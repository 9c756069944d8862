"""Cost of the stages of a release: reading, the work of the method, drawing and writing records."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cantle_lab.bench.passes import Clock, Stopwatch
from cantle_lab.papers.harness import Options, Setting

STAGES = ("reading", "partitioning", "drawing", "writing")


def stages(
    setting: Setting, data: Path, schema: Mapping[str, object], options: Options, salt: int, clock: Clock
) -> tuple[float, float, float, float]:
    """Seconds by this clock of `publish` from a file and of `save`, in the order of STAGES."""
    watch, began = Stopwatch(clock), clock()
    with watch.watching(), tempfile.TemporaryDirectory() as scratch:
        release = setting.release(data, schema, 1, options, salt)
        published = clock()
        release.save(Path(scratch) / "release")
        saved = clock()
    reading, drawing = watch.seconds["open"], watch.seconds["draw"]
    drawing += published - (watch.sealed or published)
    return reading, published - began - reading - drawing, drawing, saved - published


def forget_peak() -> None:
    """Resets the peak memory of this process to what it holds now (on Linux only)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
