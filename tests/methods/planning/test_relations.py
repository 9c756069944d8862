"""What a plan says about connections between columns, from public values alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from cantle.methods.mosaic.plan import Plan as Shares
from cantle.methods.planning import plan
from cantle.methods.planning.outline import Relations, pairs_together, relations
from tests.release.kinds import NUMBERS


def survey(columns: int, *, target: bool = False) -> dict[str, Any]:
    fields = [{"name": f"q{k}", "type": "string", "categories": list("abcde")} for k in range(columns)]
    if target:
        fields[0] |= {"categories": ["no", "yes"], "role": "target"}
    return {"fields": fields}


def planned(columns: int, records: int = 14_000, epsilon: float = 1, **given: bool) -> Relations:
    found = plan(survey(columns, **given), epsilon=epsilon, records=records).outline.relations
    assert found is not None
    return found


def test_a_wide_survey_is_told_that_its_pairs_are_lost_and_how_few_columns_would_keep_them() -> None:
    led = planned(87, 60_000)
    assert (led.together, led.pairs) == (86, 3741), "a hub column with each of the others"
    assert led.lead == "the one on which the others depend most"
    assert "about 86 of 3,741 pairs of columns will be measured together, each column with" in led.sentences()
    found = planned(87)
    assert found.lead is None, "too few records for a hub"
    said = found.sentences()
    assert "nearly all pairs will come out unrelated, whatever they are" in said
    assert f"leave out about {87 - found.half} columns" in said
    assert f"with at most about {found.whole} columns all pairs would be measured together" in said
    assert planned(found.whole).share >= 0.95
    assert planned(found.half).share >= 0.5


def test_the_sentence_about_lost_pairs_has_a_threshold() -> None:
    some = Relations(together=10, pairs=100, lead=None, columns=15, half=8, whole=5)
    assert "weaker than they are, or are lost" in some.sentences()
    assert "unrelated" in Relations(9, 100, None, 15, 8, 5).sentences()
    assert Relations(95, 100, "y", 15, 15, 15).sentences() == (
        "about 95 of 100 pairs of columns will be measured together, each column with y among them"
    )
    assert "with at most about 9 columns all" in Relations(94, 100, "y", 15, 15, 9).sentences()
    assert "leave out" not in Relations(94, 100, "y", 15, 15, 9).sentences()


def test_more_records_and_fewer_columns_keep_more_pairs() -> None:
    shares = [planned(20, records).share for records in (500, 5_000, 50_000, 500_000)]
    assert shares == sorted(shares)
    assert shares[0] < 0.2 < 0.6 < shares[-1]
    wider = [planned(columns).share for columns in (5, 10, 20, 39)]
    assert all(one > two for one, two in pairwise(wider))


def test_each_column_is_measured_with_the_target() -> None:
    found = planned(30, 300, target=True)
    assert (found.together, found.lead) == (29, "q0")
    assert "each column with q0 among them" in found.sentences()


def test_without_tables_target_or_hub_no_pair_is_measured() -> None:
    assert planned(10, 20).together == 0


@pytest.mark.parametrize("columns", [1, 2])
def test_one_or_two_columns_have_nothing_to_choose(columns: int) -> None:
    assert plan(survey(columns), epsilon=1, records=1_000).outline.relations is None


def test_plans_print_the_pairs_and_methods_without_tables_do_not() -> None:
    made = plan(survey(87), epsilon=1, records=60_000)
    assert ("pairs of columns measured together", "about 86 of 3,741") in made.errors()
    assert made.remarks()[0] == planned(87, 60_000).sentences()
    assert made.to_dict()["relations"] == vars(planned(87, 60_000))
    assert "about 86 of 3,741 pairs" in str(made)
    for other in (plan(survey(9), epsilon=1, records=1_000, method="rps"), plan(NUMBERS, epsilon=1, records=1_000)):
        assert other.outline.relations is None
        assert not any("pairs of columns" in name for name, _ in other.errors())


def test_chosen_tables_do_not_overlap_within_a_round() -> None:
    """Three tables in one round, of 8 columns with 2 cells each: pairs, or sets of up to as many cells as the cap."""
    shares = Shares(0, 0, 0, 0, 0, count=3, rounds=1, cap=4)  # type: ignore[arg-type]
    assert pairs_together([2] * 8, None, shares) == 3
    assert pairs_together([2] * 8, 0, shares) == 7 + 3, "with a column that leads all first tables"
    assert relations(2, None, lambda _: 1) is None


def items(number: int, groups: int = 0) -> dict[str, Any]:
    named = [f"item {place}" for place in range(number)]
    fields = [{"name": one, "type": "integer", "constraints": {"minimum": 1, "maximum": 5}} for one in named]
    made = {f"scale {place}": named[place::groups] for place in range(groups)}
    return {"fields": [*fields, *survey(5)["fields"]], **({"groups": made} if groups else {})}


def test_columns_that_look_like_items_are_pointed_out() -> None:
    remarks = plan(items(20), epsilon=1, records=10_000).remarks()
    (pointed,) = (text for text in remarks if "`groups:`" in text)
    assert pointed.startswith("20 columns have 5 ordered values each (item 0 to item 19)")
    assert not any("`groups:`" in text for text in plan(items(9), epsilon=1, records=10_000).remarks())


def test_groups_make_a_wide_survey_a_short_one() -> None:
    wide, short = (plan(items(60, groups), epsilon=1, records=14_000).outline for groups in (0, 4))
    assert wide.relations is not None
    assert short.relations is not None
    assert short.relations.columns == 9  # five columns and four scores
    assert short.relations.share > 5 * wide.relations.share
    assert any("60 items in 4 groups" in text for text in short.remarks)
    assert sum(part.share for part in short.budget) == pytest.approx(1)
