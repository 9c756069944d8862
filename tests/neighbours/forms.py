"""All forms of input data, and the number of pairs that are tested per form."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from benchmarks.server import postgres
from tests.neighbours import csvfiles, families, filed, filed_sets, frames, graphs, persons, sequences, sets
from tests.neighbours.engines import database_forms, duckdb_forms, spark_forms
from tests.neighbours.law import Form

IN_PROCESS = [
    *csvfiles.FORMS,
    *filed.FORMS,
    *frames.FORMS,
    *persons.FORMS,
    *sets.FORMS,
    *sequences.FORMS,
    *filed_sets.FORMS,
    *graphs.FORMS,
    *(form for form in families.FORMS if form.engine == "memory"),
]
LEAST, LEAST_OF_SPARK = 500, 50
"""The least number of pairs per reader, and per engine."""


def without_spark() -> str | None:
    """The reason why Spark cannot be tested on this machine, or None."""
    if find_spec("pyspark") is None:
        return "PySpark is not installed (extra spark)"
    home = os.environ.get("JAVA_HOME")
    return None if shutil.which("java", path=f"{home}/bin" if home else None) else "there is no Java"


@contextmanager
def spark_session() -> Iterator[Any]:
    """A session of Spark: the running one, or a new one for the time of the block."""
    from cantle.trusted.counting import spark

    own = not spark.is_running()
    session = spark.session()
    try:
        yield session
    finally:
        if own:
            session.stop()


@contextmanager
def all_forms(*, spark: bool = True) -> Iterator[list[Form]]:
    """Every form that can be tested on this machine."""
    with ExitStack() as open_:
        forms = list(IN_PROCESS)
        if find_spec("duckdb"):
            forms += duckdb_forms()
        if find_spec("ibis") and find_spec("duckdb"):
            forms += open_.enter_context(database_forms())
        if find_spec("ibis") and find_spec("psycopg") and (url := open_.enter_context(postgres())):
            forms += open_.enter_context(database_forms(url))
        if spark and without_spark() is None:
            forms += spark_forms(open_.enter_context(spark_session()))
        yield forms


def totals(forms: list[Form], times: int = 1) -> tuple[Counter[str], Counter[str]]:
    """The number of pairs of each reader and of each engine."""
    readers: Counter[str] = Counter()
    engines: Counter[str] = Counter()
    for form in forms:
        pairs = form.cases * form.batch * times
        readers[form.reader or form.name] += pairs
        engines[form.engine] += pairs
    return readers, engines
