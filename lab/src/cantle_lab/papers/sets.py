"""Set-valued data to evaluate on: public data sets read from their files, and a generated stand-in for STM.

The files are not part of the package: `load` takes the folder that contains `msnbc/`, `retail/` and the others, plain
or compressed with xz. Evaluation may read the raw records, so the universe of a file consists of the items that occur
in it, numbered in ascending order of their ids.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from cantle.errors import DataError, ParameterError
from cantle.trusted.core.arrays import Codes as AnyCodes
from cantle.trusted.geometry import item_partitions
from cantle_lab.papers.coding import Ints

Codes = npt.NDArray[np.int32]

# Data set -> its file in the data folder; each may also end in .xz.
FILES = {
    "msnbc": "msnbc/msnbc990928.seq",
    "bms-webview-1": "bms-webview-1/BMS-WebView-1.dat",
    "bms-webview-2": "bms-webview-2/BMS-WebView-2.dat",
    "retail": "retail/retail.dat",
    "kosarak-5-25": "kosarak-5-25/kosarak-5-25.dat",
    "tags-math-sx": "tags-math-sx/tags-math-sx.dat",
    "email-eu-sets": "email-eu-sets/email-eu-sets.dat",
    "t10i4d100k": "t10i4d100k/T10I4D100K.dat",
}

# Table 2 of the paper: STM itself is not public.
STM_RECORDS, STM_ITEMS, STM_LONGEST = 1_210_096, 1_012, 64


@dataclass(frozen=True)
class Sets:
    """Set-valued records: record i is items[starts[i] : starts[i + 1]], in ascending codes from 0 to `size` - 1."""

    starts: Ints
    items: Codes
    size: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """The number of items of each record."""
        return np.diff(self.starts)

    @property
    def longest(self) -> int:
        """The largest record size, max|t| of the paper."""
        return int(self.lengths.max(initial=0))

    def owners(self) -> Ints:
        """The record of each entry of `items`."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def supports(self) -> Ints:
        """The number of records that contain each item."""
        return np.bincount(self.items, minlength=self.size).astype(np.int64)

    def take(self, records: Ints) -> Sets:
        """These records, in this order."""
        return Sets(*item_partitions.gather(self.starts, self.items, records), self.size)

    def draw(self, number: int, rng: np.random.Generator) -> Sets:
        """This many of the records, drawn without replacement."""
        return self.take(np.sort(rng.permutation(len(self))[:number]))

    def limit(self, number: int) -> Sets:
        """The records cut to the `number` most frequent items, which are renumbered; empty records are dropped.

        The paper (sections 5.2, E) limits the universe without saying how. If items were drawn at random, fewer than
        its 800,000 records would be left.
        """
        order = np.argsort(-self.supports(), kind="stable")
        kept = np.zeros(self.size, dtype=bool)
        kept[order[:number]] = True
        codes = np.cumsum(kept) - 1
        mine = kept[self.items]
        return gather(self.owners()[mine], codes[self.items[mine]], int(kept.sum()))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The records for the publisher: one list column `items` of labels 1 to `size`."""
        table = pl.DataFrame({"record": self.owners(), "items": self.items + 1})
        lists = table.group_by("record", maintain_order=True).agg("items")
        empty = np.flatnonzero(self.lengths == 0)
        if len(empty):
            blank = pl.DataFrame({"record": empty, "items": [[]] * len(empty)}, schema=lists.schema)
            lists = pl.concat([lists, blank]).sort("record")
        return lists.select("items")

    def schema(self) -> dict[str, object]:
        """The public schema of `frame`."""
        return {"kind": "sets", "items": {"minimum": 1, "maximum": self.size}}

    def write(self, path: Path) -> None:
        """Writes the labels as FIMI lines: one record per line, separated by spaces."""
        text = pl.col("items").cast(pl.List(pl.String)).list.join(" ")
        self.frame.select(text).write_csv(path, include_header=False, quote_style="never")


def from_frame(frame: pl.DataFrame, size: int) -> Sets:
    """The records of a frame with a list column `items` of labels 1 to `size`."""
    column = frame["items"]
    lengths = column.list.len().to_numpy().astype(np.int64)
    labels = column.explode().drop_nulls().cast(pl.Int64).to_numpy()
    return gather(np.repeat(np.arange(len(lengths)), lengths), labels - 1, size)


def gather(records: AnyCodes, codes: AnyCodes, size: int) -> Sets:
    """Sets from pairs (record, item): they are sorted, repeats are dropped, records are renumbered without gaps."""
    keys = np.sort(records.astype(np.int64) * size + codes)  # np.unique would hash first: ten times slower here
    keys = keys[np.diff(keys, prepend=-1) != 0]
    owner, items = np.divmod(keys, size)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    return Sets(np.append(starts, len(keys)).astype(np.int64), items.astype(np.int32), size)


# ---------------------------------------------------------------------------------------------- files


def find(name: str, folder: Path | None) -> Path | None:
    """The file of a data set, plain or .xz, or None if the folder does not have it."""
    if name not in FILES:
        raise ParameterError(f"unknown data set {name}; choose from {', '.join(FILES)}")
    if folder is None:
        return None
    plain = folder / FILES[name]
    return next((path for path in (plain, plain.with_name(f"{plain.name}.xz")) if path.is_file()), None)


def load(name: str, folder: Path | None) -> Sets:
    """The records of a data set; a sequence (MSNBC) becomes the set of pages that it visits (paper, section 5)."""
    path = find(name, folder)
    if path is None:
        raise DataError(f"cannot find {FILES[name]} (or .xz) in the data folder; name the folder that contains it")
    raw = path.read_bytes()
    return parse((lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("ascii").splitlines())


def parse(lines: Iterable[str]) -> Sets:
    """Records from lines of item ids separated by spaces; lines that do not start with a digit are headers."""
    texts = pl.Series("line", [line for line in lines if line[:1].isdigit()], dtype=pl.String)
    tokens = pl.DataFrame({"record": np.arange(len(texts)), "id": texts.str.strip_chars().str.split(" ")})
    tokens = tokens.explode("id").filter(pl.col("id") != "").cast({"id": pl.Int64})
    ids, codes = np.unique(tokens["id"].to_numpy(), return_inverse=True)
    return gather(tokens["record"].to_numpy(), codes, max(len(ids), 1))


# ---------------------------------------------------------------------------------------------- stand-in


@dataclass(frozen=True, kw_only=True)
class Town:
    """The travel pattern of the stand-in.

    Station s is in neighbourhood s // `stations`, so that stations close to each other have close codes. Everybody has
    a home and a work neighbourhood. The number of visits in a week is lognormal. A visit goes to a station at home, at
    work or anywhere. The popularity of the neighbourhoods, and of the stations in each, is proportional to
    1 / (rank + `offset`) ** `power`. A station that is visited twice counts once. A record keeps at most `longest`
    stations.
    """

    records: int = STM_RECORDS
    items: int = STM_ITEMS
    longest: int = STM_LONGEST
    stations: int = 23  # 44 neighbourhoods of 23 make 1,012
    home: float = 0.5
    work: float = 0.4
    power: float = 1.1
    offset: float = 1.2
    visits: float = 1.368  # mean of the logarithm of the number of visits
    spread: float = 0.93  # and its standard deviation


def stand_in(town: Town | None = None, seed: int = 2011) -> Sets:
    """Generated records of the size of STM: 1,210,096 sets over 1,012 stations, mean about 4.82, at most 64.

    Only these figures of the real STM are known. The travel pattern is ours, so results on it are not results on STM.
    """
    town = town or Town()
    rng = np.random.default_rng(seed)
    visits = np.rint(rng.lognormal(town.visits, town.spread, town.records)).astype(np.int64)
    person = np.repeat(np.arange(town.records), np.maximum(visits, 1))
    hoods = -(-town.items // town.stations)
    home, work = (_ranks(hoods, town, rng, town.records) for _ in range(2))
    where = rng.random(len(person))
    hood = np.where(where < town.home, home[person], work[person])
    away = where >= town.home + town.work
    hood[away] = _ranks(hoods, town, rng, int(away.sum()))
    station = hood * town.stations + _ranks(town.stations, town, rng, len(person))
    return _cut(gather(person, np.minimum(station, town.items - 1), town.items), town.longest)


def _ranks(number: int, town: Town, rng: np.random.Generator, draws: int) -> Ints:
    weight = 1.0 / (np.arange(number) + town.offset) ** town.power
    return np.searchsorted(np.cumsum(weight)[:-1] / weight.sum(), rng.random(draws), side="right").astype(np.int64)


def _cut(data: Sets, longest: int) -> Sets:
    """Keeps the first `longest` items of each record."""
    place = np.arange(len(data.items)) - np.repeat(data.starts[:-1], data.lengths)
    kept = place < longest
    lengths = np.minimum(data.lengths, longest)
    return Sets(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), data.items[kept], data.size)


@dataclass(frozen=True)
class Shop:
    """How orders are made; two shops that differ much tell whether a rule fits more than one."""

    seed: int
    orders: int
    products: int
    fall: float  # popularity of product i falls as (i + 1) ** -fall
    others: float  # products of an order besides its bundles, on average
    bundles: tuple[int, ...]  # how many bundles of two, of three products
    share: tuple[float, float]  # smallest and largest share of the orders that a bundle is added to


SHOPS = {
    "orders": Shop(2026, 40_000, 200, 0.8, 3.0, (6, 4), (0.01, 0.1)),
    "other orders": Shop(1126, 75_000, 900, 1.1, 1.6, (10, 8), (0.004, 0.05)),
}


def make(shop: Shop) -> tuple[Sets, list[tuple[int, ...]]]:
    """The orders of a shop, and its bundles as codes of products in ascending order."""
    rng = np.random.default_rng(shop.seed)
    weight = np.arange(1, shop.products + 1) ** -shop.fall
    lengths = 1 + rng.poisson(shop.others - 1, shop.orders)
    owner = np.repeat(np.arange(shop.orders), lengths)
    product = rng.choice(shop.products, len(owner), p=weight / weight.sum())
    middling = rng.permutation(np.arange(shop.products // 20, shop.products // 2))
    bundles, owners, products, first = list[tuple[int, ...]](), [owner], [product], 0
    for size, number in zip((2, 3), shop.bundles, strict=True):
        for share in np.geomspace(*shop.share, number):
            bundle = np.sort(middling[first : first + size])
            first += size
            mine = np.flatnonzero(rng.random(shop.orders) < share)
            bundles.append(tuple(bundle.tolist()))
            owners.append(np.repeat(mine, size))
            products.append(np.tile(bundle, len(mine)))
    every = np.unique(np.concatenate(owners) * shop.products + np.concatenate(products))  # no product twice
    return gather(every // shop.products, (every % shop.products).astype(np.int32), shop.products), bundles
