"""`verify` notices every changed byte; and, where the hashes are made anew, whatever no longer says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785

import cantle
from benchmarks.faults import edits
from cantle.release import sha256, sha256_of
from cantle.verify import verify_folder
from tests.release.people import SCHEMA, people


def test_single_byte_edits(tmp_path: Path) -> None:
    """The long form, a thousand edits: python benchmarks/faults.py edits."""
    assert edits(80, tmp_path) == []


@pytest.fixture(params=["rps", "diffgen"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The second release of a data set with a cap."""
    paid = {"ledger": tmp_path / "l.db", "dataset": "people"}
    cantle.Ledger(tmp_path / "l.db").cap("people", 3)
    cantle.publish(people(60), SCHEMA, epsilon=1, **paid).save(tmp_path / "first")
    return cantle.publish(people(60), SCHEMA, epsilon=1, method=request.param, **paid).save(tmp_path / "second")


def rehash(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> list[str]:
    """What `verify` says after a change of the manifest by someone who knows how to make the hashes anew."""
    path = folder / "release.json"
    manifest = json.loads(path.read_bytes())
    change(manifest)
    manifest["files"] = {name: sha256_of(folder / name) for name in manifest["files"] if (folder / name).exists()}
    del manifest["sha256"]
    manifest["sha256"] = sha256(rfc8785.dumps(manifest))
    path.write_bytes(rfc8785.dumps(manifest))
    return verify_folder(folder)


def test_new_hashes_alone_are_no_offence(folder: Path) -> None:
    assert rehash(folder) == []


@pytest.mark.parametrize(("name", "old", "new"), [
    ("statement.md", "| epsilon | 1 ", "| epsilon | 0.1 "),
    ("statement.md", "has spent epsilon 2", "has spent epsilon 1"),
    ("registry.yaml", "epsilon: 1", "epsilon: 0.1"),
    ("registry.yaml", "name: ''", "name: 'filled in'"),
    ("datapackage.json", "cantle-release", "another-release"),
])  # fmt: skip
def test_texts_that_say_something_else(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(name in problem for problem in rehash(folder))


@pytest.mark.parametrize("name", ["statement.md", "registry.yaml", "datapackage.json", "groups.parquet"])
def test_files_that_are_left_out(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"{name} is not part of the release" in rehash(folder)


CHANGES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda m: m["ledger"].update(spent_nano=10**9), "do not add up"),
    (lambda m: m["ledger"]["earlier"].clear(), "numbered through"),
    (lambda m: m["ledger"]["earlier"][0].update(epsilon_nano=5), "do not add up"),
    (lambda m: m["ledger"].update(cap_nano=10**9), "more than its cap"),
    (lambda m: m["receipt"]["paths"][0]["charges"][0].update(epsilon_nano=1), "does not add up"),
    (lambda m: m.update(epsilon="2"), "epsilon differs"),
    (lambda m: m["schema"]["fields"][1]["constraints"].update(maximum=98), "schema"),
    (lambda m: m["summary"].update(records=7), "records"),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_numbers_that_do_not_add_up_though_all_texts_agree(folder: Path, number: int) -> None:
    """The texts are made anew as well, so that only the arithmetic is left to notice."""
    from cantle.registry import registry
    from cantle.statement import datapackage, statement

    change, words = CHANGES[number]

    def changed(manifest: dict[str, Any]) -> None:
        change(manifest)
        (folder / "statement.md").write_text(statement(manifest), encoding="utf-8")
        (folder / "registry.yaml").write_text(registry(manifest), encoding="utf-8")
        (folder / "datapackage.json").write_bytes(rfc8785.dumps(datapackage(manifest, "data.csv")))

    assert any(words in problem for problem in rehash(folder, changed))
