"""The loader of Adult and its public schema, tested on generated files; counts are tested on the real files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cantle.errors import DataError, ParameterError
from cantle_lab.papers import adult
from cantle_lab.papers.coding import Coder


@pytest.mark.parametrize(("rows", "files", "columns"), [("paper", 1, 11), ("all", 2, 15)])
def test_complete_records_are_loaded_in_the_order_of_the_schema(
    small_adult: Path, rows: adult.Rows, files: int, columns: int
) -> None:
    table, schema = adult.load(small_adult, rows), adult.schema(rows)
    assert table.columns == [field["name"] for field in schema["fields"]]
    assert table.shape == (299 * files, columns)  # one record of each file is incomplete
    assert table["age"].dtype == pl.Int64
    assert schema["fields"][-1]["role"] == "target"


def test_codes_are_decoded_to_the_same_values(small_adult: Path) -> None:
    table, coder = adult.load(small_adult), Coder(adult.schema())
    assert coder.decode(coder.encode(table)).equals(table)


def test_education_is_the_only_ordered_category() -> None:
    ordered = [field["name"] for field in adult.schema("all")["fields"] if field.get("categoriesOrdered")]
    assert ordered == ["education"]
    assert adult.CATEGORIES["education"][0] == "Preschool"
    assert adult.CATEGORIES["education"][-1] == "Doctorate"


def test_lists_of_categories_have_the_documented_sizes() -> None:
    sizes = {name: len(values) for name, values in adult.CATEGORIES.items()}
    assert sizes == {
        "workclass": 8, "education": 16, "marital-status": 7, "occupation": 14, "relationship": 6, "race": 5,
        "sex": 2, "native-country": 41, "class": 2,
    }  # fmt: skip


def test_a_missing_folder_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="folder that contains adult/"):
        adult.load(tmp_path)
    with pytest.raises(ParameterError, match="'paper' or 'all'"):
        adult.load(tmp_path, "some")  # type: ignore[arg-type]


def test_an_unlisted_category_is_refused(small_adult: Path) -> None:
    table = adult.load(small_adult).with_columns(sex=pl.lit("x"))
    with pytest.raises(DataError, match="sex has values outside"):
        Coder(adult.schema()).encode(table)


def test_the_real_files_have_the_documented_counts(real_data: Path) -> None:
    assert adult.load(real_data, "paper").height == 30_162
    assert adult.load(real_data, "all").height == 45_222
    for rows in ("paper", "all"):
        coder = Coder(adult.schema(rows))
        table = adult.load(real_data, rows)
        assert coder.decode(coder.encode(table)).equals(table)  # every value lies in the public domain
