"""Frequent itemsets of a release of sets, with their intervals."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.errors import ParameterError
from cantle.release import Release
from cantle.release.answers.item_answers import MOST, frequent
from tests.interfaces.cli.inside import run

NAMES = ["bread", "milk", "eggs", "tea", "jam"]
SCHEMA: dict[str, Any] = {"kind": "sets", "items": NAMES}


def baskets(n: int = 5_000) -> list[list[str]]:
    dice = np.random.default_rng(2)
    chances = np.array([0.7, 0.5, 0.3, 0.1, 0.02])
    held = dice.random((n, 5)) < chances
    held[:, 1] |= held[:, 2] & (dice.random(n) < 0.8)  # milk goes with eggs
    return [[NAMES[i] for i in np.flatnonzero(row)] or ["bread"] for row in held]


@cache
def release() -> Release:
    return cantle.publish(baskets(), SCHEMA, epsilon=2, insecure_seed=5)


@given(st.lists(st.sets(st.integers(0, 5), min_size=1), max_size=12), st.integers(1, 5), st.none() | st.integers(1, 3))
def test_all_frequent_itemsets_are_found_and_no_others(sets: list[set[int]], least: int, longest: int | None) -> None:
    starts = np.cumsum([0, *map(len, sets)])
    items = np.array([item for one in sets for item in sorted(one)], dtype=np.int64)
    expected = {}
    for size in range(1, min(6, longest or 6) + 1):
        for group in combinations(range(6), size):
            count = sum(set(group) <= one for one in sets)
            if count >= least:
                expected[group] = count
    assert dict(frequent(starts, items, least, longest)) == expected


def test_values_and_intervals_are_those_of_counts() -> None:
    made = release()
    listed = made.itemsets(0.1)
    assert listed["value"].to_list() == sorted(listed["value"].to_list(), reverse=True)
    for row in listed.iter_rows(named=True):
        question = " and ".join(f"contains '{item}'" for item in row["items"])
        known = made.count(question)
        assert (row["value"], row["low"], row["high"], row["covers"]) == (
            known.value,
            known.low,
            known.high,
            known.covers,
        )
    assert listed["items"].to_list()[0] == ["bread"]
    assert ["milk", "eggs"] in listed["items"].to_list()


def test_a_support_is_a_share_or_a_number_of_sets() -> None:
    made = release()
    number = int(made.summary["records"])
    assert made.itemsets(0.25).equals(made.itemsets(-(-number // 4)))
    assert made.itemsets(0.25, longest=1)["items"].list.len().max() == 1
    assert made.itemsets(10**9).height == 0
    assert made.itemsets(10**9).schema["items"] == pl.List(pl.String)


@pytest.mark.parametrize("support", [0, -1, 1.5, True, "2"], ids=repr)
def test_other_supports_are_refused(support: Any) -> None:
    with pytest.raises(
        ParameterError, match="min_support is a share of the sets below 1, such as 0.02, or a whole number"
    ):
        release().itemsets(support)


def test_other_lengths_and_confidences_are_refused() -> None:
    with pytest.raises(ParameterError, match="longest is a number of items from 1 on"):
        release().itemsets(0.1, longest=0)
    with pytest.raises(ParameterError, match="confidence"):
        release().itemsets(0.1, confidence=2)


def test_too_many_itemsets_are_refused() -> None:
    items = np.tile(np.arange(14), 2)
    with pytest.raises(ParameterError, match=f"more than {MOST:,} itemsets are that frequent; raise min_support"):
        frequent(np.array([0, 14, 28]), items, 1, None)


def test_tables_have_no_itemsets() -> None:
    schema = {"fields": [{"name": "a", "type": "boolean"}]}
    table = cantle.publish(pl.DataFrame({"a": [True] * 50}), schema, epsilon=1, insecure_seed=1)
    with pytest.raises(ParameterError, match="only releases of sets have frequent itemsets"):
        table.itemsets(0.1)


def test_the_command_line_lists_them(tmp_path: Path) -> None:
    release().save(tmp_path / "r")
    printed = run("query", "r", "--itemsets", "0.2", cwd=tmp_path)
    assert printed.stdout.splitlines()[0].split() == ["items", "value", "95", "%", "from", "to"]
    assert any(line.startswith("bread, milk ") for line in printed.stdout.splitlines())
    told = json.loads(run("query", "r", "--itemsets", "0.2", "--json", cwd=tmp_path).stdout)
    assert told["rows"][0]["items"] == ["bread"]
    assert run("query", "r", "--itemsets", "0.2", "-o", "a.csv", cwd=tmp_path).returncode == 0
    assert "items,value,low,high,covers" in (tmp_path / "NOT-PRIVATE.a.csv").read_text().splitlines()[0]
    refused = run("query", "r", "size >= 2", "--itemsets", "0.2", cwd=tmp_path)
    assert (refused.returncode, "nothing else" in refused.stderr) == (2, True)
