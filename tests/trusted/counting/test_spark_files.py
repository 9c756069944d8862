"""Files that Spark reads: no record decides how another one is read, or whether the run fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.data.spark_files import read_path
from cantle.errors import DataError, ParameterError
from cantle.schema import Schema
from tests.trusted.counting.cluster import Cluster
from tests.trusted.counting.test_all import saved

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

FIELDS: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
    {"name": "town", "type": "string", "categories": ["Ash", "Elm", "1", "true"]},
    {"name": "weight", "type": "number", "step": 1, "constraints": {"minimum": 0, "maximum": 200}},
]
NAMES = [field["name"] for field in FIELDS]
LINES = ["31,Ash,70.5", "44,Elm,81", "7,1,20", "95,true,60"] * 6


def schema(**dialect: Any) -> Schema:
    parsed = Schema.from_dict({"fields": FIELDS, "dialect": dialect} if dialect else {"fields": FIELDS})
    assert isinstance(parsed, Schema)
    return parsed


def rows(cluster: Cluster, path: Path, declared: Schema) -> list[tuple[Any, ...]]:
    """The records that Spark reads, in any order."""
    found = read_path(cluster.session, str(path), declared, NAMES).collect()
    return sorted((tuple(row) for row in found), key=str)


def published(data: Any, declared: Schema, folder: Path, engine: str) -> dict[str, bytes]:
    release = cantle.publish(
        data, declared, epsilon=2, method="rps", depth=3, insecure_seed=4, engine=engine
    )  # fmt: skip
    return saved(release, folder)


NASTY = {
    "short": "5",
    "long": "5,Ash,9,more,and,more",
    "very long": "5,Ash,9" + "," * 30_000,
    "empty values": ",,",
    "quote that does not close": '5,"Ash,9',
    "quote inside": '5,A"sh,9',
    "quoted": '5,"Ash","9"',
    "no text": "5,\udcff\udcfe,9",
}


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("header", [True, False], ids=["header", "no header"])
def test_an_added_record_changes_no_other_in_csv(spark: Cluster, tmp_path: Path, header: bool, place: str) -> None:
    """Without a header, Spark's own reader takes the number of columns from the first record."""
    declared, top = schema(**({} if header else {"header": False})), [",".join(NAMES)] if header else []
    folder = tmp_path / "all.csv"
    folder.mkdir()
    for i, line in enumerate(NASTY.values()):
        records = [line, *LINES] if place == "first" else [*LINES, line]
        text = "\n".join([*top, *records, ""])
        (folder / f"part{i}.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    records_read = rows(spark, folder, declared)
    good = [tuple(line.split(",")) for line in LINES * len(NASTY)]
    assert len(records_read) == len(good) + len(NASTY)
    assert [row for row in records_read if row in good] == sorted(good, key=str)


@pytest.mark.parametrize("header", [True, False], ids=["header", "no header"])
def test_csv_is_read_as_in_memory(spark: Cluster, tmp_path: Path, header: bool) -> None:  # noqa: ARG001
    declared, top = schema(**({} if header else {"header": False})), [",".join(NAMES)] if header else []
    path = tmp_path / "people.csv"
    text = "\r\n".join(["\ufeff" + NASTY["short"] if not header else "\ufeff" + top[0], *LINES, "", *NASTY.values()])
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert published(str(path), declared, tmp_path / "spark", "spark") == published(
        path, declared, tmp_path / "memory", "memory"
    )


def test_every_file_of_a_folder_has_its_header(spark: Cluster, tmp_path: Path) -> None:
    """The first line of each file is its header; a later line with the same text is a record."""
    folder = tmp_path / "parts.csv"
    folder.mkdir()
    for i in range(3):
        (folder / f"p{i}.csv").write_text("\n".join([",".join(NAMES), *LINES[:4], ",".join(NAMES), ""]))
    records_read = rows(spark, folder, schema())
    assert len(records_read) == 15
    assert records_read.count(tuple(NAMES)) == 3


def test_a_file_in_several_parts_has_one_header(spark: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "people.csv"
    path.write_text("\n".join([",".join(NAMES), *LINES, ""]))
    before = spark.session.conf.get("spark.sql.files.maxPartitionBytes")
    request.addfinalizer(lambda: spark.session.conf.set("spark.sql.files.maxPartitionBytes", before))
    spark.session.conf.set("spark.sql.files.maxPartitionBytes", "40")
    frame = read_path(spark.session, str(path), schema(), NAMES)
    assert frame.rdd.getNumPartitions() > 3
    assert len(frame.collect()) == len(LINES)


def test_other_encodings_are_read_or_refused(spark: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("age,town,weight\n5,Köln,9\n".encode("cp1252"))
    assert rows(spark, path, schema(encoding="cp1252")) == [("5", "Köln", "9")]
    with pytest.raises(ParameterError, match="line ends.*'cp037'"):
        cantle.publish(str(path), schema(encoding="cp037"), epsilon=1, engine="spark")


def test_a_wrong_header_is_refused_without_quoting_it(spark: Cluster, tmp_path: Path) -> None:  # noqa: ARG001
    path = tmp_path / "people.csv"
    for text in ("CanaryQx7,1,2\n5,Ash,9\n", ""):
        path.write_text(text)
        with pytest.raises(DataError) as caught:
            cantle.publish(str(path), schema(), epsilon=1, engine="spark")
        assert "Canary" not in str(caught.value)


# ---- JSON -----------------------------------------------------------------------------------------------------

OBJECTS: list[dict[str, Any]] = [
    {"age": 31, "town": "Ash", "weight": 70.5}, {"age": 44, "town": "Elm", "weight": 81},
    {"age": 7, "town": 1, "weight": 20}, {"age": 95, "town": True, "weight": 60},
]  # fmt: skip
ODD_OBJECTS = [
    '{"age": "unknown", "town": 7.5, "weight": "heavy"}', '{"age": 1.5}', '{"age": [1, 2], "town": {"a": 1}}',
    '{"age": 10000000000000000000000, "town": null, "weight": true}', "not JSON", "{}", '{"age": 3, "age": "x"}',
    '{"other": 1}',
]  # fmt: skip


def test_an_added_record_changes_no_other_in_json(spark: Cluster, tmp_path: Path) -> None:
    """If types were inferred from all records, one record could make a text of 31 or true, or a number of 1."""
    expected = None
    for i, odd in enumerate([None, *ODD_OBJECTS]):
        path = tmp_path / f"people{i}.json"
        path.write_text("\n".join([*map(json.dumps, OBJECTS), *([] if odd is None else [odd]), ""]))
        records_read = rows(spark, path, schema())
        expected = records_read if expected is None else expected
        assert len(records_read) == len(expected) + (odd is not None)
        assert all(row in records_read for row in expected), odd
    assert expected == sorted(
        [("31", "Ash", "70.5"), ("44", "Elm", "81"), ("7", "1", "20"), ("95", "true", "60")], key=str
    )


def test_json_is_read_as_csv(spark: Cluster, tmp_path: Path) -> None:  # noqa: ARG001
    (tmp_path / "people.json").write_text("\n".join(map(json.dumps, OBJECTS * 6)) + "\n")
    (tmp_path / "people.csv").write_text("\n".join([",".join(NAMES), *LINES]) + "\n")
    files = published(str(tmp_path / "people.json"), schema(), tmp_path / "spark", "spark")
    assert files == published(tmp_path / "people.csv", schema(), tmp_path / "memory", "memory")


# ---- folders --------------------------------------------------------------------------------------------------


def test_a_new_folder_changes_no_type(spark: Cluster, tmp_path: Path) -> None:
    """Names of folders hold values: one record in `town=Ash` must not turn the 1 of others into another value."""
    for town in ("1", "01"):
        (tmp_path / "people" / f"town={town}").mkdir(parents=True)
        pl.DataFrame({"age": [5], "weight": [9.0]}).write_parquet(tmp_path / "people" / f"town={town}" / "a.parquet")
    setting = "spark.sql.sources.partitionColumnTypeInference.enabled"
    before = spark.session.conf.get(setting)
    frame = read_path(spark.session, str(tmp_path / "people"), schema(), NAMES)
    assert dict(frame.dtypes)["town"] == "string"
    assert sorted(row.town for row in frame.collect()) == ["01", "1"]
    assert spark.session.conf.get(setting) == before
