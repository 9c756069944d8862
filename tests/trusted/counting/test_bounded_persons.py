"""Bounds per person on disk and in databases: equal hashes, identifiers that collations treat as equal, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.data.engine_choice import IN_MEMORY, EngineChoice
from cantle.errors import DataError
from cantle.interfaces.opening import open_data
from cantle.trusted.bounding import persons
from tests.neighbours.reading import Asked, codes_in

pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")

DOCUMENT: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
        {"name": "size", "type": "integer", "constraints": {"minimum": 0, "maximum": 5}},
        {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ],
    "unit": {"person": "who", "max_records": 2},
}


def used(data: Any, choice: EngineChoice = IN_MEMORY) -> Any:
    """The records that are used, as a multiset of codes."""
    schema = cantle.Schema.from_dict(DOCUMENT)
    _, engine = open_data(data, schema, Asked(schema.domain()), choice=choice)  # type: ignore[arg-type]
    try:
        return codes_in(engine)
    finally:
        engine.close()


def visits(who: list[Any], n: int = 200) -> pl.DataFrame:
    dice = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "who": [who[i] for i in dice.integers(0, len(who), n)],
            "age": dice.integers(0, 10, n),
            "size": dice.integers(0, 6, n),
            "ill": dice.choice(["no", "yes"], n),
        }
    )


def in_ibis(data: pl.DataFrame, kind: str = "") -> Any:
    backend = ibis.duckdb.connect()
    backend.con.register("given", data.to_arrow())
    backend.raw_sql("CREATE TABLE visits AS SELECT * FROM given")
    if kind:
        backend.raw_sql(f"ALTER TABLE visits ALTER who TYPE {kind}")
    return ibis.duckdb.from_connection(backend.con).table("visits")


def test_every_engine_decides_equal_hashes_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    data = visits([f"p{i}" for i in range(20)])
    before = used(data)
    monkeypatch.setattr(persons, "marks", lambda _columns, records: np.zeros(records, np.uint64))
    expected = used(data)
    assert expected != before
    assert used(data, EngineChoice("duckdb")) == expected
    assert used(in_ibis(data), EngineChoice("database")) == expected


@pytest.mark.parametrize("who", [[1, 2, -1, 2**63 - 1, None], [True, False, None], ["a", "A", "", None]], ids=str)
def test_identifiers_may_have_any_type(who: list[Any]) -> None:
    data = visits(who)
    expected = used(data)
    assert 0 < expected.total() <= 2 * len(who)
    assert used(data, EngineChoice("duckdb")) == expected
    assert used(in_ibis(data), EngineChoice("database")) == expected


def test_texts_that_a_collation_treats_as_equal_are_different_persons(server: str) -> None:
    """A collation that ignores case would merge two persons, who would then share one bound."""
    import psycopg

    data = visits(["a", "A", "b"])
    expected = used(data)
    assert expected.total() == 6
    assert used(in_ibis(data, "VARCHAR COLLATE NOCASE"), EngineChoice("database")) == expected
    with psycopg.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE COLLATION IF NOT EXISTS blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        cursor.execute("CREATE TABLE blind_visits (who text COLLATE blind, age bigint, size bigint, ill text)")
        cursor.executemany("INSERT INTO blind_visits VALUES (%s, %s, %s, %s)", data.rows())
        cursor.execute("SELECT count(DISTINCT who) FROM blind_visits")
        assert cursor.fetchone() == (2,)
    backend = ibis.connect(server)
    assert used(backend.table("blind_visits"), EngineChoice("database")) == expected
    backend.disconnect()


def test_columns_that_cannot_identify_persons_are_refused_by_their_type(tmp_path: Path) -> None:
    data = visits([1.0, 2.5])
    with pytest.raises(DataError, match="'who'.*cannot identify persons"):
        used(in_ibis(data), EngineChoice("database"))
    data.write_parquet(tmp_path / "visits.parquet")
    for source in (data, tmp_path / "visits.parquet"):
        with pytest.raises(DataError, match="column 'who'.*floats"):
            used(source, EngineChoice("duckdb"))
