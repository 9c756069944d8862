"""The content of a release, saving and loading it, and changes that `verify` finds."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cantle
from cantle.errors import OutputError, ParameterError, SchemaError, VerifyError
from cantle.release.verify import verify_folder
from tests.effort import one_in
from tests.release.changes import with_manifest, with_parts
from tests.release.people import SCHEMA, people

SETTINGS = [
    {},
    {"preset": "paper", "depth": 12},
    {"stop": "privtree:5", "stop_share": 0.3, "depth": 6},
    {"stop": "count:3+narrow:4", "stop_share": 0.3, "depth": 6, "skip": 2},
    {"attributes": "midpoint", "depth": 5},
    {"summary": "depth"},
    {"values": "uniform", "oneway_share": 0},
    {"values": "midpoint"},
    {"values": "low", "label": "counts"},
    {"values": "set"},
    {"levels": "geometric:0.8", "quality": "mix:1:2", "depth": 4},
    {"records": 400, "quality": "balance"},
    {"bins": 16, "order": "random", "order_seed": 3},
    {"depth": 0},
    {"cuts": "subsets", "order": "random"},
    {"cuts": "subsets", "values": "set", "attributes": "random"},
    {"method": "diffgen"},
    {"method": "diffgen", "objective": "accuracy", "rounds": 3},
    {"method": "diffgen", "objective": "balanced", "records": 400},
    {"method": "diffgen", "rounds": 0},
    {"method": "diffgen", "preset": "paper"},
    {"method": "diffgen", "preset": "paper", "score": "infogain", "rounds": 4},
    {"method": "diffgen", "preset": "paper", "score": "purity", "rounds": 20},
    pytest.param({"method": "diffgen", "preset": "paper", "score": "purity", "rounds": 60}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("settings", one_in(2, SETTINGS), ids=str)
def test_every_setting_gives_a_release_that_verifies_and_can_be_saved_and_loaded(
    settings: dict, tmp_path: Path
) -> None:
    release = cantle.publish(people(), SCHEMA, epsilon=2, **({"method": "rps"} | settings))
    release.verify()
    assert release.private
    assert all(path.epsilon_nano <= 2 * 10**9 for path in release.manifest.receipt.paths)
    assert release.groups["count"].sum() == len(release.records)
    data = ("csv", "parquet")[SETTINGS.index(settings) // 2 % 2] if settings in SETTINGS else "csv"
    folder = release.save(tmp_path / data, data=data)
    assert verify_folder(folder) == []
    again = cantle.Release.load(folder)
    again.verify()
    assert again.records.equals(release.records)
    assert again.groups.equals(release.groups)
    assert len(again.sample(17)) == 17


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_no_budget_is_left_unused_where_leaves_are_counted(settings: dict) -> None:
    release = cantle.publish(people(), SCHEMA, epsilon="0.7", **({"method": "rps"} | settings))
    assert {path.epsilon_nano for path in release.manifest.receipt.paths} == {700_000_000}


def test_released_columns_have_the_types_of_the_input() -> None:
    table = people()
    records = cantle.publish(table, SCHEMA, epsilon=1).records
    assert records.schema == table.drop("id").schema


def test_the_released_frame_is_of_the_same_kind_as_the_input() -> None:
    import pandas as pd
    import pyarrow as pa

    table = people(60)
    assert isinstance(cantle.publish(table.to_pandas(), SCHEMA, epsilon=1).records, pd.DataFrame)
    assert isinstance(cantle.publish(table.to_arrow(), SCHEMA, epsilon=1).records, pa.Table)


def test_values_lie_inside_the_declared_domain() -> None:
    halves = {**SCHEMA["fields"][2], "constraints": {"minimum": 30, "maximum": 150, "multipleOf": 0.5}}
    schema = {"fields": [*SCHEMA["fields"][:2], halves, *SCHEMA["fields"][3:]]}
    records = cantle.publish(people(), schema, epsilon=0.1).records
    assert records["age"].drop_nulls().is_between(0, 99).all()
    assert (records["weight"].drop_nulls() * 2 % 1 == 0).all()
    assert records["ill"].is_in(["no", "yes"]).all()


def test_a_large_budget_gives_nearly_the_truth() -> None:
    table = people(2000)
    records = cantle.publish(table, SCHEMA, epsilon=10_000, method="rps", depth=8, label="counts").records
    assert abs(len(records) - 2000) <= 1
    for column in ("town", "grade", "member", "ill"):
        true = dict(table[column].value_counts().iter_rows())
        released = dict(records[column].value_counts().iter_rows())
        assert sum(abs(released.get(k, 0) - n) for k, n in true.items()) <= 100, column


def test_the_same_seed_gives_the_same_bytes_and_every_file_says_not_private(tmp_path: Path) -> None:
    shuffled = people().sample(fraction=1.0, shuffle=True, seed=1)
    folders = [
        cantle.publish(table, SCHEMA, epsilon=1, insecure_seed=5).save(tmp_path / name)
        for name, table in (("a", people()), ("b", shuffled))
    ]
    names = sorted(path.name for path in folders[0].iterdir())
    assert all(name.startswith("NOT-PRIVATE.") for name in names)
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
    assert "NOT PRIVATE" in (folders[0] / "NOT-PRIVATE.statement.md").read_text()
    assert "NOT PRIVATE" in json.loads((folders[0] / "NOT-PRIVATE.release.json").read_bytes())["guarantee"]
    assert "NOT PRIVATE" in json.loads((folders[0] / "NOT-PRIVATE.datapackage.json").read_bytes())["title"]
    assert "NOT PRIVATE" in pl.read_parquet_metadata(folders[0] / "NOT-PRIVATE.groups.parquet")["cantle"]
    assert verify_folder(folders[0]) == []


def test_the_data_package_describes_the_file_that_is_written(tmp_path: Path) -> None:
    """Booleans and dates are written in one form, whatever the form in the data; the title claims nothing."""
    bounds = {"minimum": "2020-01-01", "maximum": "2020-01-31"}
    member = {"name": "member", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]}
    day = {"name": "day", "type": "date", "format": "%d.%m.%Y", "constraints": bounds}
    table = pl.DataFrame({"member": ["ja", "nein", "ja"] * 50, "day": ["07.01.2020"] * 150})
    folder = cantle.publish(table, {"fields": [member, day]}, epsilon=100, insecure_seed=1).save(tmp_path / "out")
    package = json.loads((folder / "NOT-PRIVATE.datapackage.json").read_bytes())
    assert package["title"] == "Release by cantle (NOT PRIVATE: the noise came from a known seed)"
    (resource,) = package["resources"]
    dates = {"name": "day", "type": "date", "constraints": bounds}
    assert resource["schema"]["fields"] == [{"name": "member", "type": "boolean"}, dates]
    assert set((folder / resource["path"]).read_text().split()) == {"member,day", "true,2020-01-07", "false,2020-01-07"}
    assert verify_folder(folder) == []


def test_two_private_releases_differ() -> None:
    for method in ("rps", "diffgen", "mosaic"):
        first, second = (cantle.publish(people(), SCHEMA, epsilon=1, method=method) for _ in range(2))
        noisy = [one.groups if method != "mosaic" else one.frames["tables"] for one in (first, second)]
        assert not noisy[0]["noisy"].equals(noisy[1]["noisy"])


def test_an_inferred_schema_gives_no_guarantee() -> None:
    release = cantle.publish(people(), SCHEMA | {"guarantee": "none"}, epsilon=1)
    assert not release.private
    assert "no guarantee" in release.manifest.guarantee


def test_a_release_can_be_pickled_because_it_has_released_values_only() -> None:
    release = cantle.publish(people(50), SCHEMA, epsilon=1)
    assert pickle.loads(pickle.dumps(release)).groups.equals(release.groups)


def test_an_existing_folder_is_never_overwritten(tmp_path: Path) -> None:
    release = cantle.publish(people(50), SCHEMA, epsilon=1)
    with pytest.raises(OutputError, match="exists already"):
        release.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = cantle.publish(people(50), SCHEMA, epsilon=1)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [(0, "between"), (-1, "between"), ("abc", "positive number"), (float("nan"), "positive number"), (None, "positive"),
     (float("inf"), "positive number"), (True, "between"), (1e-12, "between"), (1e9, "between")],
)  # fmt: skip
def test_a_bad_epsilon_is_refused(epsilon: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        cantle.publish(people(5), SCHEMA, epsilon=epsilon)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "magic"}, "use one of auto, mosaic, rps, diffgen"),
        ({"method": "diffgen", "score": "max"}, "preset default takes"),
        ({"method": "diffgen", "preset": "paper", "score": "gini"}, "preset paper takes"),
        ({"method": "diffgen", "preset": "paper", "rounds": "auto"}, "needs numbers"),
        ({"method": "diffgen", "count_share": 0}, "needs the number of records"),
        ({"method": "auto", "rounds": 3}, "name the method: diffgen"),
        ({"method": "auto", "preset": "paper"}, "or name another method"),
        ({"engine": "abacus"}, "use one of memory"),
        ({"preset": "best"}, "use one of default, paper"),
        ({"depht": 3}, "did you mean depth"),
        ({"depth": -1}, "whole number from 0"),
        ({"depth": 2.5}, "whole number from 0"),
        ({"leaf_share": 1.5}, "share above 0 and below 1"),
        ({"leaf_share": 0}, "share above 0 and below 1"),
        ({"stop": "count"}, "none, count:T"),
        ({"stop": "count:1+privtree:2"}, "none, count:T"),
        ({"quality": "mix:0:0"}, "balance, class or mix"),
        ({"values": "fitted", "oneway_share": 0}, "needs one-way tables"),
        ({"count_share": 0}, "needs the number of records"),
        ({"cuts": "subsets", "attributes": "midpoint"}, "have no middle"),
        ({"cuts": "subsets", "values": "low"}, "have no middle"),
        ({"cuts": "sets"}, "intervals, subsets"),
        ({"oneway_share": 0.6, "count_share": 0.4}, "leave nothing"),
        ({"insecure_seed": -1}, "whole number from 0"),
        ({"records": -4}, "whole number"),
    ],
    ids=str,
)
def test_bad_parameters_name_thing_rule_and_fix(settings: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        cantle.publish(people(5), SCHEMA, epsilon=1, **({"method": "rps"} | settings))


def _tampered(folder: Path, name: str, change: bytes, by: bytes) -> list[str]:
    path = folder / name
    content = path.read_bytes()
    assert change in content
    path.write_bytes(content.replace(change, by, 1))
    try:
        return verify_folder(folder)
    finally:
        path.write_bytes(content)


def test_verify_notices_changed_files(tmp_path: Path) -> None:
    folder = cantle.publish(people(), SCHEMA, epsilon=1, method="rps").save(tmp_path / "r")
    assert verify_folder(folder) == []
    assert _tampered(folder, "data.csv", b"yes", b"no")
    assert _tampered(folder, "statement.md", b"epsilon | 1 ", b"epsilon | 0.1 ")
    assert _tampered(folder, "release.json", b'"epsilon":"1"', b'"epsilon":"2"')
    assert _tampered(folder, "release.json", b"{", b"[")
    assert _tampered(folder, "release.json", b"cantle-release/1", b"cantle-release/2")
    (folder / "extra.txt").write_text("x")
    assert verify_folder(folder) == ["extra.txt is not listed"]
    (folder / "extra.txt").unlink()
    (folder / "tree.parquet").unlink()
    assert verify_folder(folder) == ["tree.parquet is listed and missing"]
    assert verify_folder(tmp_path)[0].endswith("there is no release.json")


def test_verify_notices_a_release_that_does_not_add_up() -> None:
    release = cantle.publish(people(), SCHEMA, epsilon=1, method="rps")

    def changed(**parts: object) -> cantle.Release:
        return with_parts(release, **parts)

    def refused(other: cantle.Release, words: str) -> None:
        with pytest.raises(VerifyError, match=words):
            other.verify()

    changes: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
        (lambda m: m["receipt"]["paths"][0]["charges"][0].update(epsilon_nano=1), "does not add up"),
        (lambda m: m["receipt"].update(epsilon_nano=10**9 - 1), "more than epsilon"),
        (lambda m: m.update(private=False), "honestly"),
        (lambda m: m["schema"]["fields"][1]["constraints"].update(maximum=98), "schema"),
    ]
    for change, words in changes:
        refused(with_manifest(release, change), words)
    refused(changed(records=release.records.head(10)), "domain|counts")
    refused(changed(records=release.records.sample(fraction=1.0, with_replacement=True, seed=1)), "counts")
    refused(changed(groups=release.groups.with_columns(rate_num=pl.col("rate_num") + 1)), "paid for")
    refused(changed(groups=release.groups.with_columns(pl.col("age.hi") + 1)), "regions")
    refused(changed(groups=release.groups.with_columns(path=pl.lit(10**6))), "not in the receipt")
    refused(changed(frames=release.frames | {"tree": release.frames["tree"].head(2)}), "binary tree")


def test_sample_is_repeatable_and_follows_the_counts() -> None:
    release = cantle.publish(people(600), SCHEMA, epsilon=5)
    assert release.sample(100, seed=1).equals(release.sample(100, seed=1))
    share = (release.sample(5000)["ill"] == "yes").mean()
    assert abs(share - (release.records["ill"] == "yes").mean()) < 0.02
    assert len(release.sample(0)) == 0
    for given in ({"n": -1}, {"n": 3, "seed": -1}, {"n": 3, "seed": True}):
        with pytest.raises(ParameterError, match="whole number"):
            release.sample(**given)
    with pytest.raises(ParameterError, match="no column 'aeg'"):
        release.sample(3, where="aeg > 3")


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_few_records_and_many_have_the_distribution_of_the_release(method: str) -> None:
    release = cantle.publish(people(2000), SCHEMA, epsilon=5, method=method, insecure_seed=4)
    for n, draws in ((3, 12), (150, 2), (10_000, 1)):
        drawn = pl.concat([release.sample(n, seed=seed) for seed in range(draws)])
        for name, far in (("age", 20), ("ill", 0.5)):
            ours, theirs = (_numbers(frame[name]) for frame in (drawn, release.records))
            assert abs(ours.mean() - theirs.mean()) < 5 * far / min(len(drawn), 2000) ** 0.5, (n, name)
    old = release.sample(300, seed=1, where="age >= 50")
    assert old.equals(release.sample(300, seed=1, where="age >= 50"))
    assert len(old) == 300
    assert old["age"].min() >= 50
    asked = release.records.filter(pl.col("age") >= 50)["age"]
    assert abs(old["age"].mean() - asked.mean()) < 5 * 15 / 300**0.5
    same = release.sample(len(release.records), seed=1)
    assert same["ill"].value_counts(sort=True).equals(release.records["ill"].value_counts(sort=True))


def _numbers(column: pl.Series) -> pl.Series:
    return (column == "yes").cast(pl.Float64) if column.dtype == pl.String else column.drop_nulls()


def test_groups_have_the_contract_columns() -> None:
    groups = cantle.publish(people(), SCHEMA, epsilon=1, method="rps", label="counts").groups
    assert groups.columns[:4] == ["leaf", "parent", "depth", "path"]
    assert {"age.lo", "age.hi", "age.null", "town", "town.lo", "ill", "noisy", "rate_num", "rate_den"} <= set(
        groups.columns
    )
    assert groups["joined.lo"].dtype == pl.Date
    assert groups["seen.hi"].dtype == pl.Datetime("us")
    assert np.all(groups["age.lo"].to_numpy() <= groups["age.hi"].to_numpy())


def test_a_release_of_cells_that_does_not_add_up_is_noticed() -> None:
    release = cantle.publish(people(), SCHEMA, epsilon=1, method="diffgen", records=400)

    def refused(words: str, **parts: object) -> None:
        with pytest.raises(VerifyError, match=words):
            with_parts(release, **parts).verify()

    groups = release.groups
    refused("paid for", groups=groups.with_columns(rate_num=pl.col("rate_num") * 2))
    refused("listed once", groups=groups.reverse())
    refused("age", groups=groups.with_columns(pl.col("age.hi") + 1))
    refused("below the threshold", groups=groups.with_columns(noisy=pl.lit(0)))
    refused("counts of the cells", groups=groups.with_columns(pl.col("count") + 1))
    refused("domain", records=release.records.head(3))
    uncovered = with_manifest(release, lambda m: m["structure"]["cuts"].update(age=[0, 5, 4, 101]))
    refused("cover", manifest=uncovered.manifest)


def test_another_table_is_generalised_with_the_same_labels() -> None:
    release = cantle.publish(people(), SCHEMA, epsilon=5, method="diffgen")
    generalised = release.generalised()
    assert generalised["cantle.count"].sum() == len(release.records)
    other = release.generalise(people(50, seed=8))
    assert len(other) == 50
    for column in ("age", "town", "grade", "member", "joined"):
        assert set(other[column].unique()) <= set(generalised[column].unique()) | set(_labels(release, column)), column
    with pytest.raises(ParameterError, match="only a diffgen release"):
        cantle.publish(people(), SCHEMA, epsilon=1, method="rps").generalise(people())


def _labels(release: cantle.Release, column: str) -> list[str]:
    from cantle.release.structures.cells import cells_of

    cells = cells_of(release)
    number = [a.name for a in cells.domain.attributes].index(column)
    attribute = cells.domain.attributes[number]
    return [attribute.describe(lo, hi) for lo, hi in cells.grid.spans(number)]


def test_a_table_without_a_target_cannot_be_published_by_diffgen() -> None:
    schema = {"fields": [field for field in SCHEMA["fields"] if field.get("role") != "target"]}
    with pytest.raises(SchemaError, match="role: target"):
        cantle.publish(people().drop("ill"), schema, epsilon=1, method="diffgen")


def test_auto_chooses_mosaic_with_and_without_a_target() -> None:
    schema = {"fields": [field for field in SCHEMA["fields"] if field.get("role") != "target"]}
    assert cantle.publish(people(), SCHEMA, epsilon=1).manifest.method == "mosaic"
    assert cantle.publish(people().drop("ill"), schema, epsilon=1).manifest.method == "mosaic"


@pytest.mark.parametrize("epsilon", [100, 10_000])
def test_almost_no_noise_gives_the_true_records(epsilon: int) -> None:
    """Variances that round to 0 must not cause an error."""
    table = pl.DataFrame({"a": [1, 1, 2, None] * 50, "b": ["x", "x", "y", "y"] * 50})
    fields: list[dict[str, Any]] = [
        {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 40}},
        {"name": "b", "type": "string", "categories": ["x", "y"], "constraints": {"required": True}},
    ]
    records = cantle.publish(table, {"fields": fields}, epsilon=epsilon, method="mosaic").records
    assert records.sort("a", "b").equals(table.cast(records.schema).sort("a", "b"))


@pytest.mark.parametrize("field", [0, 1], ids=["text", "integer"])
def test_every_reader_finds_the_nulls_of_a_single_column(tmp_path: Path, field: int) -> None:
    fields: list[dict[str, Any]] = [
        {"name": "a", "type": "string", "categories": ["x", "y, z"]},
        {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}},
    ]
    values = [["x", "y, z", None], [1, 2, None]][field] * 100
    release = cantle.publish(pl.DataFrame({"a": values}), {"fields": [fields[field]]}, epsilon=9, method="rps")
    release.save(tmp_path / "r")
    again = cantle.Release.load(tmp_path / "r")
    assert release.records["a"].null_count() > 50
    assert again.records.equals(release.records)
    assert len(pd.read_csv(tmp_path / "r" / "data.csv")) == len(release.records)
    assert verify_folder(tmp_path / "r") == []


def test_types_in_pandas_follow_from_the_schema_and_not_from_the_records() -> None:
    schema = {
        "fields": [
            {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}},
            {"name": "b", "type": "integer", "constraints": {"minimum": 0, "maximum": 3, "required": True}},
            {"name": "c", "type": "boolean"},
        ]
    }
    data = pd.DataFrame({"a": [1, 2, 3] * 100, "b": [0, 1, 2] * 100, "c": [True, False, True] * 100})
    for seed in range(4):
        released = cantle.publish(data, schema, epsilon=9, insecure_seed=seed).records
        assert [str(kind) for kind in released.dtypes] == ["Int64", "int64", "boolean"]


@pytest.mark.parametrize("epsilon", [1, 5])
def test_shares_of_classes_follow_their_noisy_counts(epsilon: int) -> None:
    """This holds by default. Labels by majority, as in the paper, lose a third of the rarer class here."""
    dice = np.random.default_rng(7)
    x = dice.integers(0, 16, 20_000)
    ill = dice.random(20_000) < np.where(x >= 14, 0.95, 0.07)
    table = pl.DataFrame({"x": x, "ill": np.where(ill, "yes", "no")})
    schema = {
        "fields": [
            {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 15, "required": True}},
            {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"},
        ]
    }

    def share(**options: str) -> float:
        released = cantle.publish(table, schema, epsilon=epsilon, method="rps", insecure_seed=5, **options).records
        return float((released["ill"] == "yes").mean())

    assert abs(share() - ill.mean()) < 0.005
    assert abs(share(label="majority") - ill.mean()) > 0.04
    manifest = cantle.publish(table, schema, epsilon=epsilon, method="rps", preset="paper").manifest
    assert manifest.parameters["label"] == "majority"
