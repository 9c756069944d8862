"""Persons as the unit: at most `max_records` records per person are used, and the noise is scaled to that bound."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.errors import DataError, SchemaError
from cantle.interfaces.opening import open_data
from cantle.methods.catalogue import make_method
from cantle.trusted.bounding import persons
from cantle.trusted.bounding.persons import person_numbers, places, within_bound
from cantle.trusted.core.keys import OneWays
from cantle.trusted.geometry.boxes import Ints

FIELDS = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
    {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"},
]
UNIT = {"person": "who", "max_records": 2}


def schema(**more: Any) -> dict[str, Any]:
    return {"fields": FIELDS, "unit": UNIT, **more}


def frame(people: list[str | None], ages: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"who": people, "age": ages, "ill": ["no"] * len(ages)}, schema_overrides={"who": pl.String})


def opened(data: Any, method: str = "rps") -> Ints:
    """For each age, the number of records that are used."""
    parsed = cantle.Schema.from_dict(schema())
    plan = make_method(parsed, method, "default", {})
    _, engine = open_data(data, parsed, plan)
    key = OneWays((0,), (plan.sizes[0],), 1)
    return next(iter(engine.tally(np.zeros(1, np.int64), key)))[2][0][:10]


rows = st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3), st.integers(0, 1)), max_size=30)


@given(rows, st.integers(1, 4))
def test_at_most_max_records_of_a_person_are_used_whatever_others_have(records: list[Any], most: int) -> None:
    person, *columns = (np.array([r[i] for r in records], dtype=np.int64) for i in range(3))
    used = within_bound(person, columns, most)
    assert not used[person < 0].any()
    for who in set(person.tolist()) - {-1}:
        mine = person == who
        assert used[mine].sum() == min(most, int(mine.sum()))
        alone = within_bound(person[mine], [column[mine] for column in columns], most)
        assert np.array_equal(alone, used[mine])


@given(rows, st.integers(1, 4), st.randoms())
def test_the_records_that_are_used_do_not_depend_on_their_order(records: list[Any], most: int, dice: Any) -> None:
    def kept(these: list[Any]) -> Counter[Any]:
        person, *columns = (np.array([r[i] for r in these], dtype=np.int64) for i in range(3))
        used = within_bound(person, columns, most)
        return Counter(record for record, is_used in zip(these, used.tolist(), strict=True) if is_used)

    shuffled = records.copy()
    dice.shuffle(shuffled)
    assert kept(records) == kept(shuffled)


def test_persons_are_distinguished_by_their_exact_text() -> None:
    numbers = person_numbers(pl.Series(["a", "b", None, "a", "A", "a "]))
    assert numbers[0] == numbers[3]
    assert numbers[2] == -1
    assert len(set(numbers.tolist())) == 5


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_removing_a_person_changes_at_most_max_records(method: str) -> None:
    people = ["ann"] * 5 + ["bob"] * 3 + ["cyd", None, None]
    ages = [1, 1, 2, 3, 9, 1, 4, 4, 7, 8, 8]
    whole = opened(frame(people, ages), method)
    assert whole.sum() == 2 + 2 + 1
    for who in ("ann", "bob", "cyd"):
        rest = [i for i, person in enumerate(people) if person != who]
        without = opened(frame([people[i] for i in rest], [ages[i] for i in rest]), method)
        assert 0 < np.abs(whole - without).sum() <= 2
        assert (whole >= without).all()


@pytest.mark.parametrize(
    "ids", [[1, 1, 1, 2], [1.0, 1.0, 1.0, 2.0], ["1", "1", "1", "2"], [1, 1.0, True, "2"]], ids=str
)
def test_identifiers_may_have_any_type(ids: list[Any]) -> None:
    data = pd.DataFrame({"who": ids, "age": [1, 2, 3, 4], "ill": ["no"] * 4})
    assert opened(data).sum() == 3


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_identifiers_declared_as_floats_are_refused(tmp_path: Path, dtype: Any) -> None:
    """The declared type alone decides: which of the values are whole is private."""
    data = pl.DataFrame({"who": [1, None], "age": [1, 2], "ill": ["no"] * 2}).cast({"who": dtype})
    data.write_parquet(tmp_path / "people.parquet")
    nullable = pd.DataFrame({"who": pd.array([1, None], dtype="Float64"), "age": [1, 2], "ill": ["no"] * 2})
    for source in (data, data.head(0), data.to_arrow(), nullable, tmp_path / "people.parquet"):
        with pytest.raises(DataError, match="column 'who'.*floats"):
            opened(source)


def test_one_missing_identifier_does_not_merge_persons() -> None:
    """With one identifier missing, pandas makes floats of the others: 2,000 numbers past 2**53 become a few hundred."""
    many = [2**60 + k for k in range(2000)]
    ages, ill = [k % 10 for k in range(2001)], ["no"] * 2001

    def used(who: Any, dtype: Any = None) -> int:
        column = pd.Series(who, dtype=dtype)
        return int(opened(pd.DataFrame({"who": column, "age": ages[: len(who)], "ill": ill[: len(who)]})).sum())

    assert abs(used(many) - used([*many, None])) <= 2
    assert abs(used(many) - used([*many, "x"])) <= 2
    assert used(many, "Int64") == used([*many, None], "Int64") == used(list(map(str, many))) == 2000


def test_a_release_of_persons_states_its_unit_and_shows_no_identifier(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    path = tmp_path / "visits.csv"
    people = [f"canary-{who}" for who in rng.integers(0, 300, 1000)]
    frame(list(people), rng.integers(0, 10, 1000).tolist()).write_csv(path)
    release = cantle.publish(path, schema(), epsilon=1, method="rps")
    release.save(tmp_path / "out")
    assert release.manifest.unit == "one person, up to 2 records"
    assert all(charge.sensitivity % 2 == 0 for charge in release.manifest.receipt.charges())
    cantle.Release.load(tmp_path / "out").verify()
    assert "who" not in release.records.columns
    for file in (tmp_path / "out").iterdir():
        assert b"canary" not in file.read_bytes()
    assert "person" in (tmp_path / "out" / "statement.md").read_text()


def test_the_noise_grows_with_max_records() -> None:
    data = frame(["a"], [1])
    spreads = []
    for most in (1, 50):
        unit = {"person": "who", "max_records": most}
        noisy = [
            cantle.publish(data, schema(unit=unit), epsilon=1, method="rps", depth=0).groups["noisy"].sum()
            for _ in range(30)
        ]
        spreads.append(float(np.std(noisy)))
    assert spreads[1] > 8 * spreads[0]


def test_the_column_of_persons_cannot_be_published() -> None:
    fields = [*FIELDS, {"name": "who", "type": "string", "categories": ["a"]}]
    with pytest.raises(SchemaError, match="not published"):
        cantle.Schema.from_dict(schema(fields=fields))
    fields[-1]["role"] = "identifier"
    parsed = cantle.Schema.from_dict(schema(fields=fields))
    assert cantle.Schema.from_dict(parsed.to_dict()) == parsed


@given(rows, st.integers(1, 4), st.randoms())
def test_equal_hashes_leave_the_choice_to_the_codes(records: list[Any], most: int, dice: Any) -> None:
    """Even if all hashes are equal, the order of the records does not matter: codes decide, the last column first."""
    shuffled = records.copy()
    dice.shuffle(shuffled)
    kept = []
    with patch.object(persons, "marks", lambda _columns, records: np.zeros(records, np.uint64)):
        for these in (records, shuffled):
            person, *columns = (np.array([r[i] for r in these], dtype=np.int64) for i in range(3))
            used = within_bound(person, columns, most).tolist()
            kept.append(Counter(record for record, is_used in zip(these, used, strict=True) if is_used))
    assert kept[0] == kept[1]
    for who in {record[0] for record in records} - {-1}:
        mine = sorted((record for record in records if record[0] == who), key=lambda record: (record[2], record[1]))
        assert Counter(mine[:most]) == Counter({record: n for record, n in kept[0].items() if record[0] == who})


@given(st.lists(st.text(min_size=1, max_size=9), min_size=1), st.integers(1, 50))
def test_the_place_of_a_person_depends_on_the_identifier_alone(ids: list[str], number: int) -> None:
    """A cluster brings the records of a person together by this place."""
    together = places(pl.Series(ids), number).tolist()
    assert together == [places(pl.Series(["x", who]), number)[1] for who in ids]
    assert together == places(pl.Series(["ab", *ids])[1:], number).tolist()
    assert all(0 <= place < number for place in together)
