"""Hints for `cantle check`: keys of a schema that would make unreadable values readable.

A hint names how values are written, never a bound or a category. It is made from the data, so it is as internal as the
rest of the check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import polars as pl

from cantle.schema.scales import DROP, Labels

MOST_TEXTS = 500
"""Most texts that a hint is tried on: the most frequent distinct ones."""

_ENOUGH = 0.9
"""Share of the texts that a spelling must be able to read."""

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")
_DATES = ("%Y-%m-%d", *_DAYS)
_TIMES = tuple(f"{day}{gap}{time}" for day in _DATES for gap in (" ", "T") for time in ("%H:%M", "%H:%M:%S"))

_NUMBERS = (
    (r"[-+]?\d+(,\d+)?", 'decimalChar: ","'),
    (r"[-+]?\d{1,3}(\.\d{3})*(,\d+)?", 'decimalChar: ",", groupChar: "."'),
    (r"[-+]?\d{1,3}(,\d{3})*(\.\d+)?", 'groupChar: ","'),
    (r"[-+]?\d{1,3}([' \u2019\u00a0\u202f]\d{3})*([.,]\d+)?", "groupChar: the sign between thousands"),
)
"""How numbers are written, the plainest first, and the keys that read them."""

_PLAIN = r"[-+]?\d+(\.\d+)?"
_UNIT = re.compile(r"(?P<before>[^\d\s.,+-]+\s*)?(?P<number>[-+]?\d.*?)(?P<after>\s*[^\d\s.,]+)?")
"""A number with something before or after it, such as € 5 or 7 km."""

UNDECODABLE = "\ufffd"
"""The sign that stands for bytes that are no letter in the declared encoding."""
_ENCODING = "dialect: {encoding: cp1252} (or another code page)"


def hint(kind: str, texts: Sequence[str], formats: Sequence[str] = ()) -> str:
    """What to write in the schema so that these texts become readable; empty if there is no good guess.

    `formats` are those of dates that the schema has already; the hint keeps them.

    >>> hint("date", ["24.12.2025", "01.02.2025"])
    'format: "%d.%m.%Y"'
    >>> hint("date", ["24.12.25"], ["%d.%m.%Y"])
    'format: ["%d.%m.%Y", "%d.%m.%y"]'
    >>> hint("integer", ["12,5", "7,0"])
    'type: number, step: …, decimalChar: ","'
    >>> hint("number", ["1.234,50 €", "12,00 €"])
    'decimalChar: ",", groupChar: ".", bareNumber: false'
    >>> hint("string", ["Z\\ufffdrich"])
    'dialect: {encoding: cp1252} (or another code page)'
    >>> hint("integer", ["unknown"])
    ''
    """
    some = [text.strip() for text in texts[:MOST_TEXTS]]
    wrong_encoding = _ENCODING if any(UNDECODABLE in text for text in some) else ""
    return " and ".join(filter(None, [_keys(kind, some, formats), wrong_encoding]))


def hint_for_categories(scale: Labels, texts: Sequence[str]) -> str:
    """What to write in the schema so that these texts become declared categories; empty if there is no good guess.

    >>> hint_for_categories(Labels(type="string", labels=("Oslo", "Rome")), ["OSLO ", "rome", "Bern"])
    'ignoreCase: true'
    >>> hint_for_categories(Labels(type="boolean", labels=(False, True)), ["ja", "nein", "Ja"])
    'trueValues: […], falseValues: […], ignoreCase: true'
    """
    some = [text.strip() for text in texts[:MOST_TEXTS]]
    any_case = replace(scale, ignore_case=True, unknown=DROP)
    ignore_case = "" if scale.ignore_case else "ignoreCase: true"
    if ignore_case and (any_case.locate(pl.Series(some, dtype=pl.String)) >= 0).any():
        return ignore_case
    if scale.type != "boolean" or not some:
        return hint("", texts)
    same_but_for_case = len({text.casefold() for text in some}) < len(set(some))
    return "trueValues: […], falseValues: […]" + (f", {ignore_case}" if ignore_case and same_but_for_case else "")


def _keys(kind: str, some: Sequence[str], formats: Sequence[str]) -> str:
    """The keys of the field that would read such texts."""
    if kind in ("date", "datetime"):
        return _format(some, _DATES if kind == "date" else (*_TIMES, *_DATES), formats)
    if kind not in ("integer", "number"):
        return ""
    decimals = "type: number, step: …" if kind == "integer" else ""
    if kind == "integer" and _explains(r"[-+]?\d+\.\d+", some):
        return decimals
    for pattern, keys in (*_NUMBERS, *_with_unit(some)):
        if _explains(pattern, some):
            needs = decimals and any(re.search(r",\d{1,2}(\D|$)|,\d{4,}", text) for text in some)
            return f"{decimals}, {keys}" if needs else keys
    return ""


def _with_unit(texts: Sequence[str]) -> list[tuple[str, str]]:
    """The spelling of numbers beside which something else stands, and its keys."""
    matches = [match for text in texts if (match := _UNIT.fullmatch(text)) and (match["before"] or match["after"])]
    bare = [match["number"] for match in matches]
    for pattern, keys in ((_PLAIN, ""), *_NUMBERS):
        if len(bare) >= _ENOUGH * len(texts) and _explains(pattern, bare):
            return [(_UNIT.pattern, ", ".join(filter(None, [keys, "bareNumber: false"])))]
    return []


def _explains(pattern: str, texts: Sequence[str]) -> bool:
    return sum(bool(re.fullmatch(pattern, text)) for text in texts) >= max(1.0, _ENOUGH * len(texts))


def _format(texts: Sequence[str], formats: Sequence[str], declared: Sequence[str]) -> str:
    """The format that reads the most texts, after the declared ones; two formats if day and month cannot be
    distinguished."""
    read = {form: sum(_is_date(text, form) for text in texts) for form in formats}
    most = max(read.values())
    if most < max(1.0, _ENOUGH * len(texts)):
        return ""
    best = [form for form, number in read.items() if number == most][:2]
    named = [[*declared, form] for form in best if form not in declared]
    return " or ".join(f"format: {json.dumps(forms if declared else forms[0])}" for forms in named)


def _is_date(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)  # noqa: DTZ007 - only whether it can be read
    except ValueError:
        return False
    return True
