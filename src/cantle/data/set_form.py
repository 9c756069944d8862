"""The choice between a long table and a column of lists, by the names and types of columns only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cantle.errors import DataError
from cantle.schema.sets import ITEMS, SetSchema

if TYPE_CHECKING:
    import narwhals as nw


def list_column(where: str, types: Mapping[str, nw.dtypes.DType], schema: SetSchema) -> str | None:
    """The name of the column of lists, or None for a long table; chosen by names and types of columns only."""
    import narwhals as nw

    if schema.form not in (None, "long", "list"):
        raise DataError(f"{where} is not text; write `form: long` or `form: list` in the schema, or leave it out.")
    if schema.form == "long":
        check_pair(where, types, schema)
        return None
    if schema.column is not None:
        return schema.column
    lists = [name for name, kind in types.items() if isinstance(kind, nw.List | nw.Array)]
    objects = [name for name, kind in types.items() if isinstance(kind, nw.Object)]
    anything = [name for name, kind in types.items() if isinstance(kind, nw.Unknown)]  # may hold lists, or any values
    pair = schema.form is None and {"id", "item"} <= set(types) and "item" not in lists
    if pair and (lists or "item" in objects):  # objects may be texts, or lists
        raise DataError(f"{where} may be a long table or hold lists; write `form: long` or `form: list` in the schema.")
    if pair:
        return None
    possible = lists or objects or anything
    if len(possible) == 1 or ITEMS in possible:
        return ITEMS if ITEMS in possible else possible[0]
    if possible:
        raise DataError(f"{where} has several columns that may hold lists; write in the schema which: `column: …`.")
    fix = "write `id: …` and `item: …` in the schema (a long table), or `column: …` (lists)"
    raise DataError(f"{where} has neither columns 'id' and 'item' nor a column of lists; {fix}.")


def check_pair(where: str, given: Iterable[str], schema: SetSchema) -> None:
    """Refuses a long table that lacks its column of ids, of items, or of persons if the schema names one."""
    schema.require_long(where)
    named = {"id": schema.id or "id", "item": schema.item or "item"}
    if schema.ordered_by is not None:
        named["order"] = schema.ordered_by.column
    if schema.person is not None:
        named["person"] = schema.person
    missing = [key for key, name in named.items() if name not in set(given)]
    if missing:
        listed = " and ".join(f"{named[key]!r}" for key in missing)
        fix = " and ".join(f"`{key}: …`" for key in missing)
        raise DataError(f"{where} has no column {listed}; write in the schema what it is called: {fix}.")
