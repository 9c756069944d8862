"""Releases by baskets: everything that follows from the noisy numbers is verified, texts describe what was counted, and
more records can be drawn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import cantle
from cantle import kernel_choice
from cantle.release.document_fields import read, written
from cantle.release.manifest import Receipt
from cantle.release.show import overview
from cantle.release.storage import list_frame
from cantle.release.verify import problems
from tests.effort import one_in
from tests.release.kinds import FORMS, FRAMES, NUMBERS, WORDS, as_source, baskets, tree_lines


@cache
def released(words: bool = False, n: int = 1500, **given: Any) -> cantle.Release:
    schema = WORDS if words else NUMBERS
    return cantle.publish(baskets(schema, n), schema, insecure_seed=4, **({"epsilon": 20, "method": "baskets"} | given))


def small() -> cantle.Release:
    """A small release with pairs, which is quick to verify."""
    return released(n=300, epsilon=100)


def supports(release: cantle.Release) -> dict[Any, int]:
    items = list_frame(release.records, release.manifest)["items"].explode()
    return dict(items.value_counts().iter_rows())


@pytest.mark.parametrize("form", one_in(4, [*FORMS, *FRAMES]))
def test_every_form_of_input_gives_a_release_that_verifies(form: str, tmp_path: Path) -> None:
    release = cantle.publish(as_source(baskets(NUMBERS), form, tmp_path), NUMBERS, epsilon=50, method="baskets")
    release.verify()
    loaded = cantle.Release.load(release.save(tmp_path / "out"))
    loaded.verify()
    assert len(loaded.sample(50, seed=1)) >= 50
    assert [*overview(loaded), *tree_lines(loaded)]


def test_shown_pairs_are_counted_in_the_released_sets() -> None:
    release = released()
    sets = [set(one) for one in release.records["items"].to_list()]
    shown = [re.match(r"(\d+), (\d+): ([\d,]+) sets", line) for line in tree_lines(release)]
    counts = [int(one[3].replace(",", "")) for one in shown if one]
    assert counts == sorted(counts, reverse=True)
    assert counts == [sum({int(one[1]), int(one[2])} <= mine for mine in sets) for one in shown if one]
    assert len(counts) == len(shown) > 3


def test_groups_have_every_answer_with_its_noise() -> None:
    release = released()
    groups, summary = release.groups, release.manifest.summary
    number = dict(groups["question"].value_counts().iter_rows())
    assert number["sizes"] == 16
    assert {name: count for name, count in number.items() if name.startswith("items")} == {
        "items, records of one item": 30, "items, other records": 30
    }  # fmt: skip
    assert number["head"] == 2 ** summary["head_items"]
    pairs = groups.filter(pl.col("question") == "pairs")
    assert pairs["items"].n_unique() == summary["pairs_given"]
    charges = {charge.epsilon_nano: charge.sensitivity * 10**9 for charge in release.manifest.receipt.charges()}
    assert set(groups.select("rate_num", "rate_den").unique().rows()) == set(charges.items())
    truth = sum(1 for one in baskets(NUMBERS, 1500) if {1, 2} <= set(one))
    both = pairs.filter(pl.col("items") == [1, 2])
    parts = dict(both.select("question", "parts").iter_rows())
    assert parts["pairs"] == 5040
    assert abs(both["estimate"].sum() - truth) < 0.2 * truth


def test_estimates_and_records_agree_with_the_data() -> None:
    data, release = baskets(NUMBERS, 1500), released()
    truth = dict(pl.Series([item for one in data for item in one]).value_counts().iter_rows())
    items = release.groups.filter(pl.col("question").str.starts_with("items"))
    estimates = dict(items.select(pl.col("items").list.first(), "estimate").group_by("items").sum().iter_rows())
    for numbers in (estimates, supports(release)):
        assert sum(abs(numbers.get(item, 0) - truth[item]) for item in truth) < 0.06 * sum(truth.values())


def test_a_pair_of_frequent_items_in_short_records_is_not_enlarged_for_the_long_ones() -> None:
    dice = np.random.default_rng(3)
    short = [[1, 2, int(one)] for one in dice.integers(3, 31, 500)]
    long = [sorted(dice.choice(np.arange(3, 31), 12, replace=False).tolist()) for _ in range(500)]
    release = cantle.publish(short + long + [[1], [2]] * 300, NUMBERS, epsilon=20, method="baskets", insecure_seed=1)
    rows = release.groups.filter(pl.col("question").str.starts_with("pairs"), pl.col("items") == [1, 2])
    assert abs(rows["estimate"].sum() - len(short)) < 0.05 * len(short)
    release.verify()


@pytest.mark.parametrize(("given", "why"), [
    ({"epsilon": 1}, "the records are too few for this epsilon"), ({"pairs": "off"}, "`pairs=off` was set"),
])  # fmt: skip
def test_the_statement_says_that_no_pairs_were_counted(given: dict[str, Any], why: str, tmp_path: Path) -> None:
    release = released(**given)
    text = (release.save(tmp_path / "out") / "NOT-PRIVATE.statement.md").read_text()
    assert f"**No co-occurrence was measured** ({why})" in text
    assert "pairs" not in set(release.groups["question"])
    other = (released().save(tmp_path / "other") / "NOT-PRIVATE.statement.md").read_text()
    assert "No co-occurrence" not in other
    assert "pairs of 30 items" in other


def test_a_sample_is_drawn_again_and_has_the_requested_size() -> None:
    release = released(words=True)
    for n in (0, 1, 2000):
        assert len(release.sample(n, seed=2)) == n
    first, second = release.sample(1500, seed=2), release.sample(1500, seed=3)
    assert not first.equals(second)
    assert first.equals(release.sample(1500, seed=2))
    held = first["items"].explode().value_counts().sort("count")["items"][-3:].to_list()
    assert set(held) == {"item01", "item02", "item03"}


# ---- verify -------------------------------------------------------------------------------------------------------


def column(name: str, change: Callable[[np.ndarray], None]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def changed(groups: pl.DataFrame) -> pl.DataFrame:
        values = groups[name].to_numpy().copy()
        change(values)
        return groups.with_columns(pl.Series(name, values))

    return changed


def put(place: int, value: Any) -> Callable[[np.ndarray], None]:
    return lambda values: values.__setitem__(place, value)


CHANGES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "another size": column("noisy", put(0, 10**6)),
    "another support": column("noisy", put(17, 10**9)),
    "another pair": column("noisy", put(-1, -(10**9))),
    "another rate": column("rate_num", put(3, 1)),
    "another path": column("path", put(3, 7)),
    "other parts": column("parts", put(-1, 1)),
    "another estimate": column("estimate", put(20, 0.0)),
    "another bin": column("size", put(1, 9)),
    "a row less": lambda groups: groups.head(-1),
    "a row of sizes less": lambda groups: groups.tail(-1),
    "a pair twice": lambda groups: pl.concat([groups, groups.tail(1)]),
    "another order": lambda groups: pl.concat([groups.tail(1), groups.head(-1)]),
    "another question": lambda groups: groups.with_columns(question=pl.lit("items")),
    "another column": lambda groups: groups.with_columns(more=pl.lit(1)),
}


def test_an_unchanged_release_has_no_problem() -> None:
    """Otherwise the next tests could not fail."""
    assert problems(released()) == []
    assert problems(small()) == []
    assert "pairs" in set(small().groups["question"])


@pytest.mark.parametrize("name", CHANGES)
def test_changed_groups_are_noticed(name: str) -> None:
    release = small()
    assert problems(replace(release, groups=CHANGES[name](release.groups))) != []


@pytest.mark.parametrize("change", [
    lambda records: records.head(-1),
    lambda records: pl.concat([records, records.head(1)]),
    lambda records: pl.concat([records.head(70), records.head(len(records) - 70)]).with_columns(items=pl.lit([3, 4])),
    lambda records: records.with_columns(items=pl.col("items").list.head(1)),
    lambda records: pl.concat([pl.DataFrame({"items": [[31]]}), records.tail(-1)]),
    lambda records: pl.concat([pl.DataFrame({"items": [[3, 3]]}), records.tail(-1)]),
], ids=["one less", "one more", "all the same", "cut", "not declared", "twice an item"])  # fmt: skip
def test_changed_records_are_noticed(change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    assert problems(replace(small(), drawn=change(small().records))) != []


def test_a_receipt_for_other_questions_is_noticed() -> None:
    release = small()
    for old, new in ((b'"sensitivity":1,', b'"sensitivity":2,'), (b"pairs of items", b"pairs of things")):
        text = json.dumps(written(release.manifest.receipt), separators=(",", ":")).encode()
        assert old in text
        receipt = read(Receipt, json.loads(text.replace(old, new)))
        assert problems(replace(release, manifest=replace(release.manifest, receipt=receipt))) != []
    summary = release.manifest.summary | {"pairs": 7}
    assert problems(replace(release, manifest=replace(release.manifest, summary=summary))) != []


def test_kernels_and_plain_code_give_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")
    releases = []
    for compiled in (False, True):
        monkeypatch.setattr(kernel_choice, "worth_loading", lambda *_, compiled=compiled: compiled)
        releases.append(released.__wrapped__(epsilon=40))
    assert releases[0].groups.equals(releases[1].groups)
    assert releases[0].records.equals(releases[1].records)


# ---- departments --------------------------------------------------------------------------------------------------


def by_department(records: list[list[int]], departments: int, each: int) -> np.ndarray:
    """The number of items of each department in the records."""
    return np.bincount([(item - 1) // each for record in records for item in record], minlength=departments)


@pytest.mark.slow
def test_items_below_the_noise_are_drawn_within_their_department(tmp_path: Path) -> None:
    """Items 1 to 2,000 are in ten departments of 200. No item exceeds the noise, but departments differ by up to ten
    times."""
    departments, each, number = 10, 200, 4000
    dice = np.random.default_rng(4)
    weight = np.repeat(np.arange(1.0, departments + 1), each)
    items = 1 + dice.choice(departments * each, (number, 3), p=weight / weight.sum())
    records = [sorted(set(row)) for row in items.tolist()]
    plain = {"kind": "sets", "items": {"minimum": 1, "maximum": departments * each}}
    catalogue = tmp_path / "catalogue.csv"
    catalogue.write_text("".join(f"{i};d{(i - 1) // each};all\n" for i in range(1, departments * each + 1)))
    path = tmp_path / "schema.yaml"
    path.write_text(yaml.safe_dump(plain | {"hierarchy": "catalogue.csv"}))
    truth, errors = by_department(records, departments, each), []
    for schema in (plain, path):
        release = cantle.publish(records, schema, epsilon=1, insecure_seed=3)
        cantle.Release.load(release.save(tmp_path / str(len(errors)))).verify()
        shown = by_department(list_frame(release.records, release.manifest)["items"].to_list(), departments, each)
        errors.append(np.abs(shown - truth).sum() / truth.sum())
    assert errors[1] < 0.6 * errors[0]
    folder = next(path for path in tmp_path.iterdir() if path.name.endswith("1"))
    assert len(cantle.Release.load(folder).sample(50, seed=1)) == 50
