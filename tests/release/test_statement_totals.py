"""What releases say about totals if a person's records are bounded: the same for all data with this schema."""

from __future__ import annotations

import polars as pl
import pytest

import cantle
from cantle.release.show import overview
from cantle.release.statement import statement

FIELDS = [{"name": "score", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}]
SAID = "Totals count at most 2 {} per person. If anyone has more, the others are left out"


@pytest.mark.parametrize("repeated", [1, 4])
def test_totals_are_said_to_count_at_most_k_records_per_person(repeated: int) -> None:
    people = pl.DataFrame({"who": list(range(50)) * repeated, "score": [i % 10 for i in range(50)] * repeated})
    schema = {"fields": FIELDS, "unit": {"person": "who", "max_records": 2}}
    release = cantle.publish(people, schema, epsilon=1)
    said = SAID.format("records")
    assert said in statement(release.manifest)
    assert dict(overview(release))["totals"].startswith(said)
    pytest.importorskip("jinja2")
    from cantle.release.report.page import tiles

    assert any(said in tile.words for tile in tiles(release))


def test_totals_of_sets_count_sets() -> None:
    rows = pl.DataFrame(
        {"who": [i // 4 for i in range(200)], "id": range(200), "item": [i % 5 + 1 for i in range(200)]}
    )
    unit = {"person": "who", "max_records": 2}
    schema = {"kind": "sets", "items": {"minimum": 1, "maximum": 5}, "id": "id", "item": "item", "unit": unit}
    assert SAID.format("sets") in statement(cantle.publish(rows, schema, epsilon=1).manifest)


def test_nothing_is_said_without_a_bound() -> None:
    release = cantle.publish(pl.DataFrame({"score": [1, 2, 3]}), {"fields": FIELDS}, epsilon=1)
    assert "Totals count" not in statement(release.manifest)
    assert "totals" not in dict(overview(release))
