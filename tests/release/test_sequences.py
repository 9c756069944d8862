"""Releases of sequences: the same on every engine, forms of input and output, questions, and what verify finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import DataError, ParameterError, SchemaError
from cantle.release import Release
from cantle.release.answers.item_answers import SequenceAsker
from cantle.release.report.sequences import frequent_section
from cantle.release.sequences import uses
from cantle.release.show import sections
from cantle.release.storage import as_polars
from cantle.release.verify import verify_folder
from tests.effort import slow
from tests.release.kinds import LOG, SEQUENCES, as_log, journeys

SEED = 3


def made(data: Any = None, schema: dict[str, Any] = SEQUENCES, **more: Any) -> cantle.Release:
    given = {"epsilon": 2, "insecure_seed": SEED} | more
    return cantle.publish(journeys() if data is None else data, schema, **given)  # type: ignore[arg-type]


def lists(release: cantle.Release) -> list[list[int]]:
    frame = as_polars(release.records, release.manifest)
    if "items" in frame.columns:
        return frame["items"].to_list()
    grouped = frame.group_by("id", maintain_order=True).agg(pl.col("item"), pl.col("time"))
    assert all(places == [*range(1, len(places) + 1)] for places in grouped["time"].to_list())
    return grouped["item"].to_list()


@pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore:.*is deprecated:DeprecationWarning"
)
@pytest.mark.parametrize("engine", ["memory", "duckdb", *slow(["spark"])])
def test_every_engine_and_form_makes_the_same_release(engine: str, tmp_path: Path) -> None:
    if engine == "spark":
        pytest.importorskip("pyspark")
    wanted = lists(made())
    log, path = as_log(), tmp_path / "log.csv"
    log.write_csv(path)
    log.write_parquet(tmp_path / "log.parquet")
    (tmp_path / "log.seq").write_text("".join(" ".join(map(str, one)) + "\n" for one in journeys()))
    assert lists(made(path, LOG, engine=engine)) == wanted
    assert lists(made(tmp_path / "log.parquet", LOG, engine=engine)) == wanted
    if engine != "spark":
        assert lists(made(tmp_path / "log.seq", SEQUENCES, engine=engine)) == wanted
        assert lists(made(log, LOG, engine=engine)) == wanted
        assert lists(made(log.to_pandas(), LOG | {"form": "long"}, engine=engine)) == wanted


def test_an_event_log_comes_back_as_it_was_written(tmp_path: Path) -> None:
    release = made()
    release.save(tmp_path / "one", data="xes")
    held = next((tmp_path / "one").glob("*.xes"))
    again = made(held, SEQUENCES | {"form": "xes"}, epsilon=200)
    assert abs(len(again.records) - len(release.records)) < 20
    assert lists(Release.load(tmp_path / "one")) == lists(release)
    assert verify_folder(tmp_path / "one") == []


@pytest.mark.parametrize("form", ["csv", "parquet", "fimi", "xes"])
def test_a_saved_release_is_verified_and_read_again(form: str, tmp_path: Path) -> None:
    release = made(as_log(), LOG)
    release.save(tmp_path / "out", data=form)
    assert verify_folder(tmp_path / "out") == []
    assert lists(Release.load(tmp_path / "out")) == lists(release)


def test_lengths_and_symbols_are_those_of_the_schema() -> None:
    for sequence in lists(made(epsilon=0.2)):
        assert 1 <= len(sequence) <= 12
        assert set(sequence) <= {*range(1, 9)}


def holds(question: str) -> int:
    """How many of the private sequences a question holds for."""
    tests = {
        "contains '1 2'": lambda one: any(one[i : i + 2] == [1, 2] for i in range(len(one))),
        "contains '1 > ... > 2'": lambda one: 1 in one and 2 in one[one.index(1) + 1 :],
        "contains '3 3'": lambda one: any(one[i : i + 2] == [3, 3] for i in range(len(one))),
        "length >= 4": lambda one: len(one) >= 4,
        "length between 2 and 5": lambda one: 2 <= len(one) <= 5,
        "first == 3": lambda one: one[0] == 3,
        "last == 5": lambda one: one[-1] == 5,
        "not contains '1 2'": lambda one: not any(one[i : i + 2] == [1, 2] for i in range(len(one))),
    }
    return sum(map(tests[question], journeys()))


ASKED = ["contains '1 2'", "contains '1 > ... > 2'", "contains '3 3'", "length >= 4", "length between 2 and 5",
         "first == 3", "last == 5", "not contains '1 2'"]  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_intervals_hold_the_private_answer(question: str) -> None:
    estimate = made(epsilon=5).count(question)
    assert estimate.confidence == 0.95
    assert estimate.low <= holds(question) <= estimate.high
    assert estimate.high - estimate.low < 600


def test_questions_count_what_they_say_in_the_released_sequences() -> None:
    release = made(epsilon=5)
    held = lists(release)
    strings = {
        "contains '1 2 3'": lambda one: any(one[i : i + 3] == [1, 2, 3] for i in range(len(one))),
        "contains '1 ... 4'": lambda one: 1 in one and 4 in one[one.index(1) + 1 :],
        "contains '2 2 ... 2'": lambda one: any(one[i : i + 2] == [2, 2] and 2 in one[i + 2 :] for i in range(12)),
        "contains 7 and length == 3": lambda one: 7 in one and len(one) == 3,
    }  # fmt: skip
    for question, test in strings.items():
        assert release.count(question).value == sum(map(test, held)), question


@pytest.mark.parametrize("question", ["contains 1", "contains '1 2 3'", "contains '2 2 ... 2'"])
def test_strings_whose_error_was_not_measured_have_limits_as_wide_as_pairs(question: str) -> None:
    release = made()
    pairs = [release.count(one) for one in ("contains '1 2'", "contains '1 > ... > 2'")]
    answer = release.count(question)
    assert answer.covers == "limits"
    assert answer.confidence is None
    assert answer.high - answer.value >= min(one.high - one.value for one in pairs)


def test_a_small_log_says_that_no_order_was_measured() -> None:
    for epsilon, words in ((0.03, "No order of symbols was measured:"), (0.2, "No order of symbols was measured well")):
        release = made(epsilon=epsilon)
        assert any(words in note for note in release.manifest.notes)
        assert "No order was measured" in release.statement
    assert not any("No order" in note for note in made(epsilon=5).manifest.notes)


def test_nothing_and_one_sequence_are_data_too() -> None:
    for data in ([], [[1]], [["x"]]):
        release = made(data, epsilon=1)
        assert release.manifest.kind == "sequences"
        release.count("contains '1 2'")


def test_numbers_that_do_not_follow_are_noticed(tmp_path: Path) -> None:
    made().save(tmp_path / "out")
    path = next((tmp_path / "out").glob("*groups.parquet"))
    groups = pl.read_parquet(path)
    for row in (0, 20, len(groups) // 2, len(groups) - 1):
        changed = groups.with_columns(
            noisy=pl.when(pl.int_range(pl.len()) == row).then(pl.col("noisy") + 40_000).otherwise("noisy")
        )
        changed.write_parquet(path)
        assert verify_folder(tmp_path / "out")
    groups.write_parquet(path)


@pytest.mark.parametrize(("more", "words"), [
    ({"items": [1]}, "only one symbol"),
    ({"form": "long"}, "needs an `order`"),
    ({"order": "time"}, "does not say a column and the type"),
    ({"order": {"column": "t", "type": "text"}}, "type of `order` is not known"),
    ({"order": {"column": "t", "type": "integer", "format": "%Y"}}, "is for dates and datetimes"),
    ({"order": {"column": "t", "type": "date", "format": "%q"}}, "not supported"),
    ({"order": {"column": "item", "type": "integer"}}, "another column of the sequence"),
    ({"order": {"column": "t", "type": "integer"}, "form": "lines"}, "is not for form lines"),
    ({"max_length": 1}, "single values"),
    ({"max_length": 5041}, "from 2 to 5,040"),
    ({"hierarchy": [1, 2]}, "is not for sequences"),
    ({"fields": []}, "is not for sequences"),
    ({"form": "fimi"}, "use one of lines, long, list, xes"),
])  # fmt: skip
def test_bad_schemas_name_the_rule(more: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        cantle.Schema.from_dict({"kind": "sequences", "items": [1, 2]} | more)


def test_bad_data_is_refused_in_fixed_words(tmp_path: Path) -> None:
    as_log(20).write_csv(tmp_path / "log.csv")
    with pytest.raises(DataError, match="its rows have no order"):
        made(tmp_path / "log.csv")
    (tmp_path / "x.xes").write_text('<!DOCTYPE l [<!ENTITY a "1">]><log/>')
    with pytest.raises(DataError, match="without a document type"):
        made(tmp_path / "x.xes")
    (tmp_path / "y.xes").write_text("<log><trace><event>")
    with pytest.raises(DataError, match="not a readable XES file"):
        made(tmp_path / "y.xes")
    with pytest.raises(ParameterError, match="epsilon is too small"):
        made(epsilon="0.000001")


def test_questions_that_make_no_sense_are_refused() -> None:
    release = made()
    for question, words in (("contains '1 9'", "no item"), ("contains '... 1'", "begins and ends with a symbol"),
                            ("contains '1 >'", "begins and ends"), ("size == 3", "no column")):  # fmt: skip
        with pytest.raises(ParameterError, match=words):
            release.count(question)


def test_show_and_the_report_name_the_same_frequent_sequences() -> None:
    long = [*range(1, 9)]
    release = made([long] * 500 + [[1, 2]] * 300 + [[3]] * 200, epsilon=50)
    ((_, shown),) = [one for one in sections(release) if one[0] == "Most frequent sequences"]
    _, whole = frequent_section(SequenceAsker(release)).figures
    named = [words.removesuffix(", only") for words, *_ in whole.rows]
    assert [line.split(":")[0] for line in shown] == named[: len(shown)]
    most, count = max(((one, lists(release).count(one)) for one in (long, [1, 2], [3])), key=lambda one: one[1])
    assert whole.rows[0][:2] == (" > ".join(map(str, most)), f"{count:,}")
    assert most == long


def test_more_sequences_are_like_those_of_the_release() -> None:
    release = made(epsilon=5)
    more = release.sample(500, seed=1)
    assert len(more) == 500
    mean = float(np.mean([len(one) for one in more["items"].to_list()]))
    assert abs(mean - np.mean([len(one) for one in lists(release)])) < 0.3


def test_pairs_of_a_large_alphabet_are_listed_from_a_threshold_on(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    rows = [[int(min(one, 1500)) for one in dice.zipf(1.5, dice.integers(1, 8))] for _ in range(3000)]
    schema = {"kind": "sequences", "items": {"minimum": 1, "maximum": 1500}, "max_length": 10}
    release = made(rows, schema, epsilon=4)
    assert release.manifest.summary["order"] == 2
    assert 0 < release.manifest.summary["strings"] < 20_000
    release.save(tmp_path / "out")
    assert verify_folder(tmp_path / "out") == []


def test_all_sequences_of_a_person_are_paid_for() -> None:
    log = as_log().with_columns(who=pl.col("id").str.slice(1).cast(pl.Int64) // 5)
    release = made(log, LOG | {"unit": {"person": "who", "max_records": 2}}, epsilon=8)
    assert release.manifest.receipt.unit.max_records == 2
    assert abs(len(set(release.records["id"])) - 1200) < 60  # two of five are used
    sensitivities = {charge.sensitivity for charge in release.manifest.receipt.charges()}
    assert sensitivities <= {2, 2 * 5040, 4}


@pytest.mark.parametrize(
    ("strength", "said"),
    [(50, "no order of symbols was measured"), (800, "no order of symbols was measured well"), (9_000, "")],
)
def test_a_small_log_says_that_its_order_is_rough(strength: int, said: str) -> None:
    release = made(epsilon=strength / len(journeys()))
    about = uses(release.manifest)
    assert any("no order" in line for line in about.bad) == bool(said)
    assert any("strings of" in line for line in about.good) == (not said)
    page = release.report().lower()
    assert said in page if said else "no order" not in page
