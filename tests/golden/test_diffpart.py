"""The worked examples of the DiffPart paper (Table 1, Figures 1 and 2, Examples 4.2, C.1), through the shipped method.

Without noise the run is that of Figure 2: the thresholds of C2 = 1.2 at B = 6 drop exactly what the paper calls empty.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cantle.audit import sets as audit
from cantle.audit.exact import Audit
from cantle.drawing.counts import public_dice
from cantle.errors import ParameterError
from cantle.interfaces.opening import open_data
from cantle.interfaces.publishing import run
from cantle.methods.diffpart.method import DiffPart
from cantle.schema.sets import SetSchema
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.noise import Seeded

TABLE_1 = [
    ["I1", "I2", "I3", "I4"], ["I2", "I4"], ["I2"], ["I1", "I2"], ["I2"], ["I1"], ["I1", "I2", "I3", "I4"],
    ["I2", "I3", "I4"],
]  # fmt: skip
LEFT = SetSchema.from_dict({"kind": "sets", "items": ["I1", "I2", "I3", "I4"]})
RIGHT = SetSchema.from_dict({"kind": "sets", "items": ["I4", "I3", "I2", "I1"]})
"""The items in reverse order, so that I34 is expanded before I12, as in Example C.1."""


class Silent(Seeded):
    """A source without noise that lists every question as (partition, rate, threshold, M)."""

    def __init__(self) -> None:
        super().__init__(0)
        self.questions: list[tuple[int, Fraction, int, int]] = []

    def sparse(self, lanes: Any, starts: Any, cells: Any, counts: Any, total: Any, rate: Any, at_least: Any) -> Any:
        for i, key in enumerate(lanes.keys.tolist()):
            self.questions.append((key, Fraction(*rate.exact(i)), int(at_least[i]), int(total[i])))
        keep = counts >= np.repeat(at_least, np.diff(starts))
        kept = np.concatenate([[0], np.cumsum(keep)])[starts]
        return kept, cells[keep], counts[keep]


def published(schema: SetSchema, units: int = 6, **settings: Any) -> tuple[DiffPart, dict[str, Any], Silent]:
    plan, noise = DiffPart(schema, preset="paper", fanout=2, **settings), Silent()
    _, store = open_data(TABLE_1, schema, plan)
    return plan, run(plan, store, epsilon_nano=units * NANO, unit=Unit(), noise=noise), noise


def chains(receipt: dict[str, Any]) -> list[list[Fraction]]:
    """The charges of every kind of path, as shares of B."""
    total = receipt["epsilon_nano"]
    return sorted([Fraction(charge["epsilon_nano"], total) for charge in path["charges"]] for path in receipt["paths"])


SIXTH = Fraction(1, 6)


@pytest.mark.parametrize("schema", [LEFT, RIGHT], ids=["I12 first", "I34 first"])
@pytest.mark.parametrize("units", [6, 12, 600])
def test_the_budgets_of_example_4_2(schema: SetSchema, units: int) -> None:
    """B/6 for the root; 5B/6 for the leaves of {I12}; B/6 for the next test and 2B/3 for the leaves below it."""
    c2 = Fraction(6, 5) * units / 6  # so that the thresholds stay the same counts
    _, receipt, _ = published(schema, units, c1=Fraction(units, 2), c2=c2)
    assert chains(receipt) == [[SIXTH, SIXTH, Fraction(2, 3)], [SIXTH, Fraction(5, 6)]]


def test_the_walk_of_example_c_1() -> None:
    """The root is tested at B/6: {I34} is empty, {I12} and {I12, I34} are not. {I12, I34} is expanded at I34 with B/6:
    {I12, I3} and {I12, I4} (one record) are dropped, {I12, I3, I4} is kept. Then the leaves are counted."""
    plan, _, noise = published(RIGHT)
    root, first, second = plan.kept_partitions.rounds[:3]
    assert [len(nodes) for nodes in plan.kept_partitions.rounds] == [1, 2, 1, 0]
    # Node 0 is {I4, I3}, node 1 is {I2, I1}.
    assert (first.level.tolist(), first.level_starts.tolist()) == ([1, 0, 1], [0, 1, 3])
    assert (second.level.tolist(), second.taken.tolist(), second.below.tolist()) == ([0, 1], [1], [0, 1])
    kept = plan.kept_partitions.parts()
    assert (kept.mask.tolist(), kept.noisy.tolist()) == ([0, 2, 3, 3], [0, 4, 4, 3])
    # Thresholds are ceil(sqrt 2 * 1.2 * height / rate), for leaves ceil(sqrt 2 * 3 / rate).
    assert noise.questions == [(0, 1, 4, 3), (1, 5, 1, 3), (2, 1, 2, 3), (3, 4, 2, 3)]
    assert root.height.tolist() == [2]


def test_the_release_of_table_1() -> None:
    """{I1}: t6; {I2}: t3 and t5; {I1, I2}: t4; {I1, I2, I3, I4}: t1 and t7. t8 is alone, below sqrt 2 * 3 / 4."""
    plan, receipt, _ = published(RIGHT)
    results = plan.results(public_dice(1))
    groups = {frozenset(row["items"]): row for row in results.groups.to_dicts()}
    want = {("I1",): 1, ("I2",): 2, ("I1", "I2"): 1, ("I1", "I2", "I3", "I4"): 2}
    assert {items: row["count"] for items, row in groups.items()} == {frozenset(items): n for items, n in want.items()}
    assert results.records.height == 6
    price = {path["path"]: path["charges"][-1]["epsilon_nano"] for path in receipt["paths"]}
    for items, row in groups.items():
        leaf = 4 * NANO if len(items) == 4 else 5 * NANO
        assert (row["noisy"], row["rate_num"], row["rate_den"], price[row["path"]]) == (row["count"], leaf, NANO, leaf)


def test_every_chain_that_reaches_a_leaf_sums_to_b() -> None:
    """This holds for every outcome of the noise on Table 1; their probabilities add up to one."""
    number = {"I1": 0, "I2": 1, "I3": 2, "I4": 3}
    table = tuple(sorted(tuple(sorted(number[item] for item in record)) for record in TABLE_1))
    law = Audit(audit.EXAMPLE).law(table)
    assert sum(outcome.probability for outcome in law.values()) == 1
    seen = set()
    for body, _ in law:
        receipt = next(line for line in body if line.startswith("receipt"))
        for path in re.findall(r"'epsilon_nano': (\d+), 'charges': \[(.*?)\]", receipt):
            if "leaf partitions" in path[1]:
                assert int(path[0]) == 6 * NANO
                seen.add(tuple(int(n) // NANO for n in re.findall(r"'epsilon_nano': (\d+)", path[1])))
    assert seen == {(1, 5), (1, 1, 4)}


# ---- the refusal ----------------------------------------------------------------------------------------------------


def universe(size: int) -> SetSchema:
    return SetSchema.from_dict({"kind": "sets", "items": {"minimum": 1, "maximum": size}})


def refused(size: int, epsilon: int = 1, **settings: Any) -> str | None:
    """The refusal that comes before any record is looked at, or None."""
    plan = DiffPart(universe(size), **({"preset": "paper"} | settings))
    try:
        plan.refuse_budget(epsilon * NANO, 1)
    except ParameterError as error:
        return str(error)
    return None


def test_seventeen_items_are_allowed_and_large_universes_are_refused() -> None:
    """The 17 items of MSNBC run with the paper's constants; for a thousand items C2 = 1.2 lets too many sets pass."""
    assert refused(17) is None
    for size in (60, 400, 1012):
        assert refused(size) is not None


@pytest.mark.parametrize(
    ("size", "given"),
    [(60, {}), (1012, {}), (1012, {"fanout": 30}), (200, {"c2": "1/2", "fanout": 5}), (40, {"max_cells": 50})],
)
def test_the_refusal_names_the_smallest_change_that_is_allowed(size: int, given: dict[str, Any]) -> None:
    message = refused(size, **given)
    assert message is not None
    assert f"more than max_cells={given.get('max_cells', 10**6)}" in message
    c2 = re.search(r"use c2=([0-9.]+)", message)
    assert c2
    assert refused(size, **(given | {"c2": c2[1]})) is None
    assert refused(size, **(given | {"c2": Fraction(c2[1]) - Fraction(1, 100)})) is not None
    fanout = re.search(r"(?:use|or) fanout=(\d+)", message)
    if fanout:
        assert refused(size, **(given | {"fanout": int(fanout[1])})) is None
        for larger in range(int(fanout[1]) + 1, given.get("fanout", 10)):
            assert refused(size, **(given | {"fanout": larger})) is not None
    assert "or eta=1/4" in message
    assert refused(size, **given, eta="1/4") is None


def test_a_run_with_the_change_that_the_refusal_names_keeps_few_sets() -> None:
    """The run has noise but no records; tests/methods/test_diffpart_thresholds.py computes the expected numbers."""
    message = refused(40, max_cells=50)
    c2 = re.search(r"use c2=([0-9.]+)", str(message))
    assert c2
    kept = []
    for seed in range(12):
        plan = DiffPart(universe(40), preset="paper", max_cells=10**6, c2=c2[1])
        store = SetEngine(Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32)), tree=plan.tree, most=plan.most)
        run(plan, store, epsilon_nano=NANO, unit=Unit(), noise=Seeded(seed))
        kept.append(len(plan.kept_partitions.parts()) - 1)
    assert np.mean(kept) <= 50
