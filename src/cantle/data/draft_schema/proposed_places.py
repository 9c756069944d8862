"""Places that the names of columns suggest: `pickup_lat` and `pickup_lon`. No value is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cantle.data.draft_schema.proposed_rules import words_of
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK

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
