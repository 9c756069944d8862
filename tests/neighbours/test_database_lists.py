"""Lists in PostgreSQL, whose arrays may be nested whatever their type says: one record must not end the reading."""

from __future__ import annotations

from typing import Any

import pytest

from cantle.data.engine_choice import EngineChoice
from tests.neighbours.reading import table

ITEMS: dict[str, list[Any]] = {"text[]": ["a", "b"], "bigint[]": [1, 2]}
USUAL = {"text[]": "{b}", "bigint[]": "{2}"}
MORE = {
    "text[]": ["{}", "{NULL}", "{{a,b},{b,a}}", "[0:1]={a,b}", "[5:5][0:0]={{b}}"],
    "bigint[]": ["{}", "{{1,2},{2,1}}", "{{{1}}}"],
}


@pytest.mark.parametrize(("kind", "more"), [(kind, more) for kind in ITEMS for more in MORE[kind]])
def test_another_array_does_not_change_how_others_are_read(server: str, kind: str, more: str) -> None:
    import psycopg

    read = table(choice=EngineChoice.of("database", None, "lists_of_neighbours"))
    schema = {"fields": [{"name": "held", "type": "list", "items": ITEMS[kind]}]}
    with psycopg.connect(server, autocommit=True) as base:
        base.execute("DROP TABLE IF EXISTS lists_of_neighbours")
        base.execute(f"CREATE TABLE lists_of_neighbours (held {kind})")
        base.execute("INSERT INTO lists_of_neighbours VALUES (%s), (NULL)", [USUAL[kind]])
        before = read(schema, server)
        base.execute("INSERT INTO lists_of_neighbours VALUES (%s)", [more])
    after = read(schema, server)
    assert not before - after
    assert (after - before).total() == 1
