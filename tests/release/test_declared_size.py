"""A declared number of records is public, and no text of the release calls it private."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cantle
from tests.release.people import SCHEMA, people

PERSON = SCHEMA | {"unit": {"person": "id", "max_records": 2}}


def texts(folder: Path, **options: Any) -> str:
    release = cantle.publish(people(60), epsilon=1, **options).save(folder / "out")
    assert cantle.Release.load(release).verify() is None
    written = [
        (release / name).read_text(encoding="utf-8") for name in ("statement.md", "registry.yaml", "release.json")
    ]
    return " ".join("\n".join(written).split())


@pytest.mark.parametrize("method", ["rps", "diffgen"])
@pytest.mark.parametrize("schema", [SCHEMA, PERSON], ids=["record", "person"])
def test_a_declared_number_is_called_public(tmp_path: Path, method: str, schema: dict[str, Any]) -> None:
    text = texts(tmp_path, method=method, schema=schema, records=60)
    assert "number of records is private" not in text
    assert "numbers of records and of people are private" not in text
    assert text.count("is public: it was declared as 60") == 2  # statement and registry
    assert text.count("the number of records, declared as 60") == 2
    assert ("the number of people is private" in text) is (schema is PERSON)


def test_a_number_that_is_not_declared_is_called_private(tmp_path: Path) -> None:
    assert texts(tmp_path, method="rps", schema=SCHEMA).count("the number of records is private") == 2
    (tmp_path / "more").mkdir()
    text = texts(tmp_path / "more", method="rps", schema=PERSON)
    assert text.count("the numbers of records and of people are private") == 2
