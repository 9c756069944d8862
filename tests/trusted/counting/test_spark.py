"""The Spark engine on a real standalone cluster: correct counts, and the same bytes even if a worker dies."""

from __future__ import annotations

import copy
import gzip
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cantle
from cantle.data.engine_choice import EngineChoice
from cantle.errors import CantleError, MissingExtra
from cantle.trusted.claims.queries import Size
from cantle.trusted.core.keys import OneWays
from cantle.trusted.counting import spark as module
from cantle.trusted.counting.spark import SparkEngine, workers
from tests.laws.strategies import Table, tables
from tests.release.people import SCHEMA, people
from tests.trusted.counting.awkward import awkward
from tests.trusted.counting.cluster import Cluster
from tests.trusted.counting.test_all import published
from tests.trusted.counting.walks import grids, walk

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

CANARY = "CanaryQx7"


def opened(cluster: Cluster, table: Table, folder: Path) -> SparkEngine:
    """An engine over a table of codes in three partitions."""
    names = [f"c{a}" for a in range(len(table.sizes))]
    columns = {name: column.astype(np.int64) for name, column in zip(names, table.codes.T, strict=True)}
    pl.DataFrame({**columns, "label": table.labels.astype(np.int64)}).write_parquet(folder / "codes.parquet")
    frame = cluster.session.read.parquet(str(folder / "codes.parquet")).repartition(3)

    def encode(batch: Any) -> Any:
        return [batch[name].to_numpy() for name in names], batch["label"].to_numpy()

    return SparkEngine(frame, encode, sizes=table.sizes, class_count=table.classes)


@pytest.mark.parametrize("asked", [walk, grids], ids=["walk", "grids"])
def test_the_engine_counts_like_the_others(
    asked: Any, spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ALL_CELLS", 90)  # several jobs per question
    monkeypatch.setattr(workers, "MOST", 2)  # the counts of three partitions are added up in a tree

    @settings(max_examples=3)
    @given(data=st.data())
    def check(data: Any) -> None:
        table = data.draw(tables(max_records=15))
        engine = opened(spark, table, tmp_path)
        asked(data.draw, table, engine)
        engine.close()

    check()


def test_a_worker_that_dies_changes_nothing(spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third worker joins, holds parts, and is killed in the middle of the tree: its parts are computed again."""
    awkward().write_parquet(tmp_path / "people.parquet")
    worker = spark.add_worker()
    spark.await_workers(3)
    split, splits = SparkEngine.split, []

    def counted(self: SparkEngine, *rule: Any) -> None:
        split(self, *rule)
        splits.append(rule)
        if len(splits) == 3:
            spark.kill(worker)

    monkeypatch.setattr(SparkEngine, "split", counted)
    frame = spark.session.read.parquet(str(tmp_path / "people.parquet")).repartition(6)
    call = {"method": "rps", "preset": "paper", "depth": 6, "attributes": "all"}
    files = published(frame, call, tmp_path / "spark", engine="spark")
    assert len(splits) > 3
    spark.await_workers(2)
    assert files == published(tmp_path / "people.parquet", call, tmp_path / "memory")


def test_a_worker_that_dies_between_rounds_changes_nothing(
    spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(300).write_parquet(tmp_path / "people.parquet")
    worker = spark.add_worker()
    spark.await_workers(3)
    place, places = SparkEngine.place, []

    def counted(self: SparkEngine, grid: Any) -> None:
        place(self, grid)
        places.append(grid)
        if len(places) == 2:
            spark.kill(worker)

    monkeypatch.setattr(SparkEngine, "place", counted)
    frame = spark.session.read.parquet(str(tmp_path / "people.parquet")).repartition(6)
    call = {"method": "diffgen", "rounds": 3}
    files = published(frame, call, tmp_path / "spark", engine="spark")
    assert len(places) > 2
    spark.await_workers(2)
    assert files == published(tmp_path / "people.parquet", call, tmp_path / "memory")


@pytest.mark.usefixtures("spark")
def test_spark_reads_text_as_in_memory(tmp_path: Path) -> None:
    """Short, long and blank lines and quotes give the same release as in memory."""
    text = people(200).write_csv().splitlines()
    text[5] = '"' + text[5].replace(",", '",', 1) + ",surplus"
    path = tmp_path / "people.csv"
    path.write_text("\n".join([*text[:9], "", *text[9:], "short", "id,12"]) + "\n")
    call = {"method": "rps", "depth": 3}
    files = published(str(path), call, tmp_path / "spark", engine="spark")
    assert files == published(path, call, tmp_path / "memory")
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert files == published(str(packed), call, tmp_path / "packed", engine="spark")
    lines = [*people(200).write_ndjson().splitlines(), "", "{", '{"age": 1.50, "town": 7}', "[]"]
    objects = tmp_path / "people.jsonl"
    objects.write_text("\n".join(lines))
    files = published(str(objects), call, tmp_path / "objects", engine="spark")
    assert files == published(objects, call, tmp_path / "objects in memory")


def test_nothing_stays_cached(spark: Cluster) -> None:
    frame = spark.session.createDataFrame(people(50).to_arrow())
    for call in ({"method": "rps", "depth": 3}, {"method": "diffgen", "rounds": 2}):
        cantle.publish(frame, SCHEMA, epsilon=1, engine="spark", **call)
    assert spark.session.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert spark.workers() == 2  # a session that existed before is not stopped


def test_a_table_of_the_catalog_is_read_by_its_name(spark: Cluster, tmp_path: Path) -> None:
    people(60).write_parquet(tmp_path / "people.parquet")
    spark.session.read.parquet(str(tmp_path / "people.parquet")).createOrReplaceTempView("people")
    call = {"method": "rps", "depth": 2}
    files = published("spark:people", call, tmp_path / "spark", engine="spark")
    assert files == published(tmp_path / "people.parquet", call, tmp_path / "memory")


# ---- errors ---------------------------------------------------------------------------------------------------


def refused(data: Any) -> str:
    """The error message; it must quote no value, and the error must not carry another exception."""
    with pytest.raises(CantleError) as caught:
        cantle.publish(data, SCHEMA, epsilon=1, engine="spark", method="rps")
    error = caught.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert CANARY not in str(error)
    return f"{type(error).__name__}: {error}"


def test_errors_of_spark_quote_no_value(spark: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    people(5).write_parquet(tmp_path / "people.parquet")
    frame = spark.session.read.parquet(str(tmp_path / "people.parquet"))
    others = [name for name in frame.columns if name != "age"]
    failing = frame.selectExpr(*others, f"cast(concat('{CANARY}', id) as int) AS age")
    assert refused(failing).startswith("EngineError: the Spark job failed")
    held = spark.session.createDataFrame(people(5).to_arrow())  # computed as soon as it is looked at
    assert refused(held.selectExpr(*others, f"cast(concat('{CANARY}', id) as int) AS age")).startswith("DataError: ")
    printed = capfd.readouterr()
    assert CANARY not in printed.out + printed.err
    assert refused(str(tmp_path / f"none-{CANARY[:3]}.parquet")).startswith("DataError: Spark cannot read")
    assert "the Spark frame has no column 'age'" in refused(frame.drop("age"))
    assert "column 'age' has type List" in refused(frame.selectExpr(*frame.columns[2:], "id", "array(1) AS age"))
    assert refused(people(5)).startswith("DataError: the spark engine reads a path")


def test_a_closed_engine_counts_nothing(spark: Cluster, tmp_path: Path) -> None:
    engine = opened(spark, Table((4,), 1, ((1, 0),)), tmp_path)
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            duplicate(engine)
    assert repr(engine) == "SparkEngine(private)"
    engine.close()
    with pytest.raises(AttributeError):
        list(engine.tally(np.array([0]), Size()))


def test_sessions_of_spark_connect_are_refused() -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed (extra spark)")

    class DataFrame:
        """A stand-in for a frame of Spark Connect."""

        __module__ = "pyspark.sql.connect.dataframe"
        sparkSession = None

    assert refused(DataFrame()).startswith("ParameterError: a session of Spark Connect cannot keep parts")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[spark\]'"):
        EngineChoice.of("spark", None, None)


def test_missing_java_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed (extra spark)")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match="Java 17.*JAVA_HOME"):
        EngineChoice.of("spark", None, None)


@pytest.mark.slow
def test_the_drivers_work_does_not_grow_with_the_partitions(
    spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compares the bytes that reach the driver and its core-seconds with and without the tree, for 64 partitions."""
    from pyspark import RDD

    more = [spark.add_worker(), spark.add_worker()]
    spark.await_workers(4)
    dice, received, collect = np.random.default_rng(1), list[int](), RDD.collect
    pl.DataFrame({f"c{a}": dice.integers(0, 2**12, 400_000) for a in range(3)}).write_parquet(
        tmp_path / "codes.parquet"
    )
    frame = spark.session.read.parquet(str(tmp_path / "codes.parquet")).repartition(64)

    def encode(batch: Any) -> Any:
        return [batch[f"c{a}"].to_numpy() for a in range(3)], np.zeros(len(batch), np.uint8)

    def counted(parts: Any) -> Any:
        found = collect(parts)
        received.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(RDD, "collect", counted)
    engine = SparkEngine(frame, encode, sizes=(2**12,) * 3, class_count=1)
    key, root, shown, exact = OneWays((0, 1, 2), (2**12,) * 3, 1), np.zeros(1, np.int64), {}, []
    for most in (10**6, 10**6, workers.MOST):  # the first time also reads the records
        monkeypatch.setattr(workers, "MOST", most)
        received.clear()
        start = time.process_time()
        exact.append(np.concatenate([counts for _, _, counts in engine.tally(root, key)], axis=1))
        shown[most] = sum(received), time.process_time() - start
    engine.close()
    for worker in more:
        spark.kill(worker)
    spark.await_workers(2)
    assert np.array_equal(exact[1], exact[2])
    assert exact[2].sum() == 3 * 400_000
    with capsys.disabled():
        print(
            f"\ndriver, 4 workers, 64 partitions (bytes received, core-seconds): flat {shown[10**6]}, tree {shown[8]}"
        )
    assert shown[8][0] < shown[10**6][0] / 4
    assert shown[8][1] < shown[10**6][1]
