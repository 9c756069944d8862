"""Random tables of two or three columns with random rules between them, and random records that may break them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from cantle.errors import SchemaError
from cantle.schema.table import TableSchema

NAMES = ("a", "b", "c")
START = datetime(2024, 1, 1)


def random_schema(dice: np.random.Generator) -> dict[str, Any]:
    """A schema of two or three columns of one kind and a category, with one to three rules."""
    kind = dice.choice(["integer", "number", "date", "datetime"])
    names = NAMES[: dice.integers(2, 4)]
    step = int(dice.choice([1, 1, 1, 7]))
    fields = [_field(name, str(kind), step, dice) for name in names]
    fields.append({"name": "kind", "type": "string", "categories": ["x", "y", "z"]})
    if dice.random() < 0.3 and kind == "integer":
        fields[int(dice.integers(len(names)))]["role"] = "target"
        for field in fields[:-1]:
            if field.get("role") == "target":
                field.pop("step", None)
    return {"fields": fields, "rules": [_rule(names, str(kind), dice) for _ in range(dice.integers(1, 4))]}


def _field(name: str, kind: str, step: int, dice: np.random.Generator) -> dict[str, Any]:
    first, width = int(dice.integers(-10, 10)), int(dice.choice([3, 12, 40, 150]))
    bounds = {"minimum": _value(kind, first), "maximum": _value(kind, first + width)}
    constraints = {"required": bool(dice.random() < 0.5), **bounds}
    field: dict[str, Any] = {"name": name, "type": kind, "constraints": constraints}
    if kind == "number":
        constraints["multipleOf"] = 1
    if kind == "datetime":
        field["step"] = "1h"
        constraints["multipleOf"] = "1h"
    elif step > 1 and width > 20:
        field["step"] = step
    return field


def _value(kind: str, number: int) -> Any:
    if kind == "date":
        return (START + timedelta(days=number)).date().isoformat()
    return (START + timedelta(hours=number)).isoformat() if kind == "datetime" else number


def _rule(names: tuple[str, ...], kind: str, dice: np.random.Generator) -> str:
    one, other = (str(name) for name in dice.permutation(names)[:2])
    least = int(dice.integers(-20, 20))
    unit = "h" if kind == "datetime" and least > 0 else ""
    least = least if kind != "datetime" else max(0, least)
    sign = str(dice.choice([">=", ">", "<=", "<"]))
    forms = [
        f"{one} {sign} {other}",
        f"{one} - {other} {sign} {least}{unit}",
        f"{one} {sign} {other} or kind == 'x'",
        f"kind == 'y' -> {one} {sign} {other}",
        f"kind == 'z' -> {one} is null",
        f"{one} <= {other}",
    ]
    if kind in ("integer", "number"):
        forms += [f"{one} == {other} + {least}", f"{one} + {other} {sign} {least}", f"{one} >= 2 * {other}"]
        forms += [f"{names[2]} == {names[0]} + {names[1]}"] if len(names) == 3 else []
    return str(dice.choice(forms))


def random_frame(schema: TableSchema, records: int, dice: np.random.Generator) -> pl.DataFrame:
    """Records with values around the bounds, some missing."""
    columns = {}
    for field, attribute in zip(schema.fields, schema.as_declared().with_target_as_column().attributes, strict=True):
        if field.type == "string":
            values = dice.choice(["x", "y", "z"], records).tolist()
        else:
            places = dice.integers(0, attribute.grid, records)
            values = [attribute.scale.value(int(place)) for place in places]  # type: ignore[misc]
        columns[field.name] = [None if dice.random() < 0.15 else value for value in values]
    return pl.DataFrame(columns)


def made(seed: int) -> tuple[TableSchema, pl.DataFrame] | None:
    """The schema and the records of a seed; None if the schema is refused."""
    dice = np.random.default_rng(seed)
    document = random_schema(dice)
    try:
        schema = TableSchema.from_dict(document)
    except SchemaError:
        return None
    return schema, random_frame(schema, 150, dice)
