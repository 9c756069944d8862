"""The classes of docs/framework.md, and made-up data for each of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/framework.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
"""The files of the page: what a user would write."""


def classes() -> dict[str, Any]:
    """The classes of the page by name."""
    made: dict[str, Any] = {}
    for name, text in FILES.items():
        space: dict[str, Any] = {"__name__": name.removesuffix(".py")}
        exec(compile(text, name, "exec"), space)
        made |= {
            key: one for key, one in space.items() if isinstance(one, type) and one.__module__ == space["__name__"]
        }
    return made


def number(name: str, low: float, high: float, step: float) -> dict[str, Any]:
    bounds = {"required": True, "minimum": low, "maximum": high}
    return {"name": name, "type": "number", "step": step, "constraints": bounds}


def tree_of(name: str, hierarchy: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", "hierarchy": hierarchy, "constraints": {"required": True}}


TOWNS = {"fields": [number("lat", 51.0, 52.0, 0.0001), number("lon", 4.0, 6.0, 0.0001)]}
LAND = {
    "Land": [
        {"North": ["a", "b", "c"]},
        {"South": [{"Coast": ["d", "e"]}, {"Hills": list("fghi")}]},
        {"West": ["j", "k"]},
    ]
}
AGE = {"name": "age", "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": 99}}
PLACES = {"fields": [tree_of("place", LAND), AGE]}
SYMBOLS = ["A", "B", "C", "D", "END"]
SEQUENCES = {"fields": [tree_of(f"p{place}", {"any": SYMBOLS}) for place in range(1, 5)]}


def towns(records: int = 20_000, seed: int = 1) -> pl.DataFrame:
    """Points of four towns."""
    dice = np.random.default_rng(seed)
    centre = np.array([[51.2, 4.3], [51.7, 4.9], [51.5, 5.6], [51.85, 5.2]])
    town = dice.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
    points = centre[town] + dice.normal(size=(records, 2)) * np.array([0.02, 0.04, 0.03, 0.06])[town][:, None]
    lat, lon = points[:, 0].clip(51, 51.999), points[:, 1].clip(4, 5.999)
    return pl.DataFrame({"lat": lat.round(4), "lon": lon.round(4)})


def places(records: int = 3000) -> pl.DataFrame:
    dice = np.random.default_rng(0)
    share = np.array([9, 8, 7, 1, 1, 6, 5, 4, 3, 2, 2]) / 48
    return pl.DataFrame(
        {"place": dice.choice(list("abcdefghijk"), records, p=share), "age": dice.integers(0, 100, records)}
    )


def sequences(records: int = 3000) -> pl.DataFrame:
    dice, rows = np.random.default_rng(2), []
    for _ in range(records):
        length = int(dice.integers(1, 5))
        rows.append([SYMBOLS[min(3, dice.geometric(0.5) - 1)] for _ in range(length)] + ["END"] * (4 - length))
    return pl.DataFrame(rows, schema=[f"p{place}" for place in range(1, 5)], orient="row")


@dataclass(frozen=True)
class Example:
    """A class of the page with data, a question, and how it is audited."""

    file: str
    made: str
    schema: Mapping[str, Any]
    data: pl.DataFrame
    question: str
    audited: str
    how: dict[str, Any] = field(default_factory=dict)


SMALL_PLACES = {"fields": [tree_of("place", {"L": [["a", "b", "c"], ["d", "e"]]})]}
SMALL_SEQUENCES = {"fields": [tree_of(f"p{place}", {"any": ["A", "B", "END"]}) for place in (1, 2)]}
EXAMPLES = [
    Example("quadtree", "QuadTree", TOWNS, towns(3000), "lat < 51.5 and lon < 5", "QuadTree(depth=2, above=0)"),
    Example("kdtree", "KdTree", TOWNS, towns(3000), "lat < 51.5 and lon < 5", "KdTree(depth=1)", {"sizes": (4,)}),
    Example("places", "Places", PLACES, places(), "place in (a, b)", "Places()", {"schema": SMALL_PLACES}),
    Example("prefixes", "Prefixes", SEQUENCES, sequences(), "p1 == 'A'", "Prefixes()",
            {"schema": SMALL_SEQUENCES, "records": 1}),
]  # fmt: skip
