"""Plans: budgets that add up, predictions that agree with releases, and explanations of epsilon."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError
from cantle.interfaces import demo_data
from cantle.methods.planning import plan, solve, want_of
from cantle.methods.planning.outline import Plan
from cantle.methods.words import DEPLOYMENTS, EpsilonInWords, caution, like
from cantle_lab.papers.stated_errors import compared
from cantle_lab.papers.table_sets import TableSet, latent_classes
from tests.effort import slow
from tests.release.kinds import EDGE, GRAPH, ISOLATE, NUMBERS
from tests.release.people import SCHEMA, people

KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "mosaic": (SCHEMA, "mosaic"),
    "rps": (SCHEMA, "rps"),
    "diffgen": (SCHEMA, "diffgen"),
    "baskets": (NUMBERS, "auto"),
    "all sets": ({"kind": "sets", "items": ["a", "b", "c"]}, "auto"),
    "by sizes": ({"kind": "sets", "items": {"minimum": 1, "maximum": 15}}, "auto"),
    "node": (GRAPH, "auto"),
    "isolate": (ISOLATE, "auto"),
    "edge": (EDGE, "auto"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_has_a_plan(kind: str) -> None:
    schema, method = KINDS[kind]
    plans = [plan(schema, epsilon=epsilon, records=20_000, method=method) for epsilon in (0.1, 1, 10)]
    for one in plans:
        assert sum(part.share for part in one.outline.budget) == pytest.approx(1, abs=1e-6)
        assert all(part.share > 0 for part in one.outline.budget)
        assert one.to_dict()["budget"][0]["question"]
        assert 0 < one.one_way <= 1
        assert one.smallest > 0
    assert plans[0].one_way >= plans[1].one_way >= plans[2].one_way
    assert plans[0].smallest > plans[1].smallest > plans[2].smallest


PAID = {
    "number of records": "number of records",
    "every column by itself": "one-way tables",
    "measuring how far the release is off": "accuracy of the release",
    "sizes of sets": "set sizes",
}
"""Questions whose prices depend on public values only, and their names in the receipt."""


def receipt(data: Any, schema: dict[str, Any], method: Any) -> dict[str, float]:
    """The share of epsilon of each question, on one path of the receipt."""
    release = cantle.publish(data, schema, epsilon=4, method=method, insecure_seed=1)
    spent: dict[str, float] = {}
    for charge in release.manifest.receipt.paths[0].charges:
        spent[charge.why] = spent.get(charge.why, 0.0) + charge.epsilon_nano / 4e9
    return spent


def planned(schema: dict[str, Any], method: str, records: int) -> dict[str, float]:
    outline = plan(schema, epsilon=4, records=records, method=method).outline
    return {part.question: part.share for part in outline.budget}


SMALL = {"kind": "sets", "items": {"minimum": 1, "maximum": 8}}


@pytest.mark.parametrize("records", slow([150, 3_000], 3_000))
@pytest.mark.parametrize("kind", ["mosaic", "rps", "diffgen", "baskets", "all sets"])
def test_the_planned_budget_equals_that_of_the_receipt(kind: str, records: int) -> None:
    schema, method = (SMALL, "diffpart") if kind == "all sets" else KINDS[kind]
    dice = np.random.default_rng(records)
    sets = [dice.choice(8, dice.integers(1, 5), replace=False) + 1 for _ in range(records)]
    paid = receipt(people(records) if schema is SCHEMA else [one.tolist() for one in sets], schema, method)
    shares = planned(schema, method, records)
    compared = {question: why for question, why in PAID.items() if question in shares or why in paid}
    assert compared
    for question, why in compared.items():
        assert shares.get(question) == pytest.approx(paid.get(why), rel=1e-3), question


def test_the_first_tables_of_mosaic_cost_about_what_was_planned() -> None:
    """Their share depends on cells that are chosen during the run."""
    paid, shares = receipt(people(4_000), SCHEMA, "mosaic"), planned(SCHEMA, "mosaic", 4_000)
    first = sum(price for why, price in paid.items() if why.startswith("first tables"))
    assert shares["every column with the target"] == pytest.approx(first, rel=0.25)


def mixed(records: int = 12_000) -> TableSet:
    dice = np.random.default_rng(1)
    kind = dice.integers(0, 3, records)
    amount = np.clip(dice.lognormal(4 + kind / 2, 1, records), 0, 5_000).astype(int)
    columns = {"kind": kind.astype(str), "amount": amount, "hour": dice.binomial(23, 0.3 + kind / 8)}
    columns["late"] = np.where(dice.random(records) < 0.2 + kind / 5, "yes", "no")
    number = {"type": "integer", "constraints": {"minimum": 0, "maximum": 5_000, "required": True}}
    fields = [
        {"name": "kind", "type": "string", "categories": ["0", "1", "2"], "constraints": {"required": True}},
        {"name": "amount", **number},
        {"name": "hour", "type": "integer", "constraints": {"minimum": 0, "maximum": 23, "required": True}},
        {"name": "late", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ]
    return TableSet("mixed", pl.DataFrame(columns), {"fields": fields})


TABLES = {
    "demo": lambda: TableSet("demo", demo_data.population(people=12_000), demo_data.SCHEMA),
    "latent": lambda: latent_classes(6_000, 8),
    "mixed": mixed,
}


@pytest.mark.parametrize(
    ("name", "seeds"), [("mixed", 1), *(pytest.param(name, 6, marks=pytest.mark.slow) for name in TABLES)]
)
def test_predicted_errors_are_within_a_factor_of_measured_ones(name: str, seeds: int) -> None:
    table, errors = TABLES[name](), dict[str, list[tuple[float, float]]]()
    for seed in range(seeds):
        release = cantle.publish(table.frame, table.schema, epsilon=1, method="mosaic", insecure_seed=seed)
        for what, pair in compared(release, table, 1, seed).items():
            errors.setdefault(what, []).append(pair)
    assert "one-way" in errors
    for what, pairs in errors.items():
        predicted, measured = pairs[0][0], float(np.mean([pair[1] for pair in pairs]))
        assert 1 / 1.5 <= predicted / measured <= 1.5, (what, predicted, measured)


def test_more_columns_and_persons_cost_accuracy() -> None:
    few = {"fields": SCHEMA["fields"][:4]}
    assert plan(few, epsilon=1, records=20_000).one_way < plan(SCHEMA, epsilon=1, records=20_000).one_way
    persons = SCHEMA | {"unit": {"person": "id", "max_records": 5}}
    alone, five = (plan(schema, epsilon=1, records=20_000) for schema in (SCHEMA, persons))
    assert five.smallest > 3 * alone.smallest
    assert "person" in five.unit


def test_columns_that_are_too_fine_are_named() -> None:
    towns = {"name": "town", "type": "string", "categories": [f"t{i}" for i in range(500)]}
    schema = {"fields": [towns, SCHEMA["fields"][5]]}
    assert plan(schema, epsilon=1, records=1_000).outline.too_fine[0].startswith("town: ")
    assert plan(schema, epsilon=1, records=10**7).outline.too_fine == ()


@pytest.mark.parametrize("text", ["one-way 0.5%", "group-1% 60", "group-10% 1%", "smallest 150"])
def test_the_smallest_epsilon_for_a_wanted_accuracy_is_found(text: str) -> None:
    want = want_of(text, 20_000)

    def made_with(epsilon: float) -> Plan:
        return plan(SCHEMA, epsilon=epsilon, records=20_000)

    found_plan = solve(want, made_with)
    assert want.met(found_plan)
    assert not want.met(made_with(found_plan.epsilon * 0.97))


def test_wanted_accuracies_that_make_no_sense_are_refused() -> None:
    for text in ("one-way", "one-way 3", "two-way 1%", "smallest -1", "smallest 0", ""):
        with pytest.raises(ParameterError, match="--want"):
            want_of(text, 1_000)
    with pytest.raises(ParameterError, match="no epsilon up to"):
        solve(want_of("one-way 0.000001%", 100), lambda epsilon: plan(SCHEMA, epsilon=epsilon, records=100))
    for records in (0, -3, 1.5, True):
        with pytest.raises(ParameterError, match="records"):
            plan(SCHEMA, epsilon=1, records=records)  # type: ignore[arg-type]


def test_epsilon_is_explained() -> None:
    explained = EpsilonInWords.of(np.log(4))
    assert (explained.odds, explained.from_half) == (pytest.approx(4), pytest.approx(0.8))
    assert "at most 80 % sure after" in explained.lines()[1]
    assert "nearly 10" in EpsilonInWords.of(2_000).lines()[1]
    # Epsilon is about adding or removing one record; replacing a record by another differs by 2 epsilon.
    assert "is in the data" in explained.lines()[0]
    assert "twice epsilon" in explained.lines()[-1]
    assert all(one.low <= one.high and one.source for one in DEPLOYMENTS)
    assert " 0 chose less" in like(0.01)


def test_large_epsilons_give_a_warning() -> None:
    assert caution(5) is None
    with pytest.warns(UserWarning, match="protects little"):
        cantle.publish(people(60), SCHEMA, epsilon=6, method="rps")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cantle.publish(people(60), SCHEMA, epsilon=5, method="rps")
        cantle.publish(people(60), SCHEMA, epsilon=6, method="rps", insecure_seed=1)


def test_the_plan_of_a_wide_table_names_columns_that_are_grouped_or_too_fine() -> None:
    amount = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99_999}}
    code = {"type": "string", "categories": [f"k{k}" for k in range(60)]}
    fields = [{"name": f"x{i}", **(amount if i % 2 else code)} for i in range(100)]
    outline = plan({"fields": fields}, epsilon=1, records=20_000).outline
    assert outline.method == "mosaic"
    (grouped,) = [text for text in outline.remarks if "grouped" in text]
    assert grouped.startswith("50 of 100 columns are grouped into about ")
    assert "x1, x3, x5, x7, x9, x11, x13, x15 and 42 more" in grouped
    assert [text.split(":")[0] for text in outline.too_fine] == [f"x{i}" for i in range(0, 100, 2)]
    few = plan({"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]}, epsilon=1, records=100)
    assert not any("grouped" in text for text in few.outline.remarks)


def test_a_plan_of_a_graph_whose_nodes_are_not_listed_pays_for_their_number_what_a_run_pays() -> None:
    edges = pl.DataFrame(
        {"source": [*range(300)] * 5, "target": [(n + d) % 300 for d in range(1, 6) for n in range(300)]}
    )
    for epsilon in (0.1, 1, 5):
        schema = {"kind": "graph", "unit": "node", "nodes": {"minimum": 0, "maximum": 299}}
        release = cantle.publish(edges, schema, epsilon=epsilon, method="degrees", theta=16, insecure_seed=1)
        (path,) = release.manifest.receipt.paths
        paid = {charge.why: charge.epsilon_nano for charge in path.charges}["nodes with edges"]
        budget = plan(schema, epsilon=epsilon, records=300, theta=16).outline.budget
        (share,) = (part.share for part in budget if part.question == "number of nodes")
        assert share == pytest.approx(paid / release.manifest.receipt.epsilon_nano, abs=1e-3)


def test_a_plan_of_rps_names_columns_whose_bounds_are_wide() -> None:
    pay = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99_999}}
    age = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
    fields = [{"name": name, **(pay if name == "pay" else age)} for name in ("pay", "age", "hours", "weeks")]
    (said,) = plan({"fields": fields}, epsilon=1, records=20_000, method="rps").outline.remarks
    assert said.startswith("values are put into 256 ranges of equal width, inside which they are spread evenly: pay;")
    assert not plan({"fields": fields[:3]}, epsilon=1, records=20_000, method="rps").outline.remarks
