"""Sets in batches, for engines that are slow to start, and sets of persons; the smallest item is the pair's number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from tests.neighbours.batches import PAIRS, each_adds_at_most
from tests.neighbours.identifiers import AWKWARD
from tests.neighbours.law import Form, Pair, inserted
from tests.neighbours.sets import LISTS, LONG, fimi, listed, long_csv, long_typed, read, read_elsewhere

ITEMS = [*range(PAIRS, PAIRS + 8), PAIRS, 999, -1, None]
"""Items besides the number of the pair; the last three are not items of the universe."""

BOUND = 2
MARKS = ["", "?"]
Row = tuple[str | None, str | None, int | None]
"""A row of a long table: person, basket, item."""


def baskets(dice: Random, pairs: int) -> tuple[list[Row], list[Row]]:
    """Rows of D and D'; D' also has one more basket per pair, or rows that belong to no basket."""
    one, more = list[Row](), list[Row]()
    for pair in range(pairs):
        newcomer, *others = dice.sample(AWKWARD, 4)
        for name in others:
            one += _rows(dice, pair, None, f"{pair}.{name}")
        more += _rows(dice, pair, None, dice.choice([f"{pair}.{newcomer}", f"{pair}.{newcomer}", None, *MARKS]))
    dice.shuffle(one)
    return one, inserted(dice, one, more)


def baskets_of_persons(dice: Random, pairs: int) -> tuple[list[Row], list[Row]]:
    """Rows of D and D'; D' also has all baskets of one more person per pair, or some baskets of nobody.

    Baskets of different persons may have the same name.
    """
    one, more = list[Row](), list[Row]()
    for pair in range(pairs):
        newcomer, *others = dice.sample(AWKWARD, 4)
        added = dice.choice([f"{pair}.{newcomer}", f"{pair}.{newcomer}", None, *MARKS])
        for rows, who in [*((one, f"{pair}.{name}") for name in others), (more, added)]:
            for basket in dice.sample([*AWKWARD[1:], None], dice.randint(1, 4)):
                rows += _rows(dice, pair, who, basket)
    dice.shuffle(one)
    return one, inserted(dice, one, more)


def _rows(dice: Random, pair: int, who: str | None, basket: str | None) -> list[Row]:
    return [(who, basket, item) for item in (pair, *dice.choices(ITEMS, k=dice.randint(0, 4)))]


Draw = Callable[[Random, int], tuple[list[Row], list[Row]]]


def batched(draw: Draw, make: Callable[[pl.DataFrame, Path], Any], **keys: Any) -> Callable[[Random, Path], Pair]:
    """Many pairs as a single pair of long tables."""
    bound = BOUND if "unit" in keys else 1
    schema = {"kind": "sets", "items": {"minimum": 0, "maximum": PAIRS + 8}, "missingValues": MARKS, **keys}

    def pair(dice: Random, folder: Path) -> Pair:
        both, inputs = draw(dice, PAIRS), []
        for part, rows in zip(("one", "two"), both, strict=True):
            (folder / part).mkdir(exist_ok=True)
            kinds = {"who": pl.String, "basket": pl.String, "product": pl.Int64}
            inputs.append(make(pl.DataFrame(rows, schema=kinds, orient="row"), folder / part))
        return Pair(schema, *inputs, lambda one, two: each_adds_at_most(bound, one, two), f"{keys} {both}")

    return pair


def write_csv(rows: pl.DataFrame, folder: Path) -> Path:
    rows.write_csv(folder / "data.csv")
    return folder / "data.csv"


def write_parquet(rows: pl.DataFrame, folder: Path) -> Path:
    rows.write_parquet(folder / "data.parquet", row_group_size=200)
    return folder / "data.parquet"


def write_halves(rows: pl.DataFrame, folder: Path) -> Path:
    """Writes a folder of two files; a basket may have rows in both."""
    halves = folder / "halves"
    halves.mkdir(exist_ok=True)
    for name, half in (("a", rows[::2]), ("b", rows[1::2])):
        half.write_parquet(halves / f"{name}.parquet")
    return halves


def write_lists(rows: pl.DataFrame, folder: Path) -> Path:
    """Writes one list per basket, without its name; rows without a basket are left out."""
    known = rows.filter(pl.col("basket").is_not_null() & ~pl.col("basket").is_in(MARKS))
    lists = known.group_by("basket", maintain_order=True).agg(pl.col("product").alias("products"))
    lists.select("products").write_parquet(folder / "lists.parquet")
    return folder / "lists.parquet"


def hand_over(rows: pl.DataFrame, _folder: Path) -> pl.DataFrame:
    return rows


NAMED: dict[str, Any] = {"form": "long", "id": "basket", "item": "product"}
PERSONS: dict[str, Any] = {**NAMED, "unit": {"person": "who", "max_records": BOUND}}
OF_PERSONS = "sets, persons"

IN_CSV, IN_PARTS = batched(baskets, write_csv, **NAMED), batched(baskets, write_halves, **NAMED)
IN_LISTS = batched(baskets, write_lists, column="products")
PERSONS_IN_CSV = batched(baskets_of_persons, write_csv, **PERSONS)
PERSONS_IN_PARQUET = batched(baskets_of_persons, write_parquet, **PERSONS)
PERSONS_IN_POLARS = batched(baskets_of_persons, hand_over, **PERSONS)

FORMS = [
    Form("sets, long CSV in batches", "memory", IN_CSV, read, 100, LONG, PAIRS),
    Form("sets, persons, polars", "memory", PERSONS_IN_POLARS, read, 200, OF_PERSONS, PAIRS),
    Form("sets, persons, CSV", "memory", PERSONS_IN_CSV, read, 200, OF_PERSONS, PAIRS),
    Form("sets, persons, Parquet", "memory", PERSONS_IN_PARQUET, read, 100, OF_PERSONS, PAIRS),
]


def duckdb_forms() -> list[Form]:
    """Forms of sets in DuckDB: some single pairs with everything that files may contain, and many pairs in batches."""
    read = read_elsewhere("duckdb")
    return [
        Form("sets, long CSV", "duckdb", long_csv, read, 8, LONG),
        Form("sets, long Parquet", "duckdb", long_typed("Parquet"), read, 8, LONG),
        Form("sets, Parquet lists", "duckdb", listed("Parquet"), read, 8, LISTS),
        Form("sets, FIMI", "duckdb", fimi(["utf-8", "latin-1"]), read, 8, "sets, FIMI"),
        Form("sets, long CSV in batches", "duckdb", IN_CSV, read, 200, LONG, PAIRS),
        Form("sets, several files", "duckdb", IN_PARTS, read, 200, LONG, PAIRS),
        Form("sets, lists in batches", "duckdb", IN_LISTS, read, 200, LISTS, PAIRS),
        Form("sets, persons, Parquet", "duckdb", PERSONS_IN_PARQUET, read, 300, OF_PERSONS, PAIRS),
    ]


def spark_forms(session: Any) -> list[Form]:
    """Forms of sets in Spark, whose workers collect the rows of each set."""

    def frame(rows: pl.DataFrame, folder: Path) -> Any:
        return session.read.parquet(str(write_parquet(rows, folder))).repartition(3)

    read = read_elsewhere("spark")
    made = {
        "sets, long": batched(baskets, frame, **NAMED),
        "sets, long CSV": IN_CSV,
        "sets, lists": IN_LISTS,
        "sets, persons": batched(baskets_of_persons, frame, **PERSONS),
    }
    return [Form(name, "spark", pair, read, PAIRS, name, PAIRS) for name, pair in made.items()]
