"""Exact audits of DiffGen: both presets, every score, tiny domains, through the shipped code.

Every selection pays a multiple of its score's range (1 for the majority scores) in whole units, so that exponents in
base 2 are whole. The scores in steps of 1/1024 run the shipped code with another step: `SCALE` is 2 here, so the range
is 2 for half Gini and 6 for information gain and purity. Their proofs hold for any step. In the same way class weights
go up to 2 instead of 1024, and counts get a threshold above a few spurious cells instead of millions.

The final counts of cells are not enumerated (`Audit.enumerate_leaves`), because nothing depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType

from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Config, Constant, Detail, Shown, Table, heard, leaked, without_own_error
from cantle.methods.diffgen import method as diffgen
from cantle.methods.diffgen.method import DiffGen
from cantle.schema.domain import Attribute, Domain, Labels, Steps
from cantle.schema.taxonomy import Taxonomy
from cantle.trusted.claims import scores
from cantle.trusted.core.budget import ReceiptFields

LAST = ("cells", "one-way tables")
"""The purposes of the last questions, on whose answers nothing depends."""

OWNERS: Mapping[str, ModuleType] = {
    "SCALE": scores, "WEIGHT": diffgen, "POINTS": diffgen, "ENOUGH": diffgen,
    "MOST_SPURIOUS": diffgen,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class DiffGenConfig(Config):
    """DiffGen over numeric and categorical columns."""

    classes: int = 2
    quick: int = 0
    trees: Mapping[int, object] = field(default_factory=dict)
    """The taxonomy of each categorical column, by its number; all other columns are numeric."""
    constants: Mapping[str, int] = field(default_factory=dict)
    """Constants of the code that are smaller in this audit; `OWNERS` says which module holds each."""

    def changed(self) -> Iterator[Constant]:
        return ((OWNERS[name], name, value) for name, value in self.constants.items())

    def domain(self) -> Domain:
        attributes = []
        for a, size in enumerate(self.sizes):
            tree = Taxonomy.from_nested(self.trees[a]) if a in self.trees else None
            steps = Steps(type="integer", first=0, step=1, grid=size)
            scale = steps if tree is None else Labels(type="string", labels=tree.leaves)
            attributes.append(Attribute(f"a{a}", scale, nullable=False, taxonomy=tree))
        target = Attribute("y", Labels(type="string", labels=tuple("klmn"[: self.classes])), nullable=False)
        return Domain(tuple(attributes), target, (*(a.name for a in attributes), "y"))

    def run(self, table: Table, noise: Enumerating, detail: Detail) -> Shown:
        method = DiffGen(self.domain(), preset=self.preset, **without_own_error(self.settings))
        final = () if detail.leaves else LAST
        answers, receipt = heard(method, self.engine(table, method), self.budget, noise, final)
        before = [one for one in answers if not one.startswith(LAST)]  # `shown` adds the last ones
        return shown(method, before, noise, receipt)


def shown(method: DiffGen, answers: list[str], noise: Enumerating, receipt: ReceiptFields) -> Shown:
    """All that a release contains, and more: noisy answers, cuts, number of records, threshold, listed cells,
    receipt."""
    noisy = method.noisy
    assert noisy is not None
    lines = [
        f"rounds {method.rounds}, records {method.noisy_records}, cells {method.grid.cells}",
        *(f"cut of a{a}: {edge.tolist()}" for a, edge in enumerate(method.grid.edges)),
        f"at least {noisy.at_least[0]}, rate {noisy.rate_num[0]}/{noisy.rate_den}",
        *(f"values of a{one.attribute}: {one.cells.tolist()} {one.noisy.tolist()}" for one in method.tables),
        *leaked(noise),
    ]
    cells = tuple(n for pair in zip(noisy.cells.tolist(), noisy.value.tolist(), strict=True) for n in pair)
    return (*answers, *lines, f"receipt {receipt}"), cells


# ---- the list -----------------------------------------------------------------------------------------------------


def _joint(**given: object) -> dict[str, object]:
    """Settings with a declared number of records, one round, no class totals and no one-way tables, overridden by those
    given."""
    plain = {"records": 3, "count_share": 0, "rounds": 1, "cells": 100, "score": "majority", "structure_share": "1/2"}
    return plain | {"oneway_share": 0} | given


TREE = [{"left": ["p", "q"]}, "r"]
"""Three values, two of them in a group."""

JOINT = DiffGenConfig("DiffGen: majority, a number of 4", (4,), _joint(), 2, tight=True)
"""The specialisation pays 1 unit, cells 1."""

POINT = DiffGenConfig("DiffGen paper: one split point, a number of 4", (4,), {"rounds": 1}, 4, preset="paper")
"""The split point pays 1 unit, the specialisation 1 (with a single candidate), cells 2."""

SPANS = DiffGenConfig("DiffGen paper: points of both children", (4,), {"rounds": 2}, 8, preset="paper", records=2)
"""Four selections pay 1 unit each, cells 4."""

MIXED = DiffGenConfig(
    "DiffGen paper: a category and a number", (3, 3), {"rounds": 2}, 8, preset="paper", records=1, trees={0: TREE}
)
"""Four selections may pay 1 unit each; categorical rounds need fewer, and the cells get what is left."""

WIDE = DiffGenConfig("DiffGen paper: a number of 11", (11,), {"rounds": 1}, 4, 1, preset="paper", records=1)
"""Instance I9: the domain [0, 10]."""

TWO = DiffGenConfig("DiffGen paper: two numbers", (4, 4), {"rounds": 1}, 6, preset="paper", records=0)
"""Two split points and the choice of a value pay 1 unit each, cells 3."""

CATEGORIES = DiffGenConfig(
    "DiffGen paper: categories only", (3, 2), {"rounds": 2}, 6, preset="paper", records=2,
    trees={0: TREE, 1: ["s", "t"]},
)  # fmt: skip
"""Two choices of a value pay 1 unit each. The third selection is never made and leaves its unit to the cells: 4."""

AUTO = DiffGenConfig(
    "DiffGen: rounds and cells from the charged number of records", (4,),
    {"score": "majority", "count_share": "1/87", "structure_share": "3/43", "oneway_share": 0}, 87, records=1,
    tight=True,
)  # fmt: skip
"""Class totals pay 1 unit, up to three specialisations 6 together, cells 80."""

THRESHOLD = DiffGenConfig(
    "DiffGen: threshold of counts", (4,), _joint(rounds=2, structure_share="2/3"), 3,
    constants={"MOST_SPURIOUS": 2}, records=2, tight=True,
)  # fmt: skip
"""More empty cells than may be listed: two specialisations pay 1 unit each, cells 1, and counts are listed from 2
on."""

ONEWAY = DiffGenConfig(
    "DiffGen: one-way tables", (3, 2), _joint(rounds=0, oneway_share="2/3"), 3, records=1, tight=True
)
"""No specialisation: two tables pay 2 units together, cells 1."""

TOP = DiffGenConfig("DiffGen: no round, cells only", (3,), _joint(rounds=0), 2, tight=True)

DIFFGEN_CONFIGS: tuple[DiffGenConfig, ...] = (
    TOP,
    JOINT,
    DiffGenConfig("DiffGen: majority, two rounds", (4,), _joint(rounds=2), 4, records=2, tight=True),
    DiffGenConfig("DiffGen: majority, two numbers", (2, 3), _joint(rounds=2), 4, records=1),
    DiffGenConfig("DiffGen: majority, few points", (6,), _joint(rounds=2), 4, records=1, constants={"POINTS": 2},
                  tight=True),
    DiffGenConfig(
        "DiffGen: majority, a category and a number", (3, 3), _joint(rounds=2), 4, records=1, trees={0: TREE},
        tight=True,
    ),
    DiffGenConfig("DiffGen: majority, 3 classes", (3,), _joint(rounds=2), 4, classes=3, records=2),
    DiffGenConfig("DiffGen: majority, 1 class", (4,), _joint(rounds=2), 4, classes=1),
    DiffGenConfig(
        "DiffGen: half Gini, rounds of 10 and 14", (4,), _joint(score="gini", rounds=2, structure_share="24/25"), 25,
        constants={"SCALE": 2}, records=2,
    ),
    DiffGenConfig(
        "DiffGen: half Gini, a category and a number, 3 classes", (3, 2), _joint(score="gini", structure_share="2/3"),
        3, classes=3, constants={"SCALE": 2}, records=1, trees={0: TREE},
    ),
    DiffGenConfig(
        "DiffGen: weighted by noisy class totals", (3,),
        _joint(score="weighted", count_share="3/7"), 7, constants={"WEIGHT": 2}, window=(0, 2), records=2,
        tight=True,
    ),
    DiffGenConfig(
        "DiffGen: tempered by noisy class totals", (3,),
        _joint(score="tempered", count_share="3/7"), 7, constants={"WEIGHT": 2}, window=(0, 2), records=1,
        tight=True,
    ),
    DiffGenConfig(
        "DiffGen: accuracy, the first round tempered", (4,),
        _joint(score="auto", objective="accuracy", count_share="3/11", rounds=2), 11,
        constants={"WEIGHT": 2, "ENOUGH": 1}, window=(0, 2), records=2, tight=True,
    ),
    AUTO,
    ONEWAY,
    DiffGenConfig("DiffGen: preset default", (4,), {"oneway_share": 0}, 400, records=1, constants={"WEIGHT": 1},
                  tight=True),
    DiffGenConfig("DiffGen: preset default, a category and a number", (3, 2), {"oneway_share": 0}, 400, records=1,
                  trees={0: TREE},
                  constants={"WEIGHT": 1}, tight=True),
    THRESHOLD,
    DiffGenConfig("DiffGen: a person of two records", (3,), _joint(), 4, unit=2, records=2, tight=True),
    POINT,
    SPANS,
    MIXED,
    WIDE,
    DiffGenConfig("DiffGen paper: 3 classes", (4,), {"rounds": 1}, 4, classes=3, preset="paper", records=2),
    DiffGenConfig("DiffGen paper: 1 class", (3,), {"rounds": 2}, 8, classes=1, preset="paper"),
    CATEGORIES,
    TWO,
    DiffGenConfig("DiffGen paper: more rounds than there are", (2,), {"rounds": 3}, 12, preset="paper"),
    DiffGenConfig("DiffGen paper: information gain", (3,), {"rounds": 2, "score": "infogain"}, 48, preset="paper",
                  constants={"SCALE": 2}),
    DiffGenConfig("DiffGen paper: purity", (3, 3), {"rounds": 1, "score": "purity"}, 24, preset="paper",
                  constants={"SCALE": 2}, records=1, trees={0: TREE}),
    DiffGenConfig("DiffGen paper: literal, a number of 4", (4,), {"rounds": 1, "literal": True}, 8, preset="paper",
                  records=2),
    DiffGenConfig("DiffGen paper: a person of two records", (3,), {"rounds": 1}, 8, unit=2, preset="paper", records=1),
)  # fmt: skip
