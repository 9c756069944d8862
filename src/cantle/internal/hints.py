"""Suggestions of `cantle check`: lines of a schema with which more of the values could be read.

They name how values are written: formats of dates, signs in numbers, marks of missing values, and spellings of declared
categories. They never propose a bound or a new category. Every suggestion is tried with the reader that `publish` uses.
They are made from the data, so they are as internal as the rest of the check until somebody has read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import product
from unicodedata import combining, normalize

import numpy as np
import polars as pl

from cantle.data.draft_schema.tables import flow
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK
from cantle.schema.documents import one_line
from cantle.schema.scales import DROP, Labels, Steps
from cantle.schema.table import TableSchema
from cantle.schema.values import PLAIN, NumberForm

MOST_TEXTS = 500
"""Most texts that are looked at in a column: the most frequent distinct ones."""

_MOST_FORMATS = 4
_MOST_REPLACED = 20
_MOST_CATEGORIES = 30
"""Most categories of a field whose whole line is suggested; of a longer one, only the new keys."""

_ENOUGH = 0.9
"""Share of the texts that signs of numbers must read; with fewer, looser signs are tried too."""
_RARE = 0.02
_NEAR = 0.75  # likeness of two spellings, from 0 to 1

_MARKS = {
    "n/a", "na", "n.a.", "n.a", "#n/a", "#na", "nan", "null", "#null!", "#value!", "none", "nil", "k.a.", "k. a.",
    "unknown", "missing", "not available", "not applicable", "keine angabe", "?", "??",
    "-", "--", "---", ".", "..", "*",
}  # fmt: skip
"""How people write that a value is missing."""
_TRUE = {"yes", "y", "ja", "j", "oui", "si", "sí", "sì", "x", "true", "t", "1"}
_FALSE = {"no", "n", "nein", "non", "false", "f", "0"}

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")
_TIMES = tuple(
    f"{day}{gap}{time}" for day in ("%Y-%m-%d", *_DAYS) for gap in (" ", "T") for time in ("%H:%M", "%H:%M:%S")
)
_FORMATS = {"date": _DAYS, "datetime": (*_TIMES, *_DAYS)}
_GROUPS = (".", ",", " ", "'", "\u2019")
_SIGNS = [(".", None), (",", None), *((decimal, group) for group in _GROUPS for decimal in ".," if decimal != group)]
"""Decimal marks and the marks between thousands, the plainest first."""
_OPEN_END = re.compile(r"(\d{1,9})\+")  # such as 90+
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+")

UNDECODABLE = "\ufffd"
"""The sign that stands for bytes that are no letter in the declared encoding."""


@dataclass(frozen=True)
class Hint:
    """What would make texts of one column readable: new keys of its field, marks of missing values, an encoding.

    `remark` is a comment for the line.
    """

    keys: dict[str, JSON] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    encoding: bool = False
    remark: str = ""

    def __bool__(self) -> bool:
        return bool(self.keys or self.marks or self.encoding)


def hint(scale: Steps | Labels, texts: Sequence[str]) -> Hint:
    """What to write in the schema so that these texts of a column become readable; empty if there is no good guess.

    >>> days = Steps(type="date", first=0, step=1, grid=99_999)
    >>> hint(days, ["24.12.2025", "01/02/25", "13/02/25", "n/a"])
    Hint(keys={'format': ['%d/%m/%y', '%d.%m.%Y']}, marks=('n/a',), encoding=False, remark='')
    >>> hint(Steps(type="number", first=0, step=1, grid=9), ["1.234,50 €", "12,00 €"]).keys
    {'decimalChar': ',', 'groupChar': '.', 'bareNumber': False}
    >>> hint(Labels(type="string", labels=("Oslo", "Rome")), ["OSLO ", "Roma", "-"])
    Hint(keys={'ignoreCase': True, 'replace': {'Roma': 'Rome'}}, marks=('-',), encoding=False, remark='')
    """
    tidy = [text.strip() for text in texts[:MOST_TEXTS]]
    marks = tuple(text for text in dict.fromkeys(tidy) if text.casefold() in _MARKS)
    rest = [text for text in tidy if text not in marks]
    encoding, (keys, remark) = any(UNDECODABLE in text for text in rest), _keys(scale, rest)
    return Hint(keys, marks, encoding, remark)


def _keys(scale: Steps | Labels, texts: list[str]) -> tuple[dict[str, JSON], str]:
    if not texts:
        return {}, ""
    if isinstance(scale, Labels):
        return _spellings(scale, texts), ""
    return _formats(scale, texts) if scale.type in _FORMATS else (_signs(scale, texts), "")


def _read(scale: Steps, texts: Sequence[str]) -> list[bool]:
    """Which texts a scale can read."""
    return [not missing for missing in scale.read(pl.Series(texts, dtype=pl.String))[1].tolist()]


def _formats(scale: Steps, texts: list[str]) -> tuple[dict[str, JSON], str]:
    """The formats that read the most texts, one after the other, below the declared ones; and others that read the same
    texts, if day and month cannot be told apart."""
    chosen, rest, remark = list(scale.formats), texts, ""
    while rest and len(chosen) - len(scale.formats) < _MOST_FORMATS:
        reads = {form: _read(replace(scale, formats=(form,)), rest) for form in _FORMATS[scale.type]}
        best = max(reads, key=lambda form: sum(reads[form]))
        if sum(reads[best]) < max(1.0, _RARE * len(texts)):
            break
        same = [form for form in reads if form != best and reads[form] == reads[best]]
        remark = remark or (f"{same[0]} reads them as well as {best}: say which it is" if same else "")
        chosen, rest = [*chosen, best], [text for text, done in zip(rest, reads[best], strict=True) if not done]
    if len(chosen) == len(scale.formats):
        return {}, ""
    formats: list[JSON] = [*chosen]
    return {"format": formats if len(chosen) > 1 else formats[0]}, remark


def _signs(scale: Steps, texts: list[str]) -> dict[str, JSON]:
    """The plainest signs that read nearly all texts, or else those that read the most; and numbers with an open end."""
    ends: dict[str, JSON] = {text: int(found[1]) for text in texts if (found := _OPEN_END.fullmatch(text))}
    texts = [text for text in texts if text not in ends]
    best: tuple[int, dict[str, JSON]] = (0, {})
    grouped = all(map(_THOUSANDS.fullmatch, texts))
    for bare, (decimal, group) in product((True, False), _SIGNS):
        kept = scale.form == PLAIN or (decimal, scale.form.group or group) == (scale.form.decimal, group)
        if not kept or (grouped and group != ","):
            continue
        form = NumberForm(decimal=decimal, group=group, bare=bare and scale.form.bare)
        number = sum(_read(replace(scale, form=form), texts))
        if number > best[0]:
            best = number, _decimals(form, scale, texts) | _keys_of(form, scale)
        if number >= _ENOUGH * len(texts):
            break
    return best[1] | ({"replace": ends} if ends else {})


def _decimals(form: NumberForm, scale: Steps, texts: list[str]) -> dict[str, JSON]:
    """The type of numbers, for a column of whole numbers in which some are not whole."""
    values, missing = Steps(type="number", first=0, step=1, grid=2, form=form).read(pl.Series(texts, dtype=pl.String))
    whole = scale.type == "number" or (values == np.floor(values))[~missing].all()
    return {} if whole else {"type": "number", "step": BLANK}


def _keys_of(form: NumberForm, scale: Steps) -> dict[str, JSON]:
    keys: dict[str, JSON] = {}
    if form.decimal != scale.form.decimal and not (scale.type == "integer" and form.group == "."):
        keys["decimalChar"] = form.decimal
    if form.group != scale.form.group:
        keys["groupChar"] = form.group
    return keys | ({"bareNumber": False} if form.bare != scale.form.bare else {})


def _spellings(scale: Labels, texts: list[str]) -> dict[str, JSON]:
    """Capitals that make no difference, and spellings that resemble exactly one category."""
    found = replace(scale, ignore_case=True, unknown=DROP).locate(pl.Series(texts, dtype=pl.String)).tolist()
    keys: dict[str, JSON] = {"ignoreCase": True} if not scale.ignore_case and any(k >= 0 for k in found) else {}
    left = [text for text, k in zip(texts, found, strict=True) if k < 0]
    if scale.type == "boolean":
        return keys | (_truth(left) if left else {})
    left = [text for text in left if UNDECODABLE not in text]
    labels = {_folded(str(label)): label for label in scale.labels}
    near = {text: labels[same] for text in left if (same := _nearest(_folded(text), list(labels))) is not None}
    some: dict[str, JSON] = dict(list(near.items())[:_MOST_REPLACED])
    return keys | ({"replace": some} if some else {})


def _truth(texts: list[str]) -> dict[str, JSON]:
    """What means true and what means false, as far as these are usual words."""
    words = list(dict.fromkeys(text.casefold() for text in texts))
    same_but_for_case: dict[str, JSON] = {"ignoreCase": True} if set(words) != set(texts) else {}
    sides = [[word for word in words if word in usual] or [BLANK] for usual in (_TRUE, _FALSE)]
    return {"trueValues": [*sides[0]], "falseValues": [*sides[1]]} | same_but_for_case


def _folded(text: str) -> str:
    """A text without capitals and accents."""
    return "".join(one for one in normalize("NFKD", text.casefold()) if not combining(one))


def _nearest(text: str, labels: list[str]) -> str | None:
    """The only label that begins like the text, in either direction, or else the label that is most like it."""
    same = [label for label in labels if label.startswith(text) or (label and text.startswith(label))]
    return same[0] if len(same) == 1 else next(iter(get_close_matches(text, labels, 1, _NEAR)), None)


# ---- lines to paste ----------------------------------------------------------------------------------------------


def lines(schema: TableSchema, hints: Mapping[str, Hint]) -> Iterator[str]:
    """The lines of the schema with the suggestions of all columns, to be pasted over the lines that are there."""
    document, entries = schema.to_dict(), list[str]()
    categories = {str(one) for field in schema.fields for one in field.categories or ()}
    shared = list(schema.missing_values)
    for number, one in enumerate(schema.fields):
        mine = hints.get(one.name, Hint())
        own = one.missing_values is not None or bool(categories & set(mine.marks))
        if not own:
            shared += [mark for mark in mine.marks if mark not in shared]
        keys = dict(mine.keys)
        if own and mine.marks:
            already = schema.missing_values if one.missing_values is None else one.missing_values
            keys["missingValues"] = [*already, *mine.marks]
        if keys:
            entries.append(_line(document, number, keys, mine.remark))
    yield from (["fields:", *entries] if entries else [])
    if len(shared) > len(schema.missing_values):
        yield f"missingValues: {one_line(shared)}"
    if any(one.encoding for one in hints.values()):
        dialect = schema.dialect.to_dict() | {"encoding": "cp1252"}
        yield f"dialect: {one_line(dialect)}  # or another code page"


def _line(document: Mapping[str, JSON], number: int, keys: dict[str, JSON], remark: str) -> str:
    """A field with its new keys; of a field with many categories, the new keys alone."""
    fields = document["fields"]
    assert isinstance(fields, list)
    entry = fields[number]
    assert isinstance(entry, dict)
    held = entry.get("replace")
    if isinstance(held, dict) and isinstance(new := keys.get("replace"), dict):
        keys["replace"] = held | new
    listed = entry.get("categories")
    if isinstance(listed, list) and len(listed) > _MOST_CATEGORIES:
        return f"  - {flow({'name': entry['name'], **keys})}  # add these keys to the field"
    whole = {key: keys.pop(key, value) for key, value in entry.items()} | keys
    last = {"constraints": whole.pop("constraints")} if "constraints" in whole else {}
    return f"  - {flow(whole | last)}" + (f"  # {remark}" if remark else "")
