"""A messy export from Excel is published with a short schema, and nearly all its values are read."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import cantle
from cantle.internal.check_tables import check_table
from cantle.schema.table import TableSchema
from tests.data.excel_export import DIRTY, SCHEMA, columns, write

LINES, LEAST = 40, 0.02
"""The most lines that the schema may have, and the largest share of written values that may become null."""


def unexpected(path: Path) -> tuple[float, float]:
    """The share of values that are written and not marked as missing, and yet become null: in all declared columns, and
    in the worst one."""
    schema = TableSchema.load(SCHEMA)
    assert isinstance(schema, TableSchema)
    checked = check_table(path, schema)
    lost = [
        sum(one.count for one in section.findings if one.problem and one.what.startswith(("not a", "not readable")))
        for section in checked.sections[1:]
    ]
    return sum(lost) / (checked.read * len(lost)), max(lost) / checked.read


def published(path: Path, records: int) -> None:
    assert len(SCHEMA.read_text(encoding="utf-8").splitlines()) <= LINES
    assert len(columns(1)) == 30
    write(path, records)
    share, worst = unexpected(path)
    began = time.process_time()
    release = cantle.publish(path, SCHEMA, epsilon=1, insecure_seed=1)
    spent = time.process_time() - began
    print(f"{records:,} records: {share:.2%} unexpected nulls, {worst:.2%} in the worst column; {spent:.1f} s of CPU")
    assert DIRTY / 2 < share < LEAST  # values that no schema can read become null, and few others
    assert worst < LEAST
    assert len(release.records.columns) == 27  # customers, names and notes are not published
    release.verify()


def test_an_export_is_read_with_a_short_schema(tmp_path: Path) -> None:
    published(tmp_path / "export.csv", 3_000)


@pytest.mark.slow
def test_an_export_of_full_size(tmp_path: Path) -> None:
    published(tmp_path / "export.csv", 200_000)
