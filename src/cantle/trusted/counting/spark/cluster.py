"""The Spark session, and its errors, whose messages may quote values and are replaced by fixed ones."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from cantle.errors import DataError, EngineError, MissingExtra, ParameterError, install_command, raise_alone, replacing

if TYPE_CHECKING:
    from pyarrow import Table
    from pyspark.sql import DataFrame, SparkSession


class hushed(replacing):
    """Replaces errors, and suppresses what PySpark prints before raising them, because it may quote a value."""

    def __enter__(self) -> None:
        from pyspark.logger import PySparkLogger

        self._loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("DataFrame", "SQL")]
        self._before = [logger.disabled for logger in self._loggers]
        for logger in self._loggers:
            logger.disabled = True

    def _leave(self) -> None:
        for logger, was in zip(self._loggers, self._before, strict=True):
            logger.disabled = was


def errors() -> tuple[type[BaseException], ...]:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    return (Py4JError, Py4JNetworkError, PySparkException, OSError)


def load() -> type[SparkSession]:
    """PySpark's SparkSession; MissingExtra or EngineError if PySpark or Java is missing."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise_alone(MissingExtra(f"the spark engine needs PySpark, which is not installed; {install_command('spark')}"))
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=os.path.join(home, "bin") if home else None):
        raise MissingExtra("the spark engine needs Java 17 or later; install it, or correct JAVA_HOME")
    return SparkSession


def is_running() -> bool:
    """Whether this process has a Spark session already."""
    return load().getActiveSession() is not None


def session() -> SparkSession:
    """The active Spark session, or a new one from Spark's own configuration (local if nothing is configured)."""
    kind = load()
    active = kind.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    try:
        running = kind.builder.appName("cantle").config(map=quiet).getOrCreate()
    except errors():
        raise_alone(EngineError("Spark does not start; check its configuration, the master's address and JAVA_HOME"))
    running.sparkContext.setLogLevel("OFF")  # its messages may quote what it reads
    return running


def reading(name: str) -> hushed:
    """Replaces all of Spark's messages about a source by a fixed one."""
    rule = f"Spark cannot read {name!r}; check the path, or the name of the table."
    return hushed(errors(), lambda _: DataError(rule))


def running() -> hushed:
    """Replaces all of Spark's messages about a job by a fixed one."""
    why = "the source cannot be read, or the cluster is gone; Spark's own log says which"
    return hushed(errors(), lambda _: EngineError(f"the Spark job failed: {why}"))


def select(frame: DataFrame, columns: list[str]) -> DataFrame:
    """These columns of a Spark data frame."""
    if ".connect." in type(frame).__module__:
        raise ParameterError("a session of Spark Connect cannot keep parts on its workers; use a classic session")
    with reading("the frame"):
        given = frame.columns
        wrong = ", ".join(repr(name) for name in columns if given.count(name) != 1)
        if wrong:
            raise DataError(f"the Spark frame has no column {wrong}, or more than one; correct the names.")
        return frame.select(*[frame[f"`{name.replace('`', '``')}`"] for name in columns])


def nothing_of(frame: DataFrame) -> Table:
    """The types of a frame: an Arrow table without a record."""
    with reading("the frame"):
        return frame.limit(0).toArrow()
