"""An export as offices hand it over is published with a short schema, and nearly all its values are read."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import cantle
from cantle.lab.internal.check_tables import check_table
from cantle.schema.table import TableSchema
from tests.data.excel_export import DIRTY, SCHEMA, columns, write

LINES, LEAST = 40, 0.02
"""Lines that the schema may have, and the share of values that may become null although something is written there."""


def unexpected(path: Path) -> tuple[float, float]:
    """The share of declared values that are written, no mark of a missing one, and yet become null: in all columns, and
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
    assert DIRTY / 2 < share < LEAST  # what nobody can read is null, and little else
    assert worst < LEAST
    assert len(release.records.columns) == 27  # customers, names and notes are not published
    release.verify()


def test_an_export_is_read_with_a_short_schema(tmp_path: Path) -> None:
    published(tmp_path / "export.csv", 3_000)


@pytest.mark.slow
def test_an_export_of_full_size(tmp_path: Path) -> None:
    published(tmp_path / "export.csv", 200_000)
