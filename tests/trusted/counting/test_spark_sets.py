"""Sets on Spark: the same bytes as in memory for long tables and columns of lists, with and without persons."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.errors import DataError, EngineError, ParameterError
from tests.effort import slow
from tests.trusted.counting.cluster import Cluster
from tests.trusted.counting.test_sets_on_disk import PERSONS, SCHEMA, long_with_persons, same, written

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore:.*is deprecated:DeprecationWarning"
)

FORMS = ["long.parquet", "lists.parquet", "long.csv", "texts.parquet"]


def published(data: Any, schema: Any = SCHEMA, **options: Any) -> cantle.Release:
    return cantle.publish(data, schema, epsilon=20, insecure_seed=2, **options)


@pytest.mark.parametrize("form", slow(FORMS, "long.csv", "texts.parquet"))
def test_the_same_seed_gives_the_same_bytes(spark: Cluster, form: str, tmp_path: Path) -> None:
    path = written(tmp_path, form)
    assert spark.workers() == 2
    expected = published(path, method="baskets")
    assert same(expected, published(str(path), method="baskets", engine="spark"))
    assert expected.manifest.summary["records"] > 1000


def test_diffpart_collects_the_records(spark: Cluster, tmp_path: Path) -> None:
    path = written(tmp_path, "long.parquet")
    frame = spark.session.read.parquet(str(path)).repartition(3)
    assert same(
        published(path, method="diffpart", cells="tree"),
        published(frame, method="diffpart", cells="tree", engine="spark"),
    )


@pytest.mark.parametrize("form", slow(["long.parquet", "texts.parquet"], "texts.parquet"))
def test_engines_bound_persons_alike(spark: Cluster, form: str, tmp_path: Path) -> None:
    path = long_with_persons(tmp_path, form)
    frame = spark.session.read.parquet(str(path)).repartition(3)
    assert same(published(path, PERSONS), published(frame, PERSONS, engine="spark"))


def test_an_empty_table_can_be_published(spark: Cluster) -> None:
    frame = spark.session.createDataFrame([], "id long, item long")
    assert published(frame, engine="spark", method="baskets").manifest.summary["records"] < 20


def test_sources_that_cannot_be_read_are_refused(spark: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="long tables or columns of lists"):
        published(str(tmp_path / "lines.dat"), engine="spark")
    with pytest.raises(DataError, match="no column 'item'"):
        published(spark.session.createDataFrame([], "id long, what long"), SCHEMA | {"form": "long"}, engine="spark")
    with pytest.raises(DataError, match="column 'id'.*floats"):
        published(spark.session.createDataFrame([], "id double, item long"), engine="spark")


def test_the_error_of_a_failing_job_quotes_no_record(spark: Cluster, tmp_path: Path) -> None:
    pl.DataFrame({"id": [1], "item": [7]}).write_parquet(tmp_path / "rows.parquet")
    frame = spark.session.read.parquet(str(tmp_path / "rows.parquet"))
    (tmp_path / "rows.parquet").write_bytes(b"canary")
    with pytest.raises(EngineError, match="the Spark job failed") as caught:
        published(frame, engine="spark")
    assert "canary" not in str(caught.value)


def test_records_on_workers_are_not_pickled(spark: Cluster) -> None:
    from cantle.trusted.counting.spark.sets import Lists, SparkSets

    frame = spark.session.createDataFrame([], "items array<long>")
    sets = SparkSets(frame, Lists(lambda _: pytest.fail("there is no batch")))
    assert repr(sets) == "SparkSets(private)"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(sets)
    sets.close()
