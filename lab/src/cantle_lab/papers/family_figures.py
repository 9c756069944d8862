"""How near releases of linked tables come to their data: sizes, columns, the link, and who is with whom.

Distances are half the sum of absolute differences of shares. Families are compared after they are cut to the maximum.
Not private: releases are compared with the raw records.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, cast

import numpy as np
import polars as pl

from cantle.data.families import read_families
from cantle.release.structures import opened
from cantle.schema import as_schema
from cantle.schema.families import FamilySchema
from cantle.trusted.core.arrays import Codes, Ints
from cantle_lab.papers.harness import Row, Setting, rows
from cantle_lab.papers.made_families import CLINIC, SHOP, clinic, package, shop
from cantle_lab.papers.metrics import variation

FIGURE = "families"
LATER, FEWEST = 6, 1000
"""Positions of children whose order column is compared, if so many families have them."""


@dataclass(frozen=True)
class FamilySet:
    """A data set of two linked tables."""

    name: str
    tables: Mapping[str, pl.DataFrame]
    document: Mapping[str, Any]


def families(setting: Setting) -> Iterator[Row]:
    """How near linked tables come to their data: households (if `--data` has them), a made-up clinic and shop."""
    for number, data in enumerate(present(setting)):
        schema = cast(FamilySchema, as_schema(data.document))
        truth = read_families(dict(data.tables), schema)
        raw = Rows([*truth.parent], truth.size, [*truth.child], schema)
        for epsilon, repeat in setting.points((0.1, 1, 3, 10)):
            options = {"method": "families", "accuracy_share": "1/25"}
            release, spent = setting.timed(dict(data.tables), data.document, epsilon, options, 100 * number + repeat)
            found: Any = opened(release)
            parents, size, children = found.codes
            scores = distances(raw, Rows(parents, size, children, schema)) | {"core-seconds": spent}
            yield from rows(FIGURE, f"{data.name}: {{}}", "families", epsilon, repeat, scores)


def present(setting: Setting) -> Iterator[FamilySet]:
    """The data sets that are there."""
    if setting.data_dir is not None and (setting.data_dir / "households").is_dir():
        yield households(setting)
    else:
        setting.echo("households: skipped, because --data DIR has no folder households (ActivitySim/populationsim)")
    yield FamilySet("clinic", clinic(20_000, 5), CLINIC)
    yield FamilySet("shop", shop(20_000, 5), SHOP)


def households(setting: Setting) -> FamilySet:
    """The seed sample of PopulationSim's survey weighting example."""
    assert setting.data_dir is not None
    tables = {}
    for name in ("households", "persons"):
        with lzma.open(setting.data_dir / "households" / f"{name}.csv.xz") as file:
            tables[name] = pl.read_csv(file.read(), infer_schema=False).rename({"hhID": "id"})
    regions = sorted(map(int, tables["households"]["SUBREG_GRP"].unique()))
    required = {"required": True}

    def one_of(name: str, values: Sequence[int], **more: Any) -> dict[str, Any]:
        return {"name": name, "type": "integer", "categories": list(values), **more}

    above = [one_of(name, values, constraints=required) for name, values in (
        ("SUBREG_GRP", regions), ("HHIncome", (1, 2, 3)), ("HHDwelling", (1, 2)),
    )]  # fmt: skip
    age = {"name": "PAge", "type": "integer", "constraints": {"minimum": 1, "maximum": 11, "required": True}}
    below = [age, one_of("PGender", (1, 2), constraints=required), one_of("PEmp", (1, 2, 3))]
    made = package("households", "persons", (above, below), 8, "-PAge")
    return FamilySet("households", tables, made)


@dataclass(frozen=True)
class Rows:
    """Families as codes."""

    parent: list[Codes]
    size: Ints
    child: list[Codes]
    schema: FamilySchema

    @property
    def widths(self) -> tuple[list[int], list[int]]:
        """The numbers of codes of both tables' columns."""
        return list(self.schema.sizes[0]), list(self.schema.sizes[1])

    def starts(self) -> Ints:
        return np.cumsum(self.size) - self.size


def distances(raw: Rows, made: Rows) -> dict[str, float]:
    """All distances by name."""
    (parents, children), most = raw.widths, raw.schema.max_children + 1
    names = [one.name for one in raw.schema.domains[1].attributes]
    above, below = range(len(parents)), range(len(children))

    def joined(one: Rows) -> list[Codes]:
        return [np.repeat(column, one.size) for column in one.parent] + list(one.child)

    def pair(tables: Iterable[Sequence[Codes]], sizes: tuple[int, int]) -> float:
        first, second = (
            np.bincount(a.astype(np.int64) * sizes[1] + b, minlength=sizes[0] * sizes[1]) for a, b in tables
        )
        return variation(first, second)

    both, sizes, sides = (joined(raw), joined(made)), [*parents, *children], (raw, made)
    size_counts = [np.bincount(one.size, minlength=most) for one in sides]
    every = combinations(range(len(sizes)), 2)
    pairs = [pair(([one[a], one[b]] for one in both), (sizes[a], sizes[b])) for a, b in every]
    own = [pair(([one.parent[a], one.size] for one in sides), (parents[a], most)) for a in above]
    together = list(zip(sides, map(_pairs, sides), strict=True))
    siblings = [
        pair(([one.child[a][i], one.child[b][j]] for one, (i, j) in together), (children[a], children[b]))
        for a, b in product(below, below)
    ]
    found = {"sizes": variation(*size_counts), "joined pairs": float(np.mean(pairs))}
    found |= {"size and parent": float(np.mean(own)), "siblings": float(np.mean(siblings))}
    for a in below:
        for later, word in ((1, "second"), (2, "third")):
            at = [(one, one.starts()[one.size > later]) for one in sides]
            shown = ([one.child[a][rows], one.child[a][rows + later]] for one, rows in at)
            found[f"first and {word} {names[a]}"] = pair(shown, (children[a], children[a]))
    if raw.schema.order:
        ordered = names.index(raw.schema.order[0][0])
        drift = []
        for position in range(min(LATER, most - 1)):
            counts = []
            for one in (raw, made):
                here = one.starts()[one.size > position] + position
                counts.append(np.bincount(one.child[ordered][here], minlength=children[ordered]))
            drift.append(variation(*counts) if counts[0].sum() >= FEWEST else 0.0)
        found[f"{names[ordered]} by position, worst"] = max(drift)
    return found


def _pairs(one: Rows) -> tuple[Ints, Ints]:
    """The places of all pairs of children of a family, the earlier one first."""
    starts, first, second = one.starts(), [], []
    for a, b in combinations(range(int(one.size.max(initial=0))), 2):
        here = starts[one.size > b]
        first.append(here + a)
        second.append(here + b)
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *first]), np.concatenate([nothing, *second])
