"""The gallery of the site: reports of made-up data, and of public data sets that you have on disk.

python scripts/gallery.py -o gallery                 # made-up data only: some seconds
python scripts/gallery.py -o gallery --data DIR      # also the public data sets that DIR holds

Every release is made with epsilon 1 and the operating system's noise, so no two galleries are equal.
"""

from __future__ import annotations

import argparse
import random
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl
import yaml

import cantle
from cantle.errors import DataError
from cantle.interfaces import demo_data
from cantle.release.report.page import render
from cantle_lab.papers import graphs, sets, table_sets

ROOT = Path(__file__).resolve().parents[1]
EPSILON = 1
GROCERIES = [
    "apples", "bananas", "beer", "bread", "butter", "cake", "cereals", "cheese", "chicken", "chocolate",
    "coffee", "cream", "crisps", "eggs", "fish", "flour", "ham", "honey", "jam", "juice", "lemons", "lettuce",
    "margarine", "milk", "mushrooms", "mustard", "nuts", "oil", "olives", "onions", "pasta", "peppers",
    "potatoes", "rice", "salt", "soap", "sugar", "tea", "tomatoes", "yoghurt",
]  # fmt: skip
PAIRS = (("bread", "butter"), ("beer", "crisps"), ("pasta", "tomatoes"), ("coffee", "milk"), ("ham", "cheese"))


class Exhibit(NamedTuple):
    """A data set of the gallery: a frame, list or file, and its public schema."""

    name: str
    title: str
    data: object
    schema: object


class Report(NamedTuple):
    """A report of the gallery: the name of its file, its title, and how the release was made."""

    name: str
    title: str
    release: str
    html: str


def made_up() -> Iterator[Exhibit]:
    """Made-up data sets: people, baskets of groceries, friends."""
    yield Exhibit("people", "A population of 24,000", demo_data.population(), demo_data.SCHEMA)
    dice = random.Random(7)
    items = {"kind": "sets", "items": GROCERIES}
    yield Exhibit("groceries", "40,000 baskets of groceries", baskets(40_000, dice), items)
    yield Exhibit("friends", "Who knows whom among 5,000", friends(5_000, dice), {"kind": "graph", "unit": "node"})


def visits(folder: Path) -> Exhibit:
    """The messy file of the tutorial, which is written into this folder, and the tutorial's schema for it."""
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    (schema,) = re.findall(r"```yaml\n(# schema.yaml\n.*?)```", page, re.DOTALL)
    file = folder / "visits.csv"
    runpy.run_path(str(ROOT / "docs/examples/make_visits.py"))["main"](str(file))
    return Exhibit("visits", "The clinic visits of the tutorial", file, yaml.safe_load(schema))


def baskets(number: int, dice: random.Random) -> list[list[str]]:
    """Sets of a few popular items; some pairs of items often occur together."""
    weights = [1 / (rank + 3) for rank in dice.sample(range(len(GROCERIES)), len(GROCERIES))]
    drawn = []
    for _ in range(number):
        basket = set(dice.choices(GROCERIES, weights, k=1 + min(int(dice.expovariate(0.3)), 20)))
        basket |= {second for first, second in PAIRS if first in basket and dice.random() < 0.6}
        drawn.append(sorted(basket))
    return drawn


def friends(number: int, dice: random.Random) -> pl.DataFrame:
    """A graph that grows node by node; new nodes prefer neighbours that already have many edges."""
    ends = [0, 1]
    edges = [(0, 1)]
    for node in range(2, number):
        for known in {dice.choice(ends) for _ in range(1 + int(dice.expovariate(0.25)))} - {node}:
            edges.append((node, known))
            ends += [node, known]
    return pl.DataFrame(edges, schema=["first", "second"], orient="row")


def public(data: Path) -> Iterator[Exhibit]:
    """The public data sets whose files exist in the folder; their schemas come from their documentation."""
    for table in table_sets.present(data, "gallery", print):
        yield Exhibit(table.name.lower(), f"{table.name}: {len(table.frame):,} records", table.frame, table.schema)
    try:
        pages = sets.load("msnbc", data)
        records = [pages.items[low:high].tolist() for low, high in zip(pages.starts, pages.starts[1:], strict=False)]
        items = {"minimum": 0, "maximum": pages.size - 1}
        yield Exhibit("msnbc", "MSNBC: kinds of pages per visitor", records, {"kind": "sets", "items": items})
        caltech = graphs.load(data, "Caltech")
    except DataError as missing:
        print(f"gallery: left out: {missing}")
        return
    edges = pl.DataFrame(caltech.edges, schema=["first", "second"])
    yield Exhibit("caltech", "Friends at Caltech, 2005", edges, {"kind": "graph", "unit": "node"})


def reports(data: Path | None = None) -> Iterator[Report]:
    """The reports of all data sets, made one after the other."""
    with TemporaryDirectory() as folder:
        for exhibit in (*made_up(), visits(Path(folder)), *(public(data) if data else ())):
            yield report_of(exhibit)


def report_of(exhibit: Exhibit) -> Report:
    """Publishes a data set, and returns the report of the release."""
    release = cantle.publish(exhibit.data, exhibit.schema, epsilon=EPSILON)  # type: ignore[arg-type]
    records = f"{release.summary['records']:,}"
    text = f"{release.manifest.method}, epsilon {EPSILON}, {records} released records"
    return Report(exhibit.name, exhibit.title, text, render(release))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("gallery"), metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with adult/, bank-marketing/, nltcs/, …")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for report in reports(options.data):
        (options.output / f"{report.name}.html").write_text(report.html, encoding="utf-8")
        print(f"{report.name}.html: {report.title} ({report.release})")


if __name__ == "__main__":
    main()
