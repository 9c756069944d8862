"""Notes to the publisher, which depend on released numbers only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.release.verify import verify_folder

TARGET: dict[str, Any] = {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"}
AGE: dict[str, Any] = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
SEX: dict[str, Any] = {"name": "sex", "type": "string", "categories": ["F", "M"]}


def people(records: int) -> pl.DataFrame:
    numbers = range(records)
    return pl.DataFrame(
        {
            "age": [number % 90 for number in numbers],
            "sex": [("F", "M")[number % 2] for number in numbers],
            "ill": [("no", "yes")[number % 5 == 0] for number in numbers],
        }
    )


def notes(records: int, *fields: dict[str, Any], epsilon: float = 1, unit: Any = None, **options: Any) -> list[str]:
    schema = {"fields": list(fields)} | ({} if unit is None else {"unit": unit})
    table = people(records).with_columns(id=pl.Series(range(records), dtype=pl.Int64))
    return list(cantle.publish(table, schema, epsilon=epsilon, insecure_seed=1, **options).notes)


def test_a_table_that_is_large_enough_has_no_notes() -> None:
    assert notes(5_000, AGE, SEX, TARGET) == []
    assert notes(25_000, AGE, SEX) == []


def test_a_small_table_is_called_small() -> None:
    (note,) = notes(500, AGE, SEX, TARGET)
    assert "small for this epsilon" in note
    (note,) = notes(5_000, AGE, SEX, TARGET, epsilon=0.1)
    assert "small for this epsilon" in note


def test_the_noise_of_a_person_with_several_records_counts() -> None:
    unit = {"person": "id", "max_records": 10}
    (note,) = notes(5_000, AGE, SEX, TARGET, unit=unit)
    assert "small for this epsilon" in note


@pytest.mark.parametrize("method", ["mosaic", "rps", "diffgen"])
def test_a_schema_that_no_record_fits_is_named_as_a_cause(method: str) -> None:
    wrong = SEX | {"categories": ["female", "male"], "constraints": {"required": True}, "unknown": "drop"}
    texts = notes(5_000, AGE, wrong, TARGET, method=method)
    assert "hardly any record fits the schema" in texts[0]


def test_a_column_of_mostly_missing_values_is_named() -> None:
    (note,) = notes(5_000, AGE, SEX | {"categories": ["f", "m"]}, TARGET)
    assert note.startswith("Column sex: ")
    assert "% of the released values are missing" in note


def test_a_table_of_medium_size_without_target_should_declare_one() -> None:
    (note,) = notes(5_000, AGE, SEX)
    assert "role: target" in note
    assert notes(5_000, AGE, SEX, method="rps") == []


def test_a_release_without_sets_has_a_note() -> None:
    sets = {"kind": "sets", "items": {"minimum": 1, "maximum": 30}}
    release = cantle.publish([[31, 32]] * 50, sets, epsilon=1000, insecure_seed=1)
    assert len(release.records) == 0
    assert [note[:20] for note in release.notes] == ["Nothing was released"]


def test_notes_are_saved_stated_and_checked(tmp_path: Path) -> None:
    release = cantle.publish(people(300), {"fields": [AGE, SEX]}, epsilon=1)
    assert len(release.notes) == 2
    folder = release.save(tmp_path / "out")
    assert verify_folder(folder) == []
    assert cantle.Release.load(folder).notes == release.notes
    statement = (folder / "statement.md").read_text(encoding="utf-8")
    assert all(f"**Note.** {note}" in statement for note in release.notes)
