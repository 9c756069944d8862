"""Public code books of three tables, and a writer for each format of code books."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import yaml

Row = tuple[str, str, tuple[int, int] | str, bool]
"""Name, type, bounds or values (separated by |), and whether a value is required."""

_COUNTRIES = "United-States|Cambodia|England|Puerto-Rico|Canada|Germany|Outlying-US(Guam-USVI-etc)|India|Japan|Greece"
_COUNTRIES += "|South|China|Cuba|Iran|Honduras|Philippines|Italy|Poland|Jamaica|Vietnam|Mexico|Portugal|Ireland|France"
_COUNTRIES += "|Dominican-Republic|Laos|Ecuador|Taiwan|Haiti|Columbia|Hungary|Guatemala|Nicaragua|Scotland|Thailand"
_COUNTRIES += "|Yugoslavia|El-Salvador|Trinadad&Tobago|Peru|Hong|Holand-Netherlands"
_DEGREES = "Bachelors|Some-college|11th|HS-grad|Prof-school|Assoc-acdm|Assoc-voc|9th|7th-8th|12th|Masters|1st-4th|10th"
_DEGREES += "|Doctorate|5th-6th|Preschool"
_WORK = "Private|Self-emp-not-inc|Self-emp-inc|Federal-gov|Local-gov|State-gov|Without-pay|Never-worked"
_JOBS = "Tech-support|Craft-repair|Other-service|Sales|Exec-managerial|Prof-specialty|Handlers-cleaners"
_JOBS += "|Machine-op-inspct|Adm-clerical|Farming-fishing|Transport-moving|Priv-house-serv|Protective-serv|Armed-Forces"
_WEDDED = "Married-civ-spouse|Divorced|Never-married|Separated|Widowed|Married-spouse-absent|Married-AF-spouse"

ADULT: list[Row] = [
    ("age", "integer", (17, 90), True),
    ("workclass", "string", _WORK, False),
    ("fnlwgt", "integer", (0, 1_500_000), True),
    ("education", "string", _DEGREES, True),
    ("education-num", "integer", (1, 16), True),
    ("marital-status", "string", _WEDDED, True),
    ("occupation", "string", _JOBS, False),
    ("relationship", "string", "Wife|Own-child|Husband|Not-in-family|Other-relative|Unmarried", True),
    ("race", "string", "White|Asian-Pac-Islander|Amer-Indian-Eskimo|Other|Black", True),
    ("sex", "string", "Female|Male", True),
    ("capital-gain", "integer", (0, 99_999), True),
    ("capital-loss", "integer", (0, 9_999), True),
    ("hours-per-week", "integer", (1, 99), True),
    ("native-country", "string", _COUNTRIES, False),
    ("class", "string", "<=50K|>50K", True),
]
_TRADES = "admin.|blue-collar|entrepreneur|housemaid|management|retired|self-employed|services|student|technician"
BANK: list[Row] = [
    ("age", "integer", (18, 100), True),
    ("job", "string", f"{_TRADES}|unemployed|unknown", True),
    ("marital", "string", "divorced|married|single", True),
    ("education", "string", "primary|secondary|tertiary|unknown", True),
    ("default", "string", "yes|no", True),
    ("balance", "integer", (-10_000, 110_000), True),
    ("housing", "string", "yes|no", True),
    ("loan", "string", "yes|no", True),
    ("contact", "string", "cellular|telephone|unknown", True),
    ("day", "integer", (1, 31), True),
    ("month", "string", "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", True),
    ("duration", "integer", (0, 7_200), True),
    ("campaign", "integer", (1, 100), True),
    ("pdays", "integer", (-1, 999), False),
    ("previous", "integer", (0, 300), True),
    ("poutcome", "string", "failure|success|other|unknown", True),
    ("y", "string", "yes|no", True),
]
_ACTIVITIES = "eating|getting in/out of bed|getting around inside|dressing|bathing|using toilet|heavy house work"
_ACTIVITIES += "|light house work|laundry|cooking|grocery shopping|getting about outside|traveling|managing money"
_ACTIVITIES += "|taking medicine|telephoning"
NLTCS: list[Row] = [(name, "integer", "0|1", True) for name in _ACTIVITIES.split("|")]
TABLES = {"adult": ADULT, "bank": BANK, "nltcs": NLTCS}


def as_csv(rows: list[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Variable", "Type", "Minimum", "Maximum", "Values", "Required"])
    for name, kind, known, required in rows:
        low, high, values = (*known, "") if isinstance(known, tuple) else ("", "", known)
        writer.writerow([name, kind, low, high, values, "yes" if required else "no"])
    return out.getvalue()


def as_frictionless(rows: list[Row]) -> str:
    fields = []
    for name, kind, known, required in rows:
        bounded = isinstance(known, tuple)
        limits: dict[str, Any] = (
            {"minimum": known[0], "maximum": known[1]} if bounded else {"enum": _values(kind, known)}
        )
        fields.append({"name": name, "type": kind, "constraints": {**limits, "required": required}})
    return json.dumps({"resources": [{"name": "t", "schema": {"fields": fields}}]})


def as_nist(rows: list[Row]) -> str:
    """The dictionary of descriptions; it cannot say that a column has no missing values."""
    book: dict[str, Any] = {}
    for name, _, known, required in rows:
        values: dict[str, Any] = {} if required else {"N": "N/A"}
        if isinstance(known, tuple):
            values |= {"min": known[0], "max": known[1]}
        else:
            values |= {value: f"what {value} means" for value in known.split("|")}
        book[name] = {"description": f"about {name}", "values": values}
    return json.dumps(book)


def as_nist_parameters(rows: list[Row]) -> str:
    book: dict[str, Any] = {}
    for name, kind, known, required in rows:
        inside = {"min": known[0], "max": known[1]} if isinstance(known, tuple) else {"values": _values(kind, known)}
        book[name] = {"dtype": "int64" if kind == "integer" else "object", "has_null": not required, **inside}
    return json.dumps({"runs": [{"epsilon": 1.0}], "schema": book})


def as_smartnoise(rows: list[Row]) -> str:
    table: dict[str, Any] = {"row_privacy": True, "rows": 1000}
    for name, kind, known, required in rows:
        bounds = {"lower": known[0], "upper": known[1]} if isinstance(known, tuple) else {}
        table[name] = {"type": "int" if kind == "integer" else "string", "nullable": not required, **bounds}
    return yaml.safe_dump({"": {"public": {"people": table}}}, sort_keys=False)


def as_sdv(rows: list[Row]) -> str:
    columns: dict[str, Any] = {
        name: {"sdtype": "numerical", "computer_representation": "Int64"}
        if isinstance(known, tuple)
        else {"sdtype": "categorical"}
        for name, _, known, _ in rows
    }
    return json.dumps({"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", "columns": columns})


def as_ddi(rows: list[Row]) -> str:
    inside = []
    for name, kind, known, _ in rows:
        form = f'<varFormat type="{"numeric" if kind == "integer" else "character"}"/>'
        if isinstance(known, tuple):
            content = f'<valrng><range UNITS="REAL" min="{known[0]}" max="{known[1]}"/></valrng>'
        else:
            escaped = [value.replace("&", "&amp;").replace("<", "&lt;") for value in known.split("|")]
            content = "".join(f"<catgry><catValu>{value}</catValu><labl>x</labl></catgry>" for value in escaped)
        inside.append(f"<var ID='V' name={quoteattr(name)}><labl>about</labl>{content}{form}</var>")
    return f'<?xml version="1.0"?><codeBook xmlns="ddi:codebook:2_5"><dataDscr>{"".join(inside)}</dataDscr></codeBook>'


def _values(kind: str, known: object) -> list[Any]:
    return [int(value) if kind == "integer" else value for value in str(known).split("|")]


COMPLETE: dict[str, Callable[[list[Row]], str]] = {
    "book.csv": as_csv,
    "datapackage.json": as_frictionless,
    "data_dictionary.json": as_nist,
    "parameters.json": as_nist_parameters,
    "book.xml": as_ddi,
}
"""The formats that have both bounds and categories."""
PARTIAL: dict[str, Callable[[list[Row]], str]] = {"metadata.yaml": as_smartnoise, "metadata.json": as_sdv}
