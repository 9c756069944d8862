"""The Adult census table (UCI, Kohavi and Becker 1996): its reader and its public schema.

The files are not part of the package: `load` takes the folder that contains `adult/adult.data` and
`adult/adult.test`, `trees` the one that contains `adult_hierarchies/`. Bounds and category lists below come from the
documentation of the data set (adult.names), not from its records.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

from cantle.errors import DataError, ParameterError, raise_alone
from cantle.schema.hierarchy_files import parse_braces
from cantle.schema.taxonomy import Taxonomy
from cantle_lab.documents import FieldDocument, TableDocument

Rows = Literal["paper", "all"]

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "class",
)

BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 99),
}

# As adult.names lists them; education is in the order of education-num.
_LISTS = """
workclass: Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov,
  Without-pay, Never-worked
education: Preschool, 1st-4th, 5th-6th, 7th-8th, 9th, 10th, 11th, 12th, HS-grad, Some-college, Assoc-voc,
  Assoc-acdm, Bachelors, Masters, Prof-school, Doctorate
marital-status: Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent,
  Married-AF-spouse
occupation: Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty,
  Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv,
  Protective-serv, Armed-Forces
relationship: Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried
race: White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black
sex: Female, Male
native-country: United-States, Cambodia, England, Puerto-Rico, Canada, Germany, Outlying-US(Guam-USVI-etc),
  India, Japan, Greece, South, China, Cuba, Iran, Honduras, Philippines, Italy, Poland, Jamaica, Vietnam,
  Mexico, Portugal, Ireland, France, Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary,
  Guatemala, Nicaragua, Scotland, Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong,
  Holand-Netherlands
class: <=50K, >50K
"""

CATEGORIES = {
    name: values.split(", ")
    for name, values in (line.split(": ") for line in _LISTS.replace("\n  ", " ").strip().splitlines())
}
ORDERED = ("education",)

# RPS section 4.2: "We consider 11 attributes for each record"; the class is called salary there.
PAPER = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "hours-per-week",
    "native-country",
)


def schema(rows: Rows = "paper", hierarchies: str | Path | None = None) -> TableDocument:
    """The public schema (Frictionless fields) of the table that `load` returns for the same `rows`.

    `hierarchies` is the data folder. If it is given, every categorical column has its tree from `trees`, its values are
    listed in tree order, and no column is ordered.

    >>> [field["name"] for field in schema("paper")["fields"]][-2:]
    ['native-country', 'salary']
    """
    names = _names(rows)
    target: FieldDocument = {"name": names[-1], "type": "string", "categories": list(CATEGORIES["class"])}
    target["role"], target["constraints"] = "target", {"required": True}
    fields = [_field(name) for name in names[:-1]]
    if hierarchies is not None:
        grown = trees(hierarchies)
        fields = [_with_tree(field, grown.get(field["name"])) for field in fields]
    return {"fields": [*fields, target]}


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
    return [*PAPER, "salary"] if rows == "paper" else list(COLUMNS)


def _field(name: str) -> FieldDocument:
    if name in BOUNDS:
        low, high = BOUNDS[name]
        return {
            "name": name,
            "type": "integer",
            "constraints": {"required": True, "minimum": low, "maximum": high},
        }
    field: FieldDocument = {"name": name, "type": "string", "constraints": {"required": True}}
    field["categories"] = list(CATEGORIES[name])
    if name in ORDERED:
        field["categoriesOrdered"] = True
    return field


def _with_tree(field: FieldDocument, tree: Taxonomy | None) -> FieldDocument:
    if tree is None:
        return field
    changed = field.copy()
    changed.pop("categoriesOrdered", None)
    changed["categories"], changed["hierarchy"] = [str(leaf) for leaf in tree.leaves], tree.to_nested()
    return changed


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
