"""Every release can be saved, loaded, shown, verified and sampled: each type of field, kind of frame and format."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import product, starmap
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pytest

import cantle
from cantle.release.show import overview
from cantle.release.storage import STORAGES, as_polars
from tests.effort import one_in, slow
from tests.release.kinds import tree_lines

FIRST = datetime(2025, 1, 3, 5)
DAYS = {"minimum": "2025-01-01", "maximum": "2025-01-20"}
FIELDS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "integer": ({"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}, [1, 5, None, 9]),
    "required integer": ({"type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}}, [1, 5]),
    "number": ({"type": "number", "step": 0.25, "constraints": {"minimum": 0, "maximum": 2}}, [0.5, 1.0, None]),
    "string": ({"type": "string", "categories": ["a", "b c", 'q"', "é,", "1"]}, ["a", 'q"', "é,", None]),
    "ordered": ({"type": "string", "categories": ["low", "high"], "categoriesOrdered": True}, ["low", "high"]),
    "grouped": ({"type": "string", "categories": ["a", "b", "c"], "hierarchy": [["a", "b"], ["c"]]}, ["a", "c"]),
    "code": ({"type": "integer", "categories": [2020, 7, 2021]}, [2020, 7, None]),
    "ordered code": ({"type": "integer", "categories": [3, 1], "categoriesOrdered": True}, [3, 1, 1]),
    "boolean": ({"type": "boolean"}, [True, False, None]),
    "required boolean": ({"type": "boolean", "constraints": {"required": True}}, [True, False]),
    "date": ({"type": "date", "constraints": DAYS}, [FIRST.date(), date(2025, 1, 9), None]),
    "written date": ({"type": "date", "format": "%d/%m/%Y", "constraints": DAYS}, [FIRST.date(), None]),
    "datetime": ({"type": "datetime", "step": "1h", "constraints": DAYS}, [FIRST, FIRST + timedelta(hours=7), None]),
}
EVERY = {"fields": [{"name": name, **field} for name, (field, _) in FIELDS.items()]}
EVERY["fields"][4]["role"] = "target"
FRAMES = ("polars", "pandas", "pyarrow", "csv", "parquet")


def source(frame: pl.DataFrame, kind: str, folder: Path) -> Any:
    """The private data as a frame of this kind, or as a file."""
    if kind in ("csv", "parquet"):
        getattr(frame, f"write_{kind}")(folder / f"private.{kind}")
        return folder / f"private.{kind}"
    return {"polars": frame.clone, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}[kind]()


def check_round_trip(release: cantle.Release, folder: Path, data: str | None) -> pl.DataFrame:
    """Saves and loads a release, and tries all that can be done with it; returns the loaded records."""
    release.verify()
    release.save(folder, data=data)
    loaded = cantle.Release.load(folder)
    loaded.verify()
    assert [*overview(loaded), *tree_lines(loaded)]
    drawn = [as_polars(one.sample(20, seed=1), one.manifest) for one in (loaded, release)]
    assert drawn[0].equals(drawn[1])
    assert type(release.sample(3)) is type(release.records)
    assert release.sample(3)[:0].equals(release.records[:0])  # columns and their types
    loaded.save(folder.with_name("again"), data=data)
    cantle.Release.load(folder.with_name("again")).verify()
    return as_polars(loaded.records, loaded.manifest)


@pytest.mark.parametrize("kind", slow(FRAMES, *FRAMES[1:]))
@pytest.mark.parametrize("name", FIELDS)
def test_round_trip_of_a_table_of_one_field(tmp_path: Path, name: str, kind: str) -> None:
    """A release is the same after saving and loading in each format."""
    field, values = FIELDS[name]
    schema = {"fields": [{"name": "x", **field}]}
    private = source(pl.DataFrame({"x": values * 20}), kind, tmp_path)
    release = cantle.publish(private, schema, epsilon=2, method="rps", insecure_seed=1)
    loaded = {data: check_round_trip(release, tmp_path / data / "out", data) for data in STORAGES["table"].formats}
    assert all(one.dtypes == [pl.Series(values).dtype] for one in loaded.values())
    assert loaded["csv"].equals(loaded["parquet"])


@pytest.mark.parametrize("method", [
    {"method": "rps"},
    pytest.param({"method": "rps", "values": "set"}, marks=pytest.mark.slow),
    pytest.param({"method": "diffgen"}, marks=pytest.mark.slow),
], ids=str)  # fmt: skip
@pytest.mark.parametrize(("kind", "data"), one_in(3, starmap(pytest.param, product(FRAMES, STORAGES["table"].formats))))
def test_round_trip_of_a_table_of_all_fields(tmp_path: Path, kind: str, data: str, method: dict[str, Any]) -> None:
    frame = pl.DataFrame({name: (values * 60)[:60] for name, (_, values) in FIELDS.items()})
    release = cantle.publish(source(frame, kind, tmp_path), EVERY, epsilon=2, insecure_seed=1, **method)
    loaded = check_round_trip(release, tmp_path / "out", data)
    same = cantle.publish(frame, EVERY, epsilon=2, insecure_seed=1, **method)
    assert loaded.schema == same.records.schema
    assert loaded.equals(same.records)


SETS = [["bread"], ["milk", "bread"], ["rye"]] * 30


@pytest.mark.parametrize(
    "items",
    [["bread", "milk", "rye"], pytest.param({"minimum": 1, "maximum": 3}, marks=pytest.mark.slow)],
    ids=["texts", "integers"],
)
@pytest.mark.parametrize(("form", "kind"), one_in(3, [
    *(pytest.param("long", kind) for kind in FRAMES),
    *(pytest.param("list", kind) for kind in (*FRAMES, "lists", "fimi") if kind != "csv"),
]))  # fmt: skip
def test_round_trip_of_sets(tmp_path: Path, form: str, kind: str, items: Any) -> None:
    names = {name: name if isinstance(items, list) else k for k, name in enumerate(["bread", "milk", "rye"], 1)}
    sets = [[names[item] for item in one] for one in SETS]
    long = pl.DataFrame([(k, item) for k, one in enumerate(sets) for item in one], schema=["id", "item"], orient="row")
    if kind == "fimi":
        private: Any = tmp_path / "private.dat"
        private.write_text("".join(" ".join(map(str, one)) + "\n" for one in sets))
    elif kind == "lists":
        private = sets
    else:
        private = source(long if form == "long" else pl.DataFrame({"items": sets}), kind, tmp_path)
    release = cantle.publish(private, {"kind": "sets", "items": items}, epsilon=2, insecure_seed=1)
    for data in (None, *STORAGES["sets"].formats):
        assert len(check_round_trip(release, tmp_path / str(data) / "out", data))


@pytest.mark.parametrize(
    ("kind", "data"), one_in(3, starmap(pytest.param, product([*FRAMES, "networkx"], STORAGES["graph"].formats)))
)
def test_round_trip_of_degrees(tmp_path: Path, kind: str, data: str) -> None:
    network = nx.gnm_random_graph(60, 150, seed=1)
    frame = pl.DataFrame(list(network.edges), schema=["source", "target"], orient="row")
    private = network if kind == "networkx" else source(frame, kind, tmp_path)
    release = cantle.publish(private, {"kind": "graph"}, epsilon=5, insecure_seed=1)
    assert check_round_trip(release, tmp_path / "out", data).columns == ["degree"]


@pytest.mark.parametrize("data", STORAGES["table"].formats)
def test_round_trip_of_a_table_without_records(tmp_path: Path, data: str) -> None:
    empty = pd.DataFrame({name: pd.Series([], dtype=object) for name in FIELDS})
    release = cantle.publish(empty, EVERY, epsilon=1, method="diffgen", insecure_seed=1)
    check_round_trip(release, tmp_path / "out", data)
