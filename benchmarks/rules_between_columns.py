"""What rules between columns do to a release: made-up stays in a hospital, published with the rules and without them.

    python -m benchmarks.rules_between_columns [--runs 5] [--records 20000]

For each epsilon and method it prints the standard deviation of the stay (which is at least 0 and below 30 days), the
share of records that break a rule, and the mean total variation distance of all pairs of columns.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

import cantle

RULES = ["end >= start", "end - start < 30", "total == x + y", "city -> country"]
BINS = 16


def _whole(name: str, last: int) -> dict[str, Any]:
    return {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": last, "required": True}}


def _listed(name: str, number: int, **keys: Any) -> dict[str, Any]:
    return {"name": name, "type": "integer", "categories": [*range(number)], "constraints": {"required": True}, **keys}


def schema(with_rules: bool, target: str | None) -> dict[str, Any]:
    """The schema, with the rules or without; a country is the city by tens of the list."""
    follows = {"from": "city", "map": {city: city // 8 for city in range(40)}} if with_rules else {}
    fields = [
        _whole("start", 299), _whole("end", 329), _listed("ward", 6), _whole("x", 999), _whole("y", 999),
        _whole("total", 1998), _listed("city", 40), _listed("country", 5, **follows),
    ]  # fmt: skip
    fields = [{**one, "role": "target"} if one["name"] == target else one for one in fields]
    return {"fields": fields, "rules": RULES if with_rules else []}


def stays(records: int) -> pl.DataFrame:
    """Stays whose length depends on the ward, with bills and towns."""
    dice = np.random.default_rng(0)
    start, ward = (dice.beta(2, 3, records) * 300).astype(int), dice.integers(0, 6, records)
    stay = np.minimum(29, dice.gamma(1.5, 1 + ward, records)).astype(int)
    x = dice.gamma(2, 60, records).astype(int).clip(0, 999)
    y = (dice.gamma(1.5, 40, records) * (1 + ward / 3)).astype(int).clip(0, 999)
    city = np.minimum(39, dice.pareto(1, records) * 4).astype(int)
    return pl.DataFrame(
        {"start": start, "end": start + stay, "ward": ward, "x": x, "y": y, "total": x + y, "city": city,
         "country": city // 8}
    )  # fmt: skip


def broken(frame: pl.DataFrame) -> float:
    """The share of records that break a rule."""
    stay = pl.col("end") - pl.col("start")
    wrong = (stay < 0) | (stay >= 30) | (pl.col("total") != pl.col("x") + pl.col("y"))
    return float(frame.select((wrong | (pl.col("country") != pl.col("city") // 8)).mean()).item())


def distance(true: pl.DataFrame, made: pl.DataFrame) -> float:
    """The mean total variation distance of pairs of columns in 16 bins each."""
    binned = []
    for frame in (true, made):
        ends = {name: (true[name].min(), true[name].max()) for name in true.columns}
        binned.append({name: np.clip((frame[name].to_numpy() - low) * BINS // (high - low + 1), 0, BINS - 1)
                       for name, (low, high) in ends.items()})  # type: ignore[operator]  # fmt: skip
    far = []
    for one, other in combinations(true.columns, 2):
        tables = [np.bincount(part[one] * BINS + part[other], minlength=BINS**2) / len(part[one]) for part in binned]
        far.append(np.abs(tables[0] - tables[1]).sum() / 2)
    return float(np.mean(far))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--methods", nargs="*", default=["mosaic"])
    given = parser.parse_args()
    data = stays(given.records)
    print(f"true standard deviation of the stay: {float((data['end'] - data['start']).std()):.2f}")  # type: ignore[arg-type]
    for method in given.methods:
        for epsilon in (0.1, 1):
            for with_rules in (False, True):
                document = schema(with_rules, "ward" if method == "diffgen" else None)
                made = [
                    cantle.publish(data, document, epsilon=epsilon, method=method).records for _ in range(given.runs)
                ]
                spread = np.array([(one["end"] - one["start"]).std() for one in made])
                wrong, far = np.mean([broken(one) for one in made]), np.mean([distance(data, one) for one in made])
                what = "with rules" if with_rules else "without"
                print(f"{method}, epsilon {epsilon}, {what}: sd {spread.mean():.2f} ({spread.min():.2f} to "
                      f"{spread.max():.2f}), {wrong:.1%} break a rule, distance {far:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
