"""The tables on which methods for tables are compared, with their public schemas.

They are Adult, bank marketing (Moro, Cortez, Rita 2014) and the National Long Term Care Survey (Erosheva, Fienberg,
Joutard 2007). A fourth table, of latent classes, is generated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from cantle.errors import DataError, raise_alone
from cantle_lab.documents import FieldDocument, TableDocument, listed, public_fields
from cantle_lab.papers import adult
from cantle_lab.papers.harness import readable


@dataclass(frozen=True)
class TableSet:
    """A table of complete records and its public schema; `published` is the schema for the publisher, if it differs."""

    name: str
    frame: pl.DataFrame
    schema: TableDocument
    published: TableDocument | None = None


def load_adult(data_dir: Path) -> TableSet:
    """Adult: 45,222 complete records, 14 attributes and the class."""
    return TableSet("Adult", adult.load(data_dir, "all"), adult.schema("all"))


def load_bank(data_dir: Path) -> TableSet:
    """Bank marketing: 45,211 records, 16 attributes and whether the client subscribed."""
    return _from_csv("bank", data_dir / "bank-marketing" / "bank-full.csv")


def load_nltcs(data_dir: Path) -> TableSet:
    """NLTCS: 21,574 persons with 16 disabilities, each 0 or 1; the target is "traveling"."""
    return _from_csv("nltcs", data_dir / "nltcs" / "nltcs.csv")


def _from_csv(name: str, path: Path) -> TableSet:
    """A table from its file; raises a DataError if it cannot be read or has other columns."""
    where, fields = f"{path.parent.name}/{path.name}", public_fields(name)
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError):
        raise_alone(
            DataError(f"cannot read {where} in the data folder; name the folder that contains {path.parent.name}/")
        )
    if frame.columns != [field["name"] for field in fields]:
        raise DataError(f"{where} has other columns than its documentation lists; take the original file")
    whole = [pl.col(field["name"]).cast(pl.Int64) for field in fields if field["type"] == "integer"]
    return TableSet(name, frame.with_columns(whole), {"fields": fields})


LOADERS: Mapping[str, Callable[[Path], TableSet]] = {"Adult": load_adult, "bank": load_bank, "nltcs": load_nltcs}


def present(data_dir: Path | None, figure: str, echo: Callable[[str], None]) -> Iterator[TableSet]:
    """The tables whose files can be read."""
    return readable(data_dir, figure, echo, "adult/, bank-marketing/ and nltcs/", LOADERS)


def shuffled(table: TableSet, seed: int = 0) -> pl.DataFrame:
    """The table with every column shuffled separately: one-way tables are exact, and columns are independent."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame([column.gather(rng.permutation(len(column))) for column in table.frame])


def latent_classes(records: int = 20_000, columns: int = 60, classes: int = 6, seed: int = 0) -> TableSet:
    """A table without target, whose columns have 2 to 6 values and depend on each other only through a hidden class."""
    rng = np.random.default_rng(seed)
    hidden = rng.choice(classes, records, p=rng.dirichlet(np.full(classes, 3.0)))
    series, fields = [], []
    for i in range(columns):
        values = [str(v) for v in range(int(rng.integers(2, 7)))]
        given_class = rng.dirichlet(np.ones(len(values)), classes).cumsum(axis=1)
        codes = (given_class[hidden] < rng.random(records)[:, None]).sum(axis=1).clip(0, len(values) - 1)
        series.append(pl.Series(f"c{i}", np.array(values)[codes]))
        fields.append(listed(f"c{i}", values))
    return TableSet(f"{records:,} x {columns} latent classes", pl.DataFrame(series), {"fields": fields})


def without_target(table: TableSet) -> TableSet:
    """The same table, but the publisher does not know which column is the target; models still predict it."""
    return replace(table, name=f"{table.name}, no target declared", published={"fields": without_roles(table)})


def without_roles(table: TableSet) -> list[FieldDocument]:
    """The fields of a table, none of which is a target."""
    fields = [field.copy() for field in table.schema["fields"]]
    for field in fields:
        field.pop("role", None)
    return fields


MARITAL_GROUPS = {
    "Married-civ-spouse": "married",
    "Married-AF-spouse": "married",
    "Never-married": "never married",
    "Divorced": "divorced",
    "Separated": "apart",
    "Married-spouse-absent": "apart",
    "Widowed": "widowed",
}


def five_classes(table: TableSet) -> TableSet:
    """Adult with marital status in five groups as the target, and its class as a further attribute."""
    name = "marital-status"
    target = listed(name, list(dict.fromkeys(MARITAL_GROUPS.values())), target=True)
    fields = [target if field["name"] == name else field for field in without_roles(table)]
    frame = table.frame.with_columns(pl.col(name).replace_strict(MARITAL_GROUPS, return_dtype=pl.String))
    return TableSet(f"{table.name}, five classes", frame, {"fields": fields})
