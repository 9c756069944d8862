"""`verify` finds every changed byte, and files that no longer agree even if their hashes were computed again."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import rfc8785

import cantle
from benchmarks.faults import edits
from cantle.errors import CantleError, VerifyError
from cantle.release import Release, sha256, sha256_of
from cantle.release.manifest import Manifest
from cantle.release.verify import problems, verify_folder
from tests.release.people import SCHEMA, people


def test_edits_of_single_bytes_are_found(tmp_path: Path) -> None:
    """The long form, with a thousand edits, is `python benchmarks/faults.py edits`."""
    assert edits(80, tmp_path) == []


@pytest.fixture(scope="module", params=["rps", "diffgen"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second release of a data set with a cap."""
    place = tmp_path_factory.mktemp("releases")
    paid = {"ledger": place / "l.db", "dataset": "people"}
    cantle.Ledger(place / "l.db").cap("people", 3)
    cantle.publish(people(60), SCHEMA, epsilon=1, **paid).save(place / "first")
    return cantle.publish(people(60), SCHEMA, epsilon=1, method=request.param, **paid).save(place / "second")


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of the release, to be changed."""
    return Path(shutil.copytree(saved, tmp_path / "second"))


def rehash(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> list[str]:
    """The problems that `verify` finds after a change of the manifest, with the hashes computed again."""
    path = folder / "release.json"
    manifest = json.loads(path.read_bytes())
    change(manifest)
    manifest["files"] = {name: sha256_of(folder / name) for name in manifest["files"] if (folder / name).exists()}
    del manifest["sha256"]
    manifest["sha256"] = sha256(rfc8785.dumps(manifest))
    path.write_bytes(rfc8785.dumps(manifest))
    return verify_folder(folder)


def test_new_hashes_of_unchanged_files_are_no_problem(folder: Path) -> None:
    assert rehash(folder) == []


@pytest.mark.parametrize(("name", "old", "new"), [
    ("statement.md", "| epsilon | 1 ", "| epsilon | 0.1 "),
    ("statement.md", "has spent epsilon 2", "has spent epsilon 1"),
    ("registry.yaml", "epsilon: 1", "epsilon: 0.1"),
    ("registry.yaml", 'name: ""', 'name: "filled in"'),
    ("datapackage.json", "cantle-release", "another-release"),
])  # fmt: skip
def test_texts_that_contradict_the_release_are_found(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(name in problem for problem in rehash(folder))


def test_texts_of_another_version_may_differ(folder: Path) -> None:
    (folder / "statement.md").write_text("Words of long ago.", encoding="utf-8")
    assert rehash(folder) != []
    assert rehash(folder, lambda manifest: manifest["software"].update(cantle="0.0.1")) == []
    (folder / "statement.md").write_text("Words of today.", encoding="utf-8")
    assert verify_folder(folder) == ["statement.md does not have the listed hash"]


def test_a_schema_in_the_form_of_another_version_is_explained(folder: Path) -> None:
    problems = rehash(folder, lambda m: (m["software"].update(cantle="0.0.1"), m.update(schema_sha256="0" * 64))[1])
    (problem,) = (one for one in problems if "schema" in one)
    assert "made by a version of cantle that writes schemas in another form (0.0.1 made the release, this is" in problem


def test_a_loaded_release_is_verified_with_its_files(folder: Path) -> None:
    release = cantle.Release.load(folder)
    release.verify()
    (folder / "statement.md").write_text("Other words.", encoding="utf-8")
    with pytest.raises(VerifyError, match=r"statement\.md"):
        release.verify()
    assert str(folder) not in repr(pickle.dumps(release))
    pickle.loads(pickle.dumps(release)).verify()  # the release in memory is unchanged


@pytest.mark.parametrize("name", ["statement.md", "registry.yaml", "datapackage.json", "groups.parquet"])
def test_missing_files_are_found(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"{name} is not part of the release" in rehash(folder)


CHANGES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda m: m["ledger"].update(spent_nano=10**9), "do not add up"),
    (lambda m: m["ledger"]["earlier"].clear(), "numbered"),
    (lambda m: m["ledger"]["earlier"][0].update(epsilon_nano=5), "do not add up"),
    (lambda m: m["ledger"].update(cap_nano=10**9), "more than its cap"),
    (lambda m: m["receipt"]["paths"][0]["charges"][0].update(epsilon_nano=1), "does not add up"),
    (lambda m: m.update(epsilon="2"), "epsilon differs"),
    (lambda m: m["schema"]["fields"][1]["constraints"].update(maximum=98), "schema"),
    (lambda m: m["summary"].update(records=7), "records"),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_numbers_that_do_not_add_up_are_found_even_if_all_texts_agree(folder: Path, number: int) -> None:
    """The texts are written again as well, so that only the arithmetic shows the change."""
    from cantle.release.metadata import datapackage
    from cantle.release.registry import registry
    from cantle.release.statement import statement

    change, words = CHANGES[number]

    def changed(manifest: dict[str, Any]) -> None:
        change(manifest)
        stated = Manifest.from_dict(manifest)
        (folder / "statement.md").write_text(statement(stated), encoding="utf-8")
        (folder / "registry.yaml").write_text(registry(stated), encoding="utf-8")
        (folder / "datapackage.json").write_bytes(rfc8785.dumps(datapackage(stated, ["data.csv"])))

    assert any(words in problem for problem in rehash(folder, changed))


# ---- errors of libraries become findings ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["groups.parquet", "data.csv"])
def test_a_table_without_its_columns_is_a_finding(folder: Path, name: str) -> None:
    empty = pl.DataFrame({"other": [1, 2]})
    empty.write_csv(folder / name) if name.endswith("csv") else empty.write_parquet(folder / name)
    (problem,) = rehash(folder)
    assert "Error" in problem
    assert "file" in problem or "table" in problem


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_damaged_table_is_a_finding(folder: Path, share: float) -> None:
    whole = (folder / "groups.parquet").read_bytes()
    at = int(len(whole) * share)
    (folder / "groups.parquet").write_bytes(whole[:at] + bytes(40) + whole[at + 40 :])
    assert rehash(folder)


def test_a_panic_of_the_reader_is_a_finding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: Any, **__: Any) -> Any:
        raise pl.exceptions.PanicException("assertion failed: 17")

    monkeypatch.setattr(pl, "read_parquet", panic)
    (problem,) = verify_folder(folder)
    assert problem.endswith("has a missing or damaged file (PanicException)")
    with pytest.raises(VerifyError) as caught:
        cantle.Release.load(folder)
    assert "17" not in "".join(traceback.format_exception(caught.value)).replace(str(folder), "")


FORMS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda m: m.update(schema=[]), "schema is not a mapping"),
    (lambda m: m.pop("schema"), "schema is missing"),
    (lambda m: m.pop("receipt"), "receipt is missing"),
    (lambda m: m["receipt"].pop("paths"), "receipt.paths is missing"),
    (lambda m: m["receipt"].update(unit={"kind": "planet", "max_records": 1}), "receipt.unit: a unit is one of"),
    (lambda m: m["receipt"]["paths"][0].update(more=1), "does not know: receipt.paths[0].more"),
    (lambda m: m.pop("summary"), "summary is missing"),
    (lambda m: m["summary"].update(records="7"), "summary.records is not a whole number"),
    (lambda m: m.update(parameters=None), "parameters is not a mapping"),
    (lambda m: m.update(private=1), "private is not true or false"),
    (lambda m: m["ledger"]["earlier"][0].update(sha256=3), "ledger.earlier[0].sha256 is not text"),
    (lambda m: m.update(authors="us"), "does not know: authors"),
]


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_a_manifest_of_another_form_is_a_finding(folder: Path, number: int) -> None:
    change, words = FORMS[number]
    assert any(words in problem for problem in rehash(folder, change))
    with pytest.raises(VerifyError, match=re.escape(words)):
        cantle.Release.load(folder)


def test_a_schema_of_another_form_is_a_finding(folder: Path) -> None:
    assert rehash(folder, lambda m: m.update(schema={"fields": 3}))
    with suppress(CantleError):
        cantle.Release.load(folder)


def test_a_manifest_survives_the_way_to_json_and_back(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_bytes())
    assert Manifest.from_dict(document).to_dict() == document


@pytest.mark.parametrize("number", ["1h", [1], 1.5, True])
def test_charges_are_whole_numbers(folder: Path, number: Any) -> None:
    """They are checked before any arithmetic, because a text or a list times 10^9 would fill the memory."""

    def changed(manifest: dict[str, Any]) -> None:
        for path in manifest["receipt"]["paths"]:
            path["charges"][-1]["sensitivity"] = number

    (problem,) = rehash(folder, changed)
    assert problem.endswith("sensitivity is not a whole number")


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_an_additional_record_is_reported(method: str) -> None:
    """The release is in memory, so that no hash shows the change."""
    release = cantle.publish(people(200), SCHEMA, epsilon=3, method=method, insecure_seed=1)
    more = Release(
        pl.concat([release.records, release.records.head(1)]), release.groups, release.frames, release.manifest
    )
    assert problems(more) == ["the records are not as many as stated, or not all in the schema's domain"]
