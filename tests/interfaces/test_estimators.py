"""The estimators for scikit-learn: parameters, fit, sample, and transform inside a real pipeline."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cantle
from cantle.errors import DataError, ParameterError
from tests.release.people import SCHEMA, people

FEATURES = [field["name"] for field in SCHEMA["fields"] if field.get("role") not in ("identifier", "target")]


@pytest.mark.parametrize("kind", [cantle.RPS, cantle.DiffGen])
def test_fit_publishes_with_the_given_parameters(kind: type) -> None:
    estimator = kind(SCHEMA, epsilon=2, records=400)
    assert estimator.get_params()["records"] == 400
    assert estimator.set_params(epsilon="0.5") is estimator
    assert repr(estimator) == f"{kind.__name__}(schema=..., epsilon='0.5', records=400)"
    assert "hunter2" not in repr(kind(SCHEMA, ledger="postgresql://curator:hunter2@host/base", dataset="people"))
    with pytest.raises(ParameterError, match="call fit first"):
        estimator.sample(3)
    release = estimator.fit(people()).release_
    assert (release.manifest.method, release.epsilon) == (kind.method, 0.5)
    assert release.manifest.parameters["records"] == 400
    assert len(estimator.sample(7)) == 7


def test_there_is_an_estimator_of_the_default_method() -> None:
    estimator = cantle.Mosaic(SCHEMA, epsilon=2, accuracy_share=0).fit(people(200))
    assert (estimator.release_.manifest.method, estimator.release_.accuracy) == ("mosaic", None)


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="no parameter 'dept'") as refused:
        cantle.RPS(SCHEMA).set_params(dept=3)
    assert isinstance(refused.value, ValueError), "as scikit-learn expects"
    with pytest.raises(TypeError):
        cantle.RPS(SCHEMA, dept=3)
    with pytest.raises(ParameterError, match="needs a schema"):
        cantle.DiffGen().fit(people(5))
    with pytest.raises(ParameterError, match="depth"):
        cantle.RPS(SCHEMA, depth=-1).fit(people(5))


@pytest.mark.parametrize("kind", [cantle.Mosaic, cantle.RPS, cantle.DiffGen])
def test_scikit_learn_can_clone_estimators(kind: type) -> None:
    from sklearn.base import clone

    first = kind(SCHEMA, epsilon="1/3", insecure_seed=4).fit(people(50))
    second = clone(first)
    assert second.get_params() == first.get_params()
    assert not hasattr(second, "release_")
    assert repr(second.set_params(epsilon=1.0)) == f"{kind.__name__}(schema=..., insecure_seed=4)"
    assert pickle.loads(pickle.dumps(first)).sample(3, seed=1).equals(first.sample(3, seed=1))
    second.set_params(epsilon="1/3")
    assert second.fit(people(50)).release_.records.equals(first.release_.records)


@pytest.mark.parametrize("odd", ["a secret", b"x", 1.5, 2**70, [1], None], ids=repr)
@pytest.mark.parametrize("frame", ["polars", "pandas", "pyarrow"])
def test_no_value_of_the_target_decides_whether_it_is_read(frame: str, odd: Any) -> None:
    """polars and Arrow chose a type from all values, and refused the odd one with a message that quotes it."""
    fields = [one for one in SCHEMA["fields"] if one["name"] == "age"]
    schema = {"fields": [*fields, {"name": "ill", "type": "integer", "categories": [0, 1], "role": "target"}]}
    X = pl.DataFrame({"age": [30, 40, 50]})
    X = {"polars": X, "pandas": X.to_pandas(), "pyarrow": X.to_arrow()}[frame]
    for y in ([0, odd, 1], [odd] * 3):
        assert cantle.RPS(schema, insecure_seed=1).fit(X, y).release_.epsilon == 1


def test_a_target_may_be_a_separate_argument_or_a_column() -> None:
    table = people(300)
    whole = cantle.DiffGen(SCHEMA, insecure_seed=1).fit(table).release_
    for X, y in (
        (table.drop("ill"), table["ill"]),
        (table.drop("ill").to_pandas().set_index(np.arange(300) * 7), table["ill"].to_numpy()),
        (table.drop("ill").to_arrow(), table["ill"].to_list()),
    ):
        apart = cantle.DiffGen(SCHEMA, insecure_seed=1).fit(X, y).release_
        assert apart.groups.equals(whole.groups)
    with pytest.raises(ParameterError, match="different numbers of records"):
        cantle.DiffGen(SCHEMA).fit(table.drop("ill"), ["yes"])
    failing = pl.LazyFrame({"age": ["a secret"]}).with_columns(pl.col("age").cast(pl.Int64))
    with pytest.raises(DataError, match="X cannot be read") as caught:
        cantle.DiffGen(SCHEMA).fit(failing, ["yes"])
    assert caught.value.__context__ is None, "a message of polars would quote the value"
    with pytest.raises(ParameterError, match="given twice"):
        cantle.DiffGen(SCHEMA).fit(table, table["ill"])
    with pytest.raises(ParameterError, match="path"):
        cantle.DiffGen(SCHEMA).fit("table.csv", table["ill"])


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_transform_generalises_with_the_released_cuts(frame: type) -> None:
    table = people(300)
    estimator = cantle.DiffGen(SCHEMA, epsilon=9, insecure_seed=1).fit(table)
    given = table.to_pandas() if frame is pd.DataFrame else table
    for X in (given, given.drop(columns="ill") if frame is pd.DataFrame else given.drop("ill")):
        generalised = estimator.transform(X)
        assert isinstance(generalised, frame)
        assert list(generalised.columns) == list(estimator.get_feature_names_out()) == FEATURES
        assert len(generalised) == 300
    labels = estimator.release_.generalise(table)["age"]
    pairs = set(zip(generalised["age"], labels, strict=True))
    assert len(pairs) == labels.n_unique() > 1, "each group has one number and one label"
    assert {number for number, _ in pairs} <= set(range(100))


@pytest.mark.parametrize("pandas", [True, False])
def test_an_estimator_works_in_a_pipeline(pandas: bool) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    table = people(400)
    X: Any = table.drop("ill").to_pandas() if pandas else table.drop("ill")
    y = table["ill"].to_numpy()
    known = table["ill"].is_not_null().to_numpy()
    pipeline = make_pipeline(
        cantle.DiffGen(SCHEMA, epsilon=5, insecure_seed=2),
        OneHotEncoder(handle_unknown="ignore"),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    )
    pipeline.set_params(diffgen__rounds=4)
    pipeline.fit(X[known] if pandas else X.filter(known), y[known].astype(str))
    assert pipeline[0].release_.manifest.parameters["rounds"] == 4
    assert set(pipeline.predict(X)) <= {"no", "yes"}
    assert any(name.startswith("age") for name in pipeline[:2].get_feature_names_out())


def test_a_schema_may_be_a_file_and_a_ledger_is_charged(tmp_path: Path) -> None:
    import json

    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    cantle.Ledger(tmp_path / "l.db").cap("people", 1)
    estimator = cantle.RPS(tmp_path / "schema.json", epsilon=1, ledger=tmp_path / "l.db", dataset="people")
    assert estimator.fit(people(50)).release_.manifest.ledger.sequence == 1
    with pytest.raises(cantle.errors.CapExceeded):
        estimator.fit(people(50))


@pytest.mark.parametrize("kind", [cantle.Mosaic, cantle.RPS, cantle.DiffGen])
def test_estimators_have_all_parameters_of_their_method(kind: type) -> None:
    from cantle.methods.catalogue import METHODS
    from cantle.methods.settings import rules_of

    shared = {"schema", "epsilon", "preset", "engine", "ledger", "dataset", "insecure_seed"}
    assert set(kind().get_params()) == shared | set(rules_of(METHODS[kind.method].Settings))


def test_scikit_learn_cross_validates_a_tree_after_diffgen() -> None:
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    table = people(900).drop_nulls("ill")
    for X in (table.drop("ill").to_pandas(), table.drop("ill")):
        pipeline = make_pipeline(
            cantle.DiffGen(SCHEMA, epsilon=9, insecure_seed=2), DecisionTreeClassifier(max_depth=3, random_state=0)
        )
        scores = cross_val_score(pipeline, X, table["ill"].to_numpy().astype(str), cv=3)
        most_frequent = table["ill"].value_counts()["count"].max() / len(table)
        assert scores.mean() > most_frequent - 0.1
        assert "DiffGen" in pipeline._repr_html_()


def test_estimators_show_themselves_in_notebooks() -> None:
    estimator = cantle.RPS(SCHEMA, epsilon="1/2", ledger="postgresql://curator:hunter2@host/base", dataset="<b>")
    page = estimator._repr_html_()
    assert "hunter2" not in page
    assert "&lt;b&gt;" in page
    fitted = cantle.RPS(SCHEMA, insecure_seed=1).fit(people(50))
    assert "NOT PRIVATE" in fitted._repr_html_()
