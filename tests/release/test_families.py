"""Releases of linked tables: files, checks, questions across the link, the same bytes on all engines."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cantle
from cantle.errors import DataError, EngineError, ParameterError, SchemaError, VerifyError
from cantle.methods.families.plan import Plan, plan
from cantle.methods.mosaic.plan import opening
from cantle.release.verify import verify_folder
from cantle_lab.papers.made_families import CLINIC, SHOP, WIDE_CLINIC, clinic, shop, wide_clinic
from tests.interfaces.cli import inside
from tests.neighbours.forms import without_spark

PATIENTS = 4000


def run(*words: str) -> Any:
    return inside.run(*words, cwd=Path.cwd())


@pytest.fixture(scope="module")
def data() -> dict[str, pl.DataFrame]:
    return clinic(PATIENTS, 3)


@pytest.fixture(scope="module")
def release(data: dict[str, pl.DataFrame]) -> cantle.Release:
    return cantle.publish(data, CLINIC, epsilon=8, insecure_seed=1)


@pytest.fixture(scope="module")
def folder(release: cantle.Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.save(tmp_path_factory.mktemp("families") / "release")


def package(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(CLINIC)) | changes


# ---- files ------------------------------------------------------------------------------------------------------


def test_both_files_are_linked(folder: Path, release: cantle.Release) -> None:
    parents, children = (pl.read_csv(folder / f"NOT-PRIVATE.{name}.csv") for name in ("patients", "visits"))
    assert parents["id"].to_list() == list(range(1, len(parents) + 1))
    assert set(children["id"]) <= set(parents["id"])
    assert children.group_by("id").len()["len"].max() <= 8  # type: ignore[operator]
    assert children.select((pl.col("month").diff() < 0) & (pl.col("id").diff() == 0)).to_series().any() is False
    assert [*release.tables] == ["patients", "visits"]
    assert release.tables["visits"].height == release.summary["children"] == len(children)
    assert abs(len(parents) - PATIENTS) < 100


def test_frictionless_accepts_the_package(folder: Path) -> None:
    frictionless = pytest.importorskip("frictionless")
    found = json.loads((folder / "NOT-PRIVATE.datapackage.json").read_text())
    assert found["resources"][1]["schema"]["foreignKeys"][0]["reference"] == {"resource": "patients", "fields": "id"}
    report = frictionless.validate(found, basepath=str(folder)) if hasattr(frictionless, "validate") else None
    assert report is None or report.valid


def test_a_saved_release_is_verified_and_loaded(folder: Path, release: cantle.Release) -> None:
    assert verify_folder(folder) == []
    again = cantle.Release.load(folder)
    assert again.records.equals(release.records)  # type: ignore[union-attr]
    assert again.count("number_of_visits >= 3") == release.count("number_of_visits >= 3")


@pytest.mark.parametrize("stored", ["csv", "parquet"])
def test_an_orphan_is_noticed(release: cantle.Release, tmp_path: Path, stored: str) -> None:
    place = release.save(tmp_path / "release", data=stored)
    file = place / f"NOT-PRIVATE.visits.{stored}"
    rows = pl.read_csv(file) if stored == "csv" else pl.read_parquet(file)
    wrong = rows.with_columns(
        pl.when(pl.int_range(pl.len()) == pl.len() - 1).then(9999).otherwise(pl.col("id")).alias("id")
    )
    wrong.write_csv(file) if stored == "csv" else wrong.write_parquet(file)
    with pytest.raises(VerifyError, match="without a parent"):
        cantle.Release.load(place)


def test_changed_families_are_noticed(release: cantle.Release) -> None:
    from dataclasses import replace

    from cantle.release.verify import problems

    records = release.records
    assert isinstance(records, pl.DataFrame)
    turned = records.with_columns(pl.col("visits").list.reverse())
    assert "not in the order of month" in " ".join(problems(replace(release, drawn=turned)))
    more = records.with_columns(pl.concat_list(["visits", "visits", "visits"]).alias("visits"))
    found = " ".join(problems(replace(release, drawn=more)))
    assert "more than 8 children" in found
    fewer = replace(release, drawn=records.head(10))
    assert "other numbers of parents" in " ".join(problems(fewer))
    noisy = release.frames["tables"].with_columns(
        pl.when(pl.col("table") == 2).then(0).otherwise(pl.col("noisy")).alias("noisy")
    )
    assert problems(replace(release, frames={"tables": noisy})) != []


@pytest.mark.parametrize("epsilon", [1, 100])
@pytest.mark.parametrize("most", [1, 8])
def test_families_may_have_no_second_child_or_none(most: int, epsilon: float, tmp_path: Path) -> None:
    tables = clinic(600, 3)
    for visits in (tables["visits"].unique("id") if most == 1 else tables["visits"], tables["visits"].head(0)):
        document = package(unit={"family": "patients", "max_children": most})
        made = cantle.publish(tables | {"visits": visits}, document, epsilon=epsilon, insecure_seed=1)
        assert abs(made.count("number_of_visits >= 1").value - visits["id"].n_unique()) < 600 / epsilon
        assert verify_folder(made.save(tmp_path / f"{len(visits)}")) == []


# ---- engines ----------------------------------------------------------------------------------------------------


def test_the_same_bytes_whatever_the_order_of_rows_and_the_engine(
    data: dict[str, pl.DataFrame], release: cantle.Release, tmp_path: Path
) -> None:
    def made(given: Any, **options: Any) -> Any:
        return cantle.publish(given, CLINIC, epsilon=8, insecure_seed=1, **options).records

    shuffled = {name: frame.sample(fraction=1, shuffle=True, seed=5) for name, frame in data.items()}
    assert made(shuffled).equals(release.records)
    for name, frame in data.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    assert made(tmp_path).equals(release.records)
    (tmp_path / "datapackage.json").write_text(json.dumps(CLINIC))
    assert made(tmp_path / "datapackage.json").equals(release.records)
    assert made(tmp_path, engine="duckdb").equals(release.records)
    assert made({name: pd.DataFrame(frame.to_dict(as_series=False)) for name, frame in data.items()}).equals(
        release.records
    )


def with_paths(patients: str, visits: str) -> dict[str, Any]:
    document = package()
    document["resources"][0]["path"], document["resources"][1]["path"] = patients, visits
    return document


def test_the_same_bytes_from_folders_sheets_and_a_database(tmp_path: Path) -> None:
    duckdb, openpyxl = pytest.importorskip("duckdb"), pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    pytest.importorskip("ibis")
    made, book = clinic(600, 3), openpyxl.Workbook()
    book.remove(book.active)
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        for name, frame in made.items():
            frame.write_csv(tmp_path / f"{name}.csv")
            (tmp_path / f"{name}.parts").mkdir()
            for number, part in enumerate(frame.iter_slices(300)):
                part.write_parquet(tmp_path / f"{name}.parts" / f"{number}.parquet")
            sheet = book.create_sheet(name)
            for row in (frame.columns, *frame.rows()):
                sheet.append(list(row))
            database.execute(f"create table {name} as select * from read_csv('{tmp_path / name}.csv')")
    book.save(tmp_path / "book.xlsx")
    (tmp_path / "sheets.json").write_text(json.dumps(with_paths("book.xlsx", "book.xlsx")))
    (tmp_path / "parts.json").write_text(json.dumps(with_paths("patients.parts", "visits.parts")))

    def published(data: Any, document: Any = CLINIC, **options: Any) -> Any:
        return cantle.publish(data, document, epsilon=4, insecure_seed=1, **options).records

    here = published(made)
    assert published(tmp_path).equals(here)
    for name in ("sheets.json", "parts.json"):
        for engine in ("memory", "duckdb"):
            assert published(tmp_path / name, tmp_path / name, engine=engine).equals(here)
    assert published(tmp_path / "book.xlsx").equals(here)
    assert published(f"duckdb://{tmp_path}/x.duckdb", engine="database").equals(here)


def test_the_same_bytes_from_a_server_of_postgresql(server: str) -> None:
    pytest.importorskip("ibis")
    psycopg = pytest.importorskip("psycopg")
    made = clinic(600, 3)
    with psycopg.connect(server) as connection:
        for name, frame in made.items():
            connection.execute(f"create table {name} ({', '.join(f'{one} bigint' for one in frame.columns)})")
            with connection.cursor().copy(f"copy {name} from stdin") as rows:
                for row in frame.sample(fraction=1, shuffle=True, seed=7).iter_rows():
                    rows.write_row(row)
    found = cantle.publish(server, CLINIC, epsilon=4, insecure_seed=1, engine="database")
    assert found.records.equals(cantle.publish(made, CLINIC, epsilon=4, insecure_seed=1).records)
    with psycopg.connect(server) as connection:
        connection.execute("drop table visits")
    with pytest.raises(EngineError, match="no such table"):
        cantle.publish(server, CLINIC, epsilon=4, insecure_seed=1, engine="database")


@pytest.mark.slow
def test_spark_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed (extra spark)")
    if reason := without_spark():
        pytest.skip(reason)
    made = clinic(800, 3)
    for name, frame in made.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    here = cantle.publish(made, CLINIC, epsilon=4, insecure_seed=1)
    there = cantle.publish(tmp_path, CLINIC, epsilon=4, insecure_seed=1, engine="spark")
    assert there.records.equals(here.records)
    assert there.accuracy == here.accuracy


# ---- questions --------------------------------------------------------------------------------------------------


def test_questions_about_both_tables_and_across_the_link(
    data: dict[str, pl.DataFrame], release: cantle.Release
) -> None:
    patients, visits = data["patients"], data["visits"].join(data["patients"], on="id")
    sizes = patients.join(data["visits"].group_by("id").len(), on="id", how="left").with_columns(
        pl.col("len").fill_null(0)
    )
    true = {
        "": PATIENTS,
        "patients:": PATIENTS,
        "age >= 5": patients.filter(pl.col("age") >= 5).height,
        "number_of_visits >= 3": sizes.filter(pl.col("len") >= 3).height,
        "visits:": visits.height,
        "visits: severity >= 2": visits.filter(pl.col("severity") >= 2).height,
        "visits: severity >= 2 and age >= 5": visits.filter((pl.col("severity") >= 2) & (pl.col("age") >= 5)).height,
        "age >= 5 with visits: severity == 3":
            visits.filter((pl.col("severity") == 3) & (pl.col("age") >= 5))["id"].n_unique(),
    }  # fmt: skip
    for question, count in true.items():
        found = release.count(question)
        assert found.low <= count <= found.high, (question, found, count)
    assert abs(release.mean("number_of_visits").value - visits.height / PATIENTS) < 0.2
    assert abs(release.mean("severity", "visits:").value - visits["severity"].mean()) < 0.2  # type: ignore[operator]


def test_groups_of_both_tables(data: dict[str, pl.DataFrame], release: cantle.Release) -> None:
    patients, visits = data["patients"], data["visits"].join(data["patients"], on="id")
    sizes = patients.join(data["visits"].group_by("id").len(), on="id", how="left").with_columns(
        number_of_visits=pl.col("len").fill_null(0)
    )
    ill = visits.filter(pl.col("severity") == 3).unique("id")
    true = [
        ("", ["insurer", "sex"], sizes, 8),
        ("age >= 5", "number_of_visits", sizes.filter(pl.col("age") >= 5), 9),
        ("visits: severity >= 2", ["type", "sex"], visits.filter(pl.col("severity") >= 2), 10),
        ("", "type", visits, 5),
        ("age >= 5 with visits: severity == 3", "region", ill.filter(pl.col("age") >= 5), 8),
    ]
    held = rows = 0
    for question, by, frame, number in true:
        found = release.count(question, by=by)
        names = [by] if isinstance(by, str) else by
        assert found.columns == [*names, "value", "low", "high", "covers"]
        assert len(found) == number
        counts = frame.group_by(names).agg(true=pl.len().cast(pl.Int64)).cast(dict.fromkeys(names, pl.Int64))
        both = found.cast(dict.fromkeys(names, pl.Int64)).join(counts, on=names, how="left")
        both = both.with_columns(pl.col("true").fill_null(0))
        held, rows = held + both.select(pl.col("true").is_between("low", "high").sum()).item(), rows + number
        single = release.count(question)
        assert found["value"].sum() == pytest.approx(
            single.value if question or by != "type" else visits.height, rel=0.1
        )
    assert held >= 0.9 * rows
    one = found.filter(pl.col("region") == 2)
    asked = release.count("age >= 5 and region == 2 with visits: severity == 3")
    assert one.select("value", "low", "high").row(0) == (asked.value, asked.low, asked.high)


def test_means_of_groups(data: dict[str, pl.DataFrame], release: cantle.Release) -> None:
    visits = data["visits"].join(data["patients"], on="id")
    for question, column, by in (("", "severity", "type"), ("visits:", "age", "severity"), ("", "cost", "sex")):
        found = release.mean(column, question, by=by)
        known = visits.group_by(by).agg(pl.col(column).mean().alias("true")).cast({by: found[by].dtype})
        both = found.join(known, on=by)
        assert both.select(pl.col("true").is_between("low", "high").all()).item(), both
    assert release.mean("number_of_visits", by="sex")["value"].len() == 2
    assert release.mean("sex").value == pytest.approx(data["patients"]["sex"].mean(), abs=0.1)


def test_wide_columns_are_grouped_by_their_cells() -> None:
    document = package()
    document["resources"][1]["schema"]["fields"][4] |= {"constraints": {"minimum": 0, "maximum": 999, "required": True}}
    made = clinic(1500, 3)
    made["visits"] = made["visits"].with_columns(cost=pl.col("cost") * 80)
    found = cantle.publish(made, document, epsilon=8, insecure_seed=1)
    rows = found.count("visits:", by="cost")
    assert 1 < len(rows) <= 1000
    assert rows["value"].sum() == found.count("visits:").value
    assert rows["cost"][0].startswith("[0")


@pytest.mark.parametrize(
    ("by", "question", "words"),
    [
        ("type", "age >= 5", "type is a column of visits; begin the question with `visits:`"),
        ("colour", "", "no column 'colour'"),
        ("colour", "visits:", "no column 'colour'"),
    ],
)
def test_wrong_groups_are_refused(release: cantle.Release, by: str, question: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        release.count(question, by=by)


def test_a_hint_is_a_question_that_can_be_asked(release: cantle.Release) -> None:
    for question in ("age >= 5 and a visit with severity >= 2", "severity >= 2", "severity >= 2 and age < 3"):
        with pytest.raises(ParameterError, match="is a column of visits") as caught:
            release.count(question)
        asked = str(caught.value).split("`")[1::2]
        assert len(asked) == 2
        assert [release.count(one).value > 0 for one in asked] == [True, True]
    with pytest.raises(ParameterError, match="`age >= 5 with visits: severity >= 2`"):
        release.count("age >= 5 and a visit with severity >= 2")
    with pytest.raises(ParameterError, match="severity is a column of visits; begin the question with `visits:`"):
        release.mean("severity", "age >= 5")
    with pytest.raises(ParameterError, match="no column of numbers 'colour'"):
        release.mean("colour")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("severity >= 2", "is a column of visits"),
        ("visits: severity >= 2 with visits: cost > 1", "is for questions about patients"),
        ("visits: colour == 1", "no column 'colour'"),
        ("age >", "at the end"),
    ],
)
def test_wrong_questions_are_refused(release: cantle.Release, question: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        release.count(question)


def test_more_families_can_be_drawn(release: cantle.Release) -> None:
    more = release.sample(50, seed=1)
    assert len(more) == 50
    assert more.equals(release.sample(50, seed=1))  # type: ignore[union-attr]


def test_the_error_of_a_release_is_measured_in_families(release: cantle.Release) -> None:
    known = release.accuracy
    assert known is not None
    assert known.bought
    assert len(known.numbers()) == 3
    assert "patients" in str(known)
    assert release.manifest.receipt.unit.kind == "family"
    assert sum(charge.epsilon_nano for charge in release.manifest.receipt.charges()) <= 8 * 10**9
    assert sum(charge.epsilon_nano for charge in release.manifest.receipt.charges()) > 7.99 * 10**9


# ---- small and odd data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 40])
def test_hardly_any_data_gives_a_release(rows: int) -> None:
    made = clinic(rows, 1) if rows else {name: frame.head(0) for name, frame in clinic(5, 1).items()}
    for seed in range(3):
        release = cantle.publish(made, CLINIC, epsilon=0.5, insecure_seed=seed)
        release.verify()


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    clinic(50, 1)["patients"].write_csv(tmp_path / "patients.csv")
    (tmp_path / "visits.csv").write_text("")
    with pytest.raises(DataError, match="resource 'visits': the file is empty"):
        cantle.publish(tmp_path, CLINIC, epsilon=1, insecure_seed=1)
    (tmp_path / "visits.csv").write_text("id,month,type,severity,cost\n")
    cantle.publish(tmp_path, CLINIC, epsilon=1, insecure_seed=1).verify()


def test_families_without_children_and_too_many_children() -> None:
    parents = pl.DataFrame(
        {"id": range(300), "age": [3] * 300, "sex": [1] * 300, "region": [0] * 300, "insurer": [1] * 300}
    )
    nobody = pl.DataFrame(
        {"id": [], "month": [], "type": [], "severity": [], "cost": []}, schema_overrides={"id": pl.Int64}
    )
    empty = cantle.publish({"patients": parents, "visits": nobody}, CLINIC, epsilon=5, insecure_seed=2)
    assert empty.mean("number_of_visits").value < 0.5
    many = pl.DataFrame({"id": [i for i in range(300) for _ in range(30)]}).with_columns(
        month=1, type=2, severity=1, cost=4
    )
    full = cantle.publish({"patients": parents, "visits": many}, CLINIC, epsilon=5, insecure_seed=2)
    assert full.mean("number_of_visits").value > 7
    assert full.mean("number_of_visits").high <= 8
    assert empty.mean("number_of_visits").low >= 0
    full.verify()


# ---- refusals ---------------------------------------------------------------------------------------------------


def changed(**of_child: Any) -> dict[str, Any]:
    document = package()
    document["resources"][1]["schema"] |= of_child
    return document


def linked(own: Any, resource: str, keys: Any) -> dict[str, Any]:
    return changed(foreignKeys=[{"fields": own, "reference": {"resource": resource, "fields": keys}}])


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (package(unit={"family": "patients"}), "max_children: 8"),
        (package(unit={"family": "patients", "max_children": 0}), "from 1 to 255"),
        (package(unit={"family": "patients", "max_children": 256}), "from 1 to 255"),
        (package(unit={"family": "rooms", "max_children": 8}), "not the name of a resource"),
        (package(resources=CLINIC["resources"][:1]), "one parent and one child resource"),
        (package(resources=[*CLINIC["resources"], {"name": "x", "schema": {}}]), "one parent and one child resource"),
        (changed(foreignKeys=[]), "0 foreign keys"),
        (changed(foreignKeys=CLINIC["resources"][1]["schema"]["foreignKeys"] * 2), "2 foreign keys"),
        (linked(["id", "month"], "patients", ["id", "x"]), "not one column"),
        (linked("id", "visits", "id"), "does not refer"),
        (changed(unit={"person": "id", "max_records": 2}), "move it up"),
        (changed(rules=["age > 3 -> month > 2"]), "age"),
        (package(order={"visits": ["colour"]}), "no column"),
        (package(order={"visits": ["type"]}), "no order"),
        (package(order={"patients": ["age"]}), "not a list of columns of 'visits'"),
        (package(order={"visits": ["month", "-month"]}), "twice"),
    ],
)  # fmt: skip
def test_packages_that_are_refused(document: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        cantle.Schema.from_dict(document)


def test_keys_that_are_refused() -> None:
    for place, field, words in (
        (0, {"name": "id", "type": "number", "role": "identifier"}, "floats"),
        (1, {"name": "id", "type": "string", "role": "identifier"}, "different types"),
        (1, {"name": "id", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}, "field with meaning"),
    ):
        document = package()
        document["resources"][place]["schema"]["fields"][0] = field
        with pytest.raises(SchemaError, match=words):
            cantle.Schema.from_dict(document)
    document = package()
    document["resources"][0]["schema"]["fields"][1]["name"] = "number_of_visits"
    with pytest.raises(SchemaError, match="number of children"):
        cantle.Schema.from_dict(document)


def test_the_canonical_form_is_read_back() -> None:
    schema = cantle.Schema.from_dict(package())
    assert cantle.Schema.from_dict(schema.to_dict()).hash() == schema.hash()
    assert "csv" not in json.dumps(schema.to_dict())
    default = package()
    del default["order"]
    assert cantle.Schema.from_dict(default).to_dict()["order"] == {"visits": ["-month"]}


def test_wrong_data_is_refused_before_the_charge(data: dict[str, pl.DataFrame], tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    assert run("ledger", "create", "--ledger", str(ledger)).returncode == 0
    data["patients"].write_csv(tmp_path / "patients.csv")
    (tmp_path / "x.duckdb").write_bytes(b"")
    lost, twice = with_paths("patients.csv", "visitz.csv"), with_paths("patients.csv", "patients.csv")
    (tmp_path / "lost.json").write_text(json.dumps(lost))
    (tmp_path / "twice.json").write_text(json.dumps(twice))
    for given, document, words in (
        ({"patients": data["patients"]}, CLINIC, "under the names of the resources"),
        (data["patients"], CLINIC, "families are two tables"),
        (tmp_path / "none", CLINIC, "no data package"),
        (tmp_path / "x.duckdb", CLINIC, "no data package"),
        (tmp_path / "patients.csv", CLINIC, "is one table"),
        (f"duckdb://{tmp_path}/x.duckdb", CLINIC, "engine database"),
        (tmp_path, CLINIC, "no file 'visits.csv'"),
        (tmp_path / "lost.json", lost, "no file 'visitz.csv'"),
        (tmp_path / "twice.json", twice, "both resources name 'patients.csv'"),
    ):
        with pytest.raises((DataError, ParameterError), match=words):
            cantle.publish(given, document, epsilon=1, ledger=ledger, dataset="clinic")
    history = run("ledger", "history", "clinic", "--ledger", str(ledger))
    assert "families" not in history.stdout  # nothing was charged


# ---- commands ---------------------------------------------------------------------------------------------------


def test_the_commands_on_a_package(
    data: dict[str, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, frame in data.items():
        frame.write_csv(f"{name}.csv")
    Path("datapackage.json").write_text(json.dumps(CLINIC))
    drafted = run("init", "patients.csv", "--child", "visits.csv", "--key", "id", "--header", "yes")
    assert "foreignKeys" in drafted.stdout
    checked = run("check", "datapackage.json", "--limit", "100%")
    assert "visits without a parent" in checked.stdout + checked.stderr or checked.returncode == 0
    assert (
        "sorted by month" in run("plan", "--schema", "datapackage.json", "--records", "1500", "--epsilon", "1").stdout
    )
    assert run("publish", "datapackage.json", "--epsilon", "2", "-o", "out").returncode == 0
    assert run("verify", "out").returncode == 0
    assert "visits per family" in run("show", "out").stdout
    assert "95 % interval" in run("query", "out", "number_of_visits >= 2").stdout
    assert "insurer" in run("query", "out", "visits: severity >= 2", "--by", "insurer").stdout
    assert "id,month" in run("sample", "out", "-n", "3").stdout
    assert "distance" in run("evaluate", "datapackage.json", "out").stdout
    assert run("report", "out", "-o", "out.html").returncode == 0
    assert run("metadata", "out", "--format", "croissant").returncode == 2


# ---- cells and steps that questions cut ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide() -> cantle.Release:
    return cantle.publish(wide_clinic(PATIENTS, 3), WIDE_CLINIC, epsilon=1, insecure_seed=1)


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("visits", "cost", "visits: {}"),
        ("visits", "cost", "with visits: {}"),
        ("visits", "cost", "sex == 1 with visits: {}"),
        ("patients", "income", "{}"),
        ("patients", "income", "visits: {} and type == 2"),
    ],
)
def test_the_part_of_a_cell_may_hold_none_or_all_of_the_cell(
    wide: cantle.Release, table: str, column: str, words: str
) -> None:
    edges = np.array(wide.manifest.structure["cells"][table][column])
    at = int(np.argmax(np.diff(edges)))
    first, end = edges[at : at + 2].tolist()
    part, whole = (wide.count(words.format(f"{column} >= {first} and {column} < {to}")) for to in (end - 1, end))
    assert end > first + 1
    assert whole.covers == "measured"
    assert part.covers == "measured"
    assert part.low == 0
    assert part.high > whole.value
    assert wide.count(words.format(f"{column} >= {first + 1}")).covers == "measured"  # more than a cell


def test_a_question_that_cuts_a_step_says_so_and_allows_for_it() -> None:
    document = json.loads(json.dumps(WIDE_CLINIC))
    document["resources"][1]["schema"]["fields"][4]["step"] = 1000
    found = cantle.publish(wide_clinic(PATIENTS, 3), document, epsilon=4, insecure_seed=1)
    whole, cut = (found.count(f"visits: cost < {bound}") for bound in (1000, 1500))
    assert not whole.note
    assert "cost cuts a step of 1,000; bounds at 1,000 and 2,000 (< or >=) are exact" in cut.note
    step = found.count("visits: cost >= 1000 and cost < 2000").value
    assert cut.high - cut.low > 0.9 * step > 0
    assert "cuts a step" in found.count("with visits: cost < 1500").note
    inside, across = (found.mean("severity", f"visits: cost < {bound}") for bound in (1000, 1500))
    assert across.high - across.low > inside.high - inside.low
    assert "cuts a step" in across.note


# ---- long chains -------------------------------------------------------------------------------------------------


def test_later_children_of_long_chains_keep_their_place_in_time() -> None:
    data = shop(20_000, 6)
    made = cantle.publish(data, SHOP, epsilon=10, insecure_seed=1)
    apart = []
    for position in range(6):
        orders = [
            tables["orders"]
            .group_by("id", maintain_order=True)
            .agg(pl.col("month").sort().get(position, null_on_oob=True))
            for tables in (data, made.tables)
        ]
        shares = [np.bincount(one["month"].drop_nulls(), minlength=18) / one["month"].count() for one in orders]
        apart.append(np.abs(shares[0] - shares[1]).sum() / 2)
    assert max(apart) < 0.1


def test_the_order_of_long_chains_takes_the_place_of_other_tables() -> None:
    usual = plan(opening(20_000, 10.0, 0, [], Fraction(0)), [12, 11, 18, 8, 12], [18, 8, 12])
    changed = usual.in_long_chains(0)

    def spent(one: Plan) -> Fraction:
        return sum((*one.siblings, one.selection, one.tables), Fraction(0))

    assert spent(changed) == spent(usual)
    assert changed.siblings[0] > usual.siblings[0]
    assert changed.siblings[1:] == usual.siblings[1:]
    assert changed.tables / changed.count == usual.tables / usual.count
