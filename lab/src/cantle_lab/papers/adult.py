"""The Adult census table (UCI, Kohavi and Becker 1996): its reader and its public schema.

The files are not part of the package: `load` takes the folder that contains `adult/adult.data` and
`adult/adult.test`, `trees` the one that contains `adult_hierarchies/`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from cantle.errors import DataError, ParameterError, raise_alone
from cantle.schema.hierarchy_files import parse_braces
from cantle.schema.taxonomy import Taxonomy
from cantle_lab.documents import FieldDocument, TableDocument, bounds, public_fields

Rows = Literal["paper", "all"]

FIELDS = public_fields("adult")
COLUMNS = tuple(field["name"] for field in FIELDS)
CATEGORIES = {field["name"]: field["categories"] for field in FIELDS if "categories" in field}
BOUNDS = {field["name"]: bounds(field) for field in FIELDS if "categories" not in field}

# RPS section 4.2: "We consider 11 attributes for each record"; the class is called salary there.
LEFT_OUT = ("fnlwgt", "education-num", "capital-gain", "capital-loss")


def schema(rows: Rows = "paper", hierarchies: str | Path | None = None) -> TableDocument:
    """The public schema (Frictionless fields) of the table that `load` returns for the same `rows`.

    `hierarchies` is the data folder. If it is given, every categorical column has its tree from `trees`, its values are
    listed in tree order, and no column is ordered.

    >>> [field["name"] for field in schema("paper")["fields"]][-2:]
    ['native-country', 'salary']
    """
    fields = [field for field in public_fields("adult") if field["name"] in (*_names(rows), "class")]
    fields[-1]["name"] = _names(rows)[-1]
    if hierarchies is not None:
        grown = trees(hierarchies)
        fields = [_with_tree(field, grown.get(field["name"])) for field in fields]
    return {"fields": fields}


def trees(data_dir: str | Path) -> dict[str, Taxonomy]:
    """The taxonomy trees of the 8 categorical columns, which Fung, Wang and Yu (TKDE 2007) and the DiffGen paper
    use."""
    try:
        text = (Path(data_dir) / "adult_hierarchies" / "fung_adultHierarchy.txt").read_text(encoding="ascii")
    except OSError:
        raise_alone(
            DataError(
                "cannot read adult_hierarchies/fung_adultHierarchy.txt in the data folder; "
                "name the folder that contains adult_hierarchies/"
            )
        )
    headed = {"marital-status": "martial-status"}  # as the file spells it
    return {
        name: parse_braces(text, values, name, headed.get(name))
        for name, values in CATEGORIES.items()
        if name != "class"
    }


def load(data_dir: str | Path, rows: Rows = "paper") -> pl.DataFrame:
    """All records without a missing value, as a frame with the columns in schema order.

    `paper` takes adult.data, 10 attributes and `salary` (30,162 records, RPS section 4.2). `all` takes adult.data and
    adult.test, 14 attributes and `class` (45,222 records).
    """
    names = _names(rows)
    files = ["adult.data"] if rows == "paper" else ["adult.data", "adult.test"]
    table = pl.concat([_read(Path(data_dir) / "adult" / file) for file in files])
    return table.rename({"class": names[-1]}).select(names)


def _names(rows: Rows) -> list[str]:
    if rows not in ("paper", "all"):
        raise ParameterError(f"rows is {rows!r}; it must be 'paper' or 'all'")
    if rows == "all":
        return list(COLUMNS)
    return [*(name for name in COLUMNS[:-1] if name not in LEFT_OUT), "salary"]


def _with_tree(field: FieldDocument, tree: Taxonomy | None) -> FieldDocument:
    if tree is None:
        return field
    field.pop("categoriesOrdered", None)
    return field | {"categories": [str(leaf) for leaf in tree.leaves], "hierarchy": tree.to_nested()}


def _read(path: Path) -> pl.DataFrame:
    """The complete records of one file; adult.test has a comment line and a dot after the class."""
    try:
        text = path.read_text(encoding="ascii")
    except OSError:
        raise_alone(
            DataError(f"cannot read adult/{path.name} in the data folder; name the folder that contains adult/")
        )
    lines = [line.rstrip(".").split(", ") for line in text.splitlines()]
    complete = [line for line in lines if len(line) == len(COLUMNS) and "?" not in line]
    frame = pl.DataFrame(complete, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    return frame.with_columns(pl.col(name).cast(pl.Int64) for name in BOUNDS)
