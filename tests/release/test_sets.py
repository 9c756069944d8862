"""Releases of sets: every form of input and output, settings that must always work, and changes that `verify` finds."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import yaml

import cantle
from cantle.drawing import records
from cantle.errors import DataError, ParameterError, SchemaError, VerifyError
from cantle.release.show import overview, sections
from cantle.release.spending import budget_lines
from cantle.release.storage import as_polars, as_text, list_frame, number_of
from cantle.release.verify import verify_folder
from cantle.trusted.ledger import Ledger
from tests.effort import slow
from tests.release.changes import with_manifest, with_parts
from tests.release.kinds import FORMS, FRAMES, NUMBERS, WORDS, as_source, baskets, tree_lines
from tests.release.test_tamper import rehash

SCHEMAS = {"numbers": NUMBERS, "words": WORDS}
STORED = {"csv": "data.csv", "parquet": "data.parquet", "fimi": "data.dat"}
DEFAULTS = {"fimi": "fimi", "long": "csv", "list": "parquet", "python": "parquet"}
TEN: dict[str, Any] = {"kind": "sets", "items": {"minimum": 1, "maximum": 10}}


def check_round_trip(release: cantle.Release, folder: Path, *ways: str | None) -> None:
    """Checks that a release is the same after saving and loading in these formats, verifies, and can be sampled."""
    given = as_polars(release.records, release.manifest)
    for way in ways:
        saved = release.save(folder / str(way), data=way)
        assert verify_folder(saved) == []
        again = cantle.Release.load(saved)
        assert again.records.equals(given)
        assert again.groups.equals(release.groups)
        drawn = again.sample(17, seed=1)
        assert number_of(drawn, again.manifest) == (17 if release.manifest.summary["records"] else 0)
        assert drawn.columns == given.columns
        untyped = (
            given.is_empty() and "pandas" in type(release.records).__module__
        )  # an empty frame of pandas has no type of lists
        assert drawn.schema == given.schema or untyped
        assert list(tree_lines(again)) or not len(again.groups)
        assert list(budget_lines(again.manifest))
        assert dict(overview(again))["records"].endswith("synthetic sets")


def sets_of(release: cantle.Release) -> list[list[Any]]:
    return list_frame(as_polars(release.records, release.manifest), release.manifest)["items"].to_list()


# -------------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize(("form", "universe", "ways"), [
    pytest.param(form, universe, ways, marks=pytest.mark.slow if len(ways) > 1 else [])
    for place, form in enumerate(FORMS + FRAMES) for turn, universe in enumerate(SCHEMAS)
    for ways in [tuple(STORED) if (place + turn) % 2 else (list(STORED)[place % 3],)]
])  # fmt: skip
def test_released_sets_have_the_form_of_the_input(
    form: str, universe: str, ways: tuple[str, ...], tmp_path: Path
) -> None:
    schema = SCHEMAS[universe]
    release = cantle.publish(as_source(baskets(schema), form, tmp_path), schema, epsilon=2)
    release.verify()
    assert release.private
    library = form.split()[0] if " " in form else "polars"
    assert type(release.records).__module__.split(".")[0] == library
    shape = "long" if "long" in form else "list"
    names = list(as_polars(release.records, release.manifest).columns)
    assert names == (["id", "item"] if shape == "long" else ["items"])
    inner = pl.Int64 if universe == "numbers" else pl.String
    assert as_polars(release.records, release.manifest).schema[names[-1]] == (
        inner if shape == "long" else pl.List(inner)
    )
    assert len(sets_of(release)) == release.manifest.summary["records"]
    check_round_trip(release, tmp_path, *ways)
    by_default = release.save(tmp_path / "default")
    way = DEFAULTS["fimi" if form == "fimi" else shape]
    assert STORED[way] in {path.name for path in by_default.iterdir()}


@pytest.mark.parametrize("universe", SCHEMAS)
def test_form_order_and_ids_do_not_change_the_release(universe: str, tmp_path: Path) -> None:
    """Only the form of the released sets differs; their content and order depend on the public seed."""
    schema, dice = SCHEMAS[universe], np.random.default_rng(3)
    first = cantle.publish(baskets(schema), schema, epsilon=2, insecure_seed=5)
    for form in FORMS + FRAMES:
        shuffled = [dice.permutation(one).tolist() for one in baskets(schema)]
        shuffled = [shuffled[i] for i in dice.permutation(len(shuffled))]
        if "long" in form:  # rows of a record need not be consecutive
            source = as_source(shuffled, form, tmp_path)
            source = pl.read_csv(source) if form.endswith("csv") else source
            frame = (
                pl.read_parquet(source)
                if isinstance(source, Path)
                else nw.from_native(source, eager_only=True).to_polars()
            )
            source = frame.sample(fraction=1.0, shuffle=True, seed=1)
        else:
            source = as_source(shuffled, form, tmp_path)
        other = cantle.publish(source, schema, epsilon=2, insecure_seed=5)
        assert other.groups.equals(first.groups), form
        assert sets_of(other) == sets_of(first), form


def test_the_same_seed_gives_the_same_bytes_and_every_file_says_not_private(tmp_path: Path) -> None:
    folders = []
    for name, sets in (("a", baskets(WORDS)), ("b", baskets(WORDS)[::-1])):
        (tmp_path / name).mkdir()
        source = as_source(sets, "fimi", tmp_path / name)
        folders.append(cantle.publish(source, WORDS, epsilon=1, insecure_seed=5).save(tmp_path / name / "out"))
    names = sorted(path.name for path in folders[0].iterdir())
    assert all(name.startswith("NOT-PRIVATE.") for name in names)
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
    assert verify_folder(folders[0]) == []
    assert cantle.Release.load(folders[0]).manifest.guarantee.startswith("NOT PRIVATE")


def test_two_private_releases_differ() -> None:
    first, second = (cantle.publish(baskets(NUMBERS, 50), TEN, epsilon=1) for _ in range(2))
    assert not first.groups["noisy"].equals(second.groups["noisy"])


def test_a_release_can_be_pickled_because_it_has_released_values_only() -> None:
    release = cantle.publish(baskets(NUMBERS), NUMBERS, epsilon=1)
    assert pickle.loads(pickle.dumps(release)).groups.equals(release.groups)


def test_columns_have_the_names_of_the_schema(tmp_path: Path) -> None:
    long = as_source(baskets(WORDS), "polars long", tmp_path).rename({"id": "basket", "item": "product"})
    release = cantle.publish(long, WORDS | {"id": "basket", "item": "product"}, epsilon=1)
    assert release.records.columns == ["basket", "product"]
    check_round_trip(release, tmp_path, None, "parquet")
    lists = as_source(baskets(WORDS), "pandas list", tmp_path).rename(columns={"items": "products"})
    release = cantle.publish(lists, WORDS | {"column": "products"}, epsilon=1)
    assert list(release.records.columns) == ["products"]
    assert isinstance(release.records["products"][0], list)
    check_round_trip(release, tmp_path / "lists", None, "csv")


def test_a_large_budget_gives_the_truth_up_to_the_cut_at_m() -> None:
    sets = [one[:4] for one in baskets(NUMBERS)]
    release = cantle.publish(sets, NUMBERS, epsilon=10_000, method="diffpart", cells="tree", m=4)
    assert sorted(map(sorted, sets)) == sorted(sets_of(release))
    cut = cantle.publish(baskets(NUMBERS), NUMBERS, epsilon=10_000, method="diffpart", cells="tree", m=4)
    assert max(map(len, sets_of(cut))) == 4


def test_sizes_that_were_changed_are_noticed() -> None:
    sets = [[1 + i % 13, 1 + (i // 13) % 13] for i in range(2000)]
    release = cantle.publish(sets, {"kind": "sets", "items": {"minimum": 1, "maximum": 13}}, epsilon=10)
    sizes = release.frames["sizes"]
    for changed in (
        None,
        sizes.drop("noisy"),
        sizes.with_columns(pl.col("noisy") + 500),
        sizes.with_columns(pl.col("estimate") + 1),
        sizes.with_columns(pl.col("rate_num") + 1),
        sizes.head(3),
    ):
        frames = {} if changed is None else {"sizes": changed}
        with pytest.raises(VerifyError, match="size"):
            replace(release, frames=frames).verify()
    release.verify()


def test_sizes_that_auto_measured_are_released_with_diffpart() -> None:
    sets = [[1 + i % 13, 1 + (i // 13) % 13] for i in range(2000)]
    release = cantle.publish(sets, {"kind": "sets", "items": {"minimum": 1, "maximum": 13}}, epsilon=10)
    assert release.manifest.method == "diffpart"
    assert release.frames["sizes"]["size"].to_list()[:3] == [1, 2, 3]
    release.verify()
    with pytest.raises(VerifyError, match="the sizes are not those that the receipt paid for"):
        replace(release, frames={}).verify()


# -------------------------------------------------------------------------------------------------- must work

SETTINGS: list[dict[str, Any]] = [
    {},
    {"m": 1},
    {"fanout": 2},
    {"fanout": 62},
    {"cells": "tree", "leaf_share": "1/2"},
    {"max_cells": 1},
    {"c1": 1000},
    {"c2": 1000},
    {"preset": "paper", "fanout": 3},
    {"epsilon": 1000},
    {"epsilon": 1000, "preset": "paper"},
    {"epsilon": 1000, "fanout": 2, "m": 1},
    {"epsilon": "0.000001", "insecure_seed": 0},
    {"epsilon": "0.001", "insecure_seed": 2, "fanout": 2, "m": 4},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_setting_gives_a_release_that_adds_up(settings: dict[str, Any], tmp_path: Path) -> None:
    release = cantle.publish(
        baskets(NUMBERS), NUMBERS, **({"epsilon": 1, "method": "diffpart", "cells": "tree"} | settings)
    )
    release.verify()
    check_round_trip(release, tmp_path, "fimi")
    total = release.manifest.receipt.epsilon_nano
    spent = {path.path: path.epsilon_nano for path in release.manifest.receipt.paths}
    assert all(spent[path] == total for path in release.groups["path"].unique().to_list())
    assert max(spent.values()) <= total


@pytest.mark.parametrize("settings", [{"method": "diffpart"}, {"cells": "tree"}, {"preset": "paper"}], ids=str)
def test_a_small_universe_gives_a_release_that_verifies(settings: dict[str, Any], tmp_path: Path) -> None:
    sets = [[item for item in one if item <= 10] for one in baskets(NUMBERS)]
    release = cantle.publish(sets, TEN, epsilon=1, **settings)
    release.verify()
    check_round_trip(release, tmp_path, "fimi")
    at_once = "method" in settings
    assert (len(release.groups) == 2**10 - 1) == at_once


@pytest.mark.parametrize("given", [{}, {"cells": "tree", "fanout": 2}, {"cells": "tree", "fanout": 62}], ids=str)
def test_a_universe_of_one_item_gives_a_release_that_verifies(given: dict[str, Any], tmp_path: Path) -> None:
    release = cantle.publish([["x"]] * 50, {"kind": "sets", "items": ["x"]}, epsilon=5, **given)
    assert release.groups["items"].to_list() == [["x"]]
    assert 30 < len(release.records) < 70
    check_round_trip(release, tmp_path, "fimi", "csv", "parquet")


@pytest.mark.parametrize("items", slow([200, 1_000, 10_000, 100_000], 1_000, 10_000, 100_000))
def test_a_universe_of_many_items_gives_a_release_that_verifies(items: int, tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    sets = [(dice.zipf(1.4, 4) % items).tolist() for _ in range(3000)]
    release = cantle.publish(sets, {"kind": "sets", "items": {"minimum": 0, "maximum": items - 1}}, epsilon=5)
    assert 2500 < len(release.records) < 3500
    check_round_trip(release, tmp_path, "fimi")


@pytest.mark.parametrize("epsilon", [1, 1000])
@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"x y\n\xff\xfe 99\n -1 0 31 1.0 01\n\x00\n", b"," * 5000 + b"\n"],
    ids=["empty", "blank", "bad", "commas"],
)
def test_files_without_a_valid_record_give_a_release(content: bytes, epsilon: int, tmp_path: Path) -> None:
    (tmp_path / "sets.dat").write_bytes(content)
    release = cantle.publish(tmp_path / "sets.dat", NUMBERS, epsilon=epsilon)
    if epsilon == 1000:
        assert len(release.records) == 0
    check_round_trip(release, tmp_path, *(STORED if content == b"" else ["fimi"]))


@pytest.mark.parametrize("form", FRAMES)
def test_an_empty_input_gives_a_release(form: str, tmp_path: Path) -> None:
    """Its frames still have the types of their columns."""
    source = as_source(baskets(WORDS)[:1], form, tmp_path)
    source = source[:0] if not form.startswith("pyarrow") else source.slice(0, 0)
    release = cantle.publish(source, WORDS, epsilon=1000)
    release.verify()
    assert len(release.records) == 0
    if form == "pandas list":
        assert release.records.dtypes.tolist() == [np.dtype(object)]
    check_round_trip(release, tmp_path, list(STORED)[FRAMES.index(form) % 3])


def test_bad_rows_of_a_long_table_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_bytes(b'id,item\n,3\n1,x\n\xff,\xff\n"\n1,2,3,4\n7\n')
    release = cantle.publish(tmp_path / "sets.csv", NUMBERS, epsilon=1000)
    assert sets_of(release) == [[2]]


@pytest.mark.parametrize("megabytes", slow([2, 10], 10))
def test_a_very_long_line_is_published(megabytes: int, tmp_path: Path) -> None:
    (tmp_path / "sets.dat").write_bytes(b"7 " * (megabytes * 500_000) + b"8\n" + b"1 2\n" * 20)
    release = cantle.publish(tmp_path / "sets.dat", NUMBERS, epsilon=1000)
    assert sorted(sets_of(release)) == [[1, 2]] * 20 + [[7, 8]]


def test_an_item_counts_once_in_a_record(tmp_path: Path) -> None:
    (tmp_path / "sets.dat").write_text("1 1 2 1\n2 1 2\n" * 20)
    assert sets_of(cantle.publish(tmp_path / "sets.dat", NUMBERS, epsilon=1000)) == [[1, 2]] * 40


@pytest.mark.parametrize(
    ("schema", "settings"),
    [
        (TEN, {}),
        (TEN, {"preset": "paper"}),
    ],
    ids=str,
)
def test_noise_that_asks_for_too_many_items_is_drawn_in_part(
    schema: Any, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most seeds ask for too many items, and others for few or none. A low bound keeps the test quick."""
    monkeypatch.setattr(records, "MOST_ITEMS", 10_000)
    given: dict[str, Any] = {"epsilon": "0.000001", "method": "diffpart"} | settings
    wanted = []
    for seed in range(10):
        release = cantle.publish(baskets(NUMBERS), schema, **given, insecure_seed=seed)
        wanted.append(release.manifest.summary.get("items_wanted", 0))
        assert sum(map(len, sets_of(release))) < 25_000
        assert wanted[-1] > 10_000 or not wanted[-1]
        if any(wanted):
            break
    assert any(wanted)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "rps"}, "not for sets data; use diffpart or baskets, or auto"),
        ({"method": "degrees"}, "not for sets data"),
        ({"fanout": 1}, "whole number from 2 to 62"),
        ({"fanout": 63}, "whole number from 2 to 62"),
        ({"m": 0}, "or off"),
        ({"eta": 1}, "share above 0"),
        ({"method": "diffpart"}, "at most 20 items, this universe has 30"),
        ({"fanuot": 3}, "did you mean fanout"),
        ({"eta": "off", "cells": "tree"}, "more than max_cells"),
        ({"engine": "database"}, "for tables"),
        ({"nodes": ["a"]}, "nodes is for graphs"),
        ({"epsilon": "0.000000001"}, "epsilon is too small"),
    ],
    ids=str,
)
def test_bad_parameters_name_thing_rule_and_fix(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        cantle.publish(baskets(NUMBERS, 20), NUMBERS, **({"epsilon": 1} | settings))


def test_bad_schemas_and_files_are_refused_with_fixed_messages(tmp_path: Path) -> None:
    def refused(error: type[Exception], words: str, data: Any, schema: dict[str, Any]) -> None:
        with pytest.raises(error, match=words):
            cantle.publish(data, schema, epsilon=1)

    refused(SchemaError, "it has no `items`", [], {"kind": "sets"})
    refused(SchemaError, "declared twice", [], {"kind": "sets", "items": ["a", "a"]})
    refused(SchemaError, "is not for sets", [], {"kind": "sets", "items": ["a"], "fields": []})
    refused(DataError, "there is no file 'none.dat'", tmp_path / "none.dat", NUMBERS)
    refused(DataError, "is a folder", tmp_path, NUMBERS)
    (tmp_path / "sets.parquet").write_bytes(b"PAR1 not really")
    refused(DataError, "not a readable Parquet file", tmp_path / "sets.parquet", NUMBERS)
    (tmp_path / "sets.csv").write_text("basket,product\n1,2\n")
    refused(DataError, "no column 'id' and 'item'", tmp_path / "sets.csv", NUMBERS)
    refused(DataError, "neither a path nor a frame nor a list of sets", 7, NUMBERS)


# ----------------------------------------------------------------------------------------- items with spaces

SPACED: dict[str, Any] = {"kind": "sets", "items": ["whole milk", "bread", "rye, dark"]}


def test_items_with_spaces_are_refused_as_fimi_before_anything_is_charged(tmp_path: Path) -> None:
    (tmp_path / "sets.dat").write_text("whole milk bread\n")
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.cap("baskets", 1)
    for schema in (SPACED, SPACED | {"form": "fimi"}):
        with pytest.raises(ParameterError, match="'whole milk' holds a space"):
            cantle.publish(tmp_path / "sets.dat", schema, epsilon=1, ledger=ledger, dataset="baskets")
    assert ledger.account("baskets").spent_nano == 0


def test_items_with_spaces_are_released_in_every_other_form(tmp_path: Path) -> None:
    sets = [["whole milk", "bread"], ["rye, dark"], ["bread"]] * 20
    release = cantle.publish(sets, SPACED, epsilon=100)
    with pytest.raises(ParameterError, match="items with a space"):
        release.save(tmp_path / "no", data="fimi")
    assert not list(tmp_path.iterdir())
    check_round_trip(release, tmp_path, None, "csv")
    text = as_text(release.sample(5, seed=1), release.manifest)
    assert text.splitlines()[0] == "id,item"  # not FIMI lines, in which an item would become two


# -------------------------------------------------------------------------------------------------- tampering


@pytest.fixture(scope="module", params=["tree", "all"])
def release(request: pytest.FixtureRequest) -> cantle.Release:
    if request.param == "all":
        return cantle.publish(
            [[item for item in one if item < 11] for one in baskets(NUMBERS)], TEN, epsilon=2, method="diffpart"
        )
    return cantle.publish(baskets(NUMBERS, 2000), NUMBERS, epsilon=2, cells="tree")


def one_more(frame: pl.DataFrame, column: str, row: int = 0, by: int = 1) -> pl.DataFrame:
    return frame.with_columns(
        pl.when(pl.int_range(pl.len()) == row).then(by).otherwise(0).cast(pl.Int64) + pl.col(column)
    )


GROUPS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "count up": lambda g: one_more(g, "count"),
    "count down": lambda g: one_more(g, "count", int(g["count"].arg_max() or 0), -1),
    "counts swapped": lambda g: one_more(one_more(g, "count", 0, 3), "count", 1, -3),
    "negative": lambda g: g.with_columns(count=-pl.col("count") - 1),
    "rate": lambda g: one_more(g, "rate_num"),
    "sensitivity": lambda g: g.with_columns(rate_den=pl.col("rate_den") * 2),
    "path": lambda g: g.with_columns(path=pl.lit(10**6, pl.Int64)),
    "row dropped": lambda g: g.slice(1),
    "row twice": lambda g: pl.concat([g, g.slice(0, 1)]),
    "undeclared": lambda g: g.with_columns(items=pl.col("items").list.eval(pl.element() + 100)),
    "item twice": lambda g: g.with_columns(items=pl.concat_list("items", pl.col("items").list.first())),
    "reversed": lambda g: g.with_columns(items=pl.concat_list(pl.lit(30, pl.Int64), pl.col("items").list.first())),
    "empty set": lambda g: g.with_columns(items=pl.col("items").list.head(0)),
    "gap": lambda g: g.with_columns(noisy=pl.when(pl.int_range(pl.len()) > 0).then("noisy")),
    "column": lambda g: g.drop("noisy"),
    "type": lambda g: g.with_columns(pl.col("count").cast(pl.String)),
}


@pytest.mark.parametrize("change", GROUPS)
def test_changed_groups_are_noticed(release: cantle.Release, change: str) -> None:
    release.verify()
    with pytest.raises(VerifyError):
        with_parts(release, groups=GROUPS[change](release.groups)).verify()


def test_changed_records_are_noticed(release: cantle.Release) -> None:
    records = release.records
    for other in (
        records.slice(1),
        pl.concat([records, records.slice(0, 1)]),
        records.with_columns(items=pl.col("items").list.eval(pl.element() + 100)),
        records.with_columns(items=pl.lit([1], pl.List(pl.Int64))),
        records.head(0),
    ):
        with pytest.raises(VerifyError):
            with_parts(release, records=other).verify()


def test_a_changed_receipt_or_summary_is_noticed(release: cantle.Release) -> None:
    used = [path.path for path in release.manifest.receipt.paths].index(release.groups["path"][0])
    for change in (
        lambda m: m["receipt"]["paths"][used]["charges"][-1].update(epsilon_nano=5),
        lambda m: m["receipt"]["paths"][used]["charges"][-1].update(sensitivity=2),
        lambda m: m["receipt"]["paths"].pop(used),
        lambda m: m["summary"].update(records=m["summary"]["records"] + 1),
        lambda m: m["summary"].update(leaves=3),
        lambda m: m["schema"].update(items={"minimum": 1, "maximum": 31}),
        lambda m: m["schema"].update(items="items.txt"),
        lambda m: m.update(private=False),
    ):
        with pytest.raises(VerifyError):
            with_manifest(release, change).verify()


@pytest.mark.parametrize("way", STORED)
def test_changed_files_are_noticed_even_with_new_hashes(way: str, tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        return cantle.publish(baskets(NUMBERS, 50), NUMBERS, epsilon=50, cells="tree", fanout=62).save(
            tmp_path / name, data=way
        )

    assert rehash(fresh("same")) == []
    for name in [path.name for path in fresh("names").iterdir()]:
        folder = fresh(f"bytes of {name}")
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])
        assert verify_folder(folder), name
        assert name == "release.json" or rehash(folder), name
        (folder / name).unlink()
        assert verify_folder(folder), name
    folder = fresh("item")
    if way == "parquet":
        frame = pl.read_parquet(folder / "data.parquet")
        frame.with_columns(items=pl.lit([3, 2, 1], pl.List(pl.Int64))).write_parquet(folder / "data.parquet")
    else:
        path = folder / STORED[way]
        path.write_bytes(path.read_bytes().replace(b"1", b"99"))
    assert rehash(folder)


# -------------------------------------------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("way", "fields"),
    [
        ("csv", [{"name": "id", "type": "integer"}, {"name": "item"}]),
        ("parquet", [{"name": "items", "type": "array"}]),
        ("fimi", None),
    ],
)
def test_texts_of_a_release_are_about_sets(way: str, fields: Any, tmp_path: Path) -> None:
    release = cantle.publish(baskets(NUMBERS), NUMBERS, epsilon=20, cells="tree")
    folder = release.save(tmp_path / "out", data=way)
    text = (folder / "statement.md").read_text()
    assert "synthetic sets" in text
    assert "sets of items" in text
    assert "| protects | one record (one set of items) |" in text
    assert "the same data with one record (one set of items) left out" in text
    entry = yaml.safe_load((folder / "registry.yaml").read_text())["deployment"]
    assert entry["dp_variant"]["data_domain"].endswith("items of a public universe (1 to 30).")
    assert "synthetic sets of items" in entry["basic"]["description"]
    assert "(one set of items)" in entry["privacy_loss"]["privacy_unit_details"]
    assert "drawn" in entry["accounting"]["post_processing"]
    (resource,) = json.loads((folder / "datapackage.json").read_bytes())["resources"]
    assert resource["path"] == STORED[way]
    assert [dict(one) for one in resource.get("schema", {}).get("fields", [])] == [
        {key: value for key, value in one.items() if key in found}
        for one, found in zip(fields or [], resource.get("schema", {}).get("fields", []), strict=True)
    ]
    assert (resource.get("schema") is None) == (fields is None)


def test_show_describes_sets() -> None:
    release = cantle.publish([["bread", "milk"]] * 50, {"kind": "sets", "items": ["bread", "milk"]}, epsilon=50)
    assert list(tree_lines(release))[0] == "{bread, milk}: 50"
    facts = dict(overview(release))
    assert facts["epsilon"] == "50 for one record"
    assert facts["counted"] == "3 sets of items"
    many = cantle.publish(baskets(NUMBERS), NUMBERS, epsilon=1000, cells="tree")
    lines = list(tree_lines(many))
    assert lines[-1] == f"… and {len(many.groups) - 20} more in groups.parquet"
    questions = [line for line in budget_lines(many.manifest) if "%" in line]
    assert any("choosing which sets" in question for question in questions[1:])
    assert "counts of sets" in questions[-1]
    shown = [line.split("█")[0].split()[0] for line in dict(sections(release))["Most frequent items"]]
    assert shown == ["bread", "milk"]
