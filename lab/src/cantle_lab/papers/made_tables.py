"""Generated tables: those of the RPS paper, and some with planted relations between columns, to try intervals on.

The constants of the intervals were chosen with the hospital, among others. The insurance and the housing survey were
generated to confirm them. Only what means of columns allow for beside measured errors was chosen with these two as
well.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from cantle_lab.documents import FieldDocument, TableDocument, listed, number
from cantle_lab.papers.coding import Floats, Ints
from cantle_lab.papers.table_sets import TableSet

Numbers = Mapping[str, tuple[int, int]]


def hospital(records: int = 60_000, seed: int = 7) -> TableSet:
    """Cases of a hospital: 23 columns. Age, emergency, stay and cost are related, so are weight and height, age and
    income, diagnosis and ward, canton and town."""
    dice = np.random.default_rng(seed)
    age = np.where(dice.random(records) < 0.1, dice.gamma(2, 2, records), dice.normal(48, 22, records)).clip(0, 99)
    age = age.astype(int)
    emergency = dice.random(records) < np.where(age > 70, 0.4, 0.15)
    stay = dice.gamma(1 + age / 60, 1.2).astype(int).clip(0, 60)
    cost = (900 * stay + 300 + 800 * emergency + dice.gamma(2, 150, records)).astype(int).clip(0, 39_999)
    sex = dice.integers(0, 2, records)
    height = (dice.normal(162, 7, records) + 12 * sex).astype(int).clip(100, 209)
    weight = (0.6 * (height - 168) + dice.normal(74, 14, records)).astype(int).clip(30, 179)
    income = (dice.gamma(4, 900, records) * (1 + 0.006 * (age - 45))).astype(int).clip(0, 19_999)
    diagnosis = np.where((age > 60) & (dice.random(records) < 0.4), 0, dice.integers(1, 12, records))
    ward = np.where(diagnosis < 4, diagnosis, dice.integers(4, 8, records))
    ward = np.where(dice.random(records) < 0.2, dice.integers(0, 8, records), ward)
    canton = dice.choice(26, records, p=dice.dirichlet(np.ones(26)))
    town = 2 * canton + (dice.random(records) < 0.4)
    shares = np.where((income > 5_000)[:, None], [0.3, 0.7, 1], [0.7, 0.95, 1])
    insurance = (dice.random(records)[:, None] > shares).sum(axis=1).clip(0, 2)
    smoker = dice.random(records) < 0.25
    pressure = (dice.normal(110, 14, records) + 0.35 * age + 0.2 * (weight - 74)).astype(int).clip(70, 220)
    pulse = dice.normal(74, 11, records).astype(int).clip(40, 160)
    earlier = dice.poisson(0.2 + age / 40).clip(0, 30)
    intensive = np.where(emergency & (dice.random(records) < 0.2), np.minimum(stay, dice.poisson(2, records)), 0)
    dead = dice.random(records) < 1 / (1 + np.exp(5 - 0.04 * age - emergency))
    return made_table(
        "hospital",
        {
            "emergency": emergency.astype(int), "diagnosis": diagnosis, "ward": ward, "canton": canton, "town": town,
            "sex": sex, "insurance": insurance, "smoker": smoker.astype(int), "referral": dice.integers(0, 5, records),
            "weekday": dice.integers(0, 7, records), "left to": np.where(dead, 0, 1 + (age > 75) * (stay > 3)),
            "dead": dead.astype(int),
        },
        {
            "age": (0, 99), "stay": (0, 60), "cost": (0, 39_999), "height": (100, 209), "weight": (30, 179),
            "income": (0, 19_999), "day": (0, 364), "pressure": (70, 220), "pulse": (40, 160), "earlier": (0, 30),
            "intensive": (0, 30),
        },
        [age, stay, cost, height, weight, income, dice.integers(0, 365, records), pressure, pulse, earlier, intensive],
        "dead",
    )  # fmt: skip


def insurance(records: int = 50_000, seed: int = 11) -> TableSet:
    """Policies of car insurance with their claims: 16 columns, most amounts with long tails and many zeros."""
    dice = np.random.default_rng(seed)
    age = (18 + 70 * dice.beta(1.6, 2.4, records)).astype(int)
    licensed = (age - 18 - dice.gamma(1.5, 3, records)).astype(int).clip(0, 70)
    bonus = (licensed / 2 + dice.normal(0, 3, records)).astype(int).clip(0, 30)
    kind = dice.choice(6, records, p=[0.35, 0.25, 0.15, 0.12, 0.08, 0.05])
    power = (dice.normal(85, 20, records) + 18 * kind).astype(int).clip(40, 400)
    price = (power * dice.lognormal(5.1, 0.25, records)).astype(int).clip(1_000, 150_000)
    built = (2024 - dice.gamma(2, 4, records)).astype(int).clip(1980, 2024)
    driven = dice.lognormal(9.3, 0.6, records).astype(int).clip(0, 99_999)
    region = dice.integers(0, 18, records)
    garage = dice.random(records) < np.where(region < 6, 0.2, 0.7)
    cover = np.where(
        built > 2015, dice.choice(3, records, p=[0.1, 0.3, 0.6]), dice.choice(3, records, p=[0.7, 0.2, 0.1])
    )
    claims = dice.poisson(0.05 + 0.25 * (age < 25) + driven / 150_000)
    paid = np.where(claims > 0, dice.lognormal(7.4, 1.1, records) * claims, 0).astype(int).clip(0, 99_999)
    premium = (180 + 4 * power + 160 * cover - 9 * bonus + 150 * claims + dice.normal(0, 60, records)).astype(int)
    months = dice.choice([1, 3, 6, 12], records, p=[0.4, 0.1, 0.1, 0.4])
    left = dice.random(records) < 1 / (1 + np.exp(2.2 - 0.0008 * (premium.clip(0, 4_000) - 700)))
    return made_table(
        "insurance",
        {
            "kind": kind, "region": region, "garage": garage.astype(int), "cover": cover,
            "channel": dice.integers(0, 4, records), "left": left.astype(int),
        },
        {
            "age": (18, 90), "licensed": (0, 70), "bonus": (0, 30), "power": (40, 400), "price": (1_000, 150_000),
            "built": (1980, 2024), "driven": (0, 99_999), "claims": (0, 20), "paid": (0, 99_999),
            "premium": (0, 6_000), "months": (1, 12),
        },
        [age, licensed, bonus, power, price, built, driven, claims.clip(0, 20), paid, premium.clip(0, 6_000), months],
        "left",
    )  # fmt: skip


def housing(records: int = 40_000, seed: int = 13) -> TableSet:
    """A survey of flats and their households: 20 columns, among them answers from 1 to 5 that share a hidden cause."""
    dice = np.random.default_rng(seed)
    city = dice.choice(12, records, p=dice.dirichlet(np.full(12, 2.0)))
    rooms = dice.choice(np.arange(1, 9), records, p=[0.06, 0.16, 0.28, 0.25, 0.13, 0.07, 0.03, 0.02])
    area = (rooms * 22 + dice.gamma(3, 5, records)).astype(int).clip(12, 350)
    owner = dice.random(records) < 0.1 + 0.08 * rooms
    people = (1 + dice.binomial(rooms, 0.3)).clip(1, 9)
    children = dice.binomial((people - 2).clip(0), 0.7)
    rent = ((8 + 0.9 * city + dice.normal(0, 1.5, records)) * area).astype(int).clip(100, 6_000)
    income = (rent * dice.lognormal(1.1, 0.4, records)).astype(int).clip(0, 29_999)
    year = dice.choice([1900, 1930, 1955, 1970, 1985, 2000, 2015], records) + dice.integers(0, 15, records)
    heating = np.where(year < 1960, dice.integers(0, 2, records), dice.integers(1, 4, records))
    hidden = dice.normal(0, 1, records) + 0.3 * owner - 0.02 * (people - 2)
    answers = {f"answer {i}": _answers(hidden, 0.5 + 0.1 * i, dice) for i in range(6)}
    since = (dice.exponential(8 + 8 * owner)).astype(int).clip(0, 70)
    moving = dice.random(records) < 1 / (1 + np.exp(1.5 + 0.7 * hidden + 0.05 * since))
    return made_table(
        "housing",
        {
            "city": city, "owner": owner.astype(int), "heating": heating, "balcony": dice.integers(0, 2, records),
            "floor": dice.choice(8, records), **answers, "moving": moving.astype(int),
        },
        {
            "rooms": (1, 8), "area": (12, 350), "people": (1, 9), "children": (0, 7), "rent": (100, 6_000),
            "income": (0, 29_999), "year": (1900, 2030), "since": (0, 70),
        },
        [rooms, area, people, children, rent, income, year, since],
        "moving",
    )  # fmt: skip


def _answers(hidden: np.ndarray, weight: float, dice: np.random.Generator) -> np.ndarray:
    """Answers from 1 to 5, as codes, that follow a hidden cause."""
    return np.rint(2 + weight * hidden + dice.normal(0, 0.8, len(hidden))).clip(0, 4).astype(int)


def made_table(
    name: str, lists: Mapping[str, np.ndarray], bounds: Numbers, numbers: list[np.ndarray], target: str = ""
) -> TableSet:
    """A table of categories and whole numbers, with its schema; the values of a category are its first letter and a
    number."""
    fields: list[FieldDocument] = []
    columns: dict[str, pl.Series] = {}
    for column, codes in lists.items():
        values = [f"{column[0]}{code}" for code in range(int(codes.max()) + 1)]
        fields.append(listed(column, values, target=column == target))
        columns[column] = pl.Series(np.array(values)[codes])
    for (column, (low, high)), given in zip(bounds.items(), numbers, strict=True):
        fields.append(number(column, low, high))
        columns[column] = pl.Series(given.astype(np.int64))
    return TableSet(name, pl.DataFrame(columns), {"fields": fields})


# ---- the generated data of RPS section 4.1; parameters that the paper does not print are ours -----------------------

LOW, HIGH, SEED = 0, 100, 2012

# Section 4.1: three Gaussians "with different means and different covariance matrices"; it prints none.
MEANS = ((30, 30, 35, 40, 50), (60, 55, 65, 45, 30), (50, 75, 30, 70, 70))
DEVIATIONS = ((12, 12, 12, 12, 12), (10, 14, 8, 16, 12), (16, 9, 13, 10, 14))
CORRELATIONS = (0.3, -0.2, 0.5)


def normal(rows: int = 10_000, seed: int = SEED) -> tuple[pl.DataFrame, TableDocument]:
    """The table of figure 1, with one column `x` from N(50, 25 squared), and its schema.

    The paper does not give the domain. Its figure 1(b) allows only one choice, which is to clip the data to [0, 100]
    first: the EMD of unclipped data from any release on that domain would be at least about 2.7.
    """
    x = np.random.default_rng(seed).normal(50, 25, rows)
    return pl.DataFrame({"x": _on_grid(x)}), _schema(["x"])


def clusters(rows: int = 10_000, seed: int = SEED) -> tuple[pl.DataFrame, TableDocument, Ints]:
    """The table of figure 2 with five columns, its schema, and the process that made each record (0, 1 or 2)."""
    rng = np.random.default_rng(seed)
    process = rng.integers(0, len(MEANS), rows)
    points = np.empty((rows, len(MEANS[0])))
    for i, (mean, deviation, correlation) in enumerate(zip(MEANS, DEVIATIONS, CORRELATIONS, strict=True)):
        mine = process == i
        points[mine] = rng.multivariate_normal(mean, _covariance(deviation, correlation), int(mine.sum()))
    names = [f"x{i + 1}" for i in range(points.shape[1])]
    return pl.DataFrame(_on_grid(points), schema=names, orient="row"), _schema(names), process.astype(np.int64)


def _schema(names: list[str]) -> TableDocument:
    """Integer fields on the public range 0 to 100 (RPS section 3.2: range [0, 100], granularity 1)."""
    return {"fields": [number(name, LOW, HIGH) for name in names]}


def _covariance(deviation: tuple[int, ...], correlation: float) -> Floats:
    scale = np.asarray(deviation, dtype=np.float64)
    return np.outer(scale, scale) * np.where(np.eye(len(scale)) > 0, 1.0, correlation)


def _on_grid(values: Floats) -> Ints:
    return np.clip(np.rint(values), LOW, HIGH).astype(np.int64)
