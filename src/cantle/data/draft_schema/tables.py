"""Drafts of table schemas: an introduction, and one line per column, with blanks for what only people can know.

The names of columns suggest rules and places: `discharge_date >= admission_date`, `pickup_lat` with `pickup_lon`. So
do numbered names groups of items: `w1` to `w12`. No value is read for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

from cantle.data.draft_schema.columns import (
    WESTERN,
    declared,
    event_log,
    frame_columns,
    inferred,
    names_its_columns,
    prepared,
)
from cantle.data.file_forms import STATISTICS, ending
from cantle.errors import ParameterError
from cantle.schema.canonical_json import JSON
from cantle.schema.code_books import BookColumn
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import Dialect
from cantle.schema.documents import one_line
from cantle.schema.json_schema import EDITOR_LINE
from cantle.schema.question_words import quoted

_PAIRS = """start end, start stop, start finish, started ended, started finished, begin end, from to, from until,
admission discharge, admitted discharged, admit discharge, arrival departure, arrived departed, arrival discharge,
opened closed, open close, opened resolved, created closed, created resolved, created updated, checkin checkout,
pickup dropoff, ordered shipped, shipped delivered, ordered delivered, order delivery, birth death, born died,
birth admission, hired left, issued returned, issue expiry, issued expires, entry exit, submitted approved,
diagnosis death"""
PAIRS = {tuple(pair.split()) for pair in _PAIRS.replace("\n", " ").split(", ")}
"""Words for what comes first and what comes later."""

_FILLERS = {"date", "time", "datetime", "day", "at", "on", "ts", "timestamp", "dt", "of"}
_DATES = ("date", "datetime", "???", None)


def proposed_rules(fields: Sequence[Mapping[str, JSON]]) -> list[str]:
    """Rules for pairs of columns of dates, or of a type that is not known, whose names say which comes first."""
    able = [one for one in fields if one.get("role") is None and one.get("type") in _DATES]
    words = {str(one["name"]): words_of(str(one["name"])) for one in able}
    named = [name for name, parts in words.items() if parts]
    return [
        f"{quoted(later)} >= {quoted(first)}"
        for first, later in permutations(named, 2)
        if _are_pair(words[first], words[later])
    ]


def words_of(name: str) -> list[str]:
    """The words of a name, without those that only say that it is a date."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return [word for word in re.split(r"[^a-z0-9]+", spaced) if word and word not in _FILLERS]


def _are_pair(first: Sequence[str], later: Sequence[str]) -> bool:
    """Whether two names are the same but for one word each, of which one is for what comes first."""
    if len(first) != len(later):
        return False
    differ = [pair for pair in zip(first, later, strict=True) if pair[0] != pair[1]]
    return len(differ) == 1 and differ[0] in PAIRS


def as_comment(rules: Sequence[str]) -> str:
    """The rules as comments of a schema, to be taken in by whoever knows that they hold."""
    lines = [f"#   - {one_line(rule)}" for rule in rules]  # in quotes: YAML refuses a ` at the start
    what = "what the names suggest; take away the # if no record can break it (then none is released that does):"
    return "\n".join([f"# {what}", "# rules:", *lines]) + "\n"


ALIKE = 5
"""So many columns whose names differ by a number only may be items of one scale."""


def proposed_groups(fields: Sequence[Mapping[str, JSON]]) -> dict[str, list[str]]:
    """Groups of items for columns of one type that are called alike and numbered."""
    able = [one for one in fields if one.get("role") is None and one.get("type") in ("integer", "string", BLANK)]
    found = dict[tuple[str, JSON], list[str]]()
    for one in able:
        stem = str(one["name"]).rstrip("0123456789")
        if stem not in ("", one["name"]):
            found.setdefault((stem, one["type"]), []).append(str(one["name"]))
    taken = {str(one["name"]) for one in fields}
    many = {stem.rstrip("_-. "): names for (stem, _), names in found.items() if len(names) >= ALIKE}
    return {stem if stem not in taken else f"{stem} score": names for stem, names in many.items() if stem}


def groups_as_comment(groups: Mapping[str, Sequence[str]]) -> str:
    """The groups as comments of a schema, to be taken in by whoever knows the questionnaire."""
    lines = [f"#   {one_line(name)}: {one_line(items)}" for name, items in groups.items()]
    what = (
        "what the names suggest; take away the # if they are answers to one scale, lowest value first, and put a minus"
    )
    more = "before items that are worded the other way round:"
    return "\n".join([f"# {what}", f"# {more}", "# groups:", *lines]) + "\n"


_AXES = {"lat": 0, "latitude": 0, "lon": 1, "lng": 1, "long": 1, "longitude": 1}


def with_places(fields: Sequence[dict[str, JSON]]) -> list[dict[str, JSON]]:
    """The fields, with one place instead of a latitude and a longitude of the same name."""
    pairs = dict[tuple[str, ...], dict[int, dict[str, JSON]]]()
    for one in fields:
        words = words_of(str(one["name"]))
        axes = [word for word in words if word in _AXES]
        if len(axes) == 1 and one.get("type") in ("number", BLANK) and one.get("role") is None:
            rest = tuple(word for word in words if word not in _AXES)
            pairs.setdefault(rest, {}).setdefault(_AXES[axes[0]], one)
    taken, made = {str(one["name"]) for one in fields}, list(fields)
    for rest, pair in pairs.items():
        if len(pair) == 2:
            name = "_".join(rest) or "place"
            made[made.index(pair[0])] = _place(f"{name}_place" if name in taken else name, pair[0], pair[1])
            made.remove(pair[1])
    return made


def _place(name: str, lat: Mapping[str, JSON], lon: Mapping[str, JSON]) -> dict[str, JSON]:
    ends = [one["constraints"] if isinstance(one.get("constraints"), Mapping) else {} for one in (lat, lon)]
    corners = [[end.get(key, BLANK) for end in ends] for key in ("minimum", "maximum")]  # type: ignore[union-attr]
    known = all(value != BLANK for corner in corners for value in corner)
    step = lat.get("step") or ends[0].get("multipleOf", BLANK)  # type: ignore[union-attr]
    columns: list[JSON] = [lat["name"], lon["name"]]
    return {"name": name, "type": "geopoint", "columns": columns, "bounds": corners if known else BLANK, "step": step}


_UNIT = """\
#
# One record is protected. If people may have several, protect persons: unit: {person: COLUMN, max_records: 3}
"""
_NO_HEADER = (
    "# The file has no header: its columns are numbered from the left. Choose names for them, and keep this order.\n"
)
_GUESSED = "# The header is not UTF-8. The encoding is a guess: correct it if names look wrong.\n"
_WARNING = """\
# NO GUARANTEE: this schema was inferred from the private values themselves (--infer). Whoever reads it, or any
# release made with it, learns about them. Use it to explore; before publishing, set every bound and category
# to what could occur, and only then remove the line `guarantee: none`.
guarantee: none
"""
_EVENTS = """\
#
# These columns look like a log of events. If the rows of each {} are one sequence, in the order of
# {}, draft them as such: cantle init DATA --kind sequences
"""
_WORDS = {"yes", "no", "on", "off", "true", "false", "null"}


def text_of(
    fields: Sequence[Mapping[str, JSON]],
    marks: Sequence[str] = ("",),
    dialect: Dialect | None = None,
    inferred: bool = False,
) -> str:
    """The text of a schema with one line per field."""
    dialect = dialect or Dialect()
    listed = "fields:\n" + "".join(f"  - {flow(one)}\n" for one in fields)
    if not dialect.header:
        listed = _NO_HEADER + listed
    log = event_log([str(one["name"]) for one in fields])
    events = _EVENTS.format(one_line(log[0]), one_line(log[1])) if log else ""
    parts = [
        EDITOR_LINE + prepared("table") + prepared("columns") + _UNIT + events,
        *([_WARNING] if inferred else []),
        listed,
    ]
    parts.append(f'missingValues: {one_line(marks)}  # texts that stand for a missing value, such as "NA" or "?"\n')
    if rules := proposed_rules(fields):
        parts.append(as_comment(rules))
    if groups := proposed_groups(fields):
        parts.append(groups_as_comment(groups))
    if dialect != Dialect():
        guessed = _GUESSED if dialect.encoding == WESTERN else ""
        parts.append(f"{guessed}dialect: {one_line(dialect.to_dict())}\n")
    return "\n".join(parts)


def flow(value: object, key: str = "") -> str:
    """A value as YAML on one line, with plain keys; a blank (???) needs quotes there."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(name))}: {flow(one, str(name))}" for name, one in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        return "[" + ", ".join(map(flow, value)) + "]"
    return str(value) if key in ("type", "role") and value != BLANK else one_line(value)


def _key(name: str) -> str:
    """A key as YAML: without quotes if it is a plain word that means nothing else there."""
    plain = re.fullmatch(r"[A-Za-z]\w+", name, re.ASCII) and name.lower() not in _WORDS
    return name if plain else one_line(name)


def needs_header(path: str | os.PathLike[str]) -> bool:
    return not names_its_columns(path)


def draft_of(path: Path, header_row: int | None) -> str:
    return draft(path, header=header_row)


def draft(
    data: object,
    *,
    header: int | None = None,
    infer: bool = False,
    book: Sequence[BookColumn] = (),
) -> str:
    """Text of a commented YAML schema with blanks (???) for what only you know: bounds, categories, precision.

    Of a data frame or Parquet file only the names and types of the columns are read, of a CSV file the header. Types of
    pandas stay blank: one record can change them, because a missing value turns whole numbers into floats.

    Parameters
    ----------
    data : path or data frame
        The table.
    header : bool or int, optional
        Whether a CSV file starts with column names, or in which line they are, if titles stand above them. It is
        required, because otherwise a record could become public.
    infer : bool
        Files only: guess bounds and categories from the values. Releases made with such a schema are NOT private.
    book : sequence of columns
        What a code book says (`cantle init --codebook`); columns that it does not have stay blank.

    Examples
    --------
    >>> import polars as pl
    >>> text = draft(pl.DataFrame({"age": [31], "weight": [70.5], "town": ["Ash"]}))
    >>> print(text[text.index("fields:"):])
    fields:
      - {name: "age", type: integer, constraints: {minimum: "???", maximum: "???"}}
      - {name: "weight", type: number, step: "???", constraints: {minimum: "???", maximum: "???"}}
      - {name: "town", type: string, categories: "???"}
    <BLANKLINE>
    missingValues: [""]  # texts that stand for a missing value, such as "NA" or "?"
    <BLANKLINE>
    """
    if not isinstance(data, str | os.PathLike):
        if infer or header is not None:
            raise ParameterError("`infer` and `header` are for files; of a data frame, names and types are read")
        columns, dialect = frame_columns(data), Dialect()
    else:
        columns, dialect = declared(Path(data), header)
        if not book and ending(data) in STATISTICS:  # its labels are its code book
            book = columns
    marks = [""]
    if infer:
        columns, marks = inferred(str(data), columns, dialect)
    known = {one.name: one for one in book}
    fields = [known.get(one.name, one).entry() for one in columns]
    if dialect.header:  # otherwise fields stand for columns by their order
        fields = with_places(fields)
    return text_of(fields, marks, dialect, inferred=infer)
