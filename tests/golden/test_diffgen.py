"""The example of the DiffGen paper (Table 1, Figures 1 and 2), worked by hand, and the prices of Algorithm 1."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from cantle.errors import ParameterError, SchemaError
from cantle.interfaces.publishing import publish, run
from cantle.methods.diffgen.method import DiffGen
from cantle.methods.diffgen.results import generalise
from cantle.schema import Schema
from cantle.trusted.claims.scores import HalfGini, InfoGain, JointMajority, Max
from cantle.trusted.claims.specialisations import JointSplits, OneValue, SplitPoints, Value
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.core.keys import GridCells
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.noise import Seeded

TREE: Any = {"Any_Job": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}]}
JOBS = ["Engineer", "Lawyer", "Dancer", "Writer"]
REQUIRED = {"required": True}
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "Job", "type": "string", "categories": JOBS, "hierarchy": TREE, "constraints": REQUIRED,
         "unknown": "drop"},
        {"name": "Age", "type": "integer", "constraints": {"required": True, "minimum": 18, "maximum": 64}},
        {"name": "Class", "type": "string", "categories": ["Y", "N"], "role": "target", "constraints": REQUIRED,
         "unknown": "drop"},
    ]
}  # fmt: skip
TABLE = pl.DataFrame(
    {
        "Job": ["Engineer", "Lawyer", "Engineer", "Lawyer", "Dancer", "Writer", "Writer", "Dancer"],
        "Age": [34, 50, 38, 33, 20, 37, 32, 25],
        "Class": ["Y", "N", "N", "Y", "Y", "N", "Y", "N"],
    }
)
DOMAIN = Schema.from_dict(SCHEMA).domain()
SIZES = (4, 47)
JOB = Value(0, (0, 4), ((0, 2), (2, 4)))
AGE_40 = Value(1, (0, 47), ((0, 22), (22, 47)))
"""The specialisation of ages into [18, 40) and [40, 65)."""


def engine(frame: pl.DataFrame = TABLE) -> WordEngine:
    columns, classes = DOMAIN.encode_columns(frame)
    return WordEngine([(columns, classes)], sizes=SIZES, class_count=2)


# ---- scores -----------------------------------------------------------------------------------------------------


def test_max_by_hand() -> None:
    """Jobs: 2Y2N and 2Y2N give 2 + 2. Ages: 4Y3N and 0Y1N give 4 + 1. Professional, Artist: 1Y1N twice give 1 + 1."""
    values = (JOB, AGE_40, Value(0, (0, 2), ((0, 1), (1, 2))), Value(0, (2, 4), ((2, 3), (3, 4))))
    assert OneValue(values, SIZES, 2).score(engine(), Max()).scores.tolist() == [4, 5, 2, 2]


def test_information_gain_by_hand() -> None:
    """Jobs give 0 bits. Ages give 1 - 7/8 H(4/7) = 1 - 7/8 * 0.985228 = 0.137925 bits, or 141.2 steps of 1/1024."""
    assert OneValue((JOB, AGE_40), SIZES, 2).score(engine(), InfoGain()).scores.tolist() == [0, 141]


def test_the_split_point_with_the_largest_max_by_hand() -> None:
    """Sorted ages: 20Y 25N 32Y 33Y 34Y | 37N 38N 50N. Points 35 to 37 give 4 + 3 = 7, and every other point less."""
    asked = SplitPoints((Value(1, (0, 47), None),), 47, 2)
    runs = asked.score(engine(), Max())
    assert runs.many is not None
    ages = {int(first) + 18: (int(score), int(many)) for first, score, many in
            zip(runs.point, runs.scores, runs.many, strict=True)}  # fmt: skip
    # [19, 20] nothing left: 4; [21, 25] 1Y | 3Y4N: 5; [26, 32] 1Y1N | 3Y3N: 4; 33 2Y1N | 2Y3N: 5; 34 3Y1N | 1Y3N: 6;
    # [35, 37]: 7; 38 4Y2N | 2N: 6; [39, 50] 4Y3N | 1N: 5; [51, 64] nothing right: 4.
    assert ages == {
        19: (4, 2), 21: (5, 5), 26: (4, 7), 33: (5, 1), 34: (6, 1), 35: (7, 3), 38: (6, 1), 39: (5, 12), 51: (4, 14),
    }  # fmt: skip
    assert sum(many for _, many in ages.values()) == 46


def test_joint_scores_by_hand() -> None:
    """Figure 2 after its first specialisation: Professional 2Y1N | 0Y1N and Artist 2Y2N | nothing give 5, before 4."""
    grid = Grid.top(SIZES).refine(0, (2,))
    asked = JointSplits(grid, (AGE_40,), (0,), 9, 2)
    assert asked.score(engine(), JointMajority()).scores.tolist() == [1]
    # The half Gini of the whole is 1024 (8 - 32/8) / 2 = 2048; after ages alone it is floor(1024 * 12/7) + 0 = 1755.
    top = JointSplits(Grid.top(SIZES), (AGE_40, JOB), (0, 7), 9, 2)
    assert sorted(top.score(engine(), HalfGini()).scores.tolist()) == [-7, 293]


def test_the_groups_of_figure_2() -> None:
    grid = Grid.top(SIZES).refine(0, (2,)).refine(1, (22,))
    entries, counts = engine().occupied(GridCells(grid, 2))
    # Entries are cell * 2 + class: young professionals Y and N, old ones N, young artists Y and N; no old artists.
    assert dict(zip(entries.tolist(), counts.tolist(), strict=True)) == {0: 2, 1: 1, 3: 1, 4: 2, 5: 2}
    table_1d = generalise(DOMAIN, grid, TABLE).group_by("Job", "Age").len()
    assert sorted(table_1d.iter_rows()) == [
        ("Artist", "[18, 40)", 4), ("Professional", "[18, 40)", 3), ("Professional", "[40, 65)", 1),
    ]  # fmt: skip


# ---- prices -----------------------------------------------------------------------------------------------------


def charges(method: DiffGen, seed: int, nano: int = NANO) -> list[tuple[str, int]]:
    receipt = run(method, engine(), epsilon_nano=nano, unit=Unit(), noise=Seeded(seed))
    [path] = receipt["paths"]
    assert path["epsilon_nano"] == nano  # nothing is left over
    return [(charge["why"], charge["epsilon_nano"]) for charge in path["charges"]]


def test_the_prices_of_algorithm_1() -> None:
    """For epsilon 1, h = 2 and one number, half is cut into |A_n| + 2h - 1 = 4 parts of 0.125; cells get the rest."""
    seen = set()
    for seed in range(40):
        method = DiffGen(DOMAIN, preset="paper", rounds=2)
        paid = charges(method, seed)
        numeric_first = ("split point", 125_000_000) in paid[1:]
        seen.add(numeric_first)
        purposes = ["split point", "specialise", *(["split point"] if numeric_first else []), "specialise", "cells"]
        assert [why for why, _ in paid] == purposes
        assert {price for why, price in paid if why != "cells"} == {125_000_000}
        assert paid[-1] == ("cells", 500_000_000 if numeric_first else 625_000_000)
        assert method.grid.shape in ((2, 2), (3, 1), (1, 3))
    assert seen == {True, False}


@pytest.mark.parametrize(("rounds", "price"), [(1, 250_000_000), (3, 83_333_333), (10, 25_000_000)])
def test_prices_are_rounded_down_and_the_cells_get_the_rest(rounds: int, price: int) -> None:
    paid = charges(DiffGen(DOMAIN, preset="paper", rounds=rounds), 3)
    assert {cost for why, cost in paid if why != "cells"} == {price}
    assert paid[-1][1] == NANO - price * (len(paid) - 1) >= NANO // 2


def test_without_rounds_the_cells_get_all() -> None:
    assert charges(DiffGen(DOMAIN, preset="paper", rounds=0), 1) == [("cells", NANO)]


def test_with_a_huge_budget_the_best_split_is_chosen() -> None:
    """Ages cut at 35 to 37 have Max 7, jobs have 4, so ages are cut; noise of rate 10^4 changes nothing."""
    for seed in range(5):
        method = DiffGen(DOMAIN, preset="paper", rounds=1)
        charges(method, seed, 10**15)
        assert method.grid.shape == (1, 2)
        assert 35 <= int(method.grid.edges[1][1]) + 18 <= 37
        assert method.noisy is not None
        assert method.noisy.value.tolist() == [4, 1, 3]  # 4Y1N | 0Y3N; the empty group is withheld
        assert method.noisy.cells.tolist() == [0, 1, 3]


# ---- bad and small input ----------------------------------------------------------------------------------------


def test_there_may_be_more_rounds_than_specialisations() -> None:
    """Jobs have 3 and ages 46; the price of the missing rounds goes to the cells."""
    method = DiffGen(DOMAIN, preset="paper", rounds=1000)
    paid = charges(method, 1)
    assert method.rounds == 49
    assert method.grid.shape == SIZES
    assert {cost for why, cost in paid if why != "cells"} == {250_000}
    assert paid[-1][1] == NANO - 250_000 * (len(paid) - 1)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_there_may_be_one_class_only(preset: str) -> None:
    fields = [*SCHEMA["fields"][:2], SCHEMA["fields"][2] | {"categories": ["Y"]}]
    frame = TABLE.with_columns(pl.lit("Y").alias("Class"))
    settings: dict[str, Any] = {"method": "diffgen", "preset": preset, "rounds": 2, "cells": 50}
    release = publish(frame, {"fields": fields}, epsilon=1, insecure_seed=1, **settings)
    assert set(release.records["Class"]) <= {"Y"}
    assert release.manifest.summary["rounds"] == 2


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_there_may_be_no_records(preset: str) -> None:
    release = publish(TABLE.head(0), SCHEMA, epsilon=1, method="diffgen", preset=preset, rounds=2, insecure_seed=1)
    assert release.records.columns == ["Job", "Age", "Class"]


@pytest.mark.parametrize("cells", [1, 2, 5])
def test_the_limit_of_cells_ends_the_rounds(cells: int) -> None:
    method = DiffGen(DOMAIN, rounds=30, cells=cells, records=8)
    charges(method, 1)
    assert method.grid.cells <= max(1, 2 * (cells - 1))  # each specialisation at most doubles the cells
    assert (method.rounds == 0) == (cells == 1)


def test_a_budget_too_small_for_the_rounds_is_refused() -> None:
    with pytest.raises(ParameterError, match="too small for 1000 rounds"):
        charges(DiffGen(DOMAIN, preset="paper", rounds=1000), 1, 3000)


@pytest.mark.parametrize(
    "tree",
    [
        [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer"]}],
        [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer", "Lawyer"]}],
        [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer", "Potter"]}],
    ],
    ids=["a value missing", "a value twice", "a value unknown"],
)
def test_unsound_taxonomies_are_refused(tree: Any) -> None:
    fields = [SCHEMA["fields"][0] | {"hierarchy": tree}, *SCHEMA["fields"][1:]]
    with pytest.raises(SchemaError):
        Schema.from_dict({"fields": fields})


def test_a_taxonomy_with_a_cycle_is_refused() -> None:
    tree: list[Any] = [{"Professional": ["Engineer", "Lawyer"]}, "Dancer", "Writer"]
    tree.append(tree)
    with pytest.raises(SchemaError):
        Schema.from_dict({"fields": [SCHEMA["fields"][0] | {"hierarchy": tree}, *SCHEMA["fields"][1:]]})


def test_the_same_seed_gives_the_same_run_in_any_order_of_records() -> None:
    def cuts(frame: pl.DataFrame, seed: int) -> Any:
        method = DiffGen(DOMAIN, preset="paper", rounds=3)
        run(method, engine(frame), epsilon_nano=NANO, unit=Unit(), noise=Seeded(seed))
        assert method.noisy is not None
        return [edge.tolist() for edge in method.grid.edges], method.noisy.cells.tolist(), method.noisy.value.tolist()

    shuffled = TABLE.sample(fraction=1, shuffle=True, seed=2)
    assert [cuts(TABLE, seed) for seed in range(5)] == [cuts(shuffled, seed) for seed in range(5)]
