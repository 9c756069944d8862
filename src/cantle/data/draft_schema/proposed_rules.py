"""Rules and places that the names of columns suggest: `discharge_date >= admission_date`, `pickup_lat` with
`pickup_lon`. No value is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import permutations

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK
from cantle.schema.question_columns import quoted

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
    lines = [f"#   - {rule}" for rule in rules]
    what = "what the names suggest; take away the # if no record can break it (then none is released that does):"
    return "\n".join([f"# {what}", "# rules:", *lines]) + "\n"


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
