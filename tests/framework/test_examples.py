"""The classes of docs/framework.md as a stranger uses them: published, and read where nobody can import them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from tests.framework.examples import EXAMPLES, FILES, TOWNS, Example, classes, towns
from tests.interfaces.cli.inside import run
from tests.release.changes import with_parts
from tests.release.kinds import tree_lines

CLASSES = classes()
MOST_LINES = {"quadtree.py": 25, "kdtree.py": 35, "places.py": 30, "prefixes.py": 30}
by_example = pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.file)


def published(one: Example, **more: Any) -> cantle.Release:
    return cantle.publish(one.data, one.schema, epsilon=1, method=CLASSES[one.made](), **more)


def same(one: cantle.Release, other: cantle.Release) -> bool:
    frames = all(one.frames[name].equals(other.frames[name]) for name in one.frames)
    equal = one.records.equals(other.records) and one.groups.equals(other.groups) and frames
    return (
        equal and one.manifest.receipt == other.manifest.receipt and one.manifest.structure == other.manifest.structure
    )


def test_the_classes_of_the_page_are_short() -> None:
    lines = {name: len(text.strip().splitlines()) for name, text in FILES.items()}
    assert lines.keys() == MOST_LINES.keys()
    assert {name for name in lines if lines[name] > MOST_LINES[name]} == set()


READ = """
import sys, cantle
release = cantle.Release.load(sys.argv[1])
release.verify()
estimate = release.count(sys.argv[2])
assert estimate.low < estimate.value < estimate.high
assert len(release.sample(50, seed=1)) == 50
assert "was written by the author of" in release.statement
assert "region" in release.report()
assert not {"quadtree", "kdtree", "places", "prefixes", "cantle.framework"} & set(sys.modules), "a class was needed"
print(estimate)
"""


@by_example
def test_a_process_without_the_class_verifies_and_answers(one: Example, tmp_path: Path) -> None:
    release = published(one)
    release.save(tmp_path / "out")
    asked = [sys.executable, "-c", READ, str(tmp_path / "out"), one.question]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    true = one.data.filter(pl.sql_expr(one.question.replace("==", "=").replace("(a, b)", "('a', 'b')"))).height
    assert release.count(one.question).value == pytest.approx(true, rel=0.25)
    assert release.manifest.author["class"] == f"{one.file}:{one.made}"


@by_example
def test_every_engine_gives_the_same_release(one: Example, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed (extra duckdb)")
    one.data.write_csv(tmp_path / "data.csv")
    both = [
        cantle.publish(
            tmp_path / "data.csv", one.schema, epsilon=1, method=CLASSES[one.made](), insecure_seed=5, engine=engine
        )
        for engine in ("memory", "duckdb")
    ]
    assert same(*both)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@by_example
def test_spark_gives_the_same_release(one: Example, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed (extra spark)")
    one.data.write_csv(tmp_path / "data.csv")
    here = cantle.publish(tmp_path / "data.csv", one.schema, epsilon=1, method=CLASSES[one.made](), insecure_seed=5)
    there = cantle.publish(
        str(tmp_path / "data.csv"), one.schema, epsilon=1, method=CLASSES[one.made](), insecure_seed=5, engine="spark"
    )
    assert same(here, there)


@by_example
def test_plans_are_rehearsals(one: Example) -> None:
    made = cantle.plan(one.schema, epsilon=1, records=3000, method=CLASSES[one.made]())
    assert sum(part.share for part in made.outline.budget) == pytest.approx(1)
    assert made.outline.method == one.made.lower()
    assert "rehearsed on 3,000 made-up records" in str(made)


@by_example
def test_one_call_audits_the_class(one: Example) -> None:
    row = cantle.audit(eval(one.audited, CLASSES), **one.how)
    assert row.ok
    assert row.measured > 0.8 * row.claimed
    assert row.note == "at these prices"


def test_points_of_four_towns_are_near_the_truth() -> None:
    data = towns()

    def grid(frame: pl.DataFrame) -> np.ndarray:
        return np.histogram2d(frame["lat"], frame["lon"], bins=[28, 77], range=[[51, 52], [4, 6]])[0] / len(frame)

    def off(method: Any) -> float:
        releases = [cantle.publish(data, TOWNS, epsilon=1, method=method, insecure_seed=seed) for seed in (1, 2, 3)]
        return float(np.mean([0.5 * np.abs(grid(one.records) - grid(data)).sum() for one in releases]))

    assert off(CLASSES["QuadTree"]()) < 0.055
    assert off("rps") < 0.07


def test_the_command_line_takes_the_address_of_a_class(tmp_path: Path) -> None:
    one = EXAMPLES[0]
    (tmp_path / "quadtree.py").write_text(FILES["quadtree.py"], encoding="utf-8")
    one.data.write_csv(tmp_path / "towns.csv")
    (tmp_path / "towns.yaml").write_text(str(dict(TOWNS)), encoding="utf-8")
    named = ["--method", "quadtree:QuadTree", "--set", "depth=9"]
    done = run("plan", "--schema", "towns.yaml", "--records", "3000", "--epsilon", "1", *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "quadtree" in done.stdout
    done = run("publish", "towns.csv", "--schema", "towns.yaml", "--epsilon", "1", *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    release = cantle.Release.load(tmp_path / "release")
    assert release.manifest.parameters["depth"] == 9
    assert release.manifest.method == "quadtree"
    done = run("show", "release", cwd=tmp_path)
    assert "quadtree" in done.stdout


def test_changed_numbers_of_the_newer_tree_are_noticed() -> None:
    """Every column of tree.parquet, in a release whose regions were asked for their sizes too."""
    from cantle import framework as fw
    from cantle.release.verify import problems

    class Counted(fw.Partitioning):
        def stop(self, regions: Any, ask: Any) -> Any:
            return True if regions.depth == 3 else ask.sizes(regions, "1/10") < 5

        def partition(self, regions: Any, ask: Any) -> Any:  # noqa: ARG002
            return regions.slices("place", "cfj") if regions.depth == 0 else regions.halve("age")

    one = EXAMPLES[2]
    release = cantle.publish(one.data, one.schema, epsilon=1, method=Counted())
    assert problems(release) == []
    tree = release.frames["tree"]
    assert tree["noisy"].null_count() == (tree["depth"] == 3).sum()
    for name in ("node", "parent", "depth", "lo", "hi", "noisy", "rate_num", "rate_den"):
        row = int(tree[name].is_not_null().arg_true()[-1])
        number = tree[name].to_list()
        number[row] += 7
        changed = tree.with_columns(pl.Series(name, number, dtype=tree[name].dtype))
        assert problems(with_parts(release, frames=release.frames | {"tree": changed})) != [], name
    words = tree.with_columns(values=pl.col("values").str.replace("age|place", "x").str.replace_all(r"\d", "0"))
    assert problems(with_parts(release, frames=release.frames | {"tree": words})) != []
    assert len(tree_lines(release, 1)) == 1 + 4


PLACE = {
    "fields": [
        {"name": "home", "type": "geopoint", "columns": ["lat", "lon"], "bounds": [[51, 4], [52, 6]], "step": 0.0001}
    ]
}


@pytest.mark.parametrize("method", ["rps", "QuadTree"])
def test_trees_over_places_are_verified(method: str, tmp_path: Path) -> None:
    """Regions of a place have no order of their values, so groups say them by positions."""
    release = cantle.publish(towns(3000), PLACE, epsilon=1, method=CLASSES.get(method, method))
    loaded = cantle.Release.load(release.save(tmp_path / "out"))
    loaded.verify()
    near = loaded.count("home within (51.15, 4.25, 51.25, 4.35)").value
    assert near == pytest.approx(1200, rel=0.25)
    assert "Regions" in loaded.report()
