"""Metadata and bundles of a release, each checked by a tool that is not ours; labels and texts survive."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError
from cantle.release.bundle import bundle
from cantle.release.metadata import croissant, datacite, datapackage
from cantle.release.verify import verify_folder
from tests.interfaces.cli.inside import run

SCHEMA: dict[str, Any] = {
    "fields": [
        {
            "name": "sex",
            "type": "integer",
            "title": "Sex of the person",
            "categories": [{"value": 1, "label": "male"}, {"value": 2, "label": "female"}],
        },
        {"name": "town", "type": "string", "categories": ["=1+1", "https://example.org", "007"]},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "income", "type": "number", "step": 0.5, "constraints": {"minimum": 0, "maximum": 50}},
        {"name": "works", "type": "boolean"},
        {"name": "day", "type": "date", "constraints": {"minimum": "2025-01-01", "maximum": "2025-01-09"}},
    ]
}
FACTS: dict[str, Any] = {
    "title": "People of Exampleland",
    "description": "A made-up population",
    "curator": ["Example Office"],
    "licence": "CC-BY-4.0",
    "source": "https://example.org/people",
    "period": "2025-01-01 to 2025-12-31",
    "version": "1.0.0",
    "keywords": ["people", "synthetic data"],
    "identifier": "10.5072/example",
}


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sex": [1, 2, 2, None] * 50,
            "town": ["=1+1", "https://example.org", "007", "007"] * 50,
            "age": list(range(50)) * 4,
            "income": [1.5, 30.0, 2.0, None] * 50,
            "works": [True, False, None, True] * 50,
            "day": ["2025-01-02", "2025-01-03", None, "2025-01-09"] * 50,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = cantle.publish(people(), SCHEMA, epsilon=5, facts=FACTS)
    return release.save(tmp_path_factory.mktemp("deposit") / "out")


@pytest.fixture(scope="module")
def release(folder: Path) -> cantle.Release:
    assert verify_folder(folder) == []
    return cantle.Release.load(folder)


def test_frictionless_accepts_the_data_package_and_its_data(folder: Path) -> None:
    frictionless = pytest.importorskip("frictionless", reason="frictionless checks data packages")
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten(["type", "note"])
    package = frictionless.Package(str(folder / "datapackage.json"))
    assert package.title == "People of Exampleland"
    assert package.licenses == [{"name": "CC-BY-4.0"}]
    assert package.contributors[0]["title"] == "Example Office"
    assert package.version == "1.0.0"
    assert package.keywords == FACTS["keywords"]


@pytest.mark.parametrize(
    ("licence", "written"),
    [
        ("CC-BY-4.0", {"name": "CC-BY-4.0"}),
        ("https://example.org/terms", {"path": "https://example.org/terms"}),
        ("Ask the office first", {"name": "other", "title": "Ask the office first"}),
    ],
)
def test_licences_are_names_or_addresses(licence: str, written: dict[str, str], release: cantle.Release) -> None:
    from dataclasses import replace

    stated = replace(release.manifest, facts=replace(release.manifest.facts, licence=licence))
    assert datapackage(stated, ["data.csv"])["licenses"] == [written]


def test_datacite_fits_the_published_schema(release: cantle.Release) -> None:
    schema = pytest.importorskip("datacite.schema45", reason="datacite has the schema")
    document = json.loads(datacite(release.manifest))
    schema.validator.validate(document)
    assert {"date": "2025-01-01/2025-12-31", "dateType": "Collected"} in document["dates"]


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_croissant_is_valid_and_loads_the_records(folder: Path, release: cantle.Release, tmp_path: Path) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant checks Croissant")
    shutil.copy(folder / "data.csv", tmp_path)
    (tmp_path / "croissant.json").write_text(croissant(release.manifest), encoding="utf-8")
    found = mlc.Dataset(tmp_path / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert found.metadata.license == ["CC-BY-4.0"]
    records = list(found.records("records"))
    assert len(records) == len(release.records)
    assert {name.removeprefix("records/") for name in records[0]} == set(people().columns)


def test_formats_that_need_facts_say_which() -> None:
    bare = cantle.publish(people(), SCHEMA, epsilon=1)
    with pytest.raises(ParameterError, match="title, curator"):
        datacite(bare.manifest)
    seeded = cantle.publish(people(), SCHEMA, epsilon=1, facts=FACTS, insecure_seed=1)
    with pytest.raises(ParameterError, match="nothing to deposit"):
        datacite(seeded.manifest)


def test_a_workbook_has_data_codes_statement_and_accuracy(release: cantle.Release, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")
    bundle(release, tmp_path / "a.xlsx")
    sheets = pl.read_excel(tmp_path / "a.xlsx", sheet_id=0)
    assert list(sheets) == ["data", "codes", "statement", "accuracy"]
    assert sheets["data"].height == len(release.records)
    assert set(sheets["data"]["town"].drop_nulls()) <= {"=1+1", "https://example.org", "007"}
    assert ("sex", "1", "male") in sheets["codes"].rows()
    assert sheets["codes"].rows()[0] == ("sex", None, "Sex of the person")
    assert sheets["statement"].columns == ["statement"]


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_programs_of_statistics_get_labels_and_values(ending: str, release: cantle.Release, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="the extra statistics")
    target = tmp_path / f"a.{ending}"
    bundle(release, target)
    frame, about = getattr(pyreadstat, f"read_{ending}")(str(target), output_format="polars")
    assert about.variable_value_labels["sex"] == {1: "male", 2: "female"}
    assert about.column_names_to_labels["sex"] == "Sex of the person"
    records = release.records
    assert frame["sex"].cast(pl.Int64).to_list() == records["sex"].to_list()
    assert frame["age"].cast(pl.Int64).to_list() == records["age"].to_list()
    assert [one or None for one in frame["town"].to_list()] == records["town"].to_list()
    assert frame["day"].cast(pl.Date).to_list() == records["day"].cast(pl.Date).to_list()
    assert frame["works"].cast(pl.Boolean).to_list() == records["works"].to_list()


def test_r_reads_the_folder_with_its_labels(folder: Path, release: cantle.Release, tmp_path: Path) -> None:
    bundle(release, tmp_path / "read.R")
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    asked = (
        f'source("{tmp_path}/read.R"); x <- read_release("{folder}"); cat(jsonlite::toJSON(list(class(x$sex)[1], '
        'attr(x$sex, "labels"), names(attr(x$sex, "labels")), attr(x$sex, "label"), '
        "sum(unclass(x$sex) == 1, na.rm = TRUE), "
        "sum(x$works, na.rm = TRUE), nrow(x), class(x$day), sort(unique(x$town)))))"
    )
    done = subprocess.run(["Rscript", "-e", asked], capture_output=True, text=True, timeout=100, check=False)
    if "no package called" in done.stderr:
        pytest.skip("the R package jsonlite is not installed")
    kind, codes, names, title, men, workers, rows, day, towns = json.loads(done.stdout)
    assert (kind, codes, names, title) == (["haven_labelled"], [1, 2], ["male", "female"], ["Sex of the person"])
    records = release.records
    assert men == [int((records["sex"] == 1).sum())]
    assert workers == [int(records["works"].sum())]
    assert (rows, day) == ([len(records)], ["Date"])
    assert set(towns) == set(records["town"].drop_nulls())


def test_a_parquet_file_of_records_carries_the_labels(tmp_path: Path) -> None:
    release = cantle.publish(people(), SCHEMA, epsilon=5)
    release.save(tmp_path / "r", data="parquet")
    about = pl.read_parquet_metadata(tmp_path / "r" / "data.parquet")
    assert json.loads(about["labels"]) == {"sex": {"1": "male", "2": "female"}}
    assert about["cantle"] == "pure epsilon-differential privacy"
    cantle.Release.load(tmp_path / "r").verify()


def test_names_and_endings_that_do_not_fit_are_refused(release: cantle.Release, tmp_path: Path) -> None:
    pytest.importorskip("pyreadstat")
    with pytest.raises(ParameterError, match=r"must end in \.xlsx"):
        bundle(release, tmp_path / "a.csv")
    odd = cantle.publish(
        pl.DataFrame({"a b": [True, False]}), {"fields": [{"name": "a b", "type": "boolean"}]}, epsilon=1
    )
    with pytest.raises(ParameterError, match="'a b' has a name"):
        bundle(odd, tmp_path / "a.sav")
    assert list(tmp_path.iterdir()) == []
    sets = cantle.publish([["x"], ["y"]] * 20, {"kind": "sets", "items": ["x", "y"]}, epsilon=5)
    with pytest.raises(ParameterError, match="only a release of a table"):
        bundle(sets, tmp_path / "a.xlsx")


def test_the_commands_write_outside_of_the_release(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    assert run("bundle", str(folder), "-o", "a.xlsx", cwd=tmp_path).returncode == 0
    assert run("bundle", str(folder), "-o", "a.xlsx", cwd=tmp_path).returncode == 1
    assert run("metadata", str(folder), "-o", "d.json", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "d.json").read_text("utf-8"))["doi"] == "10.5072/example"
    assert json.loads(run("metadata", str(folder), cwd=tmp_path).stdout)["publisher"] == {"name": "Example Office"}
    assert run("metadata", str(folder), "-o", str(folder / "x.json"), cwd=tmp_path).returncode == 1
    assert run("metadata", str(folder), "--format", "marc", cwd=tmp_path).returncode == 2
    assert verify_folder(folder) == []


def test_one_record_more_changes_no_word_of_the_metadata() -> None:
    """Beside released numbers and hashes, metadata follow from public input alone."""
    table = people()
    both = [cantle.publish(data, SCHEMA, epsilon=1, facts=FACTS) for data in (table, table.vstack(table[:1]))]
    package, more = (datapackage(one.manifest, ["data.csv"]) for one in both)
    assert package == more
    cited, other = (re.sub(r"\d+", "0", datacite(one.manifest)) for one in both)
    assert cited == other
