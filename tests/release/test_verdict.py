"""What releases say about their accuracy, and what they are good for: every sentence that follows a rule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl

import cantle
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError
from cantle.release import sets, tables
from cantle.release.accuracy import ShareErrors
from cantle.release.kinds import texts_of
from cantle.release.tables import Connections, uses, weaker
from cantle.release.words import Right, groups, line
from cantle.release.words import sentence as in_words
from tests.release.changes import with_manifest
from tests.release.kinds import GRAPH, NUMBERS, baskets, edges
from tests.release.people import SCHEMA, people

EXACT = (1, 1)  # the rate of noise of scale 1, which adds 2 records


def accuracy(one: int | None, together: int | None, apart: int | None, rate: tuple[int, int] = EXACT) -> Accuracy:
    """A measured accuracy of a table of which 21 of 105 pairs were measured together."""
    return Accuracy(
        bought=True,
        share=Fraction(1, 25),
        noisy_records=10_000,
        one_column=None if one is None else QuestionError(q=500, records=one, rate=rate),
        together=None if together is None else PairError(pairs=21, records=together, rate=rate),
        apart=None if apart is None else PairError(pairs=84, records=apart, rate=rate),
        all_pairs=105,
        pairs_together=21,
    )


def sentence(measured: Accuracy | None, released: int) -> str:
    """The sentence about a table."""
    return in_words("A share of 10 %", measured, tables.rights(measured, released))


def of_sets(measured: Accuracy | None, released: int) -> str:
    """The sentence about sets."""
    return in_words("The share of sets", measured, sets.rights(measured, released))


# ---- the line -------------------------------------------------------------------------------------------------


def test_the_line_has_three_figures_in_percentage_points() -> None:
    """1.44 * (98 + 2) of 10,000 records are 1.4 points."""
    assert sentence(accuracy(68, 98, 298), 10_000) == (
        "A share of 10 % is right to ±0.7 percentage points in one column, ±1.4 in two columns measured together "
        "(20 % of all pairs), ±4.3 in other pairs (95 of 100 questions)."
    )


def test_figures_never_fall_so_that_one_column_never_looks_worse_than_two() -> None:
    said = sentence(accuracy(498, 98, 58), 10_000)
    assert "±5 percentage points in one column, ±5 in two columns measured together" in said
    assert "±5 in other pairs" in said


def test_no_figure_is_negative_and_noise_that_dominates_is_named() -> None:
    said = sentence(accuracy(-177, 98, 298, (1, 75)), 10_000)  # log 5 * 75 = 121 records of noise
    assert "right to at most ±1.2 percentage points in one column, at most ±3.2 in two" in said
    assert "together (20 % of all pairs), ±6 in other pairs" in said
    assert said.endswith("(95 of 100 questions; at most: the measurement itself is noisy).")
    assert "-" not in said


def test_classes_that_do_not_exist_are_left_out() -> None:
    assert sentence(accuracy(98, 98, None), 10_000).endswith("±1.4 in two columns (95 of 100 questions).")
    assert sentence(accuracy(98, None, 198), 10_000).endswith("±2.9 in two columns (95 of 100 questions).")
    assert sentence(accuracy(None, None, 198), 10_000).startswith(
        "A share of 10 % is right to ±2.9 percentage points in two"
    )


def test_an_accuracy_that_was_not_measured_says_why() -> None:
    few = Accuracy(bought=False, share=Fraction(1, 25), noisy_records=500)
    for said in (sentence(few, 500), of_sets(few, 500)):
        assert said == "Accuracy not measured: too few records at this epsilon."
    for said in (sentence(None, 500), of_sets(None, 500)):
        assert said == "Accuracy not measured: no part of epsilon was spent on it."


def test_sets_have_figures_for_one_item_for_counted_pairs_and_for_other_ones() -> None:
    one, counted, other = (PairError(pairs=9, records=records, rate=EXACT) for records in (28, 18, 98))
    alone = QuestionError(q=9, records=one.records, rate=EXACT)
    measured = Accuracy(bought=True, share=Fraction(1, 25), noisy_records=10_000, one_column=alone)
    said = of_sets(replace(measured, together=counted, apart=other), 10_000)
    assert said == (
        "The share of sets is right to ±0.3 percentage points with one item, ±0.3 with two or three items whose pairs "
        "were counted, ±1 with two or three other items (95 of 100 questions)."
    )
    assert "±1 with two or three items (95" in of_sets(replace(measured, apart=other), 10_000)
    assert "±0.3 with two or three items (95" in of_sets(replace(measured, together=counted), 10_000)
    assert "one item (95" in of_sets(measured, 10_000)


# ---- connections ----------------------------------------------------------------------------------------------


def known(missing: float, together: int = 21, columns: int = 15, one: float = 0.01, level: float = 0.02) -> Connections:
    """A table with a target of which the first pairs were measured together."""
    pairs = [frozenset(map(str, pair)) for pair in combinations(range(columns), 2)][:together]
    return Connections(
        columns, True, True, set(pairs), ShareErrors(one, level, max(level, 0.03), missing, frozenset()), level
    )


def words(some: Connections, released: int = 10_000) -> tuple[str, str]:
    found = uses(some, released)
    return "\n".join(found.good), "\n".join(found.bad)


def test_two_columns_are_good_only_if_weak_connections_alone_may_be_missing() -> None:
    good, bad = words(known(0.15))
    assert "tables of any two columns" in good
    assert "missing" not in bad
    good, bad = words(known(0.16))
    assert "any two columns" not in good
    assert "tables of two columns that were measured together (21 of 105 pairs)" in good
    assert "connections weaker than about 0.16" in bad


def test_strong_connections_that_may_be_missing_mean_that_the_release_does_not_know_them() -> None:
    assert "does not know" not in words(known(0.4))[1]
    assert "does not know" in words(known(0.41))[1]
    assert "between columns: the release" in words(replace(known(0.41, together=0), by_tables=False))[1]
    good, bad = words(replace(known(0), errors=None))
    assert "between columns that were not measured together: the release does not know" in bad, "nothing was measured"
    assert "shares of one column: how far they are off was not measured" in good


def test_a_release_of_few_pairs_says_that_columns_come_out_unrelated() -> None:
    """A tenth of 105 pairs is 10.5."""
    assert "come out unrelated" not in words(known(0.3, together=11))[1]
    assert "come out unrelated" in words(known(0.3, together=10))[1]
    assert "come out unrelated" not in words(known(0.15, together=10))[1], "no connection above .15 is missing"
    assert "come out unrelated" not in words(known(0.3, together=0, columns=2))[1], "two columns have one pair"
    assert "come out unrelated" not in words(replace(known(0.3, together=0), by_tables=False))[1], "regions relate all"
    (note,) = tables.note(known(0.3, together=10))
    assert note.startswith("Nearly all pairs of columns come out unrelated, whatever they were: only 10 of 105 pairs")
    assert not list(tables.note(known(0.3, together=11)))
    assert "target" not in note
    assert "the target" in next(tables.note(replace(known(0.3, together=10), has_target=False)))


def test_nothing_is_missing_if_all_pairs_were_measured_together() -> None:
    good, bad = words(known(0.9, together=105))
    assert "tables of any two columns" in good
    assert "missing" not in bad
    assert "does not know" not in bad


def test_fine_detail_is_named_if_pairs_measured_together_are_rough() -> None:
    assert "fine detail" not in words(known(0.3, level=0.05))[1]
    assert "fine detail of two columns: shares are right to ±5.1 percentage points" in words(known(0.3, level=0.051))[1]
    assert "fine detail" not in words(replace(known(0.3, level=0.4), detail=None))[1], "one number about all pairs"


def test_pairs_measured_together_are_named_if_one_column_is_in_all() -> None:
    assert known(0.3, together=14).in_words == "each column with 0"
    assert known(0.3, together=1).in_words == "0 and 1"
    assert known(0.3, together=13).in_words == "13 of 105 pairs"


def test_large_groups_are_good_only_if_they_are_less_than_half_of_the_records() -> None:
    """A count is known to a tenth from ten times the error on."""
    assert "groups of 990 records and more" in groups(0.0099, 10_000, "records", "in one column").good[0]
    assert groups(0.0499, 10_000, "records", "").good
    assert not groups(0.05, 10_000, "records", "").good
    assert "below 500 records" in groups(0.05, 10_000, "records", "").bad[0]
    assert "groups of" not in words(known(0.1, one=0.05))[0]


def test_regions_without_a_measured_error_are_not_called_good_for_single_columns() -> None:
    """diffgen as published may miss half of a column; tables by mosaic are right up to their noise."""
    regions = replace(known(1.0, together=0), errors=None, detail=None, by_tables=False)
    good, bad = words(regions)
    assert good == "nothing that is known: how far the records are off was not measured"
    assert "the release does not know them" in bad
    assert words(replace(regions, by_tables=True))[0].startswith("shares of one column")


def test_an_empty_release_is_good_for_nothing() -> None:
    assert words(known(0.1), 0)[0] == "nothing: no record was released"


# ---- the statement --------------------------------------------------------------------------------------------


def test_the_statement_says_that_connections_come_out_weaker_and_by_how_much() -> None:
    """2 * (298 + 2) / (.3 * 10,000) = .2."""
    said = weaker(accuracy(68, 98, 298), 10_000)
    assert said.startswith("Connections between columns tend to come out weaker than they are. Connections between")
    assert "columns that were not measured together may be missing up to a strength of about 0.2 (Cramér's V" in said
    assert said.endswith("and stronger ones of small groups.")
    assert "not measured together" not in weaker(accuracy(68, 98, None), 10_000)
    assert weaker(accuracy(68, 98, 1_498), 10_000).endswith("may be missing, however strong it is.")
    assert weaker(None, 10_000).endswith("By how much was not measured.")


def survey(columns: int, records: int = 3_000) -> cantle.Release:
    fields = [{"name": f"q{k}", "type": "string", "categories": list("abc")} for k in range(columns)]
    frame = pl.DataFrame({f"q{k}": list("abc") * (records // 3) for k in range(columns)})
    return cantle.publish(frame, {"fields": fields}, epsilon=1)


def test_a_wide_survey_has_a_note_and_says_so_in_its_statement() -> None:
    release = survey(60)
    assert any("Nearly all pairs of columns come out unrelated" in note for note in release.notes)
    assert "Nearly all pairs of columns come out unrelated, whatever they were" in release.statement
    assert "Connections between columns tend to come out weaker than they are." in release.statement
    assert not any("come out unrelated, whatever" in note for note in survey(3).notes)


def test_statements_of_every_kind_say_what_is_known() -> None:
    table = cantle.publish(people(400), SCHEMA, epsilon=1)
    assert "* Accuracy not measured: too few records at this epsilon." in table.statement
    sets = cantle.publish(baskets(NUMBERS, 400), NUMBERS, epsilon=1)
    assert "* Connections between items tend to come out weaker than they are." in sets.statement
    graph = cantle.publish(edges(), GRAPH, epsilon=1)
    assert texts_of(graph.manifest).accuracy == ()
    assert "How accurate" not in graph.statement


# ---- sets and graphs ------------------------------------------------------------------------------------------


def test_sets_without_pairs_are_not_good_for_what_goes_together() -> None:
    release = cantle.publish(baskets(NUMBERS, 400), NUMBERS, epsilon=1, method="baskets")
    assert not release.summary["pairs"]

    def pairs(document: dict[str, Any]) -> None:
        document["summary"] |= {"pairs": 45, "paired_items": 10}

    without, with_pairs = (sets.uses(one.manifest) for one in (release, with_manifest(release, pairs)))
    assert "which items go together: the release does not know it" in without.bad
    assert not any("three items" in phrase for phrase in without.good)
    unknown = "how far they are off was not measured"
    assert f"shares of sets with two or three items of the 10 most frequent ones: {unknown}" in with_pairs.good
    assert "which of the rarer items go together: their pairs were not counted" in with_pairs.bad


def test_the_line_of_shared_words() -> None:
    assert line("A share", [Right(0.3, "here", False), Right(0.2, "there", False)]) == (
        "A share is right to ±30 percentage points here, ±30 there (95 of 100 questions)."
    )
