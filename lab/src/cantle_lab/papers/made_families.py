"""Made-up linked tables with known relations: a clinic (patients and visits), and a shop (customers and orders)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl


def package(parent: str, child: str, columns: tuple[list[Any], list[Any]], most: int, order: str) -> dict[str, Any]:
    """A data package of two tables with the key `id`."""
    key: dict[str, Any] = {"name": "id", "type": "integer", "role": "identifier"}
    link = {"fields": "id", "reference": {"resource": parent, "fields": "id"}}
    above = {"primaryKey": "id", "fields": [key, *columns[0]]}
    below = {"fields": [key, *columns[1]], "foreignKeys": [link]}
    return {
        "resources": [
            {"name": parent, "path": f"{parent}.csv", "schema": above},
            {"name": child, "path": f"{child}.csv", "schema": below},
        ],
        "unit": {"family": parent, "max_children": most},
        "order": {child: [order]},
    }


def _number(name: str, most: int) -> dict[str, Any]:
    return {"name": name, "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": most}}


def _one_of(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "type": "integer", "categories": list(range(number)), "constraints": {"required": True}}


CLINIC: Mapping[str, Any] = package(
    "patients",
    "visits",
    (
        [_number("age", 9), _one_of("sex", 2), _one_of("region", 8), _one_of("insurer", 4)],
        [_number("month", 23), _one_of("type", 5), _number("severity", 3), _number("cost", 11)],
    ),
    8,
    "month",
)
"""The package of `clinic`."""

SHOP: Mapping[str, Any] = package(
    "customers",
    "orders",
    ([_one_of("cohort", 12)], [_number("month", 17), _number("units", 7), _number("amount", 11)]),
    10,
    "month",
)
"""The package of `shop`."""

WIDE_CLINIC: Mapping[str, Any] = package(
    "patients",
    "visits",
    (
        [_number("age", 99), _one_of("sex", 2), _one_of("region", 8), _number("income", 9999)],
        [_number("day", 719), _one_of("type", 5), _number("severity", 3), _number("cost", 4999)],
    ),
    8,
    "day",
)
"""The package of `wide_clinic`."""


def clinic(patients: int, seed: int) -> dict[str, pl.DataFrame]:
    """Patients with 0 to 8 visits. Age decides how many and of which type; type and severity follow those of the visit
    before; the cost follows both."""
    dice = np.random.default_rng(seed)
    age, sex = dice.integers(0, 10, patients), dice.integers(0, 2, patients)
    region = np.minimum(dice.geometric(0.3, patients) - 1, 7)
    insurer = (dice.random(patients) < 0.2 + 0.06 * age).astype(np.int64) + 2 * (dice.random(patients) < 0.15)
    visits = np.minimum(dice.poisson(0.4 + 0.25 * age + 0.3 * (insurer == 1)), 8)
    visits[dice.random(patients) < 0.1] = 0
    patient = np.repeat(np.arange(patients), visits)
    position = np.arange(len(patient)) - np.repeat(np.cumsum(visits) - visits, visits)
    kind, severity, month = (np.zeros(len(patient), dtype=np.int64) for _ in range(3))
    for at in range(8):
        here = np.flatnonzero(position == at)
        own, before = patient[here], here - (at > 0)
        usual = np.where(dice.random(len(here)) < 0.6, np.digitize(age[own], [3, 6]), dice.integers(0, 5, len(here)))
        again = (at > 0) & (dice.random(len(here)) < 0.55)
        kind[here] = np.where(again, kind[before], usual)
        fresh = np.minimum(3, dice.binomial(3, 0.1 + 0.06 * age[own]))
        kept = (at > 0) & (dice.random(len(here)) < 0.5)
        severity[here] = np.where(kept, np.clip(severity[before] + dice.integers(-1, 2, len(here)), 0, 3), fresh)
        gap = dice.geometric(0.3, len(here))
        month[here] = np.minimum(23, month[before] + gap) if at else dice.integers(0, 8, len(here))
    cost = np.clip(2 * kind + severity + dice.integers(-1, 2, len(patient)), 0, 11)
    above = {"id": np.arange(patients), "age": age, "sex": sex, "region": region, "insurer": insurer}
    below = {"id": patient, "month": month, "type": kind, "severity": severity, "cost": cost}
    return {"patients": pl.DataFrame(above), "visits": pl.DataFrame(below)}


def shop(customers: int, seed: int) -> dict[str, pl.DataFrame]:
    """Customers with 1 to 10 orders in 18 months, whose gaps depend on how many orders are still to come: the orders of
    a customer share out the months that are left."""
    dice = np.random.default_rng(seed)
    cohort = dice.integers(0, 12, customers)
    orders = np.minimum(dice.geometric(0.42, customers), 10)
    customer = np.repeat(np.arange(customers), orders)
    position = np.arange(len(customer)) - np.repeat(np.cumsum(orders) - orders, orders)
    month = np.zeros(len(customer), dtype=np.int64)
    units, amount = np.zeros_like(month), np.zeros_like(month)
    for at in range(10):
        here = np.flatnonzero(position == at)
        own, before, left = customer[here], here - (at > 0), orders[customer[here]] - at
        room = 17 - month[before]
        gap = dice.binomial(room, 1 / (1 + left)) if at else cohort[own] // 4
        month[here] = np.minimum(17, month[before] + gap) if at else gap
        same = (at > 0) & (dice.random(len(here)) < 0.4)
        units[here] = np.where(same, units[before], np.minimum(7, dice.geometric(0.45, len(here)) - 1))
        amount[here] = np.clip(units[here] + dice.integers(0, 5, len(here)), 0, 11)
    below = {"id": customer, "month": month, "units": units, "amount": amount}
    return {"customers": pl.DataFrame({"id": np.arange(customers), "cohort": cohort}), "orders": pl.DataFrame(below)}


def wide_clinic(patients: int, seed: int) -> dict[str, pl.DataFrame]:
    """The clinic with columns of many values: age in years, incomes with a long tail, days, and costs that are round
    now and then."""
    dice = np.random.default_rng(seed + 1)
    tables = clinic(patients, seed)
    above, below = tables["patients"], tables["visits"]
    age = 10 * above["age"].to_numpy() + dice.integers(0, 10, len(above))
    income = np.minimum(9999, dice.lognormal(6.5 + 0.1 * above["insurer"].to_numpy(), 0.7)).astype(np.int64)
    cost = 350 * below["cost"].to_numpy() + dice.gamma(2, 120, len(below)).astype(np.int64)
    cost = np.where(dice.random(len(cost)) < 0.3, np.round(cost / 100) * 100, cost).astype(np.int64)
    day = 30 * below["month"].to_numpy() + dice.integers(0, 30, len(below))
    columns = above.select("id", "sex", "region").with_columns(age=age, income=income)
    visits = below.select("id", "type", "severity").with_columns(day=day, cost=np.minimum(4999, cost))
    return {"patients": columns, "visits": visits}
