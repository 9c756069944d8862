"""Neighbouring inputs give neighbouring codes in every form and engine (law.py; __main__.py counts the pairs)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import islice
from typing import Any

import pytest

from benchmarks.server import postgres
from tests.effort import slow
from tests.neighbours.broken import FLAWS, broken
from tests.neighbours.engines import database_forms, duckdb_forms, spark_forms
from tests.neighbours.forms import IN_PROCESS, LEAST, LEAST_OF_SPARK, spark_session, totals, without_spark
from tests.neighbours.law import SEED, Form, breaches, is_found

SHARE, TIMES = 40, 10
"""By default one in forty of the pairs of each form is tested, and with `-m slow` ten times their number."""
IN_DUCKDB = 27
"""The number of forms in DuckDB, which is imported only if it is installed."""
SPARK = ["JSON", "CSV", "CSV, one pair", "persons", "Parquet", "Spark data frame", "sets, long", "sets, long CSV",
         "sets, lists", "sets, persons", "sequences, long Parquet"]  # fmt: skip


def keep_the_law(form: Form, cases: int | None = None, seed: int = SEED) -> None:
    problems = list(islice(breaches(form, 0, cases or -(-form.cases // SHARE), seed), 3))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("form", IN_PROCESS, ids=str)
def test_neighbours_in_memory(form: Form) -> None:
    keep_the_law(form)


@pytest.mark.slow
@pytest.mark.parametrize("form", IN_PROCESS, ids=str)
def test_many_neighbours_in_memory(form: Form) -> None:
    keep_the_law(form, TIMES * form.cases, SEED + 1)


@pytest.mark.parametrize("number", range(IN_DUCKDB))
def test_neighbours_in_duckdb(number: int) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    keep_the_law(duckdb_forms()[number])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(IN_DUCKDB))
def test_many_neighbours_in_duckdb(number: int) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    form = duckdb_forms()[number]
    keep_the_law(form, TIMES * form.cases, SEED + 1)


@pytest.fixture(scope="module", params=["DuckDB", "PostgreSQL"])
def databases(request: pytest.FixtureRequest) -> Iterator[list[Form]]:
    pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    with ExitStack() as open_:
        url = None
        if request.param == "PostgreSQL":
            pytest.importorskip("psycopg", reason="psycopg is not installed (extra database)")
            url = open_.enter_context(postgres())
            if url is None:
                pytest.skip("PostgreSQL (initdb, postgres) is not installed")
        yield open_.enter_context(database_forms(url))


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", slow(["in batches", "persons", "table"], "persons", "table"))
def test_neighbours_in_databases(databases: list[Form], name: str) -> None:
    """The cases `persons` and `table` are slow; they use the same queries as batches."""
    keep_the_law(next(form for form in databases if form.name.endswith(name)))


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    reason = without_spark()
    if reason:
        pytest.skip(reason)
    with spark_session() as running:
        yield running


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", SPARK)
def test_neighbours_in_spark(session: Any, name: str) -> None:
    form = next(form for form in spark_forms(session) if form.name == name)
    keep_the_law(form, form.cases)


# ---- tests of the law itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FLAWS)
def test_a_broken_reader_is_found(name: str) -> None:
    """Each flaw is found by a pair of `python -m tests.neighbours` for which the shipped reader keeps the law."""
    assert is_found(*broken(FLAWS[name], IN_PROCESS), FLAWS[name].shown_by)


def test_every_reader_and_engine_gets_enough_pairs() -> None:
    """These counts are quoted elsewhere; `python -m tests.neighbours` prints them."""
    in_duckdb = duckdb_forms() if find_spec("duckdb") else []
    assert len(in_duckdb) in {0, IN_DUCKDB}, "the tests above go through all of them"
    forms = [*IN_PROCESS, *in_duckdb]
    readers, engines = totals(forms)
    once_refused = {"CSV, wide encodings", "CSV, encodings with a state"}  # schemas refuse many of these
    few = {name for name, pairs in readers.items() if pairs < LEAST} - once_refused - {"DuckDB table"}
    assert few == set()
    assert {name for name, pairs in engines.items() if pairs < LEAST} == set()
    if without_spark() is None:
        of_spark, _ = totals(spark_forms(None))
        assert {form.name for form in spark_forms(None)} == {*SPARK}
        assert min(of_spark.values()) >= LEAST_OF_SPARK
